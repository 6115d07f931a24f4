//! The execution service: "make these executions, by these strategies and seeds, and tell
//! me what happened". Commands that look past one run ask here; `verify`, whose next
//! execution depends on the last one, shares [`Reuse`] and [`keys`].
//!
//! Executions are made in workers, JVMs that make one after the other ([`reuse`]): the
//! first two in fresh JVMs, whose results a worker must repeat exactly before workers are
//! used. Workers stay from one series to the next, whose executions may be other
//! [`Variant`]s: another strategy, another pair of statements. Results are handed over in the
//! order of their numbers, so that what a command makes of them depends neither on `--jobs` nor
//! on who made them. A result of a worker that its taker does not know yet is made again in a
//! fresh JVM first, and that is what is handed over: nothing is reported that was seen in a
//! reused JVM only.

mod novelty;
pub mod reuse;

pub use novelty::Novelty;
pub use reuse::Reuse;

use crate::error::Error;
use crate::launch::{Launcher, Plan, RunDir};
use driver::options::{Control, Scheduler, Variant};
use driver::pool::{Ended, Next, Pool, Work, WorkResult};
use driver::process::{Outcome, Output};
use driver::run::{Request, RunResult};
use findings::finding::{self, Findings, Frame, Summary, place};
use protocol::control::Cause;
use protocol::execution::{Answer, Ask, AskedSeed, WorkerRun};
use std::collections::{BTreeMap, VecDeque};
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// Executions in fresh JVMs with which workers are compared before they are trusted.
const COMPARED: usize = 2;
/// Executions that must be left to make for a worker to be worth its start.
const WORTH_IT: u64 = 2;
/// Executions that a worker is asked for at once; it answers sooner if they take long.
const BATCH: u64 = 256;
/// Results that may wait for an earlier one.
const AHEAD: u64 = 4096;
/// Workers that may die over one execution.
const DEATHS: u32 = 2;
/// Executions that may be made again because of chance.
const MISHAPS: u32 = 10;

/// Makes executions of a program, one series after the other.
#[derive(Debug)]
pub struct Executions<'l> {
    pool: Pool<'l>,
    common: Common<'l>,
}

/// What the series have in common.
#[derive(Debug)]
struct Common<'l> {
    launcher: &'l Launcher<'l>,
    plan: Plan,
    variants: Vec<Variant>,
    reuse: Reuse,
    trust: Trust,
    /// The first results of fresh JVMs.
    compared: Vec<(AskedSeed, RunResult)>,
    mishaps: u32,
}

/// Executions to be made.
pub struct Series<'s> {
    pub count: u64,
    /// What execution number 0, 1, ... is: the variant, and the seed.
    pub asked: &'s dyn Fn(u64) -> AskedSeed,
    /// Executions that are taken before a worker is started.
    pub alone: u64,
    pub deadline: Option<Instant>,
    /// How run directories are called, before their numbers.
    pub name: String,
}

/// An execution as its taker gets it.
#[derive(Debug)]
pub struct Execution {
    pub control: Control,
    pub run: RunResult,
    /// None: it was made in a JVM that had made others before.
    pub dir: Option<RunDir>,
}

impl Execution {
    /// Its schedule; empty if it was not written down.
    pub fn log(&self) -> Vec<u8> {
        let log = self.dir.as_ref().map(|dir| std::fs::read(dir.log()));
        log.and_then(Result::ok).unwrap_or_default()
    }
}

/// Takes the executions of a series, in the order of their numbers.
pub trait Taker {
    /// Whether a result shows nothing but what was seen in fresh JVMs before.
    fn is_known(&mut self, run: &RunResult) -> bool;

    fn take(&mut self, execution: Execution) -> Result<ControlFlow<()>, Error>;
}

/// What came of a series.
#[derive(Clone, Debug)]
pub struct Made {
    pub ended: Ended,
    /// Executions of reused JVMs that were taken, and why there are no more.
    pub reused: u64,
    pub isolated: Option<String>,
    /// Why executions of one JVM loaded the program's classes anew, if they did.
    pub reloads: Option<String>,
}

