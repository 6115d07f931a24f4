//! JUnit XML, for build servers: a test case a finding, which failed, and one
//! for the program as a whole, which is in error if nothing was exercised. A
//! suspicion that no trial could make happen is skipped, not passed.

use crate::terminal::{location, place, subject};
use findings::confirmed::{Deadlock, Failure};
use findings::finding::Frame;
use findings::group::{self, Finding};
use findings::prediction::{AtomicityViolation, Property, PropertyStatus};
use findings::result::{Report, RunEnd};
use findings::text::clean;
use std::io::{self, Write};

struct Case {
    class: String,
    name: String,
    verdict: Verdict,
}

enum Verdict {
    Passed,
    Skipped(String),
    /// Kind, in a line, and all of it.
    Failed(String, String, String),
    Error(String),
}

/// Writes the file.
pub fn write(report: &Report, mut out: impl Write) -> io::Result<()> {
    let cases = cases(report);
    let count = |wanted: fn(&Verdict) -> bool| cases.iter().filter(|c| wanted(&c.verdict)).count();
    let failures = count(|v| matches!(v, Verdict::Failed(..)));
    let errors = count(|v| matches!(v, Verdict::Error(_)));
    let skipped = count(|v| matches!(v, Verdict::Skipped(_)));
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{:.3}\"",
        cases.len(),
        report.timing.total_s.max(0.0)
    );
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"photofinish\" {counts}>")?;
    let suite = escaped(&format!("photofinish {}", report.command));
    writeln!(
        out,
        "  <testsuite name=\"{suite}\" {counts} skipped=\"{skipped}\">"
    )?;
    for case in &cases {
        let (class, name) = (escaped(&case.class), escaped(&case.name));
        write!(out, "    <testcase classname=\"{class}\" name=\"{name}\"")?;
        match &case.verdict {
            Verdict::Passed => writeln!(out, "/>")?,
            Verdict::Skipped(why) => {
                writeln!(out, "><skipped message=\"{}\"/></testcase>", escaped(why))?;
            }
            Verdict::Error(why) => writeln!(
                out,
                "><error type=\"not-exercised\" message=\"{}\"/></testcase>",
                escaped(why)
            )?,
            Verdict::Failed(kind, line, all) => writeln!(
                out,
                "><failure type=\"{}\" message=\"{}\">{}</failure></testcase>",
                escaped(kind),
                escaped(line),
                escaped(all)
            )?,
        }
    }
    if !report.warnings.is_empty() {
        let warnings: Vec<String> = report.warnings.iter().map(|w| clean(w)).collect();
        let text = escaped(&warnings.join("\n"));
        writeln!(out, "    <system-err>{text}</system-err>")?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")?;
    out.flush()
}

fn cases(report: &Report) -> Vec<Case> {
    let mut cases = vec![Case {
        class: "photofinish".into(),
        name: "the program was exercised".into(),
        verdict: exercised(report),
    }];
    cases.extend(group::findings(&report.races).iter().map(finding));
    cases.extend(report.deadlocks.iter().map(deadlock_case));
    cases.extend(report.failures.iter().map(failure));
    cases.extend(report.atomicity.iter().map(atomicity));
    cases.extend(report.properties.iter().map(property));
    cases
}

fn exercised(report: &Report) -> Verdict {
    let coverage = &report.coverage;
    let offline = report.runs.iter().all(|run| run.ended == RunEnd::Offline);
    match () {
        () if report.has_findings() => Verdict::Passed,
        () if report.is_running() => Verdict::Error("the program still runs".into()),
        () if report.runs.is_empty() => Verdict::Error("there was no run".into()),
        () if coverage.classes_instrumented == 0 && !offline => {
            Verdict::Error("no class was instrumented".into())
        }
        () if coverage.sampling.as_ref().is_some_and(|s| s.is_blind()) => {
            Verdict::Error("nothing was watched within the budget".into())
        }
        () if coverage.threads < 2 => {
            Verdict::Error("fewer than two threads are known to have run".into())
        }
        () => Verdict::Passed,
    }
}

