//! `racefuzzer`: race-directed random testing (Sen, PLDI 2008), Algorithms 1
//! and 2.
//!
//! A random walk, but a thread about to execute a statement of the pair is
//! *postponed* until another comes to a statement of the pair that races with
//! it. Then the two stand side by side: a race is real, and a coin says which
//! side goes first. If it is the postponed ones, all that race go, one after
//! the other.
//!
//! Promises: every [`Hit`] is a pair of accesses of different threads to one
//! location, at least one of them a write, at least one plain, one at each
//! statement of the pair, both enabled at once: no false alarms. If a race can
//! be made, it is met with high probability, however far apart the two
//! statements usually are.
//!
//! Where it departs from the paper:
//! - Two threads at the same statement do not count for a pair of different
//!   ones: such a race is real, but not the one that was asked for.
//! - A thread that is released (line 27) executes its statement at once. To the
//!   letter it would be postponed again, without end.
//! - If a thread that was released comes back to an array while another waits at another
//!   element of it, it is released again: one stands, the other moves. A loop over an
//!   array so comes to the element at which the other waits; with a random choice each time
//!   that one would be gone after two elements.
//! - Whoever goes second in a race stays postponed only every other time (lines 11 and 14: always);
//!   otherwise it goes on like any other thread. So what follows the first access can come
//!   before and after the second one.
//! - After many releases without a hit, who was released last is mostly released again: a loop
//!   over a statement of the pair would otherwise switch threads at each round, for nothing.
//! - When all enabled threads are postponed but somebody sleeps, time passes
//!   first: the sleeper may be on its way to the other statement.
//! - Waiting is bounded in steps, never in time, so that the seed replays the
//!   run. A postponed thread has so much patience, and a step of the others
//!   costs 1. Where there is nobody but threads that yield or spin, who may be
//!   waiting for just this thread, it costs `POLL`; letting time pass, `TICK`.
//!   Each wait that went on to its bound halves the patience of later ones: a
//!   statement that is executed a million times takes few long waits.

use crate::op::{Decision, Hit, Op, Ready, Thread, View};
use crate::random::Rng;
use crate::registry::{How, Row, Scheduler};
use crate::strategy::{Fact, Params, Strategy};
use rustc_hash::FxHashMap;

pub const SCHEDULER: Scheduler = Scheduler(&Row {
    name: "racefuzzer",
    about: "One at a time; a thread at one of two statements waits for another at the other (confirm)",
    how: How::Serial(|p| Box::new(RaceFuzzer::new(p))),
    goes_by_relation: false,
    is_offered: false,
});

/// So many releases in a run are drawn; of those after them, one in `CHANGE` is.
const DRAWN: u32 = 256;
const CHANGE: usize = 64;

const PATIENCE: u64 = 100_000;
const LEAST_PATIENCE: u64 = 1000;
const POLL: u64 = 100;
const TICK: u64 = 500;
/// A thread that gave way at most so many steps of its own ago polls.
const LOOP: u32 = 16;

#[derive(Debug)]
pub(crate) struct RaceFuzzer {
    rng: Rng,
    /// Which statements of the pair a site belongs to: 1, 2 or both.
    sides: FxHashMap<u32, u8>,
    /// No two of them race at opposite statements of the pair. In the order in which they were postponed.
    postponed: Vec<Postponed>,
    /// About to make the second access of a race that was met: not postponed again for it.
    free: Vec<Ready>,
    /// Still to be run because the coin said so, and the one they go before.
    first: Vec<Ready>,
    before: Option<Ready>,
    /// Steps of its own since a thread last gave way; missing: it never did.
    since_way: FxHashMap<Thread, u32>,
    patience: u64,
    /// Who was released last because all were postponed.
    moving: Option<Thread>,
    /// How often somebody was, since the last hit.
    releases: u32,
    hits: Vec<Hit>,
    candidates: Vec<Ready>,
}

#[derive(Clone, Copy, Debug)]
struct Postponed {
    ready: Ready,
    patience: u64,
}

impl RaceFuzzer {
    pub(crate) fn new(params: &Params) -> RaceFuzzer {
        let mut sides = FxHashMap::default();
        for (side, sites) in [1, 2].into_iter().zip(params.pair.iter().flatten()) {
            for site in sites {
                *sides.entry(*site).or_insert(0) |= side;
            }
        }
        RaceFuzzer {
            rng: Rng::new(params.seed),
            sides,
            postponed: Vec::new(),
            free: Vec::new(),
            first: Vec::new(),
            before: None,
            since_way: FxHashMap::default(),
            patience: PATIENCE,
            moving: None,
            releases: 0,
            hits: Vec::new(),
            candidates: Vec::new(),
        }
    }

    fn side(&self, op: &Op) -> u8 {
        match op.kind.is_access() {
            true => self.sides.get(&op.site).copied().unwrap_or(0),
            false => 0,
        }
    }

