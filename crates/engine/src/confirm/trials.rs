//! The trials of a pair as they come, in the order of their seeds: judged, counted, and
//! those that show something for the first time kept with their schedules.

use super::tally::{Tallies, Trial};
use super::verdict::{Reference, Verdict};
use super::{ConfirmConfig, Target, Work};
use crate::controlled_run;
use crate::error::Error;
use crate::executions::{Execution, Executions, Series, Taker};
use crate::progress::Progress;
use driver::options::{Control, Mode};
use driver::pool::Ended;
use driver::process::Stopped;
use driver::run::RunResult;
use driver::store::Schedule;
use findings::confirmed::Deadlock;
use findings::exploration::Schedules;
use protocol::execution::AskedSeed;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// So many trials that reach a limit are enough: the statements are in a loop that has more rounds than steps are allowed.
const ENDLESS: u32 = 3;

/// The trials of a pair as they come.
pub(super) struct Trials<'t> {
    pub config: &'t ConfirmConfig,
    pub target: &'t Target,
    pub reference: &'t Reference,
    pub tallies: &'t mut Tallies,
    /// Whether a hit is of a race that has an account elsewhere.
    pub known: &'t dyn Fn(&findings::finding::Hit) -> bool,
    pub deadlocks: &'t mut Vec<Deadlock>,
    pub ran: u64,
    /// Trials since the last one that showed something new.
    pub quiet: u32,
    /// Trials in a row that reached a limit.
    pub endless: u32,
    pub reached: [bool; 2],
    /// Partial orders of the trials.
    pub orders: BTreeSet<u64>,
    pub warnings: BTreeSet<String>,
    pub limited: bool,
    pub progress: &'t dyn Progress,
}

impl Taker for Trials<'_> {
    /// A trial that adds to counts only.
    fn is_known(&mut self, run: &RunResult) -> bool {
        let Ok(verdict) = self.reference.judge(run) else {
            return false;
        };
        let schedule = Schedule::default();
        let trial = Trial {
            hits: &run.findings.hits,
            verdict: Some(&verdict),
            schedule: &schedule,
        };
        let deadlock = |new: Deadlock| self.deadlocks.iter().any(|known| known.same(&new));
        let mut warnings = run.findings.all_warnings();
        self.tallies.know(&trial, self.known)
            && standing(run).all(deadlock)
            && warnings.all(|text| self.warnings.contains(&text))
    }

    fn take(&mut self, execution: Execution) -> Result<ControlFlow<()>, Error> {
        let run = &execution.run;
        if matches!(
            run.outcome.stopped,
            Some(Stopped::TimeLimit | Stopped::Interrupted)
        ) {
            self.limited = true;
            return Ok(ControlFlow::Break(()));
        }
        self.ran += 1;
        self.warnings.extend(run.findings.all_warnings());
        let (config, name) = (self.config, &self.target.name);
        let verdict = self.reference.judge(run);
        self.endless = match &verdict {
            Ok(_) => 0,
            Err(_) => self.endless + 1,
        };
        if let Err(why) = &verdict {
            let seed = execution.control.seed;
            self.warnings.insert(format!("{name}, seed {seed}: {why}"));
        }
        let summary = run.findings.summary.as_ref();
        let order = summary.and_then(|s| s.control.as_ref()?.partial_order);
        self.orders.extend(order);
        if let Some(control) = summary.and_then(|s| s.control.as_ref()) {
            let (so_far, now) = (self.reached, control.reached);
            self.reached = [so_far[0] | now[0], so_far[1] | now[1]];
        }
        let schedule = schedule_of(
            &execution.control,
            run,
            verdict.as_ref().map_or_else(|_| "void".to_owned(), ended),
        );
        let trial = Trial {
            hits: &run.findings.hits,
            verdict: verdict.as_ref().ok(),
            schedule: &schedule,
        };
        self.quiet = match self.tallies.know(&trial, self.known) {
            true => self.quiet + 1,
            false => 0,
        };
        self.tallies.add(&trial, self.known, || execution.log());
        for still in standing(run) {
            note(self.deadlocks, still);
        }
        let hit = self.tallies.all.first().map_or(0, |tally| tally.hit);
        self.progress.doing(&format!(
            "{name}: trial {} of {}, made to happen in {hit}",
            self.ran, config.trials
        ));
        Ok(match self.is_settled() || self.gave_up() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}

impl Trials<'_> {
    /// Nothing is left to be learnt, as far as can be seen.
    pub fn is_settled(&self) -> bool {
        let config = self.config;
        self.tallies.is_settled() && self.quiet >= config.quiet_trials && !config.all_trials
    }

    /// None of the first trials came to an end.
    pub fn gave_up(&self) -> bool {
        self.endless >= ENDLESS && u64::from(self.endless) == self.ran
    }
}

