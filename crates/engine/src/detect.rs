//! `detect`: run the program, one or many times, and report what raced.

use crate::config::{ControlConfig, LaunchConfig};
use crate::controlled_run;
use crate::error::Error;
use crate::launch::{Launcher, Plan};
use crate::may_trigger::Hidden;
use crate::progress::Progress;
use crate::session::Session;
use crate::verdict::Answer;
use ::detect::{Kind, fasttrack};
use driver::options::Mode;
use driver::process::{Input, Output};
use driver::store::{Schedule, Writer};
use findings::result::Report;
use findings::suppress::Suppressions;
pub use schedule::Scheduler;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What `detect` is told.
#[derive(Clone, Debug)]
pub struct DetectConfig {
    /// What counts as a race; none: deadlocks and uncaught exceptions of controlled
    /// runs are all that is looked for.
    pub detector: Option<Kind>,
    pub scheduler: Scheduler,
    /// Run the program this many times and merge what is found.
    pub runs: u32,
    /// With pct: how many orderings a bug may need; with drfinder: how many
    /// frames lead to a lock.
    pub depth: Option<u32>,
    /// With drfinder: a relation that an earlier result has kept, instead of a
    /// run that collects one.
    pub relation: Option<PathBuf>,
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
            depth: None,
            relation: None,
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
}

/// Runs the program and reports what raced.
pub fn detect(config: &DetectConfig, progress: &dyn Progress) -> Result<Detected, Error> {
    if config.detector.is_none() && !config.scheduler.is_serial() {
        return Err(Error::usage(
            "without a detector there is nothing to find in a free run; choose a --scheduler",
        ));
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
    let mut runs = ScheduledRuns::new(config, hidden)?;
    // A run that ends in a deadlock is made once more.
    let (mut number, mut extra) = (0, 0);
    while number < config.runs + extra {
        number += 1;
        progress.step(&format!("run {number} of {}", config.runs + extra));
        let deadlock = runs.run(&launcher, number, output, &mut session)?;
        if session.is_over() {
            break;
        }
        if deadlock && config.scheduler.goes_by_relation() && extra < config.runs {
            extra += 1;
        }
    }
    for text in runs.warnings() {
        session.warn(text);
    }
    let (mut report, facts) = session.finish("detect");
    config.suppress.apply(&mut report);
    facts.tell(&mut report);
    let results = runs.results();
    runs.keep(&launcher, &mut report)?;
    Ok(Detected {
        answer: Answer { report, facts },
        results,
    })
}

/// Runs under the scheduler that was asked for, with their schedules if they
/// can be replayed.
struct ScheduledRuns<'a> {
    config: &'a DetectConfig,
    store: Option<Writer>,
    /// By the number of the run, while something may need them.
    kept: BTreeMap<u64, (Schedule, Vec<u8>)>,
    hidden: Option<Hidden>,
}

impl<'a> ScheduledRuns<'a> {
    fn new(config: &'a DetectConfig, hidden: Option<Hidden>) -> Result<ScheduledRuns<'a>, Error> {
        let keeps = config.scheduler.is_serial() || hidden.is_some();
        Ok(ScheduledRuns {
            config,
            store: keeps
                .then(|| controlled_run::store(&config.control))
                .transpose()?,
            kept: BTreeMap::new(),
            hidden,
        })
    }

    fn warnings(&mut self) -> Vec<String> {
        let hidden = self.hidden.as_mut();
        hidden
            .map(|h| std::mem::take(&mut h.warnings))
            .unwrap_or_default()
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
        let seed = controlled_run::seed(&config.control, u64::from(number) - 1);
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
        let found = &run.findings;
        let deadlock = !found.deadlocks.is_empty();
        // A run that was cut short has seen little.
        if let Some(hidden) = self.hidden.as_mut().filter(|_| !deadlock) {
            hidden.learn(&dir);
        }
        let worth = !found.races.is_empty()
            || !found.deadlocks.is_empty()
            || !found.livelocks.is_empty()
            || !found.uncaught.is_empty();
        let row = self
            .store
            .as_ref()
            .filter(|_| worth && driver::options::is_serial(&control))
            .map(|_| {
                let summary = found.summary.as_ref().and_then(|s| s.control.as_ref());
                let row =
                    controlled_run::schedule("", mode.name(), &control, summary, &run.outcome);
                (row, std::fs::read(dir.log()).unwrap_or_default())
            });
        let number = session.add(run);
        self.kept.extend(row.map(|row| (number, row)));
        Ok(deadlock)
    }

    /// Where schedules are kept, if they are.
    fn results(&self) -> Option<PathBuf> {
        let store = self.store.as_ref();
        store.map(|_| self.config.control.results.clone())
    }

    /// Keeps what it takes to see the findings again.
    fn keep(self, launcher: &Launcher<'_>, report: &mut Report) -> Result<(), Error> {
        let Some(mut store) = self.store else {
            return Ok(());
        };
        let config = &self.config.control;
        controlled_run::keep(config, &mut store, report, |run| {
            self.kept.get(&run).cloned()
        })?;
        if let Some(hidden) = &self.hidden {
            hidden.keep(store.dir())?;
        }
        let program = controlled_run::program(&launcher.java, &self.config.launch, None)?;
        Ok(store.finish(program, report)?)
    }
}
