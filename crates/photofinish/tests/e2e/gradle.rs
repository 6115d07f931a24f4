//! A Gradle project with a JUnit 4 test, and what docs/gradle.md says to add to its build: it fails for
//! the race of its test, then, repaired, passes.
//!
//! Needs Gradle, and Maven to build the plugin. Where there is neither, the test says so and passes. The build
//! script is one for Gradle 4.4, which distributions have.

use crate::maven::{install, said};
use std::path::Path;
use std::process::{Command, Output};
use test_support::jdk;
use test_support::programs::{root, scratch};

fn gradle(dir: &Path) -> Output {
    Command::new("gradle")
        .args(["--no-daemon", "--offline", "check"])
        .current_dir(dir)
        .env_remove("JAVA_TOOL_OPTIONS")
        .env("JAVA_HOME", jdk::home())
        .output()
        .unwrap()
}

/// The first block of docs/gradle.md, which users copy.
fn documented() -> String {
    let text = std::fs::read_to_string(root().join("docs/gradle.md")).unwrap();
    let block = text.split("```groovy\n").nth(1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

#[test]
fn a_gradle_project_with_a_racy_test() {
    let has = |tool: &str| Command::new(tool).arg("--version").output();
    let version = match (has("gradle"), has("mvn")) {
        (Ok(gradle), Ok(_)) => said(&gradle),
        _ => return eprintln!("skipped: there is no gradle, or no mvn"),
    };
    if !version.contains("Gradle 4.") {
        return eprintln!("skipped: the test's build script is one for Gradle 4");
    }
    install();
    let dir = scratch("gradle");
    let from = root().join("crates/photofinish/tests/java/gradle");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(from.join("src"))
        .arg(&dir)
        .status();
    assert!(copied.unwrap().success());
    let rest = std::fs::read_to_string(from.join("rest.gradle")).unwrap();
    std::fs::write(dir.join("build.gradle"), documented() + &rest).unwrap();
    std::fs::write(dir.join("settings.gradle"), "rootProject.name = 'shop'\n").unwrap();

    let done = gradle(&dir);
    let text = said(&done);
    assert!(!done.status.success(), "{text}");
    assert!(text.contains("the tests raced"), "{text}");
    assert!(text.contains("race on shop.Counter.count"), "{text}");
    let site = dir.join("build/reports/photofinish/test");
    for file in ["index.html", "races.sarif", "races.json"] {
        assert!(site.join(file).exists(), "{file}: {text}");
    }

    let counter = dir.join("src/main/java/shop/Counter.java");
    let repaired = std::fs::read_to_string(&counter)
        .unwrap()
        .replace("public void", "public synchronized void")
        .replace("public int", "public synchronized int");
    std::fs::write(&counter, repaired).unwrap();
    let done = gradle(&dir);
    assert!(done.status.success(), "{}", said(&done));
}
