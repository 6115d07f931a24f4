//! `pos`: partial order sampling (Yuan, Yang, Gu: "Partial Order Aware
//! Concurrency Sampling", CAV 2018), the basic algorithm.
//!
//! Every pending operation, not every thread, has a random priority, drawn when
//! the operation is first seen; the enabled operation with the highest one
//! runs. Pending operations that race with the one that runs draw again: which
//! of two racing operations comes first must not say which of the next comes
//! first.
//!
//! Promises: partial orders, not interleavings, are sampled. Operations that
//! commute take part in one draw only, so long stretches that touch nothing
//! shared do not make the few orders that matter rare, as they do in a random
//! walk.
//!
//! Where the paper is silent: a yield or spin takes the lowest of four draws,
//! so that others probably go first, but never the lowest possible, or who
//! yields could wait for ever for one who polls without saying so. Threads may be late
//! for deadlines (`late`).

use crate::op::{Decision, Kind, Op, Thread, View};
use crate::random::Rng;
use crate::registry::{How, Row, Scheduler};
use crate::strategies::late::Late;
use crate::strategy::{Params, Strategy};
use rustc_hash::FxHashMap;

pub const SCHEDULER: Scheduler = Scheduler(&Row {
    name: "pos",
    about: "One at a time by priorities of operations, drawn again after conflicts",
    how: How::Serial(|p| Box::new(Pos::new(p))),
    goes_by_relation: false,
    is_offered: true,
});

#[derive(Debug)]
pub(crate) struct Pos {
    rng: Rng,
    late: Late,
    /// What each thread was last seen to do next, and its priority. Blocked
    /// threads keep theirs.
    pending: FxHashMap<Thread, (Op, u64)>,
}

impl Pos {
    pub(crate) fn new(params: &Params) -> Pos {
        Pos {
            rng: Rng::new(params.seed),
            late: Late::new(params),
            pending: FxHashMap::default(),
        }
    }

    fn draw(&mut self, kind: Kind) -> u64 {
        let draws = if kind.gives_way() { 4 } else { 1 };
        (0..draws).map(|_| self.rng.word()).min().unwrap_or(0)
    }
}

/// The order of the two may matter to anybody.
fn race(a: &Op, b: &Op) -> bool {
    if a.obj == 0 || a.obj != b.obj {
        return false;
    }
    if a.kind.is_access() && b.kind.is_access() {
        return a.conflicts(b);
    }
    a.kind != Kind::AcquireShared || b.kind != Kind::AcquireShared
}

impl Strategy for Pos {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        if self.late.strikes(view) {
            return Decision::Tick;
        }
        let mut best = (0, view.ready[0]);
        for ready in view.ready {
            let priority = match self.pending.get(&ready.thread) {
                Some((op, priority)) if *op == ready.op => *priority,
                _ => {
                    let priority = self.draw(ready.op.kind);
                    self.pending.insert(ready.thread, (ready.op, priority));
                    priority
                }
            };
            if priority > best.0 {
                best = (priority, *ready);
            }
        }
        let picked = best.1;
        // What falls out here draws again when it is next seen.
        self.pending
            .retain(|thread, (op, _)| *thread != picked.thread && !race(op, &picked.op));
        Decision::Run(picked.thread)
    }
}
