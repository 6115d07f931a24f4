//! `hunt` on the examples: each finds what is documented for it, with the
//! right status and nothing else, and says so as it should.

use crate::expected::{Expected, names};
use crate::redact::Redacted;
use crate::support::{Program, check_schema, finish, in_parallel, photofinish, root, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Few: what is certain must not hang on many.
const TRIALS: [&str; 4] = ["--trials", "6", "--time-limit", "180s"];

struct Hunted {
    code: Option<i32>,
    report: Value,
    stderr: String,
    stdout: String,
}

fn hunt(program: &Program, results: &Path, options: &[&str]) -> Hunted {
    let json = results.with_extension("json");
    let mut tool = photofinish();
    tool.current_dir(root())
        .args(["hunt", "--no-config", "--sources", "programs/examples/src"])
        .args(TRIALS)
        .args(options)
        .arg("--json")
        .arg(&json)
        .arg("--results")
        .arg(results)
        .arg("--")
        .args(&program.args);
    let done = finish(tool, "");
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    let report = std::fs::read(&json).unwrap();
    let report = serde_json::from_slice(&report).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    check_schema(&report);
    Hunted {
        code: done.status.code(),
        report,
        stderr,
        stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
    }
}

#[test]
fn each_example_ends_as_documented() {
    let expected = Expected::load("examples");
    in_parallel(&expected.sections, |section| {
        let name = &section.name;
        let program = expected.program("examples", section);
        let hunted = hunt(
            &program,
            &scratch(&format!("hunt-{name}")).join("r"),
            &["--runs", "3", "--skip", "advise,verify"],
        );
        // Nothing that is not documented.
        let may = &names(&section.may) | &names(&section.races);
        for race in hunted.report["races"].as_array().unwrap() {
            let location = crate::support::location(race);
            assert!(may.contains(location.as_str()), "{name}: {location}");
        }
        assert_eq!(hunted.stdout, "", "what the program prints is not shown");
        let code = if section.races.is_empty() { 0 } else { 66 };
        assert_eq!(hunted.code, Some(code), "{name}: {}", hunted.stderr);
        compare(name, &names(&section.races), &hunted.stderr);
    });
}

/// Holds a report against the golden one. `PHOTOFINISH_GOLDEN=1` adds what is
/// new to that instead.
fn compare(name: &str, locations: &BTreeSet<&str>, report: &str) {
    let file = root().join(format!("programs/examples/hunt/{name}.txt"));
    let mut golden = Redacted::read(&std::fs::read_to_string(&file).unwrap_or_default());
    let got = Redacted::of(report, locations);
    if std::env::var_os("PHOTOFINISH_GOLDEN").is_some() {
        golden.add(got);
        std::fs::write(&file, golden.write()).unwrap();
        return;
    }
    assert_eq!(golden.rest, got.rest, "{name}: it said\n{report}");
    for race in &got.races {
        let same = golden.races.iter().find(|known| known.text == race.text);
        let Some(same) = same else {
            panic!("{name}: not in its golden report:\n{}", race.text);
        };
        let (seen, known) = (&race.outcomes, &same.outcomes);
        assert!(
            !seen.is_empty() && seen.is_subset(known),
            "{name}: {seen:?}"
        );
    }
    let met: BTreeSet<&str> = got.races.iter().map(|r| r.location.as_str()).collect();
    assert_eq!(&met, locations, "{name}: it said\n{report}");
}

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
    "predict,confirm,hidden races,races that hide behind locks,confirm what was hidden,advise",
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
