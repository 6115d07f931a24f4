//! `confirm`: make suspected races happen (RaceFuzzer, Sen 2008).
//!
//! ```text
//! looking  runs that look for pairs
//! pairs    a report's race as two sets of statements; which race a hit is
//! shard    which pairs are whose, where several machines try them
//! verdict  what came of a trial, against a reference run
//! trials   the trials of a pair as they come
//! tally    the account of a pair's trials
//! blame    which of two races a bad end comes of
//! weak     trials in which reads may see older writes
//! earlier  schedules of a saved report, which the new result keeps
//! ```
//!
//! A race is called confirmed only if the scheduler had two threads stand side
//! by side at its two statements, about to access the same location, at least
//! one to write. The trials of a pair are judged in the order of their seeds
//! and stop by the same rule however many run at once, so that the result does
//! not depend on `--jobs`. Most are made in JVMs that are used again; one that shows more than
//! another of what is known counts only when it was made in a fresh JVM (`executions`).
//!
//! After each pair the result is saved: who is killed leaves what was tried.

mod blame;
mod earlier;
mod looking;
mod pairs;
mod shard;
mod tally;
mod trials;
pub(crate) mod verdict;
mod weak;

use self::blame::Account;
use crate::config::{self, ControlConfig, LaunchConfig};
use crate::controlled_run;
use crate::error::Error;
use crate::executions::Executions;
use crate::launch::{Launcher, Plan};
use crate::predict::by_schedule::{self, Tries};
use crate::progress::Progress;
use crate::session::Session;
use crate::story::{self, Teller};
use crate::verdict::{Answer, Facts};
use driver::options::{Control, Mode, Statement, Variant};
use driver::process::{Input, Outcome, Output, Stopped};
use driver::store::Writer;
use findings::confirmed::{ReferenceRuns, Replay};
use findings::exploration::Schedules;
use findings::result::{Race, Report, Status};
use findings::shard::Shard;
use findings::suppress::Suppressions;
use looking::Look;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tally::{Kept, Made, Tallies, Tally};
use verdict::Reference;

pub(crate) use pairs::{order, sides, worth_trying};
pub use weak::Memory;

/// Names what there was no time for.
pub(crate) fn no_time(untried: &[String]) -> String {
    format!("no time was left to try {}", pairs::listed(untried))
}

/// Trials of a single pair in fresh JVMs before others are tried in JVMs that are used again:
/// most races are settled by then.
const ALONE: u64 = 4;

/// Trials without news before a pair is left. An outcome that every other trial shows is missed by so many in one pair of sixteen.
const QUIET: u32 = 4;

/// What a pair gets of the time at least: a few trials, each with a JVM of its own.
const LEAST_SHARE: Duration = Duration::from_secs(10);

/// The strategy of trials.
const STRATEGY: &str = "racefuzzer";

/// Where pairs of statements come from.
#[derive(Clone, Debug, Default)]
pub enum Pairs {
    /// From runs of its own with the hybrid detector.
    #[default]
    Looked,
    /// The races of this report. It also says what the program is, unless that
    /// is said again.
    Report(Box<Report>),
    /// Two statements each.
    Named(Vec<[Statement; 2]>),
}

/// What `confirm` is told.
#[derive(Clone, Debug)]
pub struct ConfirmConfig {
    pub pairs: Pairs,
    /// Only these races, by their ids; all if there are none.
    pub races: Vec<String>,
    /// Runs for each pair.
    pub trials: u32,
    /// Do not stop when a race has been confirmed in both orders.
    pub all_trials: bool,
    /// Stop only after this many trials in a row that showed nothing new: another seed may
    /// lead to another outcome of the same order.
    pub quiet_trials: u32,
    /// What racy reads may see.
    pub memory: Memory,
    /// Runs side by side; if none, one a core.
    pub jobs: Option<u32>,
    /// Every trial is to have a JVM of its own.
    pub isolate: bool,
    /// Which of the pairs.
    pub shard: Shard,
    /// The program's standard input; if none, it is empty.
    pub input: Option<PathBuf>,
    /// Methods that are atomic by themselves, besides the JDK's.
    pub operations: Option<PathBuf>,
    pub suppress: Suppressions,
    pub control: ControlConfig,
    pub launch: LaunchConfig,
}

