//! Tells a livelock from slow progress.
//!
//! A run is watched in windows of steps. A window says *livelock* when, all
//! through it, no thread came to a statement that was new to it, none started,
//! ended or was woken, and every thread that made steps failed in at least one
//! of eight of them: a `tryLock` that got nothing, a yield, a spin, a wait that
//! timed out, a compare-and-set that did not set.
//!
//! An unfair schedule may keep the one thread that could get on from running.
//! So when half a window looks bad, the caller is asked to schedule fairly
//! (round robin) for the other half, and only what that shows is believed: there
//! every enabled thread makes steps.
//!
//! What this cannot tell: values are not seen. Threads that all fail every so
//! often, while what they achieve in between changes nothing but data, would be
//! called a livelock when it takes them a whole window. Sleeping is no failure:
//! a loop that sleeps is as likely to be a clock.

use crate::op::{Op, Thread};
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps in a window unless told otherwise.
pub const WINDOW: u64 = 100_000;
/// One step of so many must fail.
const SHARE: u64 = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Going,
    /// Schedule fairly from now on, until the verdict is another.
    Suspect,
    Livelock,
}

#[derive(Debug)]
pub struct Progress {
    half: u64,
    /// Statements that a thread was at since anything last happened.
    seen: FxHashSet<(Thread, u32)>,
    /// Of each thread in this half of a window.
    counts: FxHashMap<Thread, Count>,
    steps: u64,
    suspect: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    steps: u64,
    failed: u64,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new(WINDOW)
    }
}

impl Progress {
    pub fn new(window: u64) -> Progress {
        Progress {
            half: (window / 2).max(1),
            seen: FxHashSet::default(),
            counts: FxHashMap::default(),
            steps: 0,
            suspect: false,
        }
    }

    /// A thread made a step, or failed to get what it tried.
    pub fn step(&mut self, thread: Thread, op: &Op, failed: bool) -> Verdict {
        if self.seen.insert((thread, op.site)) {
            self.begin(false);
        }
        let count = self.counts.entry(thread).or_default();
        count.steps += 1;
        count.failed += u64::from(failed);
        self.steps += 1;
        if self.steps >= self.half {
            let bad = |c: &Count| c.failed * SHARE >= c.steps;
            let bad = self.counts.values().all(bad);
            let was_suspect = self.suspect;
            self.begin(bad && !was_suspect);
            if bad && was_suspect {
                return Verdict::Livelock;
            }
        }
        match self.suspect {
            true => Verdict::Suspect,
            false => Verdict::Going,
        }
    }

    /// A thread was started, ended or was woken by another.
    pub fn progress(&mut self) {
        self.seen.clear();
        self.begin(false);
    }

    fn begin(&mut self, suspect: bool) {
        self.counts.clear();
        self.steps = 0;
        self.suspect = suspect;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Kind;

    /// A thread as the loop it runs for ever: statement and whether it fails.
    type Loop = &'static [(u32, Kind, bool)];

    const POLL: Loop = &[(1, Kind::AtomicRead, false), (2, Kind::Yield, true)];
    /// Has one lock, and tries for the other.
    const TRY: Loop = &[
        (1, Kind::TryAcquire, false),
        (2, Kind::TryAcquire, true),
        (3, Kind::Release, false),
    ];
    const WORK: Loop = &[
        (1, Kind::Acquire, false),
        (2, Kind::Write, false),
        (3, Kind::Release, false),
    ];
    /// Gets what it wants nearly always.
    const CONTEND: Loop = &[
        (1, Kind::AtomicUpdate, false),
        (1, Kind::AtomicUpdate, false),
        (1, Kind::AtomicUpdate, false),
        (2, Kind::AtomicRead, false),
        (1, Kind::AtomicUpdate, false),
        (1, Kind::AtomicUpdate, false),
        (2, Kind::AtomicRead, false),
        (1, Kind::AtomicUpdate, false),
        (1, Kind::AtomicUpdate, true),
    ];

    fn op(site: u32, kind: Kind) -> Op {
        Op {
            kind,
            site,
            obj: 0,
            slot: 0,
        }
    }

    /// Runs loops under a schedule until a livelock, at most so many steps.
    /// `unfair` picks while all is well, round robin when asked for.
    struct Script {
        progress: Progress,
        loops: Vec<Loop>,
        at: Vec<usize>,
        steps: usize,
    }

    impl Script {
        fn new(window: u64, loops: &[Loop]) -> Script {
            Script {
                progress: Progress::new(window),
                loops: loops.to_vec(),
                at: vec![0; loops.len()],
                steps: 0,
            }
        }

        /// The step of the livelock, if there is one.
        fn run(&mut self, limit: usize, mut unfair: impl FnMut(usize) -> usize) -> Option<usize> {
            let mut fair = false;
            for _ in 0..limit {
                self.steps += 1;
                let n = self.loops.len();
                let thread = if fair {
                    self.steps % n
                } else {
                    unfair(self.steps) % n
                };
                let body = self.loops[thread];
                let (site, kind, failed) = body[self.at[thread] % body.len()];
                self.at[thread] += 1;
                match self
                    .progress
                    .step(thread as Thread, &op(site, kind), failed)
                {
                    Verdict::Going => fair = false,
                    Verdict::Suspect => fair = true,
                    Verdict::Livelock => return Some(self.steps),
                }
            }
            None
        }
    }

    #[test]
    fn threads_that_all_fail_are_a_livelock() {
        for loops in [&[TRY, TRY][..], &[POLL, POLL, POLL], &[POLL], &[TRY, POLL]] {
            let found = Script::new(1000, loops).run(10_000, |step| step / 7);
            // One window, and the statements that were new at first.
            assert!((1000..1100).contains(&found.unwrap()), "{found:?}");
        }
        let found = Script::new(WINDOW, &[TRY, TRY]).run(200_000, |step| step);
        assert!(found.unwrap() < 101_000);
    }

    #[test]
    fn one_thread_that_works_is_enough() {
        for loops in [&[WORK, POLL][..], &[POLL, POLL, WORK], &[TRY, WORK, TRY]] {
            assert_eq!(Script::new(1000, loops).run(50_000, |step| step), None);
        }
        assert_eq!(
            Script::new(1000, &[CONTEND, CONTEND]).run(50_000, |s| s),
            None
        );
    }

    #[test]
    fn a_thread_that_is_kept_from_running_is_let_run_before_the_verdict() {
        // The poller has it all until fairness is asked for.
        let mut script = Script::new(1000, &[POLL, WORK]);
        assert_eq!(script.run(50_000, |_| 0), None);
        assert!(script.at[1] > 10_000, "fair half the time: {:?}", script.at);
    }

    #[test]
    fn whatever_happens_begins_a_new_window() {
        let mut script = Script::new(1000, &[TRY, TRY]);
        for _ in 0..30 {
            assert_eq!(script.run(900, |step| step), None);
            script.progress.progress();
        }
        // A statement never reached before, in either half.
        for site in 100..130 {
            assert_eq!(script.run(900, |step| step), None);
            let verdict = script.progress.step(0, &op(site, Kind::Read), false);
            assert_eq!(verdict, Verdict::Going);
        }
        assert!(script.run(1100, |step| step).is_some());
    }

    #[test]
    fn the_smallest_window_is_two_steps() {
        let mut progress = Progress::new(0);
        let spin = op(1, Kind::Spin);
        assert_eq!(progress.step(0, &spin, true), Verdict::Suspect);
        assert_eq!(progress.step(0, &spin, true), Verdict::Livelock);
        assert_eq!(progress.step(0, &spin, true), Verdict::Suspect);
    }
}
