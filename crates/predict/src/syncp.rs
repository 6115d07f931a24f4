//! Sync-preserving races (Mathur, Pavlogiannis, Viswanathan: "Optimal
//! prediction of synchronization-preserving races", POPL 2021).
//!
//! Two accesses race if some events can be left out of the run, keeping the
//! order of the others, so that both are next. The events kept are the least
//! set that has what precedes the two and is closed: what an event needs
//! ([`crate::index`]) comes along, and of two critical sections of a lock the
//! earlier one is complete, or it could not be left. If neither access is in
//! it, the trace restricted to it is the witness.
//!
//! # What it claims
//! Sound: every report has a witness that the checker accepted. Complete, by
//! pairs of statements, for pairs in which the order of critical sections need
//! not change; beyond 24 statements and locksets of one thread on one
//! variable, complete for the variable only.
//!
//! # Departures
//! The paper has locks, forks and joins. Shared locks are here critical
//! sections that only exclusive ones have to wait for; everything else is hard
//! order. The paper keeps a growing set for each pair of threads and variable;
//! here there is one for each thread, and only the sections that are open at
//! the edge of the set are looked at, because those left behind are complete.
//!
//! # Cost
//! For each access to a variable that passes the lockset filter and each group
//! of earlier ones: threads × open sections × log. Memory: the index, and a
//! word for each such access.

use crate::candidates::{self, Judge, Pair, Verdict};
use crate::deps::Deps;
use crate::found::Predictions;
use crate::index::{Cut, Index, NEVER};
use crate::verify::Verifier;
use crate::witness::Witness;
use crate::{Engine, ShouldStop};
use trace::{Event, Op};

#[derive(Debug, Default)]
pub struct SyncP;

impl Engine for SyncP {
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
    let mut judge = Preserving::new(index);
    candidates::search(index, &mut judge, verifier, from, found, stop);
}

/// The witness of one pair, if there is a sync-preserving one.
pub(crate) fn witness(index: &Index<'_>, pair: [u64; 2]) -> Option<Witness> {
    let [first, second] = pair.map(|e| u32::try_from(e).ok());
    let (first, second) = (first?, second?);
    if index.events.len() <= second as usize {
        return None;
    }
    let threads = [index.thread(first), index.thread(second)];
    let mut judge = Preserving::new(index);
    judge.before(index, second, threads[1])?;
    let pair = Pair {
        first,
        second,
        threads,
    };
    match judge.judge(index, pair) {
        Verdict::Race(witness) => Some(witness),
        Verdict::FirstKept | Verdict::SecondKept => None,
    }
}

/// What a closure ran into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    First,
    Second,
    /// A critical section that has to end never does, or a thread has to go on
    /// that hangs on a value nobody knows.
    Never,
}

/// A pair whose accesses must stay out of a cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    threads: [u32; 2],
    places: [u32; 2],
}

impl Bounds {
    pub fn new(index: &Index<'_>, pair: Pair) -> Bounds {
        Bounds {
            threads: pair.threads,
            places: [pair.first, pair.second].map(|e| index.place[e as usize]),
        }
    }

    pub fn crossed(&self, cut: &[u32]) -> Option<Stop> {
        let [first, second] = [0, 1].map(|n| cut[self.threads[n] as usize] >= self.places[n]);
        match (first, second) {
            (true, _) => Some(Stop::First),
            (_, true) => Some(Stop::Second),
            _ => None,
        }
    }
}

/// Lets `cut` grow until of two critical sections of a lock in it the earlier
/// is complete.
pub(crate) fn close(index: &Index<'_>, cut: &mut [u32], bounds: Option<&Bounds>) -> Option<Stop> {
    loop {
        if let Some(stop) = bounds.and_then(|b| b.crossed(cut)) {
            return Some(stop);
        }
        if index.beyond(cut) {
            return Some(Stop::Never);
        }
        let mut grown = false;
        for thread in 0..index.width() as u32 {
            let count = cut[thread as usize];
            if count == 0 {
                continue;
            }
            for section in index.open_at(thread, count) {
                let section = &index.sections[*section as usize];
                if index.retaken(cut, section) {
                    if section.released == NEVER {
                        return Some(Stop::Never);
                    }
                    grown |= index.require(cut, thread, section.released);
                }
            }
        }
        if !grown {
            return None;
        }
    }
}

/// The judge.
#[derive(Debug)]
pub(crate) struct Preserving {
    /// By thread: what comes along with all its accesses from now on.
    before: Vec<Cut>,
    /// By thread: nothing it does from now on can race.
    dead: Vec<bool>,
    scratch: Cut,
}

impl Preserving {
    pub fn new(index: &Index<'_>) -> Preserving {
        Preserving {
            before: vec![Vec::new(); index.width()],
            dead: vec![false; index.width()],
            scratch: Vec::new(),
        }
    }
}

impl Judge for Preserving {
    fn before(&mut self, index: &Index<'_>, event: u32, thread: u32) -> Option<&[u32]> {
        let cut = &mut self.before[thread as usize];
        cut.resize(index.stride(), 0);
        index.require_before(cut, event, thread);
        if !self.dead[thread as usize] && close(index, cut, None) == Some(Stop::Never) {
            self.dead[thread as usize] = true;
        }
        let possible =
            !self.dead[thread as usize] && cut[thread as usize] < index.place[event as usize];
        possible.then_some(&self.before[thread as usize])
    }

    fn judge(&mut self, index: &Index<'_>, pair: Pair) -> Verdict {
        let bounds = Bounds::new(index, pair);
        self.scratch
            .clone_from(&self.before[pair.threads[1] as usize]);
        index.require_before(&mut self.scratch, pair.first, pair.threads[0]);
        index.require_value(&mut self.scratch, pair);
        match close(index, &mut self.scratch, Some(&bounds)) {
            None if index.value_kept(&self.scratch, pair) => {
                let whole = filled(index, &self.scratch, pair);
                Verdict::Race(whole.unwrap_or_else(|| kept(index, &self.scratch, pair)))
            }
            // Further accesses only bring more writes.
            None if matches!(index.events[pair.first as usize].op, Op::AtomicUpdate(..)) => {
                Verdict::FirstKept
            }
            None => Verdict::SecondKept,
            // A section that never ends stays open for later accesses too.
            Some(Stop::First | Stop::Never) => Verdict::FirstKept,
            Some(Stop::Second) => Verdict::SecondKept,
        }
    }

    fn appeal(&mut self, _: &Index<'_>, _: Pair, _: u32) -> Option<Witness> {
        None
    }
}

/// The same witness with all of the run before the earlier access, if it can
/// be had: it is easier to follow, and to check.
pub(crate) fn filled(index: &Index<'_>, cut: &[u32], pair: Pair) -> Option<Witness> {
    let until = pair.first.min(pair.second);
    let mut whole = cut.to_vec();
    for (count, events) in whole.iter_mut().zip(&index.by_thread) {
        *count = (*count).max(events.partition_point(|e| *e < until) as u32);
    }
    let bounds = Bounds::new(index, pair);
    let closed = close(index, &mut whole, Some(&bounds)).is_none();
    (closed && index.value_kept(&whole, pair)).then(|| kept(index, &whole, pair))
}

/// The order of the run, restricted to the cut.
pub(crate) fn kept(index: &Index<'_>, cut: &[u32], pair: Pair) -> Witness {
    let named = index.threads.iter().zip(cut).filter(|(_, n)| **n > 0);
    Witness::Kept {
        cut: named.map(|(thread, n)| (*thread, *n)).collect(),
        pair: [pair.first, pair.second],
    }
}
