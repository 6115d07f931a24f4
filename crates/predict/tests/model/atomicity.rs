//! Atomicity violations: known ones, and against all schedules of random
//! programs.

use crate::oracle::{execute_tracking, observable};
use crate::soundness::SMALL;
use litmus::random::{Shape, programs, schedules};
use litmus::{Lock, Program, Reg, Var, executions, read, sync, write};
use predict::atomicity::{Unit, Violation, What, blocks, check, methods};
use predict::check::Checker;
use predict::deps::Deps;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use trace::{Event, Loc, Op, SiteId};

/// A violation as brute force knows it.
type Known = (&'static str, Vec<(SiteId, Loc)>);

/// Critical sections, and all that a thread does.
fn units(events: &[Event]) -> Vec<Unit> {
    let mut units = blocks(events);
    for (at, e) in (0u32..).zip(events) {
        let end = (0u32..)
            .zip(events)
            .find(|(_, o)| o.thread == e.thread && o.op == Op::End);
        if let (Op::Begin, Some((last, _))) = (e.op, end) {
            units.push(Unit {
                first: at,
                last,
                what: What::Method(0),
            });
        }
    }
    units
}

fn known(v: &Violation) -> Known {
    (
        v.pattern.name(),
        v.accesses.iter().map(|a| (a.site, a.loc)).collect(),
    )
}

fn access(e: &Event) -> Option<(Loc, bool)> {
    match e.op {
        Op::Read(loc) | Op::AtomicRead(loc, _) => Some((loc, false)),
        Op::Write(loc) | Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => Some((loc, true)),
        _ => None,
    }
}

/// All violations that happen in a run, and those between neighbours.
fn happened(events: &[Event], into: &mut BTreeSet<Known>, near: &mut BTreeSet<Known>) {
    let units = units(events);
    let inside = |u: &Unit| -> Vec<usize> {
        let thread = events[u.first as usize].thread;
        let range = u.first as usize..=u.last as usize;
        range
            .filter(|e| events[*e].thread == thread && access(&events[*e]).is_some())
            .collect()
    };
    let of = |e: usize| access(&events[e]).unwrap();
    let name = |list: &[usize]| list.iter().map(|e| (events[*e].site, of(*e).0)).collect();
    for unit in &units {
        let mine = inside(unit);
        let me = events[unit.first as usize].thread;
        for (n, a) in mine.iter().enumerate() {
            for z in &mine[n + 1..] {
                let ((x, aw), (y, zw)) = (of(*a), of(*z));
                if x == y {
                    for b in (a + 1..*z).filter(|b| events[*b].thread != me) {
                        let pattern = match (access(&events[b]), aw, zw) {
                            (Some((loc, _)), ..) if loc != x => continue,
                            (Some((_, true)), false, true) => "R W' W",
                            (Some((_, true)), false, false) => "R W' R",
                            (Some((_, true)), true, false) => "W W' R",
                            (Some((_, true)), true, true) => "W W' W",
                            (Some((_, false)), true, true) => "W R' W",
                            _ => continue,
                        };
                        let known: Known = (pattern, name(&[*a, b, *z]));
                        let within = |e: &&usize| {
                            (a < *e && *e < z)
                                && of(**e).0 == x
                                && (of(**e).1 || pattern != "W R' W")
                        };
                        if !mine.iter().any(|e| within(&e)) {
                            near.insert(known.clone());
                        }
                        into.insert(known);
                    }
                    continue;
                }
                for other in units
                    .iter()
                    .filter(|u| events[u.first as usize].thread != me)
                {
                    let theirs: Vec<usize> = inside(other)
                        .into_iter()
                        .filter(|b| a < b && b < z)
                        .collect();
                    for (m, b) in theirs.iter().enumerate() {
                        for c in &theirs[m + 1..] {
                            let ((p, bw), (q, cw)) = (of(*b), of(*c));
                            let same = (p, q) == (x, y);
                            if (!same && (p, q) != (y, x)) || aw != zw || bw != cw {
                                continue;
                            }
                            let pattern = match (aw, bw, same) {
                                (true, true, true) => "W(x) W'(x) W'(y) W(y)",
                                (true, true, false) => "W(x) W'(y) W'(x) W(y)",
                                (true, false, true) => "W(x) R'(x) R'(y) W(y)",
                                (true, false, false) => "W(x) R'(y) R'(x) W(y)",
                                (false, true, true) => "R(x) W'(x) W'(y) R(y)",
                                (false, true, false) => "R(x) W'(y) W'(x) R(y)",
                                _ => continue,
                            };
                            let known: Known = (pattern, name(&[*a, *b, *c, *z]));
                            near.insert(known.clone());
                            into.insert(known);
                        }
                    }
                }
            }
        }
    }
}

fn no_schedule_contradicts(shape: Shape, cases: usize) {
    let mut runner = TestRunner::deterministic();
    let strategy = (programs(shape), schedules());
    let (mut tried, mut all, mut plain, mut sliced) = (0, 0, 0, 0);
    for _ in 0..cases {
        let (program, schedule) = strategy.new_tree(&mut runner).unwrap().current();
        let program = observable(program);
        let (mut real, mut near) = (BTreeSet::new(), BTreeSet::new());
        let mut runs = 0;
        for execution in executions(&program).take(601) {
            runs += 1;
            happened(&execution.events, &mut real, &mut near);
        }
        if runs > 600 {
            continue;
        }
        tried += 1;
        all += near.len();
        let (execution, deps) = execute_tracking(&program, &schedule);
        let events = execution.events;
        let units = units(&events);
        for (deps, share) in [(&Deps::unknown(), &mut plain), (&deps, &mut sliced)] {
            let found = check(&events, deps, &units);
            for v in &found.list {
                let marked: Vec<u32> = v.accesses.iter().map(|a| a.event).collect();
                let checker = Checker::for_sequences(&events, deps);
                assert_eq!(checker.check_sequence(&v.witness, &marked), Ok(()));
                assert!(real.contains(&known(v)), "{v:#?} {program:#?} {events:#?}");
            }
            *share += found.list.iter().map(known).collect::<BTreeSet<_>>().len();
        }
    }
    let percent = |n: usize| 100.0 * n as f64 / all as f64;
    println!("{tried} programs, {all} violations; predicted from one run without dependences");
    println!("{:.1}%, with them {:.1}%", percent(plain), percent(sliced));
    assert!(tried > cases / 4 && plain > 20 && sliced >= plain);
}

#[test]
fn no_schedule_contradicts_small_programs() {
    no_schedule_contradicts(SMALL, 1000);
}

#[test]
fn no_schedule_contradicts_programs_of_branches() {
    no_schedule_contradicts(
        Shape {
            branchy: true,
            ..SMALL
        },
        1000,
    );
}

const X: Var = Var(0);
const Y: Var = Var(1);
const R: Reg = Reg(0);
const L: Lock = Lock(0);
const M: Lock = Lock(1);

/// What is predicted from the run in which the threads come one after the
/// other, which shows nothing.
fn predicted(program: &Program) -> Vec<&'static str> {
    let (execution, deps) = execute_tracking(program, &[0]);
    let events = execution.events;
    let mut nothing = BTreeSet::new();
    happened(&events, &mut nothing, &mut BTreeSet::new());
    assert!(nothing.is_empty());
    let found = check(&events, &deps, &units(&events));
    assert_eq!(found.incomplete, None);
    let names: BTreeSet<_> = found.list.iter().map(|v| v.pattern.name()).collect();
    names.into_iter().collect()
}

