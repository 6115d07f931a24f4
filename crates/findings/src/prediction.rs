//! Members that `predict` adds: witnesses, what each engine found, violations
//! of atomicity, and properties.

use crate::advice::Suggestion;
use crate::confirmed::Replay;
use crate::digests::Digests;
use crate::finding::{AccessOp, Frame};
use crate::result::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An interleaving that shows what is claimed: who runs in which order. Of a
/// long one only the end, after an element that says how much is left out.
pub type Witness = Vec<Stretch>;

/// A part of a witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Stretch {
    /// Events that are not listed.
    LeftOut { omitted: u64 },
    /// Events of one thread in a row.
    Events {
        thread: String,
        thread_id: u64,
        /// How many.
        events: u64,
        /// What the last of them does.
        last: String,
        /// Where, as `File.java:12` if that is known.
        at: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        method: Option<String>,
    },
}

/// What one engine found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    pub engine: String,
    pub pairs: u64,
    pub observed: u64,
    pub predicted: u64,
    pub potential: u64,
    /// Pairs that no other engine found.
    pub alone: u64,
    /// Whether it looked at everything it promises to.
    pub complete: bool,
    pub seconds: f64,
    /// Of shards: which pairs these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_digests: Option<Digests>,
}

/// Another thread comes into a unit, and no serial order explains the outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AtomicityViolation {
    #[schemars(regex(pattern = r"^[A-Z][0-9]+$"))]
    pub id: String,
    pub status: Status,
    /// The critical section or method.
    pub unit: String,
    /// Where it is entered.
    pub at: String,
    /// `R W' W` and so on: docs/predict.md.
    pub pattern: String,
    /// In the order in which they come.
    #[schemars(length(min = 3))]
    pub accesses: Vec<UnitAccess>,
    /// If nobody named the unit: how the value that the first access saw gets to the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<StaleFlow>,
    /// What came of it in controlled runs, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<StaleTrials>,
    /// If a controlled run showed it: how to see that run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// Repairs, if `advise` tried any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<Vec<Suggestion>>,
    #[serde(default)]
    pub witness: Option<Witness>,
}

/// Controlled runs that were to show a stale value, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleTrials {
    pub run: u64,
    /// In how many the write of another thread came between.
    pub hit: u64,
    /// What the program did in those.
    pub interleaved: Vec<String>,
    /// What it did in runs in which every look and act came one right after the other.
    pub serial: Vec<String>,
    /// How many threads were first in the latter: each is another serial order.
    pub serial_orders: u64,
    pub verdict: SerialVerdict,
}

/// Whether a serial order explains what came of an interleaving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SerialVerdict {
    /// No serial order gives this.
    NoSerialOrder,
    /// A serial order gives the same, as far as output, exit code and exceptions tell.
    SameAsSerial,
    /// It did not happen, or not all serial orders were seen.
    #[default]
    Unknown,
}

/// How a stale value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StaleFlow {
    /// It is in what is written.
    Value,
    /// It decided whether to act.
    Decision,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnitAccess {
    pub part: Part,
    pub op: AccessOp,
    pub location: String,
    pub thread: String,
    #[serde(default)]
    pub class: String,
    #[serde(default)]
    pub method: String,
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub line: Option<u32>,
    /// The method of the JDK that is called there, if the access is a call: `Map.put`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

impl UnitAccess {
    /// The statement.
    pub fn frame(&self) -> Frame {
        Frame {
            class: self.class.clone(),
            method: self.method.clone(),
            file: self.file.clone(),
            line: self.line,
            ..Frame::default()
        }
    }
}

/// Whose access it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Unit,
    Other,
}

/// A property that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Property {
    pub name: String,
    pub status: PropertyStatus,
    /// Whether all orders were looked at.
    pub complete: bool,
    /// How many states that were.
    pub cuts: u64,
    /// The named events up to where it breaks.
    #[serde(default)]
    pub path: Vec<NamedEvent>,
    /// Null if it holds.
    #[serde(default)]
    pub witness: Option<Witness>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PropertyStatus {
    Holds,
    /// Broken in another order.
    Predicted,
    /// Broken in the run.
    Observed,
}

impl PropertyStatus {
    /// As the JSON has it.
    pub fn word(self) -> &'static str {
        match self {
            PropertyStatus::Holds => "holds",
            PropertyStatus::Predicted => "predicted",
            PropertyStatus::Observed => "observed",
        }
    }
}

/// An event that the property names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedEvent {
    pub event: String,
    pub thread: String,
    pub thread_id: u64,
    pub at: String,
}
