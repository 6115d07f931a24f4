//! What the agent inside the JVM and the processes around it say to each other:
//! types, and nothing that does anything with them. Both sides read and write
//! them with serde, so a message cannot mean two things.
//!
//! | module | holds |
//! |---|---|
//! | `request` | what a run is asked: mode, classes, scheduler, statements, limits |
//! | `files` | names of the files in a run directory |
//! | `finding` | the lines of `findings.jsonl` |
//! | `control` | those of them that controlled runs write |
//! | `summary` | `summary.json`, and how a run ended |
//! | `jvms` | the JVMs of a command: which of them are looked at, and what each was |
//! | `execution` | executions of an exploration; what workers are told and answer |
//!
//! A run directory belongs to one run. The driver writes `request.json` there and
//! starts the JVM with `-agentpath:LIBRARY=out=DIR`; the agent writes all else.
//! `-agentpath:LIBRARY=jvms=DIR` is for any number of JVMs: each makes a run directory
//! below that one.

pub mod control;
pub mod execution;
pub mod files;
pub mod finding;
pub mod jvms;
pub mod request;
pub mod summary;

pub use request::{Budget, Control, Cut, Mode, RunRequest, Scheduler, Statement, Variant};
pub use summary::{Blame, Fatal, RunEnd, Summary};

fn is_false(b: &bool) -> bool {
    !*b
}
