//! `verify` as two stages of a hunt: every schedule, if there are few enough.
//!
//! The first comes early: a small program is explored at once, and what looks for single
//! schedules need not be done then. If its time is not enough, but the estimated rest fits into
//! half of what the hunt has left, it goes on at once. Otherwise the exploration, and the
//! samples that are drawn beside it, go on in the last stage, with the time that nothing else
//! needed, for as long as all stages before it took.
//!
//! That the exploration is complete is said only if nothing that other stages
//! found contradicts it: a race that no explored schedule has shows that the
//! program depends on more than the schedule.

use super::Hunt;
use super::stages::{TOO_LONG, launch};
use crate::config::ControlConfig;
use crate::controlled_run;
use crate::error::Error;
use crate::launch::RunDir;
use crate::progress::Silent;
use crate::verify::{self, VerifyConfig};
use driver::store::Store;
use findings::confirmed::{Effect, Replay};
use findings::exploration::Exploration;
use findings::group;
use findings::result::{Race, Report, Status};
use findings::text::counted;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Estimates are more often too low than too high.
const SLACK: f64 = 1.5;
/// What an exploration needs to end and to be saved.
const MARGIN: Duration = Duration::from_secs(1);
/// No exploration is shorter.
const LEAST: Duration = Duration::from_secs(1);
/// For so long the last stage goes on, at least.
const PATIENCE: Duration = Duration::from_secs(15);

/// How far the exploration is.
#[derive(Debug)]
pub struct Explored {
    /// Where it is saved.
    dir: RunDir,
    found: Report,
    pub exploration: Exploration,
}

impl Explored {
    /// Whether every schedule was explored, and nothing that was found elsewhere contradicts that.
    pub fn covers(&self, report: &Report) -> bool {
        self.exploration.complete && not_shown(report, &self.found).is_empty()
    }
}

/// Explores the program, as far as that can be done in its share of the time.
pub fn explore(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    if !hunt.ends {
        return Ok(format!("not explored: {TOO_LONG}"));
    }
    if hunt.launcher.cuts() {
        return Ok("not explored: runs are cut".to_owned());
    }
    let began = Instant::now();
    hunt.progress.doing("exploring every schedule");
    let dir = hunt.launcher.scratch()?;
    let mut found = match search(hunt, &dir, hunt.left(), false) {
        Ok(found) => found,
        Err(why) => return Ok(none(hunt, &why)),
    };
    let (took, mut exploration) = (began.elapsed(), told(&found));
    let left = hunt.end.saturating_duration_since(Instant::now()) / 2;
    let goes_on = !hunt.interrupted && exploration.resumable && fits(&exploration, took, left);
    if goes_on && let Ok(whole) = search(hunt, &dir, left, true) {
        found = whole;
        exploration = told(&found);
    }
    let note = note(&exploration);
    merge(hunt, &dir, found.clone())?;
    hunt.explored = Some(Explored {
        dir,
        found,
        exploration,
    });
    Ok(note)
}

/// Goes on where [`explore`] had to stop; says nothing if there is nothing to go on with.
pub fn explore_on(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let resumable = |explored: &Explored| explored.exploration.resumable;
    let Some(explored) = hunt.explored.take_if(|explored| resumable(explored)) else {
        return Ok(String::new());
    };
    hunt.progress.doing("exploring more schedules");
    let time = hunt.left().min(hunt.began.elapsed().max(PATIENCE));
    let before = explored.exploration.executions;
    let found = match search(hunt, &explored.dir, time, true) {
        Ok(found) => found,
        Err(why) => {
            hunt.explored = Some(explored);
            return Ok(none(hunt, &why));
        }
    };
    let exploration = told(&found);
    let more = exploration.executions.saturating_sub(before);
    let note = format!(
        "{} more: {}",
        counted(more, "execution", "executions"),
        note(&exploration)
    );
    let new = |found: &Report| {
        let known = &explored.found;
        found.races.len() > known.races.len()
            || found.deadlocks.len() > known.deadlocks.len()
            || found.failures.len() > known.failures.len()
    };
    match new(&found) {
        true => merge(hunt, &explored.dir, found.clone())?,
        false => hunt.report.exploration = found.exploration.clone(),
    }
    hunt.explored = Some(Explored {
        dir: explored.dir,
        found,
        exploration,
    });
    Ok(note)
}

