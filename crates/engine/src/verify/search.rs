//! The coordinator: hands executions out to JVMs, takes in what they were, and
//! knows what stands between it and a complete exploration.
//!
//! An execution is a JVM of its own, or one of many that a worker makes
//! ([`workers`]). The former is told how to begin in a file of its run directory
//! (`job.json`) and leaves what it did beside it (`execution.json`), with findings
//! and summary as every run. Whatever is reported was made that way.

mod bounded;
mod mishaps;
mod samples;
mod statements;
mod workers;

use super::weak::News;
use crate::controlled_run;
use crate::error::{Context, Error};
use crate::executions::keys;
use crate::launch::{Launcher, Plan, RunDir};
use crate::session::{Accidents, Session};
use bounded::Bounds;
use driver::interrupt::Interrupts;
use driver::options::{Control, Mode, Statement};
use driver::pool::{Ended, Next, Pool, Work, WorkResult};
use driver::process::{Input, Output, Stopped};
use driver::run::{Request, RunResult};
use driver::store::Schedule;
use explore::{Campaign, Config, Execution, Explorations, Job, Progress, Share, Subtree, Task};
use findings::finding::Findings;
use mishaps::is_killed;
use protocol::{RunEnd, Scheduler, execution, files};
pub use samples::Samples;
use serde::{Deserialize, Serialize};
use statements::statement;
pub(crate) use statements::{accesses, weak};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;
use std::time::Instant;
use workers::{Known, Workers};

/// Runs whose findings are merged: more of the same says nothing new.
const MOST_RUNS: u64 = 2_000;

/// What to explore, and how far.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    pub config: Config,
    /// Of an exploration that several machines make.
    pub share: Option<Share>,
    /// Only these branches of a round that somebody else coordinates; see [`super::portions`].
    pub portion: Option<Branches>,
    /// Statements that are known to race.
    pub points: Vec<Statement>,
    pub jobs: usize,
    pub deadline: Option<Instant>,
    /// Every execution is to have a JVM of its own.
    pub isolate: bool,
    /// Schedules are drawn as well, beside the exploration.
    pub samples: bool,
    /// The first race, deadlock or failure is enough.
    pub stop_at_first: bool,
    /// Reads of locations that race choose which write they see; what is known without that is not
    /// shown again.
    pub weak: Option<BTreeSet<String>>,
    /// Made in the classes as they are loaded.
    pub repairs: Vec<String>,
    pub input: Input,
    /// Of every execution; its job is filled in here.
    pub control: Control,
}

/// Of a portion: where it begins, and the keys of what others have shown already.
#[derive(Clone, Debug)]
pub struct Branches {
    pub subtrees: Vec<Subtree>,
    pub seen: BTreeSet<String>,
}

impl Branches {
    /// Whether it has the first execution of its round.
    pub fn is_root(&self) -> bool {
        { self.subtrees.iter() }.any(|subtree| subtree.beginning.is_empty())
    }
}

/// An execution that showed something, and how to make it again.
#[derive(Clone, Debug)]
pub struct Kept {
    pub schedule: Schedule,
    pub log: Vec<u8>,
}

/// How far it is, or what came of it.
#[derive(Clone, Debug)]
pub struct Standing {
    pub progress: Progress,
    /// Executions of the last round: if complete, the number of classes.
    pub classes: u64,
    pub rounds: u32,
    /// Of a share: which classes, and with which scheduling points; and whether others
    /// explore a part of it.
    pub shared: Option<Shared>,
    /// Something is left to explore.
    pub is_cut: bool,
    /// Why it is not complete although nothing is left to do.
    pub missing: BTreeSet<String>,
    pub interrupted: bool,
    pub out_of_time: bool,
    /// Executions that were set aside because their JVMs ended every time, by their last
    /// steps. They are made again when somebody goes on.
    pub set_aside: Vec<String>,
    /// What was sampled beside it, and explored within bounds: executions, and the largest
    /// bound on preemptions that was completed.
    pub samples: Samples,
    pub within: (u64, Option<u32>),
    /// The first finding was enough.
    pub has_enough: bool,
    /// The bound on preemptions.
    pub bound: Option<u32>,
    /// Executions made in JVMs that made others before, and why there are no more.
    pub reused: u64,
    pub isolated: Option<String>,
    pub reloads: Option<String>,
}

/// What a share has to say besides.
#[derive(Clone, Debug)]
pub struct Shared {
    pub classes: findings::digests::Digests,
    pub points: Vec<String>,
    pub divided: bool,
}

