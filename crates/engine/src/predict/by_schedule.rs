//! Stale values made to happen: controlled runs that are recorded, and looked at as the first
//! recording was.
//!
//! In each run every look, act and write of others has its place in the order, so it is known whether the
//! write came between: then the use of the stale value is *confirmed*, and the schedule is kept. A
//! run in which no value can have been stale, because no such write overlaps a look, an act or what is between, is a serial order of the stretches from look to act. What the
//! program did in runs of the one kind is compared with what it did in those of the other: output,
//! exit code, uncaught exceptions.
//!
//! # What it claims
//! "No serial order gives this": in a run with the write between the program did what it did in no run
//! without, and among the latter each of the two threads came first in some. With more than two threads that act or write
//! there are more serial orders than are made, and nothing is claimed. What does not reach output, exit code or an exception
//! is not compared. Runs are those of [`directed`], then by random strategies: that a value was never stale in
//! them proves nothing.

use super::stale::{self, Looked};
use super::{Asked, PredictConfig, directed};
use crate::config::{self, ControlConfig};
use crate::confirm::Save;
use crate::controlled_run;
use crate::error::Error;
use crate::launch::{Launcher, Plan, RunDir};
use crate::offline::Names;
use ::predict::atomicity::stale::Standing;
use driver::options::{Control, Mode};
use driver::process::{Output, Stopped};
use driver::run::RunResult;
use driver::store::{Schedule, Writer};
use findings::prediction::{AtomicityViolation, SerialVerdict, StaleTrials};
use findings::result::{Report, Status};
use protocol::Scheduler;
use retrace::Completed;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;
use trace::{SiteId, Tables, ThreadId};

/// Strategies of runs that nothing directs, in turn.
const STRATEGIES: [&str; 3] = ["random", "pos", "pct"];

/// Bytes of a recording, at most.
const MOST: u64 = 256 << 20;

/// Texts of what a program did that are told.
const TOLD: usize = 4;

/// How to try.
#[derive(Clone, Debug)]
pub struct Tries {
    /// Runs, at most.
    pub runs: u32,
    pub input: Option<PathBuf>,
    pub control: ControlConfig,
    pub deadline: Option<Instant>,
    /// Bytes and events of a recording that is looked at, at most.
    pub most_recorded: u64,
    pub most_events: u64,
    pub purity: Option<PathBuf>,
    pub operations: Option<PathBuf>,
}

impl Default for Tries {
    fn default() -> Tries {
        Tries {
            runs: 20,
            input: None,
            control: ControlConfig::default(),
            deadline: None,
            most_recorded: MOST,
            most_events: u64::MAX,
            purity: None,
            operations: None,
        }
    }
}

/// What came of the runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    pub runs: u64,
    pub confirmed: usize,
    /// There was no time for all of them, or no room.
    pub limited: bool,
    /// A recording was larger than what is looked at.
    pub too_long: bool,
    pub interrupted: bool,
}

/// A statement, the same in every run: class, method, descriptor and place in it.
pub(crate) type Stable = (String, String, String, u32);

/// What a program did: exit code, digest of its output, exceptions that nobody caught.
pub(crate) type Deed = (Option<i32>, Option<String>, BTreeSet<String>);

/// What is known of one look and act.
#[derive(Default)]
struct Known {
    /// The statements, with that of the write.
    sites: BTreeSet<Stable>,
    /// Those of the act and the write.
    changes: BTreeSet<Stable>,
    interleaved: BTreeMap<Deed, String>,
    hit: u64,
    /// The first run that showed it.
    shown: Option<(AtomicityViolation, Schedule, Vec<u8>)>,
}

/// A run in which nothing was stale.
struct Serial {
    deed: Deed,
    told: String,
    /// Statements of the program with the threads that came to each, in that order.
    came: Vec<(Stable, ThreadId, String)>,
}

impl Known {
    /// Which threads came first in runs in which nothing was stale.
    fn orders(&self, serial: &[Serial]) -> BTreeSet<String> {
        let first = |run: &Serial| {
            let found = { run.came.iter() }.find(|(site, ..)| self.sites.contains(site));
            found.map(|(.., thread)| thread.clone())
        };
        serial.iter().filter_map(first).collect()
    }

