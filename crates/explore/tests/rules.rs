//! The rules say of random programs, all along random schedules, what the machine
//! that runs them says: who can go on, in how many ways, and with what result.

use explore::{Op, Rules};
use litmus::random::contended;
use proptest::prelude::*;
use test_support::exploring::*;

fn follow(program: &litmus::Program, choices: &[u8]) -> Result<(), TestCaseError> {
    let points = Points::All;
    let mut world = World::new(program, &points);
    let mut rules = Rules::new(world.blocked().iter().map(|l| l.thread));
    for choice in choices {
        let ready = world.ready();
        let standing = world.blocked();
        let mut can: Vec<_> = Vec::new();
        for label in &standing {
            let picks = rules.picks(label);
            let theirs = ready.iter().find(|r| r.label == *label);
            prop_assert_eq!(picks, theirs.map_or(0, |r| r.picks), "{:?}", label);
            can.extend((0..picks).map(|pick| explore::Label {
                pick,
                ..label.clone()
            }));
        }
        if can.is_empty() {
            return Ok(());
        }
        let label = &can[usize::from(*choice) % can.len()];
        let told = world.step(label);
        let made = rules.step(label);
        // A permit for a thread that does not run is none; the machine does not say.
        if let Op::Update(at) = label.op {
            if told.done {
                rules.updated(label.thread, at);
            }
        } else if !matches!(label.op, Op::Unpark(_)) {
            prop_assert_eq!(made.done, told.done, "{:?}", label);
        }
        prop_assert_eq!(made.cleared, told.cleared, "{:?}", label);
        prop_assert_eq!(made.woken, told.woken, "{:?}", label);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_the_machine_does(
        program in contended(3, 4, false),
        choices in proptest::collection::vec(any::<u8>(), 60),
    ) {
        follow(&program, &choices)?;
    }
}
