//! The order of accesses that race, as recordings have it, against what the
//! threads saw. `PHOTOFINISH_REPEAT=1000 cargo test -p photofinish --test e2e order::`
//! makes that many runs of each program; it is worth running under load, too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use test_support::programs::{Program, compile, location, photofinish, repeat, root, scratch};
use trace::{Event, Op, Trace};

fn program(args: &[&str]) -> Program {
    let classes = compile("programs/predict/src", &[]);
    Program::new(&[&["-cp", classes.to_str().unwrap()], args].concat())
}

/// What the racers read, by what and by whom.
type Seen = BTreeMap<(String, u32), Vec<i32>>;

/// What `predict.Racers` says that it saw.
fn logged(output: &str) -> Seen {
    let line = |line: &str| {
        let mut words = line.split(' ');
        let (what, who) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
        Some(((what, who), words.map(|w| w.parse().unwrap()).collect()))
    };
    output.lines().map(|l| line(l).unwrap()).collect()
}

/// What it saw by the order of the recording: everybody writes one more than it
/// read. What follows a read that is said to be unsure is left out.
fn recorded(path: &Path) -> (Seen, usize) {
    let mut trace = Trace::open(std::fs::File::open(path).unwrap()).unwrap();
    assert!(trace.header().ordered);
    let tables = trace.tables().clone();
    let racer = |e: &Event| {
        let name = &tables.threads.get(&e.thread)?.name;
        name.strip_prefix("racer ")?.parse::<u32>().ok()
    };
    let mut events = Vec::new();
    let mut all = trace.events();
    all.for_each_event(|e| events.push(*e)).unwrap();
    assert_eq!(all.gap(), None);

    let accessed = |e: &Event| match e.op {
        Op::Read(loc) | Op::AtomicRead(loc, _) => Some((loc, false)),
        Op::Write(loc) | Op::AtomicWrite(loc, _) => Some((loc, true)),
        _ => None,
    };
    let mut users: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for e in &events {
        if let (Some(me), Some((loc, _))) = (racer(e), accessed(e)) {
            users.entry(loc.obj.0).or_default().insert(me);
        }
    }
    let name = |loc: trace::Loc| {
        if let Some(field) = tables.fields.get(&loc.slot) {
            let name = field.name.to_string();
            return Some(name).filter(|_| &*field.class == "predict/Racers");
        }
        let shared = users[&loc.obj.0].len() > 1;
        match &*tables.objects.get(&loc.obj).filter(|_| shared)?.class {
            "[I" => Some("elements".to_owned()),
            "[J" if loc.slot == 0 => Some("copied".to_owned()),
            _ => None,
        }
    };
    let mut seen = Seen::new();
    let mut values = BTreeMap::new();
    let mut last = BTreeMap::new();
    let mut unsure: BTreeSet<u32> = BTreeSet::new();
    for e in &events {
        let Some(me) = racer(e) else { continue };
        if matches!(e.op, Op::Unsure(_)) {
            unsure.insert(me);
        }
        let Some((loc, write)) = accessed(e) else {
            continue;
        };
        let Some(name) = name(loc) else { continue };
        if write {
            values.insert(loc, last[&(me, loc)] + 1);
            continue;
        }
        let value = values.get(&loc).copied().unwrap_or(0);
        last.insert((me, loc), value);
        if unsure.is_empty() {
            seen.entry((name, me)).or_default().push(value);
        }
    }
    (seen, unsure.len())
}

