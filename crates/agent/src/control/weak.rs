//! Reads that may see older writes: the histories of locations, and what is said of a read that did.
//!
//! Crate `memory` says which writes a read may see; the scheduler's adversary, or the schedule that is
//! repeated, which of them it sees. Clocks are FastTrack's, which take happens-before edges generously:
//! a write that is taken to happen before may be one too many, so a read sees fewer, never more. That a static
//! initialiser comes before every use of its class shows in no clock, and is added when it is missed.

use super::{Control, Place, State};
use crate::Agent;
use crate::jni::Jni;
use crate::memory::{RawClock, bridge_epoch};
use contract::weak::{FIRST, KEPT};
use memory::{History, INITIAL, Write};
use order::{ClockView, Epoch};
use protocol::control::{Cause, StaleRead};
use protocol::finding::{self, AccessOp, Line};
use rustc_hash::{FxHashMap, FxHashSet};
use schedule::Thread;

/// Reads in a row by one thread at one statement that all see the same older write, after which the thread is taken
/// to read it for ever: nothing in the memory model says that it ever sees the newer one.
const FOR_EVER: u32 = 50_000;

/// An access to a location, by its object and offset.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    clock: RawClock,
    epoch: Epoch,
    location: (u64, u32),
    site: u32,
}

impl Access {
    pub fn new(clock: RawClock, epoch: i64, obj: i64, slot: i32, site: i32) -> Access {
        Access {
            clock,
            epoch: bridge_epoch(epoch),
            location: (obj as u64, slot as u32),
            site: site as u32,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Weak {
    histories: FxHashMap<(u64, u32), History>,
    streaks: FxHashMap<(Thread, u32), Streak>,
    /// Statements of reads, of the writes that they saw and of those that they did not.
    told: FxHashSet<[u32; 3]>,
}

/// Reads of one thread at one statement that saw the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Streak {
    location: (u64, u32),
    saw: usize,
    newest: usize,
    times: u32,
}

impl Weak {
    /// Whether the thread has read the same for so long that it may be for ever.
    fn is_endless(&mut self, by: (Thread, u32), now: Streak) -> bool {
        let streak = self.streaks.entry(by).or_insert(now);
        let times = streak.times + 1;
        *streak = match (Streak {
            times: 0,
            ..*streak
        }) == now
        {
            true => Streak { times, ..now },
            false => now,
        };
        now.saw != now.newest && streak.times >= FOR_EVER
    }
}

impl Control {
    /// A write was made.
    pub fn left(&self, a: &Agent, write: Access) {
        let knows = a.known(write.clock);
        let mut state = self.lock();
        let history =
            { state.weak.histories.entry(write.location) }.or_insert_with(|| History::new(KEPT));
        history.write(Write::new(write.epoch, knows, write.site));
    }

    /// What is there now was written by somebody who did not tell.
    pub fn forgot(&self, a: &Agent, obj: u64, slot: u32) {
        let known = self.lock().weak.histories.remove(&(obj, slot));
        if known.is_some() && self.is_exploring() {
            let what = "a racing location was written in a way that is not followed (by a handle, reflection or \
                        native code): what was there before is not seen again";
            self.name_uncontrolled(a, Cause::Other, what);
        }
    }

    /// By how many writes the one is older that a read sees; whether to tell of it. `same`: the writes that
    /// have the value of the newest one, by how much older they are: it makes no difference to see them.
    pub fn sees(&self, a: &Agent, jni: Jni, read: Access, same: u64) -> i32 {
        let Some(me) = Place::current() else {
            return 0;
        };
        for epoch in self.epochs(read.location) {
            a.learn_of_initialiser(read.clock, epoch);
        }
        let mut state = self.lock();
        let State { weak, world, .. } = &mut *state;
        let Some(history) = weak.histories.get(&read.location) else {
            return 0;
        };
        let newest = history.newest();
        if history.oldest() > INITIAL && self.is_exploring() {
            let what = "a racing location was written more often than its values are kept (32): older ones are \
                        not seen again";
            self.name_uncontrolled(a, Cause::Other, what);
        }
        let differs = |n: &usize| *n == newest || newest - n < 64 && same >> (newest - n) & 1 == 0;
        let visible = history.visible(&read.clock);
        let visible: Vec<usize> = visible.into_iter().filter(differs).collect();
        let which = match visible.len() {
            0 | 1 => 0,
            many => world.see(me.thread, read.site, many),
        };
        let saw = visible.get(which).copied().unwrap_or(newest);
        let site = |number: usize| history.get(number).map_or(0, |write| write.site);
        let about = [read.site, site(saw), site(newest)];
        let first = saw != newest && weak.told.insert(about);
        let streak = Streak {
            location: read.location,
            saw,
            newest,
            times: 0,
        };
        let endless = weak.is_endless((me.thread, read.site), streak);
        self.note_steps(a, &mut state);
        drop(state);
        if endless {
            self.end_in_livelock(a, jni);
        }
        (newest - saw) as i32 | if first { FIRST } else { 0 }
    }

    /// When the location was written.
    fn epochs(&self, location: (u64, u32)) -> Vec<Epoch> {
        let state = self.lock();
        let history = state.weak.histories.get(&location).into_iter();
        let writes = history.flat_map(|h| (h.oldest()..=h.newest()).filter_map(|n| h.get(n)));
        writes.map(Write::by).collect()
    }

    /// Says that a read at this statement sees a write that is so much older than the newest.
    pub fn tell_stale(&self, a: &Agent, read: Access, back: usize, values: [String; 2]) {
        let state = self.lock();
        let Some(history) = state.weak.histories.get(&read.location) else {
            return;
        };
        let newest = history.newest();
        let write = |number: usize| history.get(number).map(|write| (write.site, write.by()));
        let (saw, missed) = (write(newest - back.min(newest)), write(newest));
        drop(state);
        let Some((missed_site, missed_by)) = missed else {
            return;
        };
        let missed_is_before = read.clock.covers(missed_by);
        let site = read.site;
        let stack = { a.stacks.lock() }
            .unwrap_or_else(|e| e.into_inner())
            .current(&a.jvmti);
        let read = finding::Access {
            op: AccessOp::Read,
            thread: Place::current()
                .map(|p| told(p.thread, &p.name))
                .unwrap_or_default(),
            frame: a
                .sites
                .frame(site)
                .map(|f| a.told_frame(&f))
                .unwrap_or_default(),
            stack: a.told(&stack),
            stack_exact: true,
            locks: None,
            holders: vec![],
        };
        let [value, newest] = values;
        a.findings.write(Line::Stale(Box::new(StaleRead {
            location: a.location_named_by([site, missed_site]),
            read,
            saw: saw.map(|(site, by)| a.written(site, by)),
            missed: a.written(missed_site, missed_by),
            missed_is_before,
            value,
            newest,
        })));
    }
}

fn told(id: Thread, name: &str) -> finding::Thread {
    finding::Thread {
        id: u64::from(id),
        name: name.to_owned(),
        ..finding::Thread::default()
    }
}

impl Agent {
    /// A write of the past: its statement and thread are known, not who called it.
    fn written(&self, site: u32, by: Epoch) -> finding::Access {
        let threads = self.threads.lock().unwrap_or_else(|e| e.into_inner());
        let frame = { self.sites.frame(site) }.map(|f| self.told_frame(&f));
        finding::Access {
            op: AccessOp::Write,
            thread: { threads.of_epoch(by) }
                .map(|t| self.told_thread(t))
                .unwrap_or_default(),
            stack: frame.iter().cloned().collect(),
            frame: frame.unwrap_or_default(),
            stack_exact: false,
            locks: None,
            holders: vec![],
        }
    }
}
