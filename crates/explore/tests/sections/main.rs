//! The Java programs of `programs/verify`, written down by hand as litmus
//! programs: what `expected.toml` says of each is what brute force finds, and
//! what the exploration does. The tool itself has no say here; its own test makes
//! the same numbers of executions of the Java programs.
//!
//! A statement that races in some schedule is a scheduling point, any other plain
//! access is not, as in the last round of `verify` (where all accesses to what races
//! are points, which is the same in these programs).

mod models;

use explore::Config;
use litmus::Program;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use test_support::exploring::{Points, all_classes, brute_force, explored};
use test_support::trials::{self, trial};
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
    let path = test_support::root().join("programs/verify/expected.toml");
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str::<Expected>(&text).unwrap().section
}

fn main() {
    let mut models: BTreeMap<_, _> = models::all().into_iter().collect();
    let modelled: Vec<Section> = sections().into_iter().filter(|s| s.modelled).collect();
    let count = modelled.len();
    let mut all = Vec::new();
    for section in modelled {
        let model = models.remove(section.name.as_str());
        all.push(trial(section.name.clone(), move || {
            let model = model.expect("a model of the section in models.rs");
            same_number_of_classes(&section, &model);
        }));
    }
    let left: Vec<_> = models.into_keys().collect();
    all.push(trial("every model is of a section", move || {
        assert!(left.is_empty(), "of no section: {left:?}");
        assert!(count >= 30, "{count} sections have models");
    }));
    trials::run(all);
}

/// As many executions as the section says, as brute force finds classes, and as the
/// exploration makes.
fn same_number_of_classes(section: &Section, program: &Program) {
    let all = all_classes(program, &Points::All, 200_000).expect("small enough");
    assert_eq!(all.races.is_empty(), section.races.is_empty());
    let racing = all.races.iter().flat_map(|key| [key.sites.0, key.sites.1]);
    let points = Points::At(racing.collect::<BTreeSet<SiteId>>());
    let classes = all_classes(program, &points, 200_000).expect("small enough");
    if let Some(every) = brute_force(program, &points, SMALL) {
        assert_eq!(every, classes);
    }
    let (seen, progress) = explored(program, &points, Config::default());
    assert!(progress.complete);
    assert_eq!(seen.classes.len(), classes.classes.len());
    assert_eq!(seen.distinct(), classes);
    let deadlocks = section.diagnosis.as_deref() == Some("deadlock");
    assert_eq!(!classes.deadlocks.is_empty(), deadlocks);
    assert_eq!(classes.classes.len(), section.executions);
}
