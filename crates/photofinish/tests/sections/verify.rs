//! Sections under `verify`: as many executions as there are classes of equivalent
//! ones, and what they show.

use serde_json::Value;
use test_support::programs::{Expected, Program, Section, names, verify, verify_undisturbed};
use test_support::trials::{Trial, trial};

/// More executions than a test should wait for.
const MANY: u64 = 10;

/// Sections of `bugs` for the benchmark: the number of threads makes them slow.
pub const MANY_THREADS: [&str; 3] = ["reorder-20", "reorder-50", "reorder-100"];

/// Executions that are made before JVMs are used again.
pub const ALONE: u64 = 4;

pub fn trials() -> Vec<Trial> {
    let expected = Expected::for_trials("verify");
    let short = expected.sections.iter().filter(|s| {
        let main = s.main.as_deref();
        s.executions <= Some(MANY) && matches!(main, Some("Litmus" | "Spinning" | "BookLoops"))
    });
    let litmus = short.map(|section| {
        let name = format!("verify::{}", section.name);
        trial(name, move || {
            litmus(&expected.program("verify", section), section);
        })
    });
    let mut all: Vec<Trial> = litmus.collect();
    for dir in ["jrf", "book"] {
        let expected = Expected::for_trials(dir);
        let few = expected.sections.iter().filter(|s| {
            let few = s.executions.is_some_and(|n| n <= ALONE);
            few || is_reused(s)
        });
        all.extend(few.map(|section| {
            let name = format!("verify::{dir}::{}", section.name);
            trial(name, move || {
                repaired(&expected.program(dir, section), section);
            })
        }));
    }
    let bugs = Expected::for_trials("bugs");
    let soon = { bugs.sections.iter() }.filter(|s| !MANY_THREADS.contains(&s.name.as_str()));
    all.extend(soon.map(|section| {
        let name = format!("verify::bugs::{}", section.name);
        trial(name, move || bug(&bugs.program("bugs", section), section))
    }));
    all
}

/// Something is wrong with each, in some schedule, and is found.
pub fn bug(program: &Program, section: &Section) {
    let results = tempfile::tempdir().unwrap();
    let found = verify(program, results.path(), &["--stop-at", "first"]);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    assert!(found.races().is_empty(), "{}", found.stderr);
    let some = |list: &str| found.report[list].as_array().is_some_and(|l| !l.is_empty());
    match section.diagnosis.as_deref() {
        Some("uncaught") => assert!(some("failures"), "{}", found.stderr),
        _ => assert!(some("deadlocks"), "{}", found.stderr),
    }
}

/// Their first execution uses parts of the JDK that a JVM makes ready only once.
fn is_reused(section: &Section) -> bool {
    ["Bakery-repaired", "LockFreeHashSet-repaired"].contains(&section.name.as_str())
}

/// As many executions as it has, and all of them; what they show, and nothing else.
pub fn litmus(program: &Program, section: &Section) {
    let found = verify_undisturbed(program);
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], true, "{}", found.stderr);
    let wanted = section.executions.unwrap();
    assert_eq!(exploration["classes"], wanted, "{}", found.stderr);
    let locations = found.locations();
    let locations: Vec<_> = locations.iter().map(String::as_str).collect();
    let races: Vec<_> = names(&section.races).into_iter().collect();
    assert_eq!(locations, races);
    for race in found.races() {
        assert_eq!(race["status"], "observed");
    }
    let some = |list: &str| {
        let list = found.report.get(list).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    };
    let diagnosis = section.diagnosis.as_deref();
    assert_eq!(some("deadlocks"), diagnosis == Some("deadlock"));
    assert_eq!(some("failures"), diagnosis == Some("uncaught"));
    let clean = section.races.is_empty() && diagnosis.is_none();
    assert_eq!(found.code, Some(if clean { 0 } else { 66 }));
}

pub fn repaired(program: &Program, section: &Section) {
    let found = verify_undisturbed(program);
    let exploration = &found.report["exploration"];
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert_eq!(exploration["complete"], true, "{exploration}");
    assert_eq!(
        exploration["classes"],
        section.executions.unwrap(),
        "{exploration}"
    );
    if is_reused(section) {
        assert_eq!(exploration["isolated"], Value::Null, "{exploration}");
    }
}
