//! Members that `predict` adds: witnesses, what each engine found, violations
//! of atomicity, and properties.

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
}

/// Another thread comes into a unit, and no serial order explains the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(default)]
    pub witness: Option<Witness>,
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
