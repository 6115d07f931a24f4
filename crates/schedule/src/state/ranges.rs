//! Operations on many elements at once (`System.arraycopy`, `clone`): one step,
//! of which a strategy sees one element.
//!
//! Which one: an element that another ready thread is at, so that the two are seen
//! to conflict if and only if they do; else the first. A thread that stands before
//! ranges is shown at another element when somebody else comes to one of them. It
//! depends on what is ready alone, so the same seed makes the same run.

use super::SchedulerState;
use crate::{Kind, Next, Op, Ready, Status, Thread};

/// Consecutive elements: the operation on the first, and how many slots they
/// take up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub op: Op,
    pub slots: u32,
}

impl Range {
    /// The first slot that both have, if they conflict there.
    fn meets(&self, other: &Range) -> Option<u32> {
        let end = |r: &Range| r.op.slot.saturating_add(r.slots.max(1));
        let slot = self.op.slot.max(other.op.slot);
        let both = slot < end(self).min(end(other));
        let [mine, theirs] = [self.op, other.op].map(|op| Op { slot, ..op });
        (both && mine.conflicts(&theirs)).then_some(slot)
    }
}

impl SchedulerState {
    /// The running thread is about to access all of the ranges, in one operation.
    pub fn ranges(&mut self, me: Thread, ranges: &[Range]) -> Next {
        let Some(first) = ranges.first() else {
            return self.point(me, super::op(Kind::Yield, 0, 0));
        };
        if let Some(slot) = self.slots.get_mut(me as usize) {
            slot.ranges = ranges.to_vec();
        }
        self.point(me, first.op)
    }

    /// Shows each thread that stands before ranges at an element that another is at.
    pub(super) fn aim(&mut self) {
        let ready = self.ready.clone();
        let ranges = |r: &Ready| match self.slots.get(r.thread as usize) {
            Some(slot) if !slot.ranges.is_empty() => slot.ranges.clone(),
            _ => vec![Range { op: r.op, slots: 1 }],
        };
        let all: Vec<(Thread, Vec<Range>)> = ready.iter().map(|r| (r.thread, ranges(r))).collect();
        for (at, (thread, mine)) in all.iter().enumerate() {
            if self.slots[*thread as usize].ranges.is_empty() {
                continue;
            }
            let others = all.iter().filter(|(other, _)| other != thread);
            let mut others = others.flat_map(|(_, theirs)| theirs);
            let met = others.find_map(|theirs| {
                let mut mine = mine.iter();
                mine.find_map(|range| {
                    Some(Op {
                        slot: range.meets(theirs)?,
                        ..range.op
                    })
                })
            });
            if let Some(op) = met.or_else(|| Some(mine.first()?.op)) {
                self.ready[at].op = op;
                self.slots[*thread as usize].status = Status::Ready(op);
            }
        }
    }
}
