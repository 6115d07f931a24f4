//! The state of a controlled run, told made-up things: who is picked, who wakes
//! when, what time it is.

use proptest::prelude::*;
use schedule::{
    Blocked, Decision, Kind, Next, Op, Params, Range, SchedulerState, Status,
    Strategy as Scheduling, Thread, View, Wake, Why, strategy,
};
use std::collections::BTreeMap;

fn op(kind: Kind) -> Op {
    Op {
        kind,
        site: 1,
        obj: 0,
        slot: 0,
    }
}

fn blocked(why: Why, obj: u64, deadline: Option<u64>) -> Blocked {
    Blocked {
        why,
        obj,
        site: 1,
        owner: None,
        deadline,
    }
}

/// Always the ready thread of the lowest number.
struct Lowest;

impl Scheduling for Lowest {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        Decision::Run(view.ready[0].thread)
    }
}

/// Lets time pass whenever it may.
struct Impatient;

impl Scheduling for Impatient {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        match view.deadline.is_some() {
            true => Decision::Tick,
            false => Decision::Run(view.ready[0].thread),
        }
    }
}

fn boxed(strategy: impl Scheduling + 'static) -> Box<dyn Scheduling> {
    Box::new(strategy)
}

fn world(strategy: impl Scheduling + 'static, threads: u32) -> SchedulerState {
    let mut world = SchedulerState::new(boxed(strategy), 1, 1_000_000);
    world.start_running(false);
    for _ in 1..threads {
        world.start(false);
    }
    world
}

/// One thread sleeps for so long, another has much to do: whether the sleeper came first, by
/// the delays that it took.
fn overtakes(name: &str, seed: u64, millis: u64) -> Option<u64> {
    let params = Params {
        seed,
        ..Params::default()
    };
    let mut w = SchedulerState::new(strategy(name, &params).unwrap(), seed, 1_000_000);
    w.start_running(false);
    w.start(false);
    let deadline = Some(w.now() + millis * 1_000_000);
    let mut next = w.block(0, blocked(Why::Sleep, 0, deadline));
    for _ in 0..6 {
        if next == Next::Run(0) {
            let [delay] = w.delays() else {
                panic!("{:?}", w.delays());
            };
            assert_eq!((delay.sleeper, &delay.delayed[..]), (0, &[1][..]));
            return Some(delay.nanos / 1_000_000);
        }
        next = w.point(1, op(Kind::AtomicWrite));
    }
    None
}

#[test]
fn a_sleeper_overtakes_now_and_then_and_the_delay_is_told() {
    for name in ["random", "pct", "pos"] {
        let often = |millis| (0..400).filter_map(move |seed| overtakes(name, seed, millis));
        let short: Vec<u64> = often(50).collect();
        assert!((20..300).contains(&short.len()), "{name}: {}", short.len());
        assert!(short.iter().all(|delay| *delay == 49 || *delay == 50));
        let longer = often(900).count();
        assert!((1..short.len() / 2).contains(&longer), "{name}: {longer}");
        assert_eq!(
            often(2_000).count(),
            0,
            "{name}: nobody is late for a second"
        );
    }
}

#[test]
fn sleepers_wake_in_the_order_of_their_deadlines_and_cost_nothing() {
    let mut w = world(Lowest, 3);
    let hour = 3_600_000_000_000;
    assert_eq!(
        w.block(0, blocked(Why::Sleep, 0, Some(2 * hour))),
        Next::Run(1)
    );
    assert_eq!(w.block(1, blocked(Why::Sleep, 0, Some(hour))), Next::Run(2));
    assert_eq!(
        w.block(2, blocked(Why::Sleep, 0, Some(3 * hour))),
        Next::Run(1)
    );
    assert!((hour..2 * hour).contains(&w.now()));
    assert_eq!(w.woken(1), Wake::TimedOut);
    assert_eq!(w.end(1), Next::Run(0));
    assert_eq!(w.end(0), Next::Run(2));
    assert!(w.now() >= 3 * hour);
}

