//! Sections without a race: nothing is reported for any of them, in whatever way
//! they are run. A section takes milliseconds and a JVM a second, so they run together in
//! one JVM, and each test looks for its own section in what the shared runs said.

use std::collections::BTreeMap;
use std::sync::Mutex;
use test_support::programs::{
    Detected, Expected, controlled, in_parallel, location, offline, repeat, root, scratch,
};
use test_support::trials::{Shared, Trial, trial};

pub fn trials() -> Vec<Trial> {
    let expected = Expected::for_trials("ordered");
    assert!(expected.sections.len() >= 45);
    let classes = classes();
    let each = expected.sections.iter().map(|section| {
        let class = classes[&section.name].clone();
        trial(format!("ordered::{}", section.name), move || {
            silent(&section.name, &class);
        })
    });
    let mut all: Vec<Trial> = each.collect();
    all.push(trial("ordered::all_together", all_together));
    for scheduler in ["random", "pct"] {
        for seed in 1..=super::control::seeds() {
            let name = format!("ordered::under_control::{scheduler}_{seed}");
            all.push(trial(name, move || under_control(scheduler, seed)));
        }
    }
    all.push(trial("ordered::from_a_trace", from_a_trace));
    for group in GROUPS {
        let name = format!("ordered::predicted::{}", group.trim_end_matches('-'));
        all.push(trial(name, move || nothing_is_predicted(expected, group)));
    }
    all
}

/// The class of each section, as `Main.java` maps them.
fn classes() -> BTreeMap<String, String> {
    let main = root().join("programs/ordered/src/ordered/Main.java");
    let text = std::fs::read_to_string(main).unwrap();
    let put = text.lines().filter_map(|line| {
        let line = line.trim().strip_prefix("all.put(\"")?;
        let (name, class) = line.strip_suffix("::new);")?.split_once("\", ")?;
        Some((
            name.to_owned(),
            format!("ordered.{}", class.replace('.', "$")),
        ))
    });
    put.collect()
}

/// Each way of running them, and what came of it.
fn runs() -> &'static [(String, Detected)] {
    static RUNS: Shared<Vec<(String, Detected)>> = Shared::new();
    RUNS.get(|| {
        let program = Expected::load("ordered").whole("ordered");
        // h as well: it sees the same order through events, where a lock or an
        // atomic is known by its number. (Small arrays once got a second one when
        // the collector ran.)
        let modes = [("fasttrack", &[][..]), ("h", &["--detector", "h"])];
        let runs: Vec<_> = (1..=repeat())
            .flat_map(|run| modes.map(|(name, options)| (format!("{name}, run {run}"), options)))
            .collect();
        let done = Mutex::new(Vec::new());
        in_parallel(&runs, |(name, options)| {
            let found = program.detect(options);
            done.lock().unwrap().push((name.clone(), found));
        });
        done.into_inner().unwrap()
    })
}

/// In each run the section ended, and nothing was reported in which it takes part.
fn silent(name: &str, class: &str) {
    let ended = format!("ok {name}");
    let is_other = |c: char| !c.is_alphanumeric() && c != '_';
    for (run, found) in runs() {
        let line = found.stdout.lines().any(|line| line == ended);
        assert!(line, "{run}: the section did not end: {}", found.stderr);
        let takes_part = |race: &str| {
            let mut after = race
                .match_indices(class)
                .map(|(at, _)| &race[at + class.len()..]);
            after.any(|rest| rest.starts_with(is_other))
        };
        let races = found.races().iter().filter(|r| takes_part(&r.to_string()));
        let races: Vec<String> = races.map(described).collect();
        assert!(races.is_empty(), "{run}:\n{}", races.join("\n"));
    }
}

fn described(race: &serde_json::Value) -> String {
    let access = |i: usize| {
        let at = &race["accesses"][i];
        format!("{}:{}", at["file"].as_str().unwrap_or("?"), at["line"])
    };
    format!("{} at {} and {}", location(race), access(0), access(1))
}

/// Also nothing that cannot be put down to one section.
#[track_caller]
fn nothing_found(run: &str, found: &Detected) {
    let races: Vec<String> = found.races().iter().map(described).collect();
    assert!(races.is_empty(), "{run}:\n{}", races.join("\n"));
    let ended = (found.code, &found.report["program"]["exit"]);
    assert_eq!(ended, (Some(0), &0.into()), "{run}: {}", found.stderr);
}

fn all_together() {
    let sections = Expected::load("ordered").sections.len();
    for (run, found) in runs() {
        nothing_found(run, found);
        assert_eq!(found.stdout.lines().count(), sections, "{run}");
    }
}

fn under_control(scheduler: &str, seed: u64) {
    static ALONE: Shared<std::process::Output> = Shared::new();
    let expected = Expected::load("ordered");
    let program = expected.whole("ordered");
    let alone = ALONE.get(|| program.native());
    let found = controlled(&program, scheduler, seed, &[]);
    let wrong = super::control::complaints(&expected.sections[0], alone, &found);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn from_a_trace() {
    let program = Expected::load("ordered").whole("ordered");
    let trace = scratch("ordered-trace").join("t.pft");
    let done = program.reported(&["record", "-o", trace.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let found = offline(&trace, "fasttrack");
    let races: Vec<String> = found.races().iter().map(described).collect();
    assert!(races.is_empty(), "{}", races.join("\n"));
    assert_eq!(found.code, Some(0));
}

/// What is predicted from, by the beginning of the names of sections.
const GROUPS: [&str; 8] = [
    "synchronizer-",
    "queue-",
    "pool-",
    "future-",
    "shared-",
    "life-",
    "atomic-",
    "handle-",
];

/// What orders two threads by data that makes no events, in queues, barriers and
/// collections of the JDK, does so in every schedule. So do atomics, whether they
/// succeed or fail, and the end of a constructor before a finaliser.
fn nothing_is_predicted(expected: &Expected, group: &str) {
    let names = expected.sections.iter().map(|s| &s.name);
    let names = names.filter(|name| name.starts_with(group));
    let mut program = expected.whole("ordered");
    program.args.extend(names.cloned());
    let done = program.reported(&["predict", "--engine", "syncp,osr,sliced"]);
    assert!(done.races().is_empty(), "{:#?}", done.races());
    assert_eq!(done.report["program"]["exit"], 0, "{}", done.stderr);
}
