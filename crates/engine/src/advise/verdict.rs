//! What the runs with a repair say of it, in words that claim no more than was
//! seen.

use super::explored::{Explored, Space};
use super::key_of;
use super::paths::Paths;
use super::to_bytecode::express;
use super::trial::{Key, Mixture, Tally};
use crate::error::Error;
use advise::{Advice, Kind, Race, Repair, Sync, Variable, Words};
use findings::advice::{self, Validated};
use std::collections::{BTreeMap, BTreeSet};

/// Why a repair was not tried to the end.
const NO_TIME: &str = "there was no more time";
pub const STOPPED: &str = "it was stopped";

/// What came of one repair, or of several together.
#[derive(Clone, Debug)]
pub enum Outcome {
    NotTried(String),
    Tried(Box<Trial>),
}

#[derive(Clone, Debug)]
pub struct Trial {
    tally: Tally,
    /// So many executions are all there are, and were looked at too.
    explored: Option<u64>,
    /// Races of the runs before that were not seen any more.
    gone: BTreeSet<Key>,
    /// Races that were not there before.
    new: usize,
    /// Exceptions that nobody caught, and that nobody had seen before.
    failures: Vec<String>,
    /// Those that had been seen before, and were again.
    leaves: Vec<String>,
    cost: Option<f64>,
}

/// The advice with what was found out about it.
pub struct Judged {
    pub advice: Advice,
    outcomes: BTreeMap<Repair, Outcome>,
    /// Runs that showed each race, of how many, without a repair.
    before: Tally,
    set: Option<(Vec<Repair>, bool, Outcome)>,
}

/// Tries the repairs one by one, then the smallest set.
pub fn judge(
    mixture: &Mixture<'_>,
    paths: &Paths,
    before: &Tally,
    advice: &Advice,
) -> Result<Judged, Error> {
    let mut judge = Judge {
        mixture,
        paths,
        before,
        advice,
        space: match advice.ranked.is_empty() {
            true => Space::TooLarge,
            false => mixture.explore(&[])?,
        },
        seconds: None,
    };
    let mut outcomes = BTreeMap::new();
    let mut tried = 0;
    for ranked in &advice.ranked {
        let outcome = match judge.changes(&ranked.repair) {
            Err(why) => Outcome::NotTried(why),
            Ok(_) if tried >= mixture.config.tries => {
                Outcome::NotTried(format!("only {tried} were (--tries)"))
            }
            Ok(changes) => {
                tried += 1;
                judge.trial(&[ranked.repair], changes)?
            }
        };
        outcomes.insert(ranked.repair, outcome);
    }
    let set = judge.set(&outcomes)?;
    let mut before = before.clone();
    let could_stop = judge.explored().is_some_and(|all| all.stands_still);
    before.stood_still += u32::from(could_stop);
    Ok(Judged {
        advice: advice.clone(),
        outcomes,
        before,
        set,
    })
}

struct Judge<'a> {
    mixture: &'a Mixture<'a>,
    paths: &'a Paths,
    before: &'a Tally,
    advice: &'a Advice,
    /// Of the program as it is.
    space: Space,
    /// Of the program as it is.
    seconds: Option<Vec<f64>>,
}

