//! The shortest story of a finding: its schedule made as short as can be, then told in a few lines.
//!
//! ```text
//! goal   what a run must show to be one of the same finding
//! older  what older values led to, told from its trial
//! stuck  how threads came to wait for ever
//! words  the lines
//! ```
//!
//! The schedule that was kept is followed once more, with all accesses to the variable as scheduling points, and
//! reduced (`schedule::reduce`): each candidate is a controlled run in a fresh JVM. The best one is replayed, and
//! only if that is the same run again and shows the finding it is kept in place of the longer one, and told.
//! The number of candidates is bounded, and so is the time.

mod goal;
mod older;
mod stuck;
mod words;

pub(crate) use goal::Goal;

use crate::config::ControlConfig;
use crate::confirm::sides;
use crate::controlled_run;
use crate::error::Error;
use crate::launch::{Launcher, Plan, RunDir};
use crate::progress::Progress;
use driver::options::{Control, Mode, Scheduler, Statement};
use driver::process::{Input, Output};
use driver::run::RunResult;
use driver::store::{Schedule, Writer};
use findings::confirmed::{Effect, Outcome, Replay};
use findings::finding::{AccessOp, Location, is_jdks};
use findings::group;
use findings::result::{Race, Report, Status};
use findings::story::StoryLine;
use goal::Shown;
use schedule::log::Log;
use schedule::reduce::{Execution, Moment, reduce};
use std::time::{Duration, Instant};

/// Candidates for one finding.
const BUDGET: u32 = 12;

/// Findings that are told, the most certain first.
const MOST: usize = 10;

/// Fields whose accesses become scheduling points.
const MOST_FIELDS: usize = 8;

/// Where stories are told from.
pub(crate) struct Teller<'a> {
    pub launcher: &'a Launcher<'a>,
    pub store: &'a mut Writer,
    pub control: &'a ControlConfig,
    pub input: Input,
    pub deadline: Option<Instant>,
    pub progress: &'a dyn Progress,
}

/// A run, its schedule, and what it showed.
struct Made {
    run: RunResult,
    dir: RunDir,
    log: Log,
    shown: Option<Shown>,
}

/// What is told of one finding.
struct Told {
    story: Vec<StoryLine>,
    replay: Replay,
}

/// Tells the findings of a report that have a schedule and no story yet. How many were told.
pub(crate) fn tell(teller: &mut Teller<'_>, report: &mut Report) -> Result<u64, Error> {
    let fields = fields_of(&report.races);
    let mut told = 0;
    for race in report.races.iter_mut().filter(|r| r.story.is_empty()) {
        if let Some(worst) = older::worst(race) {
            race.story = older::lines(race, worst);
            told += u64::from(!race.story.is_empty());
        }
    }
    for (name, goal) in goals(report) {
        let over = teller.left().is_some_and(|left| left.is_zero());
        if over || teller.launcher.interrupts.is_requested() {
            break;
        }
        let Some((schedule, log)) = teller.kept(&name) else {
            continue;
        };
        teller.progress.doing(&format!(
            "{name}: looking for the shortest run that shows it"
        ));
        if let Some(story) = teller.one(&goal, &schedule, &log, &fields)? {
            put(report, &goal, story);
            told += 1;
        }
    }
    Ok(told)
}

/// What is worth telling, by the names of their schedules.
fn goals(report: &Report) -> Vec<(String, Goal)> {
    let mut goals = Vec::new();
    for deadlock in report.deadlocks.iter().filter(|d| d.story.is_empty()) {
        goals.push((
            deadlock.id.clone(),
            Goal::Deadlock(Box::new(deadlock.clone())),
        ));
    }
    for failure in report.failures.iter().filter(|f| f.story.is_empty()) {
        goals.push((failure.id.clone(), Goal::Failure(Box::new(failure.clone()))));
    }
    for finding in group::findings(&report.races) {
        let race = finding.race;
        let is_told = !race.story.is_empty() || older::worst(race).is_some();
        if race.status < Status::Observed || is_told || race.replay.is_none() {
            continue;
        }
        let (name, outcome) = most_telling(race);
        let goal = Goal::Race {
            race: Box::new(race.clone()),
            outcome: outcome.cloned().map(Box::new),
            printed: None,
        };
        goals.push((name, goal));
    }
    goals.truncate(MOST);
    goals
}

fn put(report: &mut Report, goal: &Goal, told: Told) {
    match goal {
        Goal::Deadlock(of) => {
            if let Some(found) = report.deadlocks.iter_mut().find(|d| d.id == of.id) {
                (found.story, found.replay) = (told.story, Some(told.replay));
            }
        }
        Goal::Failure(of) => {
            if let Some(found) = report.failures.iter_mut().find(|f| f.id == of.id) {
                (found.story, found.replay) = (told.story, Some(told.replay));
            }
        }
        Goal::Race {
            race: of, outcome, ..
        } => {
            if let Some(found) = report.races.iter_mut().find(|r| r.id == of.id) {
                let mut outcomes = found.outcomes.iter_mut();
                if let Some(same) = outcomes.find(|o| Some(&**o) == outcome.as_deref()) {
                    same.replay = Some(told.replay.clone());
                }
                (found.story, found.replay) = (told.story, Some(told.replay));
            }
        }
    }
}

