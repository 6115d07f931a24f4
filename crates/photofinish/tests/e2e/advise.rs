//! `advise`: the figures of the paper on JRF-E, and programs after a textbook.
//! Runs are controlled, so what they show depends on seeds alone.

use crate::saved::{INT, catches};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};
use test_support::programs::{
    Detected, Program, QUICK_ADVICE, compile, list, photofinish, root, scratch, signal,
};

fn figure(main: &str) -> Program {
    let classes = compile("programs/jrf/src", &[]);
    Program::new(&["-cp", classes.to_str().unwrap(), main])
}

fn texts(values: &[Value]) -> Vec<&str> {
    values.iter().filter_map(Value::as_str).collect()
}

/// What was found to remove some race.
fn helpful(done: &Detected) -> BTreeSet<&str> {
    let all = done.races().iter().flat_map(|race| list(race, "advice"));
    all.filter(|advice| advice["validated"] == "removes-race")
        .filter_map(|advice| advice["text"].as_str())
        .collect()
}

fn textbook(main: &str) -> Program {
    let classes = compile("programs/book/src", &[]);
    Program::new(&["-cp", classes.to_str().unwrap(), main])
}

/// Code that implements a lock is not put behind another lock.
#[test]
fn locks_are_repaired_as_the_paper_does_it() {
    let atomic = "use an atomic array (java.util.concurrent.atomic) for book.faulty.";
    for (main, wanted) in [
        (
            "book.faulty.Peterson",
            [
                "make book.faulty.Peterson.victim volatile".to_owned(),
                format!("{atomic}Peterson.flag"),
            ],
        ),
        (
            "book.faulty.Filter",
            [
                format!("{atomic}Filter.level"),
                format!("{atomic}Filter.victim"),
            ],
        ),
    ] {
        let quick = ["--runs", "4", "--tries", "8", "--max-executions", "0"];
        let command = [&["advise", "--cost-runs", "0"], &quick[..]].concat();
        let done = textbook(main).reported(&command);
        let set = &done.report["repairs"];
        let repairs: BTreeSet<&str> = texts(list(set, "repairs")).into_iter().collect();
        assert_eq!(repairs, wanted.iter().map(String::as_str).collect());
        assert_eq!(set["validated"], "removes-race", "{set}");
        assert_eq!(list(set, "removes").len(), done.races().len(), "{set}");
    }
}

/// Trying everything takes minutes here. The limit is for all of it, and a signal ends it; either
/// way what is known by then is told.
#[test]
fn a_limit_and_a_signal_end_it_with_what_it_has() {
    let program = textbook("book.faulty.Filter");
    for by in [None, Some("TERM"), Some("INT")] {
        let dir = tempfile::tempdir().unwrap();
        let json = dir.path().join("report.json");
        let mut tool = photofinish();
        tool.arg("advise").arg("--json").arg(&json);
        tool.arg("--results").arg(dir.path().join("results"));
        // A signal comes while the first runs are made.
        tool.args(match by {
            Some(_) => ["--runs", "2000"],
            None => ["--time-limit", "4s"],
        });
        tool.arg("--").args(&program.args);
        tool.stdout(Stdio::null()).stderr(Stdio::null());
        let began = Instant::now();
        let mut tool = tool.spawn().unwrap();
        let mut asked = began + Duration::from_secs(4);
        if let Some(name) = by {
            while !catches(tool.id(), INT) && tool.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(Duration::from_secs(1));
            asked = Instant::now();
            signal(name, tool.id());
        }
        let ended = tool.wait().unwrap();
        // Well under a second on an idle machine; without the limit it would be many minutes.
        let late = asked.elapsed();
        assert!(late < Duration::from_secs(60), "{by:?}: {late:?}");
        assert!(ended.code().is_some(), "{ended}");
        let report = std::fs::read(&json).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        let (took, told) = (began.elapsed(), report["timing"]["total_s"].as_f64());
        let told = told.unwrap_or_default();
        assert!(
            0.0 < told && told <= took.as_secs_f64(),
            "{told} for {took:?}"
        );
    }
}

/// Figure 4 of the paper: both races, and that making the flag volatile is the
/// best and removes both.
#[test]
fn a_flag_is_made_volatile() {
    let sources = root().join("programs/jrf/src");
    let command = [
        &QUICK_ADVICE[..3],
        &["--cost-runs", "1", "--sources", sources.to_str().unwrap()],
    ];
    let done = figure("jrf.faulty.Figure2").reported(&command.concat());
    assert_eq!(done.code, Some(66));
    let wanted = ["jrf.faulty.Figure2.done", "jrf.faulty.Figure2.x"];
    assert_eq!(done.locations(), wanted.map(str::to_owned).into());

    let set = &done.report["repairs"];
    let best = "make jrf.faulty.Figure2.done volatile";
    assert_eq!(texts(list(set, "repairs")), [best]);
    assert_eq!(texts(list(set, "removes")), ["R1", "R2"]);
    assert_eq!(set["validated"], "removes-race", "{set}");
    assert_eq!(set["smallest"], true);
    for race in done.races() {
        let first = &list(race, "advice")[0];
        assert_eq!(first["text"], best, "{race}");
        assert_eq!(first["validated"], "removes-race");
        assert_eq!(texts(list(first, "removes")), ["R1", "R2"]);
        let checked = first["checked"].as_str().unwrap();
        // Or it was disturbed, and says no more than that.
        let explored = checked.contains("executions there are with it");
        assert!(
            explored || checked.contains("6 controlled runs"),
            "{checked}"
        );
        let diff = first["diff"].as_str().unwrap();
        assert!(
            diff.contains("+    static volatile boolean done;"),
            "{diff}"
        );
        assert!(first["cost"].as_f64().unwrap() >= 1.0, "{first}");
        assert!(
            race["occurrence"]["source"]
                .as_str()
                .unwrap()
                .contains("Figure2.java")
        );
    }
}

