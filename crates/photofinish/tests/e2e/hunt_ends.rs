//! Hunts that do not go as hoped: stopped by the user, or on programs that
//! hang, flood, want input, start others, or do not start at all.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use test_support::programs::{Expected, Program, finish, jdk, photofinish, scratch, signal};

fn tool(results: &Path, options: &[&str], program: &Program) -> Command {
    let mut tool = photofinish();
    tool.args(["hunt", "--no-config", "--results"])
        .arg(results)
        .arg("--json")
        .arg(results.with_extension("json"))
        .args(options);
    for (name, value) in [
        ("--time-limit", "150s"),
        ("--trials", "3"),
        ("--runs", "1"),
        ("--skip", "advise,verify"),
    ] {
        if !options.contains(&name) {
            tool.args([name, value]);
        }
    }
    tool.arg("--").args(&program.args);
    tool
}

fn hunt(name: &str, options: &[&str], program: &Program) -> (Output, Value) {
    let results = scratch(&format!("hunt-ends-{name}")).join("r");
    let done = finish(tool(&results, options, program), &program.input);
    let json = std::fs::read(results.with_extension("json")).unwrap_or_default();
    (done, serde_json::from_slice(&json).unwrap_or_default())
}

#[track_caller]
fn says(done: &Output, code: i32, texts: &[&str]) {
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(code), "{stderr}");
    for text in texts {
        assert!(stderr.contains(text), "{text:?} is missing:\n{stderr}");
    }
}

/// Reads standard error up to this line.
fn read_up_to(stderr: &mut impl BufRead, wanted: &str) {
    let mut line = String::new();
    while line.trim_end() != wanted {
        line.clear();
        let read = stderr.read_line(&mut line).unwrap();
        assert!(read > 0, "it ended before: {wanted}");
    }
}

#[test]
fn ctrl_c_in_any_stage_keeps_what_was_found() {
    let expected = Expected::load("examples");
    let section = expected.sections.iter().find(|s| s.name == "BankAccount");
    let program = expected.program("examples", section.unwrap());
    for stage in ["predict", "confirm", "hidden races"] {
        let name = format!("ctrl-c-{}", stage.replace(' ', "-"));
        let results = scratch(&name).join("r");
        // Too much to be done before the signal comes.
        let options = ["-v", "--trials", "1000", "--runs", "1000"];
        let options = match stage {
            "hidden races" => ["-v", "--trials", "1", "--runs", "1000"],
            _ => options,
        };
        let mut child = tool(&results, &options, &program)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        read_up_to(&mut stderr, &format!("photofinish: {stage}"));
        signal("INT", child.id());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(66), "{stage}: {rest}");
        assert!(rest.contains("stopped before the end"), "{stage}: {rest}");
        assert!(rest.contains("certain"), "{stage}: {rest}");
        let json = std::fs::read(results.with_extension("json")).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["races"][0]["location"]["field"], "cents");
        let mut again = photofinish();
        again.args(["report", "--no-config"]).arg(&results);
        let again = finish(again, "");
        assert_eq!(again.status.code(), Some(66), "{stage}");
    }
}

#[test]
fn a_program_that_hangs_is_stopped_and_what_it_did_is_reported() {
    let (done, json) = hunt(
        "hangs",
        &["--time-limit", "60s", "--runs", "0"],
        &Program::own(&["Patient"]),
    );
    says(
        &done,
        66,
        &["did not end in its share of the time", "certain"],
    );
    assert_eq!(json["runs"][0]["ended"], "time-limit");
    assert_eq!(json["races"][0]["location"]["field"], "shared");
}

/// Cut where it prints its last line, or by its clock, it ends in order in every run, and its race
/// can be made to happen.
#[test]
fn a_program_that_does_not_end_is_cut_and_its_race_confirmed() {
    for cut in [["--stop-after", "raced"], ["--cut-after", "4s"]] {
        let options = [&cut[..], &["--time-limit", "100s", "--runs", "0"]].concat();
        let name = format!("cut{}", cut[0]);
        let (done, json) = hunt(&name, &options, &Program::own(&["Patient"]));
        says(&done, 66, &["certain"]);
        let runs = json["runs"].as_array().unwrap();
        assert!(runs.iter().all(|run| run["ended"] == "exit"), "{runs:?}");
        assert_eq!(json["races"][0]["status"], "confirmed", "{cut:?}");
    }
}

