//! Campaigns without a server, and what is said when something is wrong.

use crate::run;
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
