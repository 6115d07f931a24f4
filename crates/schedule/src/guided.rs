//! A run that is part of an exploration (crate `explore`): it begins as it is
//! told, every operation becomes a step that is kept, and which threads can go on
//! follows from the operations themselves ([`explore::Rules`]). So no thread ever
//! blocks: one that would have to wait stands before its operation until it need
//! not.
//!
//! **Names.** Runs number threads and objects as they come; equivalent executions
//! must give them equal names. A thread is named after its parent and how many
//! children that had; objects are named by the agent
//! ([`Guided::name`]).
//!
//! **Slots** say what else there is to an operation: 1 a time limit, 2 that it can
//! be interrupted, 4 that it is only tried, and from bit 3 on the number of the
//! other thread, plus one.
//!
//! **Loops.** A thread that came round a loop in which nothing can change but by
//! what it reads ([`Guided::looped`]), and read nothing new, waits for a write.
//! A thread that yields, or computes for long, goes on when no other can.

use crate::op::{Decision, Kind, Op, Ready, Thread, View};
use explore::{Divergence, Execution, Guide, Label, Loc, Made, Rules};
use rustc_hash::FxHashMap;

/// Bits of an operation's slot.
pub const TIMED: u32 = 1;
pub const INTERRUPTIBLE: u32 = 2;
pub const TRIED: u32 = 4;
const OTHER: u32 = 3;

/// Threads that a thread can start and all have names of their own.
const CHILDREN: u32 = 64;

/// How it went, at the end.
#[derive(Clone, Debug)]
pub enum Outcome {
    Made(Execution),
    Diverged(Box<Divergence>),
}

/// What a thread did since it last came round a loop.
#[derive(Clone, Debug, Default)]
struct Iteration {
    /// Number of the loop.
    of: u32,
    /// It was just begun by a jump back, after one that waits for these.
    is_next: bool,
    waits_for: Vec<Loc>,
    /// Each location once, with what was seen of it.
    reads: Vec<(Loc, u64)>,
    /// It wrote, or saw a location change under its eyes.
    changed: bool,
}

