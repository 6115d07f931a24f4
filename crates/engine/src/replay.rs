//! `replay`: a run again, exactly, from the schedule that was kept of it.
//!
//! The run is the same if the agent followed the schedule to its end and the
//! digest of all events is the same. If not, the command says at which event it
//! went another way and what has changed since that could be why.

use crate::config::LaunchConfig;
use crate::controlled_run;
use crate::error::{Context, Error};
use crate::launch::{Launcher, Plan};
use crate::session::Session;
use crate::verdict::{Answer, Facts};
use driver::options::{Control, Mode, Scheduler};
use driver::process::{Input, Output};
use driver::run::RunResult;
use driver::scratch::Scratch;
use driver::store::{Program, Schedule, Store};
use findings::confirmed::ReplayVerdict;
use findings::finding::{AccessOp, ControlSummary};
use findings::prediction::{AtomicityViolation, UnitAccess};
use findings::result::Status;
use protocol::control::Uncontrolled;
use protocol::request::EXPLORE;
use schedule::labels::Labels;
use schedule::log::{Entry, Log};
use schedule::table;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// With a debugger attached nobody can say what is stuck.
const PATIENCE_OF_DEBUGGERS: u64 = 24 * 60 * 60;

/// Where the schedule is.
#[derive(Clone, Debug)]
pub enum Source {
    /// Kept with a result.
    Result {
        /// The directory of results.
        results: PathBuf,
        /// An earlier result than the latest, by its number.
        number: Option<i64>,
        /// As the report calls it: `R1`, `R1.exception`, `D1`.
        id: String,
    },
    /// A file of its own, for the program of the configuration.
    Log(PathBuf),
}

/// What `replay` is told.
#[derive(Clone, Debug)]
pub struct ReplayConfig {
    pub source: Source,
    /// Let a debugger attach to this port before the program begins.
    pub debug: Option<u16>,
    /// Seconds without a sign of life after which the run is ended.
    pub watchdog: u64,
    /// Where the program's output goes.
    pub output: Output,
    /// What is to be different from how the program was started then.
    pub launch: LaunchConfig,
}

impl ReplayConfig {
    /// Nothing is to be different.
    pub fn new(source: Source) -> ReplayConfig {
        ReplayConfig {
            source,
            debug: None,
            watchdog: 60,
            output: Output::Capture,
            launch: LaunchConfig::default(),
        }
    }
}

/// A run that was made again.
#[derive(Debug)]
pub struct Replayed {
    pub answer: Answer,
    /// What was replayed, as the result calls it.
    pub name: String,
    /// The result that it was kept with, if it was.
    pub origin: Option<Origin>,
    pub sameness: Sameness,
    /// The digest of the first run, if it came to its end.
    pub digest_then: Option<String>,
    /// The schedule: that of the first run if they are the same.
    pub log: Log,
    /// Races that were made to happen, in words.
    pub races: Vec<String>,
    /// If it went another way: what may be why.
    pub reasons: Vec<String>,
    /// What followed `java`.
    pub program: Vec<OsString>,
}

/// A result: its number, and when it was begun, in UTC.
#[derive(Clone, Debug)]
pub struct Origin {
    pub number: i64,
    pub made: String,
}

/// Whether it was the same run.
#[derive(Clone, Debug)]
pub enum Sameness {
    Same {
        steps: u64,
        digest: String,
    },
    /// It went another way, or there is no saying.
    Other {
        step: Option<u64>,
        what: String,
    },
}

/// What is replayed.
struct Kept {
    program: Option<Program>,
    schedule: Schedule,
    origin: Option<Origin>,
    /// What it shows, if that is a violation of atomicity.
    unit: Option<AtomicityViolation>,
    log: PathBuf,
    /// Where the log is while the agent reads it, if it was kept in results.
    _unpacked: Option<Scratch>,
}

