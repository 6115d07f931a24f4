//! Samples beside the exploration: schedules that are drawn, so that a bug is met early
//! where the exploration would spend its time in one corner.
//!
//! Workers make them in turn with the executions of the exploration, once there were enough of
//! those to see that it is not small. The two share what they know: a statement that races in a
//! sample becomes a scheduling point of the exploration, and what a sample shows that was
//! not seen before is made again in a JVM of its own, and reported, as everything is.

use super::Search;
use super::workers::{Doubt, Given};
use crate::error::Error;
use crate::executions::keys;
use crate::launch::RunDir;
use driver::run::RunResult;
use explore::{Execution, Job, Sample, Task, Way};
use findings::finding::Findings;
use protocol::execution::{self, WorkerRun};
use protocol::files;
use std::collections::{BTreeMap, BTreeSet};

/// Executions of the round before the first sample: a small program is explored at once.
const FIRST: u64 = 40;
/// Classes of samples that are told apart.
const MOST_CLASSES: usize = 1 << 20;
/// Depths of bugs for which PCT's promise is told.
const DEPTHS: u32 = 4;

/// What was sampled.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    drawn: u64,
    made: u64,
    /// With how often each was met.
    classes: BTreeMap<u128, u32>,
    /// How many were drawn by PCT, by depth and the number of steps that their change points were drawn from.
    by_pct: BTreeMap<(u32, u64), u64>,
    threads: u64,
    steps: u64,
}

impl Samples {
    /// Takes in a sample that was made.
    fn add(&mut self, sample: Sample, execution: &Execution) {
        self.made += 1;
        if self.classes.len() < MOST_CLASSES {
            let times = self.classes.entry(explore::class_of(execution));
            *times.or_default() += 1;
        }
        let threads: BTreeSet<_> = execution.steps.iter().map(|s| s.label.thread).collect();
        self.threads = self.threads.max(threads.len() as u64);
        self.steps = self.steps.max(execution.steps.len() as u64);
        if let Way::Pct { depth, steps } = sample.way {
            *self.by_pct.entry((depth, steps)).or_default() += 1;
        }
    }

    /// With which probability PCT would have met a bug of this depth, whatever it is. A sample whose change points
    /// were drawn from fewer steps than executions have promises nothing: none of them falls into the rest.
    fn promise(&self, depth: u32) -> f64 {
        let missed = |((_, steps), samples): (&(u32, u64), &u64)| {
            let each =
                1.0 / (self.threads as f64 * (*steps as f64).powi(depth as i32 - 1)).max(1.0);
            (1.0 - each).powf(*samples as f64)
        };
        let counts = |(d, steps): &(u32, u64)| *d == depth && (depth == 1 || *steps >= self.steps);
        let of_depth = self.by_pct.iter().filter(|(drawn, _)| counts(drawn));
        1.0 - of_depth.map(missed).product::<f64>()
    }

    /// How many classes there are, and the standard error of that, from how many were met once
    /// and twice (Chao, "Nonparametric estimation of the number of classes in a population", 1984;
    /// the error as in Chao, 1987). Classes are not equally likely, so there are rather more.
    fn estimate(&self) -> Option<(f64, f64)> {
        let met = |times: u32| self.classes.values().filter(|n| **n == times).count() as f64;
        let (seen, once, twice) = (self.classes.len() as f64, met(1), met(2));
        if seen < 1.0 {
            return None;
        }
        if twice > 0.0 {
            let ratio = once / twice;
            let variance = twice * (ratio.powi(2) / 2.0 + ratio.powi(3) + ratio.powi(4) / 4.0);
            return Some((seen + once * ratio / 2.0, variance.sqrt()));
        }
        let all = seen + once * (once - 1.0) / 2.0;
        let variance = once * (once - 1.0) / 2.0 + once * (2.0 * once - 1.0).powi(2) / 4.0
            - once.powi(4) / (4.0 * all);
        Some((all, variance.max(0.0).sqrt()))
    }

    /// For the report.
    pub fn told(&self) -> findings::exploration::Samples {
        let estimate = self.estimate();
        findings::exploration::Samples {
            made: self.made,
            different: self.classes.len() as u64,
            classes: estimate.map(|(all, _)| all.round()),
            classes_error: estimate.map(|(_, error)| error.round()),
            pct_probability: (1..=DEPTHS).map(|d| self.promise(d)).collect(),
            ..Default::default()
        }
    }
}