impl Standing {
    /// Every schedule was explored, and nothing happened outside control.
    pub fn is_complete(&self) -> bool {
        self.progress.complete && self.missing.is_empty()
    }
}

/// Why an exploration is not complete although nothing is left to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Gap {
    /// The program did not do the same again, as far as known at this step.
    Diverged { step: Option<usize> },
    /// Anything else, in words.
    Other(String),
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::Diverged { step } => {
                f.write_str(
                    "the program did not do the same again: it depends on something besides the \
                     schedule",
                )?;
                match step {
                    Some(step) => write!(f, ", at step {step} of an execution"),
                    None => Ok(()),
                }
            }
            Gap::Other(what) => f.write_str(what),
        }
    }
}

/// All that is needed to go on with an exploration, besides what it found.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    campaign: Campaign,
    statements: Vec<String>,
    added: u64,
    seen: BTreeSet<String>,
    missing: BTreeSet<Gap>,
    unfinished: BTreeSet<Gap>,
    accidents: Accidents,
}

impl State {
    pub fn accidents(&self) -> Accidents {
        self.accidents
    }
}

/// Is told how far it is, after every execution.
pub type Watch<'a> = dyn FnMut(&Search<'_>) -> Result<(), Error> + 'a;

pub struct Search<'a> {
    launcher: &'a Launcher<'a>,
    asked: &'a SearchConfig,
    campaign: Campaign,
    /// By the numbers that the campaign knows them by.
    statements: Vec<Statement>,
    given: BTreeMap<usize, (Task, RunDir)>,
    tries: BTreeMap<u64, u32>,
    set_aside: Vec<String>,
    samples: Samples,
    bounds: Bounds,
    has_enough: bool,
    session: Session,
    added: u64,
    seen: BTreeSet<String>,
    kept: BTreeMap<u64, Kept>,
    /// Of a weak exploration: runs that showed something new, and what.
    news: Vec<News>,
    missing: BTreeSet<Gap>,
    /// The same, of executions of this round that did not come to their end.
    unfinished: BTreeSet<Gap>,
    round: u32,
    failure: Option<Error>,
    interrupted: bool,
    out_of_time: bool,
    mishaps: BTreeMap<u64, u32>,
    /// An execution had a thread that waited outside, however often it was made.
    waits_outside: bool,
    workers: Workers,
}

/// The search, while somebody looks.
struct Watched<'s, 'a, 'w> {
    search: &'s mut Search<'a>,
    watch: &'s mut Watch<'w>,
}

impl<'a> Work<'a> for Watched<'_, 'a, '_> {
    fn next(&mut self, number: usize) -> Next<'a> {
        self.search.next(number)
    }

    fn hire(&mut self) -> Option<Request<'a>> {
        let hired = self.search.new_worker();
        let failed = |failure| self.search.failure = Some(failure);
        hired.map_err(failed).ok()
    }

    fn take(&mut self, number: usize, came: WorkResult) -> ControlFlow<()> {
        let search = &mut *self.search;
        let taken = match came {
            WorkResult::Run(result) => search.alone(number, *result),
            WorkResult::Answer(answer) => search.answered(number, *answer),
            WorkResult::Died => search.died(number),
        };
        search.enter_round();
        if search.failure.is_none() {
            search.failure = taken.and_then(|()| (self.watch)(search)).err();
        }
        match search.failure.is_some() || search.has_enough || search.is_idle() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// JVMs that stay from one search to the next: of the same program, with the same scheduling points,
/// one after the other.
#[derive(Debug)]
pub struct Crew<'i> {
    pool: Pool<'i>,
    known: Option<Known>,
}

impl<'i> Crew<'i> {
    pub fn new(jobs: usize, interrupts: &'i Interrupts) -> Crew<'i> {
        Crew {
            pool: Pool::new(jobs, interrupts),
            known: None,
        }
    }
}

/// Explores the program, or goes on `from` where somebody stopped.
pub fn explore<'a>(
    launcher: &'a Launcher<'a>,
    session: Session,
    asked: &'a SearchConfig,
    from: Option<State>,
    watch: &mut Watch<'_>,
) -> Result<Search<'a>, Error> {
    let mut crew = Crew::new(asked.jobs, &launcher.interrupts);
    explore_with(&mut crew, launcher, session, asked, from, watch)
}

