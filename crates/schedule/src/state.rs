//! Who can run, who waits for what, and what time it is: the state of a
//! controlled run, without the run. The agent tells it what the running thread
//! is about to do and is told who goes on; tests tell it made-up things.
//!
//! # Rules
//! * At most one thread is running. A thread that is neither running nor ended
//!   is ready (with the operation it does next), blocked, or *outside*: inside
//!   the JVM or native code, where nobody can stop it.
//! * The strategy is asked when there is a choice: two threads are ready, or
//!   one is and time could pass instead. Each answer is a step.
//! * Time is virtual. It moves a little with each step, and to the next deadline
//!   when nobody is ready, or when the strategy lets those who are be late
//!   ([`SchedulerState::delays`]). Deadlines expire in order, those of one instant in
//!   the order in which they were set.
//! * Which waiter a notify wakes is drawn from the seed, as Java leaves it open.
//! * In an exploration the strategy is asked before every operation and knows who
//!   can make it: threads are always ready, time does not pass except for sleeps and
//!   timeouts, and nothing is done to be fair.
//! * A run that makes steps without progress is first scheduled fairly
//!   (`progress`), and called a livelock when that does not help. While somebody
//!   is outside, nothing is called a livelock or stuck: help may come from there.

mod queries;
mod ranges;
mod time;

pub use ranges::Range;

use crate::adversary::Adversary;
use crate::delays::Delays;
use crate::log::ReadySet;
use crate::progress::{Progress, Verdict};
use crate::status::{Blocked, Counts, Next, Status, Trail, Wake, Why};
use crate::{
    Decider, Decision, Divergence, Fact, Guided, Hit, Kind, Op, Ready, Rng, Thread, View,
    may_trigger,
};
use std::collections::BTreeSet;
use std::fmt;

/// What a step costs in virtual nanoseconds.
const STEP: u64 = 1_000;
/// What a long spin costs: programs wait for the clock that way too.
const SPIN: u64 = 1_000_000;

#[derive(Clone, Debug)]
struct Slot {
    status: Status,
    daemon: bool,
    permit: bool,
    /// What it tried since its last step came to nothing.
    failed: bool,
    wake: Wake,
    /// Order in which it blocked.
    since: u64,
    /// What it is about to wait for, and whether it was woken before it did.
    awaits: Option<u64>,
    missed: bool,
    /// It stands before all of these.
    ranges: Vec<Range>,
}

pub struct SchedulerState {
    decider: Decider,
    slots: Vec<Slot>,
    /// Ready threads in the order of their numbers.
    ready: Vec<Ready>,
    running: Option<Thread>,
    turns: u64,
    last: Option<Thread>,
    outside: usize,
    /// Things that others do for the program and that may wake somebody.
    errands: usize,
    now: u64,
    timers: BTreeSet<(u64, u64, Thread)>,
    order: u64,
    rng: Rng,
    adversary: Adversary,
    progress: Progress,
    /// The program has looked at the clock since time last leapt.
    clock_seen: bool,
    /// How far it leaps next, when threads seem to wait for it.
    leap: u64,
    /// Threads take turns, whatever the strategy would say.
    fair: bool,
    pub counts: Counts,
    max_steps: u64,
    /// One step of so many wakes a waiting or parked thread for no reason, as
    /// Java allows; 0: never.
    spurious: u64,
    trail: Vec<Trail>,
    delays: Delays,
    /// The run is part of an exploration.
    guided: bool,
    /// The trail says who else could have gone on.
    tells_ready: bool,
}

fn op(kind: Kind, site: u32, obj: u64) -> Op {
    Op {
        kind,
        site,
        obj,
        slot: 0,
    }
}

impl SchedulerState {
    pub fn new(decider: impl Into<Decider>, seed: u64, max_steps: u64) -> SchedulerState {
        let decider = decider.into();
        SchedulerState {
            guided: matches!(decider, Decider::Guided(_)),
            decider,
            slots: vec![],
            ready: vec![],
            running: None,
            turns: 0,
            last: None,
            outside: 0,
            errands: 0,
            now: 0,
            timers: BTreeSet::new(),
            order: 0,
            // Not the strategy's own numbers, or the two would go together.
            rng: Rng::new(seed ^ 0x6e6f_7469_6679),
            adversary: Adversary::new(seed),
            progress: Progress::default(),
            clock_seen: false,
            leap: time::LEAP,
            fair: false,
            counts: Counts::default(),
            max_steps,
            spurious: 0,
            trail: vec![],
            delays: Delays::default(),
            tells_ready: false,
        }
    }

