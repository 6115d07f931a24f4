//! The Java programs of `programs/verify`, written down by hand as litmus
//! programs: what `expected.toml` says of each is what brute force finds, and
//! what the exploration does. The tool itself has no say here; its own test makes
//! the same numbers of executions of the Java programs.
//!
//! A statement that races in some schedule is a scheduling point, any other plain
//! access is not, as in the last round of `verify` (where all accesses to what races
//! are points, which is the same in these programs).

#[path = "../common/mod.rs"]
mod common;
mod models;

use common::*;
use explore::Config;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use trace::SiteId;

/// Schedules up to which all of them are made, besides one of each class.
const SMALL: usize = 3_000;

#[derive(Deserialize)]
struct Expected {
    section: Vec<Section>,
}

#[derive(Deserialize)]
struct Section {
    name: String,
    executions: usize,
    races: Vec<toml::Value>,
    diagnosis: Option<String>,
    #[serde(default = "yes")]
    modelled: bool,
}

fn yes() -> bool {
    true
}

fn sections() -> Vec<Section> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../programs/verify/expected.toml"
    );
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str::<Expected>(&text).unwrap().section
}

#[test]
fn each_section_has_as_many_executions_as_brute_force_finds_classes() {
    let mut models: BTreeMap<_, _> = models::all().into_iter().collect();
    let mut modelled = 0;
    let mut wrong = Vec::new();
    for section in sections().iter().filter(|s| s.modelled) {
        let name = section.name.as_str();
        let program = models
            .remove(name)
            .unwrap_or_else(|| panic!("no model of {name}"));
        modelled += 1;
        let all = all_classes(&program, &Points::All, 200_000).expect("small enough");
        assert_eq!(all.races.is_empty(), section.races.is_empty(), "{name}");
        let racing = all.races.iter().flat_map(|key| [key.sites.0, key.sites.1]);
        let points = Points::At(racing.collect::<BTreeSet<SiteId>>());
        let classes = all_classes(&program, &points, 200_000).expect("small enough");
        if let Some(every) = brute_force(&program, &points, SMALL) {
            assert_eq!(every, classes, "{name}");
        }
        let (seen, progress) = explored(&program, &points, Config::default());
        assert!(progress.complete, "{name}");
        assert_eq!(seen.classes.len(), classes.classes.len(), "{name}");
        assert_eq!(seen.distinct(), classes, "{name}");
        let stands = section.diagnosis.as_deref() == Some("deadlock");
        assert_eq!(!classes.deadlocks.is_empty(), stands, "{name}");
        if classes.classes.len() != section.executions {
            wrong.push((name.to_owned(), section.executions, classes.classes.len()));
        }
    }
    assert!(wrong.is_empty(), "name, expected, classes: {wrong:?}");
    assert!(models.is_empty(), "of no section: {:?}", models.keys());
    assert!(modelled >= 30, "{modelled}");
}
