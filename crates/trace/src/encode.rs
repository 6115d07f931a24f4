//! Events to chunks. In the JVM this runs on the program's own time, so it
//! makes one pass, guesses through the [model](crate::model), and leaves what
//! repeats to LZ4.
//!
//! Payload of an event chunk: varints thread, number of records, how many of
//! them are no events (`ORDER`), how many have a sequence number, the first
//! such number, last minus first (both 0 if there are none); a byte of flags
//! (bit 0: the first record has a number); a block with the records in program
//! order.
//!
//! A record in the block:
//! ```text
//! access   0 ss ll oo w       s site code, l slot code, o object code, w write
//! other    1 opcode           then  m1 ss ll oo m0   (m mode, two bits)
//! ```
//! followed by what the codes ask for: site, object, slot (see `model`), and
//! for synchronisation events the distance to the thread's previous sequence
//! number in the chunk (the first: 0, it is in the chunk's head).

use crate::chunk::{self, Kind};
use crate::event::{Op, SiteId, ThreadId};
use crate::model::Model;
use crate::raw::{self, Record, Records};
use encoding::varint::put;

/// Longer sequences are split: 32 bytes a record at worst stay far below the
/// largest chunk.
const MAX_RECORDS: u64 = 1 << 20;

/// What went into the chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Encoded {
    /// Not counting `ORDER` records.
    pub events: u64,
    /// Records that carry a sequence number.
    pub syncs: u64,
    /// Smallest and largest sequence number; 0 if there are none.
    pub first_seq: u64,
    pub last_seq: u64,
    /// Records that made no sense (unknown opcode, no sequence number or one
    /// not larger than the thread's previous one, a missing `SLOT`) and were
    /// left out.
    pub dropped: u64,
}

/// Turns events of one thread into chunks. Keeps its tables and buffers
/// between chunks, and nothing else: any encoder can do any chunk.
#[derive(Debug)]
pub struct Encoder {
    model: Model,
    body: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Encoder::new()
    }
}

impl Encoder {
    pub fn new() -> Self {
        Encoder {
            model: Model::new(),
            body: Vec::new(),
        }
    }

    /// Appends the records of a raw buffer (see [`raw`]) to `out` as a
    /// complete chunk, or several if there are more than a million.
    pub fn raw_chunk(&mut self, thread: ThreadId, words: &[u64], out: &mut Vec<u8>) -> Encoded {
        let mut records = Records::new(words);
        let mut total = self.records(thread, &mut records, out);
        total.dropped += records.dropped;
        total
    }

    /// The same for events with their sequence numbers (not looked at for
    /// events that carry none).
    pub fn chunk(
        &mut self,
        thread: ThreadId,
        events: impl IntoIterator<Item = (SiteId, Op, u64)>,
        out: &mut Vec<u8>,
    ) -> Encoded {
        let records = events
            .into_iter()
            .map(|(site, op, seq)| Record::new(site, op, seq));
        self.records(thread, records, out)
    }

    pub(crate) fn records(
        &mut self,
        thread: ThreadId,
        mut records: impl Iterator<Item = Record>,
        out: &mut Vec<u8>,
    ) -> Encoded {
        let mut total = Encoded::default();
        loop {
            let (part, more) = self.one(thread, &mut records, total.last_seq, out);
            total.events += part.events;
            total.syncs += part.syncs;
            total.dropped += part.dropped;
            if part.syncs > 0 {
                if total.first_seq == 0 {
                    total.first_seq = part.first_seq;
                }
                total.last_seq = part.last_seq;
            }
            if !more {
                return total;
            }
        }
    }

    /// At most one chunk; and whether there may be more records.
    fn one(
        &mut self,
        thread: ThreadId,
        records: &mut impl Iterator<Item = Record>,
        seq_before: u64,
        out: &mut Vec<u8>,
    ) -> (Encoded, bool) {
        self.model.reset();
        self.body.clear();
        let body = &mut self.body;
        let mut sum = Encoded::default();
        let mut count = 0;
        let mut marks = 0;
        let mut starts_with_sync = false;
        let mut more = false;
        let mut seq = seq_before;
        for r in &mut *records {
            if matches!(r.opcode, raw::READ | raw::WRITE) {
                let at = body.len();
                body.push(0);
                let codes = self.model.encode(r.site, r.operand, Some(r.slot), body);
                body[at] = codes | (r.opcode - raw::READ);
            } else {
                let sync = raw::is_sync(r.opcode);
                if sync && (r.seq <= seq || r.seq == u64::MAX) {
                    sum.dropped += 1;
                    continue;
                }
                let at = body.len();
                body.extend([0x80 | r.opcode, 0]);
                let slot = (r.opcode <= raw::ATOMIC_UPDATE).then_some(r.slot);
                let codes = self.model.encode(r.site, r.operand, slot, body);
                body[at + 1] = codes | (r.mode & 1) | (r.mode & 2) << 6;
                marks += u64::from(r.opcode == raw::ORDER);
                if sync {
                    if sum.syncs == 0 {
                        sum.first_seq = r.seq;
                        starts_with_sync = count == 0;
                        put(body, 0);
                    } else {
                        put(body, r.seq - seq);
                    }
                    sum.syncs += 1;
                    seq = r.seq;
                }
            }
            count += 1;
            if count >= MAX_RECORDS {
                more = true;
                break;
            }
        }
        if sum.syncs > 0 {
            sum.last_seq = seq;
        }
        sum.events = count - marks;
        if count > 0 {
            let at = chunk::start(Kind::Events, out);
            put(out, u64::from(thread.0));
            put(out, count);
            put(out, marks);
            put(out, sum.syncs);
            put(out, sum.first_seq);
            put(out, sum.last_seq - sum.first_seq);
            out.push(u8::from(starts_with_sync));
            chunk::put_block(body, out);
            chunk::finish(at, out);
        }
        (sum, more)
    }
}