/// The outcome that is told, with the name of its schedule: of those with the worst result one in which the write went
/// first, since that is what a read then finds. What it takes an older value for is told if nothing else is as bad.
pub(crate) fn most_telling(race: &Race) -> (String, Option<&Outcome>) {
    if let Some(worst) = older::worst(race) {
        return (older::schedule(race, worst), Some(worst));
    }
    let newest = || race.outcomes.iter().filter(|o| o.memory.is_empty());
    let Some(worst) = newest().next().map(|outcome| outcome.result) else {
        return (race.id.clone(), None);
    };
    let alike: Vec<&Outcome> = newest().filter(|o| o.result == worst).collect();
    let writes = |outcome: &Outcome| {
        let first = race.accesses.get(usize::from(outcome.first));
        first.is_some_and(|access| access.op == AccessOp::Write)
    };
    let chosen = alike.iter().position(|o| writes(o)).unwrap_or(0);
    let name = format!("{}.{}", race.id, worst.name());
    let name = match chosen {
        0 => name,
        n => format!("{name}-{}", n + 1),
    };
    (name, alike.get(chosen).copied())
}

/// Fields of the program that race, by their names.
fn fields_of(races: &[Race]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for race in races.iter().filter(|race| !is_jdks(&race.location)) {
        if let Location::Field { field, .. } = &race.location
            && !names.contains(field)
        {
            names.push(field.clone());
        }
    }
    names.truncate(MOST_FIELDS);
    names
}

