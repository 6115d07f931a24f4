//! What of a witness has to be as it was, worked out by the checker itself:
//! going back from the accesses at its end, and from all synchronisation in
//! it, along dependences and to the writes that needed reads saw.
//!
//! As long as an order is the run's own, everything in it is as it was; what
//! comes before that point needs nothing.
//!
//! Relevance: once the value of a read is needed, every write of its class in
//! the witness has to be where it was, and no branch with such a write in its
//! other side may go there.

use super::{Checker, NONE, reads, volatile, writes};
use crate::deps::{ANYWHERE, Dep, Deps, Needs};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::Op;

/// By event of the trace.
#[derive(Debug)]
pub(super) struct Needed {
    /// Its value, if it reads, has to be what it was.
    pub value: Vec<bool>,
    /// It has to happen.
    pub happens: Vec<bool>,
    /// Locations of which a value is needed.
    locations: FxHashSet<u32>,
    /// Events before this one are as they were.
    fixed: u32,
}

impl Needed {
    /// Whether what an access sees, or when it writes, is all the same.
    pub fn free(&self, event: u32, op: Op, location: u32) -> bool {
        match reads(op) {
            _ if event < self.fixed => false,
            true => !self.value[event as usize],
            false => !self.locations.contains(&location),
        }
    }
}

/// What the dependences need of the trace, ready.
#[derive(Debug)]
pub(super) struct Slices<'a> {
    deps: &'a Deps,
    /// By location: its volatile writes.
    stores: FxHashMap<u32, Vec<u32>>,
}

impl<'a> Slices<'a> {
    pub fn new(checker: &Checker<'a>, deps: &'a Deps) -> Slices<'a> {
        let mut stores: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (at, (fact, e)) in (0u32..).zip(checker.facts.iter().zip(checker.trace)) {
            if volatile(e.op) && writes(e.op) {
                stores.entry(fact.operand).or_default().push(at);
            }
        }
        Slices { deps, stores }
    }

    pub fn deps(&self) -> &'a Deps {
        self.deps
    }

    /// Whether an event may not be left to chance, needed or not.
    fn hard(&self, event: u32, op: Op) -> bool {
        match op {
            Op::AtomicUpdate(..) => true,
            Op::AtomicRead(..) => !self.deps.is_load(event),
            Op::AtomicWrite(..) => false,
            _ => op.is_sync(),
        }
    }
}

#[derive(Clone, Copy)]
enum Work {
    Happens(u32),
    Value(u32),
}

struct Search<'s, 'c, 'a> {
    slices: &'s Slices<'a>,
    checker: &'c Checker<'a>,
    needed: Needed,
    /// By thread: how many of its first events had all their reads needed.
    all: Vec<u32>,
    work: Vec<Work>,
    /// Writes of the witness, and those of other sides, by class, until the
    /// class is needed.
    uncertain: FxHashMap<u32, Vec<Uncertain>>,
    classes: FxHashSet<u32>,
    /// Events before this one are as they were.
    fixed: u32,
}

#[derive(Clone, Copy)]
enum Uncertain {
    Write(u32),
    /// Number among those that did not happen.
    Missed(usize),
}

/// For a race: of the order, whose last two events are the accesses that may
/// see anything unless `bound` says otherwise. It is the run's own for its
/// events before `fixed`.
pub(super) fn needed(
    slices: &Slices<'_>,
    checker: &Checker<'_>,
    order: &[u32],
    fixed: u32,
    bound: impl Fn(u32) -> bool,
) -> Needed {
    let mut search = Search::new(slices, checker, fixed);
    let (inside, last) = order.split_at(order.len().saturating_sub(2));
    search.enter(inside);
    for event in last {
        search.last(*event);
        if bound(*event) {
            search.work.push(Work::Value(*event));
        }
    }
    search.run()
}

/// For a sequence: all of the order is inside, and what is marked happens.
pub(super) fn sequence(
    slices: &Slices<'_>,
    checker: &Checker<'_>,
    order: &[u32],
    marked: &[u32],
    fixed: u32,
) -> Needed {
    let mut search = Search::new(slices, checker, fixed);
    let inside = match (order, marked) {
        // Behind the last one nothing happens any more.
        ([inside @ .., end], [.., last]) if end == last => inside,
        _ => order,
    };
    search.enter(inside);
    for event in marked {
        search.last(*event);
        let op = checker.trace.get(*event as usize).map(|e| e.op);
        if matches!(op, Some(Op::AtomicUpdate(..))) {
            search.work.push(Work::Value(*event));
        }
    }
    search.run()
}

