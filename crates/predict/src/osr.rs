//! Optimistic sync-reversal races (Shi, Mathur, Pavlogiannis: "Optimistic
//! prediction of synchronization-reversal data races", ICSE 2024).
//!
//! A pair that is not sync-preserving may still meet if critical sections
//! change places. That is hard in general; the optimistic idea is to keep the
//! order of conflicting accesses, and of critical sections wherever one can,
//! and to reorder only what must be: a critical section that cannot be
//! completed, because a racing access is inside, comes after all others of its
//! lock.
//!
//! # How
//! 1. The kept set: what precedes the two accesses, closed under need
//!    ([`crate::index`]). Of two open sections of a lock one must be completed:
//!    the one that can, or the earlier. A section that is open and taken again
//!    later is completed if that does not bring in the accesses.
//! 2. Sections still open and taken again later are to be *reversed*. From
//!    each of them a mark spreads over the kept events, along program order,
//!    conflicts, order of critical sections and hard order.
//! 3. If the section `a` marks the release of a section that must come before
//!    the reversed section `b`, then `a` comes before `b`. A cycle: no witness.
//!    Otherwise the events without marks come first, then, for the reversed
//!    sections in that order, those that they mark: each part in the order of
//!    the run.
//!
//! # What it claims
//! Sound: every report has a witness that the checker accepted. Everything
//! that SyncP finds is found. Complete for optimistic reversals it is not: for
//! each access and group only the oldest and the latest earlier access are
//! tried, groups that failed 32 times are tried ever more rarely, and the
//! spreading of marks has a budget of 32 steps for each event of the trace;
//! [`Predictions::incomplete`] says when that bit.
//!
//! # Cost
//! As SyncP, and for an attempt at reversal a walk over the part of the trace
//! from the reversed section on. The paper's bound is quadratic; the budget
//! makes it linear here.

use crate::candidates::{self, Judge, Pair, Verdict};
use crate::deps::Deps;
use crate::found::Predictions;
use crate::index::{Cut, Index, NEVER, NONE};
use crate::signals;
use crate::syncp::{Bounds, Preserving, kept};
use crate::verify::Verifier;
use crate::witness::Witness;
use crate::{Engine, ShouldStop};
use rustc_hash::FxHashMap;
use trace::{Event, LockId, ObjId, Op, ThreadId};

/// Steps of marking for each event of the trace.
const BUDGET: u64 = 32;
/// Attempts on a group before they become rare.
const TRIES: u32 = 32;
/// More sections are never reversed at once.
const REVERSED: usize = 64;

#[derive(Debug, Default)]
pub struct Osr;

impl Engine for Osr {
    fn events(&mut self, _: &[Event]) {}

    fn finish(self: Box<Self>, trace: &[Event], _: &Deps, stop: &ShouldStop<'_>) -> Predictions {
        let unknown = Deps::unknown();
        let mut verifier = Verifier::new(trace, &unknown);
        let index = Index::new(verifier.trace());
        let mut found = Predictions::default();
        search(&index, &mut verifier, 0, &mut found, stop);
        found
    }
}

/// Adds the pairs whose later access is event `from` or one after it.
pub(crate) fn search<'a>(
    index: &Index<'a>,
    verifier: &mut Verifier<'a>,
    from: u32,
    found: &mut Predictions,
    stop: &ShouldStop<'_>,
) {
    let mut judge = Reversing {
        preserving: Preserving::new(index),
        before: vec![Vec::new(); index.width()],
        possible: false,
        turns: Turns::new(index),
    };
    candidates::search(index, &mut judge, verifier, from, found, stop);
    judge.turns.account(found);
}

struct Reversing {
    preserving: Preserving,
    /// By thread: what its accesses need from now on, locks aside.
    before: Vec<Cut>,
    /// Whether the access at hand can race without reversals.
    possible: bool,
    turns: Turns,
}

impl Judge for Reversing {
    fn before(&mut self, index: &Index<'_>, event: u32, thread: u32) -> Option<&[u32]> {
        self.possible = self.preserving.before(index, event, thread).is_some();
        let cut = &mut self.before[thread as usize];
        cut.resize(index.stride(), 0);
        index.require_before(cut, event, thread);
        Some(cut)
    }

    fn judge(&mut self, index: &Index<'_>, pair: Pair) -> Verdict {
        if self.possible {
            self.preserving.judge(index, pair)
        } else {
            Verdict::SecondKept
        }
    }

    fn appeal(&mut self, index: &Index<'_>, pair: Pair, tries: u32) -> Option<Witness> {
        if !self.turns.worth_it(tries) {
            return None;
        }
        let mut cut = self.before[pair.threads[1] as usize].clone();
        index.require_before(&mut cut, pair.first, pair.threads[0]);
        index.require_value(&mut cut, pair);
        self.turns.witness(index, cut, pair, |_, _| None)
    }
}

