//! Properties of named events: the figures of the paper, and random programs
//! against all their schedules.

use crate::oracle::{execute_tracking, observable};
use crate::soundness;
use litmus::random::{Shape, programs, schedules};
use litmus::{Expr, Lock, Program, Reg, Stmt, Var, eq, executions, not, read, sync, write};
use predict::check::Checker;
use predict::property::{Labelled, Limits, Monitor, Outcome, Property, Spec, Verdict, check};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use trace::{Event, Op, SiteId};

const X: Var = Var(0);
const Y: Var = Var(1);
const Z: Var = Var(2);
const R: Reg = Reg(0);

/// Names as bits: 0 and 1 write and read x, 2 and 3 y, 4 and 5 z.
fn labels(events: &[Event]) -> Vec<Labelled> {
    let name = |e: &Event| {
        let (loc, write) = match e.op {
            Op::Read(loc) => (loc, false),
            Op::Write(loc) => (loc, true),
            _ => return None,
        };
        let var = [X, Y, Z].iter().position(|v| v.loc() == loc)?;
        Some(1u64 << (2 * var + usize::from(!write)))
    };
    let list = (0u32..).zip(events);
    list.filter_map(|(event, e)| {
        Some(Labelled {
            event,
            names: name(e)?,
        })
    })
    .collect()
}

fn property(rule: &str) -> Property {
    let text = format!(
        "event wx = write A.x\nevent rx = read A.x\nevent wy = write A.y\n\
         event ry = read A.y\nevent wz = write A.z\nevent rz = read A.z\nproperty p: {rule}\n"
    );
    Spec::parse(&text).unwrap().properties.remove(0)
}

fn predicted(program: &Program, picks: &[usize], rule: &str, limits: Limits) -> Outcome {
    let (execution, deps) = execute_tracking(program, picks);
    let events = execution.events;
    let outcome = check(&events, &deps, &labels(&events), &property(rule), limits);
    assert_eq!((outcome.observed, &outcome.incomplete), (None, &None));
    outcome
}

/// Figure 1: the main thread authenticates (writes x) and raises a flag (z);
/// the other looks at the flag, and accesses (writes y).
fn authentication(wait: impl Fn(Vec<Stmt>) -> Vec<Stmt>) -> Program {
    let main = vec![write(X, 1), write(Z, 1)];
    let look = vec![read(R, Z)];
    let mut task = wait(look);
    task.push(write(Y, 1));
    Program::parallel([main, task])
}

#[test]
fn figure_1_with_if_is_predicted_broken_and_with_while_not() {
    let branch = authentication(|mut look| {
        look.push(Stmt::If(
            not(R),
            vec![Stmt::Set(Reg(1), Expr::Const(1))],
            vec![],
        ));
        look
    });
    let found = predicted(&branch, &[0], "always wy -> once wx", Limits::default());
    assert_eq!(found.violation.unwrap().named.len(), 1);
    let found = predicted(&branch, &[0], "never [^wx]* wy", Limits::default());
    assert!(found.violation.is_some());

    let spin = authentication(|look| {
        let body = look.clone();
        let mut all = look;
        all.push(Stmt::While {
            cond: not(R),
            bound: 3,
            body,
        });
        all
    });
    let found = predicted(&spin, &[0], "always wy -> once wx", Limits::default());
    assert_eq!((found.violation, found.refuted), (None, 0));
}

/// Figure 2: `x = 0; x = 1; y = 0` beside `y = 1; if (x == 0) read y`. That y
/// is read as written last by the first thread cannot be: x is 1 by then.
#[test]
fn figure_2_needs_relevance() {
    let first = vec![write(X, 0), write(X, 1), write(Y, 0)];
    let second = vec![
        write(Y, 1),
        read(R, X),
        Stmt::If(eq(R, 0), vec![read(Reg(1), Y)], vec![]),
    ];
    let program = Program::parallel([first, second]);
    // e1 to e6 as in the figure: y = 1, x = 0, x is 0, x = 1, y is 1, y = 0.
    let mut picks = [1, 0, 1, 0, 1, 0].into_iter();
    let (execution, deps) = {
        let (execution, _) = litmus::run_tracking(&program, |_| picks.next().unwrap_or(0));
        let order: Vec<usize> = execution
            .schedule
            .iter()
            .map(|c| c.thread.0 as usize)
            .collect();
        execute_tracking(&program, &order)
    };
    let events = execution.events;
    let mut names = labels(&events);
    // The two writes are told apart: the first thread's is called wz.
    for l in &mut names {
        let e = &events[l.event as usize];
        if e.thread.0 == 0 && l.names == 0b100 {
            l.names = 1 << 4;
        }
    }
    let impossible = property("never wz wy ry");
    let with = check(&events, &deps, &names, &impossible, Limits::default());
    assert_eq!((with.violation, with.incomplete), (None, None));
    let without = Limits {
        relevance: false,
        ..Limits::default()
    };
    let found = check(&events, &deps, &names, &impossible, without)
        .violation
        .unwrap();
    assert_eq!(found.named.len(), 3);
    // The checker does not believe it.
    let marked: Vec<u32> = found.named.iter().map(|l| l.event).collect();
    let checker = Checker::for_sequences(&events, &deps);
    assert!(checker.check_sequence(&found.order, &marked).is_err());
}

