//! Nobody waits for ever: spinning threads let those go on whom they wait for,
//! and RaceFuzzer gives up waiting for what does not come.

use crate::world::{SchedulerState, drive, params, run};
use litmus::*;
use schedule::{Params, strategies, strategy};

const X: Var = Var(0);
const FLAG: Var = Var(1);
const R: Reg = Reg(0);
const BOUND: u32 = 250_000;

/// Two threads that spin until a third has done its work.
fn spinners() -> Program {
    let wait = spin(R, FLAG, BOUND).to_vec();
    let work = [vec![fetch_add(Reg(7), Var(9), 1); 50], vec![store(FLAG, 1)]].concat();
    Program::parallel([wait.clone(), wait, work])
}

#[test]
fn spin_loops_do_not_starve_whom_they_wait_for() {
    for name in strategies() {
        for seed in 0..50 {
            let mut s = strategy(name, &params(seed, None)).unwrap();
            // Sites 1 and 2 are the loads of the loops.
            let world = SchedulerState::new(&spinners()).spinning_at([1, 2]);
            let run = drive(world, s.as_mut(), seed);
            assert!(!run.truncated, "{name}, seed {seed}");
            assert!(run.steps.len() < 2000, "{name}: {}", run.steps.len());
        }
    }
}

#[test]
fn not_even_if_they_do_not_say_that_they_spin() {
    for name in strategies() {
        for seed in 0..50 {
            let run = run(&spinners(), name, &params(seed, None));
            assert!(!run.truncated, "{name}, seed {seed}");
        }
    }
}

#[test]
fn two_that_yield_take_turns() {
    // Each waits for the other, step by step.
    let turns = |mine: i64, other: i64| {
        let wait = Stmt::While {
            cond: not(eq(R, mine)),
            bound: BOUND,
            body: vec![load(R, FLAG)],
        };
        vec![vec![wait, Stmt::Set(R, other.into()), store(FLAG, other)]; 5].concat()
    };
    let program = Program::parallel([turns(0, 1), turns(1, 0)]);
    for name in strategies() {
        for seed in 0..20 {
            let mut s = strategy(name, &params(seed, None)).unwrap();
            let loads = (1..=20).filter(|site| site % 2 == 1);
            let run = drive(
                SchedulerState::new(&program).spinning_at(loads),
                s.as_mut(),
                seed,
            );
            assert!(!run.truncated, "{name}, seed {seed}");
        }
    }
}

/// A thread at a statement of the pair, which a spinning thread waits for; the
/// other statement is never reached.
fn awaited() -> Program {
    let waited_for = vec![write(X, 1), store(FLAG, 1)];
    let waits = spin(R, FLAG, BOUND).to_vec();
    Program::parallel([waited_for, waits])
}

#[test]
fn a_postponed_thread_is_released_for_one_that_spins() {
    for seed in 0..20 {
        let mut s = strategy("racefuzzer", &params(seed, Some((1, 99)))).unwrap();
        let run = drive(
            SchedulerState::new(&awaited()).spinning_at([3]),
            s.as_mut(),
            seed,
        );
        assert!(!run.truncated);
        assert!(run.steps.len() < 1100, "{}", run.steps.len());
    }
}

#[test]
fn also_for_one_that_polls_without_saying_so() {
    let run = run(&awaited(), "racefuzzer", &params(1, Some((1, 99))));
    assert!(!run.truncated);
    assert!(run.steps.len() < 110_000, "{}", run.steps.len());
}

#[test]
fn a_loop_over_the_statement_does_not_take_a_long_wait_each_time() {
    let round = vec![write(X, 1), fetch_add(Reg(7), Var(9), 1)];
    let waited_for = [vec![round; 200].concat(), vec![store(FLAG, 1)]].concat();
    let program = Program::parallel([waited_for, spin(R, FLAG, BOUND).to_vec()]);
    let all = (1..400).step_by(2).collect();
    let params = Params {
        pair: Some([all, vec![999]]),
        ..Params::default()
    };
    let mut s = strategy("racefuzzer", &params).unwrap();
    let run = drive(
        SchedulerState::new(&program).spinning_at([402]),
        s.as_mut(),
        0,
    );
    assert!(!run.truncated);
    assert!(run.steps.len() < 10_000, "{}", run.steps.len());
}

#[test]
fn time_passes_before_a_thread_is_released() {
    // The second comes to its statement only after a wait that times out.
    let l = Lock(0);
    let first = vec![write(X, 1)];
    let second = vec![sync(l, [Stmt::TimedWait(l)]), write(X, 2)];
    let program = Program::parallel([first, second]);
    for seed in 0..100 {
        let run = run(&program, "racefuzzer", &params(seed, Some((1, 5))));
        assert_eq!(run.hits.len(), 1, "seed {seed}");
    }
}

#[test]
fn a_lock_that_a_postponed_thread_holds_is_no_deadlock() {
    let l = Lock(0);
    let inside = || vec![sync(l, [write(X, 1)])];
    let program = Program::parallel([inside(), inside()]);
    for seed in 0..100 {
        let run = run(&program, "racefuzzer", &params(seed, Some((2, 5))));
        assert_eq!(run.hits, []);
        assert_eq!(run.steps.len(), 6);
    }
}
