//! Random programs, run once each and looked at in windows: what a window predicts is put to the
//! checker of the whole run, to the program itself and to all its schedules; and one window as
//! large as the run finds what the engines find that see it all.

use crate::oracle::{Race, brute_force, execute, observable, race, replay};
use crate::soundness::SMALL;
use litmus::random::{Shape, programs, schedules};
use predict::check::Checker;
use predict::{Bounds, Control, Method, Outcome, Prediction, Standing, Windows};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use trace::Event;

const LONG: Shape = Shape {
    threads: 3,
    length: 12,
    vars: 3,
    locks: 3,
    mixed: true,
    init: true,
    blocking: true,
    branchy: false,
};

fn look(events: &[Event], size: usize, clocks: usize) -> Outcome {
    let bounds = Bounds {
        events: size,
        clocks,
    };
    let control = Control {
        stop: &|| false,
        room: &|_| true,
        seconds: &|| 0.0,
    };
    let engines = Method::ALL.into_iter().filter(|m| *m != Method::Sliced);
    let mut windows = Windows::new(engines, bounds, control);
    for e in events {
        windows.push(e);
    }
    windows.finish()
}

/// The whole order that the end of a witness stands for, in a run short enough to be told.
fn order(events: &[Event], p: &Prediction) -> Option<Vec<u32>> {
    let told = p.told.as_ref()?;
    let mut order: Vec<u32> = (0..told.omitted as u32).collect();
    let mut taken: Vec<bool> = (0..events.len()).map(|n| n < order.len()).collect();
    for (count, last) in &told.stretches {
        for _ in 0..*count {
            let next =
                (0..events.len()).find(|n| !taken[*n] && events[*n].thread == last.thread)?;
            taken[next] = true;
            order.push(next as u32);
        }
        if order.last().map(|e| events[*e as usize]) != Some(*last) {
            return None;
        }
    }
    Some(order)
}

fn races<'p>(found: impl IntoIterator<Item = &'p Prediction>) -> BTreeSet<Race> {
    let key = |p: &Prediction| {
        let sites = (p.first.site, p.second.site);
        (sites.0.min(sites.1), sites.0.max(sites.1), p.loc)
    };
    found.into_iter().map(key).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn witnesses_of_windows_are_witnesses_of_the_run(
        program in programs(LONG),
        schedule in schedules(),
        size in 2usize..24,
        clocks in prop_oneof![Just(usize::MAX), 100usize..400],
    ) {
        let program = observable(program);
        let events = execute(&program, &schedule).events;
        for looked in look(&events, size, clocks).looked {
            prop_assert_eq!(looked.found.refuted, 0, "{:?}", looked.method);
            for p in &looked.found {
                let pair = [p.first_event.unwrap_or(0), p.second_event].map(|e| &events[e as usize]);
                prop_assert!(p.first_event.is_none() || race(pair[0], pair[1]).is_some());
                prop_assert_eq!(p.told.is_some(), p.standing == Standing::Predicted);
                if p.told.is_none() {
                    prop_assert!(matches!(looked.method, Method::Hb | Method::Shb | Method::Wcp));
                    continue;
                }
                let order = order(&events, p);
                prop_assert!(order.is_some(), "{:?} {:#?}", p, events);
                let order = order.unwrap();
                prop_assert_eq!(Checker::new(&events).check_order(&order), Ok(()));
                if let Err(why) = replay(&program, &events, &order) {
                    let order: Vec<_> = order.iter().map(|e| events[*e as usize]).collect();
                    return Err(TestCaseError::fail(format!("{:?}: {why}; {order:#?}", looked.method)));
                }
            }
        }
    }

    /// The twin: engines that have all of the run at once.
    #[test]
    fn one_window_is_the_whole(program in programs(LONG), schedule in schedules()) {
        let events = execute(&observable(program), &schedule).events;
        for looked in look(&events, 1 << 20, usize::MAX).looked {
            let mut whole = looked.method.run(&events);
            whole.tell(&events);
            let plain = |p: &Prediction| Prediction { witness: None, ..p.clone() };
            let whole: Vec<_> = whole.iter().map(plain).collect();
            prop_assert_eq!(looked.found.into_vec(), whole, "{:?}", looked.method);
        }
    }
}

/// Against all schedules of small programs.
#[test]
fn no_schedule_contradicts_windows() {
    let mut runner = TestRunner::deterministic();
    let strategy = (programs(SMALL), schedules(), 2usize..10);
    let (mut tried, mut found, mut whole) = (0, 0, 0);
    for _ in 0..3000 {
        let (program, schedule, size) = strategy.new_tree(&mut runner).unwrap().current();
        let program = observable(program);
        let Some((real, _)) = brute_force(&program, 1000) else {
            continue;
        };
        tried += 1;
        let events = execute(&program, &schedule).events;
        for looked in look(&events, size, usize::MAX).looked {
            if !matches!(looked.method, Method::Shb | Method::SyncP | Method::Osr) {
                continue;
            }
            let predicted = races(&looked.found);
            assert!(predicted.is_subset(&real), "{program:#?} {events:#?}");
            found += predicted.len();
            whole += looked.method.run(&events).len();
        }
    }
    assert!(tried > 1000 && found > 200, "{tried} {found}");
    println!("{tried} programs: {found} pairs in windows, {whole} in whole runs");
}

/// An engine whose memory ends gives what it found up to there, and says so.
#[test]
fn memory_that_ends_is_said() {
    let mut runner = TestRunner::deterministic();
    let (program, schedule) = (programs(LONG), schedules())
        .new_tree(&mut runner)
        .unwrap()
        .current();
    let events = execute(&observable(program), &schedule).events;
    let asked = std::cell::Cell::new(0);
    let room = |_| {
        asked.set(asked.get() + 1);
        asked.get() < 10
    };
    let control = Control {
        stop: &|| false,
        room: &room,
        seconds: &|| 0.0,
    };
    let bounds = Bounds {
        events: 2,
        clocks: usize::MAX,
    };
    let mut windows = Windows::new([Method::Hb, Method::Shb, Method::SyncP], bounds, control);
    for e in events.iter().cycle().take(200) {
        windows.push(e);
    }
    let done = windows.finish();
    let ended: Vec<_> = done
        .looked
        .iter()
        .map(|l| (l.method, l.ended.is_some()))
        .collect();
    assert_eq!(
        ended,
        [
            (Method::Hb, true),
            (Method::Shb, true),
            (Method::SyncP, false)
        ]
    );
    let told = done.looked[0].found.incomplete.as_deref();
    assert!(
        told.is_some_and(|why| why.contains("no more memory after")),
        "{told:?}"
    );
}
