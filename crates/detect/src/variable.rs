//! FastTrack's per-variable transitions, as pure functions: what a read or a
//! write does to the shadow of one variable. The offline fold
//! (`crate::fasttrack`) and the agent's slow path call exactly these.
//!
//! # The algorithm
//! Flanagan & Freund, "FastTrack: efficient and precise dynamic race
//! detection" (PLDI 2009). A variable remembers its last write as an epoch,
//! and its reads since as nothing, one epoch, or (several unordered readers)
//! a set. An access races with a remembered one that its thread's clock does
//! not cover.
//!
//! # What it claims
//! Of the accesses to one variable, the first one that is unordered with an
//! earlier conflicting access is reported, and nothing is reported while all
//! conflicting accesses are ordered: exactly what full vector clocks say (a
//! property test). After a race the state goes on as usual, so later reports
//! on the variable are true races too, but not all of them are found.
//!
//! # Where it departs from the paper
//! - A read in the epoch of the thread's own last write is not recorded:
//!   an access unordered with it is unordered with that write.
//! - A read drops other reads that its thread's clock covers, also out of a
//!   set, so shared variables go back to one epoch when their readers meet.
//! - A write forgets all reads, also when only one of them was known.

use order::{ClockView, Epoch, ReadSets, SetId, Stamp};

/// The reads since the last write that matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Reads {
    #[default]
    None,
    One(Stamp),
    /// Several, unordered with each other.
    Shared(SetId),
}

impl Reads {
    /// No epoch: a thread's clock does not get there.
    const SHARED: u64 = u64::MAX;

    /// Twelve bytes, for shadow memory: an epoch (or a mark), and a site (or a
    /// set). Zeros are no reads.
    #[inline]
    pub fn pack(self) -> (u64, u32) {
        match self {
            Reads::None => (0, 0),
            Reads::One(s) => (s.epoch.0, s.site),
            Reads::Shared(set) => (Self::SHARED, set.0),
        }
    }

    #[inline]
    pub fn unpack((epoch, site): (u64, u32)) -> Reads {
        match epoch {
            0 => Reads::None,
            Self::SHARED => Reads::Shared(SetId(site)),
            _ => Reads::One(Stamp::new(Epoch(epoch), site)),
        }
    }
}

/// An earlier access that the current one is not ordered after.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Prior {
    pub stamp: Stamp,
    pub write: bool,
}

/// A variable after an access, and the race the access made, if any.
///
/// A caller that finds a reason why `race` is none after all (a class
/// initialisation, see [`crate::InitIntervals`]) adds the missing order to
/// the thread's clock and takes the same step from the same old state again:
/// another race may stand behind the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub w: Stamp,
    pub r: Reads,
    pub race: Option<Prior>,
}

/// A plain read, now: `my` is the reader's current epoch and statement, `me`
/// its clock, with `w` and `r` the variable as it was.
#[inline]
pub fn read(w: Stamp, r: Reads, me: &impl ClockView, my: Stamp, sets: &mut ReadSets) -> Step {
    if w.epoch == my.epoch || matches!(r, Reads::One(s) if s.epoch == my.epoch) {
        return Step { w, r, race: None };
    }
    let race = (!me.covers(w.epoch)).then_some(Prior {
        stamp: w,
        write: true,
    });
    let r = match r {
        Reads::None => Reads::One(my),
        Reads::One(s) if s.epoch.tid() == my.epoch.tid() || me.covers(s.epoch) => Reads::One(my),
        Reads::One(s) => shared(sets.pair(s, my), my, sets),
        Reads::Shared(set) => match sets.get(set, my.epoch.tid()) {
            Some(s) if s.epoch == my.epoch => r,
            _ => shared(sets.absorb(set, my, me), my, sets),
        },
    };
    Step { w, r, race }
}

/// A plain write, now. Arguments as for [`read`].
#[inline]
pub fn write(w: Stamp, r: Reads, me: &impl ClockView, my: Stamp, sets: &ReadSets) -> Step {
    if w.epoch == my.epoch {
        return Step { w, r, race: None };
    }
    let race = if me.covers(w.epoch) {
        unordered_reads(r, me, sets).next().map(|stamp| Prior {
            stamp,
            write: false,
        })
    } else {
        Some(Prior {
            stamp: w,
            write: true,
        })
    };
    Step {
        w: my,
        r: Reads::None,
        race,
    }
}

