//! Chunks to events: the mirror of [`encode`](crate::encode). Decodes one
//! event at a time straight out of the unpacked block, so that merging many
//! threads needs a few bytes an event, not whole vectors of them.
//!
//! Claims: no panic and no allocation beyond the largest chunk, whatever the
//! bytes; and what it hands out kept the rules (sequence numbers rise, counts
//! agree with the chunk's head), or the chunk is called damaged.

use crate::chunk;
use crate::event::{Loc, ObjId, Op, SiteId, ThreadId};
use crate::model::Model;
use crate::raw::{self, Record};
use encoding::varint::Input;

/// A chunk whose checksum was right but whose contents make no sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Damaged;

/// The part of an event chunk that is not packed: enough for an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub thread: ThreadId,
    pub records: u64,
    /// Records that are events.
    pub events: u64,
    /// Records with a number.
    pub syncs: u64,
    pub first_seq: u64,
    pub last_seq: u64,
    pub starts_with_sync: bool,
}

impl Head {
    /// Reads the head; the block is left in `input`.
    pub(crate) fn read(input: &mut Input<'_>) -> Option<Head> {
        let thread = ThreadId(input.u32()?);
        let records = input.u64()?;
        let marks = input.u64()?;
        let syncs = input.u64()?;
        let first_seq = input.u64()?;
        let span = input.u64()?;
        let flags = input.byte()?;
        let numbers_agree = if syncs == 0 {
            first_seq == 0 && span == 0
        } else {
            first_seq >= raw::FIRST_SEQ && span >= syncs - 1
        };
        let head = Head {
            thread,
            records,
            events: records.checked_sub(marks)?,
            syncs,
            first_seq,
            last_seq: first_seq.checked_add(span)?,
            starts_with_sync: flags & 1 == 1,
        };
        (records > 0
            && marks <= syncs
            && syncs <= records
            && numbers_agree
            && head.last_seq < u64::MAX)
            .then_some(head)
    }
}

/// One decoded record of the chunk's thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub site: SiteId,
    /// `None`: only a number.
    pub op: Option<Op>,
    /// Its sequence number; 0 if it carries none.
    pub seq: u64,
}

/// Walks through the events of one chunk. Reused from chunk to chunk.
#[derive(Debug)]
pub(crate) struct Decoder {
    body: Vec<u8>,
    at: usize,
    /// Events not handed out yet.
    left: u64,
    state: State,
}

#[derive(Debug)]
struct State {
    model: Model,
    head: Head,
    syncs_left: u64,
    marks_left: u64,
    /// The last sequence number, or the chunk's first before there was one.
    seq: u64,
}

const NO_CHUNK: Head = Head {
    thread: ThreadId(0),
    records: 0,
    events: 0,
    syncs: 0,
    first_seq: 0,
    last_seq: 0,
    starts_with_sync: false,
};

impl Decoder {
    pub(crate) fn new() -> Self {
        Decoder {
            body: Vec::new(),
            at: 0,
            left: 0,
            state: State {
                model: Model::new(),
                head: NO_CHUNK,
                syncs_left: 0,
                marks_left: 0,
                seq: 0,
            },
        }
    }

    /// Starts on a chunk's payload.
    pub(crate) fn load(&mut self, payload: &[u8]) -> Result<Head, Damaged> {
        self.left = 0;
        let mut input = Input::new(payload);
        let head = Head::read(&mut input).ok_or(Damaged)?;
        chunk::get_block(&mut input, &mut self.body).ok_or(Damaged)?;
        self.at = 0;
        self.left = head.records;
        self.state.model.reset();
        self.state.head = head;
        self.state.syncs_left = head.syncs;
        self.state.marks_left = head.records - head.events;
        self.state.seq = head.first_seq;
        Ok(head)
    }

    /// The next event, or `None` at the end of the chunk.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Step>, Damaged> {
        if self.left == 0 {
            return self.end();
        }
        let mut input = Input::new(self.body.get(self.at..).ok_or(Damaged)?);
        let tag = input.byte().ok_or(Damaged)?;
        let step = if tag < 0x80 {
            let (site, op) = self.state.model.access(tag, &mut input).ok_or(Damaged)?;
            let op = Some(op);
            Step { site, op, seq: 0 }
        } else {
            let first = self.left == self.state.head.records;
            self.state
                .other(tag & 0x7f, first, &mut input)
                .ok_or(Damaged)?
        };
        self.left -= 1;
        self.at = self.body.len() - input.rest().len();
        Ok(Some(step))
    }

    /// Calls `f` with the accesses up to the next event of another kind or the
    /// end of the chunk.
    #[inline]
    pub(crate) fn accesses(&mut self, mut f: impl FnMut(SiteId, Op)) -> Result<(), Damaged> {
        let mut input = Input::new(self.body.get(self.at..).ok_or(Damaged)?);
        let mut left = self.left;
        while left > 0
            && let Some(&tag) = input.rest().first()
            && tag < 0x80
        {
            input.byte();
            let (site, op) = self.state.model.access(tag, &mut input).ok_or(Damaged)?;
            left -= 1;
            f(site, op);
        }
        self.left = left;
        self.at = self.body.len() - input.rest().len();
        Ok(())
    }

    /// What the head promised must have come.
    #[cold]
    fn end(&self) -> Result<Option<Step>, Damaged> {
        let state = &self.state;
        let counts = state.syncs_left == 0 && state.marks_left == 0;
        if self.at == self.body.len() && counts && state.seq == state.head.last_seq {
            Ok(None)
        } else {
            Err(Damaged)
        }
    }
}

