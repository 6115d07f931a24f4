//! Random programs, run once each: what is predicted from that run is put to
//! the program itself.

use crate::oracle::{
    Race, brute_force, execute, execute_tracking, observable, race, replay, replay_sliced,
};
use litmus::random::{Shape, programs, schedules};
use predict::check::Checker;
use predict::{Method, Prediction, Standing};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use trace::{Event, Mode, Op};

const WIDE: Shape = Shape {
    threads: 3,
    length: 8,
    vars: 3,
    locks: 3,
    mixed: true,
    init: false,
    blocking: true,
    branchy: false,
};
const INIT: Shape = Shape { init: true, ..WIDE };
/// Small enough to try every schedule.
pub const SMALL: Shape = Shape {
    threads: 2,
    length: 4,
    vars: 2,
    locks: 2,
    mixed: false,
    init: false,
    blocking: false,
    branchy: false,
};
/// The same, and much hangs on what was read.
const BRANCHY: Shape = Shape {
    length: 5,
    vars: 3,
    branchy: true,
    ..SMALL
};

fn races(found: &[Prediction]) -> BTreeSet<Race> {
    let key = |p: &Prediction| {
        let sites = (p.first.site, p.second.site);
        (sites.0.min(sites.1), sites.0.max(sites.1), p.loc)
    };
    found.iter().map(key).collect()
}

