//! Which of two races a bad end comes of.
//!
//! A trial decides the order of one race, and the others of the program are left to chance. So what another race does
//! is in its run, too, and may even go with its order: nobody is stopped between the statements of the pair and those of the
//! other. Where the trials of two findings ended in the same way, further trials stop at the statements of both. Then each
//! order is drawn for itself, and an end is taken off the account of a race only if it came in both of the race's orders,
//! always with the same order of the other race, and with the other's opposite order in neither. That is a
//! test of cause, not of coincidence; what it does not show stays on the account.
//!
//! A race with nothing left on its account is harmless if each order of its accesses had a trial, of whichever kind,
//! that ended as usual.

use super::Work;
use super::pairs::{self, AccessOrders};
use super::verdict::{Reference, Verdict};
use crate::controlled_run;
use crate::error::Error;
use driver::options::Statement;
use driver::run::RunResult;
use findings::confirmed::{Effect, Harm, Outcome};
use findings::finding::Frame;
use findings::group;
use findings::result::{Race, Report};
use std::collections::BTreeSet;

/// Trials of two races, unless fewer are asked for.
const TRIALS: u32 = 16;

/// Pairs of races that are tried: each takes as long as a race of its own.
const MOST_PAIRS: usize = 3;

/// What counts against a race, so that the ends of two trials can be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// An exception or a deadlock: what, and where.
    Failure(Effect, String, String),
    Signs(Vec<String>),
    Output(String),
}

impl End {
    /// None if it ended as usual.
    pub fn of(verdict: &Verdict) -> Option<End> {
        let Verdict { effect, detail, .. } = verdict;
        match End::new(*effect, detail, verdict.stack.first()) {
            None | Some(End::Output(_)) if verdict.unusual => {
                Some(End::Signs(verdict.signs.clone()))
            }
            end => end,
        }
    }

    fn new(effect: Effect, detail: &str, top: Option<&Frame>) -> Option<End> {
        let class = || detail.split([':', ' ']).next().unwrap_or_default();
        let top = || top.map(Frame::short).unwrap_or_default();
        match effect {
            Effect::Ok => None,
            Effect::OutputDiffers => Some(End::Output(detail.to_owned())),
            Effect::Exception => Some(End::Failure(effect, class().to_owned(), top())),
            Effect::Deadlock | Effect::Livelock => {
                Some(End::Failure(effect, detail.to_owned(), String::new()))
            }
        }
    }

    fn is_change(&self) -> bool {
        matches!(self, End::Output(_))
    }
}

/// What the trials of a race have shown.
#[derive(Clone, Debug)]
pub struct Account {
    pub race: String,
    pub sides: [Vec<Statement>; 2],
    /// What counts against it.
    pub bad: BTreeSet<End>,
    /// Orders of accesses with trials that ended as usual.
    pub fine: AccessOrders,
    /// Output had something to be compared with.
    pub compared: bool,
}

/// A trial that decided both races: which access of either went first, and how it ended.
type Decided = ([u8; 2], Option<End>);

/// Whether an end comes of the other race: see the module's text. `me`: 0 or 1.
fn is_of_the_other(trials: &[Decided], me: usize, end: &End) -> bool {
    let orders = |bad: bool| -> BTreeSet<(u8, u8)> {
        let alike = trials
            .iter()
            .filter(|(_, e)| (e.as_ref() == Some(end)) == bad);
        alike.map(|(first, _)| (first[1 - me], first[me])).collect()
    };
    let (with, without) = (orders(true), orders(false));
    let both = |other: u8| BTreeSet::from([(other, 0), (other, 1)]);
    (0..2).any(|other| with == both(other) && without.is_superset(&both(1 - other)))
}