/// Attempts at reordering critical sections, within a budget.
#[derive(Debug)]
pub(crate) struct Turns {
    budget: u64,
    pub skipped: u64,
}

impl Turns {
    pub fn new(index: &Index<'_>) -> Turns {
        Turns {
            budget: BUDGET * index.events.len() as u64 + 100_000,
            skipped: 0,
        }
    }

    /// Whether to try once more where `tries` attempts failed.
    pub fn worth_it(&mut self, tries: u32) -> bool {
        let worth = tries <= TRIES || tries.is_power_of_two();
        self.skipped += u64::from(!worth);
        worth
    }

    /// Says what was not tried.
    pub fn account(&self, found: &mut Predictions) {
        if self.skipped > 0 && found.incomplete.is_none() {
            found.incomplete = Some(format!(
                "{} attempts at reordering critical sections were not made",
                self.skipped
            ));
        }
    }

    /// A witness that keeps at least the cut. `matter` is asked which accesses
    /// of the final cut keep their order; all, if it does not know.
    pub fn witness(
        &mut self,
        index: &Index<'_>,
        cut: Cut,
        pair: Pair,
        matter: impl Fn(&Index<'_>, &[u32]) -> Option<Vec<bool>>,
    ) -> Option<Witness> {
        // With all of the run before, if that can be had: it is easier to
        // check. Nothing inside the critical sections of the two, though.
        let [a, b] = [(pair.first, 0), (pair.second, 1)].map(|(event, n)| {
            let open = index.open_at(pair.threads[n], index.place[event as usize]);
            let starts = open.iter().map(|s| index.sections[*s as usize].event);
            starts.chain([event]).min().unwrap_or(event)
        });
        let mut whole = cut.clone();
        for (count, events) in whole.iter_mut().zip(&index.by_thread) {
            *count = (*count).max(events.partition_point(|e| *e < a.min(b)) as u32);
        }
        let slim = self.reverse(index, cut, pair, &matter)?;
        let plan = self.reverse(index, whole, pair, &matter).unwrap_or(slim);
        Some(plan.witness(index, pair))
    }

    fn reverse(
        &mut self,
        index: &Index<'_>,
        mut cut: Cut,
        pair: Pair,
        matter: impl Fn(&Index<'_>, &[u32]) -> Option<Vec<bool>>,
    ) -> Option<Plan> {
        let reversed = complete(index, &mut cut, pair)?;
        if index.beyond(&cut) || !index.value_kept(&cut, pair) {
            return None;
        }
        if reversed.is_empty() {
            return Some(Plan::Kept(cut));
        }
        let start = reversed
            .iter()
            .map(|s| index.sections[*s as usize].event)
            .min()?;
        let end = index.last_event(&cut)?;
        let steps = u64::from(end.saturating_sub(start));
        if steps > self.budget {
            self.skipped += 1;
            return None;
        }
        self.budget -= steps;
        let mut marks = Marks::new(index, reversed);
        let matter = matter(index, &cut);
        for event in start..=end {
            let thread = index.thread(event);
            if index.place[event as usize] <= cut[thread as usize] {
                let matters = matter.as_ref().is_none_or(|m| m[event as usize]);
                marks.event(index, event, thread, matters);
            }
        }
        let rank = marks.rank()?;
        let marked = marks.marked;
        Some(Plan::Reversed { cut, marked, rank })
    }
}

/// What a witness is made of: made only if it is the one.
enum Plan {
    Kept(Cut),
    Reversed {
        cut: Cut,
        marked: Vec<(u32, u64)>,
        rank: Vec<u32>,
    },
}

impl Plan {
    fn witness(&self, index: &Index<'_>, pair: Pair) -> Witness {
        match self {
            Plan::Kept(cut) => kept(index, cut, pair),
            Plan::Reversed { cut, marked, rank } => order(index, cut, pair, marked, rank),
        }
    }
}

/// Step 1. The sections to reverse; `None` if the accesses cannot stay out.
fn complete(index: &Index<'_>, cut: &mut Cut, pair: Pair) -> Option<Vec<u32>> {
    let bounds = Bounds::new(index, pair);
    let mut trial = Cut::new();
    let mut reversed: Vec<u32> = Vec::new();
    loop {
        if bounds.crossed(cut).is_some() {
            return None;
        }
        let open: Vec<u32> = (0..index.width() as u32)
            .filter(|t| cut[*t as usize] > 0)
            .flat_map(|t| index.open_at(t, cut[t as usize]))
            .copied()
            .collect();
        reversed.clear();
        let mut grown = false;
        for (n, at) in open.iter().enumerate() {
            let section = &index.sections[*at as usize];
            if cut[section.thread as usize] >= section.released {
                // Completed by a section before it in the list.
                continue;
            }
            let rival = |other: &u32| {
                let s = &index.sections[*other as usize];
                s.lock == section.lock
                    && s.thread != section.thread
                    && !(s.shared && section.shared)
            };
            let rivals = open[..n].iter().chain(&open[n + 1..]).any(rival);
            if !rivals && !index.retaken(cut, section) {
                continue;
            }
            if section.released != NEVER {
                trial.clone_from(cut);
                index.require(&mut trial, section.thread, section.released);
                if bounds.crossed(&trial).is_none() {
                    std::mem::swap(cut, &mut trial);
                    grown = true;
                    continue;
                }
            }
            reversed.push(*at);
        }
        if grown {
            continue;
        }
        // Two that cannot be completed cannot both come last.
        let lock = |s: &u32| index.sections[*s as usize].lock;
        reversed.sort_unstable_by_key(lock);
        let twice = |w: &[u32]| {
            let [a, b] = [w[0], w[1]].map(|s| &index.sections[s as usize]);
            a.lock == b.lock && a.thread != b.thread && !(a.shared && b.shared)
        };
        let clash = reversed.windows(2).any(twice) || reversed.len() > REVERSED;
        return (!clash).then_some(reversed);
    }
}

/// Steps 2 and 3: which reversed sections an event comes after, as bits.
struct Marks {
    reversed: Vec<u32>,
    /// Event of the acquire, to the bit.
    starts: FxHashMap<u32, u64>,
    /// Which bits must come before each reversed section.
    earlier: Vec<u64>,
    threads: Vec<u64>,
    reads: FxHashMap<u32, u64>,
    writes: FxHashMap<u32, u64>,
    /// Of exclusive and of shared releases.
    locks: FxHashMap<LockId, (u64, u64)>,
    /// What monitors' waits and notifies, and hand-overs of objects, have.
    objects: FxHashMap<(Serial, ObjId), u64>,
    signals: FxHashMap<ThreadId, u64>,
    inits: u64,
    /// Events with marks, ascending.
    marked: Vec<(u32, u64)>,
}

impl Marks {
    fn new(index: &Index<'_>, reversed: Vec<u32>) -> Marks {
        let starts = (0..)
            .zip(&reversed)
            .map(|(bit, s)| (index.sections[*s as usize].event, 1u64 << bit));
        Marks {
            starts: starts.collect(),
            earlier: vec![0; reversed.len()],
            reversed,
            threads: vec![0; index.width()],
            reads: FxHashMap::default(),
            writes: FxHashMap::default(),
            locks: FxHashMap::default(),
            objects: FxHashMap::default(),
            signals: FxHashMap::default(),
            inits: 0,
            marked: Vec::new(),
        }
    }

    /// The next event; whether its order with conflicting accesses matters.
    fn event(&mut self, index: &Index<'_>, at: u32, thread: u32, matters: bool) {
        let e = &index.events[at as usize];
        let start = self.starts.get(&at).copied();
        let mut mark = self.threads[thread as usize] | self.inits | start.unwrap_or(0);
        let var = index.var[at as usize];
        if var != NONE && matters {
            mark |= self.writes.get(&var).copied().unwrap_or(0);
            let reads = matches!(
                e.op,
                Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..)
            );
            let writes = !matches!(e.op, Op::Read(_) | Op::AtomicRead(..));
            if writes {
                mark |= self.reads.get(&var).copied().unwrap_or(0);
            }
            if mark != 0 && writes {
                *self.writes.entry(var).or_default() |= mark;
            }
            if mark != 0 && reads {
                *self.reads.entry(var).or_default() |= mark;
            }
        } else if var == NONE {
            mark = self.synchronise(index, e, mark, start.is_some());
        }
        if mark != 0 {
            self.threads[thread as usize] = mark;
            self.marked.push((at, mark));
        }
    }

    fn synchronise(&mut self, index: &Index<'_>, e: &Event, mut mark: u64, reversed: bool) -> u64 {
        if signals::awaits(e.op) {
            mark |= self.signals.get(&e.thread).copied().unwrap_or(0);
        }
        let serial = Serial::from_op(e.op);
        if let Some((kind, object)) = serial {
            for before in kind.after() {
                mark |= self.objects.get(&(*before, object)).copied().unwrap_or(0);
            }
        }
        match e.op {
            // A reversed one comes after all others, by step 3.
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } if !reversed => {
                let (exclusive, shared) = self.locks.get(&lock).copied().unwrap_or_default();
                mark |= exclusive | shared;
            }
            Op::AcquireShared(lock) if !reversed => {
                mark |= self.locks.get(&lock).copied().unwrap_or_default().0;
            }
            Op::Join(other) => {
                mark |= index.dense(other).map_or(0, |o| self.threads[o as usize]);
            }
            op => {
                // What the target did before came before the signal.
                if let Some(target) = signals::target(op).and_then(|t| index.dense(t)) {
                    mark |= self.threads[target as usize];
                }
            }
        }
        if mark == 0 {
            return 0;
        }
        if let Some(key) = serial {
            *self.objects.entry(key).or_default() |= mark;
        }
        match e.op {
            Op::Release(lock) | Op::WaitBegin(lock) => {
                self.locks.entry(lock).or_default().0 |= mark;
                self.precede(index, e, lock, false, mark);
            }
            Op::ReleaseShared(lock) => {
                self.locks.entry(lock).or_default().1 |= mark;
                self.precede(index, e, lock, true, mark);
            }
            Op::Fork(child) => {
                if let Some(child) = index.dense(child) {
                    self.threads[child as usize] |= mark;
                }
            }
            Op::InitEnd(_) => self.inits |= mark,
            op => {
                if let Some(target) = signals::target(op) {
                    *self.signals.entry(target).or_default() |= mark;
                }
            }
        }
        mark
    }

