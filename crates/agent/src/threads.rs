//! The program's threads: their numbers, their slots in vector clocks, where
//! they were made.
//!
//! A slot is given to a new thread only if that thread, when it starts,
//! already knows the last epoch of the slot's former owner: then nothing can
//! tell the two apart. When slots run out, the slot of the longest dead thread
//! is taken all the same (races with that thread may be missed, none is
//! invented), and counted. Where accesses become events nobody asks for slots,
//! and a thread has a header only.

use crate::memory::{MAX_SLOTS, RawClock};
use crate::stacks::Frame;
use order::{ClockView, Epoch, Tid};
use std::collections::VecDeque;
use std::sync::Arc;

/// Slots of dead threads that a new one asks for.
const MOST_LOOKED_AT: usize = 256;

#[derive(Clone, Debug)]
pub struct Thread {
    pub id: u32,
    /// Empty: it has none. Kept for ever, like the rest, so it is small.
    name: Box<str>,
    pub system: bool,
    pub creator: Option<u32>,
    /// One for all threads that are made in the same place.
    pub created: Arc<[Frame]>,
    /// The test that it works for, by the number that a test framework gave it; 0: none.
    pub test: u32,
}

impl Thread {
    pub fn name(&self) -> String {
        or_unnamed(String::from(&*self.name), self.id)
    }
}

#[derive(Debug)]
struct Slot {
    clock: RawClock,
    /// Owners, each with its first clock.
    owners: Vec<(u64, u32)>,
}

#[derive(Default, Debug)]
pub struct Threads {
    all: Vec<Thread>,
    slots: Vec<Slot>,
    /// Slots of dead threads with their last clock, oldest first.
    free: VecDeque<(Tid, u64)>,
    /// Clocks of dead threads that had no slot of their own.
    spare: Vec<RawClock>,
    events: bool,
    pub forced_reuse: u64,
}

impl Threads {
    pub fn new(events: bool) -> Threads {
        Threads {
            events,
            ..Threads::default()
        }
    }

    /// A new thread: its clock in shared memory, introduced to the bridge.
    pub fn start(
        &mut self,
        parent: Option<RawClock>,
        name: String,
        system: bool,
        created: Arc<[Frame]>,
    ) -> RawClock {
        let id = self.all.len() as u32;
        let creator = parent.map(RawClock::id);
        let test = creator.and_then(|id| self.get(id)).map_or(0, |t| t.test);
        self.all.push(Thread {
            id,
            name: name.into(),
            system,
            creator,
            created,
            test,
        });
        if self.events {
            let clock = self.spare.pop().unwrap_or_else(RawClock::header);
            clock.introduce(id, 0, 1);
            return clock;
        }
        let known = |(slot, last): &(Tid, u64)| parent.is_some_and(|p| p.get(*slot) >= *last);
        // The longest dead are the most likely to be known. With thousands of them a look at each would
        // cost more than a new slot does.
        let place = self.free.iter().take(MOST_LOOKED_AT).position(known);
        if place.is_none() {
            // Those who may never be known are not in the way of others the next time.
            let looked_at = MOST_LOOKED_AT.min(self.free.len());
            self.free.rotate_left(looked_at);
        }
        let place = place.or_else(|| {
            let full = self.slots.len() >= MAX_SLOTS && !self.free.is_empty();
            self.forced_reuse += u64::from(full);
            full.then_some(0)
        });
        let (slot, start) = match place.and_then(|at| self.free.remove(at)) {
            Some((slot, last)) => (slot, last + 1),
            None if self.slots.len() < MAX_SLOTS => {
                self.slots.push(Slot {
                    clock: RawClock::new(),
                    owners: vec![],
                });
                ((self.slots.len() - 1) as Tid, 1)
            }
            None => {
                // More living threads than slots: this one shares the last.
                self.forced_reuse += 1;
                let clock = self.spare.pop().unwrap_or_else(RawClock::new);
                clock.clear();
                clock.introduce(id, (MAX_SLOTS - 1) as Tid, 1);
                return clock;
            }
        };
        let place = &mut self.slots[usize::from(slot)];
        place.owners.push((start, id));
        place.clock.clear();
        place.clock.introduce(id, slot, start as u32);
        place.clock
    }

