//! Stale values: known ones, and against all schedules of random programs.

use crate::oracle::{execute_tracking, observable};
use crate::soundness::SMALL;
use litmus::random::{Shape, programs, schedules};
use litmus::{Lock, Program, Reg, Stmt, Var, eq, executions, load, read, store, sync, write};
use predict::atomicity::stale::{Flow, Others, Recorded, Stale, StaleUse, Standing, check};
use predict::check::Checker;
use predict::deps::{Dep, Deps, Needs};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use trace::{Event, Loc, Op, SiteId};

/// The look, what comes between, and the act.
pub type Known = (Loc, [SiteId; 3]);

pub fn access(e: &Event) -> Option<(Loc, bool)> {
    match e.op {
        Op::Read(loc) | Op::AtomicRead(loc, _) => Some((loc, false)),
        Op::Write(loc) | Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => Some((loc, true)),
        _ => None,
    }
}

/// The reads of a list, with those that its events need.
fn reads(deps: &Deps, needs: Needs<'_>, into: &mut BTreeSet<u32>) {
    let Needs::These(list) = needs else { return };
    for entry in list {
        match entry.get() {
            Dep::Value(read) => {
                into.insert(read);
            }
            Dep::Happens(event) => reads(deps, deps.happens(event), into),
        }
    }
}

/// Every look and act of one thread that something leads from one to the other.
pub fn pairs(events: &[Event], deps: &Deps) -> Vec<Stale> {
    let mut pairs = BTreeSet::new();
    for (act, e) in (0u32..).zip(events) {
        let Some((loc, true)) = access(e) else {
            continue;
        };
        for (flow, needs) in [
            (Flow::Value, deps.value(act)),
            (Flow::Decision, deps.happens(act)),
        ] {
            let mut from = BTreeSet::new();
            reads(deps, needs, &mut from);
            for read in from {
                if access(&events[read as usize]) == Some((loc, false)) {
                    let others = Others::Any;
                    pairs.insert(Stale {
                        read,
                        act,
                        flow,
                        others,
                    });
                }
            }
        }
    }
    pairs.into_iter().collect()
}

pub fn stale(events: &[Event], deps: &Deps) -> Vec<StaleUse> {
    let recorded = Recorded {
        spans: &[],
        fits: &|_, _| true,
    };
    check(events, deps, &pairs(events, deps), &recorded, &|| false).list
}

/// What comes between a look and an act somewhere in a run: of other threads, at the same location, writes or
/// reads as well.
pub fn between(events: &[Event], reads_too: bool, into: &mut BTreeSet<Known>) {
    for (z, act) in events.iter().enumerate() {
        let Some((loc, true)) = access(act) else {
            continue;
        };
        let mine = |a: &usize| {
            events[*a].thread == act.thread && access(&events[*a]) == Some((loc, false))
        };
        let counts = |other: &Event| {
            let is_access = |(l, writes)| l == loc && (writes || reads_too);
            other.thread != act.thread && access(other).is_some_and(is_access)
        };
        for a in (0..z).filter(mine) {
            for other in events[a + 1..z].iter().filter(|other| counts(other)) {
                into.insert((loc, [events[a].site, other.site, act.site]));
            }
        }
    }
}

