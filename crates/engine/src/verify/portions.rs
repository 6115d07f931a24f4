//! An exploration that several machines share, with somebody who coordinates it: a campaign.
//!
//! [`Divided`] is the coordinator's side: it has the tree, deals out [`Portion`]s of it and takes [`Came`] in.
//! [`explore`] is the machine's: an exploration as `verify` makes it, which begins at the branches of its portion
//! and ends after so many executions. What is left comes back with what was found, and is dealt out again. With every race
//! that is new, a round begins in which its statements are scheduling points, as on one machine.
//!
//! **What it claims.** What `verify` claims: crate `explore` (`parts`, `portion`) makes every class once, by whomever,
//! and the exploration is complete only if every branch has come back explored. A portion that was
//! given up stays open for ever.
//!
//! `Divided` has no state besides what follows from the results that it took in, in their order.

use super::search::{self, Branches, Crew, Gap, SearchConfig, Standing};
use super::{Completeness, Samples, VerifyConfig, asked, found_by_verify};
use crate::config::{self, ControlConfig};
use crate::controlled_run;
use crate::error::Error;
use crate::launch::Launcher;
use crate::session::Session;
use driver::store;
use explore::{Campaign, Config, Explored, Subtree};
use findings::exploration::Exploration;
use findings::result::Report;
use findings::text::counted;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Executions of a portion while few have been made, at most: others wait for its branches.
const FIRST: u64 = 100;

/// What a machine explores at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Portion {
    pub round: u32,
    /// Statements that race: the scheduling points of the round.
    pub points: Vec<String>,
    /// Keys of what others have shown already; it is not shown again.
    pub seen: BTreeSet<String>,
    pub subtrees: Vec<Subtree>,
    /// Executions after which the rest is somebody else's.
    pub executions: u64,
}

/// What came of a portion, besides its report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Came {
    /// By the jobs of the subtrees. Nobody began with those that are missing.
    pub subtrees: Vec<(u64, Explored)>,
    /// Statements that race and are no points of the round.
    pub racing: Vec<String>,
    pub seen: BTreeSet<String>,
    /// Why the exploration is not complete, and why this round of it is not.
    pub missing: BTreeSet<Gap>,
    pub unfinished: BTreeSet<Gap>,
    /// Executions made in JVMs that made others before, and why there are no more.
    pub reused: u64,
    pub isolated: Option<String>,
}

/// A portion that was explored.
#[derive(Debug)]
pub struct Made {
    pub report: Report,
    pub came: Came,
    pub executions: u64,
    /// Digests of the classes.
    pub classes: BTreeSet<u64>,
}

/// A portion that is to be explored.
#[derive(Clone, Debug)]
pub struct Order {
    pub portion: Portion,
    /// Where its findings and schedules go.
    pub results: PathBuf,
}

/// Explores portions, one after the other: is told what came of each, and says which is next. JVMs stay
/// from one to the next, unless scheduling points are other ones; to start some for each would take longer
/// than to explore it. Limits of the configuration but the time are the portion's. An error: nothing was
/// explored.
pub fn explore(
    config: &VerifyConfig,
    first: Order,
    next: &mut dyn FnMut(Result<Made, Error>) -> Option<Order>,
) -> Result<(), Error> {
    super::check(config)?;
    let launcher = Launcher::new(&config.launch)?;
    if launcher.cuts() {
        return Err(Error::usage(super::WHOLE));
    }
    let program = controlled_run::program(&launcher.java, &config.launch, config.input.as_deref())?;
    let crew = || Crew::new(config::jobs(config.jobs), &launcher.interrupts);
    let (mut order, mut warm) = (first, crew());
    loop {
        let made = explore_one(config, &launcher, &program, &mut warm, &order);
        let is_ok = made.is_ok();
        let Some(following) = next(made) else {
            return Ok(());
        };
        if !is_ok || following.portion.points != order.portion.points {
            warm = crew();
        }
        order = following;
    }
}

