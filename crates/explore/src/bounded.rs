//! All that can be seen with at most `k` preemptions, where all there is would
//! take too long.
//!
//! A preemption is a switch away from a thread that could have gone on. Partial
//! orders do not go together with counting switches: of two equivalent
//! executions one may have few and the other many. So this is a plain search
//! over states: what can follow depends only on the class of the steps so far,
//! on the thread that went last and on the preemptions that are left, and a
//! state that was met before with as many left is not entered again. Every class
//! with a member of at most `k` preemptions is visited, some more than once.
//!
//! A class is known by a sum of 128-bit hashes of its steps with their clocks.

use crate::history::{History, join};
use crate::op::{Execution, Label, Ready, Resource, Thread, Touching};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bounded {
    bound: u32,
    /// Beginnings to try.
    pub open: Vec<Vec<Label>>,
    /// Preemptions with which a state was met. As pairs, since keys of JSON
    /// objects are strings.
    #[serde(with = "pairs")]
    seen: FxHashMap<(u128, Option<Thread>), u32>,
}

mod pairs {
    use super::{FxHashMap, Thread};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Seen = FxHashMap<(u128, Option<Thread>), u32>;

    pub fn serialize<S: Serializer>(seen: &Seen, s: S) -> Result<S::Ok, S::Error> {
        // Hashes as two halves: not every format has 128 bits.
        let halves = |((hash, last), used): (&(u128, Option<Thread>), &u32)| {
            ((*hash >> 64) as u64, *hash as u64, *last, *used)
        };
        let mut all: Vec<_> = seen.iter().map(halves).collect();
        all.sort_unstable();
        all.serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Seen, D::Error> {
        let all = Vec::<(u64, u64, Option<Thread>, u32)>::deserialize(d)?;
        let whole = |(high, low, last, used): (u64, u64, Option<Thread>, u32)| {
            ((u128::from(high) << 64 | u128::from(low), last), used)
        };
        Ok(all.into_iter().map(whole).collect())
    }
}

impl Bounded {
    pub fn new(bound: u32) -> Bounded {
        Bounded {
            bound,
            open: vec![Vec::new()],
            seen: FxHashMap::default(),
        }
    }

    /// Takes in an execution of which the first `given` steps were given.
    pub fn finish(&mut self, given: usize, execution: &Execution) {
        let history = History::new(execution);
        let mut classes = Classes::new(&history);
        let mut used = 0;
        let mut last = None;
        for (at, step) in execution.steps.iter().enumerate() {
            let no_ready = Vec::new();
            let ready = execution.ready.get(at).unwrap_or(&no_ready);
            let can_stay = ready.iter().any(|r| Some(r.label.thread) == last);
            let cost = |thread: Thread| used + u32::from(can_stay && Some(thread) != last);
            if at >= given {
                for label in ready.iter().flat_map(picks) {
                    let cost = cost(label.thread);
                    if label != step.label && cost <= self.bound {
                        let state = (classes.with(&label), Some(label.thread));
                        if self.first_time(state, cost) {
                            let taken = execution.steps[..at].iter();
                            let mut beginning: Vec<_> = taken.map(|s| s.label.clone()).collect();
                            beginning.push(label);
                            self.open.push(beginning);
                        }
                    }
                }
            }
            used = cost(step.label.thread);
            last = Some(step.label.thread);
            classes.push(at);
            if at >= given && !self.first_time((classes.sum, last), used) {
                return;
            }
        }
    }

    fn first_time(&mut self, state: (u128, Option<Thread>), used: u32) -> bool {
        match self.seen.get_mut(&state) {
            Some(before) if *before <= used => false,
            Some(before) => {
                *before = used;
                true
            }
            None => {
                self.seen.insert(state, used);
                true
            }
        }
    }
}

/// A number for the class of equivalent executions that this one belongs to.
pub fn class_of(execution: &Execution) -> u128 {
    let history = History::new(execution);
    let mut classes = Classes::new(&history);
    for at in 0..execution.steps.len() {
        classes.push(at);
    }
    classes.sum
}

/// Every way in which a thread can go on.
fn picks(ready: &Ready) -> impl Iterator<Item = Label> + '_ {
    (0..ready.picks).map(|pick| Label {
        pick,
        ..ready.label.clone()
    })
}

/// The class of a growing prefix.
struct Classes<'a> {
    history: &'a History<'a>,
    sum: u128,
    made: usize,
}

impl<'a> Classes<'a> {
    fn new(history: &'a History<'a>) -> Classes<'a> {
        Classes {
            history,
            sum: 0,
            made: 0,
        }
    }

    fn push(&mut self, at: usize) {
        let label = &self.history.steps[at].label;
        self.sum = self
            .sum
            .wrapping_add(self.hash(label, self.history.clock(at)));
        self.made = at + 1;
    }

    /// The class if this step came next.
    fn with(&self, label: &Label) -> u128 {
        let previous = |k: &usize| self.history.steps[*k].label.thread == label.thread;
        let mut clock = match (0..self.made).rev().find(previous) {
            Some(k) => self.history.clock(k).to_vec(),
            None => self.history.none(),
        };
        for (resource, exclusive) in Touching::new(label).footprint {
            self.learn(&mut clock, resource, exclusive);
        }
        self.history.advance(&mut clock, label.thread);
        self.sum.wrapping_add(self.hash(label, &clock))
    }

    fn learn(&self, clock: &mut [u32], resource: Resource, exclusive: bool) {
        for (k, theirs) in self.history.touches(resource).iter().rev() {
            if *k < self.made && (exclusive || *theirs) {
                join(clock, self.history.clock(*k));
            }
        }
    }

    fn hash(&self, label: &Label, clock: &[u32]) -> u128 {
        let known = self.history.by_thread(clock);
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, label, &known).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }
}
