//! In which order to try things, and following a given beginning.
//!
//! The orders are heuristics of Java RaceFinder for meeting a first race sooner.
//! They decide only who goes on where the exploration leaves it open; what is
//! explored in the end is the same.

use crate::op::{Execution, Label, Loc, Object, Op, Ready, Step, Thread};
use crate::sample::{Sample, Sampler};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Which thread to prefer among those that can go on. Ties: the thread that went last, then
/// the thread that was there first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Order {
    /// Nobody: as few switches as there can be.
    #[default]
    Plain,
    /// Writes.
    WritesFirst,
    /// What touches a location that another thread wrote, the latest first.
    WatchWritten,
    /// Threads that did not lately acquire what another had released.
    AvoidReleaseAcquire,
    /// Acquires of what nobody released: an object used before it was
    /// published safely.
    AcquireFirst,
}

impl Order {
    pub const ALL: [(&'static str, Order); 5] = [
        ("plain", Order::Plain),
        ("writes-first", Order::WritesFirst),
        ("watch-written", Order::WatchWritten),
        ("avoid-release-acquire", Order::AvoidReleaseAcquire),
        ("acquire-first", Order::AcquireFirst),
    ];

    pub fn named(name: &str) -> Option<Order> {
        let named = Order::ALL.iter().find(|(n, _)| *n == name);
        named.map(|(_, order)| *order)
    }
}

/// What synchronises: a lock, a location, a thread, an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Sync {
    Lock(Object),
    Loc(Loc),
    Thread(Thread),
    Object(Object),
}

fn acquires(op: Op) -> Option<Sync> {
    match op {
        Op::Read(loc) | Op::Update(loc) => Some(Sync::Loc(loc)),
        Op::Acquire { lock, .. }
        | Op::TryAcquire(lock)
        | Op::AcquireShared(lock)
        | Op::TryAcquireShared(lock)
        | Op::WaitEnd { lock, .. } => Some(Sync::Lock(lock)),
        Op::Join { thread, .. } | Op::IsAlive(thread) => Some(Sync::Thread(thread)),
        Op::TakeOver(object) | Op::InitBegin(object) => Some(Sync::Object(object)),
        _ => None,
    }
}

fn releases(thread: Thread, op: Op) -> Option<Sync> {
    match op {
        Op::Write(loc) | Op::Update(loc) => Some(Sync::Loc(loc)),
        Op::Release(lock) | Op::ReleaseShared(lock) | Op::Wait(lock) => Some(Sync::Lock(lock)),
        Op::End => Some(Sync::Thread(thread)),
        Op::HandOver(object) | Op::InitEnd(object) => Some(Sync::Object(object)),
        _ => None,
    }
}

/// What the orders look at: the way so far.
#[derive(Clone, Debug, Default)]
pub struct Past {
    step: u64,
    last: Option<Thread>,
    /// Who wrote a location last, and when.
    written: FxHashMap<Loc, (Thread, u64)>,
    /// Who released something last.
    released: FxHashMap<Sync, Thread>,
    /// When a thread last acquired what another had released.
    received: FxHashMap<Thread, u64>,
}

impl Past {
    /// Takes note of a step that was made.
    pub fn push(&mut self, label: &Label) {
        self.step += 1;
        self.last = Some(label.thread);
        if let Some(sync) = acquires(label.op)
            && self.released.get(&sync).is_some_and(|t| *t != label.thread)
        {
            self.received.insert(label.thread, self.step);
        }
        if let Some(sync) = releases(label.thread, label.op) {
            self.released.insert(sync, label.thread);
        }
        if let Op::Write(loc) | Op::Update(loc) = label.op {
            self.written.insert(loc, (label.thread, self.step));
        }
    }

    /// Smaller is sooner.
    pub fn rank(&self, order: Order, label: &Label) -> u64 {
        match order {
            Order::Plain => 0,
            // What a thread will do is not known before it began.
            _ if label.op == Op::Begin => 0,
            Order::WritesFirst => u64::from(!matches!(label.op, Op::Write(_) | Op::Update(_))),
            Order::WatchWritten => {
                let (Op::Read(loc) | Op::Write(loc) | Op::Update(loc)) = label.op else {
                    return u64::MAX;
                };
                match self.written.get(&loc) {
                    Some((by, when)) if *by != label.thread => self.step - when,
                    _ => u64::MAX,
                }
            }
            Order::AvoidReleaseAcquire => self.received.get(&label.thread).copied().unwrap_or(0),
            Order::AcquireFirst => {
                let unmatched = |sync| !self.released.contains_key(&sync);
                u64::from(!acquires(label.op).is_some_and(unmatched))
            }
        }
    }

    /// The one to go on.
    fn choose<'a>(&self, order: Order, ready: &'a [Ready]) -> Option<&'a Ready> {
        ready.iter().min_by_key(|r| {
            let rank = self.rank(order, &r.label);
            (rank, self.last != Some(r.label.thread), r.label.thread)
        })
    }
}