fn explore_one(
    config: &VerifyConfig,
    launcher: &Launcher<'_>,
    program: &store::Program,
    crew: &mut Crew<'_>,
    order: &Order,
) -> Result<Made, Error> {
    let portion = &order.portion;
    let kept = ControlConfig {
        results: order.results.clone(),
        ..config.control.clone()
    };
    let mut store = controlled_run::store(&kept)?;
    let branches = Branches {
        subtrees: portion.subtrees.clone(),
        seen: portion.seen.clone(),
    };
    let is_root = branches.is_root();
    let asked = {
        let config = VerifyConfig {
            points: portion.points.clone(),
            max_executions: Some(portion.executions),
            ..config.clone()
        };
        SearchConfig {
            portion: Some(branches),
            samples: false,
            ..asked(&config)?
        }
    };
    let session = Session::new(&config.launch);
    let search = search::explore_with(crew, launcher, session, &asked, None, &mut |_| Ok(()))?;
    let standing = search.standing();
    let executions = standing.progress.executions;
    if standing.interrupted {
        return Err(Error::tool_failed("it was interrupted"));
    }
    if standing.out_of_time && executions == 0 {
        return Err(Error::tool_failed(
            "no execution ended in time: a long computation, or a loop that waits for others in a \
             way that is not recognised",
        ));
    }
    let session = search.session().clone();
    // Whether there was anything to look at, the first portion knows.
    let (mut report, facts) = match is_root {
        true => session.finish("verify"),
        false => session.conclude("verify"),
    };
    controlled_run::keep(&kept, &mut store, &mut report, |run| {
        let kept = search.kept().get(&run)?;
        Some((kept.schedule.clone(), kept.log.clone()))
    });
    report.not_exercised = facts.not_exercised;
    found_by_verify(&mut report);
    store.save(program, &report)?;
    let seen = search.seen().difference(&portion.seen).cloned().collect();
    let (explored, racing, [missing, unfinished]) = search.into_explorations();
    Ok(Made {
        report,
        came: Came {
            subtrees: explored.subtrees,
            racing,
            seen,
            missing,
            unfinished,
            reused: standing.reused,
            isolated: standing.isolated,
        },
        executions,
        classes: explored.classes,
    })
}

/// An exploration of which others explore the branches.
#[derive(Debug)]
pub struct Divided {
    campaign: Campaign,
    /// By the numbers that the campaign knows them by.
    statements: Vec<String>,
    seen: BTreeSet<String>,
    missing: BTreeSet<Gap>,
    unfinished: BTreeSet<Gap>,
    reused: u64,
    isolated: Option<String>,
    /// Portions that are somewhere else, by number.
    lent: BTreeMap<u32, Portion>,
    /// The number of the next portion.
    next: u32,
    given_up: u64,
    /// Portions at a time, and executions of each.
    at_once: usize,
    executions: u64,
}

impl Divided {
    /// An exploration from the start, for so many portions at a time.
    pub fn new(at_once: u32, executions: u64) -> Divided {
        let mut divided = Divided {
            campaign: Campaign::new(Config::default()),
            statements: Vec::new(),
            seen: BTreeSet::new(),
            missing: BTreeSet::new(),
            unfinished: BTreeSet::new(),
            reused: 0,
            isolated: None,
            lent: BTreeMap::new(),
            next: 0,
            given_up: 0,
            at_once: at_once.max(1) as usize,
            executions: executions.max(1),
        };
        divided.fill();
        divided
    }

    /// How many portions there were up to now.
    pub fn portions(&self) -> u32 {
        self.next
    }

    /// A portion that has not come back.
    pub fn portion(&self, number: u32) -> Option<&Portion> {
        self.lent.get(&number)
    }

    fn fill(&mut self) {
        let free = self.at_once.saturating_sub(self.lent.len());
        let points = self.campaign.points().iter();
        let points = points.filter_map(|n| self.statements.get(*n as usize));
        let points: Vec<String> = points.cloned().collect();
        // No longer than its share of what there was so far: what is left of it others may be waiting for.
        let share = self.campaign.executions_now() / self.at_once as u64;
        let executions = share.max(FIRST).min(self.executions);
        for subtrees in self.campaign.deal(free) {
            let portion = Portion {
                round: self.campaign.round(),
                points: points.clone(),
                seen: self.seen.clone(),
                subtrees,
                executions,
            };
            self.lent.insert(self.next, portion);
            self.next += 1;
        }
    }

    /// Nobody can explore this portion: the exploration will not be complete.
    pub fn give_up(&mut self, number: u32) {
        if self.lent.remove(&number).is_some() {
            self.given_up += 1;
        }
        self.fill();
    }

    /// Takes in what came of a portion, and deals out what there is. What does not fit is refused, and the portion
    /// counts as given up.
    pub fn take_in(&mut self, number: u32, came: Came) -> Result<(), String> {
        let Some(portion) = self.lent.remove(&number) else {
            return Err("there is no such portion of the exploration".to_owned());
        };
        let before = self.campaign.round();
        let taken = self.take_subtrees(&portion, came.subtrees);
        if taken.is_err() {
            self.given_up += 1;
        }
        let racing: Vec<u32> = { came.racing.into_iter() }
            .map(|statement| self.number(statement))
            .collect();
        self.campaign.saw_races(racing);
        self.campaign.end_outdated_round();
        self.seen.extend(came.seen);
        self.missing.extend(came.missing);
        self.reused += came.reused;
        self.isolated = self.isolated.take().or(came.isolated);
        let now = self.campaign.round();
        if now != before {
            // What could not be done there may go well with other points.
            self.unfinished.clear();
        } else if portion.round == now {
            self.unfinished.extend(came.unfinished);
        }
        self.fill();
        taken
    }

