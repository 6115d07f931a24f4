//! What a campaign has come to: a fold over its results, in the order in which they are stored.
//! Whoever folds the same results comes to the same account: the coordinator, the live page and
//! `campaign report`. Memory does not grow with the number of results, only with what
//! they found.

use crate::error::Error;
use crate::plan::{Plan, Seen};
use crate::queue::Stored;
use crate::replays::{self, Schedules};
use crate::unit::{self, Campaign, End, KeptSchedule, Outcome};
use findings::confirmed::{Deadlock, Failure};
use findings::group;
use findings::result::{Race, Report, Status};
use findings::text::counted;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// What a finding is worth, in new partial orders.
const FINDING: f64 = 50.0;

/// Runs that the report of a program lists: more of the same says nothing new.
const MOST_RUNS: usize = 1_000;

/// Units that were given up, and messages that were refused, are listed up to so many.
const MOST_LISTED: usize = 100;

/// And of each program in its report.
const MOST_TOLD: usize = 10;

/// A unit does not take longer than a year.
const MOST_SECONDS: f64 = 365.0 * 86_400.0;

/// Points of a curve.
const MOST_POINTS: usize = 400;

/// An account of a campaign.
#[derive(Debug)]
pub struct Account {
    pub campaign: Campaign,
    pub plan: Plan,
    pub programs: Vec<ProgramAccount>,
    pub executions: u64,
    /// Seconds that workers worked.
    pub seconds: f64,
    /// What the coordinator says of units that were published; without it, what follows from the results.
    pub published: Option<u64>,
    pub given_up: u64,
    pub why_given_up: Vec<(String, String)>,
    pub refused: u64,
    pub why_refused: Vec<String>,
    /// Findings in the order in which they came.
    pub found: Vec<Found>,
    pub curve: Curve,
    /// Where to go on reading.
    pub sequence: u64,
    /// Results that were read, whatever became of them.
    pub read: u64,
}

/// One of the programs.
#[derive(Debug, Default)]
pub struct ProgramAccount {
    pub report: Option<Report>,
    pub orders: HashSet<u64>,
    pub executions: u64,
    pub units: u64,
    pub seconds: f64,
    /// Units without a usable result, and of the first of them why.
    lost: u64,
    why_lost: Vec<(String, String)>,
    /// Runs in all; the report lists the first of them.
    runs: u64,
    schedules: Schedules,
    known: BTreeMap<String, Status>,
    /// Every unit so far exercised nothing.
    idle: bool,
}

/// Something that was found for the first time, or is known better than before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// Seconds since the start.
    pub at: f64,
    pub program: u32,
    pub key: String,
    pub kind: &'static str,
    pub status: String,
    pub name: String,
    pub place: String,
    pub unit: String,
}

/// What a unit has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    pub orders: u64,
    pub findings: u64,
    pub seconds: f64,
}

impl Gain {
    /// What an arm is paid for it.
    fn reward(self) -> f64 {
        (self.orders as f64 + FINDING * self.findings as f64) / self.seconds.max(0.001)
    }
}

/// Totals over time.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    pub points: Vec<Point>,
    /// The least distance of two points.
    step: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// Seconds since the start.
    pub at: f64,
    pub units: u64,
    pub executions: u64,
    pub orders: u64,
    pub findings: u64,
}

impl Curve {
    /// The totals at this time. When there are too many points, every other one goes.
    fn add(&mut self, point: Point) {
        let step = self.step;
        match self.points.last_mut() {
            Some(last) if point.at - last.at < step => {
                *last = Point {
                    at: last.at,
                    ..point
                }
            }
            _ => self.points.push(point),
        }
        if self.points.len() > MOST_POINTS {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            let span = self.points.last().map_or(0.0, |last| last.at);
            self.step = 2.0 * span / MOST_POINTS as f64;
        }
    }
}

impl Account {
    pub fn new(campaign: &Campaign) -> Account {
        Account {
            plan: Plan::new(campaign),
            programs: { campaign.programs.iter() }
                .map(|_| ProgramAccount {
                    idle: true,
                    ..ProgramAccount::default()
                })
                .collect(),
            campaign: campaign.clone(),
            executions: 0,
            seconds: 0.0,
            published: None,
            given_up: 0,
            why_given_up: Vec::new(),
            refused: 0,
            why_refused: Vec::new(),
            found: Vec::new(),
            curve: Curve::default(),
            sequence: 0,
            read: 0,
        }
    }

    /// Units that were published.
    pub fn made(&self) -> u64 {
        let told = self.published.map(|told| told.max(self.plan.done()));
        told.unwrap_or_else(|| self.plan.made())
    }