    /// The trail is to say at each decision who could have gone on.
    pub fn tell_ready(&mut self) {
        self.tells_ready = true;
    }

    /// Wakes a thread that waits or is parked for no reason, about once in so many
    /// steps.
    pub fn wake_spuriously(&mut self, every: u64) {
        self.spurious = every;
    }

    /// A new thread, ready to begin.
    pub fn start(&mut self, daemon: bool) -> Thread {
        let thread = self.slots.len() as Thread;
        self.slots.push(Slot {
            status: Status::Outside,
            daemon,
            permit: false,
            failed: false,
            wake: Wake::default(),
            since: 0,
            awaits: None,
            missed: false,
            ranges: vec![],
        });
        self.outside += 1;
        self.make_ready(thread, op(Kind::Begin, 0, 0));
        self.progress.progress();
        thread
    }

    /// A thread that is running when it is first heard of.
    pub fn start_running(&mut self, daemon: bool) -> Thread {
        let thread = self.start(daemon);
        self.set(thread, Status::Running);
        thread
    }

    /// A thread that was announced could not be started.
    pub fn discard(&mut self, thread: Thread) {
        self.set(thread, Status::Ended);
    }

    /// The running thread is about to do `op`; so is one that comes from outside.
    pub fn point(&mut self, me: Thread, op: Op) -> Next {
        if self.status(me) == Status::Outside {
            return self.back(me, op);
        }
        if op.kind == Kind::Spin {
            self.counts.spins += 1;
            self.now += SPIN;
        }
        self.make_ready(me, op);
        self.resume()
    }

    /// The running thread still has the monitor of `obj` and is about to wait for
    /// it. Threads outside may take the monitor before the thread blocks.
    pub fn about_to_wait(&mut self, me: Thread, obj: u64) {
        if let Some(slot) = self.slots.get_mut(me as usize) {
            (slot.awaits, slot.missed) = (Some(obj), false);
        }
    }

    /// The running thread cannot go on.
    pub fn block(&mut self, me: Thread, why: Blocked) -> Next {
        self.order += 1;
        let mut missed = false;
        if let Some(slot) = self.slots.get_mut(me as usize) {
            slot.since = self.order;
            let awaited = slot.awaits.take() == Some(why.obj) && why.why == Why::Wait;
            missed = std::mem::take(&mut slot.missed) && awaited;
        }
        if let Some(deadline) = why.deadline {
            self.timers.insert((deadline, self.order, me));
        }
        self.set(me, Status::Blocked(why));
        if missed {
            self.wake(me, Wake::Signalled);
        }
        self.resume()
    }

    /// What a park that returns at once does to the thread's permit.
    pub fn take_permit(&mut self, me: Thread) {
        if let Some(slot) = self.slots.get_mut(me as usize) {
            slot.permit = false;
        }
    }

    /// The running thread parks; None if it had a permit and goes on.
    pub fn park(&mut self, me: Thread, site: u32, deadline: Option<u64>) -> Option<Next> {
        let slot = self.slots.get_mut(me as usize)?;
        if std::mem::take(&mut slot.permit) {
            slot.wake = Wake::Signalled;
            return None;
        }
        Some(self.block(
            me,
            Blocked {
                why: Why::Park,
                obj: 0,
                site,
                owner: None,
                deadline,
            },
        ))
    }

    pub fn unpark(&mut self, thread: Thread) {
        match self.status(thread) {
            Status::Blocked(b) if b.why == Why::Park => self.wake(thread, Wake::Signalled),
            Status::Ended => {}
            _ => {
                if let Some(slot) = self.slots.get_mut(thread as usize) {
                    slot.permit = true;
                }
            }
        }
    }

    pub fn interrupt(&mut self, thread: Thread) {
        match self.status(thread) {
            Status::Blocked(b) if b.why != Why::Monitor => self.wake(thread, Wake::Interrupted),
            Status::Ended => {}
            // The next park returns at once; the flag itself is Java's.
            _ => {
                if let Some(slot) = self.slots.get_mut(thread as usize) {
                    slot.permit = true;
                }
            }
        }
    }

