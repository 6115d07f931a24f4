//! The checker of witnesses. It shares nothing with the engines but the trace:
//! it replays the reordering event by event and looks at every rule itself.
//!
//! # The rules
//! 1. Each thread's events are its first ones, in its order; the last two are
//!    the racing accesses: of two threads, of one location, at least one a
//!    write, at least one plain.
//! 2. A lock has one exclusive holder, or shared ones.
//! 3. A thread begins after its fork. A join comes after all that the other
//!    thread had done.
//! 4. Every read, of any strength, sees the write it saw in the run; but for
//!    the racing pair, whose values nobody uses. A racing update is bound as
//!    well if the other access only reads: seeing another value it might not
//!    write.
//! 5. Volatile accesses of a location that conflict keep their order, and a
//!    volatile read comes after exactly the volatile writes that it came after
//!    in the run. (The racing pair is free of that, too.)
//! 6. Waits and notifies of a monitor keep their order, and at the end of a
//!    wait there were exactly those before it that there were in the run.
//!    The same for `SyncRelease` at a `SyncAcquire`, and for unparks and
//!    interrupts of a thread where it may have needed one; and no signal comes
//!    earlier, as its target sees it, than it did (an access sees none).
//! 7. No read is in it of which nobody knows what it saw (`crate::unsure`), but
//!    for the racing pair.
//! 8. Every static initialiser that had ended before an event in the run has
//!    ended before it.
//!
//! With [dependences](crate::deps) rule 4 and 5 hold for the reads whose value
//! is *needed* (`needed`): by the two accesses, by any synchronisation or
//! update in the witness, and by whatever those need in turn. All others may
//! see anything, and what hangs on them may be missing, or be something else.
//!
//! # What it claims
//! A witness it accepts can be run: by the rules every thread is enabled at
//! each step, sees the values it saw, and so does what it did; then both
//! accesses are next. (With dependences: sees the values that matter, and so
//! does all that matters.) Assumed is that no lock was held when the trace began,
//! and that threads do nothing random.
//!
//! # Cost
//! Linear in the trace once, then in the witness; of one that keeps the order
//! of the run, in the part from its first omission on, and a little before. "A little" is a sixty-fourth
//! of the trace, or, where witnesses come in about the order of their beginnings, [`NEAR`] events
//! ([`Checker::approach`]): checks of many races then do not cost more the longer the run is.

mod needed;
mod replay;

use crate::deps::Deps;
use crate::signals;
use crate::witness::Witness;
use replay::State;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fmt;
use std::hash::Hash;
use trace::{Event, Mode, Op, ThreadId};

const NONE: u32 = u32::MAX;

/// What is wrong with a witness, and at which of its places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    pub at: usize,
    pub what: Rule,
}

/// The rule that is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// There is no such event, or no pair at the end.
    Nonsense,
    ProgramOrder,
    Exclusion,
    Fork,
    Join,
    ReadsFrom,
    VolatileOrder,
    Monitor,
    Signal,
    Handover,
    Initialisation,
    /// The last two do not race.
    NoRace,
    /// What was to come in this order does not.
    Sequence,
    /// Nobody knows what it saw.
    Unsure,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Rule::Nonsense => "names no event",
            Rule::ProgramOrder => "is not the next event of its thread",
            Rule::Exclusion => "takes a lock that is held",
            Rule::Fork => "comes before its thread's start",
            Rule::Join => "comes before the end of the thread it joins",
            Rule::ReadsFrom => "sees another write",
            Rule::VolatileOrder => "reorders volatile accesses",
            Rule::Monitor => "reorders waits and notifies",
            Rule::Signal => "goes on without its signal, or too late for one",
            Rule::Handover => "comes without the hand-over before it",
            Rule::Initialisation => "comes before the end of a static initialiser",
            Rule::NoRace => "does not race with the event before it",
            Rule::Sequence => "comes without one that was to come before",
            Rule::Unsure => "may have seen anything in the run",
        };
        f.write_str(what)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} of the witness {}", self.at, self.what)
    }
}

