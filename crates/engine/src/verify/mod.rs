//! `verify`: every schedule of a program, and an honest word about whether that
//! was all (Java RaceFinder; crate `explore` has the search).
//!
//! ```text
//! search   the coordinator: executions out, results in
//! resume   what is kept on disk, and going on with it
//! portions the same in portions that several machines explore, for campaigns
//! weak     the second exploration, in which racy reads may see older writes
//! ```
//!
//! A race is reported as observed: it was unordered by happens-before in an
//! execution that was made. That there is no other is said only if the
//! exploration is complete and nothing in any execution was out of control.

pub mod portions;
mod resume;
pub(crate) mod search;
mod weak;

use crate::config::{self, ControlConfig, LaunchConfig};
use crate::controlled_run;
use crate::error::Error;
use crate::launch::Launcher;
use crate::progress::Progress;
use crate::session::Session;
use crate::shards;
use crate::verdict::{Answer, Facts};
use driver::options::Control;
use explore::{Config, Order, Stop};
use findings::exploration::{Exploration, WeakExploration};
use findings::result::Report;
use findings::shard::Shard;
use findings::suppress::Suppressions;
use findings::text::counted;
use protocol::Scheduler;
use resume::{Keeper, Saved};
use search::{Samples, Search, SearchConfig, Shared, Standing};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What reads of locations that race may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// The newest write: executions are sequentially consistent.
    #[default]
    Sc,
    /// Whatever Java allows, in a second exploration.
    Weak,
}

/// Steps after which an execution is taken never to end.
pub const MAX_STEPS: u64 = 20_000;

/// Executions that were set aside and are named.
const MOST_NAMED: usize = 5;

/// What follows a cut is not explored.
pub const WHOLE: &str = "verify explores whole executions: leave out --stop-after and --cut-after";

/// Of a shard that has done its part.
const ONE_SHARD: &str = "it is one shard of several: photofinish merge puts them together";

/// What `verify` is told.
#[derive(Clone, Debug, Default)]
pub struct VerifyConfig {
    /// Which thread goes first where that is open: to meet a first race sooner.
    pub order: Order,
    /// Explore only executions with at most so many preemptions.
    pub preemptions: Option<u32>,
    /// Explore then what racy reads of older writes lead to, too.
    pub memory: Memory,
    /// Stop after this many executions that show a race.
    pub threshold: Option<u64>,
    /// Stop at the first race, deadlock or uncaught exception.
    pub stop_at_first: bool,
    /// Stop after this many executions.
    pub max_executions: Option<u64>,
    /// Stop after this long.
    pub max_time: Option<Duration>,
    /// Go on with the exploration of this program in the results directory that
    /// was stopped, interrupted or killed; limits may be others than then.
    pub resume: bool,
    /// Which of the branches of the exploration.
    pub shard: Shard,
    /// Statements that are known to race, as an earlier result says
    /// ([`Exploration::points`]): scheduling points from the start.
    pub points: Vec<String>,
    /// Executions side by side; if none, one a core.
    pub jobs: Option<u32>,
    /// Make every execution in a JVM of its own.
    pub isolate: bool,
    /// The program's standard input; if none, it is empty.
    pub input: Option<PathBuf>,
    pub suppress: Suppressions,
    pub control: ControlConfig,
    pub launch: LaunchConfig,
}

/// Explores every schedule of the program, and says whether that is complete.
pub fn verify(config: &VerifyConfig, progress: &dyn Progress) -> Result<Answer, Error> {
    let launcher = Launcher::new(&config.launch)?;
    let (answer, _) = with(config, &launcher, progress)?;
    Ok(answer)
}