/// What the exploration means, when everything else is known.
pub fn conclude(hunt: &mut Hunt<'_>) {
    let Some(explored) = hunt.explored.take().filter(|e| e.exploration.complete) else {
        return;
    };
    let others = not_shown(&hunt.report, &explored.found);
    if others.is_empty() {
        hunt.complete = Some(sentence(&explored.exploration, &explored.found));
        return;
    }
    let mut exploration = explored.exploration;
    exploration.complete = false;
    exploration.not_complete.push(format!(
        "other runs show what no explored schedule does ({}): the program depends on \
         something besides the schedule",
        others.join(", ")
    ));
    hunt.report.exploration = Some(exploration);
}

fn none(hunt: &mut Hunt<'_>, why: &str) -> String {
    let text = format!("the exploration has no result: {why}");
    hunt.report.warnings.push(text.clone());
    text
}

/// `verify`, for so long, or on with it; what it found, or why there is nothing.
fn search(
    hunt: &mut Hunt<'_>,
    dir: &RunDir,
    time: Duration,
    resume: bool,
) -> Result<Report, String> {
    let config = VerifyConfig {
        max_time: Some(time.saturating_sub(MARGIN).max(LEAST)),
        resume,
        stop_at_first: hunt.config.stop_at_first,
        jobs: hunt.config.jobs,
        shard: hunt.config.shard,
        input: hunt.config.input.clone(),
        control: ControlConfig {
            results: dir.file("results"),
            ..hunt.config.control.clone()
        },
        launch: launch(hunt),
        ..VerifyConfig::default()
    };
    match verify::with(&config, &hunt.launcher.with(&config.launch), &Silent) {
        Ok((answer, interrupted)) => {
            hunt.interrupted |= interrupted;
            Ok(answer.report)
        }
        Err(error) => {
            hunt.failed = true;
            Err(format!("it failed: {error:#}"))
        }
    }
}

/// What `verify` says of itself; of a report without it, that nothing was explored.
fn told(report: &Report) -> Exploration {
    report.exploration.clone().unwrap_or_default()
}

/// Whether the rest of it can be done in this time, going by the part that
/// took `took`.
fn fits(explored: &Exploration, took: Duration, time: Duration) -> bool {
    let each = took.as_secs_f64() / explored.executions.max(1) as f64;
    let done = explored.classes as f64;
    let rest = explored.estimate.map(|all| (all - done) * each * SLACK);
    explored.limited && rest.is_some_and(|rest| rest <= time.as_secs_f64())
}

/// What it was, for the list of stages.
fn note(explored: &Exploration) -> String {
    let many = counted(explored.executions, "execution", "executions");
    if explored.complete {
        return format!("{many}, complete");
    }
    let share = explored
        .estimate
        .filter(|all| *all >= 1.0)
        .map(|all| (explored.classes as f64 / all * 100.0).min(99.0));
    match (explored.limited, share) {
        (true, Some(share)) if share < 1.0 => {
            format!("{many}, not complete: less than 1 % of the schedules, by estimate")
        }
        (true, Some(share)) => {
            format!("{many}, not complete: about {share:.0} % of the schedules, by estimate")
        }
        _ => format!("{many}, not complete: {}", explored.not_complete.join("; ")),
    }
}

/// What a complete exploration says of the program.
fn sentence(explored: &Exploration, found: &Report) -> String {
    let many = counted(explored.executions, "execution", "executions");
    let parts = [
        (group::findings(&found.races).len(), "data race"),
        (found.deadlocks.len(), "deadlock"),
        (found.failures.len(), "uncaught exception"),
    ];
    let shown: Vec<String> = parts
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| counted(n as u64, what, &format!("{what}s")))
        .collect();
    match shown.is_empty() {
        true => format!(
            "complete: no data race, deadlock or uncaught exception in any schedule of this\n\
             program on this input ({many})"
        ),
        false => format!(
            "complete: every schedule of this program on this input was explored ({many}),\n\
             and there is nothing in them but this: {}",
            shown.join(", ")
        ),
    }
}

