//! `hunt`: everything, in order, for someone who just wants to know.
//!
//! ```text
//! shares    how the time is divided
//! stages    what is done, one function a stage
//! free      runs in which the operating system decides
//! hidden    runs under control
//! explored  every schedule, if there are few enough
//! stale     values that are stale when they are used
//! ```
//!
//! The stages share one report, to which each adds what it found; races keep
//! the ids they were given first. Each has a share of the time that is left when it begins
//! ([`shares`]): what one does not need, the others get. What it cannot do by then is left, and
//! said. After each the result is saved, so that a hunt that is ended, with Ctrl-C or worse,
//! keeps what was found before.

mod explored;
mod free;
mod hidden;
mod shares;
mod stages;
mod stale;

use crate::config::{ControlConfig, LaunchConfig};
use crate::confirm::{self, Memory};
use crate::controlled_run;
use crate::error::Error;
use crate::launch::Launcher;
use crate::progress::Progress;
use crate::session::{Session, not_exercised};
use crate::shards;
use crate::verdict::{Answer, Facts};
use driver::process::{Input, Outcome, Output, Stopped};
use driver::store::{self, Writer};
use explored::Explored;
use findings::group::{self, Finding};
use findings::prediction::AtomicityViolation;
use findings::result::{HuntSummary, Race, Report, Stage, Status};
use findings::shard::Shard;
use findings::suppress::Suppressions;
use free::Recorded;
use stages::STAGES;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long it may take unless told otherwise.
const TIME: Duration = Duration::from_secs(300);

/// A stage is not begun with less.
const LEAST: Duration = Duration::from_millis(500);

/// What `hunt` is told.
#[derive(Clone, Debug)]
pub struct HuntConfig {
    /// Runs for each pair of statements that may race.
    pub trials: u32,
    /// Runs under control that look for what free runs do not show.
    pub runs: u32,
    /// What racy reads may see in the trials of a race.
    pub memory: Memory,
    /// Stages to leave out, by their names.
    pub skip: Vec<String>,
    /// Stop when a race, stale value, deadlock or uncaught exception is certain.
    pub stop_at_first: bool,
    /// Runs side by side; if none, one a core.
    pub jobs: Option<u32>,
    /// Which part: all do the free runs, the rest is divided stage by stage.
    pub shard: Shard,
    /// The program's standard input in every run; if none, it is empty.
    pub input: Option<PathBuf>,
    /// Where the output of the first run goes; nobody sees that of others.
    pub first_output: Output,
    /// Where Java sources are, besides the usual places.
    pub sources: Vec<PathBuf>,
    pub suppress: Suppressions,
    pub control: ControlConfig,
    /// Its time limit is for all of the hunt; if none, five minutes.
    pub launch: LaunchConfig,
}

impl Default for HuntConfig {
    fn default() -> HuntConfig {
        HuntConfig {
            trials: 20,
            runs: 20,
            memory: Memory::Sc,
            skip: Vec::new(),
            stop_at_first: false,
            jobs: None,
            shard: Shard::WHOLE,
            input: None,
            first_output: Output::Capture,
            sources: Vec::new(),
            suppress: Suppressions::default(),
            control: ControlConfig::default(),
            launch: LaunchConfig::default(),
        }
    }
}

impl HuntConfig {
    /// Whether it makes sense, as far as that can be said without running anything.
    pub fn check(&self) -> Result<(), Error> {
        let stages = || STAGES.iter().map(|stage| stage.name);
        match self.skip.iter().find(|name| stages().all(|s| s != *name)) {
            None => Ok(()),
            Some(other) => {
                let all: Vec<&str> = stages().collect();
                Err(Error::usage(format!(
                    "there is no stage {other} to leave out; there are: {}",
                    all.join(", ")
                )))
            }
        }
    }
}

/// What a hunt came to.
#[derive(Clone, Debug)]
pub struct Hunted {
    pub answer: Answer,
    /// What was done.
    pub stages: Vec<Stage>,
    /// What can be said because every schedule was explored.
    pub complete: Option<String>,
    /// There was something to find: several threads, instrumented classes.
    pub exercised: bool,
}

