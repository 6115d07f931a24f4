//! What a report says about a program, and whether brute force agrees.

use crate::sample::Case;
use crate::truth::{Access, End, Truth, pair};
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
    /// Which side of the race went first.
    pub first: usize,
    /// Whether the first and the second of the accesses that met write.
    pub orders: Vec<[bool; 2]>,
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
        orders: list(outcome, "orders")
            .iter()
            .map(|ops| [0, 1].map(|at| ops[at] == "write"))
            .collect(),
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
        for (tried, met) in self.met() {
            let ends = truth.meetings.get(&met);
            let exists = ends.into_iter().flatten().any(|end| match &*tried.result {
                "exception" if !tried.caught => end.failed,
                "deadlock" | "livelock" => end.deadlock,
                "output-differs" | "ok" => !end.deadlock,
                _ => true,
            });
            if !exists {
                let (first, second) = met;
                let result = &tried.result;
                wrong.push(format!(
                    "{first:?} then {second:?}: {result} does not exist"
                ));
            }
        }
        if self.outcomes.iter().any(|tried| tried.orders.is_empty()) {
            wrong.push(format!("{a:?} and {b:?}: nobody says which accesses met"));
        }
        if self.harm.as_deref() == Some("harmless") {
            for (first, second) in self.untried(case) {
                wrong.push(format!(
                    "harmless, but {first:?} before {second:?} was not tried"
                ));
            }
            if !self.can_be_harmless(case) {
                wrong.push(format!("{a:?} and {b:?} cannot be harmless in both orders"));
            }
        }
        wrong
    }

    /// The accesses that met in trials, in their order, with what came of it.
    fn met(&self) -> impl Iterator<Item = (&Tried, (Access, Access))> {
        self.outcomes.iter().flat_map(|tried| {
            let lines = self.accesses.map(|access| access.line);
            let (first, second) = match tried.first {
                0 => (lines[0], lines[1]),
                _ => (lines[1], lines[0]),
            };
            tried.orders.iter().map(move |[wrote_first, wrote_second]| {
                let access = |line, write: &bool| Access {
                    line,
                    write: *write,
                };
                let met = (access(first, wrote_first), access(second, wrote_second));
                (tried, met)
            })
        })
    }

    /// What can come of any two accesses of the race's lines, by the order in which they are
    /// made: a line that reads and writes has several.
    fn meetings<'t>(
        &self,
        truth: &'t Truth,
    ) -> impl Iterator<Item = (&'t (Access, Access), &'t BTreeSet<End>)> {
        let lines = self.accesses.map(|access| access.line);
        truth.meetings.iter().filter(move |((a, b), _)| {
            let met = [a.line, b.line];
            met == lines || [met[1], met[0]] == lines
        })
    }

    /// The orders of accesses of these lines that exist and that no trial had.
    fn untried(&self, case: &Case) -> Vec<(Access, Access)> {
        let tried: BTreeSet<(Access, Access)> = self.met().map(|(_, met)| met).collect();
        let exist = self.meetings(&case.truth).map(|(order, _)| *order);
        exist.filter(|order| !tried.contains(order)).collect()
    }

    /// Whether some outcome is possible whichever access comes first.
    fn can_be_harmless(&self, case: &Case) -> bool {
        let mut outcomes: Option<BTreeSet<&str>> = None;
        for (_, ends) in self.meetings(&case.truth) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use litmus::java::source;
    use litmus::{Program, Reg, Var, add, fork, join, read, write};
    use serde_json::json;

    /// Two threads that each make `x = x` of it, in a line that reads and writes.
    fn case() -> Case {
        let (r, x) = (Reg(0), Var(0));
        let same = || [read(r, x), write(x, add(r, 0))];
        let main = [fork(1)].into_iter().chain(same()).chain([join(1)]);
        let program = Program {
            threads: vec![main.collect(), same().to_vec()],
            running: 1,
            arrays: Vec::new(),
        };
        let source = source(&program, "P7");
        let truth = Truth::brute_force(&program, &source, 1000).unwrap();
        Case {
            number: 7,
            program,
            source,
            truth,
        }
    }

    /// What `confirm` says: the orders by the side that goes first.
    fn report(case: &Case, orders: [&[[&str; 2]]; 2]) -> Value {
        let lines: BTreeSet<u32> = case.truth.places.keys().map(|at| at.line).collect();
        let accesses = lines
            .iter()
            .map(|line| json!({ "class": "P7", "line": line, "op": "write" }));
        let outcomes = orders.iter().enumerate();
        let outcomes =
            outcomes.map(|(first, met)| json!({ "first": first, "orders": met, "result": "ok" }));
        json!({ "races": [{
            "status": "confirmed",
            "harm": "harmless",
            "accesses": accesses.collect::<Vec<_>>(),
            "outcomes": outcomes.collect::<Vec<_>>(),
        }]})
    }

    fn wrong(orders: [&[[&str; 2]]; 2]) -> Vec<String> {
        let case = case();
        let (claims, strange) = super::read(&report(&case, orders), "");
        assert_eq!(strange, [] as [String; 0]);
        claims["P7"].contradictions(&case)
    }

    #[test]
    fn harmless_needs_each_order_of_each_two_accesses() {
        let all: [[&str; 2]; 3] = [["read", "write"], ["write", "read"], ["write", "write"]];
        assert_eq!(wrong([&all, &all]), [] as [String; 0]);
        // A write first in each: both sides have been first, and most orders were not tried.
        let writes = wrong([&all[1..2], &all[1..2]]);
        assert_eq!(writes.len(), 4, "{writes:?}");
        for side in 0..2 {
            for left_out in 0..3 {
                let kept = [&all[..left_out], &all[left_out + 1..]].concat();
                let orders = [[&all[..], &kept], [&kept, &all]][side];
                assert_eq!(wrong(orders).len(), 1, "{orders:?}");
            }
        }
        assert!(!wrong([&[], &[]]).is_empty(), "nobody says what met");
    }

    #[test]
    fn an_order_that_no_run_has_is_a_contradiction() {
        let all: [[&str; 2]; 3] = [["read", "write"], ["write", "read"], ["write", "write"]];
        let reads = [&all[..], &[["read", "read"]]].concat();
        let wrong = wrong([&all, &reads]);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains("does not exist"), "{wrong:?}");
    }
}
