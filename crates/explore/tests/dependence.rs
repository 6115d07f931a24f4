//! That the relation of dependence is valid: steps that do not depend on each
//! other can be swapped, and neither lets the other go on or stops it.

use litmus::random::{Shape, contended, programs};
use litmus::{Machine, Program};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use test_support::exploring::*;

/// Everything about a machine's state but the way to it.
fn state(machine: &Machine) -> String {
    let mut machine = machine.clone();
    machine.events.clear();
    machine.schedule.clear();
    format!("{machine:?}")
}

fn check(program: &Program, choices: &[usize]) -> TestCaseResult {
    let mut world = World::new(program, &Points::All);
    for choice in choices {
        let ready = world.ready();
        if ready.is_empty() {
            break;
        }
        for a in &ready {
            let mut after = world.clone();
            after.step(&a.label);
            let waiting = world.blocked().into_iter();
            let waiting = waiting.filter(|b| ready.iter().all(|r| r.label != *b));
            for b in waiting.filter(|b| !b.depends(&a.label)) {
                let lets_go = after.ready().iter().any(|r| r.label == b);
                prop_assert!(!lets_go, "{:?} lets {b:?} go on", a.label);
            }
            for b in ready.iter().filter(|b| !b.label.depends(&a.label)) {
                prop_assert!(after.ready().contains(b), "{:?} changes {b:?}", a.label);
                let mut one = after.clone();
                one.step(&b.label);
                let mut other = world.clone();
                other.step(&b.label);
                other.step(&a.label);
                // Failures are listed in the order of their happening.
                if one.machine.outcome().failed.len() < 2 {
                    prop_assert_eq!(state(&one.machine), state(&other.machine));
                }
            }
        }
        let label = &ready[choice % ready.len()].label;
        world.step(label);
    }
    Ok(())
}

fn mixed() -> Shape {
    Shape {
        mixed: true,
        init: true,
        ..Shape::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn contended_programs(
        program in contended(3, 4, true),
        choices in proptest::collection::vec(0usize..12, 1..25),
    ) {
        check(&program, &choices)?;
    }

    #[test]
    fn programs_with_a_main_thread(
        program in programs(mixed()),
        choices in proptest::collection::vec(0usize..12, 1..40),
    ) {
        check(&program, &choices)?;
    }
}