/// What is known to happen and the exploration did not meet.
fn not_shown(known: &Report, found: &Report) -> Vec<String> {
    let ends = |race: &Race, effect: fn(Effect) -> bool| {
        race.outcomes.iter().any(|outcome| effect(outcome.result))
    };
    let stood = |effect| matches!(effect, Effect::Deadlock | Effect::Livelock);
    let died = |effect| effect == Effect::Exception;
    let races = known.races.iter().filter(|race| {
        race.status >= Status::Predicted && found.find(race).is_none()
            || found.deadlocks.is_empty() && ends(race, stood)
            || found.failures.is_empty() && ends(race, died)
    });
    let deadlocks = { known.deadlocks.iter() }.filter(|_| found.deadlocks.is_empty());
    let failures = known.failures.iter().filter(|_| found.failures.is_empty());
    races
        .map(|race| race.id.clone())
        .chain(deadlocks.map(|d| d.id.clone()))
        .chain(failures.map(|f| f.id.clone()))
        .collect()
}

/// Adds what was found, and the schedules of what had none to show it again.
fn merge(hunt: &mut Hunt<'_>, dir: &RunDir, mut found: Report) -> Result<(), Error> {
    first_ones(&mut found);
    // Their commands name a directory that will be gone.
    let races = found.races.iter_mut().map(|r| (&r.id, &mut r.replay));
    let deadlocks = found.deadlocks.iter_mut().map(|d| (&d.id, &mut d.replay));
    let failures = found.failures.iter_mut().map(|f| (&f.id, &mut f.replay));
    let kept: BTreeSet<String> = races
        .chain(deadlocks)
        .chain(failures)
        .filter_map(|(id, replay)| replay.take().map(|_| id.clone()))
        .collect();
    let theirs = found.clone();
    hunt.add(found);
    let Ok(store) = Store::open(&dir.file("results")) else {
        return Ok(());
    };
    let mut keep = |their: &str, id: &str, replay: &mut Option<Replay>| -> Result<(), Error> {
        if !kept.contains(their) || replay.is_some() {
            return Ok(());
        }
        let (mut schedule, log) = store.schedule(their)?;
        id.clone_into(&mut schedule.name);
        let number = hunt.store.number();
        *replay = Some(controlled_run::replay(
            &hunt.config.control,
            number,
            &schedule,
        ));
        hunt.store.add(schedule, &log)?;
        Ok(())
    };
    for race in &theirs.races {
        let id = hunt.report.find(race).map(|ours| ours.id.clone());
        let ours = hunt.report.races.iter_mut();
        if let Some(ours) = ours.into_iter().find(|ours| Some(&ours.id) == id.as_ref()) {
            keep(&race.id, &ours.id, &mut ours.replay)?;
        }
    }
    for deadlock in &theirs.deadlocks {
        let mut ours = hunt.report.deadlocks.iter_mut();
        if let Some(ours) = ours.find(|ours| ours.same(deadlock)) {
            keep(&deadlock.id, &ours.id, &mut ours.replay)?;
        }
    }
    for failure in &theirs.failures {
        let mut ours = hunt.report.failures.iter_mut();
        if let Some(ours) = ours.find(|ours| ours.same(failure)) {
            keep(&failure.id, &ours.id, &mut ours.replay)?;
        }
    }
    Ok(())
}

