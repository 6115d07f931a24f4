//! The dumbest oracle: happens-before as a graph over events, and its
//! transitive closure. No clocks, no epochs, no thread indices.

use trace::{Event, Loc, LockId, Mode, Op};

#[derive(Debug)]
pub struct Closure {
    pub events: Vec<Event>,
    /// `before[j]` has `i` if event `i` happens before event `j`.
    before: Vec<Vec<bool>>,
    /// Class initialisers that ended: begin and end.
    inits: Vec<(usize, usize)>,
}

impl Closure {
    /// With `init`, the end of a static initialiser happens before any access
    /// that conflicts with one inside it and is not ordered after that
    /// otherwise.
    pub fn new(events: &[Event], init: bool) -> Closure {
        Closure::by(events, init, |i, j| edge(&events[i], &events[j]))
    }

    /// Without the order of locks; with that of notifies.
    pub fn without_locks(events: &[Event]) -> Closure {
        let woken_by = |i: usize, j: usize| match (events[i].op, events[j].op) {
            (
                Op::Notify(l) | Op::NotifyAll(l),
                Op::WaitEnd {
                    lock,
                    notified: true,
                },
            ) => {
                // It waited already when the notify came.
                let begins = |e: &&Event| e.thread == events[j].thread;
                let last = events[..i].iter().rev().find(begins);
                l == lock && last.is_some_and(|e| e.op == Op::WaitBegin(l))
            }
            _ => false,
        };
        Closure::by(events, false, |i, j| {
            let lock = held(&events[i]).is_some() && events[i].thread != events[j].thread;
            (!lock && edge(&events[i], &events[j])) || woken_by(i, j)
        })
    }

    fn by(events: &[Event], init: bool, edge: impl Fn(usize, usize) -> bool) -> Closure {
        let mut closure = Closure {
            events: events.to_vec(),
            before: Vec::new(),
            inits: Vec::new(),
        };
        for j in 0..events.len() {
            closure.before.push(vec![false; events.len()]);
            for i in 0..j {
                if edge(i, j) {
                    closure.add(i, j);
                }
            }
            if let Op::InitEnd(class) = events[j].op {
                let begins = |i: &usize| {
                    events[*i].thread == events[j].thread && events[*i].op == Op::InitBegin(class)
                };
                closure
                    .inits
                    .extend((0..j).rev().find(begins).map(|i| (i, j)));
            }
            if init {
                let unordered = closure.conflicts(j);
                let ends: Vec<usize> = unordered.filter_map(|i| closure.excuse(i)).collect();
                for end in ends {
                    closure.add(end, j);
                }
            }
        }
        closure
    }

    pub fn ordered(&self, i: usize, j: usize) -> bool {
        self.before[j][i]
    }

    /// Earlier accesses that conflict with `j` and are not ordered before it.
    pub fn conflicts(&self, j: usize) -> impl Iterator<Item = usize> + '_ {
        (0..j).filter(move |i| conflict(&self.events[*i], &self.events[j]) && !self.ordered(*i, j))
    }

    /// The end of the innermost ended initialiser around `i`.
    pub fn excuse(&self, i: usize) -> Option<usize> {
        let around = |(begin, end): &&(usize, usize)| {
            *begin < i && i < *end && self.events[*begin].thread == self.events[i].thread
        };
        self.inits.iter().find(around).map(|(_, end)| *end)
    }

    /// Whether the threads of two accesses held a lock that kept one of them
    /// out.
    pub fn excluded(&self, i: usize, j: usize) -> bool {
        let locks = |at: usize| {
            let mut locks = Vec::new();
            for e in self.events[..at]
                .iter()
                .filter(|e| e.thread == self.events[at].thread)
            {
                if let Some((lock, shared, taken)) = held(e) {
                    locks.retain(|l| *l != (lock, shared));
                    if taken {
                        locks.push((lock, shared));
                    }
                }
            }
            locks
        };
        let theirs = locks(j);
        let mut pairs = locks(i)
            .into_iter()
            .flat_map(|a| theirs.iter().map(move |b| (a, *b)));
        pairs.any(|((a, shared), (b, too))| a == b && !(shared && too))
    }

    pub fn races(&self) -> Vec<(usize, usize)> {
        (0..self.events.len())
            .flat_map(|j| self.conflicts(j).map(move |i| (i, j)))
            .collect()
    }

    /// For every variable that races, its first event that does.
    pub fn first_races(&self) -> Vec<(Loc, usize)> {
        let mut first: Vec<(Loc, usize)> = Vec::new();
        for (_, j) in self.races() {
            let loc = access(&self.events[j]).unwrap().0;
            if first.iter().all(|(l, _)| *l != loc) {
                first.push((loc, j));
            }
        }
        first.sort_unstable();
        first
    }

    fn add(&mut self, i: usize, j: usize) {
        self.before[j][i] = true;
        for k in 0..i {
            self.before[j][k] |= self.before[i][k];
        }
    }
}

/// Location, whether it writes, whether it is atomic.
pub fn access(e: &Event) -> Option<(Loc, bool, bool)> {
    match e.op {
        Op::Read(loc) => Some((loc, false, false)),
        Op::Write(loc) => Some((loc, true, false)),
        Op::AtomicRead(loc, _) => Some((loc, false, true)),
        Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => Some((loc, true, true)),
        _ => None,
    }
}

/// Lock, whether shared, whether taken or given up.
fn held(e: &Event) -> Option<(LockId, bool, bool)> {
    match e.op {
        Op::Acquire(lock) | Op::WaitEnd { lock, .. } => Some((lock, false, true)),
        Op::Release(lock) | Op::WaitBegin(lock) => Some((lock, false, false)),
        Op::AcquireShared(lock) => Some((lock, true, true)),
        Op::ReleaseShared(lock) => Some((lock, true, false)),
        _ => None,
    }
}

fn conflict(a: &Event, b: &Event) -> bool {
    match (access(a), access(b)) {
        (Some((x, w1, a1)), Some((y, w2, a2))) => {
            x == y && a.thread != b.thread && (w1 || w2) && !(a1 && a2)
        }
        _ => false,
    }
}

/// Whether `a` orders a later `b` directly.
fn edge(a: &Event, b: &Event) -> bool {
    if a.thread == b.thread {
        return true;
    }
    match (a.op, b.op) {
        (Op::Release(l) | Op::WaitBegin(l), Op::AcquireShared(m)) => l == m,
        (
            Op::Release(l) | Op::WaitBegin(l) | Op::ReleaseShared(l),
            Op::Acquire(m) | Op::WaitEnd { lock: m, .. },
        ) => l == m,
        (
            Op::AtomicWrite(x, m) | Op::AtomicUpdate(x, m),
            Op::AtomicRead(y, n) | Op::AtomicUpdate(y, n),
        ) => x == y && m != Mode::Opaque && n != Mode::Opaque,
        (Op::Fork(t), _) if t == b.thread => true,
        (Op::End, Op::Join(t)) => t == a.thread,
        (Op::Interrupt(t), Op::Interrupted) => t == b.thread,
        (Op::SyncRelease(x), Op::SyncAcquire(y)) => x == y,
        _ => false,
    }
}
