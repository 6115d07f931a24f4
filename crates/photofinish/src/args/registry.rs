//! Values of options that come from the registries of detectors and schedulers.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use detect::{DETECTORS, Kind};
use schedule::Scheduler;

/// What `--detector` names: one of them, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detector(pub Option<Kind>);

const NO_DETECTOR: &str = "none";

pub fn detector() -> impl TypedValueParser<Value = Detector> {
    let none = PossibleValue::new(NO_DETECTOR)
        .help("No race detection: deadlocks and uncaught exceptions of controlled runs");
    let detectors = DETECTORS
        .iter()
        .map(|kind| PossibleValue::new(kind.name()).help(kind.about()));
    // Only names of detectors come past the parser, and the one that is none.
    PossibleValuesParser::new(detectors.chain([none])).map(|name| Detector(Kind::named(&name)))
}

pub fn scheduler() -> impl TypedValueParser<Value = Scheduler> {
    let offered = Scheduler::offered().map(|s| PossibleValue::new(s.name()).help(s.about()));
    PossibleValuesParser::new(offered)
        .try_map(|name| Scheduler::named(&name).ok_or("no scheduler has this name"))
}

/// What a campaign tries: schedulers, and free runs with the hybrid detector. Those that go by a
/// relation need an earlier run of their own.
pub fn strategy() -> impl TypedValueParser<Value = String> {
    let offered = Scheduler::offered().filter(|s| !s.goes_by_relation());
    let schedulers = offered.map(|s| PossibleValue::new(s.name()).help(s.about()));
    let hybrid = PossibleValue::new(campaign::plan::HYBRID)
        .help("Free runs that look for pairs of statements which may race");
    let verify = PossibleValue::new(campaign::plan::VERIFY)
        .help("Exploration of all schedules, in portions that workers explore side by side");
    PossibleValuesParser::new(schedulers.chain([hybrid, verify]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use detect::Claim;
    use schedule::SCHEDULERS;

    fn schedulers() -> String {
        let rows = SCHEDULERS.iter().map(|s| {
            let replay = if s.is_serial() { "yes" } else { "no" };
            format!("| `{}` | {} | {replay} |\n", s.name(), s.about())
        });
        let head = "| name | what it does | can be replayed |\n|---|---|---|\n";
        head.to_owned() + &rows.collect::<String>()
    }

    fn detectors() -> String {
        let rows = DETECTORS.iter().map(|kind| {
            let status = match kind.claim() {
                Claim::Observed => "observed",
                Claim::Suspected => "potential",
            };
            format!("| `{}` | {} | {status} |\n", kind.name(), kind.about())
        });
        let head = "| name | what it finds | its findings are |\n|---|---|---|\n";
        head.to_owned() + &rows.collect::<String>()
    }

    #[test]
    fn registry_and_documentation_say_the_same() {
        for (file, table) in [
            ("strategies.md", schedulers()),
            ("detectors.md", detectors()),
        ] {
            let path = format!("{}/../../docs/{file}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap();
            let start = text.find("<!-- registry:").unwrap();
            let start = start + text[start..].find('\n').unwrap() + 1;
            let end = start + text[start..].find("<!-- end -->").unwrap();
            let wanted = format!("{}{table}{}", &text[..start], &text[end..]);
            test_support::golden::compare(path.as_ref(), &wanted);
        }
    }
}
