//! A trace made ready for questions about reorderings: what must come along
//! when a thread's first `n` events are kept, which critical sections are open
//! then, and which variables are worth a question at all.
//!
//! # The order that every reordering keeps
//! A *cut* says how many of its first events each thread keeps. Keeping event
//! `e` needs:
//! - what its thread did before (so a cut it is);
//! - if it reads, the write it saw, whatever the strength of either access;
//!   a volatile or acquiring read, all earlier volatile or releasing writes of
//!   the location: a recorder that must not stop the world cannot tell which
//!   of two writes at about the same time was seen, nor whether a
//!   compare-and-set succeeded;
//! - the fork of its thread; for a join, all the other thread did;
//! - for the end of a wait, every earlier wait and notify of that monitor:
//!   which notify woke whom is not recorded, the same ones in the same order
//!   wake the same;
//! - for whatever a signal may have let through (park, the end of a wait,
//!   noticing an interrupt), every earlier unpark and interrupt of the thread;
//! - for `SyncAcquire`, every earlier `SyncRelease` of the object;
//! - every static initialiser that had ended: uses of a class leave no event,
//!   so any later event may depend on it.
//!
//! Locks are not in this order: engines differ by what they do about them.
//! All but program order, reads, fork and join is beyond the papers and *hard*:
//! kept, never argued about.
//!
//! With [dependences](crate::deps) (`Index::sliced`), a read needs the write
//! it saw only if its value is needed by something kept: see `slice`.
//!
//! # Cost
//! Two passes. Per event 16 bytes; per event that learns something about
//! another thread, 8 bytes and 4 a thread; per critical section about 50.

mod build;
mod slice;

use crate::candidates::Pair;
use crate::deps::Deps;
use crate::unsure;
use crate::witness::View;
use detect::{AnyAccess, held::HeldLocks};
use order::LockSetId;
use rustc_hash::FxHashMap;
use trace::{Event, Loc, Op, ThreadId};

/// A release that never came.
pub(crate) const NEVER: u32 = u32::MAX;
/// No variable, or one that cannot race.
pub(crate) const NONE: u32 = u32::MAX;

/// Number of kept events, by dense thread; behind them, of a sliced index, a
/// place for each group of classes: 1 if a value read there is needed.
pub(crate) type Cut = Vec<u32>;

#[derive(Debug)]
pub(crate) struct Index<'a> {
    pub events: &'a [Event],
    pub threads: Vec<ThreadId>,
    /// Event numbers by dense thread and position.
    pub by_thread: Vec<Vec<u32>>,
    /// By event: its position in its thread, from 1: what a cut must exceed.
    pub place: Vec<u32>,
    /// By event: its dense thread.
    pub thread: Vec<u32>,
    /// By event: the dense variable it accesses, or `NONE`.
    pub var: Vec<u32>,
    /// By dense thread: how many of its first events a witness may have, because
    /// what it saw next is not known; `NEVER` if all is.
    pub limit: Vec<u32>,
    /// By dense variable: whether two accesses may meet, going by locks and
    /// threads alone.
    pub candidate: Vec<bool>,
    /// By dense variable: whether several threads access it, and one writes.
    pub contended: Vec<bool>,
    pub sections: Vec<Section>,
    dense: FxHashMap<ThreadId, u32>,
    /// By thread: from which position on which clock holds. Ascending.
    marks: Vec<Vec<(u32, u32)>>,
    /// Clocks of `stride()` entries each; the first is zero.
    clocks: Vec<u32>,
    /// What an access needs besides what came before it in its thread and the
    /// write it sees, where that is anything: a clock, by event.
    entries: FxHashMap<u32, u32>,
    /// By thread: from which position on which sections are open, as a range
    /// of `open_lists`. Ascending.
    open: Vec<Vec<(u32, u32, u32)>>,
    open_lists: Vec<u32>,
    /// By dense lock: who took it when.
    users: Vec<Vec<User>>,
    sliced: Option<slice::Sliced>,
}

/// What a thread does under a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub lock: u32,
    pub shared: bool,
    pub thread: u32,
    /// The release's position in its thread, from 1, or `NEVER`.
    pub released: u32,
    /// The acquire's event number.
    pub event: u32,
}

/// One thread's acquires of one lock, by position.
#[derive(Debug)]
struct User {
    thread: u32,
    exclusive: Vec<u32>,
    shared: Vec<u32>,
}

