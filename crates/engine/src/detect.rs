//! `detect`: run the program, one or many times, and report what raced.

use crate::config::{ControlConfig, LaunchConfig};
use crate::controlled_run::{self, SavePace};
use crate::error::Error;
use crate::executions::{Execution, Executions, Novelty, Series, Taker, keys};
use crate::launch::{Launcher, Plan};
use crate::may_trigger::Hidden;
use crate::progress::Progress;
use crate::session::Session;
use crate::shards;
use crate::verdict::{Answer, Facts};
use ::detect::{Kind, fasttrack};
use driver::options::{Control, Mode};
use driver::pool::Ended;
use driver::process::{Input, Output};
use driver::run::RunResult;
use driver::store::{Program, Schedule, Writer};
use findings::exploration::Schedules;
use findings::result::Report;
use findings::shard::Shard;
use findings::suppress::Suppressions;
use protocol::execution::AskedSeed;
pub use schedule::Scheduler;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

/// Runs that the report lists: more of the same says nothing new.
const MOST_RUNS: u64 = 1_000;

/// Who counts all events, or decides on each, cannot rest.
pub(crate) const NO_BUDGET: &str = "a --budget is for the detector fasttrack and runs that nobody controls; leave out \
                                    --detector and --scheduler, or --budget";

/// What `detect` is told.
#[derive(Clone, Debug)]
pub struct DetectConfig {
    /// What counts as a race; none: deadlocks and uncaught exceptions of controlled
    /// runs are all that is looked for.
    pub detector: Option<Kind>,
    pub scheduler: Scheduler,
    /// Run the program this many times and merge what is found.
    pub runs: u32,
    /// Stop before that when controlled runs show nothing new for long.
    pub until_saturated: bool,
    /// Stop when controlled runs show a race, a deadlock or an uncaught exception.
    pub stop_at_first: bool,
    /// Controlled runs side by side.
    pub jobs: usize,
    /// Every run is to have a JVM of its own.
    pub isolate: bool,
    /// With pct: how many orderings a bug may need; with drfinder: how many
    /// frames lead to a lock.
    pub depth: Option<u32>,
    /// With drfinder: a relation that an earlier result has kept, instead of a
    /// run that collects one.
    pub relation: Option<PathBuf>,
    /// Which of the runs.
    pub shard: Shard,
    /// Where the program's output goes.
    pub output: Output,
    pub suppress: Suppressions,
    pub control: ControlConfig,
    pub launch: LaunchConfig,
}

impl Default for DetectConfig {
    fn default() -> DetectConfig {
        DetectConfig {
            detector: Some(fasttrack::KIND),
            scheduler: Scheduler::default(),
            runs: 1,
            until_saturated: false,
            stop_at_first: false,
            jobs: 1,
            isolate: false,
            depth: None,
            relation: None,
            shard: Shard::WHOLE,
            output: Output::Capture,
            suppress: Suppressions::default(),
            control: ControlConfig::default(),
            launch: LaunchConfig::default(),
        }
    }
}

/// What `detect` found.
#[derive(Clone, Debug)]
pub struct Detected {
    pub answer: Answer,
    /// Where its schedules are kept, if any are.
    pub results: Option<PathBuf>,
    /// The partial orders that controlled runs had, by their digests.
    pub orders: Vec<u64>,
}

