//! `trace` on files that need no JVM, and recordings of programs that do.

use serde_json::Value;
use std::path::Path;
use std::process::Output;
use test_support::programs::{Program, compile, offline, photofinish, scratch};

fn trace(args: &[&str]) -> Output {
    photofinish().arg("trace").args(args).output().unwrap()
}

#[track_caller]
fn stdout(done: &Output) -> String {
    assert_eq!(
        done.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8_lossy(&done.stdout).into_owned()
}

const STD: &str = "T0|fork(T1)|1\nT0|acq(L)|2\nT0|w(x)|3\nT0|rel(L)|4\nT1|acq(L)|5\nT1|r(x)|6\nT1|rel(L)|7\nT0|join(T1)|8\n";

#[test]
fn std_text_through_a_trace_and_back() {
    let dir = scratch("std");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (text, binary) = (path("a.std"), path("a.pft"));
    std::fs::write(&text, STD).unwrap();
    stdout(&trace(&["convert", &text, "-o", &binary]));
    assert_eq!(stdout(&trace(&["convert", &binary, "-o", "-"])), STD);

    let info = stdout(&trace(&["info", &binary]));
    assert!(
        info.contains("RAPID STD") && info.contains("with the program"),
        "{info}"
    );
    let stats = stdout(&trace(&["stats", &binary]));
    assert!(
        stats.contains("2 of them plain accesses to 1 locations"),
        "{stats}"
    );

    let part = path("part.pft");
    stdout(&trace(&["cut", &binary, "-o", &part, "--events", "..4"]));
    let first: Vec<&str> = STD.lines().take(4).collect();
    assert_eq!(
        stdout(&trace(&["convert", &part, "-o", "-"])),
        first.join("\n") + "\n"
    );
}

#[test]
fn detectors_read_std_text() {
    let dir = scratch("std-detect");
    let text = dir.join("a.std");
    let detect = |content: &str| {
        std::fs::write(&text, content).unwrap();
        let mut command = photofinish();
        command
            .args(["detect", "--json", "-", "--trace"])
            .arg(&text);
        command.output().unwrap()
    };
    assert_eq!(detect(STD).status.code(), Some(0));
    let done = detect("T1|acq(L)|1\nT1|w(x)|2\nT1|rel(L)|3\nT2|r(x)|4\n");
    assert_eq!(done.status.code(), Some(66));
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let race = &report["races"][0];
    assert_eq!(report["races"].as_array().unwrap().len(), 1);
    assert_eq!(race["status"], "observed");
    assert_eq!(race["accesses"][1]["op"], "read");
    let done = detect("no trace\n");
    assert_eq!(done.status.code(), Some(64));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("it is no trace, and as STD text"), "{said}");
}

#[test]
fn parts_and_runs_are_merged() {
    let dir = scratch("merge");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (text, binary) = (path("a.std"), path("a.pft"));
    std::fs::write(&text, STD).unwrap();
    stdout(&trace(&["convert", &text, "-o", &binary]));
    let (front, back, again) = (path("front.pft"), path("back.pft"), path("again.pft"));
    stdout(&trace(&["cut", &binary, "-o", &front, "--events", "..5"]));
    stdout(&trace(&["cut", &binary, "-o", &back, "--events", "5.."]));
    let info = stdout(&trace(&["info", &back]));
    assert!(info.contains("events 5 to 7 of the run"), "{info}");
    let said = stdout(&trace(&["merge", &back, &front, "-o", &again]));
    assert!(said.starts_with("2 parts of a run\n"), "{said}");
    assert_eq!(stdout(&trace(&["convert", &again, "-o", "-"])), STD);

    // What does not belong together leaves the output alone.
    let before = std::fs::read(&again).unwrap();
    for (files, why) in [
        ([&binary, &front], "does not say which part it is"),
        ([&front, &front], "both have events 0 to 4"),
        ([&front, &again], "the output must be another file"),
    ] {
        let done = trace(&["merge", files[0], files[1], "-o", &again]);
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(64), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
        assert_eq!(std::fs::read(&again).unwrap(), before);
    }
    assert_eq!(
        trace(&["merge", &front, "-o", &again]).status.code(),
        Some(64)
    );
    let left: Vec<_> = std::fs::read_dir(&dir).unwrap().collect();
    assert_eq!(left.len(), 5, "{left:?}");
}