/// The same, with somebody's launcher; and whether somebody stopped it.
pub(crate) fn with(
    config: &VerifyConfig,
    launcher: &Launcher<'_>,
    progress: &dyn Progress,
) -> Result<(Answer, bool), Error> {
    check(config)?;
    if launcher.cuts() {
        return Err(Error::usage(WHOLE));
    }
    let program = controlled_run::program(&launcher.java, &config.launch, config.input.as_deref())?;
    let (mut keeper, saved) = Keeper::new(config, program)?;
    let (session, from) = match saved {
        Some(Saved { state, report, .. }) => {
            let session = Session::resume(&config.launch, report, state.accidents());
            (session, Some(state))
        }
        None => (Session::new(&config.launch), None),
    };
    let asked = asked(config)?;
    let mut watch = |search: &Search<'_>| {
        progress.explored(&search.standing().progress);
        keeper.moment(search)
    };
    let search = search::explore(launcher, session, &asked, from, &mut watch)?;
    let mut completeness = Completeness::from_standing(&search.standing());
    let (report, facts) = search.session().clone().finish("verify");
    let mut interrupted = search.standing().interrupted;
    if config.memory == Memory::Weak {
        keeper.save(&search)?;
        let explored = weak::explore(launcher, config, &asked, &search, progress)?;
        interrupted |= explored.interrupted;
        completeness.weak = Some(keeper.keep_weak(explored));
    }
    // Single executions that were cut off do not matter where all were explored.
    let weak = completeness.weak.as_ref();
    let facts = Facts {
        limit_reached: !completeness.complete || weak.is_some_and(|weak| !weak.complete),
        ..facts
    };
    let report = keeper.finish(&search, report, facts, &completeness)?;
    Ok((Answer::new(report, facts), interrupted))
}

/// Refuses what the second exploration has no answer for.
fn check(config: &VerifyConfig) -> Result<(), Error> {
    let with = match config.memory {
        Memory::Sc => return Ok(()),
        Memory::Weak if config.preemptions.is_some() => "--bound",
        Memory::Weak if !config.shard.is_whole() => "--shard",
        Memory::Weak => return Ok(()),
    };
    Err(Error::usage(format!(
        "--memory weak explores everything, on one machine: leave out {with}"
    )))
}

fn control(config: &VerifyConfig) -> Control {
    let mut control = controlled_run::control(
        &config.control,
        Scheduler::Explore(None),
        config.control.seed,
    );
    control.max_steps = Some(config.control.max_steps.unwrap_or(MAX_STEPS));
    control
}

fn asked(config: &VerifyConfig) -> Result<SearchConfig, Error> {
    let points: Result<Vec<_>, String> = config.points.iter().map(|text| text.parse()).collect();
    let points =
        points.map_err(|why| Error::usage(format!("a scheduling point is none: {why}")))?;
    let limit = match (config.max_time, config.launch.time_limit) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    Ok(SearchConfig {
        share: shards::share(config.shard),
        portion: None,
        points,
        config: Config {
            order: config.order,
            preemptions: config.preemptions,
            max_executions: config.max_executions,
            threshold: config.threshold,
        },
        jobs: config::jobs(config.jobs),
        deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
        isolate: config.isolate,
        samples: config.preemptions.is_none(),
        stop_at_first: config.stop_at_first,
        weak: None,
        repairs: Vec::new(),
        input: config::input(config.input.as_ref()),
        control: control(config),
    })
}

/// What can be said of the exploration as a whole.
struct Completeness {
    complete: bool,
    progress: explore::Progress,
    classes: u64,
    rounds: u32,
    shared: Option<Shared>,
    bounded: Option<u32>,
    /// Something is left, and `--resume` explores it,
    resumable: bool,
    /// if the command is changed in this way.
    resume_with: Option<&'static str>,
    /// Executions made in JVMs that made others before, and why there are no more.
    reused: u64,
    samples: findings::exploration::Samples,
    isolated: Option<String>,
    reloads: Option<String>,
    /// Why it is not complete.
    reasons: Vec<String>,
    /// A limit is the only reason.
    limited: bool,
    /// What came of the second exploration.
    weak: Option<WeakExploration>,
}

