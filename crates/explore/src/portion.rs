//! Portions: subtrees of one round of a [`Campaign`] that a machine explores at a time, one after
//! the other.
//!
//! After a while most branches that are open are small, and to start JVMs costs more than to explore one of
//! them; so whoever explores gets several. The coordinator deals them out ([`Campaign::deal`]) and takes in what
//! came of them ([`Campaign::take_in`]). A machine that finds a new race ends its portion early, as a round on one
//! machine ends: with more scheduling points, everything is explored again, and rounds are the coordinator's to begin.
//!
//! What is dealt out follows from what was taken in, and from nothing else. So a coordinator that takes the
//! same results in again, in the same order, has the same portions.

use crate::bounded::class_of;
use crate::campaign::Campaign;
use crate::explorer::{Config, Error};
use crate::op::Execution;
use crate::parts::{Explored, Subtree};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// Subtrees in a portion, if there are so many: they are of different size, and most are small.
const LEAST: usize = 4;
const MOST: usize = 32;
/// Steps that lead to the subtrees of a portion, in all: a message should not be long.
const MOST_STEPS: usize = 20_000;

/// Of a campaign that explores a portion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Portion {
    waiting: VecDeque<Subtree>,
    /// The subtree that is being explored.
    job: u64,
    ended: Vec<(u64, Explored)>,
    /// A race asks for a new round.
    pub over: bool,
    /// Digests of the classes of its executions.
    classes: BTreeSet<u64>,
}

impl Portion {
    pub fn saw(&mut self, run: &Execution) {
        self.classes.insert(class_of(run) as u64);
    }

    pub fn is_last(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// What came of a portion.
#[derive(Clone, Debug)]
pub struct Explorations {
    /// By the jobs of the subtrees. Nobody began with those that are missing.
    pub subtrees: Vec<(u64, Explored)>,
    /// The statements that race and are no points of this round.
    pub racing: BTreeSet<u32>,
    /// Digests of the classes.
    pub classes: BTreeSet<u64>,
}

impl Campaign {
    /// Explores these subtrees of another campaign's round, which has these points. No
    /// subtrees: there is nothing to do.
    pub fn of_portion(
        config: Config,
        subtrees: impl IntoIterator<Item = Subtree>,
        points: impl IntoIterator<Item = u32>,
    ) -> Campaign {
        let mut campaign = Campaign::shared(config, None, points);
        let mut waiting: VecDeque<Subtree> = subtrees.into_iter().collect();
        let Some(first) = waiting.pop_front() else {
            campaign.config.max_executions = Some(0);
            campaign.limit(Some(0), None);
            return campaign;
        };
        campaign.begin(&first);
        campaign.portion = Some(Portion {
            waiting,
            job: first.job,
            ended: Vec::new(),
            over: false,
            classes: BTreeSet::new(),
        });
        campaign
    }

    fn begin(&mut self, subtree: &Subtree) {
        self.explorer = subtree.explorer();
        let left = self.left();
        self.explorer.limit(left.max_executions, left.threshold);
    }

    /// Goes on to the next subtree of its portion, if there is one.
    pub(crate) fn next_subtree(&mut self) -> bool {
        let Some(portion) = &mut self.portion else {
            return false;
        };
        let Some(next) = portion.waiting.pop_front() else {
            return false;
        };
        let job = std::mem::replace(&mut portion.job, next.job);
        let explorer = std::mem::replace(&mut self.explorer, next.explorer());
        let progress = explorer.progress();
        self.earlier += progress.executions;
        self.found_earlier += progress.findings;
        self.lost_earlier += progress.lost;
        portion.ended.push((job, explorer.into_explored()));
        self.begin(&next);
        true
    }

    /// What came of the portion up to now.
    pub fn into_explorations(self) -> Explorations {
        let racing = self.racing;
        let Some(portion) = self.portion else {
            return Explorations {
                subtrees: Vec::new(),
                racing,
                classes: BTreeSet::new(),
            };
        };
        let mut subtrees = portion.ended;
        subtrees.push((portion.job, self.explorer.into_explored()));
        Explorations {
            subtrees,
            racing,
            classes: portion.classes,
        }
    }

    /// The branches of this round that nobody went to, for at most so many machines. What is left when they have
    /// enough stays here. A branch that cannot be explored on its own is given up as lost once nothing else is
    /// left to deal out or to wait for.
    pub fn deal(&mut self, machines: usize) -> Vec<Vec<Subtree>> {
        let mut lent = Vec::new();
        while lent.len() < machines.saturating_mul(MOST) {
            match self.explorer.lend() {
                Some(subtree) => lent.push(subtree),
                None if lent.is_empty() && self.is_stuck() => {
                    if let Some(job) = self.explorer.next() {
                        // It was handed out just now.
                        let _known = self.explorer.diverged(job.id);
                    }
                }
                None => break,
            }
        }
        let many = lent.len().div_ceil(LEAST).clamp(1, machines.max(1));
        let mut portions = vec![Vec::new(); many];
        let mut steps = vec![0; many];
        for (number, subtree) in lent.into_iter().enumerate() {
            let at = number % many;
            let length = subtree.beginning.len();
            match portions[at].is_empty() || steps[at] + length <= MOST_STEPS {
                true => {
                    steps[at] += length;
                    portions[at].push(subtree);
                }
                false => {
                    let _known = self.explorer.give_back(subtree.job);
                }
            }
        }
        portions.retain(|portion| !portion.is_empty());
        portions
    }

    /// Something is left, and nobody explores it.
    fn is_stuck(&self) -> bool {
        let progress = self.explorer.progress();
        progress.outstanding == 0 && progress.stopped.is_none() && !self.explorer.exhausted()
    }

    /// Somebody who had these branches did not go to them. What is of an earlier round is of no interest.
    pub fn put_back(&mut self, round: u32, job: u64) -> Result<(), Error> {
        match round == self.round() {
            true => self.explorer.give_back(job),
            false => Ok(()),
        }
    }

    /// Begins the next round at once if a race is known that is no point: who explored a portion
    /// has looked long enough for others.
    pub fn end_outdated_round(&mut self) {
        if self.is_outdated() {
            self.start_round();
        }
    }
}
