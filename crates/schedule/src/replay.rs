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
//! On the first difference the replay gives up following: it remembers the
//! [`Divergence`] and lets the first enabled thread go on from there.

use crate::log::{Entry, Log};
use crate::op::{Decision, Op, Ready, Thread, View};
use crate::strategy::Strategy;
use std::fmt;

/// What the log says comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    Step(Ready),
    Tick,
    /// The logged run had ended here, or was not logged any further.
    Nothing,
}

/// Where a run left its log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    pub step: u64,
    /// Its site has the number of the log.
    pub expected: Expected,
    /// What the expected thread would do instead; none if it is not enabled.
    pub got: Option<Ready>,
    pub ready: Vec<Ready>,
}

/// Finds what a site of the present run stands for.
type Identify = Box<dyn Fn(u32) -> Option<u64> + Send>;

/// See the module.
pub struct Replay {
    entries: std::vec::IntoIter<Entry>,
    /// Steps taken from them.
    steps: u64,
    /// By the log's number.
    identities: rustc_hash::FxHashMap<u32, u64>,
    identify: Identify,
    divergence: Option<Divergence>,
}

impl Replay {
    /// `identify` gives [`crate::log::Site::identity`] of a site of the run
    /// that is about to begin.
    pub fn new(log: Log, identify: impl Fn(u32) -> Option<u64> + Send + 'static) -> Replay {
        Replay {
            identities: log.sites.iter().map(|(n, s)| (*n, s.identity())).collect(),
            entries: log.entries.into_iter(),
            steps: 0,
            identify: Box::new(identify),
            divergence: None,
        }
    }

    /// What the log has for the step of that number.
    fn next(&mut self, step: u64) -> Expected {
        for entry in self.entries.by_ref() {
            match entry {
                Entry::Step { thread, op } => {
                    self.steps += 1;
                    if self.steps > step {
                        return Expected::Step(Ready { thread, op });
                    }
                }
                Entry::Tick if self.steps >= step => return Expected::Tick,
                Entry::Tick | Entry::Hit(_) | Entry::Note(_) => {}
            }
        }
        Expected::Nothing
    }

    fn same(&self, logged: &Op, now: &Op) -> bool {
        let then = self.identities.get(&logged.site).copied();
        let same_site = match (then, (self.identify)(now.site)) {
            (None, None) => logged.site == now.site,
            (then, now) => then == now,
        };
        same_site && Op { site: 0, ..*logged } == Op { site: 0, ..*now }
    }

    fn diverge(&mut self, view: &View<'_>, expected: Expected, thread: Option<Thread>) -> Decision {
        let got = thread.and_then(|thread| {
            let op = view.op_of(thread)?;
            Some(Ready { thread, op })
        });
        self.divergence = Some(Divergence {
            step: view.step,
            expected,
            got,
            ready: view.ready.to_vec(),
        });
        Decision::Run(view.ready[0].thread)
    }
}

impl Strategy for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn divergence(&self) -> Option<&Divergence> {
        self.divergence.as_ref()
    }

    fn pick(&mut self, view: &View<'_>) -> Decision {
        if self.divergence.is_some() {
            return Decision::Run(view.ready[0].thread);
        }
        let expected = self.next(view.step);
        match expected {
            Expected::Tick if view.timers => Decision::Tick,
            Expected::Step(Ready { thread, op }) => match view.op_of(thread) {
                Some(now) if self.same(&op, &now) => Decision::Run(thread),
                _ => self.diverge(view, expected, Some(thread)),
            },
            Expected::Tick | Expected::Nothing => self.diverge(view, expected, None),
        }
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("left", &self.entries.len())
            .field("divergence", &self.divergence)
            .finish_non_exhaustive()
    }
}
