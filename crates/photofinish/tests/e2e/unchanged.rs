//! What a program does is the same with the tool as without it: everything it
//! prints, its exit code, its exceptions.

use crate::expected::Expected;
use crate::support::{Program, finish, in_parallel, jdk, photofinish, root, scratch, sources};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Ways of watching a program.
const WAYS: [&[&str]; 4] = [
    &["detect"],
    &["detect", "--detector", "hybrid"],
    &["record"],
    &["record", "--full"],
];

/// Compares each program with itself alone, in each way of watching it.
fn unchanged(programs: &[(String, Program)], ways: &[&[&str]]) {
    let wrong = Mutex::new(Vec::new());
    in_parallel(programs, |(name, program)| {
        let alone = program.native();
        for way in ways {
            let trace = scratch(&format!("trace-{name}")).join("t.pft");
            let mut command = way.to_vec();
            if way[0] == "record" {
                command.extend(["-o", trace.to_str().unwrap()]);
            }
            let with = program.reported(&command);
            let complain = |what: &str, alone: &str, with: &str| {
                if alone != with {
                    let both = format!("alone\n{alone}\nand with the tool\n{with}");
                    wrong
                        .lock()
                        .unwrap()
                        .push(format!("{name}, {way:?}, {what}: {both}"));
                }
            };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            complain("standard output", &text(&alone.stdout), &with.stdout);
            complain("standard error", &text(&alone.stderr), &with.stderr);
            let exit = serde_json::to_string(&alone.status.code()).unwrap();
            complain(
                "exit code",
                &exit,
                &with.report["program"]["exit"].to_string(),
            );
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_that_are_hard_to_watch() {
    unchanged(&Expected::load("edge").programs("edge"), &WAYS);
}

#[test]
fn programs_that_use_everything() {
    let dirs = ["ordered", "racy", "unsafe", "examples"];
    let all = dirs.map(|dir| Expected::load(dir).programs(dir));
    unchanged(&all.concat(), &WAYS);
}

/// Without hybrid, which asks the detector about every single access, and
/// without the compiler, which has a test of its own.
#[test]
fn kernels() {
    let expected = Expected::load("bench");
    let kernels = expected.sections.iter();
    let all: Vec<_> = kernels
        .filter(|s| s.kind.as_deref() != Some("javac"))
        .map(|s| (format!("bench-{}", s.name), expected.program("bench", s)))
        .collect();
    unchanged(&all, &[WAYS[0], WAYS[2]]);
}

#[test]
fn what_could_not_be_instrumented_is_named() {
    let programs = Expected::load("edge").programs("edge");
    let (_, huge) = programs
        .iter()
        .find(|(name, _)| name == "edge-huge-method")
        .unwrap();
    for way in [WAYS[0], WAYS[1]] {
        let found = huge.reported(way);
        let skipped = found.report["coverage"]["classes_skipped"].to_string();
        assert!(skipped.contains("\"HugeMethod"), "{way:?}: {skipped}");
    }
}

/// Every file below a directory, by its name there.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            let name = path.strip_prefix(dir).unwrap().to_path_buf();
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

/// The Java compiler with every class of the JDK probed makes the same class
/// files.
#[test]
fn javac_in_process() {
    let dir = scratch("javac");
    let mut list = String::new();
    for program in ["ordered", "racy"] {
        for source in sources(&root().join("programs").join(program).join("src")) {
            list += &format!("{}\n", source.display());
        }
    }
    let listed = dir.join("sources");
    std::fs::write(&listed, list).unwrap();
    let compile = |mut command: Command, out: &str| {
        let out = dir.join(out);
        command
            .args(["-m", "jdk.compiler/com.sun.tools.javac.Main", "-g", "-d"])
            .arg(&out)
            .arg(format!("@{}", listed.display()));
        let done = finish(command, "");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            done.status.code(),
            text(&done.stdout),
            text(&done.stderr),
            files(&out),
        )
    };
    let (exit, stdout, stderr, classes) = compile(jdk("java"), "native");
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(classes.len() > 300, "{} classes", classes.len());

    let json = dir.join("report.json");
    let trace = dir.join("javac.pft");
    for way in [&["detect"][..], &["record", "-o", trace.to_str().unwrap()]] {
        let mut tool = photofinish();
        tool.args(way)
            .args(["--quiet", "--include", "**", "--json"]);
        tool.arg(&json).arg("--");
        let (code, out, err, with) = compile(tool, way[0]);
        // It runs in a single thread.
        assert_eq!(code, Some(4), "{err}");
        assert_eq!((&out, &err), (&stdout, &stderr), "{way:?}");
        let different: Vec<_> = classes
            .keys()
            .filter(|c| with.get(*c) != classes.get(*c))
            .collect();
        assert!(
            different.is_empty() && with.len() == classes.len(),
            "{way:?}: {different:?}"
        );
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        assert_eq!(report["program"]["exit"], 0);
        let instrumented = report["coverage"]["classes_instrumented"].as_u64();
        assert!(
            instrumented > Some(1_500),
            "{instrumented:?} classes of the JDK"
        );
    }
    // Some hundred megabytes.
    std::fs::remove_file(&trace).unwrap();
}
