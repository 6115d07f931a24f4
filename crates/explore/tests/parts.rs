//! Explorations in pieces: random programs, cut up at random, explored by several in random
//! order, stopped in the middle and stored, come to the classes of the undivided exploration,
//! which are those of brute force.

use explore::{Campaign, Config, Explored, Explorer, Share, Subtree};
use litmus::Program;
use litmus::random::contended;
use proptest::prelude::*;
use std::collections::BTreeMap;
use test_support::exploring::*;

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Makes at most so many executions of an exploration.
fn go_on(program: &Program, explorer: &mut Explorer, most: u64, seen: &mut Seen) {
    for _ in 0..most {
        let Some(job) = explorer.next() else {
            return;
        };
        let (execution, machine) = run(program, &Points::All, job.guide()).unwrap();
        let labels: Vec<_> = execution.steps.iter().map(|s| s.label.clone()).collect();
        seen.add(&labels, &machine);
        explorer.finish(job.id, &execution, 1).unwrap();
    }
}

/// Deals portions out, by number.
struct Coordinator {
    campaign: Campaign,
    lent: BTreeMap<u32, Vec<Subtree>>,
    next: u32,
    /// All that were ever dealt out.
    all: Vec<Vec<Subtree>>,
}

impl Coordinator {
    fn new() -> Coordinator {
        Coordinator {
            campaign: Campaign::new(LIMIT),
            lent: BTreeMap::new(),
            next: 0,
            all: Vec::new(),
        }
    }

    fn fill(&mut self, machines: usize) {
        for portion in self.campaign.deal(machines.saturating_sub(self.lent.len())) {
            self.all.push(portion.clone());
            self.lent.insert(self.next, portion);
            self.next += 1;
        }
    }

