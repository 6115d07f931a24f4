//! A trace made ready for questions about reorderings: what must come along
//! when a thread's first `n` events are kept, which critical sections are open
//! then, and which variables are worth a question at all.
//!
//! # The order that every reordering keeps
//! A *cut* says how many of its first events each thread keeps. Keeping event
//! `e` needs:
//! - what its thread did before (so a cut it is);
//! - if it reads, the write it saw, whatever the strength of either access;
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
//! # Cost
//! Two passes. Per event 8 bytes; per event that learns something about
//! another thread, 8 bytes and 4 a thread; per critical section about 50.

use crate::candidates::Pair;
use crate::found::AnyAccess;
use crate::signals;
use detect::held::HeldLocks;
use order::LockSetId;
use rustc_hash::FxHashMap;
use trace::{Event, Loc, LockId, ObjId, Op, ThreadId};

/// A release that never came.
pub(crate) const NEVER: u32 = u32::MAX;
/// No variable, or one that cannot race.
pub(crate) const NONE: u32 = u32::MAX;

/// Number of kept events, by dense thread.
pub(crate) type Cut = Vec<u32>;

#[derive(Debug)]
pub(crate) struct Index<'a> {
    pub events: &'a [Event],
    /// Events beyond what 32 bits can number were left out.
    pub shortened: bool,
    pub threads: Vec<ThreadId>,
    /// Event numbers by dense thread and position.
    pub by_thread: Vec<Vec<u32>>,
    /// By event: its position in its thread, from 1: what a cut must exceed.
    pub place: Vec<u32>,
    /// By event: the dense variable it accesses, or `NONE`.
    pub var: Vec<u32>,
    /// By dense variable: whether two accesses may meet, going by locks and
    /// threads alone.
    pub candidate: Vec<bool>,
    pub sections: Vec<Section>,
    dense: FxHashMap<ThreadId, u32>,
    /// By thread: from which position on which clock holds. Ascending.
    marks: Vec<Vec<(u32, u32)>>,
    /// Clocks of `threads.len()` entries each; the first is zero.
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
        let most = (u32::MAX - 2) as usize;
        let shortened = events.len() > most;
        let events = &events[..events.len().min(most)];
        let mut index = Index {
            events,
            shortened,
            threads: Vec::new(),
            by_thread: Vec::new(),
            place: Vec::with_capacity(events.len()),
            var: Vec::with_capacity(events.len()),
            candidate: Vec::new(),
            sections: Vec::new(),
            dense: FxHashMap::default(),
            marks: Vec::new(),
            clocks: Vec::new(),
            entries: FxHashMap::default(),
            open: Vec::new(),
            open_lists: Vec::new(),
            users: Vec::new(),
        };
        index.survey();
        Builder::new(&mut index).build();
        index
    }

    pub fn width(&self) -> usize {
        self.threads.len()
    }

    #[inline]
    pub fn thread(&self, event: u32) -> u32 {
        self.dense[&self.events[event as usize].thread]
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
        true
    }

    /// Adds to `cut` what must have happened for the access `event` to be its
    /// thread's next, whatever value it sees then.
    pub fn require_before(&self, cut: &mut [u32], event: u32, thread: u32) {
        self.require(cut, thread, self.place[event as usize] - 1);
        if let Some(clock) = self.entries.get(&event) {
            self.join(cut, *clock);
        }
    }

    /// Adds what makes a racing update see the value it saw, if it must.
    pub fn require_value(&self, cut: &mut [u32], pair: Pair) {
        if let Some((event, thread)) = self.bound(pair) {
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
            let writes = |e: u32| AnyAccess::of(&self.events[e as usize]).is_some_and(|a| a.write);
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

    fn join(&self, cut: &mut [u32], clock: u32) {
        let from = clock as usize * self.width();
        for (mine, needed) in cut.iter_mut().zip(&self.clocks[from..]) {
            *mine = (*mine).max(*needed);
        }
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
            let list = &mut self.by_thread[thread as usize];
            list.push(self.place.len() as u32);
            self.place.push(list.len() as u32);
            let Some(access) = AnyAccess::of(e) else {
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
                let now = held.of(e.thread);
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
    }

    fn number(&mut self, thread: ThreadId) -> u32 {
        *self.dense.entry(thread).or_insert_with(|| {
            self.threads.push(thread);
            self.by_thread.push(Vec::new());
            self.threads.len() as u32 - 1
        })
    }
}

/// The second pass: clocks and critical sections.
struct Builder<'i, 'a> {
    index: &'i mut Index<'a>,
    /// What each thread's events so far need.
    now: Vec<Cut>,
    done: Vec<u32>,
    /// By variable: the last write's thread, position and clock.
    writes: Vec<Option<(u32, u32, u32)>>,
    forks: FxHashMap<u32, Cut>,
    monitors: FxHashMap<LockId, Cut>,
    signals: FxHashMap<ThreadId, Cut>,
    objects: FxHashMap<ObjId, Cut>,
    /// Static initialisers that ended, and how many did.
    inits: (u32, Cut),
    /// By thread: how many of them it knows.
    knows: Vec<u32>,
    locks: FxHashMap<LockId, u32>,
    /// By thread: open sections, each with its depth.
    open: Vec<Vec<(u32, u32)>>,
}

impl<'i, 'a> Builder<'i, 'a> {
    fn new(index: &'i mut Index<'a>) -> Builder<'i, 'a> {
        let width = index.width();
        index.marks = vec![Vec::new(); width];
        index.clocks = vec![0; width];
        index.open = vec![Vec::new(); width];
        Builder {
            now: vec![vec![0; width]; width],
            done: vec![0; width],
            writes: vec![None; index.candidate.len()],
            forks: FxHashMap::default(),
            monitors: FxHashMap::default(),
            signals: FxHashMap::default(),
            objects: FxHashMap::default(),
            inits: (0, vec![0; width]),
            knows: vec![0; width],
            locks: FxHashMap::default(),
            open: vec![Vec::new(); width],
            index,
        }
    }

    fn build(mut self) {
        let mut last = None;
        for at in 0..self.index.events.len() {
            let e = self.index.events[at];
            let thread = match last {
                Some((thread, dense)) if thread == e.thread => dense,
                _ => self.index.dense[&e.thread],
            };
            last = Some((e.thread, thread));
            self.event(at as u32, thread, &e);
        }
    }

    fn event(&mut self, at: u32, me: u32, e: &Event) {
        let t = me as usize;
        self.done[t] += 1;
        let place = self.done[t];
        let mut news = false;
        if place == 1
            && let Some(fork) = self.forks.remove(&me)
        {
            news |= learn(&mut self.now[t], &fork);
        }
        if self.knows[t] < self.inits.0 {
            self.knows[t] = self.inits.0;
            news |= learn(&mut self.now[t], &self.inits.1);
        }
        let var = self.index.var[at as usize];
        if var != NONE {
            if news {
                self.mark(t, place);
                let clock = self.index.marks[t].last().map_or(0, |(_, clock)| *clock);
                self.index.entries.insert(at, clock);
                news = false;
            }
            let sees = matches!(
                e.op,
                Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..)
            );
            if sees
                && let Some((by, write, clock)) = self.writes[var as usize]
                && self.now[t][by as usize] < write
                && by != me
            {
                let from = clock as usize * self.index.width();
                let needs = &self.index.clocks[from..from + self.index.width()];
                for (mine, needed) in self.now[t].iter_mut().zip(needs) {
                    *mine = (*mine).max(*needed);
                }
                self.now[t][by as usize] = write;
                news = true;
            }
            if news {
                self.mark(t, place);
            }
            if AnyAccess::of(e).is_some_and(|a| a.write) {
                let clock = self.index.marks[t].last().map_or(0, |(_, clock)| *clock);
                self.writes[var as usize] = Some((me, place, clock));
            }
            return;
        }
        if signals::awaits(e.op)
            && let Some(sent) = self.signals.get(&e.thread)
        {
            news |= learn(&mut self.now[t], sent);
        }
        news |= match e.op {
            Op::WaitEnd { lock, .. } => match self.monitors.get(&lock) {
                Some(needed) => learn(&mut self.now[t], needed),
                None => false,
            },
            Op::SyncAcquire(object) => match self.objects.get(&object) {
                Some(needed) => learn(&mut self.now[t], needed),
                None => false,
            },
            Op::Join(other) => match self.index.dense(other) {
                Some(other) if other != me && self.done[other as usize] > 0 => {
                    let needed = self.so_far(other);
                    learn(&mut self.now[t], &needed)
                }
                _ => false,
            },
            _ => false,
        };
        if news {
            self.mark(t, place);
        }
        self.publish(me, e);
        self.lock(at, me, place, e.op);
    }

    /// From here on, keeping an event of the thread needs what it needs now.
    fn mark(&mut self, t: usize, place: u32) {
        let width = self.index.width();
        let clock = (self.index.clocks.len() / width) as u32;
        self.index.clocks.extend_from_slice(&self.now[t]);
        self.index.marks[t].push((place, clock));
    }

    /// What keeping all a thread did so far needs, itself included.
    fn so_far(&self, thread: u32) -> Cut {
        let mut needed = self.now[thread as usize].clone();
        needed[thread as usize] = self.done[thread as usize];
        needed
    }

    fn publish(&mut self, me: u32, e: &Event) {
        let width = self.index.width();
        let slot = match e.op {
            Op::Fork(child) => match self.index.dense(child) {
                // A thread that runs already was not started by this.
                Some(child) if self.done[child as usize] == 0 => {
                    self.forks.entry(child).or_default()
                }
                _ => return,
            },
            Op::WaitBegin(lock)
            | Op::WaitEnd { lock, .. }
            | Op::Notify(lock)
            | Op::NotifyAll(lock) => self.monitors.entry(lock).or_default(),
            Op::SyncRelease(object) => self.objects.entry(object).or_default(),
            Op::InitEnd(_) => {
                self.inits.0 += 1;
                &mut self.inits.1
            }
            op => match signals::target(op) {
                Some(target) => self.signals.entry(target).or_default(),
                None => return,
            },
        };
        slot.resize(width, 0);
        learn(slot, &self.now[me as usize]);
        slot[me as usize] = self.done[me as usize];
    }

    fn lock(&mut self, at: u32, me: u32, place: u32, op: Op) {
        let (lock, shared, taken) = match op {
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } => (lock, false, true),
            Op::Release(lock) | Op::WaitBegin(lock) => (lock, false, false),
            Op::AcquireShared(lock) => (lock, true, true),
            Op::ReleaseShared(lock) => (lock, true, false),
            _ => return,
        };
        let users = &mut self.index.users;
        let lock = *self.locks.entry(lock).or_insert_with(|| {
            users.push(Vec::new());
            users.len() as u32 - 1
        });
        let sections = &mut self.index.sections;
        let open = &mut self.open[me as usize];
        let mine = open.iter().position(|(section, _)| {
            let s = &sections[*section as usize];
            s.lock == lock && s.shared == shared
        });
        match (taken, mine) {
            // Only other tools' traces have re-entrant acquisitions.
            (true, Some(mine)) => {
                open[mine].1 += 1;
                return;
            }
            (true, None) => {
                open.push((sections.len() as u32, 1));
                sections.push(Section {
                    lock,
                    shared,
                    thread: me,
                    released: NEVER,
                    event: at,
                });
                let users = &mut users[lock as usize];
                let user = match users.iter().position(|u| u.thread == me) {
                    Some(user) => &mut users[user],
                    None => {
                        users.push(User {
                            thread: me,
                            exclusive: Vec::new(),
                            shared: Vec::new(),
                        });
                        let last = users.len() - 1;
                        &mut users[last]
                    }
                };
                let list = if shared {
                    &mut user.shared
                } else {
                    &mut user.exclusive
                };
                list.push(place);
            }
            (false, Some(mine)) => {
                open[mine].1 -= 1;
                if open[mine].1 > 0 {
                    return;
                }
                let (section, _) = open.remove(mine);
                sections[section as usize].released = place;
            }
            (false, None) => return,
        }
        let lists = &mut self.index.open_lists;
        let start = lists.len() as u32;
        lists.extend(open.iter().map(|(section, _)| *section));
        self.index.open[me as usize].push((place, start, lists.len() as u32));
    }
}

/// Adds what `needed` has; true if that changed anything.
fn learn(cut: &mut [u32], needed: &[u32]) -> bool {
    let mut changed = false;
    for (mine, needed) in cut.iter_mut().zip(needed) {
        changed |= *mine < *needed;
        *mine = (*mine).max(*needed);
    }
    changed
}
