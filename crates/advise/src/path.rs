//! A run as a path: which event happened before which, and through which pairs
//! of release and acquire.
//!
//! One pass over the events. A thread's knowledge changes only when it acquires,
//! so clocks are kept once an acquire, not once an event: memory grows with what
//! synchronises. Every acquire is paired with the last release of the same thing
//! (`findHBEdges` of the paper, which searches for it, in linear time).

use crate::repair::{Names, Sync};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{Event, Loc, LockId, Mode, Op, ThreadId};

/// A release and the acquire that it is seen by, as numbers of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    pub release: usize,
    pub acquire: usize,
}

/// A run with its order. See the module's text.
#[derive(Debug)]
pub struct Path<'a> {
    pub events: &'a [Event],
    columns: FxHashMap<ThreadId, usize>,
    /// Each event's number within its thread, from 1.
    positions: Vec<u32>,
    /// Which of the clocks the event's thread had then, acquiring included.
    versions: Vec<u32>,
    clocks: Vec<Vec<u32>>,
    edges: Vec<Edge>,
    /// Each thread's acquires and releases, in order.
    acquires: Vec<Vec<usize>>,
    releases: Vec<Vec<usize>>,
    /// What was released with which clock, in order: at an event, the clock of
    /// everything that had been released to it up to then.
    released: FxHashMap<Key, Vec<(usize, Vec<u32>)>>,
    /// Locks held at each plain access, as indices into `lock_sets`.
    held: FxHashMap<usize, u32>,
    lock_sets: Vec<Vec<LockId>>,
}

/// What releases and acquires meet at, in one run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    Loc(Loc),
    /// Given up by who had it alone, and by who shared it: those who share do
    /// not order each other.
    Lock(LockId),
    Shared(LockId),
    Start(ThreadId),
    End(ThreadId),
    Interrupt(ThreadId),
    Object(u64),
}

