//! The story of an outcome that older values led to: the write, the read that does not see it, and what came of that.
//! It is told from what the trial has said of its reads; no further run is made for it.

use super::StoryLine;
use findings::confirmed::{Effect, Outcome, StaleRead};
use findings::finding::{Frame, Location, is_jdks, place};
use findings::group::own_statement;
use findings::result::Race;

/// The worst that came of the race, if it takes an older value.
pub(super) fn worst(race: &Race) -> Option<&Outcome> {
    let worst = race.outcomes.first()?;
    (!worst.memory.is_empty() && worst.result != Effect::Ok).then_some(worst)
}

/// The name of the schedule that was kept of it.
pub(super) fn schedule(race: &Race, worst: &Outcome) -> String {
    format!("{}.weak-{}", race.id, worst.result.name())
}

/// The lines; none if the outcome has no such read.
pub(super) fn lines(race: &Race, outcome: &Outcome) -> Vec<StoryLine> {
    let Some(stale) = { outcome.memory.iter() }.find(|stale| is_of(race, stale)) else {
        return Vec::new();
    };
    let name = variable(race);
    let mut lines = Vec::new();
    let seen = match &stale.saw {
        Some(saw) => {
            let text = format!("sets {name} = {}", stale.value);
            lines.push(line(&saw.thread, text, own(race, &saw.at)));
            format!("{}, an older value", stale.value)
        }
        None => format!("{}, the value before any write", stale.value),
    };
    let text = format!("sets {name} = {}", stale.newest);
    lines.push(line(
        &stale.missed.thread,
        text,
        own(race, &stale.missed.at),
    ));
    let text = format!("reads {name} ({seen})");
    lines.push(line(&stale.thread, text, own(race, &stale.at)));
    lines.push(ending(outcome, stale));
    lines
}

/// Whether it is a read at one of the race's statements, or of a write there.
fn is_of(race: &Race, stale: &StaleRead) -> bool {
    let at = |frame: &Frame| { race.accesses.iter() }.any(|a| same_place(&a.at, frame));
    at(&stale.missed.at) && (at(&stale.at) || stale.saw.as_ref().is_some_and(|saw| at(&saw.at)))
}

fn ending(outcome: &Outcome, stale: &StaleRead) -> StoryLine {
    match outcome.result {
        Effect::Livelock => {
            let text = format!(
                "reads {} for ever: nothing says that it ever sees {}",
                stale.value, stale.newest
            );
            line(&stale.thread, text, &stale.at)
        }
        Effect::Deadlock => line("the program", "stands still".to_owned(), &stale.at),
        _ => {
            let nowhere = Frame::default();
            let at = place(&outcome.stack)[1].unwrap_or(&nowhere);
            line("the program", super::words::deed(&outcome.detail), at)
        }
    }
}

fn line(thread: &str, text: String, at: &Frame) -> StoryLine {
    StoryLine {
        thread: thread.to_owned(),
        text,
        file: at.file.clone(),
        line: at.line,
    }
}

fn same_place(a: &Frame, b: &Frame) -> bool {
    (&a.class, &a.method, a.line) == (&b.class, &b.method, b.line)
}

/// The program's own statement, of an access inside the JDK.
fn own<'r>(race: &'r Race, at: &'r Frame) -> &'r Frame {
    let mut accesses = race.accesses.iter();
    { accesses.find(|access| same_place(&access.at, at)) }.map_or(at, own_statement)
}

/// As the lines of other stories name it; inside an object of the JDK with the field that holds that.
fn variable(race: &Race) -> String {
    let name = field(&race.location);
    match findings::group::findings(std::slice::from_ref(race)).first() {
        Some(finding) if is_jdks(&race.location) => format!("{name} in {}", finding.name()),
        _ => name,
    }
}

fn field(location: &Location) -> String {
    match location {
        Location::Field { class, field, .. } => {
            let simple = class.rsplit('.').next().unwrap_or(class);
            format!("{}.{field}", simple.replace('$', "."))
        }
        Location::Array { array, .. } => format!("an element of {array}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn at(line: u32) -> Value {
        json!({ "class": "p.Heater$Loop", "method": "run", "file": "Heater.java", "line": line })
    }

    fn of(thread: &str, line: u32) -> Value {
        let mut all = at(line);
        all["thread"] = thread.into();
        all
    }

    /// A race with one outcome, in which a read at line 9 missed a write at line 20.
    fn race(result: &str, detail: &str, saw: Option<Value>) -> Race {
        let access = |op: &str, line: u32| {
            let mut all = of("t", line);
            all["op"] = op.into();
            all["thread_id"] = 1.into();
            all["stack"] = json!([]);
            all
        };
        let mut read = of("loop", 9);
        for (name, value) in [("value", "true"), ("newest", "false"), ("why", "so")] {
            read[name] = value.into();
        }
        read["missed"] = of("main", 20);
        if let Some(saw) = saw {
            read["saw"] = saw;
        }
        serde_json::from_value(json!({
            "id": "R1", "fingerprint": "f", "status": "observed", "found_by": [], "count": 1, "runs": 1,
            "location": { "class": "p.Heater$Settings", "field": "on", "static": false },
            "accesses": [access("read", 9), access("write", 20)],
            "outcomes": [{ "first": 1, "result": result, "detail": detail, "trials": 1, "memory": [read] }],
        }))
        .unwrap()
    }

    fn told(race: &Race) -> Vec<String> {
        let told = lines(race, worst(race).unwrap());
        told.iter()
            .map(|l| format!("{} {} {}", l.thread, l.text, l.line.unwrap_or(0)))
            .collect()
    }

    #[test]
    fn the_write_the_read_that_misses_it_and_what_came_of_it() {
        assert_eq!(
            told(&race("livelock", "\"main\" and \"loop\"", None)),
            [
                "main sets Heater.Settings.on = false 20",
                "loop reads Heater.Settings.on (true, the value before any write) 9",
                "loop reads true for ever: nothing says that it ever sees false 9",
            ]
        );
        let text = told(&race(
            "output-differs",
            "it prints \"1\"",
            Some(of("other", 3)),
        ));
        assert_eq!(text[0], "other sets Heater.Settings.on = true 3");
        assert_eq!(
            text[2],
            "loop reads Heater.Settings.on (true, an older value) 9"
        );
        assert_eq!(text[3], "the program prints \"1\" 0");
    }

    #[test]
    fn what_comes_without_older_values_is_told_by_a_run() {
        let mut all = race("exception", "java.lang.Error: x", None);
        assert_eq!(schedule(&all, worst(&all).unwrap()), "R1.weak-exception");
        all.outcomes[0].memory.clear();
        assert!(worst(&all).is_none());
    }
}
