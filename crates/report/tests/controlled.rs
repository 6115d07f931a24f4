//! Reports of controlled runs: what the agent's lines become, and how it reads.
//! After a wanted change: `PHOTOFINISH_GOLDEN=1 cargo test -p photofinish-report`, and read the
//! difference before committing it.

use findings::confirmed::{Delay, Effect, Harm, Outcome, Replay, Trials};
use findings::exploration::Exploration;
use findings::finding::{AccessOp, Findings};
use findings::merge::Merge;
use findings::result::{Program, Report, Run, Status};
use report::terminal::{NoSources, Options, render};
use std::path::Path;
use test_support::golden;

fn replay(name: &str) -> Option<Replay> {
    Some(Replay {
        seed: 7,
        command: format!("photofinish replay {name}"),
        delays: match name {
            "D1" => vec![Delay {
                sleeper: "reader".into(),
                millis: 50,
                delayed: vec!["main".into(), "writer".into()],
            }],
            _ => vec![],
        },
        ..Replay::default()
    })
}

fn report() -> Report {
    let mut merge = Merge::new();
    for _ in 0..2 {
        let findings = Findings::parse(include_bytes!("golden/controlled.jsonl"));
        let run = Run {
            ended: findings::result::RunEnd::Deadlock,
            seconds: 0.5,
            scheduler: Some("random".into()),
            seed: Some(7),
            dump: Some("Full thread dump\n\n\"reader\" #12\n\tat A.read(Native Method)\n".into()),
            ..Run::default()
        };
        merge.add(findings, run);
    }
    let mut report = merge.finish(
        "photofinish 0.0.0".into(),
        "confirm",
        Program::default(),
        1.5,
    );
    let ok = |first| Outcome {
        first,
        orders: match first {
            0 => vec![[AccessOp::Read, AccessOp::Write]],
            _ => vec![[AccessOp::Write; 2], [AccessOp::Write, AccessOp::Read]],
        },
        result: Effect::Ok,
        detail: String::new(),
        stack: vec![],
        caught: false,
        failure_signs: vec![],
        trials: 3,
        memory: vec![],
        replay: replay("R1.ok"),
    };
    let race = &mut report.races[0];
    race.status = Status::Confirmed;
    race.found_by.push("racefuzzer".into());
    race.trials = Some(Trials {
        run: 7,
        hit: 7,
        of: Some(100),
        met: None,
    });
    race.harm = Some(Harm::Harmful);
    race.replay = replay("R1.exception");
    race.outcomes = vec![
        Outcome {
            result: Effect::Exception,
            detail: "java.lang.Error: ERROR1 in thread \"a\u{1b}[2J\"".into(),
            stack: race.accesses[1].stack.clone(),
            trials: 4,
            replay: replay("R1.exception"),
            ..ok(1)
        },
        ok(0),
    ];
    report.races[1].trials = Some(Trials {
        run: 100,
        hit: 0,
        of: None,
        met: None,
    });
    report.deadlocks[0].replay = replay("D1");
    report
}

fn text(report: &Report, options: Options) -> String {
    let mut out = Vec::new();
    render(report, &NoSources, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[track_caller]
fn compare(name: &str, got: &str) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    golden::compare(&dir.join(name), got);
}

#[test]
fn terminal() {
    let text = text(&report(), Options::default());
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    compare("controlled.txt", &text);
}

#[test]
fn terminal_verbose() {
    let options = Options {
        verbose: true,
        ..Options::default()
    };
    compare("controlled-verbose.txt", &text(&report(), options));
}

#[test]
fn json() {
    let report = report();
    let mut out = Vec::new();
    report.write_json(&mut out).unwrap();
    assert_eq!(Report::from_json(&out).unwrap(), report);
    compare("controlled.json", &String::from_utf8(out).unwrap());
}

/// Of an exploration only the executions that showed something new are kept as runs.
#[test]
fn an_exploration_counts_executions() {
    let mut report = report();
    report.command = "verify".into();
    report.exploration = Some(Exploration {
        complete: true,
        executions: 6,
        ..Exploration::default()
    });
    let text = text(&report, Options::default());
    assert!(text.contains(" in 6 executions"), "{text}");
    assert!(!text.contains("of 2 runs"), "{text}");
}

#[test]
fn the_same_deadlock_and_exception_in_two_runs_are_one_each() {
    let report = report();
    let counts: Vec<u64> = report.deadlocks.iter().map(|d| d.runs).collect();
    assert_eq!(counts, [2, 2]);
    assert_eq!(report.failures.len(), 1);
    assert_eq!(
        (report.failures[0].runs, report.failures[0].first_run),
        (2, 1)
    );
    assert!(report.warnings.iter().any(|w| w.contains("SecureRandom")));
    assert!(report.warnings.iter().any(|w| w.contains("stuck")));
}

#[test]
fn all_instructions_of_a_line_are_kept() {
    let report = report();
    let bcis: Vec<Option<u32>> = report.races[1].statements.iter().map(|f| f.bci).collect();
    assert_eq!(bcis, [Some(2), Some(5), Some(7)]);
    assert!(report.races[0].statements.is_empty(), "the accesses say it");
}