impl<'l> Executions<'l> {
    /// Executions by this plan, whose control has the strategy, or by variants of it. With
    /// `isolate` every one gets a JVM of its own.
    pub fn new(
        launcher: &'l Launcher<'l>,
        plan: Plan,
        variants: Vec<Variant>,
        jobs: usize,
        isolate: bool,
    ) -> Executions<'l> {
        // A run that is cut ends its JVM.
        let reuse = Reuse::new(isolate || launcher.cuts() || !can_reuse(&plan, &variants));
        Executions {
            pool: Pool::new(jobs, &launcher.interrupts),
            common: Common {
                launcher,
                plan,
                variants,
                reuse,
                trust: Trust::Untried,
                compared: Vec::new(),
                mishaps: 0,
            },
        }
    }

    /// Makes the executions of a series.
    pub fn make(&mut self, series: &Series<'_>, taker: &mut dyn Taker) -> Result<Made, Error> {
        let before = self.common.reuse.made();
        let mut service = Service {
            common: &mut self.common,
            series,
            taker,
            todo: std::iter::once(0..series.count).collect(),
            again: VecDeque::new(),
            given: BTreeMap::new(),
            done: BTreeMap::new(),
            doubted: BTreeMap::new(),
            deaths: BTreeMap::new(),
            taken: 0,
            enough: false,
            failure: None,
        };
        let ended = self.pool.run(series.deadline, &mut service)?;
        if service
            .given
            .values()
            .any(|given| matches!(given, Given::Trial))
        {
            // Its answer comes too late for this series: another one tries it.
            service.common.trust = Trust::Untried;
        }
        match service.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(Made {
                ended,
                reused: self.common.reuse.made() - before,
                isolated: self.common.reuse.why_not(),
                reloads: self.common.reuse.reloads(),
            }),
        }
    }
}

/// Other detectors than FastTrack do not forget what they saw, nor do strategies that learn.
fn can_reuse(plan: &Plan, variants: &[Variant]) -> bool {
    let repeats = |name: &str| {
        schedule::Scheduler::named(name).is_some_and(|s| s.is_serial() && !s.goes_by_relation())
    };
    let strategy = plan.control.as_ref().map(|control| &control.scheduler);
    let named = matches!(strategy, Some(Scheduler::Named(name)) if repeats(name));
    named && variants.iter().all(|v| repeats(&v.scheduler)) && !plan.mode.makes_events()
}

/// How far workers are trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trust {
    Untried,
    Trying,
    Trusted,
}

/// What somebody was asked for.
#[derive(Debug)]
enum Given {
    /// A fresh JVM.
    Alone(u64, RunDir),
    /// A worker, for what fresh ones have made.
    Trial,
    Batch(Range<u64>),
}

/// A series while it is made.
struct Service<'s, 'l> {
    common: &'s mut Common<'l>,
    series: &'s Series<'s>,
    taker: &'s mut dyn Taker,
    /// Numbers that nobody makes yet, the lowest first.
    todo: VecDeque<Range<u64>>,
    /// To be made in fresh JVMs.
    again: VecDeque<u64>,
    given: BTreeMap<usize, Given>,
    /// Made, and not taken yet.
    done: BTreeMap<u64, (RunResult, Option<RunDir>)>,
    /// What a worker said of executions that are made again.
    doubted: BTreeMap<u64, RunResult>,
    deaths: BTreeMap<u64, u32>,
    taken: u64,
    enough: bool,
    failure: Option<Error>,
}