/// What is found in two runs together is what is found in each.
#[test]
fn recordings_of_two_runs_are_merged() {
    let dir = scratch("merge-runs");
    let classes = compile("programs/examples/src", &[]);
    let mut files = Vec::new();
    for name in ["one.pft", "two.pft"] {
        let file = dir.join(name).to_str().unwrap().to_owned();
        let program = ["-cp", classes.to_str().unwrap(), "BankAccount"];
        Program::new(&program).reported(&["record", "-o", &file]);
        files.push(file);
    }
    let both = dir.join("both.pft");
    let said = stdout(&trace(&[
        "merge",
        &files[0],
        &files[1],
        "-o",
        both.to_str().unwrap(),
    ]));
    assert!(said.starts_with("2 runs\n"), "{said}");
    for detector in ["fasttrack", "hybrid"] {
        let of_one = offline(Path::new(&files[0]), detector);
        let of_two = offline(Path::new(&files[1]), detector);
        let of_both = offline(&both, detector);
        let mut each = of_one.locations();
        each.append(&mut of_two.locations());
        assert_eq!(of_both.locations(), each);
        assert!(each.contains("BankAccount.cents"), "{each:?}");
        let longest = of_one.races().len().max(of_two.races().len());
        assert!(of_both.races().len() >= longest);
        assert!(of_both.races().len() <= of_one.races().len() + of_two.races().len());
    }

    // A damaged run is taken as far as it goes, and that is said with its name.
    let whole = std::fs::read(&files[1]).unwrap();
    std::fs::write(&files[1], &whole[..whole.len() - 20]).unwrap();
    let both = both.to_str().unwrap();
    let done = trace(&["merge", &files[0], &files[1], "-o", both]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(75), "{said}");
    assert!(
        said.contains("two.pft: the trace is cut off at byte"),
        "{said}"
    );
}

/// Runs `detect --trace` over STD text; the exit code and the report.
fn detect_std(name: &str, text: &str, detector: &str) -> (Option<i32>, Value) {
    let dir = scratch(name);
    let (std_file, binary, json) = (dir.join("a.std"), dir.join("a.pft"), dir.join("a.json"));
    std::fs::write(&std_file, text).unwrap();
    stdout(&trace(&[
        "convert",
        std_file.to_str().unwrap(),
        "-o",
        binary.to_str().unwrap(),
    ]));
    let done = photofinish()
        .args(["detect", "--detector", detector, "--trace"])
        .arg(&binary)
        .arg("--json")
        .arg(&json)
        .output()
        .unwrap();
    let report = std::fs::read(&json).unwrap();
    (done.status.code(), serde_json::from_slice(&report).unwrap())
}

