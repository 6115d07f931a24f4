//! The one trait, and what strategies are made from.

use crate::guided::Guided;
use crate::may_trigger::{Counts, Peer, Plan};
use crate::op::{Decision, Hit, View};
use crate::replay::Divergence;
use std::sync::Arc;

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

    /// Told before an object's first operation: its class, as a lock, in the
    /// relation of the run (0: none).
    fn lock(&mut self, _obj: u64, _class: u32) {}

    /// Told before it is asked, by those who keep it: which methods of the
    /// relation the threads are in that can go on or sleep.
    fn peers(&mut self, _peers: &[Peer]) {}

    /// What it did about hidden races, if that is its business.
    fn hidden(&self) -> Option<Counts> {
        None
    }

    /// An exploration: it is asked before every operation, even where only one
    /// thread could go on, and knows itself who can.
    fn guided(&mut self) -> Option<&mut Guided> {
        None
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
    /// DrFinder: the relation of an earlier run.
    pub relation: Option<Arc<Plan>>,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            seed: 0,
            depth: 3,
            steps: 1000,
            pair: None,
            relation: None,
        }
    }
}