/// The same with JVMs that may be there already.
pub fn explore_with<'a>(
    crew: &mut Crew<'_>,
    launcher: &'a Launcher<'a>,
    session: Session,
    asked: &'a SearchConfig,
    from: Option<State>,
    watch: &mut Watch<'_>,
) -> Result<Search<'a>, Error> {
    let mut search = Search {
        launcher,
        asked,
        campaign: asked.campaign(),
        statements: asked.points.clone(),
        given: BTreeMap::new(),
        tries: BTreeMap::new(),
        set_aside: Vec::new(),
        samples: Samples::default(),
        bounds: Bounds::new(asked.config),
        has_enough: false,
        session,
        added: 0,
        seen: asked.seen(),
        kept: BTreeMap::new(),
        news: Vec::new(),
        missing: BTreeSet::new(),
        unfinished: BTreeSet::new(),
        round: 0,
        failure: None,
        interrupted: false,
        out_of_time: false,
        mishaps: BTreeMap::new(),
        waits_outside: false,
        workers: Workers::new(asked.isolate, asked.portion.as_ref(), crew.known.take()),
    };
    if let Some(state) = from {
        search.restore(state)?;
    }
    let mut watched = Watched {
        search: &mut search,
        watch,
    };
    let ended = crew.pool.run(asked.deadline, &mut watched)?;
    search.interrupted = ended == Ended::Interrupted;
    match search.failure.take() {
        Some(failure) => Err(failure),
        None => {
            crew.known = search.workers.known();
            Ok(search)
        }
    }
}

impl SearchConfig {
    /// From the start, with all statements that are known to race.
    fn campaign(&self) -> Campaign {
        let known = 0..self.points.len() as u32;
        match &self.portion {
            Some(portion) => Campaign::of_portion(self.config, portion.subtrees.clone(), known),
            None => Campaign::shared(self.config, self.share, known),
        }
    }

    /// What was shown before, and is not shown again.
    fn seen(&self) -> BTreeSet<String> {
        match (&self.weak, &self.portion) {
            (Some(seen), _) => seen.clone(),
            (None, Some(portion)) => portion.seen.clone(),
            (None, None) => BTreeSet::new(),
        }
    }
}

impl<'a> Search<'a> {
    pub fn standing(&self) -> Standing {
        Standing {
            progress: self.campaign.progress(),
            classes: self.campaign.executions_now(),
            rounds: self.campaign.round() + 1,
            shared: self.asked.share.map(|_| self.shared()),
            is_cut: !self.campaign.exhausted(),
            missing: self
                .missing
                .union(&self.unfinished)
                .map(ToString::to_string)
                .collect(),
            interrupted: self.interrupted,
            out_of_time: self.out_of_time,
            set_aside: self.set_aside.clone(),
            samples: self.samples.clone(),
            within: self.within_bounds(),
            has_enough: self.has_enough,
            bound: self.asked.config.preemptions,
            reused: self.workers.reuse.made(),
            isolated: self.workers.reuse.why_not(),
            reloads: self.workers.reuse.reloads(),
        }
    }

    /// The statements that race, as far as is known.
    pub fn points(&self) -> impl Iterator<Item = &Statement> {
        let points = self.campaign.points().iter();
        points.filter_map(|n| self.statements.get(*n as usize))
    }

    /// What was shown, by its keys.
    pub fn seen(&self) -> &BTreeSet<String> {
        &self.seen
    }

    pub fn news(&self) -> &[News] {
        &self.news
    }

    fn shared(&self) -> Shared {
        let mut points: Vec<String> = self.points().map(ToString::to_string).collect();
        points.sort();
        Shared {
            classes: self.campaign.classes().iter().copied().collect(),
            points,
            divided: self.campaign.is_divided(),
        }
    }

