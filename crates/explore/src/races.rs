//! Which steps of an execution could have been made in the other order.
//!
//! A step, or what a blocked thread stands before at the end, is reordered
//! with an earlier step of another thread on which it depends, if it could have
//! been made without that one: if nothing else that it needs happened after the
//! earlier step. Where an operation may have to wait, the last step on which it
//! depends is often the one that let it go on (the release before an acquire,
//! the unpark before a park); then the ones before that are looked at, until one
//! is found without which the thread could have gone on.
//!
//! What is to be tried instead is always: everything that does not need the
//! earlier step, then the later one. A read that could see one of several writes (where memory
//! is weak) may find others of them there, so it is tried in its first way; its other ways
//! follow from the execution in which it was made so.

use crate::history::{History, join};
use crate::op::{Execution, Label, Touching};
use crate::tree::Steps;

/// Calls `found` for every pair that can be reordered, and for every other
/// pick of a step that had several: with the number of a step, and the steps to
/// be tried instead of it, in this order.
pub(crate) fn reversals(
    execution: &Execution,
    history: &History<'_>,
    other_picks: &[(usize, Label)],
    mut found: impl FnMut(usize, Steps<'_, '_>),
) {
    let mut partners = Vec::new();
    let mut tell = |at: usize, late: &Touching<'_>| {
        let independent = (at + 1..history.steps.len()).filter(|k| !history.ordered(at, *k));
        let mut instead: Steps<'_, '_> = independent.map(|k| &history.touching[k]).collect();
        instead.push_back(late);
        found(at, instead);
    };
    for (at, step) in execution.steps.iter().enumerate() {
        let own = history.before(step.label.thread, Some(at));
        reversible(history, &history.touching[at], Some(at), own, &mut partners);
        if partners.is_empty() {
            continue;
        }
        let first = first_way(&step.label);
        let late = first.as_ref().map(Touching::new);
        for earlier in partners.drain(..) {
            tell(earlier, late.as_ref().unwrap_or(&history.touching[at]));
        }
    }
    for label in &execution.blocked {
        let own = history.before(label.thread, None);
        let touching = Touching::new(label);
        reversible(history, &touching, None, own, &mut partners);
        for earlier in partners.drain(..) {
            tell(earlier, &touching);
        }
    }
    for (at, label) in other_picks {
        tell(*at, &Touching::new(label));
    }
}

/// The steps with which `late`, made as step `at` or never, can change places;
/// of those that happened one before the other, the latest. `own` is what
/// happened before `late` in any case.
fn reversible(
    history: &History<'_>,
    late: &Touching<'_>,
    at: Option<usize>,
    own: Vec<u32>,
    partners: &mut Vec<usize>,
) {
    let blocking = late.label.may_block();
    let end = at.unwrap_or(history.steps.len());
    // What need not be looked at any more.
    let mut known = own;
    let mut candidates: Vec<usize> = Vec::new();
    for (resource, exclusive) in &late.footprint {
        let touches = history.touches(*resource);
        let upto = touches.partition_point(|(k, _)| *k < end);
        for (k, theirs) in touches[..upto].iter().rev() {
            let covered = history.covers(&known, *k);
            if (*exclusive || *theirs) && !covered {
                if !blocking {
                    candidates.push(*k);
                } else if history.enabled(late.label, *k) {
                    partners.push(*k);
                    join(&mut known, history.clock(*k));
                }
            }
            // All that is earlier happened before this one.
            if *theirs && (covered || !blocking) {
                break;
            }
        }
    }
    candidates.sort_unstable_by(|a, b| b.cmp(a));
    for k in candidates {
        if !history.covers(&known, k) {
            partners.push(k);
            join(&mut known, history.clock(k));
        }
    }
}

/// The step in its first way, if it is one that has others where it is moved to.
fn first_way(label: &Label) -> Option<Label> {
    let is_other = label.pick > 0 && label.op.chooses_late();
    is_other.then(|| Label {
        pick: 0,
        ..label.clone()
    })
}

/// The other ways to make a step that could be made in several.
pub(crate) fn other_picks(execution: &Execution) -> Vec<(usize, Label)> {
    let mut others = Vec::new();
    for (at, step) in execution.steps.iter().enumerate() {
        for pick in (0..step.picks).filter(|p| *p != step.label.pick) {
            let label = Label {
                pick,
                ..step.label.clone()
            };
            others.push((at, label));
        }
    }
    others
}
