//! What looking for hidden races costs: Phase I over the program alone, and a
//! run of Phase II over FastTrack alone, on the programs in `programs/hidden` and, if
//! their jars are there, the libraries that `programs/libraries` uses.
//!
//! The figures are those of `photofinish compare`, made again a few times. They are
//! of wall-clock time: what is measured is how long threads are held back.

use crate::compare::{Tool, progress};
use crate::figures::median;
use crate::{check_interrupt, kernels, measure};
use anyhow::{Context, Result, ensure};
use driver::java::Java;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Main class, jars on its class path, further options.
type Driver = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// One without jars has none to be skipped for.
const PROGRAMS: [Driver; 10] = [
    ("Figure2", &[], &[]),
    ("JobQueue", &[], &[]),
    ("Pool", &[], &[]),
    ("SearchIndex", &[], &[]),
    (
        "PoolDriver",
        &["commons-pool-1.2", "commons-collections-3.2.1"],
        &[],
    ),
    (
        "PoolDriver",
        &["commons-pool-1.3", "commons-collections-3.2.1"],
        &[],
    ),
    ("CollectionsDriver", &["commons-collections-3.2.1"], &[]),
    (
        "Log4jDriver",
        &["log4j-1.2.13"],
        &["--include", "org.apache.log4j.**"],
    ),
    ("LuceneDriver", &["lucene-core-2.4.1"], &[]),
    ("XalanDriver", &["xalan-2.7.1", "serializer-2.7.1"], &[]),
];

/// Runs under each scheduler, of each comparison.
const RUNS: &str = "2";

#[derive(Debug)]
pub struct Row {
    pub name: String,
    /// Seconds: alone, Phase I, FastTrack alone, Phase II.
    pub alone: f64,
    pub collecting: f64,
    pub fasttrack: f64,
    pub turning: f64,
}

#[derive(Debug, Default)]
pub struct Costs {
    pub rows: Vec<Row>,
    pub problems: Vec<String>,
}

impl Costs {
    /// Of Phase I over alone, and of Phase II over FastTrack.
    pub fn means(&self) -> Option<(f64, f64)> {
        let n = self.rows.len() as f64;
        let mean = |of: fn(&Row) -> f64| self.rows.iter().map(of).sum::<f64>() / n;
        (n > 0.0).then(|| {
            (
                mean(|r| r.collecting / r.alone),
                mean(|r| r.turning / r.fasttrack),
            )
        })
    }
}

/// What `compare --json` writes, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Comparison {
    runs: Vec<Made>,
}

#[derive(Debug, Deserialize)]
struct Made {
    scheduler: String,
    seconds: f64,
    ended: String,
}

pub fn measure(
    programs: &Path,
    java: &Java,
    work: &Path,
    jars: Option<&Path>,
    tool: &Tool,
    runs: u32,
) -> Result<Costs> {
    let own = work.join("hidden");
    kernels::compile_all(java, &programs.join("hidden/src"), &own, None)?;
    let drivers = work.join("drivers");
    if let Some(jars) = jars {
        let from = programs.join("libraries/src");
        kernels::compile_all(java, &from, &drivers, Some(jars))?;
    }
    let mut costs = Costs::default();
    for (main, needs, options) in PROGRAMS {
        let mut path: Vec<PathBuf> = Vec::new();
        match (needs.is_empty(), jars) {
            (true, _) => path.push(own.clone()),
            (false, None) => continue,
            (false, Some(jars)) => {
                path.push(drivers.clone());
                path.extend(needs.iter().map(|jar| jars.join(format!("{jar}.jar"))));
            }
        }
        let name = needs.first().copied().unwrap_or(main).to_owned();
        let program = Program {
            name: name.clone(),
            main,
            path: std::env::join_paths(path)?,
            options,
        };
        match program.measure(work, tool, runs) {
            Ok(row) => costs.rows.push(row),
            Err(error) => {
                check_interrupt(&tool.interrupted)?;
                costs.problems.push(format!("hidden, {name}: {error:#}"));
            }
        }
        progress("");
    }
    Ok(costs)
}

struct Program {
    name: String,
    main: &'static str,
    path: OsString,
    options: &'static [&'static str],
}

impl Program {
    fn measure(&self, work: &Path, tool: &Tool, runs: u32) -> Result<Row> {
        let mut seconds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for run in 1..=runs {
            progress(&format!("{}, hidden races, run {run} of {runs}", self.name));
            for made in self.compare(work, tool)? {
                ensure!(made.ended == "exit", "a run ended by {}", made.ended);
                seconds
                    .entry(made.scheduler)
                    .or_default()
                    .push(made.seconds);
            }
        }
        let of = |scheduler: &str| {
            let all = seconds.get(scheduler).cloned().unwrap_or_default();
            median(all).with_context(|| format!("no run of {scheduler}"))
        };
        Ok(Row {
            name: self.name.clone(),
            alone: of("alone")?,
            collecting: of("phase-1")?,
            fasttrack: of("native")?,
            turning: of("drfinder")?,
        })
    }

    fn compare(&self, work: &Path, tool: &Tool) -> Result<Vec<Made>> {
        let results = tempfile::tempdir_in(work)?;
        let json = results.path().join("compare.json");
        let mut command = Command::new(&tool.photofinish);
        command.args(["compare", "--quiet", "--schedulers", "native,drfinder"]);
        command.args(["--runs", RUNS, "--java"]).arg(&tool.java);
        command.arg("--results").arg(results.path());
        command.arg("--json").arg(&json).args(self.options);
        command.arg("--").arg("-cp").arg(&self.path).arg(self.main);
        command.env_remove("JAVA_TOOL_OPTIONS");
        command.env_remove("JDK_JAVA_OPTIONS");
        let done = measure::run(command, 10 * tool.limit)?;
        check_interrupt(&tool.interrupted)?;
        ensure!(!done.stopped, "it takes too long");
        let said = String::from_utf8_lossy(&done.stderr);
        let text = std::fs::read(&json).with_context(|| said.into_owned())?;
        Ok(serde_json::from_slice::<Comparison>(&text)?.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_of_the_ratios() {
        let row = |alone, collecting| Row {
            name: String::new(),
            alone,
            collecting,
            fasttrack: 1.0,
            turning: 2.0,
        };
        let costs = Costs {
            rows: vec![row(1.0, 1.0), row(10.0, 20.0)],
            problems: vec![],
        };
        assert_eq!(costs.means(), Some((1.5, 2.0)));
        assert_eq!(Costs::default().means(), None);
    }

    #[test]
    fn rows_are_read_as_compare_writes_them() {
        let text = r#"{"runs": [{"scheduler": "phase-1", "run": 1, "seconds": 0.5,
            "ended": "exit", "races": []}]}"#;
        let all: Comparison = serde_json::from_str(text).unwrap();
        assert_eq!(
            (all.runs[0].scheduler.as_str(), all.runs[0].seconds),
            ("phase-1", 0.5)
        );
    }
}