/// The given beginning cannot be followed: the program, or the names of its
/// objects, depend on something besides the schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Divergence {
    pub step: usize,
    pub expected: Label,
    /// What the thread does instead; none if it cannot go on.
    pub got: Option<Label>,
}

/// Leads one execution: first as it is told, then as the order prefers.
#[derive(Clone, Debug)]
pub struct Guide {
    beginning: Vec<Label>,
    order: Order,
    /// How often a thread may be left that could go on.
    preemptions: Option<u32>,
    keep_ready: bool,
    sampler: Option<Sampler>,
    past: Past,
    run: Execution,
    /// The step being made.
    current: Option<(Label, u32)>,
}

impl Guide {
    pub fn new(beginning: Vec<Label>, order: Order, bound: Option<u32>) -> Guide {
        Guide {
            beginning,
            order,
            preemptions: bound,
            keep_ready: bound.is_some(),
            sampler: None,
            past: Past::default(),
            run: Execution::default(),
            current: None,
        }
    }

    /// Draws who goes on where that is open.
    pub fn sampling(mut self, sample: Option<Sample>) -> Guide {
        self.sampler = sample.map(Sampler::new);
        self
    }

    /// Whether the beginning is behind: who goes on is open.
    pub fn is_free(&self) -> bool {
        self.run.steps.len() >= self.beginning.len()
    }

    /// Who goes on, if that is told.
    pub fn told(&self) -> Option<Thread> {
        self.beginning.get(self.run.steps.len()).map(|l| l.thread)
    }

    /// Who goes on, of those that can; `ready` must not be empty. The step
    /// must be told with [`made`](Guide::made) before the next is asked for.
    pub fn pick(&mut self, ready: &[Ready]) -> Result<Label, Box<Divergence>> {
        let step = self.run.steps.len();
        let last = self.past.last;
        let stays = |r: &&Ready| Some(r.label.thread) == last;
        let (label, picks) = match self.beginning.get(step) {
            Some(expected) => {
                let theirs = ready.iter().find(|r| r.label.thread == expected.thread);
                let same = |r: &&Ready| {
                    // How many writes a read may see is told when it is made.
                    let picked = expected.pick < r.picks || r.label.op.chooses_late();
                    picked && r.label.op == expected.op && r.label.awaits == expected.awaits
                };
                match theirs.filter(same) {
                    Some(r) => (expected.clone(), r.picks),
                    None => {
                        return Err(Box::new(Divergence {
                            step,
                            expected: expected.clone(),
                            got: theirs.map(|r| r.label.clone()),
                        }));
                    }
                }
            }
            None => {
                let forced = ready.iter().find(stays);
                let chosen = match (&mut self.sampler, self.preemptions, forced) {
                    (Some(sampler), ..) => sampler.choose(ready),
                    (None, Some(0), Some(same)) => Some((same, 0)),
                    _ => self.past.choose(self.order, ready).map(|r| (r, 0)),
                };
                let (r, pick) = chosen.expect("somebody can go on");
                let label = Label {
                    pick,
                    ..r.label.clone()
                };
                (label, r.picks)
            }
        };
        if let Some(left) = &mut self.preemptions
            && Some(label.thread) != last
            && ready.iter().any(|r| stays(&r))
        {
            *left = left.saturating_sub(1);
        }
        if self.keep_ready {
            self.run.ready.push(ready.to_vec());
        }
        self.past.push(&label);
        self.current = Some((label.clone(), picks));
        Ok(label)
    }

    /// The read that was picked may see one of so many writes: which one it sees, in the order in
    /// which they are counted. An error if it was told to see one that is not among them. Asked at most once a
    /// step; who does not ask of a read says that it sees the only one.
    pub fn sees(&mut self, writes: u32) -> Result<u32, Box<Divergence>> {
        let Some((label, picks)) = &mut self.current else {
            return Ok(0);
        };
        *picks = writes.max(1);
        if let Some(ready) = self.run.ready.last_mut() {
            let mine = ready.iter_mut().find(|r| r.label.thread == label.thread);
            mine.into_iter().for_each(|r| r.picks = *picks);
        }
        if label.pick < *picks {
            return Ok(label.pick);
        }
        Err(Box::new(Divergence {
            step: self.run.steps.len(),
            expected: label.clone(),
            got: Some(Label {
                pick: 0,
                ..label.clone()
            }),
        }))
    }

    /// The step that was picked was made, and had this result; see [`Step`].
    pub fn made(&mut self, done: bool, cleared: bool, woken: Option<Thread>) {
        if let Some((label, picks)) = self.current.take() {
            self.run.steps.push(Step {
                label,
                picks,
                done,
                cleared,
                woken,
            });
        }
    }

    /// Nobody can go on any more; these threads have not ended.
    pub fn end(mut self, blocked: Vec<Label>) -> Execution {
        self.run.blocked = blocked;
        self.run
    }
}
