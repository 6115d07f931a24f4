//! Litmus programs as something to explore, and the dumb twin: brute force
//! over all schedules, with classes told apart by transitive closure.

use detect::{Detector, FindingKey, Vectors};
use explore::{
    Config, Divergence, Execution, Explorer, Guide, Label, Loc, Op, Order, Progress, Ready, Thread,
    explore,
};
use litmus::{Ahead, Choice, Doing, Machine, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use trace::{SiteId, ThreadId};

/// Far more than the random programs have; so that a mistake ends.
pub const LIMIT: Config = Config {
    order: Order::Plain,
    preemptions: None,
    max_executions: Some(20_000),
    threshold: None,
};

/// Prefixes up to which a program is small enough for brute force.
pub const SMALL: usize = 600;

/// Which plain accesses are scheduling points.
#[derive(Clone, Debug)]
pub enum Points {
    All,
    /// Only those of these statements.
    At(BTreeSet<SiteId>),
}

impl Points {
    fn has(&self, ahead: &Ahead) -> bool {
        match (self, ahead.doing) {
            (Points::All, _) => true,
            // Waiting has to be seen.
            _ if !ahead.awaits.is_empty() => true,
            (Points::At(sites), Doing::Read(_) | Doing::Write(_)) => sites.contains(&ahead.site),
            _ => true,
        }
    }
}

fn loc(loc: trace::Loc) -> Loc {
    Loc {
        obj: loc.obj.0,
        slot: loc.slot,
    }
}

pub fn label(ahead: &Ahead) -> Label {
    let op = match ahead.doing {
        Doing::Read(at) | Doing::AtomicRead(at) => Op::Read(loc(at)),
        Doing::Write(at) | Doing::AtomicWrite(at) => Op::Write(loc(at)),
        Doing::AtomicUpdate(at) => Op::Update(loc(at)),
        Doing::Lock { lock, shared: true } => Op::AcquireShared(lock.id().0.0),
        Doing::Lock { lock, .. } => Op::Acquire {
            lock: lock.id().0.0,
            interruptible: false,
        },
        Doing::TryLock(lock) => Op::TryAcquire(lock.id().0.0),
        Doing::Unlock { lock, shared: true } => Op::ReleaseShared(lock.id().0.0),
        Doing::Unlock { lock, .. } => Op::Release(lock.id().0.0),
        Doing::Wait(lock) => Op::Wait(lock.id().0.0),
        Doing::WaitEnd { lock, timed } => Op::WaitEnd {
            lock: lock.id().0.0,
            timed,
        },
        Doing::Notify(lock) => Op::Notify(lock.id().0.0),
        Doing::NotifyAll(lock) => Op::NotifyAll(lock.id().0.0),
        Doing::Fork(thread) => Op::Start(thread.0.into()),
        Doing::Join(thread) => Op::Join {
            thread: thread.0.into(),
            timed: false,
            interruptible: false,
        },
        Doing::IsAlive(thread) => Op::IsAlive(thread.0.into()),
        Doing::Interrupt(thread) => Op::Interrupt(thread.0.into()),
        Doing::Interrupted => Op::Interrupted,
        Doing::Park => Op::Park { timed: false },
        Doing::Unpark(thread) => Op::Unpark(thread.0.into()),
        Doing::Release(object) => Op::HandOver(object.id().0),
        Doing::Acquire(object) => Op::TakeOver(object.id().0),
        Doing::InitBegin(class) => Op::InitBegin(class.id().0),
        Doing::InitEnd(class) => Op::InitEnd(class.id().0),
        Doing::Throw => Op::Local,
        Doing::Begin => Op::Begin,
        Doing::End => Op::End,
    };
    Label {
        thread: ahead.thread.0.into(),
        pick: 0,
        op,
        awaits: ahead.awaits.iter().map(|at| loc(*at)).collect(),
    }
}

/// A machine that stops only at points.
#[derive(Clone, Debug)]
pub struct World<'a> {
    pub machine: Machine,
    points: &'a Points,
}

/// The result of a step, as [`Guide::made`] wants it.
#[derive(Debug)]
pub struct Made {
    pub done: bool,
    pub cleared: bool,
    pub woken: Option<Thread>,
}

