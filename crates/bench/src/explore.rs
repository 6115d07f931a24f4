//! What an execution costs: of `verify` in JVMs that are used again and in JVMs of
//! their own, and of `detect --scheduler pos` in JVMs that are used again, on two threads that take
//! one lock a few times each. And how long a first race takes.
//!
//! Executions are counted from one limit to a higher one, so that what comes first
//! (starting JVMs, trying them) is in neither.

use crate::compare::{Tool, progress};
use crate::figures::median;
use crate::{check_interrupt, kernels, measure};
use anyhow::{Context, Result};
use driver::java::Java;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SOURCE: &str = "public final class Laps {
    private static int laps;

    private static synchronized void lap() {
        laps++;
    }

    private static void run(boolean locks) {
        for (int i = 0; i < 12; i++) {
            if (locks) lap();
            else laps++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        boolean locks = args.length > 0;
        Thread one = new Thread(() -> run(locks));
        Thread two = new Thread(() -> run(locks));
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
";

/// Limits on executions: reused JVMs, and JVMs of their own.
const REUSED: (u64, u64) = (100, 2_100);
const ALONE: (u64, u64) = (2, 22);
/// Runs of `detect`, in reused JVMs.
const SAMPLED: (u64, u64) = (100, 4_100);

#[derive(Debug, Default)]
pub struct Costs {
    /// Milliseconds an execution.
    pub reused: Option<f64>,
    pub alone: Option<f64>,
    /// The same of `detect --scheduler pos` with FastTrack, in reused JVMs.
    pub sampled: Option<f64>,
    /// Seconds until a first race was told.
    pub first_race: Option<f64>,
    pub problems: Vec<String>,
}

pub fn measure(java: &Java, work: &Path, tool: &Tool, runs: u32, quick: bool) -> Result<Costs> {
    let from = work.join("explored");
    std::fs::create_dir_all(&from)?;
    std::fs::write(from.join("Laps.java"), SOURCE)?;
    let classes = work.join("explored-classes");
    kernels::compile_all(java, &from, &classes, None)?;
    let mut costs = Costs::default();
    let mut found = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for run in 1..=runs {
        progress(&format!("explore, run {run} of {runs}"));
        let most = |n: u64| if quick { n.div_ceil(10) } else { n };
        let ways = [(REUSED, &[][..]), (ALONE, &["--isolate"])];
        for (((few, many), options), found) in ways.into_iter().zip(&mut found) {
            let mut wall = |limit: u64| -> Result<Duration> {
                let limit = limit.to_string();
                let options = [&["locks", "--max-executions", &limit], options].concat();
                explore(tool, &classes, work, &options, &mut costs.problems)
            };
            let (few, many) = (few, few + most(many - few));
            let spent = wall(many)?.saturating_sub(wall(few)?);
            found.push(spent.as_secs_f64() * 1e3 / (many - few) as f64);
        }
        let race = explore(
            tool,
            &classes,
            work,
            &["", "--threshold", "1"],
            &mut costs.problems,
        )?;
        found[2].push(race.as_secs_f64());
        let (few, many) = (SAMPLED.0, SAMPLED.0 + most(SAMPLED.1 - SAMPLED.0));
        let mut wall = |runs: u64| sample(tool, &classes, work, runs, &mut costs.problems);
        let spent = wall(many)?.saturating_sub(wall(few)?);
        found[3].push(spent.as_secs_f64() * 1e3 / (many - few) as f64);
    }
    progress("");
    [costs.reused, costs.alone, costs.first_race, costs.sampled] = found.map(median);
    Ok(costs)
}

/// Runs the program with its lock under `pos`, and says how long that took.
fn sample(
    tool: &Tool,
    classes: &Path,
    work: &Path,
    runs: u64,
    problems: &mut Vec<String>,
) -> Result<Duration> {
    let (json, results) = (work.join("sampled.json"), work.join("sampled-results"));
    let mut command = Command::new(&tool.photofinish);
    command
        .args(["detect", "--quiet", "--scheduler", "pos", "--runs"])
        .arg(runs.to_string())
        .arg("--java")
        .arg(&tool.java)
        .arg("--json")
        .arg(&json)
        .arg("--results")
        .arg(&results)
        .arg("--")
        .arg(&tool.heap)
        .arg("-cp")
        .arg(classes)
        .args(["Laps", "locks"]);
    let done = measure::run(command, tool.limit)?;
    check_interrupt(&tool.interrupted)?;
    let report = std::fs::read(&json).unwrap_or_default();
    let report: Value = serde_json::from_slice(&report).unwrap_or_default();
    let schedules = &report["schedules"];
    if schedules["tried"] != runs || !schedules["isolated"].is_null() {
        problems.push(format!("explore: {runs} runs of detect: {schedules}"));
    }
    let _ = std::fs::remove_file(&json);
    Ok(done.wall)
}

/// Explores the program, whose argument comes first, and says how long that took.
fn explore(
    tool: &Tool,
    classes: &Path,
    work: &Path,
    options: &[&str],
    problems: &mut Vec<String>,
) -> Result<Duration> {
    let (json, results) = (work.join("explored.json"), work.join("explored-results"));
    let (argument, options) = options.split_first().context("no argument")?;
    let mut command = Command::new(&tool.photofinish);
    command
        .args(["verify", "--quiet", "--jobs", "1", "--java"])
        .arg(&tool.java)
        .arg("--json")
        .arg(&json)
        .arg("--results")
        .arg(&results)
        .args(options)
        .arg("--")
        .arg(&tool.heap)
        .arg("-cp")
        .arg(classes)
        .arg("Laps")
        .args(Some(argument).filter(|a| !a.is_empty()));
    let done = measure::run(command, tool.limit)?;
    check_interrupt(&tool.interrupted)?;
    let report: Option<Value> = std::fs::read(&json)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match report.as_ref().map(|r| &r["exploration"]) {
        None => problems.push("explore: verify left no report".to_owned()),
        Some(e) if !e["isolated"].is_null() => {
            problems.push(format!("explore: no JVM was used again: {}", e["isolated"]));
        }
        Some(_) => {}
    }
    let _ = std::fs::remove_file(&json);
    Ok(done.wall)
}
