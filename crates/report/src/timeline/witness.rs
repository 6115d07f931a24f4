//! The witness of a prediction as a timeline: who runs how far, one after the
//! other, until the two accesses stand side by side.

use super::{Beside, Lane, Row, Timeline};
use findings::finding::Frame;
use serde_json::Value;

/// What a report has under `witness`. `pair`: its last two rows are the
/// accesses that race.
pub fn of_witness(witness: &Value, pair: bool) -> Option<Timeline> {
    let list = witness.as_array().filter(|list| !list.is_empty())?;
    let mut timeline = Timeline::default();
    let mut events = 0;
    for stretch in list {
        let number = |key: &str| stretch.get(key).and_then(Value::as_u64);
        let text = |key: &str| stretch.get(key).and_then(Value::as_str).unwrap_or_default();
        if let Some(omitted) = number("omitted") {
            timeline.rows.push(Row {
                what: format!("{omitted} events are left out here"),
                ..Row::default()
            });
            events += omitted;
            continue;
        }
        let thread = number("thread_id").unwrap_or_default();
        let known = timeline.lanes.iter().position(|lane| lane.thread == thread);
        let lane = known.unwrap_or_else(|| {
            timeline.lanes.push(Lane {
                thread,
                name: text("thread").to_owned(),
                parent: None,
            });
            timeline.lanes.len() - 1
        });
        let place = frame(text("class"), text("method"), text("at")).map(|frame| {
            timeline.places.push(frame);
            timeline.places.len() - 1
        });
        let many = number("events").unwrap_or(1);
        timeline.rows.push(Row {
            step: Some(events),
            lane: Some(lane),
            what: text("last").to_owned(),
            place,
            many: Some(many).filter(|many| *many > 1),
            beside: None,
        });
        events += many;
    }
    if pair && let [.., first, second] = &mut timeline.rows[..] {
        first.beside = second.lane.map(|lane| Beside {
            lane,
            what: second.what.clone(),
            place: second.place,
        });
    }
    Some(in_order(timeline))
}

/// The lanes of threads that do something first. Those of the JVM itself begin
/// before everything else, and would push aside what the reader looks for.
fn in_order(mut timeline: Timeline) -> Timeline {
    let busy = |lane: usize| {
        let mut rows = { timeline.rows.iter() }.filter(|row| row.lane == Some(lane));
        let more = |row: &Row| row.many.is_some() || row.beside.is_some();
        let first = rows.next();
        first.is_some_and(more) || rows.next().is_some()
    };
    let lanes = 0..timeline.lanes.len();
    let (mut order, idle): (Vec<usize>, Vec<usize>) = lanes.partition(|lane| busy(*lane));
    order.extend(idle);
    let place = |lane: usize| order.iter().position(|old| *old == lane).unwrap_or(lane);
    for row in &mut timeline.rows {
        row.lane = row.lane.map(place);
        if let Some(beside) = &mut row.beside {
            beside.lane = place(beside.lane);
        }
    }
    let mut lanes: Vec<Option<Lane>> = timeline.lanes.into_iter().map(Some).collect();
    timeline.lanes = { order.iter() }
        .filter_map(|old| lanes[*old].take())
        .collect();
    timeline
}

/// `File.java:12`, or anything else as it is.
fn frame(class: &str, method: &str, at: &str) -> Option<Frame> {
    let (file, line) = match at.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().ok()),
        None => (at, None),
    };
    let known = line.is_some();
    (!at.is_empty()).then(|| Frame {
        class: class.to_owned(),
        method: if known || !class.is_empty() {
            method.to_owned()
        } else {
            at.to_owned()
        },
        file: known.then(|| file.to_owned()),
        line,
        ..Frame::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn threads_that_only_begin_stand_aside() {
        let step = |thread: &str, id: u64, events: u64, last: &str| {
            json!({ "thread": thread, "thread_id": id, "events": events, "last": last,
                    "at": "A.java:1" })
        };
        let witness = json!([
            step("main", 1, 9, "start"),
            step("Finalizer", 2, 1, "begin"),
            step("a", 3, 2, "write"),
            step("b", 4, 1, "read"),
            step("a", 3, 1, "write"),
            step("b", 4, 1, "read"),
        ]);
        let timeline = of_witness(&witness, true).unwrap();
        let names: Vec<&str> = timeline.lanes.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["main", "a", "b", "Finalizer"]);
        let who: Vec<&str> = { timeline.rows.iter() }
            .filter_map(|row| Some(names[row.lane?]))
            .collect();
        assert_eq!(who, ["main", "Finalizer", "a", "b", "a", "b"]);
        let beside = timeline.rows[4].beside.as_ref().unwrap();
        assert_eq!(names[beside.lane], "b");
    }
}
