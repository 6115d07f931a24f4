//! What executions have shown so far, and for how long nothing was new.

use super::{Execution, keys};
use driver::run::RunResult;
use findings::finding::Findings;
use protocol::RunEnd;
use std::collections::BTreeSet;

/// Executions without anything new after which there may be nothing more, at least.
const FEW: u64 = 50;

#[derive(Debug, Default)]
pub struct Novelty {
    /// What executions in fresh JVMs have shown, and where they were not under control.
    shown: BTreeSet<String>,
    /// Partial orders.
    orders: BTreeSet<u64>,
    pub tried: u64,
    last_shown: u64,
    /// The last that was different, or showed something for the first time.
    last_new: u64,
}

impl Novelty {
    /// Whether a run ended as usual, and shows nothing for the first time.
    pub fn is_known(&self, run: &RunResult) -> bool {
        let summary = run.findings.summary.as_ref();
        let ended = summary.map_or(RunEnd::Unknown, |s| s.ended);
        let usual = matches!(ended, RunEnd::Exit | RunEnd::Deadlock | RunEnd::Livelock);
        usual && all_shown(&run.findings).all(|key| self.shown.contains(&key))
    }

    /// The partial orders of the executions.
    pub fn orders(&self) -> impl Iterator<Item = u64> + '_ {
        self.orders.iter().copied()
    }

    /// Counts an execution; whether it showed something for the first time.
    pub fn take(&mut self, execution: &Execution) -> bool {
        self.tried += 1;
        let found = &execution.run.findings;
        let control = found.summary.as_ref().and_then(|s| s.control.as_ref());
        let order = control.and_then(|c| c.partial_order);
        let is_different = order.is_some_and(|order| self.orders.insert(order));
        let known = self.shown.len();
        if execution.dir.is_some() {
            self.shown.extend(all_shown(found));
        }
        let shows = self.shown.len() > known;
        if shows {
            self.last_shown = self.tried;
        }
        if shows || is_different {
            self.last_new = self.tried;
        }
        shows
    }

    /// How many were different.
    pub fn different(&self) -> u64 {
        self.orders.len() as u64
    }

    pub fn since_new(&self) -> u64 {
        self.tried - self.last_new
    }

    pub fn since_shown(&self) -> u64 {
        self.tried - self.last_shown
    }

    /// Whether so many, the last ones, are a third of all, and not a few.
    pub fn is_long(&self, since: u64) -> bool {
        since >= FEW.max(self.tried / 3)
    }
}

fn all_shown(found: &Findings) -> impl Iterator<Item = String> {
    keys(found).into_iter().chain(found.all_warnings())
}
