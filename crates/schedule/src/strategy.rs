//! The one trait, and what strategies are made from.

use crate::may_trigger::{Counts, Peer, Plan};
use crate::op::{Decision, Hit, View};
use std::sync::Arc;

/// Says at each step of a run which thread goes on.
pub trait Strategy: Send {
    /// Who goes on. Asked once for every step of a run, in order.
    fn pick(&mut self, view: &View<'_>) -> Decision;

    /// What a strategy may want to know; most do not.
    fn told(&mut self, _fact: Fact<'_>) {}

    /// Races that it made happen since this was last asked.
    fn take_hits(&mut self) -> Vec<Hit> {
        Vec::new()
    }

    /// What it has done about hidden races in this run, if that is its business.
    fn hidden_counts(&self) -> Option<Counts> {
        None
    }
}

/// What a strategy is told before it is asked.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// Before the first operation at a statement that the run was asked to look
    /// at: which statements of the pair it is, 1, 2 or both (3).
    Target { site: u32, sides: u8 },
    /// Before an object's first operation: its class, as a lock, in the relation
    /// of the run (0: none).
    Lock { obj: u64, class: u32 },
    /// Which methods of the relation the threads are in that can go on or sleep.
    /// Only for schedulers that go by the relation.
    Peers(&'a [Peer]),
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
