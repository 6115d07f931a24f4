//! `record`: run the program once and keep its trace.

use crate::config::LaunchConfig;
use crate::error::{Context, Error};
use crate::launch::Launcher;
use crate::session::Session;
use crate::traces::{self, TraceFile};
use crate::verdict::Answer;
use driver::options::Mode;
use driver::process::Output;
use std::fs::File;
use std::path::PathBuf;
use trace::Ending;

/// What `record` is told.
#[derive(Clone, Debug)]
pub struct RecordConfig {
    /// Where the trace goes.
    pub trace: PathBuf,
    /// Also the way of each thread through the code, for `predict`.
    pub full: bool,
    /// Where the program's output goes.
    pub output: Output,
    pub launch: LaunchConfig,
}

impl Default for RecordConfig {
    fn default() -> RecordConfig {
        RecordConfig {
            trace: PathBuf::from("trace.pft"),
            full: false,
            output: Output::Capture,
            launch: LaunchConfig::default(),
        }
    }
}

/// A run and its trace.
#[derive(Debug)]
pub struct Recorded {
    pub answer: Answer,
    /// None if the program did not start.
    pub trace: Option<TraceFile>,
}

/// Runs the program once and keeps its trace.
pub fn record(config: &RecordConfig) -> Result<Recorded, Error> {
    let launcher = Launcher::new(&config.launch)?;
    // An old trace must not pass for the new one if the JVM does not start.
    File::create(&config.trace)
        .with_context(|| format!("cannot write the trace {}", config.trace.display()))
        .or_usage()?;
    let path = config
        .trace
        .canonicalize()
        .context("the trace was there a moment ago")?;

    let mut session = Session::new(&config.launch);
    let mode = match config.full {
        true => Mode::Full,
        false => Mode::Record,
    };
    let result = launcher.run(1, mode, Some(path), config.output)?;
    let started = result.started;
    session.add(result);
    let (report, mut facts) = session.finish("record");
    let trace = match started {
        true => Some(traces::open(&config.trace)?),
        false => None,
    };
    // The disk was full, or a limit was reached: not what was asked for.
    let whole = |trace: &TraceFile| *trace.ending() == Ending::Finished;
    facts.limit_reached |= !trace.as_ref().is_none_or(whole);
    Ok(Recorded {
        answer: Answer::new(report, facts),
        trace,
    })
}