impl std::error::Error for Fault {}

/// A trace, ready to check witnesses against.
#[derive(Debug)]
pub struct Checker<'a> {
    trace: &'a [Event],
    facts: Vec<Fact>,
    /// By thread: the event that forked it.
    forks: Vec<u32>,
    /// How many signals a thread had got, by its event that awaits one.
    signalled: FxHashMap<u32, u32>,
    inits: Vec<u32>,
    locations: usize,
    locks: usize,
    objects: usize,
    slices: Option<needed::Slices<'a>>,
    threads: FxHashMap<ThreadId, u32>,
    /// By thread: its events.
    by_thread: Vec<Vec<u32>>,
    /// What the trace itself has left behind, before some of its events.
    checkpoints: Vec<(u32, State)>,
    /// The same near the latest witness, oldest first.
    near: VecDeque<(u32, State)>,
    /// Reads that may have seen anything.
    unsure: Vec<u32>,
}

/// How many checkpoints are kept, and in how many bytes.
const CHECKPOINTS: usize = 64;
const MEMORY: usize = 128 << 20;
/// Events between two checkpoints near the latest witness, and how many there are.
const NEAR: u32 = 4096;
const NEAR_COUNT: usize = 8;

/// One event of the trace.
#[derive(Clone, Copy, Debug)]
struct Fact {
    thread: u32,
    /// How many events its thread had before it.
    before: u32,
    /// The location, lock, object or other thread.
    operand: u32,
    /// The write it saw; or how many events of its operand came before it.
    need: u32,
    /// How many volatile writes of its location came before it.
    stores: u32,
}

/// Names to numbers.
struct Numbers<K>(FxHashMap<K, u32>);

impl<K: Hash + Eq> Numbers<K> {
    fn number(&mut self, key: K) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(key).or_insert(next)
    }
}

/// How many events at its beginning an order has in common with the run.
fn common(order: &[u32]) -> u32 {
    let same = (0u32..).zip(order).take_while(|(at, event)| at == *event);
    // The accesses at the end are what it is about.
    same.count().min(order.len().saturating_sub(2)) as u32
}

fn reads(op: Op) -> bool {
    matches!(op, Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..))
}

fn writes(op: Op) -> bool {
    matches!(
        op,
        Op::Write(_) | Op::AtomicWrite(..) | Op::AtomicUpdate(..)
    )
}

fn volatile(op: Op) -> bool {
    match op {
        Op::AtomicRead(_, mode) | Op::AtomicWrite(_, mode) | Op::AtomicUpdate(_, mode) => {
            mode != Mode::Opaque
        }
        _ => false,
    }
}

