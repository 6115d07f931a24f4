//! `confirm`: synchronized collections of the JDK that race inside, and programs
//! without a race.

use serde_json::Value;
use test_support::programs::{Expected, confirm, control_program, outcomes, replays};
use test_support::trials::{Trial, trial};

/// Collections that are synchronized in name: which of them, who walks through
/// the other without its lock, who changes it, and what has been seen to come
/// of it.
const WRAPPERS: &[(&str, &str, &str, &[&str])] = &[
    (
        "LinkedList",
        "containsAll",
        "removeAll",
        &["ConcurrentModificationException"],
    ),
    (
        "ArrayList",
        "containsAll",
        "add",
        &["ConcurrentModificationException"],
    ),
    (
        "HashSet",
        "containsAll",
        "removeAll",
        &["ConcurrentModificationException"],
    ),
    (
        "TreeSet",
        "equals",
        "removeAll",
        &["ConcurrentModificationException"],
    ),
    (
        "HashSet",
        "addAll",
        "removeAll",
        &["ConcurrentModificationException"],
    ),
    (
        "LinkedList",
        "equals",
        "clear",
        &["ConcurrentModificationException"],
    ),
];

pub fn trials() -> Vec<Trial> {
    let wrappers = WRAPPERS.iter().map(|(kind, reader, writer, errors)| {
        let name = format!("confirm::wrappers::{kind}_{reader}_{writer}");
        trial(name, || races_inside([kind, reader, writer], errors))
    });
    let expected = Expected::for_trials("control");
    let ordered = ["two-threads", "parking", "joins"].into_iter().map(|name| {
        trial(format!("confirm::nothing::{name}"), move || {
            confirms_nothing(expected, name);
        })
    });
    wrappers.chain(ordered).collect()
}

/// A race inside the collection is confirmed and leads to these exceptions, which can be
/// replayed.
fn races_inside([kind, reader, writer]: [&str; 3], errors: &[&str]) {
    let name = format!("{kind} {reader} {writer}");
    let results = tempfile::tempdir().unwrap();
    let program = control_program(&["Wrappers", kind, reader, writer]);
    let found = confirm(&program, results.path(), &["--trials", "20"]);
    let inside = |race: &&Value| {
        let class = race["accesses"][0]["class"].as_str().unwrap_or_default();
        race["status"] == "confirmed" && class.starts_with("java.util.")
    };
    let confirmed: Vec<&Value> = found.races().iter().filter(inside).collect();
    assert!(!confirmed.is_empty(), "{} {}", found.report, found.stderr);
    let seen: Vec<&Value> = confirmed
        .iter()
        .flat_map(|r| outcomes(r, "exception"))
        .collect();
    for error in errors {
        let this = seen
            .iter()
            .find(|o| o["detail"].as_str().unwrap().contains(error));
        let this = this.unwrap_or_else(|| panic!("no {error} in {seen:#?}"));
        let command = this["replay"]["command"].as_str().unwrap();
        for _ in 0..2 {
            replays(command, error, &name);
        }
    }
}

fn confirms_nothing(expected: &Expected, name: &str) {
    let results = tempfile::tempdir().unwrap();
    let program = expected.program("control", expected.section(name));
    let found = confirm(&program, results.path(), &["--trials", "5"]);
    for race in found.races() {
        assert_ne!(race["status"], "confirmed", "{race}");
    }
    assert_eq!(found.code, Some(0), "{}", found.report);
}
