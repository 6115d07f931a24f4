//! Repeating a run from its log: at every step the thread that ran then, if it
//! is about to do what it did then.
//!
//! Sites have other numbers in another run, so they are compared by what they
//! stand for ([`crate::log::Site::identity`]). Threads, objects and slots are
//! numbered by the run itself and compared as they are.
//!
//! Steps that were made without asking (under another schedule for a while) are
//! in the log all the same: [`View::step`] says how many there were.
//!
//! Races that the logged run was made to show are shown again: where the log has
//! a hit and both threads stand as they did, it is one in this run, too.
//!
//! On the first difference the replay gives up following: it remembers the
//! [`Divergence`] and lets the first enabled thread go on from there.

mod divergence;

pub use divergence::{Divergence, Expected, Explanation};

use crate::log::{Entry, Log};
use crate::op::{Decision, Hit, Op, Ready, Thread, View};
use crate::strategy::Strategy;
use rustc_hash::FxHashMap;
use std::fmt;

/// Finds what a site of the present run stands for.
type Identify = Box<dyn Fn(u32) -> Option<u64> + Send>;

/// See the module.
pub struct Replay {
    log: Log,
    /// Entries and steps of the log that were passed.
    at: usize,
    steps: u64,
    /// By the log's numbers, and by this run's.
    then: FxHashMap<u32, u64>,
    now: FxHashMap<u32, u64>,
    identify: Identify,
    /// Who went before whom, by step.
    races: FxHashMap<u64, Vec<(Thread, Thread)>>,
    hits: Vec<Hit>,
    /// What reads saw, the last first: which write, and how many of them.
    saw: Vec<(u32, u64)>,
    divergence: Option<Divergence>,
}

impl Replay {
    /// `identify` gives [`crate::log::Site::identity`] of a site of the run
    /// that is about to begin.
    pub fn new(log: Log, identify: impl Fn(u32) -> Option<u64> + Send + 'static) -> Replay {
        let mut races: FxHashMap<u64, Vec<_>> = FxHashMap::default();
        let mut saw = Vec::new();
        for entry in &log.entries {
            match entry {
                Entry::Hit(hit) => {
                    let pair = (hit.first.thread, hit.second.thread);
                    races.entry(hit.step).or_default().push(pair);
                }
                Entry::Saw { which, times } => saw.push((*which, *times)),
                _ => {}
            }
        }
        saw.reverse();
        Replay {
            then: log.sites.iter().map(|(n, s)| (*n, s.identity())).collect(),
            now: FxHashMap::default(),
            log,
            at: 0,
            steps: 0,
            identify: Box::new(identify),
            races,
            hits: Vec::new(),
            saw,
            divergence: None,
        }
    }

    /// What the log has for the step of that number.
    fn next(&mut self, step: u64) -> Expected {
        while let Some(entry) = self.log.entries.get(self.at) {
            self.at += 1;
            match entry {
                Entry::Step { thread, op } => {
                    self.steps += 1;
                    if self.steps > step {
                        let (thread, op) = (*thread, *op);
                        return Expected::Step(Ready { thread, op });
                    }
                }
                Entry::Tick if self.steps >= step => return Expected::Tick,
                Entry::Tick | Entry::Hit(_) | Entry::Saw { .. } | Entry::Note(_) => {}
            }
        }
        Expected::Nothing
    }

    fn same(&mut self, logged: &Op, now: &Op) -> bool {
        let then = self.then.get(&logged.site).copied();
        let mut known = self.now.get(&now.site).copied();
        if known.is_none() {
            known = (self.identify)(now.site);
            self.now.extend(known.map(|identity| (now.site, identity)));
        }
        let same_site = match (then, known) {
            (None, None) => logged.site == now.site,
            (then, known) => then == known,
        };
        same_site && Op { site: 0, ..*logged } == Op { site: 0, ..*now }
    }

    /// Which write the next read saw. A run that reads otherwise has another digest.
    pub fn see(&mut self, candidates: usize) -> usize {
        while let Some((which, left)) = self.saw.last_mut() {
            if *left > 0 {
                *left -= 1;
                return (*which as usize).min(candidates.saturating_sub(1));
            }
            self.saw.pop();
        }
        0
    }

    /// Where the run left the one that it was to repeat.
    pub fn divergence(&self) -> Option<&Divergence> {
        self.divergence.as_ref()
    }

    /// `first` goes now, as it did then.
    fn show_races(&mut self, view: &View<'_>, first: Ready) {
        for (before, thread) in self.races.remove(&view.step).into_iter().flatten() {
            if before == first.thread
                && let Some(op) = view.op_of(thread)
                && op.races(&first.op)
            {
                self.hits.push(Hit {
                    step: view.step,
                    first,
                    second: Ready { thread, op },
                });
            }
        }
    }
}

impl Strategy for Replay {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        if self.divergence.is_some() {
            return Decision::Run(view.ready[0].thread);
        }
        let expected = self.next(view.step);
        match expected {
            Expected::Tick if view.deadline.is_some() => return Decision::Tick,
            Expected::Step(Ready { thread, op }) => {
                if let Some(now) = view.op_of(thread)
                    && self.same(&op, &now)
                {
                    self.show_races(view, Ready { thread, op: now });
                    return Decision::Run(thread);
                }
            }
            Expected::Tick | Expected::Nothing => {}
        }
        self.divergence = Some(Divergence::new(&self.log, view, expected));
        Decision::Run(view.ready[0].thread)
    }

    fn take_hits(&mut self) -> Vec<Hit> {
        std::mem::take(&mut self.hits)
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("steps", &self.steps)
            .field("divergence", &self.divergence)
            .finish_non_exhaustive()
    }
}
