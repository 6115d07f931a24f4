//! Trials in which reads of the race's location may see older writes (adversarial memory, see docs/memory.md).
//!
//! The trials of a pair show what comes of both orders of two accesses. Java allows more: a read that races with a write
//! may see what was there before, also long after the write. These trials are made in fresh JVMs, with FastTrack for
//! its clocks; all accesses to the location are scheduling points, and a random strategy decides. What they show is told only if
//! some read of this location saw an older write, and if no trial without that ended in the same way.

use super::tally::Kept;
use super::trials::schedule_of;
use super::verdict::{Reference, Verdict};
use super::{Target, Work};
use crate::controlled_run;
use crate::error::Error;
use driver::options::{Control, Mode, Statement};
use driver::run::RunResult;
use findings::confirmed::{Effect, Harm, Outcome, StaleRead};
use findings::finding::{self, AccessOp, Location};
use findings::result::{Race, Report, Status};

/// Trials of a race, unless fewer are asked for: what a read sees is drawn anew in each, and half of the draws are
/// the oldest write.
const TRIALS: u32 = 12;
/// The same where time is short.
const FEW_TRIALS: u32 = 8;

/// The strategy of these trials.
const STRATEGY: &str = "random";

/// Who found it, as reports say it.
const FOUND_BY: &str = "adversarial-memory";

/// What racy reads may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// The newest write: memory is sequentially consistent.
    #[default]
    Sc,
    /// Whatever Java allows, in further trials of each race.
    Weak,
    /// The same, of races of which nothing came in other trials.
    WeakIfHarmless,
}

/// Trials that ended in the same way.
struct Group {
    outcome: Outcome,
    kept: Kept,
}

impl Work<'_> {
    /// The trials of a race that was tried in both orders.
    pub(super) fn weak_trials(
        &mut self,
        target: &Target,
        reference: &Reference,
        report: &mut Report,
    ) -> Result<(), Error> {
        let few = match self.config.memory {
            Memory::Sc => return Ok(()),
            Memory::Weak => TRIALS,
            Memory::WeakIfHarmless => FEW_TRIALS,
        };
        let Some(at) = report.races.iter().position(|race| race.id == target.name) else {
            return Ok(());
        };
        let race = &report.races[at];
        let is_harmless = !matches!(race.harm, Some(Harm::Harmful | Harm::ChangesOutput));
        if self.config.memory == Memory::WeakIfHarmless && !is_harmless {
            return Ok(());
        }
        let mut groups: Vec<Group> = Vec::new();
        let trials = few.min(self.config.trials);
        for number in 0..trials {
            if self
                .share
                .is_some_and(|end| end <= std::time::Instant::now())
            {
                break;
            }
            self.progress.doing(&format!(
                "{}: trial {} of {trials} in which reads may see older values",
                target.name,
                number + 1
            ));
            let (control, run, log) = self.weak_trial(race, number.into())?;
            if self.over(&run.outcome) {
                break;
            }
            let stale = stale_reads(race, &run);
            let Ok(verdict) = reference.judge(&run) else {
                continue;
            };
            if stale.is_empty() || is_known(race, &verdict) {
                continue;
            }
            let fine = verdict.effect == Effect::Ok;
            add(&mut groups, race, &verdict, stale, || Kept {
                schedule: driver::store::Schedule {
                    mode: Mode::FASTTRACK.name().to_owned(),
                    ..schedule_of(&control, &run, verdict.effect.name().to_owned())
                },
                log,
            });
            if !fine && !self.config.all_trials {
                break;
            }
        }
        groups.sort_by_key(|group| group.outcome.result);
        for (number, mut group) in groups.into_iter().enumerate() {
            let effect = group.outcome.result;
            group.kept.schedule.name = match number {
                0 => format!("{}.weak-{}", target.name, effect.name()),
                n => format!("{}.weak-{}-{}", target.name, effect.name(), n + 1),
            };
            group.outcome.replay = self.keep(group.kept);
            take(&mut report.races[at], group.outcome);
        }
        Ok(())
    }

    fn weak_trial(
        &mut self,
        race: &Race,
        number: u64,
    ) -> Result<(Control, RunResult, Vec<u8>), Error> {
        let seed = controlled_run::seed(&self.config.control, number);
        let mut control = self.control(STRATEGY, seed);
        control.pair = Some([vec![accesses(&race.location)], Vec::new()]);
        let name = format!("{}-weak-{}", race.id, number + 1);
        let dir = self.launcher.directory(&name)?;
        let mut plan = self.plan(Mode::FASTTRACK, Some(control.clone()));
        let share =
            { self.share }.map(|end| end.saturating_duration_since(std::time::Instant::now()));
        plan.time_limit = share.or(plan.time_limit);
        let run = self.launcher.run_in(&dir, plan)?;
        let log = std::fs::read(dir.log()).unwrap_or_default();
        Ok((control, run, log))
    }
}

