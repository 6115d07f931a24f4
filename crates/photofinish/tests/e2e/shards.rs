//! `--shard I/N` and `merge`: all shards together say what one machine says.
//!
//! Here with a few programs and numbers of shards; `PHOTOFINISH_REPEAT=8` takes all programs, and
//! every number of shards from 1 to 8.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use test_support::programs::{
    Detected, Expected, Program, check_schema, finish, list, photofinish, repeat,
};

/// Numbers of shards to try.
fn numbers() -> Vec<u32> {
    match repeat() {
        0..=2 => vec![3],
        most => (1..=most as u32).collect(),
    }
}

/// The first of them, or all if that is asked for.
fn some<T>(all: Vec<T>, few: usize) -> Vec<T> {
    let wanted = if repeat() > 2 { all.len() } else { few };
    all.into_iter().take(wanted).collect()
}

fn section(dir: &str, name: &str) -> (String, Program) {
    let expected = Expected::load(dir);
    let program = expected.program(dir, expected.section(name));
    (format!("{dir}/{name}"), program)
}

fn own(args: &[&str]) -> (String, Program) {
    (args.join(" "), Program::own(args))
}

/// Each shard's command, with a directory of results of its own below `dir`.
fn shards(program: &Program, command: &[&str], of: u32, dir: &Path) -> Vec<(Detected, PathBuf)> {
    let shard = |index: u32| {
        let results = dir.join(format!("shard-{index}"));
        let shard = format!("{index}/{of}");
        let options = ["--shard", &shard, "--results", results.to_str().unwrap()];
        (program.reported(&[command, &options].concat()), results)
    };
    (1..=of).map(shard).collect()
}

/// `merge` of whatever.
fn merged(from: &[&Path], options: &[&str]) -> Detected {
    let json = tempfile::NamedTempFile::new().unwrap();
    let mut tool = photofinish();
    tool.arg("merge").args(from).args(options).arg("--quiet");
    tool.arg("--json").arg(json.path());
    let done = finish(tool, "");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let report = std::fs::read(json.path()).unwrap_or_default();
    let report: Value = serde_json::from_slice(&report).unwrap_or(json!({ "races": [] }));
    if report["schema"] == 1 {
        check_schema(&report);
    }
    Detected::new(
        done.status.code(),
        report,
        text(&done.stdout),
        text(&done.stderr),
    )
}

/// As files, which have no schedules.
fn as_files(parts: &[(Detected, PathBuf)], dir: &Path) -> Vec<PathBuf> {
    let file = |(number, (part, _)): (usize, &(Detected, PathBuf))| {
        let path = dir.join(format!("part-{number}.json"));
        std::fs::write(&path, part.report.to_string()).unwrap();
        path
    };
    parts.iter().enumerate().map(file).collect()
}

/// Findings, with what `of` takes from each race.
fn findings(found: &Detected, of: impl Fn(&Value) -> Value) -> Value {
    let mut races: BTreeMap<String, Value> = BTreeMap::new();
    for race in found.races() {
        let mut lines = [0, 1].map(|at| race["accesses"][at]["line"].to_string());
        lines.sort();
        let key = format!("{} {lines:?}", race["fingerprint"]);
        races.insert(key, json!([race["status"], of(race)]));
    }
    let places = |member: &str, what: &dyn Fn(&Value) -> String| {
        let mut all: Vec<String> = list(&found.report, member).iter().map(what).collect();
        all.sort();
        all
    };
    let threads = |d: &Value| {
        let threads = list(d, "threads").iter();
        let at = threads.map(|t| format!("{} {}", t["thread"], t["stack"][0]["line"]));
        format!("{} {:?}", d["kind"], at.collect::<Vec<_>>())
    };
    json!({
        "code": found.code,
        "races": races,
        "deadlocks": places("deadlocks", &threads),
        "failures": places("failures", &|f| format!("{} {}", f["exception"], f["stack"][0])),
    })
}

