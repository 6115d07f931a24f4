//! Reads that choose which write they see, where memory is weak: what is asked, repeated and refused.

use super::{Guided, Outcome};
use crate::op::{Decision, Kind, Op, Ready, Thread, View};
use explore::{Job, Label, Loc, Order};

const SITE: u32 = 9;

fn op(kind: Kind) -> Op {
    Op {
        kind,
        site: SITE,
        obj: 5,
        slot: 0,
    }
}

fn read(pick: u32) -> Label {
    let at = Loc { obj: 5, slot: 0 };
    Label {
        pick,
        ..Label::new(0, explore::Op::Read(at))
    }
}

/// A run of one thread that is to begin so.
fn guided(beginning: Vec<Label>) -> Guided {
    let job = Job {
        id: 0,
        beginning,
        order: Order::Plain,
        preemptions: None,
        sample: None,
    };
    let mut guided = Guided::new(job.guide());
    guided.started(0, None);
    guided
}

fn step(guided: &mut Guided, kind: Kind) {
    let ready = [Ready {
        thread: 0,
        op: op(kind),
    }];
    let view = View {
        ready: &ready,
        last: None,
        deadline: None,
        step: 0,
    };
    assert_eq!(guided.pick(&view), Decision::Run(0));
}

fn picks(mut guided: Guided) -> Vec<(u32, u32)> {
    match guided.end() {
        Outcome::Made(made) => { made.steps.iter() }
            .map(|step| (step.label.pick, step.picks))
            .collect(),
        Outcome::Diverged(at) => panic!("{at:?}"),
    }
}

const ME: Thread = 0;

#[test]
fn a_read_sees_what_it_is_told_and_then_the_newest() {
    let mut run = guided(vec![read(2)]);
    step(&mut run, Kind::Read);
    assert_eq!(run.see(ME, SITE, 3), 2);
    assert!(run.sees_older(ME));
    step(&mut run, Kind::Read);
    assert_eq!(run.see(ME, SITE, 4), 0);
    assert!(!run.sees_older(ME), "it is the same statement");
    assert!(!run.is_unasked());
    assert_eq!(picks(run), [(2, 3), (0, 4)]);
}

#[test]
fn a_write_that_is_not_there_is_a_divergence() {
    let mut fewer = guided(vec![read(2)]);
    step(&mut fewer, Kind::Read);
    assert_eq!(fewer.see(ME, SITE, 2), 0);
    // There is only one write, so the read does not even ask.
    let mut one = guided(vec![read(1)]);
    step(&mut one, Kind::Read);
    for mut run in [fewer, one] {
        step(&mut run, Kind::Write);
        assert!(run.divergence().is_some_and(|at| at.step == 0));
        assert!(matches!(run.end(), Outcome::Diverged(_)));
    }
}

#[test]
fn a_read_that_is_no_step_of_its_own_is_said() {
    let mut twice = guided(vec![]);
    step(&mut twice, Kind::Read);
    assert_eq!(twice.see(ME, SITE, 2), 0);
    assert!(!twice.is_unasked());
    assert_eq!(twice.see(ME, SITE + 1, 2), 0);
    let mut in_a_write = guided(vec![]);
    step(&mut in_a_write, Kind::Write);
    assert_eq!(in_a_write.see(ME, SITE, 2), 0);
    for run in [twice, in_a_write] {
        assert!(run.is_unasked());
    }
}

/// Whoever waits because of an older value sees it again when it looks for the last time.
#[test]
fn a_last_look_sees_the_same_again() {
    let mut run = guided(vec![read(1)]);
    step(&mut run, Kind::Read);
    assert_eq!(run.see(ME, SITE, 2), 1);
    let ready = [Ready {
        thread: 0,
        op: op(Kind::Read),
    }];
    let view = View {
        ready: &ready,
        last: Some(0),
        deadline: None,
        step: 1,
    };
    run.settle();
    assert_eq!(run.look(&view), None, "nobody waits in a loop");
    assert_eq!(run.see(ME, SITE, 2), 1);
    assert_eq!(run.see(ME, SITE, 1), 0, "it is no longer there");
    assert_eq!(run.see(ME, SITE + 1, 3), 0);
}
