//! What `predict` found beyond races, as text: units that something can come
//! into, and properties.

use findings::result::Report;
use serde_json::Value;
use std::fmt::Write as _;

/// Events of a property's path that are shown; of a longer one, the last.
const MOST_EVENTS: usize = 20;

/// The atomicity violations and properties of a report; empty if it has none.
pub fn text(report: &Report) -> String {
    let list = |name: &str| report.other.get(name).and_then(Value::as_array);
    let mut text = String::new();
    for violation in list("atomicity").into_iter().flatten() {
        atomicity(&mut text, violation);
    }
    for property in list("properties").into_iter().flatten() {
        self::property(&mut text, property);
    }
    text
}

fn atomicity(text: &mut String, violation: &Value) {
    let _ = writeln!(
        text,
        "\n{} not atomic: {}, entered at {}; {}, predicted",
        word(violation, "id"),
        word(violation, "unit"),
        word(violation, "at"),
        word(violation, "pattern"),
    );
    let accesses = violation["accesses"].as_array();
    for access in accesses.into_iter().flatten() {
        let of_unit = word(access, "part") == "unit";
        let _ = writeln!(
            text,
            "  {} {:<6} {:<32} {} {}",
            if of_unit { " " } else { ">" },
            if word(access, "op") == "write" {
                "writes"
            } else {
                "reads"
            },
            word(access, "location"),
            word(access, "thread"),
            place(access),
        );
    }
}

fn property(text: &mut String, property: &Value) {
    let status = word(property, "status");
    let broken = status != "holds";
    let verdict = match (status, property["complete"] == true) {
        ("holds", false) => "no violation found, not all orders were looked at",
        ("holds", true) => "holds in every order that the run allows",
        (status, _) => status,
    };
    let _ = writeln!(
        text,
        "\nproperty {}: {}{verdict} ({} cuts)",
        word(property, "name"),
        if broken { "broken, " } else { "" },
        property["cuts"].as_u64().unwrap_or(0),
    );
    let path = property["path"]
        .as_array()
        .map_or(&[][..], |path| &path[..]);
    let skip = path.len().saturating_sub(MOST_EVENTS);
    if skip > 0 {
        let _ = writeln!(text, "  ... {skip} events before");
    }
    for step in &path[skip..] {
        let _ = writeln!(
            text,
            "  {:<16} {:<20} {}",
            word(step, "event"),
            word(step, "thread"),
            word(step, "at")
        );
    }
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The line of an access, or its method.
fn place(access: &Value) -> String {
    match (access["file"].as_str(), access["line"].as_u64()) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ if word(access, "class").is_empty() => word(access, "method").to_owned(),
        _ => format!("{}.{}", word(access, "class"), word(access, "method")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
                "id": "A1", "unit": "Bank.add", "at": "Bank.java:3", "pattern": "read-write-write",
                "accesses": [access("unit", "read", 4), elsewhere, access("unit", "write", 5)],
            }],
            "properties": [
                { "name": "open", "status": "holds", "complete": true, "cuts": 7, "path": [] },
                { "name": "once", "status": "holds", "complete": false, "cuts": 9, "path": [] },
                { "name": "close", "status": "predicted", "complete": true, "cuts": 2,
                  "path": [{ "event": "shut", "thread": "t2", "at": "Bank.java:9" }] },
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
