//! A log as a table for people: one column a thread, one row a step, what it
//! does in the thread's column and where that is in the program at the end of
//! the row.
//!
//! ```text
//! step | 0 main           | 1 worker        |
//!    0 | start            |                 | Bank.main Bank.java:12
//!    1 |                  | begin           |
//!    2 |                  | read Bank.total | Bank.deposit Bank.java:31
//!  ... |                  | 40 steps        |
//!   43 | write Bank.total |                 | Bank.main Bank.java:14
//!      * race: 0 main first, then 1 worker
//! ```
//!
//! Long runs of one thread are folded: their first and last steps are shown,
//! and those around anything that is no step.

use crate::labels::Labels;
use crate::log::{Entry, Log, Site};
use crate::op::{Hit, Ready, Thread};
use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    pub thread: Thread,
    /// Its number and name.
    pub title: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Row {
    Step {
        number: u64,
        column: usize,
        what: String,
        /// Empty if unknown.
        place: String,
    },
    /// Steps that are not shown.
    Folded { column: usize, steps: u64 },
    /// Something that is no step of a thread.
    Note(String),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// Of the threads that made steps.
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

/// Shown at either end of a folded run.
const ENDS: usize = 2;

impl Table {
    /// Runs of one thread of more than `fold` steps are folded; 0: none are.
    pub fn new(log: &Log, fold: usize) -> Table {
        let mut table = Table::default();
        let labels = Labels::new(log);
        let mut threads: Vec<Thread> = (log.entries.iter())
            .filter_map(|entry| match entry {
                Entry::Step { thread, .. } => Some(*thread),
                _ => None,
            })
            .collect();
        threads.sort_unstable();
        threads.dedup();
        table.columns = (threads.iter())
            .map(|&thread| Column {
                thread,
                title: thread_name(log, thread),
            })
            .collect();
        let mut number = 0;
        for run in log.entries.chunk_by(together) {
            let hidden = match run.len() {
                n if fold > 0 && n > fold.max(2 * ENDS) => ENDS..n - ENDS,
                n => n..n,
            };
            for (at, entry) in run.iter().enumerate() {
                match entry {
                    Entry::Step { thread, op } => {
                        let column = threads.partition_point(|t| t < thread);
                        if at == hidden.start {
                            let steps = hidden.len() as u64;
                            table.rows.push(Row::Folded { column, steps });
                        }
                        if !hidden.contains(&at) {
                            table.rows.push(Row::Step {
                                number,
                                column,
                                what: labels.label(Some(number), op),
                                place: log.place(number, op).map(place).unwrap_or_default(),
                            });
                        }
                        number += 1;
                    }
                    Entry::Tick => table.rows.push(Row::Note("time passes".into())),
                    Entry::Hit(hit) => table.rows.push(Row::Note(race(&labels, hit))),
                    Entry::Saw { .. } => table.rows.extend(entry.stale().map(Row::Note)),
                    Entry::Note(text) => table.rows.push(Row::Note(text.clone())),
                }
            }
        }
        table
    }
}

/// Steps of one thread with nothing between them.
fn together(a: &Entry, b: &Entry) -> bool {
    match (a, b) {
        (Entry::Step { thread: a, .. }, Entry::Step { thread: b, .. }) => a == b,
        _ => false,
    }
}

/// A thread by number and name.
pub fn thread_name(log: &Log, thread: Thread) -> String {
    match log.threads.get(&thread) {
        Some(row) if !row.name.is_empty() => format!("{thread} {}", row.name),
        _ => thread.to_string(),
    }
}

/// Where a statement is: `pack.Class.method File.java:12`.
pub fn place(site: &Site) -> String {
    let mut text = format!("{}.{}", encoding::names::dotted(&site.class), site.method);
    match (&site.file, site.line) {
        (Some(file), Some(line)) => text += &format!(" {file}:{line}"),
        (Some(file), None) => text += &format!(" {file}"),
        (None, _) => text += &format!(" @{}", site.bci),
    }
    text
}

/// An operation of a thread in one line.
pub fn sentence(labels: &Labels<'_>, ready: &Ready) -> String {
    let thread = thread_name(labels.log, ready.thread);
    let what = labels.label(None, &ready.op);
    match labels.log.sites.get(&ready.op.site) {
        Some(site) => format!("{thread}: {what} at {}", place(site)),
        None => format!("{thread}: {what}"),
    }
}

fn race(labels: &Labels<'_>, hit: &Hit) -> String {
    let (first, second) = (sentence(labels, &hit.first), sentence(labels, &hit.second));
    format!("race: {first} goes before {second}")
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = |row: &Row| match row {
            Row::Step { column, what, .. } => Some((*column, what.clone())),
            Row::Folded { column, steps } => Some((*column, format!("{steps} steps"))),
            Row::Note(_) => None,
        };
        let mut widths: Vec<usize> = (self.columns.iter()).map(|c| width(&c.title)).collect();
        let mut last = 0;
        for row in &self.rows {
            if let Some((column, text)) = cell(row) {
                widths[column] = widths[column].max(width(&text));
            }
            if let Row::Step { number, .. } = row {
                last = *number;
            }
        }
        let margin = last.to_string().len().max("step".len());
        let titles = self.columns.iter().map(|c| c.title.as_str());
        line(f, margin, "step", titles.zip(&widths), "")?;
        for row in &self.rows {
            let (number, place) = match row {
                Row::Step { number, place, .. } => (number.to_string(), place.as_str()),
                Row::Folded { .. } => ("...".into(), ""),
                Row::Note(text) => {
                    writeln!(f, "{:margin$} * {}", "", one_line(text))?;
                    continue;
                }
            };
            let (column, text) = cell(row).unwrap_or_default();
            let cells = (widths.iter().enumerate())
                .map(|(n, width)| (if n == column { text.as_str() } else { "" }, width));
            line(f, margin, &number, cells, place)?;
        }
        Ok(())
    }
}

fn line<'a>(
    f: &mut fmt::Formatter<'_>,
    margin: usize,
    number: &str,
    cells: impl Iterator<Item = (&'a str, &'a usize)>,
    place: &str,
) -> fmt::Result {
    let mut text = format!("{number:>margin$} |");
    for (cell, width) in cells {
        text += &format!(" {:<width$} |", one_line(cell));
    }
    text = text + " " + &one_line(place);
    writeln!(f, "{}", text.trim_end())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Names come from the program: whatever would break the line is replaced.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
