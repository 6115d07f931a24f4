//! RaceFuzzer against brute force: no pair that cannot stand side by side, and
//! nearly every one that can.

use crate::world::{SchedulerState, params, run, sample};
use litmus::random::{Shape, programs};
use litmus::*;
use proptest::prelude::*;
use schedule::Params;
use std::collections::{BTreeSet, HashSet};
use trace::{Loc, ThreadId};

/// A statement with its location, as it stood ready in some state.
type Access = (u32, Loc);

/// Every race that some schedule makes, and every site of an access.
#[derive(Default)]
struct Truth {
    /// Both ways round.
    races: BTreeSet<(Access, Access)>,
    sites: BTreeSet<u32>,
}

impl Truth {
    /// Accesses are never blocked: all that are pending are enabled.
    fn see(&mut self, machine: &Machine) {
        let accesses: Vec<_> = (0..machine.registers().len() as u32)
            .filter_map(|t| {
                let pending = machine.pending(ThreadId(t))?;
                let (loc, write, plain) = access(pending.op?)?;
                Some(((pending.site.0, loc), write, plain))
            })
            .collect();
        self.sites.extend(accesses.iter().map(|a| a.0.0));
        for (n, one) in accesses.iter().enumerate() {
            for other in &accesses[..n] {
                let conflict = one.0.1 == other.0.1 && (one.1 || other.1);
                if conflict && (one.2 || other.2) {
                    self.races.insert((one.0, other.0));
                    self.races.insert((other.0, one.0));
                }
            }
        }
    }
}

/// Whatever time does: a wait may time out at any moment.
fn possible(program: &Program) -> Option<Truth> {
    let mut truth = Truth::default();
    states(program, 20_000, |machine| truth.see(machine)).then_some(truth)
}

/// If waits only time out when nothing else is left.
fn expected(program: &Program) -> Option<Truth> {
    let mut truth = Truth::default();
    let mut open = vec![SchedulerState::new(program)];
    let mut seen = HashSet::new();
    while let Some(mut world) = open.pop() {
        truth.see(&world.machine);
        let Some(sight) = world.look() else {
            continue;
        };
        for ready in &sight.ready {
            for way in 0..world.ways(ready.thread) {
                let mut next = world.clone();
                next.run(ready.thread, way);
                if seen.insert(next.key()) {
                    open.push(next);
                }
            }
        }
        if seen.len() > 20_000 {
            return None;
        }
    }
    Some(truth)
}

/// Location, whether it writes, whether it is plain.
fn access(op: trace::Op) -> Option<(Loc, bool, bool)> {
    match op {
        trace::Op::Read(loc) => Some((loc, false, true)),
        trace::Op::Write(loc) => Some((loc, true, true)),
        trace::Op::AtomicRead(loc, _) => Some((loc, false, false)),
        trace::Op::AtomicWrite(loc, _) | trace::Op::AtomicUpdate(loc, _) => {
            Some((loc, true, false))
        }
        _ => None,
    }
}

