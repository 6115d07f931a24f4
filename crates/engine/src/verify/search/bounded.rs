//! Rounds of growing bounds beside the exploration: everything with no preemption, then with
//! one, with two and so on. Most faults need few, and where all schedules are too many, the
//! largest bound that was completed says what was covered.
//!
//! (Musuvathi, Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded
//! Programs", PLDI 2007; `explore::bounded` is the search within a bound.) Workers make these
//! executions in turn with others. They are no part of the exploration, and what they show for
//! the first time is made again in a JVM of its own, like that of samples. A bound counts as
//! completed only if every execution within it was made.

use super::Search;
use explore::{Config, Explorer, Sample, Task};
use findings::finding::Findings;
use protocol::RunEnd;
use protocol::execution::{self, WorkerRun};

/// No larger bound is tried: beyond, the exploration itself comes further.
const MOST: u32 = 6;
/// One of these for so many executions of the exploration.
const ONE_IN: u64 = 2;

#[derive(Debug)]
pub struct Bounds {
    /// Of the campaign: with other points everything starts again.
    round: u32,
    bound: u32,
    explorer: Explorer,
    drawn: u64,
    made: u64,
    completed: Option<u32>,
}

impl Bounds {
    pub fn new(config: Config) -> Bounds {
        Bounds {
            round: 0,
            bound: 0,
            explorer: within(config, 0),
            drawn: 0,
            made: 0,
            completed: None,
        }
    }

    /// Executions that were made, and the largest bound that they completed with the points of
    /// this round.
    pub fn told(&self, round: u32) -> (u64, Option<u32>) {
        (self.made, self.completed.filter(|_| round == self.round))
    }

    fn enter(&mut self, round: u32, config: Config) {
        if round != self.round {
            *self = Bounds {
                round,
                made: self.made,
                ..Bounds::new(config)
            };
        }
    }

    /// Goes on to the next bound when this one is done.
    fn advance(&mut self, config: Config) {
        while self.explorer.exhausted() && self.bound < MOST {
            if !self.explorer.progress().complete {
                // Something within it was not made: nothing larger can be complete.
                self.bound = MOST;
                return;
            }
            self.completed = Some(self.bound);
            self.bound += 1;
            self.explorer = within(config, self.bound);
        }
    }
}

fn within(config: Config, bound: u32) -> Explorer {
    Explorer::new(Config {
        order: config.order,
        preemptions: Some(bound),
        ..Config::default()
    })
}

impl Search<'_> {
    /// An execution within the bound, to be made by a worker, if it is the turn of one.
    pub(super) fn next_bounded(&mut self, explored: u64) -> Option<Task> {
        let (round, config) = (self.campaign.round(), self.asked.config);
        let bounds = &mut self.bounds;
        bounds.enter(round, config);
        if bounds.drawn > explored / ONE_IN || bounds.bound >= MOST {
            return None;
        }
        let job = bounds.explorer.next()?;
        bounds.drawn += 1;
        Some(Task { round, job })
    }

    /// A worker has made one.
    pub(super) fn made_within(&mut self, mut task: Task, run: WorkerRun) {
        let config = self.asked.config;
        if task.round != self.bounds.round {
            return;
        }
        let id = task.job.id;
        let ended = matches!(run.outcome, RunEnd::Exit | RunEnd::Deadlock);
        let Some(execution::Execution::Made(execution)) = run.execution.filter(|_| ended) else {
            self.lost_within(&task);
            return;
        };
        self.bounds.made += 1;
        let found = Findings::from_lines(run.findings);
        // What left control is not what was asked for.
        let followed =
            found.uncontrolled.is_empty() && self.bounds.explorer.finish(id, &execution, 0).is_ok();
        if !followed {
            self.lost_within(&task);
        }
        self.bounds.advance(config);
        // From here on it is a sample: all of its steps are known.
        task.job.preemptions = None;
        task.job.sample = Some(Sample::nth(0, 1));
        self.show(task, execution, found);
    }

    /// It was not made: the bound will not be complete.
    pub(super) fn lost_within(&mut self, task: &Task) {
        if task.round == self.bounds.round {
            // A job that is not known was told before.
            let _known = self.bounds.explorer.diverged(task.job.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::Execution;

    /// A program of a single step has one execution within every bound.
    #[test]
    fn bounds_grow_as_long_as_they_are_completed() {
        let config = Config::default();
        let mut bounds = Bounds::new(config);
        for bound in 0..MOST {
            assert_eq!(bounds.completed, bound.checked_sub(1));
            let job = bounds.explorer.next().unwrap();
            let done = bounds.explorer.finish(job.id, &Execution::default(), 0);
            assert!(done.is_ok());
            bounds.advance(config);
        }
        assert_eq!(bounds.completed, Some(MOST - 1));
        bounds.enter(1, config);
        assert_eq!((bounds.completed, bounds.bound), (None, 0));
    }

    #[test]
    fn a_bound_with_something_missing_is_not_completed() {
        let config = Config::default();
        let mut bounds = Bounds::new(config);
        let job = bounds.explorer.next().unwrap();
        bounds.explorer.diverged(job.id).unwrap();
        bounds.advance(config);
        assert_eq!((bounds.completed, bounds.bound), (None, MOST));
    }
}
