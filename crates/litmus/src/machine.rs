//! Runs programs, one step of one thread at a time, and writes down what
//! happens as events.
//!
//! A step is one thing that other threads can see. Registers, branches, loops
//! and re-entrant locking belong to the step before them: between steps every
//! thread stands before an action, so whether it can take it is known. `Begin`
//! comes with the fork and `End` with the last action; neither is a step. So
//! the number of executions is what combinatorics says: two threads of `n`
//! independent actions have `(2n)! / n!²`.
//!
//! A thread that throws gives up its locks, innermost first, up to the handler that catches the
//! exception, in the same step.
//!
//! A *stepwise* machine makes steps of these too: of beginnings, ends, and each
//! lock given up on the way out. Then what a step touches does not depend on
//! what it finds there, which the model checker needs.

mod act;
mod ahead;
mod spin;

pub use ahead::{Ahead, Doing};

use crate::code::{Action, Code, Instr, compile};
use crate::flow::{Flow, Tracker};
use crate::program::{Class, Expr, Lock, Program, Reg, Value};
use spin::Spin;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use trace::{Event, Loc, Op, SiteId, ThreadId};

/// What the schedule decides: who makes the next step, and which of the
/// waiters a notify wakes (0 for any other step).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Choice {
    pub thread: ThreadId,
    pub pick: u32,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Threads that were started and can never go on.
    pub deadlocked: Vec<ThreadId>,
    /// Threads that threw, and where.
    pub failed: Vec<(ThreadId, SiteId)>,
    /// Some loop ended because of its bound.
    pub truncated: bool,
}

/// What a thread stands before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    pub site: SiteId,
    /// The event that the step would leave first; none if it would throw, or
    /// leave nothing. A compare-and-set is told as if it succeeded.
    pub op: Option<Op>,
}

/// The state of a run.
#[derive(Clone, Debug)]
pub struct Machine {
    codes: Arc<Vec<Code>>,
    arrays: Arc<Vec<u32>>,
    threads: Vec<Thread>,
    pub(crate) memory: BTreeMap<Loc, Value>,
    /// How often each location was written.
    writes: BTreeMap<Loc, u64>,
    stepwise: bool,
    /// Locks that somebody holds.
    locks: BTreeMap<Lock, Holders>,
    classes: BTreeMap<Class, Initialised>,
    failed: Vec<(ThreadId, SiteId)>,
    truncated: bool,
    tracker: Option<Box<Tracker>>,
    pub events: Vec<Event>,
    pub schedule: Vec<Choice>,
}

#[derive(Clone, Hash, Debug, Default)]
struct Thread {
    status: Status,
    pc: usize,
    regs: BTreeMap<Reg, Value>,
    counters: Vec<u32>,
    waiting: Option<Waiting>,
    interrupted: bool,
    permit: bool,
    /// What to undo if it throws, innermost last.
    inside: Vec<Inside>,
    /// It threw, and is on its way out step by step.
    unwinding: Option<SiteId>,
    /// The loops it spins in.
    spins: Vec<Spin>,
    /// It has nothing to do until one of these is written once more.
    awaits: BTreeMap<Loc, u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Status {
    #[default]
    New,
    Running,
    Ended,
}

#[derive(Clone, Copy, Hash, Debug)]
struct Waiting {
    /// How many times the lock was held.
    depth: u32,
    notified: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Inside {
    Lock {
        lock: Lock,
        shared: bool,
    },
    Init(Class),
    /// A `try`, and where its handler is.
    Handler(usize),
}

#[derive(Clone, Hash, Debug, Default)]
struct Holders {
    /// Thread and how many times.
    exclusive: Option<(ThreadId, u32)>,
    shared: BTreeMap<ThreadId, u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Initialised {
    By(ThreadId),
    Done,
}

/// The thread throws.
struct Throw;

impl Machine {
    pub fn new(program: &Program) -> Machine {
        Machine::begin(program, None, false)
    }

