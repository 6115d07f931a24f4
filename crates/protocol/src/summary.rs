//! The end of a run: how it ended, `summary.json`, and why the agent gave up.

use crate::control::ControlSummary;
use serde::{Deserialize, Serialize};

/// How a run ended. The agent knows the first seven; the driver knows those of
/// which no agent can tell.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// The program ended.
    Exit,
    /// By `Runtime.halt`: hooks and finally blocks did not run.
    Halt,
    Deadlock,
    Livelock,
    /// It did not get on inside the JVM or in native code.
    Stuck,
    /// It reached the limit of steps.
    Limit,
    /// Threads seemed to wait for ever in an exploration, and one of them did not.
    Cut,
    /// It did something else than the schedule or the job it was to follow.
    Diverged,
    TimeLimit,
    Interrupted,
    /// By a signal that is not ours.
    Killed,
    /// Java refused its arguments.
    NotStarted,
    /// There was none: a trace was read.
    Offline,
    /// It has not ended: what it found up to now was read.
    Running,
    /// Nobody said, or it is a word of a newer version.
    #[default]
    #[serde(other)]
    Unknown,
}

impl RunEnd {
    /// As in JSON.
    pub fn word(self) -> &'static str {
        match self {
            RunEnd::Exit => "exit",
            RunEnd::Halt => "halt",
            RunEnd::Deadlock => "deadlock",
            RunEnd::Livelock => "livelock",
            RunEnd::Stuck => "stuck",
            RunEnd::Limit => "limit",
            RunEnd::Cut => "cut",
            RunEnd::Diverged => "diverged",
            RunEnd::TimeLimit => "time-limit",
            RunEnd::Interrupted => "interrupted",
            RunEnd::Killed => "killed",
            RunEnd::NotStarted => "not-started",
            RunEnd::Offline => "offline",
            RunEnd::Running => "running",
            RunEnd::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for RunEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// `summary.json`: written when the JVM ends in an orderly way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// `Exit` or `Halt`.
    pub ended: RunEnd,
    pub classes_seen: u64,
    pub classes_instrumented: u64,
    /// Classes whose data accesses are checked.
    pub classes_checked: u64,
    pub methods_skipped: u64,
    /// Models that this JDK has no method for.
    pub missing_models: Vec<String>,
    /// Absent when they were not counted: FastTrack handles most of them in
    /// compiled code.
    pub events: Option<u64>,
    /// Threads of the program, without those of the JVM itself.
    pub threads: u64,
    pub sites: u64,
    pub races: u64,
    /// Java's launcher had something to say: that there is no such main class, for example.
    pub launcher_complained: bool,
    /// Of a controlled run.
    pub control: Option<ControlSummary>,
    /// Of a run that looked for hidden races.
    pub hidden: Option<Hidden>,
    /// Of a run under a budget.
    pub sampling: Option<Sampling>,
}

/// What a run under a budget watched, in numbers that add up. Processor time is that of the whole
/// process, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// In hundredths of a percent.
    pub budget: u32,
    /// Sampling periods.
    pub periods: u64,
    /// Processor time while probes rested, in sampling periods, while accesses were compared with
    /// what these had recorded, and while accesses were counted.
    pub rest_us: u64,
    pub sampled_us: u64,
    pub compared_us: u64,
    pub counted_us: u64,
    /// Accesses in the last three.
    pub sampled: u64,
    pub compared: u64,
    pub counted: u64,
    /// Classes that have statements with probes, by name.
    pub classes: Vec<SampledClass>,
}

/// What sampling periods saw of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampledClass {
    pub class: String,
    /// Its statements that access fields or elements.
    pub statements: u64,
    /// Those of them that were executed in a sampling period.
    pub sampled: u64,
}

/// A run that held threads back by the may-trigger relation of an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hidden {
    /// `drfinder`, `drfinder-serial`.
    #[serde(default)]
    pub scheduler: String,
    #[serde(default)]
    pub seed: u64,
    /// How many pairs of a method and a class of locks the run itself saw.
    #[serde(default)]
    pub relation: u64,
    /// Requests for locks that the relation knows.
    #[serde(default)]
    pub requests: u64,
    /// Times that a thread was held back for another.
    #[serde(default)]
    pub suspended: u64,
    /// How often that one then acquired its lock first.
    #[serde(default)]
    pub reversed: u64,
    /// How often it could not get on (thrashing).
    #[serde(default)]
    pub thrashed: u64,
    /// How often it took too long.
    #[serde(default)]
    pub expired: u64,
    /// Classes of locks that were not looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// Who has to do something about an agent that gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blame {
    /// This JVM cannot be used.
    Java,
    /// The tool, or what it was asked.
    Agent,
}

/// Why the agent gave up before the program began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fatal {
    pub blame: Blame,
    pub why: String,
}

impl Fatal {
    pub fn java(why: impl Into<String>) -> Fatal {
        Fatal {
            blame: Blame::Java,
            why: why.into(),
        }
    }
}

impl<T: Into<String>> From<T> for Fatal {
    fn from(why: T) -> Fatal {
        Fatal {
            blame: Blame::Agent,
            why: why.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_json() {
        use RunEnd::*;
        let all = [
            Exit,
            Halt,
            Deadlock,
            Livelock,
            Stuck,
            Limit,
            Diverged,
            TimeLimit,
            Interrupted,
            Killed,
            NotStarted,
            Offline,
            Running,
            Unknown,
        ];
        for end in all {
            let text = serde_json::to_string(&end).unwrap();
            assert_eq!(text, format!("\"{end}\""));
            assert_eq!(serde_json::from_str::<RunEnd>(&text).unwrap(), end);
        }
        let newer: RunEnd = serde_json::from_str("\"evaporated\"").unwrap();
        assert_eq!(newer, Unknown);
    }
}
