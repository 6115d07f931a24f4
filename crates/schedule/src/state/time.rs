//! Virtual time: it passes a little with each step, to the next deadline when nobody can run or
//! those who can are late, and by leaps for threads that poll the clock.

use super::{Decider, STEP, SchedulerState};
use crate::delays::Delay;
use crate::status::{Next, Wake};

/// How far time leaps for threads that poll the clock: at first, and at last.
pub(super) const LEAP: u64 = 60_000_000_000;
const LONGEST_LEAP: u64 = LEAP << 9;

impl SchedulerState {
    /// Time passes for a thread that sleeps or runs out of time.
    pub fn pass(&mut self, nanos: u64) {
        if let (Some(sleeper), Decider::Guided(guided)) = (self.running, &self.decider) {
            self.delays.add(Delay {
                sleeper,
                nanos,
                delayed: guided.could_go_instead().to_vec(),
            });
        }
        self.now = self.now.saturating_add(nanos);
    }

    /// Nobody can run before a deadline, but somebody outside may bring what is
    /// waited for: an answer over the network takes a while, and must not come after
    /// every timeout.
    pub(super) fn time_stands_still(&self) -> bool {
        self.can_be_helped() && !self.timers.is_empty() && !self.is_finished()
    }

    /// How far away the deadline is that nobody can run before, if somebody outside
    /// may yet change that.
    pub fn until_deadline(&self) -> Option<u64> {
        let nobody = self.running.is_none() && self.ready.is_empty();
        let waits = nobody && self.time_stands_still();
        let &(deadline, ..) = self.timers.first().filter(|_| waits)?;
        Some(deadline.saturating_sub(self.now))
    }

    /// Nobody came from outside: time passes to the deadline.
    pub fn pass_time(&mut self) -> Next {
        if self.until_deadline().is_some() {
            self.expire_next();
        }
        self.resume()
    }

    /// The program looks at the clock.
    pub fn look_at_clock(&mut self) -> u64 {
        self.now += STEP;
        self.clock_seen = true;
        self.now
    }

    /// Threads that run in circles may wait for a sleeper, or for the clock: time
    /// passes before anything is said of them. False if that cannot help any more.
    pub(super) fn time_may_help(&mut self) -> bool {
        if let Some(&(deadline, ..)) = self.timers.first() {
            self.now = self.now.max(deadline);
            return true;
        }
        let waits = std::mem::take(&mut self.clock_seen) && self.leap <= LONGEST_LEAP;
        if waits {
            self.now = self.now.saturating_add(self.leap);
            self.leap *= 8;
        }
        waits
    }

    pub(super) fn expire_due(&mut self) {
        while let Some(&(deadline, _, thread)) = self.timers.first()
            && deadline <= self.now
        {
            self.wake(thread, Wake::TimedOut);
        }
    }

    /// Lets time pass to the next deadline; false if there is none.
    pub(super) fn expire_next(&mut self) -> bool {
        let Some(&(deadline, _, thread)) = self.timers.first() else {
            return false;
        };
        self.now = self.now.max(deadline);
        self.wake(thread, Wake::TimedOut);
        true
    }

    /// How far away the next deadline is.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        let &(deadline, ..) = self.timers.first()?;
        Some(deadline.saturating_sub(self.now))
    }

    /// Time is about to pass to the next deadline although threads are ready.
    pub(super) fn note_delay(&mut self) {
        if let (Some(nanos), Some(&(.., sleeper))) = (self.next_deadline(), self.timers.first()) {
            let delayed = self.ready.iter().map(|r| r.thread).collect();
            self.delays.add(Delay {
                sleeper,
                nanos,
                delayed,
            });
        }
    }

    /// The longest delays that the schedule needs, longest first.
    pub fn delays(&self) -> &[Delay] {
        self.delays.longest()
    }
}
