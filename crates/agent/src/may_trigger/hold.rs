//! Phase II in a program that runs freely: a thread that is to wait does so in
//! here, before it goes for its lock, until it is released, until nobody else can
//! get on (all are blocked, or wait here too), or until its patience ends. No wait is without a bound: the time lost by waits that came to nothing
//! is limited for the run as a whole, to a part of the time that it has run.

use super::{Hidden, Live};
use crate::Agent;
use schedule::may_trigger::{Answer, Counts, Finder, Peer, Plan};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Between two looks whether anybody can get on.
const LOOK: Duration = Duration::from_millis(2);
/// Looks in a row that find nobody.
const LOOKS: u32 = 3;
/// What may be lost in vain: so much, and a part of the time that has passed.
const START: Duration = Duration::from_millis(600);
const PART: u32 = 4;
/// Of what is left, a wait takes so much at most.
const SHARE: u32 = 2;
const LEAST: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub struct Holder {
    state: Mutex<State>,
    released: Condvar,
    /// For compiled code: the number of the escorted thread plus one.
    escort: AtomicI32,
    began: Instant,
}

#[derive(Debug)]
struct State {
    finder: Finder,
    /// Threads that were released and have not noticed yet.
    free: Vec<u32>,
    lost: Duration,
}

impl Holder {
    pub fn new(plan: Plan, seed: u64) -> Holder {
        Holder {
            state: Mutex::new(State {
                finder: Finder::new(plan, seed),
                free: Vec::new(),
                lost: Duration::ZERO,
            }),
            released: Condvar::new(),
            escort: AtomicI32::new(0),
            began: Instant::now(),
        }
    }

    pub fn escort_address(&self) -> i64 {
        self.escort.as_ptr() as i64
    }

    pub fn counts(&self) -> Counts {
        self.lock().finder.counts
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// After every change: who is escorted, and who may go on.
    fn publish(&self, state: &mut State) {
        let escort = state.finder.escorted().map_or(0, |t| t as i32 + 1);
        self.escort.store(escort, Ordering::Relaxed);
        let released = state.finder.take_released();
        if !released.is_empty() {
            state.free.extend(released);
            self.released.notify_all();
        }
    }

    /// How long a wait that begins now may be.
    fn patience(&self, state: &State) -> Duration {
        let allowed = START + self.began.elapsed() / PART;
        (allowed.saturating_sub(state.lost) / SHARE).max(LEAST)
    }

    fn wait(&self, a: &Agent, hidden: &Hidden, me: u32, mut state: MutexGuard<'_, State>) {
        let begin = Instant::now();
        let patience = self.patience(&state);
        let mut unable = 0;
        loop {
            let slept = self.released.wait_timeout(state, LOOK);
            state = slept.unwrap_or_else(|e| e.into_inner()).0;
            if let Some(at) = state.free.iter().position(|t| *t == me) {
                state.free.swap_remove(at);
                return;
            }
            if begin.elapsed() >= patience {
                state.lost += begin.elapsed();
                let peers = hidden.peers(a);
                state.finder.expired(me, &peers);
                self.publish(&mut state);
                return;
            }
            let peers = hidden.peers(a);
            let goes = |p: &Peer| p.able && !state.finder.is_waiting(p.thread);
            unable = match peers.iter().any(goes) {
                true => 0,
                false => unable + 1,
            };
            if unable >= LOOKS {
                unable = 0;
                state.finder.stalled(&peers);
                state.lost += LOOK;
                self.publish(&mut state);
            }
        }
    }

    pub fn ended(&self, a: &Agent, hidden: &Hidden, thread: u32) {
        let peers = hidden.peers(a);
        let mut state = self.lock();
        state.finder.ended(thread, &peers);
        self.publish(&mut state);
    }
}

impl Hidden {
    /// The current thread is about to take a lock; returns when it may.
    pub fn request(&self, a: &Agent, me: u32, lock_class: i32) {
        let Some(holder) = &self.holder else {
            return;
        };
        let class = self.planned(lock_class);
        // Without a lock, and mostly the end of it.
        let concerns = {
            let live = self.live.read().unwrap_or_else(|e| e.into_inner());
            let triggers = |m: u32| self.plan.may_trigger(m, class);
            let may = |l: &Live| l.id != me && l.clock.frames().into_iter().any(triggers);
            live.iter().any(may)
        };
        if !concerns && holder.escort.load(Ordering::Relaxed) == 0 || self.is_internal(a) {
            return;
        }
        let peers = self.peers(a);
        let mut state = holder.lock();
        let answer = state.finder.request(me, class, &peers);
        holder.publish(&mut state);
        if answer == Answer::Wait {
            holder.wait(a, self, me, state);
        }
    }

    /// The escorted thread has taken a lock.
    pub fn acquired(&self, a: &Agent, me: u32, lock_class: i32) {
        if let Some(holder) = &self.holder {
            let (class, peers) = (self.planned(lock_class), self.peers(a));
            let mut state = holder.lock();
            state.finder.acquired(me, class, &peers);
            holder.publish(&mut state);
        }
    }

    /// Whether a thread waits for the end of another: that one is most likely to be
    /// held back itself.
    fn joins(&self, a: &Agent, live: &Live) -> bool {
        let mut collector = self.collector.lock().unwrap_or_else(|e| e.into_inner());
        let frames = a.jvmti.stack_of(live.object.get(), 4);
        frames.iter().any(|f| collector.is_join(a, *f))
    }

    /// Threads that have begun and not ended, where they are, and whether they
    /// depend on others: for a lock, a notification or a permit.
    fn peers(&self, a: &Agent) -> Vec<Peer> {
        use crate::jvmti::state;
        let live = self.live();
        let peer = |l: &Live| {
            let now = a.jvmti.thread_state(l.object.get());
            let there = now & state::ALIVE != 0 && !(now & state::IN_WAIT != 0 && self.joins(a, l));
            there.then(|| Peer {
                thread: l.id,
                methods: l.clock.frames(),
                able: now & (state::RUNNABLE | state::SLEEPING) != 0,
            })
        };
        live.iter().filter_map(peer).collect()
    }
}
