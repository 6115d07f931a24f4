//! A detector says the same of a run as it happens and of its trace.

use std::collections::BTreeSet;
use std::path::PathBuf;
use test_support::programs::{Detected, Program, location, offline, scratch};

const DETECTORS: [&str; 4] = ["fasttrack", "hybrid", "lockset", "h"];

/// Records a program; the trace.
fn record(name: &str, program: &Program, options: &[&str]) -> PathBuf {
    let trace = scratch(&format!("offline-{name}")).join("t.pft");
    let command = ["record", "-o", trace.to_str().unwrap()];
    let done = program.reported(&[&command[..], options].concat());
    assert_eq!(done.code, Some(0), "{name}: {}", done.stderr);
    trace
}

/// Where each race is, and its two lines; without which thread was first, and
/// whether an increment counts as a read or a write.
fn pairs(found: &Detected) -> BTreeSet<(String, [u64; 2])> {
    let races = found.races().iter();
    races
        .map(|race| {
            let mut lines = [0, 1].map(|i| race["accesses"][i]["line"].as_u64().unwrap());
            lines.sort_unstable();
            (location(race), lines)
        })
        .collect()
}

/// What each detector has to say about `Scripted`, where nothing is left to
/// chance: the scripts after which a race is reported.
fn said_of_scripts(detector: &str) -> Vec<&'static str> {
    let all = [
        "WriteThenWrite",
        "Increments",
        "Shared",
        "TwoLocks",
        "ReadLocked",
    ];
    let more: &[&str] = match detector {
        "fasttrack" => &["WriteThenRead", "ReadThenWrite"],
        // Which critical section came first was chance.
        "hybrid" => &["WriteThenRead", "ReadThenWrite", "Lucky"],
        // Knows neither volatiles nor who came first; a read after its only
        // write may be of something that is not changed any more.
        "lockset" => &["ReadThenWrite", "Lucky", "Handoff"],
        // Looks back to the last write.
        _ => &["WriteThenRead"],
    };
    [&all, more].concat()
}

#[test]
fn scripted_encounters() {
    let program = Program::own(&["Scripted"]);
    let unseen = ["--exclude", "Turn"];
    let trace = record("scripted", &program, &unseen);
    for detector in DETECTORS {
        let command = ["--detector", detector];
        let online = program.detect(&[&command, &unseen[..]].concat());
        let offline = offline(&trace, detector);
        let scripts = said_of_scripts(detector).into_iter();
        let mut expected: BTreeSet<String> =
            scripts.map(|name| format!("Scripted${name}.x")).collect();
        expected.insert("short[]".to_owned());
        assert_eq!(online.locations(), expected, "{detector}, online");
        assert_eq!(offline.locations(), expected, "{detector}, offline");
        // What has no common lock is suspected only.
        let certain = ["fasttrack", "h"].contains(&detector);
        let code = Some(if certain { 66 } else { 0 });
        assert_eq!((online.code, offline.code), (code, code), "{detector}");
        assert_eq!(pairs(&online), pairs(&offline), "{detector}");
    }
}

#[test]
fn an_update_comes_after_what_was_done_before_the_one_it_sees() {
    for way in ["add", "set"] {
        let program = Program::own(&["Updates", way]);
        let trace = record(&format!("updates-{way}"), &program, &[]);
        for done in [program.detect(&[]), offline(&trace, "fasttrack")] {
            assert_eq!(done.locations(), BTreeSet::new(), "{way}");
        }
    }
}

/// Compare-and-sets of every kind: one that fails has only read, and gives no
/// order; one that succeeds does both.
#[test]
fn a_compare_and_set_that_fails_is_a_read() {
    let all = |way: &str| {
        let program = Program::own(&["Attempts", way]);
        let trace = record(&format!("attempts-{way}"), &program, &[]);
        [
            ("fasttrack", program.detect(&[]).locations()),
            (
                "hybrid",
                program.detect(&["--detector", "hybrid"]).locations(),
            ),
            (
                "fasttrack, offline",
                offline(&trace, "fasttrack").locations(),
            ),
            ("hybrid, offline", offline(&trace, "hybrid").locations()),
        ]
    };
    // What became of one whose result is boxed nobody knows: it may have succeeded.
    let told = [
        "Set",
        "Weak",
        "WeakRelease",
        "Exchange",
        "ExchangeRelease",
        "ByteExchange",
        "LongExchange",
        "FloatExchange",
        "DoubleExchange",
        "ReferenceExchange",
        "Static",
        "Element",
        "Counter",
    ];
    let unordered: BTreeSet<String> = told
        .iter()
        .map(|way| format!("Attempts${way}.data"))
        .collect();
    for (detector, found) in all("fail") {
        // Its order stands at once for those who cannot wait for the outcome.
        if detector != "hybrid" {
            assert_eq!(found, unordered, "{detector}");
        } else {
            assert!(found.is_subset(&unordered), "{found:?}");
        }
    }
    for way in ["succeed", "first"] {
        for (detector, found) in all(way) {
            assert_eq!(found, BTreeSet::new(), "{detector}, {way}");
        }
    }
    let written = BTreeSet::from(["Attempts$Plain.x".to_owned()]);
    for (detector, found) in all("plain") {
        // On the spot it counts as a read.
        let none = detector == "fasttrack";
        assert_eq!(
            found,
            if none {
                BTreeSet::new()
            } else {
                written.clone()
            },
            "{detector}"
        );
    }
}
