//! `predict --atomicity` on the programs in `programs/atomicity`: each broken one has a value that is
//! stale when it is used, and nobody says what is meant to be atomic; its twin has none.

use serde_json::Value;
use test_support::programs::{Expected, Section};
use test_support::trials::{Trial, trial};

pub fn trials() -> Vec<Trial> {
    let expected = Expected::for_trials("atomicity");
    let each = expected.sections.iter().map(move |section| {
        let name = format!("atomicity::{}", section.name);
        trial(name, move || stale(expected, section))
    });
    each.collect()
}

fn stale(expected: &Expected, section: &Section) {
    let program = expected.program("atomicity", section);
    let done = program.reported(&["predict", "--atomicity", "--engine", "hb"]);
    // Without any there is no member.
    let all = match &done.report["atomicity"] {
        Value::Array(all) => all.as_slice(),
        _ => &[],
    };
    if section.name.starts_with("correct-") {
        assert!(all.is_empty(), "{all:#?}");
        return;
    }
    let found: Vec<&Value> = all.iter().filter(|v| !v["stale"].is_null()).collect();
    assert!(!found.is_empty(), "{all:#?} {}", done.stderr);
    for violation in found {
        let class = |n: usize| violation["accesses"][n]["class"].as_str().unwrap();
        assert!(class(0).starts_with("atomicity.Broken"), "{violation:#}");
        assert!(class(2).starts_with("atomicity.Broken"), "{violation:#}");
        assert!(
            !violation["witness"].as_array().unwrap().is_empty(),
            "{violation:#}"
        );
    }
}
