//! The shortest way to a finding: fewest preemptions, then fewest threads, then fewest steps.
//!
//! A run is described by its [`Course`]: whose turn it is, and for how many decisions. What a
//! course leaves open is decided without preemptions ([`Steered`]): the thread that ran goes on until it
//! cannot. So a course may be cut, turns may be moved or left out, and it still means a run.
//!
//! [`reduce`] works in two phases, each candidate executed by the caller:
//!
//! 1. *Simplify*, after Jalbert and Sen, "A trace simplification technique for effective debugging of
//!    concurrent programs" (FSE 2010): leave out the end of the course, leave out stretches of it (as delta
//!    debugging does), move a turn to the thread's turn before or after it. What shows the finding and costs
//!    less is the new start, until nothing helps.
//! 2. *Search* (iterative context bounding, Musuvathi and Qadeer 2007): all runs with fewer preemptions than the
//!    best one, those with the fewest first.
//!
//! Claims: what it returns was executed and showed the finding. If phase 2 came to its end within the
//! budget ([`Reduced::is_fewest`]), no run has fewer preemptions, as far as scheduling points and the caller's program are
//! deterministic. If not, phase 1's result is a local optimum only: `tests/model/reduce.rs` measures how far it
//! is off on random programs.

mod course;
mod search;
mod steer;

pub use course::{Course, Turn};
pub use search::{Looked, Reduced, look, reduce};
pub use steer::{Follow, Steered};

use crate::log::{Entry, Log};
use crate::op::{Op, Thread};
use std::collections::BTreeSet;

/// A decision of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Who went on with what; none if time was let pass.
    pub step: Option<(Thread, Op)>,
    /// Who could have gone on, without those that gave way.
    pub ready: Vec<Thread>,
    /// Time could have passed instead.
    pub may_tick: bool,
}

impl Moment {
    pub fn thread(&self) -> Option<Thread> {
        self.step.map(|(thread, _)| thread)
    }

    /// The decisions of a log that says who could have gone on; of another log there are none.
    pub fn of_log(log: &Log) -> Vec<Moment> {
        let mut moments = Vec::new();
        for entry in &log.entries {
            let step = match entry {
                Entry::Step { thread, op } => Some((*thread, *op)),
                Entry::Tick => None,
                Entry::Hit(_) | Entry::Note(_) => continue,
                // What racy reads see is decided too, and no candidate says it.
                Entry::Saw { .. } => return Vec::new(),
            };
            let number = moments.len() as u64;
            let Some(ready) = log.ready.get(&number) else {
                return Vec::new();
            };
            moments.push(Moment {
                step,
                ready: ready.threads.clone(),
                may_tick: ready.may_tick,
            });
        }
        moments
    }
}

/// What a candidate came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    pub moments: Vec<Moment>,
    /// After how many of them the finding was there; none if it never was.
    pub shown: Option<usize>,
}

impl Execution {
    /// The decisions up to the finding.
    pub fn story(&self) -> &[Moment] {
        let end = self.shown.unwrap_or(self.moments.len());
        self.moments.get(..end).unwrap_or(&self.moments)
    }

    pub fn cost(&self) -> Cost {
        Cost::of(self.story())
    }

    pub fn course(&self) -> Course {
        Course::of(self.story())
    }
}

/// The price of a run; less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Cost {
    pub preemptions: u32,
    pub threads: u32,
    pub steps: u64,
}

impl Cost {
    pub fn of(moments: &[Moment]) -> Cost {
        let threads: BTreeSet<Thread> = moments.iter().filter_map(Moment::thread).collect();
        Cost {
            preemptions: preemptions(moments),
            threads: threads.len() as u32,
            steps: moments.len() as u64,
        }
    }
}

/// How often a thread that could have gone on did not: another one did, or time passed. Several
/// ticks in a row, and who goes on after them, are one.
pub fn preemptions(moments: &[Moment]) -> u32 {
    let mut all = Preemptions::default();
    for moment in moments {
        all.add(moment.thread(), &moment.ready);
    }
    all.count
}

/// Preemptions of a run up to some decision.
#[derive(Clone, Copy, Default)]
struct Preemptions {
    count: u32,
    last: Option<Thread>,
    ticking: bool,
}

impl Preemptions {
    /// One decision more: who goes on, of those who could.
    fn add(&mut self, who: Option<Thread>, ready: &[Thread]) {
        let stays = { self.last }.is_none_or(|last| who == Some(last) || !ready.contains(&last));
        if !stays && !self.ticking {
            self.count += 1;
        }
        self.ticking = who.is_none();
        self.last = who.or(self.last);
    }
}