/// Makes a run again, exactly.
pub fn replay(config: &ReplayConfig) -> Result<Replayed, Error> {
    let kept = find(&config.source)?;
    let launch = launch(config, &kept);
    let mut launcher = Launcher::new(&launch)?;
    launcher.directory = kept.program.as_ref().map(|p| p.directory.clone());
    let mode = Mode::named(&kept.schedule.mode).unwrap_or(Mode::None);
    let dir = launcher.directory("replay")?;
    let plan = Plan {
        control: Some(control(config, &kept)?),
        // Fields have other places where all is recorded, and logs tell them by those.
        trace: (mode == Mode::Full).then(|| dir.trace()),
        input: match kept.program.as_ref().map(|program| &program.input) {
            Some(Some(file)) => Input::File(file.clone()),
            // A program that was given none must not wait for ours.
            Some(None) if matches!(&*kept.schedule.strategy, "racefuzzer" | "steer" | EXPLORE) => {
                Input::Empty
            }
            _ => Input::Inherit,
        },
        time_limit: config.launch.time_limit,
        ..Plan::new(mode, config.output)
    };
    let mut session = Session::new(&launch);
    let run = launcher.run_in(&dir, plan)?;

    let sameness = compare(&kept, &run);
    let uncontrolled = run.findings.uncontrolled.clone();
    session.add(run);
    let (mut report, facts) = session.finish("replay");
    report.replayed = Some(sameness.told(&kept));
    // Of equal runs the first one's schedule also has the races.
    let same = matches!(sameness, Sameness::Same { .. });
    let path = if same { kept.log.clone() } else { dir.log() };
    let log = crate::input::read(&path, crate::input::RESULT)
        .ok()
        .and_then(|bytes| schedule::log::read(&bytes).ok())
        .unwrap_or_default();
    let mut races = races(&log);
    // That a value is stale is known of the first run; an equal one shows the same.
    races.extend(kept.unit.as_ref().filter(|_| same).map(between));
    let reasons = match same {
        true => Vec::new(),
        false => reasons(&kept, &launcher, &uncontrolled),
    };
    let facts = Facts {
        diverged: !same,
        unlisted: (!races.is_empty()).then_some(Status::Confirmed),
        ..facts
    };
    Ok(Replayed {
        answer: Answer::new(report, facts),
        name: kept.schedule.name.clone(),
        origin: kept.origin.clone(),
        sameness,
        digest_then: kept.schedule.digest.clone(),
        log,
        races,
        reasons,
        program: launch.program.clone(),
    })
}

fn find(source: &Source) -> Result<Kept, Error> {
    match source {
        Source::Log(log) => from_log(log),
        Source::Result {
            results,
            number,
            id,
        } => from_result(results, *number, id),
    }
}

fn from_log(log: &Path) -> Result<Kept, Error> {
    let bytes = crate::input::read(log, crate::input::RESULT)
        .with_context(|| format!("cannot read {}", log.display()))
        .or_usage()?;
    let read =
        schedule::log::read(&bytes).map_err(|e| Error::usage(format!("{}: {e}", log.display())))?;
    let digest = read.end.as_ref().map(|end| format!("{:016x}", end.digest));
    let parameter = |name: &str| {
        let mut all = read.header.parameters.iter();
        all.find(|(key, _)| key == name).map(|(_, v)| v.clone())
    };
    Ok(Kept {
        program: None,
        origin: None,
        unit: None,
        schedule: Schedule {
            name: log.display().to_string(),
            mode: parameter("mode").unwrap_or_else(|| Mode::None.name().to_owned()),
            strategy: read.header.strategy.clone(),
            seed: read.header.seed,
            digest,
            pair: parameter("pair")
                .and_then(|text| protocol::request::read_pair(&text))
                .iter()
                .flatten()
                .map(|side| side.iter().map(ToString::to_string).collect())
                .collect(),
            ..Schedule::default()
        },
        log: log.canonicalize()?,
        _unpacked: None,
    })
}

fn from_result(results: &Path, number: Option<i64>, id: &str) -> Result<Kept, Error> {
    let store = Store::open_result(results, number).or_usage()?;
    let (schedule, bytes) = store.schedule(id).or_usage()?;
    let directory = Scratch::create()
        .context("cannot make a directory for the schedule; is TMPDIR writable?")?;
    let log = directory.path().join("kept.pfs");
    std::fs::write(&log, bytes).context("cannot unpack the schedule")?;
    let units = store.report().map(|report| report.atomicity);
    Ok(Kept {
        unit: { units.into_iter().flatten() }.find(|unit| unit.id == schedule.name),
        schedule,
        log: log.canonicalize()?,
        program: Some(store.program().clone()),
        origin: Some(Origin {
            number: store.number(),
            made: store.made().to_owned(),
        }),
        _unpacked: Some(directory),
    })
}