#[test]
fn deadlines_of_one_instant_expire_in_the_order_they_were_set() {
    let mut w = world(Lowest, 3);
    w.block(0, blocked(Why::Wait, 7, Some(50_000_000)));
    w.block(1, blocked(Why::Sleep, 0, Some(50_000_000)));
    let next = w.block(2, blocked(Why::Sleep, 0, Some(50_000_000)));
    assert_eq!(next, Next::Run(0));
}

#[test]
fn a_permit_is_kept_for_the_next_park_and_only_one_is() {
    let mut w = world(Lowest, 2);
    w.unpark(0);
    w.unpark(0);
    assert_eq!(w.park(0, 1, None), None, "there was a permit");
    assert_eq!(w.park(0, 1, None), Some(Next::Run(1)));
    w.unpark(0);
    assert_eq!(w.status(0), Status::Ready(op(Kind::Park)));
    assert_eq!(w.end(1), Next::Run(0));
    assert_eq!(w.woken(0), Wake::Signalled);
}

#[test]
fn an_interrupt_ends_waits_and_counts_as_an_unpark() {
    let mut w = world(Lowest, 2);
    w.block(0, blocked(Why::Wait, 9, None));
    w.interrupt(0);
    assert_eq!(w.woken(0), Wake::Interrupted);
    w.interrupt(1);
    assert_eq!(w.park(1, 1, None), None);
}

#[test]
fn who_is_notified_goes_on_when_the_monitor_is_free() {
    let mut w = world(Lowest, 3);
    assert_eq!(w.block(0, blocked(Why::Wait, 9, None)), Next::Run(1));
    assert_eq!(w.block(1, blocked(Why::Wait, 9, None)), Next::Run(2));
    w.notify(9, false);
    let waits =
        |w: &SchedulerState, t| matches!(w.status(t), Status::Blocked(b) if b.why == Why::Wait);
    assert!(waits(&w, 0) != waits(&w, 1), "one of them was woken");
    w.notify(9, true);
    assert!(!waits(&w, 0) && !waits(&w, 1));
    assert!(matches!(w.status(0), Status::Blocked(b) if b.owner == Some(2)));
    w.released(9);
    assert_eq!(
        w.status(0),
        Status::Ready(Op {
            obj: 9,
            ..op(Kind::Acquire)
        })
    );
    assert_eq!(w.end(2), Next::Run(0));
}

#[test]
fn nobody_left_to_run_is_stuck_only_if_the_program_waits_for_somebody() {
    let mut w = SchedulerState::new(boxed(Lowest), 1, 100);
    w.start_running(false);
    w.start(true);
    assert_eq!(w.block(0, blocked(Why::Wait, 9, None)), Next::Run(1));
    assert_eq!(w.leave(1), Next::Idle, "it may come back");
    assert_eq!(w.back(1, op(Kind::Begin)), Next::Run(1));
    assert_eq!(w.block(1, blocked(Why::Park, 0, None)), Next::Stuck);
    w.interrupt(0);
    assert_eq!(w.resume(), Next::Run(0));
    assert_eq!(w.end(0), Next::Idle, "only a daemon is left");
}

#[test]
fn a_notify_from_outside_is_not_missed_on_the_way_to_a_wait() {
    // The monitor is given back before the world knows that the thread waits.
    let mut w = world(Lowest, 1);
    w.about_to_wait(0, 5);
    w.wake_waiting(5);
    assert_eq!(w.block(0, blocked(Why::Wait, 5, None)), Next::Run(0));
    assert_eq!(w.woken(0), Wake::Signalled);
    // What was told before that wait, or of another object, is not for it.
    w.wake_waiting(5);
    w.about_to_wait(0, 5);
    w.wake_waiting(6);
    assert_eq!(w.block(0, blocked(Why::Wait, 5, None)), Next::Stuck);
}