impl Key {
    /// What an event acquires from: of two, both.
    fn acquired(e: &Event) -> (Option<Key>, Option<Key>) {
        let one = match e.op {
            Op::AtomicRead(loc, mode) | Op::AtomicUpdate(loc, mode) if mode != Mode::Opaque => {
                Key::Loc(loc)
            }
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } => {
                return (Some(Key::Lock(lock)), Some(Key::Shared(lock)));
            }
            Op::AcquireShared(lock) => Key::Lock(lock),
            Op::Begin => Key::Start(e.thread),
            Op::Join(thread) => Key::End(thread),
            Op::Interrupted => Key::Interrupt(e.thread),
            Op::SyncAcquire(object) => Key::Object(object.0),
            _ => return (None, None),
        };
        (Some(one), None)
    }

    fn released(e: &Event) -> Option<Key> {
        match e.op {
            Op::AtomicWrite(loc, mode) | Op::AtomicUpdate(loc, mode) if mode != Mode::Opaque => {
                Some(Key::Loc(loc))
            }
            Op::Release(lock) | Op::WaitBegin(lock) => Some(Key::Lock(lock)),
            Op::ReleaseShared(lock) => Some(Key::Shared(lock)),
            Op::Fork(thread) => Some(Key::Start(thread)),
            Op::End => Some(Key::End(e.thread)),
            Op::Interrupt(thread) => Some(Key::Interrupt(thread)),
            Op::SyncRelease(object) => Some(Key::Object(object.0)),
            _ => None,
        }
    }

    /// What a programmer would acquire; starts and interrupts are no choice.
    fn sync(self, names: &dyn Names) -> Option<Sync> {
        match self {
            Key::Loc(loc) => Some(Sync::Variable(names.variable(loc))),
            Key::Lock(lock) | Key::Shared(lock) => Some(Sync::Lock(names.lock(lock))),
            Key::End(thread) => Some(Sync::Thread(names.thread(thread))),
            Key::Object(object) => Some(Sync::Object(names.object(trace::ObjId(object)))),
            Key::Start(_) | Key::Interrupt(_) => None,
        }
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// A thread's state while the path is walked.
struct Walker {
    position: u32,
    version: u32,
    held: Vec<LockId>,
    set: Option<u32>,
}

impl<'a> Path<'a> {
    pub fn new(events: &'a [Event]) -> Path<'a> {
        let mut columns = FxHashMap::default();
        for e in events {
            let next = columns.len();
            columns.entry(e.thread).or_insert(next);
        }
        let width = columns.len();
        let mut path = Path {
            events,
            columns,
            positions: Vec::with_capacity(events.len()),
            versions: Vec::with_capacity(events.len()),
            clocks: vec![vec![0; width]],
            edges: Vec::new(),
            acquires: vec![Vec::new(); width],
            releases: vec![Vec::new(); width],
            released: FxHashMap::default(),
            held: FxHashMap::default(),
            lock_sets: Vec::new(),
        };
        let fresh = || Walker {
            position: 0,
            version: 0,
            held: Vec::new(),
            set: None,
        };
        let mut walkers: Vec<Walker> = (0..width).map(|_| fresh()).collect();
        for (n, e) in events.iter().enumerate() {
            let column = path.columns[&e.thread];
            path.walk(n, e, &mut walkers[column], column);
        }
        path
    }

    fn walk(&mut self, n: usize, e: &Event, me: &mut Walker, column: usize) {
        me.position += 1;
        let (one, other) = Key::acquired(e);
        for key in one.into_iter().chain(other) {
            let Some((release, clock)) = self.released.get(&key).and_then(|r| r.last()) else {
                continue;
            };
            let mut mine = self.clocks[me.version as usize].clone();
            join(&mut mine, clock);
            me.version = self.clocks.len() as u32;
            self.clocks.push(mine);
            self.edges.push(Edge {
                release: *release,
                acquire: n,
            });
            if self.acquires[column].last() != Some(&n) {
                self.acquires[column].push(n);
            }
        }
        self.positions.push(me.position);
        self.versions.push(me.version);
        if let Some(key) = Key::released(e) {
            let mut clock = self.clocks[me.version as usize].clone();
            clock[column] = me.position;
            let all = self.released.entry(key).or_default();
            if let Some((_, before)) = all.last() {
                join(&mut clock, before);
            }
            all.push((n, clock));
            self.releases[column].push(n);
        }
        match e.op {
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } => {
                me.held.push(lock);
                me.set = None;
            }
            Op::Release(lock) | Op::WaitBegin(lock) => {
                me.held.retain(|l| *l != lock);
                me.set = None;
            }
            Op::Read(_) | Op::Write(_) if !me.held.is_empty() => {
                let set = *me.set.get_or_insert_with(|| {
                    self.lock_sets.push(me.held.clone());
                    (self.lock_sets.len() - 1) as u32
                });
                self.held.insert(n, set);
            }
            _ => {}
        }
    }

    /// Whether event `a` happened before `b`, by the Java memory model.
    pub fn ordered(&self, a: usize, b: usize) -> bool {
        if self.events[a].thread == self.events[b].thread {
            return a <= b;
        }
        let column = self.columns[&self.events[a].thread];
        a < b && self.clocks[self.versions[b] as usize][column] >= self.positions[a]
    }

    /// The releases of an event's thread before it, the last one first.
    pub(crate) fn releases_before(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        let all = &self.releases[self.columns[&self.events[n].thread]];
        let before = all.partition_point(|r| *r < n);
        all[..before].iter().rev().copied()
    }

    /// All pairs of release and acquire, by acquire.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Pairs with something between the two events, or around the first.
    pub fn edges_across(&self, from: usize, to: usize) -> impl Iterator<Item = Edge> + '_ {
        let first = self.edges.partition_point(|e| e.acquire <= from);
        let last = self.edges.partition_point(|e| e.acquire < to);
        self.edges[first..last.max(first)].iter().copied()
    }

    /// Locks, exclusively held, at a plain access.
    pub fn locks(&self, n: usize) -> &[LockId] {
        match self.held.get(&n) {
            Some(set) => &self.lock_sets[*set as usize],
            None => &[],
        }
    }

    /// What, acquired just before event `at`, would have made it happen after
    /// event `of`.
    pub(crate) fn carriers(&self, of: usize, at: usize, names: &dyn Names) -> FxHashSet<Sync> {
        let column = self.columns[&self.events[of].thread];
        let carries = |releases: &Vec<(usize, Vec<u32>)>| {
            let upto = releases.partition_point(|(n, _)| *n < at);
            let last = releases[..upto].last();
            last.is_some_and(|(_, clock)| clock[column] >= self.positions[of])
        };
        let all = self.released.iter();
        all.filter(|(_, releases)| carries(releases))
            .filter_map(|(key, _)| key.sync(names))
            .collect()
    }

    /// The acquire of event `at`'s thread after which it knew of event `of`.
    pub(crate) fn learnt(&self, of: usize, at: usize, names: &dyn Names) -> Option<Sync> {
        let column = self.columns[&self.events[of].thread];
        let acquires = &self.acquires[self.columns[&self.events[at].thread]];
        let knows = |n: usize| self.clocks[self.versions[n] as usize][column] >= self.positions[of];
        let first = acquires.partition_point(|n| !knows(*n));
        let first = acquires.get(first).filter(|n| **n < at)?;
        Key::acquired(&self.events[*first]).0?.sync(names)
    }

    /// What a pair of release and acquire meets at, if it has a name.
    pub fn through(&self, edge: Edge, names: &dyn Names) -> Option<Sync> {
        Key::acquired(&self.events[edge.acquire]).0?.sync(names)
    }

    /// Plain accesses that race, each with the last access of the location by
    /// every other thread, of the same kind, that it is not ordered after.
    pub fn races(&self) -> Vec<(usize, usize)> {
        let mut last: FxHashMap<Loc, Vec<(ThreadId, bool, bool, usize)>> = FxHashMap::default();
        let mut races = Vec::new();
        for (n, e) in self.events.iter().enumerate() {
            let Some((loc, write, atomic)) = access(e.op) else {
                continue;
            };
            let all = last.entry(loc).or_default();
            for (thread, their_write, their_atomic, at) in all.iter() {
                let conflict = (write || *their_write) && !(atomic && *their_atomic);
                if *thread != e.thread && conflict && !self.ordered(*at, n) {
                    races.push((*at, n));
                }
            }
            all.retain(|(t, w, a, _)| (*t, *w, *a) != (e.thread, write, atomic));
            all.push((e.thread, write, atomic, n));
        }
        races
    }

    /// The event of a race that came first, given the other and what a
    /// detector tells of the first.
    pub fn find(
        &self,
        loc: Loc,
        thread: ThreadId,
        site: trace::SiteId,
        second: usize,
    ) -> Option<usize> {
        let is = |n: &usize| {
            let e = &self.events[*n];
            (e.thread, e.site) == (thread, site) && access(e.op).is_some_and(|(at, ..)| at == loc)
        };
        (0..second.min(self.events.len())).rev().find(is)
    }
}

/// Location, whether it writes, whether it is atomic.
pub(crate) fn access(op: Op) -> Option<(Loc, bool, bool)> {
    match op {
        Op::Read(loc) => Some((loc, false, false)),
        Op::Write(loc) => Some((loc, true, false)),
        Op::AtomicRead(loc, _) => Some((loc, false, true)),
        Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => Some((loc, true, true)),
        _ => None,
    }
}