impl<'a> World<'a> {
    pub fn new(program: &Program, points: &'a Points) -> World<'a> {
        let mut world = World {
            machine: Machine::stepwise(program),
            points,
        };
        world.settle();
        world
    }

    /// Lets every thread go on up to its next point.
    fn settle(&mut self) {
        while let Some(hidden) = self.machine.ahead().iter().find(|a| !self.points.has(a)) {
            self.machine.step(Choice {
                thread: hidden.thread,
                pick: 0,
            });
        }
    }

    pub fn ready(&self) -> Vec<Ready> {
        let ahead = self.machine.ahead();
        let can = ahead.iter().filter(|a| a.picks > 0);
        can.map(|a| Ready {
            label: label(a),
            picks: a.picks,
        })
        .collect()
    }

    /// What is left when nobody is ready.
    pub fn blocked(&self) -> Vec<Label> {
        self.machine.ahead().iter().map(label).collect()
    }

    pub fn step(&mut self, what: &Label) -> Made {
        let before = self.machine.events.len();
        let thread = ThreadId(what.thread as u32);
        let ahead = self.machine.ahead();
        let me = ahead.iter().find(|a| a.thread == thread).unwrap();
        let woken = match me.doing {
            Doing::Notify(lock) => self
                .machine
                .waiters(lock)
                .get(what.pick as usize)
                .map(|t| t.0),
            _ => None,
        };
        self.machine.step(Choice {
            thread,
            pick: what.pick,
        });
        let events = &self.machine.events[before..];
        let has = |f: fn(&trace::Op) -> bool| events.iter().any(|e| f(&e.op));
        let done = match me.doing {
            Doing::TryLock(_) => has(|op| matches!(op, trace::Op::Acquire(_))),
            Doing::AtomicUpdate(_) => has(|op| matches!(op, trace::Op::AtomicUpdate(..))),
            Doing::InitBegin(_) => has(|op| matches!(op, trace::Op::InitBegin(_))),
            Doing::Wait(_) => has(|op| matches!(op, trace::Op::WaitBegin(_))),
            Doing::Fork(_) => has(|op| matches!(op, trace::Op::Fork(_))),
            _ => true,
        };
        let cleared = has(|op| matches!(op, trace::Op::Interrupted));
        self.settle();
        Made {
            done,
            cleared,
            woken: woken.map(u64::from),
        }
    }
}

/// Makes the execution that the guide leads.
pub fn run(
    program: &Program,
    points: &Points,
    mut guide: Guide,
) -> Result<(Execution, Machine), Box<Divergence>> {
    let mut world = World::new(program, points);
    loop {
        let ready = world.ready();
        if ready.is_empty() {
            let blocked = world.blocked();
            return Ok((guide.end(blocked), world.machine));
        }
        let label = guide.pick(&ready)?;
        let made = world.step(&label);
        guide.made(made.done, made.cleared, made.woken);
    }
}

/// What there is to be seen of an execution's class: for every step, by thread
/// and number, its label (a hash of it) and what happened before it, a bit for
/// each step.
pub type Class = Vec<Row>;
type Row = (Thread, usize, u64, u128);

/// Worked out the slow way: pairwise dependence, then everything before.
pub fn class(labels: &[Label]) -> Class {
    let mut rows = Class::new();
    for n in 0..labels.len() {
        rows.push(row(&labels[..n], &rows, &labels[n]));
    }
    rows.sort_unstable();
    rows
}

/// The row of a step that comes after these.
fn row(labels: &[Label], rows: &[Row], step: &Label) -> Row {
    let mut past = 0;
    let mut number = 0;
    for (label, (thread, n, _, before)) in labels.iter().zip(rows) {
        assert!(*thread < 4 && *n < 32, "a bit for each step");
        if label.depends(step) {
            past |= before | 1 << (*thread as usize * 32 + n);
        }
        number += usize::from(*thread == step.thread);
    }
    let mut hasher = DefaultHasher::new();
    step.hash(&mut hasher);
    (step.thread, number, hasher.finish(), past)
}

pub type Races = BTreeSet<FindingKey>;

pub fn races(machine: &Machine) -> Races {
    let mut detector = Vectors::default();
    detector.events(&machine.events);
    detector.findings().iter().map(|f| f.key()).collect()
}

/// All that is to be known of a program's executions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    pub classes: Vec<Class>,
    pub races: Races,
    pub deadlocks: BTreeSet<Vec<ThreadId>>,
    pub failures: BTreeSet<(ThreadId, SiteId)>,
}