fn no_schedule_contradicts(shape: Shape, cases: usize) {
    let mut runner = TestRunner::deterministic();
    let strategy = (programs(shape), schedules());
    let mut count = [0; 3];
    let mut tried = 0;
    for _ in 0..cases {
        let (program, schedule) = strategy.new_tree(&mut runner).unwrap().current();
        let program = observable(program);
        let mut real = BTreeSet::new();
        let mut runs = 0;
        for execution in executions(&program).take(601) {
            runs += 1;
            between(&execution.events, true, &mut real);
        }
        if runs > 600 {
            continue;
        }
        tried += 1;
        let (execution, deps) = execute_tracking(&program, &schedule);
        let events = execution.events;
        let mut here = BTreeSet::new();
        between(&events, true, &mut here);
        let checker = Checker::for_sequences(&events, &deps);
        for used in stale(&events, &deps) {
            let parts = [used.read, used.other, used.act];
            let known = (used.read.loc, parts.map(|part| part.site));
            assert!(real.contains(&known), "{used:#?} {program:#?} {events:#?}");
            let marked = parts.map(|part| part.event);
            match used.standing {
                Standing::Happened => {
                    assert!(
                        here.contains(&known) && marked.is_sorted(),
                        "{used:#?} {events:#?}"
                    );
                }
                _ => assert_eq!(checker.check_sequence(&used.witness, &marked), Ok(())),
            }
            assert_eq!(used.other.write, used.standing != Standing::Potential);
            count[used.standing as usize] += 1;
        }
    }
    println!("{tried} programs; potential, predicted, happened: {count:?}");
    let found: usize = count.iter().sum();
    assert!(tried > cases / 4 && found > 0, "{tried} {count:?}");
}

#[test]
fn no_schedule_contradicts_small_programs() {
    no_schedule_contradicts(SMALL, 3000);
}

#[test]
fn no_schedule_contradicts_programs_of_branches() {
    let branchy = true;
    no_schedule_contradicts(Shape { branchy, ..SMALL }, 3000);
}

const X: Var = Var(0);
const Y: Var = Var(1);
const R: Reg = Reg(0);
const L: Lock = Lock(0);

/// From the run in which the threads come one after the other.
fn found(program: &Program) -> Vec<(Standing, Flow)> {
    let (execution, deps) = execute_tracking(program, &[0]);
    let found = stale(&execution.events, &deps);
    found
        .iter()
        .map(|used| (used.standing, used.flow))
        .collect()
}

#[test]
fn a_sum_of_what_was_read_before() {
    let add = vec![sync(L, [read(R, X)]), sync(L, [write(X, R)])];
    let program = Program::parallel([add.clone(), add]);
    let all = found(&program);
    assert_eq!(all, [(Standing::Predicted, Flow::Value); 2]);
    let whole = vec![sync(L, [read(R, X), write(X, R)])];
    assert!(found(&Program::parallel([whole.clone(), whole])).is_empty());
}

#[test]
fn what_is_read_and_not_used_is_not_stale() {
    let apart = vec![sync(L, [read(R, X)]), sync(L, [write(X, 1)])];
    let other = vec![sync(L, [write(X, 5)])];
    assert!(found(&Program::parallel([apart, other.clone()])).is_empty());
    // What is read goes elsewhere.
    let away = vec![sync(L, [read(R, X)]), sync(L, [write(Y, R)])];
    assert!(found(&Program::parallel([away, other])).is_empty());
}

/// Another thread takes the same look between look and act, and does not act. If its look was over when the act
/// began, it saw the same and decided otherwise; if it was not, it may have seen the act.
#[test]
fn a_look_that_overlaps_the_act_may_have_seen_it() {
    let first = vec![
        sync(L, [read(R, X)]),
        Stmt::If(R.into(), vec![], vec![sync(L, [write(X, 1)])]),
    ];
    let program = Program::parallel([first, vec![sync(L, [read(R, X)])]]);
    let places = |events: &[Event]| {
        let all = (0u32..).zip(events).filter(|(_, e)| access(e).is_some());
        all.map(|(at, e)| (at, e.thread)).collect::<Vec<_>>()
    };
    let mut found = None;
    for bits in 0u16..1 << 12 {
        let schedule: Vec<_> = (0..12).map(|bit| (bits >> bit & 1).into()).collect();
        let (execution, deps) = execute_tracking(&program, &schedule);
        let places = places(&execution.events);
        if let [(a, one), (b, other), (z, act)] = places[..]
            && one == act
            && one != other
        {
            found = Some((execution.events, deps, [a, b, z].map(|e| e as usize)));
            break;
        }
    }
    let (mut events, deps, [a, b, z]) = found.expect("a schedule with the look between");
    events[b].site = events[a].site;
    let pairs = pairs(&events, &deps);
    let with = |end: usize| {
        let mut spans: Vec<(u32, u32)> = (0..events.len() as u32).map(|e| (2 * e, 2 * e)).collect();
        spans[b].1 = 2 * end as u32 + 1;
        let recorded = Recorded {
            spans: &spans,
            fits: &|_, _| true,
        };
        let list = check(&events, &deps, &pairs, &recorded, &|| false).list;
        list.iter().map(|used| used.standing).collect::<Vec<_>>()
    };
    assert_eq!(with(b), []);
    assert_eq!(with(z), [Standing::Potential]);
}