impl<'a> Checker<'a> {
    pub fn new(trace: &'a [Event]) -> Checker<'a> {
        let mut threads = Numbers(FxHashMap::default());
        let mut locations = Numbers(FxHashMap::default());
        let mut locks = Numbers(FxHashMap::default());
        let mut objects = Numbers(FxHashMap::default());
        let mut checker = Checker {
            trace,
            facts: Vec::with_capacity(trace.len()),
            forks: Vec::new(),
            signalled: FxHashMap::default(),
            inits: Vec::new(),
            locations: 0,
            locks: 0,
            objects: 0,
            slices: None,
            threads: FxHashMap::default(),
            by_thread: Vec::new(),
            checkpoints: Vec::new(),
            near: VecDeque::new(),
            unsure: crate::unsure::reads(trace),
        };
        let mut done: Vec<u32> = Vec::new();
        let mut signals: Vec<u32> = Vec::new();
        let mut last_write: Vec<u32> = Vec::new();
        let mut stores: Vec<u32> = Vec::new();
        let mut monitor: Vec<u32> = Vec::new();
        let mut released: Vec<u32> = Vec::new();
        let count = |list: &mut Vec<u32>, at: u32, initial| {
            if list.len() <= at as usize {
                list.resize(at as usize + 1, initial);
            }
            list[at as usize]
        };
        for (at, e) in (0..NONE).zip(trace) {
            let thread = threads.number(e.thread);
            if checker.by_thread.len() <= thread as usize {
                checker.by_thread.resize(thread as usize + 1, Vec::new());
            }
            checker.by_thread[thread as usize].push(at);
            let before = count(&mut done, thread, 0);
            done[thread as usize] += 1;
            count(&mut checker.forks, thread, NONE);
            if signals::awaits(e.op) {
                checker.signalled.insert(at, count(&mut signals, thread, 0));
            }
            let mut stored = 0;
            let (operand, need) = match e.op {
                Op::Read(loc)
                | Op::Write(loc)
                | Op::AtomicRead(loc, _)
                | Op::AtomicWrite(loc, _)
                | Op::AtomicUpdate(loc, _) => {
                    let loc = locations.number(loc);
                    let seen = count(&mut last_write, loc, NONE);
                    if volatile(e.op) {
                        stored = count(&mut stores, loc, 0);
                        stores[loc as usize] += u32::from(writes(e.op));
                    }
                    if writes(e.op) {
                        last_write[loc as usize] = at;
                    }
                    (loc, seen)
                }
                Op::Acquire(lock)
                | Op::Release(lock)
                | Op::AcquireShared(lock)
                | Op::ReleaseShared(lock) => (locks.number(lock), 0),
                Op::WaitBegin(lock)
                | Op::WaitEnd { lock, .. }
                | Op::Notify(lock)
                | Op::NotifyAll(lock) => {
                    let lock = locks.number(lock);
                    let before = count(&mut monitor, lock, 0);
                    monitor[lock as usize] += 1;
                    (lock, before)
                }
                Op::SyncRelease(object) => {
                    let object = objects.number(object);
                    count(&mut released, object, 0);
                    released[object as usize] += 1;
                    (object, 0)
                }
                Op::SyncAcquire(object) => {
                    let object = objects.number(object);
                    (object, count(&mut released, object, 0))
                }
                Op::Fork(child) => {
                    let child = threads.number(child);
                    let begun = count(&mut done, child, 0) > 0;
                    if count(&mut checker.forks, child, NONE) == NONE && !begun {
                        checker.forks[child as usize] = at;
                    }
                    (child, 0)
                }
                Op::Join(other) => {
                    let other = threads.number(other);
                    (other, count(&mut done, other, 0))
                }
                Op::Interrupt(other) | Op::Unpark(other) => {
                    let other = threads.number(other);
                    count(&mut signals, other, 0);
                    signals[other as usize] += 1;
                    (other, 0)
                }
                Op::InitEnd(_) => {
                    checker.inits.push(at);
                    (0, 0)
                }
                _ => (0, 0),
            };
            checker.facts.push(Fact {
                thread,
                before,
                operand,
                need,
                stores: stored,
            });
        }
        count(&mut checker.forks, threads.0.len() as u32, NONE);
        checker.locations = locations.0.len();
        checker.locks = locks.0.len();
        checker.objects = objects.0.len();
        checker.by_thread.resize(checker.forks.len(), Vec::new());
        checker.threads = threads.0;
        checker
    }

    /// One that knows what depends on what.
    pub fn with(trace: &'a [Event], deps: &'a Deps) -> Checker<'a> {
        match deps.is_unknown() {
            true => Checker::new(trace),
            false => Checker::for_sequences(trace, deps),
        }
    }

