//! What it costs to decide who runs: scheduling points with and without a
//! switch, whole runs of a small program, and whole programs of three kinds.
//!
//! The cost of a point is the difference of two runs of different length,
//! divided by the difference of their steps, so that start-up falls out. PCT
//! with depth 1 keeps to the thread with the highest priority: points without a
//! switch. The random walk switches at about half of them.

use crate::check_interrupt;
use crate::compare::{Tool, progress};
use crate::figures::{Ratio, median};
use crate::kernels::Kernel;
use crate::measure::{self, Measured};
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Everything measured; what failed is absent and among the problems.
#[derive(Debug, Default)]
pub struct Controlled {
    pub point_ns: Option<f64>,
    pub switch_ns: Option<f64>,
    /// Runs a second.
    pub fresh: Option<f64>,
    pub side_by_side: Option<f64>,
    pub inside: Option<f64>,
    /// Programs, and their time under control over their time alone.
    pub ratios: Vec<(&'static str, Option<Ratio>)>,
    pub problems: Vec<String>,
}

/// A controlled run: how long, how many steps, how many switches.
#[derive(Clone, Copy, Debug)]
struct Run {
    seconds: f64,
    steps: f64,
    switches: f64,
}

pub fn measure(
    tool: &Tool,
    classes: &Path,
    kernels: &[Kernel],
    runs: u32,
    quick: bool,
) -> Result<Controlled> {
    let bench = Bench {
        tool,
        classes,
        runs,
    };
    let mut result = Controlled::default();
    let keep = |value: Result<f64>, problems: &mut Vec<String>| match value {
        Ok(value) => Some(value),
        Err(error) => {
            problems.push(format!("control: {error:#}"));
            None
        }
    };
    let (short, long) = if quick {
        (500, 3_000)
    } else {
        (5_000, 105_000)
    };
    let problems = &mut result.problems;
    let points = bench.points(short, long);
    result.point_ns = keep(points.as_ref().map(|p| p.0).map_err(copy), problems);
    result.switch_ns = keep(points.as_ref().map(|p| p.1).map_err(copy), problems);
    let times = if quick { 4 } else { 40 };
    result.fresh = keep(bench.fresh(times), problems);
    result.side_by_side = keep(bench.side_by_side(times), problems);
    result.inside = keep(bench.inside(if quick { 100 } else { 2_000 }), problems);
    let kernel = |name: &str| kernels.iter().find(|k| k.name == name);
    let files: Vec<OsString> = vec![
        "-cp".into(),
        classes.into(),
        "Files".into(),
        if quick { "4" } else { "200" }.into(),
    ];
    let programs = [
        ("files (input and output)", Some(files)),
        (
            "bank-monitors (locks)",
            kernel("bank-monitors").map(|k| k.args.clone()),
        ),
        ("nbody (computing)", kernel("nbody").map(|k| k.args.clone())),
    ];
    for (name, args) in programs {
        let ratio = args.map(|args| bench.ratio(&args));
        let ratio = ratio.and_then(|ratio| match ratio {
            Ok(ratio) => Some(ratio),
            Err(error) => {
                result.problems.push(format!("control, {name}: {error:#}"));
                None
            }
        });
        result.ratios.push((name, ratio));
    }
    progress("");
    Ok(result)
}

fn copy(error: &anyhow::Error) -> anyhow::Error {
    anyhow::anyhow!("{error:#}")
}

struct Bench<'a> {
    tool: &'a Tool,
    classes: &'a Path,
    runs: u32,
}

