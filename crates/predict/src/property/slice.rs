//! The relevant events of a property, and their order: section 2.2 of the
//! jPredictor paper.
//!
//! Kept are the named events, what they need ([`crate::index`]), and on the
//! way to them all synchronisation. Of accesses that are not named themselves,
//! kept are reads whose value is needed, and every write of a location that
//! such a read reads: a write that nobody needs could still come between
//! (relevance). All else happens too, when its thread comes by, and nobody
//! minds when.
//!
//! Clocks order what is kept as in section 2.2.2: accesses of a location of
//! which a value is needed keep their order, but for reads among themselves.
//! That is more than needed, and sound. Locks are not in this order, but
//! beside it: see `lattice`. Waits, notifies and hand-overs of an object keep
//! theirs, signals come after what their target had done, static initialisers
//! before everything after them.
//!
//! Steps behind a read that may have seen anything ([`crate::unsure`]) are left
//! out, but others keep waiting for them.

use super::Labelled;
use crate::deps::Deps;
use crate::index::{Index, NEVER, NONE};
use crate::osr::Serial;
use crate::signals;
use crate::sliced::matter;
use detect::AnyAccess;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{Event, LockId, ObjId, Op};

#[derive(Debug)]
pub(super) struct Slice<'a> {
    pub index: Index<'a>,
    /// By thread: what it does that matters.
    pub threads: Vec<Vec<Step>>,
    /// The clocks of steps: how many steps of each thread come before.
    clocks: Vec<u32>,
    /// Locks that more than one thread takes.
    pub contended: FxHashSet<LockId>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub event: u32,
    /// Bits; 0 if it is not named.
    pub names: u64,
    clock: u32,
    pub lock: Option<Locking>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Locking {
    pub lock: LockId,
    pub takes: bool,
}

impl<'a> Slice<'a> {
    pub fn new(trace: &'a [Event], deps: &Deps, labels: &[Labelled], relevance: bool) -> Slice<'a> {
        let index = Index::sliced(trace, deps);
        let mut cut = vec![0; index.stride()];
        for label in labels {
            let thread = index.thread(label.event);
            index.require_before(&mut cut, label.event, thread);
            index.require(&mut cut, thread, index.place[label.event as usize]);
        }
        // A critical section has to be left, or others could not come after it.
        loop {
            let open = (0..index.width() as u32).find_map(|thread| {
                let open = index.open_at(thread, cut[thread as usize]).iter();
                let mut ends = open.map(|s| index.sections[*s as usize].released);
                Some((thread, ends.find(|end| *end != NEVER)?))
            });
            match open {
                Some((thread, end)) => index.require(&mut cut, thread, end),
                None => break,
            };
        }
        let names: FxHashMap<u32, u64> = labels.iter().map(|l| (l.event, l.names)).collect();
        let matter = matter(&index, deps, &cut, 0, |event| names.contains_key(&event));
        let mut needed: FxHashSet<u32> = FxHashSet::default();
        for (at, value) in matter.value.iter().enumerate() {
            let op = index.events[at].op;
            if *value && matches!(op, Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..)) {
                needed.insert(index.var[at]);
            }
        }
        let width = index.width();
        let mut orders = Orders::new(width);
        let mut slice = Slice {
            threads: vec![Vec::new(); width],
            clocks: vec![0; width],
            contended: FxHashSet::default(),
            index,
        };
        let mut takers: FxHashMap<LockId, u32> = FxHashMap::default();
        for at in 0..matter.value.len() as u32 {
            let e = &slice.index.events[at as usize];
            let thread = slice.index.thread(at);
            if slice.index.place[at as usize] > cut[thread as usize] {
                continue;
            }
            let named = names.get(&at).copied().unwrap_or(0);
            let var = slice.index.var[at as usize];
            let ordered = match AnyAccess::from_op(e.op) {
                None => e.op.is_sync(),
                Some(access) if access.write => {
                    needed.contains(&var) && (relevance || matter.value[at as usize])
                }
                Some(_) => matter.value[at as usize],
            };
            if named == 0 && !ordered {
                continue;
            }
            orders.step(&slice.index, thread, e, var, ordered);
            let lock = locking(e.op);
            if let Some(Locking { lock, takes: true }) = lock
                && *takers.entry(lock).or_insert(thread) != thread
            {
                slice.contended.insert(lock);
            }
            if slice.index.place[at as usize] > slice.index.limit[thread as usize] {
                continue; // never made, nor what comes after it
            }
            let clock = &orders.done[thread as usize];
            let number = (slice.clocks.len() / width) as u32;
            slice.clocks.extend_from_slice(clock);
            slice.threads[thread as usize].push(Step {
                event: at,
                names: named,
                clock: number,
                lock,
            });
        }
        slice
    }

