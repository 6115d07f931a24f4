//! What is called sufficient is: random programs, repaired and explored again.

mod common;

use advise::{Advisor, Path, in_a_row};
use common::*;
use detect::{Detector, Vectors};
use litmus::random::contended;
use litmus::{Program, Reg, Stmt, Var, not, read, write};
use proptest::prelude::*;
use std::collections::BTreeSet;
use trace::{Event, Op};

/// Half of what is contended is plain.
fn racy() -> impl Strategy<Value = Program> {
    let some = proptest::sample::subsequence(vec![Var(0), Var(1)], 1..=2);
    (contended(3, 3, false), some).prop_map(|(program, vars)| plain(program, &vars))
}

/// Threads that tell each other through plain flags what is ready.
fn telling() -> impl Strategy<Value = Program> {
    let var = || (0u16..3).prop_map(Var);
    let access = move || {
        prop_oneof![
            var().prop_map(|v| write(v, 1)),
            var().prop_map(|v| read(Reg(1), v)),
        ]
    };
    let told = move || {
        (
            var(),
            proptest::collection::vec(access(), 1..3),
            any::<bool>(),
        )
            .prop_map(|(flag, body, spins)| match spins {
                true => [
                    vec![Stmt::Spin {
                        cond: not(Reg(0)),
                        body: vec![read(Reg(0), flag)],
                    }],
                    body,
                ]
                .concat(),
                false => vec![read(Reg(0), flag), Stmt::If(Reg(0).into(), body, vec![])],
            })
    };
    let some = proptest::collection::vec(access(), 1..4);
    let thread = proptest::collection::vec(prop_oneof![2 => some, 3 => told()], 1..3);
    let threads = proptest::collection::vec(thread.prop_map(|parts| parts.concat()), 2..=2);
    threads.prop_map(Program::parallel)
}

/// Two threads access one location, not both to read, not both atomically.
fn conflict(a: &Event, b: &Event) -> bool {
    let access = |e: &Event| match e.op {
        Op::Read(loc) => Some((loc, false, false)),
        Op::Write(loc) => Some((loc, true, false)),
        Op::AtomicRead(loc, _) => Some((loc, false, true)),
        Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => Some((loc, true, true)),
        _ => None,
    };
    match (access(a), access(b)) {
        (Some((at, write, atomic)), Some((there, writes, both))) => {
            a.thread != b.thread && at == there && (write || writes) && !(atomic && both)
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sufficient_repairs_remove_their_race(program in prop_oneof![racy(), telling()]) {
        let before = explored(&program);
        if !before.progress.complete || before.progress.executions > 300 {
            return Ok(());
        }
        for advice in &before.advice.races {
            for suggestion in &advice.suggestions {
                if !suggestion.kind.sufficient() || !advice.holds(suggestion) {
                    continue;
                }
                let Some(repaired) = repair(&program, suggestion.repair) else {
                    continue;
                };
                let after = explored(&repaired.program);
                let race = repaired.race(advice.race);
                prop_assert!(
                    !after.races.contains(&race),
                    "{suggestion:?} leaves {:?}", advice.race
                );
            }
        }
        // And all of the smallest set together leave nothing.
        let mut program = program;
        for change in &before.advice.set.repairs {
            if matches!(change, advise::Repair::Synchronized { .. }) {
                return Ok(());
            }
            program = repair(&program, *change).unwrap().program;
        }
        prop_assert!(explored(&program).races.is_empty());
    }

    /// In any order, and stored in between.
    #[test]
    fn paths_may_come_in_portions(program in racy()) {
        let mut all = Vec::new();
        if !paths(&program, |events| all.push(events.to_vec())).complete {
            return Ok(());
        }
        let (mut one, mut other) = (Advisor::new(), Advisor::new());
        for events in &all {
            let path = Path::new(events);
            one.add(&path, &path.races(), &Litmus);
        }
        for events in all.iter().rev() {
            let path = Path::new(events);
            other.add(&path, &path.races(), &Litmus);
            let stored = serde_json::to_string(&other).unwrap();
            other = serde_json::from_str(&stored).unwrap();
        }
        prop_assert_eq!(one.advice(), other.advice());
    }

    /// Whatever races with an access, other accesses in a row with it do too; and all
    /// that come after it are there.
    #[test]
    fn accesses_in_a_row_race_together(program in racy(), picks in litmus::random::schedules()) {
        let mut picks = picks.into_iter().cycle();
        let events = litmus::run(&program, |_| picks.next().unwrap()).events;
        let path = Path::new(&events);
        let races: BTreeSet<(usize, usize)> = (0..events.len())
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .filter(|(a, b)| conflict(&events[*a], &events[*b]) && !path.ordered(*a, *b))
            .collect();
        for (first, second) in &races {
            let row = in_a_row(&events, *first, *second);
            for at in &row {
                prop_assert!(races.contains(&(*at, *second)), "{at} {second} of {events:?}");
            }
            let one = &events[*first];
            let sites: BTreeSet<_> = row.iter().map(|at| events[*at].site).collect();
            let later = races.iter().filter(|(a, b)| b == second && a > first);
            for (a, _) in later.filter(|(a, _)| events[*a].thread == one.thread) {
                let site = events[*a].site;
                prop_assert!(site == one.site || sites.contains(&site));
            }
        }
    }

    /// The order of a path is that of the slow way: everything that is before
    /// everything that is before.
    #[test]
    fn order_and_races_are_those_of_the_detector(program in racy(), picks in litmus::random::schedules()) {
        let mut picks = picks.into_iter().cycle();
        let events = litmus::run(&program, |_| picks.next().unwrap()).events;
        let path = Path::new(&events);
        let ours: BTreeSet<_> = path
            .races()
            .iter()
            .map(|(a, b)| (events[*a].site.min(events[*b].site), events[*a].site.max(events[*b].site)))
            .collect();
        let mut detector = Vectors::default();
        detector.events(&events);
        let theirs: BTreeSet<_> = detector.findings().iter().map(|f| f.key().sites).collect();
        prop_assert_eq!(ours, theirs);
        for edge in path.edges() {
            prop_assert!(path.ordered(edge.release, edge.acquire));
        }
    }
}
