//! Hybrid detection, phase 1 of RaceFuzzer (Sen, PLDI 2008, section 2): pairs
//! of statements that made conflicting accesses to one location, in different
//! threads, holding no common lock, unordered by anything but locks.
//!
//! # What orders here, and why
//! Start, join and notify, as in the paper. Beyond it: volatile and atomic
//! accesses, `SyncRelease`/`SyncAcquire`, interrupts and class initialisation.
//! Those carry a message from one thread to another, and code behind them
//! usually depends on it; leaving them out would bury the pairs worth trying
//! under every correct use of `java.util.concurrent`. Locks do not order:
//! which critical section came first was chance. Shared holders of a
//! read-write lock do not exclude each other, so a read lock does not protect
//! a write against another reader's access.
//!
//! # What it claims
//! Every pair that happens-before leaves unordered in this run is among the
//! findings (a property test), and many that it orders by chance. A finding
//! may be wrong: the pair may be ordered by what the threads do.
//!
//! Class initialisation is the exception to the first claim: this detector
//! may learn of the end of an initialiser where happens-before, ordered by a
//! lock, had no need to, and so be ordered after what that thread knew.
//!
//! # History
//! A location keeps, for every thread, statement, lockset and kind, the epoch
//! of the last access: an access unordered with an earlier one is unordered
//! with the last. An entry goes when a later access of the same statement and
//! kind, ordered after it and no better protected, stands for it. Beyond
//! [`HISTORY`] entries the oldest are dropped, and counted.

use crate::clocks::{Clocks, Edges};
use crate::finding::{Access, Finding, Findings};
use crate::held::HeldLocks;
use crate::registry::{Claim, Kind, Row};
use crate::{AnyAccess, Detector};
use order::{ClockView, Epoch, LockSetId};
use rustc_hash::FxHashMap;
use trace::{Event, Loc, SiteId, ThreadId};

pub const KIND: Kind = Kind(&Row {
    name: "hybrid",
    about: "No common lock and unordered by start, join and notify: more, not all real",
    claim: Claim::Suspected,
    make: || Box::new(Hybrid::default()),
});

/// Entries kept for one location.
pub const HISTORY: usize = 512;

/// The detector. See the module's text.
#[derive(Debug)]
pub struct Hybrid {
    clocks: Clocks,
    held: HeldLocks,
    history: FxHashMap<Loc, Vec<Entry>>,
    dropped: u64,
    /// Compare-and-sets under way, a thread one.
    attempts: FxHashMap<ThreadId, Attempt>,
    findings: Findings,
    events: u64,
}

/// What is to be said if it succeeds: of accesses that came before it, and of
/// the epoch that it belongs to. (Accesses of others until its outcome is known
/// may see what it wrote, so they are not held against it.)
#[derive(Debug)]
struct Attempt {
    loc: Loc,
    entry: Entry,
    findings: Vec<Finding>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    epoch: Epoch,
    site: SiteId,
    locks: LockSetId,
    write: bool,
    atomic: bool,
}

impl Default for Hybrid {
    fn default() -> Hybrid {
        Hybrid {
            clocks: Clocks::new(Edges::NoLocks, true),
            held: HeldLocks::default(),
            history: FxHashMap::default(),
            dropped: 0,
            attempts: FxHashMap::default(),
            findings: Findings::default(),
            events: 0,
        }
    }
}

impl Detector for Hybrid {
    fn event(&mut self, e: &Event) {
        let at = self.clocks.enter(e);
        match AnyAccess::from_op(e.op) {
            Some(access) => self.access(at, e, access),
            None => self.held.event(e),
        }
        self.clocks.leave(e);
        self.events += 1;
    }

    fn attempt(&mut self, e: &Event) {
        let at = self.clocks.enter(e);
        self.attempts.remove(&e.thread);
        if let Some(access) = AnyAccess::from_op(e.op) {
            let entry = self.entry(at, e, access);
            if let Some(findings) = self.races(at, e, access, entry) {
                let loc = access.loc;
                let attempt = Attempt {
                    loc,
                    entry,
                    findings,
                };
                self.attempts.insert(e.thread, attempt);
            }
        }
        self.clocks.leave(e);
        self.events += 1;
    }

    fn succeeded(&mut self, e: &Event) {
        let at = self.clocks.threads.index(e.thread);
        let Some(attempt) = self.attempts.remove(&e.thread) else {
            return;
        };
        let loc = AnyAccess::from_op(e.op).map(|access| access.loc);
        if loc == Some(attempt.loc) {
            attempt
                .findings
                .into_iter()
                .for_each(|f| self.findings.add(f));
            self.keep(at, attempt.loc, attempt.entry);
        }
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl Hybrid {
    /// How many entries of histories had to go: pairs with those accesses are
    /// missed.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn entry(&mut self, at: usize, e: &Event, access: AnyAccess) -> Entry {
        Entry {
            epoch: self.clocks.threads.get(at).epoch,
            site: e.site,
            locks: self.held.locks_of(e.thread),
            write: access.write,
            atomic: access.atomic,
        }
    }

    fn access(&mut self, at: usize, e: &Event, access: AnyAccess) {
        let new = self.entry(at, e, access);
        if let Some(findings) = self.races(at, e, access, new) {
            findings.into_iter().for_each(|f| self.findings.add(f));
            self.keep(at, access.loc, new);
        }
    }

    /// What a new access races with; `None` if there is nothing new about it.
    fn races(
        &mut self,
        at: usize,
        e: &Event,
        access: AnyAccess,
        new: Entry,
    ) -> Option<Vec<Finding>> {
        let history = self.history.entry(access.loc).or_default();
        let mut findings = Vec::new();
        // In the same epoch no thread has learnt of the earlier one: an access that came
        // since found it unordered, and the pair is reported.
        if history.iter().any(|old| {
            old.epoch == new.epoch
                && (old.site, old.locks) == (new.site, new.locks)
                && (old.write, old.atomic) == (new.write, new.atomic)
        }) {
            return None;
        }
        for old in history.iter() {
            let conflict = AnyAccess::conflicts((old.write, new.write), (old.atomic, new.atomic));
            if !conflict
                || self.clocks.threads.get(at).clock.covers(old.epoch)
                || self.held.sets.exclude(old.locks, new.locks)
                || self.clocks.excused(at, old.epoch)
            {
                continue;
            }
            let owner = self.clocks.threads.owner(old.epoch);
            findings.push(Finding {
                loc: access.loc,
                first: Access {
                    thread: owner.unwrap_or(e.thread),
                    site: old.site,
                    write: old.write,
                },
                second: access.at(e),
                event: self.events,
                count: 1,
            });
        }
        Some(findings)
    }

    fn keep(&mut self, at: usize, loc: Loc, new: Entry) {
        let history = self.history.entry(loc).or_default();
        let me = &self.clocks.threads.get(at).clock;
        history.retain(|old| {
            !((old.site, old.write, old.atomic) == (new.site, new.write, new.atomic)
                && me.covers(old.epoch)
                && self.held.sets.weaker(new.locks, old.locks))
        });
        if history.len() >= HISTORY {
            history.remove(0);
            self.dropped += 1;
        }
        history.push(new);
    }
}
