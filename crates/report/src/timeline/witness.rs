//! The witness of a prediction as a timeline: who runs how far, one after the
//! other, until the two accesses stand side by side.

use super::{Beside, Lane, Row, Timeline};
use crate::finding::Frame;
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
    Some(timeline)
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
