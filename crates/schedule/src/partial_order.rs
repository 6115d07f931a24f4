//! A digest of the partial order of an execution (its Mazurkiewicz trace): the same for
//! executions that differ only in the order of independent operations, so that schedules can
//! be counted that are really different.
//!
//! The digest of a step is made of what it does, of the digest of its thread's step
//! before it, and of those that it depends on: for a read the last change of the location, for
//! anything else also the reads since. The digest of the execution is the sum of those of its
//! steps, which has no order. Objects are not named: which object a thread comes to
//! follows from what came before.
//!
//! Operations depend on each other if they are on the same location (a lock is one) and
//! not both reads. Ones that wake a thread, and the strategy's ticks, are taken to
//! depend on each other, whichever thread they are about. So two executions with one
//! digest are equivalent (but for collisions of 64 bits), and some that are equivalent may
//! have two.

use crate::log::Digest;
use crate::op::{Kind, Op, Thread};
use rustc_hash::FxHashMap;

/// Locations that are told apart; more are taken for one.
const MOST_LOCATIONS: usize = 1 << 20;

/// Where whatever has no location of its own and may be noticed by others goes.
const ELSEWHERE: (u64, u32) = (0, 0);

/// In the place of a slot, for locks.
const LOCK: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct Location {
    /// The last change.
    changed: u64,
    /// The sum of the reads since.
    reads: u64,
}

#[derive(Clone, Debug, Default)]
pub struct PartialOrder {
    /// The last step of each thread.
    threads: Vec<u64>,
    locations: FxHashMap<(u64, u32), Location>,
    sum: u64,
}

impl PartialOrder {
    /// A thread is started: all that it does comes after what its parent did.
    pub fn started(&mut self, thread: Thread, parent: Option<Thread>) {
        let before = parent.map_or(0, |parent| self.last(parent));
        let mut digest = Digest(before);
        digest.word(1);
        *self.slot(thread) = digest.0;
        // The next child of the same parent is another one.
        if let Some(parent) = parent {
            digest.word(2);
            *self.slot(parent) = digest.0;
        }
    }

    /// The statement is told by its identity, which is the same in every run.
    pub fn step(&mut self, thread: Thread, op: &Op, statement: u64) {
        let mut digest = Digest(self.last(thread));
        digest.word(op.kind as u64);
        digest.word(statement);
        digest.word(u64::from(op.slot));
        let reads = matches!(op.kind, Kind::Read | Kind::AtomicRead);
        if let Some(at) = location(op) {
            self.meet(at, reads, &mut digest);
        }
        *self.slot(thread) = digest.0;
        self.sum = self.sum.wrapping_add(digest.0);
    }

    /// The strategy let time pass.
    pub fn tick(&mut self) {
        let mut digest = Digest::default();
        self.meet(ELSEWHERE, false, &mut digest);
        self.sum = self.sum.wrapping_add(digest.0);
    }

    pub fn digest(&self) -> u64 {
        self.sum
    }

    /// A step comes to a location: its digest takes in what it depends on.
    fn meet(&mut self, at: (u64, u32), reads: bool, digest: &mut Digest) {
        let room = self.locations.len() < MOST_LOCATIONS || self.locations.contains_key(&at);
        let location = self
            .locations
            .entry(if room { at } else { ELSEWHERE })
            .or_default();
        digest.word(location.changed);
        if reads {
            location.reads = location.reads.wrapping_add(digest.0);
        } else {
            digest.word(location.reads);
            *location = Location {
                changed: digest.0,
                reads: 0,
            };
        }
    }

    fn last(&self, thread: Thread) -> u64 {
        self.threads.get(thread as usize).copied().unwrap_or(0)
    }

    fn slot(&mut self, thread: Thread) -> &mut u64 {
        let at = thread as usize;
        if self.threads.len() <= at {
            self.threads.resize(at + 1, 0);
        }
        &mut self.threads[at]
    }
}

/// What others may notice of an operation.
fn location(op: &Op) -> Option<(u64, u32)> {
    match op.kind {
        Kind::Unpark | Kind::Interrupt | Kind::Notify | Kind::NotifyAll if op.obj == 0 => {
            Some(ELSEWHERE)
        }
        _ if op.obj == 0 => None,
        kind if kind.is_access() => Some((op.obj, op.slot)),
        _ => Some((op.obj, LOCK)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Step = (Thread, Op);

    /// The twin: whether two neighbouring steps can change places without anybody noticing.
    fn independent((one, a): &Step, (other, b): &Step) -> bool {
        let (Some(x), Some(y)) = (location(a), location(b)) else {
            return one != other;
        };
        let reads = |op: &Op| matches!(op.kind, Kind::Read | Kind::AtomicRead);
        one != other && (x != y || reads(a) && reads(b))
    }

    fn digest(steps: &[Step]) -> u64 {
        let mut order = PartialOrder::default();
        order.started(0, None);
        order.started(1, Some(0));
        order.started(2, Some(0));
        for (thread, op) in steps {
            order.step(*thread, op, u64::from(op.site) + 100);
        }
        order.digest()
    }

    fn step() -> impl Strategy<Value = Step> {
        let kinds = prop::sample::select(vec![
            Kind::Acquire,
            Kind::Release,
            Kind::AtomicRead,
            Kind::AtomicWrite,
            Kind::Read,
            Kind::Write,
            Kind::Unpark,
            Kind::Yield,
        ]);
        (0..3u32, kinds, 0..4u32, 0..3u64, 0..2u32).prop_map(|(thread, kind, site, obj, slot)| {
            let obj = match kind {
                Kind::Unpark | Kind::Yield => 0,
                _ => obj + 1,
            };
            let op = Op {
                kind,
                site,
                obj,
                slot,
            };
            (thread, op)
        })
    }

    proptest! {
        #[test]
        fn only_the_order_of_dependent_steps_counts(
            steps in prop::collection::vec(step(), 2..20),
            at in any::<prop::sample::Index>(),
        ) {
            let at = at.index(steps.len() - 1);
            let mut other = steps.clone();
            other.swap(at, at + 1);
            let same = independent(&steps[at], &steps[at + 1]) || steps == other;
            // Two steps of one thread that change places are another program.
            if steps[at].0 != steps[at + 1].0 || steps == other {
                prop_assert_eq!(digest(&steps) == digest(&other), same);
            }
        }
    }

    #[test]
    fn children_differ_by_what_was_before() {
        let mut one = PartialOrder::default();
        one.started(0, None);
        let mut other = one.clone();
        let op = |kind, obj| Op {
            kind,
            site: 1,
            obj,
            slot: 0,
        };
        one.started(1, Some(0));
        one.step(1, &op(Kind::Begin, 0), 0);
        other.step(0, &op(Kind::AtomicWrite, 1), 7);
        other.started(1, Some(0));
        other.step(1, &op(Kind::Begin, 0), 0);
        assert_ne!(one.digest(), other.digest());
    }
}
