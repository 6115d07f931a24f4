//! The order of an execution's steps: which happened before which, given what
//! depends on what, and what a thread could have done in a part of it.
//!
//! The order is the transitive closure of dependence along the execution; two
//! executions are equivalent if they have the same steps in the same order of
//! this kind. It is kept as a vector clock a step. (It is not the happens-before
//! of the Java memory model: every two conflicting operations are ordered.)

use crate::op::{Execution, Label, Op, Resource, Step, Thread, Touching};
use rustc_hash::FxHashMap;

/// An execution with its order.
#[derive(Debug)]
pub(crate) struct History<'a> {
    pub steps: &'a [Step],
    pub touching: Vec<Touching<'a>>,
    /// The threads that made steps, and their columns.
    columns: FxHashMap<Thread, usize>,
    width: usize,
    /// `width` numbers a step: how many steps of each thread happened before
    /// it, itself included.
    clocks: Vec<u32>,
    /// Each step's number within its thread, from 1.
    positions: Vec<u32>,
    /// The step of the same thread before each one.
    previous: Vec<Option<usize>>,
    /// Each thread's last step.
    last: FxHashMap<Thread, usize>,
    /// Who touched a resource, in order, and whether exclusively.
    touched: FxHashMap<Resource, Vec<(usize, bool)>>,
}

impl<'a> History<'a> {
    pub fn new(execution: &'a Execution) -> History<'a> {
        let steps = &execution.steps;
        let mut columns = FxHashMap::default();
        let made = steps.iter().map(|s| s.label.thread);
        let others = execution.ready.iter().flatten().map(|r| r.label.thread);
        for thread in made.chain(others) {
            let next = columns.len();
            columns.entry(thread).or_insert(next);
        }
        let width = columns.len();
        let mut history = History {
            steps,
            touching: steps.iter().map(|s| Touching::new(&s.label)).collect(),
            columns,
            width,
            clocks: Vec::with_capacity(steps.len() * width),
            positions: Vec::with_capacity(steps.len()),
            previous: Vec::with_capacity(steps.len()),
            last: FxHashMap::default(),
            touched: FxHashMap::default(),
        };
        for at in 0..steps.len() {
            history.push(at);
        }
        history
    }

    fn push(&mut self, at: usize) {
        let thread = self.steps[at].label.thread;
        let mut clock = self.before(thread, None);
        for (resource, exclusive) in &self.touching[at].footprint {
            let earlier = self.touched.entry(*resource).or_default();
            for (other, theirs) in earlier.iter().rev() {
                if *exclusive || *theirs {
                    let from = *other * self.width;
                    join(&mut clock, &self.clocks[from..from + self.width]);
                }
                // Whatever is earlier happened before that one.
                if *theirs {
                    break;
                }
            }
            earlier.push((at, *exclusive));
        }
        let column = self.columns[&thread];
        clock[column] += 1;
        self.positions.push(clock[column]);
        self.clocks.extend(clock);
        let previous = self.last.insert(thread, at);
        self.previous.push(previous);
    }

    pub fn clock(&self, step: usize) -> &[u32] {
        &self.clocks[step * self.width..(step + 1) * self.width]
    }

    /// What happened before the thread's step `at` because the thread did it;
    /// `None`: before what it would do next.
    pub fn before(&self, thread: Thread, at: Option<usize>) -> Vec<u32> {
        let previous = match at {
            None => self.last.get(&thread).copied(),
            Some(at) => self.previous[at],
        };
        match previous {
            Some(step) => self.clock(step).to_vec(),
            None => self.none(),
        }
    }

    /// A clock that knows of nothing.
    pub fn none(&self) -> Vec<u32> {
        vec![0; self.width]
    }

    /// One more step of the thread.
    pub fn advance(&self, clock: &mut [u32], thread: Thread) {
        if let Some(column) = self.columns.get(&thread) {
            clock[*column] += 1;
        }
    }

    /// What a clock knows, in an order that does not depend on the execution.
    pub fn by_thread(&self, clock: &[u32]) -> Vec<(Thread, u32)> {
        let columns = self.columns.iter();
        let known = columns.map(|(thread, column)| (*thread, clock[*column]));
        let mut known: Vec<_> = known.filter(|(_, n)| *n > 0).collect();
        known.sort_unstable();
        known
    }

    /// Whether `clock` knows of the step.
    pub fn covers(&self, clock: &[u32], step: usize) -> bool {
        clock[self.columns[&self.steps[step].label.thread]] >= self.positions[step]
    }

    /// Whether step `a` happened before step `b`, or is it.
    pub fn ordered(&self, a: usize, b: usize) -> bool {
        a <= b && self.covers(self.clock(b), a)
    }

    pub fn touches(&self, resource: Resource) -> &[(usize, bool)] {
        self.touched.get(&resource).map_or(&[], Vec::as_slice)
    }

    /// Whether the thread of `label`, all of whose earlier steps are kept,
    /// could do it after all steps but `without` and what happened after that.
    pub fn enabled(&self, label: &Label, without: usize) -> bool {
        Part {
            history: self,
            without,
        }
        .enabled(label)
    }
}

pub(crate) fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// The steps of an execution that do not need a certain one. They could have
/// been made by themselves, in the same order and with the same results.
struct Part<'a> {
    history: &'a History<'a>,
    without: usize,
}