impl Seen {
    pub fn add(&mut self, labels: &[Label], machine: &Machine) {
        self.classes.push(class(labels));
        self.races.extend(races(machine));
        let outcome = machine.outcome();
        if !outcome.deadlocked.is_empty() {
            self.deadlocks.insert(outcome.deadlocked);
        }
        self.failures.extend(outcome.failed);
    }

    /// Without classes that are there more than once, in a fixed order.
    pub fn distinct(mut self) -> Seen {
        self.classes.sort();
        self.classes.dedup();
        self
    }
}

/// Every class, one representative each: prefixes are extended by every step
/// that can be made, and of equivalent ones only one is kept. None if there are
/// more than `most` prefixes. That equivalent prefixes lead to the same state
/// is what `tests/dependence.rs` is about.
pub fn all_classes(program: &Program, points: &Points, most: usize) -> Option<Seen> {
    let mut seen = Seen::default();
    let start = (
        World::new(program, points),
        Vec::<Label>::new(),
        Class::new(),
    );
    let mut level = BTreeMap::from([(Class::new(), start)]);
    let mut prefixes = 0;
    while !level.is_empty() {
        let mut next = BTreeMap::new();
        for (world, labels, rows) in level.into_values() {
            prefixes += 1;
            if prefixes > most {
                return None;
            }
            let ready = world.ready();
            if ready.is_empty() {
                seen.add(&labels, &world.machine);
            }
            for r in &ready {
                for pick in 0..r.picks {
                    let label = Label {
                        pick,
                        ..r.label.clone()
                    };
                    let mut rows = rows.clone();
                    rows.push(row(&labels, &rows, &label));
                    let mut class = rows.clone();
                    class.sort_unstable();
                    next.entry(class).or_insert_with(|| {
                        let mut world = world.clone();
                        world.step(&label);
                        (world, [&labels[..], &[label]].concat(), rows)
                    });
                }
            }
        }
        level = next;
    }
    Some(seen.distinct())
}

/// Every schedule; none if there are more than `most`.
pub fn brute_force(program: &Program, points: &Points, most: usize) -> Option<Seen> {
    schedules(program, points, None, most)
}

/// Every schedule with at most so many preemptions.
pub fn schedules(
    program: &Program,
    points: &Points,
    preemptions: Option<u32>,
    most: usize,
) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut open = vec![(World::new(program, points), Vec::<Label>::new(), 0)];
    let mut runs = 0;
    while let Some((world, labels, used)) = open.pop() {
        let ready = world.ready();
        if ready.is_empty() {
            runs += 1;
            if runs > most {
                return None;
            }
            seen.add(&labels, &world.machine);
            continue;
        }
        let last = labels.last().map(|l| l.thread);
        let can_stay = ready.iter().any(|r| Some(r.label.thread) == last);
        for r in &ready {
            let used = used + u32::from(can_stay && Some(r.label.thread) != last);
            if preemptions.is_some_and(|most| used > most) {
                continue;
            }
            for pick in 0..r.picks {
                let label = Label {
                    pick,
                    ..r.label.clone()
                };
                let mut next = world.clone();
                next.step(&label);
                let mut labels = labels.clone();
                labels.push(label);
                open.push((next, labels, used));
            }
        }
    }
    Some(seen.distinct())
}

/// Explores, and says what was seen, each class as often as it was.
pub fn explored(program: &Program, points: &Points, config: Config) -> (Seen, Progress) {
    let mut seen = Seen::default();
    let mut explorer = Explorer::new(config);
    let progress = explore(&mut explorer, |guide| {
        let (execution, machine) = run(program, points, guide)?;
        let labels: Vec<_> = execution.steps.iter().map(|s| s.label.clone()).collect();
        seen.add(&labels, &machine);
        Ok((execution, races(&machine).len() as u64))
    });
    (seen, progress)
}