    pub fn end(&mut self, slot: Tid, clock: RawClock) {
        if self
            .slots
            .get(usize::from(slot))
            .is_some_and(|s| s.clock.address() == clock.address())
        {
            self.free.push_back((slot, clock.get(slot)));
        } else {
            self.spare.push(clock);
        }
    }

    /// Makes a clock know all that every thread has done until now.
    pub fn raise_to_now(&self, clock: RawClock) {
        for (slot, s) in (0..).zip(&self.slots) {
            let now = s.clock.get(slot);
            if now > clock.get(slot) {
                clock.set(slot, now as u32);
            }
        }
    }

    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Who ran in this epoch.
    pub fn of_epoch(&self, epoch: Epoch) -> Option<&Thread> {
        let owners = &self.slots.get(usize::from(epoch.tid()))?.owners;
        let at = owners.partition_point(|(start, _)| *start <= epoch.clock());
        self.all.get(owners.get(at.checked_sub(1)?)?.1 as usize)
    }

    pub fn get(&self, id: u32) -> Option<&Thread> {
        self.all.get(id as usize)
    }

    /// The thread works for this test from now on, and so do those that it will start.
    pub fn enter_test(&mut self, clock: RawClock, test: u32) {
        if let Some(thread) = self.all.get_mut(clock.id() as usize) {
            thread.test = test;
        }
    }

    pub fn all(&self) -> &[Thread] {
        &self.all
    }
}

/// What to call a thread. Virtual ones have no name unless the program gives them one.
pub fn or_unnamed(name: String, number: u32) -> String {
    match name.is_empty() {
        true => format!("unnamed thread {number}"),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(threads: &mut Threads, parent: Option<RawClock>) -> RawClock {
        threads.start(parent, "t".into(), false, Arc::new([]))
    }

    #[test]
    fn events_need_no_slots() {
        let mut threads = Threads::new(true);
        let a = start(&mut threads, None);
        let b = start(&mut threads, Some(a));
        assert_ne!(a.address(), b.address());
        threads.end(0, b);
        let c = start(&mut threads, Some(a));
        assert_eq!((c.address(), c.id()), (b.address(), 2));
        assert_eq!((threads.slot_count(), threads.forced_reuse), (0, 0));
    }

    #[test]
    fn a_thread_works_for_the_test_of_its_parent() {
        let mut threads = Threads::default();
        let main = start(&mut threads, None);
        let before = start(&mut threads, Some(main));
        threads.enter_test(main, 7);
        let child = start(&mut threads, Some(main));
        let grandchild = start(&mut threads, Some(child));
        threads.enter_test(main, 8);
        let test = |clock: RawClock| threads.get(clock.id()).unwrap().test;
        assert_eq!([main, before, child, grandchild].map(test), [8, 0, 7, 7]);
    }

    #[test]
    fn a_slot_is_reused_only_by_those_who_know_its_past() {
        let mut threads = Threads::default();
        let main = start(&mut threads, None);
        let a = start(&mut threads, Some(main));
        a.set(1, 5);
        threads.end(1, a);
        let b = start(&mut threads, Some(main));
        assert_eq!(threads.slot_count(), 3, "main has not joined a");
        main.set(1, 5);
        let c = start(&mut threads, Some(main));
        assert_eq!(threads.slot_count(), 3, "now it has");
        assert_eq!((b.id(), c.id()), (2, 3));
        assert_eq!(threads.of_epoch(Epoch::new(1, 5)).map(|t| t.id), Some(1));
        assert_eq!(threads.of_epoch(Epoch::new(1, 6)).map(|t| t.id), Some(3));
    }
}