impl Judge<'_> {
    fn explored(&self) -> Option<&Explored> {
        self.space.explored()
    }

    fn racing(&self, repair: &Repair) -> Vec<Variable> {
        let ranked = self.advice.ranked.iter().find(|r| r.repair == *repair);
        let races = ranked
            .into_iter()
            .flat_map(|r| r.removes.iter().chain(&r.helps));
        races.map(|race| race.variable).collect()
    }

    fn changes(&self, repair: &Repair) -> Result<Vec<String>, String> {
        let changes = express(repair, &self.racing(repair), &self.paths.book)?;
        Ok(changes.iter().map(ToString::to_string).collect())
    }

    /// The races that the repairs are for.
    fn claims(&self, repairs: &[Repair]) -> BTreeSet<Key> {
        let all = self.advice.ranked.iter();
        let all = all.filter(|r| repairs.contains(&r.repair));
        all.flat_map(|r| r.removes.iter().chain(&r.helps))
            .map(|race| key_of(race, self.paths))
            .collect()
    }

    fn trial(&mut self, repairs: &[Repair], changes: Vec<String>) -> Result<Outcome, Error> {
        if self.mixture.is_interrupted() {
            return Ok(Outcome::NotTried(STOPPED.into()));
        }
        if self.mixture.out_of_time() {
            return Ok(Outcome::NotTried(NO_TIME.into()));
        }
        let texts: Vec<String> = repairs.iter().map(|r| r.text(&self.paths.book)).collect();
        let text = format!("trying: {}", texts.join("; "));
        self.mixture.progress.step(&text);
        let claims = self.claims(repairs);
        let mut tally = self.mixture.tally(&changes, &claims)?;
        if tally.interrupted || self.mixture.is_interrupted() {
            return Ok(Outcome::NotTried(STOPPED.into()));
        }
        // Runs that were not made, or were cut short, show nothing.
        if tally.out_of_time {
            return Ok(Outcome::NotTried(NO_TIME.into()));
        }
        if let Some((_, why)) = tally.refused.first_key_value() {
            return Ok(Outcome::NotTried(why.clone()));
        }
        if changes.iter().any(|change| !tally.made.contains(change)) {
            let why = "its class was not loaded in the runs that tried it";
            return Ok(Outcome::NotTried(why.into()));
        }
        let fails = claims.iter().all(|key| tally.seen.contains_key(key)) || tally.stood_still > 0;
        let mut explored = match &self.space {
            Space::Small(_) | Space::Blurred if !fails => self.mixture.explore(&changes)?,
            _ => Space::TooLarge,
        };
        // Nobody knows whether it would have come to that without the repair.
        let is_bad = |all: &Explored| all.stands_still || !all.failures.is_empty();
        if self.explored().is_none() && explored.explored().is_some_and(is_bad) {
            explored = Space::Blurred;
        }
        if let Some(all) = explored.explored() {
            tally.take_in(all);
        }
        let is_seen = |key: &Key| {
            let moved = repairs.iter().filter_map(|r| self.moved(key, r));
            let mut keys = moved.chain([key.clone()]);
            keys.any(|key| tally.seen.contains_key(&key))
        };
        let known = self.before.seen.keys();
        let gone: BTreeSet<Key> = known.filter(|k| !is_seen(k)).cloned().collect();
        let explored_before = self.explored().into_iter().flat_map(|all| &all.races);
        let known_after: BTreeSet<Key> = { self.before.seen.keys() }
            .chain(explored_before)
            .flat_map(|k| {
                let moved = repairs.iter().filter_map(|r| self.moved(k, r));
                moved.chain([k.clone()]).collect::<Vec<_>>()
            })
            .collect();
        let new = tally.seen.keys().filter(|k| !known_after.contains(k));
        let could = |class: &&String| {
            let explored = self.explored();
            self.before.failures.contains(*class)
                || explored.is_some_and(|all| all.failures.contains(*class))
        };
        let (leaves, failures): (Vec<&String>, _) = tally.failures.iter().partition(could);
        let mut trial = Trial {
            explored: explored.explored().map(|all| all.executions),
            new: new.count(),
            failures: failures.into_iter().cloned().collect(),
            leaves: leaves.into_iter().cloned().collect(),
            gone,
            cost: None,
            tally,
        };
        if !trial.gone.is_empty() && trial.tally.stood_still == 0 {
            trial.cost = self.cost(&changes)?;
        }
        Ok(Outcome::Tried(Box::new(trial)))
    }

    /// The race as it is called after a statement was moved.
    fn moved(&self, key: &Key, repair: &Repair) -> Option<Key> {
        let Repair::Move { statement, before } = repair else {
            return None;
        };
        let from = self.paths.book.statement(*statement)?;
        let to = self.paths.book.statement(*before)?;
        if from.whole_method() != to.whole_method() {
            return None; // a call was moved, and the statement stands where it stood
        }
        let class = super::dotted(&from.class);
        Some(key.moved(&class, from.line, to.line))
    }

    /// How much longer the program takes: the medians compared, if every run
    /// with the changes took longer than every run without.
    fn cost(&mut self, changes: &[String]) -> Result<Option<f64>, Error> {
        let base = match self.seconds.take() {
            Some(known) => known,
            None => self.mixture.seconds(&[])?,
        };
        let with = self.mixture.seconds(changes)?;
        let cost = match (base.last(), with.first()) {
            (Some(slowest), Some(fastest)) if fastest > slowest => {
                Some(with[with.len() / 2] / base[base.len() / 2])
            }
            (Some(_), Some(_)) => Some(1.0),
            _ => None,
        };
        self.seconds = Some(base);
        Ok(cost)
    }

    /// The fewest repairs that remove all races: of those that were tried, the
    /// ones that removed the most, and of these rather one with which no exception
    /// is left, and that brings a lock where one is wanted; or those that the paths
    /// suggest, if they are no more and no worse, and left out every race when they
    /// were tried one by one. Where those make the program's own synchronisation work, they are
    /// preferred to a lock around it.
    fn set(
        &mut self,
        outcomes: &BTreeMap<Repair, Outcome>,
    ) -> Result<Option<(Vec<Repair>, bool, Outcome)>, Error> {
        let all: BTreeSet<Key> = self.before.seen.keys().cloned().collect();
        if all.is_empty() {
            return Ok(None);
        }
        let gone = |repair: &Repair| match outcomes.get(repair) {
            Some(Outcome::Tried(t)) if t.tally.stood_still == 0 => t.gone.clone(),
            _ => BTreeSet::new(),
        };
        let wants_lock = |v: &Variable| self.paths.book.wants_lock(*v).is_some();
        let splits = |r: &Repair| matches!(r, Repair::Volatile(v) if wants_lock(v));
        let keeps = |r: &Repair| matches!(r, Repair::Methods(v) if wants_lock(v));
        let heals = |repair: &Repair| match outcomes.get(repair) {
            Some(Outcome::Tried(t)) => t.leaves.is_empty() && !splits(repair),
            _ => false,
        };
        let suggested = &self.advice.set.repairs;
        let covers: BTreeSet<Key> = suggested.iter().flat_map(gone).collect();
        let mut chosen = Vec::new();
        let mut left = all.clone();
        while !left.is_empty() {
            let ranked = self.advice.ranked.iter().rev();
            let gain = |r: &Repair| {
                let gone = gone(r).intersection(&left).count();
                (gone, heals(r), keeps(r))
            };
            let best = ranked.map(|r| r.repair).max_by_key(gain);
            let Some(best) = best.filter(|r| gain(r).0 > 0) else {
                break;
            };
            left = left.difference(&gone(&best)).cloned().collect();
            chosen.push(best);
        }
        let mut smallest = chosen.len() == 1;
        let heal = suggested.iter().all(heals) || !chosen.iter().all(heals);
        if covers == all && suggested.len() <= chosen.len() && heal {
            chosen.clone_from(suggested);
            smallest = self.advice.set.smallest;
        }
        if chosen.is_empty() {
            return Ok(None);
        }
        let locks = |r: &Repair| matches!(r, Repair::Methods(_) | Repair::Synchronized { .. });
        if covers == all && chosen.iter().any(locks) && self.mends_own_synchronisation() {
            let suggested = suggested.clone();
            let outcome = self.together(&suggested)?;
            if self.removes_all(&outcome) {
                return Ok(Some((suggested, false, outcome)));
            }
        }
        let outcome = match &chosen[..] {
            [one] => match outcomes.get(one) {
                Some(known) => known.clone(),
                None => return Ok(None),
            },
            several => {
                let outcome = self.together(several)?;
                return self.fewer(chosen, smallest, outcome).map(Some);
            }
        };
        Ok(Some((chosen, smallest, outcome)))
    }

    /// Whether the repairs that the paths suggest only change variables, and so order races
    /// on others too: the threads talk through these, as code does that implements a lock.
    fn mends_own_synchronisation(&self) -> bool {
        let variable = |r: &Repair| match r {
            Repair::Volatile(v) | Repair::AtomicArray(v) | Repair::AtomicClass(v) => Some(*v),
            _ => None,
        };
        let changed: Option<BTreeSet<Variable>> =
            self.advice.set.repairs.iter().map(variable).collect();
        let races = self.advice.ranked.iter().flat_map(|r| &r.removes);
        changed.is_some_and(|changed| races.map(|r| r.variable).any(|v| !changed.contains(&v)))
    }

    fn removes_all(&self, outcome: &Outcome) -> bool {
        let all = self.before.seen.len();
        match outcome {
            Outcome::Tried(t) => t.gone.len() == all && t.tally.stood_still == 0,
            Outcome::NotTried(_) => false,
        }
    }

    /// Several repairs at once.
    fn together(&mut self, repairs: &[Repair]) -> Result<Outcome, Error> {
        let changes: Result<Vec<Vec<String>>, String> =
            repairs.iter().map(|r| self.changes(r)).collect();
        match changes {
            Ok(changes) => {
                let mut changes = changes.concat();
                changes.sort();
                changes.dedup();
                self.trial(repairs, changes)
            }
            Err(why) => Ok(Outcome::NotTried(why)),
        }
    }

    /// Leaves out what the others make needless: one by one a repair may have
    /// been needed where together they do without it.
    fn fewer(
        &mut self,
        mut chosen: Vec<Repair>,
        mut smallest: bool,
        mut outcome: Outcome,
    ) -> Result<(Vec<Repair>, bool, Outcome), Error> {
        for repair in chosen.clone() {
            // What each does alone is known.
            if chosen.len() < 3 || !self.removes_all(&outcome) {
                break;
            }
            let rest: Vec<Repair> = chosen.iter().copied().filter(|r| *r != repair).collect();
            let without = self.together(&rest)?;
            if self.removes_all(&without) {
                (chosen, outcome, smallest) = (rest, without, false);
            }
        }
        Ok((chosen, smallest, outcome))
    }
}

