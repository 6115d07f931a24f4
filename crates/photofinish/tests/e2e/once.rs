//! A statement's first execution is also when it is resolved, its classes are
//! loaded and its calls linked. None of that may hide what it does: every kind of
//! access of `programs/once`, made once a thread, in both orders.

use test_support::programs::{Program, compile, in_parallel};

fn program(args: &[&str]) -> Program {
    let classes = compile("programs/once/src", &[]);
    Program::new(&[&["-cp", classes.to_str().unwrap(), "once.Once"], args].concat())
}

#[test]
fn every_kind_of_access_is_seen_the_first_time() {
    let kinds = String::from_utf8(program(&[]).native().stdout).unwrap();
    let mut runs = Vec::new();
    for kind in kinds.lines() {
        runs.push((kind, "reads", "fasttrack"));
        runs.push((kind, "writes", "fasttrack"));
        runs.push((kind, "reads", "hybrid"));
    }
    assert!(runs.len() >= 75, "{kinds}");
    in_parallel(&runs, |(kind, order, detector)| {
        let done = program(&[kind, order]).detect(&["--detector", detector]);
        let races = done.races();
        assert!(!races.is_empty(), "{detector} misses {kind}, {order} first");
    });
}
