//! What all commands are told: how to start the program, and how its runs are
//! controlled. What only one command is told stands beside that command.

use driver::options::{Budget, Cut};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How to start the program, and what to look at.
#[derive(Clone, Debug, Default)]
pub struct LaunchConfig {
    /// Classes to instrument besides the default, as patterns: `com.shop.**`.
    pub include: Vec<String>,
    /// Classes to leave alone.
    pub exclude: Vec<String>,
    /// Packages whose own accesses are taken to be right.
    pub trusted: Vec<String>,
    /// Fields whose plain accesses are not checked: `com.shop.Bank.total`, `Cache.*`.
    pub untracked: Vec<String>,
    /// Check also accesses that cannot race because no other thread knows the
    /// object: to measure what leaving them out saves.
    pub check_unshared: bool,
    /// What looking for races may cost, for `detect`; none: whatever it does.
    pub budget: Option<Budget>,
    /// Stop each run after this long; `confirm` and `hunt`: all of them.
    pub time_limit: Option<Duration>,
    /// End each run where the program would go on for long, or for ever.
    pub cut: Cut,
    /// The java launcher or JDK directory; if none, JAVA_HOME, then PATH.
    pub java: Option<PathBuf>,
    /// Keep the raw findings of each run in a directory below this one.
    pub keep: Option<PathBuf>,
    /// What follows `java` on a command line.
    pub program: Vec<OsString>,
}

impl LaunchConfig {
    /// The program, and nothing else said.
    pub fn new<S: Into<OsString>>(program: impl IntoIterator<Item = S>) -> LaunchConfig {
        LaunchConfig {
            program: program.into_iter().map(Into::into).collect(),
            ..LaunchConfig::default()
        }
    }
}

/// Runs with one thread at a time.
#[derive(Clone, Debug)]
pub struct ControlConfig {
    /// What random choices begin with; run or trial N uses this plus N - 1.
    pub seed: u64,
    /// Where results and the schedules to replay are kept.
    pub results: PathBuf,
    /// End a controlled run after this many scheduling steps.
    pub max_steps: Option<u64>,
    /// Seconds without a sign of life after which a controlled run is ended.
    pub watchdog: u64,
    /// What the program's clock says at the start of a controlled run, in
    /// milliseconds since 1970; if none, the beginning of 2026.
    pub clock: Option<i64>,
}

impl Default for ControlConfig {
    fn default() -> ControlConfig {
        ControlConfig {
            seed: 1,
            results: PathBuf::from(driver::store::DEFAULT),
            max_steps: None,
            watchdog: 60,
            clock: None,
        }
    }
}

/// How many runs are made side by side: as many as asked for, or one a core.
pub(crate) fn jobs(asked: Option<u32>) -> usize {
    match asked {
        Some(jobs) => jobs as usize,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// What the program reads: a file, or nothing.
pub(crate) fn input(file: Option<&PathBuf>) -> driver::process::Input {
    match file {
        Some(file) => driver::process::Input::File(file.clone()),
        None => driver::process::Input::Empty,
    }
}