/// The race is certain after the first run, and nothing else is done.
#[test]
fn the_first_finding_is_enough_if_that_is_all_that_is_wanted() {
    let expected = Expected::load("examples");
    let section = expected.sections.iter().find(|s| s.name == "BankAccount");
    let program = expected.program("examples", section.unwrap());
    let (done, json) = hunt("first", &["--stop-at", "first"], &program);
    says(&done, 66, &["certain"]);
    let stages = json["hunt"]["stages"].as_array().unwrap();
    assert!(stages.len() < 4, "{stages:?}");
    let mut verify = photofinish();
    verify.args(["verify", "--no-config", "--cut-after", "1s", "--", "Main"]);
    says(
        &finish(verify, ""),
        64,
        &["leave out --stop-after and --cut-after"],
    );
}

#[test]
fn a_single_thread_is_nothing_to_hunt_in() {
    let (done, _) = hunt("brief", &[], &Program::own(&["Brief"]));
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("nothing was exercised"), "{stderr}");
    assert!(!stderr.contains("Nothing was found"), "{stderr}");
}

#[test]
fn a_flood_of_output_is_not_passed_on() {
    let (done, _) = hunt("flood", &["--runs", "0"], &Program::own(&["Flood"]));
    says(&done, 66, &["Flood.shared"]);
    assert!(done.stdout.is_empty());
    assert!(done.stderr.len() < 100_000);
}

#[test]
fn a_program_that_reads_gets_its_input_in_every_run() {
    let program = Program::own(&["Reader"]);
    let file = scratch("hunt-input").join("input");
    std::fs::write(&file, "7").unwrap();
    let given = ["--input", file.to_str().unwrap(), "--runs", "0"];
    let (done, json) = hunt("input", &given, &program);
    says(&done, 0, &["Nothing was found in what these runs executed"]);
    let with = json["program"]["output_sha256"].clone();
    // From ours; and without any it reads the end of it, and does not wait.
    let piped = Program {
        input: "7".to_owned(),
        ..program.clone()
    };
    let (done, json) = hunt("stdin", &["--input", "-", "--runs", "0"], &piped);
    says(&done, 0, &[]);
    assert_eq!(json["program"]["output_sha256"], with);
    let (done, json) = hunt("no-input", &["--runs", "0"], &program);
    says(&done, 0, &[]);
    assert_ne!(json["program"]["output_sha256"], with);
}

#[test]
fn a_program_that_starts_another_jvm_is_hunted_in_alone() {
    let (done, json) = hunt("forks", &["--runs", "0"], &Program::own(&["Forker"]));
    says(
        &done,
        66,
        &["Forker.shared", "the program starts other processes"],
    );
    assert_eq!(json["runs"][0]["exit"], 0);
}

#[test]
fn what_does_not_start_is_said_by_java() {
    let dir = scratch("hunt-no-main");
    let missing = Program::new(&["-cp", dir.to_str().unwrap(), "NoSuchMain"]);
    let (done, _) = hunt("no-main", &[], &missing);
    says(&done, 64, &["NoSuchMain", "java cannot run this program"]);
    let jar = dir.join("broken.jar");
    std::fs::write(&jar, "no jar").unwrap();
    let (done, _) = hunt("jar", &[], &Program::new(&["-jar", jar.to_str().unwrap()]));
    says(&done, 4, &["broken.jar", "nothing was exercised"]);
}

#[test]
fn places_that_cannot_be_written_are_named_before_anything_runs() {
    let program = Program::own(&["Patient"]);
    let mut command = photofinish();
    command.args(["hunt", "--no-config", "--results", "/proc/nowhere", "--"]);
    command.args(&program.args);
    let done = finish(command, "");
    says(&done, 64, &["/proc/nowhere", "--results"]);
    let dir = scratch("hunt-damaged");
    std::fs::write(dir.join("results.sqlite"), "not a database".repeat(99)).unwrap();
    let mut command = photofinish();
    command.args(["hunt", "--no-config", "--results"]).arg(&dir);
    command.arg("--").args(&program.args);
    says(&finish(command, ""), 64, &["results.sqlite", "damaged"]);
}

#[test]
fn no_java_is_69() {
    let mut command = photofinish();
    command.args(["hunt", "--no-config", "--", "Main"]);
    command.env_remove("JAVA_HOME").env("PATH", "/nowhere");
    says(&finish(command, ""), 69, &["install a JDK"]);
    assert!(jdk::tool("java").arg("-version").output().is_ok());
}