    /// Takes a stored result. What is no result of this campaign's is refused and counted,
    /// and the line says why.
    pub fn add(&mut self, stored: &Stored) -> Result<Gain, Error> {
        self.sequence = stored.sequence;
        self.read += 1;
        let taken = self.take(stored);
        if let Err(error) = &taken {
            self.refused += 1;
            if let Some(program) = self.plan.program_of(&stored.unit) {
                self.programs[program as usize].lose(&stored.unit, &error.to_string());
            }
            if self.why_refused.len() < MOST_LISTED {
                self.why_refused.push(error.to_string());
            }
        }
        taken
    }

    fn take(&mut self, stored: &Stored) -> Result<Gain, Error> {
        let name = &stored.unit;
        let refused =
            |why: String| Error::Refused(format!("the result of unit {name} is refused: {why}"));
        let mut outcome: Outcome =
            unit::decode(&stored.bytes).map_err(|e| refused(e.to_string()))?;
        if outcome.campaign != self.campaign.name {
            return Err(refused(format!(
                "it is of campaign {:?}, which is not known here",
                outcome.campaign
            )));
        }
        if outcome.id() != *name {
            return Err(refused(format!(
                "it says that it is of unit {}",
                outcome.id()
            )));
        }
        if self.plan.take(&mut outcome)? == Seen::Again {
            return Ok(Gain::default());
        }
        let arm = outcome.arm.clone();
        let at = (stored.at - self.campaign.started).max(0.0);
        let gain = self.fold(outcome, at);
        self.plan.pay(&arm, gain.reward());
        let orders = self.programs.iter().map(|p| p.orders.len() as u64).sum();
        let findings = self.programs.iter().map(|p| p.known.len() as u64).sum();
        self.curve.add(Point {
            at,
            units: self.plan.done(),
            executions: self.executions,
            orders,
            findings,
        });
        Ok(gain)
    }

    fn fold(&mut self, outcome: Outcome, at: f64) -> Gain {
        let id = outcome.id();
        let program = &mut self.programs[outcome.program as usize];
        // What a worker says may be any number.
        let seconds = outcome.seconds.clamp(0.0, MOST_SECONDS);
        self.executions = self.executions.saturating_add(outcome.executions);
        self.seconds += seconds;
        program.executions = program.executions.saturating_add(outcome.executions);
        program.seconds += seconds;
        program.units += 1;
        let known = program.orders.len();
        program.orders.extend(outcome.orders);
        let orders = (program.orders.len() - known) as u64;
        let (report, schedules) = match outcome.end {
            End::Done {
                report, schedules, ..
            } => (*report, schedules),
            End::GivenUp { why } => {
                self.given_up += 1;
                program.lose(&id, &format!("it was given up: {why}"));
                if self.why_given_up.len() < MOST_LISTED {
                    self.why_given_up.push((id, why));
                }
                return Gain {
                    seconds,
                    ..Gain::default()
                };
            }
        };
        program.idle &= report.not_exercised;
        let (new, merged) = program.fold(report, schedules, &id);
        // Pairs that are suspected, and not yet made to happen.
        for (key, _) in &new {
            let open = |race: &&Race| race.fingerprint == *key && race.status < Status::Confirmed;
            let races = merged.races.iter().filter(open).cloned().collect();
            self.plan.add_pairs(outcome.program, races, merged);
        }
        let words = new.iter().map(|(key, found)| {
            let (kind, status, name, place) = found.clone();
            Found {
                at,
                program: outcome.program,
                key: key.clone(),
                kind,
                status,
                name,
                place,
                unit: id.clone(),
            }
        });
        self.found.extend(words);
        Gain {
            orders,
            findings: new.len() as u64,
            seconds,
        }
    }

    /// The report of a program, as `campaign report` shows it.
    pub fn report(&self, program: usize) -> Report {
        self.told(program, |_| None).0
    }

    /// The same with schedules, under the names that they have now. `command` replays the schedule of a name, if
    /// it is kept somewhere.
    pub fn told(
        &self,
        program: usize,
        command: impl Fn(&str) -> Option<String>,
    ) -> (Report, Vec<KeptSchedule>) {
        let account = &self.programs[program];
        let described = &self.campaign.programs[program];
        let mut report = account.report.clone().unwrap_or_else(|| {
            Report::new(self.campaign.tool.clone(), "campaign", Default::default())
        });
        report.command = "campaign".to_owned();
        report.program.args = described.original.clone();
        report.not_exercised = account.idle && account.units > 0;
        if account.units == 0 {
            report.limit_reached = true;
            report
                .warnings
                .push("no unit of this program has a result yet".into());
        }
        account.tell_lost(&mut report);
        report.exploration = self.plan.exploration(program as u32);
        report.limit_reached |= { report.exploration.as_ref() }.is_some_and(|it| !it.complete);
        report.schedules = (account.executions > 1).then(|| findings::exploration::Schedules {
            tried: account.executions,
            different: account.orders.len() as u64,
            ..Default::default()
        });
        report.timing.total_s = account.seconds;
        let schedules = replays::named(&mut report, &account.schedules, command);
        (report, schedules)
    }
}

