//! An epoch names one stretch of one thread between two releases: FastTrack's
//! `clock@thread`, in one word, so that "is it still my epoch?" is one
//! comparison, in Rust as in the compiled Java fast path.

use std::fmt;

/// A thread's index in clocks. Not the identity of a thread: an index is
/// given to another thread once that is indistinguishable (see the detectors).
pub type Tid = u16;

/// Thread index in the upper 16 bits, clock in the lower 48. Clocks start at
/// 1, so clock 0 stands before everything, and the zero word is "never".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Before every event: covered by every clock.
    pub const NONE: Epoch = Epoch(0);
    const CLOCK_BITS: u32 = 48;
    /// The largest clock that fits. At a release a nanosecond: three days.
    pub const MAX_CLOCK: u64 = (1 << Self::CLOCK_BITS) - 1;

    #[inline]
    pub const fn new(tid: Tid, clock: u64) -> Epoch {
        debug_assert!(clock <= Self::MAX_CLOCK);
        Epoch((tid as u64) << Self::CLOCK_BITS | clock)
    }

    #[inline]
    pub const fn tid(self) -> Tid {
        (self.0 >> Self::CLOCK_BITS) as Tid
    }

    #[inline]
    pub const fn clock(self) -> u64 {
        self.0 & Self::MAX_CLOCK
    }

    /// Whether this is the epoch before every event.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.clock() == 0
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.clock(), self.tid())
    }
}

/// When an access happened, and which statement made it. The site is a
/// `SiteId`'s number; order does not care what it names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Stamp {
    pub epoch: Epoch,
    pub site: u32,
}

impl Stamp {
    /// No access yet.
    pub const NONE: Stamp = Stamp {
        epoch: Epoch::NONE,
        site: 0,
    };

    #[inline]
    pub const fn new(epoch: Epoch, site: u32) -> Stamp {
        Stamp { epoch, site }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        for (tid, clock) in [(0, 1), (1, 0), (65535, Epoch::MAX_CLOCK), (7, 123_456)] {
            let epoch = Epoch::new(tid, clock);
            assert_eq!((epoch.tid(), epoch.clock()), (tid, clock));
            assert_eq!(epoch.is_none(), clock == 0);
        }
        assert_eq!(format!("{:?}", Epoch::new(3, 9)), "9@3");
    }
}