    /// How many threads act or write, at most, in a run in which nothing was stale. One that only looks, at the end say,
    /// makes no other serial order of what is written.
    fn threads(&self, serial: &[Serial]) -> usize {
        let of_run = |run: &Serial| {
            let here = { run.came.iter() }.filter(|(site, ..)| self.changes.contains(site));
            here.map(|(_, thread, _)| *thread)
                .collect::<BTreeSet<_>>()
                .len()
        };
        serial.iter().map(of_run).max().unwrap_or(0)
    }
}

/// A controlled run of the program.
pub(crate) struct Made {
    pub run: RunResult,
    control: Control,
    dir: RunDir,
    pub deed: Deed,
    pub told: String,
    /// What was recorded of it; none if it was ended, or came to nothing.
    pub looked: Option<Looked>,
}

/// Makes runs, with repairs if there are any, until `take` has enough.
pub(crate) fn each_run(
    tries: &Tries,
    launcher: &Launcher<'_>,
    wanted: &BTreeSet<Lines>,
    repairs: &[String],
    take: &mut dyn FnMut(Made) -> ControlFlow<()>,
) -> Result<Done, Error> {
    let asked = Asked::new(&PredictConfig {
        stale: true,
        purity: tries.purity.clone(),
        operations: tries.operations.clone(),
        ..PredictConfig::default()
    })?;
    let mut done = Done::default();
    // First without preemptions, then with one where it matters, then at random.
    let mut courses = VecDeque::from([String::new()]);
    let most = tries.runs as usize * 2 / 3;
    courses.extend(directed(tries, launcher, wanted, repairs, most)?);
    for number in 0..tries.runs {
        done.interrupted = launcher.interrupts.is_requested();
        let late = tries.deadline.is_some_and(|at| at <= Instant::now());
        done.limited |= late;
        if done.interrupted || late {
            break;
        }
        let course = courses.pop_front();
        let strategy: Scheduler = match course {
            Some(course) => Scheduler::Steer(course),
            None => STRATEGIES[number as usize % STRATEGIES.len()].into(),
        };
        let seed = controlled_run::seed(&tries.control, number.into());
        let control = controlled_run::control(&tries.control, strategy, seed);
        let dir = launcher.scratch()?;
        let left = tries
            .deadline
            .map(|at| at.saturating_duration_since(Instant::now()));
        let plan = Plan {
            control: Some(control.clone()),
            trace: Some(dir.trace()),
            repairs: repairs.to_vec(),
            input: config::input(tries.input.as_ref()),
            time_limit: left,
            most_recorded: Some(tries.most_recorded),
            ..Plan::new(Mode::Full, Output::Capture)
        };
        let run = launcher.run_in(&dir, plan)?;
        let ended = run.started && run.outcome.stopped.is_none();
        let late = || tries.deadline.is_some_and(|at| at <= Instant::now());
        let stop = || late() || launcher.interrupts.is_requested();
        let looked = match ended {
            true => Looked::at(&dir.trace(), &asked, tries.most_events, &stop)?,
            false => None,
        };
        // What only a part is known of is no run to compare with.
        let looked = looked.filter(|_| !stop());
        let is_known = looked.is_some();
        let was_ended = run.outcome.stopped == Some(Stopped::TimeLimit) || ended && !is_known;
        done.too_long = was_ended && !stop();
        done.limited |= was_ended;
        done.runs += u64::from(is_known);
        let (deed, told) = deed(&run);
        let made = Made {
            run,
            control,
            dir,
            deed,
            told,
            looked,
        };
        // The next one would be as long.
        if take(made).is_break() || done.too_long {
            break;
        }
    }
    Ok(done)
}

/// Courses for the runs, from one without preemptions. A detector tells there which call of the program led
/// into the JDK; scheduling points are the same with it.
fn directed(
    tries: &Tries,
    launcher: &Launcher<'_>,
    wanted: &BTreeSet<Lines>,
    repairs: &[String],
    most: usize,
) -> Result<Vec<String>, Error> {
    let late = tries.deadline.is_some_and(|at| at <= Instant::now());
    if wanted.is_empty() || late {
        return Ok(Vec::new());
    }
    let seed = controlled_run::seed(&tries.control, 0);
    let without = Scheduler::Steer(String::new());
    let dir = launcher.scratch()?;
    let plan = Plan {
        control: Some(controlled_run::control(&tries.control, without, seed)),
        repairs: repairs.to_vec(),
        input: config::input(tries.input.as_ref()),
        time_limit: tries
            .deadline
            .map(|at| at.saturating_duration_since(Instant::now())),
        ..Plan::new(Mode::FASTTRACK, Output::Capture)
    };
    launcher.run_in(&dir, plan)?;
    let log = std::fs::read(dir.log()).ok();
    let log = log.and_then(|bytes| schedule::log::read(&bytes).ok());
    let courses = log.map_or_else(Vec::new, |log| directed::courses(&log, wanted));
    Ok(courses.into_iter().take(most).collect())
}