impl Bench<'_> {
    /// Nanoseconds of a point without a switch and of one with.
    fn points(&self, short: u64, long: u64) -> Result<(f64, f64)> {
        let per_step = |scheduler: &[&str]| -> Result<(f64, f64)> {
            let run = |n: u64| self.controlled(scheduler, &self.program("Points", n));
            let (short, long) = (run(short)?, run(long)?);
            let steps = long.steps - short.steps;
            ensure!(steps > 0.0, "a longer run has no more steps");
            let nanoseconds = (long.seconds - short.seconds) * 1e9 / steps;
            Ok((nanoseconds, (long.switches - short.switches) / steps))
        };
        let (still, stays) = per_step(&["pct", "--depth", "1"])?;
        let (mixed, switching) = per_step(&["random"])?;
        ensure!(switching > stays, "the random walk does not switch");
        // Both are mixtures of the two costs.
        let switch = still + (mixed - still) * (1.0 - stays) / (switching - stays);
        let point = still - stays * (switch - still) / (1.0 - stays).max(0.01);
        Ok((point, switch))
    }

    /// Whole runs of the small program a second, one after the other.
    fn fresh(&self, times: u64) -> Result<f64> {
        let times_text = times.to_string();
        let mut command = self.detect(&["random", "--isolate", "--runs", &times_text]);
        command
            .arg("--")
            .arg(&self.tool.heap)
            .args(self.program("TwoThreads", 1));
        let done = self.run(command)?;
        Ok(times as f64 / done.wall.as_secs_f64())
    }

    /// The same in as many processes as there are cores.
    fn side_by_side(&self, times: u64) -> Result<f64> {
        let mut command = Command::new(&self.tool.photofinish);
        command.args(["confirm", "--quiet", "--isolate", "--all-trials", "--pair"]);
        // `count++`; both threads hold the monitor there, so nothing is found.
        command.args(["TwoThreads.java:13,TwoThreads.java:13", "--trials"]);
        command
            .arg(times.to_string())
            .arg("--results")
            .arg(self.results());
        command
            .arg("--java")
            .arg(&self.tool.java)
            .arg("--")
            .arg(&self.tool.heap);
        command.args(self.program("TwoThreads", 1));
        let done = self.run(command)?;
        Ok(times as f64 / done.wall.as_secs_f64())
    }

    /// The same again and again inside one JVM.
    fn inside(&self, times: u64) -> Result<f64> {
        let run = |n: u64| self.controlled(&["random"], &self.program("TwoThreads", n));
        let (short, long) = (run(times / 10)?, run(times)?);
        let seconds = long.seconds - short.seconds;
        ensure!(seconds > 0.0, "a longer run took no longer");
        Ok((times - times / 10) as f64 / seconds)
    }

    fn ratio(&self, args: &[OsString]) -> Result<Ratio> {
        let mut walls = [Vec::new(), Vec::new()];
        let mut stopped = false;
        for _ in 0..self.runs {
            let mut alone = Command::new(&self.tool.java);
            alone.arg(&self.tool.heap).args(args);
            let mut controlled = self.detect(&["random"]);
            controlled.arg("--").arg(&self.tool.heap).args(args);
            let alone = self.measured(alone)?;
            let controlled = self.measured(controlled)?;
            ensure!(!alone.stopped, "takes too long by itself");
            if !controlled.stopped {
                ensure!(
                    alone.stdout == controlled.stdout && controlled.status.code() == Some(0),
                    "does something else under control: {}",
                    String::from_utf8_lossy(&controlled.stderr)
                );
            }
            stopped |= controlled.stopped;
            walls[0].push(alone.wall.as_secs_f64());
            walls[1].push(controlled.wall.as_secs_f64());
        }
        let [alone, controlled] = walls.map(median);
        let (alone, controlled) = alone.zip(controlled).context("no runs")?;
        Ok(Ratio {
            value: controlled / alone,
            at_least: stopped,
        })
    }

    /// The median of controlled runs of a program.
    fn controlled(&self, scheduler: &[&str], args: &[OsString]) -> Result<Run> {
        let json = self.results().with_extension("json");
        let mut all = Vec::new();
        for _ in 0..self.runs {
            let mut command = self.detect(scheduler);
            command
                .arg("--json")
                .arg(&json)
                .arg("--")
                .arg(&self.tool.heap)
                .args(args);
            self.run(command)?;
            let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&json)?)?;
            let number = |key: &str| report["runs"][0][key].as_f64();
            all.push(Run {
                seconds: number("seconds").context("no time in the report")?,
                steps: number("steps").context("no steps in the report")?,
                switches: number("switches").context("no switches in the report")?,
            });
        }
        all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        all.get(all.len() / 2).copied().context("no runs")
    }

    fn detect(&self, scheduler: &[&str]) -> Command {
        let mut command = Command::new(&self.tool.photofinish);
        command.args(["detect", "--quiet", "--detector", "none", "--scheduler"]);
        command.args(scheduler).arg("--java").arg(&self.tool.java);
        command.arg("--results").arg(self.results());
        command
    }

    fn results(&self) -> std::path::PathBuf {
        self.tool.trace.with_extension("results")
    }

    fn program(&self, main: &str, size: u64) -> Vec<OsString> {
        let size = size.to_string();
        vec!["-cp".into(), self.classes.into(), main.into(), size.into()]
    }

    /// A run that must find nothing.
    fn run(&self, command: Command) -> Result<Measured> {
        let done = self.measured(command)?;
        ensure!(!done.stopped, "stopped at the limit");
        ensure!(
            done.status.code() == Some(0),
            "{}: {}",
            done.status,
            String::from_utf8_lossy(&done.stderr)
        );
        Ok(done)
    }

    fn measured(&self, mut command: Command) -> Result<Measured> {
        progress("control");
        command
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS");
        let done = measure::run(command, self.tool.limit)?;
        check_interrupt(&self.tool.interrupted)?;
        Ok(done)
    }
}
