//! Random methods against a dumb twin that runs them and watches who gets hold
//! of what; and shapes that must be seen through.

mod assemble;
mod program;
mod twin;

use super::{Outcome, Summaries, analyse};
use assemble::{Assembled, assemble};
use classfile::flow::Flow;
use classfile::{ClassFile, Code};
use fastrand::Rng;
use program::{Stmt, Var, program};

fn outcome(assembled: &Assembled) -> Outcome {
    let class = ClassFile::parse(&assembled.class).unwrap();
    let index = class.method_index("m", assemble::DESC).unwrap();
    let code = Code::decode(&class, index).unwrap().unwrap();
    let flow = Flow::analyze(&class, &code).unwrap();
    analyse(&class, &code, &flow, false, &mut Summaries::default())
}

#[test]
fn nothing_is_left_out_that_another_thread_can_know() {
    let (mut stays, mut not_yet) = (0, 0);
    for seed in 0..40_000 {
        let program = program(&mut Rng::with_seed(seed));
        let assembled = assemble(&program);
        let outcome = outcome(&assembled);
        for run in 0..12 {
            let seen = twin::run(
                &program,
                &assembled.pcs,
                &mut Rng::with_seed(seed << 8 | run),
            );
            for access in seen.accesses {
                let (pc, now, later) = (access.pc, access.known, seen.known[access.object]);
                let tale = || format!("seed {seed}, pc {pc}: {outcome:?}\n{program:#?}");
                if outcome.stays.contains(&pc) {
                    stays += 1;
                    assert!(!later, "{}", tale());
                }
                if outcome.not_yet.contains(&pc) {
                    not_yet += 1;
                    assert!(!now && access.is_array, "{}", tale());
                }
            }
        }
    }
    // Or else the test says nothing.
    assert!(stays > 10_000 && not_yet > 10_000, "{stays} {not_yet}");
}

const A: Var = Var(0);
const B: Var = Var(1);
const T: Var = Var(4);

/// Of the accesses of a method (its makers left out): which never leave, and
/// which have not left yet.
fn verdicts(program: &[Stmt]) -> (Vec<bool>, Vec<bool>) {
    let assembled = assemble(program);
    let outcome = outcome(&assembled);
    let pcs = assembled.accesses();
    let all = |list: &[u32]| pcs.iter().map(|pc| list.contains(pc)).collect();
    (all(&outcome.stays), all(&outcome.not_yet))
}

#[test]
fn arrays_that_change_places_in_a_loop_stay() {
    let (stays, _) = verdicts(&[
        Stmt::NewArray(A),
        Stmt::NewArray(B),
        Stmt::Loop(vec![
            Stmt::Read(A),
            Stmt::Write(B),
            Stmt::Copy(Var(2), A),
            Stmt::Copy(A, B),
            Stmt::Copy(B, Var(2)),
        ]),
        Stmt::Read(A),
    ]);
    assert_eq!(stays, [true; 3]);
}

#[test]
fn rows_of_a_local_matrix_stay_until_another_comes_in() {
    let matrix = |then: Vec<Stmt>| {
        let mut program = vec![Stmt::NewMatrix(A), Stmt::LoadElement(B, A)];
        program.extend(then);
        program.push(Stmt::Read(B));
        verdicts(&program).0
    };
    assert_eq!(matrix(vec![]), [true, true]);
    // The row may be the one that is stored in, and that one is anybody's.
    let shared = vec![
        Stmt::LoadStatic(B),
        Stmt::StoreElement(A, B),
        Stmt::LoadElement(B, A),
    ];
    assert_eq!(matrix(shared).last(), Some(&false));
}

#[test]
fn objects_of_the_class_stay_if_its_constructor_keeps_nothing() {
    let used = [Stmt::New(T), Stmt::Write(T), Stmt::Look(T), Stmt::Read(T)];
    assert_eq!(verdicts(&used).0, [true, true]);
    let kept = [Stmt::New(T), Stmt::Write(T), Stmt::Keep(T), Stmt::Read(T)];
    assert_eq!(verdicts(&kept), (vec![false; 2], vec![false; 2]));
}

#[test]
fn an_array_is_known_to_nobody_until_it_is_handed_out() {
    let handed = [
        Stmt::NewArray(A),
        Stmt::Write(A),
        Stmt::StoreStatic(A),
        Stmt::Write(A),
    ];
    assert_eq!(verdicts(&handed), (vec![false; 2], vec![true, false]));
    // Made anew in each round, it is new again.
    let rounds = [Stmt::Loop(handed.to_vec())];
    assert_eq!(verdicts(&rounds), (vec![false; 2], vec![true, false]));
    // Handed out in the round before.
    let before = [
        Stmt::NewArray(A),
        Stmt::Loop(vec![Stmt::Write(A), Stmt::StoreStatic(A)]),
    ];
    assert_eq!(verdicts(&before), (vec![false], vec![false]));
}
