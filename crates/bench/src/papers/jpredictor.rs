//! Tables 1 to 3 of jPredictor: the cost of recording and of predicting, races of each engine from one
//! run, and violations of atomicity.
//!
//! Races are counted by location, as in the paper. *Harmful*: a trial of `confirm` ended in an
//! exception, a deadlock, a sign of failure or another result; *benign*: made to happen without; *false*: predicted, and
//! contradicted; nothing can be, since each has a witness that was replayed, so those that no trial made
//! happen are told instead, as *not met*.

use super::races::{is_confirmed, location};
use super::rows::JPredictorRow;
use super::workshop::{Program, Subject, Workshop, seconds};
use super::{compared, head, races};
use anyhow::Result;
use serde_json::Value;
use std::collections::BTreeSet;

const COLUMNS: [&str; 10] = [
    "program",
    "lines",
    "threads",
    "recording, slowdown",
    "events",
    "prediction s",
    "harmful, benign, false",
    "hb, shb, wcp, syncp, osr, sliced (pairs)",
    "atomicity, actual and false",
    "where it differs",
];
/// A wrong result is an error, too.
const HARM: [&str; 2] = ["harmful", "changes-output"];
const ENGINES: &str = "hb,shb,wcp,syncp,osr,sliced";

pub fn tables(rows: &[JPredictorRow], shop: &Workshop<'_>, tell: &dyn Fn(&str)) -> Result<String> {
    let mut text = head(&COLUMNS);
    for row in rows {
        let origin = &row.origin;
        tell(&origin.name);
        let (ours, note) = match shop.subject(origin)? {
            Subject::Not(why) => (vec!["-".to_owned(); 8], why),
            Subject::Program(program) => {
                let units = row.units.as_deref();
                let ours = measure(&program, units, shop)?;
                (ours, origin.differs.clone().unwrap_or_default())
            }
        };
        let [lines, threads, slowdown, variables, events, cost, rest @ ..] = &row.paper;
        let [harmful, benign, wrong, actual, not] = rest;
        let theirs = [
            lines.clone(),
            threads.clone(),
            slowdown.clone(),
            events.clone(),
            format!("{cost} for each of {variables} variables"),
            format!("{harmful}, {benign}, {wrong}"),
            "sliced only".to_owned(),
            format!("{actual}, {not}"),
        ];
        let made = compared(&origin.name, &theirs, &ours, note);
        tell(&made);
        text += &made;
    }
    Ok(text)
}

fn measure(program: &Program, units: Option<&str>, shop: &Workshop<'_>) -> Result<Vec<String>> {
    let alone = shop.alone(program)?;
    let mut words = vec!["predict", "--engine", ENGINES, "--atomicity"];
    words.extend(units.iter().flat_map(|units| ["--units", units]));
    let predict = shop.ask(&words, program)?;
    let report = &predict.report;
    let engines = report["engines"].as_array().cloned().unwrap_or_default();
    let found: Vec<String> = engines.iter().map(|e| e["pairs"].to_string()).collect();
    let sliced = engines.iter().find(|e| e["engine"] == "sliced");
    let cost = sliced.and_then(|e| e["seconds"].as_f64()).unwrap_or(0.0);
    let confirm = shop.ask(&["predict", "--confirm"], program)?;
    let [harmful, benign, not_met] = kinds(&confirm.report);
    let [actual, suspected] = violations(report);
    let slowdown = predict.measured.cpu.as_secs_f64() / alone.cpu.as_secs_f64().max(0.01);
    Ok(vec![
        program.lines.to_string(),
        report["coverage"]["threads"].to_string(),
        format!("{slowdown:.1} ({} s)", seconds(&predict.measured)),
        report["coverage"]["events"].to_string(),
        format!("{cost:.4} for all"),
        format!("{harmful}, {benign}, 0 ({not_met} not met)"),
        found.join(", "),
        format!("{actual}, 0 ({suspected} suspected)"),
    ])
}

/// Violations of atomicity that are certain, and those that are suspected only.
fn violations(report: &Value) -> [usize; 2] {
    let all = report["atomicity"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let suspected = all.iter().filter(|v| v["status"] == "potential").count();
    [all.len() - suspected, suspected]
}

/// Locations with a harmful race, with a benign one only, and with one that no trial met.
fn kinds(report: &Value) -> [usize; 3] {
    let all = races::all(report);
    let of = |wanted: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
        all.iter()
            .filter(|race| wanted(race))
            .map(|race| location(race))
            .collect()
    };
    let harmful = of(&|race| is_confirmed(race) && HARM.iter().any(|harm| race["harm"] == *harm));
    let met = of(&is_confirmed);
    let proven = of(&|race| race["status"] != "potential");
    [
        harmful.len(),
        met.difference(&harmful).count(),
        proven.difference(&met).count(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_location_is_as_bad_as_its_worst_race() {
        let race = |field: &str, status: &str, harm: &str| json!({ "status": status, "harm": harm, "location": { "class": "A", "field": field } });
        let report = json!({ "races": [
            race("a", "confirmed", "harmful"), race("a", "confirmed", "harmless"),
            race("b", "confirmed", "harmless"), race("c", "predicted", ""), race("d", "potential", ""),
        ]});
        assert_eq!(kinds(&report), [1, 1, 1]);
    }

    #[test]
    fn a_suspicion_is_no_violation() {
        let report = json!({ "atomicity": [{ "status": "predicted" }, { "status": "potential" }] });
        assert_eq!(violations(&report), [1, 1]);
        assert_eq!(violations(&json!({})), [0, 0]);
    }
}
