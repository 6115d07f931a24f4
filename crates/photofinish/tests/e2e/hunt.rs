//! `hunt` on the examples: each finds what is documented for it, with the
//! right status and nothing else, and says so as it should.

use crate::expected::{Expected, Section, names};
use crate::support::{Program, finish, in_parallel, photofinish, root, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Few: what is certain must not hang on many.
const TRIALS: [&str; 4] = ["--trials", "6", "--time-limit", "180s"];

struct Hunted {
    code: Option<i32>,
    report: Value,
    stderr: String,
    stdout: String,
}

fn hunt(program: &Program, results: &Path, options: &[&str]) -> Hunted {
    let json = results.with_extension("json");
    let mut tool = photofinish();
    tool.current_dir(root())
        .args(["hunt", "--no-config", "--sources", "programs/examples/src"])
        .args(TRIALS)
        .args(options)
        .arg("--json")
        .arg(&json)
        .arg("--results")
        .arg(results)
        .arg("--")
        .args(&program.args);
    let done = finish(tool, "");
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    let report = std::fs::read(&json).unwrap();
    Hunted {
        code: done.status.code(),
        report: serde_json::from_slice(&report).unwrap_or_else(|e| panic!("{e}: {stderr}")),
        stderr,
        stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
    }
}

/// What does not change from run to run: one line for each location that must
/// race, with the strongest that is said of it, and what it may come to; then
/// the summary's heads. Which statements met first, counts, times, addresses
/// and races that chance decides about are left out.
fn golden(section: &Section, hunted: &Hunted) -> String {
    let mut text = format!("exit code {}\n", hunted.code.unwrap());
    let wanted = names(&section.races);
    let races = hunted.report["races"].as_array().unwrap();
    for location in &wanted {
        let of = races
            .iter()
            .filter(|race| crate::support::location(race) == **location);
        let mut lines: Vec<String> = of
            .clone()
            .flat_map(|race| race["accesses"].as_array().unwrap())
            .map(source_line)
            .collect();
        lines.sort();
        lines.dedup();
        let confirmed = of.clone().any(|race| race["status"] == "confirmed");
        let status = if confirmed {
            "confirmed"
        } else {
            "not confirmed"
        };
        text += &format!("race on {location}: {status}\n");
        for line in lines {
            text += &format!("    {line}\n");
        }
    }
    let (_, summary) = hunted.stderr.rsplit_once("\n\n").unwrap();
    for line in summary.lines() {
        let (head, _) = line.split_at(line.len().min(11));
        let sentence = !line.contains("  ") && line.len() > 11;
        if sentence {
            text += &format!("{line}\n");
        } else if !head.trim().is_empty() && !["likely", "unclear", "repair"].contains(&head.trim())
        {
            text += &format!("{}\n", head.trim());
        }
    }
    text
}

/// The source lines of a golden report, and the rest.
fn parts(text: &str) -> (BTreeSet<&str>, Vec<&str>) {
    let (met, said): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("    "));
    (met.into_iter().collect(), said)
}

/// The line of the program that did it, or called the JDK to do it.
fn source_line(access: &Value) -> String {
    let stack = access["stack"].as_array().unwrap();
    let own = |frame: &&Value| {
        let class = frame["class"].as_str().unwrap_or_default();
        !class.starts_with("java.")
    };
    let frames = std::iter::once(access).chain(stack);
    let Some(frame) = frames.into_iter().find(own) else {
        return "in the JDK".to_owned();
    };
    let (file, line) = (frame["file"].as_str().unwrap(), frame["line"].as_u64());
    let source = root().join("programs/examples/src").join(file);
    let source = std::fs::read_to_string(source).unwrap();
    let text = source.lines().nth(line.unwrap() as usize - 1).unwrap();
    text.split("//").next().unwrap().trim().to_owned()
}

