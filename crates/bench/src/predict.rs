//! `predict` over a trace that does not fit into the memory it may take: the generated trace of
//! `offline`, as long as is said, by the engines that run if nobody chooses.

use crate::check_interrupt;
use crate::compare::{Tool, progress};
use crate::measure;
use crate::offline;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::BufWriter;
use std::process::Command;
use std::time::Duration;

/// A hundred million events take minutes.
const PATIENCE: Duration = Duration::from_secs(3600);
/// Nothing found, and memory did not allow to compare all.
const LIMIT: i32 = 75;

#[derive(Debug)]
pub struct Predict {
    pub events: u64,
    /// As the option is written.
    pub memory_limit: &'static str,
    pub seconds: f64,
    pub wall: f64,
    pub peak: u64,
    pub problems: Vec<String>,
}

pub fn measure(tool: &Tool, quick: bool) -> Result<Predict> {
    let (events, memory_limit) = match quick {
        true => (2_000_000, "128M"),
        false => (100_000_000, "4G"),
    };
    progress("writing a long trace");
    let file = File::create(&tool.trace).context("cannot write a trace")?;
    let events = offline::generate(BufWriter::new(file), events)?;
    check_interrupt(&tool.interrupted)?;
    progress("predict, of a long trace");
    let mut command = Command::new(&tool.photofinish);
    command.args([
        "predict",
        "--quiet",
        "--memory-limit",
        memory_limit,
        "--trace",
    ]);
    command.arg(&tool.trace);
    let done = measure::run(command, tool.limit.max(PATIENCE))?;
    progress("");
    check_interrupt(&tool.interrupted)?;
    let mut problems = Vec::new();
    if done.status.code() != Some(LIMIT) {
        let text = String::from_utf8_lossy(&done.stderr);
        problems.push(format!("predict: {}, must be {LIMIT}: {text}", done.status));
    }
    Ok(Predict {
        events,
        memory_limit,
        seconds: done.cpu.as_secs_f64(),
        wall: done.wall.as_secs_f64(),
        peak: done.peak,
        problems,
    })
}