impl<'a> Index<'a> {
    pub fn new(events: &'a [Event]) -> Index<'a> {
        Index::bounded(events, usize::MAX)
    }

    /// One of the first events only, if the clocks of all would take more bytes.
    pub fn bounded(events: &'a [Event], clocks: usize) -> Index<'a> {
        let mut index = Index::surveyed(events);
        let done = build::Builder::new(&mut index).build(clocks);
        index.events = &index.events[..done];
        index
    }

    /// The events by thread, to tell of witnesses.
    pub fn lists(&self) -> View<'_> {
        View::new(self.events, &self.dense, &self.by_thread)
    }

    /// One that leaves out what nothing kept depends on.
    pub fn sliced(events: &'a [Event], deps: &Deps) -> Index<'a> {
        let mut index = Index::surveyed(events);
        slice::build(&mut index, deps);
        index
    }

    fn surveyed(events: &'a [Event]) -> Index<'a> {
        let events = &events[..events.len().min((u32::MAX - 2) as usize)];
        let mut index = Index {
            events,
            threads: Vec::new(),
            by_thread: Vec::new(),
            place: Vec::with_capacity(events.len()),
            thread: Vec::with_capacity(events.len()),
            var: Vec::with_capacity(events.len()),
            limit: Vec::new(),
            candidate: Vec::new(),
            contended: Vec::new(),
            sections: Vec::new(),
            dense: FxHashMap::default(),
            marks: Vec::new(),
            clocks: Vec::new(),
            entries: FxHashMap::default(),
            open: Vec::new(),
            open_lists: Vec::new(),
            users: Vec::new(),
            sliced: None,
        };
        index.survey();
        index.limit = vec![NEVER; index.width()];
        for read in unsure::reads(events) {
            let limit = &mut index.limit[index.thread[read as usize] as usize];
            *limit = (*limit).min(index.place[read as usize] - 1);
        }
        index
    }

    /// Whether the cut has an event that hangs on a value nobody knows.
    pub fn beyond(&self, cut: &[u32]) -> bool {
        cut.iter()
            .zip(&self.limit)
            .any(|(kept, limit)| kept > limit)
    }

    pub fn width(&self) -> usize {
        self.threads.len()
    }

    /// The length of cuts and clocks.
    pub fn stride(&self) -> usize {
        self.threads.len() + self.sliced.as_ref().map_or(0, |s| s.groups)
    }

    #[inline]
    pub fn thread(&self, event: u32) -> u32 {
        self.thread[event as usize]
    }

    pub fn dense(&self, thread: ThreadId) -> Option<u32> {
        self.dense.get(&thread).copied()
    }

    /// Adds to `cut` what keeping the first `count` events of `thread` needs.
    /// True if that changed it.
    pub fn require(&self, cut: &mut [u32], thread: u32, count: u32) -> bool {
        // A cut is closed at all times: what it has, it has with all it needs.
        if cut[thread as usize] >= count {
            return false;
        }
        let marks = &self.marks[thread as usize];
        let after = marks.partition_point(|(from, _)| *from <= count);
        if let Some((_, clock)) = after.checked_sub(1).and_then(|at| marks.get(at)) {
            self.join(cut, *clock);
        }
        cut[thread as usize] = cut[thread as usize].max(count);
        self.settle(cut);
        true
    }

    /// Adds to `cut` what must have happened for the access `event` to be its
    /// thread's next, whatever value it sees then.
    pub fn require_before(&self, cut: &mut [u32], event: u32, thread: u32) {
        self.require(cut, thread, self.place[event as usize] - 1);
        if let Some(sliced) = &self.sliced {
            self.join(cut, sliced.happens[event as usize]);
            self.settle(cut);
        } else if let Some(clock) = self.entries.get(&event) {
            self.join(cut, *clock);
        }
    }

    /// Adds what makes a racing update see the value it saw, if it must.
    pub fn require_value(&self, cut: &mut [u32], pair: Pair) {
        if let Some((event, thread)) = self.bound(pair) {
            if let Some(sliced) = &self.sliced {
                self.join(cut, sliced.value[event as usize]);
                self.settle(cut);
                return;
            }
            let marks = &self.marks[thread as usize];
            let place = self.place[event as usize];
            let after = marks.partition_point(|(from, _)| *from <= place);
            if let Some((_, clock)) = after.checked_sub(1).and_then(|at| marks.get(at)) {
                self.join(cut, *clock);
            }
        }
    }

    /// Whether a racing update sees the value it saw, after the cut, if it
    /// must. The write it saw is in the cut; no later one may be.
    pub fn value_kept(&self, cut: &[u32], pair: Pair) -> bool {
        let Some((event, _)) = self.bound(pair) else {
            return true;
        };
        let var = self.var[event as usize];
        let last = self.last_event(cut).unwrap_or(0);
        (event + 1..=last).all(|later| {
            let inside = |e: u32| self.place[e as usize] <= cut[self.thread(e) as usize];
            let writes =
                |e: u32| AnyAccess::from_op(self.events[e as usize].op).is_some_and(|a| a.write);
            self.var[later as usize] != var || !writes(later) || !inside(later)
        })
    }

    /// The access of a pair that has to see the value it saw: an update, if the
    /// other access only reads. A compare-and-set could fail on another value,
    /// and not write either.
    fn bound(&self, pair: Pair) -> Option<(u32, u32)> {
        let op = |event: u32| self.events[event as usize].op;
        let update = |event| matches!(op(event), Op::AtomicUpdate(..));
        let [first, second] = pair.threads;
        match (op(pair.first), op(pair.second)) {
            (_, Op::Read(_) | Op::AtomicRead(..)) if update(pair.first) => {
                Some((pair.first, first))
            }
            (Op::Read(_) | Op::AtomicRead(..), _) if update(pair.second) => {
                Some((pair.second, second))
            }
            _ => None,
        }
    }

    /// The kept event that is the latest in the run.
    pub fn last_event(&self, cut: &[u32]) -> Option<u32> {
        let lists = self.by_thread.iter().zip(cut);
        lists
            .filter_map(|(events, n)| events.get((*n as usize).checked_sub(1)?).copied())
            .max()
    }

    /// True if that changed anything.
    fn join(&self, cut: &mut [u32], clock: u32) -> bool {
        let from = clock as usize * self.stride();
        build::learn(cut, &self.clocks[from..from + self.stride()])
    }

    /// The critical sections `thread` is in after its first `count` events.
    pub fn open_at(&self, thread: u32, count: u32) -> &[u32] {
        let changes = &self.open[thread as usize];
        let after = changes.partition_point(|(from, ..)| *from <= count);
        match after.checked_sub(1).and_then(|at| changes.get(at)) {
            Some((_, start, end)) => &self.open_lists[*start as usize..*end as usize],
            None => &[],
        }
    }

    /// Whether another thread takes the lock of `section` in the cut, later in
    /// the run, in a mode that does not go together with it.
    pub fn retaken(&self, cut: &[u32], section: &Section) -> bool {
        let later = |user: &User, acquires: &[u32]| {
            let inside = acquires.partition_point(|at| *at <= cut[user.thread as usize]);
            inside.checked_sub(1).is_some_and(|last| {
                let place = acquires[last] as usize - 1;
                self.by_thread[user.thread as usize][place] > section.event
            })
        };
        self.users[section.lock as usize]
            .iter()
            .filter(|user| user.thread != section.thread && cut[user.thread as usize] > 0)
            .any(|user| {
                later(user, &user.exclusive) || (!section.shared && later(user, &user.shared))
            })
    }

    /// Numbers threads and variables, and sees which variables might race:
    /// two threads, a write, a plain access, and no lock throughout.
    fn survey(&mut self) {
        #[derive(Clone, Copy)]
        struct Seen {
            thread: u32,
            shared: bool,
            written: bool,
            plain: bool,
            guard: Option<LockSetId>,
        }
        let mut held = HeldLocks::default();
        let mut vars: FxHashMap<Loc, u32> = FxHashMap::default();
        let mut seen: Vec<Seen> = Vec::new();
        let mut last = None;
        for e in self.events {
            let thread = match last {
                Some((thread, dense)) if thread == e.thread => dense,
                _ => self.number(e.thread),
            };
            last = Some((e.thread, thread));
            self.thread.push(thread);
            let list = &mut self.by_thread[thread as usize];
            list.push(self.place.len() as u32);
            self.place.push(list.len() as u32);
            let Some(access) = AnyAccess::from_op(e.op) else {
                self.var.push(NONE);
                held.event(e);
                continue;
            };
            let var = *vars.entry(access.loc).or_insert_with(|| {
                seen.push(Seen {
                    thread,
                    shared: false,
                    written: false,
                    plain: false,
                    guard: None,
                });
                seen.len() as u32 - 1
            });
            self.var.push(var);
            let seen = &mut seen[var as usize];
            seen.shared |= seen.thread != thread;
            seen.written |= access.write;
            seen.plain |= !access.atomic;
            if seen.guard != Some(LockSetId::EMPTY) {
                let now = held.locks_of(e.thread);
                let now = held.sets.protecting(now, access.write);
                seen.guard = Some(match seen.guard {
                    None => now,
                    Some(before) => held.sets.intersect(before, now),
                });
            }
        }
        let races = |s: &Seen| {
            s.shared && s.written && s.plain && s.guard.is_none_or(|g| g == LockSetId::EMPTY)
        };
        self.candidate = seen.iter().map(races).collect();
        self.contended = seen.iter().map(|s| s.shared && s.written).collect();
    }

    fn number(&mut self, thread: ThreadId) -> u32 {
        *self.dense.entry(thread).or_insert_with(|| {
            self.threads.push(thread);
            self.by_thread.push(Vec::new());
            self.threads.len() as u32 - 1
        })
    }
}
