//! The program again, with repairs: the same mixture of schedulers and seeds
//! that showed the races, and the same look at what was recorded.
//!
//! Half of the runs have the racing statements as scheduling points besides
//! synchronisation: there a repair has to stand orders that free runs hardly
//! ever show.

use super::AdviseConfig;
use super::explored::Explored;
use super::paths;
use crate::config;
use crate::controlled_run;
use crate::error::Error;
use crate::executions::{self, Execution, Executions, Taker};
use crate::launch::{Launcher, Plan, RunDir};
use crate::progress::Progress;
use driver::options::{Mode, Statement, Variant};
use driver::process::{Input, Output, Stopped};
use driver::run::RunResult;
use findings::finding::{self, Frame, Location};
use findings::result;
use protocol::execution::AskedSeed;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const STRATEGIES: [&str; 3] = ["random", "pos", "pct"];

/// A race as it is known before and after a repair, when bytecode indices
/// differ: the field, if it is one, and the two lines.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    pub field: Option<String>,
    pub lines: [Place; 2],
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    pub class: String,
    pub method: String,
    pub line: Option<u32>,
}

impl Key {
    pub fn new(field: Option<String>, mut lines: [Place; 2]) -> Key {
        lines.sort();
        Key { field, lines }
    }

    pub fn of_finding(race: &finding::Race) -> Key {
        let [a, b] = &race.accesses;
        Key::from_frames(&race.location, [&a.frame, &b.frame])
    }

    pub fn of_result(race: &result::Race) -> Key {
        let [a, b] = &race.accesses;
        Key::from_frames(&race.location, [&a.at, &b.at])
    }

    fn from_frames(location: &Location, frames: [&Frame; 2]) -> Key {
        let field = match location {
            Location::Field { class, field, .. } => Some(format!("{class}.{field}")),
            Location::Array { .. } => None,
        };
        let place = |f: &Frame| Place {
            class: f.class.clone(),
            method: f.method.clone(),
            line: f.line.or(f.bci),
        };
        Key::new(field, frames.map(place))
    }

    /// The same race after the line was moved to stand at another.
    pub fn moved(&self, class: &str, from: u32, to: u32) -> Key {
        let mut moved = self.clone();
        for place in &mut moved.lines {
            if place.class == class && place.line == Some(from) {
                place.line = Some(to);
            }
        }
        moved.lines.sort();
        moved
    }
}

/// What came of some runs.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    pub runs: u32,
    /// In how many runs each race was seen.
    pub seen: BTreeMap<Key, u32>,
    /// Runs that ended in a deadlock.
    pub stood_still: u32,
    /// Exceptions that nobody caught.
    pub failures: BTreeSet<String>,
    /// Runs that were ended, or that went wrong otherwise.
    pub cut_short: u32,
    /// Runs that were too long to be looked at whole.
    pub too_long: u32,
    /// Repairs that were made, and why others were not.
    pub made: BTreeSet<String>,
    pub refused: BTreeMap<String, String>,
    pub interrupted: bool,
    /// The time was over before all runs were made.
    pub out_of_time: bool,
}

impl Tally {
    pub fn add(&mut self, run: &RunResult) {
        let found = &run.findings;
        self.runs += 1;
        let keys: BTreeSet<Key> = found.races.iter().map(Key::of_finding).collect();
        for key in keys {
            *self.seen.entry(key).or_default() += 1;
        }
        let still = !found.deadlocks.is_empty() || !found.livelocks.is_empty();
        self.stood_still += u32::from(still);
        for uncaught in &found.uncaught {
            self.failures.insert(uncaught.class().to_owned());
        }
        let unsaid = found.summary.is_none() || found.stuck.is_some();
        self.cut_short += u32::from(!still && (run.outcome.stopped.is_some() || unsaid));
        self.interrupted |= run.outcome.stopped == Some(Stopped::Interrupted);
        for tried in &found.repairs {
            match &tried.why {
                None => {
                    self.made.insert(tried.repair.clone());
                }
                Some(why) => {
                    self.refused.insert(tried.repair.clone(), why.clone());
                }
            }
        }
    }
}

impl Tally {
    /// Adds what an exploration of the same program showed.
    pub fn take_in(&mut self, all: &Explored) {
        for key in &all.races {
            *self.seen.entry(key.clone()).or_default() += 1;
        }
        self.stood_still += u32::from(all.stands_still);
        self.failures.extend(all.failures.iter().cloned());
    }
}

/// The mixture of runs.
pub struct Mixture<'a> {
    pub config: &'a AdviseConfig,
    pub launcher: &'a Launcher<'a>,
    pub progress: &'a dyn Progress,
    /// Racing lines, once they are known.
    pub targets: BTreeSet<Statement>,
}

/// A series of runs.
pub struct Series<'s> {
    pub mode: Mode,
    pub numbers: std::ops::Range<u32>,
    pub repairs: &'s [String],
}

/// Runs on their way to whom they are made for.
struct Taken<F> {
    take: F,
}

impl<F: FnMut(RunResult, Option<PathBuf>) -> ControlFlow<()>> Taker for Taken<F> {
    fn is_known(&mut self, _: &RunResult) -> bool {
        // Each is looked at as a whole.
        false
    }

