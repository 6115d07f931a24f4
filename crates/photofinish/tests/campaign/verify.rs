//! `verify` in portions: whoever explores them, and whatever befalls them, classes, findings and verdict are
//! those of one machine. In short with a few programs; `PHOTOFINISH_REPEAT` takes all, and up to four units side by side.

use crate::{command, run, signal, spawn, status, wait};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use test_support::nats::NatsServer;
use test_support::programs::{Expected, Program, check_schema, list, races, thorough};

fn section(name: &str) -> Program {
    let expected = Expected::load("verify");
    expected.program("verify", expected.section(name))
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What must not depend on who explored.
fn said(code: Option<i32>, report: &Value) -> Value {
    let sorted = |mut all: Vec<String>| {
        all.sort();
        all
    };
    let race = |race: &Value| {
        let mut lines = [0, 1].map(|at| race["accesses"][at]["line"].to_string());
        lines.sort();
        format!("{} {} {lines:?}", race["fingerprint"], race["status"])
    };
    let stuck = |it: &Value| {
        let threads = list(it, "threads").iter();
        let at = threads.map(|t| format!("{} {}", t["thread"], t["stack"][0]["line"]));
        format!("{} {:?}", it["kind"], at.collect::<Vec<_>>())
    };
    let failure = |it: &Value| format!("{} {}", it["exception"], it["stack"][0]);
    let explored = &report["exploration"];
    json!({
        "code": code,
        "complete": explored["complete"],
        "classes": explored["classes"],
        "races": sorted(races(report).iter().map(race).collect()),
        "deadlocks": sorted(list(report, "deadlocks").iter().map(stuck).collect()),
        "failures": sorted(list(report, "failures").iter().map(failure).collect()),
    })
}

fn alone(program: &Program) -> Value {
    let found = program.reported(&["verify", "--jobs", "1"]);
    assert_eq!(
        found.report["exploration"]["complete"], true,
        "{}",
        found.stderr
    );
    said(found.code, &found.report)
}

/// `campaign start` for portions of this size.
fn start<'a>(portion: &'a str, json: &'a Path) -> Vec<&'a str> {
    let mut all = vec!["start", "--name", "all", "--strategies", "verify"];
    all.extend(["--trials", "0", "--portion", portion, "--portions", "3"]);
    all.extend(["--campaign-time", "1h", "--lease", "3s"]);
    all.extend(["--json", json.to_str().unwrap()]);
    all
}

fn arguments(program: &Program) -> Vec<&str> {
    let args = program.args.iter().map(String::as_str);
    std::iter::once("--").chain(args).collect()
}

/// Races, deadlocks, failures, nothing; two threads and three.
pub fn portions_come_to_what_one_machine_says() {
    let programs = [
        (
            "Divided 3 2 hidden",
            Program::own(&["Divided", "3", "2", "hidden"]),
        ),
        ("deadlock", section("deadlock")),
        ("nothing", section("nothing")),
        ("philosophers", section("philosophers")),
        ("race", section("race")),
        ("assertion", section("assertion")),
        ("lostnotify", section("lostnotify")),
        ("barrier3", section("barrier3")),
    ];
    let (few, jobs, portions) = match thorough() {
        true => (programs.len(), &["1", "2", "4"][..], &["7", "100"][..]),
        false => (2, &["2"][..], &["100"][..]),
    };
    for (name, program) in &programs[..few] {
        let whole = alone(program);
        for (jobs, portion) in jobs
            .iter()
            .flat_map(|j| portions.iter().map(move |p| (j, p)))
        {
            let dir = tempfile::tempdir().unwrap();
            let (json, results) = (dir.path().join("json"), dir.path().join("results"));
            let place = ["--results", results.to_str().unwrap()];
            let mut args = start(portion, &json);
            args.extend(place);
            args.extend(["--jobs", jobs]);
            args.extend(arguments(program));
            let (code, _, err) = run(&args, None);
            let report = read(&json);
            check_schema(&report);
            let why = &report["exploration"]["not_complete"];
            assert_eq!(
                said(code, &report),
                whole,
                "{name}, {jobs}, {portion}: {why} {err}"
            );
            assert!(err.contains("complete: "), "{err}");
            // Whoever folds the same results comes to the same.
            let again = ["report", "--json", json.to_str().unwrap()];
            let (code, _, err) = run(&[&again[..], &place].concat(), None);
            assert_eq!(said(code, &read(&json)), whole, "{name}: {err}");
        }
    }
}

/// To start JVMs for each portion would take longer than to explore it.
pub fn portions_share_jvms() {
    let program = Program::own(&["Divided", "3", "2"]);
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (java, started) = (file("java"), file("started"));
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *-agentpath*) echo $$ >>'{started}' ;; esac\nexec java \"$@\"\n"
    );
    std::fs::write(&java, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&java, mode).unwrap();
    let (json, results) = (file("json"), file("results"));
    let mut args = start("15", Path::new(&json));
    args.extend(["--results", &results, "--java", &java, "--jobs", "2"]);
    args.extend(arguments(&program));
    let (code, _, err) = run(&args, None);
    assert_eq!(code, Some(0), "{err}");
    let (_, out, _) = run(&["status", "--json", "--results", &results], None);
    let all: Value = serde_json::from_str(&out).unwrap();
    let portions = all[0]["units"]["done"].as_u64().unwrap();
    assert!(portions >= 14, "{all}");
    let jvms = std::fs::read_to_string(&started).unwrap().lines().count();
    // The first executions in JVMs of their own, and two for each job: one to compare with, one that stays.
    assert!(jvms <= 12, "{jvms} JVMs for {portions} portions");
}

