//! A unit of work done by the engine, in this process and on the caller's thread. Portions of one exploration
//! follow each other with the same JVMs ([`portions`]).

use crate::bundle;
use crate::replays;
use crate::unit::{Campaign, End, KeptSchedule, Launch, Outcome, Task, Unit};
use driver::scratch::Scratch;
use engine::confirm::{ConfirmConfig, Pairs};
use engine::detect::{DetectConfig, Scheduler};
use engine::verify::VerifyConfig;
use engine::verify::portions::{self as explored, Came, Order};
use engine::{ControlConfig, Cut, LaunchConfig, Output, Silent};
use findings::result::{Report, Status};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the trials of a unit may take in all.
const TRIALS: Duration = Duration::from_secs(120);

/// And the executions of an exploration: what is not explored then is another unit's.
const EXPLORATION: Duration = Duration::from_secs(600);

/// What a worker has.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The java launcher or JDK directory; if none, JAVA_HOME, then PATH.
    pub java: Option<PathBuf>,
    /// Who this is.
    pub worker: String,
}

/// What was made, before it is known how long that took.
struct Made {
    report: Report,
    executions: u64,
    orders: Vec<u64>,
    explored: Option<Box<Came>>,
}

/// Does a unit whose bundle lies in `place`. What nobody can do is given up with the reason.
pub fn execute(unit: &Unit, campaign: &Campaign, place: &Path, machine: &Machine) -> Outcome {
    let began = Instant::now();
    let made = scratch().and_then(|results| {
        let made = make(unit, campaign, place, machine, results.path())?;
        Ok((results, made))
    });
    outcome(unit, campaign, machine, began, made)
}

fn scratch() -> Result<Scratch, String> {
    Scratch::create().map_err(|error| format!("cannot make a directory for results: {error}"))
}

fn outcome(
    unit: &Unit,
    campaign: &Campaign,
    machine: &Machine,
    began: Instant,
    made: Result<(Scratch, Made), String>,
) -> Outcome {
    let packed = made.map(|(results, mut made)| {
        // Where the bundle lay is of no interest, and differs from worker to worker.
        if let Some(program) = campaign.programs.get(unit.program as usize) {
            made.report.program.args = program.original.clone();
        }
        let schedules = replays::pack(results.path(), &mut made.report, &unit.id());
        (schedules, made)
    });
    told(unit, machine, began, packed)
}

fn told(
    unit: &Unit,
    machine: &Machine,
    began: Instant,
    packed: Result<(Vec<KeptSchedule>, Made), String>,
) -> Outcome {
    match packed {
        Ok((schedules, made)) => Outcome {
            campaign: unit.campaign.clone(),
            arm: unit.arm.clone(),
            index: unit.index,
            program: unit.program,
            worker: machine.worker.clone(),
            seconds: began.elapsed().as_secs_f64(),
            executions: made.executions,
            orders: made.orders,
            end: End::Done {
                report: Box::new(made.report),
                schedules,
                explored: made.explored,
            },
        },
        Err(why) => Outcome {
            seconds: began.elapsed().as_secs_f64(),
            ..Outcome::given_up(unit, &machine.worker, why)
        },
    }
}

