//! What the four papers tell of faults in real programs, found in programs that have the same
//! faults (docs/papers.md).

use serde_json::Value;
use std::collections::BTreeSet;
use test_support::programs::{Detected, Program, compile, confirm, location, outcomes};

fn program(args: &[&str]) -> Program {
    let classes = compile("programs/papers/src", &[]);
    let mut words = vec!["-cp", classes.to_str().unwrap()];
    words.extend(args);
    Program::new(&words)
}

fn confirmed(args: &[&str], options: &[&str]) -> Detected {
    let results = tempfile::tempdir().unwrap();
    confirm(&program(args), results.path(), options)
}

/// The exceptions of all confirmed races, in words.
fn exceptions(found: &Detected) -> BTreeSet<String> {
    let races = found.races().iter().filter(|r| r["status"] == "confirmed");
    let all = races.flat_map(|race| outcomes(race, "exception"));
    let text = |outcome: &Value| outcome["detail"].as_str().unwrap().to_owned();
    all.map(text).collect()
}

/// RaceFuzzer, section 5.3: cache4j.
#[test]
fn an_interrupt_behind_a_plain_flag_kills_the_cleaner() {
    let found = confirmed(
        &["papers.CacheCleaner"],
        &["--all-trials", "--trials", "30"],
    );
    let seen = exceptions(&found);
    let expected = |text: &String| text.contains("interrupted before it slept");
    assert!(seen.iter().any(expected), "{seen:?} {}", found.stderr);
}

/// jPredictor, figures 8 and 9: Tomcat.
#[test]
fn a_loader_repaired_by_half_is_still_broken() {
    let raced = |version| {
        let done = program(&["papers.Loader", version]).reported(&["predict"]);
        let races = done.races().iter();
        races.map(location).collect::<BTreeSet<String>>()
    };
    let names = |fields: &[&str]| -> BTreeSet<String> {
        let full = fields.iter().map(|field| format!("papers.Loader.{field}"));
        full.collect()
    };
    assert_eq!(raced("faulty"), names(&["content", "loaded"]));
    assert_eq!(raced("half"), names(&["loaded"]));
    assert_eq!(raced("repaired"), names(&[]));
}
