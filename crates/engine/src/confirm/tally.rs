//! The account of a pair's trials: how often the race was made to happen, in
//! which order, and what came of it, with one schedule kept for each kind of
//! end.

use super::blame::{Account, End};
use super::pairs::{self, AccessOrders, Order};
use super::verdict::{Regularity, Verdict};
use driver::store::Schedule;
use findings::confirmed::{Effect, Harm, Outcome, Replay, Trials};
use findings::finding::{AccessOp, Hit};
use findings::merge;
use findings::result::{Race, Status};
use std::cell::Cell;
use std::collections::BTreeSet;

/// What the schedule of a trial without a verdict is called.
const CUT_SHORT: &str = "cut-short";

/// A trial in which a hit was made.
#[derive(Debug)]
pub struct Trial<'a> {
    pub hits: &'a [Hit],
    /// What came of it, if that can be said.
    pub verdict: Option<&'a Verdict>,
    pub schedule: &'a Schedule,
}

/// The trials of a pair, whatever raced in them.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub run: u64,
    pub asked: u64,
    /// In how many the two statements met.
    pub met: u64,
}

/// A run worth keeping: its row, still without a name, and its log.
#[derive(Clone, Debug)]
pub struct Kept {
    pub schedule: Schedule,
    pub log: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Group {
    outcome: Outcome,
    /// Reference runs catch the exception, too, in some of their orders.
    regular: bool,
    kept: Kept,
}

/// The account of one race.
#[derive(Clone, Debug)]
pub struct Tally {
    pub race: Race,
    pub hit: u64,
    /// Which side went first in trials whose end is known.
    known: [bool; 2],
    /// The same, for each two of the accesses.
    orders: AccessOrders,
    /// The same, in trials that ended as usual.
    fine: AccessOrders,
    /// How others ended.
    bad: BTreeSet<End>,
    /// The output of some trial had nothing to be compared with.
    uncompared: bool,
    /// Some trial differed from the reference runs in its signs of failure.
    failed: bool,
    groups: Vec<Group>,
    /// A trial that made it happen and whose end nobody can judge.
    cut_short: Option<Kept>,
}

impl Tally {
    pub fn new(race: Race) -> Tally {
        Tally {
            race,
            hit: 0,
            known: [false; 2],
            orders: AccessOrders::default(),
            fine: AccessOrders::default(),
            bad: BTreeSet::new(),
            uncompared: false,
            failed: false,
            groups: Vec::new(),
            cut_short: None,
        }
    }

    /// Counts a trial, if it has a hit of this race. Of several, the last one
    /// is what led to a bad end; a good end came of each.
    pub fn add(&mut self, trial: &Trial<'_>, log: impl Fn() -> Vec<u8>) {
        let mine = |hit| pairs::order(&self.race, hit).map(|order| (order, hit));
        let hits: Vec<(Order, &Hit)> = trial.hits.iter().filter_map(mine).collect();
        let Some((last, hit)) = hits.last() else {
            return;
        };
        self.hit += 1;
        self.complete_stacks(last.first, hit);
        let Some(verdict) = trial.verdict else {
            self.cut_short.get_or_insert_with(|| Kept {
                schedule: trial.schedule.clone(),
                log: log(),
            });
            return;
        };
        self.uncompared |= !verdict.compared;
        self.failed |= verdict.unusual;
        let counted = match verdict.effect {
            Effect::Ok => &hits[..],
            _ => &hits[hits.len() - 1..],
        };
        counted.iter().for_each(|(_, hit)| self.orders.add(hit));
        match End::of(verdict) {
            None => counted.iter().for_each(|(_, hit)| self.fine.add(hit)),
            Some(end) => drop(self.bad.insert(end)),
        }
        for first in [last.first, 1 - (last.first & 1)] {
            let mine = counted.iter().filter(|(order, _)| order.first == first);
            let met: Vec<[AccessOp; 2]> =
                mine.map(|(_, hit)| [hit.first.op, hit.second.op]).collect();
            if !met.is_empty() {
                self.known[usize::from(first & 1)] = true;
                self.count(first, &met, (trial, verdict), &log);
            }
        }
        if hits.iter().any(|(order, _)| order.symmetric) {
            self.known = [true; 2];
        }
    }