#[test]
fn help_may_come_from_outside() {
    // A process that somebody waits for is no deadlock.
    let mut w = world(Lowest, 1);
    w.errand();
    assert_eq!(w.block(0, blocked(Why::Wait, 5, None)), Next::Idle);
    w.errand_done();
    assert_eq!(w.resume(), Next::Stuck);
    // Two threads that poll are no livelock while the third reads from a socket.
    let poll = |away: bool| {
        let mut w = world(Lowest, 3);
        let next = match away {
            true => w.leave(0),
            false => w.end(0),
        };
        let mut next = (next, 0);
        while let (Next::Run(thread), steps) = next
            && steps < 300_000
        {
            next = (w.point(thread, op(Kind::Yield)), steps + 1);
        }
        next.0
    };
    assert_eq!(poll(false), Next::Livelock);
    assert!(matches!(poll(true), Next::Run(_)));
}

#[test]
fn time_waits_for_who_is_outside() {
    const MINUTE: u64 = 60_000_000_000;
    let mut w = world(Lowest, 2);
    assert_eq!(w.leave(0), Next::Run(1));
    let until = w.now() + MINUTE;
    assert_eq!(w.until_deadline(), None, "somebody runs");
    assert_eq!(w.block(1, blocked(Why::Sleep, 0, Some(until))), Next::Idle);
    assert_eq!(w.resume(), Next::Idle);
    assert_eq!(w.until_deadline(), Some(MINUTE));
    // An answer comes before the deadline.
    assert_eq!(w.back(0, op(Kind::Begin)), Next::Run(0));
    assert_eq!(w.leave(0), Next::Idle);
    assert!(w.now() < until);
    // None comes.
    assert_eq!(w.pass_time(), Next::Run(1));
    assert_eq!((w.woken(1), w.now()), (Wake::TimedOut, until));
    assert_eq!(w.pass_time(), Next::Idle, "somebody runs");
    // Nobody is outside: there is nothing to wait for.
    w.end(0);
    let until = until + 60;
    assert_eq!(
        w.block(1, blocked(Why::Sleep, 0, Some(until))),
        Next::Run(1)
    );
}

#[test]
fn a_turn_is_given_once() {
    let mut w = world(Lowest, 3);
    assert_eq!(w.leave(0), Next::Run(1));
    assert_eq!(w.turns(), 1);
    // Thread 1 runs and knows it.
    assert_eq!(w.back(0, op(Kind::Begin)), Next::Idle);
    assert_eq!(w.resume(), Next::Idle);
    assert_eq!(w.point(1, op(Kind::Yield)), Next::Run(0));
    assert_eq!(w.leave(0), Next::Run(1));
    assert_eq!(w.end(0), Next::Idle, "it ended where it was");
    assert_eq!((w.running(), w.turns()), (Some(1), 3));
}

#[test]
fn daemons_wait_for_the_shutdown_to_begin() {
    let mut w = world(Lowest, 2);
    let daemon = w.start(true);
    assert_eq!(w.end(0), Next::Run(1));
    assert_eq!(w.end(1), Next::Idle);
    assert!(w.is_idle(), "the daemon could run");
    let shutdown = w.start(false);
    assert_eq!(w.resume(), Next::Run(daemon));
    assert_eq!(
        w.block(daemon, blocked(Why::Park, 0, None)),
        Next::Run(shutdown)
    );
}

#[test]
fn a_circle_of_monitors_is_seen_while_others_run() {
    let mut w = world(Lowest, 3);
    let held_by = |owner, obj| Blocked {
        owner: Some(owner),
        ..blocked(Why::Monitor, obj, None)
    };
    w.block(0, held_by(1, 5));
    assert!(w.cycle(0).is_empty());
    w.block(1, held_by(0, 6));
    assert_eq!(w.cycle(1), [1, 0]);
    assert!(w.cycle(2).is_empty());
}

#[test]
fn time_passes_when_the_strategy_says_so() {
    let mut w = world(Impatient, 2);
    let sleep = blocked(Why::Sleep, 0, Some(1_000_000_000));
    assert_eq!(w.block(0, sleep), Next::Run(0), "although 1 was ready");
    assert_eq!((w.counts.ticks, w.woken(0)), (1, Wake::TimedOut));
}

