//! Which units there are. An arm is a program with a way to look at it: a scheduler, or trials
//! for a pair of statements that results have named. Its units are numbered; the number says which seeds a unit
//! has. Units of `verify` are portions of an exploration, which follow from the results before them, in the order in which
//! they are stored (`engine::verify::portions`). So the plan needs no memory of its own: from the results alone it knows which units have none,
//! and makes the same ones again.

use crate::bandit::Bandit;
use crate::error::Error;
use crate::unit::{Budget, Campaign, End, Outcome, Task, Unit, is_name};
use engine::verify::portions::Divided;
use findings::exploration::Exploration;
use findings::result::{Race, Report};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the arm whose free runs look for suspicious pairs, among the strategies.
pub const HYBRID: &str = "hybrid";

/// The name of the arm that explores all schedules.
pub const VERIFY: &str = "verify";

/// Pairs of a program that get an arm each.
const MOST_PAIRS: usize = 64;

/// Units of trials that a pair gets.
const MOST_TRIALS: u32 = 4;

/// Units that wait or are worked on, at most. So a result cannot be further than this beyond the units
/// that are known to have been made: a stranger's number would make the plan list all units up to it.
pub const MOST_OPEN: u64 = 100_000;

#[derive(Debug)]
pub struct Plan {
    campaign: String,
    budget: Budget,
    arms: Vec<Arm>,
    by_name: BTreeMap<String, usize>,
    bandit: Bandit,
    /// Units that were made, and those with a result.
    made: u64,
    done: u64,
    /// Units that were made, and taken back before anybody began them.
    withdrawn: BTreeSet<(usize, u32)>,
}

#[derive(Debug)]
struct Arm {
    name: String,
    program: u32,
    kind: Kind,
    /// The number of the next unit.
    next: u32,
    /// By number, 64 to a word: whether there is a result.
    done: Vec<u64>,
    done_count: u32,
    most: u32,
}

#[derive(Debug)]
enum Kind {
    Detect {
        scheduler: String,
        detector: &'static str,
    },
    Confirm(Box<Report>),
    /// What it hands out, `most` says at any time.
    Verify(Box<Divided>),
    Simulated {
        micros: u64,
    },
}

impl Arm {
    fn is_done(&self, index: u32) -> bool {
        let word = self.done.get(index as usize / 64);
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    fn set_done(&mut self, index: u32) {
        let word = index as usize / 64;
        if self.done.len() <= word {
            self.done.resize(word + 1, 0);
        }
        self.done[word] |= 1 << (index % 64);
        self.done_count += 1;
    }

    /// A unit that has no result yet; none of `verify` if that was refused.
    fn unit(&self, index: u32, campaign: &str, budget: &Budget) -> Option<Unit> {
        let seed = |size: u32| budget.seed.wrapping_add(u64::from(index) * u64::from(size));
        let task = match &self.kind {
            Kind::Detect {
                scheduler,
                detector,
            } => Task::Detect {
                scheduler: scheduler.clone(),
                detector: (*detector).to_owned(),
                runs: budget.batch,
                seed: seed(budget.batch),
            },
            Kind::Confirm(report) => Task::Confirm {
                report: report.clone(),
                trials: budget.trials,
                seed: seed(budget.trials),
            },
            Kind::Verify(divided) => Task::Verify {
                portion: Box::new(divided.portion(index)?.clone()),
            },
            Kind::Simulated { micros } => Task::Simulated {
                micros: *micros,
                seed: seed(1),
            },
        };
        Some(Unit {
            campaign: campaign.to_owned(),
            arm: self.name.clone(),
            index,
            program: self.program,
            task,
        })
    }
}

impl Arm {
    /// What a result says of an exploration.
    fn explored(&mut self, outcome: &mut Outcome) -> Result<(), String> {
        let Kind::Verify(divided) = &mut self.kind else {
            return Ok(());
        };
        let taken = match &mut outcome.end {
            End::Done { explored, .. } => match explored.take() {
                Some(came) => divided.take_in(outcome.index, *came),
                None => {
                    divided.give_up(outcome.index);
                    Err("it does not say what was explored".to_owned())
                }
            },
            End::GivenUp { .. } => {
                divided.give_up(outcome.index);
                Ok(())
            }
        };
        self.most = divided.portions();
        taken
    }
}

/// Whether a result is the first of its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    First,
    Again,
}