/// The field that a race is about.
fn own_field(goal: &Goal) -> Option<String> {
    match goal {
        Goal::Race { race, .. } => match &race.location {
            Location::Field { field, .. } if !is_jdks(&race.location) => Some(field.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Which fields' accesses are scheduling points, and are told: of a race its own; where that led to an exception, first the
/// others that race, since one of those may be what made it null. The run that was kept cannot always be followed
/// with so many.
fn scopes(goal: &Goal, fields: &[String]) -> Vec<Vec<String>> {
    let Goal::Race { race, outcome, .. } = goal else {
        return vec![fields.to_vec()];
    };
    let own: Vec<String> = own_field(goal).into_iter().collect();
    let threw = { outcome.as_ref() }.is_some_and(|o| o.result == Effect::Exception);
    let mut all = fields.to_vec();
    all.extend(own.iter().filter(|own| !fields.contains(own)).cloned());
    // Fields are known by their names alone: `name` and `last` are fields of the JDK as well, and runs with all their accesses go
    // another way. The two statements alone are what the run that was kept was made with.
    let mut scopes = match threw && all != own && !is_jdks(&race.location) {
        true => vec![all, own],
        false => vec![own],
    };
    if scopes.last().is_some_and(|fields| !fields.is_empty()) {
        scopes.push(Vec::new());
    }
    scopes
}

/// Statements that are scheduling points: the two of a race, and all accesses to these fields.
pub(crate) fn points(goal: &Goal, fields: &[String]) -> [Vec<Statement>; 2] {
    let mut both = match goal {
        Goal::Race { race, .. } => sides(race).unwrap_or_default(),
        _ => Default::default(),
    };
    let fields = fields.to_vec();
    let of_fields = fields.into_iter().map(|name| Statement::Field { name });
    both[0].extend(of_fields);
    both
}

impl Teller<'_> {
    fn left(&self) -> Option<Duration> {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        self.deadline.map(left)
    }

    fn kept(&self, name: &str) -> Option<(Schedule, Vec<u8>)> {
        self.store.schedule(name).ok().flatten()
    }

    fn one(
        &mut self,
        goal: &Goal,
        schedule: &Schedule,
        bytes: &[u8],
        fields: &[String],
    ) -> Result<Option<Told>, Error> {
        let Ok(kept) = schedule::log::read(bytes) else {
            return Ok(None);
        };
        let goal = &with_printed(goal.clone(), schedule);
        let scratch = self.launcher.scratch()?;
        let file = scratch.file("kept.pfs");
        std::fs::write(&file, bytes)?;
        let (max_steps, watchdog) = (self.control.max_steps, self.control.watchdog);
        let (clock, seed) = (kept.header.clock, kept.header.seed);
        let control_of = |fields: &[String], scheduler: Scheduler| Control {
            clock: i64::try_from(clock).ok(),
            max_steps,
            watchdog: Some(watchdog),
            pair: Some(points(goal, fields)),
            ..Control::new(scheduler, seed)
        };
        let mut followed = None;
        for fields in scopes(goal, fields) {
            let follow = Scheduler::Follow(file.clone());
            let first = self.make(goal, control_of(&fields, follow))?;
            if let Some(best) = first.filter(|made| made.shown.is_some()) {
                followed = Some((fields, best));
                break;
            }
        }
        let Some((fields, mut best)) = followed else {
            return Ok(None);
        };
        let control = |scheduler: Scheduler| control_of(&fields, scheduler);
        let start = execution(&best);
        let (launcher, left) = (self.launcher, self.deadline);
        let mut failure = None;
        let reduced = reduce(start, BUDGET, &mut |course| {
            let late = left.is_some_and(|at| at <= Instant::now());
            if late || launcher.interrupts.is_requested() {
                return None;
            }
            match self.make(goal, control(Scheduler::Steer(course.to_string()))) {
                Ok(Some(made)) => {
                    let execution = execution(&made);
                    if execution.shown.is_some() && execution.cost() < execution_cost(&best) {
                        best = made;
                    }
                    Some(execution)
                }
                Ok(None) => None,
                Err(error) => {
                    failure = Some(error);
                    None
                }
            }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let is_wide = fields.len() > own_field(goal).iter().len();
        let told = self.keep(goal, schedule, best, &control, is_wide)?;
        Ok(told.map(|told| Told {
            replay: Replay {
                fewest: reduced.is_fewest,
                ..told.replay
            },
            ..told
        }))
    }

    /// Replays the best run, and keeps its schedule if it is the same again.
    fn keep(
        &mut self,
        goal: &Goal,
        schedule: &Schedule,
        best: Made,
        control: &dyn Fn(Scheduler) -> Control,
        is_wide: bool,
    ) -> Result<Option<Told>, Error> {
        let (Some(shown), Some(digest)) = (&best.shown, digest(&best.run)) else {
            return Ok(None);
        };
        let again = self.make(goal, control(Scheduler::Replay(best.dir.log())))?;
        let same = |made: &Made| {
            let summary = made.run.findings.summary.as_ref();
            let control = summary.and_then(|s| s.control.as_ref());
            let followed = control.is_some_and(|c| c.divergence.is_none());
            followed && made.shown.is_some() && self::digest(&made.run) == Some(digest.clone())
        };
        if !again.as_ref().is_some_and(same) {
            return Ok(None);
        }
        let summary = best.run.findings.summary.as_ref();
        let summary = summary.and_then(|s| s.control.as_ref());
        let made_by = control(Scheduler::Steer(String::new()));
        let new = Schedule {
            ended: schedule.ended.clone(),
            ..controlled_run::schedule(
                &schedule.name,
                mode(goal).name(),
                &made_by,
                summary,
                &best.run.outcome,
            )
        };
        let bytes = std::fs::read(best.dir.log())?;
        let cost = execution(&best).cost();
        let replay = Replay {
            preemptions: Some(cost.preemptions),
            ..controlled_run::replay(self.control, self.store.number(), &new)
        };
        if self.store.replace(&new, &bytes).is_err() {
            return Ok(None);
        }
        let story = words::lines(&best.log, goal, shown, is_wide);
        Ok((!story.is_empty()).then_some(Told { story, replay }))
    }

    /// A run; none if it came to nothing.
    fn make(&self, goal: &Goal, control: Control) -> Result<Option<Made>, Error> {
        let dir = self.launcher.directory("story")?;
        let plan = Plan {
            control: Some(control),
            input: self.input.clone(),
            time_limit: self.left(),
            ..Plan::new(mode(goal), Output::Capture)
        };
        let run = self.launcher.run_in(&dir, plan)?;
        if run.outcome.stopped.is_some() {
            return Ok(None);
        }
        let log = std::fs::read(dir.log()).ok();
        let log = log.and_then(|bytes| schedule::log::read(&bytes).ok());
        Ok(log.map(|log| Made {
            shown: goal.shown(&run, &log),
            run,
            dir,
            log,
        }))
    }
}

/// Inside the JDK, and in its methods that fill and copy arrays, a detector tells which call of the program led there.
/// Scheduling points are the same with it.
fn mode(goal: &Goal) -> Mode {
    match goal {
        Goal::Race { race, .. }
            if is_jdks(&race.location) || race.accesses.iter().any(|a| a.at.is_jdk()) =>
        {
            Mode::FASTTRACK
        }
        _ => Mode::None,
    }
}

/// What came of it is known by what the run printed then.
fn with_printed(goal: Goal, schedule: &Schedule) -> Goal {
    match goal {
        Goal::Race { race, outcome, .. } => {
            let differs = outcome
                .as_ref()
                .is_some_and(|o| o.result == Effect::OutputDiffers);
            let printed = (schedule.exit, schedule.output_sha256.clone());
            Goal::Race {
                race,
                outcome,
                printed: differs.then_some(printed),
            }
        }
        other => other,
    }
}

fn execution(made: &Made) -> Execution {
    Execution {
        moments: Moment::of_log(&made.log),
        shown: made.shown.as_ref().map(|shown| shown.moments),
    }
}

fn execution_cost(made: &Made) -> schedule::reduce::Cost {
    execution(made).cost()
}

fn digest(run: &RunResult) -> Option<String> {
    let summary = run.findings.summary.as_ref()?;
    summary.control.as_ref()?.digest.clone()
}
