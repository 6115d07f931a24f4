//! Sections run by themselves under `detect`: exactly the races that their
//! `expected.toml` names are reported, at the lines that are marked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use test_support::programs::{Detected, Expected, Program, Section, location, names, repeat, root};
use test_support::trials::{Trial, trial};

pub fn trials() -> Vec<Trial> {
    let racy = (repeat() / 2).max(1);
    let all = [("examples", 1), ("racy", racy), ("unsafe", 1), ("edge", 1)];
    let each = all.into_iter().flat_map(|(dir, times)| {
        let expected = Expected::for_trials(dir);
        let sections = expected.sections.iter();
        sections.map(move |section| {
            let name = format!("detect::{dir}::{}", section.name);
            trial(name, move || {
                let program = expected.program(dir, section);
                check(dir, expected, section, &program, times);
            })
        })
    });
    each.collect()
}

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
    let suspected = |race: &serde_json::Value| race["status"] == "potential";
    let code = match (all.is_empty(), section.threads) {
        (false, _) if races.iter().all(suspected) => 0,
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

/// Runs a section, so many times.
pub fn check(dir: &str, expected: &Expected, section: &Section, program: &Program, times: usize) {
    let marks = marked_lines(&root().join("programs").join(dir).join(&expected.source));
    for _ in 0..times {
        let found = program.detect(&[]);
        let wrong = complaints(section, &found, marks.get(&section.name));
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