#[test]
fn waits_end_for_no_reason_if_asked_to() {
    let mut w = world(Lowest, 3);
    w.wake_spuriously(4);
    w.block(0, blocked(Why::Wait, 9, None));
    w.block(1, blocked(Why::Park, 0, None));
    w.start(false);
    let mut woken = 0;
    for _ in 0..100 {
        let Some(me) = w.running() else { break };
        w.point(me, op(Kind::AtomicRead));
        woken = [0, 1]
            .iter()
            .filter(|t| !matches!(w.status(**t), Status::Blocked(_)))
            .filter(|t| w.woken(**t) == Wake::Spurious)
            .count();
    }
    assert_eq!(woken, 2);
}

/// Two threads that do nothing but yield, until `done` says so.
fn polled(
    w: &mut SchedulerState,
    steps: u32,
    mut done: impl FnMut(&mut SchedulerState) -> bool,
) -> Next {
    for _ in 0..steps {
        let Some(me) = w.running() else { break };
        match w.point(me, op(Kind::Yield)) {
            Next::Run(_) if done(w) => return Next::Idle,
            Next::Run(_) => {}
            other => return other,
        }
    }
    Next::Limit
}

#[test]
fn who_polls_for_a_sleeper_or_the_clock_is_in_no_livelock() {
    let mut w = world(Lowest, 2);
    assert_eq!(polled(&mut w, 300_000, |_| false), Next::Livelock);
    let hour = 3_600_000_000_000;
    let mut w = world(Lowest, 3);
    w.block(0, blocked(Why::Sleep, 0, Some(hour)));
    let woken = |w: &mut SchedulerState| w.woken(0) == Wake::TimedOut;
    assert_eq!(polled(&mut w, 300_000, woken), Next::Idle);
    let mut w = world(Lowest, 2);
    let shift = 8 * hour;
    assert_eq!(
        polled(&mut w, 3_000_000, |w| w.look_at_clock() > shift),
        Next::Idle
    );
    let mut w = world(Lowest, 2);
    let never = |w: &mut SchedulerState| w.look_at_clock() == 0;
    assert_eq!(polled(&mut w, 3_000_000, never), Next::Livelock);
}

#[test]
fn more_steps_than_allowed_end_the_run() {
    let mut w = SchedulerState::new(boxed(Lowest), 1, 10);
    w.start_running(false);
    w.start(false);
    let ends = (0..20).map(|_| w.point(0, op(Kind::AtomicRead)));
    assert!(ends.into_iter().any(|next| next == Next::Limit));
}

/// What a made-up program does next.
#[derive(Clone, Copy, Debug)]
enum Act {
    Point(Kind),
    Sleep(u64),
    Wait(u64, Option<u64>),
    Notify(u64, bool),
    Park(Option<u64>),
    Unpark(Thread),
    Interrupt(Thread),
    Start,
    Leave,
    Back(Thread),
    End,
}

fn act() -> impl Strategy<Value = Act> {
    let thread = 0..6u32;
    let limit = prop_oneof![Just(None), (1..5_000_000u64).prop_map(Some)];
    prop_oneof![
        Just(Act::Point(Kind::Acquire)),
        Just(Act::Point(Kind::Spin)),
        (1..5_000_000u64).prop_map(Act::Sleep),
        (1..3u64, limit.clone()).prop_map(|(o, d)| Act::Wait(o, d)),
        (1..3u64, any::<bool>()).prop_map(|(o, all)| Act::Notify(o, all)),
        limit.prop_map(Act::Park),
        thread.clone().prop_map(Act::Unpark),
        thread.clone().prop_map(Act::Interrupt),
        Just(Act::Start),
        Just(Act::Leave),
        thread.prop_map(Act::Back),
        Just(Act::End),
    ]
}

