//! What a program does is the same with the tool as without it: everything it
//! prints, its exit code, its exceptions.

use test_support::programs::{Expected, Program, scratch};
use test_support::trials::{Trial, trial};

/// Ways of watching a program.
const WAYS: [&[&str]; 4] = [
    &["detect"],
    &["detect", "--detector", "hybrid"],
    &["record"],
    &["record", "--full"],
];

/// Without hybrid, which asks the detector about every single access.
const OF_KERNELS: [&[&str]; 2] = [WAYS[0], WAYS[2]];

pub fn trials() -> Vec<Trial> {
    let dirs = ["edge", "ordered", "racy", "unsafe", "examples"];
    let programs = dirs
        .into_iter()
        .flat_map(|dir| Expected::load(dir).programs(dir));
    let mut all: Vec<Trial> = programs
        .map(|(name, program)| {
            trial(format!("unchanged::{name}"), move || {
                unchanged(&name, &program, &WAYS)
            })
        })
        .collect();
    let expected = Expected::for_trials("bench");
    // The compiler has a test of its own.
    let kernels = expected
        .sections
        .iter()
        .filter(|s| s.kind.as_deref() != Some("javac"));
    all.extend(kernels.map(|section| {
        let name = format!("bench-{}", section.name);
        trial(format!("unchanged::{name}"), move || {
            unchanged(&name, &expected.program("bench", section), &OF_KERNELS);
        })
    }));
    all
}

/// Compares a program with itself alone, in each way of watching it.
fn unchanged(name: &str, program: &Program, ways: &[&[&str]]) {
    let alone = program.native();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for way in ways {
        let trace = scratch(&format!("trace-{name}")).join("t.pft");
        let mut command = way.to_vec();
        if way[0] == "record" {
            command.extend(["-o", trace.to_str().unwrap()]);
        }
        let with = program.reported(&command);
        assert_eq!(text(&alone.stdout), with.stdout, "{way:?}: standard output");
        assert_eq!(text(&alone.stderr), with.stderr, "{way:?}: standard error");
        let exit = &with.report["program"]["exit"];
        assert_eq!(
            serde_json::json!(alone.status.code()),
            *exit,
            "{way:?}: exit code"
        );
    }
}