    fn take_in(&mut self, number: u32, came: Vec<(u64, Explored)>) {
        let portion = self.lent.remove(&number).unwrap();
        for subtree in &portion {
            if !came.iter().any(|(job, _)| *job == subtree.job) {
                self.campaign.put_back(0, subtree.job).unwrap();
            }
        }
        for (job, explored) in came {
            self.campaign.take_in(0, job, explored, []).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    /// Every class once, by whomever.
    #[test]
    fn subtrees_come_to_the_undivided_exploration(
        program in contended(3, 3, false),
        chances in proptest::collection::vec(any::<u8>(), 8..64),
        machines in 2usize..=8,
    ) {
        let Some(all) = all_classes(&program, &Points::All, SMALL) else {
            return Ok(());
        };
        let mut chances = chances.into_iter().chain(0..=255).cycle();
        let mut chance = move || chances.next().unwrap() as usize;
        let mut explorer = Explorer::new(LIMIT);
        let mut lent: Vec<(Subtree, Explorer)> = Vec::new();
        let mut seen = Seen::default();
        while !explorer.exhausted() {
            // The coordinator may make executions of its own.
            if chance() % 4 == 0 {
                go_on(&program, &mut explorer, 1, &mut seen);
            }
            while lent.len() < machines && let Some(subtree) = explorer.lend() {
                let stored = serde_json::to_string(&subtree).unwrap();
                prop_assert_eq!(&serde_json::from_str::<Subtree>(&stored).unwrap(), &subtree);
                let theirs = subtree.explorer();
                lent.push((subtree, theirs));
            }
            if lent.is_empty() {
                // What cannot be lent, the coordinator makes itself.
                go_on(&program, &mut explorer, 1, &mut seen);
                continue;
            }
            let (subtree, mut theirs) = lent.swap_remove(chance() % lent.len());
            let dies = chance() % 9 == 0;
            let stored = serde_json::to_string(&explorer).unwrap();
            explorer = serde_json::from_str(&stored).unwrap();
            if dies {
                // With all that it has found: somebody else begins again.
                explorer.give_back(subtree.job).unwrap();
                continue;
            }
            let most = [0, 1, 3, 1000][chance() % 4];
            go_on(&program, &mut theirs, most, &mut seen);
            if chance() % 5 == 0 {
                // Somebody stops in the middle of an execution.
                let _ = theirs.next();
            }
            let told = serde_json::to_string(&theirs.into_explored()).unwrap();
            explorer.take_in(subtree.job, serde_json::from_str(&told).unwrap()).unwrap();
            let again = serde_json::from_str(&told).unwrap();
            prop_assert!(explorer.take_in(subtree.job, again).is_err());
        }
        prop_assert!(lent.is_empty());
        let progress = explorer.progress();
        prop_assert!(progress.complete && progress.redundant == 0);
        prop_assert_eq!(progress.executions as usize, all.classes.len());
        prop_assert_eq!(progress.findings, progress.executions);
        let made = seen.classes.len();
        let seen = seen.distinct();
        prop_assert_eq!(made, seen.classes.len(), "a class was seen twice");
        prop_assert!(seen.classes == all.classes);
        prop_assert_eq!(&seen.deadlocks, &all.deadlocks);
        prop_assert_eq!(&seen.failures, &all.failures);
        prop_assert_eq!(&seen.races, &all.races);
    }

    /// The same for portions of several subtrees; and whoever takes the same results in again, in the same
    /// order, deals out the same portions.
    #[test]
    fn portions_come_to_the_undivided_exploration(
        program in contended(3, 3, false),
        chances in proptest::collection::vec(any::<u8>(), 8..64),
        machines in 1usize..=4,
    ) {
        let Some(all) = all_classes(&program, &Points::All, SMALL) else {
            return Ok(());
        };
        let mut chances = chances.into_iter().chain(0..=255).cycle();
        let mut chance = move || chances.next().unwrap() as usize;
        let mut coordinator = Coordinator::new();
        let mut told = Vec::new();
        let mut seen = Seen::default();
        coordinator.fill(machines);
        while !coordinator.lent.is_empty() {
            let at = chance() % coordinator.lent.len();
            let number = *coordinator.lent.keys().nth(at).unwrap();
            let subtrees = coordinator.lent[&number].clone();
            let most = [0, 1, 3, 1000][chance() % 4];
            let limit = Config { max_executions: Some(most), ..LIMIT };
            let mut portion = Campaign::of_portion(limit, subtrees, []);
            while let Some(task) = portion.next() {
                let (execution, machine) = run(&program, &Points::All, task.job.guide()).unwrap();
                let labels: Vec<_> = execution.steps.iter().map(|s| s.label.clone()).collect();
                seen.add(&labels, &machine);
                portion.finish(&task, &execution, 1, []).unwrap();
            }
            prop_assert!(portion.progress().executions <= most);
            let came = portion.into_explorations().subtrees;
            let came: Vec<(u64, Explored)> =
                serde_json::from_str(&serde_json::to_string(&came).unwrap()).unwrap();
            told.push((number, came.clone()));
            coordinator.take_in(number, came);
            coordinator.fill(machines);
        }
        let mut again = Coordinator::new();
        again.fill(machines);
        for (number, came) in told {
            prop_assert!(again.lent.contains_key(&number));
            again.take_in(number, came);
            again.fill(machines);
        }
        prop_assert_eq!(again.next, coordinator.next);
        prop_assert_eq!(again.all, coordinator.all);
        let progress = coordinator.campaign.progress();
        prop_assert!(coordinator.campaign.exhausted());
        prop_assert!(progress.complete && progress.redundant == 0);
        prop_assert_eq!(progress.executions as usize, all.classes.len());
        prop_assert_eq!(progress.findings, progress.executions);
        let made = seen.classes.len();
        let seen = seen.distinct();
        prop_assert_eq!(made, seen.classes.len(), "a class was seen twice");
        prop_assert!(seen.classes == all.classes);
        prop_assert_eq!(&seen.deadlocks, &all.deadlocks);
        prop_assert_eq!(&seen.races, &all.races);
    }

    /// Nothing is missed by machines that do not talk to each other, and with digests the classes
    /// are counted once.
    #[test]
    fn shares_come_to_the_undivided_exploration(
        program in contended(3, 3, false),
        of in 2u32..=8,
        common in 1u64..6,
    ) {
        let Some(all) = all_classes(&program, &Points::All, SMALL) else {
            return Ok(());
        };
        let mut seen = Seen::default();
        let mut digests = std::collections::BTreeSet::new();
        for index in 0..of {
            let share = Share { index, of, common };
            let mut explorer = Explorer::shared(LIMIT, Some(share));
            let mut mine = Seen::default();
            while !explorer.exhausted() {
                go_on(&program, &mut explorer, 1, &mut mine);
                let stored = serde_json::to_string(&explorer).unwrap();
                explorer = serde_json::from_str(&stored).unwrap();
            }
            let progress = explorer.progress();
            prop_assert!(progress.complete && progress.redundant == 0);
            let made = mine.classes.len();
            let mine = mine.distinct();
            prop_assert_eq!(made, mine.classes.len(), "a machine saw a class twice");
            prop_assert_eq!(made, explorer.classes().len());
            digests.extend(explorer.classes().iter().copied());
            if !explorer.is_divided() {
                prop_assert!(mine.classes == all.classes);
            }
            seen.classes.extend(mine.classes);
            seen.deadlocks.extend(mine.deadlocks);
            seen.failures.extend(mine.failures);
            seen.races.extend(mine.races);
        }
        let seen = seen.distinct();
        prop_assert_eq!(seen.classes.len(), all.classes.len());
        prop_assert!(seen.classes == all.classes);
        prop_assert_eq!(digests.len(), all.classes.len());
        prop_assert_eq!(&seen.deadlocks, &all.deadlocks);
        prop_assert_eq!(&seen.failures, &all.failures);
        prop_assert_eq!(&seen.races, &all.races);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn shares_within_a_bound_too(
        program in contended(3, 2, false),
        bound in 0u32..3,
        of in 2u32..=4,
    ) {
        let Some(all) = schedules(&program, &Points::All, Some(bound), 400) else {
            return Ok(());
        };
        let mut seen = Seen::default();
        for index in 0..of {
            let limit = Config { preemptions: Some(bound), ..LIMIT };
            let mut explorer = Explorer::shared(limit, Some(Share { index, of, common: 1 }));
            go_on(&program, &mut explorer, u64::MAX, &mut seen);
            prop_assert!(explorer.progress().complete);
        }
        prop_assert!(seen.distinct().classes == all.classes);
    }
}

/// How much of the work shares do twice: printed, for docs/verify.md.
#[test]
fn shares_divide_the_work() {
    use litmus::{Reg, Var, read, store};
    let thread = |n: u16| {
        vec![
            store(Var(n % 2), 1),
            read(Reg(0), Var((n + 1) % 2)),
            store(Var(0), 2),
        ]
    };
    let program = Program::parallel((0..3).map(thread));
    let whole = explored(&program, &Points::All, LIMIT).1.executions;
    for of in [2, 4, 8] {
        let mut most = 0;
        let mut sum = 0;
        for index in 0..of {
            let mut explorer = Explorer::shared(
                LIMIT,
                Some(Share {
                    index,
                    of,
                    common: 20,
                }),
            );
            go_on(&program, &mut explorer, u64::MAX, &mut Seen::default());
            most = most.max(explorer.progress().executions);
            sum += explorer.progress().executions;
        }
        println!("{whole} classes, {of} shares: {sum} executions, at most {most} in one");
        assert!(most < whole, "no share is all of it");
    }
}
