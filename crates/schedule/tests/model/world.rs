//! Litmus programs as a strategy sees them.
//!
//! A wait with a time limit is enabled at any time in litmus programs. Here it
//! is so only when time has passed to its deadline, so that ticks have something
//! to do; time also passes by itself when nothing else is left.

use litmus::random::{Shape, programs};
use litmus::{Choice, Machine, Program};
use proptest::strategy::{Strategy as _, ValueTree};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use schedule::{Decision, Hit, Kind, Op, Params, Ready, Rng, Strategy, View, strategy};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use trace::{Loc, ObjId, ThreadId};

#[derive(Clone)]
pub struct SchedulerState {
    pub machine: Machine,
    /// Waiting threads whose time has come.
    expired: BTreeSet<u32>,
    /// Sites whose loads say that the thread spins.
    spins: BTreeSet<u32>,
    last: Option<u32>,
    step: u64,
}

/// What there is to choose from.
pub struct Sight {
    pub ready: Vec<Ready>,
    timers: Vec<u32>,
    last: Option<u32>,
    step: u64,
}

impl Sight {
    pub fn view(&self) -> View<'_> {
        View {
            ready: &self.ready,
            last: self.last,
            deadline: (!self.timers.is_empty()).then_some(0),
            step: self.step,
        }
    }
}

impl SchedulerState {
    pub fn new(program: &Program) -> SchedulerState {
        SchedulerState {
            machine: Machine::new(program),
            expired: BTreeSet::new(),
            spins: BTreeSet::new(),
            last: None,
            step: 0,
        }
    }

    /// Loads at these sites are shown as spinning.
    pub fn spinning_at(mut self, sites: impl IntoIterator<Item = u32>) -> SchedulerState {
        self.spins.extend(sites);
        self
    }

    /// None when the run is over.
    pub fn look(&mut self) -> Option<Sight> {
        loop {
            let (mut ready, mut timers) = (Vec::new(), Vec::new());
            for thread in self.enabled() {
                let pending = self.machine.pending(ThreadId(thread)).expect("it runs");
                let timed = matches!(
                    pending.op,
                    Some(trace::Op::WaitEnd {
                        notified: false,
                        ..
                    })
                );
                if timed && !self.expired.contains(&thread) {
                    timers.push(thread);
                    continue;
                }
                let mut op = translate(pending.site.0, pending.op);
                if self.spins.contains(&op.site) {
                    op.kind = Kind::Spin;
                }
                ready.push(Ready { thread, op });
            }
            if ready.is_empty() {
                self.expired.insert(*timers.first()?);
                continue;
            }
            return Some(Sight {
                ready,
                timers,
                last: self.last,
                step: self.step,
            });
        }
    }

    fn enabled(&self) -> BTreeSet<u32> {
        let mut choices = Vec::new();
        self.machine.choices(&mut choices);
        choices.iter().map(|c| c.thread.0).collect()
    }

    /// In how many ways a thread can make its step.
    pub fn ways(&self, thread: u32) -> u32 {
        let mut choices = Vec::new();
        self.machine.choices(&mut choices);
        choices.iter().filter(|c| c.thread.0 == thread).count() as u32
    }

    pub fn run(&mut self, thread: u32, way: u32) {
        self.machine.step(Choice {
            thread: ThreadId(thread),
            pick: way,
        });
        self.expired.remove(&thread);
        self.last = Some(thread);
        self.step += 1;
    }

    pub fn tick(&mut self, sight: &Sight) {
        self.expired.insert(sight.timers[0]);
    }

    /// Equal for worlds that go on alike.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.machine.key(), &self.expired).hash(&mut hasher);
        hasher.finish()
    }

    pub fn outcome(&self) -> Outcome {
        (self.machine.registers(), self.machine.outcome().failed)
    }
}

/// What a run comes to.
pub type Outcome = (Vec<Vec<i64>>, Vec<(ThreadId, trace::SiteId)>);

