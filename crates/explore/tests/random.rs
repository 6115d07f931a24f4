//! Random programs: the exploration sees what brute force sees, and each class
//! once, however it is cut up, stopped, stored and spread over workers.

use explore::{Campaign, Config, Explorer, Job, Order};
use litmus::Program;
use litmus::random::contended;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use test_support::exploring::*;
use trace::SiteId;

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// That each class was seen once.
fn once(seen: Seen) -> Result<Seen, TestCaseError> {
    let times = seen.classes.len();
    let seen = seen.distinct();
    prop_assert_eq!(times, seen.classes.len(), "a class was seen twice");
    Ok(seen)
}

fn same(seen: &Seen, all: &Seen) -> TestCaseResult {
    prop_assert_eq!(seen.classes.len(), all.classes.len());
    prop_assert!(seen.classes == all.classes);
    prop_assert_eq!(&seen.deadlocks, &all.deadlocks);
    prop_assert_eq!(&seen.failures, &all.failures);
    Ok(())
}

/// Makes the execution and takes note of it.
fn work(program: &Program, job: &Job, seen: &mut Seen) -> explore::Execution {
    let (execution, machine) = run(program, &Points::All, job.guide()).unwrap();
    let labels: Vec<_> = execution.steps.iter().map(|s| s.label.clone()).collect();
    seen.add(&labels, &machine);
    execution
}

