//! Appends chunks to a file, each with a single write, so that a recorder
//! killed at any moment leaves at most one torn chunk at the end.

use std::io::{self, Write};

use crate::chunk::{self, Kind, MAX_CHUNK};
use crate::encode::{Encoded, Encoder};
use crate::event::{ObjId, Op, SiteId, ThreadId};
use crate::raw::Record;
use crate::rows::{Interner, Row, RowOut};
use crate::tables::*;
use encoding::varint::put;

/// First bytes of a file: not text, and broken by transfers that think it is.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89PFT\r\n\x1a\n";
/// A reader refuses files of other major versions than those from `OLDEST` to this one.
pub const MAJOR: u16 = 2;
pub(crate) const OLDEST: u16 = 1;
pub const MINOR: u16 = 1;
/// Signature, major, minor, four zero bytes.
pub(crate) const FILE_HEAD: usize = 16;

/// Rows are packed into chunks of about this size.
const TABLE_CHUNK: usize = 256 << 10;

/// Writes a trace. After an error nothing more is written: what follows a torn
/// chunk could not be read anyway.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    strings: Interner,
    encoder: Encoder,
    buf: Vec<u8>,
    rows: Vec<u8>,
    failed: bool,
    events: u64,
    dropped: u64,
}

impl<W: Write> Writer<W> {
    /// Starts a trace.
    pub fn new(out: W, header: &RunHeader) -> io::Result<Self> {
        let mut writer = Writer {
            out,
            strings: Interner::default(),
            encoder: Encoder::new(),
            buf: Vec::new(),
            rows: Vec::new(),
            failed: false,
            events: 0,
            dropped: 0,
        };
        writer.buf.extend(SIGNATURE);
        writer.buf.extend(MAJOR.to_le_bytes());
        writer.buf.extend(MINOR.to_le_bytes());
        writer.buf.extend([0; 4]);
        writer.table([(0, header)])?;
        Ok(writer)
    }

    /// Events of one thread in program order, with sequence numbers.
    pub fn append_events(
        &mut self,
        thread: ThreadId,
        events: impl IntoIterator<Item = (SiteId, Op, u64)>,
    ) -> io::Result<Encoded> {
        let done = self.encoder.chunk(thread, events, &mut self.buf);
        self.count(&done);
        self.flush_buf()?;
        Ok(done)
    }

    pub(crate) fn append_records(
        &mut self,
        thread: ThreadId,
        records: &[Record],
    ) -> io::Result<Encoded> {
        let records = records.iter().copied();
        let done = self.encoder.records(thread, records, &mut self.buf);
        self.count(&done);
        self.flush_buf()?;
        Ok(done)
    }

    /// Records of a raw buffer (see [`crate::raw`]).
    pub fn append_raw(&mut self, thread: ThreadId, words: &[u64]) -> io::Result<Encoded> {
        let done = self.encoder.raw_chunk(thread, words, &mut self.buf);
        self.count(&done);
        self.flush_buf()?;
        Ok(done)
    }

    /// What an [`Encoder`] elsewhere made, for writers behind a lock that is
    /// not to be held while encoding.
    pub fn append_chunk(&mut self, chunk: &[u8], what: &Encoded) -> io::Result<()> {
        self.count(what);
        self.write(chunk)
    }

    pub fn sites<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (SiteId, &'a Site)>,
    ) -> io::Result<()> {
        self.table(rows.into_iter().map(|(id, row)| (u64::from(id.0), row)))
    }

    /// Fields under the slots that stand for them.
    pub fn fields<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (u32, &'a Field)>,
    ) -> io::Result<()> {
        self.table(rows.into_iter().map(|(id, row)| (u64::from(id), row)))
    }

    pub fn threads<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (ThreadId, &'a Thread)>,
    ) -> io::Result<()> {
        self.table(rows.into_iter().map(|(id, row)| (u64::from(id.0), row)))
    }

    pub fn objects<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (ObjId, &'a Object)>,
    ) -> io::Result<()> {
        self.table(rows.into_iter().map(|(id, row)| (id.0, row)))
    }

