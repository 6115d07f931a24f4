//! The witness of a prediction as a timeline: who runs how far, one after the
//! other, until the two accesses stand side by side.

use super::{Beside, Lane, Row, Timeline};
use findings::finding::Frame;
use findings::prediction::Stretch;

/// The timeline of a witness; none of an empty one. `pair`: its last two rows
/// are the accesses that race.
pub fn of_witness(witness: &[Stretch], pair: bool) -> Option<Timeline> {
    if witness.is_empty() {
        return None;
    }
    let mut timeline = Timeline::default();
    let mut before = 0;
    for stretch in witness {
        match stretch {
            Stretch::LeftOut { omitted } => {
                timeline.rows.push(Row {
                    what: format!("{omitted} events are left out here"),
                    ..Row::default()
                });
                before += omitted;
            }
            Stretch::Events {
                thread,
                thread_id,
                events,
                last,
                at,
                class,
                method,
            } => {
                let known = { timeline.lanes.iter() }.position(|lane| lane.thread == *thread_id);
                let lane = known.unwrap_or_else(|| {
                    timeline.lanes.push(Lane {
                        thread: *thread_id,
                        name: thread.clone(),
                        parent: None,
                    });
                    timeline.lanes.len() - 1
                });
                let [class, method] = [class, method].map(|name| name.as_deref().unwrap_or(""));
                let place = frame(class, method, at).map(|frame| {
                    timeline.places.push(frame);
                    timeline.places.len() - 1
                });
                timeline.rows.push(Row {
                    step: Some(before),
                    lane: Some(lane),
                    what: last.clone(),
                    place,
                    many: Some(*events).filter(|many| *many > 1),
                    beside: None,
                });
                before += events;
            }
        }
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

    #[test]
    fn threads_that_only_begin_stand_aside() {
        let step = |thread: &str, id: u64, events: u64, last: &str| Stretch::Events {
            thread: thread.to_owned(),
            thread_id: id,
            events,
            last: last.to_owned(),
            at: "A.java:1".to_owned(),
            class: None,
            method: None,
        };
        let witness = [
            step("main", 1, 9, "start"),
            step("Finalizer", 2, 1, "begin"),
            step("a", 3, 2, "write"),
            step("b", 4, 1, "read"),
            step("a", 3, 1, "write"),
            step("b", 4, 1, "read"),
        ];
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
