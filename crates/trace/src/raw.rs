//! The records that probes write into a thread's buffer inside the JVM, and
//! how the agent turns a full buffer into a chunk of the trace.
//!
//! A record is three 64-bit words in the machine's byte order (24 bytes). The
//! bridge classes write them with `Unsafe.putLong`, so the numbers below are
//! generated into Java from here (crates/contract). They are also
//! the opcodes inside event chunks, hence part of the file format.
//!
//! ```text
//! w0   bits  0..8   opcode
//!      bits  8..16  mode or flag
//!      bits 16..48  site
//!      bits 48..64  zero
//! w1   operand
//! w2   READ, WRITE: slot          synchronisation: sequence number
//! ```
//!
//! | opcode | name | mode | w1 | w2 |
//! |---|---|---|---|---|
//! | 0 | `NONE` (unwritten, skipped) | | | |
//! | 1 | `READ` | 0 | object | slot |
//! | 2 | `WRITE` | 0 | object | slot |
//! | 3 | `ATOMIC_READ` | mode | object | seq, `SLOT` follows |
//! | 4 | `ATOMIC_WRITE` | mode | object | seq, `SLOT` follows |
//! | 5 | `ATOMIC_UPDATE` | mode | object | seq, `SLOT` follows |
//! | 6 | `ACQUIRE` | 0 | lock object | seq |
//! | 7 | `RELEASE` | 0 | lock object | seq |
//! | 8 | `ACQUIRE_SHARED` | 0 | lock object | seq |
//! | 9 | `RELEASE_SHARED` | 0 | lock object | seq |
//! | 10 | `WAIT_BEGIN` | 0 | lock object | seq |
//! | 11 | `WAIT_END` | 1 if notified | lock object | seq |
//! | 12 | `NOTIFY` | 0 | lock object | seq |
//! | 13 | `NOTIFY_ALL` | 0 | lock object | seq |
//! | 14 | `FORK` | 0 | thread | seq |
//! | 15 | `BEGIN` | 0 | 0 | seq |
//! | 16 | `END` | 0 | 0 | seq |
//! | 17 | `JOIN` | 0 | thread | seq |
//! | 18 | `INTERRUPT` | 0 | thread | seq |
//! | 19 | `INTERRUPTED` | 0 | 0 | seq |
//! | 20 | `PARK` | 0 | 0 | seq |
//! | 21 | `UNPARK` | 0 | thread | seq |
//! | 22 | `SYNC_RELEASE` | 0 | object | seq |
//! | 23 | `SYNC_ACQUIRE` | 0 | object | seq |
//! | 24 | `INIT_BEGIN` | 0 | class mirror | seq |
//! | 25 | `INIT_END` | 0 | class mirror | seq |
//! | 26 | `METHOD_ENTER` | 0 | steps | 0 |
//! | 27 | `METHOD_EXIT` | 0 | steps | 0 |
//! | 28 | `BRANCH` | 0 | outcomes, key, steps or count | 0 |
//! | 29 | `SLOT` (continues the record before it) | 0 | slot | 0 |
//! | 30 | `ORDER` (no event) | 0 | 0 | seq |
//! | 31 | `UNSURE` | 0 | reads | 0 |
//!
//! What 26 to 28 mean is told in `docs/trace-format.md`.
//!
//! Modes of 3 to 5: 0 opaque, 1 acquire/release, 2 volatile. `ORDER` takes a
//! number without being an event: accesses after it are ordered by that number.
//! A producer that knows the order of all accesses (a scheduler, another tool's trace)
//! keeps it with these; see [`crate::LinearWriter`].
//!
//! Rules for the writer of records:
//! - Sequence numbers come from one counter of the run that starts at 1 and
//!   gives every number once. Their order is a legal order of the
//!   synchronisation: a release takes its number before it lets go, an acquire
//!   after it got hold.
//! - A compare-and-set takes its number before it is tried, since a thread that sees
//!   what it wrote has a later one. If it fails, `ORDER` stands there instead,
//!   and an `ATOMIC_READ` with a number of its own follows.
//! - An atomic record and its `SLOT` stand in the same buffer: make room for
//!   both (48 bytes) before writing the first.
//! - Write w1 and w2, then w0: a buffer taken away in the middle of a record
//!   then shows `NONE` there, if it was zeroed before.
//!
//! Records that break the rules are left out and counted
//! ([`Encoded::dropped`]); if they were synchronisation, a gap in the sequence
//! numbers tells the reader of the trace.