    fn count(
        &mut self,
        first: u8,
        met: &[[AccessOp; 2]],
        (trial, verdict): (&Trial<'_>, &Verdict),
        log: impl Fn() -> Vec<u8>,
    ) {
        let same = |group: &&mut Group| {
            let known = &group.outcome;
            known.first == first
                && known.caught == verdict.caught.is_some()
                && known.failure_signs == verdict.signs
                && verdict.same(known.result, &known.detail, &known.stack)
        };
        match self.groups.iter_mut().find(same) {
            Some(group) => {
                group.outcome.trials += 1;
                group.outcome.met(met);
            }
            None => self.groups.push(Group {
                outcome: Outcome {
                    first,
                    orders: Outcome::distinct(met.to_vec()),
                    result: verdict.effect,
                    detail: verdict.detail.clone(),
                    stack: verdict.stack.clone(),
                    caught: verdict.caught.is_some(),
                    failure_signs: verdict.signs.clone(),
                    trials: 1,
                    memory: Vec::new(),
                    replay: None,
                },
                regular: verdict.caught == Some(Regularity::Sometimes),
                kept: Kept {
                    schedule: trial.schedule.clone(),
                    log: log(),
                },
            }),
        }
    }

    /// The hit has the stacks of both accesses; the run that found the race may
    /// have lost one.
    fn complete_stacks(&mut self, first: u8, hit: &Hit) {
        let [a, b] = &mut self.race.accesses;
        let (x, y) = if first == 0 { (a, b) } else { (b, a) };
        for (known, seen) in [(x, &hit.first), (y, &hit.second)] {
            if known.stack.is_empty() && !seen.stack.is_empty() {
                known.stack = seen.stack.clone();
                known.stack_exact = true;
                known.locks = seen.locks.clone();
            }
        }
    }

    fn same_but_counts(&self, other: &Tally) -> bool {
        let facts = |t: &Tally| (t.known, t.uncompared, t.failed, t.groups.len());
        let orders = |t: &Tally| (t.orders.clone(), t.fine.clone());
        facts(self) == facts(other) && orders(self) == orders(other) && self.race == other.race
    }

    /// What to hold against the accounts of other races; none if it never happened.
    pub fn account(&self, race: &Race) -> Option<Account> {
        Some(Account {
            race: race.id.clone(),
            sides: pairs::sides(race).filter(|_| self.hit > 0)?,
            bad: self.bad.clone(),
            fine: self.fine.clone(),
            compared: !self.uncompared,
        })
    }

    /// Nothing is left to be learnt: something was seen to come of it, and what
    /// comes of the other side's going first is known, too; or nothing came of any
    /// order of any two accesses.
    pub fn is_settled(&self) -> bool {
        let all = || self.orders.are_complete(&self.race);
        self.known == [true; 2] && (self.harm().is_some() || all())
    }

    /// What the trials showed, if anything. Exceptions that are in every run and
    /// signs of failure that all share are none of the race's doing.
    fn harm(&self) -> Option<Harm> {
        let groups = self
            .groups
            .iter()
            .filter(|group| self.is_of_the_race(group));
        let outcomes = || groups.clone().map(|group| &group.outcome);
        let fails = |outcome: &Outcome| {
            use Effect::{Deadlock, Exception, Livelock};
            matches!(outcome.result, Exception | Deadlock | Livelock)
        };
        if outcomes().any(fails) || self.failed {
            Some(Harm::Harmful)
        } else if outcomes().any(|outcome| outcome.result == Effect::OutputDiffers) {
            Some(Harm::ChangesOutput)
        } else {
            None
        }
    }

    /// Whether what came of the trials is due to the race. An exception that reference
    /// runs catch as well, now and then, is if only one order of the race has it.
    fn is_of_the_race(&self, group: &Group) -> bool {
        let mine = &group.outcome;
        let other = usize::from(1 - (mine.first & 1));
        let same = |other: &Outcome| {
            other.caught && (&other.detail, &other.stack) == (&mine.detail, &mine.stack)
        };
        let mut others = { self.groups.iter() }.filter(|g| g.outcome.first != mine.first);
        !group.regular || self.known[other] && !others.any(|g| same(&g.outcome))
    }

    /// What is not due to the race is not held against it.
    fn drop_unrelated(&mut self) {
        let related: Vec<bool> = self.groups.iter().map(|g| self.is_of_the_race(g)).collect();
        let groups = std::mem::take(&mut self.groups).into_iter().zip(related);
        for (mut group, related) in groups {
            if !related {
                group.outcome.result = Effect::Ok;
                group.outcome.caught = false;
                group.outcome.detail.clear();
                group.outcome.stack.clear();
            }
            let mine = &group.outcome;
            let alike = |known: &&mut Group| {
                let known = &known.outcome;
                let signs = known.failure_signs == mine.failure_signs;
                !related && known.result == Effect::Ok && known.first == mine.first && signs
            };
            match self.groups.iter_mut().find(alike) {
                Some(known) => {
                    known.outcome.trials += group.outcome.trials;
                    known.outcome.met(&group.outcome.orders);
                }
                None => self.groups.push(group),
            }
        }
    }

    /// Writes the account into the race; `keep` stores a schedule under its
    /// name and says how to replay it, if it could.
    pub fn finish(mut self, made: Made, mut keep: impl FnMut(Kept) -> Option<Replay>) -> Race {
        let seen = self.orders.are_complete(&self.race) && self.known == [true; 2];
        let harm = match self.harm() {
            Some(harm) => harm,
            None if seen && !self.uncompared => Harm::Harmless,
            None => Harm::Unknown,
        };
        self.drop_unrelated();
        let race = &mut self.race;
        race.trials = Some(Trials {
            run: made.run,
            hit: self.hit,
            of: (made.run < made.asked).then_some(made.asked),
            met: (made.met > self.hit).then_some(made.met),
        });
        if self.hit == 0 {
            // How it was shown before is all there is to see.
            return self.race;
        }
        race.outcomes.clear();
        race.replay = None;
        race.status = Status::Confirmed;
        if !race.found_by.iter().any(|name| name == "racefuzzer") {
            race.found_by.push("racefuzzer".to_owned());
        }
        race.harm = Some(harm);
        // The most telling first; equal ones in the order they came.
        self.groups.sort_by_key(|group| group.outcome.result);
        let mut names: Vec<String> = Vec::new();
        for mut group in self.groups {
            let plain = format!("{}.{}", race.id, group.outcome.result.name());
            let used = names.iter().filter(|name| **name == plain).count();
            names.push(plain.clone());
            let name = match used {
                0 => plain,
                n => format!("{plain}-{}", n + 1),
            };
            group.kept.schedule.name = name;
            group.outcome.replay = keep(group.kept);
            race.replay = race.replay.take().or(group.outcome.replay.clone());
            race.outcomes.push(group.outcome);
        }
        // What was made to happen can be seen again, however that trial ended.
        if let (None, Some(mut kept)) = (&race.replay, self.cut_short) {
            kept.schedule.name = format!("{}.{CUT_SHORT}", race.id);
            race.replay = keep(kept);
        }
        self.race
    }
}

/// The accounts of one pair: of its race, and of whatever else raced at the
/// same statements.
#[derive(Clone, Debug, Default)]
pub struct Tallies {
    pub all: Vec<Tally>,
    /// Trials in which the two statements met on one location.
    pub met: u64,
}

impl Tallies {
    /// Counts a trial. A hit that belongs to no race known here opens an
    /// account of its own, unless `known` says that it has one elsewhere.
    pub fn add(
        &mut self,
        trial: &Trial<'_>,
        known: impl Fn(&Hit) -> bool,
        log: impl Fn() -> Vec<u8>,
    ) {
        self.met += u64::from(!trial.hits.is_empty());
        for hit in trial.hits {
            let mine = |tally: &Tally| pairs::order(&tally.race, hit).is_some();
            if !self.all.iter().any(mine)
                && !known(hit)
                && let Some(race) = pairs::race_of(hit)
            {
                let race = merge::race(race, Status::Confirmed);
                self.all.push(Tally::new(race));
            }
        }
        for tally in &mut self.all {
            tally.add(trial, &log);
        }
    }

