//! Queries of the scheduler state: nothing here changes it.

use super::{SchedulerState, Slot};
use crate::Thread;
use crate::status::{Status, Wake, Why};

impl SchedulerState {
    /// How often the turn was given to somebody.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    pub fn status(&self, thread: Thread) -> Status {
        self.slots
            .get(thread as usize)
            .map_or(Status::Ended, |s| s.status)
    }

    /// How the thread came to go on after it was blocked.
    pub fn woken(&self, thread: Thread) -> Wake {
        self.slots
            .get(thread as usize)
            .map_or(Wake::default(), |s| s.wake)
    }

    pub fn is_daemon(&self, thread: Thread) -> bool {
        self.slots.get(thread as usize).is_some_and(|s| s.daemon)
    }

    pub fn running(&self) -> Option<Thread> {
        self.running
    }

    pub fn threads(&self) -> usize {
        self.slots.len()
    }

    /// Virtual nanoseconds since the start.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Whether a point of the running thread would have anything to decide.
    pub fn has_choice(&self) -> bool {
        self.guided || !self.ready.is_empty() || !self.timers.is_empty() || self.outside > 0
    }

    /// Whether somebody could run although nobody does.
    pub fn is_idle(&self) -> bool {
        self.running.is_none() && !self.ready.is_empty()
    }

    /// All that the program waits for has ended, and nobody runs.
    pub fn is_finished(&self) -> bool {
        let waited_for = |s: &Slot| !s.daemon && s.status != Status::Ended;
        self.running.is_none() && !self.slots.is_empty() && !self.slots.iter().any(waited_for)
    }

    /// Whether a thread may come back that is not supposed to run.
    pub fn is_anybody_outside(&self) -> bool {
        self.outside > 0
    }

    /// Threads that wait for one another in a circle of monitors, beginning with
    /// `thread`; empty if there is none.
    pub fn cycle(&self, thread: Thread) -> Vec<Thread> {
        let mut path = vec![thread];
        let mut at = thread;
        while let Status::Blocked(b) = self.status(at)
            && b.why == Why::Monitor
            && let Some(owner) = b.owner
        {
            if owner == thread {
                return path;
            }
            if path.contains(&owner) {
                break;
            }
            path.push(owner);
            at = owner;
        }
        Vec::new()
    }
}
