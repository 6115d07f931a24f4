//! What a thread (or lock, or volatile) knows of every thread.

use crate::epoch::{Epoch, Tid};

/// Something that can be asked how far it knows a thread. Offline that is a
/// [`VectorClock`]; inside the JVM it is a row of raw memory that compiled
/// Java code reads as well.
pub trait ClockView {
    /// The last clock of `tid` known here; 0 when none is.
    fn get(&self, tid: Tid) -> u64;

    /// Whether everything up to and including `epoch` happened before.
    #[inline]
    fn covers(&self, epoch: Epoch) -> bool {
        epoch.clock() <= self.get(epoch.tid())
    }
}

impl<C: ClockView + ?Sized> ClockView for &C {
    #[inline]
    fn get(&self, tid: Tid) -> u64 {
        (**self).get(tid)
    }
}

/// Clocks by thread index; what lies beyond the end is 0.
#[derive(Clone, Default, Debug)]
pub struct VectorClock {
    clocks: Vec<u64>,
}

impl VectorClock {
    pub const fn new() -> VectorClock {
        VectorClock { clocks: Vec::new() }
    }

    /// How many thread indices have room. All beyond are 0.
    pub fn width(&self) -> usize {
        self.clocks.len()
    }

    pub fn set(&mut self, tid: Tid, clock: u64) {
        let at = usize::from(tid);
        if at >= self.clocks.len() {
            if clock == 0 {
                return;
            }
            self.clocks.resize(at + 1, 0);
        }
        self.clocks[at] = clock;
    }

    /// Advances `tid` by one and returns its new clock.
    pub fn inc(&mut self, tid: Tid) -> u64 {
        let next = self.get(tid) + 1;
        self.set(tid, next);
        next
    }

    /// Learns everything that `other` knows: the least upper bound.
    #[inline]
    pub fn join(&mut self, other: &VectorClock) {
        if self.clocks.len() < other.clocks.len() {
            self.clocks.resize(other.clocks.len(), 0);
        }
        for (mine, theirs) in self.clocks.iter_mut().zip(&other.clocks) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Becomes `other`, keeping the allocation.
    #[inline]
    pub fn copy_from(&mut self, other: &VectorClock) {
        self.clocks.clear();
        self.clocks.extend_from_slice(&other.clocks);
    }

    /// Whether everything known to `other` is known here.
    pub fn includes(&self, other: &VectorClock) -> bool {
        other
            .clocks
            .iter()
            .enumerate()
            .all(|(at, theirs)| self.clocks.get(at).copied().unwrap_or(0) >= *theirs)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Tid, u64)> + '_ {
        (0..=Tid::MAX).zip(self.clocks.iter().copied())
    }
}

impl ClockView for VectorClock {
    #[inline]
    fn get(&self, tid: Tid) -> u64 {
        self.clocks.get(usize::from(tid)).copied().unwrap_or(0)
    }
}

/// Clocks by thread index from 0 on; entries beyond the last index are dropped.
impl FromIterator<u64> for VectorClock {
    fn from_iter<I: IntoIterator<Item = u64>>(clocks: I) -> VectorClock {
        VectorClock {
            clocks: clocks.into_iter().take(usize::from(Tid::MAX) + 1).collect(),
        }
    }
}

/// Trailing zeros do not count.
impl PartialEq for VectorClock {
    fn eq(&self, other: &VectorClock) -> bool {
        self.includes(other) && other.includes(self)
    }
}

impl Eq for VectorClock {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock() -> impl Strategy<Value = VectorClock> {
        proptest::collection::vec(0u64..5, 0..6).prop_map(|v| v.into_iter().collect())
    }

    proptest! {
        #[test]
        fn join_is_the_least_upper_bound(a in clock(), b in clock(), c in clock()) {
            let mut j = a.clone();
            j.join(&b);
            prop_assert!(j.includes(&a) && j.includes(&b));
            if c.includes(&a) && c.includes(&b) {
                prop_assert!(c.includes(&j));
            }
        }

        #[test]
        fn covers_compares_one_place(a in clock(), tid in 0u16..8, at in 0u64..6) {
            prop_assert_eq!(a.covers(Epoch::new(tid, at)), at <= a.get(tid));
        }
    }

    #[test]
    fn inc_and_copy() {
        let mut a = VectorClock::new();
        assert_eq!(a.inc(3), 1);
        assert_eq!(a.inc(3), 2);
        let mut b: VectorClock = [9, 9, 9, 9, 9].into_iter().collect();
        b.copy_from(&a);
        assert_eq!(a, b);
        assert_eq!(b.get(4), 0);
    }
}
