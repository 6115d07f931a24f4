//! The stages of a hunt. A new one is a function and a line of [`STAGES`].

use super::Hunt;
use super::explored::explore;
use crate::advise::{self, AdviseConfig};
use crate::config::{self, ControlConfig, LaunchConfig};
use crate::confirm::{self, ConfirmConfig};
use crate::controlled_run;
use crate::error::Error;
use crate::launch::{Plan, RunDir};
use crate::may_trigger::Hidden;
use crate::predict::{self, PredictConfig};
use crate::progress::Silent;
use crate::session::Session;
use crate::traces;
use driver::options::{Control, Mode};
use driver::pool::{self, Ended};
use driver::process::{Output, Stopped};
use driver::run::RunResult;
use driver::store::Writer;
use findings::finding;
use findings::group;
use findings::result::{Race, Report, Status};
use findings::text::counted;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// What a hunt does.
pub struct Stage {
    pub name: &'static str,
    /// The part of the time after which it must be over.
    pub share: f64,
    /// Says what it did.
    pub run: fn(&mut Hunt<'_>) -> Result<String, Error>,
}

pub const STAGES: &[Stage] = &[
    Stage {
        name: "detect",
        share: HYBRID,
        run: detect,
    },
    Stage {
        name: "predict",
        share: PREDICT,
        run: predict_from_recording,
    },
    Stage {
        name: "confirm",
        share: CONFIRM,
        run: |hunt| try_to_confirm(hunt, CONFIRM),
    },
    Stage {
        name: "hidden races",
        share: HIDDEN,
        run: hidden,
    },
    Stage {
        name: "races that hide behind locks",
        share: HELD_BACK,
        run: held_back,
    },
    Stage {
        name: "verify",
        share: VERIFY,
        run: explore,
    },
    Stage {
        name: "confirm what was hidden",
        share: CONFIRM_HIDDEN,
        run: |hunt| try_to_confirm(hunt, CONFIRM_HIDDEN),
    },
    Stage {
        name: "advise",
        share: 1.0,
        run: try_repairs,
    },
];

const FASTTRACK: f64 = 0.17;
const HYBRID: f64 = 0.25;
const RECORD: f64 = 0.31;
const PREDICT: f64 = 0.38;
const CONFIRM: f64 = 0.56;
const HIDDEN: f64 = 0.65;
const HELD_BACK: f64 = 0.72;
pub const VERIFY: f64 = 0.82;
const CONFIRM_HIDDEN: f64 = 0.9;

/// Why nothing that needs whole runs is done.
pub const TOO_LONG: &str = "the program did not end in its share of the time";

/// Bytes of a recording.
const MOST_RECORDED: u64 = 8 << 20;

/// Events of it that prediction looks at: it keeps them all in memory, some
/// five hundred bytes each.
const MOST_PREDICTED: u64 = 1_000_000;

/// Lines of what a program says that does not get anywhere.
const COMPLAINT: usize = 20;

/// How java's own complaints begin: no main class, no jar.
const REFUSAL: &str = "Error: ";

/// Runs with threads held back, at most, and who does it.
const HELD_BACK_RUNS: u32 = 4;
const DRFINDER: &str = "drfinder-serial";

/// Who looks for hidden races, in turn.
const SEEKERS: [&str; 3] = ["random", "pct", "pos"];

/// The program runs freely: once for what races in this very run, once for
/// whatever has no lock in common.
fn detect(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    hunt.progress.doing("running the program");
    let began = Instant::now();
    let run = free(hunt, "fasttrack", Mode::FASTTRACK, None, FASTTRACK)?;
    hunt.ends = run.outcome.stopped.is_none();
    if !hunt.ends && !hunt.interrupted {
        hunt.report.warnings.push(format!(
            "the program did not end in {:.0} s, its share of the time: it was stopped, and \
                 nothing can be confirmed by running it to its end; --time-limit gives it more",
            began.elapsed().as_secs_f64()
        ));
    }
    let complained = String::from_utf8_lossy(&run.outcome.stderr).into_owned();
    add(hunt, run);
    if !hunt.exercised {
        // Why, is java's to say, or the program's.
        let lines = complained.lines().take(COMPLAINT);
        lines.for_each(|line| hunt.progress.complaint(line));
        hunt.refused = complained.starts_with(REFUSAL);
    }
    hunt.save();
    if hunt.over() {
        return Ok("1 free run".to_owned());
    }
    hunt.head("detect");
    hunt.progress
        .doing("running the program with the hybrid detector");
    let run = free(hunt, "hybrid", Mode::HYBRID, None, HYBRID)?;
    add(hunt, run);
    Ok("2 free runs".to_owned())
}

/// One run is recorded with the way of each thread, and looked at.
fn predict_from_recording(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let dir = hunt.launcher.scratch()?;
    let trace = dir.file("trace.pft");
    hunt.progress.doing("recording a run");
    let run = free(hunt, "record", Mode::Full, Some(&trace), RECORD)?;
    let cut_off = hunt.ends && run.outcome.stopped == Some(Stopped::TimeLimit);
    let started = run.started;
    let mut session = Session::new(&hunt.config.launch);
    session.add(run);
    let (recorded, _) = session.finish("hunt");
    if hunt.interrupted || !started {
        hunt.add(recorded);
        return Ok("1 recorded run".to_owned());
    }
    hunt.progress
        .doing("predicting what other orders would show");
    let part = dir.file("part.pft");
    let longer = traces::shorten(&trace, &part, MOST_PREDICTED)?;
    if longer.is_some() || cut_off {
        let text = "the recording is too long: prediction looks at its beginning only";
        hunt.report.warnings.push(text.to_owned());
    }
    let looked_at = if longer.is_some() { part } else { trace };
    let until = hunt.until(PREDICT);
    let late = || until <= Instant::now();
    let stop = || late() || hunt.launcher.interrupts.is_requested();
    let predicted = predict::from_trace_until(&PredictConfig::default(), &looked_at, &stop);
    hunt.limited |= late();
    match predicted {
        Ok(predicted) => {
            let mut predicted = predicted.answer.report;
            // It is about the run that was recorded.
            let events = predicted.coverage.events;
            let races = predicted.races.iter();
            let many = races.filter(|r| r.status == Status::Predicted).count();
            let races = std::mem::take(&mut predicted.races);
            let before = races.len();
            let of_program = |race: &Race| !is_jdks(race) || hunt.report.find(race).is_some();
            predicted.races = races.into_iter().filter(of_program).collect();
            let left_out = before - predicted.races.len();
            if left_out > 0 {
                predicted.warnings.push(format!(
                    "{left_out} races inside the JDK are left out: a recording does not say who \
                     called there, and no other run shows them"
                ));
            }
            predicted.runs = recorded.runs;
            predicted.coverage = recorded.coverage;
            predicted.coverage.events = events;
            predicted.warnings.extend(recorded.warnings);
            hunt.add(predicted);
            Ok(format!(
                "1 recorded run of {} events, {} predicted from it",
                events.unwrap_or(0),
                counted(many as u64, "race", "races")
            ))
        }
        Err(error) => {
            hunt.add(recorded);
            hunt.failed = true;
            let text = format!("prediction has no result: it failed: {error:#}");
            hunt.report.warnings.push(text.clone());
            Ok(format!("1 recorded run; {text}"))
        }
    }
}

fn is_jdks(race: &Race) -> bool {
    let accesses = race.accesses.iter();
    let frames = accesses.flat_map(|a| a.stack.iter().chain([&a.at]));
    finding::may_be_jdks(&race.location, frames)
}

/// Makes each race happen that nobody tried yet.
fn try_to_confirm(hunt: &mut Hunt<'_>, share: f64) -> Result<String, Error> {
    let config = hunt.config;
    let worth = confirm::worth_trying(&hunt.report.races);
    let untried: Vec<String> = { hunt.report.races.iter() }
        .filter(|race| race.trials.is_none() && worth.contains(&race.id))
        .filter(|race| !hunt.config.suppress.hides(race))
        .map(|race| race.id.clone())
        .collect();
    if untried.is_empty() {
        return Ok("nothing to confirm".to_owned());
    }
    if !hunt.ends {
        hunt.limited = true;
        return Ok(format!("nothing was tried: {TOO_LONG}"));
    }
    let confirm = ConfirmConfig {
        races: untried.clone(),
        trials: config.trials,
        jobs: config.jobs,
        input: config.input.clone(),
        control: config.control.clone(),
        ..ConfirmConfig::default()
    };
    let until = hunt.until(share);
    let (program, suppress) = (&hunt.program, &config.suppress);
    let mut save = |store: &mut Writer, report: &Report| {
        controlled_run::save_so_far(store, program, report, suppress);
    };
    let tried = confirm::try_races(
        &confirm,
        hunt.launcher,
        (&mut hunt.store, &mut save),
        Some(hunt.report.clone()),
        Some(until),
        hunt.progress,
    )?;
    hunt.report = tried.report;
    // What there was no time for before is among these now, or was tried.
    hunt.untried = tried.untried;
    hunt.interrupted |= tried.interrupted;
    hunt.limited |= tried.limited;
    hunt.tell();
    let of = |race: &&Race| untried.contains(&race.id);
    let races = hunt.report.races.iter().filter(of);
    let (mut trials, mut made) = (0, 0);
    for race in races {
        trials += race.trials.map_or(0, |trials| trials.run);
        made += u64::from(race.status == Status::Confirmed);
    }
    Ok(format!(
        "{} for {}, {made} made to happen",
        counted(trials, "trial", "trials"),
        counted(untried.len() as u64, "pair", "pairs")
    ))
}

/// Runs with one thread at a time, by one strategy after the other.
fn hidden(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let (config, launcher) = (hunt.config, hunt.launcher);
    let (before, deadline, input) = (
        group::findings(&hunt.report.races).len(),
        hunt.until(HIDDEN),
        hunt.input.clone(),
    );
    // One that does not end should not take all the time.
    let most = match hunt.ends {
        true => hunt.left(HIDDEN),
        false => hunt.left(HIDDEN) / 4,
    };
    let wanted = config.runs as usize;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = config::jobs(config.jobs);
    let control = |number: usize| {
        let seed = controlled_run::seed(&config.control, number as u64);
        let mut control =
            controlled_run::control(&config.control, SEEKERS[number % SEEKERS.len()], seed);
        // Neighbours run at the same time.
        control.cpu = Some(number % cores);
        control
    };
    let dirs: RefCell<BTreeMap<usize, RunDir>> = RefCell::default();
    let failed: RefCell<Option<Error>> = RefCell::default();
    let next = |number: usize| {
        let left = deadline.saturating_duration_since(Instant::now());
        if number >= wanted || left.is_zero() {
            return None;
        }
        match launcher.directory(&format!("hidden-{}", number + 1)) {
            Ok(dir) => {
                let plan = Plan {
                    control: Some(control(number)),
                    input: input.clone(),
                    time_limit: Some(left.min(most)),
                    ..Plan::new(Mode::FASTTRACK, Output::Capture)
                };
                let request = launcher.request(&dir, plan);
                dirs.borrow_mut().insert(number, dir);
                Some(request)
            }
            Err(failure) => {
                *failed.borrow_mut() = Some(failure);
                None
            }
        }
    };
    let mut ran = 0;
    let take = |number: usize, run: RunResult| {
        let Some(dir) = dirs.borrow_mut().remove(&number) else {
            return ControlFlow::Break(());
        };
        ran += 1;
        hunt.noticed(&run.outcome);
        keep(hunt, &control(number), &dir, run);
        hunt.head("hidden races");
        let text = format!("run {ran} of {wanted} under control");
        hunt.progress.doing(&text);
        ControlFlow::Continue(())
    };
    let ended = pool::run_all(jobs, &launcher.interrupts, next, take)?;
    if let Some(failure) = failed.into_inner() {
        return Err(failure);
    }
    hunt.interrupted |= ended == Ended::Interrupted;
    if ran < wanted && !hunt.interrupted {
        hunt.limited = true;
        let text = format!("time was left for {ran} of {wanted} runs under control");
        hunt.report.warnings.push(text);
    }
    let found = group::findings(&hunt.report.races).len();
    let found = found.saturating_sub(before);
    Ok(format!(
        "{} under control ({}), {}",
        counted(ran as u64, "run", "runs"),
        SEEKERS.join(", "),
        counted(found as u64, "further race", "further races")
    ))
}

/// Adds a run under control. What it was the first to show can be seen again.
fn keep(hunt: &mut Hunt<'_>, control: &Control, dir: &RunDir, run: RunResult) {
    let summary = run.findings.summary.as_ref();
    let summary = summary.and_then(|s| s.control.as_ref());
    let row = controlled_run::schedule("", Mode::FASTTRACK.name(), control, summary, &run.outcome);
    add(hunt, run);
    let this = hunt.report.runs.len() as u64;
    controlled_run::keep(
        &hunt.config.control,
        &mut hunt.store,
        &mut hunt.report,
        |run| {
            let log = (run == this).then(|| std::fs::read(dir.log()).unwrap_or_default());
            Some((row.clone(), log?))
        },
    );
}

/// Runs in which threads are held back before locks, where an earlier run says
/// that another may race with them then (DrFinder).
fn held_back(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let (config, launcher) = (hunt.config, hunt.launcher);
    let before = group::findings(&hunt.report.races).len();
    let wanted = config.runs.min(HELD_BACK_RUNS);
    if wanted == 0 || !hunt.ends {
        return Ok("not looked for".to_owned());
    }
    hunt.progress
        .doing("which locks may make whom wait for whom");
    let each = hunt.left(HELD_BACK) / (wanted + 1);
    let pipes = (hunt.input.clone(), Output::Capture);
    let (mut seeker, _) = Hidden::begin(launcher, None, None, pipes, Some(each))?;
    let mut ran = 0_u64;
    for number in 0..wanted {
        if hunt.over() || hunt.left(HELD_BACK).is_zero() {
            break;
        }
        hunt.head("races that hide behind locks");
        hunt.progress
            .doing(&format!("run {} of {wanted}", number + 1));
        let seed = controlled_run::seed(&config.control, u64::from(number));
        let mut control = controlled_run::control(&config.control, DRFINDER, seed);
        let dir = launcher.directory(&format!("held-back-{}", number + 1))?;
        seeker.aim(&mut control, &dir)?;
        let plan = Plan {
            control: Some(control.clone()),
            input: hunt.input.clone(),
            time_limit: Some(each),
            ..Plan::new(Mode::FASTTRACK, Output::Capture)
        };
        let run = launcher.run_in(&dir, plan)?;
        hunt.noticed(&run.outcome);
        // A run that was cut short has seen little.
        if run.findings.deadlocks.is_empty() {
            seeker.learn(&dir);
        }
        keep(hunt, &control, &dir, run);
        ran += 1;
    }
    let found = group::findings(&hunt.report.races).len();
    let found = found.saturating_sub(before);
    Ok(format!(
        "{} with threads held back ({DRFINDER}), {}",
        counted(ran, "run", "runs"),
        counted(found as u64, "further race", "further races")
    ))
}

/// What to change, tried before it is told.
fn try_repairs(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let certain =
        |race: &&Race| race.status >= Status::Observed && !hunt.config.suppress.hides(race);
    if !hunt.report.races.iter().any(|race| certain(&race)) {
        return Ok("nothing to advise on".to_owned());
    }
    if !hunt.ends {
        hunt.limited = true;
        return Ok(format!("nothing was tried: {TOO_LONG}"));
    }
    hunt.progress.doing("looking for repairs, and trying them");
    let dir = hunt.launcher.scratch()?;
    let config = AdviseConfig {
        from: Some(Box::new(hunt.report.clone())),
        cost_runs: 0,
        // Too large to be explored, with repairs as without.
        max_executions: match hunt.complete {
            Some(_) => AdviseConfig::default().max_executions,
            None => 0,
        },
        input: hunt.config.input.clone(),
        sources: hunt.config.sources.clone(),
        deadline: Some(hunt.until(1.0)),
        control: ControlConfig {
            results: dir.file("results"),
            ..ControlConfig::default()
        },
        launch: launch(hunt),
        ..AdviseConfig::default()
    };
    match advise::with(&config, &hunt.launcher.with(&config.launch), &Silent) {
        Ok(advised) => {
            hunt.interrupted |= advised.interrupted;
            hunt.limited |= advised.out_of_time;
            let repairs = take_advice(hunt, &advised.answer.report);
            Ok(format!(
                "{} suggested",
                counted(repairs as u64, "repair", "repairs")
            ))
        }
        Err(error) => {
            hunt.failed = true;
            let text = format!("there is no advice: it failed: {error:#}");
            hunt.report.warnings.push(text.clone());
            Ok(text)
        }
    }
}

/// Takes over what is said of our races; ids become ours. How many repairs.
fn take_advice(hunt: &mut Hunt<'_>, advised: &Report) -> usize {
    let ours = |report: &Report, theirs: &str| {
        let race = advised.races.iter().find(|race| race.id == theirs)?;
        Some(report.find(race)?.id.clone())
    };
    let mut told = BTreeSet::new();
    for race in &advised.races {
        let mut suggestions = race.suggestions().to_vec();
        let Some(id) = ours(&hunt.report, &race.id).filter(|_| !suggestions.is_empty()) else {
            continue;
        };
        for suggestion in &mut suggestions {
            told.insert((suggestion.kind.clone(), suggestion.target.clone()));
            let removes = std::mem::take(&mut suggestion.removes);
            let removes = removes.iter().filter_map(|id| ours(&hunt.report, id));
            suggestion.removes = removes.collect();
            // R10 after R9.
            let place = |id: &String| (id.len(), id.clone());
            suggestion.removes.sort_by_key(place);
        }
        let mut races = hunt.report.races.iter_mut();
        if let Some(known) = races.find(|race| race.id == id) {
            known.advice = Some(suggestions);
            known.story = race.story.clone().or(known.story.take());
        }
    }
    told.len()
}

/// The program for a stage that has a time limit of its own, and keeps nothing.
pub fn launch(hunt: &Hunt<'_>) -> LaunchConfig {
    LaunchConfig {
        time_limit: None,
        keep: None,
        ..hunt.config.launch.clone()
    }
}

/// A run in which the operating system decides who goes on.
fn free(
    hunt: &mut Hunt<'_>,
    name: &str,
    mode: Mode,
    trace: Option<&Path>,
    share: f64,
) -> Result<RunResult, Error> {
    let dir = hunt.launcher.directory(name)?;
    let first = hunt.report.runs.is_empty();
    let plan = Plan {
        trace: trace.map(Path::to_owned),
        most_recorded: Some(MOST_RECORDED),
        input: hunt.input.clone(),
        time_limit: Some(hunt.left(share)),
        ..Plan::new(
            mode,
            match first {
                true => hunt.config.first_output,
                false => Output::Capture,
            },
        )
    };
    let run = hunt.launcher.run_in(&dir, plan)?;
    hunt.noticed(&run.outcome);
    Ok(run)
}

fn add(hunt: &mut Hunt<'_>, run: RunResult) {
    let mut session = Session::new(&hunt.config.launch);
    session.add(run);
    hunt.take(session);
}
