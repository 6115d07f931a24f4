//! Tables 1 to 8 of JRF-E: what it takes to find 1, 10 and 100 executions that race, and the repairs that
//! are suggested. `verify --threshold` explores; `advise` suggests and tries.
//!
//! The paper's *states* are states of its own virtual machine, our executions are whole runs of the program: both
//! say how far the search went, not the same thing. Of repairs those are told that were tried and
//! removed their race (in how many of the paths on which it was seen they would have helped), and in bold those of the
//! smallest set that removes all races.

use super::rows::JrfRow;
use super::workshop::{Program, Subject, Workshop};
use super::{both, head, line, races};
use anyhow::Result;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const COSTS: [&str; 6] = [
    "program",
    "threshold",
    "states / executions",
    "seconds (JRF + JRF-E / verify + advise)",
    "MB",
    "where it differs",
];
const SUGGESTIONS: [&str; 3] = [
    "program",
    "the paper's suggestions, the authors' choice in bold",
    "tried and found to remove the race (paths), the proposed set in bold",
];
const SUITES: [(u32, &str); 4] = [
    (1, "Herlihy and Shavit"),
    (3, "Amino"),
    (5, "barriers"),
    (7, "Java Grande Forum"),
];
const THRESHOLDS: [&str; 3] = ["1", "10", "100"];
/// Suggestions that are listed for a location.
const MOST: usize = 4;

pub fn tables(rows: &[JrfRow], shop: &Workshop<'_>, tell: &dyn Fn(&str)) -> Result<String> {
    let mut text = String::new();
    for (table, suite) in SUITES {
        let (mut costs, mut repairs) = (head(&COSTS), head(&SUGGESTIONS));
        for row in rows.iter().filter(|row| row.table == table) {
            tell(&row.origin.name);
            let made = measure(row, shop)?;
            made.iter().for_each(|part| tell(part));
            costs += &made[0];
            repairs += &made[1];
        }
        text += &format!(
            "Table {table} ({suite}):\n\n{costs}\nTable {} ({suite}):\n\n{repairs}\n",
            table + 1
        );
    }
    Ok(text)
}

/// The lines of a row in both tables.
fn measure(row: &JrfRow, shop: &Workshop<'_>) -> Result<[String; 2]> {
    let name = &row.origin.name;
    let theirs = row.suggestions.join("; ");
    let program = match shop.subject(&row.origin)? {
        Subject::Not(why) => {
            let list = |all: &[u64]| {
                all.iter()
                    .map(u64::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let cells = [
                name.clone(),
                THRESHOLDS[..row.states.len()].join(", "),
                both(&list(&row.states), "-"),
                both(&format!("{} + {}", list(&row.jrf), list(&row.jrfe)), "-"),
                both(&list(&row.memory), "-"),
                why,
            ];
            return Ok([line(&cells), line(&[name.clone(), theirs, "-".to_owned()])]);
        }
        Subject::Program(program) => program,
    };
    let advise = shop.ask(&["advise", "--runs", "6", "--cost-runs", "1"], &program)?;
    let took = advise.measured.cpu.as_secs_f64();
    let mut costs = String::new();
    let thresholds = if shop.quick {
        &THRESHOLDS[..1]
    } else {
        &THRESHOLDS[..]
    };
    for (i, threshold) in thresholds.iter().enumerate() {
        let (executions, seconds, memory) = explored(&program, threshold, shop)?;
        let their = |all: &[u64]| all.get(i).map_or("-".to_owned(), u64::to_string);
        let note = row
            .origin
            .differs
            .clone()
            .filter(|_| i == 0)
            .unwrap_or_default();
        costs += &line(&[
            if i == 0 { name.clone() } else { String::new() },
            (*threshold).to_owned(),
            both(&their(&row.states), &executions),
            both(
                &format!("{} + {}", their(&row.jrf), their(&row.jrfe)),
                &format!("{seconds:.1} + {took:.1}"),
            ),
            both(&their(&row.memory), &memory.to_string()),
            note,
        ]);
    }
    let ours = suggestions(&advise.report);
    Ok([costs, line(&[name.clone(), theirs, ours])])
}

/// Executions up to the threshold, seconds and megabytes.
fn explored(program: &Program, threshold: &str, shop: &Workshop<'_>) -> Result<(String, f64, u64)> {
    let answer = shop.ask(&["verify", "--threshold", threshold], program)?;
    let explored = &answer.report["exploration"];
    let all = if explored["complete"] == true {
        " (all)"
    } else {
        ""
    };
    Ok((
        format!("{}{all}", explored["executions"]),
        answer.measured.cpu.as_secs_f64(),
        answer.measured.peak >> 20,
    ))
}

/// What was tried and helped, by location.
fn suggestions(report: &Value) -> String {
    let proposed = report["repairs"]["repairs"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut by_location: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut in_vain = BTreeSet::new();
    for race in races::all(report) {
        let location = short(&races::location(race));
        let known = by_location.entry(location.clone()).or_default();
        let advice = race["advice"].as_array().cloned().unwrap_or_default();
        if advice.iter().any(is_tried_in_vain) {
            in_vain.insert(location);
        }
        for one in advice
            .iter()
            .filter(|one| one["validated"] == "removes-race")
        {
            let paths = format!("{}/{}", one["paths"]["helps"], one["paths"]["seen"]);
            let text = short(one["text"].as_str().unwrap_or_default());
            let text = match proposed.contains(&one["text"]) {
                true => format!("**{text}**"),
                false => text,
            };
            if !known.iter().any(|other| other.starts_with(&text)) {
                known.push(format!("{text} ({paths})"));
            }
        }
    }
    let told = by_location.into_iter().map(|(location, mut texts)| {
        texts.sort_by_key(|text| !text.starts_with("**"));
        texts.truncate(MOST);
        if texts.is_empty() {
            let why = match in_vain.contains(&location) {
                true => "nothing that was tried removes it",
                false => "nothing was tried in time",
            };
            texts.push(why.to_owned());
        }
        format!("{location}: {}", texts.join(", "))
    });
    told.collect::<Vec<_>>().join("; ")
}

fn is_tried_in_vain(advice: &Value) -> bool {
    ["still-races", "deadlocks"].contains(&advice["validated"].as_str().unwrap_or_default())
}

/// Without packages, and in fewer words.
fn short(text: &str) -> String {
    let text = text.replace(
        "use an atomic array (java.util.concurrent.atomic) for ",
        "atomic array ",
    );
    let text = text.replace("make ", "");
    ["book.faulty.", "book.", "papers."]
        .iter()
        .fold(text, |text, package| text.replace(package, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_was_tried_and_helped_is_told_and_the_proposed_first() {
        let advice = |text: &str, validated: &str| json!({ "text": text, "validated": validated, "paths": { "helps": 2, "seen": 3 } });
        let report = json!({
            "repairs": { "repairs": ["make book.faulty.A.g volatile"] },
            "races": [{
                "location": { "class": "book.faulty.A", "field": "f" },
                "advice": [
                    advice("make book.faulty.A.f volatile", "removes-race"),
                    advice("make book.faulty.A.g volatile", "removes-race"),
                    advice("make book.faulty.A.h volatile", "still-races"),
                ],
            }],
        });
        assert_eq!(
            suggestions(&report),
            "A.f: **A.g volatile** (2/3), A.f volatile (2/3)"
        );
    }
}
