//! The strategies that execute candidates: by a course, or along an earlier run in which there
//! were fewer scheduling points.

use super::course::{Course, Turn};
use crate::log::{Entry, Log};
use crate::op::{Decision, Hit, Kind, Op, Ready, Thread, View};
use crate::strategy::Strategy;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::fmt;

/// Follows a course, and where that says nothing or what cannot be done, goes on without preemptions.
#[derive(Debug)]
pub struct Steered {
    turns: VecDeque<Turn>,
    hits: Vec<Hit>,
}

impl Steered {
    pub fn new(course: Course) -> Steered {
        Steered {
            turns: course.0.into(),
            hits: Vec::new(),
        }
    }

    fn planned(&mut self, view: &View<'_>) -> Option<Decision> {
        loop {
            let turn = self.turns.front_mut()?;
            let decision = match turn.thread {
                None if view.deadline.is_some() => Some(Decision::Tick),
                Some(thread) if view.op_of(thread).is_some() => Some(Decision::Run(thread)),
                _ => None,
            };
            turn.steps -= 1;
            if decision.is_none() || turn.steps == 0 {
                self.turns.pop_front();
            }
            if decision.is_some() {
                return decision;
            }
        }
    }
}

impl Strategy for Steered {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        let planned = self.planned(view);
        let decision = planned.unwrap_or_else(|| without_preemption(view));
        self.hits.extend(race(view, decision));
        decision
    }

    fn take_hits(&mut self) -> Vec<Hit> {
        std::mem::take(&mut self.hits)
    }
}

/// Who ran goes on if it can; if not, the next one by number that does not give way.
fn without_preemption(view: &View<'_>) -> Decision {
    let goes_on = |r: &&Ready| !r.op.kind.gives_way();
    let last = view.last.unwrap_or(0);
    let same = view.ready.iter().find(|r| r.thread == last);
    if let Some(ready) = same.filter(goes_on) {
        return Decision::Run(ready.thread);
    }
    let at = view.ready.partition_point(|r| r.thread <= last);
    let (before, after) = view.ready.split_at(at);
    let mut turn = after.iter().chain(before);
    let next = turn.clone().find(goes_on).or_else(|| turn.next());
    match next {
        Some(ready) => Decision::Run(ready.thread),
        None => Decision::Stuck,
    }
}

/// Another thread stands before an access that races with what is about to be made.
fn race(view: &View<'_>, decision: Decision) -> Option<Hit> {
    let Decision::Run(thread) = decision else {
        return None;
    };
    let op = view.op_of(thread)?;
    let races = |r: &&Ready| r.thread != thread && r.op.races(&op);
    let second = *view.ready.iter().find(races)?;
    Some(Hit {
        step: view.step,
        first: Ready { thread, op },
        second,
    })
}

/// Finds what a site of the present run stands for.
type Identify = Box<dyn Fn(u32) -> Option<u64> + Send>;

/// Follows a logged run although there are more scheduling points now, at plain accesses: at those that the log
/// does not know the thread goes on as if they were none. Objects have other numbers then, and are not compared.
/// Where the log cannot be followed the run goes on without preemptions.
pub struct Follow {
    expected: VecDeque<Option<(Thread, Kind, u64)>>,
    /// Statements of plain accesses that the log has.
    known: FxHashSet<u64>,
    now: FxHashMap<u32, u64>,
    identify: Identify,
    hits: Vec<Hit>,
    left: bool,
}

impl Follow {
    /// `identify` gives [`crate::log::Site::identity`] of a site of the run that is about to begin.
    pub fn new(log: &Log, identify: impl Fn(u32) -> Option<u64> + Send + 'static) -> Follow {
        let identity = |op: &Op| {
            let site = log.sites.get(&op.site);
            site.map_or(u64::from(op.site), |site| site.identity())
        };
        let mut follow = Follow {
            expected: VecDeque::new(),
            known: FxHashSet::default(),
            now: FxHashMap::default(),
            identify: Box::new(identify),
            hits: Vec::new(),
            left: false,
        };
        for entry in &log.entries {
            match entry {
                Entry::Step { thread, op } => {
                    if op.kind.is_plain() {
                        follow.known.insert(identity(op));
                    }
                    let step = (*thread, op.kind, identity(op));
                    follow.expected.push_back(Some(step));
                }
                Entry::Tick => follow.expected.push_back(None),
                Entry::Hit(hit) => {
                    let both = [&hit.first, &hit.second].map(|r| identity(&r.op));
                    follow.known.extend(both);
                }
                Entry::Note(_) | Entry::Saw { .. } => {}
            }
        }
        follow
    }

    fn identity(&mut self, op: &Op) -> u64 {
        let identify = &self.identify;
        let of = || identify(op.site).unwrap_or(u64::from(op.site));
        *self.now.entry(op.site).or_insert_with(of)
    }

    /// A scheduling point that the log does not have.
    fn is_new(&mut self, op: &Op) -> bool {
        let identity = self.identity(op);
        op.kind.is_plain() && !self.known.contains(&identity)
    }

    fn follow(&mut self, view: &View<'_>) -> Option<Decision> {
        if let Some(last) = view.last
            && let Some(op) = view.op_of(last)
            && self.is_new(&op)
        {
            return Some(Decision::Run(last));
        }
        loop {
            let (thread, kind, site) = match *self.expected.front()? {
                Some(step) => step,
                None => {
                    self.expected.pop_front();
                    match view.deadline {
                        Some(_) => return Some(Decision::Tick),
                        None => continue,
                    }
                }
            };
            let now = view.op_of(thread);
            if now.is_some_and(|op| self.is_new(&op)) {
                return Some(Decision::Run(thread));
            }
            // What is not so now was perhaps made while there was nothing to decide, or is no
            // scheduling point outside of explorations.
            self.expected.pop_front();
            if now.is_some_and(|op| (op.kind, self.identity(&op)) == (kind, site)) {
                return Some(Decision::Run(thread));
            }
        }
    }
}

impl Strategy for Follow {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        let followed = match self.left {
            true => None,
            false => self.follow(view),
        };
        self.left |= followed.is_none();
        let decision = followed.unwrap_or_else(|| without_preemption(view));
        self.hits.extend(race(view, decision));
        decision
    }

    fn take_hits(&mut self) -> Vec<Hit> {
        std::mem::take(&mut self.hits)
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow")
            .field("expected", &self.expected.len())
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}
