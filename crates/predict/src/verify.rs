//! Checking witnesses within a budget.
//!
//! A check costs as much as its witness is long, which may be the whole trace.
//! Beyond 64 steps for each event of the trace, and a hundred million, no more
//! are checked and pairs stay potential; that bites with hundreds of races in a
//! trace of millions of events.

use crate::check::Checker;
use crate::witness::Witness;
use trace::Event;

/// Steps for each event of the trace, and besides.
const BUDGET: (u64, u64) = (64, 100_000_000);

#[derive(Debug)]
pub(crate) struct Verifier<'a> {
    trace: &'a [Event],
    /// Made when there is something to check.
    checker: Option<Checker<'a>>,
    left: u64,
    unchecked: u64,
    pub refuted: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Checked {
    Accepted,
    Refuted,
    /// The budget is used up.
    Not,
}

impl<'a> Verifier<'a> {
    pub fn new(trace: &'a [Event]) -> Verifier<'a> {
        Verifier {
            trace,
            checker: None,
            left: BUDGET.0 * trace.len() as u64 + BUDGET.1,
            unchecked: 0,
            refuted: 0,
        }
    }

    pub fn check(&mut self, witness: &Witness) -> Checked {
        let steps = witness.len() as u64;
        if steps > self.left {
            self.unchecked += 1;
            return Checked::Not;
        }
        self.left -= steps;
        let checker = self.checker.get_or_insert_with(|| Checker::new(self.trace));
        match checker.check(witness) {
            Ok(()) => Checked::Accepted,
            Err(_) => {
                self.refuted += 1;
                Checked::Refuted
            }
        }
    }

    /// What to say if the budget bit.
    pub fn incomplete(&self) -> Option<String> {
        (self.unchecked > 0).then(|| {
            format!(
                "{} witnesses were not checked: there were too many, too long ones",
                self.unchecked
            )
        })
    }
}
