//! Threads and their places in clocks.
//!
//! A thread gets an index in vector clocks when it is forked (or first seen).
//! When it has ended, its index goes to a new thread, provided that the new
//! thread's clock covers all the old one did: then no clock can tell the two
//! apart, and clocks stay as narrow as the program is wide at any moment. A
//! program that starts a million threads one after the other, or a thousand
//! in turn from a pool, has clocks of a few entries.
//!
//! Clocks of an index only grow, from owner to owner, so an epoch names one
//! stretch of one thread for the whole run.

use order::{ClockView, Epoch, Tid, VectorClock};
use rustc_hash::FxHashMap;
use trace::ThreadId;

/// One running thread.
#[derive(Debug)]
pub struct Thread {
    pub clock: VectorClock,
    /// `clock`'s entry of the thread itself.
    pub epoch: Epoch,
    /// What its interrupters knew, until it notices.
    pub interrupted: Option<VectorClock>,
}

impl Thread {
    /// Ends the current epoch. Every publication of the clock is followed by
    /// one of these, so an epoch is published at its end or not at all.
    pub fn advance(&mut self) {
        let tid = self.epoch.tid();
        self.epoch = Epoch::new(tid, self.clock.inc(tid));
    }
}

/// All threads of a run.
#[derive(Debug)]
pub struct Threads {
    /// Running threads and room for new ones; `dense` and `sparse` point here.
    running: Vec<Thread>,
    vacant: Vec<u32>,
    /// By thread number. Producers number threads in order of appearance;
    /// only a damaged trace has numbers that `dense` declines to hold.
    dense: Vec<u32>,
    sparse: FxHashMap<u32, u32>,
    /// Final clocks.
    ended: FxHashMap<ThreadId, VectorClock>,
    indices: Vec<Index>,
    /// Indices of ended threads.
    free: Vec<Tid>,
    reuse: bool,
    /// How many indices there may be.
    places: usize,
    exhausted: u64,
}

/// One place in clocks.
#[derive(Debug)]
struct Index {
    last: u64,
    /// Who had it from which clock on.
    owners: Vec<(u64, ThreadId)>,
}

const ABSENT: u32 = u32::MAX;
const DENSE: u32 = 1 << 20;

impl Threads {
    /// `reuse` off gives every thread an index of its own: for tests.
    pub fn new(reuse: bool) -> Threads {
        Threads {
            running: Vec::new(),
            vacant: Vec::new(),
            dense: Vec::new(),
            sparse: FxHashMap::default(),
            ended: FxHashMap::default(),
            indices: Vec::new(),
            free: Vec::new(),
            reuse,
            places: usize::from(Tid::MAX) + 1,
            exhausted: 0,
        }
    }

    /// Where `thread` is kept; it comes to be if it is new.
    #[inline]
    pub fn index(&mut self, thread: ThreadId) -> usize {
        match self.dense.get(thread.0 as usize) {
            Some(at) if *at != ABSENT => *at as usize,
            _ => self.find_or_start(thread),
        }
    }

    #[inline]
    pub fn get(&self, at: usize) -> &Thread {
        &self.running[at]
    }

    #[inline]
    pub fn get_mut(&mut self, at: usize) -> &mut Thread {
        &mut self.running[at]
    }

    /// `parent` starts `child`.
    pub fn fork(&mut self, parent: usize, child: ThreadId) {
        let known = self.running[parent].clock.clone();
        match self.find(child) {
            Some(at) if at != parent => self.running[at].clock.join(&known),
            Some(_) => {}
            None => {
                self.start(child, known);
            }
        }
        self.running[parent].advance();
    }

    /// `thread` does nothing more.
    pub fn end(&mut self, thread: ThreadId) {
        let Some(at) = self.find(thread) else {
            return;
        };
        let gone = &mut self.running[at];
        let tid = gone.epoch.tid();
        self.ended.insert(thread, std::mem::take(&mut gone.clock));
        self.indices[usize::from(tid)].last = gone.epoch.clock();
        gone.interrupted = None;
        if self.reuse {
            self.free.push(tid);
        }
        self.vacant.push(at as u32);
        if self.sparse.remove(&thread.0).is_none() {
            self.dense[thread.0 as usize] = ABSENT;
        }
    }

    /// `waiter` knows that `thread` has ended.
    pub fn join(&mut self, waiter: usize, thread: ThreadId) {
        if let Some(last) = self.ended.get(&thread) {
            self.running[waiter].clock.join(last);
        } else if let Some(at) = self.find(thread)
            && at != waiter
        {
            // Its end was not recorded.
            let last = self.running[at].clock.clone();
            self.running[at].advance();
            self.running[waiter].clock.join(&last);
        }
    }

    /// Which thread an epoch belongs to.
    pub fn owner(&self, epoch: Epoch) -> Option<ThreadId> {
        let owners = &self.indices.get(usize::from(epoch.tid()))?.owners;
        let after = owners.partition_point(|(from, _)| *from <= epoch.clock());
        owners.get(after.checked_sub(1)?).map(|(_, thread)| *thread)
    }

