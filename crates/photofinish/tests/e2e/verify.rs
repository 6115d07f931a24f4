//! `verify`: as many executions as there are classes, what they show, and an
//! honest word about whether that was all.

use crate::expected::{Expected, Section, names};
use crate::support::{Detected, Program, finish, photofinish};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

pub fn verify(program: &Program, results: &Path, options: &[&str]) -> Detected {
    let results = results.to_str().unwrap();
    program.reported(&[&["verify", "--results", results], options].concat())
}

/// More executions than a test should wait for.
const MANY: u64 = 10;

pub fn section<'a>(expected: &'a Expected, name: &str) -> &'a Section {
    expected.sections.iter().find(|s| s.name == name).unwrap()
}

/// An exploration that no thread of the JDK's own got in the way of: that it is not
/// complete then is right, and now and then it happens where there is much to do.
fn undisturbed(program: &Program) -> Detected {
    let found = || {
        let results = tempfile::tempdir().unwrap();
        verify(program, results.path(), &[])
    };
    let disturbed = |found: &Detected| found.report["exploration"]["complete"] != true;
    let mut last = found();
    for _ in 0..3 {
        if !disturbed(&last) {
            break;
        }
        last = found();
    }
    last
}

#[test]
fn as_many_executions_as_there_are_classes() {
    let expected = Expected::load("verify");
    let modelled = expected
        .sections
        .iter()
        .filter(|s| s.modelled != Some(false));
    assert!(modelled.count() >= 30);
    for section in &expected.sections {
        let wanted = section.executions.unwrap();
        let main = section.main.as_deref();
        if wanted > MANY || !matches!(main, Some("Litmus" | "Spinning")) {
            continue;
        }
        let program = expected.program("verify", section);
        let found = undisturbed(&program);
        let name = &section.name;
        let exploration = &found.report["exploration"];
        assert_eq!(exploration["complete"], true, "{name}: {}", found.stderr);
        assert_eq!(exploration["classes"], wanted, "{name}: {}", found.stderr);
        let locations = found.locations();
        let locations: Vec<_> = locations.iter().map(String::as_str).collect();
        let races: Vec<_> = names(&section.races).into_iter().collect();
        assert_eq!(locations, races, "{name}");
        for race in found.races() {
            assert_eq!(race["status"], "observed", "{name}");
        }
        let some = |list: &str| {
            let list = found.report.get(list).and_then(Value::as_array);
            list.is_some_and(|list| !list.is_empty())
        };
        let diagnosis = section.diagnosis.as_deref();
        assert_eq!(some("deadlocks"), diagnosis == Some("deadlock"), "{name}");
        assert_eq!(some("failures"), diagnosis == Some("uncaught"), "{name}");
        let clean = section.races.is_empty() && diagnosis.is_none();
        assert_eq!(found.code, Some(if clean { 0 } else { 66 }), "{name}");
    }
}

/// Executions that are made before JVMs are used again.
const ALONE: u64 = 4;

/// The repaired programs: few executions, and two whose first execution uses parts of the JDK
/// that a JVM makes ready only once.
#[test]
fn repaired_programs_are_complete_after_so_many() {
    for dir in ["jrf", "book"] {
        let expected = Expected::load(dir);
        for section in &expected.sections {
            let reused = ["Bakery-repaired", "LockFreeHashSet-repaired"];
            let reused = reused.contains(&section.name.as_str());
            let wanted = section.executions;
            let Some(wanted) = wanted.filter(|n| reused || *n <= ALONE) else {
                continue;
            };
            let found = undisturbed(&expected.program(dir, section));
            let (name, exploration) = (&section.name, &found.report["exploration"]);
            assert_eq!(found.code, Some(0), "{name}: {}", found.stderr);
            assert_eq!(exploration["complete"], true, "{name}: {exploration}");
            assert_eq!(exploration["classes"], wanted, "{name}: {exploration}");
            if reused {
                let isolated = &exploration["isolated"];
                assert_eq!(*isolated, Value::Null, "{name}: {exploration}");
            }
        }
    }
}

/// What the JVM does to link it is not part of it: it was once taken for one that
/// failed, and who waited for it for stuck.
#[test]
fn the_first_compare_and_set_succeeds() {
    let found = undisturbed(&Program::own(&["FirstCas"]));
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], true, "{exploration}");
    assert_eq!(found.code, Some(0), "{}", found.stderr);
}