    /// How many steps of each thread come before a step; of its own thread,
    /// with itself.
    pub fn clock(&self, step: &Step) -> &[u32] {
        let width = self.threads.len();
        let from = step.clock as usize * width;
        &self.clocks[from..from + width]
    }
}

fn locking(op: Op) -> Option<Locking> {
    let (lock, takes) = match op {
        Op::Acquire(lock) | Op::AcquireShared(lock) | Op::WaitEnd { lock, .. } => (lock, true),
        Op::Release(lock) | Op::ReleaseShared(lock) | Op::WaitBegin(lock) => (lock, false),
        _ => return None,
    };
    Some(Locking { lock, takes })
}

type Clock = Vec<u32>;

/// The state of the pass that orders.
struct Orders {
    /// By thread: its steps so far, with what came before them.
    done: Vec<Clock>,
    /// By variable: after all its writes; after all its accesses.
    writes: FxHashMap<u32, Clock>,
    accesses: FxHashMap<u32, Clock>,
    /// Monitors, and objects handed over.
    objects: FxHashMap<(Serial, ObjId), Clock>,
    forks: FxHashMap<u32, Clock>,
    signals: FxHashMap<u32, Clock>,
    inits: Clock,
}

impl Orders {
    fn new(width: usize) -> Orders {
        Orders {
            done: vec![vec![0; width]; width],
            writes: FxHashMap::default(),
            accesses: FxHashMap::default(),
            objects: FxHashMap::default(),
            forks: FxHashMap::default(),
            signals: FxHashMap::default(),
            inits: vec![0; width],
        }
    }

    /// The next step of a thread; whether it has an order with others.
    fn step(&mut self, index: &Index<'_>, me: u32, e: &Event, var: u32, ordered: bool) {
        let t = me as usize;
        let mut now = std::mem::take(&mut self.done[t]);
        if let Some(fork) = self.forks.remove(&me) {
            join(&mut now, &fork);
        }
        join(&mut now, &self.inits);
        let object = Serial::from_op(e.op);
        if let Some((kind, object)) = object {
            for before in kind.after() {
                if let Some(before) = self.objects.get(&(*before, object)) {
                    join(&mut now, before);
                }
            }
        }
        if signals::awaits(e.op)
            && let Some(sent) = self.signals.get(&me)
        {
            join(&mut now, sent);
        }
        let other = match e.op {
            Op::Join(other) | Op::Unpark(other) | Op::Interrupt(other) => index.dense(other),
            _ => None,
        };
        if let Some(other) = other.filter(|o| *o != me) {
            join(&mut now, &self.done[other as usize]);
        }
        let access = AnyAccess::from_op(e.op).filter(|_| ordered && var != NONE);
        if let Some(access) = access {
            let before = match access.write {
                true => self.accesses.get(&var),
                false => self.writes.get(&var),
            };
            if let Some(before) = before {
                join(&mut now, before);
            }
        }
        now[t] += 1;
        if let Some(access) = access {
            join(entry(&mut self.accesses, var, now.len()), &now);
            if access.write {
                join(entry(&mut self.writes, var, now.len()), &now);
            }
        }
        if let Some(object) = object {
            join(entry(&mut self.objects, object, now.len()), &now);
        }
        match e.op {
            Op::Fork(child) => {
                if let Some(child) = index.dense(child) {
                    join(entry(&mut self.forks, child, now.len()), &now);
                }
            }
            Op::InitEnd(_) => join(&mut self.inits, &now),
            op => {
                if let Some(target) = signals::target(op).and_then(|t| index.dense(t)) {
                    join(entry(&mut self.signals, target, now.len()), &now);
                }
            }
        }
        self.done[t] = now;
    }
}

fn entry<K: std::hash::Hash + Eq>(
    map: &mut FxHashMap<K, Clock>,
    key: K,
    width: usize,
) -> &mut Clock {
    map.entry(key).or_insert_with(|| vec![0; width])
}

fn join(into: &mut [u32], from: &[u32]) {
    for (mine, theirs) in into.iter_mut().zip(from) {
        *mine = (*mine).max(*theirs);
    }
}