    /// What was covered within bounds. With a doubt left there may be points that are not known yet,
    /// and without control executions that nobody asked for.
    fn within_bounds(&self) -> (u64, Option<u32>) {
        let (made, completed) = self.bounds.told(self.campaign.round());
        let is_sure = self.workers.doubts.is_empty() && self.missing.is_empty();
        (made, completed.filter(|_| is_sure))
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Executions that showed something, by the number of the run in the session.
    pub fn kept(&self) -> &BTreeMap<u64, Kept> {
        &self.kept
    }

    /// Of a portion: what came of its branches, the statements that race in them, and the gaps.
    pub fn into_explorations(self) -> (Explorations, Vec<String>, [BTreeSet<Gap>; 2]) {
        let explored = self.campaign.into_explorations();
        let racing = explored.racing.iter();
        let racing = racing.filter_map(|n| self.statements.get(*n as usize));
        let racing = racing.map(ToString::to_string).collect();
        (explored, racing, [self.missing, self.unfinished])
    }

    /// What [`explore`] needs to go on from here.
    pub fn state(&self) -> State {
        State {
            campaign: self.campaign.clone(),
            statements: self.statements.iter().map(ToString::to_string).collect(),
            added: self.added,
            seen: self.seen.clone(),
            missing: self.missing.clone(),
            unfinished: self.unfinished.clone(),
            accidents: self.session.accidents(),
        }
    }

    fn restore(&mut self, state: State) -> Result<(), Error> {
        let statements = state.statements.iter().map(|text| text.parse());
        let statements: Result<Vec<Statement>, String> = statements.collect();
        self.statements = statements.map_err(Error::tool_failed)?;
        self.campaign = state.campaign;
        let config = self.asked.config;
        self.campaign.limit(config.max_executions, config.threshold);
        // The process that had these is gone.
        self.campaign.requeue();
        self.added = state.added;
        self.seen = state.seen;
        self.missing = state.missing;
        self.unfinished = state.unfinished;
        self.round = self.campaign.round();
        Ok(())
    }

    /// What an execution of an earlier round could not do may go well in this one.
    fn enter_round(&mut self) {
        let round = self.campaign.round();
        if round != self.round {
            self.round = round;
            self.unfinished.clear();
            self.set_aside.clear();
        }
    }

    fn next(&mut self, number: usize) -> Next<'a> {
        let left = self
            .asked
            .deadline
            .map(|d| d.duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            self.out_of_time = true;
            return Next::Done;
        }
        if self.has_enough {
            return Next::Done;
        }
        if let Some(next) = self.ask(number) {
            return next;
        }
        let Some(task) = self.next_alone(number) else {
            return match self.given.is_empty() {
                true => Next::Done,
                false => Next::Later,
            };
        };
        match self.prepare(number, &task) {
            Ok((dir, mut plan)) => {
                plan.time_limit = left;
                let request = self.launcher.request(&dir, plan);
                self.given.insert(number, (task, dir));
                Next::Run(Box::new(request))
            }
            Err(failure) => {
                self.failure = Some(failure);
                Next::Done
            }
        }
    }

    fn prepare(&self, number: usize, task: &Task) -> Result<(RunDir, Plan), Error> {
        let dir = self
            .launcher
            .directory(&format!("execution-{}", number + 1))?;
        let job = dir.file(files::JOB);
        std::fs::write(&job, serde_json::to_vec(&task.job)?)
            .with_context(|| format!("cannot write {}", job.display()))?;
        let plan = Plan {
            control: Some(self.control(Some(job))),
            repairs: self.asked.repairs.clone(),
            input: self.asked.input.clone(),
            ..Plan::new(Mode::FASTTRACK, Output::Capture)
        };
        Ok((dir, plan))
    }

    fn control(&self, job: Option<std::path::PathBuf>) -> Control {
        let points: Vec<Statement> = self.points().cloned().collect();
        Control {
            scheduler: Scheduler::Explore(job),
            pair: (!points.is_empty()).then(|| [points, vec![]]),
            ..self.asked.control.clone()
        }
    }

    fn result(&mut self, task: &Task, dir: &RunDir, run: RunResult) -> Result<(), Error> {
        if run.outcome.stopped.is_some() && run.outcome.stopped != Some(Stopped::Stuck) {
            self.out_of_time |= run.outcome.stopped == Some(Stopped::TimeLimit);
            return Ok(self.campaign.give_back(task)?);
        }
        if !is_killed(&run) && self.is_mishap(task, &run.findings) {
            return Ok(self.campaign.give_back(task)?);
        }
        // What it left behind may be half of what it did. A JVM that is told to end while it
        // starts or stops may do so with the exit code 1, and say nothing.
        if is_killed(&run) || run.findings.summary.is_none() {
            return self.lost(task, run);
        }
        self.out_of_hand(&run.findings);
        let racing = self.racing(&run.findings);
        let told = std::fs::read(dir.file(files::EXECUTION)).ok();
        let told: Option<execution::Execution> =
            told.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let summary = run.findings.summary.as_ref();
        let control = summary.and_then(|s| s.control.as_ref());
        let ended = control.map_or(RunEnd::Unknown, |c| c.outcome);
        match (told, ended) {
            (
                Some(execution::Execution::Made(execution)),
                RunEnd::Exit | RunEnd::Deadlock | RunEnd::Cut,
            ) => {
                if ended == RunEnd::Cut {
                    let what = "a thread waits in a loop for a write that is not a step of the \
                                exploration";
                    self.unfinished.insert(Gap::Other(what.to_owned()));
                }
                self.keep(dir, &run, Some(&execution))?;
                let findings = u64::from(!run.findings.races.is_empty());
                self.workers.follow(task, &execution);
                let done = self.campaign.finish(task, &execution, findings, racing);
                if done.is_err() {
                    self.unexplained(None);
                    self.campaign.diverged(task, [])?;
                }
            }
            (Some(execution::Execution::Diverged(at)), _) => {
                self.keep(dir, &run, None)?;
                // A race that was not a point before explains it.
                if racing.is_empty() {
                    self.unexplained(Some(at.step));
                }
                self.campaign.diverged(task, racing)?;
            }
            (Some(execution::Execution::Made(execution)), _) => {
                self.keep(dir, &run, Some(&execution))?;
                let what = match ended {
                    RunEnd::Limit => {
                        "an execution was cut off after too many steps: \
                                a loop that waits for others, or for ever"
                    }
                    _ => "an execution did not get on",
                };
                self.unfinished.insert(Gap::Other(what.to_owned()));
                self.campaign.diverged(task, racing)?;
            }
            (None, _) => self.lost(task, run)?,
        }
        Ok(())
    }

