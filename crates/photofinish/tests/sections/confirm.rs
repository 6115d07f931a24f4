//! `confirm`: synchronized collections of the JDK that race inside, and programs
//! without a race.

use serde_json::Value;
use std::path::Path;
use test_support::programs::{Expected, Program, confirm, control_program, outcomes, replays};
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
        let program = || control_program(&["Wrappers", kind, reader, writer]);
        trial(name, move || races_inside(&program(), errors))
    });
    let expected = Expected::for_trials("control");
    let ordered = ["two-threads", "parking", "joins"].into_iter().map(|name| {
        trial(format!("confirm::nothing::{name}"), move || {
            let section = expected.section(name);
            confirms_nothing(&expected.program("control", section));
        })
    });
    wrappers.chain(ordered).collect()
}

/// The first of each on another JDK.
pub fn on(java: &'static Path, named: &str) -> Vec<Trial> {
    let expected = Expected::for_trials("control");
    let (kind, reader, writer, errors) = WRAPPERS[0];
    let races = trial(format!("{named}::confirm::{kind}"), move || {
        let program = control_program(&["Wrappers", kind, reader, writer]);
        races_inside(&program.on(java), errors);
    });
    let nothing = trial(format!("{named}::confirm::nothing"), move || {
        let section = expected.section("two-threads");
        confirms_nothing(&expected.program("control", section).on(java));
    });
    vec![races, nothing]
}

/// A race inside the collection is confirmed and leads to these exceptions, which can be
/// replayed.
fn races_inside(program: &Program, errors: &[&str]) {
    let name = program.args.join(" ");
    let results = tempfile::tempdir().unwrap();
    let found = confirm(program, results.path(), &["--trials", "20"]);
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

fn confirms_nothing(program: &Program) {
    let results = tempfile::tempdir().unwrap();
    let found = confirm(program, results.path(), &["--trials", "5"]);
    for race in found.races() {
        assert_ne!(race["status"], "confirmed", "{race}");
    }
    assert_eq!(found.code, Some(0), "{}", found.report);
}