/// A volatile field removes the races and leaves the bug: the field may change
/// between the two looks at it. Synchronized methods remove both, and come first.
#[test]
fn what_belongs_together_is_kept_together() {
    let classes = compile("programs/examples/src", &[]);
    let sources = root().join("programs/examples/src");
    let sources = ["--sources", sources.to_str().unwrap()];
    let command = [&QUICK_ADVICE[..5], &sources].concat();
    let courier = Program::new(&["-cp", classes.to_str().unwrap(), "Courier"]);
    let done = courier.reported(&command);
    assert_eq!(done.races().len(), 2);
    for race in done.races() {
        let [best, second, ..] = list(race, "advice") else {
            panic!("{race}");
        };
        assert_eq!(
            best["text"],
            "make Courier.deliver and Courier.hangUp synchronized"
        );
        assert_eq!(best["kind"], "synchronized");
        assert_eq!(best["validated"], "removes-race", "{best}");
        assert_eq!(texts(list(best, "removes")), ["R1", "R2"]);
        assert_eq!(list(best, "leaves"), [] as [Value; 0]);
        let checked = best["checked"].as_str().unwrap();
        assert!(checked.contains("in none of the 3 executions"), "{checked}");
        let diff = best["diff"].as_str().unwrap();
        for line in [
            "+    synchronized void deliver(",
            "+    synchronized void hangUp(",
        ] {
            assert!(diff.contains(line), "{diff}");
        }
        assert_eq!(second["kind"], "volatile");
        assert_eq!(second["validated"], "removes-race", "{second}");
        let left = texts(list(second, "leaves"));
        assert_eq!(left, ["java.lang.NullPointerException"]);
        let caution = second["caution"].as_str().unwrap();
        assert!(
            caution.contains("Courier.deliver accesses the field in several"),
            "{caution}"
        );
    }
    let set = &done.report["repairs"];
    assert_eq!(texts(list(set, "repairs")).len(), 1, "{set}");
    assert_eq!(list(set, "leaves"), [] as [Value; 0], "{set}");

    // Deposits have a lock, the interest run forgets it.
    let account = Program::new(&["-cp", classes.to_str().unwrap(), "BankAccount"]);
    let done = account.reported(&command);
    for race in done.races() {
        let all = list(race, "advice");
        assert_eq!(all[0]["text"], "make BankAccount.addInterest synchronized");
        assert_eq!(all[0]["validated"], "removes-race", "{race}");
        assert!(
            all[0]["diff"]
                .as_str()
                .unwrap()
                .contains("+    synchronized void add")
        );
        let volatile = all.iter().find(|s| s["kind"] == "volatile").unwrap();
        let caution = "BankAccount.deposit takes a lock to access the field";
        assert_eq!(volatile["caution"], caution);
    }
    let set = list(&done.report["repairs"], "repairs");
    assert_eq!(texts(set), ["make BankAccount.addInterest synchronized"]);
}

/// What the paper suggests for its figure 21 orders the accesses only if the
/// flag was set by then: tried, it is seen not to be enough.
#[test]
fn a_repair_that_does_not_help_is_said_not_to() {
    let done = figure("jrf.faulty.Figure21").reported(&QUICK_ADVICE);
    let all: Vec<&Value> = done
        .races()
        .iter()
        .flat_map(|r| list(r, "advice"))
        .collect();
    let read = "read jrf.faulty.Figure21.done before Figure21.java:32";
    let read = all.iter().find(|advice| advice["text"] == read);
    let read = read.unwrap_or_else(|| panic!("{:#}", done.report));
    assert_eq!(read["kind"], "same-acquire");
    assert_eq!(read["validated"], "still-races", "{read}");
    assert!(helpful(&done).contains("make jrf.faulty.Figure21.x volatile"));
}

#[test]
fn nothing_is_advised_where_nothing_races() {
    let done = figure("jrf.repaired.Figure2").reported(&QUICK_ADVICE);
    assert_eq!(done.code, Some(0), "{:#}", done.report);
    assert!(done.races().is_empty());
    assert_eq!(done.report["repairs"], Value::Null);
}

/// From a trace alone: the same races, and suggestions that nobody tried.
#[test]
fn traces_are_enough_for_suggestions() {
    let trace = scratch("advise-trace").join("trace.pft");
    let trace = trace.to_str().unwrap();
    figure("jrf.faulty.Figure2").under(&["record", "-q", "-o", trace]);
    let done = Program::new(&[]).reported(&["advise", "--trace", trace]);
    assert_eq!(done.code, Some(66), "{:#}", done.report);
    let all: Vec<&Value> = done
        .races()
        .iter()
        .flat_map(|r| list(r, "advice"))
        .collect();
    let volatile = "make jrf.faulty.Figure2.done volatile";
    assert!(all.iter().any(|advice| advice["text"] == volatile));
    assert!(all.iter().all(|advice| advice["validated"] == "not-tried"));
}

/// What is to come earlier is done in a method that is called too late.
#[test]
fn the_call_that_leads_to_a_write_is_moved() {
    let done = Program::own(&["Published"]).reported(&QUICK_ADVICE);
    let moved =
        "move the call of Published.fill, which has Published.java:7, before Published.java:11";
    let helpful = helpful(&done);
    assert!(helpful.contains(moved), "{helpful:?}");
}