/// All remembered reads that `me` is not ordered after, for a caller that
/// wants to name every reader a write races with.
pub fn unordered_reads<'a>(
    r: Reads,
    me: &'a impl ClockView,
    sets: &'a ReadSets,
) -> impl Iterator<Item = Stamp> + 'a {
    let (one, set) = match r {
        Reads::None => (None, SetId::EMPTY),
        Reads::One(s) => (Some(s), SetId::EMPTY),
        Reads::Shared(set) => (None, set),
    };
    one.into_iter()
        .chain(sets.iter(set))
        .filter(|s| !me.covers(s.epoch))
}

/// A set of one is that one; a set the store had to forget is at least mine.
fn shared(set: SetId, my: Stamp, sets: &ReadSets) -> Reads {
    if sets.len(set) < 2 {
        Reads::One(my)
    } else {
        Reads::Shared(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use order::VectorClock;

    fn at(tid: u16, clock: u64) -> Stamp {
        Stamp::new(Epoch::new(tid, clock), u32::from(tid) + 1)
    }

    fn clock(of: &[u64]) -> VectorClock {
        of.iter().copied().collect()
    }

    const NEVER: Stamp = Stamp::NONE;

    #[test]
    fn unordered_readers_are_all_remembered_until_they_meet() {
        let mut sets = ReadSets::new();
        let one = read(NEVER, Reads::None, &clock(&[1]), at(0, 1), &mut sets);
        assert_eq!(one.r, Reads::One(at(0, 1)));
        let two = read(NEVER, one.r, &clock(&[0, 1]), at(1, 1), &mut sets);
        let Reads::Shared(set) = two.r else {
            panic!("{two:?}")
        };
        assert_eq!(sets.iter(set).collect::<Vec<_>>(), vec![at(0, 1), at(1, 1)]);

        // A writer that knows only one of them races with the other ...
        let me = clock(&[0, 1, 1]);
        let step = write(NEVER, two.r, &me, at(2, 1), &sets);
        let reader = Prior {
            stamp: at(0, 1),
            write: false,
        };
        assert_eq!(step.race, Some(reader));
        assert_eq!((step.w, step.r), (at(2, 1), Reads::None));
        assert_eq!(unordered_reads(two.r, &me, &sets).count(), 1);

        // ... and a reader that knows both stands for both.
        let met = read(NEVER, two.r, &clock(&[1, 1, 1]), at(2, 1), &mut sets);
        assert_eq!(met.r, Reads::One(at(2, 1)));
    }

    #[test]
    fn a_write_race_is_preferred_to_a_read_race() {
        let sets = ReadSets::new();
        let step = write(
            at(0, 3),
            Reads::One(at(1, 2)),
            &clock(&[2, 1, 1]),
            at(2, 1),
            &sets,
        );
        assert_eq!(
            step.race.map(|p| (p.stamp, p.write)),
            Some((at(0, 3), true))
        );
    }

    #[test]
    fn the_same_epoch_changes_nothing() {
        let mut sets = ReadSets::new();
        let me = clock(&[4, 9]);
        for r in [Reads::None, Reads::One(at(1, 9))] {
            let w = at(0, 4);
            let elsewhere = Stamp::new(Epoch::new(0, 4), 77);
            let step = Step { w, r, race: None };
            assert_eq!(read(w, r, &me, elsewhere, &mut sets), step);
            assert_eq!(write(w, r, &me, elsewhere, &sets), step);
        }
        assert_eq!(sets.nodes(), 0);
    }

    #[test]
    fn packing_loses_nothing() {
        let one = Reads::One(at(65_535, Epoch::MAX_CLOCK - 1));
        for r in [
            Reads::None,
            Reads::One(at(0, 1)),
            one,
            Reads::Shared(SetId(3)),
        ] {
            assert_eq!(Reads::unpack(r.pack()), r);
        }
    }

    #[test]
    fn a_race_does_not_stop_the_bookkeeping() {
        let mut sets = ReadSets::new();
        let step = read(at(0, 3), Reads::None, &clock(&[2, 1]), at(1, 1), &mut sets);
        assert!(step.race.is_some_and(|p| p.write));
        assert_eq!(step.r, Reads::One(at(1, 1)));
    }
}
