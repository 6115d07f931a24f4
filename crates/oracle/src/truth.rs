//! What brute force knows about a program: every schedule of its model, one after the other.
//!
//! Runs are sequentially consistent, as those of `verify`, of controlled runs and of recordings
//! are. Two accesses *race* in an execution if happens-before leaves them unordered (which is what
//! detectors observe), and *meet* if one comes right after the other (which is what `confirm`
//! makes happen and `predict` promises). What meets races; what races may be unable to meet: a thread
//! that saw another's plain flag comes later, and nothing orders the two.

use litmus::closure::{Closure, access};
use litmus::java::{self, Source};
use litmus::{Execution, Program, executions};
use std::collections::{BTreeMap, BTreeSet};
use trace::{Event, Op, ThreadId};

/// An access of the Java program: a line has at most one read and one write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Access {
    pub line: u32,
    pub write: bool,
}

/// Two accesses, the smaller one first.
pub type Pair = (Access, Access);

pub fn pair(a: Access, b: Access) -> Pair {
    (a.min(b), a.max(b))
}

/// How an execution ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct End {
    pub deadlock: bool,
    pub failed: bool,
    /// What the main thread told, if it could.
    pub outcome: String,
}

#[derive(Clone, Debug, Default)]
pub struct Truth {
    pub schedules: usize,
    pub races: BTreeSet<Pair>,
    /// What the accesses of races are to.
    pub places: BTreeMap<Access, String>,
    /// The accesses that meet, in the order in which they did, and how that can end.
    pub meetings: BTreeMap<(Access, Access), BTreeSet<End>>,
    /// Threads that can never go on, by their names.
    pub deadlocks: BTreeSet<BTreeSet<String>>,
    /// Lines that throw what no handler catches.
    pub failures: BTreeSet<u32>,
    pub outcomes: BTreeSet<String>,
}

impl Truth {
    /// None if there are more than `most` schedules.
    pub fn brute_force(program: &Program, source: &Source, most: usize) -> Option<Truth> {
        let mut truth = Truth::default();
        for execution in executions(program) {
            truth.schedules += 1;
            if truth.schedules > most {
                return None;
            }
            truth.add(program, source, &execution);
        }
        Some(truth)
    }

    fn add(&mut self, program: &Program, source: &Source, execution: &Execution) {
        let outcome = &execution.outcome;
        let end = End {
            deadlock: !outcome.deadlocked.is_empty(),
            failed: !outcome.failed.is_empty(),
            outcome: java::outcome(program, execution),
        };
        if end.deadlock {
            let names = outcome.deadlocked.iter().map(|t| thread_name(*t));
            self.deadlocks.insert(names.collect());
        } else {
            self.outcomes.insert(end.outcome.clone());
        }
        let lines = outcome.failed.iter().map(|(_, site)| source.line(*site));
        self.failures.extend(lines);

        let closure = Closure::new(&execution.events, false);
        for (i, j) in closure.races() {
            let both = [&execution.events[i], &execution.events[j]];
            if let [Some(a), Some(b)] = both.map(|e| java_access(source, e)) {
                self.races.insert(pair(a, b));
                for (event, access_in_java) in both.into_iter().zip([a, b]) {
                    if let Some((loc, ..)) = access(event) {
                        let name = java::name(program, loc);
                        self.places.insert(access_in_java, name);
                    }
                }
            }
        }
        let steps = execution.events.iter();
        let steps: Vec<&Event> = steps
            .filter(|e| !matches!(e.op, Op::Begin | Op::End))
            .collect();
        for two in steps.windows(2) {
            let [a, b] = [two[0], two[1]];
            if !conflict(a, b) {
                continue;
            }
            if let [Some(a), Some(b)] = [a, b].map(|e| java_access(source, e)) {
                self.meetings.entry((a, b)).or_default().insert(end.clone());
            }
        }
    }

    /// Whether the schedule matters.
    pub fn has_choice(&self) -> bool {
        let ends = self.outcomes.len() + self.deadlocks.len();
        ends > 1 || !self.races.is_empty()
    }

    pub fn meet(&self, (a, b): Pair) -> bool {
        self.meetings.contains_key(&(a, b)) || self.meetings.contains_key(&(b, a))
    }

    /// The locations that race.
    pub fn racy_places(&self) -> BTreeSet<&str> {
        let accesses = self.races.iter().flat_map(|(a, b)| [a, b]);
        accesses
            .filter_map(|a| self.places.get(a).map(String::as_str))
            .collect()
    }
}

/// As the Java program calls it.
fn thread_name(thread: ThreadId) -> String {
    match thread.0 {
        0 => "main".to_owned(),
        n => format!("t{n}"),
    }
}

fn java_access(source: &Source, event: &Event) -> Option<Access> {
    let (_, write, _) = access(event)?;
    Some(Access {
        line: source.line(event.site),
        write,
    })
}

fn conflict(a: &Event, b: &Event) -> bool {
    match (access(a), access(b)) {
        (Some((x, wrote_x, atomic_x)), Some((y, wrote_y, atomic_y))) => {
            a.thread != b.thread && x == y && (wrote_x || wrote_y) && !(atomic_x && atomic_y)
        }
        _ => false,
    }
}
