//! `hunt`: its results are there later, and small programs are explored to the end.

use serde_json::Value;
use test_support::programs::{Expected, finish, hunt, photofinish, root, scratch};

#[test]
fn what_was_found_is_there_later() {
    let expected = Expected::load("examples");
    let section = expected.sections.iter().find(|s| s.name == "Courier");
    let program = expected.program("examples", section.unwrap());
    let results = scratch("hunt-later").join("r");
    let hunted = hunt(&program, &results, &["--runs", "0"]);
    assert_eq!(hunted.code, Some(66), "{}", hunted.stderr);
    let tool = |args: &[&str]| {
        let mut tool = photofinish();
        tool.current_dir(root()).args(args);
        finish(tool, "")
    };
    let dir = results.to_str().unwrap();
    let stages = hunted.report["hunt"]["stages"].as_array().unwrap();
    assert!(stages.iter().any(|s| s["stage"] == "advise"));
    // The report again, from the directory.
    let again = tool(&["report", dir, "--json", "-"]);
    assert_eq!(again.status.code(), Some(66));
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["races"], hunted.report["races"]);
    assert_eq!(again["runs"], hunted.report["runs"]);
    // The race that was made to happen, again.
    let races = hunted.report["races"].as_array().unwrap();
    let confirmed = races.iter().find(|r| r["status"] == "confirmed").unwrap();
    let id = confirmed["id"].as_str().unwrap();
    let replayed = tool(&["replay", "--results", dir, id]);
    let said = String::from_utf8_lossy(&replayed.stderr).into_owned();
    assert_eq!(replayed.status.code(), Some(66), "{said}");
    assert!(said.contains("the same run again"), "{said}");
    // Against itself nothing is new.
    let against = tool(&["report", dir, "--baseline", dir]);
    let said = String::from_utf8_lossy(&against.stdout).into_owned();
    assert_eq!(against.status.code(), Some(0), "{said}");
    assert!(said.contains("0 new, "), "{said}");
}

/// Everything but runs that are free and the exploration.
const EXPLORE_ONLY: [&str; 4] = [
    "--runs",
    "0",
    "--skip",
    "predict,confirm,stale values,hidden races,races that hide behind locks,confirm what was hidden,advise",
];

#[test]
fn a_small_program_is_explored_to_the_end() {
    let expected = Expected::load("verify");
    let section = |name: &str| {
        let section = expected.sections.iter().find(|s| s.name == name);
        expected.program("verify", section.unwrap())
    };
    // Nothing in any schedule, and that is said.
    let results = scratch("hunt-explored").join("r");
    let hunted = hunt(&section("lock2"), &results, &EXPLORE_ONLY);
    assert_eq!(hunted.code, Some(0), "{}", hunted.stderr);
    assert_eq!(hunted.report["exploration"]["complete"], true);
    let sentence = "complete: no data race, deadlock or uncaught exception in any schedule";
    assert!(hunted.stderr.contains(sentence), "{}", hunted.stderr);
    // A race that hides behind a lock, and can be seen again from here.
    let results = scratch("hunt-explored-race").join("r");
    let hunted = hunt(&section("hidden"), &results, &EXPLORE_ONLY);
    assert_eq!(hunted.code, Some(66), "{}", hunted.stderr);
    assert_eq!(hunted.report["exploration"]["complete"], true);
    assert!(hunted.stderr.contains("\ncomplete: every schedule"));
    let race = &hunted.report["races"][0];
    assert_eq!(race["status"], "observed");
    let by = race["found_by"].as_array().unwrap();
    assert!(by.iter().any(|by| by == "verify"), "{race}");
    let mut tool = photofinish();
    tool.args(["replay", "--results"]).arg(&results).arg("R1");
    let done = finish(tool, "");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(66), "{said}");
    assert!(said.contains("R1: the same run again"), "{said}");
}
