//! What can happen in a run. Every stage speaks this vocabulary: the agent
//! emits it, the trace stores it, detectors and predictors fold over it, the
//! litmus interpreter produces it.
//!
//! Identities are dense small numbers given out by the producer of the
//! events; names live in the tables (`crate::tables`).

/// A program thread. Numbers are given in order of appearance, never reused
/// within a run; the first thread seen (usually `main`) is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u32);

/// A statement: one bytecode instruction (class, method, descriptor, bci).
/// 0 means unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SiteId(pub u32);

/// An object, array or class mirror, unique within a run; 0 is "no object".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjId(pub u64);

/// A memory location: a slot of an object. For fields the slot is the field's
/// number in the field table (statics: the object is the class mirror); for
/// arrays it is the element index. Object ids are unique over objects and
/// arrays, so the two never collide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Loc {
    pub obj: ObjId,
    pub slot: u32,
}

/// A mutual-exclusion lock: the object whose monitor it is, or the
/// synchroniser behind a `java.util.concurrent` lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockId(pub ObjId);

/// Strength of an atomic access (`VarHandle` access modes). Plain accesses are
/// `Read`/`Write`, never this.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Mode {
    /// Coherent, but orders nothing else.
    Opaque = 0,
    /// Acquire for loads, release for stores.
    AcqRel = 1,
    Volatile = 2,
}

/// One thing a thread did.
///
/// Lock events are outermost only: re-entrant acquisitions are not events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Read(Loc),
    Write(Loc),

    /// Atomic load; acquires from the location unless opaque.
    AtomicRead(Loc, Mode),
    /// Atomic store; releases to the location unless opaque.
    AtomicWrite(Loc, Mode),
    /// Successful compare-and-set, get-and-add and friends: acquires, then
    /// releases. A failed one is an `AtomicRead`.
    AtomicUpdate(Loc, Mode),

    Acquire(LockId),
    Release(LockId),
    /// Shared mode of a read-write lock: readers do not order each other.
    AcquireShared(LockId),
    ReleaseShared(LockId),

    /// `Object.wait` / `Condition.await` gives the lock up: a release.
    WaitBegin(LockId),
    /// ... and has it again: an acquire. `notified` is false after a timeout,
    /// an interrupt or a spurious wakeup as far as the producer can tell.
    WaitEnd {
        lock: LockId,
        notified: bool,
    },
    Notify(LockId),
    NotifyAll(LockId),

    /// Starting a thread; happens before its `Begin`.
    Fork(ThreadId),
    Begin,
    End,
    /// Termination detected: join returned, isAlive() was false, getState()
    /// was TERMINATED.
    Join(ThreadId),

    /// `interrupt()`; happens before the target's `Interrupted`.
    Interrupt(ThreadId),
    /// The thread noticed that it was interrupted.
    Interrupted,
    /// No happens-before edge: the permit promises none.
    Park,
    Unpark(ThreadId),

    /// An ordering edge through an object that is neither a lock nor a
    /// variable: task hand-over in fork/join, constructor end to finaliser.
    SyncRelease(ObjId),
    SyncAcquire(ObjId),

    /// A static initialiser ran: everything between `InitBegin` and `InitEnd`
    /// (in the same thread, nested ones included) happens before any later use
    /// of the class, and accesses to what it wrote imply such a use.
    InitBegin(ObjId),
    InitEnd(ObjId),

    /// For prediction (`record --full`): the way through the code. In a recorded
    /// trace the numbers are those of docs/trace-format.md; once the trace is
    /// completed, they are methods of the table.
    MethodEnter(u32),
    MethodExit(u32),
    Branch(u32),

    /// Of the thread's reads at this site the latest ones, so many, may have seen
    /// another write than the order of the trace says: several accesses came at once.
    Unsure(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    pub thread: ThreadId,
    pub site: SiteId,
    pub op: Op,
}

impl Op {
    /// The location of a plain access, and whether it writes.
    pub fn access(self) -> Option<(Loc, bool)> {
        match self {
            Op::Read(loc) => Some((loc, false)),
            Op::Write(loc) => Some((loc, true)),
            _ => None,
        }
    }

    /// Whether the event orders threads, and so has a sequence number in the
    /// run: all but accesses and what is recorded for prediction.
    pub fn is_sync(self) -> bool {
        !matches!(
            self,
            Op::Read(_)
                | Op::Write(_)
                | Op::MethodEnter(_)
                | Op::MethodExit(_)
                | Op::Branch(_)
                | Op::Unsure(_)
        )
    }
}