/// A run of two threads in which their accesses come in this order ('0': of the first), all looks as if they were of one
/// statement: the stale uses in it.
fn in_order(threads: [Vec<Stmt>; 2], wanted: &str) -> Vec<Standing> {
    let program = Program::parallel(threads);
    for bits in 0u32..1 << 14 {
        let schedule: Vec<_> = (0..14)
            .map(|bit| usize::from(bits >> bit & 1 == 1))
            .collect();
        let (execution, deps) = execute_tracking(&program, &schedule);
        let mut events = execution.events;
        let places: Vec<usize> = (0..events.len())
            .filter(|at| access(&events[*at]).is_some())
            .collect();
        let first = places.iter().map(|at| events[*at].thread).min();
        let order: String = { places.iter() }
            .map(|at| {
                if Some(events[*at].thread) == first {
                    '0'
                } else {
                    '1'
                }
            })
            .collect();
        if order != wanted {
            continue;
        }
        let looks: Vec<usize> = { places.into_iter() }
            .filter(|at| access(&events[*at]).is_some_and(|(_, writes)| !writes))
            .collect();
        let site = events[looks[0]].site;
        looks.into_iter().for_each(|at| events[at].site = site);
        return stale(&events, &deps)
            .iter()
            .map(|used| used.standing)
            .collect();
    }
    panic!("no schedule has the accesses in the order {wanted}");
}

/// Whoever waits for another value at the same statement does not act on this one: its own run says so.
#[test]
fn threads_that_take_turns_are_told_by_what_they_did_not_act_on() {
    let turn = |r: u8, n: i64| {
        let act = Stmt::If(eq(Reg(r), n), vec![store(X, n + 1)], Vec::new());
        [load(Reg(r), X), act]
    };
    let zero = || turn(0, 0).to_vec();
    let one = turn(1, 1);
    assert_eq!(
        in_order([zero(), one.to_vec()], "0011"),
        [Standing::Potential]
    );
    // The first of its looks saw what the other one acted on.
    let waits = [vec![load(Reg(0), X)], one.to_vec()].concat();
    assert_eq!(in_order([zero(), waits], "10011"), []);
}

/// In a later round it looks too late to see its own value, which it once waited at.
#[test]
fn who_waits_at_its_own_value_does_so_in_every_round() {
    let turn = |r: u8, n: i64| {
        let act = Stmt::If(eq(Reg(r), n), vec![store(X, n + 1)], Vec::new());
        [load(Reg(r), X), act]
    };
    let first = || [turn(0, 5), turn(1, 7)].concat();
    let second = [turn(1, 6), turn(2, 8)].concat();
    // Both times of the first one, and the first time of the second.
    let late = [vec![store(X, 5)], second.clone()].concat();
    assert_eq!(
        in_order([first(), late], "100110011"),
        [Standing::Potential; 3]
    );
    // Of the second one that remains: nothing shows that the first ever waited.
    let waits = [vec![store(X, 5), load(Reg(0), X)], second].concat();
    assert_eq!(
        in_order([first(), waits], "1100110011"),
        [Standing::Potential]
    );
}