impl Search<'_> {
    /// An execution beside the exploration to be made by a worker, if it is the turn of one.
    pub(super) fn next_beside(&mut self) -> Option<Given> {
        let explored = self.campaign.executions_now().checked_sub(FIRST)?;
        if !self.asked.samples || self.campaign.exhausted() {
            return None;
        }
        let within = self.next_bounded(explored).map(Given::Bounded);
        within.or_else(|| Some(Given::Sample(self.next_sample(explored)?)))
    }

    fn next_sample(&mut self, explored: u64) -> Option<Task> {
        if self.samples.drawn > explored {
            return None;
        }
        let steps = self.campaign.progress().max_depth as u64;
        let sample = Sample::nth(self.samples.drawn, steps);
        self.samples.drawn += 1;
        let job = Job {
            id: 0,
            beginning: Vec::new(),
            order: self.asked.config.order,
            preemptions: None,
            sample: Some(sample),
        };
        Some(Task {
            round: self.campaign.round(),
            job,
        })
    }

    /// A worker has made a sample. What it shows for the first time is made again.
    pub(super) fn sampled(&mut self, task: Task, run: WorkerRun) {
        let (Some(execution::Execution::Made(execution)), Some(sample)) =
            (run.execution, task.job.sample)
        else {
            return;
        };
        self.samples.add(sample, &execution);
        self.show(task, execution, Findings::from_lines(run.findings));
    }

    /// What an execution beside the exploration shows for the first time is made again.
    pub(super) fn show(&mut self, mut task: Task, execution: Execution, found: Findings) {
        let racing = self.racing(&found);
        let is_new = keys(&found).iter().any(|key| !self.seen.contains(key))
            || !racing.iter().all(|&s| self.campaign.knows(s));
        if is_new {
            let made = execution.steps.into_iter().map(|step| step.label);
            task.job.beginning = made.collect();
            self.doubt(Given::Sample(task), Doubt::Other);
        }
    }

    /// A sample was made again in a JVM of its own: what it shows counts.
    pub(super) fn sampled_alone(&mut self, dir: &RunDir, run: &RunResult) -> Result<(), Error> {
        let told = std::fs::read(dir.file(files::EXECUTION)).ok();
        let told = told.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(execution::Execution::Made(execution)) = told {
            self.out_of_hand(&run.findings);
            let racing = self.racing(&run.findings);
            self.keep(dir, run, Some(&execution))?;
            self.campaign.saw_races(racing);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_estimated_from_those_that_were_met_seldom() {
        let met = |times: &[u32]| {
            let classes = (0..).zip(times.iter().copied()).collect();
            let samples = Samples {
                classes,
                ..Samples::default()
            };
            samples.estimate()
        };
        assert_eq!(met(&[]), None);
        // Everything was met often: that is all.
        assert_eq!(met(&[5, 7, 9]), Some((3.0, 0.0)));
        // Four once, two twice: 6 + 4 * 4 / (2 * 2).
        let (all, error) = met(&[1, 1, 1, 1, 2, 2]).unwrap();
        assert_eq!(all, 10.0);
        assert!(error > 1.0 && error < 10.0, "{error}");
        let (all, _) = met(&[1, 1, 1, 1]).unwrap();
        assert_eq!(all, 10.0);
    }

    #[test]
    fn pct_promises_more_for_shallow_bugs() {
        let drawn_from = |steps| Samples {
            by_pct: (1..=DEPTHS).map(|depth| ((depth, steps), 100)).collect(),
            threads: 4,
            steps: 20,
            ..Samples::default()
        };
        let samples = drawn_from(20);
        let promises: Vec<f64> = (1..=DEPTHS).map(|d| samples.promise(d)).collect();
        assert!(promises[0] > 0.999, "{promises:?}");
        assert!(promises.is_sorted_by(|a, b| a > b), "{promises:?}");
        assert_eq!(Samples::default().promise(2), 0.0);
        // Executions turned out to be longer than those that the change points were drawn for.
        let short = drawn_from(10);
        assert_eq!(short.promise(1), samples.promise(1));
        assert_eq!(short.promise(2), 0.0);
        assert!(drawn_from(40).promise(2) < samples.promise(2));
    }
}