impl Judged {
    /// Advice that nobody tried.
    pub fn untried(advice: &Advice, why: &str) -> Judged {
        let outcome = |r: &advise::Ranked| (r.repair, Outcome::NotTried(why.to_owned()));
        let set = advice.set.repairs.clone();
        Judged {
            outcomes: advice.ranked.iter().map(outcome).collect(),
            before: Tally::default(),
            set: (!set.is_empty()).then(|| {
                let why = Outcome::NotTried(why.to_owned());
                (set, advice.set.smallest, why)
            }),
            advice: advice.clone(),
        }
    }

    /// What to say of a suggestion for a race.
    pub fn suggestion(
        &self,
        suggestion: &advise::Suggestion,
        seen: u64,
        key: &Key,
        paths: &Paths,
        ids_of: &dyn Fn(&BTreeSet<Key>) -> Vec<String>,
    ) -> advice::Suggestion {
        let repair = suggestion.repair;
        // An atomic variable orders exactly what a volatile one does.
        let (tried_as, note) = match repair {
            Repair::AtomicClass(v) => (Repair::Volatile(v), "tried as a volatile field: "),
            other => (other, ""),
        };
        let caution = match repair {
            Repair::Volatile(v) => paths.book.wants_lock(v),
            _ => None,
        };
        let outcome = self.outcomes.get(&tried_as);
        let mut leaves = Vec::new();
        let (validated, checked, removes, cost) = match outcome {
            Some(Outcome::Tried(trial)) => {
                let (validated, checked) = self.say(trial, &BTreeSet::from([key.clone()]));
                leaves.clone_from(&trial.leaves);
                (validated, checked, trial.gone.clone(), trial.cost)
            }
            other => {
                let why = match other {
                    Some(Outcome::NotTried(why)) => why.as_str(),
                    _ => "it was not among those tried",
                };
                let removes = self.expected(&repair, paths);
                (Validated::NotTried, why.to_owned(), removes, None)
            }
        };
        advice::Suggestion {
            kind: suggestion.kind.name().to_owned(),
            target: repair.target(&paths.book),
            text: repair.text(&paths.book),
            removes: ids_of(&removes),
            checked: match (validated, suggestion.kind) {
                (Validated::NotTried, _) => checked,
                (Validated::RemovesRace, Kind::Volatile) => {
                    format!("{checked}; accesses to a volatile field do not race by definition")
                }
                _ => format!("{note}{checked}"),
            },
            validated,
            leaves,
            caution,
            paths: Some(advice::Paths {
                helps: suggestion.helps,
                seen,
            }),
            cost,
            diff: None,
        }
    }