fn make(
    unit: &Unit,
    campaign: &Campaign,
    place: &Path,
    machine: &Machine,
    results: &Path,
) -> Result<Made, String> {
    let launch = unpacked(unit, campaign, place, machine)?;
    let control = |seed| control(campaign, seed, results);
    Ok(match &unit.task {
        Task::Detect {
            scheduler,
            detector,
            runs,
            seed,
        } => {
            let config = DetectConfig {
                detector: Some(detect_kind(detector)?),
                scheduler: Scheduler::named(scheduler)
                    .ok_or_else(|| format!("this version knows no scheduler {scheduler:?}"))?,
                runs: (*runs).max(1),
                output: Output::Capture,
                control: control(*seed),
                launch,
                ..DetectConfig::default()
            };
            let found = engine::detect::detect(&config, &Silent).map_err(|e| format!("{e:#}"))?;
            let report = found.answer.report;
            let tried = report.schedules.as_ref().map(|s| s.tried);
            Made {
                executions: tried.unwrap_or(report.runs.len() as u64),
                orders: found.orders,
                report,
                explored: None,
            }
        }
        Task::Confirm {
            report,
            trials,
            seed,
        } => {
            let limit = launch.time_limit.map_or(TRIALS, |limit| limit.max(TRIALS));
            let config = ConfirmConfig {
                pairs: Pairs::Report(report.clone()),
                trials: (*trials).max(1),
                jobs: Some(1),
                control: control(*seed),
                launch: LaunchConfig {
                    time_limit: Some(limit),
                    ..launch
                },
                ..ConfirmConfig::default()
            };
            let answer =
                engine::confirm::confirm(&config, &Silent).map_err(|e| format!("{e:#}"))?;
            let report = answer.report;
            let tried = report.schedules.as_ref().map(|s| s.tried);
            Made {
                executions: tried.unwrap_or(report.runs.len() as u64),
                orders: Vec::new(),
                report,
                explored: None,
            }
        }
        Task::Verify { portion } => {
            let mut came = Err("it was not explored".to_owned());
            let order = Order {
                portion: (**portion).clone(),
                results: results.to_owned(),
            };
            let config = exploration(launch, control(campaign.budget.seed));
            let explored = explored::explore(&config, order, &mut |made| {
                came = made.map(Made::from).map_err(|e| format!("{e:#}"));
                None
            });
            explored.map_err(|e| format!("{e:#}"))?;
            came?
        }
        Task::Simulated { micros, seed } => {
            std::thread::sleep(simulated_time(*micros));
            simulated_unit(*seed)
        }
    })
}

/// How the program of a unit is started here.
fn unpacked(
    unit: &Unit,
    campaign: &Campaign,
    place: &Path,
    machine: &Machine,
) -> Result<LaunchConfig, String> {
    let program = campaign.programs.get(unit.program as usize);
    let program = program.ok_or("the campaign has no such program")?;
    let here = place
        .to_str()
        .ok_or("the directory of the bundle is not UTF-8")?;
    let args = program
        .args
        .iter()
        .map(|arg| arg.replace(bundle::PLACE, here));
    Ok(launch(&campaign.launch, args.collect(), machine))
}

fn control(campaign: &Campaign, seed: u64, results: &Path) -> ControlConfig {
    ControlConfig {
        seed,
        results: results.to_owned(),
        max_steps: campaign.launch.max_steps,
        watchdog: campaign.launch.watchdog_s.max(1),
        clock: campaign.launch.clock,
    }
}

fn exploration(launch: LaunchConfig, control: ControlConfig) -> VerifyConfig {
    let limit = launch.time_limit;
    VerifyConfig {
        jobs: Some(1),
        max_time: Some(limit.map_or(EXPLORATION, |limit| limit.max(EXPLORATION))),
        control,
        launch: LaunchConfig {
            time_limit: None,
            ..launch
        },
        ..VerifyConfig::default()
    }
}

impl From<explored::Made> for Made {
    fn from(made: explored::Made) -> Made {
        Made {
            executions: made.executions,
            orders: made.classes.into_iter().collect(),
            report: made.report,
            explored: Some(Box::new(made.came)),
        }
    }
}

