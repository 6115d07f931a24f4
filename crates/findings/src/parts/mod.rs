//! Whole reports made one: those of shards, of several machines, of several nights.
//!
//! Unlike [`Report::absorb`], which adds what a later command says of the same races to a
//! report that keeps its ids, nothing here comes first: [`merge`] is commutative and associative
//! (`tests/parts.rs`), so that it does not matter who puts together what, and in which order.
//! For that, every choice between equals is made by a total order, and whatever follows
//! from the parts as a whole (ids, order, whether all shards are there) is worked out anew.
//!
//! | of | comes |
//! |---|---|
//! | races, deadlocks, failures, violations | each once; counts, runs and trials add up; the strongest status |
//! | explorations | classes each once, by their digests; complete if all shards are there and each was |
//! | schedules tried | the sum; different ones each once, by their digests |
//! | coverage | the sum of events, the most threads and classes, everything that was skipped |
//! | comparisons with earlier results | nothing: they are to be made again |
//!
//! A race is the same if its location, its two lines and, inside the JDK, the program's calls
//! are. A call that is not known is none that is: what `absorb` takes for one race may be two
//! here, of one finding.

mod explored;
mod races;

use crate::confirmed::{Deadlock, Failure, ReferenceRuns};
use crate::merge::{Key, Merge};
use crate::prediction::{AtomicityViolation, Engine, Property, PropertyStatus};
use crate::result::{Coverage, HuntSummary, Program, Race, Report, Run, Stage, Timing};
use crate::sampling::Sampling;
use crate::shard;
use crate::suppress::Suppressed;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The command of a report that was put together from those of several commands.
pub const COMMAND: &str = "merge";

/// How a warning begins that is taken back when another part exercised something.
const IDLE: &str = "nothing was exercised";

/// Makes one report of several; none of none.
pub fn merge(parts: Vec<Report>) -> Option<Report> {
    let runs = Runs::new(&parts);
    let names: Vec<BTreeMap<String, String>> = parts.iter().map(names).collect();
    let mut all = Collected::default();
    for (number, part) in parts.into_iter().enumerate() {
        all.take(part, &names[number], |first| runs.place(number, first));
    }
    all.finish(runs.sorted)
}

/// The runs of all parts, in an order of their own, and where each went.
struct Runs {
    sorted: Vec<Run>,
    /// For each part and run: its number, from 1.
    places: Vec<Vec<u64>>,
    /// Parts that were put together before.
    merged: Vec<bool>,
}

impl Runs {
    fn new(parts: &[Report]) -> Runs {
        let mut all: Vec<(usize, usize, &Run)> = Vec::new();
        for (part, report) in parts.iter().enumerate() {
            let runs = report.runs.iter().enumerate();
            all.extend(runs.map(|(at, run)| (part, at, run)));
        }
        all.sort_by_cached_key(|(_, _, run)| (run.scheduler.clone(), run.seed, text(run)));
        let mut places: Vec<Vec<u64>> = parts.iter().map(|r| vec![0; r.runs.len()]).collect();
        for ((part, at, _), number) in all.iter().zip(1..) {
            places[*part][*at] = number;
        }
        Runs {
            sorted: all.into_iter().map(|(_, _, run)| run.clone()).collect(),
            places,
            merged: parts.iter().map(|part| part.merged > 0).collect(),
        }
    }

    /// The number that a part's run has now; 0: it is not known which it was.
    fn place(&self, part: usize, first: u64) -> u64 {
        let places = &self.places[part];
        let at = match (first, places.len()) {
            // A command's report of a single run leaves the number out.
            (0, 1) if !self.merged[part] => 0,
            (0, _) => return 0,
            (first, _) => first as usize - 1,
        };
        places.get(at).copied().unwrap_or(0)
    }
}

/// What the races of a report are called until they have their numbers.
fn names(report: &Report) -> BTreeMap<String, String> {
    let named = |race: &Race| (race.id.clone(), format!("{:?}", Key::new(race)));
    report.races.iter().map(named).collect()
}

#[derive(Default)]
struct Collected {
    tools: BTreeSet<String>,
    commands: BTreeSet<String>,
    programs: BTreeSet<Vec<String>>,
    program: Option<Program>,
    races: BTreeMap<Key, Race>,
    deadlocks: Vec<Deadlock>,
    failures: Vec<Failure>,
    coverage: Coverage,
    engines: BTreeMap<String, Engine>,
    atomicity: BTreeMap<String, AtomicityViolation>,
    properties: BTreeMap<String, Property>,
    suppressed: BTreeMap<String, Suppressed>,
    warnings: BTreeSet<String>,
    shards: Vec<shard::Parts>,
    idle: bool,
    /// Members that need no more than one step each.
    rest: Option<Report>,
}

