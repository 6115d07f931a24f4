//! What counts as the same race, and what becomes of it over several runs.

use findings::finding::{Access, AccessOp, Findings, Frame, Location, Race, Thread};
use findings::merge::Merge;
use findings::result::{Program, Report, Run, Status};
use proptest::prelude::*;

fn frame(method: &str, line: u32, bci: u32) -> Frame {
    Frame {
        class: "a.C".into(),
        method: method.into(),
        file: Some("C.java".into()),
        line: Some(line),
        bci: Some(bci),
        ..Frame::default()
    }
}

fn access(op: AccessOp, frame: Frame) -> Access {
    let thread = Thread {
        id: 1,
        name: "t".into(),
        ..Thread::default()
    };
    Access {
        op,
        thread,
        stack: vec![frame.clone()],
        frame,
        stack_exact: true,
        holders: Vec::new(),
        locks: Some(vec![]),
    }
}

fn race(detector: &str, field: &str, first: Access, second: Access) -> Race {
    Race {
        detector: detector.into(),
        sites: None,
        location: Location::Field {
            class: "a.C".into(),
            field: field.into(),
            is_static: false,
            jdk: None,
        },
        accesses: [first, second],
        allocated: None,
        count: 1,
    }
}

fn report(runs: &[Vec<Race>]) -> Report {
    let mut merge = Merge::new();
    for races in runs {
        merge.add(
            Findings {
                races: races.clone(),
                ..Findings::default()
            },
            Run::default(),
        );
    }
    merge.finish("t".into(), "detect", Program::default(), 0.0)
}

use AccessOp::{Read, Write};

#[test]
fn both_halves_of_an_increment_are_one_race() {
    let ww = race(
        "fasttrack",
        "n",
        access(Write, frame("inc", 5, 7)),
        access(Write, frame("inc", 5, 7)),
    );
    let rw = race(
        "fasttrack",
        "n",
        access(Read, frame("inc", 5, 2)),
        access(Write, frame("inc", 5, 7)),
    );
    let report = report(&[vec![ww, rw.clone()], vec![rw]]);
    assert_eq!(report.races.len(), 1);
    assert_eq!((report.races[0].count, report.races[0].runs), (3, 2));
    assert_eq!(
        report.races[0].accesses[0].op, Write,
        "the first finding is shown"
    );
}

#[test]
fn where_something_orders_threads_unseen_races_are_potential() {
    let own = || access(Write, frame("inc", 5, 7));
    let findings = Findings {
        races: vec![race("fasttrack", "n", own(), own())],
        unwatched: vec!["virtual threads".into()],
        ..Findings::default()
    };
    let mut merge = Merge::new();
    merge.add(findings, Run::default());
    let report = merge.finish("t".into(), "detect", Program::default(), 0.0);
    assert_eq!(report.races[0].status, Status::Potential);
    assert!(report.warnings[0].contains("virtual threads"));
}

#[test]
fn what_may_be_the_jdks_own_affair_is_potential() {
    let inside = |method: &str| {
        let frame = Frame {
            class: "java.util.HashMap".into(),
            ..frame(method, 5, 7)
        };
        access(Write, frame)
    };
    let in_map = |first: Access| {
        let mut race = race("fasttrack", "size", first, inside("put"));
        race.location = Location::Field {
            class: "java.util.HashMap".into(),
            field: "size".into(),
            is_static: false,
            jdk: None,
        };
        race
    };
    let unknown = report(&[vec![in_map(inside("put"))]]);
    assert_eq!(unknown.races[0].status, Status::Potential);
    assert_eq!(unknown.warnings.len(), 1, "it is said why");
    let mut called = inside("put");
    called.stack.push(frame("m", 1, 0));
    let known = report(&[vec![in_map(called)]]);
    assert_eq!(known.races[0].status, Status::Observed);
    assert!(known.warnings.is_empty());
}

#[test]
fn which_access_came_first_does_not_matter() {
    let (a, b) = (
        access(Write, frame("put", 5, 1)),
        access(Read, frame("get", 9, 1)),
    );
    let one = race("fasttrack", "n", a.clone(), b.clone());
    let other = race("fasttrack", "n", b, a);
    let report = report(&[vec![one], vec![other]]);
    assert_eq!(report.races.len(), 1);
}

