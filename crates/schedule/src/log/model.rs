//! What makes steps short: writer and reader guess alike what comes next, and
//! only what was guessed wrong is written.
//!
//! A thread's statement is guessed from its statement before; the place a
//! statement accesses from where it went the last time. Tables have a fixed
//! size and are indexed modulo it, so no input makes them grow.

use crate::op::{Kind, Op, Thread};
use encoding::varint::{Input, put, put_delta};

const SITES: usize = 1024;
const THREADS: usize = 256;

/// Bits of a step's first byte; the low five are the kind.
pub(super) const STEP: u8 = 0x80;
const SAME_THREAD: u8 = 0x40;
const NEXT_SITE: u8 = 0x20;
/// Bits of its place byte, which comes last before what it asks for.
const SAME_OBJ: u8 = 1;
const SAME_SLOT: u8 = 2;
/// Relative to the last object of any step, else to this statement's.
const FROM_LAST: u8 = 4;

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    next: u32,
    obj: u64,
    slot: u32,
}

#[derive(Debug)]
pub(super) struct Model {
    rows: Vec<Row>,
    /// The last site of each thread.
    at: Vec<u32>,
    thread: Thread,
    obj: u64,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            rows: vec![Row::default(); SITES],
            at: vec![0; THREADS],
            thread: 0,
            obj: 0,
        }
    }
}

impl Model {
    pub(super) fn put(&mut self, out: &mut Vec<u8>, thread: Thread, op: &Op) {
        let before = self.at[thread as usize % THREADS];
        let next = self.rows[before as usize % SITES].next;
        let row = self.rows[op.site as usize % SITES];
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        out.push(
            STEP | op.kind as u8
                | flag(thread == self.thread, SAME_THREAD)
                | flag(op.site == next, NEXT_SITE),
        );
        if thread != self.thread {
            put(out, u64::from(thread));
        }
        if op.site != next {
            put_delta(out, u64::from(before), u64::from(op.site));
        }
        let near = |from: u64| from.wrapping_sub(op.obj).cast_signed().unsigned_abs();
        let from_last = op.obj != row.obj && near(self.obj) < near(row.obj);
        out.push(
            flag(op.obj == row.obj, SAME_OBJ)
                | flag(op.slot == row.slot, SAME_SLOT)
                | flag(from_last, FROM_LAST),
        );
        if op.obj != row.obj {
            put_delta(out, if from_last { self.obj } else { row.obj }, op.obj);
        }
        if op.slot != row.slot {
            put_delta(out, u64::from(row.slot), u64::from(op.slot));
        }
        self.learn(before, thread, op);
    }

    /// The step that begins with `first`, of which the rest is in `input`.
    pub(super) fn take(&mut self, first: u8, input: &mut Input<'_>) -> Option<(Thread, Op)> {
        let kind = Kind::from_number(first & 0x1f)?;
        let thread = match first & SAME_THREAD {
            0 => input.u32()?,
            _ => self.thread,
        };
        let before = self.at[thread as usize % THREADS];
        let site = match first & NEXT_SITE {
            0 => u32::try_from(input.delta(u64::from(before))?).ok()?,
            _ => self.rows[before as usize % SITES].next,
        };
        let row = self.rows[site as usize % SITES];
        let place = input.byte()?;
        if place > (SAME_OBJ | SAME_SLOT | FROM_LAST) {
            return None;
        }
        let obj = match place & (SAME_OBJ | FROM_LAST) {
            0 => input.delta(row.obj)?,
            FROM_LAST => input.delta(self.obj)?,
            _ => row.obj,
        };
        let slot = match place & SAME_SLOT {
            0 => u32::try_from(input.delta(u64::from(row.slot))?).ok()?,
            _ => row.slot,
        };
        let op = Op {
            kind,
            site,
            obj,
            slot,
        };
        self.learn(before, thread, &op);
        Some((thread, op))
    }

    fn learn(&mut self, before: u32, thread: Thread, op: &Op) {
        self.rows[before as usize % SITES].next = op.site;
        let row = &mut self.rows[op.site as usize % SITES];
        row.obj = op.obj;
        row.slot = op.slot;
        self.at[thread as usize % THREADS] = op.site;
        self.thread = thread;
        self.obj = op.obj;
    }
}
