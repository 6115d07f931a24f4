//! Which events order which: the happens-before relation of a run, as clocks.
//!
//! | event | order |
//! |---|---|
//! | release of a lock (or the release inside wait) | before every later acquire of it |
//! | shared release | before every later exclusive acquire; shared holders do not order each other |
//! | volatile or release store, successful update | before every later volatile or acquire load of the location |
//! | fork, end | before the thread's first event; before a thread sees that it ended |
//! | interrupt | before the thread notices it |
//! | `SyncRelease` | before every later `SyncAcquire` of the object |
//! | end of a static initialiser | before uses of the class ([`crate::InitIntervals`]) |
//!
//! Opaque accesses, park and unpark order nothing. A store orders all later
//! loads, not only those that see its value: the synchronisation order of the
//! Java memory model, and of sequentially consistent runs.
//!
//! With [`Edges::NoLocks`] mutual exclusion orders nothing, because which of
//! two critical sections came first was chance. A notify then orders (it is
//! a message: the waiter would not have gone on without it), as does
//! everything else in the table: those are not locks.

use crate::init::InitIntervals;
use crate::threads::Threads;
use order::{ClockView, Epoch, VectorClock};
use rustc_hash::FxHashMap;
use trace::{Event, Loc, LockId, Mode, ObjId, Op, ThreadId};

/// Whether locks order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edges {
    /// The Java memory model's happens-before.
    All,
    /// Only what another schedule could not have reordered.
    NoLocks,
}

/// The clocks of threads and of everything they synchronise on.
///
/// A detector calls [`enter`](Clocks::enter) and [`leave`](Clocks::leave) for
/// every event that is not a plain access; between them the thread has
/// acquired but not yet released, which is when an atomic access happens.
#[derive(Debug)]
pub struct Clocks {
    pub threads: Threads,
    init: InitIntervals,
    edges: Edges,
    locks: FxHashMap<LockId, Lock>,
    atomics: FxHashMap<Loc, Published>,
    objects: FxHashMap<ObjId, Published>,
}

#[derive(Debug, Default)]
struct Lock {
    exclusive: Published,
    /// What shared holders knew when they left, since the last exclusive one.
    shared: VectorClock,
    /// Who waits, and what was told to it. Used when locks do not order.
    waiters: Vec<(ThreadId, VectorClock)>,
}

/// A clock that threads add to and learn from.
#[derive(Debug)]
struct Published {
    clock: VectorClock,
    /// If `clock` is exactly what one thread knew at the end of an epoch: that
    /// epoch. A thread that covers it knows all of `clock`. Otherwise `MIXED`.
    last: Epoch,
}

/// Covered by nobody.
const MIXED: Epoch = Epoch(u64::MAX);

impl Default for Published {
    fn default() -> Published {
        Published {
            clock: VectorClock::new(),
            last: Epoch::NONE,
        }
    }
}

impl Published {
    #[inline]
    fn acquire(&self, into: &mut VectorClock) {
        if !into.covers(self.last) {
            into.join(&self.clock);
        }
    }

    /// The caller ends the epoch afterwards.
    #[inline]
    fn release(&mut self, from: &VectorClock, epoch: Epoch) {
        if from.covers(self.last) || from.includes(&self.clock) {
            self.clock.copy_from(from);
            self.last = epoch;
        } else {
            self.clock.join(from);
            self.last = MIXED;
        }
    }
}

impl Clocks {
    pub fn new(edges: Edges, reuse_threads: bool) -> Clocks {
        Clocks {
            threads: Threads::new(reuse_threads),
            init: InitIntervals::default(),
            edges,
            locks: FxHashMap::default(),
            atomics: FxHashMap::default(),
            objects: FxHashMap::default(),
        }
    }

