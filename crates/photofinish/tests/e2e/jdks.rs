//! Other JDKs than the one of the other tests, as far as the machine has any.

use crate::expected::{Expected, Section, names};
use crate::support::location;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// `java` of every later JDK where Debian puts them.
fn later() -> Vec<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten();
    let homes = homes.filter_map(|entry| Some(entry.ok()?.path()));
    let is_later = |home: &PathBuf| {
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
        let feature = version.and_then(|v| v.split(['.', '"', '-', '+']).next());
        feature.is_some_and(|f| f.parse::<u32>().is_ok_and(|f| f > 17))
    };
    let found: Vec<PathBuf> = homes
        .filter(is_later)
        .map(|home| home.join("bin/java"))
        .filter(|java| java.exists())
        .collect();
    println!("later JDKs here: {found:?}");
    found
}

#[test]
fn what_is_ordered_is_silent_on_later_jdks() {
    let expected = Expected::load("ordered");
    let [(_, program)] = &expected.programs("ordered")[..] else {
        panic!("one main class for all sections");
    };
    for java in later() {
        let java = java.to_str().unwrap();
        for options in [&[][..], &["--scheduler", "random", "--seed", "1"]] {
            let found = program.detect(&[&["--java", java], options].concat());
            let races: Vec<String> = found.races().iter().map(location).collect();
            assert!(races.is_empty(), "{java} {options:?}: {races:#?}");
            let ended = (found.code, &found.report["program"]["exit"]);
            assert_eq!(ended, (Some(0), &0.into()), "{java}: {}", found.stderr);
            assert_eq!(found.stdout.lines().count(), expected.sections.len());
            let unknown = &found.report["coverage"]["missing_models"];
            assert!(unknown.as_array().is_none_or(Vec::is_empty), "{unknown}");
        }
    }
}

/// How they reach a field is another matter in each version.
#[test]
fn reflection_and_handles_are_seen_on_later_jdks() {
    let expected = Expected::load("racy");
    let indirect = |s: &&Section| s.name.contains("reflect") || s.name.contains("varhandle");
    let sections: Vec<&Section> = expected.sections.iter().filter(indirect).collect();
    assert!(sections.len() >= 8);
    for java in later() {
        for section in &sections {
            let program = expected.program("racy", section);
            let found = program.detect(&["--java", java.to_str().unwrap()]);
            let found: BTreeSet<String> = found.races().iter().map(location).collect();
            let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
            let missing: Vec<_> = names(&section.races).difference(&found).copied().collect();
            assert!(missing.is_empty(), "{java:?}: {missing:?} not reported");
        }
    }
}
