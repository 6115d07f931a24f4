//! `predict`: from one run of each program in `programs/predict`, in which all
//! went well, what another schedule would show.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use test_support::programs::{Detected, Program, compile, location, root};

fn program(args: &[&str]) -> Program {
    let classes = compile("programs/predict/src", &[]);
    Program::new(&[&["-cp", classes.to_str().unwrap()], args].concat())
}

fn list<'d>(done: &'d Detected, member: &str) -> &'d [Value] {
    done.report[member].as_array().map_or(&[], Vec::as_slice)
}

/// Status of each property, by name.
fn properties(args: &[&str], spec: &str) -> BTreeMap<String, String> {
    let spec = root().join("programs/predict").join(spec);
    let done = program(args).reported(&["predict", "--property", spec.to_str().unwrap()]);
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let all = list(&done, "properties").iter();
    all.map(|p| {
        assert_eq!(p["complete"], true, "{p}");
        (text(&p["name"]), text(&p["status"]))
    })
    .collect()
}

#[test]
fn authentication_is_broken_with_if_and_not_with_while() {
    let status = |way| properties(&["predict.Authentication", way], "authentication.spec");
    // Predicted; or observed, where the machine let the task run first: nothing orders the
    // two, so both are right.
    let broken = ["predicted", "observed"];
    let with_if = &status("if")["authenticated"];
    assert!(broken.contains(&with_if.as_str()), "{with_if}");
    assert_eq!(status("while")["authenticated"], "holds");
}

#[test]
fn what_cannot_happen_is_not_predicted() {
    let status = properties(&["predict.Impossible"], "impossible.spec");
    assert_eq!(status["never_seen"], "holds");
}

/// The patterns of all violations of a program.
fn patterns(args: &[&str], units: &str) -> BTreeSet<String> {
    let done = program(args).reported(&["predict", "--atomicity", "--units", units]);
    let all = list(&done, "atomicity").iter();
    let patterns = all.map(|v| {
        assert_eq!(v["status"], "predicted");
        assert!(!v["witness"].as_array().unwrap().is_empty());
        v["pattern"].as_str().unwrap().to_owned()
    });
    patterns.collect()
}

#[test]
fn broken_programs_are_not_atomic_and_repaired_ones_are() {
    for (class, units, pattern) in [
        ("predict.Banking", "Account.deposit*", "R W' W"),
        ("predict.Buffers", "Buffer.append*", "R W' R"),
        ("predict.Vectors", "Vectors.copy*", "R W' R"),
        ("predict.Buckets", "Map.atomic", "R W' R"),
    ] {
        let broken = patterns(&[class, "broken"], units);
        assert!(broken.contains(pattern), "{class}: {broken:?}");
        let repaired = patterns(&[class, "repaired"], units);
        assert!(repaired.is_empty(), "{class}: {repaired:?}");
    }
}

#[test]
fn an_entry_changed_without_the_lock_of_its_bucket_races() {
    let run = |way| program(&["predict.Buckets", way]).reported(&["predict"]);
    let broken = run("broken");
    let race = broken.races().first().expect("a race");
    assert_eq!(location(race), "predict.Buckets$Entry.value");
    assert_eq!(race["status"], "predicted");
    // Each step says where it is, so that its source is found in its package.
    for step in race["witness"].as_array().unwrap().iter().rev().take(2) {
        let class = step["class"].as_str().unwrap();
        assert!(class.starts_with("predict.Buckets"), "{step}");
    }
    assert!(run("repaired").races().is_empty());
}

#[test]
fn what_was_predicted_is_made_to_happen() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path().to_str().unwrap();
    let classes = compile("programs/control/src", &[]);
    let figure = Program::new(&["-cp", classes.to_str().unwrap(), "Figure2"]);
    let done = figure.reported(&["predict", "--confirm", "--results", results]);
    let race = done
        .races()
        .iter()
        .find(|r| r["status"] == "confirmed")
        .unwrap_or_else(|| panic!("{}", done.report));
    assert_eq!(location(race), "Figure2.x");
    assert!(race["trials"]["hit"].as_u64().unwrap() > 0, "{race}");
    let found_by = race["found_by"].as_array().unwrap();
    assert!(found_by.contains(&"racefuzzer".into()), "{race}");
}

/// Not by those of the lock's own class.
#[test]
fn steps_inside_locks_are_told_by_the_lines_of_the_program() {
    let done = Program::own(&["Cashier"]).reported(&["predict"]);
    let races = done.races().iter();
    let witnesses = races.map(|race| race["witness"].as_array().unwrap());
    let places: BTreeSet<&str> = { witnesses.flatten() }
        .filter_map(|stretch| stretch["at"].as_str())
        .collect();
    let of_locks = places.iter().any(|at| at.starts_with("ReentrantLock"));
    assert!(!of_locks, "{places:?}");
    let given_back = ["Cashier.java:13", "Cashier.java:23"];
    assert!(
        given_back.iter().any(|at| places.contains(at)),
        "{places:?}"
    );
}
