//! What the page shows, as JSON: bounded, whatever the campaign has found.

use crate::account::Account;
use crate::unit::{State, WorkerStatus, now};
use engine::{FAIL_ON, Facts, Verdict, decide};
use findings::finding::Location;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a table.
const MOST: usize = 200;

pub fn text(account: &Account, state: State, workers: &[WorkerStatus]) -> String {
    let orders: usize = account.programs.iter().map(|p| p.orders.len()).sum();
    let reports = account.programs.iter().filter_map(|p| p.report.as_ref());
    let instrumented = reports.map(|report| report.coverage.classes_instrumented);
    let value = json!({
        "name": account.campaign.name,
        "state": state,
        "started": account.campaign.started,
        "now": now(),
        "units": {
            "made": account.made(), "done": account.plan.done(),
            "given_up": account.given_up, "refused": account.refused,
        },
        "executions": account.executions,
        "orders": orders,
        "findings": findings(account),
        "curve": account.curve.points,
        "workers": workers.iter().take(MOST).collect::<Vec<_>>(),
        "programs": programs(account),
        "arms": account.plan.arms().take(MOST)
            .map(|(arm, made, done)| json!({ "arm": arm, "made": made, "done": done }))
            .collect::<Vec<_>>(),
        "instrumented": instrumented.max().unwrap_or(0),
        "classes": classes(account),
        "given_up": account.why_given_up.iter().take(MOST)
            .map(|(unit, why)| json!({ "unit": unit, "why": why }))
            .collect::<Vec<_>>(),
    });
    value.to_string()
}

/// The latest word on each finding, the newest first, with where it is told at length.
fn findings(account: &Account) -> Vec<Value> {
    let mut seen = std::collections::BTreeSet::new();
    let newest = account.found.iter().rev();
    let latest = newest.filter(|found| seen.insert((found.program, found.key.as_str())));
    let told = latest.take(MOST).map(|found| {
        let report = account.programs[found.program as usize].report.as_ref();
        let race = report.and_then(|r| r.races.iter().find(|race| race.fingerprint == found.key));
        // Others than races are known by their ids.
        let id = race.map_or(found.key.as_str(), |race| &race.id);
        let mut value = serde_json::to_value(found).unwrap_or_default();
        value["link"] = format!("/report/{}#{id}", found.program).into();
        value
    });
    told.collect()
}

fn programs(account: &Account) -> Vec<Value> {
    let all = account
        .campaign
        .programs
        .iter()
        .zip(&account.programs)
        .enumerate();
    let described = all.take(MOST).map(|(at, (described, program))| {
        let report = account.report(at);
        let verdict = match decide(Some(&report), FAIL_ON, Facts::from_saved(&report)) {
            Verdict::Found => "found",
            Verdict::NothingFound => "nothing found",
            Verdict::NotExercised => "not exercised",
            Verdict::Limit => "limit reached",
            Verdict::ToolFailed => "tool failed",
        };
        json!({
            "name": described.name, "verdict": verdict, "units": program.units,
            "executions": program.executions, "orders": program.orders.len(),
            "findings": program.findings(),
        })
    });
    described.collect()
}

/// Classes with findings, and classes that were left alone with the reason.
fn classes(account: &Account) -> Vec<Value> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    let mut known: BTreeSet<(usize, &str)> = BTreeSet::new();
    let mut skipped: BTreeMap<&str, &str> = BTreeMap::new();
    let reports = account.programs.iter().enumerate();
    for (at, report) in reports.filter_map(|(at, p)| Some((at, p.report.as_ref()?))) {
        // Races of one fingerprint are one finding.
        for race in &report.races {
            if !known.insert((at, &race.fingerprint)) {
                continue;
            }
            let class = match &race.location {
                Location::Field { class, .. } => class,
                Location::Array { .. } => &race.accesses[0].at.class,
            };
            *found.entry(class).or_default() += 1;
        }
        let stuck = report.deadlocks.iter().filter_map(|it| it.threads.first());
        let stacks = stuck.map(|thread| &thread.stack);
        for stack in stacks.chain(report.failures.iter().map(|it| &it.stack)) {
            let own = stack.iter().find(|frame| !frame.is_jdk());
            if let Some(frame) = own.or(stack.first()) {
                *found.entry(&frame.class).or_default() += 1;
            }
        }
        for class in &report.coverage.classes_skipped {
            skipped.insert(&class.class, &class.why);
        }
    }
    let found = found
        .into_iter()
        .map(|(class, n)| json!({ "class": class, "findings": n, "note": "" }));
    let skipped = { skipped.into_iter() }
        .map(|(class, why)| json!({ "class": class, "findings": 0, "note": format!("left alone: {why}") }));
    found.chain(skipped).take(MOST).collect()
}
