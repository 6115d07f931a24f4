//! Opens a trace: reads the tables, checks every chunk's checksum, and keeps
//! an index of the event chunks; events themselves stay in the file until they
//! are asked for (see [`crate::merge`]).
//!
//! A file is read up to its first damaged chunk and no further: chunks stand in
//! the order of writing, and each thread writes its own in program order, so
//! what is kept is a prefix of every thread. How the file ended is said by
//! [`Trace::ending`].

use std::collections::BTreeMap;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};

use crate::chunk::{self, FRAME, Kind, MAX_CHUNK};
use crate::crc::crc32;
use crate::decode::Head;
use crate::error::Error;
use crate::event::ThreadId;
use crate::merge::{Events, Scope};
use crate::rows::{Row, RowIn, split_row};
use crate::tables::*;
use crate::writer::{FILE_HEAD, MAJOR, OLDEST, SIGNATURE};
use encoding::varint::Input;

/// How the file ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// With its footer.
    Finished,
    /// Between two chunks, without a footer: the program was killed, or still
    /// runs.
    Unfinished,
    /// Within a chunk: killed while writing, or the disk was full. The rest of
    /// that chunk is lost.
    Truncated { offset: u64 },
    /// At a chunk that makes no sense; it and what follows is left out.
    Damaged { offset: u64, what: &'static str },
}

/// For the first pass.
const SCAN_BUFFER: usize = 1 << 20;

/// Where an event chunk is, and what its head says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkRef {
    /// Of the payload.
    pub offset: u64,
    pub len: u32,
    pub head: Head,
}

/// An open trace.
#[derive(Debug)]
pub struct Trace<R> {
    input: R,
    version: (u16, u16),
    header: RunHeader,
    tables: Tables,
    part: Option<Part>,
    footer: Option<Footer>,
    ending: Ending,
    /// By thread, in program order.
    chunks: BTreeMap<ThreadId, Vec<ChunkRef>>,
    class_bytes: BTreeMap<u32, (u64, u32)>,
    event_bytes: u64,
    total_bytes: u64,
}

impl<'a> Trace<Cursor<&'a [u8]>> {
    /// A trace that is in memory.
    pub fn from_slice(bytes: &'a [u8]) -> Result<Self, Error> {
        Trace::open(Cursor::new(bytes))
    }
}

impl<R: Read + Seek> Trace<R> {
    /// `input` need not be buffered, and better is not: the first pass is
    /// buffered here, and afterwards whole chunks are read from all over the
    /// file, for each of which a buffer would be filled in vain.
    pub fn open(mut input: R) -> Result<Self, Error> {
        let total_bytes = input.seek(SeekFrom::End(0))?;
        input.seek(SeekFrom::Start(0))?;
        let mut head = [0; FILE_HEAD];
        if total_bytes < FILE_HEAD as u64 {
            return Err(Error::NotATrace);
        }
        input.read_exact(&mut head)?;
        if head[..8] != SIGNATURE {
            return Err(Error::NotATrace);
        }
        let version = (
            u16::from_le_bytes([head[8], head[9]]),
            u16::from_le_bytes([head[10], head[11]]),
        );
        if !(OLDEST..=MAJOR).contains(&version.0) {
            return Err(Error::Version {
                found: version.0,
                supported: MAJOR,
            });
        }
        let mut scan = Scan::default();
        let mut buffered = BufReader::with_capacity(SCAN_BUFFER, &mut input);
        let ending = scan.run(&mut buffered, total_bytes)?;
        Ok(Trace {
            input,
            version,
            header: scan.header.ok_or(Error::NoHeader)?,
            tables: scan.tables,
            part: scan.part,
            footer: scan.footer,
            ending,
            chunks: scan.chunks,
            class_bytes: scan.class_bytes,
            event_bytes: scan.event_bytes,
            total_bytes,
        })
    }

    /// The events of all threads in one legal order, up to the first place
    /// where synchronisation events are missing: what detectors take.
    pub fn events(&mut self) -> Events<'_, R> {
        Events::new(&mut self.input, self.chunks.values(), Scope::CompletePrefix)
    }

    /// The same across gaps: everything that was saved. Orderings that went
    /// through lost events are missing, so races found here may be none.
    pub fn all_events(&mut self) -> Events<'_, R> {
        Events::new(&mut self.input, self.chunks.values(), Scope::Everything)
    }

    /// The events of one thread in program order.
    pub fn thread_events(&mut self, thread: ThreadId) -> Events<'_, R> {
        let chunks = self.chunks.get(&thread);
        Events::new(&mut self.input, chunks.into_iter(), Scope::OneThread)
    }

    /// The class file of a class, if it was recorded.
    pub fn class_bytes(&mut self, class: u32) -> Result<Option<Vec<u8>>, Error> {
        let Some(&(offset, len)) = self.class_bytes.get(&class) else {
            return Ok(None);
        };
        let mut payload = Vec::new();
        read_payload(&mut self.input, offset, len, &mut payload)?;
        let mut input = Input::new(&payload);
        let mut bytes = Vec::new();
        let unpacked = input
            .u32()
            .and_then(|_| chunk::get_block(&mut input, &mut bytes));
        match unpacked {
            Some(()) => Ok(Some(bytes)),
            None => Err(Error::Damaged {
                offset,
                what: "a class file cannot be unpacked",
            }),
        }
    }
}

impl<R> Trace<R> {
    /// Format version, major and minor.
    pub fn version(&self) -> (u16, u16) {
        self.version
    }

