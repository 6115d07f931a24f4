//! A case: what must not happen again, and where to look for it. `export --junit` writes it beside the
//! test, `replay --case` checks it.
//!
//! The check follows the schedule first. A program that was changed cannot follow it to its end: then all schedules
//! with few preemptions are looked at, those with the fewest first, up to a number of runs. The finding is known again
//! by names (the field, the methods, the class of the exception), which survive changes of lines and instructions.

use super::stale::{self, Step};
use crate::config::LaunchConfig;
use crate::error::{Context, Error};
use crate::launch::{Launcher, Plan};
use driver::options::{Control, Mode, Scheduler, Statement};
use driver::process::{Input, Output};
use driver::run::RunResult;
use findings::finding::{Frame, Location, place};
use findings::story::StoryLine;
use schedule::log::Log;
use schedule::reduce::{Execution, Moment, look};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// The layout of a case; of one that needs more than the first version of it knew, the second.
const SCHEMA: u32 = 1;
const SCHEMA_2: u32 = 2;

/// Runs with other schedules, unless the case says otherwise.
const BUDGET: u32 = 40;

/// The same, where reads may see older values: what they see is drawn in each.
const WEAK_BUDGET: u32 = 12;

/// Preemptions that they have at most: two show nearly every bug that was ever found so.
const PREEMPTIONS: u32 = 2;

/// What must not happen again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub schema: u32,
    /// As the report called it.
    pub id: String,
    /// In a line.
    pub what: String,
    /// Of a race: what is raced for, and the two methods that access it, as `class.method`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    /// An exception that it led to: its class, and the method of the program that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<Thrown>,
    /// Methods of the program in which threads waited for ever.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stuck_in: Vec<String>,
    /// Reads of what races may see older values ([`crate::confirm::Memory`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
    /// Of a stale value: the look and the act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<[Step; 2]>,
    /// Statements that are scheduling points.
    pub points: [Vec<String>; 2],
    /// The schedule, a file beside this one.
    pub schedule: String,
    /// Runs with other schedules, if that one cannot be followed.
    pub budget: u32,
    /// What happened.
    #[serde(default)]
    pub story: Vec<StoryLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thrown {
    pub class: String,
    pub method: String,
}

/// What a check came to.
#[derive(Clone, Debug)]
pub struct Checked {
    pub case: Case,
    /// It happened again: how, in words.
    pub found: Option<String>,
    /// The schedule could be followed to its end.
    pub followed: bool,
    /// Other schedules that were tried.
    pub tried: u32,
    /// They were all that have so few preemptions.
    pub is_complete: bool,
    /// Some run came to no end, or the program ran with one thread only: nothing can be said.
    pub why_not: Option<String>,
}

impl Checked {
    pub(super) fn new(case: Case) -> Checked {
        Checked {
            found: None,
            followed: false,
            tried: 0,
            is_complete: false,
            why_not: None,
            case,
        }
    }
}

pub(super) fn method(frame: &Frame) -> String {
    format!("{}.{}", frame.class, frame.method)
}

impl Case {
    pub fn new(id: &str, what: String, schedule: String) -> Case {
        Case {
            schema: SCHEMA,
            id: id.to_owned(),
            what,
            location: None,
            methods: Vec::new(),
            exception: None,
            stuck_in: Vec::new(),
            weak: false,
            stale: None,
            points: Default::default(),
            schedule,
            budget: BUDGET,
            story: Vec::new(),
        }
    }

    /// It takes an older value.
    pub(super) fn with_older_values(self) -> Case {
        Case {
            schema: SCHEMA_2,
            weak: true,
            budget: WEAK_BUDGET,
            ..self
        }
    }

    /// It is a stale value.
    pub(super) fn of_stale(self, steps: [Step; 2]) -> Case {
        Case {
            schema: SCHEMA_2,
            stale: Some(steps),
            budget: stale::BUDGET,
            ..self
        }
    }

