//! `confirm`: what can happen is made to happen, what cannot is not.

use serde_json::Value;
use std::path::Path;
use test_support::jdk;
use test_support::programs::{
    Detected, Expected, Program, confirm, control_program, finish, location, outcomes, photofinish,
    races, replays, root,
};

fn race<'a>(found: &'a Detected, name: &str) -> &'a Value {
    let race = found.races().iter().find(|race| location(race) == name);
    race.unwrap_or_else(|| panic!("no race on {name}: {} {}", found.report, found.stderr))
}

/// The lines with these comments, as a pair.
fn pair(class: &str, first: &str, second: &str) -> String {
    let file = format!("{class}.java");
    let text = std::fs::read_to_string(root().join("programs/control/src").join(&file)).unwrap();
    let line = |mark: &str| {
        let at = text
            .lines()
            .position(|line| line.ends_with(&format!("// {mark}")));
        format!("{file}:{}", at.unwrap() + 1)
    };
    format!("{},{}", line(first), line(second))
}

#[test]
fn figure_1_one_race_is_real_and_one_is_not() {
    let results = tempfile::tempdir().unwrap();
    let found = confirm(
        &control_program(&["Figure1"]),
        results.path(),
        &["--trials", "30"],
    );
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    let z = race(&found, "Figure1.z");
    assert_eq!(
        (&z["status"], &z["harm"]),
        (&"confirmed".into(), &"harmful".into())
    );
    let error = outcomes(z, "exception");
    let detail = error[0]["detail"].as_str().unwrap();
    assert!(detail.contains("ERROR1"), "{detail}");
    assert_eq!(error[0]["stack"][0]["method"], "thread1");
    // It went wrong because the write went first.
    let first = error[0]["first"].as_u64().unwrap() as usize;
    assert_eq!(z["accesses"][first]["op"], "write");
    let x = race(&found, "Figure1.x");
    assert_eq!(
        (&x["status"], &x["trials"]["hit"]),
        (&"potential".into(), &0.into())
    );
    assert_eq!(x["trials"]["run"], 30);
}

/// In the first two trials a write goes first, whichever line that is in: nothing
/// comes of it, and that is not the end.
#[test]
fn lines_that_read_and_write_are_tried_in_all_orders_of_their_accesses() {
    let results = tempfile::tempdir().unwrap();
    let program = control_program(&["LostUpdate"]);
    let found = confirm(&program, results.path(), &["--trials", "60"]);
    let x = race(&found, "LostUpdate.x");
    assert_eq!(x["harm"], "changes-output", "{x}");
    let lost = outcomes(x, "output-differs");
    let detail = lost[0]["detail"].as_str().unwrap();
    assert!(detail.contains("not \"22\""), "{detail}");
    assert!(!outcomes(x, "ok").is_empty(), "{x}");
}

#[test]
fn an_exception_that_the_program_catches_is_an_outcome() {
    let results = tempfile::tempdir().unwrap();
    let program = control_program(&["Swallows"]);
    let found = confirm(&program, results.path(), &["--trials", "60"]);
    let name = race(&found, "Swallows.name");
    assert_eq!(name["harm"], "harmful", "{name}");
    let thrown = &outcomes(name, "exception")[0];
    assert_eq!(thrown["caught"], true, "{thrown}");
    assert_eq!(thrown["stack"][0]["method"], "length", "{thrown}");
    let detail = thrown["detail"].as_str().unwrap();
    let begins = "java.lang.NullPointerException at Swallows.length(Swallows.java:";
    assert!(detail.starts_with(begins), "{detail}");
    assert!(detail.contains("caught at Swallows.work("), "{detail}");
    let first = thrown["first"].as_u64().unwrap() as usize;
    assert_eq!(name["accesses"][first]["op"], "write", "{name}");
    assert!(!outcomes(name, "ok").is_empty(), "{name}");
}