    pub fn classes<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (u32, &'a Class)>,
    ) -> io::Result<()> {
        self.table(rows.into_iter().map(|(id, row)| (u64::from(id), row)))
    }

    pub fn methods<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (u32, &'a Method)>,
    ) -> io::Result<()> {
        self.table(rows.into_iter().map(|(id, row)| (u64::from(id), row)))
    }

    /// All rows of `tables`.
    pub fn tables(&mut self, tables: &Tables) -> io::Result<()> {
        self.sites(tables.sites.iter().map(|(&id, row)| (id, row)))?;
        self.fields(tables.fields.iter().map(|(&id, row)| (id, row)))?;
        self.threads(tables.threads.iter().map(|(&id, row)| (id, row)))?;
        self.objects(tables.objects.iter().map(|(&id, row)| (id, row)))?;
        self.classes(tables.classes.iter().map(|(&id, row)| (id, row)))?;
        self.methods(tables.methods.iter().map(|(&id, row)| (id, row)))
    }

    /// The class file of a class in the class table, as it was before
    /// rewriting. Class files too large for a chunk are refused.
    pub fn class_bytes(&mut self, class: u32, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > MAX_CHUNK / 2 {
            return Err(io::Error::other("a class file of more than 32 MiB"));
        }
        let at = chunk::start(Kind::ClassBytes, &mut self.buf);
        put(&mut self.buf, u64::from(class));
        chunk::put_block(bytes, &mut self.buf);
        chunk::finish(at, &mut self.buf);
        self.flush_buf()
    }

    /// Says that the trace is not of a whole run.
    pub fn part(&mut self, part: &Part) -> io::Result<()> {
        self.table([(0, part)])
    }

    /// Ends the trace. Counts of events are filled in here.
    pub fn finish(mut self, mut footer: Footer) -> io::Result<W> {
        footer.events = self.events;
        footer.dropped = self.dropped;
        self.table([(0, &footer)])?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Ends the trace without a footer.
    pub fn abandon(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Hands everything on to the operating system, if `W` buffers.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn count(&mut self, done: &Encoded) {
        self.events += done.events;
        self.dropped += done.dropped;
    }

    /// Rows and, before them, the strings they brought in: one write a chunk's
    /// worth, so a row never stands in the file without its strings.
    fn table<'a, T: Row + 'a>(
        &mut self,
        rows: impl IntoIterator<Item = (u64, &'a T)>,
    ) -> io::Result<()> {
        let mut packed = Vec::new();
        for (id, row) in rows {
            self.rows.clear();
            row.put(&mut RowOut::new(&mut self.strings, &mut self.rows));
            put(&mut packed, id);
            put(&mut packed, self.rows.len() as u64);
            packed.append(&mut self.rows);
            if packed.len().max(self.strings.fresh.len()) > TABLE_CHUNK {
                self.table_chunk(T::KIND, &packed)?;
                packed.clear();
            }
        }
        if packed.is_empty() {
            return self.flush_buf();
        }
        self.table_chunk(T::KIND, &packed)
    }

    fn table_chunk(&mut self, kind: Kind, packed: &[u8]) -> io::Result<()> {
        if packed.len().max(self.strings.fresh.len()) > MAX_CHUNK / 2 {
            return Err(io::Error::other("a table row of more than 32 MiB"));
        }
        if !self.strings.fresh.is_empty() {
            let at = chunk::start(Kind::Strings, &mut self.buf);
            chunk::put_block(&self.strings.fresh, &mut self.buf);
            chunk::finish(at, &mut self.buf);
            self.strings.fresh.clear();
        }
        let at = chunk::start(kind, &mut self.buf);
        chunk::put_block(packed, &mut self.buf);
        chunk::finish(at, &mut self.buf);
        self.flush_buf()
    }

    fn flush_buf(&mut self) -> io::Result<()> {
        let mut buf = std::mem::take(&mut self.buf);
        let result = self.write(&buf);
        buf.clear();
        self.buf = buf;
        result
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other(
                "the trace could not be written earlier, so the rest was left out",
            ));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let result = self.out.write_all(bytes);
        self.failed = result.is_err();
        result
    }
}