fn translate(site: u32, op: Option<trace::Op>) -> Op {
    use trace::Op as T;
    let thread = |t: ThreadId| Loc {
        obj: ObjId(1 << 40 | u64::from(t.0)),
        slot: 0,
    };
    let whole = |obj: ObjId| Loc { obj, slot: 0 };
    let nothing = whole(ObjId(0));
    let (kind, at) = match op {
        Some(T::Read(loc)) => (Kind::Read, loc),
        Some(T::Write(loc)) => (Kind::Write, loc),
        Some(T::AtomicRead(loc, _)) => (Kind::AtomicRead, loc),
        Some(T::AtomicWrite(loc, _)) => (Kind::AtomicWrite, loc),
        Some(T::AtomicUpdate(loc, _)) => (Kind::AtomicUpdate, loc),
        Some(T::Acquire(lock) | T::WaitEnd { lock, .. }) => (Kind::Acquire, whole(lock.0)),
        Some(T::Release(lock)) => (Kind::Release, whole(lock.0)),
        Some(T::AcquireShared(lock)) => (Kind::AcquireShared, whole(lock.0)),
        Some(T::ReleaseShared(lock)) => (Kind::ReleaseShared, whole(lock.0)),
        Some(T::WaitBegin(lock)) => (Kind::Wait, whole(lock.0)),
        Some(T::Notify(lock)) => (Kind::Notify, whole(lock.0)),
        Some(T::NotifyAll(lock)) => (Kind::NotifyAll, whole(lock.0)),
        Some(T::Fork(child)) => (Kind::Start, thread(child)),
        Some(T::Join(other)) => (Kind::Join, thread(other)),
        Some(T::Interrupt(other)) => (Kind::Interrupt, thread(other)),
        Some(T::Park) => (Kind::Park, nothing),
        Some(T::Unpark(other)) => (Kind::Unpark, thread(other)),
        Some(T::SyncRelease(obj)) => (Kind::AtomicWrite, whole(obj)),
        Some(T::SyncAcquire(obj)) => (Kind::AtomicRead, whole(obj)),
        Some(T::InitBegin(obj)) => (Kind::Acquire, whole(obj)),
        Some(T::InitEnd(obj)) => (Kind::Release, whole(obj)),
        _ => (Kind::Sleep, nothing),
    };
    Op {
        kind,
        site,
        obj: at.obj.0,
        slot: at.slot,
    }
}

/// A finished run.
#[derive(Debug)]
pub struct Run {
    pub decisions: Vec<Decision>,
    pub steps: Vec<Ready>,
    pub hits: Vec<Hit>,
    pub outcome: Outcome,
    /// The last state's key.
    pub end: u64,
    pub truncated: bool,
}

/// Far more than any model program takes.
const LIMIT: usize = 1_000_000;

/// Runs a world to its end, and checks every decision. Which waiter a notify
/// wakes is drawn from the seed, too.
pub fn drive(mut world: SchedulerState, strategy: &mut dyn Strategy, seed: u64) -> Run {
    let mut ways = Rng::new(!seed);
    let (mut decisions, mut steps, mut hits) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(sight) = world.look() {
        assert!(decisions.len() < LIMIT, "the run does not end");
        let decision = strategy.pick(&sight.view());
        decisions.push(decision);
        match decision {
            Decision::Run(thread) => {
                let op = sight.view().op_of(thread);
                let op = op.expect("only enabled threads may run");
                steps.push(Ready { thread, op });
                let way = ways.below(u64::from(world.ways(thread)));
                world.run(thread, way as u32);
            }
            Decision::Stuck => panic!("somebody can go on"),
            Decision::Tick => {
                assert!(
                    sight.view().deadline.is_some(),
                    "nobody waits for time to pass"
                );
                world.tick(&sight);
            }
        }
        for hit in strategy.take_hits() {
            let stood = |r: &Ready| sight.view().op_of(r.thread) == Some(r.op);
            assert!(stood(&hit.first) && stood(&hit.second), "{hit:?}");
            assert_eq!(decision, Decision::Run(hit.first.thread));
            hits.push(hit);
        }
    }
    Run {
        decisions,
        steps,
        hits,
        outcome: world.outcome(),
        end: world.key(),
        truncated: world.machine.outcome().truncated,
    }
}

/// Runs a program under a strategy by name.
pub fn run(program: &Program, name: &str, params: &Params) -> Run {
    let mut strategy = strategy(name, params).expect("a known name");
    drive(SchedulerState::new(program), strategy.as_mut(), params.seed)
}

/// Parameters for a seed and, if there are any, the sites of a pair.
pub fn params(seed: u64, pair: Option<(u32, u32)>) -> Params {
    Params {
        seed,
        pair: pair.map(|(a, b)| [vec![a], vec![b]]),
        ..Params::default()
    }
}

/// So many programs, the same in every run of the tests.
pub fn sample(shape: Shape, count: usize) -> Vec<Program> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Default::default(), rng);
    let mut one = || programs(shape).new_tree(&mut runner).expect("no filters");
    (0..count).map(|_| one().current()).collect()
}