    fn take(&mut self, execution: Execution) -> Result<ControlFlow<()>, Error> {
        let trace = execution.dir.as_ref().map(RunDir::trace);
        let trace = trace.filter(|file| file.exists());
        Ok((self.take)(execution.run, trace))
    }
}

impl Mixture<'_> {
    /// From this run on racing lines are scheduling points.
    pub fn targeted_from(&self) -> u32 {
        self.config.runs.div_ceil(2)
    }

    /// Makes the runs, all in JVMs of their own where the mode is one that records; `take` gets
    /// each with its trace, if there is one, and says whether to go on.
    pub fn run(
        &self,
        series: Series<'_>,
        take: impl FnMut(RunResult, Option<PathBuf>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let all: Vec<Statement> = self.targets.iter().cloned().collect();
        let pairs = [None, (!all.is_empty()).then(|| [all.clone(), all])];
        let variant = |pair: &Option<[Vec<Statement>; 2]>, strategy: &&str| Variant {
            scheduler: (*strategy).to_owned(),
            pair: pair.clone(),
        };
        let variants = { pairs.iter() }.flat_map(|pair| {
            STRATEGIES
                .iter()
                .map(move |strategy| variant(pair, strategy))
        });
        let plan = Plan {
            control: Some(controlled_run::control(
                &self.config.control,
                STRATEGIES[0],
                0,
            )),
            repairs: series.repairs.to_vec(),
            input: self.input(),
            time_limit: self.config.launch.time_limit,
            ..Plan::new(series.mode, Output::Capture)
        };
        let mut executions =
            Executions::new(self.launcher, plan, variants.collect(), self.jobs(), false);
        let asked = |at: u64| {
            let number = series.numbers.start + at as u32;
            let targeted = usize::from(number >= self.targeted_from());
            let variant = targeted * STRATEGIES.len() + number as usize % STRATEGIES.len();
            let seed = controlled_run::seed(&self.config.control, number.into());
            AskedSeed(variant, seed)
        };
        let made = executions::Series {
            count: series.numbers.len() as u64,
            asked: &asked,
            alone: 0,
            deadline: self.config.deadline,
            name: "trial".to_owned(),
        };
        executions.make(&made, &mut Taken { take })?;
        Ok(())
    }

    /// The program with repairs; stops early once all of `claims` were seen.
    pub fn tally(&self, repairs: &[String], claims: &BTreeSet<Key>) -> Result<Tally, Error> {
        let mut tally = Tally::default();
        let series = Series {
            mode: Mode::Record,
            numbers: 0..self.config.runs,
            repairs,
        };
        let mut failed = None;
        self.run(series, |mut run, trace| {
            if let Some(file) = trace.filter(|_| run.started) {
                match paths::races_in(&file, &|| self.has_to_stop()) {
                    Ok(Some((races, cut_short))) => {
                        run.findings.races = races;
                        tally.too_long += u32::from(cut_short);
                    }
                    Ok(None) => return ControlFlow::Break(()),
                    Err(failure) => {
                        failed = Some(failure);
                        return ControlFlow::Break(());
                    }
                }
            }
            tally.add(&run);
            let again = claims.iter().all(|key| tally.seen.contains_key(key));
            let over = tally.interrupted || tally.stood_still > 0 || !tally.refused.is_empty();
            match again || over {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        tally.out_of_time = self.out_of_time();
        failed.map_or(Ok(tally), Err)
    }

    pub fn jobs(&self) -> usize {
        config::jobs(self.config.jobs)
    }

    pub fn input(&self) -> Input {
        config::input(self.config.input.as_ref())
    }

    /// Whether somebody stops it.
    pub fn is_interrupted(&self) -> bool {
        self.launcher.interrupts.is_requested()
    }

    /// Whether nothing more is to be done.
    pub fn has_to_stop(&self) -> bool {
        self.is_interrupted() || self.out_of_time()
    }

    /// Whether there is no time for another run.
    pub fn out_of_time(&self) -> bool {
        self.config.deadline.is_some_and(|at| at <= Instant::now())
    }

    /// How long a run may take.
    fn time_limit(&self) -> Option<Duration> {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        let left = self.config.deadline.map(left);
        let limit = self.config.launch.time_limit;
        match (left, limit) {
            (Some(left), Some(limit)) => Some(left.min(limit)),
            (left, limit) => left.or(limit),
        }
    }

    /// Seconds that the program takes by itself with these repairs, in some free
    /// runs in which nothing is watched; sorted.
    pub fn seconds(&self, repairs: &[String]) -> Result<Vec<f64>, Error> {
        let mut all = Vec::new();
        for _ in 0..self.config.cost_runs {
            if self.has_to_stop() {
                return Ok(Vec::new());
            }
            let dir = self.launcher.scratch()?;
            let plan = Plan {
                repairs: repairs.to_vec(),
                // Nothing is instrumented, so that only the repair costs.
                exclude: vec!["**".to_owned()],
                input: self.input(),
                time_limit: self.time_limit(),
                ..Plan::new(Mode::None, Output::Capture)
            };
            let run = self.launcher.run_in(&dir, plan)?;
            if run.outcome.stopped.is_some() {
                return Ok(Vec::new());
            }
            all.push(run.outcome.elapsed.as_secs_f64());
        }
        all.sort_by(f64::total_cmp);
        Ok(all)
    }
}
