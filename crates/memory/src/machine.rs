//! The whole model as a machine: clocks of threads, histories of locations, locks.

use crate::history::{History, INITIAL, Write};
use order::{Epoch, Tid, VectorClock};
use std::collections::BTreeMap;

pub type Loc = u16;
pub type Lock = u16;

/// How a location is accessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Access {
    Plain,
    Opaque,
    /// `getAcquire`, `setRelease`.
    Ordered,
    Volatile,
    /// A final field: read through its object's reference, written in the constructor.
    Final,
}

impl Access {
    fn is_coherent(self) -> bool {
        matches!(self, Access::Opaque | Access::Ordered | Access::Volatile)
    }

    fn is_ordered(self) -> bool {
        matches!(self, Access::Ordered | Access::Volatile)
    }
}

/// What a thread knows, and what it hands over when it releases.
#[derive(Clone, Debug, Default)]
struct View {
    clock: VectorClock,
    /// The newest write of a location that was seen by a coherent read.
    seen: BTreeMap<Loc, usize>,
}

impl View {
    fn join(&mut self, other: &View) {
        self.clock.join(&other.clock);
        for (loc, number) in &other.seen {
            let mine = self.seen.entry(*loc).or_default();
            *mine = (*mine).max(*number);
        }
    }
}

#[derive(Clone, Debug)]
struct Location {
    history: History,
    /// What writes hand over, by their number.
    released: BTreeMap<usize, View>,
    /// What all volatile writes so far do.
    volatiles: View,
    /// What came before the freeze.
    frozen: Option<View>,
}

impl Default for Location {
    fn default() -> Location {
        Location {
            history: History::new(usize::MAX),
            released: BTreeMap::new(),
            volatiles: View::default(),
            frozen: None,
        }
    }
}

/// See the module. Threads, locations and locks exist when they are first spoken of.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    threads: BTreeMap<Tid, View>,
    locations: BTreeMap<Loc, Location>,
    locks: BTreeMap<Lock, View>,
}

impl Memory {
    /// The writes that a read by the thread may see, the newest first.
    pub fn candidates(&mut self, thread: Tid, loc: Loc, access: Access) -> Vec<usize> {
        let location = self.locations.entry(loc).or_default();
        let view = self.threads.entry(thread).or_default();
        let history = &location.history;
        match access {
            Access::Volatile => vec![history.newest()],
            Access::Opaque | Access::Ordered => {
                let seen = view.seen.get(&loc).copied().unwrap_or(INITIAL);
                let least = seen.max(history.newest_before(&view.clock));
                let visible = history.visible(&view.clock).into_iter();
                visible.filter(|number| *number >= least).collect()
            }
            Access::Plain => history.visible(&view.clock),
            Access::Final => {
                let mut clock = view.clock.clone();
                if let Some(frozen) = &location.frozen {
                    clock.join(&frozen.clock);
                }
                history.visible(&clock)
            }
        }
    }

    /// The thread reads, and sees the write of that number, one of the candidates.
    pub fn read(&mut self, thread: Tid, loc: Loc, access: Access, sees: usize) {
        let location = self.locations.entry(loc).or_default();
        let view = self.threads.entry(thread).or_default();
        if access == Access::Volatile {
            view.join(&location.volatiles);
        }
        if access.is_ordered()
            && let Some(released) = location.released.get(&sees)
        {
            view.join(released);
        }
        if access == Access::Final
            && let Some(frozen) = &location.frozen
        {
            view.join(frozen);
        }
        if access.is_coherent() {
            let seen = view.seen.entry(loc).or_default();
            *seen = (*seen).max(sees);
        }
    }

    /// The thread writes; the number of the write.
    pub fn write(&mut self, thread: Tid, loc: Loc, access: Access) -> usize {
        let location = self.locations.entry(loc).or_default();
        let view = self.threads.entry(thread).or_default();
        let by = Epoch::new(thread, view.clock.inc(thread));
        let number = location
            .history
            .write(Write::new(by, view.clock.clone(), 0));
        if access.is_ordered() {
            location.released.insert(number, view.clone());
        }
        if access == Access::Volatile {
            location.volatiles.join(view);
        }
        number
    }

    /// The constructor ends that wrote this final field.
    pub fn freeze(&mut self, thread: Tid, loc: Loc) {
        let view = self.threads.entry(thread).or_default().clone();
        self.locations.entry(loc).or_default().frozen = Some(view);
    }

    pub fn lock(&mut self, thread: Tid, lock: Lock) {
        let known = self.locks.entry(lock).or_default();
        self.threads.entry(thread).or_default().join(known);
    }

    pub fn unlock(&mut self, thread: Tid, lock: Lock) {
        let view = self.threads.entry(thread).or_default();
        self.locks.entry(lock).or_default().join(view);
    }

    /// `before` has started `after`, or has ended and `after` has joined it.
    pub fn order(&mut self, before: Tid, after: Tid) {
        let known = self.threads.entry(before).or_default().clone();
        self.threads.entry(after).or_default().join(&known);
    }
}