fn shape() -> Shape {
    Shape {
        threads: 2,
        length: 4,
        vars: 2,
        mixed: true,
        ..Shape::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_hit_can_stand_side_by_side(program in programs(shape()), seed: u32) {
        let Some(truth) = possible(&program) else {
            return Ok(());
        };
        for a in &truth.sites {
            for b in truth.sites.range(a..) {
                let run = run(&program, "racefuzzer", &params(u64::from(seed), Some((*a, *b))));
                for hit in &run.hits {
                    let place = |op: schedule::Op| Loc { obj: trace::ObjId(op.obj), slot: op.slot };
                    let race = (
                        (hit.first.op.site, place(hit.first.op)),
                        (hit.second.op.site, place(hit.second.op)),
                    );
                    prop_assert!(truth.races.contains(&race), "{:?}", hit);
                    let sites = BTreeSet::from([race.0.0, race.1.0]);
                    prop_assert_eq!(sites, BTreeSet::from([*a, *b]));
                    prop_assert_ne!(hit.first.thread, hit.second.thread);
                }
            }
        }
    }
}

#[test]
fn what_can_stand_side_by_side_is_hit() {
    let (mut pairs, mut first_try, mut hit) = (0, 0, 0);
    for program in sample(shape(), 1200) {
        let Some(truth) = expected(&program) else {
            continue;
        };
        let sites: BTreeSet<_> = truth.races.iter().map(|(a, b)| (a.0, b.0)).collect();
        for pair in sites.into_iter().filter(|(a, b)| a <= b) {
            let hits = |seed: u64| {
                let run = run(&program, "racefuzzer", &params(seed, Some(pair)));
                !run.hits.is_empty()
            };
            pairs += 1;
            first_try += u32::from(hits(0));
            hit += u32::from((0..100).any(hits));
        }
    }
    assert!(pairs > 200, "{pairs}");
    // Some need a rare order of other things first.
    assert!(hit * 100 >= pairs * 99, "{hit} of {pairs}");
    assert!(first_try * 10 >= pairs * 8, "{first_try} of {pairs}");
}

#[test]
fn two_threads_at_one_statement_are_no_race_of_another_pair() {
    let x = Var(0);
    let program = Program::parallel([vec![write(x, 1)], vec![write(x, 2)], vec![read(Reg(0), x)]]);
    // Sites 1 and 2 are one statement.
    let hits = |seed, other: &[u32]| {
        let pair = Some([vec![1, 2], other.to_vec()]);
        run(
            &program,
            "racefuzzer",
            &Params {
                seed,
                pair,
                ..Params::default()
            },
        )
        .hits
    };
    for seed in 0..50 {
        assert_eq!(hits(seed, &[99]), []);
        assert!(!hits(seed, &[1, 2]).is_empty());
        let with_read = hits(seed, &[3]);
        assert!(!with_read.is_empty());
        for hit in with_read {
            assert!(hit.first.op.site == 3 || hit.second.op.site == 3);
        }
    }
}

#[test]
fn all_that_were_postponed_go_when_the_coin_says_so() {
    // Two that read, one that writes: either it goes first, or both of them do.
    let x = Var(0);
    let reader = || vec![read(Reg(0), x)];
    let program = Program::parallel([reader(), reader(), vec![write(x, 1)]]);
    let mut both = 0;
    for seed in 0..200 {
        let pair = Some([vec![1, 2], vec![3]]);
        let run = run(
            &program,
            "racefuzzer",
            &Params {
                seed,
                pair,
                ..Params::default()
            },
        );
        let order: Vec<u32> = run.steps.iter().map(|r| r.op.site).collect();
        let firsts: Vec<u32> = run.hits.iter().map(|h| h.first.op.site).collect();
        assert!(!run.hits.is_empty());
        if firsts == [1, 2] || firsts == [2, 1] {
            assert_eq!(order, [firsts[0], firsts[1], 3]);
            both += 1;
        }
    }
    assert!(both > 20, "{both}");
}

/// The second access of a race may come at once, or after all that the other thread does.
#[test]
fn who_goes_second_may_go_at_once_or_last() {
    let (x, y) = (Var(0), Var(1));
    let writer = vec![write(x, 1), read(Reg(0), y)];
    let reader = vec![read(Reg(0), x), write(y, 1)];
    let program = Program::parallel([writer, reader]);
    let mut orders = BTreeSet::new();
    for seed in 0..200 {
        let run = run(&program, "racefuzzer", &params(seed, Some((1, 3))));
        if run.hits[0].first.op.site == 1 {
            orders.insert(run.steps.iter().map(|r| r.op.site).collect::<Vec<u32>>());
        }
    }
    for order in [[1, 2, 3, 4], [1, 3, 2, 4], [1, 3, 4, 2]] {
        assert!(orders.contains(&order[..]), "{orders:?}");
    }
}

#[test]
fn a_loop_comes_to_the_element_at_which_another_thread_waits() {
    let fill = (0..40).map(|element| write(Var(element), 1)).collect();
    let program = Program::parallel([fill, vec![write(Var(30), 2)]]);
    let meets = |seed: &u64| {
        let params = Params {
            seed: *seed,
            pair: Some([(1..=40).collect(), vec![41]]),
            ..Params::default()
        };
        !run(&program, "racefuzzer", &params).hits.is_empty()
    };
    // Unless the other thread is the one that goes on first.
    let met = (0..200).filter(meets).count();
    assert!(met > 70, "{met}");
}
