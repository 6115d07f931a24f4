//! `drfinder`: may-trigger scheduling (see `hidden`) one thread at a time, so
//! that a seed names a run and what it finds can be replayed.
//!
//! A random walk, but for what the [`Finder`] decides: a thread whose next
//! operation acquires a lock may be held back, and the one that is escorted goes
//! first wherever it can. If it sleeps and all others are held back, time passes.
//! If nobody at all can go on, that is thrashing, and somebody is let go.
//!
//! Waiting is bounded in steps: after `PATIENCE` of them a thread goes on,
//! whatever the relation says.

use crate::may_trigger::{Answer, Counts, Finder, Peer};
use crate::op::{Decision, Kind, Ready, Thread, View};
use crate::random::Rng;
use crate::registry::{How, Row, Scheduler};
use crate::strategy::{Fact, Params, Strategy};
use rustc_hash::FxHashMap;

pub const SCHEDULER: Scheduler = Scheduler(&Row {
    name: "drfinder-serial",
    about: "The same with one thread at a time: races can be replayed",
    how: How::Serial(|p| Box::new(DrFinder::new(p))),
    goes_by_relation: true,
    is_offered: true,
});

const PATIENCE: u64 = 20_000;
/// What letting time pass costs of it.
const TICK: u64 = 200;

#[derive(Debug)]
pub(crate) struct DrFinder {
    rng: Rng,
    finder: Finder,
    /// Classes of locks, by the number of their object.
    classes: FxHashMap<u64, u32>,
    /// As last told.
    peers: Vec<Peer>,
    /// Those held back: what is left of their patience, and the class they want.
    patience: FxHashMap<Thread, (u64, u32)>,
    /// Classes of locks that threads were let go to acquire: they are not asked
    /// again before they have them.
    acquiring: FxHashMap<Thread, u32>,
    free: Vec<Ready>,
}

impl DrFinder {
    pub(crate) fn new(params: &Params) -> DrFinder {
        let plan = params.relation.as_deref().cloned().unwrap_or_default();
        DrFinder {
            rng: Rng::new(params.seed),
            finder: Finder::new(plan, params.seed),
            classes: FxHashMap::default(),
            peers: Vec::new(),
            patience: FxHashMap::default(),
            acquiring: FxHashMap::default(),
            free: Vec::new(),
        }
    }

    /// The thread that ran last has what it went for, if it got further.
    fn note_acquired(&mut self, view: &View<'_>) {
        for ready in view.ready {
            let came_back = view.last == Some(ready.thread) || !acquires(ready.op.kind);
            if came_back && let Some(class) = self.acquiring.remove(&ready.thread) {
                self.finder.acquired(ready.thread, class, &self.peers);
            }
        }
    }

    /// Those that need not wait any more may have what they want.
    fn let_go(&mut self) {
        for thread in self.finder.take_released() {
            self.pass(thread);
        }
    }

    fn pass(&mut self, thread: Thread) {
        if let Some((_, class)) = self.patience.remove(&thread) {
            self.acquiring.insert(thread, class);
        }
    }

    /// Takes from the patience of all that wait.
    fn wait(&mut self, cost: u64) {
        let mut tired: Vec<Thread> = Vec::new();
        for (thread, (left, _)) in &mut self.patience {
            *left = left.saturating_sub(cost);
            if *left == 0 {
                tired.push(*thread);
            }
        }
        tired.sort_unstable();
        for thread in tired {
            self.pass(thread);
            self.finder.expired(thread, &self.peers);
        }
        self.let_go();
    }

    fn choose(&mut self, view: &View<'_>) -> Option<Ready> {
        self.note_acquired(view);
        self.let_go();
        self.wait(1);
        let mut free = std::mem::take(&mut self.free);
        let picked = loop {
            free.clear();
            let able = |r: &&Ready| !self.finder.is_waiting(r.thread);
            free.extend(view.ready.iter().filter(able));
            let escorted = self.finder.escorted();
            let next = free.iter().find(|r| Some(r.thread) == escorted);
            let next = match (next, free.len()) {
                (Some(next), _) => Some(*next),
                (None, 0) => None,
                (None, n) => Some(free[self.rng.index(n)]),
            };
            match next {
                Some(next) if self.may_go(&next) => break Some(next),
                Some(_) => {}
                None if view.deadline.is_some() && self.finder.escorted().is_some() => break None,
                // Somebody is escorted, or nobody would wait.
                None => {
                    self.finder.stalled(&self.peers);
                    self.let_go();
                }
            }
        };
        self.free = free;
        picked
    }

    /// Whether the thread may do what it does next; it waits otherwise.
    fn may_go(&mut self, ready: &Ready) -> bool {
        if !acquires(ready.op.kind) || self.acquiring.contains_key(&ready.thread) {
            return true;
        }
        let class = self.classes.get(&ready.op.obj).copied().unwrap_or(0);
        let answer = self.finder.request(ready.thread, class, &self.peers);
        if answer == Answer::Wait {
            self.patience.insert(ready.thread, (PATIENCE, class));
        }
        self.let_go();
        if answer == Answer::Wait {
            return false;
        }
        if class != 0 && ready.op.kind != Kind::TryAcquire {
            self.acquiring.insert(ready.thread, class);
        }
        true
    }
}

fn acquires(kind: Kind) -> bool {
    matches!(kind, Kind::Acquire | Kind::TryAcquire | Kind::AcquireShared)
}

impl Strategy for DrFinder {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        match self.choose(view) {
            Some(ready) => Decision::Run(ready.thread),
            None => {
                self.wait(TICK);
                Decision::Tick
            }
        }
    }

    fn told(&mut self, fact: Fact<'_>) {
        match fact {
            Fact::Target { .. } => {}
            Fact::Lock { obj, class } => drop(self.classes.insert(obj, class)),
            Fact::Peers(peers) => self.meet(peers),
        }
    }

    fn hidden_counts(&self) -> Option<Counts> {
        Some(self.finder.counts)
    }
}

impl DrFinder {
    fn meet(&mut self, peers: &[Peer]) {
        self.peers.clear();
        self.peers.extend_from_slice(peers);
        if let Some(escorted) = self.finder.escorted()
            && !peers.iter().any(|p| p.thread == escorted)
        {
            self.finder.ended(escorted, peers);
            self.let_go();
        }
    }
}