impl Default for ConfirmConfig {
    fn default() -> ConfirmConfig {
        ConfirmConfig {
            pairs: Pairs::default(),
            races: Vec::new(),
            trials: 100,
            all_trials: false,
            quiet_trials: QUIET,
            memory: Memory::Sc,
            jobs: None,
            isolate: false,
            shard: Shard::WHOLE,
            input: None,
            operations: None,
            suppress: Suppressions::default(),
            control: ControlConfig::default(),
            launch: LaunchConfig::default(),
        }
    }
}

impl ConfirmConfig {
    /// How to start the program: the report says it if nobody else does.
    pub fn launch(&self) -> LaunchConfig {
        let mut launch = self.launch.clone();
        if let (Pairs::Report(report), true) = (&self.pairs, launch.program.is_empty()) {
            launch.program = report.program.args.iter().map(OsString::from).collect();
        }
        launch
    }
}

/// Makes suspected races happen, and keeps the result.
pub fn confirm(config: &ConfirmConfig, progress: &dyn Progress) -> Result<Answer, Error> {
    let launch = config.launch();
    let launcher = Launcher::new(&launch)?;
    let program = controlled_run::program(&launcher.java, &launch, config.input.as_deref())?;
    let mut store = controlled_run::store(&config.control)?;
    let began = Instant::now();
    let limit = launch.time_limit;
    let deadline = limit.and_then(|limit| began.checked_add(limit));
    progress.deadline(deadline);
    // Of an earlier result only the races are of use: its runs were others.
    let mut saved = match &config.pairs {
        Pairs::Report(saved) => Some(Report {
            command: "confirm".to_owned(),
            runs: Vec::new(),
            deadlocks: Vec::new(),
            failures: Vec::new(),
            coverage: Default::default(),
            warnings: Vec::new(),
            schedules: None,
            timing: Default::default(),
            // A shard of `predict` stays one.
            shards: match saved.merged {
                0 => saved.shards.clone(),
                _ => Vec::new(),
            },
            merged: 0,
            ..(**saved).clone()
        }),
        Pairs::Looked | Pairs::Named(_) => None,
    };
    if let Some(saved) = &mut saved {
        saved.warnings = earlier::take_over(saved, &mut store, &config.control)?;
    }
    let mut save = |store: &mut Writer, report: &Report| {
        controlled_run::save_so_far(store, &program, report, &config.suppress);
    };
    let tried = try_races(
        config,
        &launcher,
        (&mut store, &mut save),
        saved,
        deadline,
        progress,
    )?;
    let mut report = tried.report;
    if !tried.untried.is_empty() {
        report.warnings.push(no_time(&tried.untried));
    }
    let stale = Tries {
        runs: config.trials.min(Tries::default().runs),
        input: config.input.clone(),
        operations: config.operations.clone(),
        control: config.control.clone(),
        deadline,
        ..Tries::default()
    };
    let wanted = by_schedule::wanted(&report);
    let keeping: (_, &mut Save<'_>) = (&mut store, &mut save);
    let stale = by_schedule::confirm(&stale, &launcher, keeping, &mut report, &wanted)?;
    report.timing.total_s = began.elapsed().as_secs_f64();
    shard::tell(config, &mut report, &tried.new);
    let mut teller = Teller {
        launcher: &launcher,
        store: &mut store,
        control: &config.control,
        input: config::input(config.input.as_ref()),
        // No longer than all that was done before.
        deadline: [
            deadline,
            Some(Instant::now() + began.elapsed() + LEAST_SHARE),
        ]
        .into_iter()
        .flatten()
        .min(),
        progress,
    };
    story::tell(&mut teller, &mut report)?;
    config.suppress.apply(&mut report);
    let mut facts = tried.facts;
    facts.limit_reached |= tried.limited || tried.interrupted;
    facts.limit_reached |= stale.limited || stale.interrupted;
    Ok(controlled_run::finish(store, &program, report, facts))
}

/// Saves what is known after a pair, and may fail to.
pub(crate) type Save<'a> = dyn FnMut(&mut Writer, &Report) + 'a;

/// What came of the trials.
#[derive(Debug)]
pub(crate) struct Tried {
    pub report: Report,
    /// Of the runs before the trials.
    pub facts: Facts,
    /// Pairs that there was no time for.
    pub untried: Vec<String>,
    pub limited: bool,
    pub interrupted: bool,
    /// Races that trials have shown and nobody knew of.
    new: BTreeSet<String>,
}

/// Tries the races of a report, or those that a run of its own finds. What the
/// report has already stays, under the same ids.
pub(crate) fn try_races(
    config: &ConfirmConfig,
    launcher: &Launcher<'_>,
    (store, save): (&mut Writer, &mut Save<'_>),
    saved: Option<Report>,
    deadline: Option<Instant>,
    progress: &dyn Progress,
) -> Result<Tried, Error> {
    let mut work = Work {
        store,
        save,
        config,
        launcher,
        deadline,
        share: deadline,
        alone: 0,
        limited: false,
        has_untriable: false,
        interrupted: false,
        new: BTreeSet::new(),
        warnings: BTreeSet::new(),
        compared_with: String::new(),
        reference_runs: Vec::new(),
        accounts: Vec::new(),
        untried: Vec::new(),
        schedules: Schedules::default(),
        progress,
    };
    let (mut report, facts) = work.confirm(saved)?;
    report.warnings.extend(std::mem::take(&mut work.warnings));
    if work.schedules.tried > 0 {
        let schedules = report.schedules.get_or_insert_default();
        schedules.add(work.schedules);
    }
    Ok(Tried {
        report,
        facts,
        untried: work.untried,
        limited: work.limited,
        interrupted: work.interrupted,
        new: work.new,
    })
}

/// What to bring together: a race of the report, or two places that the user
/// named.
struct Target {
    name: String,
    /// Which variant of the executions its trials are.
    variant: usize,
    race: Option<Race>,
    sides: [Vec<Statement>; 2],
}

impl Target {
    /// One of the two, for people: the line, if that is known.
    fn place(&self, side: usize) -> Option<String> {
        let access = self.race.as_ref().and_then(|race| race.accesses.get(side));
        let line = access.and_then(|a| Some(format!("{}:{}", a.at.file.as_ref()?, a.at.line?)));
        line.or_else(|| Some(self.sides.get(side)?.first()?.to_string()))
    }
}

struct Work<'a> {
    config: &'a ConfirmConfig,
    launcher: &'a Launcher<'a>,
    store: &'a mut Writer,
    save: &'a mut Save<'a>,
    deadline: Option<Instant>,
    /// When the trials of the present pair have to end.
    share: Option<Instant>,
    /// Trials of a pair before a JVM that is used again is started for them.
    alone: u64,
    limited: bool,
    /// There are suspicions that nobody can try, or for whose trials there was too little time.
    has_untriable: bool,
    interrupted: bool,
    /// Races that trials have shown and nobody knew of.
    new: BTreeSet<String>,
    warnings: BTreeSet<String>,
    /// What output is compared with, in words.
    compared_with: String,
    /// What the program did where no order was forced.
    reference_runs: Vec<ReferenceRuns>,
    /// What the trials of each race have shown.
    accounts: Vec<Account>,
    untried: Vec<String>,
    /// The trials of all pairs; two pairs have different scheduling points.
    schedules: Schedules,
    progress: &'a dyn Progress,
}

impl<'a> Work<'a> {
    /// The report, and what else is known of the runs before the trials.
    fn confirm(&mut self, saved: Option<Report>) -> Result<(Report, Facts), Error> {
        self.progress.doing("running the program alone");
        let alone = self.alone()?;
        let mut session = self.launcher.session();
        if !looking::goes_on(&alone) && self.over(&alone) {
            return Ok(self.give_up(session, saved));
        }
        let own_run = saved.is_none() && !matches!(self.config.pairs, Pairs::Named(_));
        // With the detector, controlled runs may find pairs that the free run did not show.
        let mut mode = Mode::None;
        if own_run {
            match self.look(&alone, &mut session)? {
                Look::Over => return Ok(session.finish("confirm")),
                Look::Whole => mode = Mode::HYBRID,
                Look::Slow => {}
            }
        }
        let (reference, kept) = self.reference(&alone, mode, &mut session)?;
        let (own, facts) = session.finish("confirm");
        let crashed = facts.tool_failed && own.races.is_empty();
        let before = saved.as_ref().map_or(0, |saved| saved.runs.len() as u64);
        let mut report = match saved {
            Some(mut saved) => {
                saved.absorb(own);
                saved
            }
            None => own,
        };
        report.program.exit = alone.exit;
        report.program.output_sha256 = alone.output_sha256.clone();
        let took = alone.elapsed.as_secs_f64();
        report.timing.native_s = (!looking::goes_on(&alone)).then_some(took);
        if !self.compared_with.is_empty() {
            report.reference = Some(self.compared_with.clone());
        }
        report.reference_runs = std::mem::take(&mut self.reference_runs);
        self.keep_runs(&mut report, before, kept);
        if facts.not_exercised || crashed || self.interrupted {
            return Ok((report, facts));
        }
        let mut targets = self.targets(&report)?;
        let mut executions = self.executions(&mut targets);
        let mut untried = Vec::new();
        let mut left = targets.len() as u32;
        for target in targets {
            // What one pair does not need of its share the others get.
            let share = |time: Duration| Instant::now() + (time / left).max(LEAST_SHARE).min(time);
            self.share = self.left().map(share);
            left -= 1;
            let name = target.name.clone();
            let stopped = self.interrupted || self.limited;
            if stopped
                || self.try_to_confirm(&target, &mut executions, &reference, &mut report)? == 0
            {
                untried.push(name);
            } else {
                self.weak_trials(&target, &reference, &mut report)?;
                (self.save)(self.store, &report);
            }
        }
        self.settle_accounts(&reference, &mut report)?;
        self.limited |= !untried.is_empty() || self.has_untriable;
        self.untried = untried;
        // Strongest first, as everywhere; ids stay what they were.
        report.rank();
        Ok((report, facts))
    }

    fn give_up(&self, session: Session, saved: Option<Report>) -> (Report, Facts) {
        let (own, facts) = session.finish("confirm");
        let mut report = saved.unwrap_or(Report {
            warnings: Vec::new(),
            ..own
        });
        let text = "stopped before the program had ended once: nothing was tried";
        report.warnings.push(text.to_owned());
        (report, facts)
    }

    /// Which races are to be tried, or places.
    fn targets(&mut self, report: &Report) -> Result<Vec<Target>, Error> {
        let pairs = match &self.config.pairs {
            Pairs::Named(pairs) => &pairs[..],
            Pairs::Looked | Pairs::Report(_) => &[],
        };
        let named = pairs.iter().map(|[a, b]| Target {
            name: format!("{a},{b}"),
            variant: 0,
            race: None,
            sides: [vec![a.clone()], vec![b.clone()]],
        });
        let mine = named
            .enumerate()
            .filter(|(at, _)| self.config.shard.owns(*at as u64));
        let mut targets: Vec<Target> = mine.map(|(_, target)| target).collect();
        let wanted = &self.config.races;
        for id in wanted {
            if !report.races.iter().any(|race| race.id == *id) {
                let known: Vec<&str> = report.races.iter().map(|r| r.id.as_str()).collect();
                return Err(Error::usage(format!(
                    "there is no race {id}; there are: {}",
                    known.join(", ")
                )));
            }
        }
        let worth = pairs::worth_trying(&report.races);
        for race in &report.races {
            let meant = match wanted.is_empty() {
                true => worth.contains(&race.id),
                false => wanted.contains(&race.id),
            };
            if !meant || !self.config.owns(race) {
                continue;
            }
            match pairs::sides(race) {
                Some(sides) => targets.push(Target {
                    name: race.id.clone(),
                    variant: 0,
                    race: Some(race.clone()),
                    sides,
                }),
                None => {
                    self.has_untriable |= race.status < Status::Observed;
                    self.warn(format!(
                        "{} was not tried: the class files do not say where its statements are",
                        race.id
                    ));
                }
            }
        }
        Ok(targets)
    }

    /// The trials of all pairs are made by the same JVMs.
    fn executions(&mut self, targets: &mut [Target]) -> Executions<'a> {
        let mut variants = Vec::new();
        for target in targets.iter_mut() {
            target.variant = variants.len();
            variants.push(Variant {
                scheduler: STRATEGY.to_owned(),
                pair: Some(target.sides.clone()),
            });
        }
        self.alone = if targets.len() > 1 { 0 } else { ALONE };
        let plan = Plan {
            control: Some(self.control(STRATEGY, self.config.control.seed)),
            input: self.input(),
            ..Plan::new(Mode::None, Output::Capture)
        };
        let jobs = config::jobs(self.config.jobs);
        Executions::new(self.launcher, plan, variants, jobs, self.config.isolate)
    }

    /// Deadlocks and exceptions of the runs before the trials get their
    /// schedules.
    fn keep_runs(&mut self, report: &mut Report, before: u64, kept: BTreeMap<u64, Kept>) {
        // Races get theirs from the trials.
        let races = std::mem::take(&mut report.races);
        controlled_run::keep(&self.config.control, self.store, report, |run| {
            let kept = kept.get(&run.checked_sub(before)?)?;
            Some((kept.schedule.clone(), kept.log.clone()))
        });
        report.races = races;
    }

    /// All trials of one pair, and what they mean for the report; how many there
    /// were.
    fn try_to_confirm(
        &mut self,
        target: &Target,
        executions: &mut Executions<'_>,
        reference: &Reference,
        report: &mut Report,
    ) -> Result<u64, Error> {
        let asked = u64::from(self.config.trials);
        let mut tallies = Tallies::default();
        tallies.all.extend(target.race.clone().map(Tally::new));
        let named = target.race.is_none();
        let (ran, reached) = {
            let known = |hit: &findings::finding::Hit| {
                let others = report.races.iter().filter(|race| race.id != target.name);
                !named
                    && others
                        .into_iter()
                        .any(|race| pairs::order(race, hit).is_some())
            };
            self.trials(
                target,
                executions,
                reference,
                &mut tallies,
                known,
                &mut report.deadlocks,
            )?
        };
        // Trials that were cut short tell nothing.
        if ran == 0 {
            return Ok(0);
        }
        let unmet = tallies.all.iter().all(|tally| tally.hit == 0);
        if unmet {
            for (at, reached) in reached.into_iter().enumerate() {
                if !reached && let Some(place) = target.place(at) {
                    self.warn(format!(
                        "{}: in no trial did a thread come to {place} while another could run",
                        target.name
                    ));
                }
            }
        }
        if unmet && named {
            self.warn(format!(
                "{} were not brought together in {ran} trials",
                target.name.replace(',', " and ")
            ));
        }
        let met = tallies.met;
        for mut tally in tallies.all {
            if tally.race.id.is_empty() {
                tally.race.id = next_id(&report.races);
                self.new.insert(tally.race.id.clone());
            }
            let account = tally.account(&tally.race);
            self.accounts.extend(account);
            let made = Made {
                run: ran,
                asked,
                met,
            };
            let race = tally.finish(made, |kept| self.keep(kept));
            let place = report.races.iter().position(|known| known.id == race.id);
            match place {
                Some(at) => report.races[at] = race,
                None => report.races.push(race),
            }
        }
        for (index, deadlock) in report.deadlocks.iter_mut().enumerate() {
            deadlock.id = format!("D{}", index + 1);
        }
        Ok(ran)
    }

    /// Keeps the schedule of a trial; how to replay it.
    fn keep(&mut self, kept: Kept) -> Option<Replay> {
        let Kept { schedule, log } = kept;
        let config = &self.config.control;
        let replay = controlled_run::replay(config, self.store.number(), &schedule);
        let name = schedule.name.clone();
        match self.store.add(schedule, &log) {
            Ok(()) => Some(replay),
            Err(error) => {
                self.warn(controlled_run::no_schedule(&name, &error));
                None
            }
        }
    }

    fn control(&self, strategy: &str, seed: u64) -> Control {
        controlled_run::control(&self.config.control, strategy, seed)
    }

    fn plan(&self, mode: Mode, control: Option<Control>) -> Plan {
        Plan {
            control,
            input: self.input(),
            time_limit: self.left(),
            ..Plan::new(mode, Output::Capture)
        }
    }

    fn input(&self) -> Input {
        config::input(self.config.input.as_ref())
    }

    fn left(&self) -> Option<Duration> {
        self.deadline
            .map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Whether the run was the last: somebody or the clock stopped it.
    fn over(&mut self, outcome: &Outcome) -> bool {
        self.interrupted |= outcome.stopped == Some(Stopped::Interrupted);
        self.limited |= outcome.stopped == Some(Stopped::TimeLimit);
        self.interrupted || self.limited
    }

    fn warn(&mut self, text: String) {
        self.warnings.insert(text);
    }
}

/// The id after those in use.
fn next_id(races: &[Race]) -> String {
    let numbers = races
        .iter()
        .filter_map(|race| race.id.strip_prefix('R')?.parse::<u64>().ok());
    format!("R{}", numbers.max().unwrap_or(0) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_on_counting() {
        assert_eq!(next_id(&[]), "R1");
    }
}