    /// One that also works out what its events depend on.
    pub fn tracking(program: &Program) -> Machine {
        Machine::begin(program, Some(Box::default()), false)
    }

    /// See the module's text.
    pub fn stepwise(program: &Program) -> Machine {
        Machine::begin(program, None, true)
    }

    fn begin(program: &Program, tracker: Option<Box<Tracker>>, stepwise: bool) -> Machine {
        let codes = compile(program, stepwise);
        let mut machine = Machine {
            threads: vec![Thread::default(); codes.len()],
            codes: Arc::new(codes),
            arrays: Arc::new(program.arrays.clone()),
            memory: BTreeMap::new(),
            writes: BTreeMap::new(),
            stepwise,
            locks: BTreeMap::new(),
            classes: BTreeMap::new(),
            failed: Vec::new(),
            truncated: false,
            tracker,
            events: Vec::new(),
            schedule: Vec::new(),
        };
        for thread in 0..program.running.min(machine.threads.len()) {
            machine.start(ThreadId(thread as u32));
        }
        machine
    }

    /// Every step that can be made now. None: the run is over.
    pub fn choices(&self, into: &mut Vec<Choice>) {
        into.clear();
        for n in 0..self.threads.len() as u32 {
            let thread = ThreadId(n);
            let picks = self.picks(thread);
            into.extend((0..picks).map(|pick| Choice { thread, pick }));
        }
    }

    /// How the run ended, once there are no choices.
    pub fn outcome(&self) -> Outcome {
        let stuck = |t: &usize| self.threads[*t].status == Status::Running;
        Outcome {
            deadlocked: (0..self.threads.len())
                .filter(stuck)
                .map(|t| ThreadId(t as u32))
                .collect(),
            failed: self.failed.clone(),
            truncated: self.truncated,
        }
    }

    /// The registers of every thread, up to the highest it used.
    pub fn registers(&self) -> Vec<Vec<Value>> {
        let of = |t: &Thread| {
            let used = t.regs.keys().map(|r| r.0 + 1).max().unwrap_or(0);
            (0..used).map(|r| t.reg(Reg(r))).collect()
        };
        self.threads.iter().map(of).collect()
    }

    /// What the events so far depend on, if that was tracked.
    pub fn flow(&self) -> Option<&Flow> {
        self.tracker.as_ref().map(|tracker| &tracker.flow)
    }

    /// A variable's or element's value.
    pub fn value(&self, loc: Loc) -> Value {
        self.memory.get(&loc).copied().unwrap_or(0)
    }

    /// What `thread` does next, whether or not it can now; none if it does not run.
    pub fn pending(&self, thread: ThreadId) -> Option<Pending> {
        self.next_action(thread)?;
        let t = &self.threads[thread.0 as usize];
        match &self.codes[thread.0 as usize].instrs[t.pc] {
            Instr::Step(action, site) => Some(Pending {
                site: *site,
                op: self.foresee(thread, action),
            }),
            _ => None,
        }
    }

