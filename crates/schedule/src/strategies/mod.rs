//! One strategy a file, and the list of them.

mod drfinder;
mod pct;
mod pos;
mod racefuzzer;
mod walk;

use crate::strategy::{Params, Strategy};

/// Makes a strategy for one run.
pub type Make = fn(&Params) -> Box<dyn Strategy>;

/// Every strategy by its name.
pub const REGISTRY: &[(&str, Make)] = &[
    ("random", |p| Box::new(walk::Walk::new(p))),
    ("pct", |p| Box::new(pct::Pct::new(p))),
    ("pos", |p| Box::new(pos::Pos::new(p))),
    ("racefuzzer", |p| Box::new(racefuzzer::RaceFuzzer::new(p))),
    ("drfinder-serial", |p| Box::new(drfinder::DrFinder::new(p))),
];

/// The strategy of that name, if there is one.
pub fn strategy(name: &str, params: &Params) -> Option<Box<dyn Strategy>> {
    let (_, make) = REGISTRY.iter().find(|(known, _)| *known == name)?;
    Some(make(params))
}
