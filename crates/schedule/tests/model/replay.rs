//! A logged run repeats, and says so when it cannot.

use crate::world::{Run, SchedulerState, drive, params, run};
use litmus::Program;
use litmus::random::{Shape, programs};
use proptest::prelude::*;
use schedule::log::{Header, Log, Site, Writer, read};
use schedule::{Decision, Expected, Replay, Strategy as _, strategies};

fn site(number: u32) -> Site {
    Site {
        class: "Model".into(),
        bci: number,
        ..Site::default()
    }
}

/// The log of a run under a strategy.
fn logged(program: &Program, name: &str, seed: u64) -> (Log, Vec<Decision>) {
    written(&run(program, name, &params(seed, Some((3, 5)))))
}

fn written(run: &Run) -> (Log, Vec<Decision>) {
    let mut log = Writer::new(Vec::new(), &Header::default()).unwrap();
    let mut steps = run.steps.iter();
    for hit in &run.hits {
        log.hit(hit).unwrap();
    }
    for decision in &run.decisions {
        match decision {
            Decision::Tick => log.tick().unwrap(),
            Decision::Stuck => {}
            Decision::Run(_) => {
                let step = steps.next().unwrap();
                if !log.knows_site(step.op.site) {
                    log.site(step.op.site, &site(step.op.site)).unwrap();
                }
                log.step(step.thread, &step.op).unwrap();
            }
        }
    }
    let (bytes, _) = log.end("exit").unwrap();
    let log = read(&bytes).unwrap();
    assert!(log.complete);
    (log, run.decisions.clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_replay_makes_the_same_decisions(program in programs(Shape::default()), seed: u64) {
        for name in strategies() {
            let run = run(&program, name, &params(seed, Some((3, 5))));
            let (log, decisions) = written(&run);
            let hits = run.hits;
            let mut replay = Replay::new(log, |number| Some(site(number).identity()));
            let again = drive(SchedulerState::new(&program), &mut replay, seed);
            prop_assert_eq!(replay.divergence(), None);
            prop_assert_eq!(again.decisions, decisions);
            prop_assert_eq!(again.hits, hits);
        }
    }

    /// The program changed: one statement less in some thread.
    #[test]
    fn a_replay_that_cannot_be_exact_says_so(
        program in programs(Shape::default()),
        seed: u64,
        thread in 0usize..4,
    ) {
        let (log, decisions) = logged(&program, "random", seed);
        let mut changed = program.clone();
        changed.threads[thread].pop();
        let mut replay = Replay::new(log, |number| Some(site(number).identity()));
        let again = drive(SchedulerState::new(&changed), &mut replay, seed);
        match replay.divergence() {
            None => prop_assert!(decisions.starts_with(&again.decisions)),
            Some(divergence) => {
                let step = divergence.step as usize;
                prop_assert!(step <= decisions.len());
                if let Expected::Step(ready) = divergence.expected {
                    prop_assert!(!divergence.ready.contains(&ready));
                }
            }
        }
    }
}

#[test]
fn sites_are_compared_by_what_they_stand_for() {
    use litmus::{Var, write};
    let program = Program::parallel(vec![vec![write(Var(0), 1); 3]; 2]);
    let (log, decisions) = logged(&program, "random", 4);
    // Another run numbers them in another way.
    let mut renumbered = log.clone();
    let numbers = log.sites.keys();
    renumbered.sites = numbers.map(|n| (*n, site(n + 100))).collect();
    let mut replay = Replay::new(renumbered, |number| Some(site(number + 100).identity()));
    let again = drive(SchedulerState::new(&program), &mut replay, 4);
    assert_eq!(again.decisions, decisions);
    assert_eq!(replay.divergence(), None);
    // Same numbers, other statements.
    let mut replay = Replay::new(log, |number| Some(site(number + 1).identity()));
    drive(SchedulerState::new(&program), &mut replay, 4);
    assert_eq!(replay.divergence().map(|d| d.step), Some(0));
}

/// Every tenth and eleventh step is round robin, whatever the strategy says.
struct Meddled<'a> {
    strategy: &'a mut dyn schedule::Strategy,
}

impl schedule::Strategy for Meddled<'_> {
    fn pick(&mut self, view: &schedule::View<'_>) -> Decision {
        match view.step % 11 {
            9 | 10 => {
                let at = view.step as usize % view.ready.len();
                Decision::Run(view.ready[at].thread)
            }
            _ => self.strategy.pick(view),
        }
    }
}

