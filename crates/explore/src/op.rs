//! What threads do at scheduling points, and which of it depends on which.
//!
//! Dependence is decided on the operation alone, never on its result: a
//! compare-and-set that fails still counts as an update, a failed attempt at a
//! lock as an acquisition. So an operation that was seen in one execution
//! depends on the same others wherever it is moved to, which is what makes the
//! exploration exact: the relation is the same in every execution.
//!
//! Every operation touches *resources*, each shared or exclusively; two
//! operations depend on each other if one thread does both, or they touch a
//! resource that at least one of them touches exclusively. The relation is valid: operations that do not depend on
//! each other can be swapped when they stand side by side, with the same result,
//! and neither lets the other go on or stops it.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A thread; 0 is the first one.
pub type Thread = u64;

/// An object, array, lock or class, by a name that is the same in equivalent
/// executions.
pub type Object = u64;

/// A memory location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Loc {
    pub obj: Object,
    pub slot: u32,
}

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Op {
    /// Nothing that others could notice: a yield.
    Local,
    /// A thread's first step, after it was started.
    Begin,
    /// Plain, volatile or opaque: the order of accesses matters alike.
    Read(Loc),
    Write(Loc),
    /// Read and write in one: compare-and-set, get-and-add.
    Update(Loc),

    /// Blocks while somebody else has the lock; an interruptible one goes on
    /// when interrupted. Re-entrant acquisitions are no operations.
    Acquire {
        lock: Object,
        interruptible: bool,
    },
    TryAcquire(Object),
    Release(Object),
    AcquireShared(Object),
    TryAcquireShared(Object),
    ReleaseShared(Object),

    /// Gives the lock up and waits, unless interrupted before.
    Wait(Object),
    /// Has the lock again: after a notify, an interrupt or, timed, any time.
    WaitEnd {
        lock: Object,
        timed: bool,
    },
    /// By a thread that has the lock. Which waiter is woken is its pick.
    Notify(Object),
    NotifyAll(Object),

    /// Blocks until there is a permit or an interrupt, unless timed.
    Park {
        timed: bool,
    },
    Unpark(Thread),
    /// Interruptible, and timed: never blocks.
    Sleep,

    Start(Thread),
    /// The end of the thread itself, an operation of its own.
    End,
    /// Blocks while the thread is alive, unless timed.
    Join {
        thread: Thread,
        timed: bool,
        interruptible: bool,
    },
    IsAlive(Thread),

    Interrupt(Thread),
    /// The thread asks for its own interrupt status, or clears it.
    Interrupted,
    /// A thread asks for the interrupt status of another.
    IsInterrupted(Thread),

    /// First use of a class: blocks while another thread initialises it.
    InitBegin(Object),
    InitEnd(Object),

    /// Hand-over through an object that is neither a lock nor a location.
    HandOver(Object),
    TakeOver(Object),
}

impl Op {
    /// Whether in how many ways the step can be made is known only when it is: which write a read
    /// sees, where memory is weak ([`Guide::sees`](crate::Guide::sees)).
    pub(crate) fn chooses_late(self) -> bool {
        matches!(self, Op::Read(_))
    }
}

/// What operations depend on each other through.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Resource {
    Loc(Loc),
    Lock(Object),
    /// Who waits for the lock.
    Waiters(Object),
    Permit(Thread),
    /// Whether the thread is interrupted.
    Flag(Thread),
    /// Whether it was started.
    Born(Thread),
    /// Whether it ended.
    Gone(Thread),
    Class(Object),
    Hand(Object),
}

/// A resource and whether it is touched exclusively.
pub(crate) type Touch = (Resource, bool);
pub(crate) type Footprint = SmallVec<[Touch; 4]>;

/// An operation of a thread, with all that decides what depends on it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Label {
    pub thread: Thread,
    /// Which of several ways to do it: the waiter that a notify wakes, the write that a read sees.
    pub pick: u32,
    pub op: Op,
    /// Not empty: the thread spins. Its last iteration read these locations
    /// and changed nothing, so it goes on when one of them was written since.
    pub awaits: Box<[Loc]>,
}

impl Label {
    pub fn new(thread: Thread, op: Op) -> Label {
        Label {
            thread,
            pick: 0,
            op,
            awaits: Box::default(),
        }
    }