/// Runs the program and reports what raced.
pub fn detect(config: &DetectConfig, progress: &dyn Progress) -> Result<Detected, Error> {
    if config.detector.is_none() && !config.scheduler.is_serial() {
        return Err(Error::usage(
            "without a detector there is nothing to find in a free run; choose a --scheduler",
        ));
    }
    let is_free = config.detector == Some(fasttrack::KIND) && config.scheduler.is_native();
    if config.launch.budget.is_some() && !is_free {
        return Err(Error::usage(NO_BUDGET));
    }
    let launcher = Launcher::new(&config.launch)?;
    let output = config.output;

    let mut session = Session::new(&config.launch);
    let hidden = match config.scheduler.goes_by_relation() {
        true => {
            progress.step("which methods lead to which locks");
            let relation = config.relation.as_deref();
            let limit = config.launch.time_limit;
            let hidden = Hidden::begin(
                &launcher,
                relation,
                config.depth,
                (Input::Inherit, output),
                limit,
            )?;
            Some(hidden.0)
        }
        false => None,
    };
    let mut runs = ScheduledRuns::new(config, &launcher, hidden)?;
    let has_work = runs.wanted() > 0;
    match config.scheduler.is_serial() && runs.hidden.is_none() {
        _ if !has_work => {}
        true => runs.run_series(&launcher, &mut session, progress)?,
        false => runs.run_each(&launcher, &mut session, progress)?,
    }
    for text in runs.warnings() {
        session.warn(text);
    }
    let (mut report, facts) = session.finish("detect");
    report.schedules = runs.schedules.take();
    let options = (
        (
            config.detector.map(Kind::name),
            config.scheduler.name(),
            config.runs,
        ),
        (config.until_saturated, config.stop_at_first, config.depth),
        (
            config.control.seed,
            config.control.max_steps,
            config.control.clock,
        ),
    );
    shards::tell(
        &mut report,
        config.shard,
        &config.launch,
        &options,
        has_work,
    );
    config.suppress.apply(&mut report);
    let results = runs.results();
    let orders = std::mem::take(&mut runs.orders);
    Ok(Detected {
        answer: runs.finish(report, facts),
        results,
        orders,
    })
}

/// Runs under the scheduler that was asked for, with their schedules if they
/// can be replayed.
struct ScheduledRuns<'a> {
    config: &'a DetectConfig,
    /// Where the result is kept, and what it takes to run the program again.
    result: Option<(Writer, Program)>,
    pace: SavePace,
    /// By the number of the run, while something may need them.
    kept: BTreeMap<u64, (Schedule, Vec<u8>)>,
    hidden: Option<Hidden>,
    schedules: Option<Schedules>,
    orders: Vec<u64>,
}