#[test]
fn the_usual_run_may_be_the_one_that_fails() {
    let results = tempfile::tempdir().unwrap();
    let program = control_program(&["FailsUsually"]);
    let found = confirm(&program, results.path(), &["--trials", "60"]);
    let ready = race(&found, "FailsUsually.ready");
    assert_eq!(ready["harm"], "harmful", "{ready}");
    let right = &outcomes(ready, "output-differs")[0];
    assert!(right["failure_signs"].is_null(), "{right}");
    let first = right["first"].as_u64().unwrap() as usize;
    assert_eq!(ready["accesses"][first]["op"], "write", "{ready}");
    let wrong = &outcomes(ready, "ok")[0];
    let sign = "the word \"error\" in what it prints";
    assert_eq!(wrong["failure_signs"][0], sign, "{wrong}");
}

#[test]
fn figure_2_is_hit_every_time_however_much_work_there_is() {
    for work in ["1", "100"] {
        let results = tempfile::tempdir().unwrap();
        let pair = pair("Figure2", "statement 8", "statement 10");
        let options = ["--pair", &pair, "--trials", "20", "--all-trials"];
        let found = confirm(
            &control_program(&["Figure2", work]),
            results.path(),
            &options,
        );
        let x = race(&found, "Figure2.x");
        let trials = (&x["trials"]["run"], &x["trials"]["hit"]);
        assert_eq!(
            trials,
            (&20.into(), &20.into()),
            "work {work}: {}",
            found.stderr
        );
        let failed: u64 = outcomes(x, "exception")
            .iter()
            .map(|o| o["trials"].as_u64().unwrap())
            .sum();
        assert!(
            (2..=18).contains(&failed),
            "work {work}: ERROR in {failed} of 20"
        );
    }
}

#[test]
fn trials_side_by_side_give_the_same_result() {
    let alike = |jobs: &str| {
        let results = tempfile::tempdir().unwrap();
        let options = [
            "--trials",
            "8",
            "--jobs",
            jobs,
            "--pair",
            "Figure1.java:18,Figure1.java:24",
        ];
        let mut found = confirm(&control_program(&["Figure1"]), results.path(), &options);
        found.report["timing"] = Value::Null;
        // Where a trial was made is no part of its result.
        found.report["schedules"]["reused_jvms"] = Value::Null;
        // In runs that nobody controls the program may meet its race by itself.
        found.report["reference_runs"] = Value::Null;
        for run in found.report["runs"].as_array_mut().unwrap() {
            run["seconds"] = Value::Null;
        }
        // The search for the shortest run gives up when time is over; it has tests of its own.
        for race in found.report["races"].as_array_mut().unwrap() {
            race["story"] = Value::Null;
            race["replay"]["preemptions"] = Value::Null;
            for outcome in race["outcomes"].as_array_mut().unwrap() {
                outcome["replay"]["preemptions"] = Value::Null;
            }
        }
        let text = found.report.to_string();
        text.replace(results.path().to_str().unwrap(), "RESULTS")
    };
    assert_eq!(alike("1"), alike("3"));
}

/// The line on which a method of the JDK reads or writes the size of a list, as javap tells it.
fn line(class: &str, method: &str, access: &str) -> String {
    let text = String::from_utf8(jdk::run("javap", &["-p", "-c", "-l", class])).unwrap();
    let (_, rest) = text.split_once(&format!(" {method}(")).unwrap();
    let (code, _) = rest.split_once("\n\n").unwrap();
    let is_size = |line: &&str| line.contains(access) && line.ends_with("size:I");
    let access = code
        .lines()
        .find(is_size)
        .unwrap_or_else(|| panic!("{code}"));
    let number = |text: &str| text.trim().parse::<u32>().unwrap();
    let at = number(access.split(':').next().unwrap());
    // `line 967: 4`: from instruction 4 on.
    let table = code.lines().filter_map(|row| {
        let (line, from) = row.trim().strip_prefix("line ")?.split_once(':')?;
        (number(from) <= at).then(|| (number(from), line.to_owned()))
    });
    table.max().unwrap().1
}