/// What comes between in a unit, and where.
fn between(unit: &AtomicityViolation) -> String {
    let access = |access: &UnitAccess| {
        let what = match (&access.call, access.op) {
            (Some(call), _) => format!("calls {call}"),
            (None, AccessOp::Read) => format!("reads {}", access.location),
            (None, AccessOp::Write) => format!("writes {}", access.location),
        };
        let at = match (&access.file, access.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => access.method.clone(),
        };
        format!("{} {what} at {at}", access.thread)
    };
    let order: Vec<String> = unit.accesses.iter().map(access).collect();
    format!("{} not atomic: {}", unit.id, order.join(", then "))
}

/// How the program was started, with what the user wants to be different.
fn launch(config: &ReplayConfig, kept: &Kept) -> LaunchConfig {
    let mut launch = config.launch.clone();
    if let Some(program) = &kept.program {
        launch.include.clone_from(&program.include);
        launch.exclude.clone_from(&program.exclude);
        launch.trusted.clone_from(&program.trusted);
        launch.untracked.clone_from(&program.untracked);
        launch.java.get_or_insert_with(|| program.java.clone());
        if launch.program.is_empty() {
            launch.program = program.args.iter().map(OsString::from).collect();
        }
    }
    if let Some(port) = config.debug.filter(|_| !launch.program.is_empty()) {
        let jdwp = format!("-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address={port}");
        launch.program.insert(0, jdwp.into());
    }
    launch
}

fn control(config: &ReplayConfig, kept: &Kept) -> Result<Control, Error> {
    let scheduler = if kept.schedule.strategy == EXPLORE {
        let job = kept.schedule.job.as_ref().ok_or_else(|| {
            Error::usage("an execution of `verify` is replayed by its id, not from its log alone")
        })?;
        let path = kept.log.with_extension("job.json");
        std::fs::write(&path, job).context("cannot unpack the schedule")?;
        Scheduler::Explore(Some(path))
    } else {
        Scheduler::Replay(kept.log.clone())
    };
    let mut control = Control::new(scheduler, kept.schedule.seed);
    control.debugger = config.debug.is_some();
    control.watchdog = Some(match config.debug {
        Some(_) => PATIENCE_OF_DEBUGGERS,
        None => config.watchdog,
    });
    if let [a, b] = &kept.schedule.pair[..] {
        let side = |texts: &[String]| {
            let parsed: Result<Vec<_>, String> = texts.iter().map(|t| t.parse()).collect();
            parsed.map_err(Error::usage)
        };
        control.pair = Some([side(a)?, side(b)?]);
    }
    Ok(control)
}

fn compare(kept: &Kept, run: &RunResult) -> Sameness {
    let summary = run.findings.summary.as_ref();
    let control: Option<&ControlSummary> = summary.and_then(|s| s.control.as_ref());
    let other = |step, what: String| Sameness::Other { step, what };
    let Some(control) = control else {
        return other(
            None,
            "it ended before the agent could say how it went".into(),
        );
    };
    if let Some(left) = &control.divergence {
        let mut what = format!("expected was {}; instead came {}", left.expected, left.got);
        if !left.why.is_empty() {
            what += &format!(" ({})", left.why);
        }
        return other(Some(left.step), what);
    }
    match (&kept.schedule.digest, &control.digest) {
        (Some(before), Some(now)) if before == now => Sameness::Same {
            steps: control.steps,
            digest: now.clone(),
        },
        (Some(before), Some(now)) => other(
            None,
            format!("all steps could be followed, but the events differ: {now}, not {before}"),
        ),
        (None, Some(now)) => Sameness::Same {
            steps: control.steps,
            digest: now.clone(),
        },
        (_, None) => other(None, "the agent did not say which events it saw".into()),
    }
}

impl Sameness {
    fn told(&self, kept: &Kept) -> ReplayVerdict {
        let (same, step, what) = match self {
            Sameness::Same { .. } => (true, None, None),
            Sameness::Other { step, what } => (false, *step, Some(what.clone())),
        };
        ReplayVerdict {
            name: kept.schedule.name.clone(),
            seed: kept.schedule.seed,
            same,
            diverged_at: step,
            what,
        }
    }
}

