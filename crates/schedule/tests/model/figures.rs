//! The two programs of the RaceFuzzer paper.

use crate::world::{params, run};
use litmus::*;

const X: Var = Var(0);
const Y: Var = Var(1);
const Z: Var = Var(2);
const L: Lock = Lock(0);
const R: Reg = Reg(0);
const S: Reg = Reg(1);

/// Figure 1. Sites are the paper's statement numbers.
fn figure_1() -> Program {
    let thread1 = vec![
        write(X, 1),
        sync(L, [write(Y, 1)]),
        read(R, Z),
        assert(not(eq(R, 1))),
    ];
    let thread2 = vec![
        write(Z, 1),
        sync(
            L,
            [
                read(R, Y),
                Stmt::If(eq(R, 1), vec![read(S, X), assert(eq(S, 1))], vec![]),
            ],
        ),
    ];
    Program::parallel([thread1, thread2])
}

#[test]
fn figure_1_z_is_always_hit_and_x_never() {
    let program = figure_1();
    let (mut z, mut error1) = (0, 0);
    for seed in 0..1000 {
        let x = run(&program, "racefuzzer", &params(seed, Some((1, 10))));
        assert_eq!(x.hits, [], "seed {seed}");
        let run = run(&program, "racefuzzer", &params(seed, Some((5, 7))));
        z += u32::from(!run.hits.is_empty());
        error1 += u32::from(run.outcome.1.iter().any(|(_, site)| site.0 == 6));
        assert!(run.outcome.1.iter().all(|(_, site)| site.0 != 11), "ERROR2");
        // Statement 7 first is what makes the error.
        for hit in &run.hits {
            assert_eq!(run.outcome.1.is_empty(), hit.first.op.site == 5);
        }
    }
    assert_eq!(z, 1000);
    assert!((450..550).contains(&error1), "{error1}");
}

/// Figure 2, with so much work under the lock before statement 8. Answers the
/// program and the sites of statements 8 and 10.
fn figure_2(work: usize) -> (Program, (u32, u32)) {
    let f = |n| vec![fetch_add(Reg(7), Var(9), 1); n];
    let thread1 = vec![sync(L, f(work)), read(R, X), assert(not(eq(R, 0)))];
    let thread2 = vec![write(X, 1), sync(L, f(1))];
    let eight = 1 + 1 + work as u32 + 1;
    let pair = (eight, eight + 2);
    (Program::parallel([thread1, thread2]), pair)
}

#[test]
fn figure_2_is_hit_every_time_and_goes_either_way() {
    for work in [5, 500] {
        let (program, pair) = figure_2(work);
        let (mut hits, mut errors) = (0, 0);
        for seed in 0..100 {
            let run = run(&program, "racefuzzer", &params(seed, Some(pair)));
            hits += u32::from(run.hits.len() == 1);
            errors += u32::from(!run.outcome.1.is_empty());
            for hit in &run.hits {
                assert_eq!(run.outcome.1.is_empty(), hit.first.op.site == pair.1);
            }
        }
        assert_eq!(hits, 100, "with {work}");
        assert!((35..=65).contains(&errors), "{errors} with {work}");
    }
}

#[test]
fn figure_2_is_hardly_ever_seen_by_a_random_walk() {
    let (program, _) = figure_2(500);
    let error = |seed: &u64| {
        let run = run(&program, "random", &params(*seed, None));
        !run.outcome.1.is_empty()
    };
    assert_eq!((0..100).filter(error).count(), 0);
}