/// The thread of the JDK that sees to the end of processes makes no steps. That it
/// wakes somebody is honoured, and said: the exploration is not complete.
#[test]
fn whoever_waits_for_a_process_is_not_stuck() {
    let results = tempfile::tempdir().unwrap();
    let found = verify(&Program::own(&["Forker"]), results.path(), &[]);
    let report = &found.report;
    assert_eq!(report.get("deadlocks"), None, "{report}");
    assert_eq!(report["exploration"]["complete"], false, "{report}");
    assert_eq!(
        found.locations(),
        BTreeSet::from(["Forker.shared".to_owned()])
    );
}

/// `Courier` looks at a field twice in a row. That the second look races does
/// not follow from executions in which both come before or after the write; what
/// lies between the two is found only if every access to what races is a point.
#[test]
fn a_second_look_at_what_races_is_a_point_too() {
    let expected = Expected::load("examples");
    let results = tempfile::tempdir().unwrap();
    let program = expected.program("examples", section(&expected, "Courier"));
    let found = verify(&program, results.path(), &[]);
    assert_eq!(found.report["exploration"]["complete"], true);
    let lines = |race: &Value| -> BTreeSet<u64> {
        let accesses = race["accesses"].as_array().unwrap();
        accesses.iter().filter_map(|a| a["line"].as_u64()).collect()
    };
    let pairs: BTreeSet<_> = found.races().iter().map(lines).collect();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    let failure = &found.report["failures"][0]["exception"];
    let failure = failure.as_str().unwrap_or_default();
    assert!(failure.contains("NullPointerException"), "{failure}");
}

#[test]
fn what_an_execution_showed_can_be_seen_again() {
    let expected = Expected::load("verify");
    for (name, id) in [("race", "R1"), ("deadlock", "D1"), ("assertion", "F1")] {
        let results = tempfile::tempdir().unwrap();
        let program = expected.program("verify", section(&expected, name));
        let found = verify(&program, results.path(), &[]);
        assert_eq!(found.code, Some(66), "{}", found.stderr);
        let mut tool = photofinish();
        tool.args(["replay", "--results"])
            .arg(results.path())
            .arg(id);
        let done = finish(tool, "");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(66), "{name}: {said}");
        assert!(
            said.contains(&format!("{id}: the same run again")),
            "{said}"
        );
    }
}

#[test]
fn what_was_stopped_is_not_complete() {
    let expected = Expected::load("verify");
    let results = tempfile::tempdir().unwrap();
    let program = expected.program("verify", section(&expected, "twice"));
    let found = verify(&program, results.path(), &["--max-executions", "2"]);
    assert_eq!(found.code, Some(75), "{}", found.stderr);
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], false);
    assert_eq!(exploration["executions"], 2);
    let reasons = exploration["not_complete"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    // With no preemption at all there are two orders, whatever else.
    let found = verify(&program, results.path(), &["--bound", "preemptions=0"]);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert_eq!(found.report["exploration"]["complete"], true);
    assert_eq!(found.report["exploration"]["preemptions"], 0);
}

#[test]
fn what_is_not_to_be_checked_is_not_and_still_orders() {
    let expected = Expected::load("verify");
    let race = expected.program("verify", section(&expected, "race"));
    let message = expected.program("verify", section(&expected, "message"));
    for (program, options, classes) in [
        (&race, ["--untracked", "Litmus.plain"], 1),
        (&race, ["--untracked", "Other.*,Lit*.pl*"], 1),
        (&race, ["--trusted", "Litmus"], 1),
        // A volatile field goes on to order what it ordered.
        (&message, ["--untracked", "Litmus.flag"], 2),
    ] {
        let results = tempfile::tempdir().unwrap();
        let found = verify(program, results.path(), &options);
        assert_eq!(found.code, Some(0), "{options:?}: {}", found.stderr);
        let exploration = &found.report["exploration"];
        assert_eq!(exploration["complete"], true, "{options:?}");
        assert_eq!(exploration["classes"], classes, "{options:?}");
    }
    let untracked = ["--detector", "hybrid", "--untracked", "Litmus.plain"];
    assert_eq!(race.detect(&untracked).code, Some(0));
    assert_eq!(race.detect(&untracked[..2]).code, Some(66));
}