/// What a report has of the stale values in it.
pub(crate) fn wanted(report: &Report) -> BTreeSet<Lines> {
    { report.atomicity.iter() }
        .filter(|violation| violation.stale.is_some())
        .map(lines)
        .collect()
}

/// Makes runs until each stale value that is wanted happened and could be compared. What happened
/// for the first time is saved at once.
pub(crate) fn confirm(
    tries: &Tries,
    launcher: &Launcher<'_>,
    (store, save): (&mut Writer, &mut Save<'_>),
    report: &mut Report,
    wanted: &BTreeSet<Lines>,
) -> Result<Done, Error> {
    let mut tally = Tally::default();
    if wanted.is_empty() {
        return Ok(Done::default());
    }
    let mut done = each_run(tries, launcher, wanted, &[], &mut |made| {
        let Some(looked) = &made.looked else {
            return ControlFlow::Continue(());
        };
        let names = Names::new(&looked.tables);
        let at = |site: SiteId| stable(&looked.tables, site);
        tally.runs += 1;
        let mut is_new = false;
        for used in &looked.uses {
            let key = [at(used.read.site), at(used.act.site)];
            let entry = tally.known.entry(key).or_default();
            let parts = [used.read, used.other, used.act];
            entry.sites.extend(parts.map(|part| at(part.site)));
            entry
                .changes
                .extend([used.other, used.act].map(|part| at(part.site)));
            if used.standing == Standing::Happened {
                entry.hit += 1;
                { entry.interleaved.entry(made.deed.clone()) }.or_insert_with(|| made.told.clone());
                if entry.shown.is_none() {
                    is_new = true;
                    let mut violation = stale::told(0, used, &looked.completed, &names);
                    violation.status = Status::Confirmed;
                    entry.shown = Some((violation, made.schedule(), made.log()));
                }
            }
        }
        if looked.is_serial() {
            tally.serial.push(Serial {
                deed: made.deed.clone(),
                told: made.told.clone(),
                came: came(&looked.completed, &looked.tables, &names),
            });
        }
        if is_new {
            let mut so_far = report.clone();
            tally.tell(tries, store, &mut so_far, wanted);
            save(store, &so_far);
        }
        match enough(&tally.known, &tally.serial, wanted) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    tally.runs = done.runs;
    done.confirmed = tally.tell(tries, store, report, wanted);
    Ok(done)
}

impl Made {
    fn schedule(&self) -> Schedule {
        let summary = self.run.findings.summary.as_ref();
        let summary = summary.and_then(|summary| summary.control.as_ref());
        let mode = Mode::Full.name();
        controlled_run::schedule("", mode, &self.control, summary, &self.run.outcome)
    }

    fn log(&self) -> Vec<u8> {
        std::fs::read(self.dir.log()).unwrap_or_default()
    }
}

/// The lines of a look and an act: what a report has of them.
pub(crate) type Lines = [(String, String, Option<u32>); 2];

pub(crate) fn lines(violation: &AtomicityViolation) -> Lines {
    let of = |n: usize| {
        let access = violation.accesses.get(n);
        access.map_or_else(Default::default, |a| {
            (a.class.clone(), a.method.clone(), a.line)
        })
    };
    [of(0), of(violation.accesses.len().saturating_sub(1))]
}

/// Whether everything that is wanted happened, and was compared with two serial orders.
fn enough(
    known: &BTreeMap<[Stable; 2], Known>,
    serial: &[Serial],
    wanted: &BTreeSet<Lines>,
) -> bool {
    wanted.iter().all(|lines_of| {
        known.values().any(|entry| {
            let shown = entry.shown.as_ref();
            shown.is_some_and(|(v, ..)| lines(v) == *lines_of) && entry.orders(serial).len() > 1
        })
    })
}

fn stable(tables: &Tables, site: SiteId) -> Stable {
    let row = tables.sites.get(&site);
    row.map_or_else(Default::default, |row| {
        let text = |s: &trace::tables::Str| s.to_string();
        (
            text(&row.class),
            text(&row.method),
            text(&row.desc),
            row.bci,
        )
    })
}

/// The statements of the program, each with the threads that came to it.
fn came(
    completed: &Completed,
    tables: &Tables,
    names: &Names<'_>,
) -> Vec<(Stable, ThreadId, String)> {
    let mut seen = BTreeSet::new();
    let mut list = Vec::new();
    for event in &completed.events {
        let own = || {
            let site = tables.sites.get(&event.site);
            site.is_some_and(|site| !classfile::is_jdk_name(&site.class))
        };
        if seen.insert((event.site, event.thread)) && own() {
            let thread = names.thread(event.thread).name;
            list.push((stable(tables, event.site), event.thread, thread));
        }
    }
    list
}

/// What the program did, to compare and to tell.
fn deed(run: &RunResult) -> (Deed, String) {
    let thrown: BTreeSet<String> = { run.findings.uncaught.iter() }
        .map(|one| one.exception.lines().next().unwrap_or_default().to_owned())
        .collect();
    let printed = String::from_utf8_lossy(&run.outcome.stdout);
    let mut text = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() > 60 {
        text = text.chars().take(60).chain("...".chars()).collect();
    }
    let mut told = match text.is_empty() {
        true => "prints nothing".to_owned(),
        false => format!("prints {text:?}"),
    };
    for thrown in &thrown {
        told += &format!(", {thrown}");
    }
    if let Some(exit) = run.outcome.exit.filter(|exit| *exit != 0) {
        told += &format!(", exit code {exit}");
    }
    (
        (run.outcome.exit, run.outcome.output_sha256.clone(), thrown),
        told,
    )
}

/// What the runs have shown so far.
#[derive(Default)]
struct Tally {
    known: BTreeMap<[Stable; 2], Known>,
    serial: Vec<Serial>,
    runs: u64,
}

impl Tally {
    /// Says in the report what came of each; how many were made to happen.
    fn tell(
        &self,
        tries: &Tries,
        store: &mut Writer,
        report: &mut Report,
        wanted: &BTreeSet<Lines>,
    ) -> usize {
        let mut confirmed = 0;
        for entry in self.known.values() {
            let trials = trials(entry, &self.serial, self.runs);
            let Some((mut shown, mut schedule, log)) = entry.shown.clone() else {
                continue;
            };
            confirmed += 1;
            let same = |v: &&mut AtomicityViolation| v.stale.is_some() && lines(v) == lines(&shown);
            let place = match report.atomicity.iter_mut().find(same) {
                Some(known) => {
                    shown.id.clone_from(&known.id);
                    known
                }
                // No recording had it before.
                None => {
                    shown.id = format!("A{}", report.atomicity.len() + 1);
                    report.atomicity.push(shown.clone());
                    let last = report.atomicity.len() - 1;
                    &mut report.atomicity[last]
                }
            };
            schedule.name.clone_from(&shown.id);
            let replay = controlled_run::replay(&tries.control, store.number(), &schedule);
            match store.add(schedule, &log) {
                Ok(()) => shown.replay = Some(replay),
                Err(error) => {
                    let text = controlled_run::no_schedule(&shown.id, &error);
                    report.warnings.push(text);
                }
            }
            shown.tried = Some(trials);
            *place = shown;
        }
        let untried = |v: &&mut AtomicityViolation| {
            v.stale.is_some() && v.tried.is_none() && wanted.contains(&lines(v))
        };
        for violation in report.atomicity.iter_mut().filter(untried) {
            violation.tried = Some(StaleTrials {
                run: self.runs,
                ..StaleTrials::default()
            });
        }
        confirmed
    }
}

fn trials(entry: &Known, serial: &[Serial], runs: u64) -> StaleTrials {
    let orders = entry.orders(serial).len();
    let known: BTreeMap<&Deed, &String> = { serial.iter() }
        .map(|run| (&run.deed, &run.told))
        .collect();
    let new = entry
        .interleaved
        .keys()
        .any(|deed| !known.contains_key(deed));
    StaleTrials {
        run: runs,
        hit: entry.hit,
        interleaved: entry.interleaved.values().take(TOLD).cloned().collect(),
        serial: known.into_values().take(TOLD).cloned().collect(),
        serial_orders: orders as u64,
        verdict: match (entry.hit, orders, new) {
            (0, ..) | (_, 0 | 1, _) => SerialVerdict::Unknown,
            (.., true) if entry.threads(serial) > 2 => SerialVerdict::Unknown,
            (.., true) => SerialVerdict::NoSerialOrder,
            (.., false) => SerialVerdict::SameAsSerial,
        },
    }
}