impl<'l> Work<'l> for Service<'_, 'l> {
    fn next(&mut self, number: usize) -> Next<'l> {
        let left = self.left();
        if self.enough || self.failure.is_some() || left.is_some_and(|left| left.is_zero()) {
            return Next::Done;
        }
        if let Some(again) = self.again.pop_front() {
            return self.alone(number, again);
        }
        if let Some(next) = self.ask(number) {
            return next;
        }
        if self.common.trust == Trust::Trusted && self.common.reuse.is_on() {
            return Next::Later;
        }
        match self.numbers(1).map(|range| range.start) {
            Some(next) => self.alone(number, next),
            None => Next::Later,
        }
    }

    fn hire(&mut self) -> Option<Request<'l>> {
        let common = &mut *self.common;
        let mut plan = Plan {
            output: Output::Capture,
            time_limit: None,
            ..common.plan.clone()
        };
        if let Some(control) = &mut plan.control {
            control.variants = common.variants.clone();
        }
        let hired = common.reuse.hire(common.launcher, plan);
        hired.map_err(|failure| self.failure = Some(failure)).ok()
    }

    fn take(&mut self, number: usize, came: WorkResult) -> ControlFlow<()> {
        let taken = match (self.given.remove(&number), came) {
            (Some(Given::Alone(number, dir)), WorkResult::Run(result)) => result
                .map_err(Error::from)
                .map(|run| self.made_alone(number, run, dir)),
            (Some(Given::Trial), WorkResult::Answer(answer)) => {
                self.tried(*answer);
                Ok(())
            }
            (Some(Given::Batch(range)), WorkResult::Answer(answer)) => {
                self.answered(range, *answer);
                Ok(())
            }
            (Some(given), _) => {
                self.died(given);
                Ok(())
            }
            (None, _) => Ok(()),
        };
        if let Err(failure) = taken.and_then(|()| self.hand_over()) {
            self.failure = Some(failure);
        }
        match self.enough || self.failure.is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl<'l> Service<'_, 'l> {
    fn left(&self) -> Option<Duration> {
        let deadline = self.series.deadline;
        deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Numbers to be made next, at most so many.
    fn numbers(&mut self, most: u64) -> Option<Range<u64>> {
        let range = self.todo.front_mut()?;
        if range.start > self.taken + AHEAD {
            return None;
        }
        let first = range.start;
        let end = range.end.min(first + most);
        range.start = end;
        if range.is_empty() {
            self.todo.pop_front();
        }
        (first < end).then_some(first..end)
    }

    fn put_back(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            let at = self.todo.partition_point(|r| r.start < range.start);
            self.todo.insert(at, range);
        }
    }

    fn control(&self, number: u64) -> Option<Control> {
        let mut control = self.common.plan.control.clone()?;
        let AskedSeed(variant, seed) = (self.series.asked)(number);
        control.seed = seed;
        if let Some(variant) = self.common.variants.get(variant) {
            control.scheduler = variant.scheduler.as_str().into();
            control.pair = variant.pair.clone();
        }
        Some(control)
    }

    /// An execution in a fresh JVM.
    fn alone(&mut self, number: usize, execution: u64) -> Next<'l> {
        let launcher = self.common.launcher;
        let name = format!("{}-{}", self.series.name, execution + 1);
        let dir = match launcher.directory(&name) {
            Ok(dir) => dir,
            Err(failure) => {
                self.failure = Some(failure);
                return Next::Done;
            }
        };
        let control = self.control(execution);
        let plan = &self.common.plan;
        let limits = [self.left(), plan.time_limit];
        let plan = Plan {
            control,
            time_limit: limits.into_iter().flatten().min(),
            trace: plan.mode.records().then(|| dir.trace()),
            ..plan.clone()
        };
        let request = launcher.request(&dir, plan);
        self.given.insert(number, Given::Alone(execution, dir));
        Next::Run(Box::new(request))
    }

    /// Something for a worker to do.
    fn ask(&mut self, number: usize) -> Option<Next<'l>> {
        if !self.common.reuse.is_on() {
            return None;
        }
        let (given, seeds) = match self.common.trust {
            Trust::Trusted => {
                let range = self.numbers(self.batch())?;
                let seeds = range.clone().map(self.series.asked).collect();
                (Given::Batch(range), seeds)
            }
            Trust::Untried
                if self.common.compared.len() == COMPARED && self.taken >= self.series.alone =>
            {
                let left: u64 = self.todo.iter().map(|r| r.end - r.start).sum();
                if left < WORTH_IT {
                    return None;
                }
                self.common.trust = Trust::Trying;
                let compared = self.common.compared.iter();
                (Given::Trial, compared.map(|(asked, _)| *asked).collect())
            }
            Trust::Untried | Trust::Trying => return None,
        };
        self.given.insert(number, given);
        let kind = self.common.reuse.kind();
        Some(Next::Ask(kind, Box::new(Ask::Seeds(seeds))))
    }

    /// How many executions a worker is asked for: one at a time where one died.
    fn batch(&self) -> u64 {
        let start = self.todo.front().map_or(0, |range| range.start);
        match self.deaths.range(start..).next() {
            Some((died, _)) if *died < start + BATCH => (died - start).max(1),
            _ => BATCH,
        }
    }

    fn made_alone(&mut self, number: u64, run: RunResult, dir: RunDir) {
        if self.common.compared.len() < COMPARED {
            let asked = (self.series.asked)(number);
            self.common.compared.push((asked, run.clone()));
        }
        if let Some(then) = self.doubted.remove(&number)
            && difference(&then, &run).is_some()
        {
            self.common.reuse.was_wrong();
        }
        self.done.insert(number, (run, Some(dir)));
    }

    fn tried(&mut self, answer: Answer) {
        let common = &mut *self.common;
        common.trust = Trust::Trusted;
        common.reuse.told(answer.reloads);
        if let Some(why) = &answer.unfit {
            return common.reuse.give_up(why);
        }
        // One that takes long is answered alone.
        let runs: Vec<RunResult> = answer.made.into_iter().map(result).collect();
        let pairs = || { common.compared.iter() }.map(|(_, then)| then).zip(&runs);
        let is_disturbed = pairs().any(|(a, b)| was_disturbed(a) || was_disturbed(b));
        if runs.is_empty() || is_disturbed {
            // Nothing is known of it yet.
            common.trust = Trust::Untried;
            let why = "the machine was too busy to compare it with others";
            return common.reuse.trial_failed(why);
        }
        if let Some(how) = pairs().find_map(|(then, now)| difference(then, now)) {
            let why = format!("the first were not the same in a JVM that is used again: {how}");
            match common.reuse.gives_up_classes(&why) {
                true => common.trust = Trust::Untried,
                false => common.reuse.give_up(&why),
            }
        }
    }

    fn answered(&mut self, range: Range<u64>, answer: Answer) {
        let made = answer.made.len() as u64;
        self.common.reuse.told(answer.reloads);
        let mut numbers = range.clone();
        for (number, run) in numbers.by_ref().zip(answer.made) {
            let is_last = number == range.start + made - 1;
            let run = result(run);
            if is_last && let Some(why) = &answer.unfit {
                self.common.reuse.give_up(why);
                self.again.push_back(number);
            } else if was_disturbed(&run) && self.common.mishaps < MISHAPS {
                self.common.mishaps += 1;
                self.put_back(number..number + 1);
            } else {
                self.done.insert(number, (run, None));
            }
        }
        self.put_back(range.start + made.min(range.end - range.start)..range.end);
    }

    /// A worker died over it, or could not be had.
    fn died(&mut self, given: Given) {
        let range = match given {
            Given::Alone(..) => return,
            Given::Trial => {
                self.common.trust = Trust::Untried;
                return self.common.reuse.trial_failed(reuse::ENDED);
            }
            Given::Batch(range) => range,
        };
        // Which of them it was is found out by asking for one at a time.
        let single = range.end - range.start == 1;
        for number in range.clone() {
            *self.deaths.entry(number).or_default() += u32::from(single);
        }
        if single && self.deaths.get(&range.start).is_some_and(|n| *n >= DEATHS) {
            self.again.push_back(range.start);
        } else {
            self.put_back(range);
        }
    }

    /// Gives the taker what it may have.
    fn hand_over(&mut self) -> Result<(), Error> {
        while !self.enough
            && let Some((run, dir)) = self.done.remove(&self.taken)
        {
            let number = self.taken;
            if dir.is_none() && !self.taker.is_known(&run) {
                self.again.push_front(number);
                self.doubted.insert(number, run);
                return Ok(());
            }
            if dir.is_none() {
                self.common.reuse.count();
            }
            let Some(control) = self.control(number) else {
                return Ok(());
            };
            let execution = Execution { control, run, dir };
            self.taken += 1;
            self.enough = self.taker.take(execution)?.is_break();
        }
        Ok(())
    }
}