/// What has changed since the first run, as far as we can tell.
fn reasons(kept: &Kept, launcher: &Launcher<'_>, uncontrolled: &[Uncontrolled]) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(program) = &kept.program {
        if launcher.java.version != program.java_version {
            reasons.push(format!(
                "another Java: {}, then {}",
                launcher.java.version, program.java_version
            ));
        }
        let config: Vec<OsString> = program.args.iter().map(OsString::from).collect();
        let now = controlled_run::digests(&program.directory, &config, program.input.as_deref());
        let changes = driver::classes::changes(&program.classes, &now);
        reasons.extend(
            changes
                .into_iter()
                .map(|change| format!("the program: {change}")),
        );
        let given: Vec<String> = launcher
            .program()
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned())
            .filter(|arg| !arg.starts_with("-agentlib:jdwp="))
            .collect();
        if given != program.args {
            reasons.push("other arguments than then".to_owned());
        }
    }
    reasons.extend(uncontrolled.iter().map(ToString::to_string));
    if reasons.is_empty() {
        reasons.push(
            "Java, classes and arguments are the same: the program depends on something that is \
             not under control (files, the network, native code)"
                .to_owned(),
        );
    }
    reasons
}

/// The races that were made to happen, in words.
fn races(log: &Log) -> Vec<String> {
    let labels = Labels::new(log);
    let mut steps = 0;
    let mut found = Vec::new();
    for entry in &log.entries {
        match entry {
            Entry::Step { .. } => steps += 1,
            Entry::Hit(hit) => {
                let [first, second] =
                    [&hit.first, &hit.second].map(|r| table::sentence(&labels, r));
                found.push(format!(
                    "at step {steps}, side by side: {first}; then {second}"
                ));
            }
            Entry::Tick | Entry::Saw { .. } | Entry::Note(_) => {}
        }
    }
    let many = found.len();
    if many > SHOWN_RACES {
        found.truncate(SHOWN_RACES);
        found.push(format!("and {} more times", many - SHOWN_RACES));
    }
    found
}

const SHOWN_RACES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use findings::finding::Divergence;
    use findings::finding::{Findings, Summary};

    fn kept(digest: Option<&str>) -> Kept {
        Kept {
            program: None,
            schedule: Schedule {
                name: "R1.ok".into(),
                digest: digest.map(str::to_owned),
                ..Schedule::default()
            },
            origin: None,
            unit: None,
            log: PathBuf::new(),
            _unpacked: None,
        }
    }

    fn run(control: Option<ControlSummary>) -> RunResult {
        RunResult {
            outcome: Default::default(),
            findings: Findings {
                summary: control.map(|control| Summary {
                    control: Some(control),
                    ..Summary::default()
                }),
                ..Findings::default()
            },
            started: true,
        }
    }

    fn with_digest(digest: &str) -> ControlSummary {
        ControlSummary {
            digest: Some(digest.into()),
            steps: 5,
            ..ControlSummary::default()
        }
    }

    #[test]
    fn only_an_equal_digest_is_the_same_run() {
        let same =
            |kept: &Kept, run: &RunResult| matches!(compare(kept, run), Sameness::Same { .. });
        assert!(same(&kept(Some("ab")), &run(Some(with_digest("ab")))));
        assert!(!same(&kept(Some("ab")), &run(Some(with_digest("cd")))));
        assert!(same(&kept(None), &run(Some(with_digest("cd")))));
        assert!(!same(
            &kept(Some("ab")),
            &run(Some(ControlSummary::default()))
        ));
        assert!(!same(&kept(Some("ab")), &run(None)));
        let left = ControlSummary {
            divergence: Some(Divergence {
                step: 3,
                expected: "x".into(),
                got: "y".into(),
                why: String::new(),
            }),
            ..with_digest("ab")
        };
        let Sameness::Other { step, what } = compare(&kept(Some("ab")), &run(Some(left))) else {
            panic!("it diverged")
        };
        assert_eq!(step, Some(3));
        assert_eq!(what, "expected was x; instead came y");
    }
}