/// Thousands of executions are no runs that somebody wants to see listed: those
/// stay that were the first to show something, and the very first.
fn first_ones(found: &mut Report) {
    let races = found.races.iter_mut().map(|race| {
        (race.runs, race.count) = (1, 1);
        &mut race.first_run
    });
    let deadlocks = found.deadlocks.iter_mut().map(|d| {
        d.runs = 1;
        &mut d.first_run
    });
    let failures = found.failures.iter_mut().map(|f| {
        f.runs = 1;
        &mut f.first_run
    });
    let mut firsts: Vec<&mut u64> = races.chain(deadlocks).chain(failures).collect();
    // A report of a single run leaves the number out.
    let numbers = firsts.iter().map(|first| (**first).max(1));
    let stay: BTreeSet<u64> = numbers.chain([1]).collect();
    for first in &mut firsts {
        **first = stay.range(..=(**first).max(1)).count() as u64;
    }
    let mut number = 0;
    found.runs.retain(|_| {
        number += 1;
        stay.contains(&number)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::result::Run;
    use serde_json::json;

    fn exploration(json: serde_json::Value) -> Exploration {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_whole_is_explored_only_if_it_fits() {
        let seconds = Duration::from_secs;
        let part = exploration(json!({
            "limited": true, "executions": 50, "classes": 30, "estimate": 80.0,
            "not_complete": ["there was no more time"]
        }));
        // Fifty are left, 0.2 s each, and half as much again.
        assert!(fits(&part, seconds(10), seconds(15)));
        assert!(!fits(&part, seconds(10), seconds(14)));
        let elsewhere = Exploration {
            limited: false,
            ..part.clone()
        };
        assert!(
            !fits(&elsewhere, seconds(10), seconds(1000)),
            "time is no help"
        );
        let unknown = Exploration {
            estimate: None,
            ..part.clone()
        };
        assert!(!fits(&unknown, seconds(10), seconds(1000)));
        assert!(!fits(&Exploration::default(), seconds(0), seconds(0)));
    }

    #[test]
    fn notes_say_how_far_it_came() {
        let part = exploration(json!({
            "limited": true, "executions": 50, "classes": 30, "estimate": 80.0,
            "not_complete": ["there was no more time"]
        }));
        assert!(note(&part).contains("not complete: about 38 % of"));
        let speck = Exploration {
            estimate: Some(1e9),
            ..part.clone()
        };
        assert!(note(&speck).contains("less than 1 %"));
        let lost = Exploration {
            limited: false,
            ..part
        };
        assert_eq!(
            note(&lost),
            "50 executions, not complete: there was no more time"
        );
        assert_eq!(
            note(&exploration(json!({ "complete": true, "executions": 1 }))),
            "1 execution, complete"
        );
    }

    fn report(races: Vec<serde_json::Value>) -> Report {
        serde_json::from_value(json!({
            "schema": 1, "tool": "t", "command": "verify", "program": { "args": [] },
            "races": races
        }))
        .unwrap()
    }

    fn race(id: &str, status: &str, line: u32) -> serde_json::Value {
        let access = |line: u32| {
            json!({ "op": "write", "thread": "t", "class": "A", "method": "m",
                    "file": "A.java", "line": line })
        };
        json!({
            "id": id, "fingerprint": "", "status": status, "found_by": ["fasttrack"],
            "location": { "class": "A", "field": "f" }, "accesses": [access(1), access(line)],
            "count": 900, "runs": 90
        })
    }

    #[test]
    fn what_other_runs_show_and_no_execution_does_is_a_contradiction() {
        let known = report(vec![
            race("R1", "observed", 2),
            race("R2", "predicted", 3),
            race("R3", "potential", 4),
        ]);
        let both = report(vec![race("R1", "observed", 2), race("R2", "observed", 3)]);
        assert!(not_shown(&known, &both).is_empty());
        let one = report(vec![race("R1", "observed", 3)]);
        assert_eq!(not_shown(&known, &one), ["R1"]);
        assert_eq!(not_shown(&known, &report(vec![])), ["R1", "R2"]);
        // It is there, but nothing like what came of it.
        let mut died = race("R1", "confirmed", 2);
        died["outcomes"] = json!([{ "first": 0, "result": "exception" }]);
        let died = report(vec![died]);
        assert_eq!(not_shown(&died, &both), ["R1"]);
    }

    #[test]
    fn only_executions_that_showed_something_first_are_runs() {
        let first = |id: &str, line: u32, run: u64| {
            let mut race = race(id, "observed", line);
            race["first_run"] = run.into();
            race
        };
        let races = vec![first("R1", 2, 3), first("R2", 3, 7), first("R3", 4, 3)];
        let mut found = report(races);
        found.runs = (0..9)
            .map(|n| Run {
                steps: Some(n),
                ..Run::default()
            })
            .collect();
        first_ones(&mut found);
        let steps: Vec<_> = found.runs.iter().filter_map(|run| run.steps).collect();
        assert_eq!(steps, [0, 2, 6]);
        let firsts: Vec<_> = found.races.iter().map(|r| (r.first_run, r.runs)).collect();
        assert_eq!(firsts, [(2, 1), (3, 1), (2, 1)]);
    }
}
