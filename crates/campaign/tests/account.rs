//! What a campaign comes to: nothing that was lost passes quietly, and runs keep their numbers.

use campaign::account::Account;
use campaign::bundle::Manifest;
use campaign::execute::{Machine, execute};
use campaign::queue::Stored;
use campaign::unit::{
    self, Budget, Campaign, End, KeptSchedule, Launch, Outcome, Program, Task, Unit,
};
use findings::confirmed::Replay;
use findings::result::{Report, Run};
use std::path::Path;

fn campaign(programs: u32) -> Campaign {
    let program = |number| Program {
        name: format!("program {number}"),
        args: vec![],
        original: vec![],
    };
    Campaign {
        schema: unit::SCHEMA,
        name: "c".into(),
        tool: "photofinish test".into(),
        started: 0.0,
        programs: (0..programs).map(program).collect(),
        launch: Launch::default(),
        budget: Budget {
            strategies: vec!["random".into()],
            batch: 1,
            trials: 0,
            portion: 0,
            portions: 0,
            seed: 0,
            units: None,
            seconds: None,
            even: true,
            floor_percent: 20,
            lease_s: 1.0,
            simulated_micros: None,
        },
        bundle: Manifest::default(),
    }
}

fn unit(program: u32, index: u32) -> Unit {
    Unit {
        campaign: "c".into(),
        arm: format!("p{program}-random"),
        index,
        program,
        // Every thirteenth seed has a race.
        task: Task::Simulated {
            micros: 0,
            seed: index.into(),
        },
    }
}

fn add(account: &mut Account, outcome: &Outcome) {
    let stored = Stored {
        sequence: account.sequence + 1,
        at: 0.0,
        unit: outcome.id(),
        bytes: unit::encode(outcome),
    };
    account.add(&stored).unwrap();
}

/// A unit that was done, and its report.
fn done(program: u32, index: u32, change: impl FnOnce(&mut Report)) -> Outcome {
    let unit = unit(program, index);
    let machine = Machine::default();
    let mut outcome = execute(&unit, &campaign(program + 1), Path::new("/"), &machine);
    let End::Done { report, .. } = &mut outcome.end else {
        panic!("{outcome:?}");
    };
    change(report);
    outcome
}

#[test]
fn a_unit_that_was_lost_late_is_told_of_its_program() {
    let campaign = campaign(3);
    let mut account = Account::new(&campaign);
    for index in 0..150 {
        let outcome = Outcome::given_up(&unit(0, index), "w", "it is too hard");
        add(&mut account, &outcome);
    }
    add(
        &mut account,
        &Outcome::given_up(&unit(1, 1), "w", "no java"),
    );
    add(&mut account, &done(1, 2, |_| ()));
    add(&mut account, &done(2, 2, |_| ()));
    let warnings = |program| account.report(program).warnings.join("; ");
    assert!(warnings(0).contains("140 units have no result besides"));
    assert!(warnings(1).contains("unit p1-random-1: it was given up: no java"));
    assert!(!warnings(2).contains("given up"), "{}", warnings(2));
    let limits = [0, 1, 2].map(|program| account.report(program).limit_reached);
    assert_eq!(limits, [true, true, false]);
}

/// A unit of `verify` that was given up, or that does not say what was explored.
#[test]
fn an_exploration_that_lacks_a_part_is_never_complete() {
    let mut campaign = campaign(1);
    campaign.budget.strategies = vec!["verify".into()];
    (campaign.budget.portion, campaign.budget.portions) = (10, 2);
    let mut account = Account::new(&campaign);
    let unit = account.plan.next_unit().unwrap();
    assert_eq!(unit.id(), "p0-verify-0");
    assert!(matches!(unit.task, unit::Task::Verify { .. }));
    // The others follow from its result.
    assert!(account.plan.next_unit().is_none());
    let says = |account: &Account, words: &str| {
        let report = account.report(0);
        let told = report.exploration.unwrap();
        assert!(!told.complete && report.limit_reached);
        assert!(
            told.not_complete.iter().any(|it| it.contains(words)),
            "{told:?}"
        );
    };
    says(&account, "no result yet");
    add(&mut account, &Outcome::given_up(&unit, "w", "no java"));
    says(&account, "given up");
    assert_eq!(account.plan.outstanding(), 0);
    assert!(account.plan.next_unit().is_none());

    let mut account = Account::new(&campaign);
    let silent = Outcome {
        arm: unit.arm.clone(),
        ..done(0, 0, |_| ())
    };
    let stored = Stored {
        sequence: 1,
        at: 0.0,
        unit: silent.id(),
        bytes: unit::encode(&silent),
    };
    let error = account.add(&stored).unwrap_err().to_string();
    assert!(error.contains("does not say what was explored"), "{error}");
    says(&account, "given up");
}