use crate::encode::{Encoded, Encoder};
use crate::event::{Event, Loc, LockId, Mode, ObjId, Op, SiteId, ThreadId};

/// Words in a record.
pub const WORDS: usize = 3;
/// Bytes in a record.
pub const BYTES: usize = WORDS * 8;
/// Where w0 holds the mode, and the site.
pub const MODE_SHIFT: u32 = 8;
pub const SITE_SHIFT: u32 = 16;
/// Sequence numbers start here; 0 never is one.
pub const FIRST_SEQ: u64 = 1;

pub const NONE: u8 = 0;
pub const READ: u8 = 1;
pub const WRITE: u8 = 2;
pub const ATOMIC_READ: u8 = 3;
pub const ATOMIC_WRITE: u8 = 4;
pub const ATOMIC_UPDATE: u8 = 5;
pub const ACQUIRE: u8 = 6;
pub const RELEASE: u8 = 7;
pub const ACQUIRE_SHARED: u8 = 8;
pub const RELEASE_SHARED: u8 = 9;
pub const WAIT_BEGIN: u8 = 10;
pub const WAIT_END: u8 = 11;
pub const NOTIFY: u8 = 12;
pub const NOTIFY_ALL: u8 = 13;
pub const FORK: u8 = 14;
pub const BEGIN: u8 = 15;
pub const END: u8 = 16;
pub const JOIN: u8 = 17;
pub const INTERRUPT: u8 = 18;
pub const INTERRUPTED: u8 = 19;
pub const PARK: u8 = 20;
pub const UNPARK: u8 = 21;
pub const SYNC_RELEASE: u8 = 22;
pub const SYNC_ACQUIRE: u8 = 23;
pub const INIT_BEGIN: u8 = 24;
pub const INIT_END: u8 = 25;
pub const METHOD_ENTER: u8 = 26;
pub const METHOD_EXIT: u8 = 27;
pub const BRANCH: u8 = 28;
pub const SLOT: u8 = 29;
pub const ORDER: u8 = 30;
pub const UNSURE: u8 = 31;

pub const OPAQUE: u8 = 0;
pub const ACQ_REL: u8 = 1;
pub const VOLATILE: u8 = 2;

/// Whether records of this opcode carry a sequence number.
#[inline]
pub const fn is_sync(opcode: u8) -> bool {
    opcode >= ATOMIC_READ && opcode <= INIT_END || opcode == ORDER
}

/// Whether w1 is a number of 32 bits (a thread, a method, a jump target).
#[inline]
const fn is_narrow(opcode: u8) -> bool {
    matches!(
        opcode,
        FORK | JOIN | INTERRUPT | UNPARK | METHOD_ENTER | METHOD_EXIT | BRANCH | UNSURE
    )
}

/// An event with its parts laid out the same way for every opcode: what both
/// codecs work on. Parts that an opcode has no use for are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub opcode: u8,
    pub mode: u8,
    pub site: u32,
    pub operand: u64,
    pub slot: u32,
    pub seq: u64,
}