impl Model {
    /// The access that `tag` begins.
    #[inline]
    fn access(&mut self, tag: u8, input: &mut Input<'_>) -> Option<(SiteId, Op)> {
        let (site, obj, slot) = self.decode(tag, input)?;
        let loc = Loc {
            obj: ObjId(obj),
            slot,
        };
        let op = if tag & 1 == 0 {
            Op::Read(loc)
        } else {
            Op::Write(loc)
        };
        Some((SiteId(site), op))
    }
}

impl State {
    /// Events other than accesses.
    fn other(&mut self, opcode: u8, first: bool, input: &mut Input<'_>) -> Option<Step> {
        let codes = input.byte()?;
        let (site, operand, slot) = self.model.decode(codes, input)?;
        let mut seq = 0;
        if raw::is_sync(opcode) {
            let distance = input.u64()?;
            let first_sync = self.syncs_left == self.head.syncs;
            if (distance == 0) != first_sync || first_sync && first != self.head.starts_with_sync {
                return None;
            }
            self.syncs_left = self.syncs_left.checked_sub(1)?;
            self.seq = self.seq.checked_add(distance)?;
            seq = self.seq;
        }
        let record = Record {
            opcode,
            mode: codes & 1 | codes >> 6 & 2,
            site,
            operand,
            slot,
            seq,
        };
        let op = match opcode {
            raw::ORDER => {
                self.marks_left = self.marks_left.checked_sub(1)?;
                None
            }
            // Accesses have a form of their own: one way to write an event.
            raw::READ | raw::WRITE => return None,
            _ => Some(record.op()?),
        };
        let site = SiteId(site);
        Some(Step { site, op, seq })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::FRAME;
    use crate::event::{LockId, Mode};
    use crate::{Encoder, raw};

    fn steps(chunk: &[u8]) -> Result<(Head, Vec<Step>), Damaged> {
        let mut decoder = Decoder::new();
        let head = decoder.load(&chunk[FRAME..])?;
        let mut out = Vec::new();
        while let Some(step) = decoder.next()? {
            out.push(step);
        }
        Ok((head, out))
    }

    #[test]
    fn a_buffer_of_the_jvm_comes_back() {
        let loc = |obj, slot| Loc {
            obj: ObjId(obj),
            slot,
        };
        let lock = LockId(ObjId(1 << 40));
        let sequence = [
            (0, Op::Begin, 7),
            (10, Op::Acquire(lock), 8),
            (11, Op::Read(loc(5, 3)), 0),
            (12, Op::Write(loc(5, 3)), 0),
            (11, Op::Read(loc(u64::MAX, u32::MAX)), 0),
            (u32::MAX, Op::AtomicUpdate(loc(9, 77), Mode::Volatile), 100),
            (1, Op::AtomicRead(loc(9, 77), Mode::AcqRel), 1 << 50),
            (13, Op::Branch(4), 0),
            (
                14,
                Op::WaitEnd {
                    lock,
                    notified: true,
                },
                (1 << 50) + 1,
            ),
            (0, Op::End, u64::MAX - 1),
        ];
        let mut words = Vec::new();
        for (site, op, seq) in sequence {
            raw::pack(SiteId(site), op, seq, &mut words);
        }
        // What the JVM may leave behind: an unwritten record, nonsense, and a
        // number that goes back.
        words.extend([0, 1, 2]);
        words.extend([200, 1, 2]);
        words.extend([u64::from(raw::ACQUIRE), 1, 6]);

        let mut chunk = Vec::new();
        let done = raw::encode_raw_chunk(ThreadId(3), &words, &mut chunk);
        assert_eq!((done.events, done.syncs, done.dropped), (10, 6, 2));
        assert_eq!((done.first_seq, done.last_seq), (7, u64::MAX - 1));
        let (head, back) = steps(&chunk).unwrap();
        assert_eq!(head.thread, ThreadId(3));
        assert!(head.starts_with_sync);
        let expected: Vec<Step> = sequence
            .into_iter()
            .map(|(site, op, seq)| Step {
                site: SiteId(site),
                op: Some(op),
                seq,
            })
            .collect();
        assert_eq!(back, expected);

        let mut same = Vec::new();
        Encoder::new().chunk(
            ThreadId(3),
            sequence.map(|(site, op, seq)| (SiteId(site), op, seq)),
            &mut same,
        );
        assert_eq!(same, chunk);
    }

    #[test]
    fn an_atomic_record_without_its_slot_is_dropped() {
        let mut words = Vec::new();
        let loc = Loc {
            obj: ObjId(1),
            slot: 2,
        };
        raw::pack(SiteId(1), Op::Read(loc), 0, &mut words);
        raw::pack(
            SiteId(1),
            Op::AtomicRead(loc, Mode::Volatile),
            5,
            &mut words,
        );
        words.truncate(6);
        let mut chunk = Vec::new();
        let done = raw::encode_raw_chunk(ThreadId(0), &words, &mut chunk);
        assert_eq!((done.events, done.dropped), (1, 1));
        assert_eq!(steps(&chunk).unwrap().1.len(), 1);
    }

    #[test]
    fn nothing_makes_no_chunk() {
        let mut chunk = Vec::new();
        let done = raw::encode_raw_chunk(ThreadId(0), &[0; 30], &mut chunk);
        assert_eq!(done, Default::default());
        assert!(chunk.is_empty());
    }
}