    pub(crate) fn footprint(&self) -> Footprint {
        use Resource::*;
        let me = self.thread;
        let mut touched: Footprint = match self.op {
            Op::Local => Footprint::new(),
            Op::Begin => [(Born(me), false)].into_iter().collect(),
            Op::Read(loc) => [(Loc(loc), false)].into_iter().collect(),
            Op::Write(loc) | Op::Update(loc) => [(Loc(loc), true)].into_iter().collect(),
            Op::Acquire {
                lock,
                interruptible: true,
            } => [(Lock(lock), true), (Flag(me), true)].into_iter().collect(),
            Op::Acquire { lock, .. } | Op::TryAcquire(lock) | Op::Release(lock) => {
                [(Lock(lock), true)].into_iter().collect()
            }
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) | Op::ReleaseShared(lock) => {
                [(Lock(lock), false)].into_iter().collect()
            }
            Op::Wait(lock) | Op::WaitEnd { lock, .. } => {
                [(Lock(lock), true), (Waiters(lock), true), (Flag(me), true)]
                    .into_iter()
                    .collect()
            }
            // The notifying thread has the lock, which orders all that matters.
            Op::Notify(lock) | Op::NotifyAll(lock) => [(Waiters(lock), true)].into_iter().collect(),
            Op::Park { .. } => [(Permit(me), true), (Flag(me), true)].into_iter().collect(),
            // Permits and interrupts do not add up: their order is nothing.
            // A thread that was not started yet takes no permit.
            Op::Unpark(other) => [(Permit(other), false), (Born(other), false)]
                .into_iter()
                .collect(),
            Op::Interrupt(other) => [(Flag(other), false)].into_iter().collect(),
            Op::Interrupted | Op::Sleep => [(Flag(me), true)].into_iter().collect(),
            Op::IsInterrupted(other) => [(Flag(other), true)].into_iter().collect(),
            Op::Start(other) => [(Born(other), true)].into_iter().collect(),
            Op::End => [(Gone(me), true)].into_iter().collect(),
            Op::Join {
                thread,
                interruptible,
                ..
            } => {
                let mut touched: Footprint = [(Born(thread), false), (Gone(thread), false)]
                    .into_iter()
                    .collect();
                if interruptible {
                    touched.push((Flag(me), true));
                }
                touched
            }
            Op::IsAlive(thread) => [(Born(thread), false), (Gone(thread), false)]
                .into_iter()
                .collect(),
            Op::InitBegin(class) | Op::InitEnd(class) => {
                [(Class(class), true)].into_iter().collect()
            }
            Op::HandOver(object) | Op::TakeOver(object) => {
                [(Hand(object), true)].into_iter().collect()
            }
        };
        for loc in &self.awaits {
            if !touched.iter().any(|(r, _)| *r == Loc(*loc)) {
                touched.push((Loc(*loc), false));
            }
        }
        touched
    }

    /// Whether the two cannot be swapped.
    pub fn depends(&self, other: &Label) -> bool {
        Touching::new(self).depends(&Touching::new(other))
    }

    /// Whether the thread may have to wait before it can do this.
    pub(crate) fn may_block(&self) -> bool {
        let blocks = match self.op {
            Op::Begin
            | Op::Acquire { .. }
            | Op::AcquireShared(_)
            | Op::WaitEnd { .. }
            | Op::InitBegin(_) => true,
            Op::Park { timed } | Op::Join { timed, .. } => !timed,
            _ => false,
        };
        blocks || !self.awaits.is_empty()
    }
}

/// A label with what it touches, worked out once.
#[derive(Clone, Debug)]
pub(crate) struct Touching<'a> {
    pub label: &'a Label,
    pub footprint: Footprint,
}

impl<'a> Touching<'a> {
    pub fn new(label: &'a Label) -> Touching<'a> {
        Touching {
            label,
            footprint: label.footprint(),
        }
    }

    pub fn depends(&self, other: &Touching<'_>) -> bool {
        let conflicts = |(resource, exclusive): &Touch| {
            let with = |(r, e): &Touch| r == resource && (*exclusive || *e);
            other.footprint.iter().any(with)
        };
        self.label.thread == other.label.thread || self.footprint.iter().any(conflicts)
    }
}

/// A step that was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    pub label: Label,
    /// In how many ways it could have been made (waiters to wake, writes to see).
    pub picks: u32,
    /// Whether an attempt did what it is for: a try took the lock, a
    /// compare-and-set wrote, a first use runs the initialiser, a wait gave
    /// the lock up, an interruptible acquisition was not interrupted, a permit
    /// was not for a thread that does not run. True for all others.
    pub done: bool,
    /// Whether the thread's interrupt status was set and is no more.
    pub cleared: bool,
    /// Whom a notify woke.
    pub woken: Option<Thread>,
}

/// A thread that can go on, and what it does then.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// Its pick is 0.
    pub label: Label,
    /// In how many ways, at least 1.
    pub picks: u32,
}

/// An execution from the start of the program until nobody could go on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Execution {
    pub steps: Vec<Step>,
    /// Who could go on before each step; only needed with a bound on
    /// preemptions, empty otherwise.
    pub ready: Vec<Vec<Ready>>,
    /// Threads that had not ended, and what they stood before.
    pub blocked: Vec<Label>,
}
