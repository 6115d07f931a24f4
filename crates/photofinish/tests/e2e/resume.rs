//! `verify --resume`: whatever stopped an exploration, what comes of it in the end
//! is what comes of one that nobody stopped.

use crate::accidents::Disk;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use test_support::programs::{Detected, Expected, Program, finish, photofinish, signal, verify};

/// What does not depend on how often it was stopped.
fn outcome(found: &Detected) -> Value {
    let e = &found.report["exploration"];
    let ids = |list: &str| -> Vec<Value> {
        let list = found.report.get(list).and_then(Value::as_array);
        let list = list.into_iter().flatten();
        list.map(|one| one["id"].clone()).collect()
    };
    json!({
        "code": found.code,
        "complete": e["complete"],
        "executions": e["executions"],
        "classes": e["classes"],
        "rounds": e["rounds"],
        "max_depth": e["max_depth"],
        "why": e["not_complete"],
        "runs": found.report["runs"].as_array().unwrap().len(),
        "locations": found.locations(),
        "found": [ids("races"), ids("deadlocks"), ids("failures")],
    })
}

/// One after the other, so that it is always the same.
const ALONE: [&str; 2] = ["--jobs", "1"];

fn alone(program: &Program, results: &Path, options: &[&str]) -> Detected {
    verify(program, results, &[&ALONE, options].concat())
}

fn litmus(name: &str) -> Program {
    let expected = Expected::load("verify");
    expected.program("verify", expected.section(name))
}

#[test]
fn after_a_limit() {
    for (name, id) in [
        ("twice", None),
        ("race", Some("R1")),
        ("deadlock", Some("D1")),
    ] {
        let program = litmus(name);
        let results = tempfile::tempdir().unwrap();
        let whole = alone(&program, results.path(), &[]);
        assert_eq!(whole.report["exploration"]["complete"], true, "{name}");
        let results = tempfile::tempdir().unwrap();
        let first = alone(&program, results.path(), &["--max-executions", "1"]);
        let explored = &first.report["exploration"];
        assert_eq!(explored["executions"], 1, "{name}: {}", first.stderr);
        assert_eq!(explored["resumable"], true, "{name}");
        let limit = ["--resume", "--max-executions", "2"];
        let second = alone(&program, results.path(), &limit);
        assert_eq!(second.report["exploration"]["executions"], 2, "{name}");
        let last = alone(&program, results.path(), &["--resume"]);
        assert_eq!(outcome(&last), outcome(&whole), "{name}: {}", last.stderr);
        // There is nothing left to do, and that is said again.
        let again = alone(&program, results.path(), &["--resume"]);
        assert_eq!(outcome(&again), outcome(&whole), "{name}: {}", again.stderr);
        let Some(id) = id else { continue };
        // What was found before it was stopped can be seen again.
        let mut tool = photofinish();
        tool.args(["replay", id, "--results"]).arg(results.path());
        let done = finish(tool, "");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(66), "{name}: {said}");
        assert!(said.contains("the same run again"), "{name}: {said}");
    }
}

/// What was explored counts for the limits: the same command would stop at once, and it was said
/// to go on.
#[test]
fn what_to_change_so_that_it_goes_on_is_said() {
    let program = litmus("race");
    for (options, changed) in [
        (["--max-executions", "1"], "and a higher --max-executions"),
        (["--threshold", "1"], "and a higher --threshold"),
        (["--stop-at", "first"], "and without --stop-at first"),
    ] {
        let results = tempfile::tempdir().unwrap();
        let first = alone(&program, results.path(), &options);
        let explored = &first.report["exploration"];
        assert_eq!(explored["resumable"], true, "{explored}");
        assert_eq!(explored["resume_with"], changed, "{explored}");
        let same = [&["--resume"], &options[..]].concat();
        let same = alone(&program, results.path(), &same);
        let explored = &same.report["exploration"];
        assert_eq!(
            explored["resume_with"], changed,
            "the same command: {explored}"
        );
        let last = alone(&program, results.path(), &["--resume"]);
        let explored = &last.report["exploration"];
        assert_eq!(explored["complete"], true, "{explored}");
        assert_eq!(explored.get("resume_with"), None, "{explored}");
    }
}

