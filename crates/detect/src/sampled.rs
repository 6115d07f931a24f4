//! FastTrack in periods: what a run under a budget does, as a fold over events. The agent and its
//! bridge do the same inside the JVM (agent/src/sampling, PhotofinishSampling.java).
//!
//! # The algorithm
//! After PACER (Bond, Coons, McKinley, "PACER: proportional detection of data races", PLDI 2010). In *sampling*
//! accesses are checked and recorded. While *comparing*, which follows, they are checked against what was recorded, and
//! not recorded. At *rest* nothing is done at all. A sampling and the comparing behind it are an *era*.
//!
//! # Where it departs from the paper
//! - PACER follows order all the time, cheaply. On a server that alone doubled the processor time (docs/server.md), so
//!   no order is followed at rest. Instead, everything before an era counts as ordered before everything in it: when a
//!   thread begins an era it learns of all epochs that there were before (the *floor*), and starts one of its own.
//!   What is lost are races with an access of an earlier era.
//! - What is recorded is not dropped when an ordered access follows outside of sampling: the words are there anyway, and
//!   more is found.
//!
//! # What it claims
//! Every finding is a race: let `a` be recorded in an era and `b` be found unordered with it in the same era. A path of
//! happens-before from `a` to `b` has all of its edges after `a`, so after the era began, and before `b` was found, when
//! the era was still on; each of them was followed. So there is no such path. Accesses recorded in earlier eras lie below
//! the floor.
//!
//! If the first access of a race that full FastTrack reports lies in a sampling period and the second in the same era, a
//! race of the second access is reported.
//!
//! # Threads that see a turn late
//! Inside the JVM a thread learns of a turn when it next looks, and compilers may let it look late: at plain accesses,
//! not after it has learnt something from another thread, which has seen the turn itself. So a thread may go on
//! recording and checking as in an earlier era. What it records belongs to an epoch of that era, so to the floor of
//! the next. What it finds is dropped unless the era that it is in is still on.

use crate::clocks::Clocks;
use crate::fasttrack::{FastTrack, Options};
use crate::{Detector, Findings};
use order::VectorClock;
use rustc_hash::FxHashMap;
use trace::{Event, Op, ThreadId};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    #[default]
    Rest,
    Sample,
    Compare,
}

/// The detector. See the module's text.
#[derive(Debug)]
pub struct Sampled {
    inner: FastTrack,
    now: View,
    floor: VectorClock,
    /// The era that a thread has begun last.
    begun: FxHashMap<ThreadId, u32>,
    /// Threads see turns late: what they see. None: they see all at once.
    late: Option<FxHashMap<ThreadId, View>>,
}

/// The phase, and the number of the era, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct View {
    phase: Phase,
    era: u32,
}

impl Sampled {
    /// Begins at rest. `late`: threads see a turn at their next event that is no plain access, or when
    /// they [`look`](Sampled::look).
    pub fn new(late: bool) -> Sampled {
        Sampled {
            inner: FastTrack::new(Options {
                mixed: false,
                ..Options::default()
            }),
            now: View::default(),
            floor: VectorClock::new(),
            begun: FxHashMap::default(),
            late: late.then(FxHashMap::default),
        }
    }

    /// A phase begins. Comparing without sampling before it is rest.
    pub fn turn(&mut self, to: Phase) {
        self.now.phase = match (self.now.phase, to) {
            (Phase::Rest, Phase::Compare) => Phase::Rest,
            (_, to) => to,
        };
        if to == Phase::Sample {
            self.now.era += 1;
            self.floor = self.inner.clocks().threads.now();
        }
    }

    /// The thread sees what phase it is.
    pub fn look(&mut self, thread: ThreadId) {
        if let Some(late) = &mut self.late {
            late.insert(thread, self.now);
        }
    }

    fn seen(&self, thread: ThreadId) -> View {
        match &self.late {
            Some(late) => late.get(&thread).copied().unwrap_or_default(),
            None => self.now,
        }
    }

