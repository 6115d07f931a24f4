//! Candidates, in the order in which they are worth trying.

use super::course::{Course, Turn};
use super::{Cost, Execution, Moment, Preemptions};
use crate::op::Thread;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// The best run that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduced {
    /// That it was executed by; none if it is the run that it began with.
    pub course: Option<Course>,
    pub execution: Execution,
    pub cost: Cost,
    /// Candidates that were executed.
    pub executions: u32,
    /// Every run with fewer preemptions was tried, and none showed the finding.
    pub is_fewest: bool,
}

/// Reduces a run that showed a finding. `execute` makes a candidate, or says that there is no time for it.
pub fn reduce(
    start: Execution,
    budget: u32,
    execute: &mut dyn FnMut(&Course) -> Option<Execution>,
) -> Reduced {
    let cost = start.cost();
    let mut search = Search {
        best: Reduced {
            course: None,
            execution: start,
            cost,
            executions: 0,
            is_fewest: false,
        },
        budget,
        execute,
        tried: HashSet::new(),
    };
    search.simplify();
    search.look_below();
    search.best
}

struct Search<'e> {
    best: Reduced,
    budget: u32,
    execute: &'e mut dyn FnMut(&Course) -> Option<Execution>,
    tried: HashSet<Course>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.best.executions >= self.budget
    }

    /// Executes a candidate; whether it is the best so far.
    fn attempt(&mut self, course: Course) -> Option<(Execution, bool)> {
        if self.is_over() {
            return None;
        }
        let Some(execution) = (self.execute)(&course) else {
            self.budget = 0;
            return None;
        };
        self.best.executions += 1;
        let cost = execution.cost();
        let is_better = execution.shown.is_some() && cost < self.best.cost;
        if is_better {
            self.best.execution = execution.clone();
            self.best.course = Some(course);
            self.best.cost = cost;
        }
        Some((execution, is_better))
    }

    /// Phase 1.
    fn simplify(&mut self) {
        while !self.is_over() && self.best.cost.preemptions > 0 {
            let turns = self.best.execution.course().0;
            let mut improved = false;
            for candidate in simpler(&turns) {
                if candidate.0 == turns || !self.tried.insert(candidate.clone()) {
                    continue;
                }
                match self.attempt(candidate) {
                    None => return,
                    Some((_, is_better)) => improved |= is_better,
                }
                if improved {
                    break;
                }
            }
            if !improved {
                return;
            }
        }
    }

    /// Phase 2.
    fn look_below(&mut self) {
        let mut frontier = Frontier::new(self.budget);
        while let Some((least, prefix)) = frontier.pop() {
            if least >= self.best.cost.preemptions {
                break;
            }
            let Some((execution, _)) = self.attempt(Course::of(&prefix)) else {
                return;
            };
            let most = self.best.cost.preemptions;
            frontier.add(prefix.len(), execution.story(), most);
        }
        self.best.is_fewest = true;
    }
}

/// What came of looking for a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Looked {
    /// The first run that shows it: none shows it with fewer preemptions.
    pub found: Option<Course>,
    pub executions: u32,
    /// All runs with so few preemptions were made.
    pub is_complete: bool,
}

/// Looks for a finding in all runs with at most so many preemptions, those with the fewest first.
pub fn look(
    most: u32,
    budget: u32,
    execute: &mut dyn FnMut(&Course) -> Option<Execution>,
) -> Looked {
    let mut looked = Looked {
        found: None,
        executions: 0,
        is_complete: false,
    };
    let mut frontier = Frontier::new(budget);
    while let Some((_, prefix)) = frontier.pop() {
        let course = Course::of(&prefix);
        if looked.executions >= budget {
            return looked;
        }
        let Some(execution) = execute(&course) else {
            return looked;
        };
        looked.executions += 1;
        if execution.shown.is_some() {
            looked.found = Some(course);
            return looked;
        }
        frontier.add(prefix.len(), execution.story(), most.saturating_add(1));
    }
    looked.is_complete = true;
    looked
}

