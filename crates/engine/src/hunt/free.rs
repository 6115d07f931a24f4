//! Runs in which the operating system decides who goes on.

use super::Hunt;
use super::stages::{SLOW, STALE_VALUES, add};
use crate::config;
use crate::error::Error;
use crate::launch::{Plan, RunDir};
use crate::traces;
use driver::options::Mode;
use driver::pool::{self, Next, Work, WorkResult};
use driver::process::Output;
use driver::run::{Request, RunResult};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

/// The part of the time that the first run may take.
const FIRST_RUN: f64 = 0.4;

/// So many times as long as the first run takes must be left for others besides trials.
const OTHERS: u32 = 8;

/// Bytes of a recording.
pub const MOST_RECORDED: u64 = 8 << 20;

/// Lines of what a program says that does not get anywhere.
const COMPLAINT: usize = 20;

/// How java's own complaints begin: no main class, no jar.
const REFUSAL: &str = "Error: ";

/// The program runs freely: once for what races in this very run; then, side by side if there
/// are the cores, once for whatever has no lock in common, and once to be recorded.
pub fn detect(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    hunt.progress.doing("running the program");
    let began = Instant::now();
    hunt.stage_end = (began + hunt.total.mul_f64(FIRST_RUN)).min(hunt.end);
    let run = free(hunt, "fasttrack", Mode::FASTTRACK)?;
    hunt.ends = run.outcome.stopped.is_none();
    hunt.cost = began.elapsed();
    if !hunt.ends && !hunt.interrupted {
        hunt.report.warnings.push(format!(
            "the program did not end in {:.0} s, its share of the time: it was stopped, and \
                 nothing can be confirmed by running it to its end; --time-limit gives it more, and \
                 --stop-after or --cut-after end it before",
            began.elapsed().as_secs_f64()
        ));
    }
    let complained = String::from_utf8_lossy(&run.outcome.stderr).into_owned();
    add(hunt, run);
    if !hunt.exercised {
        // Why, is java's to say, or the program's.
        let lines = complained.lines().take(COMPLAINT);
        lines.for_each(|line| hunt.progress.complaint(line));
        hunt.refused = complained.starts_with(REFUSAL);
    }
    hunt.save();
    if hunt.over() {
        return Ok("1 free run".to_owned());
    }
    let left = hunt.end.saturating_duration_since(Instant::now());
    if hunt.ends && left < hunt.cost * OTHERS {
        hunt.limited = true;
        return Ok(format!("1 free run; {SLOW}"));
    }
    hunt.head("detect");
    hunt.progress
        .doing("running the program with the hybrid detector, and recording it");
    // One that does not end takes what it is given.
    hunt.stage_end = Instant::now() + if hunt.ends { left / 4 } else { left / 6 };
    let ([hybrid, recorded], failure) = other_free_runs(hunt)?;
    if let Some((run, _)) = hybrid {
        add(hunt, run);
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let many = 2 + u32::from(recorded.is_some());
    hunt.recorded = recorded.map(|(run, dir)| Recorded {
        run: Some(run),
        dir,
    });
    Ok(format!("{many} free runs"))
}

/// A run that was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// Until it is in the report.
    pub run: Option<RunResult>,
    pub dir: RunDir,
}

/// A recording, or the beginning of one.
pub struct Beginning {
    pub path: PathBuf,
    /// There is more.
    pub is_part: bool,
}

impl Recorded {
    /// At most so many of its first events.
    pub fn beginning(&self, most: u64) -> Result<Beginning, Error> {
        let (whole, part) = (self.dir.trace(), self.dir.file("part.pft"));
        let is_part = traces::shorten(&whole, &part, most)?.is_some();
        let path = if is_part { part } else { whole };
        Ok(Beginning { path, is_part })
    }
}

/// A free run, if it was made, and its directory.
type FreeRun = Option<(RunResult, RunDir)>;

/// A run with the hybrid detector, and one with the way of each thread for prediction; and why
/// one of them could not be made.
fn other_free_runs(hunt: &mut Hunt<'_>) -> Result<([FreeRun; 2], Option<Error>), Error> {
    let does = |stage: &str| hunt.config.skip.iter().all(|name| name != stage);
    let is_looked_at = does("predict") || does(STALE_VALUES);
    let wanted = [
        Some(("hybrid", Mode::HYBRID)),
        is_looked_at.then_some(("record", Mode::Full)),
    ];
    let mut work = FreeRuns {
        hunt,
        wanted: wanted.into_iter().flatten().collect(),
        given: BTreeMap::new(),
        made: [None, None],
        failure: None,
    };
    let jobs = config::jobs(work.hunt.config.jobs);
    let interrupts = work.hunt.launcher.interrupts.clone();
    pool::run_as_it_comes(jobs, None, &interrupts, &mut work)?;
    Ok((work.made, work.failure))
}

/// Free runs side by side.
struct FreeRuns<'h, 'a> {
    hunt: &'h mut Hunt<'a>,
    /// Not started yet.
    wanted: VecDeque<(&'static str, Mode)>,
    given: BTreeMap<usize, (usize, RunDir)>,
    made: [FreeRun; 2],
    failure: Option<Error>,
}

impl<'a> Work<'a> for FreeRuns<'_, 'a> {
    fn next(&mut self, number: usize) -> Next<'a> {
        let Some((name, mode)) = self.wanted.pop_front() else {
            return Next::Done;
        };
        let launcher = self.hunt.launcher;
        let dir = match launcher.directory(name) {
            Ok(dir) => dir,
            Err(failure) => {
                self.failure = Some(failure);
                return Next::Done;
            }
        };
        let plan = free_plan(self.hunt, mode, &dir);
        let request = launcher.request(&dir, plan);
        let place = usize::from(mode.records());
        self.given.insert(number, (place, dir));
        Next::Run(Box::new(request))
    }

    fn hire(&mut self) -> Option<Request<'a>> {
        None
    }

    fn take(&mut self, number: usize, came: WorkResult) -> ControlFlow<()> {
        let (Some((place, dir)), WorkResult::Run(result)) = (self.given.remove(&number), came)
        else {
            return ControlFlow::Continue(());
        };
        match *result {
            Ok(run) => {
                self.hunt.noticed(&run.outcome);
                self.made[place] = Some((run, dir));
                ControlFlow::Continue(())
            }
            Err(failure) => {
                self.failure = Some(failure.into());
                ControlFlow::Break(())
            }
        }
    }
}

/// A run in which the operating system decides who goes on.
fn free(hunt: &mut Hunt<'_>, name: &str, mode: Mode) -> Result<RunResult, Error> {
    let dir = hunt.launcher.directory(name)?;
    let plan = Plan {
        output: hunt.config.first_output,
        ..free_plan(hunt, mode, &dir)
    };
    let run = hunt.launcher.run_in(&dir, plan)?;
    hunt.noticed(&run.outcome);
    Ok(run)
}

fn free_plan(hunt: &Hunt<'_>, mode: Mode, dir: &RunDir) -> Plan {
    Plan {
        trace: mode.records().then(|| dir.trace()),
        most_recorded: Some(MOST_RECORDED),
        input: hunt.input.clone(),
        time_limit: Some(hunt.left()),
        ..Plan::new(mode, Output::Capture)
    }
}
