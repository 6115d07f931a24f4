//! `detect --budget`: nothing false is found however periods fall, races are, and a report says how much of the program it is
//! about.

use serde_json::Value;
use std::collections::BTreeSet;
use test_support::programs::{Detected, Expected, Program, check_schema, location, names, repeat};

fn detect(program: &Program, options: &[&str]) -> Detected {
    let done = program.reported(&[&["detect"], options].concat());
    check_schema(&done.report);
    done
}

fn sampling(done: &Detected) -> &Value {
    &done.report["coverage"]["sampling"]
}

/// Periods of up to 0.3, 3 and 30 ms, at any cost: threads are in the middle of anything when they turn.
#[test]
fn what_is_ordered_is_not_reported() {
    let program = Expected::load("ordered").whole("ordered");
    for turns in ["300", "3000", "30000"] {
        for _ in 0..repeat() {
            let done = detect(&program, &["--budget", "10%", "--budget-turns", turns]);
            assert_eq!(done.code, Some(0), "{turns}: {}", done.stderr);
            assert!(done.races().is_empty(), "{turns}: {}", done.report);
            let sampled = sampling(&done);
            assert!(sampled["periods"].as_u64() > Some(20), "{sampled}");
            assert!(sampled["compared"].as_u64() > Some(0), "{sampled}");
        }
    }
}

/// A budget that is never used up: all but short whiles are sampled or compared.
#[test]
fn races_are_observed() {
    let expected = Expected::load("racy");
    let program = expected.whole("racy");
    let done = detect(&program, &["--budget", "100000%"]);
    assert_eq!(done.code, Some(66), "{}", done.stderr);
    // Most threads of these sections live for less than a period.
    assert!(done.races().len() > 20, "{}", done.report);
    let stated =
        |race: &Value| race["status"] == "observed" && race["accesses"][1].get("locks").is_none();
    assert!(done.races().iter().all(stated), "{}", done.report);
    let sections = expected.sections.iter();
    let known: BTreeSet<&str> = sections
        .flat_map(|section| names(&section.races).into_iter().chain(names(&section.may)))
        .collect();
    let found = done.races().iter().map(location);
    let unknown: Vec<String> = found.filter(|name| !known.contains(&**name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let sampled = sampling(&done);
    assert_eq!(sampled["budget_percent"], 100_000.0);
    let share = sampled["sampled_share"].as_f64().unwrap();
    assert!(share > 0.0 && share <= 1.0, "{sampled}");
    let classes = sampled["classes"].as_array().unwrap();
    let class = classes
        .iter()
        .find(|c| c["class"] == "racy.Fields$IntField");
    let class = class.unwrap_or_else(|| panic!("{sampled}"));
    assert!(
        class["statements"].as_u64() >= class["sampled"].as_u64(),
        "{class}"
    );
}

#[test]
fn no_race_in_a_sample_is_said_so() {
    let quiet = Program::own(&["Handed"]);
    let done = detect(&quiet, &["--budget", "100000"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let warnings = done.report["warnings"].to_string();
    assert!(warnings.contains("were watched"), "{warnings}");
    let shown = quiet.under(&["detect", "--budget", "100000"]);
    let said = String::from_utf8_lossy(&shown.stderr);
    let line = said
        .lines()
        .find(|line| line.starts_with("no race found in "));
    assert!(
        line.is_some_and(|line| line.contains("accesses in 1 run")),
        "{said}"
    );
    assert!(said.contains("watched: "), "{said}");
    // Too little to watch anything.
    let done = detect(&quiet, &["--budget", "0.01%"]);
    assert_eq!(done.code, Some(4), "{}", done.stderr);
    let warnings = done.report["warnings"].to_string();
    assert!(warnings.contains("nothing was watched"), "{warnings}");
}

#[test]
fn a_budget_is_for_fasttrack_in_free_runs() {
    let program = Program::own(&["Handed"]);
    for options in [
        &["--detector", "hybrid"][..],
        &["--scheduler", "random"],
        &["--scheduler", "drfinder"],
        &["--exec", "--detector", "lockset"],
    ] {
        let command = [&["detect", "--budget", "10%"], options].concat();
        let done = program.under(&command);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(64), "{options:?}: {said}");
        assert!(said.contains("--budget"), "{options:?}: {said}");
    }
    for bad in ["0", "-1%", "much"] {
        let done = program.under(&["detect", &format!("--budget={bad}")]);
        assert_eq!(done.status.code(), Some(64), "{bad}: {done:?}");
    }
}
