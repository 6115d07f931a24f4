//! Delays that a schedule needs: a sleep or a wait with a time limit came to its end while
//! another thread, which could have gone on, did not. Java promises nothing about how fast a
//! thread is, so such a schedule is possible; how long the delay is says how likely.

use crate::Thread;

/// Shorter ones are what any thread may meet.
const SHORTEST: u64 = 1_000_000;
/// Those that are kept: the longest.
const MOST: usize = 8;

/// One of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delay {
    /// Who slept, or waited.
    pub sleeper: Thread,
    /// How long it had still to sleep, in virtual nanoseconds.
    pub nanos: u64,
    /// Who could have gone on meanwhile.
    pub delayed: Vec<Thread>,
}

/// The longest delays of a run, one for each sleeper, longest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays(Vec<Delay>);

impl Delays {
    pub fn add(&mut self, delay: Delay) {
        if delay.nanos < SHORTEST || delay.delayed.is_empty() {
            return;
        }
        match self.0.iter_mut().find(|d| d.sleeper == delay.sleeper) {
            Some(known) if known.nanos >= delay.nanos => return,
            Some(known) => *known = delay,
            None => self.0.push(delay),
        }
        self.0.sort_by_key(|d| std::cmp::Reverse(d.nanos));
        self.0.truncate(MOST);
    }

    pub fn longest(&self) -> &[Delay] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay(sleeper: Thread, millis: u64, delayed: &[Thread]) -> Delay {
        Delay {
            sleeper,
            nanos: millis * 1_000_000,
            delayed: delayed.to_vec(),
        }
    }

    #[test]
    fn the_longest_of_each_sleeper_are_kept() {
        let mut delays = Delays::default();
        delays.add(delay(1, 5, &[0]));
        delays.add(delay(2, 50, &[0, 1]));
        delays.add(delay(1, 100, &[2]));
        delays.add(delay(1, 7, &[0]));
        delays.add(delay(3, 0, &[0]));
        delays.add(delay(4, 10, &[]));
        assert_eq!(
            delays.longest(),
            [delay(1, 100, &[2]), delay(2, 50, &[0, 1])]
        );
        for sleeper in 10..40 {
            delays.add(delay(sleeper, 200, &[0]));
        }
        assert_eq!(delays.longest().len(), MOST);
        assert!(delays.longest().iter().all(|d| d.nanos == 200_000_000));
    }
}