impl Work<'_> {
    /// Takes off the accounts what comes of other races.
    pub(super) fn settle_accounts(
        &mut self,
        reference: &Reference,
        report: &mut Report,
    ) -> Result<(), Error> {
        let mut accounts = std::mem::take(&mut self.accounts);
        for [a, b] in pairs_with_a_common_end(&accounts, report) {
            if self.left().is_some_and(|left| left.is_zero()) || self.interrupted {
                break;
            }
            let trials = self.try_both(&mut accounts, [a, b], reference, report)?;
            for (me, at) in [a, b].into_iter().enumerate() {
                let other = accounts[[b, a][me]].race.clone();
                let account = &mut accounts[at];
                let bad = account.bad.iter().cloned();
                let (taken, left) = bad.partition(|end| is_of_the_other(&trials, me, end));
                account.bad = left;
                self.relabel(account, &taken, &other, report);
            }
        }
        Ok(())
    }

    /// The trials of two races at once.
    fn try_both(
        &mut self,
        accounts: &mut [Account],
        both: [usize; 2],
        reference: &Reference,
        report: &Report,
    ) -> Result<Vec<Decided>, Error> {
        let names = both.map(|at| accounts[at].race.clone());
        let races = names.each_ref().map(|id| race(report, id));
        let [Some(one), Some(other)] = races else {
            return Ok(Vec::new());
        };
        let sides = [0, 1].map(|side| both.map(|at| accounts[at].sides[side].clone()).concat());
        let mut decided = Vec::new();
        for number in 0..TRIALS.min(self.config.trials) {
            let [a, b] = &names;
            self.progress
                .doing(&format!("trial {} of {a} and {b} together", number + 1));
            let seed = controlled_run::seed(&self.config.control, number.into());
            let mut control = self.control(super::STRATEGY, seed);
            control.pair = Some(sides.clone());
            let name = format!("{a}-and-{b}-{}", number + 1);
            let plan = self.plan(driver::options::Mode::None, Some(control));
            let dir = self.launcher.directory(&name)?;
            let run = self.launcher.run_in(&dir, plan)?;
            if self.over(&run.outcome) {
                break;
            }
            let Ok(verdict) = reference.judge(&run) else {
                continue;
            };
            let end = End::of(&verdict);
            if end.is_none() {
                for (at, race) in both.into_iter().zip([one, other]) {
                    let hits = run.findings.hits.iter();
                    let mine = hits.filter(|hit| pairs::order(race, hit).is_some());
                    mine.for_each(|hit| accounts[at].fine.add(hit));
                }
            }
            if let (Some(a), Some(b)) = (first(one, &run), first(other, &run)) {
                decided.push(([a, b], end));
            }
        }
        Ok(decided)
    }

    /// Says of a race what is left on its account.
    fn relabel(
        &mut self,
        account: &Account,
        taken: &BTreeSet<End>,
        other: &str,
        report: &mut Report,
    ) {
        let mut races = report.races.iter_mut();
        let Some(race) = races.find(|race| race.id == account.race) else {
            return;
        };
        if taken.is_empty() || account.bad.iter().any(|end| !end.is_change()) {
            return;
        }
        race.harm = Some(match account.bad.is_empty() {
            false => Harm::ChangesOutput,
            true if account.compared && account.fine.are_complete(race) => Harm::Harmless,
            true => Harm::Unknown,
        });
        forgive(race, |outcome| {
            match End::new(outcome.result, &outcome.detail, outcome.stack.first()) {
                Some(End::Output(_)) | None if account.bad.is_empty() => true,
                Some(end) => taken.contains(&end),
                None => false,
            }
        });
        self.warn(format!(
            "{}: what failed in its trials comes of {other}: in trials of both it came in either order of {}, and in one \
             order of {other} only",
            account.race, account.race
        ));
    }
}

/// The access of the race that went first, the last time that it was decided.
fn first(race: &Race, run: &RunResult) -> Option<u8> {
    let hits = run.findings.hits.iter().rev();
    let last = { hits }.find_map(|hit| pairs::order(race, hit));
    last.filter(|order| !order.symmetric)
        .map(|order| order.first & 1)
}

