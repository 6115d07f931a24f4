//! What `detect --budget` costs a server: `bench.HttpShop` under the load of `bench.HttpLoad`, natively, with
//! budgets and without. Server and load share the machine, so the server's processor time for a request says more
//! than throughput where there are few processors; all three figures are the load's.

use crate::compare::{Tool, progress};
use crate::figures::median;
use crate::{check_interrupt, measure};
use anyhow::{Context, Result, ensure};
use driver::java::Java;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// In the order of the table.
const WAYS: [(&str, &[&str]); 5] = [
    ("native", &[]),
    ("2 %", &["--budget", "2%"]),
    ("10 %", &["--budget", "10%"]),
    ("50 %", &["--budget", "50%"]),
    ("no budget", &[]),
];

/// Connections, and seconds of load before and while it is measured.
const CONNECTIONS: &str = "8";
const SECONDS: [&str; 2] = ["30", "15"];
const QUICK: [&str; 2] = ["1", "1"];

/// How long the server may take to start, or to end.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    /// Requests a second, the median and the 99th percentile of the time to an answer, and the server's
    /// processor time for a request, in microseconds. Medians of the runs.
    pub figures: [f64; 4],
    /// Of all accesses, as the report has it.
    pub watched: Option<f64>,
    /// Percent, as the report has it.
    pub cost: Option<f64>,
    /// In how many runs the race was found that is there.
    pub found: usize,
}

#[derive(Debug)]
pub struct Costs {
    pub rows: Vec<Row>,
    pub runs: u32,
    pub problems: Vec<String>,
}

/// One run: the figures, and the report if there is one.
type Served = ([f64; 4], Option<Value>);

pub fn measure(java: &Java, work: &Path, tool: &Tool, runs: u32, quick: bool) -> Result<Costs> {
    let classes = work.join("classes");
    let mut served: Vec<Vec<Served>> = WAYS.iter().map(|_| Vec::new()).collect();
    for run in 1..=runs {
        for (way, served) in WAYS.iter().zip(&mut served) {
            progress(&format!("a server, {}, run {run} of {runs}", way.0));
            served.push(serve(java, &classes, tool, way, quick)?);
            check_interrupt(&tool.interrupted)?;
        }
    }
    progress("");
    let mut problems = Vec::new();
    let rows = WAYS.iter().zip(&served).map(|((name, _), served)| {
        let figure = |at: usize| median(served.iter().map(|(figures, _)| figures[at]));
        let reports = || served.iter().filter_map(|(_, report)| report.as_ref());
        let sampling = |member: &str| {
            median(reports().filter_map(|r| r["coverage"]["sampling"][member].as_f64()))
        };
        let mut found = 0;
        for report in reports() {
            let races = report["races"].as_array().map_or(&[][..], Vec::as_slice);
            found += usize::from(races.iter().any(is_there));
            let false_ones = races.iter().filter(|race| !is_there(race));
            problems.extend(false_ones.map(|race| format!("{name}: what is this? {race}")));
        }
        Row {
            name,
            figures: [0, 1, 2, 3].map(|at| figure(at).unwrap_or_default()),
            watched: sampling("sampled_share"),
            cost: sampling("cost_percent"),
            found,
        }
    });
    let rows = rows.collect();
    Ok(Costs {
        rows,
        runs,
        problems,
    })
}

fn is_there(race: &Value) -> bool {
    race["location"]["field"] == "served"
}

fn serve(
    java: &Java,
    classes: &Path,
    tool: &Tool,
    (name, options): &(&str, &[&str]),
    quick: bool,
) -> Result<Served> {
    let report = tool.trace.with_extension("json");
    let _ = std::fs::remove_file(&report);
    let mut command = match *name {
        "native" => java.command(),
        _ => {
            let mut command = Command::new(&tool.photofinish);
            command.args(["detect", "--quiet", "--no-config", "--java"]);
            command.arg(&java.path).args(*options).arg("--json");
            command.arg(&report).arg("--");
            command
        }
    };
    command.arg(&tool.heap).arg("-cp").arg(classes);
    command.arg("bench.HttpShop");
    let mut server = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start the server")?;
    let figures = load(java, classes, &mut server, quick);
    let pid = i32::try_from(server.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, Signal::TERM);
    }
    server.wait().context("cannot wait for the server")?;
    let text = std::fs::read(&report).ok();
    let report = text.and_then(|text| serde_json::from_slice(&text).ok());
    ensure!(
        *name == "native" || report.is_some(),
        "{name}: the tool wrote no report"
    );
    Ok((figures?, report))
}

/// Loads the server that says where it is; what the load says.
fn load(java: &Java, classes: &Path, server: &mut Child, quick: bool) -> Result<[f64; 4]> {
    let out = server.stdout.take().context("the server has no output")?;
    let lines = BufReader::new(out).lines().map_while(|line| line.ok());
    let port = { lines }.find_map(|line| Some(line.strip_prefix("port ")?.to_owned()));
    let port = port.context("the server did not start")?;
    let mut command = java.command();
    command.args(["-Xmx256m", "-cp"]).arg(classes);
    command.args(["bench.HttpLoad", &port, CONNECTIONS]);
    command.args(if quick { QUICK } else { SECONDS });
    let done = measure::run(command, 2 * PATIENCE)?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let told = said.replace("99%", "");
    let words = told.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    <[f64; 4]>::try_from(numbers).map_err(|_| {
        let complained = String::from_utf8_lossy(&done.stderr).into_owned();
        anyhow::anyhow!("the load failed: {said}{complained}")
    })
}
