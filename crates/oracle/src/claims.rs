//! What a report says about a program, and whether brute force agrees.

use crate::sample::Case;
use crate::truth::{Access, pair};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A race of the report.
#[derive(Clone, Debug)]
pub struct Race {
    pub status: String,
    /// Both accesses, as the report orders them.
    pub accesses: [Access; 2],
    pub harm: Option<String>,
    pub outcomes: Vec<Tried>,
}

/// What `confirm` says came of an order.
#[derive(Clone, Debug)]
pub struct Tried {
    pub first: usize,
    pub result: String,
    pub caught: bool,
}

/// Threads that cannot go on: of a ring only its members are named.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deadlock {
    ring: bool,
    threads: BTreeSet<String>,
}

impl Deadlock {
    /// Whether it is the one of all these threads.
    fn is(&self, threads: &BTreeSet<String>) -> bool {
        self.threads == *threads || self.ring && self.threads.is_subset(threads)
    }
}

/// All that a report says about one program.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    pub races: Vec<Race>,
    pub deadlocks: BTreeSet<Deadlock>,
    pub failures: BTreeSet<u32>,
    pub outcomes: BTreeSet<String>,
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// By class. What belongs to no program is an error, and returned as well.
pub fn read(report: &Value, outcomes: &str) -> (BTreeMap<String, Claims>, Vec<String>) {
    let mut all: BTreeMap<String, Claims> = BTreeMap::new();
    let mut strange = Vec::new();
    // A finding is the race that leads it, with the others as its members.
    let findings = list(report, "races").iter();
    for race in findings.flat_map(|race| [race].into_iter().chain(list(&race["group"], "members")))
    {
        match read_race(race) {
            Some((class, race)) => all.entry(class).or_default().races.push(race),
            None => strange.push(format!("a race of no program: {race}")),
        }
    }
    for deadlock in list(report, "deadlocks") {
        let threads = list(deadlock, "threads");
        let class = threads
            .iter()
            .flat_map(|t| list(t, "stack"))
            .find_map(program);
        let told = Deadlock {
            ring: deadlock["cycle"] == true,
            threads: threads.iter().map(|t| text(&t["thread"])).collect(),
        };
        match class {
            Some(class) => {
                all.entry(class).or_default().deadlocks.insert(told);
            }
            None => strange.push(format!("a deadlock of no program: {deadlock}")),
        }
    }
    for failure in list(report, "failures") {
        let top = list(failure, "stack").first();
        match top.and_then(|top| Some((program(top)?, line(top)?))) {
            Some((class, line)) => {
                all.entry(class).or_default().failures.insert(line);
            }
            None => strange.push(format!("an exception of no program: {failure}")),
        }
    }
    for (class, outcome) in outcomes.lines().filter_map(|line| line.split_once(' ')) {
        let claims = all.entry(class.to_owned()).or_default();
        claims.outcomes.insert(outcome.to_owned());
    }
    (all, strange)
}

/// The class of a frame, if it is a program's.
fn program(frame: &Value) -> Option<String> {
    let class = frame["class"].as_str()?;
    let number = class.strip_prefix('P')?;
    number.parse::<u64>().is_ok().then(|| class.to_owned())
}

fn line(frame: &Value) -> Option<u32> {
    u32::try_from(frame["line"].as_u64()?).ok()
}

fn read_race(race: &Value) -> Option<(String, Race)> {
    let access = |value: &Value| {
        Some(Access {
            line: line(value)?,
            write: value["op"] == "write",
        })
    };
    let [a, b] = list(race, "accesses") else {
        return None;
    };
    let outcomes = list(race, "outcomes").iter().map(|outcome| Tried {
        first: usize::from(outcome["first"] == 1),
        result: text(&outcome["result"]),
        caught: outcome["caught"] == true,
    });
    let class = program(a)?;
    (program(b).as_ref() == Some(&class)).then_some(())?;
    let read = Race {
        status: text(&race["status"]),
        accesses: [access(a)?, access(b)?],
        harm: race["harm"].as_str().map(str::to_owned),
        outcomes: outcomes.collect(),
    };
    Some((class, read))
}

