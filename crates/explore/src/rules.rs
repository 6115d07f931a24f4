//! What the operations of a program do to each other, step by step: who can go
//! on, and with what result. For callers that make executions and have no other way to
//! know; it says the same as `history` says of a part of an execution.
//!
//! Operations are told here only in the order in which they are made. A step that
//! is not enabled must not be made.

use crate::op::{Label, Loc, Object, Op, Thread};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a step came to: see [`Step`](crate::Step).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    pub done: bool,
    pub cleared: bool,
    pub woken: Option<Thread>,
    /// A wait ended because the thread was notified.
    pub notified: bool,
    /// It went on because its time ran out.
    pub expired: bool,
}

#[derive(Clone, Debug, Default)]
struct Lock {
    owner: Option<Thread>,
    /// Once for every time it is held.
    sharers: Vec<Thread>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    lock: Object,
    notified: bool,
}

/// How often a location was written.
type Version = u64;

/// The state of locks, waits, permits and interrupts.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    locks: FxHashMap<Object, Lock>,
    waiting: FxHashMap<Thread, Waiting>,
    /// Notified by somebody who makes no steps.
    disturbed: FxHashSet<Object>,
    permits: FxHashSet<Thread>,
    interrupted: FxHashSet<Thread>,
    alive: FxHashSet<Thread>,
    written: FxHashMap<Loc, Version>,
    seen: FxHashMap<(Thread, Loc), Version>,
}

impl Rules {
    /// With threads that run from the beginning.
    pub fn new(threads: impl IntoIterator<Item = Thread>) -> Rules {
        Rules {
            alive: threads.into_iter().collect(),
            ..Rules::default()
        }
    }

    /// Somebody who makes no steps notifies those who wait, and who may be about to:
    /// they have given up the monitor before they say so. The next one who waits there
    /// wakes for no reason, as is allowed at any time.
    pub fn disturb(&mut self, lock: Object) {
        for waiting in self.waiting.values_mut().filter(|w| w.lock == lock) {
            waiting.notified = true;
        }
        self.disturbed.insert(lock);
    }

    /// Who holds a lock exclusively.
    pub fn owner(&self, lock: Object) -> Option<Thread> {
        self.locks.get(&lock).and_then(|l| l.owner)
    }

    pub fn is_alive(&self, thread: Thread) -> bool {
        self.alive.contains(&thread)
    }

    pub fn is_interrupted(&self, thread: Thread) -> bool {
        self.interrupted.contains(&thread)
    }

    fn free(&self, lock: Object, me: Thread, shared: bool) -> bool {
        let Some(lock) = self.locks.get(&lock) else {
            return true;
        };
        lock.owner.is_none_or(|t| t == me) && (shared || lock.sharers.is_empty())
    }

    /// Those that wait for a notify, by number.
    fn waiters(&self, lock: Object) -> Vec<Thread> {
        let here = |w: &Waiting| w.lock == lock && !w.notified;
        let all = self.waiting.iter().filter(|(_, w)| here(w));
        let mut all: Vec<Thread> = all.map(|(t, _)| *t).collect();
        all.sort_unstable();
        all
    }

    /// In how many ways the step can be made now; 0: not at all.
    pub fn picks(&self, label: &Label) -> u32 {
        match label.op {
            _ if !self.enabled(label) => 0,
            Op::Notify(lock) => (self.waiters(lock).len() as u32).max(1),
            _ => 1,
        }
    }

    fn enabled(&self, label: &Label) -> bool {
        let me = label.thread;
        let can = match label.op {
            Op::Acquire {
                lock,
                interruptible,
            } => self.free(lock, me, false) || (interruptible && self.is_interrupted(me)),
            Op::AcquireShared(lock) => self.free(lock, me, true),
            Op::WaitEnd { lock, timed } => {
                let notified = self.waiting.get(&me).is_none_or(|w| w.notified);
                self.free(lock, me, false) && (timed || notified || self.is_interrupted(me))
            }
            Op::Park { timed } => timed || self.permits.contains(&me) || self.is_interrupted(me),
            Op::Join {
                thread,
                timed,
                interruptible,
            } => timed || !self.is_alive(thread) || (interruptible && self.is_interrupted(me)),
            _ => true,
        };
        can && (label.awaits.is_empty() || label.awaits.iter().any(|at| self.is_new(me, *at)))
    }

    /// Whether another thread wrote the location since this one looked.
    fn is_new(&self, me: Thread, at: Loc) -> bool {
        let seen = self.seen(me, at);
        self.written.get(&at).is_some_and(|now| *now > seen)
    }

    /// What the thread saw of a location last, as a number that goes up with
    /// every write.
    pub fn seen(&self, me: Thread, at: Loc) -> u64 {
        self.seen.get(&(me, at)).copied().unwrap_or(0)
    }

    fn saw(&mut self, me: Thread, at: Loc) {
        let now = self.written.get(&at).copied().unwrap_or(0);
        self.seen.insert((me, at), now);
    }

