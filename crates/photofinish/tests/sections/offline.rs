//! In every racy section the two accesses are unordered whatever happens, so
//! happens-before finds the same offline, and hybrid at least that. Every third section, unless all are asked for.

use test_support::programs::{Expected, Section, names, offline, scratch, thorough};
use test_support::trials::{Trial, trial};

pub fn trials() -> Vec<Trial> {
    let expected = Expected::for_trials("racy");
    let every = if thorough() { 1 } else { 3 };
    let each = expected.sections.iter().step_by(every).map(|section| {
        let name = format!("offline::racy::{}", section.name);
        trial(name, move || check(expected, section))
    });
    each.collect()
}

fn check(expected: &Expected, section: &Section) {
    let program = expected.program("racy", section);
    let trace = scratch(&format!("offline-{}", section.name)).join("t.pft");
    let done = program.reported(&["record", "-o", trace.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let (must, may) = (names(&section.races), names(&section.may));
    let fasttrack = offline(&trace, "fasttrack").locations();
    // Two runs: what hybrid suspects besides may differ between them.
    let hybrid = offline(&trace, "hybrid").locations();
    let online = program.detect(&["--detector", "hybrid"]).locations();
    let all = [
        ("fasttrack", &fasttrack),
        ("hybrid, offline,", &hybrid),
        ("hybrid, online,", &online),
    ];
    for (detector, found) in all {
        let missing: Vec<_> = must.iter().filter(|l| !found.contains(**l)).collect();
        assert!(missing.is_empty(), "{detector} misses {missing:?}");
    }
    let known = |l: &&String| must.contains(l.as_str()) || may.contains(l.as_str());
    let extra: Vec<_> = fasttrack.iter().filter(|l| !known(l)).collect();
    assert!(extra.is_empty(), "fasttrack reports {extra:?}");
    std::fs::remove_dir_all(trace.parent().unwrap()).unwrap();
}
