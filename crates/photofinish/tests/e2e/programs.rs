//! The programs in `programs/`, run under the tool: exactly the races that
//! their `expected.toml` names are reported, at the lines that are marked.

use crate::expected::{Expected, Section, names};
use crate::support::{Detected, Program, in_parallel, location, repeat, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

/// The lines marked `// race: SECTION`, as `File.java:12`.
fn marked_lines(dir: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut marks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for (index, line) in text.lines().enumerate() {
            if let Some((_, sections)) = line.split_once("// race: ") {
                for section in sections.split([',', ' ']).filter(|s| !s.is_empty()) {
                    let at = format!("{name}:{}", index + 1);
                    marks.entry(section.to_owned()).or_default().insert(at);
                }
            }
        }
    }
    marks
}

/// What is wrong with this result, in words; nothing if all is well.
fn complaints(
    section: &Section,
    found: &Detected,
    marks: Option<&BTreeSet<String>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let races = found.races();
    let (must, may) = (names(&section.races), names(&section.may));
    let all: Vec<String> = races.iter().map(location).collect();
    let all: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    for missing in must.difference(&all) {
        wrong.push(format!("not reported: {missing}"));
    }
    for extra in all
        .iter()
        .filter(|l| !must.contains(*l) && !may.contains(*l))
    {
        wrong.push(format!("reported, but not a race: {extra}"));
    }
    let code = match (all.is_empty(), section.threads) {
        (false, _) => 66,
        (true, Some(1)) => 4,
        (true, _) => 0,
    };
    if found.code != Some(code) {
        wrong.push(format!(
            "exit code {:?}, not {code}: {}",
            found.code, found.report["warnings"]
        ));
    }
    if found.report["program"]["exit"] != section.exit {
        let exit = &found.report["program"]["exit"];
        wrong.push(format!(
            "the program's exit code is {exit}: {}",
            found.stderr
        ));
    }
    if let Some(output) = &section.output
        && *output != found.stdout
    {
        wrong.push(format!("printed {:?}, not {output:?}", found.stdout));
    }
    // Where lines are marked, every expected race has both ends on one of them
    // or in the JDK.
    for race in races.iter().filter(|r| must.contains(location(r).as_str())) {
        for access in race["accesses"].as_array().unwrap() {
            let at = format!(
                "{}:{}",
                access["file"].as_str().unwrap_or("?"),
                access["line"]
            );
            let own = !access["class"].as_str().unwrap().starts_with("java.");
            if own && marks.is_some_and(|marks| !marks.contains(&at)) {
                wrong.push(format!("{} at {at}, which is not marked", location(race)));
            }
        }
    }
    wrong
}

/// Runs every section by itself, so many times, and collects what is wrong.
fn check(dir: &str, times: usize) {
    let expected = Expected::load(dir);
    let marks = marked_lines(&root().join("programs").join(dir).join(&expected.source));
    let wrong = Mutex::new(Vec::new());
    let sections: Vec<&Section> = (0..times).flat_map(|_| &expected.sections).collect();
    in_parallel(&sections, |section| {
        let found = expected.program(dir, section).detect(&[]);
        let texts = complaints(section, &found, marks.get(&section.name));
        let texts = texts.into_iter().map(|t| format!("{}: {t}", section.name));
        wrong.lock().unwrap().extend(texts);
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{dir}: {} complaints\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn examples() {
    check("examples", 1);
}

#[test]
fn racy_sections_are_all_reported_and_nothing_else() {
    check("racy", (repeat() / 2).max(1));
}

#[test]
fn races_through_unsafe() {
    check("unsafe", 1);
}

#[test]
fn programs_that_are_hard_to_watch_have_no_races() {
    check("edge", 1);
}

/// The races that a report names, one a line.
fn listed(found: &Detected) -> String {
    let lines = found.races().iter().map(|race| {
        let access = |i: usize| {
            let at = &race["accesses"][i];
            format!("{}:{}", at["file"].as_str().unwrap_or("?"), at["line"])
        };
        format!("{} at {} and {}\n", location(race), access(0), access(1))
    });
    lines.collect()
}

#[test]
fn ordered_sections_are_all_silent() {
    let expected = Expected::load("ordered");
    assert!(expected.sections.len() >= 45);
    let runs: Vec<usize> = (1..=repeat()).collect();
    let [(_, program)] = &expected.programs("ordered")[..] else {
        panic!("one main class for all sections");
    };
    // h as well: it sees the same order through events, where a lock or an atomic
    // is known by its number. (Small arrays once got a second one when the
    // collector ran.)
    let modes = [&[][..], &["--detector", "h"]];
    let runs: Vec<_> = runs
        .iter()
        .flat_map(|run| modes.map(|m| (run, m)))
        .collect();
    in_parallel(&runs, |run| {
        let found = program.detect(run.1);
        let races = listed(&found);
        assert!(races.is_empty(), "run {run:?}:\n{races}");
        let ended = (found.code, &found.report["program"]["exit"]);
        assert_eq!(ended, (Some(0), &0.into()), "run {run:?}: {}", found.stderr);
        assert_eq!(found.stdout.lines().count(), expected.sections.len());
    });
}

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
