//! The stages of a hunt. A new one is a function and a line of [`STAGES`].

use super::Hunt;
use super::explored::{explore, explore_on};
use super::free::detect;
use super::hidden::{held_back, hidden};
use super::stale::stale_values;
use crate::advise::{self, AdviseConfig};
use crate::config::{ControlConfig, LaunchConfig};
use crate::confirm::{self, ConfirmConfig};
use crate::controlled_run;
use crate::error::Error;
use crate::predict::{self, PredictConfig};
use crate::progress::Silent;
use crate::session::Session;
use crate::story::{self, Teller};
use driver::process::Stopped;
use driver::run::RunResult;
use driver::store::Writer;
use findings::finding;
use findings::result::{Race, Report, Status};
use findings::text::counted;
use std::collections::BTreeSet;
use std::time::Instant;

/// What a hunt does.
pub struct Stage {
    pub name: &'static str,
    /// How much of the time it gets, compared with others ([`super::shares`]).
    pub weight: f64,
    /// Whole runs of the program without which it comes to nothing.
    pub needs: u32,
    /// Says what it did; nothing if there was nothing to do.
    pub run: fn(&mut Hunt<'_>) -> Result<String, Error>,
}

pub const STALE_VALUES: &str = "stale values";

pub const STAGES: &[Stage] = &[
    Stage {
        name: "detect",
        weight: 3.0,
        needs: 0,
        run: detect,
    },
    Stage {
        name: "verify",
        weight: 4.0,
        needs: 0,
        run: explore,
    },
    Stage {
        name: "predict",
        weight: 2.0,
        needs: 0,
        run: predict_from_recording,
    },
    Stage {
        name: "confirm",
        weight: 4.0,
        needs: 6,
        run: try_to_confirm,
    },
    Stage {
        name: STALE_VALUES,
        weight: 2.0,
        needs: 4,
        run: stale_values,
    },
    Stage {
        name: "hidden races",
        weight: 3.0,
        needs: 2,
        run: hidden,
    },
    Stage {
        name: "races that hide behind locks",
        weight: 1.5,
        needs: 0,
        run: held_back,
    },
    Stage {
        name: "confirm what was hidden",
        weight: 1.5,
        needs: 4,
        run: try_to_confirm,
    },
    Stage {
        name: "stories",
        weight: 1.5,
        needs: 0,
        run: tell_stories,
    },
    Stage {
        name: "advise",
        weight: 3.0,
        needs: 0,
        run: try_repairs,
    },
    Stage {
        name: "verify further",
        weight: 2.0,
        needs: 0,
        run: explore_on,
    },
];

/// Why something is not done that trials are more important than.
pub const SLOW: &str = "a run takes too long for more than trials";

/// Why nothing that needs whole runs is done.
pub const TOO_LONG: &str = "the program did not end in its share of the time";

/// Events of it that prediction looks at: it keeps them all in memory, some
/// five hundred bytes each.
pub const MOST_PREDICTED: u64 = 1_000_000;

/// The recorded run is looked at.
fn predict_from_recording(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let Some(mut recording) = hunt.recorded.take() else {
        return Ok(format!("nothing was recorded: {SLOW}"));
    };
    let Some(run) = recording.run.take() else {
        return Ok(String::new());
    };
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
    let looked_at = recording.beginning(MOST_PREDICTED)?;
    hunt.recorded = Some(recording);
    if looked_at.is_part || cut_off {
        let text = "the recording is too long: prediction looks at its beginning only";
        hunt.report.warnings.push(text.to_owned());
    }
    let until = hunt.stage_end;
    let late = || until <= Instant::now();
    let stop = || late() || hunt.launcher.interrupts.is_requested();
    let engines = PredictConfig {
        shard: hunt.config.shard,
        ..PredictConfig::default()
    };
    let predicted = predict::from_trace_until(&engines, &looked_at.path, &stop);
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
fn try_to_confirm(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let config = hunt.config;
    let worth = confirm::worth_trying(&hunt.report.races);
    let part = ConfirmConfig {
        shard: config.shard,
        ..ConfirmConfig::default()
    };
    let untried: Vec<String> = { hunt.report.races.iter() }
        .filter(|race| race.trials.is_none() && worth.contains(&race.id))
        .filter(|race| part.owns(race) && !hunt.config.suppress.hides(race))
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
        // Time is better spent on the next pair.
        quiet_trials: 0,
        memory: config.memory,
        jobs: config.jobs,
        input: config.input.clone(),
        control: config.control.clone(),
        ..part
    };
    let until = hunt.stage_end;
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

/// The shortest run that shows each finding.
fn tell_stories(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    if !hunt.ends {
        return Ok(String::new());
    }
    let mut teller = Teller {
        launcher: hunt.launcher,
        store: &mut hunt.store,
        control: &hunt.config.control,
        input: hunt.input.clone(),
        deadline: Some(hunt.stage_end),
        progress: hunt.progress,
    };
    let told = story::tell(&mut teller, &mut hunt.report)?;
    Ok(match told {
        0 => String::new(),
        told => format!("{} told", counted(told, "story", "stories")),
    })
}

/// What to change, tried before it is told.
fn try_repairs(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let certain =
        |race: &&Race| race.status >= Status::Observed && !hunt.config.suppress.hides(race);
    let mut about = hunt.report.clone();
    // Of what is not certain nothing would be tried.
    about
        .atomicity
        .retain(|unit| unit.status >= Status::Observed);
    if !hunt.report.races.iter().any(|race| certain(&race)) {
        if about.atomicity.is_empty() {
            return Ok("nothing to advise on".to_owned());
        }
        about.races.clear();
    }
    if !hunt.ends {
        hunt.limited = true;
        return Ok(format!("nothing was tried: {TOO_LONG}"));
    }
    hunt.progress.doing("looking for repairs, and trying them");
    let dir = hunt.launcher.scratch()?;
    let config = AdviseConfig {
        from: Some(Box::new(about)),
        cost_runs: 0,
        // Too large to be explored, with repairs as without.
        max_executions: match hunt.is_explored() {
            true => AdviseConfig::default().max_executions,
            false => 0,
        },
        input: hunt.config.input.clone(),
        sources: hunt.config.sources.clone(),
        deadline: Some(hunt.stage_end),
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

/// Takes over what is said of our races, whose ids become ours, and stale values. How many repairs.
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
            known.occurrence = race.occurrence.clone().or(known.occurrence.take());
        }
    }
    for unit in &advised.atomicity {
        let suggestions = unit.advice.as_deref().unwrap_or_default();
        let kinds = suggestions
            .iter()
            .map(|s| (s.kind.clone(), s.target.clone()));
        told.extend(kinds);
        let mut known = hunt.report.atomicity.iter_mut();
        if let Some(known) = known.find(|known| known.id == unit.id) {
            known.advice.clone_from(&unit.advice);
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

pub fn add(hunt: &mut Hunt<'_>, run: RunResult) {
    let mut session = Session::new(&hunt.config.launch);
    session.add(run);
    hunt.take(session);
}
