//! Programs of the tests' own for what the JIT compiler makes of rewritten code.

use test_support::programs::Program;

/// Methods for which the JIT has code of its own, without our probes.
#[test]
fn compiled_code_of_hotspots_own_does_not_hide_accesses() {
    let found = Program::own(&["Hot"]).detect(&[]);
    let all = [
        "byte[]",
        "double[]",
        "float[]",
        "int[]",
        "java.lang.Integer[]",
        "java.lang.String[]",
        "short[]",
    ];
    assert_eq!(found.locations(), all.map(str::to_owned).into());
}

/// A method in which a probe may throw while a lock is held, without a handler
/// that gives it back, would be interpreted for ever.
#[test]
fn methods_that_take_locks_are_compiled() {
    let program = Program::own(&["Locked"]);
    for mode in [&["detect"][..], &["detect", "--detector", "hybrid"]] {
        let mut verbose = program.clone();
        verbose.args.insert(0, "-XX:+PrintCompilation".into());
        let found = verbose.reported(mode);
        let compiled = |method: &str| {
            let mut lines = found.stdout.lines();
            lines.any(|line| line.contains(&format!("Locked::{method} ")))
        };
        for method in ["block", "method", "nested"] {
            assert!(compiled(method), "{method} is hot, but not compiled");
        }
        let refused: Vec<&str> = found
            .stdout
            .lines()
            .filter(|line| line.contains("COMPILE SKIPPED"))
            .collect();
        assert!(refused.is_empty(), "{refused:#?}");
    }
}
