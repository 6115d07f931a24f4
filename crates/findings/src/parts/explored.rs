//! Explorations, schedules that were tried and engines of several reports made one.

use super::{both, least};
use crate::digests::Digests;
use crate::exploration::{Exploration, Samples, Schedules};
use crate::prediction::Engine;
use crate::shard::Parts;
use std::collections::{BTreeMap, BTreeSet};

/// Said where shards have explored different programs, so to speak.
const POINTS: &str = "the shards did not know of the same racing statements, so that what they \
                      explored does not fit together: run them again with --points and this result";

/// Two explorations, still without what follows from all of them.
pub fn join(known: Exploration, new: Exploration) -> Exploration {
    let both_parts = [&known, &new];
    let is_done = |e: &&Exploration| e.part_complete.unwrap_or(e.complete);
    let is_broken = |e: &Exploration| !is_done(&e) && !e.limited;
    // Only shards say with which statements they went.
    let fits = match (&known.points, &new.points) {
        (Some(known), Some(new)) => known == new,
        _ => true,
    };
    // A part that is done says no more than that it is a part.
    let mut reasons: BTreeSet<String> = { both_parts.iter() }
        .filter(|e| !is_done(e))
        .flat_map(|e| e.not_complete.iter().cloned())
        .collect();
    if !fits {
        reasons.insert(POINTS.to_owned());
    }
    let done = both_parts.iter().all(is_done) && fits;
    let broken = both_parts.iter().any(|e| is_broken(e)) || !fits;
    let counted = { both_parts.iter() }.all(|e| e.classes == 0 || !e.class_digests.is_empty());
    let class_digests: Digests = match counted {
        true => known
            .class_digests
            .iter()
            .chain(new.class_digests.iter())
            .collect(),
        false => Digests::default(),
    };
    Exploration {
        complete: done,
        part_complete: Some(done),
        executions: known.executions.saturating_add(new.executions),
        classes: match counted {
            true => class_digests.len(),
            false => known.classes.max(new.classes),
        },
        class_digests,
        points: both(known.points, new.points, |a, b| {
            let all: BTreeSet<String> = a.into_iter().chain(b).collect();
            all.into_iter().collect()
        }),
        rounds: known.rounds.max(new.rounds),
        pruned: known.pruned.saturating_add(new.pruned),
        max_depth: known.max_depth.max(new.max_depth),
        lost: known.lost.saturating_add(new.lost),
        preemptions: least(known.preemptions, new.preemptions),
        estimate: match (known.estimate, new.estimate) {
            (Some(a), Some(b)) => Some(a + b),
            _ => None,
        },
        reused_jvms: known.reused_jvms.saturating_add(new.reused_jvms),
        isolated: least(known.isolated, new.isolated),
        reloads: least(known.reloads, new.reloads),
        not_complete: reasons.into_iter().collect(),
        limited: !done && !broken,
        // Each shard can be gone on with where it was made.
        resumable: false,
        resume_with: None,
        samples: join_samples(known.samples, new.samples),
        // Shards have none.
        weak: known.weak.or(new.weak),
    }
}

/// Says what follows from all parts.
pub fn conclude(mut all: Exploration, shards: &[Parts], missing: Option<String>) -> Exploration {
    let done = all.part_complete.unwrap_or(all.complete);
    all.part_complete = (!shards.is_empty()).then_some(done);
    all.complete = done && missing.is_none();
    all.limited = all.limited && !done || done && missing.is_some();
    if done {
        all.not_complete = missing.into_iter().collect();
    }
    if all.complete {
        all.estimate = all.estimate.map(|_| all.classes as f64);
    }
    all
}

/// Samples of two explorations may be the same ones: of what cannot be added, the larger holds.
fn join_samples(a: Samples, b: Samples) -> Samples {
    let longer = a.pct_probability.len().max(b.pct_probability.len());
    let at = |list: &[f64], n: usize| list.get(n).copied().unwrap_or(0.0);
    Samples {
        made: a.made.saturating_add(b.made),
        different: a.different.max(b.different),
        classes: None,
        classes_error: None,
        bounded: a.bounded.saturating_add(b.bounded),
        preemptions: a.preemptions.max(b.preemptions),
        pct_probability: (0..longer)
            .map(|n| at(&a.pct_probability, n).max(at(&b.pct_probability, n)))
            .collect(),
    }
}

pub fn join_schedules(a: Schedules, b: Schedules) -> Schedules {
    let counted = [&a, &b]
        .iter()
        .all(|s| s.different == 0 || !s.orders.is_empty());
    let orders: Digests = match counted {
        true => a.orders.iter().chain(b.orders.iter()).collect(),
        false => Digests::default(),
    };
    Schedules {
        tried: a.tried.saturating_add(b.tried),
        different: match counted {
            true => orders.len(),
            false => a.different.saturating_add(b.different),
        },
        orders,
        since_new: a.since_new.min(b.since_new),
        saturated: a.saturated && b.saturated,
        reused_jvms: a.reused_jvms.saturating_add(b.reused_jvms),
        isolated: least(a.isolated, b.isolated),
        reloads: least(a.reloads, b.reloads),
    }
}

/// The same engine on two recordings.
pub fn join_engines(a: Engine, b: Engine) -> Engine {
    Engine {
        engine: a.engine,
        pairs: a.pairs.saturating_add(b.pairs),
        observed: a.observed.saturating_add(b.observed),
        predicted: a.predicted.saturating_add(b.predicted),
        potential: a.potential.saturating_add(b.potential),
        alone: a.alone.saturating_add(b.alone),
        complete: a.complete && b.complete,
        seconds: a.seconds + b.seconds,
        pair_digests: both(a.pair_digests, b.pair_digests, |a, b| {
            a.iter().chain(b.iter()).collect()
        }),
    }
}

/// Pairs that one engine alone has found, where it is known which pairs they were.
pub fn alone(mut engines: Vec<Engine>) -> Vec<Engine> {
    let mut finders: BTreeMap<u64, u64> = BTreeMap::new();
    let known = |engine: &Engine| engine.pair_digests.clone().unwrap_or_default();
    for pair in engines
        .iter()
        .flat_map(|e| known(e).iter().collect::<Vec<_>>())
    {
        *finders.entry(pair).or_default() += 1;
    }
    for engine in engines
        .iter_mut()
        .filter(|engine| engine.pair_digests.is_some())
    {
        let single = known(engine)
            .iter()
            .filter(|pair| finders[pair] == 1)
            .count();
        engine.alone = single as u64;
    }
    engines
}
