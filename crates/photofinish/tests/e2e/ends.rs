//! Programs that do not end by themselves: limits, Ctrl-C, kill -9; and places
//! that cannot be written to.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use test_support::programs::{children, compile, photofinish, scratch, signal};

fn classes() -> String {
    compile("crates/photofinish/tests/java/src", &[])
        .to_str()
        .unwrap()
        .to_owned()
}

/// Starts the tool on the patient program and waits until it has raced.
fn start(command: &[&str], program: &[&str]) -> Child {
    let mut child = photofinish()
        .args(command)
        .args(["--", "-cp", &classes(), "Patient"])
        .args(program)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "raced\n");
    child
}

/// The JVM that the tool started.
fn jvm_of(tool: u32) -> u32 {
    *children(tool).first().expect("the tool has a child")
}

/// The exit code, within a bound.
fn wait(mut child: Child) -> Option<i32> {
    let until = Instant::now() + Duration::from_secs(30);
    while Instant::now() < until {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    panic!("the tool does not end");
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn ctrl_c_reports_what_was_found_so_far() {
    let file = scratch("ctrl-c").join("r.json");
    let tool = start(&["detect", "--json", file.to_str().unwrap()], &[]);
    signal("INT", tool.id());
    assert_eq!(wait(tool), Some(66));
    let report = json(&file);
    assert_eq!(report["runs"][0]["ended"], "interrupted");
    assert_eq!(report["races"][0]["location"]["field"], "shared");
    // An orderly end: the JVM had time to say what was covered.
    assert_eq!(report["coverage"]["threads"], 2);
}

#[test]
fn a_second_ctrl_c_kills() {
    let file = scratch("ctrl-c-twice").join("r.json");
    let tool = start(&["detect", "--json", file.to_str().unwrap()], &["stubborn"]);
    let began = Instant::now();
    signal("INT", tool.id());
    std::thread::sleep(Duration::from_millis(500));
    signal("INT", tool.id());
    assert_eq!(wait(tool), Some(66));
    assert!(began.elapsed() < driver::process::GRACE);
    assert_eq!(json(&file)["runs"][0]["signal"], "SIGKILL");
}

#[test]
fn a_time_limit_is_75_without_races_and_66_with() {
    let file = scratch("limit").join("r.json");
    let limited = |limit: &str, options: &[&str]| {
        let mut tool = photofinish();
        tool.args(["detect", "--time-limit", limit, "--json"])
            .arg(&file)
            .args(options);
        tool.args(["--", "-cp", &classes(), "Patient"]);
        tool.output().unwrap().status.code()
    };
    // How long it takes until the program has raced depends on the machine.
    let mut codes = ["4s", "20s", "100s"].iter().map(|limit| {
        let code = limited(limit, &[]);
        let report = json(&file);
        assert_eq!(report["runs"][0]["ended"], "time-limit");
        let raced = !report["races"].as_array().unwrap().is_empty();
        assert_eq!(code, Some(if raced { 66 } else { 75 }));
        code
    });
    assert!(codes.any(|code| code == Some(66)));
    assert_eq!(limited("4s", &["--exclude", "Patient"]), Some(75));
}

#[test]
fn a_jvm_killed_from_outside_leaves_its_findings() {
    let file = scratch("kill-9").join("r.json");
    let tool = start(&["detect", "--json", file.to_str().unwrap()], &[]);
    signal("KILL", jvm_of(tool.id()));
    assert_eq!(wait(tool), Some(66));
    let report = json(&file);
    assert_eq!(report["runs"][0]["ended"], "killed");
    assert_eq!(report["runs"][0]["signal"], "SIGKILL");
    assert_eq!(report["races"][0]["location"]["field"], "shared");
    assert!(
        report["warnings"]
            .to_string()
            .contains("how much was covered is unknown")
    );
}

/// Waits until the process is gone, or is waited for by nobody.
fn is_gone(pid: u32) -> bool {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map(|(_, rest)| &rest[..1]);
        if matches!(state, None | Some("Z")) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

#[test]
fn the_program_ends_when_the_tool_is_killed() {
    let trace = scratch("tool-killed").join("t.pft");
    let record = ["record", "-o", trace.to_str().unwrap()];
    for (command, program) in [
        (&["detect"][..], &[][..]),
        (&record, &[]),
        (&["detect", "--detector", "h"], &["stubborn"]),
    ] {
        let mut tool = start(command, program);
        let jvm = jvm_of(tool.id());
        tool.kill().unwrap();
        tool.wait().unwrap();
        if !is_gone(jvm) {
            signal("KILL", jvm);
            panic!("{command:?} {program:?}: the JVM goes on");
        }
    }
    // It was asked to end before it would have been killed.
    let mut info = photofinish();
    let done = info.args(["trace", "info"]).arg(&trace).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(text.contains("with the program"), "{text}");
}

#[test]
fn a_trace_that_cannot_be_written_is_said_before_the_program_runs() {
    let done = photofinish()
        .args([
            "record",
            "-o",
            "/nowhere/t.pft",
            "--",
            "-cp",
            &classes(),
            "Patient",
        ])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&done.stderr).contains("/nowhere/t.pft"));
    assert!(done.stdout.is_empty(), "the program ran");
}

#[test]
fn a_temporary_directory_that_is_not_there_is_named() {
    let done = photofinish()
        .args(["detect", "--", "-cp", &classes(), "Patient"])
        .env("TMPDIR", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&done.stderr).contains("TMPDIR"));
}