impl Plan {
    pub fn new(campaign: &Campaign) -> Plan {
        let budget = &campaign.budget;
        let mut plan = Plan {
            campaign: campaign.name.clone(),
            budget: budget.clone(),
            arms: Vec::new(),
            by_name: BTreeMap::new(),
            bandit: Bandit::new(f64::from(budget.floor_percent) / 100.0),
            made: 0,
            done: 0,
            withdrawn: BTreeSet::new(),
        };
        for program in 0..campaign.programs.len() as u32 {
            if let Some(micros) = budget.simulated_micros {
                plan.add(
                    format!("p{program}-simulated"),
                    program,
                    Kind::Simulated { micros },
                    u32::MAX,
                );
                continue;
            }
            for strategy in &budget.strategies {
                if strategy == VERIFY {
                    let divided = Divided::new(budget.portions, budget.portion.into());
                    let most = divided.portions();
                    let kind = Kind::Verify(Box::new(divided));
                    plan.add(format!("p{program}-{VERIFY}"), program, kind, most);
                    continue;
                }
                let (scheduler, detector) = match strategy.as_str() {
                    HYBRID => ("native", "hybrid"),
                    other => (other, "fasttrack"),
                };
                let kind = Kind::Detect {
                    scheduler: scheduler.to_owned(),
                    detector,
                };
                plan.add(format!("p{program}-{strategy}"), program, kind, u32::MAX);
            }
        }
        plan
    }

    fn add(&mut self, name: String, program: u32, kind: Kind, most: u32) {
        if !is_name(&name) || self.by_name.contains_key(&name) {
            return;
        }
        self.bandit.add();
        self.by_name.insert(name.clone(), self.arms.len());
        self.arms.push(Arm {
            name,
            program,
            kind,
            next: 0,
            done: Vec::new(),
            done_count: 0,
            most,
        });
    }

    /// Pairs of statements that trials may bring together: races of one fingerprint.
    pub fn add_pairs(&mut self, program: u32, races: Vec<Race>, like: &Report) {
        let tries = self.budget.trials > 0 && self.budget.simulated_micros.is_none();
        let Some(first) = races.first().filter(|_| tries) else {
            return;
        };
        let own = |arm: &&Arm| arm.program == program && matches!(arm.kind, Kind::Confirm(_));
        if self.arms.iter().filter(own).count() >= MOST_PAIRS {
            return;
        }
        let digits: String = first.fingerprint.chars().take(16).collect();
        let mut report = Report::new(like.tool.clone(), "campaign", like.program.clone());
        report.races = races;
        // Those are of other units.
        for (_, replay) in report.replays_mut() {
            *replay = None;
        }
        let kind = Kind::Confirm(Box::new(report));
        self.add(
            format!("p{program}-pair-{digits}"),
            program,
            kind,
            MOST_TRIALS,
        );
    }