    pub fn header(&self) -> &RunHeader {
        &self.header
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Which part of its run the trace has; absent if it has all of it.
    pub fn part(&self) -> Option<&Part> {
        self.part.as_ref()
    }

    /// Present if the run ended by itself.
    pub fn footer(&self) -> Option<&Footer> {
        self.footer.as_ref()
    }

    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Threads that have events, with how many.
    pub fn thread_counts(&self) -> impl Iterator<Item = (ThreadId, u64)> {
        self.chunks
            .iter()
            .map(|(&t, chunks)| (t, chunks.iter().map(|c| c.head.events).sum()))
    }

    /// Events in the file, counted without reading them.
    pub fn event_count(&self) -> u64 {
        self.thread_counts().map(|(_, n)| n).sum()
    }

    /// Bytes of event chunks, and of the whole file.
    pub fn sizes(&self) -> (u64, u64) {
        (self.event_bytes, self.total_bytes)
    }

    /// Classes whose class files are in the trace.
    pub fn recorded_classes(&self) -> impl Iterator<Item = u32> {
        self.class_bytes.keys().copied()
    }
}

pub(crate) fn read_payload<R: Read + Seek>(
    input: &mut R,
    offset: u64,
    len: u32,
    payload: &mut Vec<u8>,
) -> Result<(), Error> {
    input.seek(SeekFrom::Start(offset))?;
    payload.resize(len as usize, 0);
    input.read_exact(payload)?;
    Ok(())
}

/// What the first pass gathers.
#[derive(Default)]
struct Scan {
    header: Option<RunHeader>,
    tables: Tables,
    strings: Vec<Str>,
    part: Option<Part>,
    footer: Option<Footer>,
    chunks: BTreeMap<ThreadId, Vec<ChunkRef>>,
    class_bytes: BTreeMap<u32, (u64, u32)>,
    event_bytes: u64,
    block: Vec<u8>,
}

impl Scan {
    /// Goes through the chunks up to the end or to the first damaged one.
    fn run(&mut self, input: &mut impl Read, total: u64) -> Result<Ending, Error> {
        let mut offset = FILE_HEAD as u64;
        let mut payload = Vec::new();
        loop {
            let left = total - offset;
            if left == 0 {
                return Ok(match self.footer {
                    Some(_) => Ending::Finished,
                    None => Ending::Unfinished,
                });
            }
            if left < FRAME as u64 {
                return Ok(Ending::Truncated { offset });
            }
            let mut frame = [0; FRAME];
            input.read_exact(&mut frame)?;
            let damaged = |what| Ok(Ending::Damaged { offset, what });
            if frame[..4] != chunk::MAGIC {
                return damaged("no chunk begins here");
            }
            let word = |at: usize| {
                u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
            };
            let len = word(8);
            if len as usize > MAX_CHUNK {
                return damaged("its length is beyond the limit");
            }
            if u64::from(len) > left - FRAME as u64 {
                return Ok(Ending::Truncated { offset });
            }
            payload.resize(len as usize, 0);
            input.read_exact(&mut payload)?;
            if crc32(&[&frame[4..12], &payload]) != word(12) {
                return damaged("its checksum is wrong");
            }
            if word(4) >> 16 != 0 {
                return damaged("it has flags of a later version");
            }
            let at = offset + FRAME as u64;
            let sound = match Kind::from_u16(word(4) as u16) {
                Some(kind) => self.chunk(kind, at, &payload),
                None => Some(()),
            };
            if sound.is_none() {
                return damaged("its contents make no sense");
            }
            offset = at + u64::from(len);
        }
    }

    /// Takes in one chunk; `None` if it makes no sense.
    fn chunk(&mut self, kind: Kind, offset: u64, payload: &[u8]) -> Option<()> {
        let mut input = Input::new(payload);
        let len = payload.len() as u32;
        match kind {
            Kind::Events => {
                let head = Head::read(&mut input)?;
                let of_thread = self.chunks.entry(head.thread).or_default();
                let before = of_thread.last().map_or(0, |c: &ChunkRef| c.head.last_seq);
                let mut head = head;
                if head.syncs == 0 {
                    // Then the thread's latest number is still the one before.
                    head.last_seq = before;
                } else if head.first_seq <= before {
                    return None;
                }
                of_thread.push(ChunkRef { offset, len, head });
                self.event_bytes += u64::from(len) + FRAME as u64;
                Some(())
            }
            Kind::ClassBytes => {
                self.class_bytes.insert(input.u32()?, (offset, len));
                Some(())
            }
            Kind::Strings => {
                chunk::get_block(&mut input, &mut self.block)?;
                let mut input = Input::new(&self.block);
                while !input.is_empty() {
                    let (id, bytes) = split_row(&mut input)?;
                    if id != self.strings.len() as u64 {
                        return None;
                    }
                    self.strings.push(std::str::from_utf8(bytes).ok()?.into());
                }
                Some(())
            }
            Kind::Header => {
                let row = self.single(&mut input)?;
                self.header = Some(row);
                Some(())
            }
            Kind::Part => {
                let row = self.single(&mut input)?;
                self.part = Some(row);
                Some(())
            }
            Kind::Footer => {
                let row = self.single(&mut input)?;
                self.footer = Some(row);
                Some(())
            }
            _ => {
                chunk::get_block(&mut input, &mut self.block)?;
                self.tables.absorb(kind, &self.strings, &self.block)
            }
        }
    }

    fn single<T: Row>(&mut self, input: &mut Input<'_>) -> Option<T> {
        chunk::get_block(input, &mut self.block)?;
        let (_, bytes) = split_row(&mut Input::new(&self.block))?;
        T::get(&mut RowIn::new(&self.strings, bytes))
    }
}
