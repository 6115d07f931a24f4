//! Races of several reports made one.

use super::{both, earliest, join_other, least, least_by_text, shortest, text};
use crate::advice::{RepairSet, Suggestion, Validated};
use crate::confirmed::{Harm, Outcome, Trials};
use crate::finding::Frame;
use crate::merge::{Key, Line, ends, line};
use crate::result::{Access, Race};
use std::collections::{BTreeMap, BTreeSet};

/// Lets what is said of other races name them by what they are: their ids will change.
pub fn rename(race: &mut Race, names: &BTreeMap<String, String>) {
    for suggestion in race.advice.iter_mut().flatten() {
        rename_ids(&mut suggestion.removes, names);
    }
}

/// Races that are not in the report have no name.
pub fn rename_ids(ids: &mut Vec<String>, names: &BTreeMap<String, String>) {
    let named = ids.iter().filter_map(|id| names.get(id).cloned());
    let named: BTreeSet<String> = named.collect();
    *ids = named.into_iter().collect();
}

/// Gives names back as ids.
pub fn number(races: &mut [Race]) {
    let ids: BTreeMap<String, String> = { races.iter() }
        .map(|race| (format!("{:?}", Key::new(race)), race.id.clone()))
        .collect();
    for suggestion in races
        .iter_mut()
        .flat_map(|race| race.advice.iter_mut().flatten())
    {
        to_ids(&mut suggestion.removes, &ids);
    }
}

fn to_ids(names: &mut Vec<String>, ids: &BTreeMap<String, String>) {
    *names = names
        .iter()
        .filter_map(|name| ids.get(name).cloned())
        .collect();
    // R10 after R9.
    names.sort_by_key(|id| (id.len(), id.clone()));
}

/// A race that one report has, in the form that [`join`] gives it.
pub fn alone(mut race: Race) -> Race {
    race.found_by.sort();
    race.found_by.dedup();
    let outcomes = std::mem::take(&mut race.outcomes);
    race.outcomes = join_outcomes(outcomes);
    race.advice = race.advice.map(join_advice);
    race
}

/// What two reports say of the same race.
pub fn join(known: Race, new: Race) -> Race {
    let statements = statements([&known, &new]);
    let shown = |race: &Race| {
        (
            bare(race),
            text(&(&race.accesses, &race.location, &race.allocated)),
        )
    };
    let (mut shown, mut other) = match shown(&known) <= shown(&new) {
        true => (known, new),
        false => (new, known),
    };
    if is_turned(&shown, &other) {
        for outcome in &mut other.outcomes {
            outcome.first = 1 - outcome.first.min(1);
        }
    }
    shown.first_run = match shown.status.cmp(&other.status) {
        std::cmp::Ordering::Less => other.first_run,
        std::cmp::Ordering::Equal => earliest(shown.first_run, other.first_run),
        std::cmp::Ordering::Greater => shown.first_run,
    };
    shown.status = shown.status.max(other.status);
    shown.count = shown.count.saturating_add(other.count);
    shown.runs = shown.runs.saturating_add(other.runs);
    shown.found_by.append(&mut other.found_by);
    shown.outcomes.append(&mut other.outcomes);
    shown.trials = both(shown.trials, other.trials, join_trials);
    shown.harm = both(shown.harm, other.harm, worse);
    shown.replay = least_by_text(shown.replay, other.replay);
    shown.witness = shortest(shown.witness, other.witness);
    shown.advice = both(shown.advice, other.advice, |mut a, b| {
        a.extend(b);
        a
    });
    shown.occurrence = least_by_text(shown.occurrence, other.occurrence);
    let told = [shown.story, other.story].map(|story| Some(story).filter(|s| !s.is_empty()));
    let [ours, theirs] = told;
    shown.story = least_by_text(ours, theirs).unwrap_or_default();
    shown.other = join_other(shown.other, other.other);
    let all_shown = { statements.iter() }.all(|frame| ends(&shown).contains(&frame));
    shown.statements = if all_shown { Vec::new() } else { statements };
    alone(shown)
}

/// How many of the two accesses lack their stack.
fn bare(race: &Race) -> usize {
    let unknown = |access: &&Access| access.stack.is_empty() || !access.stack_exact;
    race.accesses.iter().filter(unknown).count()
}

/// Whether the first access of one is the second of the other.
fn is_turned(a: &Race, b: &Race) -> bool {
    let sides = |race: &Race| -> [(Line, bool); 2] {
        let write = |access: &Access| access.op == crate::finding::AccessOp::Write;
        race.accesses
            .each_ref()
            .map(|access| (line(&access.at), write(access)))
    };
    let ([x, y], [u, v]) = (sides(a), sides(b));
    match x.0 == y.0 {
        true => x.1 != y.1 && x.1 == v.1 && y.1 == u.1,
        false => x.0 == v.0 && y.0 == u.0,
    }
}