#[test]
fn critical_sections_may_change_places_and_not_overlap() {
    let l = Lock(0);
    let both = |a, b| vec![sync(l, [write(a, 1), write(b, 1)])];
    let program = Program::parallel([both(X, Y), both(Z, Z)]);
    let found = predicted(&program, &[0], "always wx -> !once wz", Limits::default());
    assert!(found.violation.is_some());
    let found = predicted(
        &program,
        &[0],
        "always wz -> !(once wx && !once wy)",
        Limits::default(),
    );
    assert_eq!((found.violation, found.refuted), (None, 0));
}

#[test]
fn a_bound_on_cuts_is_said_to_have_bitten() {
    let thread = |v: Var| (0..6).map(|_| write(v, 1)).collect::<Vec<_>>();
    let program = Program::parallel([thread(X), thread(Y), thread(Z)]);
    let (execution, deps) = execute_tracking(&program, &[0]);
    let events = execution.events;
    let property = property("always wx || wy || wz");
    let all = check(
        &events,
        &deps,
        &labels(&events),
        &property,
        Limits::default(),
    );
    assert_eq!((all.cuts, &all.incomplete), (7 * 7 * 7, &None));
    let few = Limits {
        cuts: 100,
        ..Limits::default()
    };
    let some = check(&events, &deps, &labels(&events), &property, few);
    assert!(some.violation.is_none() && some.incomplete.is_some());
}

const RULES: [&str; 8] = [
    "always wy -> once wx",
    "always ry -> prev wx",
    "always wx -> !once (ry || wy)",
    "always !(rx && prev ry)",
    "never .* wx ry .* wx",
    "never [^wx]* rx+ wy",
    "never .* wx rx* wx",
    "always (rx -> ry) since wx || historically !wx",
];

/// What is predicted happens in some schedule, event for event.
fn no_schedule_contradicts(shape: Shape, cases: usize) {
    let mut runner = TestRunner::deterministic();
    let strategy = (programs(shape), schedules(), 0..RULES.len());
    let (mut tried, mut breakable, mut found) = (0, 0, 0);
    for _ in 0..cases {
        let (program, schedule, rule) = strategy.new_tree(&mut runner).unwrap().current();
        let program = observable(program);
        let property = property(RULES[rule]);
        let mut runs: BTreeSet<Vec<SiteId>> = BTreeSet::new();
        let mut broken = false;
        let mut number = 0;
        for execution in executions(&program).take(601) {
            number += 1;
            let events = &execution.events;
            let seen: Vec<Labelled> = labels(events)
                .into_iter()
                .filter(|l| l.names & property.alphabet() != 0)
                .collect();
            broken |= breaks(&property, &seen);
            runs.insert(seen.iter().map(|l| events[l.event as usize].site).collect());
        }
        if number > 600 {
            continue;
        }
        tried += 1;
        breakable += usize::from(broken);
        let (execution, deps) = execute_tracking(&program, &schedule);
        let events = execution.events;
        let outcome = check(
            &events,
            &deps,
            &labels(&events),
            &property,
            Limits::default(),
        );
        let Some(violation) = outcome.violation else {
            continue;
        };
        found += 1;
        assert!(broken, "{program:#?} {events:#?} {violation:?}");
        let sites: Vec<SiteId> = { violation.named.iter() }
            .map(|l| events[l.event as usize].site)
            .collect();
        assert!(breaks(&property, &violation.named));
        assert!(
            runs.iter().any(|run| run.starts_with(&sites)),
            "{} {program:#?} {events:#?} {violation:?}",
            RULES[rule]
        );
    }
    println!("{tried} programs, {breakable} can break their property, {found} predicted to");
    assert!(tried > cases / 4 && found > 20, "{tried} {found}");
}

fn breaks(property: &Property, seen: &[Labelled]) -> bool {
    let monitor = Monitor::new(&property.rule, seen.iter().map(|l| l.names));
    let mut state = monitor.start();
    seen.iter().any(|l| match monitor.step(state, l.names) {
        Verdict::Go(next) => {
            state = next;
            false
        }
        Verdict::Broken => true,
    })
}

const SMALL: Shape = Shape {
    vars: 3,
    branchy: true,
    ..soundness::SMALL
};

#[test]
fn no_schedule_contradicts_programs_of_branches() {
    no_schedule_contradicts(SMALL, 1500);
}

#[test]
fn no_schedule_contradicts_programs_that_block() {
    let shape = Shape {
        branchy: false,
        blocking: true,
        init: true,
        ..SMALL
    };
    no_schedule_contradicts(shape, 1000);
}
