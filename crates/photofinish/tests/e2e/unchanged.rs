//! What a program does is the same with the tool as without it: everything it
//! prints, its exit code, its exceptions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::programs::{
    Expected, finish, jdk, photofinish, root, scratch, sources, thorough,
};

#[test]
fn what_could_not_be_instrumented_is_named() {
    let programs = Expected::load("edge").programs("edge");
    let (_, huge) = programs
        .iter()
        .find(|(name, _)| name == "edge-huge-method")
        .unwrap();
    for way in [&["detect"][..], &["detect", "--detector", "hybrid"]] {
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
    let (programs, least) = match thorough() {
        true => (&["ordered", "racy"][..], 300),
        false => (&["racy"][..], 100),
    };
    for program in programs {
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
    let (exit, stdout, stderr, classes) = compile(jdk::tool("java"), "native");
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(classes.len() > least, "{} classes", classes.len());

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