#[test]
fn steps_made_without_asking_are_skipped() {
    use litmus::{Var, fetch_add};
    let program = Program::parallel(vec![vec![fetch_add(litmus::Reg(0), Var(0), 1); 20]; 3]);
    let mut random = schedule::strategy("random", &params(1, None)).unwrap();
    let strategy = random.as_mut();
    let run = drive(SchedulerState::new(&program), &mut Meddled { strategy }, 1);
    let (log, _) = written(&run);
    let mut replay = Replay::new(log, |number| Some(site(number).identity()));
    let strategy = &mut replay;
    let again = drive(SchedulerState::new(&program), &mut Meddled { strategy }, 1);
    assert_eq!(replay.divergence(), None);
    assert_eq!(again.decisions, run.decisions);
}

#[test]
fn a_race_that_was_made_is_shown_again() {
    use litmus::{Reg, Var, read, write};
    let program = Program::parallel([vec![write(Var(0), 1)], vec![read(Reg(0), Var(0))]]);
    let run = run(&program, "racefuzzer", &params(1, Some((1, 2))));
    assert_eq!(run.hits.len(), 1);
    let (log, _) = written(&run);
    let mut replay = Replay::new(log, |number| Some(site(number).identity()));
    let again = drive(SchedulerState::new(&program), &mut replay, 1);
    assert_eq!(again.hits, run.hits);
}

/// A step, as it was logged and as it is now, with what is made of it.
#[test]
fn differences_are_explained() {
    use schedule::{Kind, Op, Ready, View};
    let site = |method: &str, bci| Site {
        class: "a/B".into(),
        method: method.into(),
        bci,
        file: Some("B.java".into()),
        line: Some(bci),
        ..Site::default()
    };
    let op = |site, kind, obj| Op {
        kind,
        site,
        obj,
        slot: 0,
    };
    let then = op(1, Kind::Acquire, 5);
    let log = |steps: u32, end: bool| {
        let mut log = Writer::new(Vec::new(), &Header::default()).unwrap();
        log.thread(2, "worker", None).unwrap();
        log.site(1, &site("m", 7)).unwrap();
        for _ in 0..steps {
            log.step(2, &then).unwrap();
        }
        let bytes = log.end("exit").unwrap().0;
        read(&bytes[..bytes.len() - usize::from(!end)]).unwrap()
    };
    let now = move |number| match number {
        11 => Some(site("m", 7)),
        12 => Some(site("m", 9)),
        13 => Some(site("n", 7)),
        _ => None,
    };
    let explain = |log: Log, thread, op: Op| {
        let mut replay = Replay::new(log, move |number| now(number).map(|s| s.identity()));
        let ready = [Ready { thread, op }];
        let view = View {
            ready: &ready,
            last: None,
            deadline: Some(0),
            step: 0,
        };
        assert_eq!(replay.pick(&view), Decision::Run(thread));
        replay.divergence().map(|d| d.explain(now))
    };
    assert_eq!(explain(log(1, true), 2, op(11, Kind::Acquire, 5)), None);
    for (thread, got, said, why) in [
        (
            2,
            op(12, Kind::Acquire, 5),
            "2 worker: lock #5 at a.B.m B.java:9",
            "another way through the method",
        ),
        (
            2,
            op(13, Kind::Acquire, 5),
            "2 worker: lock #5 at a.B.n B.java:7",
            "another way, or",
        ),
        (
            2,
            op(14, Kind::Acquire, 5),
            "2 worker: lock #5",
            "another way, or",
        ),
        (
            2,
            op(11, Kind::Acquire, 6),
            "2 worker: lock #6 at a.B.m B.java:7",
            "another object",
        ),
        (
            2,
            op(11, Kind::Release, 5),
            "2 worker: unlock #5 at a.B.m B.java:7",
            "class was changed",
        ),
        (
            3,
            op(11, Kind::Acquire, 5),
            "3: lock #5 at a.B.m B.java:7",
            "was not started",
        ),
    ] {
        let e = explain(log(1, true), thread, got).unwrap();
        assert_eq!(e.expected, "2 worker: lock #5 at a.B.m B.java:7");
        assert_eq!(e.got, said);
        assert!(e.why.contains(why), "{}", e.why);
    }
    let ended = explain(log(0, true), 2, then).unwrap();
    assert_eq!(ended.expected, "the end of the run");
    let cut = explain(log(0, false), 2, then).unwrap();
    assert!(cut.expected.contains("cut off"));
}
