//! `export`: tests that fail while the bug is there and pass when it is repaired, run by Maven; and programs that
//! force the order with a JDK alone.

use super::maven;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use test_support::jdk;
use test_support::programs::{
    Expected, Program, compile, confirm, finish, photofinish, root, scratch, thorough,
};

/// The examples, those that are always tried first, and what `advise` proposes for each, as changes of the source.
const EXAMPLES: [(&str, &[(&str, &str)]); 5] = [
    (
        "StopFlag",
        &[(
            "private boolean stopped",
            "private volatile boolean stopped",
        )],
    ),
    (
        "Courier",
        &[
            ("void deliver", "synchronized void deliver"),
            ("void hangUp", "synchronized void hangUp"),
        ],
    ),
    (
        "BankAccount",
        &[("void addInterest", "synchronized void addInterest")],
    ),
    (
        "LazyCache",
        &[("static double rate", "static synchronized double rate")],
    ),
    (
        "Newsletter",
        &[
            ("void subscribe", "synchronized void subscribe"),
            ("int mail", "synchronized int mail"),
        ],
    ),
];

fn said(done: &Output) -> String {
    let text = [&done.stdout[..], &done.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

fn export(results: &Path, args: &[&str]) -> Output {
    let mut tool = photofinish();
    tool.args(["export", "--results"]).arg(results).args(args);
    finish(tool, "")
}

/// The first race of an example, with its results.
fn confirmed(name: &str) -> (tempfile::TempDir, String) {
    let expected = Expected::load("examples");
    let program = expected.program("examples", expected.section(name));
    let results = tempfile::tempdir().unwrap();
    let found = confirm(&program, results.path(), &["--trials", "20"]);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    let id = found.findings()[0]["id"].as_str().unwrap().to_owned();
    (results, id)
}

fn source(name: &str) -> String {
    let file = root().join(format!("programs/examples/src/{name}.java"));
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn exported_tests_fail_before_the_repair_and_pass_after_it() {
    let Some(dir) = maven::project_with_extension("maven-export") else {
        return;
    };
    std::fs::remove_dir_all(dir.join("src")).unwrap();
    let sources = dir.join("src/main/java");
    std::fs::create_dir_all(&sources).unwrap();
    let examples = &EXAMPLES[..if thorough() { EXAMPLES.len() } else { 2 }];
    let run = |failures| {
        let tests = examples.len();
        format!("Tests run: {tests}, Failures: {failures}, Errors: 0")
    };
    for (name, _) in examples {
        std::fs::write(sources.join(format!("{name}.java")), source(name)).unwrap();
        let (results, id) = confirmed(name);
        let tests = dir.join("src/test/java");
        let done = export(results.path(), &[&id, "--junit", jdk::path(&tests)]);
        assert_eq!(done.status.code(), Some(0), "{}", said(&done));
        assert!(
            tests.join(format!("{name}{id}Test.java")).exists(),
            "{}",
            said(&done)
        );
    }
    let binary = format!(
        "-Dphotofinish.binary={}",
        test_support::programs::tool_path().display()
    );
    let done = maven::maven(&dir, &["test", &binary]);
    let text = said(&done);
    assert!(text.contains(&run(examples.len())), "{text}");
    assert!(text.contains("it happens: "), "{text}");
    for (name, changes) in examples {
        let mut text = source(name);
        for (from, to) in *changes {
            assert!(text.contains(from), "{name}: {from}");
            text = text.replace(from, to);
        }
        std::fs::write(sources.join(format!("{name}.java")), text).unwrap();
    }
    let done = maven::maven(&dir, &["test", &binary]);
    let text = said(&done);
    assert!(done.status.success(), "{text}");
    assert!(text.contains(&run(0)), "{text}");
    assert!(
        text.contains("the schedule could not be followed"),
        "{text}"
    );
}

#[test]
fn a_program_of_its_own_shows_the_race_with_a_jdk_alone() {
    let (results, id) = confirmed("Courier");
    let dir = scratch("export-plain");
    let done = export(results.path(), &[&id, "--plain", jdk::path(&dir)]);
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    let of = format!("{id} is of result 1, ");
    assert!(said(&done).contains(&of), "{}", said(&done));
    let file = dir.join(format!("Courier{id}.java"));
    let ran = Command::new(jdk::home().join("bin/java"))
        .arg(&file)
        .current_dir("/")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
    assert!(said(&ran).contains("it happened"), "{}", said(&ran));
}

#[test]
fn what_cannot_be_exported_is_said() {
    let (results, id) = confirmed("StopFlag");
    let done = export(results.path(), &["R99", "--plain", "/tmp"]);
    assert_eq!(done.status.code(), Some(64), "{}", said(&done));
    assert!(
        said(&done).contains("there is no finding R99; there are: R"),
        "{}",
        said(&done)
    );
    let done = export(results.path(), &[&id]);
    assert_eq!(
        done.status.code(),
        Some(64),
        "a form is needed: {}",
        said(&done)
    );
    let done = export(&results.path().join("nowhere"), &[&id, "--plain", "/tmp"]);
    assert_eq!(done.status.code(), Some(64), "{}", said(&done));
}

/// Whether it happens again, by the case that was exported: `replay --case`, which the test calls.
fn checked(case: &Path, args: &[&str]) -> Output {
    let mut tool = photofinish();
    tool.args(["replay", "--case"])
        .arg(case)
        .arg("--")
        .args(args);
    finish(tool, "")
}

/// The classes of a source, with changes.
fn repaired(name: &str, file: &Path, changes: &[(&str, &str)]) -> PathBuf {
    let mut text = std::fs::read_to_string(file).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let dir = scratch(name);
    let source = dir.join(file.file_name().unwrap());
    std::fs::write(&source, text).unwrap();
    let beside = file.parent().unwrap().display().to_string();
    let beside = beside.trim_end_matches("/atomicity");
    let mut javac = jdk::tool("javac");
    javac.args(["-g", "-nowarn", "-sourcepath", beside, "-d"]);
    let done = javac.arg(&dir).arg(&source).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    dir
}

#[test]
fn a_stale_value_fails_until_look_and_act_are_one_step() {
    let expected = Expected::load("atomicity");
    let program = expected.program("atomicity", expected.section("broken-deposit"));
    let results = tempfile::tempdir().unwrap();
    let found = program.reported(&[
        "predict",
        "--atomicity",
        "--confirm",
        "--results",
        jdk::path(results.path()),
    ]);
    assert_eq!(found.report["atomicity"][0]["status"], "confirmed");
    let tests = scratch("export-stale");
    let done = export(results.path(), &["A1", "--junit", jdk::path(&tests)]);
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    let test = std::fs::read_to_string(tests.join("atomicity/BrokenA1Test.java")).unwrap();
    assert!(test.contains("by what it saw in 1"), "{test}");
    let case = tests.join("photofinish/BrokenA1Test.json");
    let of = |classes: &Path| {
        checked(
            &case,
            &["-cp", jdk::path(classes), "atomicity.Broken", "deposit"],
        )
    };
    let broken = of(&compile("programs/atomicity/src", &[]));
    assert_eq!(broken.status.code(), Some(66), "{}", said(&broken));
    assert!(
        said(&broken).contains("had looked and before it acted"),
        "{}",
        said(&broken)
    );
    let file = root().join("programs/atomicity/src/atomicity/Broken.java");
    let change = [("void deposit", "synchronized void deposit")];
    let mended = of(&repaired("export-stale-mended", &file, &change));
    assert_eq!(mended.status.code(), Some(0), "{}", said(&mended));
    let refused = export(results.path(), &["A1", "--plain", "/tmp"]);
    assert_eq!(refused.status.code(), Some(64), "{}", said(&refused));
}

#[test]
fn an_older_value_fails_until_the_field_is_volatile() {
    let classes = compile("programs/memory/src", &[]);
    let program = Program::new(&["-cp", jdk::path(&classes), "StopFlag"]);
    let results = tempfile::tempdir().unwrap();
    let options = ["--memory", "weak", "--trials", "8"];
    let found = confirm(&program, results.path(), &options);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    let tests = scratch("export-older");
    let done = export(results.path(), &["R1", "--junit", jdk::path(&tests)]);
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    let case = tests.join("photofinish/StopFlagR1Test.json");
    let of = |classes: &Path| checked(&case, &["-cp", jdk::path(classes), "StopFlag"]);
    let broken = of(&classes);
    assert_eq!(broken.status.code(), Some(66), "{}", said(&broken));
    assert!(
        said(&broken).contains("threads wait for ever"),
        "{}",
        said(&broken)
    );
    let file = root().join("programs/memory/src/StopFlag.java");
    let change = [("private boolean stop", "private volatile boolean stop")];
    let mended = of(&repaired("export-older-mended", &file, &change));
    assert_eq!(mended.status.code(), Some(0), "{}", said(&mended));
    let refused = export(results.path(), &["R1", "--plain", "/tmp"]);
    assert!(
        said(&refused).contains("an older value"),
        "{}",
        said(&refused)
    );
}