impl<'s, 'c, 'a> Search<'s, 'c, 'a> {
    fn new(slices: &'s Slices<'a>, checker: &'c Checker<'a>, fixed: u32) -> Search<'s, 'c, 'a> {
        let count = checker.facts.len();
        let before = |events: &Vec<u32>| events.partition_point(|e| *e < fixed) as u32;
        Search {
            slices,
            checker,
            needed: Needed {
                value: vec![false; count],
                happens: vec![false; count],
                locations: FxHashSet::default(),
                fixed,
            },
            all: checker.by_thread.iter().map(before).collect(),
            work: Vec::new(),
            uncertain: FxHashMap::default(),
            classes: FxHashSet::default(),
            fixed,
        }
    }

    /// Events of the witness before what it is about.
    fn enter(&mut self, order: &[u32]) {
        let mut inside = vec![false; self.checker.facts.len()];
        let fixed = self.fixed;
        for event in order.iter().filter(|e| **e >= fixed) {
            let Some(there) = inside.get_mut(*event as usize) else {
                continue;
            };
            *there = true;
            let op = self.checker.trace[*event as usize].op;
            if self.slices.hard(*event, op) {
                self.work.push(Work::Happens(*event));
                if reads(op) {
                    self.work.push(Work::Value(*event));
                }
            }
            self.writes(*event, op);
        }
        for (n, write) in self.slices.deps.may_write().iter().enumerate() {
            if inside.get(write.after as usize) == Some(&true) {
                for class in &write.classes {
                    let list = self.uncertain.entry(*class).or_default();
                    list.push(Uncertain::Missed(n));
                }
            }
        }
    }

    fn writes(&mut self, event: u32, op: Op) {
        if writes(op) {
            let list = self
                .uncertain
                .entry(self.slices.deps.class(event))
                .or_default();
            list.push(Uncertain::Write(event));
        }
    }

    /// An event that only has to happen.
    fn last(&mut self, event: u32) {
        if let Some(e) = self.checker.trace.get(event as usize) {
            self.work.push(Work::Happens(event));
            self.writes(event, e.op);
        }
    }

    fn run(mut self) -> Needed {
        while let Some(work) = self.work.pop() {
            match work {
                Work::Happens(event) => self.happens(event),
                Work::Value(read) => self.value(read),
            }
        }
        self.needed
    }

    fn happens(&mut self, event: u32) {
        if event < self.fixed {
            return;
        }
        let done = &mut self.needed.happens[event as usize];
        if !std::mem::replace(done, true) {
            let fact = self.checker.facts[event as usize];
            self.needs(
                fact.thread,
                fact.before,
                event,
                self.slices.deps.happens(event),
            );
        }
    }

    fn value(&mut self, read: u32) {
        if read < self.fixed {
            return;
        }
        let op = self.checker.trace[read as usize].op;
        if std::mem::replace(&mut self.needed.value[read as usize], true) || !reads(op) {
            return;
        }
        let fact = self.checker.facts[read as usize];
        self.needed.locations.insert(fact.operand);
        self.work.push(Work::Happens(read));
        if fact.need != NONE {
            self.written(fact.need);
        }
        if volatile(op) {
            let all = self.slices.stores.get(&fact.operand);
            let before = all.map_or(0, |all| all.partition_point(|w| *w < read));
            let first = all.map_or(0, |all| all.partition_point(|w| *w < self.fixed));
            for n in first..before {
                self.written(self.slices.stores[&fact.operand][n]);
            }
        }
        self.class(self.slices.deps.class(read));
    }

    /// The write has to write what it wrote.
    fn written(&mut self, write: u32) {
        if write < self.fixed {
            return;
        }
        let fact = self.checker.facts[write as usize];
        self.work.push(Work::Happens(write));
        if matches!(self.checker.trace[write as usize].op, Op::AtomicUpdate(..)) {
            self.work.push(Work::Value(write));
        }
        self.needs(
            fact.thread,
            fact.before,
            write,
            self.slices.deps.value(write),
        );
    }

    fn class(&mut self, class: u32) {
        if !self.classes.insert(class) {
            return;
        }
        let wanted: Vec<u32> = match class {
            ANYWHERE => self.uncertain.keys().copied().collect(),
            class => vec![class, ANYWHERE],
        };
        for class in wanted {
            for item in self.uncertain.remove(&class).unwrap_or_default() {
                match item {
                    Uncertain::Write(write) => self.work.push(Work::Happens(write)),
                    Uncertain::Missed(n) => {
                        let write = &self.slices.deps.may_write()[n];
                        let fact = self.checker.facts[write.after as usize];
                        let needs = self.slices.deps.unless(write);
                        self.needs(fact.thread, fact.before + 1, write.after + 1, needs);
                    }
                }
            }
        }
    }

    /// Of a thread's event after its first `before` ones, before `end` in the
    /// trace.
    fn needs(&mut self, thread: u32, before: u32, end: u32, needs: Needs<'_>) {
        let all = match needs {
            Needs::All => true,
            Needs::These(list) => list.iter().any(|entry| {
                let (Dep::Value(other) | Dep::Happens(other)) = entry.get();
                other >= end || self.checker.facts[other as usize].thread != thread
            }),
        };
        if all {
            let done = &mut self.all[thread as usize];
            let reads = &self.checker.by_thread[thread as usize];
            let reads = reads.get(*done as usize..before as usize).unwrap_or(&[]);
            *done = before.max(*done);
            self.work
                .extend(reads.iter().map(|read| Work::Value(*read)));
            return;
        }
        if let Needs::These(list) = needs {
            self.work.extend(list.iter().map(|entry| match entry.get() {
                Dep::Value(read) => Work::Value(read),
                Dep::Happens(event) => Work::Happens(event),
            }));
        }
    }
}
