//! Accesses as late as they can have been.
//!
//! In a trace an access has no number of its own: it happened somewhere between
//! the synchronisation before it and the synchronisation after it, and a trace
//! is read with each access right behind the former. Happens-before does not
//! care, but the rule of class initialisation (`init`) does: it asks whether an
//! initialiser had *ended* before an access, and a thread that waited for that
//! did so without an event. Right before the latter the access is after
//! everything that it really came after.
//!
//! Until a class is initialised events pass as they come: other traces keep the
//! order in which they were written.

use rustc_hash::FxHashMap;
use trace::{Event, Op, ThreadId};

/// Accesses of a thread that wait at most; beyond that they pass early.
const MOST: usize = 1 << 16;

#[derive(Debug, Default)]
pub struct Late {
    active: bool,
    waiting: FxHashMap<ThreadId, Vec<Event>>,
}

impl Late {
    /// The next event; gives `out` what can go on.
    pub fn take(&mut self, event: &Event, mut out: impl FnMut(&Event)) {
        self.active |= matches!(event.op, Op::InitBegin(_));
        if !self.active {
            return out(event);
        }
        let waiting = self.waiting.entry(event.thread).or_default();
        if event.op.access().is_some() && waiting.len() < MOST {
            return waiting.push(*event);
        }
        waiting.drain(..).for_each(|e| out(&e));
        out(event);
    }

    /// What still waits when all events have come.
    pub fn rest(self, mut out: impl FnMut(&Event)) {
        let mut threads: Vec<_> = self.waiting.into_iter().collect();
        threads.sort_by_key(|(thread, _)| *thread);
        for (_, events) in threads {
            events.iter().for_each(&mut out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Loc, LockId, ObjId, SiteId};

    #[test]
    fn an_access_waits_for_its_threads_next_synchronisation() {
        let event = |thread: u32, op| Event {
            thread: ThreadId(thread),
            site: SiteId(0),
            op,
        };
        let access = Op::Read(Loc {
            obj: ObjId(1),
            slot: 0,
        });
        let lock = |o| Op::Acquire(LockId(ObjId(o)));
        let events = [
            event(1, access),
            event(0, Op::InitBegin(ObjId(9))),
            event(1, access),
            event(0, Op::InitEnd(ObjId(9))),
            event(1, lock(3)),
            event(2, access),
        ];
        let mut late = Late::default();
        let mut seen = Vec::new();
        for e in &events {
            late.take(e, |e| seen.push(*e));
        }
        late.rest(|e| seen.push(*e));
        assert_eq!(
            seen,
            [0, 1, 3, 2, 4, 5].map(|i: usize| events[i]),
            "the second access of thread 1 comes after the initialiser"
        );
    }
}