#[test]
fn another_field_or_line_is_another_race() {
    let at = |line| access(Write, frame("m", line, 0));
    let races = vec![
        race("fasttrack", "n", at(1), at(1)),
        race("fasttrack", "n", at(1), at(2)),
        race("fasttrack", "m", at(1), at(1)),
    ];
    assert_eq!(report(&[races]).races.len(), 3);
}

#[test]
fn the_strongest_status_wins_and_leads() {
    let at = |line| access(Write, frame("m", line, 0));
    let report = report(&[
        vec![
            race("lockset", "a", at(1), at(1)),
            race("hybrid", "z", at(1), at(1)),
        ],
        vec![race("fasttrack", "z", at(1), at(1))],
    ]);
    let seen: Vec<_> = report
        .races
        .iter()
        .map(|r| (r.id.as_str(), r.status))
        .collect();
    assert_eq!(seen, [("R1", Status::Observed), ("R2", Status::Potential)]);
    assert_eq!(report.races[0].found_by, ["fasttrack", "hybrid"]);
}

#[test]
fn a_finding_with_stacks_replaces_one_without() {
    let full = race(
        "hybrid",
        "n",
        access(Write, frame("m", 1, 0)),
        access(Write, frame("m", 1, 0)),
    );
    let mut bare = full.clone();
    bare.accesses[1].stack.clear();
    let report = report(&[vec![bare], vec![full]]);
    assert!(report.races[0].accesses.iter().all(|a| !a.stack.is_empty()));
}

#[test]
fn elements_of_an_array_are_one_race_but_arrays_are_told_apart() {
    let array = |index, from: &str| {
        let mut race = race(
            "h",
            "",
            access(Write, frame("m", 1, 0)),
            access(Read, frame("m", 2, 0)),
        );
        race.location = Location::Array {
            array: "int[]".into(),
            index: Some(index),
            from: Some(from.to_owned().into()),
            jdk: None,
            allocated: None,
        };
        race
    };
    let report = report(&[vec![
        array(3, "a.C.t"),
        array(4, "a.C.t"),
        array(3, "a.C.u"),
    ]]);
    assert_eq!(report.races.len(), 2);
    assert_ne!(report.races[0].fingerprint, report.races[1].fingerprint);
}

#[test]
fn where_an_array_was_allocated_belongs_to_its_location() {
    let mut found = race(
        "h",
        "",
        access(Write, frame("m", 1, 0)),
        access(Read, frame("m", 2, 0)),
    );
    found.location = Location::Array {
        array: "int[]".into(),
        index: None,
        from: None,
        jdk: None,
        allocated: None,
    };
    found.allocated = Some(frame("make", 7, 0));
    let race = report(&[vec![found]]).races.remove(0);
    assert_eq!(race.allocated, None);
    assert!(
        matches!(race.location, Location::Array { allocated: Some(at), .. } if at.method == "make")
    );
}

#[test]
fn fingerprints_outlive_edits_above_the_statement() {
    let print = |line, bci, swap: bool| {
        let (a, b) = (
            access(Write, frame("put", line, bci)),
            access(Read, frame("get", line + 9, bci)),
        );
        let (a, b) = if swap { (b, a) } else { (a, b) };
        report(&[vec![race("fasttrack", "n", a, b)]]).races[0]
            .fingerprint
            .clone()
    };
    assert_eq!(print(5, 1, false), print(50, 7, true));
    assert_eq!(print(5, 1, false).len(), 64);
    let other = race(
        "fasttrack",
        "n",
        access(Write, frame("put", 5, 1)),
        access(Read, frame("put", 5, 1)),
    );
    assert_ne!(
        print(5, 1, false),
        report(&[vec![other]]).races[0].fingerprint
    );
}

proptest! {
    /// Threads find races in any order: the report's races, numbers and counts
    /// do not depend on it.
    #[test]
    fn the_order_of_findings_does_not_show(
        picks in proptest::collection::vec((0u32..3, 0u32..3, 0usize..2, any::<bool>()), 0..12),
        turn in 0usize..12,
    ) {
        let races: Vec<Race> = picks
            .iter()
            .map(|&(a, b, field, fast)| {
                let detector = if fast { "fasttrack" } else { "hybrid" };
                let at = |line| access(Write, frame("m", line, 0));
                race(detector, ["x", "y"][field], at(a.min(b)), at(a.max(b)))
            })
            .collect();
        let mut turned = races.clone();
        turned.rotate_left(if races.is_empty() { 0 } else { turn % races.len() });
        prop_assert_eq!(report(&[races]), report(&[turned]));
    }
}
