//! `hunt` on the examples: each finds what is documented for it, with the right
//! status and nothing else, and the report on the terminal is as its golden file.

use crate::redact::Redacted;
use std::collections::BTreeSet;
use test_support::programs::{Expected, Location, Section, hunt, location, names, root, scratch};
use test_support::trials::{Trial, trial};

pub fn trials() -> Vec<Trial> {
    let expected = Expected::for_trials("examples");
    let each = expected.sections.iter().map(|section| {
        let name = format!("hunt::{}", section.name);
        trial(name, move || ends_as_documented(expected, section))
    });
    each.collect()
}

fn ends_as_documented(expected: &Expected, section: &Section) {
    let name = &section.name;
    let program = expected.program("examples", section);
    let results = scratch(&format!("hunt-{name}")).join("r");
    let options = ["--runs", "3", "--skip", "advise,verify"];
    let hunted = hunt(&program, &results, &options);
    // Nothing that is not documented.
    let may = &names(&section.may) | &names(&section.races);
    for race in hunted.races() {
        let location = location(race);
        assert!(may.contains(location.as_str()), "{location}");
    }
    assert_eq!(hunted.stdout, "", "what the program prints is not shown");
    let code = if section.races.is_empty() { 0 } else { 66 };
    assert_eq!(hunted.code, Some(code), "{}", hunted.stderr);
    let shown: Vec<String> = section.races.iter().map(Location::shown).collect();
    let shown = shown.iter().map(String::as_str).collect();
    compare(name, &shown, &hunted.stderr);
}

/// Holds a report against the golden one. `PHOTOFINISH_GOLDEN=1` adds what is
/// new to that instead.
fn compare(name: &str, locations: &BTreeSet<&str>, report: &str) {
    let file = root().join(format!("programs/examples/hunt/{name}.txt"));
    let mut golden = Redacted::read(&std::fs::read_to_string(&file).unwrap_or_default());
    let got = Redacted::from_report(report, locations);
    if test_support::golden::is_update() {
        golden.add(got);
        std::fs::write(&file, golden.write()).unwrap();
        return;
    }
    assert_eq!(golden.rest, got.rest, "{name}: it said\n{report}");
    for race in &got.races {
        let same = golden.races.iter().find(|known| known.text == race.text);
        let Some(same) = same else {
            panic!("{name}: not in its golden report:\n{}", race.text);
        };
        let (seen, known) = (&race.outcomes, &same.outcomes);
        assert!(
            !seen.is_empty() && seen.is_subset(known),
            "{name}: {seen:?}"
        );
    }
    let met: BTreeSet<&str> = got.races.iter().map(|r| r.location.as_str()).collect();
    assert_eq!(&met, locations, "{name}: it said\n{report}");
}