impl Work<'_> {
    /// Runs the trials; how many were judged, and which sides some thread came to.
    pub(super) fn trials(
        &mut self,
        target: &Target,
        executions: &mut Executions<'_>,
        reference: &Reference,
        tallies: &mut Tallies,
        known: impl Fn(&findings::finding::Hit) -> bool,
        deadlocks: &mut Vec<Deadlock>,
    ) -> Result<(u64, [bool; 2]), Error> {
        let config = self.config;
        let series = Series {
            count: config.trials.into(),
            asked: &|number| {
                AskedSeed(
                    target.variant,
                    controlled_run::seed(&config.control, number),
                )
            },
            alone: self.alone,
            deadline: self.share,
            name: format!("{}-trial", target.name.replace(['/', ','], "-")),
        };
        let mut taken = Trials {
            config,
            target,
            reference,
            tallies,
            known: &known,
            deadlocks,
            ran: 0,
            quiet: 0,
            endless: 0,
            reached: [false; 2],
            orders: BTreeSet::new(),
            warnings: BTreeSet::new(),
            limited: false,
            progress: self.progress,
        };
        let made = executions.make(&series, &mut taken)?;
        let (ran, reached, limited) = (taken.ran, taken.reached, taken.limited);
        let (settled, gave_up) = (taken.is_settled(), taken.gave_up());
        self.warnings.append(&mut taken.warnings);
        self.schedules.add(Schedules {
            tried: ran,
            different: taken.orders.len() as u64,
            reused_jvms: made.reused,
            isolated: made.isolated,
            reloads: made.reloads,
            ..Schedules::default()
        });
        self.interrupted |= made.ended == Ended::Interrupted;
        if gave_up {
            self.has_untriable = true;
            self.warn(format!(
                "{}: none of {ran} trials came to an end, so no more were made (--max-steps)",
                target.name
            ));
        }
        let all = ran == u64::from(config.trials) || settled || gave_up;
        if limited || !all {
            // Its share may be over, and the others still have theirs.
            match self.left() {
                Some(left) if !left.is_zero() => self.has_untriable = true,
                _ => self.limited = true,
            }
        }
        Ok((ran, reached))
    }
}

/// The deadlocks and livelocks of a trial.
fn standing(run: &RunResult) -> impl Iterator<Item = Deadlock> {
    let kinds = [
        ("deadlock", &run.findings.deadlocks),
        ("livelock", &run.findings.livelocks),
    ];
    kinds.into_iter().flat_map(|(kind, all)| {
        all.iter()
            .map(move |still| Deadlock::new(kind, still.clone(), 0))
    })
}

fn note(deadlocks: &mut Vec<Deadlock>, new: Deadlock) {
    match deadlocks.iter_mut().find(|known| known.same(&new)) {
        Some(known) => known.runs += 1,
        None => deadlocks.push(new),
    }
}

fn ended(verdict: &Verdict) -> String {
    match verdict.detail.as_str() {
        "" => verdict.effect.name().to_owned(),
        detail => format!("{}: {detail}", verdict.effect.name()),
    }
}

pub(super) fn schedule_of(control: &Control, run: &RunResult, ended: String) -> Schedule {
    let summary = run.findings.summary.as_ref();
    let summary = summary.and_then(|s| s.control.as_ref());
    Schedule {
        ended,
        ..controlled_run::schedule("", Mode::None.name(), control, summary, &run.outcome)
    }
}
