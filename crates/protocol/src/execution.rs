//! Executions of an exploration, and workers: JVMs that make one execution after the
//! other. A worker is told an [`Ask`] a line on the socket of its run directory, and
//! answers with an [`Answer`] a line.

use crate::control::ControlSummary;
use crate::finding::Line;
use crate::summary::RunEnd;
use explore::Divergence;
use serde::{Deserialize, Serialize};

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Execution {
    #[serde(rename = "execution")]
    Made(explore::Execution),
    /// The program did something else than the job says.
    Diverged(Divergence),
}

/// What a worker is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ask {
    /// An execution of an exploration.
    Job(explore::Job),
    /// Executions by strategies, in this order. The worker may answer after fewer than all,
    /// but makes the first.
    Seeds(Vec<AskedSeed>),
}

/// An execution by a strategy: the variant of the worker's request, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedSeed(pub usize, pub u64);

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The executions, in the order in which they were asked for.
    pub made: Vec<WorkerRun>,
    /// Why executions of this program need JVMs of their own, if they do: the last one
    /// showed that.
    pub unfit: Option<String>,
    /// Why its executions have classes of their own, each loaded anew, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reloads: Option<String>,
    /// The worker ends, and gives no other answer.
    pub is_last: bool,
}

/// What a worker says of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerRun {
    pub outcome: RunEnd,
    pub findings: Vec<Line>,
    /// Of an exploration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// Of a strategy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeded: Option<Seeded>,
}

/// What else there is to an execution by a strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeded {
    pub control: ControlSummary,
    /// The exit code of a JVM of its own.
    pub exit: i32,
    /// The SHA-256 of standard output, in hexadecimal digits.
    pub output_sha256: String,
    /// How the two begin.
    pub stdout: String,
    pub stderr: String,
    pub micros: u64,
}
