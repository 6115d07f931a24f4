//! Explorations in which reads choose which write they see, against brute force over the axioms of the Java memory
//! model (`litmus::weak`) and over all interleavings and choices.
//!
//! The programs are those of crate `memory`'s own comparison. A read is a step that can be made in as many ways as there are
//! writes that it may see, the newest first; what it may see follows from the steps that happened before it in the
//! order of the exploration, since a read and the writes of its location depend on each other.

use explore::{Config, Execution, Explorer, Guide, Job, Label, Loc, Op, Order, Ready, Rules, Stop};
use litmus::weak::{self, Access, Act, Control, Outcome, Program};
use memory::Memory;
use std::collections::{BTreeMap, BTreeSet};

/// Far more than these programs have; so that a mistake ends.
const LIMIT: u64 = 200_000;

fn kind(access: Access) -> memory::Access {
    match access {
        Access::Plain => memory::Access::Plain,
        Access::Opaque => memory::Access::Opaque,
        Access::Ordered => memory::Access::Ordered,
        Access::Volatile => memory::Access::Volatile,
        Access::Final => memory::Access::Final,
    }
}

fn at(loc: u16) -> Loc {
    Loc {
        obj: 1,
        slot: u32::from(loc),
    }
}

/// A run of a program: what each thread does next, and what memory is.
#[derive(Clone)]
struct Run<'p> {
    program: &'p Program,
    control: Control<'p>,
    rules: Rules,
    memory: Memory,
    /// What was written, by location and number.
    values: BTreeMap<(u16, usize), i64>,
    begun: BTreeSet<usize>,
    ended: BTreeSet<usize>,
}

