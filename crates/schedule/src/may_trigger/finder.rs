//! Who is held back and who is escorted: Algorithms 2 and 3 of the paper as a
//! state machine. It is told of requests for locks, of acquisitions, and of
//! threads that cannot get on; it answers who waits and who goes on.
//!
//! A thread `t` that requests a lock of class `c` waits if another, `t'`, is in a
//! method that may trigger a lock of that class. Then `t'` is *escorted*: it gets
//! whatever it requests, until it has acquired a lock of class `c`; now `t` goes
//! on, and the order that an earlier run may have seen is reversed.
//!
//! Promises: at most one thread is escorted; it never waits; a thread that waits is
//! named by [`Finder::take_released`] once, after whatever ends the wait. Nobody
//! waits while nobody is escorted. The answers depend on the seed and on what was
//! told, on nothing else. A data race is never invented: only the order of
//! requests is touched.
//!
//! Where it departs from the paper:
//! - The slips of Algorithm 3 are read as the text has them: line 33 takes a
//!   requesting thread, line 43 the lock that it requests, line 53 removes it.
//! - A request of a class that nobody else may trigger goes on at once, also
//!   during an escort; the paper's scheduler takes requests one by one.
//! - A thread that goes on is not escorted to its own lock: it may have to wait
//!   for the one it was held back for, and all others with it.
//! - Besides the innermost method of a thread its caller is looked at, where nobody
//!   is found by the former: who waits inside a queue's `take` is on the way to
//!   whatever is done with what it takes. (The paper leaves that for later.)
//! - A thread that waits for a notification or a lock may be escorted too, as long
//!   as somebody else can go on.
//! - A prediction that was acted on often, or failed several times in a row, is
//!   acted on ever more rarely. In a loop of a million acquisitions the paper
//!   would reverse every one.

use super::Plan;
use crate::op::Thread;
use crate::random::Rng;
use rustc_hash::FxHashMap;

/// A thread that has not ended, and where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    pub thread: Thread,
    /// The innermost methods that it is in, of those that the plan has (0: none),
    /// and that one's caller among them.
    pub methods: [u32; 2],
    /// It can go on, sleeps, or waits here. Others wait for somebody who may come:
    /// they are escorted only if there is nobody better.
    pub able: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Go,
    /// Until the thread is among those released.
    Wait,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Requests of locks that the relation knows.
    pub requests: u64,
    /// Times that a thread was held back for another.
    pub suspended: u64,
    /// How often that one then acquired a lock of the class.
    pub reversed: u64,
    /// How often it could not get on: thrashing.
    pub thrashed: u64,
    /// How often it took too long.
    pub expired: u64,
}

