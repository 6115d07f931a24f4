//! Stale values from the prediction to the repair: made to happen, replayed, repaired. What is found in
//! which program is asked in `tests/sections`.

use serde_json::Value;
use std::path::Path;
use test_support::programs::{Detected, Expected, Program, finish, list, photofinish};

fn program(name: &str) -> Program {
    let expected = Expected::load("atomicity");
    expected.program("atomicity", expected.section(name))
}

fn confirmed(program: &Program, results: &Path) -> Detected {
    let results = results.to_str().unwrap();
    let options = ["--atomicity", "--engine", "hb", "--confirm", "--results"];
    program.reported(&[&["predict"], &options[..], &[results]].concat())
}

/// The value is stale in a controlled run, which is made again.
#[test]
fn a_map_that_both_fill_is_made_to_happen_and_replayed() {
    let results = tempfile::tempdir().unwrap();
    let done = confirmed(&program("broken-absent"), results.path());
    let unit = &done.report["atomicity"][0];
    assert_eq!(unit["status"], "confirmed", "{unit:#}");
    assert!(unit["tried"]["hit"].as_u64().unwrap() > 0, "{unit:#}");
    let mut tool = photofinish();
    tool.args(["replay", "A1", "--results"]).arg(results.path());
    let again = finish(tool, "");
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(again.status.code(), Some(66), "{said}");
    assert!(said.contains("the same run again"), "{said}");
    assert!(said.contains("then second calls Map.put"), "{said}");
}

#[test]
fn no_serial_order_gives_the_sum_of_a_lost_deposit() {
    let results = tempfile::tempdir().unwrap();
    let done = confirmed(&program("broken-deposit"), results.path());
    let tried = &done.report["atomicity"][0]["tried"];
    assert_eq!(tried["verdict"], "no-serial-order", "{tried:#}");
    assert_eq!(tried["serial"], serde_json::json!(["prints \"160\""]));
}

/// The repairs that remove the violation when they are tried.
fn repairs(name: &str) -> Vec<String> {
    let results = tempfile::tempdir().unwrap();
    let results = results.path().to_str().unwrap();
    let program = program(name);
    let found = confirmed(&program, Path::new(results));
    assert!(
        !list(&found.report, "atomicity").is_empty(),
        "{}",
        found.stderr
    );
    let mut tool = photofinish();
    tool.args(["advise", "--runs", "8", "--json", "-", "--results", results]);
    let done = finish(tool, "");
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let units = list(&report, "atomicity").iter();
    let advice = units.flat_map(|unit| list(unit, "advice"));
    let helps = advice.filter(|s| s["validated"] == "removes-violation");
    helps
        .map(|s| s["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn repairs_make_one_step_of_two() {
    for (name, repair) in [
        ("broken-absent", "call Map.putIfAbsent at "),
        (
            "broken-deposit",
            "make atomicity.Broken$Account.deposit synchronized",
        ),
    ] {
        let found = repairs(name);
        assert!(
            found.iter().any(|text| text.starts_with(repair)),
            "{name}: {found:#?}"
        );
    }
}