/// Does everything, in order, within the time.
pub fn hunt(config: &HuntConfig, progress: &dyn Progress) -> Result<Hunted, Error> {
    config.check()?;
    let launcher = Launcher::new(&config.launch)?;
    let store = controlled_run::store(&config.control)?;
    let program = controlled_run::program(&launcher.java, &config.launch, config.input.as_deref())?;

    let began = Instant::now();
    let total = config.launch.time_limit.unwrap_or(TIME);
    progress.deadline(began.checked_add(total));
    let (report, _) = Session::new(&config.launch).finish("hunt");
    let mut hunt = Hunt {
        config,
        launcher: &launcher,
        progress,
        store,
        program,
        input: crate::config::input(config.input.as_ref()),
        report,
        began,
        total,
        end: began + total.saturating_sub(shares::margin(total)),
        stage_end: began,
        cost: Duration::ZERO,
        recorded: None,
        explored: None,
        ends: true,
        exercised: true,
        idle: None,
        untried: Vec::new(),
        refused: false,
        interrupted: false,
        limited: false,
        failed: false,
        complete: None,
        told: BTreeSet::new(),
        done: Vec::new(),
    };
    hunt.all_stages()?;
    let facts = hunt.finish();
    Ok(Hunted {
        answer: controlled_run::finish(hunt.store, &hunt.program, hunt.report, facts),
        stages: hunt.done,
        complete: hunt.complete,
        exercised: hunt.exercised,
    })
}

struct Hunt<'a> {
    config: &'a HuntConfig,
    launcher: &'a Launcher<'a>,
    progress: &'a dyn Progress,
    store: Writer,
    program: store::Program,
    input: Input,
    report: Report,
    began: Instant,
    total: Duration,
    /// When all has to be over, and when the stage.
    end: Instant,
    stage_end: Instant,
    /// How long the first run took.
    cost: Duration,
    /// What prediction, and the search for stale values, look at.
    recorded: Option<Recorded>,
    explored: Option<Explored>,
    /// The program ends by itself.
    ends: bool,
    /// There was something to find: several threads, instrumented classes.
    exercised: bool,
    /// If there was not, why.
    idle: Option<String>,
    /// What there was no time to confirm.
    untried: Vec<String>,
    /// Java itself complained, and did not run the program.
    refused: bool,
    interrupted: bool,
    /// Something was left for want of time.
    limited: bool,
    failed: bool,
    /// What can be said because every schedule was explored.
    complete: Option<String>,
    /// Races that were told of while they were found.
    told: BTreeSet<String>,
    done: Vec<Stage>,
}

