//! Traces of `record --full`: their threads are followed through the code, so
//! that engines know what each event depends on.

use crate::error::{Context, Error};
use ::predict::ShouldStop;
use findings::text::counted;
use retrace::{BadLine, Completed, Operations, Stats, Table};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;
use trace::{Event, Trace};

/// Names that a warning lists, at most.
const NAMES: usize = 8;

/// The table of purity, with the user's lines.
pub fn purity(lines: Option<&Path>) -> Result<Table, Error> {
    extended(Table::default(), lines, Table::extend)
}

/// The table of methods that are atomic by themselves, with the user's lines.
pub fn operations(lines: Option<&Path>) -> Result<Operations, Error> {
    extended(Operations::default(), lines, Operations::extend)
}

/// A built-in table with the lines of a file.
fn extended<T>(
    mut table: T,
    lines: Option<&Path>,
    extend: fn(&mut T, &str) -> Result<(), BadLine>,
) -> Result<T, Error> {
    if let Some(path) = lines {
        let text = crate::input::read_text(path).map_err(Error::from);
        text.and_then(|text| extend(&mut table, &text).map_err(Error::from))
            .with_context(|| format!("cannot use {}", path.display()))
            .or_usage()?;
    }
    Ok(table)
}

/// Completes a trace with the class files that it carries.
pub fn complete<R: Read + Seek>(
    trace: &mut Trace<R>,
    events: &[Event],
    purity: &Table,
) -> Result<Completed, Error> {
    let files = files(trace)?;
    Ok(retrace::complete(events, trace.tables(), &files, purity))
}

/// The same with calls of atomic methods as one step each; none if somebody says stop.
pub fn complete_operations<R: Read + Seek>(
    trace: &mut Trace<R>,
    events: &[Event],
    asked: &super::Asked,
    operations: &Operations,
    stop: &ShouldStop<'_>,
) -> Result<Option<Completed>, Error> {
    let files = files(trace)?;
    let (tables, purity) = (trace.tables(), &asked.purity);
    Ok(retrace::complete_operations(
        events, tables, &files, purity, operations, stop,
    ))
}

fn files<R: Read + Seek>(trace: &mut Trace<R>) -> Result<BTreeMap<u32, Vec<u8>>, Error> {
    let numbers: Vec<u32> = trace.recorded_classes().collect();
    let mut files = BTreeMap::new();
    for number in numbers {
        let bytes = trace
            .class_bytes(number)
            .context("its class files cannot be read")?;
        files.extend(bytes.map(|bytes| (number, bytes)));
    }
    Ok(files)
}

/// What a user should know about how far the threads were followed.
pub fn complaints(stats: &Stats) -> Vec<String> {
    let mut texts = Vec::new();
    if stats.lost_events > 0 {
        texts.push(format!(
            "{} could not be followed to the end: {} of {} events are taken to depend on all before them",
            counted(stats.lost_threads, "thread", "threads"),
            stats.lost_events,
            stats.events
        ));
    }
    if !stats.impure.is_empty() {
        let mut names: Vec<_> = stats.impure.iter().collect();
        names.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        let more = names.len().saturating_sub(NAMES);
        let listed: Vec<&str> = names.iter().take(NAMES).map(|(n, _)| n.as_str()).collect();
        let more = match more {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        texts.push(format!(
            "nothing is known of what these methods do, so what comes after their calls is taken to depend on all before: {}{more} (see --purity)",
            listed.join(", ")
        ));
    }
    texts
}