impl Record {
    pub(crate) fn new(site: SiteId, op: Op, seq: u64) -> Record {
        let none = ObjId(0);
        let thread = |t: ThreadId| ObjId(u64::from(t.0));
        let number = |n: u32| ObjId(u64::from(n));
        let (opcode, mode, ObjId(operand), slot) = match op {
            Op::Read(l) => (READ, 0, l.obj, l.slot),
            Op::Write(l) => (WRITE, 0, l.obj, l.slot),
            Op::AtomicRead(l, m) => (ATOMIC_READ, m as u8, l.obj, l.slot),
            Op::AtomicWrite(l, m) => (ATOMIC_WRITE, m as u8, l.obj, l.slot),
            Op::AtomicUpdate(l, m) => (ATOMIC_UPDATE, m as u8, l.obj, l.slot),
            Op::Acquire(l) => (ACQUIRE, 0, l.0, 0),
            Op::Release(l) => (RELEASE, 0, l.0, 0),
            Op::AcquireShared(l) => (ACQUIRE_SHARED, 0, l.0, 0),
            Op::ReleaseShared(l) => (RELEASE_SHARED, 0, l.0, 0),
            Op::WaitBegin(l) => (WAIT_BEGIN, 0, l.0, 0),
            Op::WaitEnd { lock, notified } => (WAIT_END, u8::from(notified), lock.0, 0),
            Op::Notify(l) => (NOTIFY, 0, l.0, 0),
            Op::NotifyAll(l) => (NOTIFY_ALL, 0, l.0, 0),
            Op::Fork(t) => (FORK, 0, thread(t), 0),
            Op::Begin => (BEGIN, 0, none, 0),
            Op::End => (END, 0, none, 0),
            Op::Join(t) => (JOIN, 0, thread(t), 0),
            Op::Interrupt(t) => (INTERRUPT, 0, thread(t), 0),
            Op::Interrupted => (INTERRUPTED, 0, none, 0),
            Op::Park => (PARK, 0, none, 0),
            Op::Unpark(t) => (UNPARK, 0, thread(t), 0),
            Op::SyncRelease(o) => (SYNC_RELEASE, 0, o, 0),
            Op::SyncAcquire(o) => (SYNC_ACQUIRE, 0, o, 0),
            Op::InitBegin(o) => (INIT_BEGIN, 0, o, 0),
            Op::InitEnd(o) => (INIT_END, 0, o, 0),
            Op::MethodEnter(n) => (METHOD_ENTER, 0, number(n), 0),
            Op::MethodExit(n) => (METHOD_EXIT, 0, number(n), 0),
            Op::Branch(n) => (BRANCH, 0, number(n), 0),
            Op::Unsure(n) => (UNSURE, 0, number(n), 0),
        };
        Record {
            opcode,
            mode,
            site: site.0,
            operand,
            slot,
            seq: if is_sync(opcode) { seq } else { 0 },
        }
    }

    /// A number without an event.
    pub(crate) fn order(seq: u64) -> Record {
        Record {
            opcode: ORDER,
            mode: 0,
            site: 0,
            operand: 0,
            slot: 0,
            seq,
        }
    }

    /// The operation, unless the record makes no sense or is none.
    #[inline]
    pub(crate) fn op(&self) -> Option<Op> {
        let obj = ObjId(self.operand);
        let lock = LockId(obj);
        let loc = Loc {
            obj,
            slot: self.slot,
        };
        let narrow = u32::try_from(self.operand).ok();
        let thread = narrow.map(ThreadId);
        let mode = match self.mode {
            OPAQUE => Some(Mode::Opaque),
            ACQ_REL => Some(Mode::AcqRel),
            VOLATILE => Some(Mode::Volatile),
            _ => None,
        };
        Some(match self.opcode {
            READ => Op::Read(loc),
            WRITE => Op::Write(loc),
            ATOMIC_READ => Op::AtomicRead(loc, mode?),
            ATOMIC_WRITE => Op::AtomicWrite(loc, mode?),
            ATOMIC_UPDATE => Op::AtomicUpdate(loc, mode?),
            ACQUIRE => Op::Acquire(lock),
            RELEASE => Op::Release(lock),
            ACQUIRE_SHARED => Op::AcquireShared(lock),
            RELEASE_SHARED => Op::ReleaseShared(lock),
            WAIT_BEGIN => Op::WaitBegin(lock),
            WAIT_END => Op::WaitEnd {
                lock,
                notified: self.mode != 0,
            },
            NOTIFY => Op::Notify(lock),
            NOTIFY_ALL => Op::NotifyAll(lock),
            FORK => Op::Fork(thread?),
            BEGIN => Op::Begin,
            END => Op::End,
            JOIN => Op::Join(thread?),
            INTERRUPT => Op::Interrupt(thread?),
            INTERRUPTED => Op::Interrupted,
            PARK => Op::Park,
            UNPARK => Op::Unpark(thread?),
            SYNC_RELEASE => Op::SyncRelease(obj),
            SYNC_ACQUIRE => Op::SyncAcquire(obj),
            INIT_BEGIN => Op::InitBegin(obj),
            INIT_END => Op::InitEnd(obj),
            METHOD_ENTER => Op::MethodEnter(narrow?),
            METHOD_EXIT => Op::MethodExit(narrow?),
            BRANCH => Op::Branch(narrow?),
            UNSURE => Op::Unsure(narrow?),
            _ => return None,
        })
    }
}

