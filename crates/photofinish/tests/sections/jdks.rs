//! JDKs later than the one of the other tests, as far as the machine has any: what those tests expect on theirs, with the
//! same numbers of executions. Some sections of each kind, or all of them when all are asked for.

use crate::{confirm, detected, predict, verify};
use std::path::{Path, PathBuf};
use test_support::jdk::installed;
use test_support::programs::{Expected, Program, Section, controlled, location, names, thorough};
use test_support::trials::{Trial, skipped, trial};

/// Every so many sections are taken, if not all.
const EVERY: usize = 9;

/// Explorations of more executions take minutes, and are left out.
const MANY: u64 = 100;

/// Runs in which one thread at a time shows a race that locks hide.
const SEEDS: u64 = 12;

/// What the directory of a JDK is called.
pub fn name_of(java: &Path) -> String {
    let home = java.ancestors().nth(2).and_then(Path::file_name);
    home.unwrap_or_default().to_string_lossy().into_owned()
}

/// `java` of every later version that is known here.
pub fn later() -> Vec<PathBuf> {
    let later = installed().into_iter().filter(|jdk| jdk.feature > 17);
    later.map(|jdk| jdk.java()).collect()
}

pub fn trials() -> Vec<Trial> {
    let later = later();
    if later.is_empty() {
        let reason = "there is no JDK later than 17 below /usr/lib/jvm, nor in PHOTOFINISH_JDKS";
        let names = ["ordered", "reflection_and_handles"];
        return names
            .map(|name| skipped(format!("jdks::{name}"), reason))
            .into();
    }
    let racy = Expected::for_trials("racy");
    let mut all = Vec::new();
    for java in later {
        let java: &'static Path = Box::leak(java.into_boxed_path());
        let home = name_of(java);
        let free = format!("jdks::{home}::ordered");
        all.push(trial(free, || ordered(java, &[])));
        let controlled = format!("jdks::{home}::ordered_under_control");
        all.push(trial(controlled, || {
            ordered(java, &["--scheduler", "random", "--seed", "1"]);
        }));
        // How they reach a field is another matter in each version.
        let indirect = |s: &&Section| s.name.contains("reflect") || s.name.contains("varhandle");
        let taken = |s: &&Section| thorough() || indirect(s);
        all.extend(racy.sections.iter().filter(taken).map(|section| {
            let name = format!("jdks::{home}::{}", section.name);
            trial(name, move || {
                let program = racy.program("racy", section).on(java);
                detected::check("racy", racy, section, &program, 1);
            })
        }));
        all.extend(explored(java, &home));
        all.extend(predicted(java, &home));
        all.extend(confirm::on(java, &format!("jdks::{home}")));
        all.push(trial(format!("jdks::{home}::hidden"), || hidden(java)));
    }
    all
}

/// A section now and then, or all.
fn some<'e>(sections: impl Iterator<Item = &'e Section>) -> impl Iterator<Item = &'e Section> {
    sections.step_by(if thorough() { 1 } else { EVERY })
}

/// As many executions as with the JDK of the other tests.
fn explored(java: &'static Path, home: &str) -> Vec<Trial> {
    type Check = fn(&Program, &Section);
    let ways: [(&'static str, Check); 4] = [
        ("verify", verify::litmus),
        ("jrf", verify::repaired),
        ("book", verify::repaired),
        ("bugs", verify::bug),
    ];
    let mut all = Vec::new();
    for (dir, check) in ways {
        let expected = Expected::for_trials(dir);
        let counted = |s: &&Section| match dir {
            "verify" => s.executions <= Some(MANY),
            "bugs" => !verify::MANY_THREADS.contains(&s.name.as_str()),
            _ => s.executions.is_some_and(|n| n <= verify::ALONE),
        };
        for section in some(expected.sections.iter().filter(counted)) {
            let name = format!("jdks::{home}::verify::{dir}::{}", section.name);
            all.push(trial(name, move || {
                check(&expected.program(dir, section).on(java), section);
            }));
        }
    }
    all
}

/// Nothing that is no race; and what is one for every engine.
fn predicted(java: &'static Path, home: &str) -> Vec<Trial> {
    let expected = Expected::for_trials("predict");
    let each = some(expected.sections.iter()).map(move |section| {
        trial(
            format!("jdks::{home}::predict::{}", section.name),
            move || {
                let by = predict::predict(&expected.program("predict", section).on(java), section);
                assert!(section.name != "plain" || by.contains("syncp"), "{by:?}");
            },
        )
    });
    each.collect()
}

/// A race that the usual order of locks hides is shown, and nothing else.
fn hidden(java: &Path) {
    let expected = Expected::load("hidden");
    let section = expected.section("figure-2");
    let program = expected.program("hidden", section).on(java);
    let may = names(&section.may);
    for seed in 1..=SEEDS {
        let found = controlled(&program, "drfinder-serial", seed, &["--runs", "3"]);
        let found = found.locations();
        assert!(found.iter().all(|l| may.contains(l.as_str())), "{found:?}");
        if !found.is_empty() {
            return;
        }
    }
    panic!("none of {may:?} in {SEEDS} times three runs");
}

fn ordered(java: &Path, options: &[&str]) {
    let expected = Expected::load("ordered");
    let found = expected.whole("ordered").on(java).detect(options);
    let races: Vec<String> = found.races().iter().map(location).collect();
    assert!(races.is_empty(), "{races:#?}");
    let ended = (found.code, &found.report["program"]["exit"]);
    assert_eq!(ended, (Some(0), &0.into()), "{}", found.stderr);
    assert_eq!(found.stdout.lines().count(), expected.sections.len());
    let unknown = &found.report["coverage"]["missing_models"];
    assert!(unknown.as_array().is_none_or(Vec::is_empty), "{unknown}");
}
