//! JRF's `h` (Kim, Yavuz-Kahveci, Sanders: JRF-E, section 2.2), by clocks.
//!
//! `h(z)` is the set of variables that thread or synchronisation variable `z`
//! may access without a race; `norace(x, t)` is `x ∈ h(t)`, checked before
//! every read and write. Instead of sets: with `C(z)` a vector clock and `W(x)`
//! the epoch of the last write of `x`, `x ∈ h(z)` exactly when `C(z)` covers
//! `W(x)`. Then `release` and `acquire` are joins, `invalidate` is the
//! assignment to `W(x)`, and a variable never written is in every `h`
//! (default values are visible to all). [`crate::h_sets`] is the paper's own
//! form, and the oracle.
//!
//! # What it claims
//! Every finding is a race: the access is unordered with the last write. A
//! write that is unordered with an earlier *read* is not found; JRF relies on
//! exploring the other order too. FastTrack needs only one.
//!
//! # Where it departs from the paper
//! JRF stops at a race. Here the run goes on, and a thread that wrote `x` has
//! `x` in its `h`, race or not. The row for `isAlive` is inverted in the
//! paper's figure: the edge arises when it returns false.

use crate::Detector;
use crate::clocks::{Clocks, Edges};
use crate::finding::{Access, Finding, Findings};
use crate::registry::{Claim, Kind, Row};
use order::{ClockView, Stamp};
use rustc_hash::FxHashMap;
use trace::{Event, Loc, SiteId, ThreadId};

pub const KIND: Kind = Kind(&Row {
    name: "h",
    about: "Reads and writes not ordered after the last write (JRF)",
    claim: Claim::Observed,
    make: || Box::new(H::default()),
});

/// The detector. See the module's text.
#[derive(Debug)]
pub struct H {
    clocks: Clocks,
    written: FxHashMap<Loc, Stamp>,
    findings: Findings,
    events: u64,
}

impl Default for H {
    fn default() -> H {
        H {
            clocks: Clocks::new(Edges::All, true),
            written: FxHashMap::default(),
            findings: Findings::default(),
            events: 0,
        }
    }
}

impl Detector for H {
    fn event(&mut self, e: &Event) {
        match e.op.access() {
            Some((loc, write)) => self.access(e, loc, write),
            None => {
                self.clocks.enter(e);
                self.clocks.leave(e);
            }
        }
        self.events += 1;
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl H {
    /// Whether `loc` is in the thread's `h`.
    pub fn holds(&mut self, thread: ThreadId, loc: Loc) -> bool {
        let at = self.clocks.threads.index(thread);
        let written = self.written.get(&loc).copied().unwrap_or_default();
        self.clocks.threads.get(at).clock.covers(written.epoch)
    }

    fn access(&mut self, e: &Event, loc: Loc, write: bool) {
        let at = self.clocks.threads.index(e.thread);
        let source = self.written.get(&loc).copied().unwrap_or_default();
        let known = self.clocks.threads.get(at).clock.covers(source.epoch);
        if !known && !self.clocks.excused(at, source.epoch) {
            let owner = self.clocks.threads.owner(source.epoch);
            self.findings.add(Finding {
                loc,
                first: Access {
                    thread: owner.unwrap_or(e.thread),
                    site: SiteId(source.site),
                    write: true,
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
        if write {
            let epoch = self.clocks.threads.get(at).epoch;
            self.written.insert(loc, Stamp::new(epoch, e.site.0));
        }
    }
}
