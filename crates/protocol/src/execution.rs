//! Executions of an exploration, and workers: JVMs that make one after the other.
//! A worker is told an [`explore::Job`] a line on the socket of its run directory,
//! and answers with an [`Answer`] a line.

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

/// What a worker says of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub outcome: RunEnd,
    pub execution: Option<Execution>,
    pub findings: Vec<Line>,
    /// Why executions of this program need JVMs of their own, if they do.
    pub unfit: Option<String>,
    /// The worker ends, and gives no other answer.
    pub is_last: bool,
}