    fn take_subtrees(
        &mut self,
        portion: &Portion,
        subtrees: Vec<(u64, Explored)>,
    ) -> Result<(), String> {
        let is_ours = |job: &u64| portion.subtrees.iter().any(|subtree| subtree.job == *job);
        if !subtrees.iter().all(|(job, _)| is_ours(job)) {
            return Err("it has a branch that its portion does not have".to_owned());
        }
        for subtree in &portion.subtrees {
            if !subtrees.iter().any(|(job, _)| *job == subtree.job) {
                let back = self.campaign.put_back(portion.round, subtree.job);
                back.map_err(|error| error.to_string())?;
            }
        }
        for (job, explored) in subtrees {
            let taken = self.campaign.take_in(portion.round, job, explored, []);
            taken.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn number(&mut self, statement: String) -> u32 {
        let known = self.statements.iter().position(|s| *s == statement);
        known.unwrap_or_else(|| {
            self.statements.push(statement);
            self.statements.len() - 1
        }) as u32
    }

    /// What it has come to.
    pub fn exploration(&self) -> Exploration {
        let missing = self.missing.union(&self.unfinished);
        let standing = Standing {
            progress: self.campaign.progress(),
            classes: self.campaign.executions_now(),
            rounds: self.campaign.round() + 1,
            shared: None,
            is_cut: !self.campaign.exhausted(),
            missing: missing.map(ToString::to_string).collect(),
            interrupted: false,
            out_of_time: false,
            set_aside: Vec::new(),
            samples: Samples::default(),
            within: (0, None),
            has_enough: false,
            bound: None,
            reused: self.reused,
            isolated: self.isolated.clone(),
            reloads: None,
        };
        let mut completeness = Completeness::from_standing(&standing);
        // It goes on with its campaign.
        completeness.resumable = false;
        if self.given_up > 0 {
            completeness.complete = false;
            completeness.limited = false;
            let parts = counted(self.given_up, "part of it was", "parts of it were");
            completeness.reasons.push(format!("{parts} given up"));
        } else if standing.is_cut {
            let reason = "parts of it have no result yet";
            completeness.reasons.push(reason.to_owned());
        }
        completeness.exploration()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a program of one execution.
    fn whole(portion: &Portion) -> Came {
        let mut campaign = Campaign::of_portion(Config::default(), portion.subtrees.clone(), []);
        while let Some(task) = campaign.next() {
            let done = campaign.finish(&task, &explore::Execution::default(), 0, []);
            assert!(done.is_ok());
        }
        Came {
            subtrees: campaign.into_explorations().subtrees,
            racing: Vec::new(),
            seen: BTreeSet::new(),
            missing: BTreeSet::new(),
            unfinished: BTreeSet::new(),
            reused: 0,
            isolated: None,
        }
    }

    #[test]
    fn it_is_complete_when_everything_came_back() {
        let mut divided = Divided::new(3, 10);
        assert_eq!(divided.portions(), 1);
        assert!(!divided.exploration().complete);
        let came = whole(divided.portion(0).unwrap());
        divided.take_in(0, came.clone()).unwrap();
        assert_eq!(divided.portions(), 1);
        let told = divided.exploration();
        assert!(told.complete && told.classes == 1, "{told:?}");
        assert!(divided.take_in(0, came).is_err());
        assert!(divided.exploration().complete);
    }

    #[test]
    fn a_race_begins_a_round_with_its_statements() {
        let mut divided = Divided::new(3, 10);
        let mut came = whole(divided.portion(0).unwrap());
        came.racing = vec!["somewhere".to_owned()];
        divided.take_in(0, came).unwrap();
        assert!(!divided.exploration().complete);
        let second = divided.portion(1).unwrap();
        assert_eq!(
            (second.round, &second.points[..]),
            (1, &["somewhere".to_owned()][..])
        );
        let came = whole(second);
        divided.take_in(1, came).unwrap();
        let told = divided.exploration();
        assert!(
            told.complete && told.rounds == 2 && told.executions == 2,
            "{told:?}"
        );
    }

    #[test]
    fn what_is_given_up_has_a_gap_or_does_not_fit_is_never_complete() {
        let says = |divided: &Divided, words: &str| {
            let told = divided.exploration();
            assert!(!told.complete, "{words}");
            let is_said = |reason: &String| reason.contains(words);
            assert!(told.not_complete.iter().any(is_said), "{told:?}");
        };
        let mut divided = Divided::new(3, 10);
        says(&divided, "no result yet");
        divided.give_up(0);
        says(&divided, "given up");

        let mut divided = Divided::new(3, 10);
        let mut came = whole(divided.portion(0).unwrap());
        came.missing.insert(Gap::Diverged { step: None });
        divided.take_in(0, came).unwrap();
        says(&divided, "did not do the same again");

        let mut divided = Divided::new(3, 10);
        let mut came = whole(divided.portion(0).unwrap());
        came.subtrees[0].0 += 1;
        assert!(divided.take_in(0, came).is_err());
        says(&divided, "given up");

        // Nobody began with it: it is dealt out again.
        let mut divided = Divided::new(3, 10);
        let mut came = whole(divided.portion(0).unwrap());
        came.subtrees.clear();
        divided.take_in(0, came).unwrap();
        assert!(divided.portion(1).is_some());
        says(&divided, "no result yet");
    }
}