fn statements(races: [&Race; 2]) -> Vec<Frame> {
    let key = |f: &Frame| (f.class.clone(), f.method.clone(), f.desc.clone(), f.bci);
    let all = races
        .into_iter()
        .flat_map(|race| race.statements.iter().chain(ends(race)));
    let mut list: Vec<Frame> = all.filter(|frame| frame.bci.is_some()).cloned().collect();
    list.sort_by_cached_key(|frame| (key(frame), text(frame)));
    list.dedup_by_key(|frame| key(frame));
    list
}

/// The harmful first, as trials are told.
fn join_outcomes(all: Vec<Outcome>) -> Vec<Outcome> {
    let mut joined: BTreeMap<_, Outcome> = BTreeMap::new();
    for outcome in all {
        let same = text(&(&outcome.detail, &outcome.stack, &outcome.failure_signs));
        let key = (outcome.result, outcome.caught, outcome.first, same);
        let outcome = match joined.remove(&key) {
            Some(known) => Outcome {
                orders: Outcome::distinct([known.orders, outcome.orders].concat()),
                trials: known.trials.saturating_add(outcome.trials),
                replay: least_by_text(known.replay, outcome.replay),
                ..outcome
            },
            None => outcome,
        };
        joined.insert(key, outcome);
    }
    joined.into_values().collect()
}

fn join_trials(a: Trials, b: Trials) -> Trials {
    let asked = |t: Trials| t.of.unwrap_or(t.run);
    let left_out = a.of.is_some() || b.of.is_some();
    let met = |t: Trials| t.met.unwrap_or(t.hit);
    let more = a.met.is_some() || b.met.is_some();
    Trials {
        run: a.run.saturating_add(b.run),
        hit: a.hit.saturating_add(b.hit),
        of: left_out.then(|| asked(a).saturating_add(asked(b))),
        met: more.then(|| met(a).saturating_add(met(b))),
    }
}

/// What some trials have shown others do not take back, and what is not known stays so.
fn worse(a: Harm, b: Harm) -> Harm {
    let order = |harm| match harm {
        Harm::Harmful => 0,
        Harm::ChangesOutput => 1,
        Harm::Unknown => 2,
        Harm::Harmless => 3,
    };
    if order(a) <= order(b) { a } else { b }
}

/// Each repair once. One that failed somewhere is not called good.
fn join_advice(all: Vec<Suggestion>) -> Vec<Suggestion> {
    let mut joined: BTreeMap<(String, String), Suggestion> = BTreeMap::new();
    for new in all {
        let key = (new.kind.clone(), new.target.clone());
        let suggestion = match joined.remove(&key) {
            Some(known) => join_suggestions(known, new),
            None => new,
        };
        joined.insert(key, suggestion);
    }
    let mut list: Vec<Suggestion> = joined.into_values().collect();
    list.sort_by_key(|s| s.validated);
    list
}

fn join_suggestions(known: Suggestion, new: Suggestion) -> Suggestion {
    let trust = |v| match v {
        Validated::Deadlocks => 0,
        Validated::StillRaces | Validated::StillViolates => 1,
        Validated::RemovesRace | Validated::RemovesViolation => 2,
        Validated::NotTried => 3,
    };
    let shown = |s: &Suggestion| (trust(s.validated), text(&(&s.text, &s.checked, &s.caution)));
    let (mut shown, other) = match shown(&known) <= shown(&new) {
        true => (known, new),
        false => (new, known),
    };
    let removes: BTreeSet<String> = shown.removes.into_iter().chain(other.removes).collect();
    shown.removes = removes.into_iter().collect();
    let leaves: BTreeSet<String> = shown.leaves.into_iter().chain(other.leaves).collect();
    shown.leaves = leaves.into_iter().collect();
    shown.paths = both(shown.paths, other.paths, |mut a, b| {
        a.helps += b.helps;
        a.seen += b.seen;
        a
    });
    shown.cost = both(shown.cost, other.cost, f64::max);
    shown.diff = least(shown.diff, other.diff);
    shown
}

/// Of two sets of repairs the one that removes more.
pub fn larger(a: RepairSet, b: RepairSet) -> RepairSet {
    let key = |set: &RepairSet| (usize::MAX - set.removes.len(), set.repairs.len(), text(set));
    if key(&a) <= key(&b) { a } else { b }
}

/// A set of repairs is one for this report only if it removes all of its races.
pub fn covering(set: Option<RepairSet>, races: &[Race]) -> Option<RepairSet> {
    let ids: BTreeMap<String, String> = { races.iter() }
        .map(|race| (format!("{:?}", Key::new(race)), race.id.clone()))
        .collect();
    let mut set = set?;
    to_ids(&mut set.removes, &ids);
    let removed = |race: &Race| !race.is_finding() || set.removes.contains(&race.id);
    races.iter().all(removed).then_some(set)
}