    /// Whether a trial would add to counts only: the races, the orders, and what came of
    /// them were seen before.
    pub fn know(&self, trial: &Trial<'_>, known: impl Fn(&Hit) -> bool) -> bool {
        let mut after = self.clone();
        let needs_log = Cell::new(false);
        after.add(trial, known, || {
            needs_log.set(true);
            Vec::new()
        });
        let both = self.all.iter().zip(&after.all);
        !needs_log.get()
            && self.all.len() == after.all.len()
            && both
                .into_iter()
                .all(|(now, then)| now.same_but_counts(then))
    }

    /// Nothing more to be learnt about the race that was asked for.
    pub fn is_settled(&self) -> bool {
        self.all.first().is_some_and(Tally::is_settled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::finding::Findings;

    const HIT: &str = r#"{"kind":"hit","location":{"class":"A","field":"F"},"first":{"op":"read","thread":{"name":"s"},"frame":{"class":"A","method":"m","line":1},"stack":[{"class":"A"}]},"second":{"op":"write","thread":{"name":"t"},"frame":{"class":"A","method":"n","line":2}}}"#;

    fn hits(field: &str, turned: bool) -> Vec<Hit> {
        let mut text = HIT.replace("\"F\"", &format!("\"{field}\""));
        if turned {
            text = text
                .replace("first", "x")
                .replace("second", "first")
                .replace("\"x\"", "\"second\"");
        }
        Findings::parse(format!("{text}\n").as_bytes()).hits
    }

    fn race() -> Race {
        let hits = hits("f", false);
        let found = pairs::race_of(hits.first().unwrap()).unwrap();
        let mut race = merge::race(found, Status::Potential);
        race.id = "R1".into();
        race.found_by = vec!["hybrid".into()];
        race
    }

    fn verdict(effect: Effect, detail: &str) -> Verdict {
        Verdict {
            effect,
            detail: detail.into(),
            stack: vec![],
            caught: None,
            signs: vec![],
            unusual: false,
            compared: true,
        }
    }

    fn add(tallies: &mut Tallies, hits: &[Hit], verdict: Option<&Verdict>) {
        let schedule = Schedule::default();
        let trial = Trial {
            hits,
            verdict,
            schedule: &schedule,
        };
        tallies.add(&trial, |_| false, Vec::new);
    }

    fn finish(tally: Tally, run: u64) -> (Race, Vec<String>) {
        let mut names = Vec::new();
        let made = Made {
            run,
            asked: 100,
            met: 0,
        };
        let race = tally.finish(made, |kept| {
            names.push(kept.schedule.name.clone());
            Some(Replay {
                seed: 0,
                command: kept.schedule.name,
                ..Replay::default()
            })
        });
        (race, names)
    }

    fn tallies() -> Tallies {
        Tallies {
            all: vec![Tally::new(race())],
            met: 0,
        }
    }

    #[test]
    fn statements_that_meet_elsewhere_are_counted_apart() {
        let mut tallies = tallies();
        let ok = verdict(Effect::Ok, "");
        add(&mut tallies, &hits("f", false), Some(&ok));
        add(&mut tallies, &hits("g", false), Some(&ok));
        add(&mut tallies, &[], Some(&ok));
        let made = Made {
            run: 3,
            asked: 3,
            met: tallies.met,
        };
        let trials = |tally: Tally| tally.finish(made, |_| None).trials.unwrap();
        let all: Vec<Trials> = tallies.all.into_iter().map(trials).collect();
        let one = Trials {
            run: 3,
            hit: 1,
            of: None,
            met: Some(2),
        };
        assert_eq!(all, [one, one]);
    }

    #[test]
    fn both_orders_and_their_ends() {
        let mut tallies = tallies();
        let ok = verdict(Effect::Ok, "");
        let bad = verdict(Effect::Exception, "E: 1 in thread");
        add(&mut tallies, &hits("f", false), Some(&ok));
        assert!(!tallies.is_settled(), "only one order");
        add(&mut tallies, &[], Some(&ok));
        add(&mut tallies, &hits("f", true), Some(&bad));
        let again = verdict(Effect::Exception, "E: 2 in thread");
        add(&mut tallies, &hits("f", true), Some(&again));
        add(&mut tallies, &hits("f", true), Some(&ok));
        assert!(tallies.is_settled());
        let (race, names) = finish(tallies.all.remove(0), 5);
        assert_eq!(names, ["R1.exception", "R1.ok", "R1.ok-2"]);
        assert_eq!(race.status, Status::Confirmed);
        assert_eq!(race.found_by, ["hybrid", "racefuzzer"]);
        assert_eq!(race.harm, Some(Harm::Harmful));
        let trials = Trials {
            run: 5,
            hit: 4,
            of: Some(100),
            met: None,
        };
        assert_eq!(race.trials, Some(trials));
        let counts: Vec<_> = race.outcomes.iter().map(|o| (o.first, o.trials)).collect();
        assert_eq!(counts, [(1, 2), (0, 1), (1, 1)]);
        assert_eq!(race.replay.unwrap().command, "R1.exception");
    }

    #[test]
    fn a_run_may_meet_the_race_in_both_orders() {
        let both = [hits("f", false), hits("f", true)].concat();
        let mut good = tallies();
        add(&mut good, &both, Some(&verdict(Effect::Ok, "")));
        assert!(good.is_settled());
        let mut bad = tallies();
        add(&mut bad, &both, Some(&verdict(Effect::Exception, "E")));
        assert!(!bad.is_settled(), "only the last one led to it");
        let orders = |tallies: &mut Tallies| {
            let (race, _) = finish(tallies.all.remove(0), 1);
            let outcomes = race.outcomes.iter();
            outcomes.map(|o| (o.first, o.trials)).collect::<Vec<_>>()
        };
        assert_eq!(orders(&mut good), [(1, 1), (0, 1)]);
        assert_eq!(orders(&mut bad), [(1, 1)]);
    }

    #[test]
    fn what_was_never_made_to_happen_stays_as_it_was() {
        let mut tallies = tallies();
        add(&mut tallies, &[], Some(&verdict(Effect::Exception, "E")));
        let (race, names) = finish(tallies.all.remove(0), 100);
        assert_eq!((race.status, race.harm), (Status::Potential, None));
        assert!(names.is_empty() && race.outcomes.is_empty());
        assert_eq!(race.trials.unwrap().of, None);
    }

    #[test]
    fn a_hit_on_another_field_is_another_race() {
        let mut tallies = tallies();
        add(
            &mut tallies,
            &hits("g", false),
            Some(&verdict(Effect::Ok, "")),
        );
        assert_eq!(tallies.all.len(), 2);
        let (mine, _) = finish(tallies.all.remove(0), 1);
        assert_eq!(mine.status, Status::Potential);
        let (other, _) = finish(tallies.all.remove(0), 1);
        assert_eq!(other.status, Status::Confirmed);
        assert_eq!(other.harm, Some(Harm::Unknown));
    }

    #[test]
    fn one_order_without_harm_is_not_called_harmless() {
        let mut tallies = tallies();
        add(
            &mut tallies,
            &hits("f", false),
            Some(&verdict(Effect::Ok, "")),
        );
        let (race, _) = finish(tallies.all.remove(0), 1);
        assert_eq!(race.harm, Some(Harm::Unknown));
    }

    #[test]
    fn a_caught_exception_counts_if_one_order_has_it_or_no_other_run() {
        let caught = |regularity| Verdict {
            caught: Some(regularity),
            ..verdict(Effect::Exception, "E at A.m(A.java:1)")
        };
        let ok = verdict(Effect::Ok, "");
        let harm = |regularity, other: &Verdict| {
            let mut tallies = tallies();
            add(&mut tallies, &hits("f", false), Some(&caught(regularity)));
            add(&mut tallies, &hits("f", true), Some(other));
            let (race, _) = finish(tallies.all.remove(0), 2);
            let results = race.outcomes.iter().map(|o| (o.result, o.caught));
            (race.harm.unwrap(), results.collect::<Vec<_>>())
        };
        let (exception, nothing) = ((Effect::Exception, true), (Effect::Ok, false));
        use Regularity::{Never, Sometimes};
        let one = (Harm::Harmful, vec![exception, nothing]);
        assert_eq!(harm(Never, &ok), one);
        assert_eq!(harm(Sometimes, &ok), one);
        let both = (Harm::Harmful, vec![exception, exception]);
        assert_eq!(harm(Never, &caught(Never)), both);
        let neither = (Harm::Harmless, vec![nothing, nothing]);
        assert_eq!(harm(Sometimes, &caught(Sometimes)), neither);
    }

    #[test]
    fn both_orders_without_harm_are_harmless_if_the_output_was_compared() {
        for compared in [true, false] {
            let mut tallies = tallies();
            let ok = Verdict {
                compared,
                ..verdict(Effect::Ok, "")
            };
            add(&mut tallies, &hits("f", false), Some(&ok));
            add(&mut tallies, &hits("f", true), Some(&ok));
            assert!(tallies.is_settled());
            let (race, _) = finish(tallies.all.remove(0), 2);
            let wanted = if compared {
                Harm::Harmless
            } else {
                Harm::Unknown
            };
            assert_eq!(race.harm, Some(wanted));
        }
    }

    #[test]
    fn another_output_is_a_change_and_a_sign_of_failure_is_harm() {
        for (unusual, harm) in [(false, Harm::ChangesOutput), (true, Harm::Harmful)] {
            let mut tallies = tallies();
            let other = Verdict {
                unusual,
                ..verdict(Effect::OutputDiffers, "it prints \"1\"")
            };
            add(&mut tallies, &hits("f", false), Some(&other));
            let ok = verdict(Effect::Ok, "");
            add(&mut tallies, &hits("f", true), Some(&ok));
            assert!(tallies.is_settled());
            let (race, _) = finish(tallies.all.remove(0), 2);
            assert_eq!(race.harm, Some(harm));
        }
    }

    #[test]
    fn a_trial_without_a_verdict_still_counts_as_a_hit() {
        let mut tallies = tallies();
        add(&mut tallies, &hits("f", false), None);
        add(&mut tallies, &hits("f", true), None);
        assert!(!tallies.is_settled());
        let (race, names) = finish(tallies.all.remove(0), 2);
        assert_eq!(race.status, Status::Confirmed);
        assert_eq!(names, ["R1.cut-short"], "and can be seen again");
        assert_eq!(race.replay.unwrap().command, "R1.cut-short");
        assert!(race.outcomes.is_empty());
    }

    #[test]
    fn a_trial_with_a_verdict_is_the_better_one_to_see_again() {
        let mut tallies = tallies();
        add(&mut tallies, &hits("f", false), None);
        let ok = verdict(Effect::Ok, "");
        add(&mut tallies, &hits("f", false), Some(&ok));
        let (race, names) = finish(tallies.all.remove(0), 2);
        assert_eq!(names, ["R1.ok"]);
        assert_eq!(race.replay.unwrap().command, "R1.ok");
    }
}
