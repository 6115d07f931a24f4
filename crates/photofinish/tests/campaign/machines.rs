//! Several workers with real programs.

use crate::{findings, run, spawn, status, wait};
use serde_json::Value;
use std::time::{Duration, Instant};
use test_support::nats::NatsServer;
use test_support::programs::{Program, signal};

/// Two workers, one of which is killed in the middle, find what one process finds.
pub fn same_findings() {
    let program = Program::own(&["TwoRaces"]);
    let program: Vec<&str> = program.args.iter().map(String::as_str).collect();
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name);
    let (one, many, results) = (file("one.json"), file("many.json"), file("results"));
    let options = |json| {
        let mut all = vec![
            "start", "--name", "two", "--even", "--trials", "0", "--batch", "4",
        ];
        all.extend([
            "--strategies",
            "random,pct",
            "--max-units",
            "8",
            "--lease",
            "3s",
        ]);
        all.extend(["--campaign-time", "1h", "--json", json]);
        all
    };
    let mut here = options(one.to_str().unwrap());
    here.extend(["--results", results.to_str().unwrap(), "--jobs", "1", "--"]);
    here.extend(&program);
    let (code, _, said) = run(&here, None);
    assert_eq!(code, Some(66), "{said}");

    let server = NatsServer::start(dir.path(), &[]);
    let mut there = options(many.to_str().unwrap());
    there.push("--");
    there.extend(&program);
    let mut coordinator = spawn(&there, Some(&server), &file("coordinator"));
    let mut first = spawn(&["work", "--jobs", "1"], Some(&server), &file("first"));
    // In the middle of a unit: a JVM runs.
    let until = Instant::now() + Duration::from_secs(120);
    while test_support::programs::children(first.id()).is_empty() {
        assert!(
            Instant::now() < until,
            "no JVM: {}",
            std::fs::read_to_string(file("first")).unwrap()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    signal("KILL", first.id());
    first.wait().unwrap();
    let mut second = spawn(
        &["work", "--jobs", "1", "--until-idle"],
        Some(&server),
        &file("second"),
    );
    let code = wait(&mut coordinator, "the coordinator", &file("coordinator"));
    let said = std::fs::read_to_string(file("coordinator")).unwrap();
    assert_eq!(code, Some(66), "{said}");
    assert_eq!(wait(&mut second, "the worker", &file("second")), Some(0));
    assert_eq!(findings(&many), findings(&one));
    assert!(!findings(&many).is_empty());
    let status = status(&server).unwrap();
    assert_eq!(status["units"]["stored"], 8, "{status}");
    assert_eq!(status["state"], "done");

    // `campaign report` folds the same results to the same report.
    let again = file("again.json");
    let (code, _, said) = run(
        &["report", "--json", again.to_str().unwrap()],
        Some(&server),
    );
    assert_eq!(code, Some(66), "{said}");
    let read = |path| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let (again, many) = (read(again), read(many));
    test_support::programs::check_schema(&again);
    assert_eq!(again["races"], many["races"]);
    assert_eq!(again["command"], "campaign");
    // What the program is, as it was where the campaign was started.
    assert_eq!(again["program"]["args"], serde_json::json!(program));
}

/// Workers end when a campaign is stopped; what it found stays until it is removed.
pub fn stopped() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name);
    let mut server = NatsServer::start(dir.path(), &[]);
    // Coordinator and worker wait for a server that is not up yet.
    server.stop();
    let start = [
        "start",
        "--name",
        "long",
        "--simulate",
        "20000",
        "--campaign-time",
        "1h",
    ];
    let mut coordinator = spawn(&start, Some(&server), &file("coordinator"));
    let mut worker = spawn(
        &["work", "--jobs", "1", "--name", "long"],
        Some(&server),
        &file("worker"),
    );
    let until = Instant::now() + Duration::from_secs(120);
    for log in ["coordinator", "worker"] {
        let said = || std::fs::read_to_string(file(log)).unwrap_or_default();
        while !said().contains("tries again") {
            assert!(Instant::now() < until, "{log}: {}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    server.restart();
    let until = Instant::now() + Duration::from_secs(120);
    while status(&server).is_none_or(|status| status["units"]["done"].as_u64() < Some(20)) {
        assert!(
            Instant::now() < until,
            "{}",
            std::fs::read_to_string(file("worker")).unwrap()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    let (code, _, said) = run(&["stop", "long"], Some(&server));
    assert_eq!(code, Some(0), "{said}");
    // Nothing was found, and not all was done.
    assert_eq!(
        wait(&mut coordinator, "the coordinator", &file("coordinator")),
        Some(75)
    );
    assert_eq!(status(&server).unwrap()["state"], "stopped");
    // The worker waits for another campaign; a signal ends it.
    signal("TERM", worker.id());
    assert_eq!(wait(&mut worker, "the worker", &file("worker")), Some(0));
    let (code, _, said) = run(&["stop", "--delete", "long"], Some(&server));
    assert_eq!(code, Some(0), "{said}");
    let (code, _, said) = run(&["report", "long"], Some(&server));
    assert_eq!(code, Some(64), "{said}");
    assert!(said.contains("there is no campaign \"long\""), "{said}");
    drop(server);
}