proptest! {
    #![proptest_config(cases(700))]

    #[test]
    fn every_class_exactly_once(program in contended(3, 3, false)) {
        let Some(all) = all_classes(&program, &Points::All, SMALL) else {
            return Ok(());
        };
        let (seen, progress) = explored(&program, &Points::All, LIMIT);
        prop_assert!(progress.complete && progress.redundant == 0);
        prop_assert_eq!(progress.executions as usize, all.classes.len());
        let seen = once(seen)?;
        same(&seen, &all)?;
        prop_assert_eq!(&seen.races, &all.races);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn static_initialisers_too(program in contended(3, 3, true)) {
        if let Some(all) = all_classes(&program, &Points::All, SMALL) {
            let (seen, _) = explored(&program, &Points::All, LIMIT);
            same(&once(seen)?, &all)?;
        }
    }

    /// The twin of the twin: plainly all schedules.
    #[test]
    fn classes_of_all_schedules(program in contended(2, 2, true)) {
        if let Some(all) = brute_force(&program, &Points::All, 500) {
            let (seen, _) = explored(&program, &Points::All, LIMIT);
            same(&once(seen)?, &all)?;
        }
    }

    /// Only synchronisation is a point at first; what races becomes one. (Until
    /// then a plain write may let a thread go on that spins, behind the back
    /// of the exploration, which then cannot be complete.)
    #[test]
    fn all_races_with_points_where_it_races(program in contended(3, 3, false)) {
        let Some(all) = all_classes(&program, &Points::All, SMALL) else {
            return Ok(());
        };
        let mut campaign = Campaign::new(LIMIT);
        let mut seen = Seen::default();
        let mut made = 0;
        while let Some(task) = campaign.next() {
            let points = campaign.points().iter().map(|site| SiteId(*site));
            let points = Points::At(points.collect());
            match run(&program, &points, task.job.guide()) {
                Ok((execution, machine)) => {
                    let labels: Vec<_> = execution.steps.iter().map(|s| s.label.clone()).collect();
                    seen.add(&labels, &machine);
                    let racing = races(&machine);
                    let sites = racing.iter().flat_map(|key| [key.sites.0.0, key.sites.1.0]);
                    campaign.finish(&task, &execution, 1, sites).unwrap();
                    made += 1;
                }
                Err(_) => campaign.diverged(&task, []).unwrap(),
            }
        }
        let progress = campaign.progress();
        prop_assert!(progress.complete);
        prop_assert_eq!(progress.executions, made);
        prop_assert_eq!(progress.findings, made);
        prop_assert!(campaign.executions_now() as usize <= all.classes.len());
        prop_assert_eq!(&seen.races, &all.races);
        prop_assert_eq!(&seen.deadlocks, &all.deadlocks);
        prop_assert_eq!(&seen.failures, &all.failures);
    }

    #[test]
    fn the_order_of_search_changes_nothing(program in contended(3, 3, false), order in 0usize..5) {
        if let Some(all) = all_classes(&program, &Points::All, SMALL) {
            let order = Order::ALL[order].1;
            let (seen, _) = explored(&program, &Points::All, Config { order, ..LIMIT });
            same(&once(seen)?, &all)?;
        }
    }

    #[test]
    fn all_within_a_bound_on_preemptions(program in contended(3, 2, false), bound in 0u32..3) {
        let limit = Config { preemptions: Some(bound), ..LIMIT };
        if let Some(all) = schedules(&program, &Points::All, Some(bound), 400) {
            let (seen, progress) = explored(&program, &Points::All, limit);
            prop_assert!(progress.complete);
            same(&seen.distinct(), &all)?;
        }
    }

    /// Several executions at once, ending in any order; workers that die; the
    /// explorer killed and loaded again.
    #[test]
    fn nothing_is_lost_or_done_twice(
        program in contended(3, 3, false),
        chances in proptest::collection::vec(any::<u8>(), 8..64),
        wide in 1usize..12,
    ) {
        let Some(all) = all_classes(&program, &Points::All, SMALL) else {
            return Ok(());
        };
        let mut chances = chances.into_iter().chain(0..=255).cycle();
        let mut explorer = Explorer::new(LIMIT);
        let mut jobs: Vec<Job> = Vec::new();
        let mut seen = Seen::default();
        while !explorer.exhausted() {
            let chance = chances.next().unwrap() as usize;
            if jobs.len() < wide {
                jobs.extend(explorer.next());
            }
            if chance % 17 == 1 {
                let stored = serde_json::to_string(&explorer).unwrap();
                explorer = serde_json::from_str(&stored).unwrap();
                explorer.requeue();
                jobs.clear();
            }
            if jobs.is_empty() || (chance.is_multiple_of(3) && jobs.len() < wide) {
                continue;
            }
            let job = jobs.remove(chance % jobs.len());
            if chance.is_multiple_of(5) {
                explorer.give_back(job.id).unwrap();
            } else {
                let execution = work(&program, &job, &mut seen);
                explorer.finish(job.id, &execution, 0).unwrap();
                prop_assert!(explorer.finish(job.id, &execution, 0).is_err());
            }
        }
        let progress = explorer.progress();
        prop_assert!(progress.complete && progress.redundant == 0);
        same(&once(seen)?, &all)?;
    }
}

/// Stopped again and again, stored, and gone on with under other limits.
#[test]
fn a_campaign_goes_on_after_its_limits() {
    use litmus::{Reg, Var, read, sync, write};
    let add_one = vec![
        sync(litmus::Lock(0), []),
        read(Reg(0), Var(0)),
        write(Var(0), 1),
    ];
    let program = Program::parallel([add_one.clone(), add_one]);
    let explore = |every: Option<u64>| {
        let limit = every.map(|n| Config {
            max_executions: Some(n),
            ..LIMIT
        });
        let mut campaign = Campaign::new(limit.unwrap_or(LIMIT));
        let mut stops = 0;
        loop {
            while let Some(task) = campaign.next() {
                let points = campaign.points().iter().map(|site| SiteId(*site));
                let points = Points::At(points.collect());
                let (execution, machine) = run(&program, &points, task.job.guide()).unwrap();
                let racing = races(&machine);
                let sites = racing.iter().flat_map(|key| [key.sites.0.0, key.sites.1.0]);
                campaign.finish(&task, &execution, 1, sites).unwrap();
            }
            let progress = campaign.progress();
            if progress.complete {
                assert!(campaign.exhausted());
                return (progress, campaign.executions_now(), campaign.round(), stops);
            }
            assert_eq!(progress.stopped, Some(explore::Stop::Executions));
            stops += 1;
            let stored = serde_json::to_string(&campaign).unwrap();
            campaign = serde_json::from_str(&stored).unwrap();
            campaign.requeue();
            campaign.limit(Some(progress.executions + 1), None);
        }
    };
    let (whole, classes, rounds, stops) = explore(None);
    assert!(stops == 0 && rounds > 0);
    let (pieces, same_classes, same_rounds, stops) = explore(Some(1));
    assert_eq!(stops, whole.executions - 1);
    assert_eq!(
        (pieces, same_classes, same_rounds),
        (whole, classes, rounds)
    );
}

/// A stored state that was damaged is refused, or is one that can be gone on
/// with; never a panic.
#[test]
fn damaged_states_are_refused() {
    let program = Program::parallel((0..3).map(|_| vec![litmus::store(litmus::Var(0), 1); 2]));
    let mut explorer = Explorer::new(LIMIT);
    let mut seen = Seen::default();
    for _ in 0..20 {
        let job = explorer.next().unwrap();
        let execution = work(&program, &job, &mut seen);
        explorer.finish(job.id, &execution, 0).unwrap();
    }
    let _ = explorer.next();
    let stored = serde_json::to_string(&explorer).unwrap();
    let mut refused = 0;
    for at in 0..stored.len() {
        if !stored.as_bytes()[at].is_ascii_digit() {
            continue;
        }
        for digit in ["0", "7", "99"] {
            let damaged = [&stored[..at], digit, &stored[at + 1..]].concat();
            let Ok(mut explorer) = serde_json::from_str::<Explorer>(&damaged) else {
                refused += 1;
                continue;
            };
            explorer.requeue();
            for _ in 0..3 {
                explorer.next();
            }
            explorer.progress();
        }
    }
    assert!(refused > 100, "{refused}");
}

/// A program that does not do the same twice is not called verified.
#[test]
fn a_run_that_does_not_follow_is_lost_and_told() {
    let racing = |n: usize| Program::parallel(vec![vec![litmus::store(litmus::Var(0), 1)]; n]);
    let mut made = 0;
    let mut explorer = Explorer::new(LIMIT);
    let progress = explore::explore(&mut explorer, |guide| {
        made += 1;
        // Sometimes a thread is missing.
        let threads = if made % 4 == 0 { 2 } else { 3 };
        let (execution, _) = run(&racing(threads), &Points::All, guide)?;
        Ok((execution, 0))
    });
    assert!(progress.lost > 0 && !progress.complete);
    assert!(explorer.exhausted() && progress.stopped.is_none());
}
