//! Stale values as a stage of a hunt: what a thread saw in one step and acts on in a later one
//! (docs/atomicity.md). The program may have no data race at all.
//!
//! The recorded run is looked at first, for half of the stage's time at most: what comes of that is potential,
//! predicted (with a witness that the checker accepted) or observed. In the rest controlled runs make the write of
//! another thread come between, and are compared with runs in which nothing was stale; only what
//! happened in one of them is confirmed. Runs are recorded in full, so each has the bounds of the first recording.

use super::Hunt;
use super::free::{MOST_RECORDED, Recorded};
use super::stages::{MOST_PREDICTED, SLOW, TOO_LONG, add};
use crate::controlled_run;
use crate::error::Error;
use crate::predict::by_schedule::{self, Done, Lines, Tries};
use crate::predict::stale;
use driver::store::Writer;
use findings::prediction::AtomicityViolation;
use findings::result::{Report, Status};
use findings::text::counted;
use std::collections::BTreeSet;
use std::time::Instant;

/// Looks for them in the recording, and makes them happen.
pub fn stale_values(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let Some(mut recorded) = hunt.recorded.take() else {
        return Ok(format!("nothing was recorded: {SLOW}"));
    };
    // Prediction was left out.
    if let Some(run) = recorded.run.take() {
        hunt.noticed(&run.outcome);
        add(hunt, run);
    }
    if hunt.over() {
        return Ok("not looked for".to_owned());
    }
    hunt.progress.doing("looking for stale values");
    let Some(found) = in_recording(hunt, &recorded)? else {
        return Ok("not looked for: there was no time to follow the threads".to_owned());
    };
    let many = counted(found.len() as u64, "stale value", "stale values");
    let wanted: BTreeSet<Lines> = { found.iter().map(by_schedule::lines) }
        .filter(|lines| hunt.config.shard.owns_name(&format!("{lines:?}")))
        .collect();
    hunt.report.atomicity.extend(found);
    hunt.save();
    if wanted.is_empty() {
        return Ok(format!("{many} in the recorded run"));
    }
    if !hunt.ends {
        hunt.limited = true;
        return Ok(format!(
            "{many} in the recorded run; nothing was tried: {TOO_LONG}"
        ));
    }
    let done = make_happen(hunt, &wanted)?;
    Ok(format!(
        "{many} in the recorded run; {}, {} made to happen",
        counted(done.runs, "controlled run", "controlled runs"),
        done.confirmed
    ))
}

/// What the recorded run has; none if there was no time to find out.
fn in_recording(
    hunt: &mut Hunt<'_>,
    recorded: &Recorded,
) -> Result<Option<Vec<AtomicityViolation>>, Error> {
    let part = recorded.beginning(MOST_PREDICTED)?;
    let until = Instant::now() + hunt.left() / 2;
    let stop = || until <= Instant::now() || hunt.launcher.interrupts.is_requested();
    let looked = stale::look_for(&part.path, MOST_PREDICTED, &stop)?;
    let stopped = stop();
    hunt.interrupted |= hunt.launcher.interrupts.is_requested();
    let Some(looked) = looked else {
        hunt.limited = true;
        return Ok(None);
    };
    if let Some(why) = &looked.incomplete {
        hunt.limited |= stopped;
        let text = format!("stale values may have been missed: {why}");
        hunt.report.warnings.push(text);
    }
    let known = hunt.report.atomicity.len();
    let mut found = looked.violations();
    for (number, violation) in (known + 1..).zip(&mut found) {
        violation.id = format!("A{number}");
    }
    Ok(Some(found))
}

/// Controlled runs in which they are stale, and others to compare with.
fn make_happen(hunt: &mut Hunt<'_>, wanted: &BTreeSet<Lines>) -> Result<Done, Error> {
    hunt.progress
        .doing("letting another thread come between look and act");
    let config = hunt.config;
    let tries = Tries {
        runs: config.trials.min(Tries::default().runs),
        input: config.input.clone(),
        control: config.control.clone(),
        deadline: Some(hunt.stage_end),
        most_recorded: MOST_RECORDED,
        most_events: MOST_PREDICTED,
        ..Tries::default()
    };
    let (program, suppress) = (&hunt.program, &config.suppress);
    let mut save = |store: &mut Writer, report: &Report| {
        controlled_run::save_so_far(store, program, report, suppress);
    };
    let done = by_schedule::confirm(
        &tries,
        hunt.launcher,
        (&mut hunt.store, &mut save),
        &mut hunt.report,
        wanted,
    )?;
    hunt.interrupted |= done.interrupted;
    hunt.limited |= done.limited && !all_happened(&hunt.report, wanted);
    if done.limited && !done.interrupted {
        let why = match done.too_long {
            true => "they are too long to be looked at",
            false => "there was no more time",
        };
        hunt.report.warnings.push(format!(
            "{} of {} that make values stale came to their end: {why}",
            done.runs,
            counted(tries.runs.into(), "controlled run", "controlled runs")
        ));
    }
    Ok(done)
}

fn all_happened(report: &Report, wanted: &BTreeSet<Lines>) -> bool {
    let mut asked = { report.atomicity.iter() }
        .filter(|v| v.stale.is_some() && wanted.contains(&by_schedule::lines(v)));
    asked.all(|violation| violation.status == Status::Confirmed)
}