#[test]
fn explorations() {
    let programs = vec![
        own(&["Divided", "3", "2"]),
        own(&["Divided", "3", "2", "hidden"]),
        section("verify", "deadlock"),
        section("verify", "semaphore"),
        section("verify", "race"),
        section("verify", "assertion"),
        section("verify", "philosophers"),
        section("verify", "barrier3"),
        section("verify", "waitnotify"),
        section("verify", "nothing"),
    ];
    let said = |found: &Detected| {
        let explored = &found.report["exploration"];
        let both = json!([explored["complete"], explored["classes"]]);
        json!([findings(found, |_| Value::Null), both])
    };
    for (name, program) in some(programs, 3) {
        let scratch = tempfile::tempdir().unwrap();
        let results = scratch.path().join("whole");
        let whole = program.reported(&["verify", "--results", results.to_str().unwrap()]);
        assert_eq!(whole.report["exploration"]["complete"], true, "{name}");
        for of in numbers() {
            let dir = scratch.path().join(format!("of-{of}"));
            std::fs::create_dir(&dir).unwrap();
            let parts = shards(&program, &["verify"], of, &dir);
            // Each answers for its part.
            for (part, _) in &parts {
                let found = [Some(0), Some(66)].contains(&part.code);
                assert!(
                    found || part.code == whole.code,
                    "{name} {of}: {}",
                    part.stderr
                );
            }
            let all = scratch.path().join(format!("all-{of}"));
            let options = ["-o", all.to_str().unwrap()];
            let one = merged(&[&dir], &options);
            let why = &one.report["exploration"]["not_complete"];
            assert_eq!(
                said(&one),
                said(&whole),
                "{name} in {of}: {why} {}",
                one.stderr
            );
            let files = as_files(&parts, scratch.path());
            let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            assert_eq!(
                said(&merged(&files, &[])),
                said(&whole),
                "{name} in {of}, files"
            );
            // What shards have found can be seen again under the ids that it has now.
            for race in one.races().iter().filter(|race| race["replay"].is_object()) {
                let id = race["id"].as_str().unwrap();
                let mut tool = photofinish();
                tool.args(["replay", id, "--results"]).arg(&all);
                let done = finish(tool, "");
                let said = String::from_utf8_lossy(&done.stderr);
                assert_eq!(done.status.code(), Some(66), "{name} in {of}: {said}");
            }
        }
    }
}

/// Seeds: run by run the same.
#[test]
fn runs_under_control() {
    let programs = vec![
        section("verify", "race"),
        section("verify", "deadlock"),
        own(&["Divided", "3", "2", "hidden"]),
        section("verify", "assertion"),
        section("verify", "lostnotify"),
        section("verify", "philosophers"),
        section("verify", "hidden"),
        section("verify", "semaphore"),
        section("verify", "spin"),
        section("verify", "nothing"),
    ];
    let said = |found: &Detected| {
        let runs = list(&found.report, "runs").iter();
        let mut runs: Vec<String> = runs
            .map(|r| format!("{} {}", r["seed"], r["digest"]))
            .collect();
        runs.sort();
        let tried = &found.report["schedules"];
        let counts = findings(found, |race| json!([race["count"], race["runs"]]));
        json!([counts, runs, tried["tried"], tried["different"]])
    };
    let command = ["detect", "--scheduler", "random", "--runs", "7"];
    for (name, program) in some(programs, 2) {
        let scratch = tempfile::tempdir().unwrap();
        let results = scratch.path().join("whole");
        let options = ["--results", results.to_str().unwrap()];
        let whole = program.reported(&[&command[..], &options].concat());
        for of in numbers() {
            let dir = scratch.path().join(format!("of-{of}"));
            std::fs::create_dir(&dir).unwrap();
            shards(&program, &command, of, &dir);
            let one = merged(&[&dir], &[]);
            assert_eq!(said(&one), said(&whole), "{name} in {of}: {}", one.stderr);
        }
    }
}