    /// Brings the thread into the era.
    fn begin(&mut self, thread: ThreadId, era: u32) {
        if self.begun.insert(thread, era) == Some(era) {
            return;
        }
        let threads = &mut self.inner.clocks_mut().threads;
        let at = threads.index(thread);
        let me = threads.get_mut(at);
        me.clock.join(&self.floor);
        me.advance();
    }
}

impl Detector for Sampled {
    fn event(&mut self, e: &Event) {
        let plain = e.op.access().is_some();
        if !plain {
            self.look(e.thread);
        }
        let seen = self.seen(e.thread);
        // Rare, and threads must be known by their ends: followed always.
        let always = matches!(
            e.op,
            Op::Fork(_) | Op::End | Op::Join(_) | Op::InitBegin(_) | Op::InitEnd(_)
        );
        if seen.phase == Phase::Rest && !always {
            self.inner.skip();
            return;
        }
        if seen.phase != Phase::Rest {
            self.begin(e.thread, seen.era);
        }
        let on = self.now.phase != Phase::Rest && seen.era == self.now.era;
        self.inner.mute(!on);
        match (e.op.access(), seen.phase) {
            (Some((loc, write)), Phase::Compare) => self.inner.compare(e, loc, write),
            _ => self.inner.event(e),
        }
    }

    fn findings(&self) -> &Findings {
        self.inner.findings()
    }
}

impl FastTrack {
    fn clocks_mut(&mut self) -> &mut Clocks {
        &mut self.clocks
    }

    /// An event that is not looked at.
    fn skip(&mut self) {
        self.events += 1;
    }

    /// Whether races are dropped.
    fn mute(&mut self, muted: bool) {
        self.muted = muted;
    }

    /// Checks an access without recording it.
    fn compare(&mut self, e: &Event, loc: trace::Loc, write: bool) {
        if let Some(before) = self.vars.get(loc).copied() {
            let at = self.clocks.threads.index(e.thread);
            self.judge(at, e, loc, write);
            *self.vars.entry(loc) = before;
        }
        self.events += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Loc, LockId, ObjId, SiteId};

    const X: Loc = Loc {
        obj: ObjId(1),
        slot: 0,
    };
    const LOCK: LockId = LockId(ObjId(9));

    fn fold(script: &[(Option<Phase>, u32, Op)]) -> usize {
        let mut sampled = Sampled::new(false);
        for (site, (turn, thread, op)) in (1..).zip(script) {
            if let Some(to) = turn {
                sampled.turn(*to);
            }
            sampled.event(&Event {
                thread: ThreadId(*thread),
                site: SiteId(site),
                op: *op,
            });
        }
        sampled.findings().len()
    }

    #[test]
    fn a_race_is_found_if_its_first_access_is_sampled() {
        use Phase::{Compare, Rest, Sample};
        let two = |first, second| fold(&[(first, 1, Op::Write(X)), (second, 2, Op::Read(X))]);
        assert_eq!(two(Some(Sample), None), 1);
        assert_eq!(two(Some(Sample), Some(Compare)), 1);
        assert_eq!(two(Some(Sample), Some(Rest)), 0);
        assert_eq!(two(None, Some(Sample)), 0, "at rest");
        assert_eq!(two(Some(Compare), Some(Sample)), 0, "no era to compare in");
        assert_eq!(two(Some(Sample), Some(Sample)), 0, "another era");
    }

    /// The edge that orders the two goes through a thread that nobody follows.
    #[test]
    fn order_at_rest_is_not_missed() {
        use Phase::{Rest, Sample};
        let found = fold(&[
            (Some(Sample), 1, Op::Write(X)),
            (Some(Rest), 1, Op::Release(LOCK)),
            (None, 2, Op::Acquire(LOCK)),
            (Some(Sample), 2, Op::Write(X)),
        ]);
        assert_eq!(found, 0);
    }
}