/// Whether trials in which reads saw the newest write ended in the same way.
fn is_known(race: &Race, verdict: &Verdict) -> bool {
    let strong = race.outcomes.iter().filter(|known| known.memory.is_empty());
    let mut bad = strong.filter(|known| known.result != Effect::Ok);
    bad.any(|known| verdict.same(known.result, &known.detail, &known.stack))
}

fn add(
    groups: &mut Vec<Group>,
    race: &Race,
    verdict: &Verdict,
    memory: Vec<StaleRead>,
    kept: impl FnOnce() -> Kept,
) {
    let same = |group: &&mut Group| {
        let known = &group.outcome;
        verdict.same(known.result, &known.detail, &known.stack)
    };
    if let Some(group) = groups.iter_mut().find(same) {
        group.outcome.trials += 1;
        return;
    }
    // The write went first, and was not seen.
    let write = |access: &findings::result::Access| access.op == AccessOp::Write;
    let first = race.accesses.iter().position(write).unwrap_or(0);
    groups.push(Group {
        outcome: Outcome {
            first: first as u8,
            orders: Vec::new(),
            result: verdict.effect,
            detail: verdict.detail.clone(),
            stack: verdict.stack.clone(),
            caught: verdict.caught.is_some(),
            failure_signs: verdict.signs.clone(),
            trials: 1,
            memory,
            replay: None,
        },
        kept: kept(),
    });
}

/// What is now known of the race.
fn take(race: &mut Race, outcome: Outcome) {
    // A write that a read does not see although it came before: the two are unordered.
    race.status = race.status.max(Status::Observed);
    if !race.found_by.iter().any(|name| name == FOUND_BY) {
        race.found_by.push(FOUND_BY.to_owned());
    }
    match outcome.result {
        Effect::Ok => {}
        Effect::OutputDiffers if race.harm != Some(Harm::Harmful) => {
            race.harm = Some(Harm::ChangesOutput);
        }
        _ => race.harm = Some(Harm::Harmful),
    }
    if race.replay.is_none() || outcome.result != Effect::Ok {
        race.replay = outcome.replay.clone();
    }
    let place = { race.outcomes.iter() }.position(|known| known.result > outcome.result);
    race.outcomes
        .insert(place.unwrap_or(race.outcomes.len()), outcome);
}

/// The reads of the race's location that saw older writes; none, unless one of them is between the race's own two
/// statements: what others of the same field missed says nothing of this pair.
fn stale_reads(race: &Race, run: &RunResult) -> Vec<StaleRead> {
    let all = { run.findings.stale.iter() }.filter(|stale| is_of(race, stale));
    let all: Vec<_> = all.collect();
    if !all.iter().any(|stale| is_between(race, stale)) {
        return Vec::new();
    }
    all.into_iter().map(StaleRead::from).collect()
}

/// Whether the race's two accesses are the read and the write that it missed, which nothing orders; or, where that write
/// does happen before the read, the write that was seen and the one that was missed.
fn is_between(race: &Race, stale: &finding::StaleRead) -> bool {
    let [one, other] = race.accesses.as_slice() else {
        return false;
    };
    let pairs = [(one, other), (other, one)];
    { pairs.iter() }.any(|(access, missed)| {
        let is_unordered = match (&stale.saw, stale.missed_is_before) {
            (_, false) => is_at(access, &stale.read),
            (Some(saw), true) => access.op == AccessOp::Write && is_at(access, saw),
            (None, true) => false,
        };
        is_unordered && missed.op == AccessOp::Write && is_at(missed, &stale.missed)
    })
}

fn is_at(known: &findings::result::Access, access: &finding::Access) -> bool {
    (&known.at.class, &known.at.method, known.at.line)
        == (&access.frame.class, &access.frame.method, access.frame.line)
}

/// Fields of one name are followed together; whose the field is, the statements say.
fn is_of(race: &Race, stale: &finding::StaleRead) -> bool {
    let at = |access: &finding::Access| race.accesses.iter().any(|known| is_at(known, access));
    match (&race.location, &stale.location) {
        (
            Location::Field { class, field, .. },
            Some(Location::Field {
                class: other,
                field: name,
                ..
            }),
        ) => field == name && (class == other || at(&stale.read) || at(&stale.missed)),
        (Location::Array { .. }, Some(Location::Array { .. })) => {
            at(&stale.read) || at(&stale.missed)
        }
        _ => false,
    }
}

/// All accesses to what may be this location.
fn accesses(location: &Location) -> Statement {
    match crate::verify::search::accesses(location) {
        Statement::Field { name } => Statement::WeakField { name },
        Statement::Elements { of } => Statement::WeakElements { of },
        other => other,
    }
}
