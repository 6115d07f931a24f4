//! From what runs said to one report.
//!
//! A race of the report is a location and an unordered pair of source lines:
//! `total++` in two threads is one race, though a detector sees read-write and
//! write-write pairs. Runs and detectors that found the same race add up; the
//! strongest status wins. The accesses shown are those of the first finding,
//! except that a finding with a longer stack on either side replaces one that
//! has none. Races are numbered in the order of status, then location (the
//! program's own before the JDK's), then statements, so equal findings give equal reports whatever order the threads
//! happened to run in.

use crate::confirmed::{Deadlock, Failure};
use crate::finding::{self, Findings, Frame, Location, is_jdks, race_may_be_jdks};
use crate::fingerprint::fingerprint;
use crate::result::{Access, Coverage, Program, Race, Report, Run, SCHEMA, Status, Timing};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What identifies a race while merging. For arrays the element's index is
/// left out: a race on `table[3]` and one on `table[4]` at the same statements
/// are one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    location: (String, String),
    lines: [(String, String, Option<u32>); 2],
}

impl Key {
    pub(crate) fn of(location: &Location, ends: [&Frame; 2]) -> Key {
        let location = match location {
            Location::Field { class, field, .. } => (class.clone(), field.clone()),
            Location::Array {
                array,
                from,
                allocated,
                ..
            } => {
                let origin = match (from, allocated) {
                    (Some(from), _) => from.to_string(),
                    (None, Some(at)) => format!("{}.{}", at.class, at.method),
                    (None, None) => String::new(),
                };
                (array.clone(), origin)
            }
        };
        let line = |f: &Frame| (f.class.clone(), f.method.clone(), f.line.or(f.bci));
        let mut lines = ends.map(line);
        lines.sort();
        Key { location, lines }
    }
}

fn ends(race: &finding::Race) -> [&Frame; 2] {
    race.accesses.each_ref().map(|access| &access.frame)
}

#[derive(Clone, Debug)]
struct Entry {
    race: Race,
    last_run: usize,
}

const JDKS: &str = "races inside the JDK are called potential where it is not known who called \
                    there: the JDK has locks of its own that are not watched";

/// Collects runs; [`Merge::finish`] makes the report.
#[derive(Clone, Debug, Default)]
pub struct Merge {
    races: BTreeMap<Key, Entry>,
    runs: Vec<Run>,
    skipped: BTreeSet<finding::Skipped>,
    warnings: BTreeSet<String>,
    missing_models: BTreeSet<String>,
    coverage: Coverage,
    deadlocks: Vec<Deadlock>,
    failures: Vec<Failure>,
}

impl Merge {
    pub fn new() -> Merge {
        Merge::default()
    }

    /// Adds what one run said. `run.races` is filled in here.
    pub fn add(&mut self, findings: Findings, mut run: Run) {
        let this_run = self.runs.len();
        self.warnings.extend(findings.all_warnings());
        let mut keys = BTreeSet::new();
        for mut race in findings.races {
            if let Location::Array { allocated, .. } = &mut race.location {
                *allocated = allocated.take().or(race.allocated.take());
            }
            let key = Key::of(&race.location, ends(&race));
            let status = match findings.unwatched.is_empty() {
                true => self.standing(&race, Status::of_detector(&race.detector)),
                false => Status::Potential,
            };
            self.add_race(key.clone(), race, this_run, status);
            if run.hidden.is_some()
                && let Some(entry) = self.races.get_mut(&key)
                && !entry.race.found_by.iter().any(|by| by == "drfinder")
            {
                entry.race.found_by.push("drfinder".to_owned());
            }
            keys.insert(key);
        }
        run.races = keys.len() as u64;
        self.runs.push(run);
        for what in findings.unwatched {
            self.warn(format!(
                "the program uses {what}, which are not watched: what they do is not checked, and \
                 since they may have ordered others unseen, races are called potential"
            ));
        }
        self.skipped.extend(findings.skipped);
        let number = self.runs.len() as u64;
        let deadlocks = findings
            .deadlocks
            .into_iter()
            .map(|still| ("deadlock", still));
        let livelocks = findings
            .livelocks
            .into_iter()
            .map(|still| ("livelock", still));
        for (kind, still) in deadlocks.chain(livelocks) {
            let new = Deadlock::of(kind, still, number);
            match self.deadlocks.iter_mut().find(|known| known.same(&new)) {
                Some(known) => known.runs += 1,
                None => self.deadlocks.push(new),
            }
        }
        let mut failed: Vec<Failure> = Vec::new();
        for uncaught in findings.uncaught {
            let new = Failure::of(uncaught, number);
            // Two threads of one run may die of the same.
            if !failed.iter().any(|known| known.same(&new)) {
                failed.push(new);
            }
        }
        for new in failed {
            match self.failures.iter_mut().find(|known| known.same(&new)) {
                Some(known) => known.runs += 1,
                None => self.failures.push(new),
            }
        }
        if let Some((why, _)) = findings.stuck {
            self.warn(format!("run {number} was stuck and had to be ended: {why}"));
        }
        if let Some(summary) = findings.summary {
            self.missing_models.extend(summary.missing_models);
            let coverage = &mut self.coverage;
            coverage.classes_instrumented = coverage
                .classes_instrumented
                .max(summary.classes_instrumented);
            coverage.threads = coverage.threads.max(summary.threads);
            if let Some(events) = summary.events {
                coverage.events = Some(coverage.events.unwrap_or(0).saturating_add(events));
            }
        }
    }

