//! `explain` and `doctor`.

use test_support::jdk;
use test_support::programs::{compile, photofinish, scratch};

#[test]
fn a_finding_is_told_at_length() {
    let classes = compile("programs/examples/src", &[]);
    let file = scratch("explain").join("result.json");
    let done = photofinish()
        .args(["detect", "--json", jdk::path(&file), "--", "-cp"])
        .arg(&classes)
        .arg("StopFlag")
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(66));
    let explain = |id: &str| {
        let mut command = photofinish();
        command
            .args(["explain", id, "--from"])
            .arg(&file)
            .output()
            .unwrap()
    };
    let done = explain("r1");
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{said}");
    for part in [
        "R1: race on StopFlag$Poller.stopped (observed)",
        "StopFlag.java:17",
        "happens-before",
        "may see the old value",
        "How to repair it",
        "  = of /",
        "result.json: java -cp ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let done = explain("R9");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(64), "{said}");
    assert!(said.contains("has no R9"), "{said}");
}

#[test]
fn the_doctor_says_what_works_and_what_to_do() {
    let done = photofinish()
        .arg("doctor")
        .env("JAVA_HOME", jdk::home())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("a JVM with the agent: starts in"), "{said}");
    let done = photofinish()
        .args(["doctor", "--java", "/nowhere"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(69), "{said}");
    assert!(
        said.contains("bad     java: ") && said.contains("-> install a JDK"),
        "{said}"
    );
}
