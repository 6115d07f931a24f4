//! The report as people see it, compared with files kept beside this test.
//! After a wanted change: `PHOTOFINISH_GOLDEN=1 cargo test -p photofinish-report`, and read the
//! difference before committing it.

use findings::finding::{Findings, Summary};
use findings::merge::Merge;
use findings::result::{Program, Report, Run};
use report::terminal::{Options, Sources, render};
use std::path::Path;
use test_support::golden;

/// The sources of the golden program.
#[derive(Debug)]
struct Shop;

impl Sources for Shop {
    fn line(&self, class: &str, file: &str, line: u32) -> Option<(String, String)> {
        let text = match (class, file, line) {
            ("shop.Bank", "Bank.java", 7) => "\t    total = total + amount;",
            ("shop.Bank", "Bank.java", 8) => "\t    cache.put(\"a\", amount);",
            ("shop.Table", "Table.java", 8) => "        slots[at(i)] = slots[0] + 1;",
            ("shop.Table", "Table.java", 12) => "        return slots[i];\u{202e}",
            _ => return None,
        };
        Some((format!("src/main/java/shop/{file}"), text.to_owned()))
    }
}

fn findings() -> Findings {
    let mut findings = Findings::parse(include_bytes!("golden/shop.jsonl"));
    findings.summary = Some(Summary {
        classes_instrumented: 311,
        events: Some(123_456),
        threads: 4,
        missing_models: vec!["org.jctools.queues.SpscArrayQueue".into()],
        ended: findings::result::RunEnd::Exit,
        ..Summary::default()
    });
    findings
}

fn run(exit: i32) -> Run {
    Run {
        exit: Some(exit),
        signal: None,
        ended: findings::result::RunEnd::Exit,
        races: 0,
        seconds: 0.5,
        ..Run::default()
    }
}

fn report(runs: &[Run]) -> Report {
    let mut merge = Merge::new();
    for run in runs {
        merge.add(findings(), run.clone());
    }
    let program = Program {
        args: vec!["-cp".into(), "classes".into(), "shop.Bank".into()],
        exit: Some(0),
        output_sha256: Some("00ff".into()),
        ..Program::default()
    };
    merge.finish("photofinish 0.0.0".into(), "detect", program, 1.25)
}

fn text(report: &Report, options: Options) -> String {
    let mut out = Vec::new();
    render(report, &Shop, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[track_caller]
fn compare(name: &str, got: &str) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    golden::compare(&dir.join(name), got);
}

#[test]
fn terminal() {
    compare("shop.txt", &text(&report(&[run(0)]), Options::default()));
}

#[test]
fn terminal_verbose_after_several_runs() {
    let options = Options {
        verbose: true,
        ..Options::default()
    };
    compare(
        "shop-verbose.txt",
        &text(&report(&[run(0), run(1), run(0)]), options),
    );
}

#[test]
fn json() {
    let mut out = Vec::new();
    report(&[run(0)]).write_json(&mut out).unwrap();
    compare("shop.json", &String::from_utf8(out).unwrap());
}

#[test]
fn colours_change_nothing_else() {
    let report = report(&[run(0)]);
    let plain = text(&report, Options::default());
    let coloured = text(
        &report,
        Options {
            color: true,
            ..Options::default()
        },
    );
    assert_ne!(plain, coloured);
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        stripped += before;
        rest = after.split_once('m').unwrap().1;
    }
    stripped += rest;
    assert_eq!(stripped, plain);
}

#[test]
fn the_programs_own_escapes_never_reach_the_terminal() {
    let text = text(
        &report(&[run(0)]),
        Options {
            verbose: true,
            ..Options::default()
        },
    );
    assert!(text.contains("evil"), "the hostile name is shown");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn json_survives_reading_and_writing() {
    let first = report(&[run(0), run(3)]);
    let mut bytes = Vec::new();
    first.write_json(&mut bytes).unwrap();
    assert_eq!(Report::from_json(&bytes).unwrap(), first);
}

#[test]
fn members_of_later_versions_are_kept() {
    let mut value = serde_json::to_value(report(&[run(0)])).unwrap();
    value["forecast"] = serde_json::json!({ "complete": true });
    value["races"][0]["weather"] = serde_json::json!([{ "kind": "rain" }]);
    let read = Report::from_json(&serde_json::to_vec(&value).unwrap()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), value);
}

#[test]
fn what_is_no_report_says_so() {
    let error = |text: &str| Report::from_json(text.as_bytes()).unwrap_err().to_string();
    assert!(error("{").contains("not a photofinish report"));
    assert!(error("[]").contains("no \"schema\""));
    assert!(error("{\"schema\":2}").contains("schema 2"));
    assert!(error("{\"schema\":1}").contains("missing field"));
}