    /// Tells states apart, however they were reached: equal states have equal
    /// keys, others hardly ever.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let state = (&self.threads, &self.memory, &self.locks, &self.classes);
        (state, &self.failed, self.truncated).hash(&mut hasher);
        // What threads that spin remember is to be compared with these.
        if self.threads.iter().any(|t| !t.spins.is_empty()) {
            self.writes.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Makes a step, which must be one of the [`choices`](Self::choices).
    pub fn step(&mut self, choice: Choice) {
        debug_assert!(choice.pick < self.picks(choice.thread), "{choice:?}");
        self.schedule.push(choice);
        let codes = Arc::clone(&self.codes);
        let me = choice.thread;
        if self.thread(me).unwinding.is_some() {
            return self.unwind(me);
        }
        let pc = self.thread(me).pc;
        let Some(Instr::Step(action, site)) = codes[me.0 as usize].instrs.get(pc) else {
            return;
        };
        let before = self.events.len();
        self.track(|tracker| tracker.before(me, action));
        let done = self.act(me, action, *site, choice.pick);
        self.track(|tracker| tracker.after(me, action));
        self.note(me, action, before);
        match done {
            Ok(()) if matches!(action, Action::End) => {}
            Ok(()) => self.settle(me),
            Err(Throw) => self.throw(me, *site),
        }
    }

    fn track(&mut self, what: impl FnOnce(&mut Tracker)) {
        if let Some(tracker) = &mut self.tracker {
            what(tracker);
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        &mut self.threads[thread.0 as usize]
    }

    /// The action `thread` stands before.
    fn next_action(&self, thread: ThreadId) -> Option<&Action> {
        let t = self.threads.get(thread.0 as usize)?;
        if t.status != Status::Running || t.unwinding.is_some() {
            return None;
        }
        match self.codes[thread.0 as usize].instrs.get(t.pc)? {
            Instr::Step(action, _) => Some(action),
            _ => None,
        }
    }

    /// In how many ways `thread` can make its next step; 0 when blocked.
    fn picks(&self, thread: ThreadId) -> u32 {
        let me = &self.threads[thread.0 as usize];
        if me.unwinding.is_some() {
            return u32::from(me.status == Status::Running);
        }
        let Some(action) = self.next_action(thread) else {
            return 0;
        };
        if !self.news(thread) {
            return 0;
        }
        let can = match action {
            Action::Lock { lock, shared } => self.can_lock(thread, *lock, *shared),
            Action::Wait { lock, timed } => match me.waiting {
                None => true,
                Some(waiting) => {
                    (waiting.notified || *timed || me.interrupted)
                        && self.can_lock(thread, *lock, false)
                }
            },
            Action::Notify { lock, all: false } if self.owns(thread, *lock) => {
                return (self.waiters(*lock).len() as u32).max(1);
            }
            Action::Join(other) => self
                .threads
                .get(other.0 as usize)
                .is_none_or(|t| t.status != Status::Running),
            Action::Park => me.permit || me.interrupted,
            Action::InitBegin { class, .. } => !matches!(
                self.classes.get(class),
                Some(Initialised::By(other)) if *other != thread
            ),
            _ => true,
        };
        u32::from(can)
    }

    fn can_lock(&self, thread: ThreadId, lock: Lock, shared: bool) -> bool {
        let Some(held) = self.locks.get(&lock) else {
            return true;
        };
        let mine = held.exclusive.is_none_or(|(owner, _)| owner == thread);
        mine && (shared || held.shared.is_empty())
    }

    fn owns(&self, thread: ThreadId, lock: Lock) -> bool {
        let held = self.locks.get(&lock).and_then(|h| h.exclusive);
        held.is_some_and(|(owner, _)| owner == thread)
    }

    /// Who waits for `lock` and was not notified yet.
    pub fn waiters(&self, lock: Lock) -> Vec<ThreadId> {
        let waits = |t: &ThreadId| {
            let here = matches!(
                self.next_action(*t),
                Some(Action::Wait { lock: on, .. }) if *on == lock
            );
            let waiting = self.threads[t.0 as usize].waiting;
            here && waiting.is_some_and(|w| !w.notified)
        };
        (0..self.threads.len() as u32)
            .map(ThreadId)
            .filter(waits)
            .collect()
    }

    fn emit(&mut self, thread: ThreadId, site: SiteId, op: Op) {
        self.track(|tracker| tracker.event(thread, op));
        self.events.push(Event { thread, site, op });
    }

    fn start(&mut self, thread: ThreadId) {
        let code = &self.codes[thread.0 as usize];
        let (loops, spins) = (code.loops, code.spins);
        let t = self.thread(thread);
        t.status = Status::Running;
        t.counters = vec![0; loops];
        t.spins = vec![Spin::default(); spins];
        if !self.stepwise {
            self.emit(thread, SiteId(0), Op::Begin);
        }
        self.settle(thread);
    }

    /// Runs what is local, up to the thread's next action or its end.
    fn settle(&mut self, me: ThreadId) {
        let codes = Arc::clone(&self.codes);
        let code = &codes[me.0 as usize];
        loop {
            if let Some(tracker) = &mut self.tracker {
                tracker.at(me, self.threads[me.0 as usize].pc);
            }
            let t = &mut self.threads[me.0 as usize];
            let Some(instr) = code.instrs.get(t.pc) else {
                t.status = Status::Ended;
                return self.emit(me, SiteId(0), Op::End);
            };
            match instr {
                Instr::Set(reg, expr) => {
                    let value = t.eval(expr);
                    t.regs.insert(*reg, value);
                    t.pc += 1;
                    self.track(|tracker| tracker.set(me, *reg, expr));
                }
                Instr::Jump(to) => t.pc = *to,
                Instr::Unless(cond, to, sides) => {
                    let holds = t.eval(cond) != 0;
                    t.pc = if holds { t.pc + 1 } else { *to };
                    self.track(|tracker| match sides {
                        Some(sides) => tracker.branch(me, cond, sides, holds),
                        None => tracker.decide(me, cond),
                    });
                }
                Instr::Assert(holds, site) => {
                    if let Some(tracker) = &mut self.tracker {
                        tracker.decide(me, holds);
                    }
                    if t.eval(holds) == 0 {
                        return self.throw(me, *site);
                    }
                    t.pc += 1;
                }
                Instr::Enter(counter) => {
                    t.counters[*counter] = 0;
                    t.pc += 1;
                }
                Instr::Iterate {
                    counter,
                    bound,
                    exit,
                } => {
                    if t.counters[*counter] == *bound {
                        self.truncated = true;
                        t.pc = *exit;
                    } else {
                        t.counters[*counter] += 1;
                        t.pc += 1;
                    }
                }
                Instr::SpinEnter(spin) => {
                    t.spins[*spin].enter();
                    t.pc += 1;
                }
                Instr::SpinHead(spin) => {
                    t.head(*spin);
                    t.pc += 1;
                }
                Instr::SpinLeave(spin) => {
                    t.leave(*spin);
                    t.pc += 1;
                }
                Instr::Try(handler) => {
                    t.inside.push(Inside::Handler(*handler));
                    t.pc += 1;
                }
                Instr::TryEnd => {
                    t.inside.pop();
                    t.pc += 1;
                }
                Instr::Step(action, _) => match self.reentry(me, action) {
                    Some(to) => self.thread(me).pc = to,
                    None => return,
                },
            }
        }
    }

    /// If `action` only changes how deep the thread is inside a lock or class
    /// initialiser of its own: does it, and says where to go on.
    fn reentry(&mut self, me: ThreadId, action: &Action) -> Option<usize> {
        let next = self.thread(me).pc + 1;
        match *action {
            Action::Lock { lock, shared } => {
                *self.depth(me, lock, shared)? += 1;
                self.thread(me).inside.push(Inside::Lock { lock, shared });
                Some(next)
            }
            Action::TryLock { ok, lock, .. } => {
                *self.depth(me, lock, false)? += 1;
                let inside = Inside::Lock {
                    lock,
                    shared: false,
                };
                self.thread(me).inside.push(inside);
                self.thread(me).regs.insert(ok, 1);
                Some(next)
            }
            Action::Unlock { lock, shared } => {
                let depth = self.depth(me, lock, shared)?;
                if *depth < 2 {
                    return None;
                }
                *depth -= 1;
                self.thread(me).inside.pop();
                Some(next)
            }
            Action::InitBegin { class, after } => {
                let mine = self.classes.get(&class) == Some(&Initialised::By(me));
                mine.then_some(after)
            }
            _ => None,
        }
    }

    /// How many times `me` holds `lock`, if it does.
    fn depth(&mut self, me: ThreadId, lock: Lock, shared: bool) -> Option<&mut u32> {
        let held = self.locks.get_mut(&lock)?;
        if shared {
            held.shared.get_mut(&me)
        } else {
            let (owner, depth) = held.exclusive.as_mut()?;
            (*owner == me).then_some(depth)
        }
    }

    fn take(&mut self, me: ThreadId, lock: Lock, shared: bool, depth: u32) {
        let held = self.locks.entry(lock).or_default();
        if shared {
            held.shared.insert(me, depth);
        } else {
            held.exclusive = Some((me, depth));
        }
    }

    /// Gives up a lock, however often held.
    fn give(&mut self, me: ThreadId, lock: Lock, shared: bool) {
        let Some(held) = self.locks.get_mut(&lock) else {
            return;
        };
        if shared {
            held.shared.remove(&me);
        } else {
            held.exclusive = None;
        }
        if held.exclusive.is_none() && held.shared.is_empty() {
            self.locks.remove(&lock);
        }
    }

    fn throw(&mut self, me: ThreadId, site: SiteId) {
        self.thread(me).unwinding = Some(site);
        self.thread(me).awaits.clear();
        self.unwind_silently(me);
        if !self.stepwise {
            while self.thread(me).unwinding.is_some() && self.thread(me).status != Status::Ended {
                self.unwind(me);
            }
        }
    }

    /// Gives up what a thread that threw is inside of, one thing at a time, up to the handler
    /// that catches the exception; without one the thread ends last of all.
    fn unwind(&mut self, me: ThreadId) {
        let site = self.thread(me).unwinding.unwrap_or_default();
        match self.thread(me).inside.pop() {
            Some(Inside::Lock { lock, shared }) => {
                self.give(me, lock, shared);
                self.emit(me, site, unlock(lock, shared));
            }
            Some(Inside::Init(class)) => {
                self.classes.insert(class, Initialised::Done);
                self.emit(me, site, Op::InitEnd(class.id()));
            }
            Some(Inside::Handler(_)) | None => {
                self.failed.push((me, site));
                self.thread(me).status = Status::Ended;
                return self.emit(me, site, Op::End);
            }
        }
        self.unwind_silently(me);
    }

    /// The part of it that no other thread can see: locks that stay taken, as they were taken
    /// more than once, and the way into the handler.
    fn unwind_silently(&mut self, me: ThreadId) {
        while let Some(inside) = self.thread(me).inside.last().copied() {
            match inside {
                Inside::Lock { lock, shared } => match self.depth(me, lock, shared) {
                    Some(depth) if *depth > 1 => *depth -= 1,
                    Some(_) => return,
                    None => {}
                },
                Inside::Init(_) => return,
                Inside::Handler(handler) => {
                    let t = self.thread(me);
                    t.inside.pop();
                    t.unwinding = None;
                    t.pc = handler;
                    return self.settle(me);
                }
            }
            self.thread(me).inside.pop();
        }
    }
}

impl Thread {
    fn reg(&self, reg: Reg) -> Value {
        self.regs.get(&reg).copied().unwrap_or(0)
    }

    fn eval(&self, expr: &Expr) -> Value {
        match expr {
            Expr::Const(value) => *value,
            Expr::Reg(reg) => self.reg(*reg),
            Expr::Add(a, b) => self.eval(a).wrapping_add(self.eval(b)),
            Expr::Sub(a, b) => self.eval(a).wrapping_sub(self.eval(b)),
            Expr::Eq(a, b) => Value::from(self.eval(a) == self.eval(b)),
            Expr::Lt(a, b) => Value::from(self.eval(a) < self.eval(b)),
            Expr::And(a, b) => Value::from(self.eval(a) != 0 && self.eval(b) != 0),
            Expr::Or(a, b) => Value::from(self.eval(a) != 0 || self.eval(b) != 0),
            Expr::Not(a) => Value::from(self.eval(a) == 0),
        }
    }
}

fn unlock(lock: Lock, shared: bool) -> Op {
    if shared {
        Op::ReleaseShared(lock.id())
    } else {
        Op::Release(lock.id())
    }
}