impl<'p> Run<'p> {
    fn new(program: &'p Program) -> Run<'p> {
        let control = Control::new(program);
        let started = (0..program.threads.len()).filter(|t| control.threads[*t].started);
        let begun: BTreeSet<usize> = started.collect();
        Run {
            program,
            rules: Rules::new(begun.iter().map(|t| *t as u64)),
            control,
            memory: Memory::default(),
            values: BTreeMap::new(),
            begun,
            ended: BTreeSet::new(),
        }
    }

    /// What the thread stands before, whether or not it can go on; none after its end.
    fn label(&self, t: usize) -> Option<Label> {
        let op = if !self.begun.contains(&t) {
            Op::Begin
        } else if self.control.is_over(t) {
            return (!self.ended.contains(&t)).then(|| Label::new(t as u64, Op::End));
        } else {
            match self.program.threads[t][self.control.threads[t].at] {
                Act::Read(_, loc, _) => Op::Read(at(loc)),
                // The end of the constructor decides what reads of the field may see.
                Act::Write(loc, ..) | Act::Freeze(loc) => Op::Write(at(loc)),
                Act::Add(_, loc, _) => Op::Update(at(loc)),
                Act::Lock(lock) => Op::Acquire {
                    lock: u64::from(lock),
                    interruptible: false,
                },
                Act::Unlock(lock) => Op::Release(u64::from(lock)),
                Act::Fork(other) => Op::Start(other as u64),
                Act::Join(other) => Op::Join {
                    thread: other as u64,
                    timed: false,
                    interruptible: false,
                },
                Act::Unless(..) => unreachable!("branches are skipped"),
            }
        };
        Some(Label::new(t as u64, op))
    }

    fn labels(&self) -> Vec<Label> {
        let threads = 0..self.program.threads.len();
        threads.filter_map(|t| self.label(t)).collect()
    }

    fn ready(&self) -> Vec<Ready> {
        let can = |label: &Label| match label.op {
            Op::Begin => self.control.threads[label.thread as usize].started,
            // A thread that nobody has started yet is not over.
            Op::Join { thread, .. } => {
                let ended = self.ended.contains(&(thread as usize));
                ended && self.rules.picks(label) > 0
            }
            _ => self.rules.picks(label) > 0,
        };
        let all = self.labels().into_iter().filter(can);
        all.map(|label| Ready { label, picks: 1 }).collect()
    }

    /// The writes that the thread's next act may see, if it is a read.
    fn candidates(&mut self, t: usize) -> Option<Vec<usize>> {
        let act = self.act(t)?;
        match act {
            Act::Read(_, loc, access) => Some(self.memory.candidates(t as u16, loc, kind(access))),
            _ => None,
        }
    }

    fn act(&self, t: usize) -> Option<Act> {
        let here = self
            .begun
            .contains(&t)
            .then(|| self.control.threads[t].at)?;
        self.program.threads[t].get(here).copied()
    }

    /// Makes the thread's next step; a read sees this write.
    fn step(&mut self, label: &Label, sees: usize) -> explore::Made {
        let t = label.thread as usize;
        let me = label.thread as u16;
        let mut made = self.rules.step(label);
        match label.op {
            Op::Begin => {
                self.begun.insert(t);
                return made;
            }
            Op::End => {
                self.ended.insert(t);
                return made;
            }
            Op::Update(at) => {
                self.rules.updated(label.thread, at);
                made.done = true;
            }
            _ => {}
        }
        let act = self.act(t).expect("it is not over");
        let seen = |run: &Run<'_>, loc, n| run.values.get(&(loc, n)).copied().unwrap_or(0);
        let mut value = 0;
        match act {
            Act::Read(_, loc, access) => {
                self.memory.read(me, loc, kind(access), sees);
                value = seen(self, loc, sees);
            }
            Act::Write(loc, operand, access) => {
                let number = self.memory.write(me, loc, kind(access));
                let written = self.control.threads[t].value(operand);
                self.values.insert((loc, number), written);
            }
            Act::Add(_, loc, by) => {
                let volatile = memory::Access::Volatile;
                let newest = self.memory.candidates(me, loc, volatile)[0];
                value = seen(self, loc, newest);
                self.memory.read(me, loc, volatile, newest);
                let number = self.memory.write(me, loc, volatile);
                self.values.insert((loc, number), value + by);
            }
            Act::Lock(lock) => self.memory.lock(me, lock),
            Act::Unlock(lock) => self.memory.unlock(me, lock),
            Act::Fork(other) => self.memory.order(me, other as u16),
            Act::Join(other) => self.memory.order(other as u16, me),
            Act::Freeze(loc) => self.memory.freeze(me, loc),
            Act::Unless(..) => {}
        }
        self.control.done(t, act, value);
        made
    }

    /// None if a thread could not go on.
    fn outcome(&self) -> Option<Outcome> {
        self.labels().is_empty().then(|| self.control.outcome())
    }
}

/// The execution that a guide leads.
fn lead(program: &Program, mut guide: Guide) -> (Execution, Option<Outcome>) {
    let mut run = Run::new(program);
    loop {
        let ready = run.ready();
        if ready.is_empty() {
            break;
        }
        let label = guide.pick(&ready).expect("it goes as it was told");
        let mut sees = 0;
        if let Some(candidates) = run.candidates(label.thread as usize) {
            let which = guide.sees(candidates.len() as u32);
            sees = candidates[which.expect("the same writes are there") as usize];
        }
        let made = run.step(&label, sees);
        guide.made(made.done, made.cleared, made.woken);
    }
    (guide.end(run.labels()), run.outcome())
}

#[derive(Debug, Default, PartialEq)]
struct Seen {
    outcomes: BTreeSet<Outcome>,
    /// How often each class was made.
    classes: BTreeMap<u128, u32>,
}

fn explored(program: &Program, preemptions: Option<u32>) -> Seen {
    let mut seen = Seen::default();
    let mut explorer = Explorer::new(Config {
        order: Order::Plain,
        preemptions,
        max_executions: Some(LIMIT),
        threshold: None,
    });
    let progress = explore::explore(&mut explorer, |guide| {
        let (execution, outcome) = lead(program, guide);
        seen.outcomes.extend(outcome);
        *seen
            .classes
            .entry(explore::class_of(&execution))
            .or_default() += 1;
        Ok((execution, 0))
    });
    assert!(
        progress.complete && progress.redundant == 0,
        "{progress:?}: {program:?}"
    );
    seen
}

/// Every interleaving with every choice of every read, as classes; none if there are more than `most` of them.
fn all_classes(program: &Program, most: usize) -> Option<BTreeSet<u128>> {
    let mut classes = BTreeSet::new();
    let mut made = 0;
    let mut open = vec![Vec::<Label>::new()];
    while let Some(beginning) = open.pop() {
        let mut run = Run::new(program);
        let mut guide = Guide::new(beginning.clone(), Order::Plain, None);
        for label in &beginning {
            let picked = guide.pick(&run.ready()).expect("it goes as it was told");
            assert_eq!(picked, *label);
            let mut sees = 0;
            if let Some(candidates) = run.candidates(label.thread as usize) {
                guide.sees(candidates.len() as u32).expect("it is there");
                sees = candidates[label.pick as usize];
            }
            let made = run.step(label, sees);
            guide.made(made.done, made.cleared, made.woken);
        }
        let ready = run.ready();
        if ready.is_empty() {
            made += 1;
            classes.insert(explore::class_of(&guide.end(run.labels())));
        }
        for Ready { label, .. } in ready {
            let ways = run
                .candidates(label.thread as usize)
                .map_or(1, |all| all.len());
            for pick in 0..ways as u32 {
                let mut longer = beginning.clone();
                longer.push(Label {
                    pick,
                    ..label.clone()
                });
                open.push(longer);
            }
        }
        if made + open.len() > most {
            return None;
        }
    }
    Some(classes)
}

fn repeat() -> u64 {
    let asked = std::env::var("PHOTOFINISH_REPEAT").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// The claim: all outcomes of the axioms, and no other.
#[test]
fn the_outcomes_of_random_programs_are_those_of_the_axioms() {
    let programs = 2_000 * repeat();
    let mut weak = 0;
    for seed in 0..programs {
        let program = weak::random(&mut fastrand::Rng::with_seed(seed));
        let wanted = weak::outcomes(&program);
        let seen = explored(&program, None);
        assert_eq!(seen.outcomes, wanted, "seed {seed}: {program:?}");
        let twice = seen.classes.values().filter(|times| **times > 1).count();
        assert_eq!(twice, 0, "seed {seed}: a class was seen twice: {program:?}");
        weak += u64::from(wanted.len() > 1);
    }
    assert!(
        weak * 2 > programs,
        "{weak} of {programs} have several outcomes"
    );
}

/// The order of search is exact, too: every class of interleavings and choices, exactly once.
#[test]
fn every_order_with_every_choice_is_made_exactly_once() {
    let (mut compared, mut classes) = (0, 0);
    for seed in 0..400 * repeat() {
        let program = weak::random(&mut fastrand::Rng::with_seed(seed + 1_000_000));
        let Some(all) = all_classes(&program, 600) else {
            continue;
        };
        let seen = explored(&program, None);
        let made: BTreeSet<u128> = seen.classes.keys().copied().collect();
        assert_eq!(made, all, "seed {seed}: {program:?}");
        assert!(
            seen.classes.values().all(|times| *times == 1),
            "seed {seed}"
        );
        compared += 1;
        classes += all.len();
    }
    assert!(
        compared > 100 && classes > 1_000,
        "{compared} programs, {classes} classes"
    );
}

/// With as many preemptions as a program can have, a bound leaves nothing out.
#[test]
fn a_bound_that_allows_everything_leaves_nothing_out() {
    for seed in 0..200 {
        let program = weak::random(&mut fastrand::Rng::with_seed(seed));
        let seen = explored(&program, Some(20));
        assert_eq!(
            seen.outcomes,
            weak::outcomes(&program),
            "seed {seed}: {program:?}"
        );
    }
}

#[test]
fn every_shape_of_the_table_has_its_outcomes() {
    for row in weak::table() {
        let program = row.program();
        let seen = explored(&program, None);
        assert_eq!(
            seen.outcomes,
            weak::outcomes(&program),
            "{} {}",
            row.name,
            row.access
        );
    }
}

/// Figures worked out by hand: the orders of the two accesses of each location, and what reads see in them.
#[test]
fn small_shapes_have_as_many_executions_as_expected() {
    let count = |name: &str, access: &str| {
        let mut table = weak::table().into_iter();
        let row = table.find(|row| (row.name, row.access) == (name, access));
        explored(&row.expect("it is there").program(), None)
            .classes
            .len()
    };
    // Both reads first is impossible; a read behind the other thread's write sees it or not.
    assert_eq!(count("SB", "volatile"), 3);
    assert_eq!(count("SB", "plain"), 2 * 2 + 2 + 2);
    // One order with both reads behind the writes (each sees either), two with one of them.
    assert_eq!(count("MP", "volatile"), 3);
    assert_eq!(count("MP", "plain"), 2 * 2 + 2 + 1);
    assert_eq!(count("join", "plain"), 1);
}

/// A job of another program, or a read that finds other writes, does not go as it was told.
#[test]
fn a_read_that_finds_fewer_writes_is_noticed() {
    let read = Op::Read(at(0));
    let told = Label {
        pick: 2,
        ..Label::new(0, read)
    };
    let job = Job {
        id: 0,
        beginning: vec![told],
        order: Order::Plain,
        preemptions: None,
        sample: None,
    };
    let ready = [Ready {
        label: Label::new(0, read),
        picks: 1,
    }];
    for (writes, sees) in [(2, Err(0)), (3, Ok(2)), (7, Ok(2))] {
        let mut guide = job.guide();
        assert_eq!(guide.pick(&ready).unwrap().pick, 2);
        assert_eq!(guide.sees(writes).map_err(|at| at.step), sees);
    }
}

#[test]
fn a_limit_is_said() {
    let row = weak::table().into_iter().find(|row| row.name == "IRIW");
    let program = row.expect("it is there").program();
    let mut explorer = Explorer::new(Config {
        max_executions: Some(5),
        ..Config::default()
    });
    let progress = explore::explore(&mut explorer, |guide| Ok((lead(&program, guide).0, 0)));
    assert!(!progress.complete);
    assert_eq!(progress.stopped, Some(Stop::Executions));
}
