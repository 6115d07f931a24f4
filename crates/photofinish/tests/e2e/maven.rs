//! A Maven project with JUnit 5 tests, as a user has one: under `--exec` as it is, then with the
//! dependency and the plugin of docs/maven.md, then repaired.
//!
//! Needs Maven and what it downloads, from its local repository or the network. Where there is neither,
//! the test says so and passes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Once;
use test_support::jdk;
use test_support::programs::{photofinish, root, scratch, tool_path};

/// The part of docs/maven.md between two lines, which users copy.
fn documented(begin: &str, end: &str) -> String {
    let text = std::fs::read_to_string(root().join("docs/maven.md")).unwrap();
    let from = text
        .find(begin)
        .unwrap_or_else(|| panic!("docs/maven.md has {begin}"));
    let to = text[from..].find(end).unwrap() + from + end.len();
    text[from..to].to_owned()
}

pub(crate) fn said(done: &Output) -> String {
    let text = [&done.stdout[..], &done.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

pub fn maven(dir: &Path, args: &[&str]) -> Output {
    let run = |more: &[&str]| {
        let mut command = Command::new("mvn");
        command.arg("-B").args(more).args(args).current_dir(dir);
        // The tests have a deadlock, which is improbable without a scheduler.
        command.arg("-Dsurefire.timeout=600");
        command
            .env_remove("JAVA_TOOL_OPTIONS")
            .env("JAVA_HOME", jdk::home());
        command.output().unwrap()
    };
    let offline = run(&["-o"]);
    match is_unresolved(&offline) {
        true => run(&[]),
        false => offline,
    }
}

/// Something is in no repository that can be reached.
fn is_unresolved(done: &Output) -> bool {
    let said = said(done);
    let signs = [
        "offline mode",
        "Could not transfer",
        "could not be resolved",
        "Unknown host",
    ];
    !done.status.success() && signs.iter().any(|sign| said.contains(sign))
}

/// The project in a directory of its own, with the repaired classes or without.
fn project(name: &str) -> PathBuf {
    let dir = scratch(name);
    let from = root().join("crates/photofinish/tests/java/maven");
    for part in ["pom.xml", "src"] {
        let done = Command::new("cp")
            .arg("-r")
            .arg(from.join(part))
            .arg(&dir)
            .status();
        assert!(done.unwrap().success());
    }
    dir
}

fn add_to_pom(dir: &Path) {
    let pom = std::fs::read_to_string(dir.join("pom.xml")).unwrap();
    let dependency = documented("<dependency>", "</dependency>");
    let plugin = documented("<plugin>", "</plugin>");
    let pom = pom.replace("</dependencies>", &format!("{dependency}\n</dependencies>"));
    let pom = pom.replace("</plugins>", &format!("{plugin}\n</plugins>"));
    std::fs::write(dir.join("pom.xml"), pom).unwrap();
    let test = dir.join("src/test/java/shop/ShopTest.java");
    let text = std::fs::read_to_string(&test).unwrap();
    let schedules = "@org.photofinish.junit5.Schedules(30)\n    void moneyMoves()";
    std::fs::write(&test, text.replace("void moneyMoves()", schedules)).unwrap();
}

/// The failures of a test class, as Surefire wrote them down.
fn failed(dir: &Path, class: &str) -> Vec<(String, String)> {
    let file = dir.join(format!("target/surefire-reports/TEST-shop.{class}.xml"));
    let text = std::fs::read_to_string(file).unwrap();
    let mut failed = Vec::new();
    for case in text.split("<testcase ").skip(1) {
        let name = case
            .split("name=\"")
            .nth(1)
            .and_then(|t| t.split('"').next());
        if case.contains("<failure") || case.contains("<error") {
            failed.push((name.unwrap().to_owned(), case.to_owned()));
        }
    }
    failed.sort();
    failed
}

/// Extension and plugin, once for all tests, into the local repository.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let binaries = format!(
            "-Dphotofinish.binaries={}",
            tool_path().parent().unwrap().display()
        );
        let installed = maven(&root().join("java"), &["-q", "install", &binaries]);
        assert!(installed.status.success(), "{}", said(&installed));
    });
}

/// The project as it is, with its tests run; None, with the reason said, where that cannot be.
fn plain_project(name: &str) -> Option<PathBuf> {
    if Command::new("mvn").arg("-v").output().is_err() {
        eprintln!("skipped: there is no mvn");
        return None;
    }
    let plain = project(name);
    let built = maven(&plain, &["-q", "test"]);
    if is_unresolved(&built) {
        eprintln!("skipped: Maven cannot get what it needs:\n{}", said(&built));
        return None;
    }
    assert!(built.status.success(), "{}", said(&built));
    Some(plain)
}

/// A project with the extension as a test dependency; None where that cannot be.
pub fn project_with_extension(name: &str) -> Option<PathBuf> {
    let dir = plain_project(name)?;
    install();
    let pom = std::fs::read_to_string(dir.join("pom.xml")).unwrap();
    let dependency = documented("<dependency>", "</dependency>");
    let pom = pom.replace("</dependencies>", &format!("{dependency}\n</dependencies>"));
    std::fs::write(dir.join("pom.xml"), pom).unwrap();
    Some(dir)
}