    /// Algorithm 2 for two threads.
    fn racing(&self, a: &Ready, b: &Ready) -> bool {
        let (one, other) = (self.side(&a.op), self.side(&b.op));
        let opposite = one & 1 != 0 && other & 2 != 0 || one & 2 != 0 && other & 1 != 0;
        opposite && a.thread != b.thread && a.op.races(&b.op)
    }

    fn hit(&mut self, step: u64, first: Ready, second: Ready) {
        self.releases = 0;
        self.hits.push(Hit {
            step,
            first,
            second,
        });
    }

    /// The next of those that the coin sent first.
    fn next_first(&mut self, view: &View<'_>) -> Option<Ready> {
        while let Some(first) = self.first.pop() {
            let second = self.before?;
            let stand = |r: &Ready| view.op_of(r.thread) == Some(r.op);
            if stand(&first) && stand(&second) {
                self.hit(view.step, first, second);
                return Some(first);
            }
        }
        self.before = None;
        None
    }

    /// Takes what `cost` is from every postponed thread's patience; the first
    /// that has none left goes on.
    fn wait(&mut self, cost: u64) -> Option<Ready> {
        for p in &mut self.postponed {
            p.patience = p.patience.saturating_sub(cost);
        }
        let tired = self.postponed.iter().position(|p| p.patience == 0)?;
        self.patience = (self.patience / 2).max(LEAST_PATIENCE);
        Some(self.postponed.remove(tired).ready)
    }

    /// One round of Algorithm 1.
    fn choose(&mut self, view: &View<'_>) -> Option<Ready> {
        if let Some(first) = self.next_first(view) {
            return Some(first);
        }
        // They are enabled all the time; but nothing is lost by looking.
        self.postponed
            .retain(|p| view.op_of(p.ready.thread) == Some(p.ready.op));
        self.free.retain(|r| view.op_of(r.thread) == Some(r.op));
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let waits = |r: &Ready| self.postponed.iter().any(|p| p.ready.thread == r.thread);
        candidates.extend(view.ready.iter().filter(|r| !waits(r)));
        let polls = |r: &Ready| self.since_way.get(&r.thread).is_some_and(|n| *n < LOOP);
        let cost = if candidates.iter().all(polls) {
            POLL
        } else {
            1
        };
        let picked = match self.wait(cost) {
            Some(tired) => Some(tired),
            None => self.among(view, &mut candidates),
        };
        self.candidates = candidates;
        picked
    }

    /// Lines 5 to 28. None: time is to pass.
    fn among(&mut self, view: &View<'_>, candidates: &mut Vec<Ready>) -> Option<Ready> {
        while !candidates.is_empty() {
            let t = candidates.swap_remove(self.rng.index(candidates.len()));
            if self.side(&t.op) == 0 || self.free.contains(&t) {
                return Some(t);
            }
            let (racing, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.postponed)
                .into_iter()
                .partition(|p| self.racing(&t, &p.ready));
            self.postponed = others;
            if !racing.is_empty() && self.rng.coin() {
                for p in &racing {
                    self.hit(view.step, t, p.ready);
                }
                match self.rng.coin() {
                    true => self.free.extend(racing.iter().map(|p| p.ready)),
                    false => self.postponed.extend(racing),
                }
                return Some(t);
            }
            match !racing.is_empty() && self.rng.coin() {
                true => self.free.push(t),
                false => self.postponed.push(Postponed {
                    ready: t,
                    patience: self.patience,
                }),
            }
            self.first = racing.into_iter().rev().map(|p| p.ready).collect();
            self.before = Some(t);
            if let Some(first) = self.next_first(view) {
                return Some(first);
            }
        }
        if view.deadline.is_some() {
            return self.wait(TICK);
        }
        Some(self.release())
    }

    /// Line 27: all are postponed, so one goes on.
    fn release(&mut self) -> Ready {
        let beside = |op: Op| {
            let mut others = self.postponed.iter().map(|p| p.ready.op);
            others.any(|other| other.obj == op.obj && other.slot != op.slot)
        };
        self.releases = self.releases.saturating_add(1);
        let stays = self.releases > DRAWN && self.rng.index(CHANGE) != 0;
        let again = self
            .postponed
            .iter()
            .position(|p| Some(p.ready.thread) == self.moving && (stays || beside(p.ready.op)));
        let at = again.unwrap_or_else(|| self.rng.index(self.postponed.len()));
        let released = self.postponed.remove(at).ready;
        self.moving = Some(released.thread);
        released
    }
}

impl Strategy for RaceFuzzer {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        let Some(picked) = self.choose(view) else {
            return Decision::Tick;
        };
        if picked.op.kind.gives_way() {
            self.since_way.insert(picked.thread, 0);
        } else if let Some(steps) = self.since_way.get_mut(&picked.thread) {
            *steps = steps.saturating_add(1);
        }
        Decision::Run(picked.thread)
    }

    fn told(&mut self, fact: Fact<'_>) {
        if let Fact::Target { site, sides } = fact {
            self.sides.insert(site, sides);
        }
    }

    fn take_hits(&mut self) -> Vec<Hit> {
        std::mem::take(&mut self.hits)
    }
}