    /// What a repair should remove, by the paths.
    fn expected(&self, repair: &Repair, paths: &Paths) -> BTreeSet<Key> {
        let ranked = self.advice.ranked.iter().find(|r| r.repair == *repair);
        let races = ranked.into_iter().flat_map(|r| &r.removes);
        races.map(|race: &Race| key_of(race, paths)).collect()
    }

    /// What is proposed for all races.
    pub fn set(
        &self,
        paths: &Paths,
        ids_of: &dyn Fn(&BTreeSet<Key>) -> Vec<String>,
    ) -> Option<advice::RepairSet> {
        let (repairs, smallest, outcome) = self.set.as_ref()?;
        let mut leaves = Vec::new();
        let (validated, checked, removes, cost) = match outcome {
            Outcome::Tried(trial) => {
                let all = self.before.seen.keys().cloned().collect();
                let (validated, checked) = self.say(trial, &all);
                leaves.clone_from(&trial.leaves);
                (validated, checked, trial.gone.clone(), trial.cost)
            }
            Outcome::NotTried(why) => {
                let each = repairs.iter().flat_map(|r| self.expected(r, paths));
                let words = format!("not tried: {why}");
                (Validated::NotTried, words, each.collect(), None)
            }
        };
        Some(advice::RepairSet {
            repairs: repairs.iter().map(|r| r.text(&paths.book)).collect(),
            removes: ids_of(&removes),
            validated,
            checked,
            leaves,
            smallest: *smallest,
            cost,
        })
    }