/// On a machine that is very busy a thread may seem to wait for something that only
/// waits for a processor.
fn was_disturbed(run: &RunResult) -> bool {
    let mut uncontrolled = run.findings.uncontrolled.iter();
    uncontrolled.any(|u| u.cause == Cause::WaitedOutside)
}

/// What a worker says, as a run.
fn result(run: WorkerRun) -> RunResult {
    let mut findings = Findings::from_lines(run.findings);
    let Some(seeded) = run.seeded else {
        return RunResult {
            outcome: Outcome::default(),
            findings,
            started: true,
        };
    };
    findings.summary = Some(Summary {
        ended: run.outcome,
        threads: seeded.control.threads,
        races: findings.races.len() as u64,
        control: Some(seeded.control),
        ..Summary::default()
    });
    RunResult {
        outcome: Outcome {
            exit: Some(seeded.exit),
            output_sha256: Some(seeded.output_sha256),
            stdout: seeded.stdout.into_bytes(),
            stderr: seeded.stderr.into_bytes(),
            elapsed: Duration::from_micros(seeded.micros),
            ..Outcome::default()
        },
        findings,
        started: true,
    }
}

/// In what two executions of one seed differ, if they do.
pub fn difference(then: &RunResult, now: &RunResult) -> Option<String> {
    let control = |run: &RunResult| run.findings.summary.clone().and_then(|s| s.control);
    let ([then_control, now_control], both) = ([then, now].map(control), [then, now]);
    let facts =
        |c: Option<protocol::control::ControlSummary>| c.map(|c| (c.outcome, c.steps, c.digest));
    let (was, is) = (facts(then_control), facts(now_control));
    let differs = |what: &dyn Fn(&RunResult) -> String| {
        let [was, is] = both.map(what);
        (was != is).then(|| format!("{was} and {is}"))
    };
    if was.as_ref().map(|f| (f.0, &f.2)) != is.as_ref().map(|f| (f.0, &f.2)) {
        let words = |f: Option<(protocol::RunEnd, u64, Option<String>)>| match f {
            Some((end, steps, _)) => format!("{end} after {steps} steps"),
            None => "no end".to_owned(),
        };
        return Some(match (words(was), words(is)) {
            (was, is) if was == is => "the schedules differ".to_owned(),
            (was, is) => format!("{was} and {is}"),
        });
    }
    let exit = |run: &RunResult| format!("exit code {:?}", run.outcome.exit);
    let shown = |run: &RunResult| {
        let mut keys = keys(&run.findings);
        let caught = run.findings.caught.iter();
        keys.extend(caught.map(|c| format!("caught {} {:?}", c.exception, c.thrown.line)));
        keys.extend(
            run.findings
                .hits
                .iter()
                .map(|hit| format!("hit at step {}", hit.step)),
        );
        keys.sort();
        format!("{keys:?}")
    };
    let printed = |run: &RunResult| run.outcome.output_sha256.clone();
    differs(&exit).or_else(|| differs(&shown)).or_else(|| {
        let (was, is) = (printed(then), printed(now));
        (was.is_some() && was != is).then(|| "what it prints".to_owned())
    })
}

/// What an execution shows, in words that are the same for the same.
pub fn keys(found: &Findings) -> Vec<String> {
    let stills = found.deadlocks.iter().chain(&found.livelocks);
    let races = found.races.iter().map(key_of_race);
    let failures = found.uncaught.iter().map(key_of_failure);
    races
        .chain(stills.map(key_of_still))
        .chain(failures)
        .collect()
}

fn line(f: &Frame) -> String {
    format!("{}.{}:{:?}", f.class, f.method, f.line.or(f.bci))
}

pub fn key_of_race(race: &finding::Race) -> String {
    let mut lines = race.accesses.each_ref().map(|a| line(&a.frame));
    lines.sort();
    format!("race {:?} {lines:?}", race.location)
}

pub fn key_of_still(still: &finding::StuckThreads) -> String {
    let at = |t: &finding::Waiting| place(&t.stack).map(|f| f.map(line));
    let threads: Vec<_> = still.threads.iter().map(at).collect();
    format!("deadlock {threads:?}")
}

pub fn key_of_failure(failure: &finding::Uncaught) -> String {
    let at = place(&failure.stack).map(|f| f.map(line));
    format!("failure {} {at:?}", failure.class())
}
