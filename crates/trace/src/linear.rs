//! Writes a trace from events that come in one known order (another tool's
//! trace, an interpreter, a part of a trace) and keeps that order exactly:
//! reading gives the same events in the same places.
//!
//! Synchronisation events are numbered as they come. An access is read back
//! behind its thread's latest numbered record, so one that follows an event of
//! another thread gets an `ORDER` record before it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::event::{Event, ThreadId};
use crate::raw::{FIRST_SEQ, Record};
use crate::tables::{Footer, RunHeader};
use crate::writer::Writer;

/// Records a thread gathers before they become a chunk.
const BUFFER: usize = 8192;
/// And all threads together, so that thousands of threads stay small.
const TOTAL: usize = 64 * BUFFER;

#[derive(Debug)]
pub struct LinearWriter<W> {
    writer: Writer<W>,
    buffers: BTreeMap<ThreadId, Vec<Record>>,
    buffered: usize,
    next_seq: u64,
    last: Option<ThreadId>,
}

impl<W: Write> LinearWriter<W> {
    pub fn new(out: W, header: &RunHeader) -> io::Result<Self> {
        Ok(LinearWriter {
            writer: Writer::new(out, header)?,
            buffers: BTreeMap::new(),
            buffered: 0,
            next_seq: FIRST_SEQ,
            last: None,
        })
    }

    /// For tables, which may come at any time before the end.
    pub fn writer(&mut self) -> &mut Writer<W> {
        &mut self.writer
    }

    /// The next event.
    pub fn push(&mut self, event: &Event) -> io::Result<()> {
        let Event { thread, site, op } = *event;
        let sync = op.is_sync();
        let numbered = sync || self.last != Some(thread);
        let seq = self.next_seq;
        self.next_seq += u64::from(numbered);
        self.last = Some(thread);
        let buffer = self.buffers.entry(thread).or_default();
        if numbered && !sync {
            buffer.push(Record::order(seq));
        }
        buffer.push(Record::new(site, op, seq));
        self.buffered += 1;
        if buffer.len() >= BUFFER {
            let records = std::mem::take(buffer);
            self.buffered = self.buffered.saturating_sub(records.len());
            self.writer.append_records(thread, &records)?;
        } else if self.buffered >= TOTAL {
            self.write_all()?;
        }
        Ok(())
    }

    /// Leaves a number out: readers will see that events are missing here.
    pub fn gap(&mut self) {
        self.next_seq += 1;
        self.last = None;
    }

    pub fn finish(mut self, footer: Footer) -> io::Result<W> {
        self.write_all()?;
        self.writer.finish(footer)
    }

    /// Ends without a footer, as a killed run does.
    pub fn abandon(mut self) -> io::Result<W> {
        self.write_all()?;
        self.writer.abandon()
    }

    fn write_all(&mut self) -> io::Result<()> {
        self.buffered = 0;
        for (thread, records) in std::mem::take(&mut self.buffers) {
            self.writer.append_records(thread, &records)?;
        }
        Ok(())
    }
}
