//! A logged run repeats, and says so when it cannot.

use crate::world::{Run, World, drive, params, run};
use litmus::Program;
use litmus::random::{Shape, programs};
use proptest::prelude::*;
use schedule::log::{Header, Log, Site, Writer, read};
use schedule::{Decision, Expected, REGISTRY, Replay, Strategy as _};

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
    for decision in &run.decisions {
        match decision {
            Decision::Tick => log.tick().unwrap(),
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
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_replay_makes_the_same_decisions(program in programs(Shape::default()), seed: u64) {
        for (name, _) in REGISTRY {
            let (log, decisions) = logged(&program, name, seed);
            let mut replay = Replay::new(log, |number| Some(site(number).identity()));
            let again = drive(World::new(&program), &mut replay, seed);
            prop_assert_eq!(replay.divergence(), None);
            prop_assert_eq!(again.decisions, decisions);
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
        let again = drive(World::new(&changed), &mut replay, seed);
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
    let again = drive(World::new(&program), &mut replay, 4);
    assert_eq!(again.decisions, decisions);
    assert_eq!(replay.divergence(), None);
    // Same numbers, other statements.
    let mut replay = Replay::new(log, |number| Some(site(number + 1).identity()));
    drive(World::new(&program), &mut replay, 4);
    assert_eq!(replay.divergence().map(|d| d.step), Some(0));
}

/// Every tenth and eleventh step is round robin, whatever the strategy says.
struct Meddled<'a> {
    strategy: &'a mut dyn schedule::Strategy,
}

impl schedule::Strategy for Meddled<'_> {
    fn name(&self) -> &'static str {
        "meddled"
    }

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
    let run = drive(World::new(&program), &mut Meddled { strategy }, 1);
    let (log, _) = written(&run);
    let mut replay = Replay::new(log, |number| Some(site(number).identity()));
    let strategy = &mut replay;
    let again = drive(World::new(&program), &mut Meddled { strategy }, 1);
    assert_eq!(replay.divergence(), None);
    assert_eq!(again.decisions, run.decisions);
}