    /// What the event's thread learns from it. Returns the thread's index.
    pub fn enter(&mut self, e: &Event) -> usize {
        let at = self.threads.index(e.thread);
        let locks = self.edges == Edges::All;
        match e.op {
            Op::Acquire(lock) if locks => self.acquire(at, lock),
            Op::WaitEnd { lock, .. } if locks => self.acquire(at, lock),
            Op::WaitEnd { lock, notified } => {
                let waiters = self.locks.get_mut(&lock).map(|l| &mut l.waiters);
                if let Some(waiters) = waiters
                    && let Some(mine) = waiters.iter().position(|(t, _)| *t == e.thread)
                {
                    let (_, told) = waiters.swap_remove(mine);
                    if notified {
                        self.threads.get_mut(at).clock.join(&told);
                    }
                }
            }
            Op::AcquireShared(lock) if locks => {
                if let Some(lock) = self.locks.get(&lock) {
                    lock.exclusive.acquire(&mut self.threads.get_mut(at).clock);
                }
            }
            Op::AtomicRead(loc, mode) | Op::AtomicUpdate(loc, mode) if mode != Mode::Opaque => {
                if let Some(published) = self.atomics.get(&loc) {
                    published.acquire(&mut self.threads.get_mut(at).clock);
                }
            }
            Op::SyncAcquire(object) => {
                if let Some(published) = self.objects.get(&object) {
                    published.acquire(&mut self.threads.get_mut(at).clock);
                }
            }
            Op::Join(other) => self.threads.join(at, other),
            Op::Interrupted => {
                let me = self.threads.get_mut(at);
                if let Some(told) = me.interrupted.take() {
                    me.clock.join(&told);
                }
            }
            _ => {}
        }
        at
    }

    /// What others may learn from the event.
    pub fn leave(&mut self, e: &Event) {
        let at = self.threads.index(e.thread);
        let locks = self.edges == Edges::All;
        match e.op {
            Op::Release(lock) | Op::WaitBegin(lock) if locks => {
                let me = self.threads.get_mut(at);
                let lock = self.locks.entry(lock).or_default();
                lock.exclusive.release(&me.clock, me.epoch);
                if lock.shared.width() > 0 {
                    // Readers that the writer excluded are known to it already.
                    if !me.clock.includes(&lock.shared) {
                        lock.exclusive.clock.join(&lock.shared);
                        lock.exclusive.last = MIXED;
                    }
                    lock.shared = VectorClock::new();
                }
                me.advance();
            }
            Op::WaitBegin(lock) => {
                let waiters = &mut self.locks.entry(lock).or_default().waiters;
                waiters.push((e.thread, VectorClock::new()));
            }
            Op::Notify(lock) | Op::NotifyAll(lock) if !locks => {
                let me = self.threads.get_mut(at);
                if let Some(lock) = self.locks.get_mut(&lock)
                    && !lock.waiters.is_empty()
                {
                    for (_, told) in &mut lock.waiters {
                        told.join(&me.clock);
                    }
                    me.advance();
                }
            }
            Op::ReleaseShared(lock) if locks => {
                let me = self.threads.get_mut(at);
                let lock = self.locks.entry(lock).or_default();
                lock.shared.join(&me.clock);
                me.advance();
            }
            Op::AtomicWrite(loc, mode) | Op::AtomicUpdate(loc, mode) if mode != Mode::Opaque => {
                let me = self.threads.get_mut(at);
                let published = self.atomics.entry(loc).or_default();
                published.release(&me.clock, me.epoch);
                me.advance();
            }
            Op::SyncRelease(object) => {
                let me = self.threads.get_mut(at);
                let published = self.objects.entry(object).or_default();
                published.release(&me.clock, me.epoch);
                me.advance();
            }
            Op::Fork(child) => self.threads.fork(at, child),
            Op::End => self.threads.end(e.thread),
            Op::Interrupt(other) => {
                let other = self.threads.index(other);
                let told = self.threads.get(at).clock.clone();
                let pending = &mut self.threads.get_mut(other).interrupted;
                pending.get_or_insert_default().join(&told);
                self.threads.get_mut(at).advance();
            }
            Op::InitBegin(class) => {
                let me = self.threads.get_mut(at);
                me.advance();
                self.init.begin(class.0, me.epoch);
            }
            Op::InitEnd(class) => {
                let me = self.threads.get_mut(at);
                self.init.end(class.0, me.epoch, me.clock.clone());
                me.advance();
            }
            _ => {}
        }
    }

    /// Whether an apparent race of thread `at` with an access in epoch `prior`
    /// is the missing acquire of a class initialisation. If so, it is made up
    /// for, and `prior` is covered now.
    #[cold]
    pub fn excused(&mut self, at: usize, prior: Epoch) -> bool {
        let Some(ended) = self.init.excuse(prior) else {
            return false;
        };
        self.threads.get_mut(at).clock.join(ended);
        true
    }

    fn acquire(&mut self, at: usize, lock: LockId) {
        if let Some(lock) = self.locks.get(&lock) {
            let clock = &mut self.threads.get_mut(at).clock;
            lock.exclusive.acquire(clock);
            if lock.shared.width() > 0 {
                clock.join(&lock.shared);
            }
        }
    }
}
