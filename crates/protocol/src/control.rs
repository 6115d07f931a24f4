//! What a controlled run says besides races: statements that stood side by side,
//! deadlocks, uncaught exceptions, and the `control` member of `summary.json`.

use crate::finding::{Access, Frame, Location};
use crate::is_false;
use crate::summary::RunEnd;
use serde::{Deserialize, Serialize};

/// Two statements of the pair that was asked for, about to be executed by two
/// threads on the same location: a race, made to happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The step of the schedule.
    #[serde(default)]
    pub step: u64,
    #[serde(default)]
    pub location: Option<Location>,
    /// Executed first.
    pub first: Access,
    pub second: Access,
}

/// A read that saw an older write than the newest, as the memory model allows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleRead {
    #[serde(default)]
    pub location: Option<Location>,
    pub read: Access,
    /// The write that it saw; none is the value that was there before anybody wrote.
    #[serde(default)]
    pub saw: Option<Access>,
    /// The newest write, made before the read.
    pub missed: Access,
    /// It even happens before the read: then it is the write that was seen which is not ordered before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missed_is_before: bool,
    /// The value that was read, and the one that was not.
    pub value: String,
    pub newest: String,
}

/// A thread that cannot go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiting {
    pub thread: String,
    /// In words: `to enter the monitor of a Fork`.
    #[serde(default)]
    pub waits_for: String,
    /// The thread that would have to let go.
    #[serde(default)]
    pub held_by: Option<String>,
    /// Where it stands.
    #[serde(default)]
    pub stack: Vec<Frame>,
    /// What it holds meanwhile.
    #[serde(default)]
    pub holds: Vec<String>,
}

/// The threads of a deadlock or livelock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckThreads {
    /// They wait for each other in a cycle. Otherwise no thread is left that could
    /// wake them.
    #[serde(default)]
    pub cycle: bool,
    #[serde(default)]
    pub threads: Vec<Waiting>,
}

/// An exception that ended a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncaught {
    #[serde(default)]
    pub thread: String,
    /// As `toString` has it: class and message.
    #[serde(default)]
    pub exception: String,
    #[serde(default)]
    pub stack: Vec<Frame>,
    /// The program has a handler for exceptions of this thread: its own affair.
    #[serde(default, skip_serializing_if = "is_false")]
    pub handled: bool,
}

impl Uncaught {
    /// The class of the exception.
    pub fn class(&self) -> &str {
        let class = self.exception.split(':').next();
        class.unwrap_or_default().trim()
    }
}

/// An exception that the program caught.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Caught {
    pub thread: String,
    /// Its class.
    pub exception: String,
    pub thrown: Frame,
    /// Where the handler is.
    pub by: Frame,
}

/// Something that decided about the run and was not under control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncontrolled {
    #[serde(default)]
    pub cause: Cause,
    pub what: String,
}

/// What kind of thing that is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A thread waited where the agent cannot see for what; it may have waited for
    /// a processor only.
    WaitedOutside,
    /// The JVM handled the signal by which the driver ends a run.
    OurSignal,
    #[default]
    Other,
}

impl std::fmt::Display for Uncontrolled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not under control: {}", self.what)
    }
}

/// How a replayed run left its schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Divergence {
    pub step: u64,
    pub expected: String,
    pub got: String,
    pub why: String,
}

/// A delay that a schedule needs: a thread slept, or waited with a time limit, to the end, while others that
/// could have gone on did not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Delay {
    pub sleeper: String,
    pub millis: u64,
    /// Those that were late.
    pub delayed: Vec<String>,
}

/// The `control` member of `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlSummary {
    pub strategy: String,
    pub seed: u64,
    pub steps: u64,
    pub switches: u64,
    pub forced_spins: u64,
    pub ticks: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Delay>,
    pub digest: Option<String>,
    /// The digest of the partial order of its steps, see `schedule::PartialOrder`.
    pub partial_order: Option<u64>,
    pub threads: u64,
    pub hits: u64,
    /// Which sides of the pair some thread came to.
    pub reached: [bool; 2],
    pub divergence: Option<Divergence>,
    pub outcome: RunEnd,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_of_an_exception() {
        let of = |text: &str| {
            let uncaught = Uncaught {
                exception: text.into(),
                ..Uncaught::default()
            };
            uncaught.class().to_owned()
        };
        assert_eq!(of("java.lang.Error: a: b"), "java.lang.Error");
        assert_eq!(of("java.lang.Error"), "java.lang.Error");
    }
}
