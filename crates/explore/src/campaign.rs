//! Explorations until all races are found, with plain accesses as scheduling
//! points only where they race.
//!
//! As long as no race is known, orders of synchronisation are enough to find
//! one, if there is any: up to the first race nobody can tell in which order
//! plain accesses were made. Statements that race become points, and the
//! exploration starts again, because steps are other ones now. It was complete
//! if it ends without a new one: then what happens between any two steps is free
//! of races in every execution, those behind races included.
//!
//! A round ends with the first execution that shows a new statement, so rounds
//! that find something are short; there are at most as many as statements.

use crate::explorer::{Config, Error, Explorer, Job, Progress};
use crate::op::Execution;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An execution to be made, and where it is to have points.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    pub round: u32,
    pub job: Job,
}

/// The state of it all. Can be stored like an [`Explorer`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Campaign {
    config: Config,
    /// The statements whose plain accesses are steps.
    points: BTreeSet<u32>,
    round: u32,
    explorer: Explorer,
    /// Executions and findings of earlier rounds.
    earlier: u64,
    found_earlier: u64,
}

impl Campaign {
    pub fn new(config: Config) -> Campaign {
        Campaign {
            config,
            points: BTreeSet::new(),
            round: 0,
            explorer: Explorer::new(config),
            earlier: 0,
            found_earlier: 0,
        }
    }

    /// The statements of this round.
    pub fn points(&self) -> &BTreeSet<u32> {
        &self.points
    }

    /// See [`Explorer::next`].
    #[expect(clippy::should_implement_trait, reason = "an iterator that is fed")]
    pub fn next(&mut self) -> Option<Task> {
        let job = self.explorer.next()?;
        let round = self.round;
        Some(Task { round, job })
    }

    /// Takes in an execution, with the number of findings in it and the
    /// statements of its races. What belongs to an earlier round still tells
    /// of races.
    pub fn finish(
        &mut self,
        task: &Task,
        run: &Execution,
        findings: u64,
        racing: impl IntoIterator<Item = u32>,
    ) -> Result<(), Error> {
        if task.round == self.round {
            self.explorer.finish(task.job.id, run, findings)?;
        } else {
            self.earlier += 1;
            self.found_earlier += findings;
        }
        self.race(racing);
        Ok(())
    }

    /// See [`Explorer::diverged`].
    pub fn diverged(
        &mut self,
        task: &Task,
        racing: impl IntoIterator<Item = u32>,
    ) -> Result<(), Error> {
        if task.round == self.round {
            self.explorer.diverged(task.job.id)?;
        }
        self.race(racing);
        Ok(())
    }

    /// An execution that is no part of the exploration, such as a sample, has shown that these
    /// statements race.
    pub fn saw_races(&mut self, racing: impl IntoIterator<Item = u32>) {
        self.race(racing);
    }

    /// See [`Explorer::give_back`].
    pub fn give_back(&mut self, task: &Task) -> Result<(), Error> {
        if task.round == self.round {
            self.explorer.give_back(task.job.id)?;
        }
        Ok(())
    }

    /// Goes on, after a stop, with other limits.
    pub fn limit(&mut self, max_executions: Option<u64>, threshold: Option<u64>) {
        self.config.max_executions = max_executions;
        self.config.threshold = threshold;
        let now = self.left();
        self.explorer.limit(now.max_executions, now.threshold);
    }

    /// What the limits leave to this round.
    fn left(&self) -> Config {
        let left = |limit: Option<u64>, used: u64| limit.map(|limit| limit.saturating_sub(used));
        Config {
            max_executions: left(self.config.max_executions, self.earlier),
            threshold: left(self.config.threshold, self.found_earlier),
            ..self.config
        }
    }

    /// See [`Explorer::requeue`].
    pub fn requeue(&mut self) {
        self.explorer.requeue();
    }

    /// Starts again if a statement is new.
    fn race(&mut self, racing: impl IntoIterator<Item = u32>) {
        let before = self.points.len();
        self.points.extend(racing);
        if self.points.len() == before {
            return;
        }
        let progress = self.explorer.progress();
        self.earlier += progress.executions;
        self.found_earlier += progress.findings;
        self.round += 1;
        self.explorer = Explorer::new(self.left());
    }

    /// How far it is. Executions and findings are those of all rounds, all else
    /// is of this one.
    pub fn progress(&self) -> Progress {
        let now = self.explorer.progress();
        Progress {
            executions: now.executions + self.earlier,
            findings: now.findings + self.found_earlier,
            ..now
        }
    }

    /// Executions of this round alone: when complete, the number of classes.
    pub fn executions_now(&self) -> u64 {
        self.explorer.progress().executions
    }

    /// Nothing is left to explore.
    pub fn exhausted(&self) -> bool {
        self.explorer.exhausted()
    }

    pub fn round(&self) -> u32 {
        self.round
    }
}
