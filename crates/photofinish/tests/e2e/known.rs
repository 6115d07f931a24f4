//! What a project says once and for all: suppressions, `photofinish.toml`,
//! baselines; and what is made from the definition of the command line.

use serde_json::Value;
use std::path::Path;
use std::process::Output;
use test_support::programs::{Program, compile, finish, photofinish, scratch};

fn example(name: &str) -> Program {
    let classes = compile("programs/examples/src", &[]);
    Program::new(&["-cp", classes.to_str().unwrap(), name])
}

fn run(dir: &Path, args: &[&str]) -> Output {
    let mut tool = photofinish();
    tool.current_dir(dir).args(args);
    finish(tool, "")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn suppressed_races_are_no_findings_and_unused_lines_are_named() {
    let dir = scratch("suppress");
    let file = dir.join("known.txt");
    std::fs::write(
        &file,
        "# statistics\nrace BankAccount.* because it is an example\nrace No.such because of old times\n",
    )
    .unwrap();
    let found = example("BankAccount").reported(&["detect", "--suppress", file.to_str().unwrap()]);
    assert_eq!(found.code, Some(0));
    assert!(found.races().is_empty());
    let told = &found.report["suppressed"][0];
    assert_eq!(told["location"], "BankAccount.cents");
    assert_eq!(told["reason"], "it is an example");
    assert!(found.warnings().contains("line 3"), "{}", found.warnings());

    std::fs::write(&file, "race BankAccount.*\n").unwrap();
    let program = example("BankAccount");
    let done = program.under(&["detect", "--suppress", file.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(64));
    let said = text(&done.stderr);
    assert!(said.contains("line 1") && said.contains("reason"), "{said}");
    assert!(done.stdout.is_empty(), "the program ran");
}

#[test]
fn a_baseline_tells_new_races_from_known_ones() {
    let dir = scratch("baseline");
    let write = |name: &str, example_name: &str| {
        let found = example(example_name).reported(&["detect"]);
        let path = dir.join(name);
        std::fs::write(&path, found.report.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (old, new) = (
        write("old.json", "BankAccount"),
        write("new.json", "StopFlag"),
    );
    let same = run(&dir, &["report", &old, "--baseline", &old]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stdout));
    let other = run(&dir, &["report", &new, "--baseline", &old]);
    assert_eq!(other.status.code(), Some(66));
    let said = text(&other.stdout);
    assert!(said.contains("1 new, 0 known"), "{said}");
    assert!(
        said.contains("not found this time: BankAccount.cents"),
        "{said}"
    );
    let json = run(&dir, &["report", &new, "--baseline", &old, "--json", "-"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["baseline"]["new"][0], "R1");
}

#[test]
fn a_project_says_its_options_once() {
    let dir = scratch("configuration");
    let program = example("BankAccount");
    let args: Vec<String> = program.args.iter().map(|arg| format!("{arg:?}")).collect();
    let file = format!(
        "program = [{}]\nexclude = [\"BankAccount\"]\n[detect]\nquiet = true\n",
        args.join(", ")
    );
    std::fs::write(dir.join("photofinish.toml"), file).unwrap();
    // As the file says: nothing is instrumented.
    let done = run(&dir, &["detect"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(done.stderr.is_empty(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout), "Ada has 100.00\n");
    // The user knows better.
    let done = run(&dir, &["detect", "--exclude", "Nothing"]);
    assert_eq!(done.status.code(), Some(66));
    let done = run(&dir, &["detect", "--no-config"]);
    assert_eq!(done.status.code(), Some(64));
    // Mistakes are named.
    std::fs::write(dir.join("photofinish.toml"), "trails = 3\n").unwrap();
    let done = run(&dir, &["detect"]);
    assert_eq!(done.status.code(), Some(64));
    let said = text(&done.stderr);
    assert!(
        said.contains("photofinish.toml") && said.contains("trails"),
        "{said}"
    );
}

#[test]
fn completions_and_pages_come_from_the_definitions() {
    let dir = scratch("generated");
    for shell in ["bash", "zsh", "fish"] {
        let done = run(&dir, &["completions", shell]);
        assert_eq!(done.status.code(), Some(0));
        assert!(text(&done.stdout).contains("time-limit"), "{shell}");
    }
    let page = text(&run(&dir, &["man"]).stdout);
    assert!(page.contains(".TH photofinish"), "{page}");
    let page = text(&run(&dir, &["man", "hunt"]).stdout);
    assert!(page.contains("trials"), "{page}");
    let done = run(&dir, &["man", "fish"]);
    assert_eq!(done.status.code(), Some(64));
    assert!(text(&done.stderr).contains("hunt"));
}
