//! `--memory weak`: reads that see older writes, what comes of them, and where there are none.

use serde_json::Value;
use test_support::programs::{
    Detected, Program, compile, confirm, finish, list, location, outcomes, photofinish, verify,
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

/// `verify --memory weak`, complete in both explorations. Where a thread of the JDK interferes on a busy
/// machine, it rightly is not, so a few attempts are made.
fn explored(case: &str, results: &std::path::Path) -> Detected {
    let options = ["--memory", "weak"];
    let is_complete = |found: &Detected| {
        let told = &found.report["exploration"];
        told["complete"] == true && told["weak"]["complete"] == true
    };
    let mut last = verify(&program(&["Small", case]), results, &options);
    for _ in 0..3 {
        if is_complete(&last) {
            break;
        }
        last = verify(&program(&["Small", case]), results, &options);
    }
    assert!(
        is_complete(&last),
        "{case}: {} {}",
        last.report,
        last.stderr
    );
    last
}

/// What every execution shows: no more than interleavings where fields are volatile, and what older values lead to,
/// once each, where they are not. The first verdict has nothing of it.
#[test]
fn verify_tries_every_older_value_and_volatile_forbids_them() {
    for (case, kind, says) in [
        ("SB", "exception", "neither saw the other"),
        ("MP", "exception", "the flag without the message"),
        ("DCL", "exception", "half-built: 0"),
        ("stop", "stuck", "newer values"),
    ] {
        let results = tempfile::tempdir().unwrap();
        let found = explored(case, results.path());
        assert_eq!(found.code, Some(66), "{case}: {}", found.stderr);
        let told = &found.report["exploration"];
        for first in ["deadlocks", "failures"] {
            assert!(
                list(&found.report, first).is_empty(),
                "{case}: {}",
                found.report
            );
        }
        let news = list(&told["weak"], "findings");
        assert_eq!(news.len(), 1, "{case}: {told}");
        assert_eq!(
            (&news[0]["kind"], &news[0]["status"]),
            (&kind.into(), &"observed".into())
        );
        assert!(
            news[0]["detail"].as_str().unwrap().contains(says),
            "{case}: {told}"
        );
        let why = news[0]["memory"][0]["why"].as_str().unwrap();
        assert!(
            why.contains("JLS 17.4.5") && why.contains("Small.java:"),
            "{case}: {why}"
        );
        let more = |member: &str| told["weak"][member].as_u64() > told[member].as_u64();
        assert!(more("classes"), "{case}: {told}");
        if case == "stop" || case == "SB" {
            replays(results.path(), says);
        }
    }
    for case in [
        "SB volatile",
        "MP volatile",
        "DCL volatile",
        "stop volatile",
    ] {
        let results = tempfile::tempdir().unwrap();
        let found = explored(case, results.path());
        assert_eq!(
            found.code,
            Some(0),
            "{case}: {} {}",
            found.report,
            found.stderr
        );
        let weak = &found.report["exploration"]["weak"];
        assert_eq!(weak["executions"], 0, "{case}: {weak}");
        assert!(list(weak, "findings").is_empty(), "{case}: {weak}");
    }
}

fn replays(results: &std::path::Path, says: &str) {
    let mut replay = photofinish();
    replay.args(["replay", "--results", results.to_str().unwrap(), "W1"]);
    let again = finish(replay, "");
    let text = String::from_utf8_lossy(&again.stdout).into_owned()
        + &String::from_utf8_lossy(&again.stderr);
    assert!(
        text.contains(says) && !text.contains("went another way"),
        "{text}"
    );
}

#[test]
fn verify_says_where_older_values_are_too_many_or_cannot_be_tried() {
    let results = tempfile::tempdir().unwrap();
    let options = ["--memory", "weak", "--max-executions", "5"];
    let found = verify(&program(&["Small", "SB"]), results.path(), &options);
    let weak = &found.report["exploration"]["weak"];
    assert_eq!(weak["complete"], false, "{weak}");
    assert!(!list(weak, "not_complete").is_empty(), "{weak}");
    for option in ["--bound=preemptions=1", "--shard=1/2"] {
        let mut command = photofinish();
        command.args(["verify", "--memory", "weak", option, "--", "Main"]);
        let refused = finish(command, "");
        assert_eq!(refused.status.code(), Some(64));
        let text = String::from_utf8_lossy(&refused.stderr);
        let name = option.split('=').next().unwrap();
        assert!(
            text.contains("--memory weak") && text.contains(name),
            "{text}"
        );
    }
}

/// What a read misses may well be ordered before it: then it is the write that it sees which is not.
#[test]
fn a_read_after_two_unordered_writes_may_see_either_and_races_with_neither() {
    let results = tempfile::tempdir().unwrap();
    let options = ["--memory", "weak", "--trials", "12"];
    let found = confirm(&Program::own(&["Unordered"]), results.path(), &options);
    let seen = weak(&found, "Unordered.x", "exception");
    assert_eq!(seen.len(), 1, "{}", found.report);
    let why = seen[0]["memory"][0]["why"].as_str().unwrap();
    assert!(why.contains("neither write replaces the other"), "{why}");
    let found = confirm(
        &Program::own(&["Unordered", "handed"]),
        results.path(),
        &options,
    );
    let between = |race: &&Value| {
        let accesses = list(race, "accesses").iter();
        let methods: Vec<&str> = accesses.filter_map(|a| a["method"].as_str()).collect();
        methods.contains(&"hand") && methods.contains(&"take") && race["status"] != "potential"
    };
    let wrong = found.races().iter().find(between);
    assert!(wrong.is_none(), "ordered by the volatile field: {wrong:?}");
}

/// HotSpot reads the flag once. What the program does alone is no reason to wait for ever, or to give up.
#[test]
fn a_program_that_never_ends_without_the_tool_is_tried_all_the_same() {
    let results = tempfile::tempdir().unwrap();
    let options = ["--memory", "weak", "--trials", "8", "--watchdog", "10"];
    let found = confirm(&Program::own(&["Heater"]), results.path(), &options);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    assert_eq!(
        weak(&found, "Heater.on", "livelock").len(),
        1,
        "{}",
        found.report
    );
    let race = &found.races()[0];
    let story: Vec<&str> = list(race, "story")
        .iter()
        .filter_map(|line| line["text"].as_str())
        .collect();
    assert_eq!(
        story,
        [
            "sets Heater.on = true",
            "sets Heater.on = false",
            "reads Heater.on (true, an older value)",
            "reads true for ever: nothing says that it ever sees false",
        ]
    );
}