impl<'a> ScheduledRuns<'a> {
    fn new(
        config: &'a DetectConfig,
        launcher: &Launcher<'_>,
        hidden: Option<Hidden>,
    ) -> Result<ScheduledRuns<'a>, Error> {
        let result = match config.scheduler.is_serial() || hidden.is_some() {
            true => {
                let program = controlled_run::program(&launcher.java, &config.launch, None)?;
                Some((controlled_run::store(&config.control)?, program))
            }
            false => None,
        };
        Ok(ScheduledRuns {
            config,
            result,
            pace: SavePace::new(),
            kept: BTreeMap::new(),
            hidden,
            schedules: None,
            orders: Vec::new(),
        })
    }

    /// How many of the runs are of this shard.
    fn wanted(&self) -> u64 {
        self.config.shard.share(self.config.runs.into())
    }

    /// The seed of the shard's run with this number, counted from 0.
    fn seed(&self, number: u64) -> u64 {
        controlled_run::seed(&self.config.control, self.config.shard.nth(number))
    }

    fn warnings(&mut self) -> Vec<String> {
        let hidden = self.hidden.as_mut();
        hidden
            .map(|h| std::mem::take(&mut h.warnings))
            .unwrap_or_default()
    }

    /// One execution after the other by a strategy that repeats itself, most of them in
    /// JVMs that are used again.
    fn run_series(
        &mut self,
        launcher: &Launcher<'_>,
        session: &mut Session,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let config = self.config;
        let mode = config.detector.map_or(Mode::None, Mode::Detect);
        let strategy = config.scheduler.name();
        let mut control = controlled_run::control(&config.control, strategy, config.control.seed);
        control.depth = config.depth;
        let plan = Plan {
            control: Some(control),
            time_limit: config.launch.time_limit,
            ..Plan::new(mode, config.output)
        };
        let mut executions = Executions::new(launcher, plan, vec![], config.jobs, config.isolate);
        let wanted = self.wanted();
        let seed = |number| controlled_run::seed(&config.control, config.shard.nth(number));
        let series = Series {
            count: wanted,
            asked: &|number| AskedSeed(0, seed(number)),
            alone: 0,
            deadline: None,
            name: "run".to_owned(),
        };
        let mut taken = TakenRuns {
            runs: self,
            session,
            progress,
            mode,
            novelty: Novelty::default(),
            listed: 0,
        };
        progress.step(&format!("run 1 of {wanted}"));
        let made = executions.make(&series, &mut taken)?;
        let saturated = taken.is_saturated();
        let novelty = taken.novelty;
        if made.ended == Ended::Interrupted {
            session.interrupt();
        }
        self.orders = novelty.orders().collect();
        self.schedules = (config.runs > 1).then_some(Schedules {
            tried: novelty.tried,
            different: novelty.different(),
            orders: match config.shard.is_whole() {
                true => Default::default(),
                false => novelty.orders().collect(),
            },
            since_new: novelty.since_new(),
            saturated,
            reused_jvms: made.reused,
            isolated: made.isolated,
            reloads: made.reloads,
        });
        Ok(())
    }

    fn run_each(
        &mut self,
        launcher: &Launcher<'_>,
        session: &mut Session,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let config = self.config;
        // A run that ends in a deadlock is made once more.
        let wanted = self.wanted() as u32;
        let (mut number, mut extra) = (0, 0);
        while number < wanted + extra {
            number += 1;
            progress.step(&format!("run {number} of {}", wanted + extra));
            let deadlock = self.run(launcher, number, config.output, session)?;
            self.save_so_far(session);
            if session.is_over() {
                break;
            }
            if deadlock && config.scheduler.goes_by_relation() && extra < wanted {
                extra += 1;
            }
        }
        Ok(())
    }

    /// What it takes to see a run again, if it showed anything.
    fn row(
        &self,
        mode: Mode,
        control: &Control,
        run: &RunResult,
        log: impl FnOnce() -> Vec<u8>,
    ) -> Option<(Schedule, Vec<u8>)> {
        let worth = !keys(&run.findings).is_empty() && driver::options::is_serial(control);
        self.result.as_ref().filter(|_| worth)?;
        let summary = run
            .findings
            .summary
            .as_ref()
            .and_then(|s| s.control.as_ref());
        let row = controlled_run::schedule("", mode.name(), control, summary, &run.outcome);
        Some((row, log()))
    }

    /// True if it ended in a deadlock.
    fn run(
        &mut self,
        launcher: &Launcher<'_>,
        number: u32,
        output: Output,
        session: &mut Session,
    ) -> Result<bool, Error> {
        let config = self.config;
        let mode = config.detector.map_or(Mode::None, Mode::Detect);
        let strategy = config.scheduler.name();
        if config.scheduler.is_native() {
            session.add(launcher.run(number, mode, None, output)?);
            return Ok(false);
        };
        let seed = self.seed(u64::from(number) - 1);
        let mut control = controlled_run::control(&config.control, strategy, seed);
        control.depth = config.depth;
        let dir = launcher.directory(&format!("run-{number}"))?;
        let mut time_limit = config.launch.time_limit;
        if let Some(hidden) = &self.hidden {
            hidden.aim(&mut control, &dir)?;
            time_limit = Some(hidden.limit());
        }
        let plan = Plan {
            control: Some(control.clone()),
            time_limit,
            ..Plan::new(mode, output)
        };
        let run = launcher.run_in(&dir, plan)?;
        let deadlock = !run.findings.deadlocks.is_empty();
        // A run that was cut short has seen little.
        if let Some(hidden) = self.hidden.as_mut().filter(|_| !deadlock) {
            hidden.learn(&dir);
        }
        let row = self.row(mode, &control, &run, || {
            std::fs::read(dir.log()).unwrap_or_default()
        });
        let number = session.add(run);
        self.kept.extend(row.map(|row| (number, row)));
        Ok(deadlock)
    }

    /// Where schedules are kept, if they are.
    fn results(&self) -> Option<PathBuf> {
        let result = self.result.as_ref();
        result.map(|_| self.config.control.results.clone())
    }

    /// Keeps what the runs so far have shown, if it is time for that.
    fn save_so_far(&mut self, session: &Session) {
        let config = self.config;
        let Some((store, program)) = self.result.as_mut().filter(|_| self.pace.is_due()) else {
            return;
        };
        let began = Instant::now();
        let (mut report, _) = session.clone().finish("detect");
        controlled_run::keep(&config.control, store, &mut report, |run| {
            self.kept.get(&run).cloned()
        });
        controlled_run::save_so_far(store, program, &report, &config.suppress);
        self.pace.saved(began);
    }

    /// Keeps what it takes to see the findings again.
    fn finish(self, mut report: Report, facts: Facts) -> Answer {
        let Some((mut store, program)) = self.result else {
            return Answer::new(report, facts);
        };
        let config = &self.config.control;
        controlled_run::keep(config, &mut store, &mut report, |run| {
            self.kept.get(&run).cloned()
        });
        let relation = self.hidden.map(|hidden| hidden.keep(store.dir()));
        if let Some(Err(error)) = relation {
            report.warnings.push(format!("{error:#}"));
        }
        controlled_run::finish(store, &program, report, facts)
    }
}