/// Appends the words of one event; `seq` is used if the event has one. For
/// tests and producers outside the JVM.
pub fn pack(site: SiteId, op: Op, seq: u64, out: &mut Vec<u64>) {
    let r = Record::new(site, op, seq);
    let w0 =
        u64::from(r.opcode) | u64::from(r.mode) << MODE_SHIFT | u64::from(r.site) << SITE_SHIFT;
    let w2 = if is_sync(r.opcode) {
        r.seq
    } else {
        u64::from(r.slot)
    };
    out.extend([w0, r.operand, w2]);
    if matches!(r.opcode, ATOMIC_READ | ATOMIC_WRITE | ATOMIC_UPDATE) {
        out.extend([u64::from(SLOT), u64::from(r.slot), 0]);
    }
}

/// Reads the records of a buffer back as events of `thread`, with sequence
/// numbers (0 for those that have none); broken records are left out.
pub fn unpack(thread: ThreadId, words: &[u64]) -> impl Iterator<Item = (Event, u64)> {
    let mut records = Records::new(words);
    std::iter::from_fn(move || {
        loop {
            let r = records.next()?;
            if let Some(op) = r.op() {
                let site = SiteId(r.site);
                return Some((Event { thread, site, op }, r.seq));
            }
        }
    })
}

/// [`Encoder::raw_chunk`] for callers that keep no encoder: appends one
/// complete chunk (frame, checksum and all) to `out`, ready for a single
/// write. Nothing is appended if there is no event in `words`.
pub fn encode_raw_chunk(thread: ThreadId, words: &[u64], out: &mut Vec<u8>) -> Encoded {
    Encoder::new().raw_chunk(thread, words, out)
}

/// [`Encoder::chunk`] for callers that keep no encoder: events of `thread` in
/// program order, each with its sequence number (not looked at for events that
/// carry none).
pub fn encode_chunk(
    thread: ThreadId,
    events: impl IntoIterator<Item = (SiteId, Op, u64)>,
    out: &mut Vec<u8>,
) -> Encoded {
    Encoder::new().chunk(thread, events, out)
}

/// The well-formed records among `words`, continuations folded in.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    words: &'a [u64],
    pub dropped: u64,
}

impl<'a> Records<'a> {
    pub(crate) fn new(words: &'a [u64]) -> Self {
        Records { words, dropped: 0 }
    }

    /// Parts of a record other than an access; `None` if it breaks the rules.
    fn rare(&mut self, w0: u64, w1: u64, w2: u64) -> Option<Record> {
        let mut r = Record {
            opcode: w0 as u8,
            mode: (w0 >> MODE_SHIFT) as u8,
            site: (w0 >> SITE_SHIFT) as u32,
            operand: w1,
            slot: 0,
            seq: 0,
        };
        if matches!(r.opcode, ATOMIC_READ | ATOMIC_WRITE | ATOMIC_UPDATE) {
            let (&[c0, c1, _], rest) = self.words.split_first_chunk::<WORDS>()?;
            if c0 as u8 != SLOT || r.mode > VOLATILE {
                return None;
            }
            self.words = rest;
            r.slot = u32::try_from(c1).ok()?;
        } else if r.opcode == WAIT_END {
            r.mode = u8::from(r.mode != 0);
        } else {
            r.mode = 0;
        }
        if is_sync(r.opcode) {
            if w2 < FIRST_SEQ {
                return None;
            }
            r.seq = w2;
        }
        let known = r.opcode <= BRANCH || matches!(r.opcode, ORDER | UNSURE);
        let fits = !is_narrow(r.opcode) || u32::try_from(w1).is_ok();
        if matches!(r.opcode, BEGIN | END | INTERRUPTED | PARK | ORDER) {
            r.operand = 0;
        }
        (known && fits).then_some(r)
    }
}

impl Iterator for Records<'_> {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        loop {
            let (&[w0, w1, w2], rest) = self.words.split_first_chunk::<WORDS>()?;
            self.words = rest;
            let opcode = w0 as u8;
            if matches!(opcode, READ | WRITE) {
                return Some(Record {
                    opcode,
                    mode: 0,
                    site: (w0 >> SITE_SHIFT) as u32,
                    operand: w1,
                    slot: w2 as u32,
                    seq: 0,
                });
            }
            if opcode == NONE {
                continue;
            }
            match self.rare(w0, w1, w2) {
                Some(r) => return Some(r),
                None => self.dropped += 1,
            }
        }
    }
}