/// A list that shrinks after its iterator looked whether it was changed, and
/// before it looks whether there is a next element.
#[test]
fn a_list_can_shrink_under_its_iterator() {
    let program = control_program(&["Wrappers", "ArrayList", "containsAll", "removeAll"]);
    // Which of the pairs hybrid reports depends on the run; where the two statements are does not.
    let looks = line("java.util.ArrayList$Itr", "next", "getfield");
    let shrinks = line("java.util.ArrayList", "shiftTailOverGap", "putfield");
    let pair = format!("ArrayList.java:{looks},ArrayList.java:{shrinks}");
    let results = tempfile::tempdir().unwrap();
    let options = ["--all-trials", "--trials", "40", "--pair", &pair];
    let found = confirm(&program, results.path(), &options);
    let error = "NoSuchElementException";
    let outcomes = found.races().iter().flat_map(|r| outcomes(r, "exception"));
    let shown = outcomes
        .clone()
        .find(|o| o["detail"].as_str().unwrap().contains(error));
    let shown = shown.unwrap_or_else(|| panic!("{pair}: {:#?}", outcomes.collect::<Vec<_>>()));
    replays(shown["replay"]["command"].as_str().unwrap(), error, &pair);
}

/// `confirm` with further arguments; its exit code, and its report.
fn confirm_as(json: &Path, args: &[&str], results: &Path) -> (Option<i32>, Value) {
    let mut tool = photofinish();
    tool.args(["confirm", "-q"]).args(args);
    tool.arg("--results").arg(results).arg("--json").arg(json);
    let done = finish(tool, "");
    let said = String::from_utf8_lossy(&done.stderr);
    let report = std::fs::read(json).unwrap_or_else(|e| panic!("{e}: {said}"));
    (done.status.code(), serde_json::from_slice(&report).unwrap())
}

fn by_id(report: &Value, id: &str) -> Value {
    let mut races = races(report).into_iter();
    races.find(|race| race["id"] == id).unwrap()
}

/// Both races of `TwoRaces` are in the report of every run, so there is always one to
/// ask for and one to leave.
#[test]
fn pairs_from_a_saved_report_and_by_their_ids() {
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("hybrid.json");
    let file = saved.to_str().unwrap();
    let done = Program::own(&["TwoRaces"]).under(&[
        "detect",
        "-q",
        "--detector",
        "hybrid",
        "--json",
        file,
    ]);
    assert_eq!(done.status.code(), Some(0), "suspicions are no findings");
    let hybrid: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let races = hybrid["races"].as_array().unwrap();
    let id = |field: &str| {
        let mut races = races.iter();
        let race = races.find(|r| location(r) == format!("TwoRaces.{field}"));
        race.unwrap_or_else(|| panic!("{field}: {hybrid}"))["id"]
            .as_str()
            .unwrap()
    };
    let (left, right) = (id("left"), id("right"));
    // What to run is in the report.
    let results = dir.path().join("results");
    let json = dir.path().join("out.json");
    let (code, report) = confirm_as(&json, &["--from", file, "--race", left], &results);
    assert_eq!(code, Some(66), "{report}");
    assert_eq!(by_id(&report, left)["status"], "confirmed", "{report}");
    assert_eq!(by_id(&report, right)["status"], "potential", "{report}");
    // A later result has the schedules that its report names; one that is kept
    // elsewhere does not, and does not call the race confirmed.
    let from = ["--race", right, "--from", json.to_str().unwrap()];
    for (results, is_there) in [(&results, true), (&dir.path().join("elsewhere"), false)] {
        let (_, later) = confirm_as(&dir.path().join("later.json"), &from, results);
        let race = by_id(&later, left);
        assert_eq!(race["status"] == "confirmed", is_there, "{race}");
        let warned = later["warnings"].to_string().contains("any more");
        assert_eq!(warned, !is_there, "{later}");
        let mut tool = photofinish();
        tool.args(["replay", "-q", left, "--results"]).arg(results);
        let replayed = finish(tool, "").status.code();
        assert_eq!(replayed == Some(66), is_there, "{replayed:?}");
    }
    // Without a trial there is no answer.
    let hurried = ["--from", file, "--time-limit", "1ms"];
    let (code, report) = confirm_as(&json, &hurried, &results);
    assert_eq!(code, Some(75), "{report}");
    let shown = |fail_on: &str| {
        let mut tool = photofinish();
        tool.args(["report", "-q", "--fail-on", fail_on]).arg(&json);
        finish(tool, "").status.code()
    };
    assert_eq!(shown("predicted"), Some(75), "saved, it says the same");
    assert_eq!(shown("potential"), Some(66));
    let mut tool = photofinish();
    tool.args(["confirm", "--from", file, "--race", "R77", "--results"]);
    tool.arg(&results);
    let done = finish(tool, "");
    assert_eq!(done.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&done.stderr).contains("no race R77"));
}