impl Completeness {
    fn from_standing(explored: &Standing) -> Completeness {
        let progress = &explored.progress;
        let mut reasons: Vec<String> = explored.missing.iter().cloned().collect();
        if progress.lost > 0 && reasons.is_empty() {
            reasons.push(format!(
                "{} executions could not be made as planned",
                progress.lost
            ));
        }
        reasons.extend(set_aside(&explored.set_aside));
        if explored.interrupted {
            reasons.push("it was interrupted".to_owned());
        } else if explored.has_enough {
            reasons.push("it was to stop at the first finding".to_owned());
        } else if explored.out_of_time && progress.executions == 0 {
            reasons.push(
                "the first execution did not end in time: a long computation, or a loop that \
                 waits for others in a way that is not recognised"
                    .to_owned(),
            );
        } else if explored.out_of_time {
            reasons.push("there was no more time".to_owned());
        } else {
            match progress.stopped {
                Some(Stop::Executions) => {
                    reasons.push("there were to be no more executions".to_owned());
                }
                Some(Stop::Threshold) => {
                    reasons.push("as many races were found as were asked for".to_owned());
                }
                None => {}
            }
        }
        Completeness {
            complete: explored.is_complete(),
            progress: progress.clone(),
            classes: explored.classes,
            rounds: explored.rounds,
            shared: explored.shared.clone(),
            bounded: explored.bound,
            // Before the first execution has ended there is nothing to go on from.
            resumable: explored.is_cut && progress.executions > 0,
            resume_with: resume_with(explored),
            reused: explored.reused,
            samples: findings::exploration::Samples {
                bounded: explored.within.0,
                preemptions: explored.within.1,
                ..explored.samples.told()
            },
            isolated: explored.isolated.clone(),
            reloads: explored.reloads.clone(),
            reasons,
            limited: !explored.is_complete() && explored.missing.is_empty() && progress.lost == 0,
            weak: None,
        }
    }

    /// Whether other shards explore a part of it.
    fn is_divided(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.divided)
    }

    /// Puts it into the report.
    fn tell(&self, report: &mut Report) {
        found_by_verify(report);
        report.exploration = Some(self.exploration());
    }

    fn exploration(&self) -> Exploration {
        let p = &self.progress;
        Exploration {
            complete: self.complete && !self.is_divided(),
            part_complete: self.shared.as_ref().map(|_| self.complete),
            executions: p.executions,
            classes: self.classes,
            class_digests: { self.shared.as_ref() }
                .map(|shared| shared.classes.clone())
                .unwrap_or_default(),
            points: { self.shared.as_ref() }.map(|shared| shared.points.clone()),
            rounds: self.rounds.into(),
            pruned: 0,
            max_depth: p.max_depth as u64,
            lost: p.lost,
            preemptions: self.bounded.map(u64::from),
            estimate: p.estimate.map(|all| all.round()),
            reused_jvms: self.reused,
            isolated: self.isolated.clone(),
            reloads: self.reloads.clone(),
            not_complete: match self.complete && self.is_divided() {
                true => vec![ONE_SHARD.to_owned()],
                false => self.reasons.clone(),
            },
            limited: self.limited,
            resumable: self.resumable,
            resume_with: { self.resume_with }
                .filter(|_| self.resumable)
                .map(str::to_owned),
            samples: self.samples.clone(),
            weak: self.weak.clone().map(Box::new),
        }
    }
}

fn found_by_verify(report: &mut Report) {
    let by = "verify".to_owned();
    for race in &mut report.races {
        if !race.found_by.contains(&by) {
            race.found_by.push(by.clone());
        }
    }
}

/// What executions that were set aside keep from being explored; the first of them by name.
fn set_aside(names: &[String]) -> Option<String> {
    let more = match names.len().checked_sub(MOST_NAMED) {
        None | Some(0) => String::new(),
        Some(more) => format!("; and {more} more"),
    };
    let (named, many) = (&names[..names.len().min(MOST_NAMED)], names.len() as u64);
    (many > 0).then(|| {
        format!(
            "{} set aside, because the JVM ended each time before it could say what it had done: {}{more}",
            counted(many, "execution was", "executions were"),
            named.join("; ")
        )
    })
}

/// How the command must be changed so that `--resume` does not stop at once: what has been
/// explored counts for its limits.
fn resume_with(explored: &Standing) -> Option<&'static str> {
    match explored.progress.stopped {
        _ if explored.interrupted => None,
        _ if explored.has_enough => Some("and without --stop-at first"),
        _ if explored.out_of_time => None,
        Some(Stop::Executions) => Some("and a higher --max-executions"),
        Some(Stop::Threshold) => Some("and a higher --threshold"),
        None => None,
    }
}
