//! Atomicity: stretches of a thread that are meant to look as if nothing came
//! between, and accesses of other threads that can come between all the same.
//!
//! # Patterns
//! The eleven of Vaziri, Tip and Dolby ("Associating synchronization
//! constraints with data", POPL 2006): interleavings that no serial order
//! explains. The unit's accesses are written plain, the other thread's with a
//! dash: `R W' W`, `R W' R`, `W R' W`, `W W' R`, `W W' W` on one location;
//! and on two, both accesses of one other unit in between, in either order:
//! `W(x) W'(x) W'(y) W(y)`, `W(x) R'(x) R'(y) W(y)`, `R(x) W'(x) W'(y) R(y)`.
//!
//! [`stale`] finds units by itself, by the flow of values.
//!
//! On one location it is enough to look at neighbouring accesses of a unit,
//! and at neighbouring writes for `W R' W`: what comes between two accesses
//! comes between two neighbours.
//!
//! # How
//! For a unit's accesses `a`, `z` and others' `b` (to `c`) a reordering is
//! built in three steps: up to where the one thread has done `a` (or given up
//! a lock after it) and the other is at `b`, as for a race, critical sections
//! reordered if necessary; the other thread on to `c`, and to the end of
//! critical sections that are in the way; the first thread on to `z`. It is
//! reported if the [checker](crate::check) accepts it.
//!
//! # What it claims
//! Sound: every violation has a witness that the checker accepted. Complete it
//! is not: of each combination of statements a few are tried.
//!
//! # Cost
//! For each unit and each variable that several threads access, the pairs of
//! its accesses times the statements of other threads, each a few times; and
//! for each attempt a walk over a part of the trace, within a budget.

mod search;
pub mod stale;

use crate::deps::Deps;
use crate::index::{Index, NONE};
use crate::verify::Verifier;
use trace::{Event, Loc, LockId, Op, SiteId, ThreadId};

/// A stretch of one thread that is meant to be atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Its first and its last event.
    pub first: u32,
    pub last: u32,
    pub what: What,
}

/// What makes a stretch a unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    /// A critical section.
    Block(LockId),
    /// A method, by its number.
    Method(u32),
}

/// One of the eleven.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pattern {
    /// Whether the unit's accesses write.
    unit: [bool; 2],
    /// Whether the others' accesses write: one, or both of them.
    other: bool,
    /// On two locations, and whether the other thread takes them in the same
    /// order.
    two: Option<bool>,
}

impl Pattern {
    /// As people write it: `R W' W`.
    pub fn name(self) -> &'static str {
        match (self.unit, self.other, self.two) {
            ([false, true], true, None) => "R W' W",
            ([false, false], true, None) => "R W' R",
            ([true, true], false, None) => "W R' W",
            ([true, false], true, None) => "W W' R",
            ([true, true], true, None) => "W W' W",
            ([true, _], true, Some(true)) => "W(x) W'(x) W'(y) W(y)",
            ([true, _], true, Some(false)) => "W(x) W'(y) W'(x) W(y)",
            (_, false, Some(true)) => "W(x) R'(x) R'(y) W(y)",
            (_, false, Some(false)) => "W(x) R'(y) R'(x) W(y)",
            ([false, _], _, Some(true)) => "R(x) W'(x) W'(y) R(y)",
            ([false, _], _, Some(false)) => "R(x) W'(y) W'(x) R(y)",
            // These have a serial order.
            (_, false, None) => "R' between",
        }
    }

    /// On one location.
    fn one(unit: [bool; 2], other: bool) -> Option<Pattern> {
        let serial = !other && unit != [true, true];
        (!serial).then_some(Pattern {
            unit,
            other,
            two: None,
        })
    }

    fn two(unit: bool, other: bool, same_order: bool) -> Option<Pattern> {
        (unit || other).then_some(Pattern {
            unit: [unit; 2],
            other,
            two: Some(same_order),
        })
    }
}

/// A unit that something can come into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub unit: What,
    /// Where the unit begins.
    pub begin: SiteId,
    pub pattern: Pattern,
    /// The accesses in the order in which they come in the witness: one of the
    /// unit, one or two others, one of the unit.
    pub accesses: Vec<Part>,
    /// The order, by places in the trace; the unit's second access ends it.
    pub witness: Vec<u32>,
}

/// One access of a violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub thread: ThreadId,
    pub site: SiteId,
    pub loc: Loc,
    pub write: bool,
    /// Its place in the trace.
    pub event: u32,
}

/// What was found, and why there may be more.
#[derive(Debug, Default)]
pub struct Violations {
    pub list: Vec<Violation>,
    /// Attempts that the checker did not accept.
    pub refuted: u64,
    pub incomplete: Option<String>,
}

/// Violations of the units, each combination of statements once.
pub fn check(trace: &[Event], deps: &Deps, units: &[Unit]) -> Violations {
    let verifier = Verifier::for_sequences(trace, deps);
    let index = if deps.is_unknown() {
        Index::new(verifier.trace())
    } else {
        Index::sliced(verifier.trace(), deps)
    };
    search::search(&index, deps, units, verifier)
}

/// The critical sections of a trace that were left again. Who waits lets others in: what comes before the
/// wait is one section, what follows another.
pub fn blocks(trace: &[Event]) -> Vec<Unit> {
    stretches(trace, |op| match op {
        Op::Acquire(lock) | Op::WaitEnd { lock, .. } => Some((true, What::Block(lock))),
        Op::Release(lock) | Op::WaitBegin(lock) => Some((false, What::Block(lock))),
        _ => None,
    })
}

/// The calls of methods, if the trace has them.
pub fn methods(trace: &[Event], wanted: impl Fn(u32) -> bool) -> Vec<Unit> {
    stretches(trace, |op| match op {
        Op::MethodEnter(method) if wanted(method) => Some((true, What::Method(method))),
        Op::MethodExit(method) if wanted(method) => Some((false, What::Method(method))),
        _ => None,
    })
}

fn stretches(trace: &[Event], what: impl Fn(Op) -> Option<(bool, What)>) -> Vec<Unit> {
    let mut open: rustc_hash::FxHashMap<ThreadId, Vec<(What, u32)>> = Default::default();
    let mut units = Vec::new();
    for (at, e) in (0..NONE).zip(trace) {
        let Some((begins, what)) = what(e.op) else {
            continue;
        };
        let open = open.entry(e.thread).or_default();
        if begins {
            open.push((what, at));
        } else if let Some(mine) = open.iter().rposition(|(w, _)| *w == what) {
            // An exception may have left others without a word.
            let (_, first) = open.remove(mine);
            units.push(Unit {
                first,
                last: at,
                what,
            });
        }
    }
    units
}
