//! The README's table of exit codes, on a program without a race that looks like
//! one with: a suspicion makes no 66, with any command.

use test_support::programs::{Detected, Program, photofinish, scratch};

fn handed(args: &[&str]) -> Program {
    Program::own(&[&["Handed"], args].concat())
}

fn statuses(done: &Detected) -> Vec<&str> {
    let statuses = done.races().iter().map(|race| race["status"].as_str());
    statuses.map(Option::unwrap).collect()
}

#[test]
fn a_suspicion_is_no_finding() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path().to_str().unwrap();
    let run = |options: &[&str]| handed(&[]).reported(options);
    // It is listed, and counts where somebody wants it to.
    let hybrid = ["detect", "--detector", "hybrid"];
    let listed = run(&hybrid);
    assert_eq!(statuses(&listed), ["potential"], "{}", listed.report);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let asked = run(&[&hybrid[..], &["--fail-on", "potential"]].concat());
    assert_eq!(asked.code, Some(66), "{}", asked.stderr);
    // Tried in vain.
    let tried = run(&["confirm", "--trials", "3", "--results", results]);
    assert_eq!(statuses(&tried), ["potential"], "{}", tried.report);
    assert_eq!(tried.code, Some(0), "{}", tried.stderr);
    for command in ["detect", "predict", "advise"] {
        let done = run(&[command]);
        assert_eq!(done.code, Some(0), "{command}: {}", done.stderr);
    }
}

#[test]
fn what_was_not_exercised_is_not_clean_when_it_is_shown_again() {
    let dir = scratch("not-exercised");
    let json = dir.join("r.json");
    let json = json.to_str().unwrap();
    let done = Program::own(&["Brief"]).under(&["detect", "--json", json]);
    assert_eq!(done.status.code(), Some(4));
    let shown = photofinish().args(["report", json]).output().unwrap();
    let said = String::from_utf8_lossy(&shown.stderr);
    assert_eq!(shown.status.code(), Some(4), "{said}");
}

/// The same of what is kept in a directory, and of shards that are put together.
#[test]
fn what_was_not_exercised_is_not_clean_when_it_was_kept() {
    let dir = scratch("not-exercised-kept");
    let place = |name: String| dir.join(name).to_str().unwrap().to_owned();
    let code = |args: &[&str]| photofinish().args(args).output().unwrap().status.code();
    for command in [
        &["verify"][..],
        &["confirm", "--trials", "2"],
        &["detect", "--scheduler", "random", "--runs", "2"],
    ] {
        let kept = place(command[0].to_owned());
        let done = Program::own(&["Brief"]).under(&[command, &["--results", &kept]].concat());
        assert_eq!(done.status.code(), Some(4), "{command:?}");
        assert_eq!(code(&["report", &kept]), Some(4), "{command:?}");
        let mut parts = vec!["merge".to_owned()];
        for number in ["1", "2"] {
            let part = place(format!("{}-{number}", command[0]));
            let shard = format!("{number}/2");
            let options = ["--shard", &shard, "--results", &part];
            let done = Program::own(&["Brief"]).under(&[command, &options].concat());
            assert_eq!(done.status.code(), Some(4), "{command:?}");
            parts.push(part);
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        assert_eq!(code(&parts), Some(4), "{command:?}");
    }
}

#[test]
fn without_time_there_is_no_answer() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path().to_str().unwrap();
    for command in [
        &["confirm", "--trials", "3", "--results", results][..],
        &["hunt", "--no-config", "--results", results],
        &["verify", "--results", results],
        &["detect"],
    ] {
        let done = handed(&["slow"]).under(&[command, &["--time-limit", "1s"]].concat());
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(75), "{command:?}: {said}");
    }
}
