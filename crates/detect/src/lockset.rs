//! Eraser (Savage et al., TOCS 1997): every shared location should be
//! protected by some lock throughout.
//!
//! A location goes from virgin to exclusive (one thread so far), then to
//! shared (others read) or shared-modified (others write). From the second
//! thread on, its candidate locks are intersected with those held: any mode
//! for a read, exclusively held ones for a write. When none is left of a
//! shared-modified location, the access is reported, once for a location,
//! with the last earlier access of another thread that conflicts with it.
//!
//! # What it claims
//! Nothing: it knows no order but locks, so hand-over by start, join,
//! volatiles or queues is reported although correct, and what happened while
//! a location was exclusive is not looked at. It is quick, it depends little
//! on the schedule, and it checks a discipline that many programs follow.
//! Atomic accesses are not looked at.

use crate::Detector;
use crate::finding::{Access, Finding, Findings};
use crate::held::HeldLocks;
use crate::registry::{Claim, Kind, Row};
use order::LockSetId;
use rustc_hash::FxHashMap;
use trace::{Event, Loc, SiteId, ThreadId};

pub const KIND: Kind = Kind(&Row {
    name: "lockset",
    about: "Locations that no lock protects consistently (Eraser)",
    claim: Claim::Suspected,
    make: || Box::new(Lockset::default()),
});

/// The detector. See the module's text.
#[derive(Debug, Default)]
pub struct Lockset {
    held: HeldLocks,
    vars: FxHashMap<Loc, Var>,
    findings: Findings,
    events: u64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Exclusive(ThreadId),
    /// Candidate locks.
    Shared(LockSetId),
    SharedModified(LockSetId),
    Reported,
}

#[derive(Debug)]
struct Var {
    state: State,
    reads: LastTwo,
    writes: LastTwo,
}

/// The last access, and the last one of another thread than that one's.
#[derive(Debug, Default)]
struct LastTwo {
    last: Option<Seen>,
    other: Option<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    thread: ThreadId,
    site: SiteId,
    event: u64,
}

impl LastTwo {
    fn see(&mut self, new: Seen) {
        if self.last.is_some_and(|last| last.thread != new.thread) {
            self.other = self.last;
        }
        self.last = Some(new);
    }

    /// The last access of anybody but `thread`.
    fn not_by(&self, thread: ThreadId) -> Option<Seen> {
        self.last
            .filter(|last| last.thread != thread)
            .or(self.other)
    }
}

impl Detector for Lockset {
    fn event(&mut self, e: &Event) {
        match e.op.access() {
            Some((loc, write)) => self.access(e, loc, write),
            None => self.held.event(e),
        }
        self.events += 1;
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl Lockset {
    fn access(&mut self, e: &Event, loc: Loc, write: bool) {
        let var = self.vars.entry(loc).or_insert_with(|| Var {
            state: State::Exclusive(e.thread),
            reads: LastTwo::default(),
            writes: LastTwo::default(),
        });
        let (locks, modified) = match var.state {
            State::Reported => return,
            State::Exclusive(owner) if owner == e.thread => (None, false),
            State::Exclusive(_) => {
                let held = self.held.locks_of(e.thread);
                (Some(self.held.sets.protecting(held, write)), write)
            }
            State::Shared(candidates) | State::SharedModified(candidates) => {
                let held = self.held.locks_of(e.thread);
                let held = self.held.sets.protecting(held, write);
                let was = matches!(var.state, State::SharedModified(_));
                let left = self.held.sets.intersect(candidates, held);
                (Some(left), was || write)
            }
        };
        if let Some(locks) = locks {
            var.state = match (modified, locks) {
                (true, LockSetId::EMPTY) => State::Reported,
                (true, _) => State::SharedModified(locks),
                (false, _) => State::Shared(locks),
            };
        }
        if matches!(var.state, State::Reported) {
            let read = var.reads.not_by(e.thread).map(|seen| (seen, false));
            let wrote = var.writes.not_by(e.thread).map(|seen| (seen, true));
            // A reader's conflict is with a writer; if only this thread wrote
            // so far, that write and the others' read are what went wrong.
            let (first, second) = if write || wrote.is_some() {
                let latest = match (read.filter(|_| write), wrote) {
                    (Some(r), Some(w)) if r.0.event > w.0.event => Some(r),
                    (r, None) => r,
                    (_, w) => w,
                };
                (latest, (e.site, write))
            } else {
                (
                    read,
                    var.writes.last.map_or((e.site, write), |w| (w.site, true)),
                )
            };
            if let Some((seen, wrote)) = first {
                self.findings.add(Finding {
                    loc,
                    first: Access {
                        thread: seen.thread,
                        site: seen.site,
                        write: wrote,
                    },
                    second: Access {
                        thread: e.thread,
                        site: second.0,
                        write: second.1,
                    },
                    event: self.events,
                    count: 1,
                });
            }
            return;
        }
        let seen = Seen {
            thread: e.thread,
            site: e.site,
            event: self.events,
        };
        if write {
            var.writes.see(seen);
        } else {
            var.reads.see(seen);
        }
    }
}