/// Every prediction with a witness can be followed by the program.
fn follows(
    program: &litmus::Program,
    events: &[Event],
    method: Method,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(Checker::new(events).possible(), Ok(()));
    let found = method.run(events);
    prop_assert_eq!(found.refuted, 0, "{:?}", method);
    for p in &found {
        if method.needs_trace() {
            prop_assert_eq!(p.standing, Standing::Predicted);
        }
        let Some(witness) = &p.witness else { continue };
        let order = witness.order(events);
        prop_assert_eq!(order.len(), witness.len());
        prop_assert_eq!(Checker::new(events).check_order(&order), Ok(()));
        if let Err(why) = replay(program, events, &order) {
            let order: Vec<_> = order.iter().map(|e| events[*e as usize]).collect();
            return Err(TestCaseError::fail(format!(
                "{method:?}: {why}; {order:#?}"
            )));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn witnesses_can_be_followed(program in programs(WIDE), schedule in schedules()) {
        let program = observable(program);
        let events = execute(&program, &schedule).events;
        for method in [Method::Shb, Method::SyncP, Method::Osr] {
            follows(&program, &events, method)?;
        }
    }

    #[test]
    fn witnesses_can_be_followed_past_static_initialisers(
        program in programs(INIT),
        schedule in schedules(),
    ) {
        let program = observable(program);
        let events = execute(&program, &schedule).events;
        for method in [Method::SyncP, Method::Osr] {
            follows(&program, &events, method)?;
        }
    }

    /// With what depends on what: the events that matter come, and the pair.
    #[test]
    fn sliced_witnesses_can_be_followed(program in programs(WIDE), schedule in schedules()) {
        let program = observable(program);
        let (execution, deps) = execute_tracking(&program, &schedule);
        let events = execution.events;
        let found = Method::Sliced.run_with(&events, &deps);
        prop_assert_eq!(found.refuted, 0);
        let notifies = events.iter().any(|e| matches!(e.op, Op::Notify(_)));
        for p in &found {
            prop_assert_eq!(p.standing, Standing::Predicted);
            let order = p.witness.as_ref().unwrap().order(&events);
            let checker = Checker::with(&events, &deps);
            prop_assert_eq!(checker.check_order(&order), Ok(()));
            let must = checker.must(&order);
            // Whom a notify wakes is not in the trace, so not in the replay.
            if let Err(why) = replay_sliced(&program, &events, &order, &must) && !notifies {
                let order: Vec<_> = order.iter().zip(&must).map(|(e, m)| (events[*e as usize], m)).collect();
                return Err(TestCaseError::fail(format!("{why}; {order:#?}")));
            }
        }
    }

    /// What happens-before finds first, SHB finds; all that SHB finds is
    /// sync-preserving; all that is sync-preserving OSR finds.
    #[test]
    fn each_finds_what_the_one_before_finds(
        program in programs(WIDE),
        schedule in schedules(),
    ) {
        let events = execute(&observable(program), &schedule).events;
        let [hb, shb, syncp, osr] = [Method::Hb, Method::Shb, Method::SyncP, Method::Osr]
            .map(|m| m.run(&events).into_vec());
        // Signals and opaque accesses do not order by the memory model, or
        // less, but they do for a schedule.
        let unordering = |e: &Event| match e.op {
            Op::Park | Op::Unpark(_) | Op::Interrupt(_) => true,
            Op::AtomicRead(_, m) | Op::AtomicWrite(_, m) | Op::AtomicUpdate(_, m) => {
                m == Mode::Opaque
            }
            _ => false,
        };
        if !events.iter().any(unordering) && let Some(first) = hb.iter().map(|p| p.second_event).min() {
            prop_assert!(shb.iter().any(|p| p.second_event == first), "{:?} {:?}", hb, shb);
        }
        // Updates may fail on other values, which SHB does not mind.
        let update = |p: &Prediction| {
            let ops = [p.first_event.unwrap(), p.second_event].map(|e| events[e as usize].op);
            ops.iter().any(|op| matches!(op, Op::AtomicUpdate(..)))
        };
        let shb: Vec<_> = shb.into_iter().filter(|p| !update(p)).collect();
        prop_assert!(shb.iter().all(|p| p.standing == Standing::Predicted), "{:?}", shb);

        prop_assert!(races(&shb).is_subset(&races(&syncp)));
        prop_assert!(races(&syncp).is_subset(&races(&osr)));
    }
}

/// Against all schedules of small programs; the share each engine predicts
/// from one run is printed.
fn no_schedule_contradicts(shape: Shape, cases: usize) {
    let mut runner = TestRunner::deterministic();
    let strategy = (programs(shape), schedules());
    let mut share = [0usize; 6];
    let mut together = 0;
    let (mut all, mut tried, mut racy) = (0, 0, 0);
    for _ in 0..cases {
        let (program, schedule) = strategy.new_tree(&mut runner).unwrap().current();
        let program = observable(program);
        let Some((real, deadlock)) = brute_force(&program, 1000) else {
            continue;
        };
        tried += 1;
        racy += usize::from(!real.is_empty());
        all += real.len();
        let (execution, deps) = execute_tracking(&program, &schedule);
        let events = execution.events;
        let found = Method::ALL.map(|m| races(&m.run_with(&events, &deps).into_vec()));
        for (n, method) in Method::ALL.into_iter().enumerate() {
            let found = &found[n];
            match method {
                Method::Shb | Method::SyncP | Method::Osr | Method::Sliced => {
                    assert!(
                        found.is_subset(&real),
                        "{method:?}: {program:#?} {events:#?}"
                    );
                }
                Method::Wcp => {
                    let right = found.is_empty() || !real.is_empty() || deadlock;
                    assert!(right, "{program:#?} {events:#?}");
                }
                Method::Hb => assert!(found.is_empty() || !real.is_empty()),
            }
            share[n] += found.intersection(&real).count();
        }
        let [_, shb, _, syncp, osr, sliced] = &found;
        let sound = &(syncp | osr) | sliced;
        assert!(shb.is_subset(&sound), "{program:#?} {events:#?}");
        together += sound.len();
    }
    assert!(tried > cases / 4 && racy > 150, "{tried} {racy}");
    println!("{tried} programs, {racy} of them with races, {all} races; predicted from one run:");
    let percent = |n: usize| 100.0 * n as f64 / all as f64;
    for (method, found) in Method::ALL.iter().zip(share) {
        println!("{:<6} {:>5.1}%", method.name(), percent(found));
    }
    println!("{:<6} {:>5.1}%", "all", percent(together));
}

#[test]
fn no_schedule_contradicts_small_programs() {
    no_schedule_contradicts(SMALL, 3000);
}

#[test]
fn no_schedule_contradicts_programs_of_branches() {
    no_schedule_contradicts(BRANCHY, 2000);
}

/// What may come in from outside does no harm.
#[test]
fn any_events_at_all() {
    let mut runner = TestRunner::deterministic();
    let strategy = (
        programs(INIT),
        schedules(),
        proptest::collection::vec(0u32..6, 40),
    );
    for _ in 0..2000 {
        let (program, schedule, shuffle) = strategy.new_tree(&mut runner).unwrap().current();
        let mut events = execute(&program, &schedule).events;
        for (e, other) in events.iter_mut().zip(shuffle.iter().cycle()) {
            if *other < 4 {
                e.thread.0 = *other;
            }
        }
        let by = shuffle[0] as usize * 3 % events.len().max(1);
        events.rotate_left(by);
        for method in Method::ALL {
            let found = method.run(&events);
            assert_eq!(found.refuted, 0);
            for p in &found {
                assert_ne!(p.first.thread, p.second.thread);
                if let Some(first) = p.first_event {
                    let [a, b] = [first, p.second_event].map(|e| &events[e as usize]);
                    assert!(
                        race(a, b).is_some(),
                        "{method:?} {a:?} {b:?} {:#?}",
                        &events
                    );
                }
            }
        }
    }
}