/// Does this unit, a portion of an exploration, and those that `next` gives when it was told what came of the
/// last one. They must be portions of the same program of the same campaign. One that was given and not begun,
/// because the one before it failed, comes back.
pub fn portions(
    first: Unit,
    campaign: &Campaign,
    place: &Path,
    machine: &Machine,
    next: &mut dyn FnMut(Outcome) -> Option<Unit>,
) -> Option<Unit> {
    let mut began = Instant::now();
    let order = |unit: &Unit, results: &Scratch| match &unit.task {
        Task::Verify { portion } => Ok(Order {
            portion: (**portion).clone(),
            results: results.path().to_owned(),
        }),
        _ => Err("it is no portion of an exploration".to_owned()),
    };
    let ready = unpacked(&first, campaign, place, machine).and_then(|launch| {
        let results = scratch()?;
        Ok((launch, order(&first, &results)?, results))
    });
    let (launch, beginning, results) = match ready {
        Ok(ready) => ready,
        Err(why) => {
            return next(outcome(&first, campaign, machine, began, Err(why)));
        }
    };
    let config = exploration(
        launch,
        control(campaign, campaign.budget.seed, results.path()),
    );
    let mut current = Some((first, results));
    let done = explored::explore(&config, beginning, &mut |made| {
        let (unit, results) = current.take()?;
        let made = made.map(|made| (results, Made::from(made)));
        let made = made.map_err(|e| format!("{e:#}"));
        let mut told = outcome(&unit, campaign, machine, began, made);
        loop {
            let unit = next(told)?;
            began = Instant::now();
            let ready = scratch().and_then(|results| Ok((order(&unit, &results)?, results)));
            match ready {
                Ok((order, results)) => {
                    current = Some((unit, results));
                    return Some(order);
                }
                Err(why) => told = outcome(&unit, campaign, machine, began, Err(why)),
            }
        }
    });
    match (done, current) {
        (Err(error), Some((unit, _))) => {
            let why = Err(format!("{error:#}"));
            next(outcome(&unit, campaign, machine, began, why))
        }
        _ => None,
    }
}

fn detect_kind(name: &str) -> Result<detect::Kind, String> {
    detect::Kind::named(name).ok_or_else(|| format!("this version knows no detector {name:?}"))
}

/// How the program is started, whoever does it.
pub fn launch(from: &Launch, program: Vec<String>, machine: &Machine) -> LaunchConfig {
    LaunchConfig {
        include: from.include.clone(),
        exclude: from.exclude.clone(),
        trusted: from.trusted.clone(),
        untracked: from.untracked.clone(),
        check_unshared: false,
        budget: None,
        time_limit: { from.time_limit_s }
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        cut: Cut {
            text: from.stop_after.clone(),
            millis: from.cut_after_ms,
            requests: from.cut_requests,
        },
        java: machine.java.clone(),
        keep: None,
        program: program.into_iter().map(Into::into).collect(),
    }
}

/// Does a unit that computes nothing. No thread waits for it: there may be thousands side by side.
pub async fn simulate(unit: &Unit, machine: &Machine, micros: u64, seed: u64) -> Outcome {
    let began = Instant::now();
    tokio::time::sleep(simulated_time(micros)).await;
    told(unit, machine, began, Ok((Vec::new(), simulated_unit(seed))))
}

fn simulated_time(micros: u64) -> Duration {
    Duration::from_micros(micros.min(60_000_000))
}

fn simulated_unit(seed: u64) -> Made {
    Made {
        executions: 1,
        orders: vec![seed],
        report: simulated(seed),
        explored: None,
    }
}

/// What a unit that computes nothing reports: for every thirteenth seed a suspicion, never more,
/// and a warning that says what it is.
fn simulated(seed: u64) -> Report {
    let mut report = Report::new(engine::tool(), "simulated", Default::default());
    report
        .warnings
        .push("simulated: no program was run".to_owned());
    let which = seed / 13 % 5;
    let access = |op: &str| {
        json!({ "op": op, "thread": { "name": op }, "frame": {
            "class": "Simulated", "method": op, "file": "Simulated.java", "line": which + 1 } })
    };
    let race = json!({
        "detector": "simulated",
        "location": { "class": "Simulated", "field": format!("f{which}") },
        "accesses": [access("read"), access("write")],
    });
    if let (0, Ok(race)) = (seed % 13, serde_json::from_value(race)) {
        let mut race = findings::merge::race(race, Status::Potential);
        race.id = "R1".to_owned();
        report.races.push(race);
    }
    report
}