    fn read(path: &Path) -> Result<Case, Error> {
        let bytes = crate::input::read(path, crate::input::RESULT)
            .with_context(|| format!("cannot read {}", path.display()))
            .or_usage()?;
        let case: Case = serde_json::from_slice(&bytes).map_err(|e| {
            Error::usage(format!(
                "{} is no case of `photofinish export`: {e}",
                path.display()
            ))
        })?;
        match case.schema {
            SCHEMA | SCHEMA_2 => Ok(case),
            other => Err(Error::usage(format!(
                "{} has layout {other}, this version reads {SCHEMA} and {SCHEMA_2}",
                path.display()
            ))),
        }
    }

    /// How it happened in this run, if it did.
    fn shown(&self, run: &RunResult) -> Option<String> {
        let findings = &run.findings;
        if let Some(location) = &self.location {
            let wanted: BTreeSet<&String> = self.methods.iter().collect();
            let meets = |hit: &&findings::finding::Hit| {
                let now = [method(&hit.first.frame), method(&hit.second.frame)];
                let now: BTreeSet<&String> = now.iter().collect();
                hit.location.as_ref().is_some_and(|l| same(l, location)) && now == wanted
            };
            if let Some(hit) = findings.hits.iter().find(meets) {
                return Some(format!(
                    "two threads stood side by side, with nothing to order them: \"{}\" in {} and \"{}\" in {}",
                    hit.first.thread.name,
                    at(&hit.first.frame),
                    hit.second.thread.name,
                    at(&hit.second.frame),
                ));
            }
        }
        if let Some(thrown) = &self.exception {
            let same = |class: &str, frame: Option<&Frame>| {
                class == thrown.class && frame.is_none_or(|f| method(f) == thrown.method)
            };
            let uncaught = findings.uncaught.iter();
            let mut died = uncaught.filter(|u| same(u.class(), place(&u.stack)[1]));
            if let Some(died) = died.next() {
                let at = place(&died.stack)[1].map(at).unwrap_or_default();
                return Some(format!(
                    "{} in thread \"{}\", {at}",
                    died.exception, died.thread
                ));
            }
            let mut caught = findings.caught.iter();
            if let Some(caught) = caught.find(|c| same(&c.exception, Some(&c.thrown))) {
                return Some(format!("{}, which the program catches", caught.exception));
            }
        }
        if !self.stuck_in.is_empty() {
            for still in findings.deadlocks.iter().chain(&findings.livelocks) {
                let methods = still.threads.iter().filter_map(|w| place(&w.stack)[1]);
                let methods: BTreeSet<String> = methods.map(method).collect();
                if self.stuck_in.iter().all(|m| methods.contains(m)) {
                    let names: Vec<&str> = still.threads.iter().map(|w| &*w.thread).collect();
                    return Some(format!("threads wait for ever: {}", names.join(", ")));
                }
            }
        }
        None
    }
}

fn at(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{} ({file}:{line})", method(frame)),
        _ => method(frame),
    }
}

/// The same field, or an array of the same type.
fn same(a: &Location, b: &Location) -> bool {
    match (a, b) {
        (
            Location::Field { class, field, .. },
            Location::Field {
                class: other,
                field: name,
                ..
            },
        ) => (class, field) == (other, name),
        (Location::Array { array, .. }, Location::Array { array: other, .. }) => array == other,
        _ => false,
    }
}

/// Checks whether what a case tells of happens again.
pub fn check(path: &Path, launch: &LaunchConfig) -> Result<Checked, Error> {
    let case = Case::read(path)?;
    let log = path.with_file_name(&case.schedule);
    let bytes = crate::input::read(&log, crate::input::RESULT)
        .with_context(|| format!("cannot read the schedule {}", log.display()))
        .or_usage()?;
    let kept =
        schedule::log::read(&bytes).map_err(|e| Error::usage(format!("{}: {e}", log.display())))?;
    let mut points: [Vec<Statement>; 2] = Default::default();
    for (side, texts) in points.iter_mut().zip(&case.points) {
        let parsed: Result<Vec<_>, String> = texts.iter().map(|t| t.parse()).collect();
        *side = parsed.map_err(Error::usage)?;
    }
    let launcher = Launcher::new(launch)?;
    let deadline = launch
        .time_limit
        .and_then(|t| Instant::now().checked_add(t));
    let checker = Checker {
        launcher: &launcher,
        mode: match case.weak {
            true => Mode::FASTTRACK,
            false => Mode::None,
        },
        deadline,
        control: Control {
            clock: i64::try_from(kept.header.clock).ok(),
            pair: Some(points),
            watchdog: Some(60),
            ..Control::new(Scheduler::Steer(String::new()), kept.header.seed)
        },
    };
    let log = log.canonicalize()?;
    match case.stale.clone() {
        Some(steps) => stale::check(case, &steps, &launcher, &checker.control, deadline, &log),
        None => checker.check(case, &log),
    }
}