#[test]
fn each_example_ends_as_documented() {
    let expected = Expected::load("examples");
    in_parallel(&expected.sections, |section| {
        let name = &section.name;
        let program = expected.program("examples", section);
        let hunted = hunt(
            &program,
            &scratch(&format!("hunt-{name}")).join("r"),
            &["--runs", "3", "--skip", "advise,verify"],
        );
        // Nothing that is not documented.
        let may = &names(&section.may) | &names(&section.races);
        for race in hunted.report["races"].as_array().unwrap() {
            let location = crate::support::location(race);
            assert!(may.contains(location.as_str()), "{name}: {location}");
        }
        assert_eq!(hunted.stdout, "", "what the program prints is not shown");
        let got = golden(section, &hunted);
        let file = root().join(format!("programs/examples/hunt/{name}.txt"));
        if std::env::var_os("PHOTOFINISH_GOLDEN").is_some() {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, &got).unwrap();
        }
        // Whether all of these lines were met is up to chance; no others are.
        let wanted = std::fs::read_to_string(&file).unwrap_or_default();
        let (met, said) = parts(&got);
        let (lines, text) = parts(&wanted);
        assert_eq!(said, text, "{name}; it said:\n{}", hunted.stderr);
        assert!(met.is_subset(&lines), "{name}: {met:?}");
    });
}

#[test]
fn what_was_found_is_there_later() {
    let expected = Expected::load("examples");
    let section = expected.sections.iter().find(|s| s.name == "Courier");
    let program = expected.program("examples", section.unwrap());
    let results = scratch("hunt-later").join("r");
    let hunted = hunt(&program, &results, &["--runs", "0"]);
    assert_eq!(hunted.code, Some(66), "{}", hunted.stderr);
    let tool = |args: &[&str]| {
        let mut tool = photofinish();
        tool.current_dir(root()).args(args);
        finish(tool, "")
    };
    let dir = results.to_str().unwrap();
    let stages = hunted.report["hunt"]["stages"].as_array().unwrap();
    assert!(stages.iter().any(|s| s["stage"] == "advise"));
    // The report again, from the directory.
    let again = tool(&["report", dir, "--json", "-"]);
    assert_eq!(again.status.code(), Some(66));
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["races"], hunted.report["races"]);
    assert_eq!(again["runs"], hunted.report["runs"]);
    // The race that was made to happen, again.
    let races = hunted.report["races"].as_array().unwrap();
    let confirmed = races.iter().find(|r| r["status"] == "confirmed").unwrap();
    let id = confirmed["id"].as_str().unwrap();
    let replayed = tool(&["replay", "--results", dir, id]);
    let said = String::from_utf8_lossy(&replayed.stderr).into_owned();
    assert_eq!(replayed.status.code(), Some(66), "{said}");
    assert!(said.contains("the same run again"), "{said}");
    // Against itself nothing is new.
    let against = tool(&["report", dir, "--baseline", dir]);
    let said = String::from_utf8_lossy(&against.stdout).into_owned();
    assert_eq!(against.status.code(), Some(0), "{said}");
    assert!(said.contains("0 new, "), "{said}");
}

/// Everything but runs that are free and the exploration.
const EXPLORE_ONLY: [&str; 4] = [
    "--runs",
    "0",
    "--skip",
    "predict,confirm,hidden races,races that hide behind locks,confirm what was hidden,advise",
];

#[test]
fn a_small_program_is_explored_to_the_end() {
    let expected = Expected::load("verify");
    let section = |name: &str| {
        let section = expected.sections.iter().find(|s| s.name == name);
        expected.program("verify", section.unwrap())
    };
    // Nothing in any schedule, and that is said.
    let results = scratch("hunt-explored").join("r");
    let hunted = hunt(&section("lock2"), &results, &EXPLORE_ONLY);
    assert_eq!(hunted.code, Some(0), "{}", hunted.stderr);
    assert_eq!(hunted.report["exploration"]["complete"], true);
    let sentence = "complete: no data race, deadlock or uncaught exception in any schedule";
    assert!(hunted.stderr.contains(sentence), "{}", hunted.stderr);
    // A race that hides behind a lock, and can be seen again from here.
    let results = scratch("hunt-explored-race").join("r");
    let hunted = hunt(&section("hidden"), &results, &EXPLORE_ONLY);
    assert_eq!(hunted.code, Some(66), "{}", hunted.stderr);
    assert_eq!(hunted.report["exploration"]["complete"], true);
    assert!(hunted.stderr.contains("\ncomplete: every schedule"));
    let race = &hunted.report["races"][0];
    assert_eq!(race["status"], "observed");
    let by = race["found_by"].as_array().unwrap();
    assert!(by.iter().any(|by| by == "verify"), "{race}");
    let mut tool = photofinish();
    tool.args(["replay", "--results"]).arg(&results).arg("R1");
    let done = finish(tool, "");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(66), "{said}");
    assert!(said.contains("R1: the same run again"), "{said}");
}
