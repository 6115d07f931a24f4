//! The STD text of RAPID: a line an event, `T1|w(V3)|17` for "thread T1 writes
//! V3 at location 17". Operations are `r`, `w`, `acq`, `rel`, `fork`, `join`
//! and, around what should be atomic, `begin` and `end`.
//!
//! STD knows fewer things than our events do. What becomes of the others:
//!
//! | event | in STD |
//! |---|---|
//! | plain read, write | `r`, `w` |
//! | atomic read, write, update | `r`, `w`, `r w` between `acq` and `rel` of a lock `vol.…` of that location |
//! | acquire, release, wait begin and end | `acq`, `rel` |
//! | acquire and release shared | `acq rel` of the lock at that moment, twice |
//! | fork, join | the same |
//! | sync release and acquire, interrupt and interrupted | `acq rel` of a lock `sync.…`, `int.…` |
//! | method enter, exit | `begin`, `end` |
//! | begin, end, notify, park, unpark, init, branch | nothing |
//!
//! What is lost: the direction of the edges (a lock orders both ways, so two
//! volatile reads order each other, and so do two readers of a read-write
//! lock); that readers exclude a writer; modes weaker than volatile; edges
//! through class initialisation (races may appear there that are none); which
//! wake-up belongs to which wait. Atomic locations are never reported as
//! racing with each other, as they should not be.
//!
//! Coming in, `begin` and `end` are entry and exit of a method numbered 0,
//! because RAPID means blocks of code by them, not lives of threads.
//! Re-entrant acquisitions are left out and counted. Variables become fields
//! of one object, locks become objects, locations become sites; their names go
//! to the tables, and an export of such a trace uses them again.

mod export;
mod import;
mod names;

pub use export::{Exported, Exporter, Names, export};
pub use import::{Imported, StdError, Strictness, convert, import};

/// What `RunHeader::tool` says of an imported trace.
pub const TOOL: &str = "RAPID STD";

/// The object whose slots are an imported trace's variables; locks follow.
const VARIABLES: u64 = 1;
const FIRST_LOCK: u64 = 2;