impl Collected {
    fn take(
        &mut self,
        mut part: Report,
        names: &BTreeMap<String, String>,
        place: impl Fn(u64) -> u64,
    ) {
        self.tools.extend(part.tool.split(", ").map(str::to_owned));
        self.commands.insert(part.command.clone());
        self.take_program(&mut part);
        for mut race in std::mem::take(&mut part.races) {
            race.first_run = place(race.first_run);
            races::rename(&mut race, names);
            let key = Key::new(&race);
            let race = match self.races.remove(&key) {
                Some(known) => races::join(known, race),
                None => races::alone(race),
            };
            self.races.insert(key, race);
        }
        for mut deadlock in std::mem::take(&mut part.deadlocks) {
            deadlock.first_run = place(deadlock.first_run);
            fold(
                &mut self.deadlocks,
                deadlock,
                Deadlock::same,
                join_deadlocks,
            );
        }
        for mut failure in std::mem::take(&mut part.failures) {
            failure.first_run = place(failure.first_run);
            fold(&mut self.failures, failure, Failure::same, join_failures);
        }
        self.take_violations(&mut part);
        join_coverage(&mut self.coverage, std::mem::take(&mut part.coverage));
        self.warnings.append(&mut part.warnings.drain(..).collect());
        self.shards.append(&mut part.shards);
        self.idle |= part.not_exercised;
        if let Some(repairs) = &mut part.repairs {
            races::rename_ids(&mut repairs.removes, names);
        }
        part.merged = part.merged.max(1);
        self.rest = Some(match self.rest.take() {
            Some(known) => join_rest(known, part),
            None => part,
        });
    }

    /// What was run. Of several command lines one is shown and the warnings have all.
    fn take_program(&mut self, part: &mut Report) {
        let new = std::mem::take(&mut part.program);
        if !new.args.is_empty() || new.exec {
            self.programs.insert(new.args.clone());
        }
        self.program = Some(match self.program.take() {
            None => new,
            Some(known) => {
                let both = [known, new];
                let args = both.iter().map(|p| &p.args).filter(|args| !args.is_empty());
                let shown = args.min().cloned().unwrap_or_default();
                let [known, new] = both;
                Program {
                    args: shown,
                    exec: known.exec || new.exec,
                    exit: known.exit.max(new.exit),
                    output_sha256: least(known.output_sha256, new.output_sha256),
                    other: join_other(known.other, new.other),
                }
            }
        });
    }

    fn take_violations(&mut self, part: &mut Report) {
        for engine in std::mem::take(&mut part.engines) {
            let joined = match self.engines.remove(&engine.engine) {
                Some(known) => explored::join_engines(known, engine),
                None => engine,
            };
            self.engines.insert(joined.engine.clone(), joined);
        }
        for violation in std::mem::take(&mut part.atomicity) {
            let key = text(&(
                &violation.unit,
                &violation.at,
                &violation.pattern,
                &violation.accesses,
            ));
            let joined = match self.atomicity.remove(&key) {
                Some(mut known) => {
                    let mut violation = violation;
                    let witness = shortest(known.witness.take(), violation.witness.take());
                    // What came of it, and how to see it again, is of the one that was made to happen.
                    let strength = |v: &AtomicityViolation| (v.status, v.tried.is_some(), text(v));
                    let stronger = match strength(&known) > strength(&violation) {
                        true => known,
                        false => violation,
                    };
                    AtomicityViolation {
                        witness,
                        ..stronger
                    }
                }
                None => violation,
            };
            self.atomicity.insert(key, joined);
        }
        for property in std::mem::take(&mut part.properties) {
            let joined = match self.properties.remove(&property.name) {
                Some(known) => join_properties(known, property),
                None => property,
            };
            self.properties.insert(joined.name.clone(), joined);
        }
        for hidden in std::mem::take(&mut part.suppressed) {
            let race = &hidden.race;
            let key = text(&(&race.fingerprint, &race.location, &hidden.reason));
            let known = self.suppressed.remove(&key);
            let mut joined = hidden;
            if let Some(known) = known {
                joined.race.status = joined.race.status.max(known.race.status);
            }
            self.suppressed.insert(key, joined);
        }
    }

