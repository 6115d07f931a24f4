//! The last lines of a hunt: what is certain, what is likely, what to do next,
//! what was looked at. Never more than is known.

use engine::hunt::Hunted;
use findings::advice::Validated;
use findings::confirmed::{Effect, Harm};
use findings::group::{self, Finding};
use findings::prediction::{AtomicityViolation, SerialVerdict};
use findings::result::{Race, Report, Status};
use findings::text::{clean, counted};
use std::fmt::Write as _;

/// Commands and races that are listed, at most.
const MOST: usize = 8;

pub fn text(hunt: &Hunted) -> String {
    let report = &hunt.answer.report;
    let mut out = String::from("\n");
    let of = |wanted: fn(Status) -> bool| -> Vec<String> {
        let findings = group::findings(&report.races).into_iter();
        let findings = findings.filter(|finding| wanted(finding.race.status));
        findings.map(|finding| line(&finding)).collect()
    };
    let mut certain = of(|status| status >= Status::Observed);
    certain.extend(report.deadlocks.iter().map(|d| {
        let id = clean(&d.id);
        format!("{id} {}, seen in a run under control", clean(&d.kind))
    }));
    certain.extend(report.failures.iter().map(|f| {
        let (id, what) = (clean(&f.id), clean(&f.exception));
        format!("{id} uncaught {what}")
    }));
    let units = |wanted: fn(Status) -> bool| {
        let units = report.atomicity.iter();
        units.filter(move |unit| wanted(unit.status)).map(unit_line)
    };
    certain.extend(units(|status| status >= Status::Observed));
    section(&mut out, "certain", certain);
    let mut likely = of(|status| status == Status::Predicted);
    likely.extend(units(|status| status == Status::Predicted));
    section(&mut out, "likely", likely);
    let mut unclear = of(|status| status == Status::Potential);
    unclear.extend(units(|status| status == Status::Potential));
    section(&mut out, "unclear", unclear);
    section(&mut out, "repair", repairs(report));
    section(&mut out, "next", next(report));
    let mut looked: Vec<String> = Vec::new();
    for done in &hunt.stages {
        let (name, note) = (&done.stage, &done.note);
        looked.push(format!("{name}: {} ({:.1} s)", clean(note), done.seconds));
    }
    section(&mut out, "looked at", looked);
    let mut violations = report.atomicity.iter();
    let has_stale = violations.any(|violation| violation.status > Status::Potential);
    if let Some(complete) = &hunt.complete {
        out += &format!("{complete}\n");
    } else if !report.has_findings() && !has_stale && hunt.exercised {
        out += "Nothing was found in what these runs executed, with this input and in these\n\
                orders. Code that did not run was not looked at.\n";
    }
    out
}

fn section(out: &mut String, head: &str, lines: Vec<String>) {
    let more = lines.len().saturating_sub(MOST);
    for (at, line) in lines.iter().take(MOST).enumerate() {
        let head = if at == 0 { head } else { "" };
        let _ = writeln!(out, "{head:<11}{line}");
    }
    if more > 0 {
        let _ = writeln!(out, "{:<11}and {more} more, above", "");
    }
}

fn line(finding: &Finding<'_>) -> String {
    let race = finding.race;
    let inside = if finding.is_inside() { "inside " } else { "" };
    let mut text = format!(
        "{} {inside}{}: {}",
        clean(&race.id),
        clean(&finding.name()),
        race.status.word()
    );
    match (race.harm, worst(race)) {
        (Some(Harm::Harmful), Some(effect)) => {
            text += &format!(", harmful ({})", effect.name());
        }
        (Some(Harm::ChangesOutput), _) => text += ", changes the output",
        (Some(Harm::Harmless), _) => text += ", harmless as far as seen",
        _ => {}
    }
    if let Some(trials) = race.trials.filter(|trials| trials.hit == 0) {
        text += &format!(", not made to happen in {} trials", trials.run);
    }
    text
}

fn unit_line(unit: &AtomicityViolation) -> String {
    let mut text = format!(
        "{} {} is not atomic: {}",
        clean(&unit.id),
        clean(&unit.unit),
        unit.status.word()
    );
    if let Some(tried) = &unit.tried {
        match tried.verdict {
            SerialVerdict::NoSerialOrder => text += ", no serial order gives what came of it",
            SerialVerdict::SameAsSerial => text += ", the same came of it as of a serial order",
            SerialVerdict::Unknown if tried.hit == 0 => {
                let runs = counted(tried.run, "controlled run", "controlled runs");
                text += &format!(", not made to happen in {runs}");
            }
            SerialVerdict::Unknown => {}
        }
    }
    text
}

fn worst(race: &Race) -> Option<Effect> {
    race.outcomes.iter().map(|o| o.result).min()
}

/// For each race, and each violation of atomicity, the best repair that removed it when it was tried, once.
fn repairs(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let races = report.races.iter().map(Race::suggestions);
    let units = report.atomicity.iter();
    let units = units.map(|unit| unit.advice.as_deref().unwrap_or_default());
    for all in races.chain(units) {
        let removes = [Validated::RemovesRace, Validated::RemovesViolation];
        let tried = all.iter().find(|s| removes.contains(&s.validated));
        let Some(best) = tried else { continue };
        let mut text = format!("{} (removes {})", best.text, best.removes.join(", "));
        if !best.leaves.is_empty() {
            text += &format!("; that leaves {}", best.leaves.join(", "));
        }
        let text = clean(&text);
        if !lines.contains(&text) {
            lines.push(text);
        }
    }
    lines
}

/// What somebody can do now.
fn next(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let races = report.races.iter().filter_map(|race| race.replay.as_ref());
    let others = report.deadlocks.iter().filter_map(|d| d.replay.as_ref());
    let failures = report.failures.iter().filter_map(|f| f.replay.as_ref());
    let units = report.atomicity.iter().filter_map(|u| u.replay.as_ref());
    for replay in races.chain(others).chain(failures).chain(units).take(3) {
        lines.push(format!(
            "{} -v    # see it happen again",
            clean(&replay.command)
        ));
    }
    lines
}
