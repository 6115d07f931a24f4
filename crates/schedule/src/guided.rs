//! A run that is part of an exploration (crate `explore`): it begins as it is
//! told, every operation becomes a step that is kept, and which threads can go on
//! follows from the operations themselves ([`explore::Rules`]). So no thread ever
//! blocks: one that would have to wait stands before its operation until it need
//! not.
//!
//! **Names.** Runs number threads and objects as they come; equivalent executions
//! must give them equal names: threads in `names`, objects by whoever runs the program
//! ([`Guided::name`]).
//!
//! **Slots** say what else there is to an operation: 1 a time limit, 2 that it can
//! be interrupted, 4 that it is only tried, and from bit 3 on the number of the
//! other thread, plus one.
//!
//! **Reads** of weak memory ask which of several writes they see ([`Guided::see`]); the answer is the pick of the step.
//!
//! **Loops.** A thread that came round a loop, changed nothing and read nothing new
//! waits for a write (`loops`). A thread that yields, or computes for long, goes on when
//! no other can. Where all that is left are threads that wait, those in loops look once more
//! (`last_look`).

mod last_look;
mod loops;
mod names;
#[cfg(test)]
mod reads;

use crate::op::{Decision, Kind, Op, Ready, Thread, View};
use explore::{Divergence, Execution, Guide, Label, Loc, Made, Rules};
use last_look::{LastLook, Waiting};
pub use loops::Loop;
use loops::Loops;
use rustc_hash::FxHashMap;

/// Bits of an operation's slot.
pub const TIMED: u32 = 1;
pub const INTERRUPTIBLE: u32 = 2;
pub const TRIED: u32 = 4;

/// Where a thread is at a loop in which it may wait, as the probes of the loop tell it.
pub mod at_loop {
    pub const HEAD: i32 = 0;
    /// Before a jump back to the head.
    pub const AGAIN: i32 = 1;
    /// Behind the loop.
    pub const LEFT: i32 = 2;
}
const OTHER: u32 = 3;

/// How it went, at the end.
#[derive(Clone, Debug)]
pub enum Outcome {
    Made(Execution),
    Diverged(Box<Divergence>),
}

#[derive(Clone, Debug, Default)]
struct Known {
    name: explore::Thread,
    children: u32,
    /// Of its last step.
    result: Option<Made>,
    loops: Loops,
    /// What it waits for before its next step.
    awaits: Vec<Loc>,
    /// It is in a loop that only plain memory keeps it in, and was since so many steps.
    idle_since: Option<u64>,
    /// Where it last began to wait in a loop, and in which state.
    waits_at: Option<(Loop, i64)>,
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
    /// A read has asked which write it sees.
    has_chosen: bool,
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
    /// Who could have made a step then, and neither did nor was about to let time pass itself.
    instead: Vec<Thread>,
    diverged: Option<Box<Divergence>>,
    /// Steps that others could notice, but for those of idle threads.
    steps: u64,
    /// Whose turn it was when there was nobody but threads that give way.
    gave_way: Option<Thread>,
    /// No thread can go on, and those in loops look once more.
    last_look: Option<LastLook>,
    /// Which write threads saw last at a statement, where they could see several: the newest is 0.
    saw: FxHashMap<(Thread, u32), usize>,
    /// A read could see several writes, and was no step.
    is_unasked: bool,
    /// Names ran out.
    is_blurred: bool,
    is_over: bool,
}

