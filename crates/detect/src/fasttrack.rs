//! FastTrack over a stream of events: the transitions of [`crate::variable`],
//! the order of [`crate::clocks`].
//!
//! # What it claims
//! On every variable the first access that is unordered with an earlier
//! conflicting one is reported, and no pair is reported that happens-before
//! orders. A write names every remembered reader it races with.
//!
//! # Mixed accesses
//! Two atomic accesses (volatile, `VarHandle`, `Unsafe`) never race with each
//! other; an atomic and a plain one of the same location do, if unordered and
//! one writes. Atomic accesses do not replace each other as witnesses unless
//! ordered, so a location keeps those of every thread. [`Options::mixed`]
//! turns this off.
//!
//! # Speed
//! A plain access is one table lookup and, in the epoch of the last write or
//! read, one comparison. What it costs is the cache miss of the lookup, so
//! [`Detector::events`] asks for the variables of several events at once.
//! Nothing is allocated but for new variables. Read sets that no variable
//! holds any more are freed when there are many.

use crate::clocks::{Clocks, Edges};
use crate::finding::{Access, Finding, Findings};
use crate::registry::{Claim, Kind, Row};
use crate::table::{Entry, Table};
use crate::variable::{self, Prior, Reads, Step};
use crate::{AnyAccess, Detector};
use order::{ClockView, Epoch, ReadSets, SetId, Stamp, VectorClock};
use trace::{Event, Loc, SiteId};

pub const KIND: Kind = Kind(&Row {
    name: "fasttrack",
    about: "Happens-before races of this run; no false alarms",
    claim: Claim::Observed,
    make: || Box::new(FastTrack::default()),
});

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether a plain access races with an unordered atomic one.
    pub mixed: bool,
    /// Whether ended threads leave their places in clocks to new ones. Off
    /// only in tests: the findings are the same.
    pub reuse_threads: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mixed: true,
            reuse_threads: true,
        }
    }
}

/// The detector. See the module's text.
#[derive(Debug)]
pub struct FastTrack {
    options: Options,
    pub(crate) clocks: Clocks,
    pub(crate) vars: Table<Var>,
    /// Entry 0 is nobody's.
    atomics: Vec<Atomic>,
    sets: ReadSets,
    collect_at: usize,
    findings: Findings,
    pub(crate) events: u64,
    /// Races are dropped (see [`crate::sampled`]).
    pub(crate) muted: bool,
}

/// A variable, packed: with its key it takes 40 bytes. Accessed as it was, it has
/// at least one of the three: a write, reads, atomic accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Var {
    write: Epoch,
    reads: u64,
    write_site: u32,
    reads_site: u32,
    /// Its entry in `atomics`, if it has one.
    atomic: u32,
    /// Of its location.
    slot: u32,
}

impl Entry for Var {
    #[inline]
    fn vacant(slot: u32) -> Var {
        Var {
            slot,
            ..Var::default()
        }
    }

    #[inline]
    fn slot(&self) -> u32 {
        self.slot
    }

    #[inline]
    fn is_vacant(&self) -> bool {
        self.write == Epoch::NONE && self.reads == 0 && self.atomic == 0
    }
}

impl Var {
    #[inline]
    fn w(&self) -> Stamp {
        Stamp::new(self.write, self.write_site)
    }

    #[inline]
    fn r(&self) -> Reads {
        Reads::unpack((self.reads, self.reads_site))
    }

    #[inline]
    fn take(&mut self, step: &Step) {
        (self.write, self.write_site) = (step.w.epoch, step.w.site);
        (self.reads, self.reads_site) = step.r.pack();
    }
}

/// The atomic accesses of a location that may race with plain ones: at most
/// one of a thread, none that another covers.
#[derive(Debug, Default)]
struct Atomic {
    writes: Vec<Stamp>,
    reads: Vec<Stamp>,
}

const COLLECT: usize = 1 << 20;
/// Accesses whose variables are fetched at once.
const FETCH: usize = 16;

impl Default for FastTrack {
    fn default() -> FastTrack {
        FastTrack::new(Options::default())
    }
}

impl Detector for FastTrack {
    #[inline]
    fn event(&mut self, e: &Event) {
        match e.op.access() {
            Some((loc, write)) => self.plain(e, loc, write),
            None => self.other(e),
        }
        self.events += 1;
    }

