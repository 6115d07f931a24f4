//! The one trait, and what strategies are made from.

use crate::op::{Decision, Hit, View};
use crate::replay::Divergence;

pub trait Strategy: Send {
    fn name(&self) -> &'static str;

    /// Who goes on. Asked once for every step of a run, in order.
    fn pick(&mut self, view: &View<'_>) -> Decision;

    /// Told before the first operation at a statement that a run was asked to
    /// look at: which statements of the pair it is, 1, 2 or both (3).
    fn target(&mut self, _site: u32, _sides: u8) {}

    /// Races that were made to happen since this was last asked.
    fn take_hits(&mut self) -> Vec<Hit> {
        Vec::new()
    }

    /// Where the run left the one that it was to repeat.
    fn divergence(&self) -> Option<&Divergence> {
        None
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Params {
    pub seed: u64,
    /// PCT: how many orderings a bug needs.
    pub depth: u32,
    /// PCT: how long the run is expected to be.
    pub steps: u64,
    /// RaceFuzzer: the sites of each statement of the pair; a statement may
    /// have several.
    pub pair: Option<[Vec<u32>; 2]>,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            seed: 0,
            depth: 3,
            steps: 1000,
            pair: None,
        }
    }
}