    /// A marked release of a lock that a reversed section takes last.
    fn precede(&mut self, index: &Index<'_>, e: &Event, lock: LockId, shared: bool, mark: u64) {
        for (section, earlier) in self.reversed.iter().zip(&mut self.earlier) {
            let section = &index.sections[*section as usize];
            let acquire = &index.events[section.event as usize];
            let same = match acquire.op {
                Op::Acquire(l) | Op::AcquireShared(l) | Op::WaitEnd { lock: l, .. } => l == lock,
                _ => false,
            };
            if same && acquire.thread != e.thread && !(shared && section.shared) {
                *earlier |= mark;
            }
        }
    }

    /// The place of each reversed section in their order, from 1; `None` if
    /// they come before each other.
    fn rank(&self) -> Option<Vec<u32>> {
        let mut rank = vec![0; self.earlier.len()];
        let mut placed = 0u64;
        for place in 1..=self.earlier.len() as u32 {
            let next = (0..self.earlier.len())
                .find(|n| rank[*n] == 0 && self.earlier[*n] & !placed == 0)?;
            rank[next] = place;
            placed |= 1 << next;
        }
        Some(rank)
    }
}

/// What keeps its order with what, of the events of one object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Serial {
    /// Waits and notifies: all.
    Monitor,
    /// Giving over and taking over: each with the other, not among themselves.
    Release,
    Acquire,
}