    fn wrote(&mut self, me: Thread, at: Loc) {
        *self.written.entry(at).or_default() += 1;
        self.saw(me, at);
    }

    /// Takes a step. Whether an update changes anything is not known here:
    /// [`updated`](Rules::updated) says that it did.
    pub fn step(&mut self, label: &Label) -> Made {
        let me = label.thread;
        let mut made = Made {
            done: true,
            cleared: false,
            woken: None,
            notified: false,
            expired: false,
        };
        match label.op {
            Op::Read(at) | Op::Update(at) => self.saw(me, at),
            Op::Write(at) => self.wrote(me, at),
            Op::Acquire {
                lock,
                interruptible,
            } => {
                let stopped = interruptible && self.interrupted.remove(&me);
                (made.done, made.cleared) = (!stopped, stopped);
                if made.done {
                    self.locks.entry(lock).or_default().owner = Some(me);
                }
            }
            Op::TryAcquire(lock) => {
                made.done = self.free(lock, me, false);
                if made.done {
                    self.locks.entry(lock).or_default().owner = Some(me);
                }
            }
            Op::Release(lock) => self.give_up(lock),
            Op::AcquireShared(lock) => self.locks.entry(lock).or_default().sharers.push(me),
            Op::TryAcquireShared(lock) => {
                made.done = self.free(lock, me, true);
                if made.done {
                    self.locks.entry(lock).or_default().sharers.push(me);
                }
            }
            Op::ReleaseShared(lock) => {
                if let Some(lock) = self.locks.get_mut(&lock)
                    && let Some(at) = lock.sharers.iter().position(|t| *t == me)
                {
                    lock.sharers.swap_remove(at);
                }
            }
            Op::Wait(lock) => {
                made.cleared = self.interrupted.remove(&me);
                made.done = !made.cleared;
                if made.done {
                    self.give_up(lock);
                    let notified = self.disturbed.remove(&lock);
                    self.waiting.insert(me, Waiting { lock, notified });
                }
            }
            Op::WaitEnd { lock, .. } => {
                self.locks.entry(lock).or_default().owner = Some(me);
                made.notified = self.waiting.remove(&me).is_some_and(|w| w.notified);
                made.cleared = !made.notified && self.interrupted.remove(&me);
                made.expired = !made.notified && !made.cleared;
            }
            Op::Notify(lock) => {
                made.woken = self.waiters(lock).get(label.pick as usize).copied();
                if let Some(waiting) = made.woken.and_then(|t| self.waiting.get_mut(&t)) {
                    waiting.notified = true;
                }
            }
            Op::NotifyAll(lock) => {
                for waiting in self.waiting.values_mut().filter(|w| w.lock == lock) {
                    waiting.notified = true;
                }
            }
            Op::Park { .. } => {
                let permit = self.permits.remove(&me);
                made.expired = !permit && !self.is_interrupted(me);
            }
            Op::Unpark(other) => {
                made.done = self.is_alive(other);
                if made.done {
                    self.permits.insert(other);
                }
            }
            Op::Sleep | Op::Interrupted => made.cleared = self.interrupted.remove(&me),
            Op::Join {
                thread,
                interruptible,
                ..
            } => {
                let waits = interruptible && self.is_alive(thread);
                made.cleared = waits && self.interrupted.remove(&me);
                made.expired = self.is_alive(thread) && !made.cleared;
            }
            Op::Start(other) => {
                self.alive.insert(other);
            }
            Op::End => {
                self.alive.remove(&me);
            }
            Op::Interrupt(other) => {
                self.interrupted.insert(other);
            }
            Op::Local
            | Op::Begin
            | Op::IsAlive(_)
            | Op::IsInterrupted(_)
            | Op::InitBegin(_)
            | Op::InitEnd(_)
            | Op::HandOver(_)
            | Op::TakeOver(_) => {}
        }
        made
    }

    fn give_up(&mut self, lock: Object) {
        if let Some(lock) = self.locks.get_mut(&lock) {
            lock.owner = None;
        }
    }

    /// The thread's update of the location changed it.
    pub fn updated(&mut self, me: Thread, at: Loc) {
        self.wrote(me, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_disturbed_need_not_wait() {
        let (lock, timed) = (7, false);
        let wait = Label::new(0, Op::Wait(lock));
        let end = Label::new(0, Op::WaitEnd { lock, timed });
        let mut rules = Rules::new([0]);
        rules.step(&wait);
        assert_eq!(rules.picks(&end), 0);
        rules.disturb(lock);
        assert_eq!(rules.picks(&end), 1);
        assert!(rules.step(&end).notified);
        // Once more: it may have come before the wait.
        rules.step(&wait);
        assert_eq!(rules.picks(&end), 1);
        rules.step(&end);
        rules.step(&wait);
        assert_eq!(rules.picks(&end), 0);
    }
}
