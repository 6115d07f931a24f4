//! Happens-before as far as the steps of a schedule prove it.
//!
//! A step is the decision that a thread goes on with an operation. Between two
//! of its steps the thread may have done more, alone. What follows anyway:
//!
//! - *Volatile and atomic accesses*: a write comes before every later read of
//!   the same variable. An update may have failed, so it counts as a read only.
//! - *Locks*: who takes a lock may have to wait for it, so the step does not
//!   say when it got it. But when its next step is something else it has it, or
//!   had it: it took the lock before everybody who asks for it after that.
//! - *Starts*: a start does not say of whom. Threads are numbered as they are
//!   started, so if all starts of a thread are steps, each is known. Of the very
//!   first there is no step, since nobody else could have gone on.
//!
//! Edges from one thread to itself are not listed, and of those that say the
//! same, only the latest.

use super::Placed;
use schedule::log::Log;
use schedule::{Kind, Thread};
use serde::Serialize;
use std::collections::BTreeMap;

/// What orders two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    Start,
    Lock,
    Volatile,
}

/// The operation of row `from` happens before that of row `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub order: Order,
}

pub(super) fn all_edges(log: &Log, steps: &[Placed]) -> Vec<Edge> {
    let mut edges = starts(log, steps);
    edges.extend(volatiles(steps));
    edges.extend(locks(steps));
    edges.sort_unstable();
    edges
}

fn volatiles(steps: &[Placed]) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut last: BTreeMap<(u64, u32), (usize, Thread)> = BTreeMap::new();
    for (row, thread, op) in steps.iter().filter(|(_, _, op)| op.obj != 0) {
        let place = (op.obj, op.slot);
        match op.kind {
            Kind::AtomicWrite => _ = last.insert(place, (*row, *thread)),
            Kind::AtomicRead | Kind::AtomicUpdate => {
                if let Some((from, writer)) = last.get(&place)
                    && writer != thread
                {
                    edges.push(Edge {
                        from: *from,
                        to: *row,
                        order: Order::Volatile,
                    });
                }
            }
            _ => {}
        }
    }
    edges
}

fn locks(steps: &[Placed]) -> Vec<Edge> {
    let mut edges = Vec::new();
    // What each thread asked for last and is not yet known to have.
    let mut asked: BTreeMap<Thread, (usize, u64)> = BTreeMap::new();
    // Who is known to have taken a lock last, and in which row.
    let mut taken: BTreeMap<u64, (usize, Thread)> = BTreeMap::new();
    for (row, thread, op) in steps {
        match op.kind {
            Kind::Acquire if op.obj != 0 => {
                match asked.get(thread) {
                    // Again the same: it had to wait, or took it and let go.
                    Some((_, obj)) if *obj == op.obj => {}
                    Some((before, obj)) => _ = taken.insert(*obj, (*before, *thread)),
                    None => {}
                }
                asked.insert(*thread, (*row, op.obj));
                if let Some((from, holder)) = taken.get(&op.obj)
                    && holder != thread
                {
                    edges.push(Edge {
                        from: *from,
                        to: *row,
                        order: Order::Lock,
                    });
                }
            }
            // It may still be waiting.
            Kind::Begin | Kind::Park | Kind::Wait | Kind::Yield | Kind::Spin => {}
            _ => {
                if let Some((before, obj)) = asked.remove(thread) {
                    taken.insert(obj, (before, *thread));
                }
            }
        }
    }
    edges
}

fn starts(log: &Log, steps: &[Placed]) -> Vec<Edge> {
    let mut begins: BTreeMap<Thread, usize> = BTreeMap::new();
    let mut made: BTreeMap<Thread, Vec<usize>> = BTreeMap::new();
    for (row, thread, op) in steps {
        match op.kind {
            Kind::Begin => _ = begins.entry(*thread).or_insert(*row),
            Kind::Start => made.entry(*thread).or_default().push(*row),
            _ => {}
        }
    }
    let mut edges = Vec::new();
    for (parent, made) in made {
        let children = log.threads.iter().filter(|(_, t)| t.parent == Some(parent));
        let mut children: Vec<Thread> = children.map(|(thread, _)| *thread).collect();
        if children.len() == made.len() + 1 && children.first() == Some(&1) {
            children.remove(0);
        }
        if children.len() != made.len() {
            continue;
        }
        for (from, child) in made.into_iter().zip(children) {
            // A log that says otherwise is no log of a run.
            if let Some(&to) = begins.get(&child).filter(|to| **to > from) {
                edges.push(Edge {
                    from,
                    to,
                    order: Order::Start,
                });
            }
        }
    }
    edges
}
