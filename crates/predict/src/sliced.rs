//! Sliced causality with lock-atomicity (Chen, Serbanuta, Rosu: "jPredictor: a
//! predictive runtime analysis tool for Java", ICSE 2008).
//!
//! A read orders its thread after the write it saw only if something that is
//! kept depends on the value. Which reads matter for a pair of accesses is the
//! relevant slice: closed under control and data flow, through shared memory
//! (a needed read needs the write it saw), and under relevance (an uncertain
//! write to a location that matters is kept from coming between). Critical
//! sections of a lock may change places, never overlap.
//!
//! # What it claims
//! Sound: every report has a witness that the checker accepted. Without
//! [dependences](crate::deps) it reports what [`crate::Osr`] does.
//!
//! # Departures
//! The prototype slices once for each variable and may be wrong; here the
//! slices of all variables come out of one pass and are closed
//! ([`crate::index`]). The paper's clocks (2.2.2) order writes after reads of
//! the variables that matter, which is more than needed; so does this, where
//! critical sections are reordered; where they are not, the order of the
//! run is kept anyway. Definition 5 asks for accesses that are unordered and
//! without a common lock; here the pair must have a witness, which implies it.
//!
//! # Cost
//! One pass over the trace and its dependences, times threads. Then as OSR:
//! for each access to a variable that passes the lockset filter and each group
//! of earlier ones, threads × open sections × log; attempts at reordering sections
//! walk over a part of the trace, within the same budget.

use crate::candidates::{self, Judge, Pair, Verdict};
use crate::deps::{Dep, Deps, Needs};
use crate::found::Predictions;
use crate::index::{Cut, Index, NONE};
use crate::osr::{Osr, Turns};
use crate::syncp::{Bounds, close, filled, kept};
use crate::verify::Verifier;
use crate::witness::Witness;
use crate::{Engine, ShouldStop};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use trace::{Event, Op};

/// Pairs of a group and a thread that are looked at before it becomes rare.
const TRIES: u32 = 4096;

#[derive(Debug, Default)]
pub struct Sliced;

impl Engine for Sliced {
    fn events(&mut self, _: &[Event]) {}

    fn finish(self: Box<Self>, trace: &[Event], deps: &Deps, stop: &ShouldStop<'_>) -> Predictions {
        if deps.is_unknown() {
            return Box::new(Osr).finish(trace, deps, stop);
        }
        let mut verifier = Verifier::new(trace, deps);
        let index = Index::sliced(verifier.trace(), deps);
        let mut judge = Slicing {
            deps,
            before: vec![Vec::new(); index.width()],
            turns: Turns::new(&index),
        };
        let mut found = Predictions::default();
        candidates::search(&index, &mut judge, &mut verifier, 0, &mut found, stop);
        judge.turns.account(&mut found);
        found
    }
}

struct Slicing<'d> {
    deps: &'d Deps,
    /// By thread: what its synchronisation up to now needs.
    before: Vec<Cut>,
    turns: Turns,
}

impl Judge for Slicing<'_> {
    /// Later accesses need what the synchronisation before them needs, and not
    /// what other accesses need.
    fn before(&mut self, index: &Index<'_>, event: u32, thread: u32) -> Option<&[u32]> {
        let cut = &mut self.before[thread as usize];
        cut.resize(index.stride(), 0);
        index.require(cut, thread, index.place[event as usize] - 1);
        Some(cut)
    }

    /// Nothing follows for other pairs, so all is left to appeals.
    fn judge(&mut self, _: &Index<'_>, _: Pair) -> Verdict {
        Verdict::SecondKept
    }

    fn appeal(&mut self, index: &Index<'_>, pair: Pair, tries: u32) -> Option<Witness> {
        if tries > TRIES && !tries.is_power_of_two() {
            self.turns.skipped += 1;
            return None;
        }
        let mut cut = self.before[pair.threads[1] as usize].clone();
        index.require_before(&mut cut, pair.second, pair.threads[1]);
        index.require_before(&mut cut, pair.first, pair.threads[0]);
        index.require_value(&mut cut, pair);
        let mut in_order = cut.clone();
        let bounds = Bounds::new(index, pair);
        if close(index, &mut in_order, Some(&bounds)).is_none() && index.value_kept(&in_order, pair)
        {
            let whole = filled(index, &in_order, pair);
            return Some(whole.unwrap_or_else(|| kept(index, &in_order, pair)));
        }
        if !self.turns.worth_it(tries) {
            return None;
        }
        let deps = self.deps;
        self.turns.witness(index, cut, pair, |index, cut| {
            Some(matters(index, deps, cut, pair))
        })
    }
}

