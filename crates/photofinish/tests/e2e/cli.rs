//! The command line as scripts see it: exit codes, where output goes, what is
//! said when something is wrong.

use std::process::Output;
use test_support::programs::{compile, photofinish, root, scratch};

fn run(args: &[&str]) -> Output {
    photofinish().args(args).output().unwrap()
}

#[track_caller]
fn says(done: &Output, code: i32, text: &str) {
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(text), "{stderr}");
}

#[test]
fn bad_usage_is_64_and_says_what_to_do() {
    says(&run(&["detect"]), 64, "after `--`");
    says(
        &run(&["detect", "--", "java", "Main"]),
        64,
        "leave out the `java`",
    );
    says(&run(&["detect", "--runs", "0", "--", "Main"]), 64, "--runs");
    says(
        &run(&["detect", "--time-limit", "soon", "--", "Main"]),
        64,
        "--time-limit",
    );
    says(
        &run(&["detect", "--sources", "/nope", "--", "Main"]),
        64,
        "/nope",
    );
    says(
        &run(&["detect", "--include", "", "--", "Main"]),
        64,
        "it is empty, and would match nothing",
    );
    says(&run(&["frobnicate"]), 64, "frobnicate");
    says(&run(&[]), 64, "Usage");
    says(
        &run(&["detect", "--json", "/nowhere/x.json", "--", "Main"]),
        64,
        "/nowhere/x.json",
    );
    says(&run(&["report", "/nowhere/x.json"]), 64, "/nowhere/x.json");
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["detect", "--help"],
        &["help", "report"],
    ] {
        let done = run(args);
        assert_eq!(done.status.code(), Some(0));
        assert!(!done.stdout.is_empty());
    }
}

#[test]
fn a_mistake_in_the_configuration_is_named_with_its_line() {
    let file = scratch("config-line").join("p.toml");
    std::fs::write(&file, "quiet = true\n\n[detect]\nruns = 'many'\n").unwrap();
    let file = file.to_str().unwrap();
    let done = run(&["detect", "--config", file, "--", "Main"]);
    let wanted = format!("{file}:4: runs is a string that cannot be used");
    says(&done, 64, &wanted);
}

#[test]
fn no_usable_java_is_69() {
    says(
        &run(&["detect", "--java", "/nowhere/java", "--", "Main"]),
        69,
        "/nowhere/java",
    );
    let done = photofinish()
        .args(["detect", "--", "Main"])
        .env_remove("JAVA_HOME")
        .env("PATH", "/nowhere")
        .output();
    says(&done.unwrap(), 69, "install a JDK");
}

#[test]
fn java_refusing_its_arguments_is_4_and_java_says_why() {
    let done = run(&["detect", "--", "-XX:NoSuchFlag", "Main"]);
    says(&done, 4, "NoSuchFlag");
    says(&done, 4, "nothing was exercised");
}

#[test]
fn a_missing_main_class_is_64_with_javas_own_message() {
    let dir = scratch("no-main");
    let done = run(&["detect", "--", "-cp", dir.to_str().unwrap(), "NoSuchMain"]);
    says(&done, 64, "NoSuchMain");
    says(&done, 64, "java cannot run this program");
}

#[test]
fn json_on_standard_output_is_alone_there() {
    let classes = compile("programs/examples/src", &[]);
    let done = run(&[
        "detect",
        "--json",
        "-",
        "--",
        "-cp",
        classes.to_str().unwrap(),
        "BankAccount",
    ]);
    assert_eq!(done.status.code(), Some(66));
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["schema"], 1);
    assert_eq!(report["program"]["exit"], 0);
    assert!(String::from_utf8_lossy(&done.stderr).contains("Ada has 100.00"));
}

#[test]
fn a_saved_result_renders_as_the_first_time() {
    let classes = compile("programs/examples/src", &[]);
    let file = scratch("saved").join("result.json");
    let file = file.to_str().unwrap();
    let program = ["-cp", classes.to_str().unwrap(), "StopFlag"];
    let first = run(&[&["detect", "--json", file, "--"][..], &program].concat());
    let again = run(&["report", file]);
    assert_eq!(again.status.code(), Some(66));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&again.stdout), text(&first.stderr));
    assert_eq!(text(&first.stdout), "stopped when told\n");
}

/// Lines without what changes from run to run: counts and times. Which access
/// came first may change too, so the lines are sorted.
fn redacted(text: &str) -> Vec<String> {
    let redact = |line: &str| {
        let line = line.replace("; 2 times", "");
        match line.split_once(" classes instrumented") {
            Some((start, _)) => start
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned(),
            None => line,
        }
    };
    let mut lines: Vec<String> = text.lines().map(redact).collect();
    lines.sort();
    lines
}

#[test]
fn the_readme_shows_what_the_tool_says() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let sample = readme.split("```\n$ photofinish detect ").nth(1).unwrap();
    let (command, rest) = sample.split_once('\n').unwrap();
    let (shown, _) = rest.split_once("```\n").unwrap();

    let classes = compile("programs/examples/src", &[]);
    let command = command.replace("target/demo", classes.to_str().unwrap());
    let done = photofinish()
        .current_dir(root())
        .arg("detect")
        .args(command.split(' '))
        .output()
        .unwrap();
    let text = [done.stdout, done.stderr].concat();
    assert_eq!(redacted(&String::from_utf8_lossy(&text)), redacted(shown));
}
