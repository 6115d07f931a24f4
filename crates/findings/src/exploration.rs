//! How much of the program was looked at: the member that `verify` adds, and that of
//! commands which try schedules.

use crate::confirmed::{Replay, StaleRead};
use crate::digests::Digests;
use crate::finding::Frame;
use crate::result::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Exploration {
    /// Every class of equivalent schedules was seen.
    pub complete: bool,
    /// Of a shard, or of shards that were merged: all was seen that these were to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_complete: Option<bool>,
    /// Of all rounds.
    pub executions: u64,
    /// Executions of the last round: if complete, the number of classes.
    pub classes: u64,
    /// Of shards: which classes these are.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub class_digests: Digests,
    /// Of shards: the statements whose plain accesses were scheduling points in the last round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<String>>,
    pub rounds: u64,
    /// Executions begun in vain: none.
    pub pruned: u64,
    /// Most steps of an execution.
    pub max_depth: u64,
    /// Executions without a result.
    pub lost: u64,
    /// The bound on preemptions, if there is one.
    pub preemptions: Option<u64>,
    /// How many executions the last round has, by estimate.
    pub estimate: Option<f64>,
    /// JVMs that made several executions.
    pub reused_jvms: u64,
    /// Why every execution had a JVM of its own, if so.
    pub isolated: Option<String>,
    /// Why executions of one JVM loaded the program's classes anew each time, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reloads: Option<String>,
    /// Why it is not complete, in words.
    pub not_complete: Vec<String>,
    /// A limit, and nothing else, kept it from being complete.
    pub limited: bool,
    /// `--resume` would go on.
    pub resumable: bool,
    /// What the command must be changed by besides, because it stopped as it was told to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_with: Option<String>,
    pub samples: Samples,
    /// With `--memory weak`: the second exploration, in which racy reads choose which write they see. Nothing of it is in the
    /// members above, nor in the report's races, deadlocks and failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weak: Option<Box<WeakExploration>>,
}

/// The exploration of every class of executions in which each read of a racing location sees one of the writes that
/// Java lets it see (docs/memory.md): an order of the steps, and the choice of each read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WeakExploration {
    /// Every class was seen.
    pub complete: bool,
    /// Of all rounds.
    pub executions: u64,
    /// Executions of the last round: if complete, the number of classes.
    pub classes: u64,
    pub rounds: u64,
    /// Most steps of an execution.
    pub max_depth: u64,
    /// How many executions the last round has, by estimate.
    pub estimate: Option<f64>,
    /// Why it is not complete, in words.
    pub not_complete: Vec<String>,
    /// What no sequentially consistent execution has shown.
    pub findings: Vec<WeakFinding>,
}

/// Something that an execution shows in which reads saw older writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WeakFinding {
    #[schemars(regex(pattern = r"^W[0-9]+$"))]
    pub id: String,
    pub kind: WeakKind,
    /// It was seen in an execution that was made.
    pub status: Status,
    /// The exception, the location of the race, or who waits for what.
    pub detail: String,
    /// Of the exception, or of the first thread that waits, or the accesses of the race.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
    /// The reads that saw older writes.
    #[serde(default)]
    pub memory: Vec<StaleRead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WeakKind {
    /// A thread died of an exception.
    Exception,
    /// Threads wait for ever: for each other, or in a loop whose reads may see older values for ever.
    Stuck,
    Race,
}

/// Schedules that were drawn beside the exploration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Samples {
    pub made: u64,
    /// Classes of equivalent executions among them.
    pub different: u64,
    /// How many classes there are, by estimate from those that were met once and twice, and the
    /// standard error of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes_error: Option<f64>,
    /// Executions within bounds on preemptions, and the largest bound within which all
    /// schedules were explored.
    pub bounded: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u32>,
    /// With which probability PCT would have met a bug of depth 1, 2 and so on.
    pub pct_probability: Vec<f64>,
}

/// Schedules that a strategy has tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Schedules {
    pub tried: u64,
    /// How many of them differ in more than the order of independent operations.
    pub different: u64,
    /// Of shards: which partial orders these are.
    #[serde(skip_serializing_if = "Digests::is_empty")]
    pub orders: Digests,
    /// The last ones, without a new order of dependent operations and without a new finding.
    pub since_new: u64,
    /// Nothing new came for long, so no more were tried.
    pub saturated: bool,
    /// Executions in JVMs that had made others before.
    pub reused_jvms: u64,
    /// Why every execution had a JVM of its own, if so.
    pub isolated: Option<String>,
    /// Why executions of one JVM loaded the program's classes anew each time, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reloads: Option<String>,
}

impl Schedules {
    /// Adds schedules that have other scheduling points.
    pub fn add(&mut self, more: Schedules) {
        self.tried += more.tried;
        self.different += more.different;
        self.saturated |= more.saturated;
        self.reused_jvms += more.reused_jvms;
        self.isolated = self.isolated.take().or(more.isolated);
        self.reloads = self.reloads.take().or(more.reloads);
    }
}
