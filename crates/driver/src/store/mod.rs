//! Results kept in a directory, in one SQLite file:
//!
//! ```text
//! result    a command that was run: its report, and how to run the program again
//! run       the runs of the program in it
//! race      the races, by id and fingerprint
//! witness   the order in which a predicted race would happen
//! schedule  runs that can be replayed, with their logs
//! exploration  how far an exploration is, to go on with it
//! ```
//!
//! Each command adds a result; the latest is what `report` and `replay` mean,
//! earlier ones stay to compare with until there are [`KEPT`] newer. A result is
//! saved in one transaction, as often as there is something new to say, so
//! a process that is killed leaves the last consistent state. Processes that write
//! at the same time wait for each other.

mod database;
mod exploration;
mod read;
mod write;

pub use exploration::{Exploration, explorations};
pub use read::{Kept, Store};
pub use write::Writer;

use protocol::control::Delay;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where results go unless told otherwise.
pub const DEFAULT: &str = ".photofinish";

/// The file in that directory.
pub const FILE: &str = "results.sqlite";

/// Beside it: the may-trigger relation of the last runs that looked for hidden
/// races, for people and for `--relation`.
pub const RELATION: &str = "relation.txt";

/// Results that are kept, at most.
pub const KEPT: u32 = 20;

/// Bytes of schedule logs that are kept, at most, except for the newest result.
const MOST_LOGS: u64 = 256 << 20;

/// The program, as it was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub directory: PathBuf,
    pub java: PathBuf,
    pub java_version: String,
    /// What followed `java`.
    pub args: Vec<String>,
    /// The file that was its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<PathBuf>,
    #[serde(default)]
    pub include: Vec<String>,
    #[serde(default)]
    pub exclude: Vec<String>,
    #[serde(default)]
    pub trusted: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untracked: Vec<String>,
    /// See [`crate::classes`].
    #[serde(default)]
    pub classes: BTreeMap<String, String>,
}

/// A run that can be replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// What `replay` calls it: `R1.exception`.
    pub name: String,
    /// The detector that ran, by its mode.
    pub mode: String,
    pub strategy: String,
    pub seed: u64,
    /// Of its events; absent if the run was ended before it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The program's exit code.
    #[serde(default)]
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_sha256: Option<String>,
    /// What came of it, in words.
    pub ended: String,
    /// That it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Delay>,
    /// The statements that were scheduling points, for the same points again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair: Vec<Vec<String>>,
    /// Of an execution that was part of an exploration: all its steps, as a job
    /// (JSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot keep results in {path}: {why}; name another directory with --results")]
    Write { path: PathBuf, why: String },
    #[error("no results in {path}; `photofinish hunt` or `photofinish confirm` makes them")]
    Nothing { path: PathBuf },
    #[error("{path} cannot be used: {why}")]
    Malformed { path: PathBuf, why: String },
    #[error("another process keeps {path} busy; try again when it is done")]
    Busy { path: PathBuf },
    #[error("there is no result {number} in {path}; there are: {known}")]
    NoResult {
        number: i64,
        path: PathBuf,
        known: String,
    },
    #[error("there is no schedule {name} in {path}; there are: {known}")]
    NoSchedule {
        name: String,
        path: PathBuf,
        known: String,
    },
}

#[cfg(test)]
mod tests;
