//! Names for the numbers in events, and what is known about the run.
//!
//! Every table is a map from a number to a row. Rows come in chunks, as many
//! and whenever the recorder likes, but before the first event chunk that uses
//! them; a row given again replaces the earlier one. Strings are written once
//! a file and shared.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::event::{ObjId, SiteId, ThreadId};

/// A string of the tables; cheap to clone.
pub type Str = Arc<str>;

/// First thing in a trace: which run this is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunHeader {
    /// The program that wrote the trace, with its version.
    pub tool: Str,
    /// The JDK's own words for itself.
    pub jdk: Str,
    /// What was run, as its arguments.
    pub command: Vec<Str>,
    /// Milliseconds since 1970.
    pub start_ms: u64,
    /// The order of accesses that conflict is the one of the run, also of those
    /// that race, but for what [`crate::Op::Unsure`] says.
    pub ordered: bool,
}

/// Which events of its run a trace has, if it was cut from another: places in
/// the order in which the run's whole trace is read, from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// All of these, and no others.
    Places(Range<u64>),
    /// Some threads' events only.
    SomeThreads,
}

/// Last thing in a trace of a run that ended; absent if it was killed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footer {
    /// The program's exit code, if the recorder learnt it.
    pub exit_code: Option<i32>,
    /// Events written.
    pub events: u64,
    /// Records that made no sense and were left out (see [`crate::Encoded`]).
    pub dropped: u64,
    pub classes_instrumented: u64,
    pub skipped: Vec<Skipped>,
}

/// Code that runs unwatched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    pub class: Str,
    /// `None`: the whole class.
    pub method: Option<Str>,
    pub why: Str,
}

/// What a statement does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum SiteKind {
    /// Something this version has no name for.
    #[default]
    Other = 0,
    FieldRead = 1,
    FieldWrite = 2,
    StaticRead = 3,
    StaticWrite = 4,
    ElemRead = 5,
    ElemWrite = 6,
    ArrayCopy = 7,
    ArrayClone = 8,
    Unsafe = 9,
    VarHandle = 10,
    MonitorEnter = 11,
    MonitorExit = 12,
    SyncMethod = 13,
    Init = 14,
    NewObject = 15,
    NewArray = 16,
    Model = 17,
    /// Where a method starts whose control flow is recorded, its switches, its
    /// exception handlers.
    Method = 18,
    Switch = 19,
    Handler = 20,
}

impl SiteKind {
    const ALL: [SiteKind; 21] = [
        SiteKind::Other,
        SiteKind::FieldRead,
        SiteKind::FieldWrite,
        SiteKind::StaticRead,
        SiteKind::StaticWrite,
        SiteKind::ElemRead,
        SiteKind::ElemWrite,
        SiteKind::ArrayCopy,
        SiteKind::ArrayClone,
        SiteKind::Unsafe,
        SiteKind::VarHandle,
        SiteKind::MonitorEnter,
        SiteKind::MonitorExit,
        SiteKind::SyncMethod,
        SiteKind::Init,
        SiteKind::NewObject,
        SiteKind::NewArray,
        SiteKind::Model,
        SiteKind::Method,
        SiteKind::Switch,
        SiteKind::Handler,
    ];

    /// Kinds of later versions read as `Other`.
    pub(crate) fn from_u8(n: u8) -> SiteKind {
        Self::ALL.get(usize::from(n)).copied().unwrap_or_default()
    }

    /// Whether a field is accessed by an instruction of its own.
    pub fn is_field(self) -> bool {
        matches!(
            self,
            SiteKind::FieldRead
                | SiteKind::FieldWrite
                | SiteKind::StaticRead
                | SiteKind::StaticWrite
        )
    }

    /// Whether the slot of an access here is an array index, not a field.
    pub fn is_element(self) -> bool {
        matches!(
            self,
            SiteKind::ElemRead | SiteKind::ElemWrite | SiteKind::ArrayCopy | SiteKind::ArrayClone
        )
    }
}

/// A field or method as an instruction names it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Member {
    pub class: Str,
    pub name: Str,
    pub desc: Str,
}

/// A statement: one instruction of the program as it was before rewriting.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Site {
    /// Class names are internal ones (`java/util/HashMap`) in all tables.
    pub class: Str,
    pub method: Str,
    pub desc: Str,
    pub bci: u32,
    pub file: Option<Str>,
    pub line: Option<u32>,
    pub kind: SiteKind,
    /// Whether accesses here are checked for races, not only for ordering.
    pub checked: bool,
    pub target: Option<Member>,
    /// For elements: where the array came from, in words ("Foo.table").
    pub array_from: Option<Str>,
    /// For statements of the JDK: the program's call in which they were made. A statement
    /// has a row for each such call.
    pub call: Option<SiteId>,
}

/// A field; its number is the slot of its locations.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Field {
    pub class: Str,
    pub name: Str,
    pub desc: Str,
    /// Access flags of the class file.
    pub flags: u16,
}

/// A line of a stack trace, innermost first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    pub class: Str,
    pub method: Str,
    pub file: Option<Str>,
    pub line: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thread {
    pub name: Str,
    pub creator: Option<ThreadId>,
    /// Where the creator started it.
    pub created_at: Vec<Frame>,
    pub daemon: bool,
    /// Belongs to the JVM, not to the program.
    pub system: bool,
}

/// An object or array, given only for those somebody may ask about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Object {
    /// Its class (`[I` for arrays); for class mirrors the class they mirror.
    pub class: Str,
    /// Where it was allocated; site 0 is unknown.
    pub site: SiteId,
}

/// A class as loaded: the same name from two loaders is two classes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Class {
    pub name: Str,
    /// [`Class::JDK`], [`Class::PROGRAM`] or 0: not said.
    pub loader: u64,
    /// A digest of its bytes before rewriting.
    pub hash: Vec<u8>,
}

impl Class {
    /// The boot or the platform loader.
    pub const JDK: u64 = 1;
    /// Any other.
    pub const PROGRAM: u64 = 2;
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Method {
    /// Number of its class in the class table.
    pub class: u32,
    pub name: Str,
    pub desc: Str,
}

/// All tables of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tables {
    pub sites: BTreeMap<SiteId, Site>,
    pub fields: BTreeMap<u32, Field>,
    pub threads: BTreeMap<ThreadId, Thread>,
    pub objects: BTreeMap<ObjId, Object>,
    pub classes: BTreeMap<u32, Class>,
    pub methods: BTreeMap<u32, Method>,
}
