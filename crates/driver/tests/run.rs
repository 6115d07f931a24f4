//! Whole runs against a `java` that is a shell script playing both the JVM and
//! the agent: everything that can become of a run directory, without a JVM.

use driver::interrupt::Interrupts;
use driver::java::Java;
use driver::options::RunRequest;
use driver::process::{Input, Output, Stopped};
use driver::run::{Request, RunError, RunResult, run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Makes `$out` the run directory, then does as told.
const PRELUDE: &str = r#"#!/bin/sh
out=${1#*=out=}; out=${out%%,*}
for last; do :; done
"#;

struct Fake {
    dir: tempfile::TempDir,
    java: Java,
}

fn fake(script: &str) -> Fake {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("java");
    write_script(&path, &format!("{PRELUDE}{script}\n"));
    Fake {
        dir,
        java: Java {
            path,
            version: "17".into(),
        },
    }
}

/// Written by another process: a file that this one had open for writing while
/// a test beside us forked could not be executed ("text file busy").
fn write_script(path: &Path, text: &str) {
    let mut shell = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    shell
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    assert!(shell.wait().unwrap().success());
}

impl Fake {
    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn run(&self, time_limit: Option<Duration>) -> Result<RunResult, RunError> {
        std::fs::create_dir_all(self.out()).unwrap();
        let request = Request {
            java: &self.java,
            library: Path::new("/lib/agent.so"),
            out: self.out(),
            options: RunRequest::default(),
            args: &["Main".into()],
            directory: None,
            input: Input::Empty,
            output: Output::ToStderr,
            time_limit,
            most_recorded: None,
        };
        run(&request, &Interrupts::catch().unwrap())
    }
}

#[test]
fn an_orderly_run() {
    let java = fake(
        r#"echo '{"kind":"warning","text":"w"}' > "$out/findings.jsonl"
        echo '{"threads":2,"classes_instrumented":5,"ended":"exit"}' > "$out/summary.json"
        exit 3"#,
    );
    let got = java.run(None).unwrap();
    assert!(got.started);
    assert_eq!(got.outcome.exit, Some(3));
    assert_eq!(got.findings.warnings, ["w"]);
    assert_eq!(got.findings.summary.unwrap().threads, 2);
}

#[test]
fn killed_in_the_middle_of_a_line() {
    let java = fake(
        r#"printf '{"kind":"warning","text":"w"}\n{"kind":"warn' > "$out/findings.jsonl"
        kill -9 $$"#,
    );
    let got = java.run(None).unwrap();
    assert_eq!(got.outcome.signal, Some(9));
    assert_eq!(got.findings.warnings, ["w"]);
    assert_eq!(got.findings.summary, None);
}

#[test]
fn an_agent_that_gives_up_says_why() {
    let java =
        fake(r#"echo '{"blame":"agent","why":"no capability"}' > "$out/fatal.json"; exit 1"#);
    let error = java.run(None).unwrap_err();
    assert!(
        matches!(&error, RunError::Agent(why) if why == "no capability"),
        "{error}"
    );
}

#[test]
fn a_jvm_that_the_agent_cannot_work_with() {
    let java = fake(r#"echo '{"blame":"java","why":"too old"}' > "$out/fatal.json"; exit 1"#);
    let error = java.run(None).unwrap_err();
    assert!(
        matches!(&error, RunError::UnusableJava { why, .. } if why == "too old"),
        "{error}"
    );
}

#[test]
fn a_jvm_that_cannot_load_the_agent_is_the_tools_failure() {
    let java = fake("echo 'agent library failed to init' >&2; exit 1");
    let error = java.run(None).unwrap_err();
    assert!(matches!(error, RunError::JvmRefuses(_)), "{error}");
    assert!(error.to_string().contains("failed to init"));
}

#[test]
fn an_agent_that_gives_up_after_it_made_its_file() {
    let java = fake(r#"touch "$out/findings.jsonl"; echo 'no such capability' >&2; exit 1"#);
    let error = java.run(None).unwrap_err();
    assert!(matches!(error, RunError::JvmRefuses(_)), "{error}");
}

#[test]
fn a_program_that_halts_with_1_is_not_the_tools_failure() {
    let java = fake(r#"[ "$last" = -version ] && exit 0; touch "$out/findings.jsonl"; exit 1"#);
    let got = java.run(None).unwrap();
    assert!(got.started);
    assert_eq!(got.outcome.exit, Some(1));
}

#[test]
fn arguments_that_java_refuses_are_the_users() {
    let java = fake(r#"[ "$last" = -version ] && exit 0; echo 'Unrecognized option' >&2; exit 1"#);
    let got = java.run(None).unwrap();
    assert!(!got.started);
    assert_eq!(got.outcome.exit, Some(1));
}

#[test]
fn a_damaged_summary_is_a_warning() {
    let java = fake(r#"printf '{"threads":' > "$out/summary.json""#);
    let got = java.run(None).unwrap();
    assert!(got.started);
    assert_eq!(got.findings.summary, None);
    assert!(got.findings.warnings[0].contains("summary.json"));
}

#[test]
fn findings_of_a_run_stopped_at_its_limit_are_kept() {
    let java = fake(
        r#"echo '{"kind":"warning","text":"w"}' > "$out/findings.jsonl"
        exec sleep 30"#,
    );
    let got = java.run(Some(Duration::from_millis(300))).unwrap();
    assert_eq!(got.outcome.stopped, Some(Stopped::TimeLimit));
    assert_eq!(got.findings.warnings, ["w"]);
}
