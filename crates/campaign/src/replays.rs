//! Schedules that travel with results, so that what a worker found can be stepped through and replayed elsewhere.
//!
//! Two workers may both have an `R1`, so a schedule is known by the unit that made it and the name that it had there.
//! The report of an outcome says so in the place of each replay command: `photofinish replay UNIT/NAME`. Reports that are
//! merged keep these, whichever ids findings get; in the end every schedule gets a name after the id that its finding
//! has then ([`named`]). What was not sent along has no replay.

use crate::unit::KeptSchedule;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use driver::store::Store;
use engine::merge::unused;
use findings::confirmed::Replay;
use findings::result::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Schedules that go with a result, in bytes.
const MOST: usize = 4 << 20;

/// Schedules by unit and name.
pub type Schedules = BTreeMap<String, KeptSchedule>;

fn key(unit: &str, name: &str) -> String {
    format!("{unit}/{name}")
}

/// Takes the schedules of a report from a worker's directory, as far as they are not too long to send, and
/// names them in the report.
pub fn pack(results: &Path, report: &mut Report, unit: &str) -> Vec<KeptSchedule> {
    let store = match report.replays_mut().iter().any(|(_, it)| it.is_some()) {
        true => Store::open(results).ok(),
        false => None,
    };
    let mut left = MOST;
    let mut kept: BTreeMap<String, Option<KeptSchedule>> = BTreeMap::new();
    for (_, place) in report.replays_mut() {
        let Some(replay) = place else {
            continue;
        };
        let name = replay.name().to_owned();
        let load = || {
            let (schedule, log) = store.as_ref()?.schedule(&name).ok()?;
            left = left.checked_sub(log.len())?;
            let log = BASE64.encode(log);
            Some(KeptSchedule { schedule, log })
        };
        let is_sent = kept.entry(name.clone()).or_insert_with(load).is_some();
        replay.command = command(&key(unit, &name));
        if !is_sent {
            *place = None;
        }
    }
    kept.into_values().flatten().collect()
}

fn command(key: &str) -> String {
    format!("photofinish replay {key}")
}

/// Takes the schedules of an outcome. What its report says otherwise about replays is dropped: it may be anything.
pub fn unpack(report: &mut Report, sent: Vec<KeptSchedule>, unit: &str, known: &mut Schedules) {
    let mut sent: Schedules = { sent.into_iter() }
        .map(|kept| (key(unit, &kept.schedule.name), kept))
        .collect();
    for (_, place) in report.replays_mut() {
        let is_known = |replay: &Replay| {
            let key = replay.name();
            replay.command == command(key) && sent.contains_key(key)
        };
        if !place.as_ref().is_some_and(is_known) {
            *place = None;
        }
    }
    known.append(&mut sent);
}

/// Drops what the report does not need any more.
pub fn retain(report: &mut Report, known: &mut Schedules) {
    let places = report.replays_mut().into_iter();
    let needed: BTreeSet<String> = places
        .filter_map(|(_, place)| Some(place.as_ref()?.name().to_owned()))
        .collect();
    known.retain(|key, _| needed.contains(key));
}

/// The schedules of a report under names after the ids of its findings: `R1`, `R1.exception`. `told` gives the
/// command for a name, if there is one.
pub fn named(
    report: &mut Report,
    known: &Schedules,
    told: impl Fn(&str) -> Option<String>,
) -> Vec<KeptSchedule> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut used = BTreeSet::new();
    let mut all = Vec::new();
    for (id, place) in report.replays_mut() {
        let Some(replay) = place else {
            continue;
        };
        let key = replay.name().to_owned();
        let Some(kept) = known.get(&key) else {
            *place = None;
            continue;
        };
        let name = names.entry(key).or_insert_with(|| {
            let end = kept.schedule.name.split_once('.').map(|(_, end)| end);
            let name = unused(&id, end, &mut used);
            let mut kept = kept.clone();
            kept.schedule.name.clone_from(&name);
            all.push(kept);
            name
        });
        match told(name) {
            Some(command) => replay.command = command,
            None => *place = None,
        }
    }
    all
}

/// The log of a schedule that was sent.
pub fn log(kept: &KeptSchedule) -> Option<Vec<u8>> {
    BASE64.decode(&kept.log).ok()
}