    fn finish(mut self, runs: Vec<Run>) -> Option<Report> {
        let rest = self.rest.take()?;
        let tool = self.tools.into_iter().collect::<Vec<_>>().join(", ");
        let command = match self.commands.len() {
            1 => self.commands.pop_first()?,
            _ => COMMAND.to_owned(),
        };
        if self.programs.len() > 1 {
            let line = |args: &Vec<String>| {
                format!(
                    "merged from reports of several command lines; one is: {}",
                    args.join(" ")
                )
            };
            self.warnings.extend(self.programs.iter().map(line));
        }
        self.deadlocks
            .sort_by_cached_key(|d| text(&(&d.kind, &d.threads)));
        self.failures
            .sort_by_cached_key(|f| text(&(&f.exception, &f.stack, &f.thread)));
        for (deadlock, number) in self.deadlocks.iter_mut().zip(1..) {
            deadlock.id = format!("D{number}");
        }
        for (failure, number) in self.failures.iter_mut().zip(1..) {
            failure.id = format!("F{number}");
        }
        let shards = shard::union(self.shards);
        let missing = shard::missing(&shards);
        self.warnings
            .retain(|text| !text.starts_with(shard::MISSING) && !text.starts_with(shard::ONE));
        self.warnings.extend(missing.clone());
        let first_runs: BTreeMap<Key, u64> = { self.races.iter() }
            .map(|(key, race)| (key.clone(), race.first_run))
            .collect();
        let merge = Merge::of(
            self.races.into_values().collect(),
            runs,
            self.coverage,
            self.deadlocks,
            self.failures,
        );
        let mut report = merge.finish(tool, &command, self.program.unwrap_or_default(), 0.0);
        for race in &mut report.races {
            race.first_run = first_runs.get(&Key::new(race)).copied().unwrap_or(0);
        }
        races::number(&mut report.races);
        let coverage = &report.coverage;
        let blind = { coverage.sampling.as_ref() }.is_some_and(Sampling::is_blind);
        let exercised = coverage.threads > 1 && coverage.classes_instrumented > 0 && !blind
            || !report.races.is_empty()
            || report.has_findings();
        report.not_exercised = self.idle && !exercised;
        let idle = report.not_exercised;
        report.warnings = { self.warnings.into_iter() }
            .filter(|text| idle || !text.starts_with(IDLE))
            .collect();
        report.engines = explored::alone(self.engines.into_values().collect());
        report.atomicity = self.atomicity.into_values().collect();
        for (violation, number) in report.atomicity.iter_mut().zip(1..) {
            violation.id = format!("A{number}");
        }
        report.properties = self.properties.into_values().collect();
        report.suppressed = self.suppressed.into_values().collect();
        let listed = report.races.len();
        for (hidden, number) in report.suppressed.iter_mut().zip(listed + 1..) {
            hidden.race.id = format!("R{number}");
        }
        report.repairs = races::covering(rest.repairs, &report.races);
        report.exploration = rest
            .exploration
            .map(|e| explored::conclude(e, &shards, missing));
        report.schedules = rest.schedules;
        report.reference = rest.reference;
        report.reference_runs = rest.reference_runs;
        report.replayed = rest.replayed;
        report.hunt = rest.hunt;
        report.limit_reached = rest.limit_reached;
        report.timing = rest.timing;
        report.other = rest.other;
        report.shards = shards;
        report.merged = rest.merged;
        Some(report)
    }
}

fn join_rest(known: Report, new: Report) -> Report {
    Report {
        exploration: both(known.exploration, new.exploration, explored::join),
        schedules: both(known.schedules, new.schedules, explored::join_schedules),
        repairs: both(known.repairs, new.repairs, races::larger),
        reference: least(known.reference, new.reference),
        reference_runs: ReferenceRuns::grouped([known.reference_runs, new.reference_runs].concat()),
        replayed: both(known.replayed, new.replayed, |a, b| {
            if text(&a) <= text(&b) { a } else { b }
        }),
        hunt: both(known.hunt, new.hunt, join_hunts),
        limit_reached: known.limit_reached || new.limit_reached,
        timing: Timing {
            native_s: both(known.timing.native_s, new.timing.native_s, f64::min),
            total_s: known.timing.total_s + new.timing.total_s,
        },
        other: join_other(known.other, new.other),
        merged: known.merged + new.merged,
        ..known
    }
}

/// Stages were done side by side: each took as long as the longest.
fn join_hunts(mut known: HuntSummary, new: HuntSummary) -> HuntSummary {
    const BETWEEN: &str = " | ";
    let mut last = 0;
    for stage in new.stages {
        match known.stages.iter().position(|s| s.stage == stage.stage) {
            Some(at) => {
                let same = &mut known.stages[at];
                same.seconds = same.seconds.max(stage.seconds);
                let notes: BTreeSet<&str> = same
                    .note
                    .split(BETWEEN)
                    .chain(stage.note.split(BETWEEN))
                    .collect();
                same.note = notes.into_iter().collect::<Vec<_>>().join(BETWEEN);
                last = at + 1;
            }
            None => {
                let at = last.min(known.stages.len());
                known.stages.insert(at, Stage { ..stage });
                last = at + 1;
            }
        }
    }
    known.time_limit_s = known.time_limit_s.max(new.time_limit_s);
    known
}