/// Pairs: each is tried by one shard, as one machine would.
#[test]
fn trials_of_pairs() {
    let programs = vec![
        own(&["TwoRaces"]),
        section("verify", "race"),
        own(&["Divided", "3", "2", "hidden"]),
        section("racy", "int-field"),
        section("racy", "static-long"),
        section("racy", "two-locks"),
        section("predict", "plain"),
        section("predict", "counted"),
        section("predict", "wrong-locks"),
        section("verify", "nothing"),
    ];
    let said = |found: &Detected| {
        let of = |race: &Value| {
            let outcomes = list(race, "outcomes").iter();
            let mut outcomes: Vec<String> = outcomes
                .map(|o| {
                    let first = o["first"].as_u64().unwrap() as usize;
                    let line = &race["accesses"][first]["line"];
                    format!("{line} {} {}", o["result"], o["trials"])
                })
                .collect();
            outcomes.sort();
            json!([race["trials"], outcomes, race["harm"]])
        };
        findings(found, of)
    };
    for (name, program) in some(programs, 1) {
        let scratch = tempfile::tempdir().unwrap();
        let suspected = program.detect(&["--detector", "hybrid"]);
        let from = scratch.path().join("suspected.json");
        std::fs::write(&from, suspected.report.to_string()).unwrap();
        let from = from.to_str().unwrap();
        let command = ["confirm", "--from", from, "--trials", "6", "--jobs", "1"];
        let results = scratch.path().join("whole");
        let options = ["--results", results.to_str().unwrap()];
        let whole = program.reported(&[&command[..], &options].concat());
        for of in numbers() {
            let dir = scratch.path().join(format!("of-{of}"));
            std::fs::create_dir(&dir).unwrap();
            shards(&program, &command, of, &dir);
            let one = merged(&[&dir], &[]);
            assert_eq!(said(&one), said(&whole), "{name} in {of}: {}", one.stderr);
        }
    }
}

/// Engines, and the checks beyond races, on the same trace.
#[test]
fn engines() {
    let programs = vec![
        own(&["TwoRaces"]),
        own(&["Divided", "3", "2", "hidden"]),
        section("verify", "race"),
        section("predict", "plain"),
        section("predict", "lock-order"),
        section("predict", "counted"),
        section("predict", "hits"),
        section("atomicity", "broken-lazy"),
        section("atomicity", "correct-lazy"),
        section("verify", "nothing"),
    ];
    let said = |found: &Detected| {
        let engines = list(&found.report, "engines").iter();
        let mut rows: Vec<String> = engines
            .map(|e| {
                let numbers = [
                    "pairs",
                    "observed",
                    "predicted",
                    "potential",
                    "alone",
                    "complete",
                ];
                format!("{} {:?}", e["engine"], numbers.map(|name| &e[name]))
            })
            .collect();
        rows.sort();
        json!([findings(found, |race| race["found_by"].clone()), rows])
    };
    for (name, program) in some(programs, 1) {
        let scratch = tempfile::tempdir().unwrap();
        let trace = scratch.path().join("trace.pft");
        program.under(&["record", "--full", "-q", "-o", trace.to_str().unwrap()]);
        let predict = |options: &[&str]| {
            let json = tempfile::NamedTempFile::new().unwrap();
            let mut tool = photofinish();
            tool.args(["predict", "--atomicity", "--quiet", "--trace"])
                .arg(&trace);
            tool.args(options).arg("--json").arg(json.path());
            let done = finish(tool, "");
            let report = std::fs::read(json.path()).unwrap();
            let report: Value = serde_json::from_slice(&report).unwrap();
            check_schema(&report);
            let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
            Detected::new(done.status.code(), report, String::new(), stderr)
        };
        let whole = predict(&[]);
        for of in numbers() {
            let parts: Vec<(Detected, PathBuf)> = (1..=of)
                .map(|index| {
                    (
                        predict(&["--shard", &format!("{index}/{of}")]),
                        PathBuf::new(),
                    )
                })
                .collect();
            let files = as_files(&parts, scratch.path());
            let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            let one = merged(&files, &[]);
            assert_eq!(said(&one), said(&whole), "{name} in {of}: {}", one.stderr);
        }
    }
}