#[test]
fn a_check_then_act_in_two_critical_sections() {
    let split = [sync(L, [read(R, X)]), sync(L, [write(X, 1)])];
    let program = Program::parallel([split.to_vec(), vec![sync(L, [write(X, 5)])]]);
    assert_eq!(predicted(&program), ["R W' W"]);
    let whole = [sync(L, [read(R, X), write(X, 1)])];
    let program = Program::parallel([whole.to_vec(), vec![sync(L, [write(X, 5)])]]);
    assert!(predicted(&program).is_empty());
    // The wrong lock.
    let program = Program::parallel([whole.to_vec(), vec![sync(M, [write(X, 5)])]]);
    assert_eq!(predicted(&program), ["R W' W"]);
}

#[test]
fn a_state_that_nobody_was_to_see() {
    let mine = vec![sync(L, [write(X, 1)]), sync(L, [write(X, 2)])];
    let program = Program::parallel([mine, vec![sync(L, [read(R, X)])]]);
    assert_eq!(predicted(&program), ["W R' W"]);
}

#[test]
fn two_locations_that_belong_together() {
    let both = |l| vec![sync(l, [write(X, 1), write(Y, 1)])];
    assert!(predicted(&Program::parallel([both(L), both(L)])).is_empty());
    let apart = vec![sync(L, [read(R, X)]), sync(L, [read(R, Y)])];
    let program = Program::parallel([apart, both(L)]);
    assert_eq!(predicted(&program), ["R(x) W'(x) W'(y) R(y)"]);
}

#[test]
fn methods_are_found_by_their_events() {
    let event = |thread, op| Event {
        thread: trace::ThreadId(thread),
        site: SiteId(1),
        op,
    };
    let events = [
        event(0, Op::MethodEnter(7)),
        event(1, Op::MethodEnter(7)),
        event(0, Op::MethodEnter(8)),
        event(0, Op::MethodExit(8)),
        event(0, Op::MethodExit(7)),
    ];
    let units = methods(&events, |m| m == 7);
    assert_eq!(units.len(), 1);
    assert_eq!(
        (units[0].first, units[0].last, units[0].what),
        (0, 4, What::Method(7))
    );
}