/// Whether something of the exploration is on disk.
fn is_saved(results: &Path) -> bool {
    let mut tool = photofinish();
    tool.args(["report", "--json", "-"]).arg(results);
    tool.stderr(Stdio::null()).stdin(Stdio::null());
    let report: Option<Value> = serde_json::from_slice(&tool.output().unwrap().stdout).ok();
    report.is_some_and(|r| r["exploration"]["executions"].as_u64() > Some(0))
}

/// Sends the signal as soon as something was saved, whether or not that is all.
fn stopped(program: &Program, results: &Path, name: &str) -> Option<i32> {
    let mut tool: Command = photofinish();
    tool.args(["verify", "--quiet", "--results"]).arg(results);
    tool.args(ALONE).arg("--").args(&program.args);
    tool.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = tool.stderr(Stdio::null()).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(120);
    while !is_saved(results) && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < patience, "nothing is ever saved");
    }
    if child.try_wait().unwrap().is_none() {
        signal(name, child.id());
    }
    child.wait().unwrap().code()
}

#[test]
fn after_a_signal() {
    let program = litmus("twice");
    let results = tempfile::tempdir().unwrap();
    let whole = alone(&program, results.path(), &[]);
    for name in ["KILL", "INT"] {
        let results = tempfile::tempdir().unwrap();
        let code = stopped(&program, results.path(), name);
        assert!(matches!(code, None | Some(0 | 75)), "{name}: {code:?}");
        assert!(is_saved(results.path()), "{name}");
        let last = alone(&program, results.path(), &["--resume"]);
        assert_eq!(outcome(&last), outcome(&whole), "{name}: {}", last.stderr);
    }
}

#[test]
fn only_with_the_same() {
    let results = tempfile::tempdir().unwrap();
    let dir = results.path().to_str().unwrap();
    let resume = ["verify", "--results", dir, "--resume"];
    let refused = |program: &Program, options: &[&str]| {
        let done = program.under(&[&resume, options].concat());
        assert_eq!(done.status.code(), Some(64));
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let program = litmus("lock2");
    let said = refused(&program, &[]);
    assert!(
        said.contains("there is no exploration to go on with"),
        "{said}"
    );
    alone(&program, results.path(), &["--max-executions", "1"]);
    let said = refused(&litmus("lock3"), &[]);
    assert!(
        said.contains("of something else") && said.contains("lock3"),
        "{said}"
    );
    for options in [
        &["--order", "writes-first"][..],
        &["--bound", "preemptions=1"],
    ] {
        let said = refused(&program, options);
        let name = options[0].trim_start_matches("--");
        assert!(said.contains(&format!("{name} was")), "{said}");
    }
}

/// What was saved before the disk was full is there when it no longer is. How much
/// is left decides whether it is noticed at once or only after an execution.
#[test]
fn after_a_full_disk() {
    let Some(disk) = Disk::mount("after_a_full_disk", "full-verify", "2m") else {
        return;
    };
    let program = litmus("twice");
    let results = disk.0.join("results");
    alone(&program, &results, &["--max-executions", "2"]);
    let dir = results.to_str().unwrap();
    let filler = disk.0.join("filler");
    let mut failed = 0;
    for left in [0, 12, 24] {
        let all = std::fs::write(&filler, vec![1; 2 << 20]);
        assert!(all.is_err(), "2 MiB do not fit");
        let file = std::fs::File::options().write(true).open(&filler).unwrap();
        let size = file.metadata().unwrap().len();
        file.set_len(size - left * 1024).unwrap();
        let done = program.under(&["verify", "--results", dir, "--resume"]);
        let said = String::from_utf8_lossy(&done.stderr);
        match done.status.code() {
            Some(0) => {}
            Some(64 | 70) => {
                assert!(said.contains("disk is full"), "{said}");
                let later = done.status.code() == Some(70);
                assert_eq!(
                    said.contains("--resume goes on from there"),
                    later,
                    "{said}"
                );
                failed += 1;
            }
            other => panic!("{other:?}: {said}"),
        }
        std::fs::remove_file(&filler).unwrap();
        assert!(is_saved(&results));
    }
    assert!(failed > 0);
    let last = alone(&program, &results, &["--resume"]);
    assert_eq!(last.code, Some(0), "{}", last.stderr);
    assert_eq!(last.report["exploration"]["executions"], 6);
    assert_eq!(last.report["exploration"]["complete"], true);
}