    fn events(&mut self, events: &[Event]) {
        for few in events.chunks(FETCH) {
            // Looked up one after the other, each would wait for its memory;
            // asked for first, they are fetched side by side.
            for (loc, _) in few.iter().filter_map(|e| e.op.access()) {
                self.vars.fetch(loc);
            }
            few.iter().for_each(|e| self.event(e));
        }
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl FastTrack {
    pub fn new(options: Options) -> FastTrack {
        FastTrack {
            options,
            clocks: Clocks::new(Edges::All, options.reuse_threads),
            vars: Table::default(),
            atomics: vec![Atomic::default()],
            sets: ReadSets::new(),
            collect_at: COLLECT,
            findings: Findings::default(),
            events: 0,
            muted: false,
        }
    }

    /// Bytes of the larger table that the next so many events may need.
    pub fn growth(&self, events: usize) -> usize {
        self.vars.growth(events)
    }

    /// The order of events so far.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// How often reads were forgotten for want of room (see [`ReadSets`]).
    pub fn forgotten(&self) -> u64 {
        self.sets.forgotten()
    }

    #[inline]
    fn plain(&mut self, e: &Event, loc: Loc, write: bool) {
        let at = self.clocks.threads.index(e.thread);
        let me = self.clocks.threads.get(at);
        let var = self.vars.entry(loc);
        // Before anything else: most accesses end here.
        if var.write == me.epoch || (!write && var.reads == me.epoch.0) {
            return;
        }
        let my = Stamp::new(me.epoch, e.site.0);
        let step = if write {
            variable::write(var.w(), var.r(), &me.clock, my, &self.sets)
        } else {
            variable::read(var.w(), var.r(), &me.clock, my, &mut self.sets)
        };
        if step.race.is_none() && var.atomic == 0 {
            var.take(&step);
            if self.sets.nodes() >= self.collect_at {
                self.collect();
            }
            return;
        }
        self.judge(at, e, loc, write);
    }

    /// A plain access that seems to race, or may with atomic ones.
    #[cold]
    pub(crate) fn judge(&mut self, at: usize, e: &Event, loc: Loc, write: bool) {
        let old = *self.vars.entry(loc);
        let my = Stamp::new(self.clocks.threads.get(at).epoch, e.site.0);
        let step = loop {
            let me = &self.clocks.threads.get(at).clock;
            let step = if write {
                variable::write(old.w(), old.r(), me, my, &self.sets)
            } else {
                variable::read(old.w(), old.r(), me, my, &mut self.sets)
            };
            match step.race {
                Some(prior) if self.clocks.excused(at, prior.stamp.epoch) => continue,
                _ => break step,
            }
        };
        let mut priors: Vec<Prior> = step.race.into_iter().collect();
        if write && step.race.is_some() {
            self.unordered_reads(at, old.r(), &mut priors);
        }
        if self.options.mixed {
            let atomic = &self.atomics[old.atomic as usize];
            let me = &self.clocks.threads.get(at).clock;
            uncovered(&atomic.writes, true, me, &mut priors);
            if write {
                uncovered(&atomic.reads, false, me, &mut priors);
            }
        }
        self.report(at, e, loc, write, priors);
        self.vars.entry(loc).take(&step);
    }

    /// Everything but plain accesses.
    fn other(&mut self, e: &Event) {
        let at = self.clocks.enter(e);
        if self.options.mixed
            && let Some(access) = AnyAccess::from_op(e.op)
        {
            self.atomic(at, e, access);
        }
        self.clocks.leave(e);
    }

    fn atomic(&mut self, at: usize, e: &Event, access: AnyAccess) {
        let var = self.vars.entry(access.loc);
        if var.atomic == 0 {
            var.atomic = self.atomics.len() as u32;
            self.atomics.push(Atomic::default());
        }
        let var = *var;
        let me = &self.clocks.threads.get(at).clock;
        let mut priors = Vec::new();
        uncovered(&[var.w()], true, me, &mut priors);
        if access.write {
            self.unordered_reads(at, var.r(), &mut priors);
        }
        self.report(at, e, access.loc, access.write, priors);

        let me = self.clocks.threads.get(at);
        let my = Stamp::new(me.epoch, e.site.0);
        let state = &mut self.atomics[var.atomic as usize];
        let list = if access.write {
            &mut state.writes
        } else {
            &mut state.reads
        };
        list.retain(|s| !me.clock.covers(s.epoch));
        list.push(my);
    }

    /// Adds the reads that thread `at` is not ordered after and that are not
    /// among the `priors` yet.
    fn unordered_reads(&self, at: usize, reads: Reads, priors: &mut Vec<Prior>) {
        let me = &self.clocks.threads.get(at).clock;
        for stamp in variable::unordered_reads(reads, me, &self.sets) {
            let prior = Prior {
                stamp,
                write: false,
            };
            if !priors.contains(&prior) {
                priors.push(prior);
            }
        }
    }

    fn report(&mut self, at: usize, e: &Event, loc: Loc, write: bool, priors: Vec<Prior>) {
        for prior in priors.into_iter().filter(|_| !self.muted) {
            // An earlier one may have been excused by an order that covers it.
            let me = &self.clocks.threads.get(at).clock;
            if me.covers(prior.stamp.epoch) || self.clocks.excused(at, prior.stamp.epoch) {
                continue;
            }
            self.findings.add(Finding {
                loc,
                first: Access {
                    thread: self
                        .clocks
                        .threads
                        .owner(prior.stamp.epoch)
                        .unwrap_or(e.thread),
                    site: SiteId(prior.stamp.site),
                    write: prior.write,
                },
                second: Access {
                    thread: e.thread,
                    site: e.site,
                    write,
                },
                event: self.events,
                count: 1,
            });
        }
    }

    #[cold]
    fn collect(&mut self) {
        let held = self.vars.values().filter_map(|var| match var.r() {
            Reads::Shared(set) => Some(set),
            Reads::None | Reads::One(_) => None,
        });
        self.sets.retain(held.collect::<Vec<SetId>>());
        self.collect_at = COLLECT.max(2 * self.sets.nodes());
    }
}

fn uncovered(stamps: &[Stamp], write: bool, me: &VectorClock, priors: &mut Vec<Prior>) {
    let unordered = stamps.iter().filter(|s| !me.covers(s.epoch));
    priors.extend(unordered.map(|stamp| Prior {
        stamp: *stamp,
        write,
    }));
}