    /// The verdict on some races, and how it was come by.
    fn say(&self, trial: &Trial, races: &BTreeSet<Key>) -> (Validated, String) {
        let Trial { tally, gone, .. } = trial;
        let runs = tally.runs;
        let without = races
            .iter()
            .filter_map(|key| self.before.seen.get(key))
            .max();
        let without = format!(
            "before in {} of {}",
            without.copied().unwrap_or_default(),
            self.before.runs
        );
        let (validated, mut text) = if tally.stood_still > 0 && self.before.stood_still == 0 {
            let text = match trial.explored {
                Some(all) => format!("some of all {all} executions with it deadlock"),
                None => format!("a controlled run with it deadlocked, after {runs}"),
            };
            (Validated::Deadlocks, text)
        } else if races.iter().all(|key| gone.contains(key)) {
            let text = match (trial.explored, races.len()) {
                (Some(all), 1) => {
                    format!("in none of the {all} executions there are with it, {without} runs")
                }
                (Some(all), _) => {
                    format!(
                        "none is left in the {all} executions there are with it, {without} runs"
                    )
                }
                (None, 1) => format!("not seen in {runs} controlled runs with it, {without}"),
                (None, _) => format!("none was seen in {runs} controlled runs, {without}"),
            };
            (Validated::RemovesRace, text)
        } else {
            let left = races.iter().filter(|key| !gone.contains(key)).count();
            let text = match (trial.explored, races.len()) {
                (Some(all), 1) => format!("seen again in some of all {all} executions with it"),
                (Some(all), n) => {
                    format!("{left} of {n} races were seen again in some of all {all} executions")
                }
                (None, 1) => format!("seen again within {runs} controlled runs with it"),
                (None, n) => {
                    format!("{left} of {n} races were seen again within {runs} controlled runs")
                }
            };
            (Validated::StillRaces, text)
        };
        if trial.new > 0 {
            text += &format!("; {} new race(s) showed", trial.new);
        }
        // Which only an exploration of the program had shown.
        let others = tally.seen.len() - trial.new;
        if others > 0 && races.len() > 1 && validated == Validated::RemovesRace {
            text += &format!("; {others} other race(s) are left");
        }
        if !trial.failures.is_empty() {
            text += &format!("; the program then fails: {}", trial.failures.join(", "));
        }
        if tally.cut_short > 0 {
            text += &format!(
                "; {} of the runs did not come to their end",
                tally.cut_short
            );
        }
        if tally.too_long > 0 {
            text += &format!("; {} of the runs were looked at in part", tally.too_long);
        }
        (validated, text)
    }
}

/// What an order went through, in words.
pub fn through(sync: &Sync, words: &dyn Words) -> String {
    match *sync {
        Sync::Variable(v) => words.variable(v),
        Sync::Lock(lock) => words.lock(lock),
        Sync::Thread(thread) => format!("the end of {}", words.thread(thread)),
        Sync::Object(object) => words.object(object),
    }
}
