//! Weak causal precedence (Kini, Mathur, Viswanathan: "Dynamic race prediction
//! in linear time", PLDI 2017).
//!
//! Two critical sections of a lock need their order only if something in them
//! does. So a release is ordered before a later access of the same lock's
//! section that conflicts with something in its section (a); of two sections
//! with ordered events, the releases are ordered (b); and what happens before
//! or after ordered events is ordered with them (c).
//!
//! # What it claims
//! Weakly sound: if it reports anything, the run can be reordered to a race or
//! to a deadlock; that is said of the first report only, and gives no witness.
//! So all of them are potential. What happens-before leaves unordered is
//! reported too.
//!
//! # Departures
//! The paper has locks, forks and joins. Fork, join, volatiles, notify,
//! signals, hand-overs and sections of shared locks are hard order: program
//! order, as it were, between threads. Static initialisers order lazily, as in
//! [`detect::init`].
//!
//! # Cost
//! Linear in events times threads. The paper's queues, one for each lock and
//! thread, are one list for each lock, with a cursor for each thread: sections
//! of a lock are totally ordered by happens-before, so the last ordered one
//! stands for all before it, and so does, for rule (a), the last section that
//! accessed a variable. Memory: a clock for each critical section.

use crate::deps::Deps;
use crate::found::Predictions;
use crate::history::{History, Past, report};
use crate::signals;
use crate::{Engine, ShouldStop, map_growth};
use detect::{AnyAccess, InitIntervals};
use order::{ClockView, Epoch, Tid, VectorClock};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{Event, Loc, LockId, Mode, ObjId, Op, ThreadId};

#[derive(Debug, Default)]
pub struct Wcp {
    threads: Vec<Thread>,
    tids: FxHashMap<ThreadId, Tid>,
    locks: Vec<Lock>,
    lock_numbers: FxHashMap<LockId, u32>,
    vars: Vec<History>,
    var_numbers: FxHashMap<Loc, u32>,
    /// By lock and variable: the sections that accessed it last.
    touched: FxHashMap<(u32, u32), Touched>,
    atomics: FxHashMap<u32, Hard>,
    objects: FxHashMap<ObjId, Hard>,
    signals: FxHashMap<ThreadId, Hard>,
    init: InitIntervals,
    found: Predictions,
    events: u64,
}

#[derive(Debug)]
struct Thread {
    tid: Tid,
    /// The thread's own time: which stretch between two publications it is in.
    time: u64,
    /// What happened before, its own entry included.
    happened: VectorClock,
    /// What is ordered before by WCP; its own entry means nothing.
    ordered: VectorClock,
    open: Vec<Open>,
}

/// A critical section that a thread is in.
#[derive(Debug)]
struct Open {
    lock: u32,
    acquired: u64,
    /// Variables accessed in it, and whether written; twice the number, plus
    /// one for a write.
    accesses: Vec<u64>,
    tidy_at: usize,
}

#[derive(Debug, Default)]
struct Lock {
    happened: VectorClock,
    ordered: VectorClock,
    /// Closed sections in the order of the run.
    sections: Vec<Section>,
    /// By thread: how many of them it is ordered after.
    cursors: Vec<u32>,
    /// What holders knew when they left: for those who must wait for them in
    /// any order.
    exclusive: Hard,
    shared: Hard,
    /// Notifies, for those who wait.
    told: Hard,
}

#[derive(Debug)]
struct Section {
    tid: Tid,
    /// The owner's time when it took the lock.
    acquired: u64,
    /// What happened before its release, the release included.
    happened: VectorClock,
}

/// The last section that read, or wrote, and the last of another thread's.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    reads: [Option<(u32, Tid)>; 2],
    writes: [Option<(u32, Tid)>; 2],
}

/// A publication that orders as program order does.
#[derive(Debug, Default)]
struct Hard {
    happened: VectorClock,
    ordered: VectorClock,
}

impl Thread {
    fn epoch(&self) -> Epoch {
        Epoch::new(self.tid, self.time)
    }

    fn learn(&mut self, from: &Hard) {
        self.happened.join(&from.happened);
        self.ordered.join(&from.ordered);
    }

    fn publish(&mut self, to: &mut Hard) {
        to.happened.join(&self.happened);
        to.ordered.join(&self.ordered);
        if to.ordered.get(self.tid) < self.time {
            to.ordered.set(self.tid, self.time);
        }
        self.advance();
    }

    fn advance(&mut self) {
        self.time += 1;
        self.happened.set(self.tid, self.time);
    }

