//! Commands of the tool as tests run them, with their results in a directory
//! that the test names.

use super::{Detected, Program, check_schema, compile, finish, photofinish, root};
use serde_json::Value;
use std::path::Path;

/// A program of `programs/control` by its main class and arguments.
pub fn control_program(args: &[&str]) -> Program {
    let classes = compile("programs/control/src", &[]);
    Program::new(&[&["-cp", classes.to_str().unwrap()], args].concat())
}

/// `detect` under a scheduler, with results in a directory of this run alone.
pub fn controlled(program: &Program, scheduler: &str, seed: u64, options: &[&str]) -> Detected {
    let results = tempfile::tempdir().unwrap();
    let seed = seed.to_string();
    let command = [
        "detect",
        "--scheduler",
        scheduler,
        "--seed",
        &seed,
        "--results",
        results.path().to_str().unwrap(),
    ];
    program.reported(&[&command, options].concat())
}

pub fn confirm(program: &Program, results: &Path, options: &[&str]) -> Detected {
    let command = ["confirm", "--results", results.to_str().unwrap()];
    program.reported(&[&command, options].concat())
}

pub fn verify(program: &Program, results: &Path, options: &[&str]) -> Detected {
    let command = ["verify", "--results", results.to_str().unwrap()];
    program.reported(&[&command, options].concat())
}

/// An exploration that no thread of the JDK's own interfered with: where one does, the
/// exploration is rightly not complete, which happens now and then where there is much to do.
pub fn verify_undisturbed(program: &Program) -> Detected {
    let found = || {
        let results = tempfile::tempdir().unwrap();
        verify(program, results.path(), &[])
    };
    let mut last = found();
    for _ in 0..3 {
        if last.report["exploration"]["complete"] == true {
            break;
        }
        last = found();
    }
    last
}

/// `advise` with as little as shows its suggestions.
pub const QUICK_ADVICE: [&str; 7] = [
    "advise",
    "--runs",
    "6",
    "--cost-runs",
    "0",
    "--max-executions",
    "0",
];

/// A member that is a list; empty if there is none.
pub fn list<'v>(value: &'v Value, member: &str) -> &'v [Value] {
    value[member].as_array().map_or(&[], Vec::as_slice)
}

/// The outcomes of a race, by result.
pub fn outcomes<'a>(race: &'a Value, result: &str) -> Vec<&'a Value> {
    let all = race["outcomes"].as_array();
    let all = all.map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|o| o["result"] == result).collect()
}

/// Runs a replay command as a shell would; it must show the same exception.
pub fn replays(command: &str, error: &str, name: &str) {
    let words = command.strip_prefix("photofinish ").unwrap();
    let mut shell = std::process::Command::new("sh");
    let tool = photofinish();
    shell
        .args(["-c", &format!("exec \"$0\" {words}")])
        .arg(tool.get_program());
    let done = finish(shell, "");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(66), "{name}: {said}");
    assert!(
        said.contains(error) && said.contains("the same run again"),
        "{name}: {said}"
    );
}

/// With few trials: what is certain must not depend on many. What it says on
/// standard error is the report for people.
pub fn hunt(program: &Program, results: &Path, options: &[&str]) -> Detected {
    let json = results.with_extension("json");
    let mut tool = photofinish();
    tool.current_dir(root())
        .args(["hunt", "--no-config", "--sources", "programs/examples/src"])
        .args(["--trials", "6", "--time-limit", "180s"])
        .args(options)
        .args(program.options())
        .arg("--json")
        .arg(&json)
        .arg("--results")
        .arg(results)
        .arg("--")
        .args(&program.args);
    let done = finish(tool, "");
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    let report = std::fs::read(&json).unwrap();
    let report = serde_json::from_slice(&report).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    check_schema(&report);
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    Detected::new(done.status.code(), report, stdout, stderr)
}