#[test]
fn detectors_over_a_trace() {
    // Ordered by the lock; locks do not order for hybrid, but exclude.
    for detector in ["fasttrack", "hybrid", "lockset", "h"] {
        let (code, report) = detect_std(&format!("quiet-{detector}"), STD, detector);
        assert_eq!(code, Some(0), "{detector}: {report}");
        assert_eq!(report["coverage"]["threads"], 2);
        assert_eq!(report["runs"][0]["ended"], "offline");
    }
    // The writes are ordered by chance: through a lock that protects neither.
    let lucky = "T0|fork(T1)|1\nT0|w(x)|2\nT0|acq(L)|3\nT0|rel(L)|4\n\
                 T1|acq(L)|5\nT1|rel(L)|6\nT1|w(x)|7\n";
    // A suspicion is no finding.
    for (detector, status) in [("fasttrack", None), ("hybrid", Some("potential"))] {
        let (got, report) = detect_std(&format!("lucky-{detector}"), lucky, detector);
        assert_eq!(got, Some(0), "{detector}: {report}");
        assert_eq!(report["races"][0]["status"].as_str(), status);
    }
    let racy = "T0|fork(T1)|1\nT0|w(x)|2\nT1|acq(L)|3\nT1|r(x)|4\nT1|rel(L)|5\n";
    let (code, report) = detect_std("racy", racy, "fasttrack");
    assert_eq!(code, Some(66));
    let race = &report["races"][0];
    assert_eq!(race["location"]["field"], "x");
    assert_eq!(race["status"], "observed");
    assert_eq!(
        [&race["accesses"][0]["line"], &race["accesses"][1]["line"]],
        [2, 4]
    );
    assert_eq!(race["accesses"][1]["locks"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_no_trace_is_bad_usage() {
    let dir = scratch("no-trace");
    let file = dir.join("x");
    std::fs::write(&file, "T1|dance(x)|1\n").unwrap();
    let file = file.to_str().unwrap();
    let out = dir.join("y");
    let out = out.to_str().unwrap();
    for (args, text) in [
        (vec!["info", file], "not a Photofinish trace"),
        (vec!["stats", "/nowhere/x"], "/nowhere/x"),
        (vec!["convert", file, "-o", out], "line 1"),
        (vec!["cut", file, "-o", out], "not a Photofinish trace"),
    ] {
        let done = trace(&args);
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(64), "{stderr}");
        assert!(stderr.contains(text), "{stderr}");
    }
    let lenient = stdout(&trace(&["convert", file, "-o", out, "--lenient"]));
    assert!(lenient.contains("0 events"), "{lenient}");
}

#[test]
fn a_trace_is_not_written_over_itself() {
    let dir = scratch("itself");
    let (text, binary) = (dir.join("a.std"), dir.join("a.pft"));
    std::fs::write(&text, STD).unwrap();
    let (text, binary) = (text.to_str().unwrap(), binary.to_str().unwrap());
    stdout(&trace(&["convert", text, "-o", binary]));
    let before = std::fs::read(binary).unwrap();
    for verb in ["cut", "convert"] {
        assert_eq!(trace(&[verb, binary, "-o", binary]).status.code(), Some(64));
    }
    assert_eq!(std::fs::read(binary).unwrap(), before);
}

/// What is left of a trace is looked at; nobody calls that clean. The race is at
/// its end, and lost with it.
#[test]
fn a_damaged_trace_is_not_called_clean() {
    let dir = scratch("damaged");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (text, whole) = (path("a.std"), path("whole.pft"));
    let quiet: String = (0..4000).map(|n| format!("T0|w(y{n})|9\n")).collect();
    std::fs::write(
        &text,
        format!("T0|fork(T1)|1\n{quiet}T1|r(x)|2\nT0|w(x)|3\n"),
    )
    .unwrap();
    stdout(&trace(&["convert", &text, "-o", &whole]));
    let bytes = std::fs::read(&whole).unwrap();
    let (property, part) = (path("a.property"), path("part.pft"));
    std::fs::write(
        &property,
        "event w = write *.x\nproperty written: always w -> once w\n",
    )
    .unwrap();
    let commands: [&[&str]; 10] = [
        &["detect", "--detector", "fasttrack", "--trace"],
        &["predict", "--trace"],
        &["predict", "--memory-limit", "128M", "--trace"],
        &["predict", "--atomicity", "--trace"],
        &["predict", "--property", &property, "--trace"],
        &["advise", "--trace"],
        &["trace", "info"],
        &["trace", "stats"],
        &["trace", "convert", "-o", "-"],
        &["trace", "cut", "-o", &part],
    ];
    let run = |command: &[&str], file: &str| {
        let done = photofinish().args(command).arg(file).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.code().unwrap(), said)
    };
    for command in commands {
        let wanted = if command[0] == "trace" { 0 } else { 66 };
        assert_eq!(run(command, &whole).0, wanted, "{command:?}");
    }
    let mut flipped = bytes.clone();
    let middle = bytes.len() / 2;
    flipped[middle] ^= 0x10;
    for (name, damaged, says) in [
        ("cut.pft", &bytes[..middle], "is cut off at byte"),
        ("flipped.pft", &flipped[..], "is damaged at byte"),
    ] {
        let file = path(name);
        std::fs::write(&file, damaged).unwrap();
        for command in commands {
            let (code, said) = run(command, &file);
            assert_eq!(code, 75, "{command:?} {name}: {said}");
            assert!(
                said.contains(says) && said.contains("% of the file"),
                "{said}"
            );
            assert!(!said.contains("before the program did"), "{said}");
        }
        // What was cut from it does not blame the program either.
        let (code, said) = run(&["detect", "--detector", "fasttrack", "--trace"], &part);
        assert_eq!(code, 75, "{said}");
        assert!(said.contains("a part of one that has no end"), "{said}");
    }
}

/// A million reads of a loop that waits say no more than the first and the last one.
#[test]
fn a_loop_that_waits_is_a_few_events() {
    let dir = scratch("awaited");
    for (kind, races) in [("volatile", 0), ("plain", 2)] {
        let file = dir.join(kind);
        let program = Program::own(&["Awaited", kind]);
        let done = program.reported(&["record", "-o", file.to_str().unwrap()]);
        let events = done.report["coverage"]["events"].as_u64().unwrap();
        assert!(events < 5000, "{kind}: {events}");
        // What came last is there: who saw the flag comes after the write, or races.
        let found = offline(&file, "fasttrack");
        assert_eq!(
            found.races().len(),
            races,
            "{kind}: {:?}",
            found.locations()
        );
    }
}
