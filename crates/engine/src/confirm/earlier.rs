//! What a saved report says beyond its races and stale values: schedules, to be replayed. They go
//! over into the new result, whose report will name them; of one whose schedule is
//! gone it is not said any more that it was made to happen.

use crate::controlled_run;
use crate::error::Error;
use driver::store::{Schedule, Store, Writer};
use findings::confirmed::Replay;
use findings::result::{Race, Report, Status};
use std::path::Path;

/// A schedule and its log.
type Kept = (Schedule, Vec<u8>);

/// Takes the schedules of the saved report over. What to warn of.
pub fn take_over(
    saved: &mut Report,
    store: &mut Writer,
    config: &crate::config::ControlConfig,
) -> Result<Vec<String>, Error> {
    let number = store.number();
    let mut warnings = Vec::new();
    for race in &mut saved.races {
        let outcomes = race.outcomes.iter().filter_map(|o| o.replay.as_ref());
        let named: Vec<&Replay> = race.replay.iter().chain(outcomes).collect();
        if named.is_empty() {
            continue;
        }
        let all: Option<Vec<Kept>> = named
            .into_iter()
            .map(|r| find(&config.results, r))
            .collect();
        let Some(all) = all else {
            warnings.push(gone(&race.id, config));
            forget(race);
            continue;
        };
        let renamed = |replay: &mut Replay| {
            replay.command = controlled_run::replay_command(config, number, name(replay));
        };
        race.replay.iter_mut().for_each(renamed);
        race.outcomes
            .iter_mut()
            .filter_map(|o| o.replay.as_mut())
            .for_each(renamed);
        for (schedule, log) in all {
            store.add(schedule, &log)?;
        }
    }
    for violation in &mut saved.atomicity {
        let Some(replay) = &mut violation.replay else {
            continue;
        };
        if let Some((schedule, log)) = find(&config.results, replay) {
            replay.command = controlled_run::replay_command(config, number, name(replay));
            store.add(schedule, &log)?;
            continue;
        }
        warnings.push(gone(&violation.id, config));
        // What is left of it is the order that was possible.
        violation.status = violation.status.min(Status::Predicted);
        (violation.replay, violation.tried) = (None, None);
    }
    Ok(warnings)
}

fn gone(id: &str, config: &crate::config::ControlConfig) -> String {
    format!(
        "the schedule that showed {id} is not in {} any more",
        config.results.display()
    )
}

/// The last word of its command.
fn name(replay: &Replay) -> &str {
    replay.command.rsplit(' ').next().unwrap_or_default()
}

/// The number of the result that its command names.
fn result(replay: &Replay) -> Option<i64> {
    let mut words = replay.command.split(' ').skip_while(|w| *w != "--result");
    words.nth(1)?.parse().ok()
}

/// In the result that its command names; else (of an older version) in the latest that has it.
fn find(results: &Path, replay: &Replay) -> Option<Kept> {
    if let Some(number) = result(replay) {
        let store = Store::open_result(results, Some(number)).ok()?;
        return store.schedule(name(replay)).ok();
    }
    let latest = Store::open(results).ok()?;
    let all = latest.results().ok()?;
    let mut stores = { all.iter() }.filter_map(|kept| {
        let number = Some(kept.number);
        Store::open_result(results, number).ok()
    });
    stores.find_map(|store| {
        let (schedule, log) = store.schedule(name(replay)).ok()?;
        let same = schedule.name == name(replay) && schedule.seed == replay.seed;
        same.then_some((schedule, log))
    })
}

fn forget(race: &mut Race) {
    if race.status == Status::Confirmed {
        let by = race.found_by.iter();
        let without = by.map(|by| Status::of_detector(by)).max();
        race.status = without.unwrap_or(Status::Potential);
    }
    race.outcomes.clear();
    race.trials = None;
    race.harm = None;
    race.replay = None;
}
