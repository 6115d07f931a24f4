//! How soon faults that are no data races are found: the programs of `programs/bugs`, each with
//! `verify`, with `hunt`, and with single strategies, until the first finding.
//!
//! A fault counts as found if the report has a deadlock, a livelock or an uncaught exception.
//! Executions are all that the command made until then; seconds are wall-clock time and processor
//! time, of the tool and its JVMs, from start to end of the command.

use crate::compare::{Tool, progress};
use crate::{check_interrupt, kernels, measure};
use anyhow::{Context, Result};
use driver::java::Java;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How to look, and what each is called.
pub const WAYS: [(&str, &[&str]); 4] = [
    ("verify", &["verify"]),
    ("hunt", &["hunt"]),
    ("pct", &["detect", "--scheduler", "pct", "--runs", MANY]),
    ("pos", &["detect", "--scheduler", "pos", "--runs", MANY]),
];
/// More runs than fit into the time.
const MANY: &str = "10000000";

#[derive(Debug, Deserialize)]
struct Expected {
    #[serde(rename = "section")]
    sections: Vec<Section>,
}

#[derive(Debug, Deserialize)]
struct Section {
    name: String,
    main: String,
    #[serde(default)]
    args: Vec<String>,
    /// What the program does where its fault shows.
    diagnosis: Option<String>,
}

/// What came of one way to look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub found: bool,
    pub executions: u64,
    pub wall: Duration,
    pub cpu: Duration,
}

#[derive(Debug)]
pub struct Row {
    pub name: String,
    /// In the order of [`WAYS`].
    pub looks: Vec<Look>,
}

#[derive(Debug, Default)]
pub struct Hunted {
    pub rows: Vec<Row>,
    pub problems: Vec<String>,
}

/// Looks for the fault of each program in every way, for at most `limit` each; `tell` hears of each.
pub fn measure(
    programs: &Path,
    java: &Java,
    work: &Path,
    tool: &Tool,
    limit: Duration,
    mut tell: impl FnMut(&Row),
) -> Result<Hunted> {
    let classes = work.join("bugs");
    kernels::compile_all(java, &programs.join("bugs/src"), &classes, None)?;
    let description = programs.join("bugs/expected.toml");
    let text =
        std::fs::read_to_string(&description).with_context(|| description.display().to_string())?;
    let expected: Expected =
        toml::from_str(&text).with_context(|| description.display().to_string())?;
    let mut hunted = Hunted::default();
    for section in expected.sections.iter().filter(|s| s.diagnosis.is_some()) {
        let mut looks = Vec::new();
        for (name, way) in WAYS {
            progress(&format!("bugs, {} with {name}", section.name));
            let look = look(tool, &classes, work, way, section, limit)?;
            looks.push(look.unwrap_or_else(|| {
                let text = format!("bugs: {} with {name} left no report", section.name);
                hunted.problems.push(text);
                Look {
                    found: false,
                    executions: 0,
                    wall: limit,
                    cpu: limit,
                }
            }));
        }
        progress("");
        let row = Row {
            name: section.name.clone(),
            looks,
        };
        tell(&row);
        hunted.rows.push(row);
    }
    Ok(hunted)
}

fn look(
    tool: &Tool,
    classes: &Path,
    work: &Path,
    way: &[&str],
    section: &Section,
    limit: Duration,
) -> Result<Option<Look>> {
    let json = work.join("bugs.json");
    let mut command = Command::new(&tool.photofinish);
    command
        .args(way)
        .args(["--quiet", "--no-config", "--stop-at", "first", "--java"])
        .arg(&tool.java)
        .arg("--time-limit")
        .arg(limit.as_secs().to_string())
        .arg("--json")
        .arg(&json)
        .arg("--results")
        .arg(work.join("bugs-results"))
        .arg("--")
        .arg(&tool.heap)
        .arg("-cp")
        .arg(classes)
        .arg(&section.main)
        .args(&section.args);
    // What a time limit ends as a whole, and what has one for each run only.
    let done = measure::run(command, limit + LATE)?;
    check_interrupt(&tool.interrupted)?;
    let report = std::fs::read(&json).unwrap_or_default();
    let _ = std::fs::remove_file(&json);
    let Ok(report) = serde_json::from_slice::<Value>(&report) else {
        return Ok(None);
    };
    Ok(Some(Look {
        found: found(&report),
        executions: executions(&report),
        wall: done.wall,
        cpu: done.cpu,
    }))
}

/// How much later than its limit a command may end before it is stopped.
const LATE: Duration = Duration::from_secs(5);

fn found(report: &Value) -> bool {
    let any = |member: &str| report[member].as_array().is_some_and(|all| !all.is_empty());
    any("deadlocks") || any("failures")
}

/// Executions of the exploration, those beside it (samples, within bounds), and runs by strategies.
fn executions(report: &Value) -> u64 {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let explored = &report["exploration"];
    let beside = &explored["samples"];
    let explored =
        number(&explored["executions"]) + number(&beside["made"]) + number(&beside["bounded"]);
    let tried = number(&report["schedules"]["tried"]);
    let runs = report["runs"].as_array().map_or(0, Vec::len) as u64;
    (explored + tried).max(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn executions_are_those_of_all_ways() {
        let report = json!({
            "runs": [{}, {}],
            "exploration": { "executions": 40, "samples": { "made": 7, "bounded": 20 } },
            "schedules": { "tried": 3 },
        });
        assert_eq!(executions(&report), 70);
        assert_eq!(executions(&json!({ "runs": [{}, {}] })), 2);
    }

    #[test]
    fn a_race_is_not_the_fault() {
        assert!(!found(&json!({ "races": [{}], "failures": [] })));
        assert!(found(&json!({ "failures": [{}] })));
        assert!(found(&json!({ "deadlocks": [{}] })));
    }
}
