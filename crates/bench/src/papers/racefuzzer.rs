//! Table 1 of RaceFuzzer: what it costs to suspect and to try, and what comes of it.
//!
//! *A trial* is the processor time of `confirm`, its preparation included, divided by its trials. *Simple* counts
//! different uncaught exceptions of a random scheduler that knows nothing of races, in 100
//! runs. The probability of a hit is the mean over the pairs that were
//! hit at all, as in the paper.

use super::races::{self, hit_rate, is_confirmed, throws};
use super::rows::RaceFuzzerRow;
use super::workshop::{Program, Subject, Workshop, seconds};
use super::{compared, head};
use anyhow::Result;

const COLUMNS: [&str; 11] = [
    "program",
    "lines",
    "normal s",
    "hybrid s",
    "a trial s",
    "potential pairs",
    "real pairs",
    "pairs with exceptions",
    "simple",
    "probability",
    "where it differs",
];

/// Trials of each pair, and with `--quick`.
const TRIALS: u32 = 100;
const QUICK: u32 = 3;
/// Runs of the random scheduler.
const RUNS: &str = "100";

pub fn tables(rows: &[RaceFuzzerRow], shop: &Workshop<'_>, tell: &dyn Fn(&str)) -> Result<String> {
    let mut text = head(&COLUMNS);
    for row in rows {
        let origin = &row.origin;
        tell(&origin.name);
        let (ours, note) = match shop.subject(origin)? {
            Subject::Not(why) => (vec!["-".to_owned(); 9], why),
            Subject::Program(program) => (
                measure(&program, row.trials.unwrap_or(TRIALS), shop)?,
                origin.differs.clone().unwrap_or_default(),
            ),
        };
        // The paper's column of known races has no counterpart.
        let theirs = [0, 1, 2, 3, 4, 5, 7, 8, 9].map(|i| &row.paper[i]);
        let made = compared(&origin.name, &theirs, &ours, note);
        tell(&made);
        text += &made;
    }
    Ok(text)
}

fn measure(program: &Program, trials: u32, shop: &Workshop<'_>) -> Result<Vec<String>> {
    let trials = if shop.quick { QUICK } else { trials }.to_string();
    let alone = shop.alone(program)?;
    let hybrid = shop.ask(&["detect", "--detector", "hybrid"], program)?;
    let confirm = shop.ask(&["confirm", "--all-trials", "--trials", &trials], program)?;
    let simple = [
        "detect",
        "--scheduler",
        "random",
        "--detector",
        "none",
        "--runs",
        RUNS,
    ];
    let simple = shop.ask(&simple, program)?;
    let all = races::all(&confirm.report);
    let real: Vec<_> = all
        .iter()
        .copied()
        .filter(|race| is_confirmed(race))
        .collect();
    let harmful = real.iter().copied().filter(|race| throws(race));
    let rates: Vec<f64> = real.iter().filter_map(|race| hit_rate(race)).collect();
    let probability = match rates.len() {
        0 => "-".to_owned(),
        n => format!("{:.2}", rates.iter().sum::<f64>() / n as f64),
    };
    let made = confirm.report["schedules"]["tried"]
        .as_f64()
        .filter(|made| *made > 0.0);
    let cpu = confirm.measured.cpu.as_secs_f64();
    Ok(vec![
        program.lines.to_string(),
        seconds(&alone),
        seconds(&hybrid.measured),
        made.map_or("-".to_owned(), |made| format!("{:.2}", cpu / made)),
        races::pairs(all.iter().copied()).len().to_string(),
        races::pairs(real.iter().copied()).len().to_string(),
        races::pairs(harmful).len().to_string(),
        simple.report["failures"]
            .as_array()
            .map_or(0, Vec::len)
            .to_string(),
        probability,
    ])
}