    /// Everything it knows, itself included.
    fn all_ordered(&self) -> VectorClock {
        let mut clock = self.ordered.clone();
        clock.set(self.tid, self.time);
        clock
    }
}

impl Engine for Wcp {
    fn events(&mut self, events: &[Event]) {
        for e in events {
            match self.thread(e.thread) {
                Some(t) => self.event(t, e),
                None => {
                    let why = "WCP has room for 65,536 threads; the others were left out";
                    self.found.incomplete = Some(why.to_owned());
                }
            }
            self.events += 1;
        }
    }

    fn growth(&self, events: usize) -> usize {
        let moving = |len: usize, capacity: usize, size: usize| match len + events > capacity {
            true => 2 * (capacity + events) * size,
            false => 0,
        };
        map_growth(&self.var_numbers, events)
            + map_growth(&self.touched, events)
            + moving(self.vars.len(), self.vars.capacity(), size_of::<History>())
    }

    fn finish(self: Box<Self>, _: &[Event], _: &Deps, _: &ShouldStop<'_>) -> Predictions {
        self.found
    }
}

impl Wcp {
    #[inline]
    fn thread(&mut self, thread: ThreadId) -> Option<usize> {
        if let Some(tid) = self.tids.get(&thread) {
            return Some(usize::from(*tid));
        }
        let tid = Tid::try_from(self.threads.len()).ok()?;
        self.tids.insert(thread, tid);
        let mut happened = VectorClock::new();
        happened.set(tid, 1);
        self.threads.push(Thread {
            tid,
            time: 1,
            happened,
            ordered: VectorClock::new(),
            open: Vec::new(),
        });
        Some(usize::from(tid))
    }

    fn var(&mut self, loc: Loc) -> u32 {
        let next = self.vars.len() as u32;
        let var = *self.var_numbers.entry(loc).or_insert(next);
        if var == next {
            self.vars.push(History::default());
        }
        var
    }

    fn lock(&mut self, lock: LockId) -> usize {
        let next = self.locks.len() as u32;
        let number = *self.lock_numbers.entry(lock).or_insert(next);
        if number == next {
            self.locks.push(Lock::default());
        }
        number as usize
    }

    fn event(&mut self, t: usize, e: &Event) {
        if let Some(access) = AnyAccess::from_op(e.op) {
            let var = self.var(access.loc);
            let orders = match e.op {
                Op::AtomicRead(_, mode) | Op::AtomicWrite(_, mode) | Op::AtomicUpdate(_, mode) => {
                    mode != Mode::Opaque
                }
                _ => false,
            };
            let loads = matches!(e.op, Op::AtomicRead(..) | Op::AtomicUpdate(..));
            if orders
                && loads
                && let Some(stored) = self.atomics.get(&var)
            {
                self.threads[t].learn(stored);
            }
            self.access(t, e, access, var);
            if orders && access.write {
                self.threads[t].publish(self.atomics.entry(var).or_default());
            }
            return;
        }
        if signals::awaits(e.op)
            && let Some(sent) = self.signals.get(&e.thread)
        {
            self.threads[t].learn(sent);
        }
        match e.op {
            Op::Acquire(lock) => self.acquire(t, lock),
            Op::Release(lock) => self.release(t, lock),
            Op::WaitBegin(lock) => self.release(t, lock),
            Op::WaitEnd { lock, .. } => {
                self.acquire(t, lock);
                let lock = self.lock(lock);
                self.threads[t].learn(&self.locks[lock].told);
            }
            Op::Notify(lock) | Op::NotifyAll(lock) => {
                let lock = self.lock(lock);
                self.threads[t].publish(&mut self.locks[lock].told);
            }
            Op::AcquireShared(lock) => {
                let lock = self.lock(lock);
                self.threads[t].learn(&self.locks[lock].exclusive);
            }
            Op::ReleaseShared(lock) => {
                let lock = self.lock(lock);
                self.threads[t].publish(&mut self.locks[lock].shared);
            }
            Op::SyncRelease(object) => {
                self.threads[t].publish(self.objects.entry(object).or_default());
            }
            Op::SyncAcquire(object) => {
                if let Some(released) = self.objects.get(&object) {
                    self.threads[t].learn(released);
                }
            }
            Op::Interrupt(other) | Op::Unpark(other) => {
                self.threads[t].publish(self.signals.entry(other).or_default());
            }
            Op::Fork(child) => {
                let mut start = Hard::default();
                self.threads[t].publish(&mut start);
                if let Some(child) = self.thread(child) {
                    self.threads[child].learn(&start);
                }
            }
            Op::Join(other) => {
                if let Some(other) = self.thread(other)
                    && other != t
                {
                    let mut end = Hard::default();
                    self.threads[other].publish(&mut end);
                    self.threads[t].learn(&end);
                }
            }
            Op::InitBegin(class) => {
                self.threads[t].advance();
                self.init.begin(class.0, self.threads[t].epoch());
            }
            Op::InitEnd(class) => {
                let me = &mut self.threads[t];
                self.init.end(class.0, me.epoch(), me.all_ordered());
                me.advance();
            }
            _ => {}
        }
    }

