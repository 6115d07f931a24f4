//! What can be suggested.

use serde::{Deserialize, Serialize};
use trace::{Loc, LockId, ObjId, SiteId, ThreadId};

/// A name for something of the program that is the same in all its runs: a
/// field (not of one object: a repair changes the class), an array, a lock, a
/// thread. What the numbers stand for is known to the caller.
pub type Name = u64;

/// Where the names of a trace's objects come from.
pub trait Names {
    /// Of a field or, for elements, of the array.
    fn variable(&self, loc: Loc) -> Variable;
    fn lock(&self, lock: LockId) -> Name;
    fn thread(&self, thread: ThreadId) -> Name;
    /// Of something else that threads synchronise on.
    fn object(&self, object: ObjId) -> Name;
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Variable {
    Field(Name),
    /// The elements of an array.
    Array(Name),
}

/// What threads synchronise on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Sync {
    /// A volatile field, or the elements of an atomic array.
    Variable(Variable),
    Lock(Name),
    /// Of which the end is waited for, or the start.
    Thread(Name),
    Object(Name),
}

/// A change of the program. Sites are those of statements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Repair {
    /// Make the field volatile.
    Volatile(Variable),
    /// Make the array an atomic one.
    AtomicArray(Variable),
    /// Access the statement's variable only with the lock.
    Synchronized { statement: u32, lock: Name },
    /// Acquire before the statement: read the volatile, take the lock, join.
    Acquire { before: u32, from: Sync },
    /// Move the one statement before the other.
    Move { statement: u32, before: u32 },
    /// Make the field an instance of the atomic class of its type.
    AtomicClass(Variable),
    /// Make the methods synchronized in which the field is accessed.
    Methods(Variable),
}

/// Why a repair is suggested for a race, in the words of the report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// The variable of the race itself.
    Volatile,
    AtomicArray,
    AtomicClass,
    MoveSource,
    /// Whole methods: what they do in several steps stays together.
    SynchronizedMethods,
    Synchronized,
    /// Another variable, or array, through which the threads talk.
    OtherVolatile,
    SameAcquire,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Volatile => "volatile",
            Kind::AtomicArray => "atomic-array",
            Kind::AtomicClass => "atomic-class",
            Kind::MoveSource => "move-source",
            Kind::Synchronized | Kind::SynchronizedMethods => "synchronized",
            Kind::OtherVolatile => "other-volatile",
            Kind::SameAcquire => "same-acquire",
        }
    }

    /// Whether the race is gone for certain, on every path, once the repair is
    /// made, provided that it holds on every path on which the race was seen
    /// and all paths were. The others make new paths, change what the program
    /// does, or take the lock of another object: only trying them tells.
    pub fn sufficient(self) -> bool {
        !matches!(
            self,
            Kind::MoveSource | Kind::SameAcquire | Kind::SynchronizedMethods
        )
    }
}

impl Repair {
    /// Makes the variable safe, be it a field or an array.
    pub(crate) fn of_variable(variable: Variable) -> Repair {
        match variable {
            Variable::Field(_) => Repair::Volatile(variable),
            Variable::Array(_) => Repair::AtomicArray(variable),
        }
    }
}

pub(crate) fn site(site: SiteId) -> u32 {
    site.0
}
