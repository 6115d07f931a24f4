//! The language: threads of statements over shared variables, registers,
//! locks and threads. Names are numbers; what they stand for in events is
//! given by their methods, so a test can ask for the location of a variable.
//!
//! Statements mean what their counterparts in Java mean. Misuse (notify
//! without the lock, starting a thread twice, an index out of bounds) throws:
//! the thread gives up the locks that it took since the innermost [`Stmt::Catch`] and goes on in
//! its handler. Without one it gives up all of them and ends, and the execution says so.

use trace::{Loc, LockId, Mode, ObjId, ThreadId};

pub type Value = i64;

/// A register of a thread, 0 at first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u8);

/// A shared variable, 0 at first. Plain or volatile is a matter of the access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u16);

/// A shared array of zeros; its length is given in [`Program::arrays`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Array(pub u16);

/// A monitor or read-write lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lock(pub u16);

/// A class with a static initialiser.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Class(pub u16);

/// Something that hands over without being a lock or a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Handover(pub u16);

// Objects of different sorts never share an id.
const SORT: u64 = 1 << 16;

impl Var {
    pub fn loc(self) -> Loc {
        Loc {
            obj: ObjId(1),
            slot: u32::from(self.0),
        }
    }
}

impl Array {
    pub fn loc(self, index: u32) -> Loc {
        Loc {
            obj: ObjId(SORT + u64::from(self.0)),
            slot: index,
        }
    }
}

impl Lock {
    pub fn id(self) -> LockId {
        LockId(ObjId(2 * SORT + u64::from(self.0)))
    }
}

impl Class {
    pub fn id(self) -> ObjId {
        ObjId(3 * SORT + u64::from(self.0))
    }
}

impl Handover {
    pub fn id(self) -> ObjId {
        ObjId(4 * SORT + u64::from(self.0))
    }
}

/// An expression over registers; 0 is false.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    Const(Value),
    Reg(Reg),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Eq(Box<Expr>, Box<Expr>),
    Lt(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
}

/// Where an access goes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    Var(Var),
    Elem(Array, Expr),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// Local: not a step of its own, like `If`, `While`, `Catch` and `Assert`.
    Set(Reg, Expr),

    Read(Reg, Place),
    Write(Place, Expr),
    Load(Reg, Place, Mode),
    Store(Place, Expr, Mode),
    /// Compare and set; `ok` becomes 1 or 0.
    Cas {
        ok: Reg,
        place: Place,
        expect: Expr,
        new: Expr,
        mode: Mode,
    },
    /// Get and add; `old` becomes the value before.
    FetchAdd {
        old: Reg,
        place: Place,
        by: Expr,
        mode: Mode,
    },

    /// `synchronized`, or the write side of a read-write lock. Re-entrant;
    /// only the outermost taking and giving up are steps and events.
    Sync(Lock, Vec<Stmt>),
    /// `tryLock`: with the lock, `ok` becomes 1 and the body runs; without, 0.
    Try {
        ok: Reg,
        lock: Lock,
        body: Vec<Stmt>,
    },
    /// The read side.
    Shared(Lock, Vec<Stmt>),
    /// Two steps: giving the lock up, and having it again.
    Wait(Lock),
    /// May also go on without a notify, at any time.
    TimedWait(Lock),
    /// Which waiter is woken is a choice of the schedule.
    Notify(Lock),
    NotifyAll(Lock),

    Fork(ThreadId),
    /// Of a thread never started: returns at once, and orders nothing.
    Join(ThreadId),
    /// `alive` becomes 1 or 0; sees the termination like a join if it is over.
    IsAlive(Reg, ThreadId),
    Interrupt(ThreadId),
    /// Becomes 1 and clears the flag, or 0.
    Interrupted(Reg),
    /// Goes on with a permit or an interrupt.
    Park,
    Unpark(ThreadId),

    Release(Handover),
    Acquire(Handover),

    /// A use of a class: its initialiser runs if nobody ran it before; others
    /// block until it has ended.
    Init(Class, Vec<Stmt>),

    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// At most `bound` iterations; leaving because of the bound marks the
    /// execution as truncated.
    While {
        cond: Expr,
        bound: u32,
        body: Vec<Stmt>,
    },
    /// A loop without a bound. An iteration that changed nothing (it read,
    /// perhaps under locks, and all registers are as before) is not repeated
    /// until a location that it read was written.
    Spin {
        cond: Expr,
        body: Vec<Stmt>,
    },
    /// Throws if false.
    Assert(Expr),
    /// `try`: if the body throws, the handler runs.
    Catch {
        body: Vec<Stmt>,
        handler: Vec<Stmt>,
    },
    /// Takes time, which orders nothing: no step.
    Sleep,
}