/// Lets the world go through the acts; answers who ran, act by act.
fn play(name: &str, seed: u64, acts: &[Act]) -> Vec<Option<Thread>> {
    let params = Params {
        seed,
        ..Params::default()
    };
    let mut w = SchedulerState::new(strategy(name, &params).unwrap(), seed, u64::MAX);
    w.start_running(false);
    let mut ran = Vec::new();
    let mut deadlines: BTreeMap<Thread, u64> = BTreeMap::new();
    for &act in acts {
        let before = w.now();
        match (w.running(), act) {
            (_, Act::Back(t)) => {
                if w.status(t) == Status::Outside {
                    w.back(t, op(Kind::Begin));
                }
            }
            (_, Act::Unpark(t)) => w.unpark(t),
            (_, Act::Interrupt(t)) => w.interrupt(t),
            (None, _) => {}
            (Some(_), Act::Start) => {
                w.start(false);
            }
            (Some(me), Act::Point(kind)) => {
                w.point(me, op(kind));
            }
            (Some(me), Act::Sleep(n)) => {
                deadlines.insert(me, before + n);
                w.block(me, blocked(Why::Sleep, 0, Some(before + n)));
            }
            (Some(me), Act::Wait(o, n)) => {
                w.block(me, blocked(Why::Wait, o, n.map(|n| before + n)));
            }
            (Some(_), Act::Notify(o, all)) => {
                w.notify(o, all);
                w.released(o);
            }
            (Some(me), Act::Park(n)) => {
                w.park(me, 1, n.map(|n| before + n));
            }
            (Some(me), Act::Leave) => {
                w.leave(me);
            }
            (Some(me), Act::End) => {
                w.end(me);
            }
        }
        assert!(w.now() >= before, "time does not go back");
        let running = (0..w.threads() as Thread).filter(|t| w.status(*t) == Status::Running);
        assert_eq!(running.collect::<Vec<_>>(), Vec::from_iter(w.running()));
        if let Some(me) = w.running() {
            // Nobody sleeps less than it asked for, unless interrupted.
            if let Some(deadline) = deadlines.remove(&me) {
                assert!(w.woken(me) != Wake::TimedOut || w.now() >= deadline);
            }
        }
        ran.push(w.running());
    }
    ran
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn one_thread_runs_and_a_seed_says_which(
        seed in any::<u64>(),
        acts in proptest::collection::vec(act(), 1..80),
    ) {
        for name in ["random", "pct", "pos", "racefuzzer"] {
            let first = play(name, seed, &acts);
            prop_assert_eq!(first, play(name, seed, &acts));
        }
    }
}

/// Always the ready thread of the highest number.
struct Highest;

impl Scheduling for Highest {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        Decision::Run(view.ready[view.ready.len() - 1].thread)
    }
}

/// Many elements are one operation, which is seen at an element that another
/// thread is at, and conflicts with nothing else.
#[test]
fn a_copy_stands_where_another_thread_is() {
    let at = |kind, obj, slot| Op {
        obj,
        slot,
        ..op(kind)
    };
    let range = |kind, obj, slot, slots| Range {
        op: at(kind, obj, slot),
        slots,
    };
    let copy = [range(Kind::Read, 7, 16, 32), range(Kind::Write, 8, 16, 8)];
    let seen = |other: &[Range]| {
        let mut w = world(Highest, 2);
        assert_eq!(w.ranges(0, &copy), Next::Run(1));
        assert_eq!(w.ranges(1, other), Next::Run(1));
        let Status::Ready(op) = w.status(0) else {
            panic!("{:?}", w.status(0));
        };
        (op.kind, op.obj, op.slot)
    };
    let one = |kind, obj, slot| seen(&[range(kind, obj, slot, 1)]);
    assert_eq!(one(Kind::Write, 7, 28), (Kind::Read, 7, 28));
    assert_eq!(one(Kind::Read, 8, 20), (Kind::Write, 8, 20));
    let first = (Kind::Read, 7, 16);
    assert_eq!(one(Kind::Write, 7, 48), first, "behind the end");
    assert_eq!(one(Kind::Read, 7, 28), first, "both read");
    assert_eq!(one(Kind::Write, 9, 28), first, "another array");
    let ranges = [range(Kind::Read, 9, 16, 64), range(Kind::Write, 7, 40, 64)];
    assert_eq!(seen(&ranges), (Kind::Read, 7, 40));
}