impl Iteration {
    fn read(&mut self, at: Loc, seen: u64) {
        match self.reads.iter().find(|(loc, _)| *loc == at) {
            Some((_, before)) => self.changed |= *before != seen,
            None => self.reads.push((at, seen)),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Known {
    name: explore::Thread,
    children: u32,
    /// Of its last step.
    result: Option<Made>,
    iteration: Iteration,
    /// What it waits for before its next step.
    awaits: Vec<Loc>,
    /// Runs when all others are done: the JVM's own end.
    is_late: bool,
}

/// A step that was decided on; what came of it is known when the next is.
#[derive(Clone, Debug)]
struct Current {
    thread: Thread,
    label: Label,
    made: Made,
    failed: bool,
    is_accounted: bool,
}

#[derive(Debug)]
pub struct Guided {
    guide: Guide,
    rules: Rules,
    threads: Vec<Known>,
    names: FxHashMap<u64, u64>,
    current: Option<Current>,
    /// Who stood before what when it was last decided.
    standing: Vec<(Thread, Label)>,
    diverged: Option<Box<Divergence>>,
    /// Names ran out.
    is_blurred: bool,
    is_over: bool,
}

/// The slot of an operation on another thread.
pub fn slot_of(thread: Thread) -> u32 {
    (thread + 1) << OTHER
}

impl Guided {
    pub fn new(guide: Guide) -> Guided {
        Guided {
            guide,
            rules: Rules::new([0]),
            threads: vec![],
            names: FxHashMap::default(),
            current: None,
            standing: vec![],
            diverged: None,
            is_blurred: false,
            is_over: false,
        }
    }

    /// A thread has got a number; its parent is the first thread's that has none.
    pub fn started(&mut self, thread: Thread, parent: Option<Thread>) {
        let name = match parent {
            Some(parent) => {
                let name = self.next_child(parent);
                if let Some(parent) = self.threads.get_mut(parent as usize) {
                    parent.children += 1;
                }
                name
            }
            None => 0,
        };
        let at = thread as usize;
        if at >= self.threads.len() {
            self.threads.resize(at + 1, Known::default());
        }
        self.threads[at].name = name;
    }

    /// The thread runs when nobody else can: it comes after the program.
    pub fn late(&mut self, thread: Thread) {
        if let Some(known) = self.threads.get_mut(thread as usize) {
            known.is_late = true;
        }
    }

    fn next_child(&mut self, parent: Thread) -> explore::Thread {
        let Some(known) = self.threads.get(parent as usize) else {
            return 0;
        };
        let digit = known.children + 1;
        let name = known.name.checked_mul(CHILDREN);
        match name.filter(|_| digit < CHILDREN) {
            Some(name) => name + digit,
            None => {
                self.is_blurred = true;
                u32::MAX
            }
        }
    }

    /// The name by which equivalent executions know an object.
    pub fn name(&mut self, object: u64, name: u64) {
        self.names.insert(object, name);
    }

    pub fn thread_name(&self, thread: Thread) -> explore::Thread {
        self.threads.get(thread as usize).map_or(0, |t| t.name)
    }

    /// The running thread's update changed nothing.
    pub fn failed(&mut self) {
        if let Some(current) = &mut self.current {
            current.failed = true;
        }
    }

    /// What a thread does that makes no steps: it wakes others.
    pub fn wake_from_outside(&mut self, op: &Op) {
        let to = match op.kind {
            Kind::Notify | Kind::NotifyAll => {
                let lock = self.object(op.obj);
                return self.rules.disturb(lock);
            }
            Kind::Unpark => explore::Op::Unpark(self.other(op)),
            Kind::Interrupt => explore::Op::Interrupt(self.other(op)),
            _ => return,
        };
        self.rules.step(&Label::new(explore::Thread::MAX, to));
    }

    /// What came of the thread's last step.
    pub fn result(&self, thread: Thread) -> Option<Made> {
        self.threads.get(thread as usize)?.result
    }

    /// Threads that wait for each other's locks in a circle, if there are some.
    pub fn cycle(&self) -> Vec<Thread> {
        let next = |name: explore::Thread| {
            let of = self.standing.iter().find(|(_, l)| l.thread == name);
            of.and_then(|(_, l)| match l.op {
                explore::Op::Acquire { lock, .. } => self.rules.owner(lock),
                _ => None,
            })
        };
        for (thread, label) in &self.standing {
            let mut path = vec![*thread];
            let mut at = label.thread;
            while let Some(owner) = next(at) {
                if owner == label.thread {
                    return path;
                }
                let Some(number) = self.threads.iter().position(|t| t.name == owner) else {
                    break;
                };
                if path.contains(&(number as Thread)) {
                    break;
                }
                path.push(number as Thread);
                at = owner;
            }
        }
        vec![]
    }

    /// Whether more threads were started by one than there are names.
    pub fn is_blurred(&self) -> bool {
        self.is_blurred
    }

    pub fn divergence(&self) -> Option<&Divergence> {
        self.diverged.as_deref()
    }

    /// Who holds what the thread stands before.
    pub fn holder(&self, op: &Op) -> Option<Thread> {
        let lock = self.object(op.obj);
        let owner = self.rules.owner(lock)?;
        let at = self.threads.iter().position(|t| t.name == owner)?;
        Some(at as Thread)
    }

    /// The running thread jumps back to the head of a loop in which nothing of its
    /// own changes.
    pub fn looped(&mut self, thread: Thread, number: u32) {
        self.account();
        let Some(known) = self.threads.get_mut(thread as usize) else {
            return;
        };
        let iteration = &mut known.iteration;
        let spins = iteration.of == number && !iteration.changed && !iteration.reads.is_empty();
        let reads = std::mem::take(&mut iteration.reads).into_iter();
        let mut reads: Vec<Loc> = reads.map(|(at, _)| at).collect();
        *iteration = Iteration {
            of: number,
            is_next: true,
            ..Iteration::default()
        };
        reads.sort_unstable();
        known.iteration.waits_for = if spins { reads } else { vec![] };
    }

    /// The running thread is at the head of such a loop. Unless it has jumped back
    /// there, the first iteration begins.
    pub fn at_head(&mut self, thread: Thread, number: u32) {
        self.account();
        let Some(known) = self.threads.get_mut(thread as usize) else {
            return;
        };
        let iteration = &mut known.iteration;
        if std::mem::take(&mut iteration.is_next) && iteration.of == number {
            known.awaits = std::mem::take(&mut iteration.waits_for);
        } else {
            *iteration = Iteration {
                of: number,
                ..Iteration::default()
            };
            known.awaits.clear();
        }
    }

    /// An update counts for the loop that it is in when it is known what it did.
    fn account(&mut self) {
        let Some(current) = &mut self.current else {
            return;
        };
        let known = self.threads.get_mut(current.thread as usize);
        if let (explore::Op::Update(at), Some(known), false) =
            (current.label.op, known, current.is_accounted)
        {
            current.is_accounted = true;
            match current.failed {
                true => {
                    let seen = self.rules.seen(current.label.thread, at);
                    known.iteration.read(at, seen);
                }
                false => known.iteration.changed = true,
            }
        }
    }

    fn object(&self, object: u64) -> u64 {
        self.names.get(&object).copied().unwrap_or(object)
    }

    fn other(&self, op: &Op) -> explore::Thread {
        (op.slot >> OTHER)
            .checked_sub(1)
            .map_or(u32::MAX, |t| self.thread_name(t))
    }

    fn label(&mut self, ready: &Ready) -> Label {
        use explore::Op as To;
        let op = &ready.op;
        let obj = self.object(op.obj);
        let at = Loc { obj, slot: op.slot };
        let is = |bit: u32| op.slot & bit != 0;
        let to = match op.kind {
            Kind::Begin => To::Begin,
            Kind::Acquire => To::Acquire {
                lock: obj,
                interruptible: is(INTERRUPTIBLE),
            },
            Kind::TryAcquire => To::TryAcquire(obj),
            Kind::Release => To::Release(obj),
            Kind::AcquireShared if is(TRIED) => To::TryAcquireShared(obj),
            Kind::AcquireShared => To::AcquireShared(obj),
            Kind::ReleaseShared => To::ReleaseShared(obj),
            Kind::Wait => To::Wait(obj),
            Kind::WaitEnd => To::WaitEnd {
                lock: obj,
                timed: is(TIMED),
            },
            Kind::Notify => To::Notify(obj),
            Kind::NotifyAll => To::NotifyAll(obj),
            Kind::Park => To::Park { timed: is(TIMED) },
            Kind::Unpark => To::Unpark(self.other(op)),
            Kind::Start => To::Start(self.next_child(ready.thread)),
            Kind::Join => To::Join {
                thread: self.other(op),
                timed: is(TIMED),
                interruptible: true,
            },
            Kind::Sleep => To::Sleep,
            Kind::Yield | Kind::Spin => To::Local,
            Kind::Interrupt => To::Interrupt(self.other(op)),
            Kind::AtomicRead | Kind::Read => To::Read(at),
            Kind::AtomicWrite | Kind::Write => To::Write(at),
            Kind::AtomicUpdate => To::Update(at),
            Kind::End => To::End,
            Kind::IsAlive => To::IsAlive(self.other(op)),
            Kind::Interrupted => To::Interrupted,
            Kind::IsInterrupted => To::IsInterrupted(self.other(op)),
        };
        let known = self.threads.get(ready.thread as usize);
        let mut label = Label::new(known.map_or(0, |t| t.name), to);
        // What is not in such a loop does not wait for it.
        let in_loop = matches!(to, To::Read(_) | To::Update(_) | To::Local);
        if let Some(known) = known.filter(|_| in_loop) {
            label.awaits = known.awaits.clone().into();
        }
        label
    }

    /// Takes in what became of the last step.
    fn settle(&mut self) {
        self.account();
        let Some(current) = self.current.take() else {
            return;
        };
        let mut made = current.made;
        if let explore::Op::Update(at) = current.label.op {
            made.done = !current.failed;
            if made.done {
                self.rules.updated(current.label.thread, at);
            }
        }
        self.guide.made(made.done, made.cleared, made.woken);
    }

    fn took(&mut self, thread: Thread, label: &Label) {
        let made = self.rules.step(label);
        if let Some(known) = self.threads.get_mut(thread as usize) {
            known.result = Some(made);
            known.awaits.clear();
            match label.op {
                explore::Op::Read(at) => {
                    let seen = self.rules.seen(label.thread, at);
                    known.iteration.read(at, seen);
                }
                explore::Op::Local | explore::Op::Update(_) => {}
                _ => known.iteration.changed = true,
            }
        }
        self.current = Some(Current {
            thread,
            label: label.clone(),
            made,
            failed: false,
            is_accounted: false,
        });
    }

    /// Closes the account: the run goes no further, or not as it was told.
    pub fn end(&mut self) -> Outcome {
        let running = self.current.as_ref().map(|c| c.thread);
        self.settle();
        self.is_over = true;
        if let Some(diverged) = &self.diverged {
            return Outcome::Diverged(diverged.clone());
        }
        let left = self.standing.iter().filter(|(t, _)| Some(*t) != running);
        let blocked: Vec<Label> = left.map(|(_, l)| l.clone()).collect();
        Outcome::Made(self.guide.clone().end(blocked))
    }
}

impl Guided {
    /// The next step; the threads that stand ready may not all be able to go on.
    pub(crate) fn pick(&mut self, view: &View<'_>) -> Decision {
        self.settle();
        let mut standing = Vec::new();
        let mut ready = Vec::new();
        let mut giving_way = Vec::new();
        let mut late = None;
        for r in view.ready {
            if self
                .threads
                .get(r.thread as usize)
                .is_some_and(|t| t.is_late)
            {
                late = Some(r.thread);
                continue;
            }
            let label = self.label(r);
            let picks = self.rules.picks(&label);
            standing.push((r.thread, label.clone()));
            let to = match r.op.kind.gives_way() {
                true => &mut giving_way,
                false => &mut ready,
            };
            if picks > 0 {
                to.push((r.thread, explore::Ready { label, picks }));
            }
        }
        self.standing = standing;
        if ready.is_empty() || !self.guide.is_free() {
            ready.append(&mut giving_way);
            ready.sort_unstable_by_key(|(thread, _)| *thread);
        }
        if ready.is_empty() || self.is_over || self.diverged.is_some() {
            let next = late.or(ready.first().map(|(t, _)| *t));
            return next.map_or(Decision::Stuck, Decision::Run);
        }
        let all: Vec<explore::Ready> = ready.iter().map(|(_, r)| r.clone()).collect();
        let label = match self.guide.pick(&all) {
            Ok(label) => label,
            Err(diverged) => {
                self.diverged = Some(diverged);
                return Decision::Run(ready[0].0);
            }
        };
        let thread = ready.iter().find(|(_, r)| r.label.thread == label.thread);
        let Some((thread, _)) = thread else {
            return Decision::Stuck;
        };
        let thread = *thread;
        self.took(thread, &label);
        Decision::Run(thread)
    }
}