#[test]
fn a_recording_has_reads_see_what_they_saw() {
    let dir = scratch("racers");
    let mut lost = 0;
    for run in 0..repeat() {
        for threads in ["2", "5"] {
            let file = dir.join(format!("{threads}.pft"));
            let mut options = vec!["record", "-q", "-o", file.to_str().unwrap()];
            if run % 2 == 1 {
                options.push("--full");
            }
            let done = program(&["predict.Racers", threads]).under(&options);
            let output = String::from_utf8(done.stdout).unwrap();
            let log = logged(&output);
            let (seen, unsure) = recorded(&file);
            lost += unsure;
            for (what, values) in &log {
                let by_recording = seen.get(what).map_or(&[][..], Vec::as_slice);
                let known = by_recording.len();
                assert!(unsure > 0 || known == values.len(), "{what:?}: {known}");
                assert_eq!(by_recording, &values[..known], "run {run}: {what:?}");
            }
        }
    }
    println!("{lost} of {} threads had unsure reads", 7 * repeat());
    assert!(lost * 4 <= 7 * repeat(), "{lost} are unsure");
}

#[test]
fn who_saw_a_plain_flag_comes_after_who_set_it() {
    let spec = root().join("programs/predict/handover.spec");
    for run in 0..repeat() {
        let options = ["predict", "--property", spec.to_str().unwrap()];
        let done = program(&["predict.Handover", "authentication"]).reported(&options);
        let status = &done.report["properties"][0]["status"];
        assert_eq!(status, "holds", "run {run}: {:#}", done.report);
        for (way, field) in [
            ("lock", "predict.Handover$Lock.x"),
            ("queue", "predict.Handover$Queue.last"),
            ("stop", "predict.Handover$Stop.x"),
        ] {
            let done = program(&["predict.Handover", way]).reported(&["predict"]);
            let mut races = done.races().iter();
            let wrong = races.find(|r| location(r) == field && r["status"] != "potential");
            assert_eq!(wrong, None, "run {run}");
        }
    }
}

/// Programs small enough that all their schedules can be tried: whatever one free run
/// proves, some schedule has.
#[test]
fn what_is_proven_happens_in_some_schedule() {
    for (way, silent) in [
        ("lock", "predict.Handover$Lock.x"),
        ("counter", "predict.Handover$Counter.x"),
        ("short-queue", "predict.Handover$Queue.last"),
    ] {
        let handover = program(&["predict.Handover", way]);
        let done = handover.reported(&["verify"]);
        let complete = &done.report["exploration"]["complete"];
        assert_eq!(complete, true, "{:#}", done.report);
        let all: BTreeSet<String> = done.races().iter().map(location).collect();
        assert!(!all.is_empty() && !all.contains(silent), "{way}: {all:?}");
        for run in 0..repeat() {
            let done = handover.reported(&["predict"]);
            let mut races = done.races().iter();
            let wrong = races.find(|r| r["status"] != "potential" && !all.contains(&location(r)));
            assert_eq!(wrong, None, "{way}, run {run}: {all:?}");
        }
    }
}

/// Traces of versions that did not keep the order prove nothing.
#[test]
fn an_order_that_nobody_kept_proves_nothing() {
    let file = scratch("unordered").join("old.pft");
    let done = program(&["predict.Handover", "lock"]).under(&[
        "record",
        "-q",
        "-o",
        file.to_str().unwrap(),
    ]);
    assert!(done.status.success());
    let header = trace::RunHeader {
        ordered: false,
        ..Default::default()
    };
    let mut trace = Trace::open(std::fs::File::open(&file).unwrap()).unwrap();
    let mut old = trace::LinearWriter::new(Vec::new(), &header).unwrap();
    old.writer().tables(trace.tables()).unwrap();
    trace
        .events()
        .for_each_event(|e| old.push(e).unwrap())
        .unwrap();
    std::fs::write(&file, old.finish(Default::default()).unwrap()).unwrap();
    let done = photofinish()
        .args(["predict", "--engine", "syncp,osr", "--json", "-", "--trace"])
        .arg(&file)
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let races = report["races"].as_array().unwrap();
    assert!(!races.is_empty(), "{report:#}");
    assert!(
        races.iter().all(|r| r["status"] == "potential"),
        "{report:#}"
    );
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("record the program again"), "{warnings}");
}