fn finding(finding: &Finding<'_>) -> Case {
    let race = finding.race;
    let what = subject(finding);
    let [a, b] = finding.statements();
    let line = format!("race {what}: {} and {}", place(a), place(b));
    let mut all = format!("{} by {}\n", race.status.word(), race.found_by.join(", "));
    for access in &race.accesses {
        let op = access.op.word();
        all += &format!("\n{op} by thread \"{}\"\n", clean(&access.thread));
        let frames = match access.stack.is_empty() {
            true => std::slice::from_ref(&access.at),
            false => &access.stack[..],
        };
        all += &stack(frames);
    }
    for outcome in &race.outcomes {
        let detail = clean(&outcome.detail);
        all += &format!("\noutcome: {} {detail}", outcome.result.name());
    }
    if let Some(replay) = &race.replay {
        all += &format!("\nto see it again: {}", clean(&replay.command));
    }
    for member in &finding.members {
        let [a, b] = member.accesses.each_ref().map(|access| place(&access.at));
        let what = location(&member.location);
        all += &format!("\nalso {}: {what}, {a} and {b}", clean(&member.id));
    }
    let kind = format!("{}-race", race.status.word());
    let verdict = if race.is_finding() {
        Verdict::Failed(kind, line, all)
    } else {
        let why = match race.trials {
            Some(_) => "no trial made it happen",
            None => "not tried",
        };
        Verdict::Skipped(format!("{line}: suspected, and {why}"))
    };
    Case {
        class: a.class.clone(),
        name: format!("{}: race {what}", race.id),
        verdict,
    }
}

fn deadlock_case(deadlock: &Deadlock) -> Case {
    let names: Vec<&str> = deadlock.threads.iter().map(|t| t.thread.as_str()).collect();
    let line = format!("{} of {}", deadlock.kind, names.join(", "));
    let mut all = String::new();
    for thread in &deadlock.threads {
        let (name, waits_for) = (clean(&thread.thread), clean(&thread.waits_for));
        all += &format!("thread \"{name}\" waits for {waits_for}\n");
        all += &stack(&thread.stack);
    }
    if let Some(replay) = &deadlock.replay {
        all += &format!("to see it again: {}", clean(&replay.command));
    }
    let place = deadlock.threads.iter().find_map(|t| t.stack.first());
    Case {
        class: place.map_or("photofinish", |f| f.class.as_str()).to_owned(),
        name: format!("{}: {}", deadlock.id, deadlock.kind),
        verdict: Verdict::Failed(deadlock.kind.clone(), line, all),
    }
}

fn failure(failure: &Failure) -> Case {
    let line = format!("{} ended thread \"{}\"", failure.exception, failure.thread);
    let mut all = format!("{}\n{}", clean(&failure.exception), stack(&failure.stack));
    if let Some(replay) = &failure.replay {
        all += &format!("to see it again: {}", clean(&replay.command));
    }
    let class = failure.exception.split(':').next().unwrap_or_default();
    let place = failure.stack.first();
    Case {
        class: place.map_or("photofinish", |f| f.class.as_str()).to_owned(),
        name: format!("{}: {class}", failure.id),
        verdict: Verdict::Failed(class.to_owned(), line, all),
    }
}

fn atomicity(found: &AtomicityViolation) -> Case {
    let AtomicityViolation { unit, pattern, .. } = found;
    let kind = format!("{}-violation", found.status.word());
    let line = format!("{unit} is not atomic: {pattern}");
    Case {
        class: unit.clone(),
        name: format!("{}: {unit} is atomic", found.id),
        verdict: Verdict::Failed(kind, line.clone(), line),
    }
}

fn property(property: &Property) -> Case {
    let Property { name, status, .. } = property;
    let verdict = match status {
        PropertyStatus::Holds => Verdict::Passed,
        PropertyStatus::Predicted | PropertyStatus::Observed => {
            let line = format!("{name} is broken");
            Verdict::Failed(format!("{}-violation", status.word()), line.clone(), line)
        }
    };
    Case {
        class: name.clone(),
        name: format!("{name} holds"),
        verdict,
    }
}

fn stack(frames: &[Frame]) -> String {
    frames
        .iter()
        .map(|f| format!("    at {}\n", place(f)))
        .collect()
}

/// For attributes and text alike. Characters that XML cannot hold are gone by
/// then, or become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' => out += "&#10;",
            '\t' => out += "&#9;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
