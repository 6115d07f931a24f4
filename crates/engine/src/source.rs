//! What is looked at: a trace, or STD text. Either is read from the beginning to the end as often
//! as needed, and never kept as a whole.

use crate::error::{Context, Error};
use crate::offline;
use crate::traces::TraceFile;
use findings::finding::{Findings, Summary};
use findings::result::Program;
use protocol::RunEnd;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use trace::std_text::{self, Strictness};
use trace::{Event, Tables, ThreadId, Trace};

/// The content tells which of the two it is.
pub enum Source {
    Trace(Box<TraceFile>, PathBuf),
    Text(PathBuf),
}

/// What is known of a source that was read to its end.
pub struct Known {
    pub tables: Tables,
    /// What it covers, and what it lacks.
    pub covered: Findings,
    pub program: Program,
}

impl Source {
    pub fn open(path: &Path) -> Result<Source, Error> {
        let opened =
            File::open(path)
                .map_err(Error::from)
                .and_then(|file| match Trace::open(file) {
                    Ok(trace) => Ok(Source::Trace(Box::new(trace), path.to_owned())),
                    Err(trace::Error::NotATrace) => Ok(Source::Text(path.to_owned())),
                    Err(error) => Err(error.into()),
                });
        opened.with_context(|| cannot_read(path)).or_usage()
    }

    /// Whether the order of accesses that race is the one of the run.
    pub fn is_ordered(&self) -> bool {
        match self {
            Source::Trace(trace, _) => trace.header().ordered,
            Source::Text(_) => true,
        }
    }

    /// Whether it says which way its threads took through the code.
    pub fn is_full(&self) -> bool {
        match self {
            Source::Trace(trace, _) => retrace::is_full(trace.tables()),
            Source::Text(_) => false,
        }
    }

    /// Hands over all events, in their order.
    pub fn each(&mut self, mut f: impl FnMut(&Event)) -> Result<Known, Error> {
        match self {
            Source::Trace(trace, path) => {
                let mut count = 0;
                let mut events = trace.events();
                let read = events.for_each_event(|e| {
                    count += 1;
                    f(e);
                });
                read.with_context(|| cannot_read(path)).or_usage()?;
                let gap = events.gap();
                let command = trace.header().command.iter().map(|p| p.to_string());
                let program = Program {
                    args: command.collect(),
                    exit: trace.footer().and_then(|footer| footer.exit_code),
                    ..Program::default()
                };
                Ok(Known {
                    covered: offline::covered(trace, gap, count),
                    tables: trace.tables().clone(),
                    program,
                })
            }
            Source::Text(path) => {
                let mut threads: BTreeSet<ThreadId> = BTreeSet::new();
                let mut last = None;
                let sink = |event: &Event| {
                    if last != Some(event.thread) {
                        last = Some(event.thread);
                        threads.insert(event.thread);
                    }
                    f(event);
                    Ok(())
                };
                let done = File::open(&*path)
                    .map_err(Error::from)
                    .and_then(|file| {
                        std_text::import(file, Strictness::Strict, sink)
                            .context("it is no trace, and as STD text")
                    })
                    .with_context(|| cannot_read(path))
                    .or_usage()?;
                let summary = Summary {
                    events: Some(done.events),
                    threads: threads.len() as u64,
                    ended: RunEnd::Exit,
                    ..Default::default()
                };
                Ok(Known {
                    tables: done.tables,
                    covered: Findings {
                        summary: Some(summary),
                        ..Findings::default()
                    },
                    program: Program::default(),
                })
            }
        }
    }

    /// The trace, if it is one.
    pub fn trace(&mut self) -> Option<&mut TraceFile> {
        match self {
            Source::Trace(trace, _) => Some(trace),
            Source::Text(_) => None,
        }
    }
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}