/// Executions as they come, on their way into the report.
struct TakenRuns<'r, 'a> {
    runs: &'r mut ScheduledRuns<'a>,
    session: &'r mut Session,
    progress: &'r dyn Progress,
    mode: Mode,
    novelty: Novelty,
    listed: u64,
}

impl TakenRuns<'_, '_> {
    /// The last third of the runs, and not a few, showed nothing new.
    fn is_saturated(&self) -> bool {
        let novelty = &self.novelty;
        self.runs.config.until_saturated && novelty.is_long(novelty.since_new())
    }

    /// Whether something was found that is not suppressed.
    fn has_found(&self) -> bool {
        let (mut report, _) = self.session.clone().finish("detect");
        self.runs.config.suppress.apply(&mut report);
        let Report {
            races,
            deadlocks,
            failures,
            ..
        } = report;
        !(races.is_empty() && deadlocks.is_empty() && failures.is_empty())
    }
}

impl Taker for TakenRuns<'_, '_> {
    fn is_known(&mut self, run: &RunResult) -> bool {
        self.novelty.is_known(run)
    }

    fn take(&mut self, execution: Execution) -> Result<ControlFlow<()>, Error> {
        self.novelty.take(&execution);
        let run = &execution.run;
        let has_shown = !keys(&run.findings).is_empty();
        let is_new = execution.dir.is_some();
        if is_new || self.listed < MOST_RUNS {
            self.listed += 1;
            let row = self
                .runs
                .row(self.mode, &execution.control, run, || execution.log());
            let number = match is_new {
                true => self.session.add(execution.run),
                false => self.session.add_reused(execution.run),
            };
            self.runs
                .kept
                .extend(row.filter(|_| is_new).map(|row| (number, row)));
        }
        self.runs.save_so_far(self.session);
        let all = self.runs.wanted();
        let tried = self.novelty.tried;
        let text = format!("run {} of {all}", tried + 1);
        match is_new {
            _ if tried >= all => {}
            true => self.progress.step(&text),
            false => self.progress.doing(&text),
        }
        let config = self.runs.config;
        let has_enough = config.stop_at_first && has_shown && self.has_found();
        Ok(
            match has_enough || self.session.is_over() || self.is_saturated() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            },
        )
    }
}