/// Whether a thread that waits in a loop may do this there.
fn may_wait(kind: Kind) -> bool {
    let reads = matches!(kind, Kind::Read | Kind::AtomicRead | Kind::AtomicUpdate);
    reads || kind.gives_way() || kind == Kind::Sleep
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
            instead: vec![],
            diverged: None,
            steps: 0,
            gave_way: None,
            last_look: None,
            saw: FxHashMap::default(),
            is_unasked: false,
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
        let name = names::child(known.name, known.children + 1);
        self.is_blurred |= name.is_none();
        name.unwrap_or(explore::Thread::MAX)
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

    /// The running thread's read may see one of so many writes; which it sees, the newest being 0. Which one is
    /// part of the execution as the order of its steps is. A last look repeats what was seen: whoever waits in a loop
    /// because of an older value may go on seeing that.
    pub fn see(&mut self, thread: Thread, site: u32, candidates: usize) -> usize {
        if self.last_look.is_some() {
            let saw = self.saw.get(&(thread, site)).copied().unwrap_or(0);
            return saw.min(candidates.saturating_sub(1));
        }
        let current = self.current.as_mut().filter(|c| {
            let is_read = matches!(c.label.op, explore::Op::Read(_));
            c.thread == thread && is_read && !c.has_chosen
        });
        let Some(current) = current else {
            self.is_unasked |= !self.is_over && self.diverged.is_none();
            return 0;
        };
        current.has_chosen = true;
        let sees = match self.guide.sees(candidates as u32) {
            Ok(sees) => sees as usize,
            Err(at) => {
                self.diverged.get_or_insert(at);
                0
            }
        };
        self.saw.insert((thread, site), sees);
        sees
    }

    /// Whether the thread has last seen an older write at some statement.
    pub fn sees_older(&self, thread: Thread) -> bool {
        let mut saw = self.saw.iter();
        saw.any(|((by, _), which)| *by == thread && *which > 0)
    }

    /// Whether a read could see several writes and nobody was asked which.
    pub fn is_unasked(&self) -> bool {
        self.is_unasked
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

    /// The running thread is about to jump back to the head of a loop, its own variables and
    /// writes in this state.
    pub fn looped(&mut self, thread: Thread, of: Loop, state: i64) {
        self.account();
        if let Some(known) = self.threads.get_mut(thread as usize) {
            known.loops.again(of, state, self.steps);
        }
    }

    /// The running thread is at the head of a loop. Whether it has to give way: without
    /// others it will come back for ever.
    pub fn at_head(&mut self, thread: Thread, of: Loop, state: i64) -> bool {
        self.account();
        if let Some(look) = &mut self.last_look {
            look.head(thread, of, state);
        }
        let Some(known) = self.threads.get_mut(thread as usize) else {
            return false;
        };
        (known.awaits, known.idle_since) = known.loops.head(of, state, self.steps);
        if known.idle_since.is_some() || !known.awaits.is_empty() {
            known.waits_at = Some((of, state));
        }
        known.idle_since.is_some()
    }

    /// The running thread does not jump back to the head of a loop: it goes on behind the jump,
    /// in the loop or after it.
    pub fn left_loop(&mut self, thread: Thread, of: Loop) {
        if let Some(known) = self.threads.get_mut(thread as usize) {
            known.loops.not_again(of);
            known.awaits.clear();
        }
    }

    /// Whether the thread came round a loop since anybody else did anything.
    fn is_idle(&self, thread: Thread) -> bool {
        let known = self.threads.get(thread as usize);
        known.is_some_and(|t| t.idle_since == Some(self.steps))
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
                    known.loops.read(at, seen);
                }
                false => {
                    known.loops.changed();
                    if let Some(look) = &mut self.last_look {
                        look.wrote();
                    }
                }
            }
        }
    }

    fn object(&self, object: u64) -> u64 {
        self.names.get(&object).copied().unwrap_or(object)
    }

    fn other(&self, op: &Op) -> explore::Thread {
        (op.slot >> OTHER)
            .checked_sub(1)
            .map_or(explore::Thread::MAX, |t| self.thread_name(t))
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
        if self.last_look.is_none() {
            if !current.has_chosen
                && matches!(current.label.op, explore::Op::Read(_))
                && let Err(at) = self.guide.sees(1)
            {
                self.diverged.get_or_insert(at);
            }
            self.guide.made(made.done, made.cleared, made.woken);
        }
    }

    fn took(&mut self, thread: Thread, label: &Label) {
        let made = self.rules.step(label);
        if let Some(known) = self.threads.get_mut(thread as usize) {
            // What nobody can notice ends nobody's idleness, nor does a step of the idle.
            let was_idle = known.idle_since.take().is_some();
            self.steps += u64::from(!was_idle && label.op != explore::Op::Local);
            known.result = Some(made);
            // Sleeping is no part of what it waits for.
            if label.op != explore::Op::Sleep || made.cleared {
                known.awaits.clear();
            }
            match label.op {
                explore::Op::Read(at) => {
                    let seen = self.rules.seen(label.thread, at);
                    known.loops.read(at, seen);
                }
                explore::Op::Local | explore::Op::Update(_) => {}
                explore::Op::Sleep if !made.cleared => {}
                _ => known.loops.changed(),
            }
        }
        self.current = Some(Current {
            thread,
            label: label.clone(),
            made,
            failed: false,
            is_accounted: false,
            has_chosen: false,
        });
    }

    /// Closes the account: the run goes no further, or not as it was told.
    pub fn end(&mut self) -> Outcome {
        let current = self.current.as_ref().filter(|_| self.last_look.is_none());
        let running = current.map(|c| c.thread);
        self.settle();
        self.is_over = true;
        if let Some(diverged) = &self.diverged {
            return Outcome::Diverged(diverged.clone());
        }
        let left = self.standing.iter().filter(|(t, _)| Some(*t) != running);
        let blocked: Vec<Label> = left.map(|(_, l)| l.clone()).collect();
        Outcome::Made(self.guide.clone().end(blocked))
    }

    /// Threads that could have gone on when the last step was chosen.
    pub(crate) fn could_go_instead(&self) -> &[Thread] {
        &self.instead
    }

    /// Whether threads seemed to wait for ever, and one of them did not.
    pub fn has_refuted_deadlock(&self) -> bool {
        self.last_look.as_ref().is_some_and(LastLook::is_refuted)
    }

    /// No thread can go on, and nobody outside control can help: the next step of the last look,
    /// if there is one.
    pub(crate) fn look(&mut self, view: &View<'_>) -> Option<Thread> {
        let begun = self.last_look.take();
        let mut look = begun.unwrap_or_else(|| LastLook::new(self.waiting_in_loops()));
        let stands_at = |thread| view.ready.iter().find(|r| r.thread == thread);
        let next = look.next(|thread| stands_at(thread).is_some_and(|r| may_wait(r.op.kind)));
        self.last_look = Some(look);
        let mut label = self.label(stands_at(next?)?);
        label.awaits = Box::default();
        self.took(next?, &label);
        next
    }

    /// The threads that would go on if they did not wait in loops.
    fn waiting_in_loops(&self) -> Vec<Waiting> {
        let waits = |(thread, label): &(Thread, Label)| {
            let waits = !label.awaits.is_empty() || self.is_idle(*thread);
            let known = self.threads.get(*thread as usize).filter(|_| waits)?;
            let (of, state) = known.waits_at?;
            Some(Waiting {
                thread: *thread,
                of,
                state,
            })
        };
        self.standing.iter().filter_map(waits).collect()
    }
}

