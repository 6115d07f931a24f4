//! The program with repairs in every schedule, where there are few enough: what
//! some runs do not show, an exploration does.

use super::trial::{Key, Mixture};
use crate::controlled_run;
use crate::error::Error;
use crate::session::Session;
use crate::verify::{MAX_STEPS, search};
use explore::{Config, Order};
use protocol::Scheduler;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// An exploration that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(60);

/// All that can happen.
#[derive(Clone, Debug)]
pub struct Explored {
    pub executions: u64,
    pub races: BTreeSet<Key>,
    pub stands_still: bool,
    /// Classes of uncaught exceptions.
    pub failures: BTreeSet<String>,
}

/// How many schedules there are.
#[derive(Clone, Debug)]
pub enum Space {
    /// So few that all were explored.
    Small(Explored),
    /// Few, but not everything in them was in hand: a loop that need not end, say.
    Blurred,
    TooLarge,
}

impl Space {
    pub fn explored(&self) -> Option<&Explored> {
        match self {
            Space::Small(all) => Some(all),
            Space::Blurred | Space::TooLarge => None,
        }
    }
}

impl Mixture<'_> {
    pub fn explore(&self, repairs: &[String]) -> Result<Space, Error> {
        let config = self.config;
        // What is cut short is no whole execution.
        if config.max_executions == 0 || self.launcher.cuts() {
            return Ok(Space::TooLarge);
        }
        let mut control = controlled_run::control(
            &config.control,
            Scheduler::Explore(None),
            config.control.seed,
        );
        control.max_steps = Some(config.control.max_steps.unwrap_or(MAX_STEPS));
        let limit = config.launch.time_limit.map_or(LIMIT, |l| l.min(LIMIT));
        let by_then = Instant::now().checked_add(limit);
        let asked = search::SearchConfig {
            share: None,
            points: Vec::new(),
            config: Config {
                order: Order::default(),
                preemptions: None,
                max_executions: Some(config.max_executions),
                threshold: None,
            },
            jobs: self.jobs(),
            deadline: match (by_then, config.deadline) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            isolate: false,
            samples: false,
            stop_at_first: false,
            portion: None,
            weak: None,
            repairs: repairs.to_vec(),
            input: self.input(),
            control,
        };
        let session = Session::new(&config.launch);
        let search = search::explore(self.launcher, session, &asked, None, &mut |_| Ok(()))?;
        let standing = search.standing();
        if standing.is_cut || standing.interrupted {
            return Ok(Space::TooLarge);
        }
        if !standing.is_complete() {
            return Ok(Space::Blurred);
        }
        let (report, _) = search.session().clone().finish("advise");
        let class = |exception: &str| exception.split(':').next().unwrap_or_default().to_owned();
        Ok(Space::Small(Explored {
            executions: standing.classes,
            races: report.races.iter().map(Key::of_result).collect(),
            stands_still: !report.deadlocks.is_empty(),
            failures: report
                .failures
                .iter()
                .map(|f| class(&f.exception))
                .collect(),
        }))
    }
}
