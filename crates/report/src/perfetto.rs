//! Schedules as a trace for ui.perfetto.dev or chrome://tracing: the Chrome
//! trace event format (JSON). Each schedule is a process there, each thread a
//! track; a step takes a microsecond, since runs under control have no other
//! time. Arrows are happens-before, instants are races that were made to happen.

use crate::terminal::place;
use crate::timeline::{Order, Timeline, Timelines};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes them all, one event a line.
pub fn write(timelines: &Timelines, mut out: impl Write) -> io::Result<()> {
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut separator = "\n";
    let mut arrows = 0;
    for (index, (name, timeline)) in timelines.iter().enumerate() {
        let mut emit = |event: Value| {
            let written = write!(out, "{separator}{event}");
            separator = ",\n";
            written
        };
        schedule(index as u64 + 1, name, timeline, &mut arrows, &mut emit)?;
    }
    writeln!(out, "\n]}}")?;
    out.flush()
}

fn schedule(
    process: u64,
    name: &str,
    timeline: &Timeline,
    arrows: &mut u64,
    emit: &mut dyn FnMut(Value) -> io::Result<()>,
) -> io::Result<()> {
    let about = |what: &str, thread: u64, args: Value| json!({ "ph": "M", "name": what, "pid": process, "tid": thread, "args": args });
    emit(about("process_name", 0, json!({ "name": name })))?;
    for lane in &timeline.lanes {
        let id = lane.thread + 1;
        let name = format!("{} {}", lane.thread, lane.name);
        emit(about("thread_name", id, json!({ "name": name.trim_end() })))?;
        emit(about("thread_sort_index", id, json!({ "sort_index": id })))?;
    }
    // Track 0 is taken by the process itself.
    let track = |lane: usize| timeline.lanes.get(lane).map_or(0, |lane| lane.thread + 1);
    for (row, step) in timeline.rows.iter().enumerate() {
        let Some(lane) = step.lane else {
            emit(
                json!({ "ph": "i", "s": "p", "name": step.what, "pid": process, "tid": 0, "ts": row }),
            )?;
            continue;
        };
        let at = |index: Option<usize>| index.and_then(|i| timeline.places.get(i)).map(place);
        emit(json!({
            "ph": "X", "cat": "step", "name": step.what, "pid": process, "tid": track(lane),
            "ts": row, "dur": 1,
            "args": { "step": step.step, "at": at(step.place) },
        }))?;
        if let Some(other) = &step.beside {
            let name = format!("race: {} first, then {}", step.what, other.what);
            emit(json!({
                "ph": "i", "s": "p", "cat": "race", "name": name, "pid": process,
                "tid": track(lane), "ts": row,
                "args": { "first": at(step.place), "second": at(other.place) },
            }))?;
        }
    }
    for edge in &timeline.edges {
        let ends = [edge.from, edge.to].map(|row| timeline.rows.get(row).and_then(|r| r.lane));
        let [Some(from), Some(to)] = ends else {
            continue;
        };
        *arrows += 1;
        let name = match edge.order {
            Order::Start => "start",
            Order::Lock => "lock",
            Order::Volatile => "volatile",
        };
        let half = |phase: &str, lane: usize, row: usize| {
            json!({
                "ph": phase, "bp": "e", "cat": "happens-before", "name": name, "id": *arrows,
                "pid": process, "tid": track(lane), "ts": row,
            })
        };
        emit(half("s", from, edge.from))?;
        emit(half("f", to, edge.to))?;
    }
    Ok(())
}