fn race<'r>(report: &'r Report, id: &str) -> Option<&'r Race> {
    report.races.iter().find(|race| race.id == id)
}

/// Races of different findings whose trials ended in the same way. What a read makes of older values
/// is a matter of one race alone.
fn pairs_with_a_common_end(accounts: &[Account], report: &Report) -> Vec<[usize; 2]> {
    let findings = group::findings(&report.races);
    let finding = |account: &Account| {
        let mine = |race: &Race| {
            race.id == account.race && race.outcomes.iter().all(|o| o.memory.is_empty())
        };
        findings.iter().position(|finding| finding.all().any(mine))
    };
    let places: Vec<Option<usize>> = accounts.iter().map(finding).collect();
    let all = (0..accounts.len()).flat_map(|a| (a + 1..accounts.len()).map(move |b| [a, b]));
    let common = all.filter(|[a, b]| {
        let apart = places[*a].is_some() && places[*b].is_some() && places[*a] != places[*b];
        apart && !accounts[*a].bad.is_disjoint(&accounts[*b].bad)
    });
    common.take(MOST_PAIRS).collect()
}

/// Counts trials that are not held against the race among those that ended as usual.
fn forgive(race: &mut Race, is_forgiven: impl Fn(&Outcome) -> bool) {
    let mut kept: Vec<Outcome> = Vec::new();
    for mut outcome in std::mem::take(&mut race.outcomes) {
        if outcome.result != Effect::Ok && is_forgiven(&outcome) {
            outcome.result = Effect::Ok;
            outcome.caught = false;
            outcome.detail.clear();
            outcome.stack.clear();
            outcome.failure_signs.clear();
        }
        let alike = |known: &&mut Outcome| {
            let fine = [known.result, outcome.result] == [Effect::Ok; 2];
            fine && (known.first, &known.failure_signs) == (outcome.first, &outcome.failure_signs)
        };
        match kept.iter_mut().find(alike) {
            Some(known) => {
                known.trials += outcome.trials;
                known.met(&outcome.orders);
            }
            None => kept.push(outcome),
        }
    }
    kept.sort_by_key(|outcome| outcome.result);
    race.replay = kept
        .first()
        .and_then(|outcome| outcome.replay.clone())
        .or(race.replay.take());
    race.outcomes = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> End {
        End::Failure(Effect::Exception, "E".into(), "A.java:1".into())
    }

    /// Trials by the orders of both races; the bad ones end in `failure`.
    fn trials(all: &[(u8, u8, bool)]) -> Vec<Decided> {
        let trial = |(a, b, bad): &(u8, u8, bool)| ([*a, *b], bad.then(failure));
        all.iter().map(trial).collect()
    }

    #[test]
    fn an_end_is_of_the_race_whose_order_decides_it() {
        let second = trials(&[(0, 0, false), (1, 0, false), (0, 1, true), (1, 1, true)]);
        assert!(is_of_the_other(&second, 0, &failure()));
        assert!(!is_of_the_other(&second, 1, &failure()));
        // Each of the trials is needed.
        for left_out in 0..4 {
            let mut fewer = second.clone();
            fewer.remove(left_out);
            assert!(!is_of_the_other(&fewer, 0, &failure()), "{fewer:?}");
        }
        // With that order of the other it may also end well.
        let sometimes = [&second[..], &trials(&[(0, 1, false)])].concat();
        assert!(is_of_the_other(&sometimes, 0, &failure()));
        // What comes in both orders of the other is not its alone.
        let both = [&second[..], &trials(&[(1, 0, true)])].concat();
        assert!(!is_of_the_other(&both, 0, &failure()));
        let other = End::Output("x".into());
        assert!(!is_of_the_other(&second, 0, &other));
    }

    #[test]
    fn what_takes_both_orders_is_of_both() {
        let both = trials(&[(0, 0, false), (1, 0, false), (0, 1, false), (1, 1, true)]);
        for me in [0, 1] {
            assert!(!is_of_the_other(&both, me, &failure()));
        }
    }
}
