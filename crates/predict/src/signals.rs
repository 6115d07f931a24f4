//! Orders that happens-before does not have and a schedule does: a thread goes
//! on from `park`, or from a wait that an interrupt ended, only after the thread that
//! made it do so. The memory model promises nothing there, so detectors must
//! not order by it; a reordering that ignored it could not be run.

use order::VectorClock;
use rustc_hash::FxHashMap;
use trace::{Event, Op, ThreadId};

/// What those who signalled each thread knew.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    sent: FxHashMap<ThreadId, VectorClock>,
}

/// Whom an event signals, if it does.
pub(crate) fn target(op: Op) -> Option<ThreadId> {
    match op {
        Op::Unpark(thread) | Op::Interrupt(thread) => Some(thread),
        _ => None,
    }
}

/// Whether an event may have needed a signal.
pub(crate) fn awaits(op: Op) -> bool {
    matches!(op, Op::Park | Op::Interrupted | Op::WaitEnd { .. })
}

impl Signals {
    /// Learns what the signals of `e`'s thread say, if `e` may depend on one.
    pub fn receive(&self, e: &Event) -> Option<&VectorClock> {
        awaits(e.op).then(|| self.sent.get(&e.thread)).flatten()
    }

    /// True if `e` is a signal: the caller then ends its epoch.
    pub fn send(&mut self, e: &Event, known: &VectorClock) -> bool {
        let Some(thread) = target(e.op) else {
            return false;
        };
        self.sent.entry(thread).or_default().join(known);
        true
    }
}
