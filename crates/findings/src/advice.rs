//! Members that `advise` adds: repairs for each race, how the race came about,
//! and the fewest repairs that remove all races.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of trying a repair. The best first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Validated {
    RemovesRace,
    /// Of a violation of atomicity.
    RemovesViolation,
    StillRaces,
    StillViolates,
    Deadlocks,
    NotTried,
}

/// A repair suggested for one race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    pub kind: String,
    /// A variable, or a statement.
    #[serde(default)]
    pub target: String,
    #[serde(default)]
    pub text: String,
    /// Races that it removed when it was tried; that it should remove, if not.
    #[serde(default)]
    pub removes: Vec<String>,
    pub validated: Validated,
    /// How that was found out, or why not; in words.
    #[serde(default)]
    pub checked: String,
    /// Uncaught exceptions, with the repair as without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// What it does not do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
    /// On how many of the occurrences of the race it would have helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
    /// Time with the repair by time without; 1 if no difference was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Of the sources, unified; it compiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Paths {
    pub helps: u64,
    pub seen: u64,
}

/// How a race came about once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Occurrence {
    /// The access that came first.
    pub source: String,
    /// The access that was not ordered after it.
    pub manifest: String,
    /// How the threads synchronised in between, which did not order them.
    #[serde(default)]
    pub between: Vec<String>,
}

/// Repairs that together remove all races, as far as is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepairSet {
    pub repairs: Vec<String>,
    pub removes: Vec<String>,
    pub validated: Validated,
    #[serde(default)]
    pub checked: String,
    /// Uncaught exceptions, with the repairs as without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// No smaller set of the suggestions would do on the runs that were seen.
    #[serde(default)]
    pub smallest: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}