#[test]
fn a_result_that_cannot_be_read_is_told_of_its_program() {
    let mut account = Account::new(&campaign(2));
    add(&mut account, &done(0, 2, |_| ()));
    add(&mut account, &done(1, 2, |_| ()));
    let garbage = |unit: &str| Stored {
        sequence: 9,
        at: 0.0,
        unit: unit.into(),
        bytes: b"garbage".to_vec(),
    };
    account.add(&garbage("p1-random-3")).unwrap_err();
    // It is nobody's.
    account.add(&garbage("p7-random-3")).unwrap_err();
    account.add(&garbage("x")).unwrap_err();
    assert_eq!(account.refused, 3);
    let limits = [0, 1].map(|program| account.report(program).limit_reached);
    assert_eq!(limits, [false, true]);
}

#[test]
fn runs_are_numbered_on_also_where_they_are_not_listed() {
    let mut account = Account::new(&campaign(1));
    let runs = |report: &mut Report| report.runs = vec![Run::default(); 300];
    for index in [1, 2, 3] {
        add(&mut account, &done(0, index, runs));
    }
    // In the second of its runs; some of them are the last that are listed.
    add(
        &mut account,
        &done(0, 13, |report| {
            runs(report);
            report.races[0].first_run = 2;
        }),
    );
    add(&mut account, &done(0, 4, runs));
    add(&mut account, &done(0, 26, runs));
    let report = account.report(0);
    assert_eq!(report.runs.len(), 1_000);
    let first: Vec<u64> = report.races.iter().map(|race| race.first_run).collect();
    assert_eq!(first, [902, 1_501]);
    let said = report.warnings.join("; ");
    assert!(
        said.contains("of 1800 runs the first 1000 are listed"),
        "{said}"
    );
}

fn schedule(name: &str) -> KeptSchedule {
    KeptSchedule {
        schedule: driver::store::Schedule {
            name: name.into(),
            ..Default::default()
        },
        log: String::new(),
    }
}

/// A unit whose race has a replay.
fn replayed(index: u32, command: &str, schedules: &[&str]) -> Outcome {
    let mut outcome = done(0, index, |report| {
        report.races[0].replay = Some(Replay {
            command: command.into(),
            ..Replay::default()
        });
    });
    if let End::Done {
        schedules: sent, ..
    } = &mut outcome.end
    {
        sent.extend(schedules.iter().map(|name| schedule(name)));
    }
    outcome
}

/// Two workers both had an `R1`; what a worker says of a schedule that it did not send is dropped.
#[test]
fn schedules_are_named_after_the_findings_of_the_whole() {
    let mut account = Account::new(&campaign(1));
    for (index, command, schedules) in [
        (0, "photofinish replay p0-random-0/R1", &["R1", "R9"][..]),
        (13, "photofinish replay p0-random-13/R1.ok", &["R1.ok"]),
        // The first again: its schedule is there already.
        (65, "photofinish replay p0-random-65/R1", &["R1"]),
        (26, "photofinish replay p0-random-26/R1", &[]),
        (39, "photofinish replay p0-random-0/R1", &["R1"]),
        (52, "rm -rf /", &["R1"]),
    ] {
        add(&mut account, &replayed(index, command, schedules));
    }
    let (report, kept) = account.told(0, |name| Some(format!("photofinish replay {name}")));
    let names: Vec<&str> = kept
        .iter()
        .map(|kept| kept.schedule.name.as_str())
        .collect();
    assert_eq!(names, ["R1", "R2.ok"]);
    let commands: Vec<Option<&str>> = { report.races.iter() }
        .map(|race| Some(race.replay.as_ref()?.command.as_str()))
        .collect();
    let replays = [
        Some("photofinish replay R1"),
        Some("photofinish replay R2.ok"),
    ];
    assert_eq!(commands, [&replays[..], &[None; 3]].concat());
    // Where schedules are not kept, nothing is said of them.
    assert!(
        account
            .report(0)
            .races
            .iter()
            .all(|race| race.replay.is_none())
    );
}

/// Whoever may store results may say anything in them: that is refused, or costs little.
#[test]
fn what_a_stranger_says_is_bounded() {
    let mut account = Account::new(&campaign(1));
    let far = Outcome::given_up(&unit(0, 99_999_999), "w", "far away");
    let stored = Stored {
        sequence: 1,
        at: 0.0,
        unit: far.id(),
        bytes: unit::encode(&far),
    };
    let refused = account.add(&stored).unwrap_err();
    assert!(refused.to_string().contains("no such unit"), "{refused}");
    assert!(account.plan.missing().is_empty());
    for (index, seconds) in [(0, f64::MAX), (1, f64::MAX), (2, -1e300)] {
        let outcome = Outcome {
            executions: u64::MAX,
            seconds,
            ..done(0, index, |_| ())
        };
        add(&mut account, &outcome);
    }
    assert_eq!(account.executions, u64::MAX);
    assert!((0.0..1e9).contains(&account.seconds), "{}", account.seconds);

    // No more than were asked for.
    let mut few = campaign(1);
    few.budget.units = Some(14);
    let mut account = Account::new(&few);
    let beyond = Outcome::given_up(&unit(0, 77), "w", "invented");
    let stored = Stored {
        unit: beyond.id(),
        bytes: unit::encode(&beyond),
        ..stored
    };
    assert!(account.add(&stored).is_err());
    assert_eq!(account.made(), 0);
}