    /// One that is ready for [sequences](Self::check_sequence).
    pub fn for_sequences(trace: &'a [Event], deps: &'a Deps) -> Checker<'a> {
        let mut checker = Checker::new(trace);
        checker.slices = Some(needed::Slices::new(&checker, deps));
        checker
    }

    /// Whether the trace itself can have happened, all but the rules about the
    /// pair at the end. If not: where it first breaks one.
    pub fn possible(&mut self) -> Result<(), Fault> {
        let mut state = State::new(self);
        let rooms = (MEMORY / state.size().max(1)).min(CHECKPOINTS);
        let every = self.facts.len() / (rooms + 1) + 1;
        self.checkpoints.clear();
        for at in 0..self.facts.len() {
            if at > 0 && at.is_multiple_of(every) {
                self.checkpoints.push((at as u32, state.clone()));
            }
            if let Err(what) = state.event(self, at as u32, false, false) {
                return Err(Fault { at, what });
            }
        }
        Ok(())
    }

    /// From now on about the first `count` events only.
    pub fn truncate(&mut self, count: usize) {
        self.facts.truncate(count);
        self.trace = &self.trace[..self.facts.len()];
        self.inits.retain(|end| (*end as usize) < count);
        self.checkpoints.retain(|(at, _)| (*at as usize) < count);
        self.near.clear();
        for events in &mut self.by_thread {
            events.truncate(events.partition_point(|e| (*e as usize) < count));
        }
        if let Some(slices) = self.slices.take() {
            self.slices = Some(needed::Slices::new(self, slices.deps()));
        }
    }

    /// Steps of each check that do not come from the witness.
    pub(crate) fn overhead(&self) -> usize {
        self.slices.as_ref().map_or(0, |_| self.facts.len() / 16)
    }

    /// The events it is about.
    pub fn trace(&self) -> &'a [Event] {
        &self.trace[..self.facts.len()]
    }

    /// Whether the witness shows what it says.
    pub fn check(&self, witness: &Witness) -> Result<(), Fault> {
        self.check_counting(witness).0
    }

    /// The same, and how many steps that took.
    pub(crate) fn check_counting(&self, witness: &Witness) -> (Result<(), Fault>, u64) {
        match witness {
            Witness::Kept { cut, pair } => self.check_kept(cut, *pair),
            Witness::Order { whole, rest } => {
                let fixed = self.known(*whole);
                let start = self.start(fixed);
                let tail: Vec<u32> = (start..*whole).chain(rest.iter().copied()).collect();
                self.check_tail(fixed, start, &tail)
            }
        }
    }

    /// The same for an order given by event numbers.
    pub fn check_order(&self, order: &[u32]) -> Result<(), Fault> {
        let fixed = self.known(common(order));
        let start = self.start(fixed);
        self.check_tail(fixed, start, &order[start as usize..]).0
    }

    /// How much of the run's own beginning needs no look: none that has an unsure read.
    fn known(&self, fixed: u32) -> u32 {
        self.unsure.first().map_or(fixed, |read| fixed.min(*read))
    }

    /// The reads that may have seen anything.
    pub(crate) fn unsure(&self) -> &[u32] {
        &self.unsure
    }

    /// Whether the event is a read that may have seen anything.
    fn is_unsure(&self, event: u32) -> bool {
        self.unsure.binary_search(&event).is_ok()
    }

    /// Where to begin with an order that is the run's own for a while.
    fn start(&self, fixed: u32) -> u32 {
        let known = self.checkpoints.partition_point(|(at, _)| *at <= fixed);
        let far = known.checked_sub(1).map_or(0, |n| self.checkpoints[n].0);
        let near = self.near.iter().map(|(at, _)| *at);
        near.filter(|at| *at <= fixed).fold(far, u32::max)
    }

    fn state(&self, start: u32) -> State {
        let mut known = self.near.iter().chain(&self.checkpoints);
        let known = known.find(|(at, _)| *at == start);
        known.map_or_else(|| State::new(self), |(_, state)| state.clone())
    }

    /// Puts checkpoints before the place where the witness leaves the order of the run, of a trace
    /// that [can have happened](Self::possible). Witnesses that follow may begin near it. How many
    /// steps that took.
    pub(crate) fn approach(&mut self, witness: &Witness) -> u64 {
        let fixed = match witness {
            Witness::Kept { cut, .. } => self.fixed(cut).1,
            Witness::Order { whole, .. } => self.known(*whole).min(self.facts.len() as u32),
        };
        let (start, end) = (self.start(fixed), fixed / NEAR * NEAR);
        if end <= start {
            return 0;
        }
        let mut state = self.state(start);
        if state.size() > MEMORY / NEAR_COUNT {
            return 0;
        }
        let kept = end.saturating_sub(NEAR * (NEAR_COUNT as u32 - 1));
        for at in start..end {
            if at.is_multiple_of(NEAR) && at > start && at >= kept {
                self.keep_near(at, state.clone());
            }
            if state.event(self, at, false, false).is_err() {
                return u64::from(at - start);
            }
        }
        self.keep_near(end, state);
        u64::from(end - start)
    }

    fn keep_near(&mut self, at: u32, state: State) {
        // One behind the latest is of another neighbourhood.
        self.near.retain(|(known, _)| *known < at);
        if self.near.len() == NEAR_COUNT {
            self.near.pop_front();
        }
        self.near.push_back((at, state));
    }

    /// How many events of each thread are kept, and before which event nothing is left out.
    fn fixed(&self, cut: &[(ThreadId, u32)]) -> (Option<Vec<u32>>, u32) {
        let mut kept = vec![0; self.by_thread.len()];
        for (thread, count) in cut {
            let Some(thread) = self.threads.get(thread) else {
                return (None, 0);
            };
            kept[*thread as usize] = *count;
        }
        let lists = self.by_thread.iter().zip(&kept);
        let missing = lists.filter_map(|(events, n)| events.get(*n as usize));
        let fixed = self.known(missing.min().copied().unwrap_or(0));
        (Some(kept), fixed)
    }

    /// A witness in the order of the run: as long as nothing is left out it is
    /// the run, so it is replayed from the last checkpoint before that.
    fn check_kept(&self, cut: &[(ThreadId, u32)], pair: [u32; 2]) -> (Result<(), Fault>, u64) {
        let nonsense = Err(Fault {
            at: 0,
            what: Rule::Nonsense,
        });
        let (Some(kept), fixed) = self.fixed(cut) else {
            return (nonsense, 1);
        };
        let left: usize = cut.iter().map(|(_, count)| *count as usize).sum();
        let start = self.start(fixed);
        let left = left.saturating_sub(start as usize);
        let mut tail = Vec::with_capacity(left + 2);
        for (event, fact) in (start..).zip(&self.facts[start as usize..]) {
            if tail.len() == left {
                break;
            }
            if fact.before < kept[fact.thread as usize] {
                tail.push(event);
            }
        }
        if tail.len() < left {
            return (nonsense, left as u64);
        }
        tail.extend(pair);
        self.check_tail(fixed, start, &tail)
    }

    /// The rest of an order that is the run's own up to `fixed`, from `start`
    /// on, where there is a checkpoint.
    fn check_tail(&self, fixed: u32, start: u32, tail: &[u32]) -> (Result<(), Fault>, u64) {
        let fault = |at: usize, what| {
            Err(Fault {
                at: start as usize + at,
                what,
            })
        };
        let sliced = self.slices.is_some();
        let steps = (tail.len() * if sliced { 4 } else { 1 } + self.overhead()) as u64;
        let Some(end) = tail.len().checked_sub(2) else {
            return (fault(0, Rule::Nonsense), steps);
        };
        if let Some(at) = { tail.iter() }.position(|e| *e as usize >= self.facts.len()) {
            return (fault(at, Rule::Nonsense), steps);
        }
        let mut state = self.state(start);
        let needed = self.needed(tail, fixed);
        for (at, event) in tail.iter().enumerate() {
            let fact = self.facts[*event as usize];
            let free = match &needed {
                Some(needed) => needed.free(*event, self.trace[*event as usize].op, fact.operand),
                None => at >= end && !self.bound(tail, *event),
            };
            if at < end && !free && self.is_unsure(*event) {
                return (fault(at, Rule::Unsure), steps);
            }
            if let Err(what) = state.event(self, *event, at >= end, free) {
                return (fault(at, what), steps);
            }
        }
        match self.conflict(tail[end], tail[end + 1]) {
            true => (Ok(()), steps),
            false => (fault(end + 1, Rule::NoRace), steps),
        }
    }

    /// Whether an order can be run in which the `marked` events come as listed,
    /// not side by side: by the rules above, but that every one of them only
    /// has to happen, and any of them may see another value if nothing else in
    /// the order depends on it. For checkers made for that.
    pub fn check_sequence(&self, order: &[u32], marked: &[u32]) -> Result<(), Fault> {
        let fault = |at, what| Err(Fault { at, what });
        let count = self.facts.len();
        if let Some(at) = order.iter().position(|e| *e as usize >= count) {
            return fault(at, Rule::Nonsense);
        }
        let Some(slices) = &self.slices else {
            return fault(0, Rule::Nonsense);
        };
        let fixed = self.known(common(order));
        let start = self.start(fixed);
        let needed = needed::sequence(slices, self, order, marked, fixed);
        let mut state = self.state(start);
        let mut next = marked.iter().peekable();
        for (at, event) in order.iter().enumerate() {
            next.next_if_eq(&event);
            if at < start as usize {
                continue;
            }
            let fact = self.facts[*event as usize];
            let free = needed.free(*event, self.trace[*event as usize].op, fact.operand);
            if !free && self.is_unsure(*event) {
                return fault(at, Rule::Unsure);
            }
            if let Err(what) = state.event(self, *event, false, free) {
                return fault(at, what);
            }
        }
        match next.next() {
            None => Ok(()),
            Some(_) => fault(order.len(), Rule::Sequence),
        }
    }

    /// By event of a witness: whether it has to be as it was. All of them, if
    /// nothing is known of dependences; otherwise synchronisation, what the
    /// accesses at the end depend on, and these themselves.
    pub fn must(&self, order: &[u32]) -> Vec<bool> {
        let needed = self.needed(order, 0);
        let must = |event: &u32| match &needed {
            Some(needed) => needed.happens.get(*event as usize) == Some(&true),
            None => true,
        };
        order.iter().map(must).collect()
    }

    /// Of an order that is the run's own for its events before `fixed`.
    fn needed(&self, order: &[u32], fixed: u32) -> Option<needed::Needed> {
        let slices = self.slices.as_ref()?;
        let bound = |event| self.bound(order, event);
        Some(needed::needed(slices, self, order, fixed, bound))
    }

    /// Whether one of the pair at the end has to see the value it saw.
    fn bound(&self, order: &[u32], event: u32) -> bool {
        match order {
            [.., a, b] if *a == event => self.must_see(event, *b),
            [.., a, b] if *b == event => self.must_see(event, *a),
            _ => false,
        }
    }

    /// Whether a racing access has to see the value it saw.
    fn must_see(&self, event: u32, other: u32) -> bool {
        let op = |event: u32| self.trace.get(event as usize).map(|e| e.op);
        matches!(op(event), Some(Op::AtomicUpdate(..))) && !op(other).is_some_and(writes)
    }

    fn conflict(&self, first: u32, second: u32) -> bool {
        let [a, b] = [first, second].map(|e| (self.facts[e as usize], self.trace[e as usize].op));
        let plain = |op| matches!(op, Op::Read(_) | Op::Write(_));
        let access = |op| reads(op) || writes(op);
        access(a.1)
            && access(b.1)
            && a.0.thread != b.0.thread
            && a.0.operand == b.0.operand
            && (writes(a.1) || writes(b.1))
            && (plain(a.1) || plain(b.1))
    }
}