impl Serial {
    pub fn from_op(op: Op) -> Option<(Serial, ObjId)> {
        match op {
            Op::WaitBegin(lock)
            | Op::WaitEnd { lock, .. }
            | Op::Notify(lock)
            | Op::NotifyAll(lock) => Some((Serial::Monitor, lock.0)),
            Op::SyncRelease(object) => Some((Serial::Release, object)),
            Op::SyncAcquire(object) => Some((Serial::Acquire, object)),
            _ => None,
        }
    }

    /// What it comes after, if that was before.
    pub fn after(self) -> &'static [Serial] {
        match self {
            Serial::Monitor => &[Serial::Monitor],
            Serial::Release => &[Serial::Acquire],
            Serial::Acquire => &[Serial::Release],
        }
    }
}

/// The witness: unmarked events, then those of each reversed section. What comes before the first
/// event that is left out or marked is as it was, and not looked at.
fn order(
    index: &Index<'_>,
    cut: &[u32],
    pair: Pair,
    marked: &[(u32, u64)],
    rank: &[u32],
) -> Witness {
    let end = index.last_event(cut).map_or(0, |e| e + 1);
    let lists = index.by_thread.iter().zip(cut);
    let omitted = lists.filter_map(|(events, n)| events.get(*n as usize).copied());
    let first_marked = marked.first().map(|(at, _)| *at);
    let fixed = omitted.chain(first_marked).min().unwrap_or(end).min(end);
    let mut marked = marked.iter().peekable();
    let mut order = Vec::new();
    let mut later: Vec<Vec<u32>> = vec![Vec::new(); rank.len() + 1];
    for event in fixed..end {
        let thread = index.thread(event);
        if index.place[event as usize] > cut[thread as usize] {
            continue;
        }
        match marked.next_if(|(at, _)| *at == event) {
            None => order.push(event),
            Some((_, mark)) => {
                let bits = rank
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| mark & (1 << n) != 0);
                let last = bits.map(|(_, rank)| *rank).max().unwrap_or(0);
                later[last as usize].push(event);
            }
        }
    }
    order.extend(later.into_iter().flatten());
    order.extend([pair.first, pair.second]);
    // As long as it is the run's own order, a number says it all.
    let same = (fixed..).zip(&order).take_while(|(at, event)| at == *event);
    let same = same.count().min(order.len() - 2);
    Witness::Order {
        whole: fixed + same as u32,
        rest: order.split_off(same),
    }
}
