//! `pct`: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi,
//! Nagarakatte: "A Randomized Scheduler with Probabilistic Guarantees of
//! Finding Bugs", ASPLOS 2010).
//!
//! Every thread has a random priority; the enabled thread with the highest one
//! runs. `d - 1` change points are drawn from `1..=k`: after step number `k_i`
//! the thread that made it falls to priority `d - i`, below all that never fell.
//!
//! Promises: a bug that shows whenever `d` operations come in a certain order
//! is met by a run of at most `k` steps of at most `n` threads with probability
//! at least `1 / (n * k^(d-1))`, whatever the program.
//!
//! Where the paper is silent: threads are not known beforehand, so each draws
//! its priority when it is first seen, which comes to the same. A thread about
//! to yield or spin first falls below all others, or they would wait for ever
//! for what it waits for. So does one that keeps the processor from others for
//! `k` steps on end (100 at least, 10,000 at most): it polls without saying so.
//! A bug that needs a thread to overtake one that spins may be met more rarely
//! than promised. Threads may be late for deadlines (`late`).

use crate::op::{Decision, Thread, View};
use crate::random::Rng;
use crate::registry::{How, Row, Scheduler};
use crate::strategies::late::Late;
use crate::strategy::{Params, Strategy};
use rustc_hash::{FxHashMap, FxHashSet};

pub const SCHEDULER: Scheduler = Scheduler(&Row {
    name: "pct",
    about: "One at a time by random priorities, changed at a few random places",
    how: How::Serial(|p| Box::new(Pct::new(p))),
    goes_by_relation: false,
    is_offered: true,
});

/// Initial priorities are above this, those of change points below.
const INITIAL: i64 = 1 << 62;

#[derive(Debug)]
pub(crate) struct Pct {
    rng: Rng,
    late: Late,
    /// Step and the priority that the thread which makes it falls to; by step, latest first.
    changes: Vec<(u64, i64)>,
    priorities: FxHashMap<Thread, i64>,
    /// Below every priority given so far.
    bottom: i64,
    /// Fell to the bottom because of what they are about to do; once is enough.
    sunk: FxHashSet<Thread>,
    steps: u64,
    /// Who ran last while others could have, and for how many steps on end.
    run: (Thread, u64),
    patience: u64,
}

impl Pct {
    pub(crate) fn new(params: &Params) -> Pct {
        let mut rng = Rng::new(params.seed);
        let depth = i64::from(params.depth.max(1));
        let length = params.steps.max(1);
        let mut changes: Vec<_> = (1..depth)
            .map(|i| (1 + rng.below(length), depth - i))
            .collect();
        // At one step the last change wins; it is popped last.
        changes.sort_by_key(|&(step, to)| std::cmp::Reverse((step, -to)));
        Pct {
            rng,
            late: Late::new(params),
            changes,
            priorities: FxHashMap::default(),
            bottom: 0,
            sunk: FxHashSet::default(),
            steps: 0,
            run: (0, 0),
            patience: length.clamp(100, 10_000),
        }
    }

    /// The enabled thread with the highest priority. New ones get theirs.
    fn highest(&mut self, view: &View<'_>) -> Thread {
        let rng = &mut self.rng;
        let mut best = (i64::MIN, 0);
        for ready in view.ready {
            let priority = *self
                .priorities
                .entry(ready.thread)
                .or_insert_with(|| INITIAL + (rng.word() >> 2) as i64);
            // Two draws are equal once in 2^62; then the later thread is higher.
            best = best.max((priority, ready.thread));
        }
        best.1
    }
}

impl Strategy for Pct {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        if self.late.strikes(view) {
            return Decision::Tick;
        }
        // Ends: every round but the last adds a thread to those that sank.
        let picked = loop {
            let thread = self.highest(view);
            let gives_way = view.op_of(thread).is_some_and(|op| op.kind.gives_way());
            let tired = self.run.0 == thread && self.run.1 >= self.patience;
            if !(gives_way || tired) || !self.sunk.insert(thread) {
                break thread;
            }
            self.bottom -= 1;
            self.priorities.insert(thread, self.bottom);
            self.run.1 = 0;
        };
        self.sunk.remove(&picked);
        if self.run.0 != picked {
            self.run = (picked, 0);
        }
        if view.ready.len() > 1 {
            self.run.1 += 1;
        }
        self.steps += 1;
        while let Some((_, priority)) = self.changes.pop_if(|(step, _)| *step <= self.steps) {
            self.priorities.insert(picked, priority);
        }
        Decision::Run(picked)
    }
}