/// Threads, numbered from 0, and the lengths of arrays.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Program {
    pub threads: Vec<Vec<Stmt>>,
    /// How many of them, from thread 0 on, run from the start; the others
    /// need a `Fork`.
    pub running: usize,
    pub arrays: Vec<u32>,
}

impl Program {
    /// All threads run from the start, unordered.
    pub fn parallel(threads: impl IntoIterator<Item = Vec<Stmt>>) -> Program {
        let threads: Vec<_> = threads.into_iter().collect();
        Program {
            running: threads.len(),
            threads,
            arrays: Vec::new(),
        }
    }

    /// Thread 0 runs; it starts the others.
    pub fn with_main(main: Vec<Stmt>, others: impl IntoIterator<Item = Vec<Stmt>>) -> Program {
        Program {
            threads: std::iter::once(main).chain(others).collect(),
            running: 1,
            arrays: Vec::new(),
        }
    }

    /// Gives the arrays their lengths.
    pub fn arrays(mut self, lengths: impl IntoIterator<Item = u32>) -> Program {
        self.arrays = lengths.into_iter().collect();
        self
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Expr {
        Expr::Const(value)
    }
}

impl From<Reg> for Expr {
    fn from(reg: Reg) -> Expr {
        Expr::Reg(reg)
    }
}

impl From<Var> for Place {
    fn from(var: Var) -> Place {
        Place::Var(var)
    }
}

impl<I: Into<Expr>> From<(Array, I)> for Place {
    fn from((array, index): (Array, I)) -> Place {
        Place::Elem(array, index.into())
    }
}

macro_rules! operators {
    ($($name:ident $variant:ident)*) => {$(
        pub fn $name(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
            Expr::$variant(Box::new(a.into()), Box::new(b.into()))
        }
    )*};
}
operators!(add Add sub Sub eq Eq lt Lt and And or Or);

pub fn not(a: impl Into<Expr>) -> Expr {
    Expr::Not(Box::new(a.into()))
}

pub fn read(into: Reg, place: impl Into<Place>) -> Stmt {
    Stmt::Read(into, place.into())
}

pub fn write(place: impl Into<Place>, value: impl Into<Expr>) -> Stmt {
    Stmt::Write(place.into(), value.into())
}

/// A volatile load.
pub fn load(into: Reg, place: impl Into<Place>) -> Stmt {
    Stmt::Load(into, place.into(), Mode::Volatile)
}

/// A volatile store.
pub fn store(place: impl Into<Place>, value: impl Into<Expr>) -> Stmt {
    Stmt::Store(place.into(), value.into(), Mode::Volatile)
}

pub fn cas(
    ok: Reg,
    place: impl Into<Place>,
    expect: impl Into<Expr>,
    new: impl Into<Expr>,
) -> Stmt {
    Stmt::Cas {
        ok,
        place: place.into(),
        expect: expect.into(),
        new: new.into(),
        mode: Mode::Volatile,
    }
}

pub fn fetch_add(old: Reg, place: impl Into<Place>, by: impl Into<Expr>) -> Stmt {
    Stmt::FetchAdd {
        old,
        place: place.into(),
        by: by.into(),
        mode: Mode::Volatile,
    }
}

pub fn sync(lock: Lock, body: impl IntoIterator<Item = Stmt>) -> Stmt {
    Stmt::Sync(lock, body.into_iter().collect())
}

pub fn shared(lock: Lock, body: impl IntoIterator<Item = Stmt>) -> Stmt {
    Stmt::Shared(lock, body.into_iter().collect())
}

pub fn fork(thread: u32) -> Stmt {
    Stmt::Fork(ThreadId(thread))
}

pub fn join(thread: u32) -> Stmt {
    Stmt::Join(ThreadId(thread))
}

pub fn assert(holds: impl Into<Expr>) -> Stmt {
    Stmt::Assert(holds.into())
}

/// Volatile loads into `reg` until it is not 0, however long it takes.
pub fn wait_for(reg: Reg, place: impl Into<Place>) -> [Stmt; 2] {
    let place = place.into();
    [
        Stmt::Set(reg, Expr::Const(0)),
        Stmt::Spin {
            cond: not(reg),
            body: vec![Stmt::Load(reg, place, Mode::Volatile)],
        },
    ]
}

pub fn try_sync(ok: Reg, lock: Lock, body: impl IntoIterator<Item = Stmt>) -> Stmt {
    Stmt::Try {
        ok,
        lock,
        body: body.into_iter().collect(),
    }
}

/// Volatile loads into `reg` until it is not 0, at most `bound` times.
pub fn spin(reg: Reg, place: impl Into<Place>, bound: u32) -> [Stmt; 2] {
    let place = place.into();
    [
        Stmt::Set(reg, Expr::Const(0)),
        Stmt::While {
            cond: not(reg),
            bound,
            body: vec![Stmt::Load(reg, place, Mode::Volatile)],
        },
    ]
}