impl Hunt<'_> {
    fn all_stages(&mut self) -> Result<(), Error> {
        for (number, stage) in STAGES.iter().enumerate() {
            if self.over() {
                break;
            }
            if self.config.skip.iter().any(|name| name == stage.name) {
                continue;
            }
            self.stage_end = self.share(number);
            if self.left() < LEAST {
                self.limited = true;
                let text = format!("no time was left for: {}", stage.name);
                self.report.warnings.push(text);
                continue;
            }
            let start = Instant::now();
            self.head(stage.name);
            self.progress.stage(stage.name);
            let note = match (stage.run)(self) {
                Ok(note) => note,
                // Without a first run there is nothing to go on with.
                Err(failure) if number == 0 && self.report.runs.is_empty() => return Err(failure),
                Err(failure) => {
                    self.failed = true;
                    let text = format!("{} failed: {failure:#}", stage.name);
                    self.report.warnings.push(text.clone());
                    text
                }
            };
            if note.is_empty() {
                continue;
            }
            self.done.push(Stage {
                stage: stage.name.to_owned(),
                seconds: start.elapsed().as_secs_f64(),
                note,
            });
            self.save();
        }
        Ok(())
    }

    /// Whether there is no use in going on.
    fn over(&self) -> bool {
        self.interrupted || !self.exercised || self.has_enough()
    }

    /// Whether what was found is all that was wanted.
    fn has_enough(&self) -> bool {
        let report = &self.report;
        let certain =
            |race: &Race| race.status >= Status::Observed && !self.config.suppress.hides(race);
        let stale = |violation: &AtomicityViolation| violation.status >= Status::Observed;
        let found = !report.deadlocks.is_empty()
            || report.atomicity.iter().any(stale)
            || !report.failures.is_empty()
            || report.races.iter().any(certain);
        self.config.stop_at_first && found
    }

    /// When this stage has to be over.
    fn share(&self, number: usize) -> Instant {
        let now = Instant::now();
        let skipped = |stage: &&stages::Stage| self.config.skip.iter().any(|s| s == stage.name);
        let later = STAGES[number..].iter().filter(|stage| !skipped(stage));
        let weights: Vec<f64> = later.map(|stage| stage.weight).collect();
        let left = self.end.saturating_duration_since(now);
        let needs = self.cost * STAGES[number].needs;
        now + shares::share(left, &weights, needs)
    }

    /// The time of the stage that is left.
    fn left(&self) -> Duration {
        self.stage_end.saturating_duration_since(Instant::now())
    }

    /// Whether every schedule was explored, as far as is known.
    fn is_explored(&self) -> bool {
        { self.explored.as_ref() }.is_some_and(|explored| explored.covers(&self.report))
    }

    /// Notes how a run ended.
    fn noticed(&mut self, outcome: &Outcome) {
        self.interrupted |= outcome.stopped == Some(Stopped::Interrupted);
    }

    /// Adds what runs found.
    fn take(&mut self, session: Session) {
        let (report, facts) = session.conclude("hunt");
        // Of a run in a JVM that was used before, it is not known what it loaded.
        if facts.not_exercised && self.report.runs.is_empty() {
            self.exercised = false;
            self.idle.get_or_insert_with(|| not_exercised(&report));
        }
        self.limited |= facts.limit_reached;
        self.failed |= facts.tool_failed;
        self.add(report);
    }

    fn add(&mut self, report: Report) {
        if self.report.runs.is_empty() {
            self.report.program = report.program.clone();
        }
        self.report.absorb(report);
        self.tell();
    }

    /// First results are told at once.
    fn tell(&mut self) {
        for finding in group::findings(&self.report.races) {
            let race = finding.race;
            let certain = race.status >= Status::Observed && !self.config.suppress.hides(race);
            let key = || format!("{}{}", finding.owner, race.status.word());
            if certain && self.told.insert(key()) {
                self.progress.found(&finding);
            }
        }
    }

    /// Says how far we are.
    fn head(&self, stage: &str) {
        let findings = group::findings(&self.report.races);
        let certain = |finding: &&Finding<'_>| finding.race.status >= Status::Observed;
        let found = findings.iter().filter(certain).count();
        let suspected = findings.len() - found;
        self.progress.tally(stage, suspected, found);
    }

    fn save(&mut self) {
        self.report.timing.total_s = self.began.elapsed().as_secs_f64();
        let suppress = &self.config.suppress;
        controlled_run::save_so_far(&mut self.store, &self.program, &self.report, suppress);
    }

    /// Closes the account; what is known besides the report.
    fn finish(&mut self) -> Facts {
        if self.interrupted {
            let text = "stopped before the end: this is what was found up to then";
            self.report.warnings.push(text.to_owned());
        }
        if !self.untried.is_empty() {
            self.report.warnings.push(confirm::no_time(&self.untried));
        }
        if let Some(text) = self.idle.take().filter(|_| !self.refused) {
            self.report.warnings.push(text);
        }
        if self.refused {
            let text = "nothing was exercised: java did not run the program";
            self.report.warnings.push(text.to_owned());
        } else if !self.exercised && self.config.input.is_none() {
            let text = "the program was given no input; if it needs some, use --input FILE";
            self.report.warnings.push(text.to_owned());
        }
        explored::conclude(self);
        let config = self.config;
        let options = (
            (
                config.trials,
                config.runs,
                &config.skip,
                config.stop_at_first,
            ),
            (
                config.control.seed,
                config.control.max_steps,
                config.control.clock,
            ),
        );
        shards::tell(
            &mut self.report,
            config.shard,
            &config.launch,
            &options,
            true,
        );
        self.config.suppress.apply(&mut self.report);
        self.report.hunt = Some(HuntSummary {
            stages: self.done.clone(),
            time_limit_s: self.total.as_secs_f64(),
        });
        self.report.timing.total_s = self.began.elapsed().as_secs_f64();
        Facts {
            tool_failed: self.failed,
            not_exercised: !self.exercised,
            limit_reached: self.interrupted || self.limited,
            ..Facts::default()
        }
    }
}