    fn acquire(&mut self, t: usize, lock: LockId) {
        let number = self.lock(lock);
        let (me, lock) = (&mut self.threads[t], &self.locks[number]);
        if me.open.iter().any(|open| open.lock == number as u32) {
            return;
        }
        me.happened.join(&lock.happened);
        me.ordered.join(&lock.ordered);
        me.learn(&lock.shared);
        me.open.push(Open {
            lock: number as u32,
            acquired: me.time,
            accesses: Vec::new(),
            tidy_at: 1024,
        });
    }

    fn release(&mut self, t: usize, lock: LockId) {
        let number = self.lock(lock);
        let (me, lock) = (&mut self.threads[t], &mut self.locks[number]);
        let Some(open) = me.open.iter().rposition(|o| o.lock == number as u32) else {
            return;
        };
        let open = me.open.remove(open);
        // Rule (b): sections that something in this one is ordered after.
        if lock.cursors.len() <= t {
            lock.cursors.resize(t + 1, 0);
        }
        let cursor = &mut lock.cursors[t];
        loop {
            let mut last = None;
            while let Some(section) = lock.sections.get(*cursor as usize) {
                if section.tid != me.tid {
                    if section.acquired > me.ordered.get(section.tid) {
                        break;
                    }
                    last = Some(section);
                }
                *cursor += 1;
            }
            match last {
                Some(section) => me.ordered.join(&section.happened),
                None => break,
            }
        }
        let section = lock.sections.len() as u32;
        for access in &open.accesses {
            let key = (open.lock, (access >> 1) as u32);
            let touched = self.touched.entry(key).or_default();
            let list = if access & 1 == 1 {
                &mut touched.writes
            } else {
                &mut touched.reads
            };
            if list[0].is_some_and(|(_, tid)| tid != me.tid) {
                list[1] = list[0];
            }
            list[0] = Some((section, me.tid));
        }
        lock.sections.push(Section {
            tid: me.tid,
            acquired: open.acquired,
            happened: me.happened.clone(),
        });
        lock.happened.copy_from(&me.happened);
        lock.ordered.copy_from(&me.ordered);
        me.publish(&mut lock.exclusive);
    }

    fn access(&mut self, t: usize, e: &Event, access: AnyAccess, var: u32) {
        let me = &mut self.threads[t];
        for open in &mut me.open {
            // Rule (a): sections that did something this conflicts with.
            if let Some(touched) = self.touched.get(&(open.lock, var)) {
                let sections = &self.locks[open.lock as usize].sections;
                let reads: &[_] = if access.write { &touched.reads } else { &[] };
                for list in [&touched.writes[..], reads] {
                    let other = list.iter().flatten().find(|(_, tid)| *tid != me.tid);
                    if let Some((section, _)) = other {
                        me.ordered.join(&sections[*section as usize].happened);
                    }
                }
            }
            let mark = u64::from(var) << 1 | u64::from(access.write);
            if open.accesses.last() != Some(&mark) {
                open.accesses.push(mark);
                if open.accesses.len() >= open.tidy_at {
                    open.accesses.sort_unstable();
                    open.accesses.dedup();
                    open.tidy_at = 1024.max(2 * open.accesses.len());
                }
            }
        }
        let epoch = me.epoch();
        let history = &mut self.vars[var as usize];
        if history.repeats(access, epoch) {
            return;
        }
        let mut racing: SmallVec<[(Past, bool); 2]> = SmallVec::new();
        let covers = |past: Epoch| past.tid() == me.tid || me.ordered.covers(past);
        history.unordered(access, covers, |past, writes| racing.push((past, writes)));
        for (past, writes) in racing {
            if me.ordered.covers(past.epoch) {
                continue;
            }
            match self.init.excuse(past.epoch) {
                Some(ended) => me.ordered.join(ended),
                None => report(&mut self.found, past, writes, e, access, self.events),
            }
        }
        history.add(e, access, epoch, self.events, &me.ordered);
    }
}