impl Counts {
    /// Of the decisions to hold a thread back, how many ended in thrashing.
    pub fn thrashing_rate(&self) -> f64 {
        match self.suspended {
            0 => 0.0,
            n => self.thrashed as f64 / n as f64,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Escort {
    thread: Thread,
    class: u32,
    /// The method that it was in.
    method: u32,
    /// Who is held back for it; always among those waiting.
    waiter: Thread,
}

/// What came of holding somebody back for (method, class).
#[derive(Clone, Copy, Default, Debug)]
struct Experience {
    acted: u32,
    /// In a row.
    failed: u32,
}

/// Predictions are always acted on so often; after each such lot half as often.
const LOT: u32 = 32;
/// Failures in a row that are forgiven.
const FORGIVEN: u32 = 2;
const SHY: u64 = 4;

#[derive(Debug)]
pub struct Finder {
    rng: Rng,
    seed: u64,
    plan: Plan,
    /// Who waits, with the class of the lock; never the escorted thread.
    waiting: Vec<(Thread, u32)>,
    escort: Option<Escort>,
    released: Vec<Thread>,
    experience: FxHashMap<(u32, u32), Experience>,
    pub counts: Counts,
}

impl Finder {
    pub fn new(plan: Plan, seed: u64) -> Finder {
        Finder {
            rng: Rng::new(seed),
            seed,
            plan,
            waiting: Vec::new(),
            escort: None,
            released: Vec::new(),
            experience: FxHashMap::default(),
            counts: Counts::default(),
        }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn escorted(&self) -> Option<Thread> {
        self.escort.map(|e| e.thread)
    }

    pub fn is_waiting(&self, thread: Thread) -> bool {
        self.waiting.iter().any(|(t, _)| *t == thread)
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Those who waited and go on now.
    pub fn take_released(&mut self) -> Vec<Thread> {
        std::mem::take(&mut self.released)
    }

    /// Whether some other thread may trigger a lock of this class: if not, there
    /// is no need to ask.
    pub fn concerns(&self, thread: Thread, class: u32, peers: &[Peer]) -> bool {
        let may = |p: &Peer| p.thread != thread && self.triggers(p, class).is_some();
        class != 0 && peers.iter().any(may)
    }

    /// Which of its methods may trigger a lock of the class: 0 or 1.
    fn triggers(&self, peer: &Peer, class: u32) -> Option<usize> {
        let may = |m: &u32| self.plan.may_trigger(*m, class);
        peer.methods.iter().position(may)
    }

    /// requestALock: the thread is about to acquire a lock of this class.
    pub fn request(&mut self, thread: Thread, class: u32, peers: &[Peer]) -> Answer {
        if class == 0 || self.is_waiting(thread) {
            return Answer::Go;
        }
        self.counts.requests += 1;
        let same = self.escort.is_some_and(|e| e.class == class);
        if self.escorted() == Some(thread) || !same && !self.concerns(thread, class, peers) {
            return Answer::Go;
        }
        self.waiting.push((thread, class));
        self.schedule(peers);
        match self.released.iter().position(|t| *t == thread) {
            Some(at) => {
                self.released.remove(at);
                Answer::Go
            }
            None => Answer::Wait,
        }
    }

    /// lockAcquired.
    pub fn acquired(&mut self, thread: Thread, class: u32, peers: &[Peer]) {
        let Some(escort) = self.escort else {
            return;
        };
        if escort.thread == thread && escort.class == class {
            self.counts.reversed += 1;
            self.learn(escort, true);
            self.end_escort(escort, peers);
        }
    }

    /// The thread has ended, or is about to.
    pub fn ended(&mut self, thread: Thread, peers: &[Peer]) {
        self.waiting.retain(|(t, _)| *t != thread);
        if let Some(escort) = self.escort
            && (escort.thread == thread || escort.waiter == thread)
        {
            if escort.thread == thread {
                self.counts.expired += 1;
                self.learn(escort, false);
            }
            self.end_escort(escort, &without(thread, peers));
        }
    }

    /// Thrashing: the escorted thread cannot get on, nor anybody who might help it.
    /// A random one of those that
    /// wait goes on instead.
    pub fn stalled(&mut self, peers: &[Peer]) {
        let Some(escort) = self.escort.take() else {
            return;
        };
        self.counts.thrashed += 1;
        self.learn(escort, false);
        if !self.waiting.is_empty() {
            let any = self.rng.index(self.waiting.len());
            let (thread, _) = self.waiting.swap_remove(any);
            self.released.push(thread);
        }
        // The one that could not get on is no candidate any more.
        self.schedule(&without(escort.thread, peers));
    }

    /// A thread has waited long enough and goes on by itself.
    pub fn expired(&mut self, thread: Thread, peers: &[Peer]) {
        self.waiting.retain(|(t, _)| *t != thread);
        self.released.retain(|t| *t != thread);
        if let Some(escort) = self.escort
            && escort.waiter == thread
        {
            self.counts.expired += 1;
            self.learn(escort, false);
            self.end_escort(escort, peers);
        }
    }

    fn end_escort(&mut self, escort: Escort, peers: &[Peer]) {
        self.escort = None;
        if let Some(at) = self.waiting.iter().position(|(t, _)| *t == escort.waiter) {
            self.waiting.remove(at);
            self.released.push(escort.waiter);
        }
        self.schedule(peers);
    }

    fn learn(&mut self, escort: Escort, success: bool) {
        let known = self.experience.entry((escort.method, escort.class));
        let known = known.or_default();
        known.failed = if success { 0 } else { known.failed + 1 };
    }

    /// Whether a prediction shall be acted on once more.
    fn is_worth(&mut self, method: u32, class: u32) -> bool {
        let known = self.experience.get(&(method, class)).copied();
        let known = known.unwrap_or_default();
        let doubts = known.acted / LOT + known.failed.saturating_sub(FORGIVEN);
        let odds = self.reluctance(method, class) << doubts.min(20);
        self.rng.below(odds) == 0
    }

    /// One prediction in [`SHY`] is acted on at one request of four only: of a lock
    /// that is taken again and again, always the first time would be reversed.
    fn reluctance(&self, method: u32, class: u32) -> u64 {
        let mut drawn = Rng::new(self.seed ^ u64::from(method) << 32 ^ u64::from(class));
        if drawn.below(SHY) == 0 { 4 } else { 1 }
    }

    /// schedule: until somebody is escorted or nobody waits.
    fn schedule(&mut self, peers: &[Peer]) {
        while self.escort.is_none() && !self.waiting.is_empty() {
            let at = self.rng.index(self.waiting.len());
            let (waiter, class) = self.waiting[at];
            match self.candidate(waiter, class, peers) {
                Some((thread, method)) if self.is_worth(method, class) => {
                    self.counts.suspended += 1;
                    self.experience.entry((method, class)).or_default().acted += 1;
                    self.escort = Some(Escort {
                        thread,
                        class,
                        method,
                        waiter,
                    });
                    if let Some(at) = self.waiting.iter().position(|(t, _)| *t == thread) {
                        self.waiting.remove(at);
                        self.released.push(thread);
                    }
                }
                _ => {
                    self.waiting.remove(at);
                    self.released.push(waiter);
                }
            }
        }
    }

    /// Who may be escorted for a waiting thread, and because of which method: one
    /// that can go on rather than one that waits, by the method that it is in
    /// rather than by its caller.
    fn candidate(&mut self, waiter: Thread, class: u32, peers: &[Peer]) -> Option<(Thread, u32)> {
        let mut best = usize::MAX;
        let mut found: Vec<(Thread, u32)> = Vec::new();
        for peer in peers.iter().filter(|p| p.thread != waiter) {
            let Some(at) = self.triggers(peer, class) else {
                continue;
            };
            let rank = at + 2 * usize::from(!peer.able);
            if rank < best {
                best = rank;
                found.clear();
            }
            if rank == best {
                found.push((peer.thread, peer.methods[at]));
            }
        }
        match found.len() {
            0 => None,
            n => Some(found[self.rng.index(n)]),
        }
    }
}

fn without(thread: Thread, peers: &[Peer]) -> Vec<Peer> {
    let others = peers.iter().filter(|p| p.thread != thread);
    others.copied().collect()
}