/// Kind, status, name and place.
type Words = (&'static str, String, String, String);

/// Findings by fingerprint, or by id in the report.
type News = Vec<(String, Words)>;

impl ProgramAccount {
    pub fn findings(&self) -> usize {
        self.known.len()
    }

    fn lose(&mut self, unit: &str, why: &str) {
        self.lost += 1;
        if self.why_lost.len() < MOST_TOLD {
            self.why_lost.push((unit.to_owned(), why.to_owned()));
        }
    }

    /// What was not looked at may have what nobody found.
    fn tell_lost(&self, report: &mut Report) {
        for (unit, why) in &self.why_lost {
            report.warnings.push(format!("unit {unit}: {why}"));
        }
        let more = self.lost - self.why_lost.len() as u64;
        if more > 0 {
            let units = counted(more, "unit has", "units have");
            report.warnings.push(format!("{units} no result besides"));
        }
        report.limit_reached |= self.lost > 0;
        if self.runs > MOST_RUNS as u64 {
            report.warnings.push(format!(
                "of {} runs the first {MOST_RUNS} are listed; all are counted",
                self.runs
            ));
        }
    }

    /// Adds a report. What it has that is new here, or stronger, and what is known now.
    fn fold(
        &mut self,
        mut new: Report,
        schedules: Vec<KeptSchedule>,
        unit: &str,
    ) -> (News, &Report) {
        replays::unpack(&mut new, schedules, unit, &mut self.schedules);
        let races: Vec<Race> = new.races.clone();
        let stuck: Vec<Deadlock> = new.deadlocks.clone();
        let failures: Vec<Failure> = new.failures.clone();
        let runs = new.runs.len() as u64;
        let mut merged = match self.report.take() {
            Some(mut report) => {
                // Runs are numbered on, also those that are not listed.
                number_on(&mut new, self.runs - report.runs.len() as u64);
                new.runs.truncate(MOST_RUNS - report.runs.len());
                report.absorb(new);
                report
            }
            None => {
                new.runs.truncate(MOST_RUNS);
                new
            }
        };
        self.runs += runs;
        replays::retain(&mut merged, &mut self.schedules);
        let mut news = self.new_races(&races);
        let same = |it: &Deadlock| merged.deadlocks.iter().find(|known| known.same(it));
        let stuck = stuck.iter().filter_map(same);
        let stuck = stuck.map(|known| (known.id.clone(), deadlock_words(known)));
        let same = |it: &Failure| merged.failures.iter().find(|known| known.same(it));
        let failures = failures.iter().filter_map(same);
        let failures = failures.map(|known| (known.id.clone(), failure_words(known)));
        for (key, words) in stuck.chain(failures) {
            if self.known.insert(key.clone(), Status::Confirmed).is_none() {
                news.push((key, words));
            }
        }
        (news, self.report.insert(merged))
    }

    fn new_races(&mut self, races: &[Race]) -> News {
        let mut new = Vec::new();
        for race in races {
            let known = self.known.get(&race.fingerprint);
            if known.is_none_or(|known| *known < race.status) {
                self.known.insert(race.fingerprint.clone(), race.status);
                new.push((race.fingerprint.clone(), race_words(race)));
            }
        }
        new
    }
}

/// Moves the numbers of the runs that first showed something.
fn number_on(report: &mut Report, by: u64) {
    let races = report.races.iter_mut().map(|it| &mut it.first_run);
    let deadlocks = report.deadlocks.iter_mut().map(|it| &mut it.first_run);
    let failures = report.failures.iter_mut().map(|it| &mut it.first_run);
    for first in races.chain(deadlocks).chain(failures) {
        // A report of a single run leaves the number out.
        *first = (*first).max(1) + by;
    }
}

fn deadlock_words(deadlock: &Deadlock) -> Words {
    let threads = deadlock.threads.iter().map(|it| it.thread.as_str());
    let first = deadlock.threads.first().and_then(|it| it.stack.first());
    (
        "deadlock",
        deadlock.kind.clone(),
        threads.collect::<Vec<_>>().join(", "),
        place_of(first),
    )
}

fn failure_words(failure: &Failure) -> Words {
    let place = place_of(failure.stack.first());
    (
        "failure",
        "uncaught".to_owned(),
        failure.exception.clone(),
        place,
    )
}

fn race_words(race: &Race) -> Words {
    let all = std::slice::from_ref(race);
    let name = group::findings(all)
        .first()
        .map_or_else(String::new, |f| f.name());
    let [a, b] = race
        .accesses
        .each_ref()
        .map(|access| place_of(Some(&access.at)));
    (
        "race",
        race.status.word().to_owned(),
        name,
        format!("{a} and {b}"),
    )
}

fn place_of(frame: Option<&findings::finding::Frame>) -> String {
    match frame {
        Some(frame) => match (&frame.file, frame.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("{}.{}", frame.class, frame.method),
        },
        None => String::new(),
    }
}
