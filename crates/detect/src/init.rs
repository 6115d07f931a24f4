//! The happens-before edges of class initialisation, found lazily.
//!
//! The Java memory model orders a static initialiser before every use of its
//! class: the user takes the class's initialisation lock (JLS 12.4.2). The
//! JVM does that in compiled code and elides it once the class is known to be
//! initialised, so nobody can observe the acquiring side. But an access of
//! another thread to something the initialiser touched presupposes a use of
//! the class (or some other order), so the edge may be added when it is
//! missed: when an access seems to race with one made inside a static
//! initialiser that has ended.
//!
//! # What it claims
//! No false race against what an initialiser did before it ended. The price
//! is a missed one: an object reached the other thread through a race while
//! its class was being initialised, and is used after that ended.
//!
//! # How it is used
//! `t` enters a new epoch at `InitBegin` and at `InitEnd`, so its epochs
//! between lie wholly inside. At a candidate race with an earlier access of
//! epoch `e`, [`InitIntervals::excuse`]`(e)` gives the clock to join into the
//! accessing thread's clock, which then covers `e`; the access is then judged
//! again.

use order::{ClockView, Epoch, Tid, VectorClock};
use rustc_hash::FxHashMap;

/// Which epochs lay inside a static initialiser that has ended.
#[derive(Debug, Default)]
pub struct InitIntervals {
    threads: FxHashMap<Tid, OfThread>,
}

#[derive(Debug, Default)]
struct OfThread {
    /// Class and first clock of initialisers that are still running.
    open: Vec<(u64, u64)>,
    /// In the order of ending, so the innermost of nested ones comes first.
    closed: Vec<Interval>,
}

#[derive(Debug)]
struct Interval {
    from: u64,
    to: u64,
    snapshot: VectorClock,
}

impl InitIntervals {
    /// `tid` begins to initialise `class`; `at` is the epoch that begins
    /// with it (advance the clock first).
    pub fn begin(&mut self, class: u64, at: Epoch) {
        let thread = self.threads.entry(at.tid()).or_default();
        thread.open.push((class, at.clock()));
    }

    /// The initialiser of `class` ends; `at` is the last epoch inside (advance
    /// the clock afterwards) and `snapshot` the thread's clock then. An end
    /// without its begin changes nothing.
    pub fn end(&mut self, class: u64, at: Epoch, mut snapshot: VectorClock) {
        let Some(thread) = self.threads.get_mut(&at.tid()) else {
            return;
        };
        let Some(open) = thread.open.iter().rposition(|(c, _)| *c == class) else {
            return;
        };
        // Initialisers inside it whose end was never seen are over as well.
        let (_, from) = thread.open[open];
        thread.open.truncate(open);
        // A thread that joins it covers the interval, so judging again comes to an end.
        snapshot.set(at.tid(), snapshot.get(at.tid()).max(at.clock()));
        thread.closed.push(Interval {
            from,
            to: at.clock(),
            snapshot,
        });
    }

    /// If `epoch` lies in an initialiser that has ended: the clock of its end.
    pub fn excuse(&self, epoch: Epoch) -> Option<&VectorClock> {
        let closed = &self.threads.get(&epoch.tid())?.closed;
        let first = closed.partition_point(|i| i.to < epoch.clock());
        closed[first..]
            .iter()
            .find(|i| i.from <= epoch.clock())
            .map(|i| &i.snapshot)
    }

    /// Whether `excuse` can answer anything at all: a cheap first question.
    pub fn is_empty(&self) -> bool {
        self.threads.values().all(|t| t.closed.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(tid: Tid, clock: u64) -> VectorClock {
        let mut c = VectorClock::new();
        c.set(tid, clock);
        c
    }

    #[test]
    fn nested_initialisers_excuse_by_the_innermost_that_ended() {
        let mut init = InitIntervals::default();
        let at = |clock| Epoch::new(1, clock);
        init.begin(10, at(2));
        init.begin(20, at(4));
        assert!(init.is_empty());
        init.end(20, at(6), snapshot(1, 6));
        assert!(init.excuse(at(2)).is_none(), "still running");
        assert!(init.excuse(at(5)).is_some());
        init.end(10, at(9), snapshot(1, 9));
        let clock_for = |e| init.excuse(at(e)).map(|c| c.get(1));
        let answers: Vec<_> = (1..=10).map(clock_for).collect();
        let (inner, outer) = (Some(6), Some(9));
        assert_eq!(
            answers,
            [
                None, outer, outer, inner, inner, inner, outer, outer, outer, None
            ]
        );
        assert!(init.excuse(Epoch::new(0, 5)).is_none());
        assert!(init.excuse(Epoch::NONE).is_none());
    }

    #[test]
    fn unmatched_ends_are_ignored() {
        let mut init = InitIntervals::default();
        init.end(10, Epoch::new(0, 1), snapshot(0, 1));
        init.begin(10, Epoch::new(0, 2));
        init.end(11, Epoch::new(0, 3), snapshot(0, 3));
        assert!(init.is_empty());
    }
}
