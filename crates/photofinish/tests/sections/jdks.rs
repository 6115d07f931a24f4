//! JDKs later than the one of the other tests, as far as the machine has any.

use std::path::{Path, PathBuf};
use test_support::jdk::installed;
use test_support::programs::{Expected, Section, location, names};
use test_support::trials::{Trial, skipped, trial};

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
        all.extend(racy.sections.iter().filter(indirect).map(|section| {
            let name = format!("jdks::{home}::{}", section.name);
            trial(name, move || reported(java, racy, section))
        }));
    }
    all
}

fn ordered(java: &Path, options: &[&str]) {
    let expected = Expected::load("ordered");
    let java = ["--java", java.to_str().unwrap()];
    let found = expected.whole("ordered").detect(&[&java, options].concat());
    let races: Vec<String> = found.races().iter().map(location).collect();
    assert!(races.is_empty(), "{races:#?}");
    let ended = (found.code, &found.report["program"]["exit"]);
    assert_eq!(ended, (Some(0), &0.into()), "{}", found.stderr);
    assert_eq!(found.stdout.lines().count(), expected.sections.len());
    let unknown = &found.report["coverage"]["missing_models"];
    assert!(unknown.as_array().is_none_or(Vec::is_empty), "{unknown}");
}

fn reported(java: &Path, expected: &Expected, section: &Section) {
    let program = expected.program("racy", section);
    let found = program.detect(&["--java", java.to_str().unwrap()]);
    let found = found.locations();
    let expected = names(&section.races).into_iter();
    let missing: Vec<_> = expected.filter(|l| !found.contains(*l)).collect();
    assert!(missing.is_empty(), "{missing:?} not reported");
}