    /// What a finding is worth, knowing who called.
    fn standing(&mut self, race: &finding::Race, status: Status) -> Status {
        if status == Status::Potential || !race_may_be_jdks(race) {
            return status;
        }
        self.warn(JDKS.to_owned());
        Status::Potential
    }

    pub fn warn(&mut self, text: String) {
        self.warnings.insert(text);
    }

    /// Adds a race that somebody worked out from the last run added, with what
    /// it is worth and the evidence for it. The first evidence is kept.
    pub fn add_worked_out(
        &mut self,
        mut race: finding::Race,
        status: Status,
        witness: Option<Value>,
    ) {
        let run = self.runs.len().saturating_sub(1);
        if let Location::Array { allocated, .. } = &mut race.location {
            *allocated = allocated.take().or(race.allocated.take());
        }
        let status = self.standing(&race, status);
        let key = Key::of(&race.location, ends(&race));
        let seen = |entry: &Entry| entry.last_run == run;
        if !self.races.get(&key).is_some_and(seen)
            && let Some(run) = self.runs.last_mut()
        {
            run.races += 1;
        }
        self.add_race(key.clone(), race, run, status);
        if let (Some(entry), Some(witness)) = (self.races.get_mut(&key), witness) {
            let other = &mut entry.race.other;
            other.entry("witness").or_insert(witness);
        }
    }

    fn add_race(&mut self, key: Key, found: finding::Race, run: usize, status: Status) {
        match self.races.get_mut(&key) {
            Some(entry) => {
                let known = &mut entry.race;
                known.status = known.status.max(status);
                if !known.found_by.contains(&found.detector) {
                    known.found_by.push(found.detector.clone());
                }
                known.count = known.count.saturating_add(found.count);
                add_statements(&mut known.statements, &found);
                if entry.last_run != run {
                    entry.last_run = run;
                    known.runs += 1;
                }
                let bare =
                    |stacks: [&Vec<Frame>; 2]| stacks.iter().filter(|s| s.is_empty()).count();
                if bare(known.accesses.each_ref().map(|a| &a.stack))
                    > bare(found.accesses.each_ref().map(|a| &a.stack))
                {
                    known.accesses = found.accesses.map(access);
                    known.location = found.location;
                    known.allocated = found.allocated;
                }
            }
            None => {
                let mut race = race(found, status);
                race.first_run = run as u64 + 1;
                self.races.insert(
                    key,
                    Entry {
                        race,
                        last_run: run,
                    },
                );
            }
        }
    }

    /// Numbers the races and closes the account.
    pub fn finish(self, tool: String, command: &str, program: Program, total_s: f64) -> Report {
        let mut races: Vec<Race> = self.races.into_values().map(|e| e.race).collect();
        // Stable: apart from this the order of the keys remains.
        races.sort_by_key(|race| (std::cmp::Reverse(race.status), is_jdks(&race.location)));
        let several = self.runs.len() > 1;
        for (index, race) in races.iter_mut().enumerate() {
            race.id = format!("R{}", index + 1);
            race.found_by.sort();
            if !several {
                race.first_run = 0;
            }
            race.statements.sort_by_key(statement);
            let shown = |frame: &Frame| race.accesses.iter().any(|a| a.at == *frame);
            if race.statements.iter().all(shown) {
                race.statements.clear();
            }
        }
        let (mut deadlocks, mut failures) = (self.deadlocks, self.failures);
        for (index, deadlock) in deadlocks.iter_mut().enumerate() {
            deadlock.id = format!("D{}", index + 1);
        }
        for (index, failure) in failures.iter_mut().enumerate() {
            failure.id = format!("F{}", index + 1);
        }
        Report {
            schema: SCHEMA,
            tool,
            command: command.into(),
            program,
            runs: self.runs,
            races,
            deadlocks,
            failures,
            coverage: Coverage {
                classes_skipped: self.skipped.into_iter().collect(),
                missing_models: self.missing_models.into_iter().collect(),
                ..self.coverage
            },
            warnings: self.warnings.into_iter().collect(),
            timing: Timing {
                native_s: None,
                total_s,
            },
            other: Default::default(),
        }
    }
}

/// A race as it is when it is first found, still without an id.
pub fn race(found: finding::Race, status: Status) -> Race {
    let mut statements = Vec::new();
    add_statements(&mut statements, &found);
    let [first, second] = &found.accesses;
    Race {
        id: String::new(),
        fingerprint: fingerprint(&found.location, &first.frame, &second.frame),
        status,
        found_by: vec![found.detector],
        location: found.location,
        accesses: found.accesses.map(access),
        allocated: found.allocated,
        count: found.count,
        runs: 1,
        first_run: 0,
        statements,
        outcomes: Vec::new(),
        trials: None,
        harm: None,
        replay: None,
        other: Default::default(),
    }
}

/// Keeps the instructions of a finding beside those known already.
fn add_statements(known: &mut Vec<Frame>, found: &finding::Race) {
    for access in &found.accesses {
        let frame = &access.frame;
        if frame.bci.is_some() && !known.iter().any(|k| statement(k) == statement(frame)) {
            known.push(frame.clone());
        }
    }
}

pub(crate) fn statement(frame: &Frame) -> (String, String, Option<String>, Option<u32>) {
    (
        frame.class.clone(),
        frame.method.clone(),
        frame.desc.clone(),
        frame.bci,
    )
}

fn access(found: finding::Access) -> Access {
    Access {
        op: found.op,
        thread: found.thread.name,
        thread_id: found.thread.id,
        thread_created: found.thread.created,
        at: found.frame,
        locks: found.locks,
        stack: found.stack,
        stack_exact: found.stack_exact,
    }
}
