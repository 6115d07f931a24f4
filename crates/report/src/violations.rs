//! What `predict` found beyond races, as text: units that something can come
//! into, and properties.

use findings::advice::Suggestion;
use findings::finding::AccessOp;
use findings::prediction::{
    AtomicityViolation, NamedEvent, Part, Property, PropertyStatus, SerialVerdict, StaleFlow,
    StaleTrials, UnitAccess,
};
use findings::result::Report;
use findings::text::clean;
use std::fmt::Write as _;

/// Events of a property's path that are shown; of a longer one, the last.
const MOST_EVENTS: usize = 20;

/// The atomicity violations and properties of a report; empty if it has none.
pub fn text(report: &Report) -> String {
    let mut text = String::new();
    for violation in &report.atomicity {
        atomicity(&mut text, violation);
    }
    for property in &report.properties {
        self::property(&mut text, property);
    }
    text
}

fn atomicity(text: &mut String, violation: &AtomicityViolation) {
    let AtomicityViolation {
        id,
        unit,
        at,
        pattern,
        status,
        ..
    } = violation;
    let status = status.word();
    let _ = match violation.stale {
        None => writeln!(
            text,
            "\n{id} not atomic: {unit}, entered at {at}; {pattern}, {status}"
        ),
        Some(flow) => {
            let use_of = match flow {
                StaleFlow::Value => "writes what it computed from a stale value",
                StaleFlow::Decision => "acts on a stale check",
            };
            writeln!(
                text,
                "\n{id} not atomic: {unit} {use_of}; {pattern}, {status}"
            )
        }
    };
    for access in &violation.accesses {
        let mark = match access.part {
            Part::Unit => " ",
            Part::Other => ">",
        };
        let verb = match access.op {
            _ if access.call.is_some() => "calls",
            AccessOp::Read => "reads",
            AccessOp::Write => "writes",
        };
        let UnitAccess {
            location, thread, ..
        } = access;
        let location = access.call.as_ref().unwrap_or(location);
        let place = place(access);
        let _ = writeln!(text, "  {mark} {verb:<6} {location:<32} {thread} {place}");
    }
    if let Some(tried) = &violation.tried {
        trials(text, tried);
    }
    if let Some(replay) = &violation.replay {
        let _ = writeln!(text, "  replay: {}", replay.command);
    }
    for suggestion in violation.advice.iter().flatten() {
        let Suggestion {
            text: what,
            validated,
            checked,
            ..
        } = suggestion;
        let word = crate::advice::word(*validated);
        let _ = writeln!(text, "  - {}: {word}; {}", clean(what), clean(checked));
        if let Some(caution) = &suggestion.caution {
            let _ = writeln!(text, "    but {}", clean(caution));
        }
    }
}

/// What came of it in controlled runs.
fn trials(text: &mut String, tried: &StaleTrials) {
    let StaleTrials { run, hit, .. } = tried;
    let came = tried.interleaved.join("; or ");
    let _ = match tried.verdict {
        SerialVerdict::NoSerialOrder => {
            let serial = tried.serial.join("; or ");
            writeln!(text, "  it happened in {hit} of {run} runs: {came}")
                .and_then(|()| writeln!(text, "  no serial order gives this, only: {serial}"))
        }
        SerialVerdict::SameAsSerial => {
            writeln!(
                text,
                "  it happened in {hit} of {run} runs, and a serial order gives the same: {came}"
            )
        }
        SerialVerdict::Unknown if *hit > 0 => {
            writeln!(
                text,
                "  it happened in {hit} of {run} runs: {came}; not all serial orders were seen"
            )
        }
        SerialVerdict::Unknown => writeln!(
            text,
            "  it did not happen in {run} runs, which proves nothing"
        ),
    };
}

fn property(text: &mut String, property: &Property) {
    let Property {
        name, cuts, path, ..
    } = property;
    let verdict = match (property.status, property.complete) {
        (PropertyStatus::Holds, false) => "no violation found, not all orders were looked at",
        (PropertyStatus::Holds, true) => "holds in every order that the run allows",
        (PropertyStatus::Predicted, _) => "broken, predicted",
        (PropertyStatus::Observed, _) => "broken, observed",
    };
    let _ = writeln!(text, "\nproperty {name}: {verdict} ({cuts} cuts)");
    let skip = path.len().saturating_sub(MOST_EVENTS);
    if skip > 0 {
        let _ = writeln!(text, "  ... {skip} events before");
    }
    for step in &path[skip..] {
        let NamedEvent {
            event, thread, at, ..
        } = step;
        let _ = writeln!(text, "  {event:<16} {thread:<20} {at}");
    }
}

/// The line of an access, or its method.
fn place(access: &UnitAccess) -> String {
    match (&access.file, access.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ if access.class.is_empty() => access.method.clone(),
        _ => format!("{}.{}", access.class, access.method),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn violations_and_properties_are_told_with_their_places() {
        let access = |part: &str, op: &str, line: u32| {
            json!({ "part": part, "op": op, "location": "Bank.total", "thread": "t1",
                    "class": "Bank", "method": "add", "file": "Bank.java", "line": line })
        };
        let mut elsewhere = access("other", "write", 0);
        elsewhere["file"] = Value::Null;
        let report: Report = serde_json::from_value(json!({
            "schema": 1, "tool": "t", "command": "predict", "program": { "args": [] },
            "atomicity": [{
                "id": "A1", "status": "predicted", "unit": "Bank.add", "at": "Bank.java:3", "pattern": "read-write-write",
                "accesses": [access("unit", "read", 4), elsewhere, access("unit", "write", 5)],
            }],
            "properties": [
                { "name": "open", "status": "holds", "complete": true, "cuts": 7, "path": [] },
                { "name": "once", "status": "holds", "complete": false, "cuts": 9, "path": [] },
                { "name": "close", "status": "predicted", "complete": true, "cuts": 2,
                  "path": [{ "event": "shut", "thread": "t2", "thread_id": 2, "at": "Bank.java:9" }] },
            ],
        }))
        .unwrap();
        let text = text(&report);
        for part in [
            "\nA1 not atomic: Bank.add, entered at Bank.java:3; read-write-write, predicted\n",
            "\n    reads  Bank.total                       t1 Bank.java:4\n",
            "\n  > writes Bank.total                       t1 Bank.add\n",
            "\nproperty open: holds in every order that the run allows (7 cuts)\n",
            "\nproperty once: no violation found, not all orders were looked at (9 cuts)\n",
            "\nproperty close: broken, predicted (2 cuts)\n",
            "\n  shut             t2                   Bank.java:9\n",
        ] {
            assert!(text.contains(part), "{part}{text}");
        }
    }
}
