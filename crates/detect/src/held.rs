//! Which locks each thread holds.

use order::{Held, LockSetId, LockSets};
use rustc_hash::FxHashMap;
use trace::{Event, LockId, Op, ThreadId};

/// The locksets of all threads, and the table that interns them.
#[derive(Debug, Default)]
pub struct HeldLocks {
    pub sets: LockSets,
    /// Threads that hold nothing are absent.
    threads: FxHashMap<ThreadId, LockSetId>,
}

impl HeldLocks {
    /// What `thread` holds now.
    pub fn locks_of(&self, thread: ThreadId) -> LockSetId {
        self.threads.get(&thread).copied().unwrap_or_default()
    }

    /// Takes note of lock events; others change nothing.
    pub fn event(&mut self, e: &Event) {
        let (LockId(object), shared, taken) = match e.op {
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } => (lock, false, true),
            Op::Release(lock) | Op::WaitBegin(lock) => (lock, false, false),
            Op::AcquireShared(lock) => (lock, true, true),
            Op::ReleaseShared(lock) => (lock, true, false),
            Op::End => {
                self.threads.remove(&e.thread);
                return;
            }
            _ => return,
        };
        let held = Held {
            lock: object.0,
            shared,
        };
        let old = self.locks_of(e.thread);
        let new = if taken {
            self.sets.insert(old, held)
        } else {
            self.sets.remove(old, held)
        };
        if new == LockSetId::EMPTY {
            self.threads.remove(&e.thread);
        } else {
            self.threads.insert(e.thread, new);
        }
    }
}