#[test]
fn the_goal_hunt_tells_findings_by_test() {
    let Some(dir) = plain_project("maven-hunt") else {
        return;
    };
    install();
    let hunt = |test: &str| {
        let test = format!("-Dphotofinish.test={test}");
        let goal = "org.photofinish:photofinish-maven-plugin:0.1.0:hunt";
        let options = "-Dphotofinish.options=--stop-at first --skip advise";
        maven(&dir, &[goal, &test, options])
    };
    let done = hunt("shop.ShopTest.*Counts");
    let text = said(&done);
    assert!(!done.status.success(), "{text}");
    for test in ["counterCounts", "executorCounts"] {
        assert!(
            text.contains(&format!("shop.ShopTest.{test}: FOUND")),
            "{text}"
        );
    }
    assert!(text.contains("2 of 3 tests"), "{text}");
    assert!(text.contains("R1 shop.Counter.count: "), "{text}");
    let site = dir.join("target/site/photofinish/hunt");
    assert!(site.join("shop.ShopTest.counterCounts.html").exists());
    let index = std::fs::read_to_string(site.join("index.html")).unwrap();
    assert!(
        index.contains("shop.ShopTest.executorCounts.html"),
        "{index}"
    );
    let done = hunt("shop.ShopTest.nothingLikeThis");
    assert!(said(&done).contains("no test fits"), "{}", said(&done));
}

#[test]
fn schedules_know_allowed_races_factories_and_life_cycles() {
    let Some(dir) = project_with_extension("maven-schedules") else {
        return;
    };
    let from = root().join("crates/photofinish/tests/java/maven/schedules/shop");
    let tests = dir.join("src/test/java/shop");
    std::fs::remove_file(tests.join("ShopTest.java")).unwrap();
    let name = "SchedulesTest.java";
    std::fs::copy(from.join(name), tests.join(name)).unwrap();
    let binary = format!("-Dphotofinish.binary={}", tool_path().display());
    let done = maven(&dir, &["test", &binary]);
    let failures = failed(&dir, "SchedulesTest");
    let names: Vec<&str> = failures.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [
        ("factoryFails", "race on shop.Counter.count"),
        ("neitherSeesTheOtherFails", "a read sees an older value"),
        ("otherRaceFails", "race on shop.Counter.count"),
        ("unknownMemoryFails", "it is sc or weak"),
    ];
    assert_eq!(names, wanted.map(|(name, _)| name), "{}", said(&done));
    for ((name, text), (_, sign)) in failures.iter().zip(wanted) {
        assert!(text.contains(sign), "{name}: {text}");
    }
    assert_eq!(failed(&dir, "WholeTest"), [], "{}", said(&done));
}

#[test]
fn a_maven_project_with_junit_tests() {
    // As it is.
    let Some(plain) = plain_project("maven-plain") else {
        return;
    };
    let file = plain.join("races.json");
    let done = photofinish()
        .args(["detect", "--exec", "--json", jdk::path(&file), "--"])
        .args(["mvn", "-o", "-B", "-q", "-Dsurefire.timeout=600", "test"])
        .current_dir(&plain)
        .env("JAVA_HOME", jdk::home())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(66), "{}", said(&done));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(
        report["program"]["exit"],
        0,
        "the tests pass as before: {}",
        said(&done)
    );
    let owners: Vec<&str> = { report["races"].as_array().unwrap().iter() }
        .map(|race| race["location"]["class"].as_str().unwrap())
        .collect();
    assert!(
        owners.contains(&"shop.Counter") && owners.contains(&"shop.Cache"),
        "{owners:?}"
    );
    assert!(!owners.contains(&"shop.SafeCounter"), "{owners:?}");

    // With what docs/maven.md says, and nothing else.
    install();
    let dir = project("maven-plugin");
    add_to_pom(&dir);
    let done = maven(&dir, &["verify"]);
    assert!(!done.status.success(), "{}", said(&done));
    let failures = failed(&dir, "ShopTest");
    let names: Vec<&str> = failures.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [
        "addsAmounts(int)[1]",
        "addsAmounts(int)[2]",
        "cacheIsFilledLazily",
        "counterCounts",
        "executorCounts",
        "moneyMoves",
    ];
    assert_eq!(names, wanted, "{}", said(&done));
    for (name, text) in &failures {
        let sign = match name.as_str() {
            "moneyMoves" => "deadlock: threads wait for each other",
            "cacheIsFilledLazily" => "race on shop.Cache.prices",
            _ => "race on shop.Counter.count",
        };
        assert!(text.contains(sign), "{name}: {text}");
    }
    // Without failing tests, the build fails all the same.
    let checked = maven(&dir, &["verify", "-Dmaven.test.failure.ignore=true"]);
    assert!(!checked.status.success() && said(&checked).contains("the tests raced"));
    assert!(dir.join("target/site/photofinish/index.html").exists());

    // Repaired as advised: all is green.
    let repaired = root().join("crates/photofinish/tests/java/maven/repaired/shop");
    for class in ["Cache", "Counter", "Account"] {
        let name = format!("{class}.java");
        std::fs::copy(
            repaired.join(&name),
            dir.join("src/main/java/shop").join(&name),
        )
        .unwrap();
    }
    let done = maven(&dir, &["verify"]);
    assert!(done.status.success(), "{}", said(&done));
}
