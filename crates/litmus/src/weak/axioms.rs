//! Brute force: every interleaving, every reads-from, then the axioms.
//!
//! 1. Reads see writes that come earlier in execution order (or the default value).
//! 2. Synchronizes-with: an unlock and later locks; a volatile write and later volatile reads; a
//!    release and an acquire that reads from it; fork and join; a freeze and later reads of the
//!    final field. Happens-before is its closure with program order.
//! 3. No read sees w if w hb w' hb r for another write w' of the location.
//! 4. Coherence, of reads that are not plain: none sees a write older than one that happens before it,
//!    or than one that a coherent read before it has seen.
//! 5. A volatile read sees the newest write.

use super::{Access, Act, Control, Outcome, Program, Value};
use std::collections::BTreeSet;

/// An action of an execution; its place in it is its name.
#[derive(Clone, Copy, Debug)]
struct Action {
    thread: usize,
    act: Act,
    value: Value,
    /// The write that a read sees; none is the default value.
    from: Option<usize>,
}

impl Action {
    fn reads(&self) -> Option<(u16, Access)> {
        match self.act {
            Act::Read(_, loc, access) => Some((loc, access)),
            Act::Add(_, loc, _) => Some((loc, Access::Volatile)),
            _ => None,
        }
    }

    fn writes(&self) -> Option<(u16, Access)> {
        match self.act {
            Act::Write(loc, _, access) => Some((loc, access)),
            Act::Add(_, loc, _) => Some((loc, Access::Volatile)),
            _ => None,
        }
    }
}

/// The outcomes that the axioms allow. Executions that end in a deadlock have none.
pub fn outcomes(program: &Program) -> BTreeSet<Outcome> {
    let mut found = BTreeSet::new();
    extend(&Control::new(program), &mut Vec::new(), &mut found);
    found
}

fn extend(control: &Control<'_>, actions: &mut Vec<Action>, found: &mut BTreeSet<Outcome>) {
    let mut ended = true;
    for thread in 0..control.threads.len() {
        let Some(act) = control.next(thread) else {
            continue;
        };
        ended = false;
        let action = |value, from| Action {
            thread,
            act,
            value,
            from,
        };
        let mut ways = Vec::new();
        match act {
            Act::Read(_, loc, _) | Act::Add(_, loc, _) => {
                let written = |n: &usize| actions[*n].writes().is_some_and(|(l, _)| l == loc);
                let writes = (0..actions.len()).filter(written).map(Some).chain([None]);
                for from in writes {
                    let seen = from.map_or(0, |n| actions[n].value);
                    let added = match act {
                        Act::Add(_, _, by) => by,
                        _ => 0,
                    };
                    ways.push((action(seen + added, from), seen));
                }
            }
            Act::Write(_, operand, _) => {
                let value = control.threads[thread].value(operand);
                ways.push((action(value, None), 0));
            }
            _ => ways.push((action(0, None), 0)),
        }
        for (action, seen) in ways {
            let mut next = control.clone();
            next.done(thread, act, seen);
            actions.push(action);
            // What is inconsistent stays so: the axioms speak of the past only.
            if is_consistent(actions) {
                extend(&next, actions, found);
            }
            actions.pop();
        }
    }
    if ended && (0..control.threads.len()).all(|t| control.is_over(t)) {
        found.insert(control.outcome());
    }
}

fn is_consistent(actions: &[Action]) -> bool {
    let hb = happens_before(actions);
    let all = 0..actions.len();
    let writes = |loc: u16| {
        let all = 0..actions.len();
        all.filter(move |n| actions[*n].writes().is_some_and(|(l, _)| l == loc))
    };
    // The default value comes before all.
    let older = |a: Option<usize>, b: usize| a.is_none_or(|a| a < b);
    all.clone().all(|r| {
        let Some((loc, access)) = actions[r].reads() else {
            return true;
        };
        let from = actions[r].from;
        let before = |w: Option<usize>, later: usize| w.is_none_or(|w| hb[w][later]);
        let hidden = writes(loc).any(|w| Some(w) != from && before(from, w) && hb[w][r]);
        let coherent =
            |access| matches!(access, Access::Opaque | Access::Ordered | Access::Volatile);
        let stale = coherent(access)
            && (writes(loc).any(|w| older(from, w) && hb[w][r])
                || all.clone().any(|other| {
                    let reads = actions[other].reads();
                    reads.is_some_and(|(l, a)| l == loc && coherent(a))
                        && hb[other][r]
                        && actions[other].from.is_some_and(|w| older(from, w))
                }));
        let not_newest = access == Access::Volatile && writes(loc).any(|w| w < r && older(from, w));
        !hidden && !stale && !not_newest
    })
}

/// By closure.
fn happens_before(actions: &[Action]) -> Vec<Vec<bool>> {
    let n = actions.len();
    let mut hb = vec![vec![false; n]; n];
    for b in 0..n {
        for a in 0..b {
            hb[a][b] = actions[a].thread == actions[b].thread || synchronizes(actions, a, b);
        }
    }
    for via in 0..n {
        for a in 0..n {
            for b in 0..n {
                hb[a][b] |= hb[a][via] && hb[via][b];
            }
        }
    }
    hb
}

/// Of two actions, the first of which comes first.
fn synchronizes(actions: &[Action], a: usize, b: usize) -> bool {
    let (first, second) = (&actions[a], &actions[b]);
    let releases = |access| matches!(access, Access::Ordered | Access::Volatile);
    if let (Some((loc, w)), Some((other, r))) = (first.writes(), second.reads())
        && loc == other
        && (w == Access::Volatile && r == Access::Volatile
            || second.from == Some(a) && releases(w) && releases(r))
    {
        return true;
    }
    match (first.act, second.act) {
        (Act::Unlock(lock), Act::Lock(other)) => lock == other,
        (Act::Fork(child), _) => second.thread == child,
        (_, Act::Join(child)) => first.thread == child,
        (Act::Freeze(loc), Act::Read(_, other, Access::Final)) => loc == other,
        _ => false,
    }
}
