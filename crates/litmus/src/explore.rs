//! Running programs: one schedule, or all of them.

use crate::flow::Flow;
use crate::machine::{Choice, Machine, Outcome};
use crate::program::{Program, Value};
use std::collections::{BTreeMap, HashSet};
use trace::{Event, Loc};

/// A finished run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    pub schedule: Vec<Choice>,
    pub events: Vec<Event>,
    pub outcome: Outcome,
    /// The registers of every thread at the end.
    pub registers: Vec<Vec<Value>>,
    /// The values of all locations that were written.
    pub memory: BTreeMap<Loc, Value>,
}

impl Execution {
    fn from_machine(machine: Machine) -> Execution {
        let outcome = machine.outcome();
        Execution {
            registers: machine.registers(),
            memory: machine.memory,
            schedule: machine.schedule,
            events: machine.events,
            outcome,
        }
    }
}

/// Runs `program` to its end. `pick` is given the choices, never none, and
/// answers with the index of one; an index too large wraps round.
pub fn run(program: &Program, pick: impl FnMut(&[Choice]) -> usize) -> Execution {
    Execution::from_machine(to_the_end(Machine::new(program), pick))
}

/// The same, and what each of its events depends on.
pub fn run_tracking(program: &Program, pick: impl FnMut(&[Choice]) -> usize) -> (Execution, Flow) {
    let machine = to_the_end(Machine::tracking(program), pick);
    let flow = machine.flow().cloned().unwrap_or_default();
    (Execution::from_machine(machine), flow)
}

fn to_the_end(mut machine: Machine, mut pick: impl FnMut(&[Choice]) -> usize) -> Machine {
    let mut choices = Vec::new();
    loop {
        machine.choices(&mut choices);
        if choices.is_empty() {
            return machine;
        }
        let picked = pick(&choices) % choices.len();
        machine.step(choices[picked]);
    }
}

/// All runs of a program, depth first: every sequence of choices exactly once.
/// There are exponentially many; use `take`.
pub fn executions(program: &Program) -> Executions {
    let mut all = Executions { open: Vec::new() };
    all.push(Machine::new(program));
    all
}

/// Every state that some schedule leads to, once, at most `limit` of them: far
/// fewer than schedules. Says whether that was all.
pub fn states(program: &Program, limit: usize, mut visit: impl FnMut(&Machine)) -> bool {
    let mut open = vec![Machine::new(program)];
    let mut seen: HashSet<u64> = open.iter().map(Machine::key).collect();
    let mut choices = Vec::new();
    while let Some(machine) = open.pop() {
        visit(&machine);
        machine.choices(&mut choices);
        for choice in &choices {
            let mut next = machine.clone();
            next.step(*choice);
            // How it was reached does not matter, and takes room.
            next.events.clear();
            next.schedule.clear();
            if seen.insert(next.key()) {
                if seen.len() > limit {
                    return false;
                }
                open.push(next);
            }
        }
    }
    true
}

/// See [`executions`].
#[derive(Debug)]
pub struct Executions {
    /// From the root to the current leaf: states with choices left to try. A
    /// state without any choice is a finished run.
    open: Vec<(Machine, Vec<Choice>)>,
}

impl Executions {
    fn push(&mut self, machine: Machine) {
        let mut choices = Vec::new();
        machine.choices(&mut choices);
        choices.reverse();
        self.open.push((machine, choices));
    }
}

impl Iterator for Executions {
    type Item = Execution;

    fn next(&mut self) -> Option<Execution> {
        loop {
            let (machine, choices) = self.open.last_mut()?;
            let Some(choice) = choices.pop() else {
                let (machine, _) = self.open.pop()?;
                return Some(Execution::from_machine(machine));
            };
            let mut next = if choices.is_empty() {
                self.open.pop()?.0
            } else {
                machine.clone()
            };
            next.step(choice);
            self.push(next);
        }
    }
}
