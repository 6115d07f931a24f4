//! Hidden races: what the usual order of locks hides is shown by reversing it,
//! nothing else is reported, and nothing hangs. Which thread is delayed depends on the
//! machine, so a run may miss what the next one shows: the tests go on until it is
//! seen, up to a bound that only a broken scheduler reaches.

use std::collections::BTreeSet;
use std::path::Path;
use test_support::programs::{Detected, Expected, Program, finish, names, photofinish};

const ROUNDS: u64 = 12;

fn program(name: &str) -> (Program, BTreeSet<String>) {
    let expected = Expected::load("hidden");
    let mut sections = expected.sections.iter();
    let section = sections.find(|s| s.name == name).unwrap();
    let may = names(&section.may).into_iter().map(str::to_owned).collect();
    (expected.program("hidden", section), may)
}

/// Some runs; from the second round on they begin with the relation of the last.
fn round(program: &Program, scheduler: &str, number: u64, results: &Path) -> Detected {
    let (seed, relation) = ((number * 100).to_string(), results.join("relation.txt"));
    let results = results.to_str().unwrap();
    let mut command = vec!["detect", "--scheduler", scheduler, "--runs", "3"];
    command.extend(["--seed", &seed, "--results", results]);
    if number > 0 {
        command.extend(["--relation", relation.to_str().unwrap()]);
    }
    program.reported(&command)
}

/// Runs until all of these were found.
fn finds_all(name: &str, wanted: &[&str]) {
    let (program, may) = program(name);
    let results = tempfile::tempdir().unwrap();
    let mut found = BTreeSet::new();
    for number in 0..ROUNDS {
        let done = round(&program, "drfinder", number, results.path());
        assert!(done.locations().is_subset(&may), "{:?}", done.locations());
        found.extend(done.locations());
        for race in done.races() {
            assert_eq!(race["found_by"].to_string(), r#"["drfinder","fasttrack"]"#);
        }
        let hidden = &done.report["runs"][0]["hidden"];
        assert!(hidden["relation"].as_u64() > Some(0), "{}", done.report);
        if wanted.iter().all(|location| found.contains(*location)) {
            return;
        }
    }
    panic!("of {wanted:?} only {found:?} in {ROUNDS} rounds");
}

#[test]
fn figure_2_shows_both_its_races() {
    finds_all("figure-2", &["Figure2.x", "Figure2.y"]);
}

#[test]
fn a_job_queue_shows_what_it_hides() {
    finds_all("job-queue", &["JobQueue$Statistics.slowest"]);
}

#[test]
fn what_is_found_with_one_thread_at_a_time_can_be_replayed() {
    let (program, may) = program("figure-2");
    let results = tempfile::tempdir().unwrap();
    for number in 0..ROUNDS {
        let done = round(&program, "drfinder-serial", number, results.path());
        assert!(done.locations().is_subset(&may), "{:?}", done.locations());
        if let Some(race) = done.races().first() {
            let id = race["id"].as_str().unwrap();
            let mut replay = photofinish();
            replay.args(["replay", "--quiet", "--results"]);
            replay.arg(results.path()).arg(id);
            let again = finish(replay, "");
            let said = String::from_utf8_lossy(&again.stderr).into_owned();
            assert_eq!(again.status.code(), Some(66), "{said}");
            return;
        }
    }
    panic!("nothing in {ROUNDS} rounds");
}

#[test]
fn a_run_that_deadlocks_is_reported_and_made_again() {
    let (program, _) = program("crossed");
    let results = tempfile::tempdir().unwrap();
    for number in 0..ROUNDS {
        let done = round(&program, "drfinder", number, results.path());
        assert!(done.races().is_empty(), "{:?}", done.locations());
        let runs = done.report["runs"].as_array().unwrap();
        let stuck = runs.iter().filter(|r| r["ended"] == "deadlock").count();
        let ended = runs.iter().filter(|r| r["ended"] == "exit").count();
        assert_eq!(stuck + ended, runs.len(), "{}", done.report["runs"]);
        assert_eq!(runs.len(), 3 + stuck.min(3));
        if stuck > 0 {
            assert_eq!(done.code, Some(66));
            let deadlock = &done.report["deadlocks"][0];
            assert_eq!(deadlock["threads"].as_array().unwrap().len(), 2);
            return;
        }
    }
    panic!("no deadlock in {ROUNDS} rounds");
}

#[test]
fn nobody_is_held_back_for_ever() {
    let (program, _) = program("spins");
    for scheduler in ["drfinder", "drfinder-serial"] {
        let results = tempfile::tempdir().unwrap();
        let done = round(&program, scheduler, 0, results.path());
        let runs = done.report["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 3);
        for run in runs {
            assert_eq!(run["ended"], "exit", "{run}");
            let hidden = &run["hidden"];
            assert!(hidden["expired"].as_u64() > Some(0), "{run}");
        }
        assert_eq!(done.code, Some(0), "{}", done.report);
    }
}

#[test]
fn a_relation_that_is_none_is_refused() {
    let (program, _) = program("figure-2");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "photofinish relation 1\nmethod\n").unwrap();
    let path = file.path().to_str().unwrap();
    let done = program.under(&["detect", "--scheduler", "drfinder", "--relation", path]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(64), "{said}");
    assert!(said.contains("line 2"), "{said}");
}

#[test]
fn a_comparison_goes_on_where_it_stopped() {
    let (program, _) = program("figure-2");
    let results = tempfile::tempdir().unwrap();
    let json = results.path().join("all.json");
    let compare = |runs: &str, program: &Program| {
        let mut command = vec!["compare", "--schedulers", "native,drfinder", "--runs", runs];
        command.extend(["--results", results.path().to_str().unwrap()]);
        command.extend(["--json", json.to_str().unwrap()]);
        program.under(&command)
    };
    let rows = |done: &std::process::Output| -> Vec<serde_json::Value> {
        let said = String::from_utf8_lossy(&done.stderr);
        let text = std::fs::read(&json).unwrap_or_else(|e| panic!("{e}: {said}"));
        let all: serde_json::Value = serde_json::from_slice(&text).unwrap();
        all["runs"].as_array().unwrap().clone()
    };
    let first = rows(&compare("1", &program));
    assert_eq!(
        first.len(),
        4,
        "alone, native, phase-1, drfinder: {first:?}"
    );
    let done = compare("2", &program);
    let second = rows(&done);
    assert_eq!(second[..4], first[..], "what was made is not made again");
    assert_eq!(second.len(), 7, "one more of each but phase-1: {second:?}");
    let table = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        table.contains("drfinder") && table.contains("in all"),
        "{table}"
    );
    let mut other = program.clone();
    other.args.push("another".to_owned());
    assert_eq!(compare("2", &other).status.code(), Some(64));
}
