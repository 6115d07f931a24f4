//! `detect --exec`: any command, and the JVMs that it starts; the agent by hand; a `java` that
//! leads back to the tool.

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use test_support::jdk;
use test_support::programs::{check_schema, compile, photofinish, scratch, tool_path};

/// Runs a shell script under the tool; what it says, and its result.
fn exec(name: &str, options: &[&str], script: &str) -> (Output, Value) {
    let file = scratch(name).join("result.json");
    let classes = compile("programs/examples/src", &[]);
    let done = photofinish()
        .args(["detect", "--exec", "--json", jdk::path(&file)])
        .args(options)
        .args(["--", "sh", "-c", script])
        .env("JAVA", jdk::home().join("bin/java"))
        .env("JAVAC", jdk::home().join("bin/javac"))
        .env("CLASSES", &classes)
        .output()
        .unwrap();
    let text = std::fs::read(&file).unwrap_or_default();
    let report: Value = serde_json::from_slice(&text).unwrap_or_default();
    if !report.is_null() {
        check_schema(&report);
    }
    (done, report)
}

fn stderr(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn jvms(report: &Value) -> Vec<&str> {
    let runs = report["runs"].as_array().unwrap();
    runs.iter()
        .map(|run| run["jvm"]["command"].as_str().unwrap())
        .collect()
}

#[test]
fn all_jvms_of_a_command_are_looked_at_but_tools_of_the_jdk() {
    let script = "$JAVA -version; $JAVAC -version; $JAVA -cp $CLASSES StopFlag; \
                  $JAVA -cp $CLASSES BankAccount; exit 3";
    let (done, report) = exec("exec-all", &[], script);
    let said = stderr(&done);
    assert_eq!(done.status.code(), Some(66), "{said}");
    assert_eq!(jvms(&report), ["StopFlag", "BankAccount"], "{said}");
    assert_eq!(report["program"]["exit"], 3);
    assert_eq!(report["program"]["exec"], true);
    assert_eq!(
        report["coverage"]["jvms_skipped"].as_array().unwrap().len(),
        2,
        "{said}"
    );
    // Each race says which JVM it is of.
    for race in report["races"].as_array().unwrap() {
        let run = race["first_run"].as_u64().unwrap() as usize - 1;
        let class = race["location"]["class"].as_str().unwrap();
        let main = report["runs"][run]["jvm"]["command"].as_str().unwrap();
        assert!(class.starts_with(main), "{class} in {main}");
    }
    assert!(said.contains("in StopFlag (process "), "{said}");
    assert!(
        said.contains("2 JVMs (exit code 3 of the command)"),
        "{said}"
    );
}

#[test]
fn patterns_pick_jvms() {
    let script = "$JAVA -cp $CLASSES StopFlag; $JAVA -cp $CLASSES BankAccount";
    let (done, report) = exec("exec-pick", &["--jvms", "Stop*"], script);
    assert_eq!(jvms(&report), ["StopFlag"], "{}", stderr(&done));
    let (done, report) = exec("exec-none", &["--jvms", "No"], script);
    assert_eq!(done.status.code(), Some(4), "{}", stderr(&done));
    assert_eq!(report["runs"].as_array().unwrap().len(), 0);
    assert!(
        stderr(&done).contains("--jvms PATTERN"),
        "{}",
        stderr(&done)
    );
}

#[test]
fn a_jvm_that_outlives_the_command_is_waited_for() {
    let script = "$JAVA -cp $CLASSES StopFlag > /dev/null 2>&1 &";
    let (done, report) = exec("exec-left", &[], script);
    assert_eq!(done.status.code(), Some(66), "{}", stderr(&done));
    // That one is left is said only if it is seen to run, which is up to chance.
    assert_eq!(report["runs"][0]["ended"], "exit", "{report}");
}

#[test]
fn without_a_jvm_nothing_was_exercised() {
    let (done, _) = exec("exec-no-jvm", &[], "echo hello");
    assert_eq!(done.status.code(), Some(4), "{}", stderr(&done));
    assert!(
        stderr(&done).contains("started no JVM"),
        "{}",
        stderr(&done)
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_a_hint() {
    let refused = |args: &[&str]| {
        let done = photofinish().args(args).output().unwrap();
        assert_eq!(done.status.code(), Some(64), "{args:?}: {}", stderr(&done));
        stderr(&done)
    };
    assert!(refused(&["detect", "--", "sh", "-c", "x"]).contains("--exec"));
    assert!(refused(&["hunt", "--", "sh", "-c", "x"]).contains("--exec"));
    assert!(refused(&["detect", "--exec", "--", "/nowhere/mvn"]).contains("/nowhere/mvn"));
    assert!(refused(&["detect", "--exec"]).contains("which command"));
    let scheduled = ["detect", "--exec", "--scheduler", "pct", "--", "sh"];
    assert!(refused(&scheduled).contains("--scheduler"));
}

#[test]
fn the_agent_works_by_hand() {
    let path = photofinish().arg("agent-path").output().unwrap();
    let library = String::from_utf8(path.stdout).unwrap();
    let classes = compile("programs/examples/src", &[]);
    for name in ["out", "jvms"] {
        let dir = scratch(&format!("by-hand-{name}"));
        let option = format!("-agentpath:{}={name}={}", library.trim(), dir.display());
        jdk::run("java", &[&option, "-cp", jdk::path(&classes), "StopFlag"]);
        let done = photofinish().arg("report").arg(&dir).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert_eq!(done.status.code(), Some(66), "{name}: {said}");
        assert!(said.contains("race on StopFlag$Poller.stopped"), "{said}");
    }
}

/// As in a build whose own configuration has the agent: the JVM is looked at once, and written
/// down where the command's other JVMs are.
#[test]
fn an_agent_named_twice_is_loaded_once() {
    let path = photofinish().arg("agent-path").output().unwrap();
    let library = String::from_utf8(path.stdout).unwrap();
    let own = scratch("exec-twice-own");
    let script = format!(
        "$JAVA -agentpath:{}=jvms={} -cp $CLASSES StopFlag",
        library.trim(),
        own.display()
    );
    let (done, report) = exec("exec-twice", &[], &script);
    assert_eq!(done.status.code(), Some(66), "{}", stderr(&done));
    assert_eq!(jvms(&report), ["StopFlag"], "{}", stderr(&done));
    assert_eq!(report["program"]["exit"], 0);
    assert_eq!(std::fs::read_dir(&own).unwrap().count(), 0);
}

/// A script in place of java that starts the tool. It gives up by itself after a few times, so
/// that a guard that does not work fails the test and not the machine.
#[test]
fn a_java_that_leads_back_to_the_tool_ends_at_once() {
    let home = scratch("leads-back");
    let count = home.join("count");
    std::fs::create_dir_all(home.join("bin")).unwrap();
    let script = format!(
        "#!/bin/sh\necho >> {count}\n[ $(wc -l < {count}) -gt 20 ] && exit 1\n\
         {tool} detect -- \"$@\"\n",
        count = count.display(),
        tool = tool_path().display(),
    );
    let java = home.join("bin/java");
    std::fs::write(&java, script).unwrap();
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    for release in [None, Some("JAVA_VERSION=\"17.0.1\"\n")] {
        let _ = std::fs::remove_file(&count);
        if let Some(text) = release {
            std::fs::write(home.join("release"), text).unwrap();
        }
        let done = bounded(&home);
        let said = stderr(&done);
        assert_eq!(done.status.code(), Some(69), "{said}");
        assert!(said.contains("starts photofinish again"), "{said}");
        let times = std::fs::read_to_string(&count).unwrap().lines().count();
        assert!(times <= 3, "{times} times");
    }
}

fn bounded(java_home: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.args(["60", jdk::path(&tool_path()), "detect", "--", "Main"]);
    command.env("JAVA_HOME", java_home).output().unwrap()
}
