//! What is run before the trials: the reference, and, if nobody names pairs, runs with the hybrid detector.
//!
//! The hybrid detector is told of every access, one thread at a time. A program that computes on
//! arrays takes a hundred times as long with it, and the trials, which do without a
//! detector, would never begin. So the free run with it ends after a few times the time that the
//! program takes alone; pairs show early, because threads do the same again and again.
//! What a shorter look may miss, FastTrack looks for: it sees the whole run, in compiled code.

use super::tally::Kept;
use super::trials::schedule_of;
use super::verdict::{self, Choice, Reference};
use super::{Mode, Work};
use crate::controlled_run;
use crate::error::Error;
use crate::session::Session;
use driver::process::{Outcome, Stopped};
use driver::run::RunResult;
use std::collections::BTreeMap;
use std::time::Duration;

/// A short program may take this long, whatever it takes alone: most of it is the start of the JVM.
const LEAST: Duration = Duration::from_secs(10);

/// Controlled runs that look for pairs, besides a free one.
const CONTROLLED_RUNS: usize = 3;

/// How many times the program's own time the detector may take.
const TIMES: u32 = 5;

/// How a look for pairs ended.
pub(super) enum Look {
    /// The whole run was looked at, quickly enough to do it again under control.
    Whole,
    /// The detector is too slow for this program.
    Slow,
    /// The command is over.
    Over,
}

/// Whether the program alone had not ended when its time was over. Compiled, a loop that waits for a plain field may never
/// end: that may be the very bug, and is no reason to leave it at that.
pub(super) fn goes_on(alone: &Outcome) -> bool {
    alone.stopped == Some(Stopped::TimeLimit)
}

impl Work<'_> {
    /// The program without the tool, for a while.
    pub(super) fn alone(&mut self) -> Result<Outcome, Error> {
        let watchdog = Duration::from_secs(self.config.control.watchdog);
        let longest = match self.left() {
            Some(left) => watchdog.min(left / 4),
            None => watchdog,
        };
        let alone = self.launcher.native(self.input(), Some(longest))?;
        if goes_on(&alone) {
            self.warn(format!(
                "alone, without the tool, the program did not end within {:.0} s: it stands still, spins, or needs longer \
                 (--watchdog gives it more)",
                longest.as_secs_f64()
            ));
        }
        Ok(alone)
    }

    /// Looks for pairs in a free run.
    pub(super) fn look(&mut self, alone: &Outcome, session: &mut Session) -> Result<Look, Error> {
        self.progress
            .doing("looking for pairs with the hybrid detector");
        let allowed = match goes_on(alone) {
            true => LEAST,
            false => time_for_a_look(alone.elapsed),
        };
        let mut plan = self.plan(Mode::HYBRID, None);
        let shortened = plan.time_limit.is_none_or(|left| left > allowed);
        if shortened {
            plan.time_limit = Some(allowed);
        }
        let dir = self.launcher.directory("hybrid")?;
        let run = self.launcher.run_in(&dir, plan)?;
        let (stopped, took) = (run.outcome.stopped, run.outcome.elapsed);
        let cut = shortened && stopped == Some(Stopped::TimeLimit);
        let over = !cut && self.over(&run.outcome);
        session.add(run);
        if over || session.is_over() {
            return Ok(Look::Over);
        }
        if !cut && took <= allowed / 2 {
            return Ok(Look::Whole);
        }
        if !cut {
            self.warn(format!(
                "the run with the hybrid detector took {:.0} s: the reference runs have none, and pairs that only \
                 they would show are missing",
                took.as_secs_f64()
            ));
            return Ok(Look::Slow);
        }
        self.warn(format!(
            "the hybrid detector looked at the first {:.0} s of a run only, since it slows this program down too \
             much: pairs that come later may be missing (detect --detector hybrid looks at all of it, and \
             confirm --from tries what it found)",
            took.as_secs_f64()
        ));
        self.progress.doing("looking for races with FastTrack");
        let dir = self.launcher.directory("fasttrack")?;
        let run = self
            .launcher
            .run_in(&dir, self.plan(Mode::FASTTRACK, None))?;
        let over = self.over(&run.outcome);
        session.add(run);
        Ok(match over || session.is_over() {
            true => Look::Over,
            false => Look::Slow,
        })
    }

    /// Finds out what an undisturbed run does; controlled runs without a target
    /// go into the report, and their schedules come back.
    pub(super) fn reference(
        &mut self,
        alone: &Outcome,
        mode: Mode,
        session: &mut Session,
    ) -> Result<(Reference, BTreeMap<u64, Kept>), Error> {
        let mut runs: Vec<RunResult> = Vec::new();
        let mut kept = BTreeMap::new();
        loop {
            let number = runs.len() as u64;
            self.progress
                .doing("running the program under control, nothing forced");
            let control =
                self.control("random", controlled_run::seed(&self.config.control, number));
            let dir = self
                .launcher
                .directory(&format!("reference-{}", number + 1))?;
            let plan = self.plan(mode, Some(control.clone()));
            let run = self.launcher.run_in(&dir, plan)?;
            let over = self.over(&run.outcome);
            let mut schedule = schedule_of(&control, &run, "reference".to_owned());
            schedule.mode = mode.name().to_owned();
            let log = std::fs::read(dir.log()).unwrap_or_default();
            runs.push(run.clone());
            kept.insert(session.add(run), Kept { schedule, log });
            if mode == Mode::HYBRID && runs.len() < CONTROLLED_RUNS && !over {
                continue;
            }
            match Reference::choose(alone, &runs) {
                Choice::Known(reference, _) if self.launcher.cuts() => {
                    let reference = reference.without_output();
                    self.reference_runs = reference.told(alone, &runs);
                    self.warn("runs are cut short, so output was not compared".to_owned());
                    return Ok((reference, kept));
                }
                Choice::Known(reference, text) => {
                    self.reference_runs = reference.told(alone, &runs);
                    self.compared_with = text.clone();
                    match text.as_str() {
                        "" => self.warn(
                            "what the program prints varies by itself, so output was not compared"
                                .to_owned(),
                        ),
                        text if text != verdict::ALONE => {
                            self.warn(format!("output was compared with that of {text}"));
                        }
                        _ => {}
                    }
                    return Ok((reference, kept));
                }
                Choice::More if over => return Ok((Reference::default(), kept)),
                Choice::More => {}
            }
        }
    }
}

/// How long the free run with the detector may take.
fn time_for_a_look(alone: Duration) -> Duration {
    LEAST.max(alone.saturating_mul(TIMES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_detector_gets_a_few_times_one_run() {
        let seconds = Duration::from_secs;
        assert_eq!(time_for_a_look(seconds(0)), seconds(10));
        assert_eq!(time_for_a_look(seconds(2)), seconds(10));
        assert_eq!(time_for_a_look(seconds(60)), seconds(300));
    }
}
