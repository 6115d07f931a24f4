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
use std::collections::BTreeSet;

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
    classes: BTreeSet<u128>,
    /// By depth, from 1: how many were drawn by PCT.
    by_depth: [u64; DEPTHS as usize],
    threads: u64,
    steps: u64,
}

impl Samples {
    /// Takes in a sample that was made.
    fn add(&mut self, sample: Sample, execution: &Execution) {
        self.made += 1;
        if self.classes.len() < MOST_CLASSES {
            self.classes.insert(explore::class_of(execution));
        }
        let threads: BTreeSet<_> = execution.steps.iter().map(|s| s.label.thread).collect();
        self.threads = self.threads.max(threads.len() as u64);
        self.steps = self.steps.max(execution.steps.len() as u64);
        if let Way::Pct { depth, .. } = sample.way
            && let Some(count) = self.by_depth.get_mut(depth as usize - 1)
        {
            *count += 1;
        }
    }

    /// With which probability PCT would have met a bug of this depth, whatever it is.
    fn promise(&self, depth: u32) -> f64 {
        let (threads, steps) = (self.threads as f64, self.steps as f64);
        let each = 1.0 / (threads * steps.powi(depth as i32 - 1)).max(1.0);
        let samples = self.by_depth[depth as usize - 1] as f64;
        1.0 - (1.0 - each).powf(samples)
    }

    /// For the report.
    pub fn told(&self) -> findings::exploration::Samples {
        findings::exploration::Samples {
            made: self.made,
            different: self.classes.len() as u64,
            pct_probability: (1..=DEPTHS).map(|d| self.promise(d)).collect(),
        }
    }
}

impl Search<'_> {
    /// A sample to be made by a worker, if it is the turn of one.
    pub(super) fn next_sample(&mut self) -> Option<Task> {
        let explored = self.campaign.executions_now();
        let turn = explored >= FIRST && self.samples.drawn <= explored - FIRST;
        if !turn || !self.asked.samples || self.campaign.exhausted() {
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
    pub(super) fn sampled(&mut self, mut task: Task, run: WorkerRun) {
        let (Some(execution::Execution::Made(execution)), Some(sample)) =
            (run.execution, task.job.sample)
        else {
            return;
        };
        self.samples.add(sample, &execution);
        let found = Findings::from_lines(run.findings);
        let racing = self.racing(&found);
        let points = self.campaign.points();
        let is_new = keys(&found).iter().any(|key| !self.seen.contains(key))
            || racing.iter().any(|statement| !points.contains(statement));
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
    fn pct_promises_more_for_shallow_bugs() {
        let samples = Samples {
            by_depth: [100; DEPTHS as usize],
            threads: 4,
            steps: 20,
            ..Samples::default()
        };
        let promises: Vec<f64> = (1..=DEPTHS).map(|d| samples.promise(d)).collect();
        assert!(promises[0] > 0.999, "{promises:?}");
        assert!(promises.is_sorted_by(|a, b| a > b), "{promises:?}");
        assert_eq!(Samples::default().promise(2), 0.0);
    }
}
