//! Stale values from the prediction to the repair: made to happen, replayed, repaired, and as a stage of a hunt.
//! What is found in which program is asked in `tests/sections`.

use serde_json::Value;
use std::path::{Path, PathBuf};
use test_support::programs::{Detected, Expected, Program, finish, list, photofinish, scratch};

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

/// What a hunt does besides, but for the free runs.
const STALE_ONLY: &str = "verify,predict,confirm,hidden races,races that hide behind locks,\
                          confirm what was hidden,stories,advise,verify further";

fn hunted(name: &str, program: &Program, limit: &str) -> (Detected, PathBuf) {
    let results = scratch(&format!("hunt-stale-{name}")).join("r");
    let mut tool = photofinish();
    tool.args(["hunt", "--no-config", "--json", "-", "--results"])
        .arg(&results)
        .args(["--time-limit", limit, "--skip", STALE_ONLY, "--"])
        .args(&program.args);
    let done = finish(tool, &program.input);
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    let report = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    let detected = Detected::new(done.status.code(), report, String::new(), stderr);
    (detected, results)
}

/// No data race, and the hunt finds the lost deposit: predicted with a witness, made to happen, compared.
#[test]
fn a_hunt_makes_a_stale_value_happen() {
    let (done, results) = hunted("found", &program("broken-deposit"), "150s");
    assert_eq!(done.code, Some(66), "{}", done.stderr);
    assert!(list(&done.report, "races").is_empty(), "{}", done.stderr);
    let unit = &done.report["atomicity"][0];
    assert_eq!(unit["status"], "confirmed", "{unit:#}");
    assert_eq!(unit["tried"]["verdict"], "no-serial-order", "{unit:#}");
    let said = "is not atomic: confirmed, no serial order gives what came of it";
    assert!(done.stderr.contains(said), "{}", done.stderr);
    assert!(
        !done.stderr.contains("Nothing was found"),
        "{}",
        done.stderr
    );
    let stages = list(&done.report["hunt"], "stages").iter();
    let stages: Vec<_> = stages.map(|stage| &stage["stage"]).collect();
    assert_eq!(stages, ["detect", "stale values"]);
    // From what was saved, again and as a report.
    let tool = |args: &[&str]| {
        let mut tool = photofinish();
        tool.args(args).arg("--results").arg(&results);
        finish(tool, "")
    };
    let again = tool(&["replay", "A1"]);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(again.status.code(), Some(66), "{said}");
    assert!(said.contains("the same run again"), "{said}");
    let mut report = photofinish();
    report
        .args(["report", "--no-config", "--json", "-"])
        .arg(&results);
    let report = finish(report, "");
    assert_eq!(report.status.code(), Some(66));
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["atomicity"], done.report["atomicity"]);
}

#[test]
fn a_hunt_says_nothing_of_a_correct_twin() {
    let (done, _) = hunted("twin", &program("correct-deposit"), "150s");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(
        list(&done.report, "atomicity").is_empty(),
        "{}",
        done.stderr
    );
    let said = "0 stale values in the recorded run";
    assert!(done.stderr.contains(said), "{}", done.stderr);
}

/// Controlled runs of the program never end: the stage is over when its time is, and nothing is confirmed.
#[test]
fn a_hunt_stops_trying_when_its_time_is_over() {
    let runs = scratch("hunt-stale-runs").join("runs");
    let program = Program::own(&["StaleThenStuck", runs.to_str().unwrap()]);
    let (done, _) = hunted("stuck", &program, "30s");
    assert_eq!(done.report["limit_reached"], true, "{}", done.stderr);
    // On a machine so slow that a run takes long, nothing is recorded.
    if done.stderr.contains("nothing was recorded") {
        assert_eq!(done.code, Some(75), "{}", done.stderr);
        return;
    }
    assert_eq!(done.code, Some(66), "{}", done.stderr);
    let all = list(&done.report, "atomicity");
    let status = |unit: &Value| unit["status"].as_str().unwrap().to_owned();
    let said: Vec<String> = all.iter().map(status).collect();
    assert!(
        !said.is_empty() && said.iter().all(|s| s != "confirmed"),
        "{said:?}"
    );
    assert!(
        done.stderr.contains("there was no more time"),
        "{}",
        done.stderr
    );
}

/// Classes are initialised inside such a call, before it has its lock: that orders threads, and is no part of what it does.
#[test]
fn maps_and_sets_behind_a_lock_of_the_jdk_are_made_to_happen() {
    for name in ["broken-synchronized-map", "broken-synchronized-set"] {
        let results = tempfile::tempdir().unwrap();
        let done = confirmed(&program(name), results.path());
        let unit = &done.report["atomicity"][0];
        assert_eq!(unit["status"], "confirmed", "{name}: {unit:#}");
    }
}
