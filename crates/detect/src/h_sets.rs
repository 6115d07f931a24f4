//! JRF's `h` as the paper defines it: a set of variables for every thread and
//! synchronisation variable, and the functions of its Figure 1. The oracle of
//! [`crate::h`]; every write visits every set.
//!
//! Variables come to be when they are first named. So the complement is
//! stored: what is *not* in `h(z)`, which is what others wrote. A `z` named
//! for the first time has missed all writes so far.
//!
//! The figure's rows cover monitors, volatiles, start, join and `isAlive`
//! (whose row is corrected: the edge arises when it returns false). Added in
//! the same manner: shared locks (readers acquire from writers only),
//! interrupts, and other hand-over. Class initialisation is left out.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::{Event, Loc, LockId, Mode, ObjId, Op, ThreadId};

/// Whatever has an `h`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holder {
    Thread(ThreadId),
    /// The exclusive side of a lock, and what its readers leave to writers.
    Lock(LockId),
    Readers(LockId),
    Volatile(Loc),
    Object(ObjId),
    Interrupt(ThreadId),
}

/// `h`, and the accesses that broke `norace`.
#[derive(Debug, Default)]
pub struct HSets {
    missing: FxHashMap<Holder, FxHashSet<Loc>>,
    written: FxHashSet<Loc>,
    races: Vec<u64>,
    events: u64,
}

impl HSets {
    /// The numbers of the events whose variable was not in their thread's `h`.
    pub fn races(&self) -> &[u64] {
        &self.races
    }

    /// Whether `loc` is in the thread's `h`.
    pub fn holds(&mut self, thread: ThreadId, loc: Loc) -> bool {
        !self.missing(Holder::Thread(thread)).contains(&loc)
    }

    pub fn event(&mut self, e: &Event) {
        let me = Holder::Thread(e.thread);
        match e.op {
            Op::Read(loc) => self.norace(e.thread, loc),
            Op::Write(loc) => {
                self.norace(e.thread, loc);
                self.invalidate(me, loc);
            }
            Op::AtomicRead(loc, mode) if mode != Mode::Opaque => {
                self.learn(me, Holder::Volatile(loc));
            }
            Op::AtomicWrite(loc, mode) if mode != Mode::Opaque => {
                self.learn(Holder::Volatile(loc), me);
            }
            Op::AtomicUpdate(loc, mode) if mode != Mode::Opaque => {
                self.learn(me, Holder::Volatile(loc));
                self.learn(Holder::Volatile(loc), me);
            }
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } => {
                self.learn(me, Holder::Lock(lock));
                self.learn(me, Holder::Readers(lock));
            }
            Op::Release(lock) | Op::WaitBegin(lock) => self.learn(Holder::Lock(lock), me),
            Op::AcquireShared(lock) => self.learn(me, Holder::Lock(lock)),
            Op::ReleaseShared(lock) => self.learn(Holder::Readers(lock), me),
            Op::Fork(child) => self.learn(Holder::Thread(child), me),
            Op::Join(other) => self.learn(me, Holder::Thread(other)),
            Op::Interrupt(other) => self.learn(Holder::Interrupt(other), me),
            Op::Interrupted => self.learn(me, Holder::Interrupt(e.thread)),
            Op::SyncRelease(object) => self.learn(Holder::Object(object), me),
            Op::SyncAcquire(object) => self.learn(me, Holder::Object(object)),
            _ => {}
        }
        self.events += 1;
    }

    fn norace(&mut self, thread: ThreadId, loc: Loc) {
        if !self.holds(thread, loc) {
            self.races.push(self.events);
        }
    }

    /// `h(into) := h(into) ∪ h(from)`: the paper's release and acquire.
    fn learn(&mut self, into: Holder, from: Holder) {
        let known = self.missing(from).clone();
        self.missing(into).retain(|loc| known.contains(loc));
    }

    /// Nobody but the writer has `loc` any more.
    fn invalidate(&mut self, writer: Holder, loc: Loc) {
        self.written.insert(loc);
        self.missing(writer);
        for (holder, missing) in &mut self.missing {
            if *holder == writer {
                missing.remove(&loc);
            } else {
                missing.insert(loc);
            }
        }
    }

    fn missing(&mut self, holder: Holder) -> &mut FxHashSet<Loc> {
        self.missing
            .entry(holder)
            .or_insert_with(|| self.written.clone())
    }
}
