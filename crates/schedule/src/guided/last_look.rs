//! Before threads that wait in loops are taken to wait for ever, each of them looks once more.
//!
//! A thread in a loop waits for steps of others. Writes that are no steps wake nobody: plain
//! ones that do not race as far as is known yet, those to fields that are not checked, and those by
//! reflection. So when no thread can go on, those in loops run on for two iterations, one
//! after the other: the first one may have read some of its locations before, the second reads
//! all of them now. Whoever comes back in the state in which it waited, without having
//! written anything, waits for ever, since all others do. If one does not, what looked like a
//! deadlock is *refuted*. The steps of a last look are no part of the execution.

use super::loops::Loop;
use crate::op::Thread;

/// How often a thread has to come back to where it waits.
const ITERATIONS: u32 = 2;
/// Steps that it may take for that.
const MOST_STEPS: u32 = 2_000;

/// A thread, the loop that it waits in, and its state there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub thread: Thread,
    pub of: Loop,
    pub state: i64,
}

#[derive(Clone, Debug)]
pub(super) struct LastLook {
    /// The last of them is looking.
    open: Vec<Waiting>,
    came_back: u32,
    steps: u32,
    is_refuted: bool,
}

impl LastLook {
    pub fn new(open: Vec<Waiting>) -> LastLook {
        LastLook {
            open,
            came_back: 0,
            steps: 0,
            is_refuted: false,
        }
    }

    pub fn is_refuted(&self) -> bool {
        self.is_refuted
    }

    /// A thread is at the head of a loop.
    pub fn head(&mut self, thread: Thread, of: Loop, state: i64) {
        if let Some(looking) = self.open.last()
            && (looking.thread, looking.of) == (thread, of)
        {
            self.came_back += 1;
            self.is_refuted |= looking.state != state;
        }
    }

    /// The thread that looks has written.
    pub fn wrote(&mut self) {
        self.is_refuted = true;
    }

    /// Who makes the next step; none when all have looked, or one has found something new.
    /// `may_step` answers whether a thread stands before what may be part of a loop that waits.
    pub fn next(&mut self, may_step: impl Fn(Thread) -> bool) -> Option<Thread> {
        if self.came_back >= ITERATIONS {
            self.open.pop();
            (self.came_back, self.steps) = (0, 0);
        }
        let looking = self.open.last().filter(|_| !self.is_refuted)?.thread;
        self.steps += 1;
        self.is_refuted = self.steps > MOST_STEPS || !may_step(looking);
        (!self.is_refuted).then_some(looking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOP: Loop = Loop {
        number: 1,
        depth: 3,
    };

    fn waiting(thread: Thread) -> Waiting {
        Waiting {
            thread,
            of: LOOP,
            state: 7,
        }
    }

    /// Threads 0 and 1 look; each iteration of theirs has one step.
    fn both(states: [i64; 2]) -> (Vec<Thread>, bool) {
        let mut look = LastLook::new(vec![waiting(1), waiting(0)]);
        let mut steps = Vec::new();
        while let Some(thread) = look.next(|_| true) {
            steps.push(thread);
            look.head(thread, LOOP, states[thread as usize]);
        }
        (steps, look.is_refuted())
    }

    #[test]
    fn whoever_comes_back_as_it_was_waits_for_ever() {
        assert_eq!(both([7, 7]), (vec![0, 0, 1, 1], false));
        assert_eq!(both([7, 8]), (vec![0, 0, 1], true));
    }

    #[test]
    fn a_thread_that_goes_elsewhere_refutes_it() {
        let mut look = LastLook::new(vec![waiting(0)]);
        assert_eq!(look.next(|_| true), Some(0));
        assert_eq!(look.next(|_| false), None);
        assert!(look.is_refuted());
        let mut never_back = LastLook::new(vec![waiting(0)]);
        let steps = std::iter::from_fn(|| never_back.next(|_| true)).count();
        assert_eq!(steps as u32, MOST_STEPS);
        assert!(never_back.is_refuted());
    }
}