impl Claims {
    /// What is certain and yet wrong.
    pub fn contradictions(&self, case: &Case) -> Vec<String> {
        let truth = &case.truth;
        let mut wrong = Vec::new();
        for race in &self.races {
            wrong.extend(race.contradictions(case));
        }
        for told in &self.deadlocks {
            if !truth.deadlocks.iter().any(|threads| told.is(threads)) {
                wrong.push(format!("no such deadlock: {told:?}"));
            }
        }
        for failure in self.failures.difference(&truth.failures) {
            wrong.push(format!("no uncaught exception in line {failure}"));
        }
        for outcome in self.outcomes.difference(&truth.outcomes) {
            wrong.push(format!("no run has the outcome {outcome}"));
        }
        wrong
    }

    /// What a complete exploration should have found besides.
    pub fn missing(&self, case: &Case) -> Vec<String> {
        let truth = &case.truth;
        let mut missing = Vec::new();
        let accesses = self.races.iter().flat_map(|race| race.accesses);
        let found: BTreeSet<&str> = accesses
            .filter_map(|access| truth.places.get(&access).map(String::as_str))
            .collect();
        for place in truth.racy_places().difference(&found) {
            missing.push(format!("{place} races"));
        }
        for threads in &truth.deadlocks {
            if !self.deadlocks.iter().any(|told| told.is(threads)) {
                missing.push(format!("{threads:?} can deadlock"));
            }
        }
        for failure in truth.failures.difference(&self.failures) {
            missing.push(format!("line {failure} can throw"));
        }
        for outcome in truth.outcomes.difference(&self.outcomes) {
            missing.push(format!("the outcome {outcome} exists"));
        }
        missing
    }

    /// How many claims there are that brute force can judge.
    pub fn certain(&self) -> usize {
        let races = self.races.iter().filter(|race| race.status != "potential");
        races.count() + self.deadlocks.len() + self.failures.len() + self.outcomes.len()
    }
}

impl Race {
    fn contradictions(&self, case: &Case) -> Vec<String> {
        let truth = &case.truth;
        let [a, b] = self.accesses;
        let both = pair(a, b);
        let holds = match self.status.as_str() {
            "potential" => true,
            "observed" => truth.races.contains(&both),
            _ => truth.meet(both),
        };
        let mut wrong = Vec::new();
        if !holds {
            wrong.push(format!("no race between {a:?} and {b:?} ({})", self.status));
        }
        for tried in &self.outcomes {
            let order = if tried.first == 0 { (a, b) } else { (b, a) };
            let ends = truth.meetings.get(&order);
            let exists = ends.into_iter().flatten().any(|end| match &*tried.result {
                "exception" if !tried.caught => end.failed,
                "deadlock" | "livelock" => end.deadlock,
                "output-differs" | "ok" => !end.deadlock,
                _ => true,
            });
            if !exists {
                let result = &tried.result;
                wrong.push(format!(
                    "{:?} then {:?}: {result} does not exist",
                    order.0, order.1
                ));
            }
        }
        if self.harm.as_deref() == Some("harmless") && !self.can_be_harmless(case) {
            wrong.push(format!("{a:?} and {b:?} cannot be harmless in both orders"));
        }
        wrong
    }

    /// Whether some outcome is possible whichever access comes first. Lines that read and write
    /// have several pairs of accesses, and all of them were tried in both orders.
    fn can_be_harmless(&self, case: &Case) -> bool {
        let truth = &case.truth;
        let lines = self.accesses.map(|access| access.line);
        let between = |a: &Access, b: &Access| {
            let met = [a.line, b.line];
            met == lines || [met[1], met[0]] == lines
        };
        let meetings = truth.meetings.iter().filter(|((a, b), _)| between(a, b));
        let mut outcomes: Option<BTreeSet<&str>> = None;
        for (_, ends) in meetings {
            let whole = ends.iter().filter(|end| !end.deadlock);
            let here: BTreeSet<&str> = whole.map(|end| end.outcome.as_str()).collect();
            outcomes = Some(match outcomes {
                None => here,
                Some(before) => before.intersection(&here).copied().collect(),
            });
        }
        outcomes.is_some_and(|common| !common.is_empty())
    }
}