    /// Wakes one or all that wait for `obj`, whose monitor the caller holds: they
    /// go on to wait for that.
    pub fn notify(&mut self, obj: u64, all: bool) {
        let waiting: Vec<Thread> = self.waiting(obj);
        let woken = if all || waiting.len() < 2 {
            &waiting[..]
        } else {
            let at = self.rng.below(waiting.len() as u64) as usize;
            &waiting[at..=at]
        };
        let owner = self.running;
        for &thread in woken {
            self.forget_timer(thread);
            if let Some(slot) = self.slots.get_mut(thread as usize)
                && let Status::Blocked(b) = &mut slot.status
            {
                b.why = Why::Monitor;
                b.owner = owner;
                b.deadline = None;
                slot.wake = Wake::Signalled;
            }
            self.progress.progress();
        }
    }

    /// Wakes all that wait for `obj`, or are about to: a thread ended, or one that
    /// is not controlled notified.
    pub fn wake_waiting(&mut self, obj: u64) {
        for slot in &mut self.slots {
            slot.missed |= slot.awaits == Some(obj);
        }
        for thread in self.waiting(obj) {
            self.wake(thread, Wake::Signalled);
        }
    }

    fn waiting(&self, obj: u64) -> Vec<Thread> {
        let waits =
            |s: &Slot| matches!(s.status, Status::Blocked(b) if b.why == Why::Wait && b.obj == obj);
        let all = (0..).zip(&self.slots).filter(|(_, s)| waits(s));
        let mut all: Vec<(u64, Thread)> = all.map(|(t, s)| (s.since, t)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, t)| t).collect()
    }

    /// The monitor of `obj` is free: a thread that waits for it is ready to take it.
    pub fn released(&mut self, obj: u64) {
        for thread in 0..self.slots.len() as Thread {
            if let Status::Blocked(b) = self.status(thread)
                && b.why == Why::Monitor
                && b.obj == obj
            {
                self.make_ready(thread, op(Kind::Acquire, b.site, obj));
            }
        }
    }

    /// The running thread goes where it cannot be stopped, or was found there.
    pub fn leave(&mut self, me: Thread) -> Next {
        self.set(me, Status::Outside);
        self.resume()
    }

    /// It is back, and about to do `op`. The running thread goes on.
    pub fn back(&mut self, me: Thread, op: Op) -> Next {
        self.make_ready(me, op);
        self.progress.progress();
        self.resume()
    }

    /// Something began outside that is no thread of the program's and may wake one
    /// when it is done, such as a process.
    pub fn errand(&mut self) {
        self.errands += 1;
    }

    /// It is done, and the thread that did it is about to say so.
    pub fn errand_done(&mut self) {
        self.errands = self.errands.saturating_sub(1);
    }

    /// Whether what is awaited can come from outside only, while threads here ask
    /// for it in circles.
    pub fn is_polling(&self) -> bool {
        self.fair && self.can_be_helped()
    }

    fn can_be_helped(&self) -> bool {
        self.outside + self.errands > 0
    }

    /// A thread is done. After the last one that the program waits for nobody runs
    /// before the JVM comes to shut down: how far daemons get until then would be
    /// chance.
    pub fn end(&mut self, me: Thread) -> Next {
        self.set(me, Status::Ended);
        self.progress.progress();
        let waited_for = |s: &Slot| !s.daemon && s.status != Status::Ended;
        // In an exploration daemons go on as if the last of the others were slow
        // to end.
        match self.guided || self.slots.iter().any(waited_for) {
            true => self.resume(),
            false => Next::Idle,
        }
    }

    /// What the running thread tried came to nothing.
    pub fn failed(&mut self) {
        let running = self.running.and_then(|t| self.slots.get_mut(t as usize));
        if let Some(slot) = running {
            slot.failed = true;
        }
        if let Some(guided) = self.guided() {
            guided.failed();
        }
    }

    /// A read of the running thread may see one of so many writes; which it sees, the newest being 0.
    pub fn see(&mut self, me: Thread, site: u32, candidates: usize) -> usize {
        let sees = match &mut self.decider {
            Decider::Strategy(_) => self.adversary.pick(me, site, candidates),
            Decider::Replay(replay) => replay.see(candidates),
            Decider::Guided(guided) => guided.see(me, site, candidates),
        };
        self.trail.push(Trail::Saw(sees as u32));
        sees
    }

    /// Somebody may have become ready while nobody was running.
    pub fn resume(&mut self) -> Next {
        match self.running {
            Some(_) => Next::Idle,
            None => self.choose(),
        }
    }

    /// Tells the strategy what it may want to know.
    pub fn tell(&mut self, fact: Fact<'_>) {
        self.decider.told(fact);
    }

    /// Races that the strategy made happen since this was last asked.
    pub fn take_hits(&mut self) -> Vec<Hit> {
        self.decider.take_hits()
    }

    /// What the strategy has done about hidden races.
    pub fn hidden_counts(&self) -> Option<may_trigger::Counts> {
        self.decider.hidden_counts()
    }

    /// The exploration that the run is part of.
    pub fn guided(&mut self) -> Option<&mut Guided> {
        match &mut self.decider {
            Decider::Guided(guided) => Some(guided),
            _ => None,
        }
    }

    /// Where the run left the one that it was to repeat.
    pub fn divergence(&self) -> Option<&Divergence> {
        match &self.decider {
            Decider::Replay(replay) => replay.divergence(),
            _ => None,
        }
    }

    /// Steps since the last call: who, and what it was about to do.
    pub fn take_trail(&mut self) -> std::vec::Drain<'_, Trail> {
        self.trail.drain(..)
    }

    fn choose(&mut self) -> Next {
        loop {
            self.expire_due();
            let Some(&first) = self.ready.first() else {
                if self.time_stands_still() {
                    return Next::Idle;
                }
                if self.expire_next() {
                    continue;
                }
                let waited_for = |s: &Slot| !s.daemon && matches!(s.status, Status::Blocked(_));
                let stuck = !self.can_be_helped() && self.slots.iter().any(waited_for);
                return if stuck { Next::Stuck } else { Next::Idle };
            };
            if self.guided {
                return self.choose_guided();
            }
            if self.slots.iter().any(|s| !s.ranges.is_empty()) {
                self.aim();
            }
            if self.ready.len() == 1 && self.timers.is_empty() {
                return self.run(first);
            }
            if self.counts.steps >= self.max_steps {
                return Next::Limit;
            }
            if self.tells_ready {
                let set = self.ready_set();
                self.trail.push(Trail::Ready(set));
            }
            let chosen = if self.fair {
                self.fairly()
            } else {
                match self.decider.pick(&View {
                    ready: &self.ready,
                    last: self.last,
                    deadline: self.next_deadline(),
                    step: self.counts.steps,
                }) {
                    Decision::Tick if !self.timers.is_empty() => {
                        self.note_delay();
                        self.expire_next();
                        self.counts.ticks += 1;
                        self.trail.push(Trail::Tick);
                        continue;
                    }
                    Decision::Run(thread) => self.ready_entry(thread).unwrap_or(first),
                    Decision::Tick | Decision::Stuck => first,
                }
            };
            self.counts.steps += 1;
            self.now += STEP;
            self.perhaps_spurious();
            self.trail.push(Trail::Step(chosen));
            let slot = self.slots.get_mut(chosen.thread as usize);
            let failed = slot.is_some_and(|s| std::mem::take(&mut s.failed));
            let failed = failed || chosen.op.kind.gives_way();
            match self.progress.step(chosen.thread, &chosen.op, failed) {
                Verdict::Going => self.fair = false,
                Verdict::Suspect => self.fair = true,
                // They wait for what somebody outside will bring.
                Verdict::Livelock if self.can_be_helped() => {}
                Verdict::Livelock if self.time_may_help() => self.fair = false,
                Verdict::Livelock => return Next::Livelock,
            }
            return self.run(chosen);
        }
    }

    /// Who could go on now, without those that give way.
    fn ready_set(&self) -> ReadySet {
        let goes_on = self.ready.iter().filter(|r| !r.op.kind.gives_way());
        ReadySet {
            threads: goes_on.map(|r| r.thread).collect(),
            may_tick: !self.timers.is_empty(),
        }
    }

    /// The next step of an exploration.
    fn choose_guided(&mut self) -> Next {
        if self.counts.steps >= self.max_steps {
            return Next::Limit;
        }
        let view = View {
            ready: &self.ready,
            last: self.last,
            deadline: None,
            step: self.counts.steps,
        };
        let decision = self.decider.pick(&view);
        let waited_for = |s: &Slot| !s.daemon && s.status != Status::Ended;
        let stuck = !self.can_be_helped() && self.slots.iter().any(waited_for);
        let next = match (decision, &mut self.decider) {
            (Decision::Run(thread), _) => Some(thread),
            _ if !stuck => return Next::Idle,
            (_, Decider::Guided(guided)) => guided.look(&view),
            _ => None,
        };
        let Some(chosen) = next.and_then(|thread| self.ready_entry(thread)) else {
            return Next::Stuck;
        };
        self.counts.steps += 1;
        self.trail.push(Trail::Step(chosen));
        self.run(chosen)
    }

    fn perhaps_spurious(&mut self) {
        if self.spurious == 0 || self.rng.below(self.spurious) != 0 {
            return;
        }
        let waits = |s: &Slot| matches!(s.status, Status::Blocked(b) if matches!(b.why, Why::Wait | Why::Park));
        let all = (0..).zip(&self.slots).filter(|(_, s)| waits(s));
        let all: Vec<Thread> = all.map(|(t, _)| t).collect();
        if !all.is_empty() {
            let thread = all[self.rng.index(all.len())];
            self.wake(thread, Wake::Spurious);
        }
    }

    /// Round robin.
    fn fairly(&self) -> Ready {
        let after = self.last.map_or(0, |t| t + 1);
        let at = self.ready.partition_point(|r| r.thread < after);
        self.ready[if at < self.ready.len() { at } else { 0 }]
    }

    fn ready_entry(&self, thread: Thread) -> Option<Ready> {
        let at = self.ready.binary_search_by_key(&thread, |r| r.thread);
        at.ok().map(|at| self.ready[at])
    }

    fn run(&mut self, ready: Ready) -> Next {
        self.turns += 1;
        if self.last != Some(ready.thread) {
            self.counts.switches += 1;
        }
        self.set(ready.thread, Status::Running);
        if let Some(slot) = self.slots.get_mut(ready.thread as usize) {
            slot.ranges.clear();
        }
        Next::Run(ready.thread)
    }

    fn wake(&mut self, thread: Thread, how: Wake) {
        let Status::Blocked(b) = self.status(thread) else {
            return;
        };
        let kind = match b.why {
            Why::Monitor | Why::Wait => Kind::Acquire,
            Why::Park => Kind::Park,
            Why::Sleep => Kind::Sleep,
        };
        if let Some(slot) = self.slots.get_mut(thread as usize) {
            slot.wake = how;
            slot.failed = how == Wake::TimedOut && b.why != Why::Sleep;
        }
        if how != Wake::TimedOut {
            self.progress.progress();
        }
        self.make_ready(thread, op(kind, b.site, b.obj));
    }

    fn forget_timer(&mut self, thread: Thread) {
        if let Some(slot) = self.slots.get(thread as usize)
            && let Status::Blocked(Blocked {
                deadline: Some(deadline),
                ..
            }) = slot.status
        {
            self.timers.remove(&(deadline, slot.since, thread));
        }
    }

    fn make_ready(&mut self, thread: Thread, op: Op) {
        self.set(thread, Status::Ready(op));
    }

    /// The one place where a status changes, so that everything derived from it
    /// stays true.
    fn set(&mut self, thread: Thread, status: Status) {
        self.forget_timer_unless_blocking(thread, status);
        let Some(slot) = self.slots.get_mut(thread as usize) else {
            return;
        };
        let old = std::mem::replace(&mut slot.status, status);
        match old {
            Status::Ready(_) => self.ready.retain(|r| r.thread != thread),
            Status::Running => self.running = None,
            Status::Outside => self.outside -= 1,
            Status::Blocked(_) | Status::Ended => {}
        }
        match status {
            Status::Ready(op) => {
                let at = self.ready.partition_point(|r| r.thread < thread);
                self.ready.insert(at, Ready { thread, op });
            }
            Status::Running => {
                self.running = Some(thread);
                self.last = Some(thread);
            }
            Status::Outside => self.outside += 1,
            Status::Blocked(_) | Status::Ended => {}
        }
    }

    fn forget_timer_unless_blocking(&mut self, thread: Thread, status: Status) {
        if !matches!(status, Status::Blocked(_)) {
            self.forget_timer(thread);
        }
    }
}

impl fmt::Debug for SchedulerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedulerState")
            .field("decider", &self.decider)
            .field("slots", &self.slots)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
