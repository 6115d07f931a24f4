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
//! A round does not end with the first race that is new. It goes on until it has made [`PATIENCE`]
//! times as many executions, so that races of one program share a round: a round costs JVMs of its
//! own, and all that was explored is explored again. What a round made in vain is at most a multiple of
//! what it made before, and a round that shows a race soon ends at once. Its later executions are real ones too;
//! that they are all of them nobody claims.

use crate::explorer::{Config, Error, Explorer, Job, Progress};
use crate::op::Execution;
use crate::parts::{Explored, Share, Subtree};
use crate::portion::Portion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A round that shows a race after so many executions, or fewer, ends with it.
const SOON: u64 = 8;
/// A longer one goes on until it has made so many times as many.
const PATIENCE: u64 = 3;

/// An execution to be made, and where it is to have points.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    pub round: u32,
    pub job: Job,
}

/// The state of it all. Can be stored like an [`Explorer`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Campaign {
    pub(crate) config: Config,
    /// The statements whose plain accesses are steps.
    points: BTreeSet<u32>,
    /// Statements that race and will be points in the next round, which begins after so many
    /// executions of this one.
    #[serde(default)]
    pub(crate) racing: BTreeSet<u32>,
    #[serde(default)]
    ends_after: u64,
    round: u32,
    pub(crate) explorer: Explorer,
    /// Executions and findings of earlier rounds; of a portion, of earlier subtrees.
    pub(crate) earlier: u64,
    pub(crate) found_earlier: u64,
    /// What was lost in earlier subtrees of a portion.
    #[serde(default)]
    pub(crate) lost_earlier: u64,
    #[serde(default)]
    share: Option<Share>,
    #[serde(default)]
    pub(crate) portion: Option<Portion>,
}

impl Campaign {
    pub fn new(config: Config) -> Campaign {
        Campaign::shared(config, None, [])
    }

    /// Of which this machine makes its share, with statements that are known to race.
    pub fn shared(
        config: Config,
        share: Option<Share>,
        points: impl IntoIterator<Item = u32>,
    ) -> Campaign {
        Campaign {
            config,
            points: points.into_iter().collect(),
            racing: BTreeSet::new(),
            ends_after: 0,
            round: 0,
            explorer: Explorer::shared(config, share),
            earlier: 0,
            found_earlier: 0,
            lost_earlier: 0,
            share,
            portion: None,
        }
    }

    /// The statements of this round.
    pub fn points(&self) -> &BTreeSet<u32> {
        &self.points
    }

    /// Whether a race at this statement is known already.
    pub fn knows(&self, statement: u32) -> bool {
        self.points.contains(&statement) || self.racing.contains(&statement)
    }

    /// Races are known that this round has no points for. An execution that does not go as it was
    /// told needs no other explanation.
    pub fn is_outdated(&self) -> bool {
        !self.racing.is_empty()
    }

    /// See [`Explorer::next`].
    #[expect(clippy::should_implement_trait, reason = "an iterator that is fed")]
    pub fn next(&mut self) -> Option<Task> {
        if self.portion.as_ref().is_some_and(|portion| portion.over) {
            return None;
        }
        let job = match self.explorer.next() {
            None if self.explorer.exhausted() && self.next_subtree() => self.explorer.next()?,
            // All that is left of the round is others' to explore.
            None if self.is_outdated() && self.explorer.exhausted() => {
                self.start_round();
                self.explorer.next()?
            }
            job => job?,
        };
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
            if let Some(portion) = &mut self.portion {
                portion.saw(run);
            }
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
        let is_current = task.round == self.round;
        if is_current {
            self.explorer.diverged(task.job.id)?;
        }
        self.race(racing);
        if is_current && task.round == self.round && self.is_outdated() {
            self.start_round();
        }
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
    pub(crate) fn left(&self) -> Config {
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

    /// Notes statements that race, and begins the next round when it is time.
    fn race(&mut self, racing: impl IntoIterator<Item = u32>) {
        let made = self.executions_now();
        let is_first = self.racing.is_empty();
        let points = &self.points;
        let new = racing.into_iter().filter(|s| !points.contains(s));
        self.racing.extend(new);
        if self.racing.is_empty() {
            return;
        }
        if is_first {
            let patience = if made <= SOON { 1 } else { PATIENCE };
            self.ends_after = made.saturating_mul(patience);
        }
        if made >= self.ends_after || self.exhausted() {
            self.start_round();
        }
    }

    /// Begins the next round; of a portion, only says that it is time for it.
    pub(crate) fn start_round(&mut self) {
        if let Some(portion) = &mut self.portion {
            portion.over = true;
            return;
        }
        self.points.append(&mut self.racing);
        let progress = self.explorer.progress();
        self.earlier += progress.executions;
        self.found_earlier += progress.findings;
        self.round += 1;
        self.explorer = Explorer::shared(self.left(), self.share);
    }

    /// How far it is. Executions and findings are those of all rounds, all else
    /// is of this one.
    pub fn progress(&self) -> Progress {
        let now = self.explorer.progress();
        Progress {
            executions: now.executions + self.earlier,
            findings: now.findings + self.found_earlier,
            complete: self.exhausted()
                && now.complete
                && self.lost_earlier == 0
                && self.racing.is_empty(),
            lost: now.lost + self.lost_earlier,
            ..now
        }
    }

    /// Executions of this round alone: when complete, the number of classes.
    pub fn executions_now(&self) -> u64 {
        let now = self.explorer.progress().executions;
        match self.portion {
            Some(_) => now + self.earlier,
            None => now,
        }
    }

    /// Of a share: the digests of the classes of this round.
    pub fn classes(&self) -> &BTreeSet<u64> {
        self.explorer.classes()
    }

    /// Whether other machines explore a part of this round.
    pub fn is_divided(&self) -> bool {
        self.explorer.is_divided()
    }

    /// A branch of this round for somebody else: see [`Explorer::lend`].
    pub fn lend(&mut self) -> Option<(u32, Subtree)> {
        Some((self.round, self.explorer.lend()?))
    }

    /// Takes in what came of a branch, with the statements that raced there. What belongs to an
    /// earlier round still tells of races.
    pub fn take_in(
        &mut self,
        round: u32,
        job: u64,
        explored: Explored,
        racing: impl IntoIterator<Item = u32>,
    ) -> Result<(), Error> {
        if round == self.round {
            self.explorer.take_in(job, explored)?;
        } else {
            self.earlier += explored.executions;
            self.found_earlier += explored.findings;
        }
        self.race(racing);
        Ok(())
    }

    /// Nothing is left to explore.
    pub fn exhausted(&self) -> bool {
        let is_last = self.portion.as_ref().is_none_or(Portion::is_last);
        self.explorer.exhausted() && is_last
    }

    pub fn round(&self) -> u32 {
        self.round
    }
}
