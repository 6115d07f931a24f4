//! The shortest story of a finding: short, true, and replayed by its command.

use serde_json::Value;
use std::path::Path;
use test_support::programs::{
    Expected, Program, confirm, control_program, finish, list, photofinish, thorough,
};

/// The most lines of a story.
const MOST: usize = 8;

fn lines(finding: &Value) -> Vec<String> {
    let text = |line: &Value| {
        let word = |member: &str| line[member].as_str().unwrap_or_default().to_owned();
        format!("{} {}", word("thread"), word("text"))
    };
    list(finding, "story").iter().map(text).collect()
}

/// The command of the report repeats the run of the story, and that shows something.
fn replays(finding: &Value, results: &Path) {
    let command = finding["replay"]["command"].as_str().unwrap();
    let name = command.rsplit(' ').next().unwrap();
    let mut tool = photofinish();
    tool.args(["replay", "--results"]).arg(results).arg(name);
    let done = finish(tool, "");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(66), "{said}");
    assert!(said.contains("the same run again"), "{said}");
}

fn example(name: &str) -> Program {
    let expected = Expected::load("examples");
    expected.program("examples", expected.section(name))
}

#[test]
fn every_example_is_told_in_at_most_eight_lines() {
    let names = [
        "LazyCache",
        "StopFlag",
        "BankAccount",
        "Newsletter",
        "Courier",
    ];
    for name in &names[..if thorough() { names.len() } else { 2 }] {
        let results = tempfile::tempdir().unwrap();
        let found = confirm(&example(name), results.path(), &["--trials", "20"]);
        assert_eq!(found.code, Some(66), "{}", found.stderr);
        let race = &found.findings()[0];
        let told = lines(race);
        assert!(
            (2..=MOST).contains(&told.len()),
            "{name}: {told:#?}\n{}",
            found.stderr
        );
        assert!(
            told.iter().any(|line| line.contains(" reads ")),
            "{name}: {told:#?}"
        );
        let mut report = photofinish();
        report.arg("report").arg(results.path());
        let shown = finish(report, "");
        let shown = String::from_utf8_lossy(&shown.stdout);
        assert!(
            shown.contains(&told[0]),
            "{name}: the terminal tells the same: {shown}"
        );
        assert!(
            race["replay"]["preemptions"].as_u64().unwrap() <= 2,
            "{name}: {race}"
        );
        replays(race, results.path());
    }
}

#[test]
fn the_courier_in_the_programs_own_words() {
    let results = tempfile::tempdir().unwrap();
    let found = confirm(&example("Courier"), results.path(), &["--trials", "20"]);
    let races = found.races();
    let harmful = races
        .iter()
        .find(|race| race["outcomes"][0]["result"] == "exception");
    let race = harmful.unwrap_or_else(|| panic!("{}", found.stderr));
    let told = lines(race);
    let end = &told[told.len() - 4..];
    assert_eq!(end[0], "round reads Courier.line (a Line)", "{told:#?}");
    assert_eq!(end[1], "main sets Courier.line = null", "{told:#?}");
    assert_eq!(end[2], "round reads Courier.line (null)", "{told:#?}");
    assert!(
        end[3].starts_with("round NullPointerException: "),
        "{told:#?}"
    );
    assert_eq!(list(race, "story").last().unwrap()["line"], 23);
}

#[test]
fn a_race_that_lets_an_exception_out() {
    let results = tempfile::tempdir().unwrap();
    let program = control_program(&["Figure1"]);
    let pair = [
        "--pair",
        "Figure1.java:18,Figure1.java:24",
        "--trials",
        "20",
    ];
    let found = confirm(&program, results.path(), &pair);
    let race = &found.findings()[0];
    let told = lines(race);
    assert!(
        told.last().unwrap().contains("ERROR1"),
        "{told:#?}\n{}",
        found.stderr
    );
    replays(race, results.path());
}

/// The field that raced is not the one that was null: the story has both.
#[test]
fn what_made_it_fail_is_told_though_another_field_races() {
    let results = tempfile::tempdir().unwrap();
    let found = confirm(
        &Program::own(&["Thief"]),
        results.path(),
        &["--trials", "30"],
    );
    let threw = |race: &&Value| race["outcomes"][0]["result"] == "exception";
    let races = found.findings();
    let told: Vec<Vec<String>> = races.iter().filter(threw).map(lines).collect();
    assert!(!told.is_empty(), "{}", found.stderr);
    for story in told {
        assert!(
            story
                .iter()
                .any(|line| line == "thief sets Thief.cargo = null"),
            "{story:#?}\n{}",
            found.stderr
        );
        assert!(story.len() <= MOST, "{story:#?}");
    }
}

/// The JDK has fields of this name, too.
#[test]
fn a_field_with_a_common_name_is_told() {
    let results = tempfile::tempdir().unwrap();
    let options = ["--trials", "20"];
    let found = confirm(&Program::own(&["Logged"]), results.path(), &options);
    let told = lines(&found.findings()[0]);
    assert!(
        told.iter()
            .any(|line| line == "clearer sets Logged.name = null"),
        "{told:#?}\n{}",
        found.stderr
    );
}
