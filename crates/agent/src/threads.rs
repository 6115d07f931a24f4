//! The program's threads: their numbers, their slots in vector clocks, where
//! they were made.
//!
//! A slot is given to a new thread only if that thread, when it starts,
//! already knows the last epoch of the slot's former owner: then nothing can
//! tell the two apart. When there are as many slots as there will be, the slot of a thread that is
//! long dead is taken all the same, and the new thread knows what that one knew, as if it had waited for its
//! end; where none is dead, threads that live at once share the last few slots, which no thread
//! ever has to itself. Both may hide races, and never make one up; they are counted. Where
//! accesses become events nobody asks for slots, and a thread has a header only.
//!
//! What orders threads costs time and memory in proportion to the slots. Platform threads may have as many as
//! stamps can tell apart. Virtual threads come by the thousand, and whoever starts them rarely knows of their
//! ends: they get no new slot where there are [`ENOUGH`].

use crate::memory::{MAX_SLOTS, RawClock};
use crate::stacks::Frame;
use order::{ClockView, Epoch, Tid};
use std::collections::VecDeque;
use std::sync::Arc;

/// Slots of dead threads that a new one asks for.
const MOST_LOOKED_AT: usize = 256;

/// As many slots as virtual threads make do with.
const ENOUGH: usize = 448;

