//! Campaigns without a server, and what is said when something is wrong.

use crate::{command, run};
use serde_json::Value;
use test_support::programs::Program;

/// A campaign of one process finds a race, tries the pair, and can be looked at afterwards.
pub fn embedded() {
    let program = Program::own(&["TwoRaces"]);
    let program: Vec<&str> = program.args.iter().map(String::as_str).collect();
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("results");
    let results = results.to_str().unwrap();
    let json = dir.path().join("report.json");
    let json = json.to_str().unwrap();
    let options = [
        "start",
        "--name",
        "one",
        "--batch",
        "3",
        "--trials",
        "6",
        "--max-units",
        "14",
    ];
    let more = [
        "--campaign-time",
        "1h",
        "--jobs",
        "1",
        "--results",
        results,
        "--json",
        json,
        "--",
    ];
    let (code, _, said) = run(&[&options[..], &more, &program].concat(), None);
    assert_eq!(code, Some(66), "{said}");
    let read =
        |path: &str| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let report = read(json);
    test_support::programs::check_schema(&report);
    let confirmed = |race: &&Value| race["status"] == "confirmed";
    let races = test_support::programs::races(&report);
    assert!(races.iter().any(|race| confirmed(&race)), "{report}");

    // There is one of this name; it goes on only if asked to.
    let (code, _, said) = run(&[&options[..], &more, &program].concat(), None);
    assert_eq!(code, Some(64), "{said}");
    assert!(said.contains("--resume"), "{said}");
    let (code, out, said) = run(&["status", "--json", "--results", results], None);
    assert_eq!(code, Some(0), "{said}");
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status[0]["units"]["done"], 14, "{status}");
    assert_eq!(status[0]["state"], "done");
    let resumed = [
        "start",
        "--name",
        "one",
        "--resume",
        "--results",
        results,
        "--json",
        json,
    ];
    let (code, _, said) = run(&resumed, None);
    assert_eq!(code, Some(66), "{said}");
    assert_eq!(read(json)["races"], report["races"]);
}

/// What a campaign found can be replayed from a directory that it is kept in; and the program never saw the secrets.
pub fn replayed() {
    let program = Program::own(&["Toll"]);
    let program: Vec<&str> = program.args.iter().map(String::as_str).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (results, kept, json, html) = (path("results"), path("kept"), path("json"), path("html"));
    let start = [
        "start",
        "--name",
        "toll",
        "--strategies",
        "random",
        "--max-units",
        "2",
    ];
    let more = ["--trials", "0", "--batch", "20", "--campaign-time", "1h"];
    let place = ["--results", &results, "--jobs", "1", "--"];
    let mut tool = command(&[&start[..], &more, &place, &program].concat(), None);
    for name in ["TOKEN", "PASSWORD", "USER"] {
        tool.env(format!("PHOTOFINISH_NATS_{name}"), "s3cret");
    }
    let done = test_support::programs::finish(tool, "");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(66), "{said}");
    assert!(said.contains("campaign report toll -o DIR"), "{said}");
    let report = ["report", "--results", &results, "-o", &kept];
    let outputs = ["--json", &json, "--html", &html];
    let (code, _, said) = run(&[&report[..], &outputs].concat(), None);
    assert_eq!(code, Some(66), "{said}");
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    test_support::programs::check_schema(&report);
    let page = std::fs::read_to_string(&html).unwrap();
    for (member, id, shows) in [
        ("races", "R1", "Toll.paid"),
        ("deadlocks", "D1", "deadlock"),
        ("failures", "F1", "not paid"),
    ] {
        let all = test_support::programs::list(&report, member);
        assert_eq!(all.len(), 1, "{member}: {report}");
        assert_eq!(all[0]["id"], id);
        let replay = all[0]["replay"]["command"].as_str().unwrap();
        test_support::programs::replays(replay, shows, member);
        // The timelines of the page.
        assert!(page.contains(&format!("\"{id}\":{{")), "{id}");
    }
}

