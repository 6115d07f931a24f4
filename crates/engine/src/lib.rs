//! What the commands do, as a library: plain configurations in, reports and
//! verdicts out. It writes to no terminal and reads no arguments.
//!
//! ```text
//! detect    runs, one or many, and what raced in them     offline: in a trace
//! exec      the same in all the JVMs of a command
//! record    a run and its trace
//! predict   races that another schedule of a run would show
//! confirm   suspected races made to happen
//! replay    a run again, exactly
//! verify    every schedule
//! advise    repairs, each tried
//! compare   several schedulers side by side
//! hunt      all of it, in order
//! merge     results of shards or machines made one
//! export    a finding as a JUnit test, or as a program of its own
//! doctor    what works on this machine
//!
//! shards          what commands say about being a part of the work
//! session         from runs to a report and a verdict
//! launch          Java, the agent, run directories
//! keep            a campaign's result with its schedules
//! controlled_run  the control of runs, results that can be replayed
//! story           the shortest run that shows a finding, in a few lines
//! may_trigger     the relation of hidden races, from run to run
//! saved, sources, suppress, traces   files that are read
//! ```
//!
//! Each command is a function that takes its configuration and somebody to tell
//! how far it is ([`Progress`]), and gives an [`Answer`] or more, or an [`Error`].
//! The agent's library is inside: a program that uses this crate needs nothing
//! else but a JDK. While a command runs programs, Ctrl-C ends them and the
//! command with what was found so far (`driver::interrupt`).

pub mod advise;
pub mod compare;
pub mod config;
pub mod confirm;
mod controlled_run;
pub mod detect;
pub mod doctor;
mod error;
pub mod exec;
mod executions;
pub mod export;
pub mod hunt;
pub mod input;
pub mod keep;
pub mod launch;
mod may_trigger;
mod memory;
pub mod merge;
pub mod offline;
mod owners;
pub mod predict;
mod progress;
pub mod record;
pub mod replay;
pub mod saved;
mod session;
mod shards;
mod source;
pub mod sources;
mod story;
pub mod suppress;
pub mod traces;
mod verdict;
pub mod verify;

/// Where the output of a program that is run goes.
pub use driver::options::{Budget, Cut};
pub use driver::process::Output;
/// The report's model.
pub use findings;

pub use config::{ControlConfig, LaunchConfig};
pub use error::{Cause, Error};
pub use progress::{Progress, Silent};
pub use verdict::{Answer, FAIL_ON, Facts, Verdict, decide};

/// `photofinish 0.1.0`, as reports have it.
pub fn tool() -> String {
    format!("photofinish {}", env!("CARGO_PKG_VERSION"))
}
