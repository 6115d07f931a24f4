//! One bug is one finding: races inside an object of the JDK are known by the field
//! that holds the object, and by the program's calls that led there.

use serde_json::Value;
use std::collections::BTreeSet;
use test_support::programs::{Detected, Program, location};

fn detect(mode: &str) -> Detected {
    let found = Program::own(&["Held", mode]).detect(&[]);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    found
}

/// What findings are shown to be about.
fn subjects(found: &Detected) -> Vec<String> {
    found.findings().iter().map(location).collect()
}

/// The program's statement: that of the access, or the call into the JDK that led there.
fn own_statement(access: &Value) -> Option<String> {
    let stack = access["stack"].as_array().unwrap().iter();
    let mut frames = [access].into_iter().chain(stack);
    let own = frames.find(|f| f["class"].as_str().unwrap().starts_with("Held"))?;
    Some(own["method"].as_str().unwrap().to_owned())
}

fn own_statements(race: &Value) -> BTreeSet<Option<String>> {
    let accesses = race["accesses"].as_array().unwrap().iter();
    accesses.map(own_statement).collect()
}

#[test]
fn one_object_of_the_jdk_is_one_finding() {
    for (mode, field, methods) in [
        ("format", "Held.FORMAT", &["format", "parse"][..]),
        ("static", "Held.COUNTS", &["count", "total"]),
        (
            "instance",
            "Held.entries",
            &["put", "values", "putByGetter"],
        ),
        ("set", "Held.seen", &["add", "contains"]),
    ] {
        let found = detect(mode);
        assert_eq!(subjects(&found), [field], "{mode}: {:#}", found.report);
        let [finding] = found.findings() else {
            panic!("{mode}: one finding")
        };
        let group = &finding["group"];
        assert_eq!(group["owner"], field, "{group:#}");
        assert!(group["inside"].is_object(), "{group:#}");
        let members = group["members"].as_array().unwrap();
        assert_eq!(found.races().len(), 1 + members.len());
        for race in found.races() {
            for method in own_statements(race) {
                let method = method.unwrap_or_else(|| panic!("{mode}: whose call? {race:#}"));
                assert!(methods.contains(&method.as_str()), "{mode}: {method}");
            }
        }
    }
}

#[test]
fn two_objects_are_two_findings_though_one_line_uses_both() {
    let found = detect("two");
    let subjects: BTreeSet<String> = subjects(&found).into_iter().collect();
    let expected = ["Held.COUNTS", "Held.NAMES"].map(str::to_owned);
    assert_eq!(subjects, BTreeSet::from(expected), "{:#}", found.report);
    assert_eq!(found.findings().len(), 2);
}

#[test]
fn an_array_is_one_finding_with_its_name_and_without() {
    let found = detect("array");
    let [finding] = found.findings() else {
        panic!("{:#}", found.report)
    };
    assert_eq!(finding["location"]["from"], "Held.CELLS", "{finding:#}");
}

/// No field holds it; the places where it is used do.
#[test]
fn an_object_that_only_locals_know_is_one_finding() {
    let found = detect("local");
    let [finding] = found.findings() else {
        panic!("{:#}", found.report)
    };
    let owner = finding["group"]["owner"].as_str().unwrap();
    assert!(
        owner.starts_with("a java.util.HashMap in Held.lambda$local"),
        "{owner}"
    );
}

/// What the program throws and catches ends the calls that it was in.
#[test]
fn a_call_that_ended_by_an_exception_is_over() {
    let found = detect("thrown");
    for race in found.races() {
        for access in race["accesses"].as_array().unwrap() {
            assert!(access.get("holders").is_none(), "{access:#}");
        }
    }
}

/// Callers are those of the access, or none: not those of threads that had ended.
#[test]
fn no_stack_is_shown_that_never_was() {
    let found = detect("callers");
    assert_eq!(subjects(&found), ["Held.COUNTS"], "{:#}", found.report);
    for race in found.races() {
        let late = BTreeSet::from([Some("late".to_owned())]);
        assert_eq!(own_statements(race), late, "{race:#}");
        assert!(!race["accesses"].to_string().contains("early"), "{race:#}");
    }
}

/// `println(set)` and `set.forEach` go through the set in code of `java.lang`, for the program.
#[test]
fn code_of_java_lang_that_goes_through_a_collection_speaks_for_its_caller() {
    for how in ["forEach", "valueOf", "append", "concat", "join", "println"] {
        let found = Program::own(&["Printed", how]).reported(&["detect"]);
        let mut races = found.findings().iter();
        assert!(
            races.any(|race| race["status"] == "observed"),
            "{how}: {}",
            found.report
        );
    }
}