/// The tests of a class directory are programs of their own.
pub fn tests() {
    let classes = test_support::programs::compile("crates/photofinish/tests/java/junit", &[]);
    let classes = classes.to_str().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("results");
    let results = results.to_str().unwrap();
    let start = ["start", "--name", "suite", "--tests", classes, "--even"];
    let work = ["--strategies", "random", "--batch", "4", "--trials", "0"];
    let size = ["--max-units", "4", "--campaign-time", "1h", "--jobs", "1"];
    let place = ["--results", results, "--", "-cp", classes];
    let (code, _, said) = run(&[&start[..], &work, &size, &place].concat(), None);
    assert_eq!(code, Some(66), "{said}");
    for verdict in [
        "nothing found  shop.TillTest#locks, 0 races",
        "found          shop.TillTest#races, 1 race",
    ] {
        assert!(said.contains(verdict), "{said}");
    }
    let (code, out, said) = run(&["status", "--json", "--results", results], None);
    assert_eq!(code, Some(0), "{said}");
    let status: Value = serde_json::from_str(&out).unwrap();
    let programs = test_support::programs::list(&status[0], "programs").iter();
    let programs: Vec<(&str, u64)> = programs
        .map(|it| {
            (
                it["name"].as_str().unwrap(),
                it["executions"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        programs,
        [("shop.TillTest#locks", 8), ("shop.TillTest#races", 8)]
    );
    let report = ["report", "--results", results, "--quiet"];
    for (program, wanted) in [("locks", 0), ("races", 66)] {
        let program = format!("shop.TillTest#{program}");
        let (code, _, said) = run(&[&report[..], &["--program", &program]].concat(), None);
        assert_eq!(code, Some(wanted), "{program}: {said}");
    }
    // A directory of results has one program.
    let kept = dir.path().join("kept");
    let (code, _, said) = run(
        &[&report[..], &["-o", kept.to_str().unwrap()]].concat(),
        None,
    );
    assert_eq!(code, Some(64), "{said}");
    assert!(said.contains("--program"), "{said}");
    // What has no tests is refused.
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().to_str().unwrap();
    let none = [
        "start",
        "--tests",
        empty,
        "--results",
        results,
        "--",
        "-cp",
        empty,
    ];
    let (code, _, said) = run(&none, None);
    assert_eq!(code, Some(64), "{said}");
    assert!(said.contains("there is no test of JUnit 5"), "{said}");
}

pub fn bad_usage() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    for (args, words) in [
        (&["start"][..], "which program?"),
        (&["start", "--name", "A B", "--", "Main"], "small letters"),
        (
            &["start", "--nats", "nats://ada:pw@localhost", "--", "Main"],
            "--nats-password-file",
        ),
        (
            &["start", "--strategies", "nonsense", "--", "Main"],
            "nonsense",
        ),
        (
            &[
                "start",
                "--strategies",
                "verify",
                "--stop-after",
                "x",
                "--",
                "-cp",
                dir,
                "Main",
            ],
            "verify explores whole executions",
        ),
        (&["start", "--", "Main"], "name the classes that are sent"),
        (&["work"], "needs --nats"),
        (&["report", "--results", dir], "there is no campaign here"),
        (
            &["report", "--results", dir, "nobody"],
            "there is no campaign \"nobody\"",
        ),
        (
            &["stop", "--results", dir, "nobody"],
            "there is no campaign \"nobody\"",
        ),
    ] {
        let (code, _, said) = run(args, None);
        assert_eq!(code, Some(64), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
        assert!(!said.contains("pw@"), "a secret is not repeated: {said}");
    }
    let (code, _, said) = run(&["status", "--nats", "nats://127.0.0.1:1"], None);
    assert_eq!(code, Some(70), "{said}");
    assert!(said.contains("cannot reach the NATS server"), "{said}");
}