/// Slots that living threads share, if they do.
const SHARED: usize = 64;

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
    /// Clocks that no thread has now, of threads without a slot of their own.
    spare: Vec<RawClock>,
    /// The first of the slots that living threads share; none comes after these.
    shared: Option<usize>,
    /// How many threads have been given one of them, the clocks that these had, and in each of the slots the last
    /// epoch of those that have ended.
    sharing: usize,
    sharers: Vec<RawClock>,
    ended: Vec<u64>,
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
        is_virtual: bool,
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
        let wanted = place.is_none() && self.shared.is_none();
        let most = if is_virtual {
            ENOUGH
        } else {
            MAX_SLOTS - SHARED
        };
        if wanted && self.slots.len() < most {
            self.slots.push(Slot {
                clock: RawClock::new(),
                owners: vec![(1, id)],
            });
            return self.introduced(self.slots.len() - 1, id, 1);
        }
        if wanted {
            self.add_shared();
        }
        let place = place.or_else(|| {
            self.forced_reuse += 1;
            (!self.free.is_empty()).then_some(0)
        });
        match place.and_then(|at| self.free.remove(at)) {
            Some((slot, last)) => {
                let slot = usize::from(slot);
                if let Some(slot) = self.slots.get_mut(slot) {
                    slot.owners.push((last + 1, id));
                }
                self.introduced(slot, id, last as u32 + 1)
            }
            None => self.start_sharing(id),
        }
    }

    /// The clock of a slot, which still holds what the last thread knew that had it.
    fn introduced(&self, slot: usize, id: u32, start: u32) -> RawClock {
        let clock = self.slots[slot].clock;
        clock.introduce(id, slot as Tid, start);
        clock
    }

    /// There will be no more slots.
    fn add_shared(&mut self) {
        self.shared = Some(self.slots.len());
        for _ in 0..SHARED {
            self.slots.push(Slot {
                clock: RawClock::header(), // of no thread
                owners: vec![],
            });
        }
        self.ended = vec![0; SHARED];
    }

    /// More living threads than slots: this one gets a clock of its own, and one of the shared slots.
    fn start_sharing(&mut self, id: u32) -> RawClock {
        let first = self.shared.unwrap_or_default();
        let slot = first + self.sharing % SHARED;
        self.sharing += 1;
        if self.spare.is_empty() {
            self.spare = RawClock::several(self.slots.len());
            self.sharers.extend(&self.spare);
        }
        let clock = self.spare.pop().unwrap_or_else(RawClock::new);
        clock.introduce(id, slot as Tid, 1);
        clock.share();
        clock
    }

    pub fn end(&mut self, slot: Tid, clock: RawClock) {
        if self
            .slots
            .get(usize::from(slot))
            .is_some_and(|s| s.clock.address() == clock.address())
        {
            self.free.push_back((slot, clock.get(slot)));
        } else {
            let first = self.shared.unwrap_or_default();
            if let Some(last) = self.ended.get_mut(usize::from(slot).wrapping_sub(first)) {
                *last = clock.get(slot).max(*last);
            }
            clock.clear();
            self.spare.push(clock);
        }
    }

    /// Makes a clock know all that every thread has done until now.
    pub fn raise_to_now(&self, clock: RawClock) {
        let own = (0..)
            .zip(&self.slots)
            .map(|(slot, s)| (slot, s.clock.get(slot)));
        let from = self.shared.unwrap_or_default() as Tid;
        let ended = (from..).zip(self.ended.iter().copied());
        let shared = from..from + self.ended.len() as Tid;
        let sharing = { self.sharers.iter() }
            .flat_map(|sharer| shared.clone().map(move |slot| (slot, sharer.get(slot))));
        for (slot, now) in own.chain(ended).chain(sharing) {
            if now > clock.get(slot) {
                clock.set(slot, now as u32);
            }
        }
    }

    /// Accesses that all threads have counted.
    pub fn counted(&self) -> u64 {
        let own = self.slots.iter().map(|slot| slot.clock);
        own.chain(self.sharers.iter().copied())
            .map(RawClock::counted)
            .sum()
    }

    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Whether any of several threads may have run in this epoch.
    pub fn is_shared(&self, epoch: Epoch) -> bool {
        self.shared
            .is_some_and(|first| usize::from(epoch.tid()) >= first)
    }

    /// Who ran in this epoch, if that is known.
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
        threads.start(parent, "t".into(), false, Arc::new([]), false)
    }

    fn start_virtual(threads: &mut Threads, parent: RawClock) -> RawClock {
        threads.start(Some(parent), "".into(), false, Arc::new([]), true)
    }

    /// Nobody knows of their ends.
    #[test]
    fn virtual_threads_make_do_with_some_slots() {
        let mut threads = Threads::default();
        let main = start(&mut threads, None);
        for _ in 0..3 * ENOUGH {
            let thread = start_virtual(&mut threads, main);
            let slot = thread.slot();
            thread.set(slot, thread.get(slot) as u32 + 1);
            threads.end(slot, thread);
        }
        assert_eq!(threads.slot_count(), ENOUGH + SHARED);
        assert_eq!(threads.forced_reuse, 2 * ENOUGH as u64 + 1);
        // What the thread knew whose slot it has, the next one knows as well.
        let last = start_virtual(&mut threads, main);
        last.set(5, 77);
        threads.end(last.slot(), last);
        let next = (1..ENOUGH).map(|_| start_virtual(&mut threads, main));
        let next: Vec<RawClock> = next.collect();
        assert_eq!(next.iter().filter(|clock| clock.get(5) == 77).count(), 1);
        let shares = |clock: &RawClock| threads.is_shared(Epoch::new(clock.slot(), 1));
        assert!(!next.iter().any(shares));
    }

    #[test]
    fn living_threads_share_slots_that_nobody_has_alone() {
        let mut threads = Threads::default();
        let main = start(&mut threads, None);
        let all: Vec<RawClock> = (1..ENOUGH + 3 * SHARED)
            .map(|_| start_virtual(&mut threads, main))
            .collect();
        let slots: Vec<Tid> = all.iter().map(|clock| clock.slot()).collect();
        assert_eq!(
            slots[ENOUGH - 1..][..SHARED],
            slots[ENOUGH + SHARED - 1..][..SHARED]
        );
        let mut addresses: Vec<i64> = all.iter().map(|clock| clock.address()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), all.len());
        let (first, second) = (all[ENOUGH - 1], all[ENOUGH + SHARED - 1]);
        let slot = first.slot();
        assert!(threads.is_shared(Epoch::new(slot, 1)));
        assert!(!threads.is_shared(Epoch::new(slots[ENOUGH - 2], 1)));
        assert!(threads.of_epoch(Epoch::new(slot, 1)).is_none());
        first.set(slot, 30);
        second.set(slot, 20);
        threads.end(slot, first);
        threads.raise_to_now(main);
        assert_eq!(main.get(slot), 30, "of all, those that have ended too");
        second.set(slot, 40);
        threads.raise_to_now(main);
        assert_eq!(main.get(slot), 40);
        let third = start_virtual(&mut threads, main);
        assert_eq!(third.address(), first.address(), "clocks are used again");
        assert_eq!(third.get(slot), 0);
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