    /// The epochs that all threads are in, or have ended in.
    pub fn now(&self) -> VectorClock {
        let mut now: VectorClock = self.indices.iter().map(|index| index.last).collect();
        for thread in self.dense.iter().chain(self.sparse.values()) {
            if let Some(thread) = self.running.get(*thread as usize) {
                now.set(thread.epoch.tid(), thread.epoch.clock());
            }
        }
        now
    }

    /// How wide clocks had to become.
    pub fn width(&self) -> usize {
        self.indices.len()
    }

    /// How many threads had to share an index that they should not: more than
    /// 65,536 at once. Races between such threads are not seen.
    pub fn exhausted(&self) -> u64 {
        self.exhausted
    }

    fn find(&self, thread: ThreadId) -> Option<usize> {
        let at = if thread.0 < DENSE {
            self.dense.get(thread.0 as usize)
        } else {
            self.sparse.get(&thread.0)
        };
        at.filter(|at| **at != ABSENT).map(|at| *at as usize)
    }

    #[cold]
    fn find_or_start(&mut self, thread: ThreadId) -> usize {
        match self.find(thread) {
            Some(at) => at,
            // An ended thread that goes on (a damaged trace) is a new one
            // that knows what it knew.
            None => {
                let known = self.ended.remove(&thread).unwrap_or_default();
                self.start(thread, known)
            }
        }
    }

    fn start(&mut self, thread: ThreadId, mut clock: VectorClock) -> usize {
        let tid = self.claim(&clock);
        let index = &mut self.indices[usize::from(tid)];
        index.last += 1;
        index.owners.push((index.last, thread));
        clock.set(tid, index.last);
        let new = Thread {
            epoch: Epoch::new(tid, index.last),
            clock,
            interrupted: None,
        };
        let at = match self.vacant.pop() {
            Some(at) => {
                self.running[at as usize] = new;
                at
            }
            None => {
                self.running.push(new);
                self.running.len() as u32 - 1
            }
        };
        if thread.0 < DENSE {
            if self.dense.len() <= thread.0 as usize {
                self.dense.resize(thread.0 as usize + 1, ABSENT);
            }
            self.dense[thread.0 as usize] = at;
        } else {
            self.sparse.insert(thread.0, at);
        }
        at as usize
    }

    /// An index whose owners are all covered by `clock`.
    fn claim(&mut self, clock: &VectorClock) -> Tid {
        let covered = |tid: &Tid| clock.get(*tid) >= self.indices[usize::from(*tid)].last;
        if let Some(at) = self.free.iter().rposition(covered) {
            return self.free.swap_remove(at);
        }
        match Tid::try_from(self.indices.len()) {
            Ok(tid) if self.indices.len() < self.places => {
                self.indices.push(Index {
                    last: 0,
                    owners: Vec::new(),
                });
                tid
            }
            _ => {
                self.exhausted += 1;
                self.free.pop().unwrap_or((self.places - 1) as Tid)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_passes_on_only_to_a_thread_that_knows_its_owner_ended() {
        let mut threads = Threads::new(true);
        let main = threads.index(ThreadId(0));
        threads.fork(main, ThreadId(1));
        let first = threads.index(ThreadId(1));
        let epoch = threads.get(first).epoch;
        threads.end(ThreadId(1));
        threads.fork(main, ThreadId(2));
        assert_eq!(threads.width(), 3, "main does not know that 1 has ended");
        threads.join(main, ThreadId(1));
        threads.fork(main, ThreadId(3));
        assert_eq!(threads.width(), 3);
        let third = threads.index(ThreadId(3));
        assert_eq!(threads.get(third).epoch.tid(), epoch.tid());
        assert_eq!(threads.owner(epoch), Some(ThreadId(1)));
        assert_eq!(threads.owner(threads.get(third).epoch), Some(ThreadId(3)));
    }

    #[test]
    fn a_million_threads_in_turn_need_two_places() {
        let mut threads = Threads::new(true);
        let main = threads.index(ThreadId(0));
        for n in 1..100_000 {
            threads.fork(main, ThreadId(n));
            threads.end(ThreadId(n));
            threads.join(main, ThreadId(n));
        }
        assert_eq!((threads.width(), threads.exhausted()), (2, 0));
    }

    #[test]
    fn odd_streams_do_no_harm() {
        let mut threads = Threads::new(true);
        threads.end(ThreadId(9));
        let a = threads.index(ThreadId(u32::MAX));
        assert_eq!(threads.index(ThreadId(u32::MAX)), a);
        threads.fork(a, ThreadId(u32::MAX));
        threads.join(a, ThreadId(u32::MAX));
        threads.end(ThreadId(u32::MAX));
        let b = threads.index(ThreadId(u32::MAX));
        threads.join(b, ThreadId(5));
        threads.fork(b, ThreadId(5));
        threads.fork(b, ThreadId(5));
        assert_eq!(threads.owner(Epoch::NONE), None);
    }

    #[test]
    fn more_threads_than_places_are_counted() {
        let mut threads = Threads::new(true);
        threads.places = 8;
        for n in 0..10 {
            threads.index(ThreadId(n));
        }
        threads.end(ThreadId(3));
        threads.index(ThreadId(11));
        assert_eq!((threads.width(), threads.exhausted()), (8, 3));
    }
}
