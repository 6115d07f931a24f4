//! Sections under control: they do what they do alone, under each scheduler.

use std::process::Output;
use test_support::programs::{Detected, Expected, Section, controlled, repeat};
use test_support::trials::{Trial, trial};

pub fn trials() -> Vec<Trial> {
    let calm =
        |s: &Section| s.races.is_empty() && s.diagnosis.as_deref().is_none_or(|d| d == "uncaught");
    // Programs in a single thread have nothing to schedule. No stack left is a
    // known limit (docs/limits.md).
    let threads = |s: &Section| s.threads != Some(1) && s.name != "deep-recursion";
    let mut all = as_alone("control", calm);
    all.extend(as_alone("edge", threads));
    all
}

fn as_alone(dir: &'static str, wanted: impl Fn(&Section) -> bool) -> Vec<Trial> {
    let expected = Expected::for_trials(dir);
    let sections = expected.sections.iter().filter(|s| wanted(s));
    let each = sections.map(|section| {
        let name = format!("control::{dir}::{}", section.name);
        trial(name, move || check(dir, expected, section))
    });
    each.collect()
}

pub fn seeds() -> u64 {
    (repeat() / 2).max(1) as u64
}

fn check(dir: &str, expected: &Expected, section: &Section) {
    let program = expected.program(dir, section);
    let alone = program.native();
    for scheduler in ["random", "pct", "pos"] {
        for seed in 1..=seeds() {
            let found = controlled(&program, scheduler, seed, &[]);
            let wrong = complaints(section, &alone, &found);
            assert!(
                wrong.is_empty(),
                "{scheduler}, seed {seed}: {}",
                wrong.join("\n")
            );
        }
    }
}

/// Complaints about a controlled run of a program that has no race and must not
/// deadlock.
pub fn complaints(section: &Section, alone: &Output, found: &Detected) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut compare = |what: &str, alone: String, with: String| {
        if alone != with {
            wrong.push(format!("{what}: alone\n{alone}\nunder control\n{with}"));
        }
    };
    compare("output", text(&alone.stdout), found.stdout.clone());
    let exit = serde_json::to_string(&alone.status.code()).unwrap();
    compare(
        "exit code",
        exit,
        found.report["program"]["exit"].to_string(),
    );
    let none = "[]".to_owned();
    let listed = |key: &str| match &found.report[key] {
        serde_json::Value::Null => none.clone(),
        list => list.to_string(),
    };
    compare("races", none.clone(), listed("races"));
    compare("deadlocks", none.clone(), listed("deadlocks"));
    let failing =
        section.diagnosis.as_deref() == Some("uncaught") || alone.status.code() == Some(1);
    if !failing {
        compare("uncaught exceptions", none.clone(), listed("failures"));
    }
    let ended = &found.report["runs"][0]["ended"];
    if ended != "exit" && ended != "halt" {
        wrong.push(format!("ended: {ended}; {}", found.warnings()));
    }
    wrong
}
