//! Happens-before detection with everything remembered: for every variable
//! the last read and write of every thread, plain and atomic, and a plain
//! comparison with each. DJIT+ without its shortcuts; FastTrack's oracle.
//!
//! Slower by the number of threads, and it names more pairs: an access is
//! compared with the last of each thread, not only with those that no other
//! stands for.

use crate::clocks::{Clocks, Edges};
use crate::finding::{Access, Finding, Findings};
use crate::{AnyAccess, Detector};
use order::{ClockView, Epoch};
use rustc_hash::FxHashMap;
use trace::{Event, Loc, SiteId, ThreadId};

/// The detector. See the module's text.
#[derive(Debug)]
pub struct Vectors {
    clocks: Clocks,
    vars: FxHashMap<Loc, Vec<Last>>,
    findings: Findings,
    events: u64,
}

/// The last access of its thread and kind.
#[derive(Debug)]
struct Last {
    thread: ThreadId,
    epoch: Epoch,
    site: SiteId,
    write: bool,
    atomic: bool,
}

impl Default for Vectors {
    fn default() -> Vectors {
        Vectors {
            clocks: Clocks::new(Edges::All, false),
            vars: FxHashMap::default(),
            findings: Findings::default(),
            events: 0,
        }
    }
}

impl Detector for Vectors {
    fn event(&mut self, e: &Event) {
        let at = self.clocks.enter(e);
        if let Some(access) = AnyAccess::from_op(e.op) {
            self.access(at, e, access);
        }
        self.clocks.leave(e);
        self.events += 1;
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl Vectors {
    fn access(&mut self, at: usize, e: &Event, access: AnyAccess) {
        let lasts = self.vars.entry(access.loc).or_default();
        for last in lasts.iter() {
            let conflict =
                AnyAccess::conflicts((last.write, access.write), (last.atomic, access.atomic));
            if !conflict
                || self.clocks.threads.get(at).clock.covers(last.epoch)
                || self.clocks.excused(at, last.epoch)
            {
                continue;
            }
            self.findings.add(Finding {
                loc: access.loc,
                first: Access {
                    thread: last.thread,
                    site: last.site,
                    write: last.write,
                },
                second: access.at(e),
                event: self.events,
                count: 1,
            });
        }
        let new = Last {
            thread: e.thread,
            epoch: self.clocks.threads.get(at).epoch,
            site: e.site,
            write: access.write,
            atomic: access.atomic,
        };
        let same =
            |l: &&mut Last| (l.thread, l.write, l.atomic) == (new.thread, new.write, new.atomic);
        match lasts.iter_mut().find(same) {
            Some(last) => *last = new,
            None => lasts.push(new),
        }
    }
}
