//! Programs that do not end by themselves: ended after requests, a time, or what they print; and
//! looked at while they run.

use serde_json::Value;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;
use test_support::programs::{Program, check_schema, finish, jdk, photofinish, scratch, signal};

fn detect(name: &str, options: &[&str], program: &[&str]) -> (Output, Value) {
    let file = scratch(name).join("r.json");
    let mut tool = photofinish();
    tool.args(["detect", "--no-config", "--json", jdk::path(&file)]);
    // A bound for a run that is not ended as it should be.
    tool.args(["--time-limit", "120s"]).args(options);
    tool.arg("--").args(program);
    let done = finish(tool, "");
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    check_schema(&report);
    (done, report)
}

/// How many answers the program's client says it got.
fn answers(done: &Output) -> usize {
    let said = String::from_utf8_lossy(&done.stdout);
    said.lines().filter(|l| l.starts_with("answered")).count()
}

#[test]
fn a_server_is_ended_after_so_many_requests() {
    for kind in ["streams", "channels"] {
        let args = Program::own(&["Serves", kind]).args;
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let name = format!("requests-{kind}");
        let (done, report) = detect(&name, &["--stop-after", "5-requests"], &args);
        // The last answer has begun when the run ends; whether it arrives is up to chance.
        assert!((4..=5).contains(&answers(&done)), "{kind}: {done:?}");
        assert_eq!(done.status.code(), Some(66), "{kind}: {done:?}");
        assert_eq!(report["runs"][0]["ended"], "exit", "{kind}");
        assert_eq!(report["races"][0]["location"]["field"], "served", "{kind}");
        assert_eq!(report["warnings"], Value::Null, "{kind}: {report}");
    }
}

#[test]
fn other_ends_are_a_time_and_a_text_also_for_the_jvms_of_a_command() {
    let program = Program::own(&["Serves"]).args.join(" ");
    let java = jdk::home().join("bin/java");
    let script = format!("{} {program}", java.display());
    let command = ["sh", "-c", &script];
    let stop = |after| ["--exec", "--stop-after", after];
    let (done, report) = detect("stop-text", &stop("answ*7"), &command);
    assert_eq!(answers(&done), 7, "{done:?}");
    assert_eq!(done.status.code(), Some(66), "{done:?}");
    assert_eq!(report["runs"][0]["ended"], "exit");
    let (done, report) = detect("stop-time", &stop("3s"), &command);
    assert_eq!(report["runs"][0]["ended"], "exit", "{done:?}");
}

#[test]
fn a_run_that_ends_before_the_requests_came_says_so() {
    let args = Program::own(&["TwoRaces"]).args;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (done, report) = detect("too-few", &["--stop-after", "9-requests"], &args);
    let text = report["warnings"].to_string();
    assert!(
        text.contains("after 9 requests and ended after 0"),
        "{done:?}"
    );
}

/// What the report of a run that goes on says.
fn live(kept: &Path, file: &Path) -> (Output, Value) {
    let mut report = photofinish();
    report.args(["report", "--no-config", "--live", jdk::path(kept)]);
    let said = finish(report, "");
    let mut json = photofinish();
    json.args(["report", "--no-config", "--json", jdk::path(file)]);
    json.args(["--live", jdk::path(kept)]);
    let done = finish(json, "");
    let text = std::fs::read(file).unwrap_or_default();
    let report = match done.status.code() {
        Some(64) => Value::Null,
        _ => serde_json::from_slice(&text).unwrap(),
    };
    (said, report)
}

#[test]
fn findings_are_there_while_the_program_runs() {
    for exec in [false, true] {
        let dir = scratch(&format!("live-{exec}"));
        let (kept, file) = (dir.join("kept"), dir.join("r.json"));
        let program = Program::own(&["Patient"]).args;
        let mut tool = photofinish();
        tool.args(["detect", "--no-config", "--keep", jdk::path(&kept)]);
        match exec {
            true => tool
                .args(["--exec", "--"])
                .arg(jdk::home().join("bin/java")),
            false => tool.arg("--"),
        };
        tool.args(&program)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut tool = tool.spawn().unwrap();
        let mut tries = 0;
        let (said, report) = loop {
            let (said, report) = live(&kept, &file);
            let found = report["races"]
                .as_array()
                .is_some_and(|all| !all.is_empty());
            if found && said.status.code() == Some(66) {
                break (said, report);
            }
            assert!(!found || said.status.code() != Some(0), "{said:?}");
            tries += 1;
            assert!(tries < 200, "exec {exec}: {said:?}");
            std::thread::sleep(Duration::from_millis(200));
        };
        check_schema(&report);
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(
            text.contains("still running: 1 of 1 run; nothing is final"),
            "{text}"
        );
        assert!(text.contains("Patient.shared"), "{text}");
        assert_eq!(report["runs"][0]["ended"], "running");
        assert_eq!(report["limit_reached"], true);
        signal("TERM", tool.id());
        assert_eq!(tool.wait().unwrap().code(), Some(66));
        let (said, report) = live(&kept, &file);
        assert_ne!(report["runs"][0]["ended"], "running", "{said:?}");
        assert_eq!(said.status.code(), Some(66), "{said:?}");
    }
    let nowhere = scratch("live-nowhere");
    let (said, _) = live(&nowhere, &nowhere.join("r.json"));
    assert_eq!(said.status.code(), Some(64), "{said:?}");
}