impl Guided {
    /// The next step; the threads that stand ready may not all be able to go on.
    pub(crate) fn pick(&mut self, view: &View<'_>) -> Decision {
        self.settle();
        if self.last_look.is_some() {
            return self.look(view).map_or(Decision::Stuck, Decision::Run);
        }
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
            // Another order of the same steps has the idle ones where nobody acts in between.
            let is_told = self.guide.told() == Some(label.thread);
            let picks = match self.is_idle(r.thread) && !is_told {
                true => 0,
                false => self.rules.picks(&label),
            };
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
        if !self.guide.is_free() {
            ready.append(&mut giving_way);
            ready.sort_unstable_by_key(|(thread, _)| *thread);
        } else if ready.is_empty() {
            // In turn, or one who polls would keep the others from going on for ever.
            giving_way.sort_unstable_by_key(|(t, _)| (Some(*t) <= self.gave_way, *t));
            giving_way.truncate(1);
            self.gave_way = giving_way.first().map(|(t, _)| *t);
            ready = giving_way;
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
        let passes_time = |t: Thread| {
            let kind = view.op_of(t).map(|op| op.kind);
            matches!(
                kind,
                Some(Kind::Sleep | Kind::WaitEnd | Kind::Park | Kind::Join)
            )
        };
        let others = ready.iter().map(|(t, _)| *t).filter(|t| *t != thread);
        self.instead = others.filter(|t| !passes_time(*t)).collect();
        self.took(thread, &label);
        Decision::Run(thread)
    }
}