/// A hunt has free runs in it, which nobody can repeat: findings and verdict are the same, with programs whose
/// threads meet in every run.
#[test]
fn hunts() {
    let programs = vec![
        section("verify", "race"),
        own(&["Divided", "3", "2"]),
        own(&["TwoRaces"]),
        own(&["Divided", "3", "2", "hidden"]),
        section("verify", "deadlock"),
        section("verify", "assertion"),
        section("verify", "semaphore"),
        section("verify", "lock2"),
        section("racy", "int-field"),
        section("verify", "nothing"),
    ];
    for (name, program) in some(programs, 1) {
        let scratch = tempfile::tempdir().unwrap();
        let results = scratch.path().join("whole");
        let command = ["hunt", "--trials", "4", "--runs", "4", "--skip", "advise"];
        let options = ["--results", results.to_str().unwrap()];
        let whole = program.reported(&[&command[..], &options].concat());
        for of in numbers() {
            let dir = scratch.path().join(format!("of-{of}"));
            std::fs::create_dir(&dir).unwrap();
            shards(&program, &command, of, &dir);
            let one = merged(&[&dir], &[]);
            let said = |found: &Detected| findings(found, |_| Value::Null);
            assert_eq!(said(&one), said(&whole), "{name} in {of}: {}", one.stderr);
        }
    }
}

#[test]
fn what_is_missing_twice_or_no_result_is_told() {
    let (_, program) = section("verify", "nothing");
    let scratch = tempfile::tempdir().unwrap();
    let command = ["detect", "--scheduler", "random", "--runs", "4"];
    let parts = shards(&program, &command, 3, scratch.path());
    let files = as_files(&parts, scratch.path());
    let results = scratch.path().join("whole");
    let options = ["--results", results.to_str().unwrap()];
    let whole = program.reported(&[&command[..], &options].concat());
    // Nothing was found in what is here.
    let some = merged(&[&files[0], &files[2]], &[]);
    assert!(
        some.warnings().contains("2 of 3 missing"),
        "{}",
        some.warnings()
    );
    let nothing = whole.code.filter(|code| *code != 0).unwrap_or(75);
    assert_eq!(some.code, Some(nothing), "{}", some.stderr);
    // What is put together later makes it whole.
    let first = scratch.path().join("first.json");
    std::fs::write(&first, some.report.to_string()).unwrap();
    let all = merged(&[&first, &files[1]], &[]);
    assert_eq!(all.code, whole.code, "{}", all.stderr);
    assert!(!all.warnings().contains("missing"), "{}", all.warnings());
    assert_eq!(all.report["merged"], 3);
    // The same file twice is one; a shard that was made twice is not.
    assert_eq!(merged(&[&files[0], &files[0]], &[]).report["merged"], 1);
    let again = shards(&program, &command, 3, &scratch.path().join("again"));
    let elsewhere = tempfile::tempdir().unwrap();
    let again = as_files(&again[..1], elsewhere.path());
    let twice = merged(&[&files[0], &again[0]], &[]);
    assert_eq!(twice.code, Some(64));
    assert!(
        twice.stderr.contains("shard 1/3 is there twice"),
        "{}",
        twice.stderr
    );
    // Nothing to merge.
    let empty = tempfile::tempdir().unwrap();
    let none = merged(&[empty.path()], &[]);
    assert_eq!(none.code, Some(64));
    assert!(
        none.stderr.contains("there are no results in"),
        "{}",
        none.stderr
    );
    let text = scratch.path().join("no.json");
    std::fs::write(&text, "{}").unwrap();
    assert_eq!(merged(&[&text], &[]).code, Some(64));
    for shard in ["0/3", "4/3", "x"] {
        let done = program.under(&["detect", "--shard", shard]);
        assert_eq!(done.status.code(), Some(64), "{shard}");
    }
}
