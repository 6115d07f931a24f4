//! Checking witnesses, of traces that can have happened, within a budget.
//!
//! A trace may be one that cannot have happened: a recorder wrote something
//! down too late, or events were lost. What no schedule allows proves nothing
//! about schedules, so the trace itself is checked first, and what comes from
//! its first fault on is left out.
//!
//! A check costs as much as its witness is long, which may be the whole trace.
//! Beyond 16 steps for each event of the trace, and a hundred million, no more
//! are checked and pairs stay potential.

use crate::check::Checker;
use crate::deps::Deps;
use crate::found::Predictions;
use crate::witness::Witness;
use trace::Event;

/// Steps for each event of the trace, and besides.
const BUDGET: (u64, u64) = (16, 100_000_000);

#[derive(Debug)]
pub(crate) struct Verifier<'a> {
    checker: Checker<'a>,
    fault: Option<String>,
    /// The trace breaks a rule by itself: what came then was cut off.
    broken: bool,
    left: u64,
    unchecked: u64,
    refuted: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Checked {
    Accepted,
    Refuted,
    /// The budget is used up.
    Not,
}

impl<'a> Verifier<'a> {
    pub fn new(trace: &'a [Event], deps: &'a Deps) -> Verifier<'a> {
        Verifier::with_checker(Checker::with(trace, deps), trace.len(), 0)
    }

    /// For a window of a run that begins after `before` events of it, with `stated` events
    /// in front that say what held then.
    pub fn of_window(
        window: &'a [Event],
        deps: &'a Deps,
        before: u64,
        stated: usize,
    ) -> Verifier<'a> {
        let shift = before as i64 - stated as i64;
        Verifier::with_checker(Checker::with(window, deps), window.len(), shift)
    }

    /// For sequences.
    pub fn for_sequences(trace: &'a [Event], deps: &'a Deps) -> Verifier<'a> {
        Verifier::with_checker(Checker::for_sequences(trace, deps), trace.len(), 0)
    }

    fn with_checker(mut checker: Checker<'a>, events: usize, shift: i64) -> Verifier<'a> {
        let mut fault = (checker.trace().len() < events)
            .then(|| "only the first four billion events were looked at".to_owned());
        let unsure = checker.unsure().len();
        if unsure > 0 {
            fault = Some(format!(
                "what {unsure} reads saw is not known, because writes came at the same time; \
                 what their threads did then was not looked at"
            ));
        }
        let mut broken = false;
        if let Err(first) = checker.possible() {
            fault = Some(format!(
                "this trace cannot have happened from event {} of {} on, which {}; \
                 what comes then was not looked at",
                first.at as i64 + shift,
                events as i64 + shift,
                first.what
            ));
            checker.truncate(first.at);
            broken = true;
        }
        Verifier {
            left: budget(checker.trace()),
            checker,
            fault,
            broken,
            unchecked: 0,
            refuted: 0,
        }
    }

    /// The part of the trace that can have happened.
    pub fn trace(&self) -> &'a [Event] {
        self.checker.trace()
    }

    pub fn check(&mut self, witness: &Witness) -> Checked {
        if self.left == 0 {
            self.unchecked += 1;
            return Checked::Not;
        }
        let near = self.checker.approach(witness);
        let (done, steps) = self.checker.check_counting(witness);
        self.left = self.left.saturating_sub(near + steps);
        match done {
            Ok(()) => Checked::Accepted,
            Err(_) => {
                self.refuted += 1;
                Checked::Refuted
            }
        }
    }

    /// The same for a sequence of events that need not meet.
    pub fn check_sequence(&mut self, order: &[u32], marked: &[u32]) -> Checked {
        let steps = order.len() as u64 + self.checker.overhead() as u64;
        if steps > self.left {
            self.unchecked += 1;
            return Checked::Not;
        }
        self.left -= steps;
        match self.checker.check_sequence(order, marked) {
            Ok(()) => Checked::Accepted,
            Err(_) => {
                self.refuted += 1;
                Checked::Refuted
            }
        }
    }

    /// Whether the trace was cut off where it breaks a rule by itself.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Writes down what happened in the checks since the last time, and begins with a new
    /// budget.
    pub fn account(&mut self, found: &mut Predictions) {
        found.refuted += std::mem::take(&mut self.refuted);
        let unchecked = std::mem::take(&mut self.unchecked);
        let unchecked = (unchecked > 0).then(|| {
            format!("{unchecked} witnesses were not checked: there were too many, too long ones")
        });
        if let Some(why) = self.fault.clone().or(unchecked) {
            found.incomplete.get_or_insert(why);
        }
        self.left = budget(self.checker.trace());
    }
}

/// The steps that checks may take.
fn budget(trace: &[Event]) -> u64 {
    BUDGET.0 * trace.len() as u64 + BUDGET.1
}