    /// An execution did not go as it was told. A race that is no point yet explains that.
    fn unexplained(&mut self, step: Option<usize>) {
        if !self.campaign.is_outdated() {
            self.missing.insert(Gap::Diverged { step });
        }
    }

    fn out_of_hand(&mut self, found: &Findings) {
        let uncontrolled = found.uncontrolled.iter();
        let gaps = uncontrolled.map(|u| Gap::Other(u.what.clone()));
        self.missing.extend(gaps);
    }

    /// The statements of an execution's races, by number, and with each location
    /// that raced all its accesses: FastTrack names the first that races, not
    /// every one, and two reads in a row have one name.
    fn racing(&mut self, found: &Findings) -> Vec<u32> {
        let mut all: Vec<Statement> = Vec::new();
        for race in &found.races {
            for access in &race.accesses {
                match statement(&access.frame) {
                    Some(statement) => all.push(statement),
                    None => {
                        let what = "a statement that races could not be found again";
                        self.missing.insert(Gap::Other(what.to_owned()));
                    }
                }
            }
            all.push(match self.asked.weak.is_some() {
                true => weak(accesses(&race.location)),
                false => accesses(&race.location),
            });
        }
        let mut number = |statement: Statement| {
            let known = self.statements.iter().position(|s| *s == statement);
            known.unwrap_or_else(|| {
                self.statements.push(statement);
                self.statements.len() - 1
            }) as u32
        };
        all.into_iter().map(&mut number).collect()
    }

    /// Keeps an execution that shows something new.
    fn keep(
        &mut self,
        dir: &RunDir,
        run: &RunResult,
        execution: Option<&Execution>,
    ) -> Result<(), Error> {
        let found = &run.findings;
        let mut news = keys(found);
        news.retain(|key| self.seen.insert(key.clone()));
        let new = self.added == 0 || !news.is_empty();
        if !new && (keys(found).is_empty() || self.added >= MOST_RUNS) {
            return Ok(());
        }
        self.added += 1;
        let shows = if self.asked.weak.is_some() {
            !news.is_empty()
        } else {
            !keys(found).is_empty()
        };
        self.has_enough |= self.asked.stop_at_first && shows;
        let number = self.session.add(run.clone());
        if self.asked.weak.is_some() && !news.is_empty() {
            let (found, keys) = (found.clone(), news);
            self.news.push(News {
                number,
                found,
                keys,
            });
        }
        if let (true, Some(execution)) = (new, execution) {
            let control = self.control(None);
            let summary = found.summary.as_ref().and_then(|s| s.control.as_ref());
            let mode = Mode::FASTTRACK.name();
            let job = Job {
                id: 0,
                beginning: execution.steps.iter().map(|s| s.label.clone()).collect(),
                order: self.asked.config.order,
                preemptions: None,
                sample: None,
            };
            let schedule = controlled_run::schedule("", mode, &control, summary, &run.outcome);
            let kept = Kept {
                schedule: Schedule {
                    job: Some(serde_json::to_string(&job)?),
                    ..schedule
                },
                log: std::fs::read(dir.log()).unwrap_or_default(),
            };
            self.kept.insert(number, kept);
        }
        Ok(())
    }
}