    /// Takes note of a result, and takes what it says of an exploration. What it has paid is for the caller to
    /// say ([`Plan::pay`]).
    pub fn take(&mut self, outcome: &mut Outcome) -> Result<Seen, Error> {
        let id = outcome.id();
        let refused = |why: &str| {
            Err(Error::Refused(format!(
                "the result of unit {id} is refused: {why}"
            )))
        };
        let Some(&at) = self.by_name.get(&outcome.arm) else {
            return refused("the campaign has no such unit");
        };
        let arm = &mut self.arms[at];
        let most = u64::from(arm.most).min(self.budget.units.unwrap_or(u64::MAX));
        let known = u64::from(arm.next) + MOST_OPEN;
        if u64::from(outcome.index) >= most.min(known) || outcome.program != arm.program {
            return refused("the campaign has no such unit");
        }
        if arm.is_done(outcome.index) {
            return Ok(Seen::Again);
        }
        while arm.next <= outcome.index {
            arm.next += 1;
            self.made += 1;
            self.bandit.hand_out(at);
        }
        arm.set_done(outcome.index);
        self.done += 1;
        self.withdrawn.remove(&(at, outcome.index));
        let taken = arm.explored(outcome);
        match arm.next >= arm.most {
            true => self.bandit.close(at),
            false => self.bandit.open_again(at),
        }
        match taken {
            Ok(()) => Ok(Seen::First),
            Err(why) => refused(&why),
        }
    }

    /// How far the exploration of all schedules of a program is, if the campaign has one.
    pub fn exploration(&self, program: u32) -> Option<Exploration> {
        let own = self.arms.iter().filter(|arm| arm.program == program);
        own.into_iter().find_map(|arm| match &arm.kind {
            Kind::Verify(divided) => Some(divided.exploration()),
            _ => None,
        })
    }

    /// What a unit of this arm has paid.
    pub fn pay(&mut self, arm: &str, reward: f64) {
        if let Some(&at) = self.by_name.get(arm) {
            self.bandit.pay(at, reward);
        }
    }

    /// Units without a result that were made before: a coordinator that was restarted
    /// publishes them again, and the queue keeps those that it knows.
    pub fn missing(&self) -> Vec<Unit> {
        let of = |(at, arm): (usize, &Arm)| {
            let is_open =
                |index: &u32| !arm.is_done(*index) && !self.withdrawn.contains(&(at, *index));
            let open = (0..arm.next).filter(is_open);
            open.filter_map(|index| arm.unit(index, &self.campaign, &self.budget))
                .collect::<Vec<_>>()
        };
        self.arms.iter().enumerate().flat_map(of).collect()
    }

    /// Nobody will begin this unit any more. Somebody who began it before may still store its result.
    pub fn withdraw(&mut self, unit: &Unit) {
        let Some(&at) = self.by_name.get(&unit.arm) else {
            return;
        };
        let arm = &self.arms[at];
        if unit.index < arm.next && !arm.is_done(unit.index) {
            self.withdrawn.insert((at, unit.index));
        }
    }

    /// The program of a unit of this name.
    pub fn program_of(&self, unit: &str) -> Option<u32> {
        let (arm, _) = unit.rsplit_once('-')?;
        Some(self.arms[*self.by_name.get(arm)?].program)
    }

    /// The next unit; none if there is no more to do.
    pub fn next_unit(&mut self) -> Option<Unit> {
        if self.budget.units.is_some_and(|most| self.made >= most) {
            return None;
        }
        let at = match self.budget.even {
            true => {
                let open = self
                    .arms
                    .iter()
                    .enumerate()
                    .filter(|(_, arm)| arm.next < arm.most);
                let (at, _) = open.min_by_key(|(_, arm)| arm.next)?;
                self.bandit.hand_out(at);
                at
            }
            false => self.bandit.choose()?,
        };
        let arm = &mut self.arms[at];
        let unit = arm.unit(arm.next, &self.campaign, &self.budget);
        arm.next += 1;
        self.made += 1;
        if arm.next >= arm.most {
            self.bandit.close(at);
        }
        unit
    }

    pub fn made(&self) -> u64 {
        self.made - self.withdrawn.len() as u64
    }

    pub fn done(&self) -> u64 {
        self.done
    }

    /// Units that were made and have no result.
    pub fn outstanding(&self) -> u64 {
        self.made() - self.done
    }

    /// Arms with the units that they were given and those with a result.
    pub fn arms(&self) -> impl Iterator<Item = (&str, u32, u32)> {
        self.arms
            .iter()
            .map(|arm| (arm.name.as_str(), arm.next, arm.done_count))
    }
}