struct Checker<'a> {
    launcher: &'a Launcher<'a>,
    /// Which writes a read may see FastTrack's clocks say.
    mode: Mode,
    deadline: Option<Instant>,
    control: Control,
}

impl Checker<'_> {
    fn check(&self, case: Case, log: &Path) -> Result<Checked, Error> {
        let mut checked = Checked::new(case);
        let (run, _) = self.make(Scheduler::Replay(log.to_owned()))?;
        let summary = run.findings.summary.as_ref();
        let control = summary.and_then(|s| s.control.as_ref());
        checked.followed = control.is_some_and(|c| c.divergence.is_none());
        checked.found = checked.case.shown(&run);
        if control.is_none() || !run.started {
            checked.why_not = Some("the program did not start under control".to_owned());
            return Ok(checked);
        }
        if checked.found.is_some() {
            return Ok(checked);
        }
        if checked.case.weak {
            return self.with_older_values(checked);
        }
        let (run, _) = self.make(Scheduler::Follow(log.to_owned()))?;
        checked.found = checked.case.shown(&run);
        if checked.found.is_some() {
            return Ok(checked);
        }
        let mut failure = None;
        let mut found = None;
        let mut stopped = None;
        let case = &checked.case;
        let looked = look(PREEMPTIONS, case.budget, &mut |course| match self
            .make(Scheduler::Steer(course.to_string()))
        {
            Ok((run, log)) => {
                if run.outcome.stopped.is_some() {
                    stopped = Some("a run was stopped before its end".to_owned());
                    return None;
                }
                found = case.shown(&run);
                let moments = Moment::of_log(&log);
                Some(Execution {
                    shown: found.as_ref().map(|_| moments.len()),
                    moments,
                })
            }
            Err(error) => {
                failure = Some(error);
                None
            }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        checked.tried = looked.executions;
        checked.is_complete = looked.is_complete;
        checked.found = found;
        checked.why_not = stopped;
        Ok(checked)
    }

    /// What reads see is drawn anew in each run, as in the trials that found it.
    fn with_older_values(&self, mut checked: Checked) -> Result<Checked, Error> {
        let first = self.control.seed;
        for number in 0..checked.case.budget {
            let seed = first.wrapping_add(number.into());
            let (run, _) = self.run(Control {
                scheduler: "random".into(),
                seed,
                ..self.control.clone()
            })?;
            if run.outcome.stopped.is_some() {
                checked.why_not = Some("a run was stopped before its end".to_owned());
                break;
            }
            checked.tried += 1;
            checked.found = checked.case.shown(&run);
            if checked.found.is_some() {
                break;
            }
        }
        Ok(checked)
    }

    fn make(&self, scheduler: Scheduler) -> Result<(RunResult, Log), Error> {
        self.run(Control {
            scheduler,
            ..self.control.clone()
        })
    }

    fn run(&self, control: Control) -> Result<(RunResult, Log), Error> {
        let dir = self.launcher.directory("case")?;
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        let plan = Plan {
            control: Some(control),
            input: Input::Empty,
            time_limit: Some(self.deadline.map_or(LONGEST, left)),
            ..Plan::new(self.mode, Output::Capture)
        };
        let run = self.launcher.run_in(&dir, plan)?;
        let log = std::fs::read(dir.log()).ok();
        let log = log.and_then(|bytes| schedule::log::read(&bytes).ok());
        Ok((run, log.unwrap_or_default()))
    }
}

/// A run of a case that takes longer is ended.
pub(super) const LONGEST: Duration = Duration::from_secs(120);