/// What is left to try, by the preemptions that it has at least. A prefix is tried by what goes on after it
/// without preemptions; other ways to go on from there follow from that run.
struct Frontier {
    open: BTreeMap<(u32, Reverse<bool>, usize, u64), Vec<Moment>>,
    number: u64,
    /// As many as there are executions: what comes behind these is never tried, and a prefix of a long run is large.
    most: usize,
}

impl Frontier {
    fn new(budget: u32) -> Frontier {
        let nothing = ((0, Reverse(true), 0, 0), Vec::new());
        Frontier {
            open: BTreeMap::from([nothing]),
            number: 0,
            most: budget as usize,
        }
    }

    fn pop(&mut self) -> Option<(u32, Vec<Moment>)> {
        let ((least, ..), prefix) = self.open.pop_first()?;
        Some((least, prefix))
    }

    /// The other ways to go on after a prefix of so many decisions, with fewer preemptions than `below`.
    fn add(&mut self, prefix: usize, moments: &[Moment], below: u32) {
        let mut so_far = Preemptions::default();
        for (at, moment) in moments.iter().enumerate() {
            for other in others(moment).filter(|_| at >= prefix) {
                let mut with = so_far;
                with.add(other, &moment.ready);
                let least = with.count;
                // Accesses that were asked for are where it matters.
                let plain = moment.step.is_some_and(|(_, op)| op.kind.is_plain());
                let key = (least, Reverse(plain), at, self.number + 1);
                let last = self.open.last_key_value().map(|(key, _)| *key);
                let is_full = self.open.len() >= self.most;
                if least >= below || is_full && last.is_none_or(|last| last < key) {
                    continue;
                }
                self.number += 1;
                let mut next = moments[..at].to_vec();
                next.push(Moment {
                    step: other.map(|thread| (thread, NOTHING)),
                    ..moment.clone()
                });
                self.open.insert(key, next);
                if self.open.len() > self.most {
                    self.open.pop_last();
                }
            }
            so_far.add(moment.thread(), &moment.ready);
        }
    }
}

/// Of a step that was not made yet nothing but the thread is known.
const NOTHING: crate::op::Op = crate::op::Op {
    kind: crate::op::Kind::Begin,
    site: 0,
    obj: 0,
    slot: 0,
};

fn others(moment: &Moment) -> impl Iterator<Item = Option<Thread>> {
    let chosen = moment.thread();
    let threads = moment.ready.iter().map(|thread| Some(*thread));
    let tick = moment.may_tick.then_some(None);
    threads.chain(tick).filter(move |other| *other != chosen)
}

/// Simpler courses, those that leave out most first.
fn simpler(turns: &[Turn]) -> Vec<Course> {
    let mut all = Vec::new();
    let course = |turns: Vec<Turn>| Course::new(turns);
    // Only the beginning: what follows needs no preemption, perhaps.
    let mut keep = 0;
    while keep < turns.len() {
        all.push(course(turns[..keep].to_vec()));
        keep = (keep * 2).max(keep + 1);
    }
    // Without a stretch, as delta debugging does.
    let mut size = turns.len() / 2;
    while size > 0 {
        for from in (0..turns.len()).step_by(size) {
            let to = (from + size).min(turns.len());
            all.push(course([&turns[..from], &turns[to..]].concat()));
        }
        size /= 2;
    }
    // A turn with the thread's next one, or with its last one.
    for at in 0..turns.len() {
        let same = |turn: &&Turn| turn.thread == turns[at].thread;
        let later = turns[at + 1..].iter().position(|t| same(&t));
        if let Some(later) = later.map(|after| at + 1 + after) {
            let mut down = turns.to_vec();
            down[later].steps += down[at].steps;
            down[at].steps = 0;
            all.push(course(down));
            let mut up = turns.to_vec();
            up[at].steps += up[later].steps;
            up[later].steps = 0;
            all.push(course(up));
        }
        // The thread's other turns last, or not at all.
        if turns[..at].iter().all(|t| !same(&t)) {
            let (own, rest): (Vec<Turn>, Vec<Turn>) = turns.iter().partition(|t| same(t));
            all.push(course(rest.clone()));
            all.push(course([rest.clone(), own.clone()].concat()));
            all.push(course([own, rest].concat()));
        }
    }
    all
}