/// What is shown of two descriptions of one finding, whichever came first.
fn least_by<T, K: Ord>(known: T, new: T, key: impl Fn(&T) -> K) -> T {
    match key(&known) <= key(&new) {
        true => known,
        false => new,
    }
}

fn join_deadlocks(known: Deadlock, new: Deadlock) -> Deadlock {
    let shown = |d: &Deadlock| text(&(&d.threads, d.cycle));
    let (runs, first_run) = (
        known.runs + new.runs,
        earliest(known.first_run, new.first_run),
    );
    let replay = least_by_text(known.replay.clone(), new.replay.clone());
    let shown = least_by(known, new, shown);
    Deadlock {
        runs,
        first_run,
        replay,
        ..shown
    }
}

fn join_failures(known: Failure, new: Failure) -> Failure {
    let shown = |f: &Failure| text(&(&f.exception, &f.stack, &f.thread));
    let (runs, first_run) = (
        known.runs + new.runs,
        earliest(known.first_run, new.first_run),
    );
    let replay = least_by_text(known.replay.clone(), new.replay.clone());
    let shown = least_by(known, new, shown);
    Failure {
        runs,
        first_run,
        replay,
        ..shown
    }
}

/// A property is broken if some part shows it, and then shown as the strongest does.
fn join_properties(known: Property, new: Property) -> Property {
    let strength = |p: &Property| match p.status {
        PropertyStatus::Observed => 0,
        PropertyStatus::Predicted => 1,
        PropertyStatus::Holds => 2,
    };
    let shown = |p: &Property| (strength(p), p.path.len(), text(&(&p.path, &p.witness)));
    let complete = known.complete && new.complete;
    let cuts = known.cuts.saturating_add(new.cuts);
    let shown = least_by(known, new, shown);
    Property {
        complete,
        cuts,
        ..shown
    }
}

fn join_coverage(known: &mut Coverage, new: Coverage) {
    known.classes_instrumented = known.classes_instrumented.max(new.classes_instrumented);
    known.threads = known.threads.max(new.threads);
    known.events = both(known.events, new.events, u64::saturating_add);
    known.classes_skipped.extend(new.classes_skipped);
    known.classes_skipped.sort();
    known.classes_skipped.dedup();
    known.missing_models.extend(new.missing_models);
    known.missing_models.sort();
    known.missing_models.dedup();
    Sampling::join_some(&mut known.sampling, new.sampling);
    known.jvms_skipped.extend(new.jvms_skipped);
    known.jvms_skipped.sort_by_cached_key(text);
    known.jvms_skipped.dedup();
    known.other = join_other(std::mem::take(&mut known.other), new.other);
}

/// Members that nobody here knows: of two values the one whose text is less.
fn join_other(mut known: Map<String, Value>, new: Map<String, Value>) -> Map<String, Value> {
    for (name, value) in new {
        match known.get_mut(&name) {
            Some(old) if text(old) <= text(&value) => {}
            Some(old) => *old = value,
            None => {
                known.insert(name, value);
            }
        }
    }
    known
}

/// Joins something with the same in a list, or adds it.
fn fold<T>(list: &mut Vec<T>, new: T, same: fn(&T, &T) -> bool, join: fn(T, T) -> T) {
    match list.iter().position(|known| same(known, &new)) {
        Some(at) => {
            let known = list.swap_remove(at);
            list.push(join(known, new));
        }
        None => list.push(new),
    }
}

/// The first of two runs that are known; 0 is not.
fn earliest(a: u64, b: u64) -> u64 {
    match (a, b) {
        (0, other) | (other, 0) => other,
        (a, b) => a.min(b),
    }
}

fn both<T>(known: Option<T>, new: Option<T>, join: impl FnOnce(T, T) -> T) -> Option<T> {
    match (known, new) {
        (Some(known), Some(new)) => Some(join(known, new)),
        (known, new) => known.or(new),
    }
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    both(a, b, T::min)
}

fn least_by_text<T: Serialize>(a: Option<T>, b: Option<T>) -> Option<T> {
    both(a, b, |a, b| if text(&a) <= text(&b) { a } else { b })
}

/// The shorter of two lists, such as witnesses.
fn shortest<T: Serialize>(a: Option<Vec<T>>, b: Option<Vec<T>>) -> Option<Vec<T>> {
    let key = |list: &Vec<T>| (list.len(), text(list));
    both(a, b, |a, b| if key(&a) <= key(&b) { a } else { b })
}

/// A total order where there is no other. Types of ours, with names as keys: that cannot fail.
fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