/// What matters in a cut.
#[derive(Debug)]
pub(crate) struct Matter {
    /// By event: whether it is no access, or one whose order with others
    /// matters: a write, or a read whose value something kept depends on.
    pub order: Vec<bool>,
    /// By event: whether the value that it saw, or wrote, is needed.
    pub value: Vec<bool>,
}

/// What matters for a pair of accesses.
pub(crate) fn matters(index: &Index<'_>, deps: &Deps, cut: &[u32], pair: Pair) -> Vec<bool> {
    let end = pair.first.max(pair.second) + 1;
    let racing = |event: u32| event == pair.first || event == pair.second;
    let mut matter = matter(index, deps, cut, end, racing);
    let read = |at: usize| {
        matter.value[at] && !matches!(index.events[at].op, Op::Write(_) | Op::AtomicWrite(..))
    };
    let needed: FxHashSet<u32> = { 0..matter.value.len() }
        .filter(|at| read(*at))
        .map(|at| index.var[at])
        .collect();
    // Writes of what nobody needs to see come in any order.
    for (at, order) in matter.order.iter_mut().enumerate() {
        *order &= index.var[at] == NONE || needed.contains(&index.var[at]);
    }
    matter.order
}

/// Going backwards through the cut, and to `end`: an event that needs something
/// comes after it in the run. `asked` says which events have to happen, in the
/// cut or not.
pub(crate) fn matter(
    index: &Index<'_>,
    deps: &Deps,
    cut: &[u32],
    end: u32,
    asked: impl Fn(u32) -> bool,
) -> Matter {
    let last = index.last_event(cut).map_or(0, |last| last as usize + 1);
    let end = last.max(end as usize);
    let mut order = vec![true; end];
    // By event: whether it has to happen, and with the value it has.
    let mut happens = vec![false; end];
    let mut value = vec![false; end];
    // By thread: all its reads before now are needed.
    let mut all = vec![false; index.width()];
    let mut missed = deps.may_write().iter().rev().peekable();
    for at in (0..end as u32).rev() {
        let thread = index.thread(at) as usize;
        let asked = asked(at);
        let inside = index.place[at as usize] <= cut[thread];
        let mut lists = SmallVec::<[Needs<'_>; 2]>::new();
        while let Some(write) = missed.next_if(|write| write.after >= at) {
            if write.after == at && inside && write.classes.iter().any(|c| index.exposed(cut, *c)) {
                lists.push(deps.unless(write));
            }
        }
        if inside || asked {
            let op = index.events[at as usize].op;
            let kind = Kind::from_op(op, deps.is_load(at));
            let read = value[at as usize] || (all[thread] && kind == Kind::Read);
            let needed = kind == Kind::Hard || (read && kind != Kind::Write);
            order[at as usize] = kind != Kind::Read || needed;
            if needed {
                value[at as usize] = true;
                if let Some(write) = index.saw(at) {
                    happens[write as usize] = true;
                    value[write as usize] = true;
                }
            }
            // Which volatile writes were seen is not certain.
            let stored =
                kind == Kind::Write && (value[at as usize] || matches!(op, Op::AtomicWrite(..)));
            let exposed = kind == Kind::Write && index.exposed(cut, deps.class(at));
            if asked || needed || stored || exposed || happens[at as usize] {
                lists.push(deps.happens(at));
            }
            if stored || kind == Kind::Hard {
                lists.push(deps.value(at));
            }
        }
        for needs in lists {
            match needs {
                Needs::All => all[thread] = true,
                Needs::These(list) => {
                    for entry in list {
                        match entry.get() {
                            Dep::Value(read) => value[read as usize] = true,
                            Dep::Happens(event) => happens[event as usize] = true,
                        }
                    }
                }
            }
        }
    }
    Matter { order, value }
}

/// Events by what may be left out of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its value.
    Read,
    Write,
    /// Nothing: synchronisation, updates, and what might have been one.
    Hard,
    /// All of it.
    Soft,
}

impl Kind {
    fn from_op(op: Op, load: bool) -> Kind {
        match op {
            Op::Read(_) => Kind::Read,
            Op::AtomicRead(..) if load => Kind::Read,
            Op::Write(_) | Op::AtomicWrite(..) => Kind::Write,
            op if op.is_sync() => Kind::Hard,
            _ => Kind::Soft,
        }
    }
}
