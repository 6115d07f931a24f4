//! Schedulable happens-before (Mathur, Kini, Viswanathan: "What happens-after
//! the first race?", OOPSLA 2018).
//!
//! Happens-before, and besides every read is ordered after the write it saw.
//! Then everything ordered before two unordered accesses can be run in the
//! order of the trace without the rest, reads see what they saw, and the two
//! accesses come next: each report is a race, not only the first.
//!
//! # What it claims
//! No false report: a pair's witness is the part of the run before it. With
//! the trace at hand the witness is built, as a sync-preserving one, and
//! checked, and the pair is predicted; without, it is potential. Static
//! initialisers order lazily, as in [`detect::init`], where the witness has a
//! barrier; a pair may lose its witness to that, not its place in the list.
//! So may an update that races with a read, if seeing another value could make
//! it fail and write nothing.
//! Beyond the paper, signals (park, interrupted waits) order as well: a
//! schedule must keep them.
//!
//! On every variable the first access with an unordered earlier one is found.
//!
//! # Cost
//! Linear in events times threads. A read joins a clock when it sees a write
//! that its thread does not know yet. The clock of a last write is shared by
//! all writes of the thread between two acquires.

use crate::deps::Deps;
use crate::found::{Predictions, Standing};
use crate::history::{History, Past, report};
use crate::index::Index;
use crate::signals::Signals;
use crate::syncp;
use crate::verify::{Checked, Verifier};
use crate::{Engine, ShouldStop, map_growth};
use detect::{
    AnyAccess,
    clocks::{Clocks, Edges},
};
use order::{ClockView, Epoch, VectorClock};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use trace::{Event, Loc, Op};

#[derive(Debug)]
pub struct Shb {
    clocks: Clocks,
    signals: Signals,
    vars: FxHashMap<Loc, Var>,
    /// By place of a thread in `clocks`: its clock, if nothing was learnt
    /// since it was copied. The thread's own entry may be old.
    copies: Vec<Option<Arc<VectorClock>>>,
    found: Predictions,
    events: u64,
}

#[derive(Debug, Default)]
struct Var {
    /// The last write: its epoch, which ended with it, and what it knew of
    /// other threads.
    last: Option<(Epoch, Arc<VectorClock>)>,
    history: History,
}

impl Default for Shb {
    fn default() -> Shb {
        Shb {
            clocks: Clocks::new(Edges::All, true),
            signals: Signals::default(),
            vars: FxHashMap::default(),
            copies: Vec::new(),
            found: Predictions::default(),
            events: 0,
        }
    }
}

impl Engine for Shb {
    fn events(&mut self, events: &[Event]) {
        for e in events {
            match AnyAccess::from_op(e.op) {
                Some(access) if !access.atomic => {
                    let at = self.clocks.threads.index(e.thread);
                    self.access(at, e, access);
                }
                access => self.synchronise(e, access),
            }
            self.events += 1;
        }
    }

    fn finish(mut self: Box<Self>, trace: &[Event], _: &Deps, _: &ShouldStop<'_>) -> Predictions {
        if !trace.is_empty() && !self.found.is_empty() {
            let unknown = Deps::unknown();
            let mut verifier = Verifier::new(trace, &unknown);
            let index = Index::new(verifier.trace());
            self.prove(&index, &mut verifier, 0, Some);
        }
        self.found
    }

    fn growth(&self, events: usize) -> usize {
        map_growth(&self.vars, events)
    }
}

impl Shb {
    /// Gives the pairs from number `from` on their witnesses. `place` says where in the
    /// index an event of the run is, if it is there.
    pub(crate) fn prove<'a>(
        &mut self,
        index: &Index<'a>,
        verifier: &mut Verifier<'a>,
        from: usize,
        place: impl Fn(u64) -> Option<u64>,
    ) {
        for p in self.found.iter_mut().skip(from) {
            let places = (p.first_event.and_then(&place), place(p.second_event));
            let (Some(first), Some(second)) = places else {
                continue;
            };
            let witness = syncp::witness(index, [first, second]);
            if let Some(witness) = witness
                && verifier.check(&witness) == Checked::Accepted
            {
                p.standing = Standing::Predicted;
                p.witness = Some(witness);
            }
        }
        verifier.account(&mut self.found);
    }

    pub(crate) fn found(&mut self) -> &mut Predictions {
        &mut self.found
    }

    /// One that has what was found, and nothing else.
    pub(crate) fn reduced(&mut self) -> Shb {
        Shb {
            found: std::mem::take(&mut self.found),
            ..Shb::default()
        }
    }

    fn synchronise(&mut self, e: &Event, access: Option<AnyAccess>) {
        let at = self.clocks.enter(e);
        self.forget_copy(at);
        if let Some(told) = self.signals.receive(e) {
            self.clocks.threads.get_mut(at).clock.join(told);
        }
        if let Some(access) = access {
            self.access(at, e, access);
        }
        let me = self.clocks.threads.get_mut(at);
        if self.signals.send(e, &me.clock) {
            me.advance();
        }
        if let Op::Fork(child) = e.op {
            self.clocks.leave(e);
            let child = self.clocks.threads.index(child);
            self.forget_copy(child);
        } else {
            self.clocks.leave(e);
        }
    }

    fn forget_copy(&mut self, at: usize) {
        if let Some(copy) = self.copies.get_mut(at) {
            *copy = None;
        }
    }

    fn access(&mut self, at: usize, e: &Event, access: AnyAccess) {
        let me = self.clocks.threads.get(at);
        let epoch = me.epoch;
        let var = self.vars.entry(access.loc).or_default();
        let sees_news = match &var.last {
            Some((write, _)) => reads(e.op) && !me.clock.covers(*write),
            None => false,
        };
        if !access.write && !sees_news && var.history.repeats(access, epoch) {
            return;
        }
        let mut racing: SmallVec<[(Past, bool); 2]> = SmallVec::new();
        let covers = |past: Epoch| me.clock.covers(past);
        var.history
            .unordered(access, covers, |past, writes| racing.push((past, writes)));
        for (past, writes) in racing {
            // An earlier one may have been excused by an order that covers it.
            let known = self.clocks.threads.get(at).clock.covers(past.epoch);
            if !known && !self.clocks.excused(at, past.epoch) {
                report(&mut self.found, past, writes, e, access, self.events);
            } else if !known && let Some(copy) = self.copies.get_mut(at) {
                *copy = None;
            }
        }
        let me = self.clocks.threads.get_mut(at);
        if sees_news && let Some((write, knew)) = &var.last {
            me.clock.join(knew);
            if !me.clock.covers(*write) {
                me.clock.set(write.tid(), write.clock());
            }
            if let Some(copy) = self.copies.get_mut(at) {
                *copy = None;
            }
        }
        var.history.add(e, access, epoch, self.events, &me.clock);
        if access.write {
            if self.copies.len() <= at {
                self.copies.resize(at + 1, None);
            }
            let copy = self.copies[at].get_or_insert_with(|| Arc::new(me.clock.clone()));
            var.last = Some((epoch, Arc::clone(copy)));
            me.advance();
        }
    }
}

/// Whether the event sees a value.
fn reads(op: Op) -> bool {
    matches!(op, Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..))
}
