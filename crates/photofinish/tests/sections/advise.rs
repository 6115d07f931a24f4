//! `advise`: figures of the paper on JRF-E for each kind of repair, and a sample of
//! programs after a textbook. The repairs that are expected are proposed, and
//! found to help. Runs are controlled, so what they show depends on seeds alone.

use std::collections::BTreeSet;
use test_support::programs::{Detected, Expected, Program, QUICK_ADVICE, compile, list};
use test_support::trials::{Trial, trial};

/// A main class, and the repair that it needs.
const KINDS: [(&str, &str); 3] = [
    // A lock.
    (
        "jrf.faulty.Figure16",
        "put Figure16.java:24 in a block synchronized on jrf.faulty.Figure16.LOCK",
    ),
    // A statement that is moved up.
    (
        "jrf.faulty.Figure13",
        "move Figure13.java:19 before Figure13.java:18",
    ),
    // Elements that act like volatile ones.
    (
        "jrf.faulty.Figure8",
        "use an atomic array (java.util.concurrent.atomic) for jrf.faulty.Figure8.flag",
    ),
];

/// Of `programs/book`.
const SAMPLE: [&str; 3] = ["CLHLock", "StaticTreeBarrier", "CoarseHashSet"];

pub fn trials() -> Vec<Trial> {
    let kinds = KINDS.into_iter().map(|(main, repair)| {
        let name = format!("advise::{}", main.replace('.', "::"));
        trial(name, move || {
            let classes = compile("programs/jrf/src", &[]);
            let figure = Program::new(&["-cp", classes.to_str().unwrap(), main]);
            proposes(&figure, &[repair]);
        })
    });
    let expected = Expected::for_trials("book");
    let sample = SAMPLE.into_iter().map(|name| {
        trial(format!("advise::book::{name}"), move || {
            let section = expected.section(name);
            let repairs: Vec<&str> = section.repairs.iter().map(String::as_str).collect();
            proposes(&expected.program("book", section), &repairs);
        })
    });
    kinds.chain(sample).collect()
}

fn proposes(program: &Program, repairs: &[&str]) {
    let done = program.reported(&QUICK_ADVICE);
    let found = helpful(&done);
    for repair in repairs {
        assert!(found.contains(repair), "{repair}\n{:#}", done.report);
    }
}

/// What was found to remove some race.
fn helpful(done: &Detected) -> BTreeSet<&str> {
    let all = done.races().iter().flat_map(|race| list(race, "advice"));
    all.filter(|advice| advice["validated"] == "removes-race")
        .filter_map(|advice| advice["text"].as_str())
        .collect()
}
