//! Who decides in a run: a strategy; a schedule that is repeated; or an exploration,
//! which knows itself who can go on, and so is asked before every operation.

use crate::guided::Guided;
use crate::may_trigger::Counts;
use crate::op::{Decision, Hit, View};
use crate::replay::Replay;
use crate::strategy::{Fact, Strategy};

pub enum Decider {
    Strategy(Box<dyn Strategy>),
    Replay(Box<Replay>),
    Guided(Box<Guided>),
}

impl Decider {
    pub(crate) fn pick(&mut self, view: &View<'_>) -> Decision {
        match self {
            Decider::Strategy(strategy) => strategy.pick(view),
            Decider::Replay(replay) => replay.pick(view),
            Decider::Guided(guided) => guided.pick(view),
        }
    }

    pub(crate) fn told(&mut self, fact: Fact<'_>) {
        if let Decider::Strategy(strategy) = self {
            strategy.told(fact);
        }
    }

    pub(crate) fn take_hits(&mut self) -> Vec<Hit> {
        match self {
            Decider::Strategy(strategy) => strategy.take_hits(),
            Decider::Replay(replay) => replay.take_hits(),
            Decider::Guided(_) => Vec::new(),
        }
    }

    pub(crate) fn hidden_counts(&self) -> Option<Counts> {
        match self {
            Decider::Strategy(strategy) => strategy.hidden_counts(),
            Decider::Replay(_) | Decider::Guided(_) => None,
        }
    }
}

impl std::fmt::Debug for Decider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Decider::Strategy(_) => f.write_str("a strategy"),
            Decider::Replay(replay) => replay.fmt(f),
            Decider::Guided(guided) => guided.fmt(f),
        }
    }
}

impl From<Box<dyn Strategy>> for Decider {
    fn from(strategy: Box<dyn Strategy>) -> Decider {
        Decider::Strategy(strategy)
    }
}

impl From<Replay> for Decider {
    fn from(replay: Replay) -> Decider {
        Decider::Replay(Box::new(replay))
    }
}

impl From<Guided> for Decider {
    fn from(guided: Guided) -> Decider {
        Decider::Guided(Box::new(guided))
    }
}