#[test]
fn places_that_are_never_reached_are_named() {
    let results = tempfile::tempdir().unwrap();
    let options = ["--pair", "Figure1.java:18,Nowhere.java:3", "--trials", "2"];
    let found = confirm(&control_program(&["Figure1"]), results.path(), &options);
    assert_eq!((found.code, found.races().len()), (Some(0), 0));
    let said = found.warnings();
    assert!(said.contains("come to Nowhere.java:3"), "{said}");
    assert!(!said.contains("come to Figure1.java:18"), "{said}");
}

#[test]
fn a_single_thread_is_nothing_exercised() {
    let results = tempfile::tempdir().unwrap();
    let edge = Expected::load("edge");
    let section = edge.sections.iter().find(|s| s.name == "serial").unwrap();
    let found = confirm(
        &edge.program("edge", section),
        results.path(),
        &["--trials", "2"],
    );
    assert_eq!(found.code, Some(4), "{}", found.report);
}

#[test]
fn a_time_limit_is_75_when_nothing_was_found() {
    let results = tempfile::tempdir().unwrap();
    let mut tool = photofinish();
    tool.args([
        "confirm",
        "-q",
        "--time-limit",
        "1s",
        "--trials",
        "10000",
        "--results",
    ]);
    tool.arg(results.path())
        .args(["--pair", "Figure1.java:14,Figure1.java:27", "--"]);
    tool.args(&control_program(&["Figure1"]).args);
    let done = finish(tool, "");
    assert_eq!(
        done.status.code(),
        Some(75),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// A copy is one operation on all its elements, and its array has the name of the
/// field that holds it. A loop that fills an array comes to an element where another waits
/// unless the other goes on first.
#[test]
fn races_with_copies_of_arrays_are_confirmed() {
    for how in ["from", "to", "clone", "copyOf", "fill", "both"] {
        let results = tempfile::tempdir().unwrap();
        let program = Program::own(&["Copies", how]);
        let found = confirm(&program, results.path(), &["--trials", "12"]);
        let races = found.races().iter();
        let confirmed: Vec<_> = races.filter(|r| r["status"] == "confirmed").collect();
        assert!(!confirmed.is_empty(), "{how}: {:#}", found.report);
        for race in confirmed {
            let trials = &race["trials"];
            let count = |what: &str| trials[what].as_u64().unwrap();
            let often = 2 * count("hit") >= count("run");
            assert!(often || how == "fill", "{how}: {race:#}");
            // One array of the two is the other's copy.
            let from = race["location"]["from"].as_str();
            let named = matches!(from, Some("Copies.data" | "Copies.other"));
            assert!(named, "{how}: {race:#}");
        }
    }
    let results = tempfile::tempdir().unwrap();
    let apart = confirm(&Program::own(&["Copies", "apart"]), results.path(), &[]);
    assert!(apart.races().is_empty(), "{:#}", apart.report);
}

/// What comes of one race is in the trials of the other, too, and even goes with its order.
#[test]
fn a_failure_is_held_against_the_race_that_it_comes_of() {
    let results = tempfile::tempdir().unwrap();
    let program = Program::own(&["Neighbours"]);
    let found = confirm(&program, results.path(), &["--trials", "20"]);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    let [noted, name] = ["noted", "name"].map(|field| race(&found, &format!("Neighbours.{field}")));
    assert_eq!(name["harm"], "harmful", "{name}");
    let error = &outcomes(name, "exception")[0]["detail"];
    assert!(error.as_str().unwrap().contains("IllegalState"), "{error}");
    assert_eq!(noted["harm"], "harmless", "{noted}");
    assert!(outcomes(noted, "exception").is_empty(), "{noted}");
    let said = format!("comes of {}", name["id"].as_str().unwrap());
    assert!(found.warnings().contains(&said), "{}", found.warnings());
}
