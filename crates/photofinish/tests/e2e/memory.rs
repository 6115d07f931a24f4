//! `--memory weak`: reads that see older writes, what comes of them, and where there are none.

use serde_json::Value;
use test_support::programs::{
    Detected, Program, compile, confirm, finish, list, location, outcomes, photofinish,
};

fn program(args: &[&str]) -> Program {
    let classes = compile("programs/memory/src", &[]);
    Program::new(&[&["-cp", classes.to_str().unwrap()], args].concat())
}

/// The outcomes of the race on this location in which a read saw an older write.
fn weak<'a>(found: &'a Detected, name: &str, result: &str) -> Vec<&'a Value> {
    let race = found.races().iter().find(|race| location(race) == name);
    let race =
        race.unwrap_or_else(|| panic!("no race on {name}: {} {}", found.report, found.stderr));
    let mut all = outcomes(race, result);
    all.retain(|outcome| !list(outcome, "memory").is_empty());
    all
}

#[test]
fn a_stop_flag_that_is_never_seen_is_a_loop_that_never_ends_and_is_replayed() {
    let results = tempfile::tempdir().unwrap();
    let options = ["--memory", "weak", "--trials", "8"];
    let found = confirm(&program(&["StopFlag"]), results.path(), &options);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    let endless = weak(&found, "StopFlag.stop", "livelock");
    assert_eq!(endless.len(), 1, "{}", found.report);
    let stale = &endless[0]["memory"][0];
    assert_eq!(
        (&stale["value"], &stale["newest"]),
        (&"false".into(), &"true".into())
    );
    assert_eq!(
        (&stale["thread"], &stale["missed"]["thread"]),
        (&"worker".into(), &"main".into())
    );
    let why = stale["why"].as_str().unwrap();
    assert!(
        why.contains("JLS 17.4.5") && why.contains("StopFlag.java:"),
        "{why}"
    );
    // Without it nothing comes of the race.
    let race = &found.races()[0];
    assert_eq!(race["harm"], "harmful");
    assert!(outcomes(race, "livelock").len() == 1, "{race}");
    let mut replay = photofinish();
    replay.args([
        "replay",
        "--results",
        results.path().to_str().unwrap(),
        "R1.weak-livelock",
    ]);
    let again = finish(replay, "");
    let text = String::from_utf8_lossy(&again.stdout).into_owned()
        + &String::from_utf8_lossy(&again.stderr);
    assert!(
        text.contains("livelock") && !text.contains("went another way"),
        "{text}"
    );
}

#[test]
fn an_object_that_is_published_by_a_race_may_be_half_built_unless_its_field_is_final() {
    let results = tempfile::tempdir().unwrap();
    let options = ["--memory", "weak", "--trials", "12"];
    let found = confirm(&program(&["Publication"]), results.path(), &options);
    let broken = weak(&found, "Publication$Point.x", "exception");
    assert_eq!(broken.len(), 1, "{}", found.report);
    assert!(
        broken[0]["detail"]
            .as_str()
            .unwrap()
            .contains("half-built: 0")
    );
    let fixed = confirm(
        &program(&["Publication", "final"]),
        results.path(),
        &options,
    );
    assert!(
        weak(&fixed, "Publication.frozen", "exception").is_empty(),
        "{}",
        fixed.report
    );
}

#[test]
fn what_no_interleaving_shows_is_seen_and_volatile_forbids_it() {
    let results = tempfile::tempdir().unwrap();
    let options = ["--memory", "weak", "--trials", "12"];
    for (shape, fields) in [
        ("SB", ["Shapes.x", "Shapes.y"]),
        ("MP", ["Shapes.x", "Shapes.y"]),
    ] {
        let found = confirm(&program(&["Shapes", shape]), results.path(), &options);
        let seen = fields
            .iter()
            .map(|field| weak(&found, field, "exception").len())
            .sum::<usize>();
        assert!(seen > 0, "{shape}: {}", found.report);
    }
    let found = confirm(
        &program(&["Shapes", "MP volatile"]),
        results.path(),
        &options,
    );
    assert!(found.races().is_empty(), "{}", found.report);
}

#[test]
fn verify_says_who_has_it() {
    let mut command = photofinish();
    command.args(["verify", "--memory", "weak", "--", "Main"]);
    let refused = finish(command, "");
    assert_eq!(refused.status.code(), Some(64));
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(text.contains("confirm --memory weak"), "{text}");
}