/// Waits until so many units have results.
fn until_done(units: u64, what: impl Fn() -> Option<Value>, log: &Path) {
    let until = Instant::now() + Duration::from_secs(240);
    let done = || Some(what()?["units"]["done"].as_u64()? >= units);
    while done() != Some(true) {
        let said = || std::fs::read_to_string(log).unwrap_or_default();
        assert!(Instant::now() < until, "{}", said());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The process that coordinates and works is killed; another goes on.
pub fn goes_on_after_a_kill() {
    let program = Program::own(&["Divided", "3", "2"]);
    let whole = alone(&program);
    assert_eq!(whole["classes"], 210);
    let dir = tempfile::tempdir().unwrap();
    let (json, results, log) = (
        dir.path().join("json"),
        dir.path().join("results"),
        dir.path().join("log"),
    );
    let place = ["--results", results.to_str().unwrap()];
    let mut args = start("40", &json);
    args.extend(place);
    args.extend(["--jobs", "1"]);
    args.extend(arguments(&program));
    let mut first = spawn(&args, None, &log);
    let status = || {
        let (code, out, _) = run(&[&["status", "--json"][..], &place].concat(), None);
        let all: Value = serde_json::from_str(&out)
            .ok()
            .filter(|_| code == Some(0))?;
        Some(all[0].clone())
    };
    until_done(2, status, &log);
    signal("KILL", first.id());
    first.wait().unwrap();
    let made = status().unwrap()["units"]["done"].as_u64().unwrap();
    // So far nothing is found, and nobody says that there is nothing.
    let so_far = ["report", "--json", json.to_str().unwrap()];
    let (code, _, err) = run(&[&so_far[..], &place].concat(), None);
    let report = read(&json);
    if report["exploration"]["complete"] == false {
        assert_eq!(code, Some(75), "{err}");
    }
    let mut resumed = start("40", &json);
    resumed.extend(place);
    resumed.push("--resume");
    let (code, _, err) = run(&resumed, None);
    assert_eq!(said(code, &read(&json)), whole, "{err}");
    let all = status().unwrap();
    assert!(all["units"]["done"].as_u64() >= Some(made), "{all}");
    assert_eq!(all["units"]["stored"], all["units"]["made"], "{all}");
}

/// Over a server: a worker is killed in the middle of a unit, and the coordinator between units.
pub fn machines_are_killed() {
    let program = Program::own(&["Divided", "3", "2", "hidden"]);
    let whole = alone(&program);
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name);
    let json = file("json");
    let server = NatsServer::start(dir.path(), &[]);
    let mut args = start("60", &json);
    args.extend(arguments(&program));
    let mut coordinator = spawn(&args, Some(&server), &file("coordinator"));
    let mut first = spawn(&["work", "--jobs", "1"], Some(&server), &file("first"));
    until_done(1, || status(&server), &file("coordinator"));
    signal("KILL", coordinator.id());
    coordinator.wait().unwrap();
    // In the middle of a unit, if there is one left that was published.
    let until = Instant::now() + Duration::from_secs(5);
    while test_support::programs::children(first.id()).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    signal("KILL", first.id());
    first.wait().unwrap();
    let mut workers =
        ["second", "third"].map(|name| spawn(&["work", "--jobs", "1"], Some(&server), &file(name)));
    let mut resumed = start("60", &json);
    resumed.push("--resume");
    let mut coordinator = command(&resumed, Some(&server));
    let log = std::fs::File::create(file("resumed")).unwrap();
    let mut coordinator = coordinator
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let code = wait(&mut coordinator, "the coordinator", &file("resumed"));
    let log = std::fs::read_to_string(file("resumed")).unwrap();
    assert_eq!(said(code, &read(&json)), whole, "{log}");
    for worker in &mut workers {
        signal("TERM", worker.id());
        worker.wait().unwrap();
    }
    let all = status(&server).unwrap();
    assert_eq!(all["units"]["stored"], all["units"]["made"], "{all}");
    assert_eq!(all["units"]["given_up"], 0, "{all}");
}