impl Part<'_> {
    fn steps(&self, resource: Resource) -> impl Iterator<Item = &Step> {
        self.history
            .touches(resource)
            .iter()
            .filter(|(step, _)| !self.history.ordered(self.without, *step))
            .map(|(step, _)| &self.history.steps[*step])
    }

    fn enabled(&self, label: &Label) -> bool {
        let me = label.thread;
        let can = match label.op {
            Op::Begin => self.born(me),
            Op::Acquire {
                lock,
                interruptible,
            } => self.free(lock, me, false) || (interruptible && self.interrupted(me)),
            Op::AcquireShared(lock) => self.free(lock, me, true),
            Op::WaitEnd { lock, timed } => {
                self.free(lock, me, false)
                    && (timed || self.interrupted(me) || self.notified(lock, me))
            }
            Op::Park { timed } => timed || self.permit(me) || self.interrupted(me),
            Op::Join {
                thread,
                timed,
                interruptible,
            } => timed || !self.alive(thread) || (interruptible && self.interrupted(me)),
            Op::InitBegin(class) => self.not_initialised_by_others(class, me),
            _ => true,
        };
        can && self.new_to_read(label)
    }

    fn free(&self, lock: u64, me: Thread, shared: bool) -> bool {
        let (mut owner, mut sharers) = (None, Vec::new());
        for Step { label, done, .. } in self.steps(Resource::Lock(lock)) {
            match label.op {
                Op::Acquire { .. } | Op::TryAcquire(_) | Op::WaitEnd { .. } if *done => {
                    owner = Some(label.thread);
                }
                Op::Wait(_) if !*done => {}
                Op::Release(_) | Op::Wait(_) => owner = None,
                Op::AcquireShared(_) | Op::TryAcquireShared(_) if *done => {
                    sharers.push(label.thread);
                }
                Op::ReleaseShared(_) => sharers.retain(|t| *t != label.thread),
                _ => {}
            }
        }
        owner.is_none_or(|t| t == me) && (shared || sharers.is_empty())
    }

    fn notified(&self, lock: u64, me: Thread) -> bool {
        let (mut waiting, mut notified) = (false, false);
        for Step {
            label, done, woken, ..
        } in self.steps(Resource::Waiters(lock))
        {
            match label.op {
                Op::Wait(_) if label.thread == me => (waiting, notified) = (*done, false),
                Op::Notify(_) if *woken == Some(me) => notified = waiting,
                Op::NotifyAll(_) => notified |= waiting,
                _ => {}
            }
        }
        notified
    }

    fn interrupted(&self, me: Thread) -> bool {
        let mut flag = false;
        for step in self.steps(Resource::Flag(me)) {
            match step.label.op {
                Op::Interrupt(_) => flag = true,
                _ => flag &= !step.cleared,
            }
        }
        flag
    }

    fn permit(&self, me: Thread) -> bool {
        let mut permit = false;
        for step in self.steps(Resource::Permit(me)) {
            match step.label.op {
                Op::Unpark(_) => permit |= step.done,
                _ => permit = false,
            }
        }
        permit
    }

    fn born(&self, thread: Thread) -> bool {
        let start = |s: &Step| s.label.op == Op::Start(thread) && s.done;
        let all = self.history.touches(Resource::Born(thread)).iter();
        if all.clone().any(|(k, _)| start(&self.history.steps[*k])) {
            self.steps(Resource::Born(thread)).any(start)
        } else {
            // It ran from the beginning, or never.
            self.history.last.contains_key(&thread)
        }
    }

    fn alive(&self, thread: Thread) -> bool {
        let ended = |s: &Step| s.label.op == Op::End;
        self.born(thread) && !self.steps(Resource::Gone(thread)).any(ended)
    }

    fn not_initialised_by_others(&self, class: u64, me: Thread) -> bool {
        let mut by = None;
        for step in self.steps(Resource::Class(class)) {
            match step.label.op {
                Op::InitBegin(_) if step.done => by = Some(step.label.thread),
                Op::InitEnd(_) => by = None,
                _ => {}
            }
        }
        by.is_none_or(|t| t == me)
    }

    /// Whether something was written since a spinning thread looked.
    fn new_to_read(&self, label: &Label) -> bool {
        let written = |loc: &crate::Loc| {
            let mut written = false;
            for step in self.steps(Resource::Loc(*loc)) {
                let mine = step.label.thread == label.thread;
                match step.label.op {
                    Op::Read(at) if at == *loc && mine => written = false,
                    Op::Write(at) if at == *loc => written = !mine,
                    Op::Update(at) if at == *loc => written = !mine && (written || step.done),
                    _ => {}
                }
            }
            written
        };
        label.awaits.is_empty() || label.awaits.iter().any(written)
    }
}
