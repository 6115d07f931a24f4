//! The JVMs of a command. Whoever starts the command puts a [`JvmsRequest`] into a
//! directory; the agent of each JVM makes a run directory of its own there and writes down
//! whose it is.

use crate::RunRequest;
use serde::{Deserialize, Serialize};

/// How the run directories of JVMs begin; the process number follows.
pub const DIRECTORY: &str = "jvm-";

/// What JVMs are asked, `jvms.json`. Without the file: the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JvmsRequest {
    /// Patterns of main classes and jars; none: all JVMs but those of build tools.
    pub pick: Vec<String>,
    /// What each run is asked.
    pub run: RunRequest,
}

/// A JVM that was started, `jvm.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Jvm {
    pub pid: u32,
    /// Main class or jar with the arguments, as the JVM knows it; empty if it has none.
    pub command: String,
    /// Why it was not looked at.
    pub left_alone: Option<LeftAlone>,
}

/// Why the agent did nothing in a JVM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftAlone {
    /// None of the patterns names it.
    NotPicked,
    /// It is a build tool, a compiler, or a tool of the JDK.
    BuildTool,
    /// It was asked for its version, or is part of another program.
    NoMainClass,
    /// It is older than the agent can look at: its version.
    TooOld(String),
}
