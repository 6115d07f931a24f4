//! What was done is kept: commands that are killed in the middle, or whose results directory
//! becomes full, leave or tell what they had found.

use crate::accidents::Disk;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use test_support::programs::{Program, finish, photofinish, signal};

const PATIENCE: Duration = Duration::from_secs(150);
const LOOK: Duration = Duration::from_millis(50);

fn start(results: &Path, args: &[&str]) -> Child {
    start_on("TwoRaces", results, args)
}

fn start_on(program: &str, results: &Path, args: &[&str]) -> Child {
    let mut tool = photofinish();
    tool.args(args).args(["--quiet", "--results"]).arg(results);
    tool.arg("--").args(&Program::own(&[program]).args);
    tool.stdout(Stdio::null()).stderr(Stdio::null());
    tool.spawn().unwrap()
}

/// The exit code of `report`, and what it shows.
fn report(results: &Path) -> Option<(Option<i32>, Value)> {
    let mut tool = photofinish();
    tool.args(["report", "--json", "-"]).arg(results);
    let done = finish(tool, "");
    let shown = serde_json::from_slice(&done.stdout).ok()?;
    Some((done.status.code(), shown))
}

/// Kills the command when its result is as it should be, in the middle of what it does.
fn kill_when(mut child: Child, results: &Path, is_there: impl Fn(&Value) -> bool) -> Value {
    let limit = Instant::now() + PATIENCE;
    while !report(results).is_some_and(|(_, report)| is_there(&report)) {
        assert!(Instant::now() < limit, "it is never saved");
        let ended = child.try_wait().unwrap();
        assert_eq!(ended, None, "it ended, and saved nothing before");
        std::thread::sleep(LOOK);
    }
    signal("KILL", child.id());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "it was killed");
    let (code, report) = report(results).unwrap();
    assert!(is_there(&report), "{report}");
    assert_eq!(code, Some(66), "{report}");
    let said = report["warnings"].to_string();
    assert!(said.contains("was still at work"), "{said}");
    assert_eq!(report["limit_reached"], true, "{report}");
    report
}

fn replays(results: &Path, id: &str) {
    let mut tool = photofinish();
    tool.args(["replay", "-q", id, "--results"]).arg(results);
    let done = finish(tool, "");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(66), "{id}: {said}");
}

fn with_status(report: &Value, status: &str) -> Vec<String> {
    let races = report["races"].as_array().into_iter().flatten();
    let races = races.filter(|race| race["status"] == status);
    let ids = races.map(|race| race["id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[test]
fn a_killed_confirm_leaves_the_pairs_that_it_tried() {
    for command in [
        &["confirm", "--trials", "10", "--all-trials", "--isolate"][..],
        &["hunt", "--trials", "10", "--skip", "predict", "--jobs", "1"],
    ] {
        let results = tempfile::tempdir().unwrap();
        let child = start(results.path(), command);
        let confirmed = |report: &Value| with_status(report, "confirmed").len() == 1;
        let report = kill_when(child, results.path(), confirmed);
        assert_eq!(report["command"], command[0]);
        replays(results.path(), &with_status(&report, "confirmed")[0]);
    }
}

/// A value that was stale in one of the first runs; the others are made because there is no second
/// serial order to compare it with.
#[test]
fn a_killed_prediction_leaves_the_stale_values_that_it_made_happen() {
    let results = tempfile::tempdir().unwrap();
    let command = ["predict", "--atomicity", "--confirm"];
    let child = start_on("SetBetween", results.path(), &command);
    let confirmed = |report: &Value| report["atomicity"][0]["status"] == "confirmed";
    kill_when(child, results.path(), confirmed);
    replays(results.path(), "A1");
}

#[test]
fn a_killed_detect_leaves_what_its_runs_have_shown() {
    let results = tempfile::tempdir().unwrap();
    let many = ["--runs", "100000", "--isolate"];
    let command = [&["detect", "--scheduler", "random"], &many[..]].concat();
    let child = start(results.path(), &command);
    let observed = |report: &Value| !with_status(report, "observed").is_empty();
    let report = kill_when(child, results.path(), observed);
    replays(results.path(), &with_status(&report, "observed")[0]);
}

/// What cannot be saved is told all the same, and that it is kept nowhere.
#[test]
fn a_disk_that_becomes_full_takes_no_finding_away() {
    let name = "a_disk_that_becomes_full_takes_no_finding_away";
    let Some(disk) = Disk::mount(name, "full-results", "1m") else {
        return;
    };
    let results = disk.0.join("results");
    let elsewhere = tempfile::tempdir().unwrap();
    let json = elsewhere.path().join("report.json");
    let file = json.to_str().unwrap();
    let mut child = start(&results, &["confirm", "--trials", "8", "--json", file]);
    let limit = Instant::now() + PATIENCE;
    // Its tables are there as soon as the journal of their transaction is not.
    let journal = results.join("results.sqlite-journal");
    while !results.join("results.sqlite").exists() || journal.exists() {
        assert!(Instant::now() < limit && child.try_wait().unwrap().is_none());
    }
    std::thread::sleep(LOOK);
    let all = std::fs::write(disk.0.join("filler"), vec![1; 1 << 20]);
    assert!(all.is_err(), "1 MiB does not fit");
    assert_eq!(child.wait().unwrap().code(), Some(66));
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert!(!with_status(&report, "confirmed").is_empty(), "{report}");
    let said = report["warnings"].to_string();
    assert!(said.contains("the result is kept nowhere"), "{said}");
    assert!(said.contains("cannot be replayed"), "{said}");
}

/// Ctrl-C.
pub const INT: u32 = 2;

/// Whether this process catches the signal, as /proc has it.
pub fn catches(pid: u32, signal: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// One race at the beginning, and then enough to take a while.
#[test]
fn ctrl_c_ends_a_prediction_with_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("long.std");
    let mut text = String::from("T1|w(X)|1\nT2|w(X)|2\n");
    for step in 0..150_000 {
        let (thread, lock) = (step % 3, step % 7);
        for op in ["acq(L", "w(V", "rel(L"] {
            text += &format!("T{thread}|{op}{lock})|{}\n", step + 3);
        }
    }
    std::fs::write(&trace, text).unwrap();
    let mut tool: Command = photofinish();
    tool.args(["predict", "--trace"]).arg(&trace);
    tool.args(["--json", "-"]);
    tool.stdout(Stdio::piped()).stderr(Stdio::null());
    let child = tool.spawn().unwrap();
    let limit = Instant::now() + PATIENCE;
    while !catches(child.id(), INT) {
        assert!(Instant::now() < limit, "Ctrl-C is not caught");
    }
    signal("INT", child.id());
    let done = child.wait_with_output().unwrap();
    assert!(
        matches!(done.status.code(), Some(66 | 75)),
        "{:?}",
        done.status
    );
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["limit_reached"], true, "{report}");
    let said = report["warnings"].to_string();
    assert!(said.contains("may have missed races"), "{said}");
}
