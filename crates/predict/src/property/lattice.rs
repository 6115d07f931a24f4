//! The walk over consistent cuts, level by level, with a monitor (Figure 4 of
//! the jPredictor paper).
//!
//! A cut says how many of its steps each thread has made. A step can be made
//! when all that its clock names was made and, if it takes a lock, nobody else
//! is inside. With each cut goes each state that the monitor can be in there.
//!
//! Steps that are not named and take no lock that others take commute with
//! everything, so they are made as soon as they can be; so is a critical
//! section that nothing can hold up and nothing named is in. What is left to
//! choose is the order of named events and of the critical sections around
//! them. The paper walks over all cuts; these are the ones that differ.

use super::slice::{Slice, Step};
use super::{Labelled, Monitor, Outcome, Verdict, Violation};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::Op;

/// How often a violation is put to the checker before the search gives up.
const CHECKS: u32 = 64;

/// One more step after others.
#[derive(Clone, Copy)]
struct Node {
    before: u32,
    thread: u32,
}

const ROOT: u32 = u32::MAX;

type Cut = Box<[u32]>;

struct Walk<'s, 'a> {
    slice: &'s Slice<'a>,
    nodes: Vec<Node>,
    /// By the number of steps made: cuts and monitor states, and how they were
    /// come to.
    levels: BTreeMap<u64, FxHashMap<(Cut, u128), u32>>,
}

/// Walks until the property is broken, the cuts are used up, or all are seen.
pub(super) fn walk(
    slice: &Slice<'_>,
    monitor: &Monitor,
    most: u64,
    mut accept: impl FnMut(&[u32], &[Labelled]) -> bool,
    outcome: &mut Outcome,
) {
    let mut walk = Walk {
        slice,
        nodes: Vec::new(),
        levels: BTreeMap::new(),
    };
    let mut checks = 0;
    walk.add(vec![0; slice.threads.len()].into(), ROOT, monitor.start());
    while let Some((_, level)) = walk.levels.pop_first() {
        for ((cut, state), node) in level {
            outcome.cuts += 1;
            if outcome.cuts > most || walk.nodes.len() as u64 > 64 * most.max(1 << 20) {
                outcome.incomplete = Some(format!(
                    "the search ended after {most} cuts; other orders were not looked at"
                ));
                return;
            }
            for thread in 0..slice.threads.len() {
                let Some(names) = walk.enabled(&cut, thread).map(|step| step.names) else {
                    continue;
                };
                let next = walk.make(node, thread);
                let state = match names {
                    0 => state,
                    names => match monitor.step(state, names) {
                        Verdict::Go(state) => state,
                        Verdict::Broken => {
                            let violation = walk.violation(next);
                            checks += 1;
                            if accept(&violation.order, &violation.named) {
                                outcome.violation = Some(violation);
                                return;
                            }
                            if checks == CHECKS {
                                outcome.incomplete =
                                    Some("the checker accepted none of the orders found".into());
                                return;
                            }
                            continue;
                        }
                    },
                };
                let mut cut = cut.clone();
                cut[thread] += 1;
                walk.add(cut, next, state);
            }
        }
    }
}

impl Walk<'_, '_> {
    fn make(&mut self, before: u32, thread: usize) -> u32 {
        self.nodes.push(Node {
            before,
            thread: thread as u32,
        });
        self.nodes.len() as u32 - 1
    }

    /// Makes the steps that commute with everything, and lists the cut.
    fn add(&mut self, mut cut: Cut, mut node: u32, state: u128) {
        loop {
            let mut moved = false;
            for thread in 0..cut.len() {
                while let Some(many) = self.commutes(&cut, thread) {
                    for _ in 0..many {
                        cut[thread] += 1;
                        node = self.make(node, thread);
                    }
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        let level = cut.iter().map(|n| u64::from(*n)).sum();
        let cuts = self.levels.entry(level).or_default();
        cuts.entry((cut, state)).or_insert(node);
    }

    fn step(&self, thread: usize, at: u32) -> Option<&Step> {
        self.slice.threads[thread].get(at as usize)
    }

    /// The thread's next step, if it can be made.
    fn enabled(&self, cut: &[u32], thread: usize) -> Option<&Step> {
        let step = self.step(thread, cut[thread])?;
        (self.ready(cut, thread, step) && self.free(cut, thread, step)).then_some(step)
    }

    fn ready(&self, cut: &[u32], thread: usize, step: &Step) -> bool {
        let clock = self.slice.clock(step).iter().zip(cut).enumerate();
        { clock }.all(|(t, (needed, made))| t == thread || needed <= made)
    }

    /// Whether nobody is inside the lock that a step takes.
    fn free(&self, cut: &[u32], thread: usize, step: &Step) -> bool {
        let Some(lock) = step.lock.filter(|l| l.takes) else {
            return true;
        };
        if !self.slice.contended.contains(&lock.lock) {
            return true;
        }
        let index = &self.slice.index;
        let mine = index.events[step.event as usize].op;
        let shared = matches!(mine, Op::AcquireShared(_));
        (0..cut.len()).filter(|t| *t != thread).all(|t| {
            let Some(last) = cut[t].checked_sub(1).and_then(|n| self.step(t, n)) else {
                return true;
            };
            let open = index.open_at(t as u32, index.place[last.event as usize]);
            open.iter().all(|section| {
                let section = &index.sections[*section as usize];
                let taken = match index.events[section.event as usize].op {
                    Op::Acquire(l) | Op::AcquireShared(l) | Op::WaitEnd { lock: l, .. } => l,
                    _ => return true,
                };
                taken != lock.lock || (shared && section.shared)
            })
        })
    }

    /// How many steps of the thread can be made now without a choice.
    fn commutes(&self, cut: &[u32], thread: usize) -> Option<u32> {
        let step = self.step(thread, cut[thread])?;
        if step.names != 0 || !self.ready(cut, thread, step) {
            return None;
        }
        let Some(taken) = step.lock.filter(|l| l.takes) else {
            return Some(1);
        };
        if !self.slice.contended.contains(&taken.lock) {
            return Some(1);
        }
        // A critical section, if it can be left again at once.
        let mut depth = 0u32;
        for (many, at) in (1..).zip(cut[thread]..) {
            let step = self.step(thread, at)?;
            if step.names != 0 || !self.ready(cut, thread, step) || !self.free(cut, thread, step) {
                return None;
            }
            if let Some(lock) = step.lock {
                depth = match lock.takes {
                    true => depth + 1,
                    false => depth.checked_sub(1)?,
                };
            }
            if depth == 0 {
                return Some(many);
            }
        }
        None
    }

    /// The steps up to a node, and what their threads did between them.
    fn violation(&self, mut node: u32) -> Violation {
        let mut path = Vec::new();
        while let Some(step) = self.nodes.get(node as usize) {
            path.push(step.thread as usize);
            node = step.before;
        }
        let index = &self.slice.index;
        let mut made = vec![0u32; self.slice.threads.len()];
        let mut done = vec![0u32; self.slice.threads.len()];
        let (mut order, mut named) = (Vec::new(), Vec::new());
        for thread in path.into_iter().rev() {
            let Some(step) = self.step(thread, made[thread]) else {
                continue;
            };
            made[thread] += 1;
            let place = index.place[step.event as usize];
            let events = &index.by_thread[thread];
            order.extend(&events[done[thread] as usize..place as usize]);
            done[thread] = place;
            if step.names != 0 {
                named.push(Labelled {
                    event: step.event,
                    names: step.names,
                });
            }
        }
        Violation { order, named }
    }
}
