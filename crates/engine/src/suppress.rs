//! Suppressions: the file of races that nobody wants to hear about, and what a
//! result comes to without them.

use crate::error::Error;
use crate::verdict::Verdict;
use findings::result::Report;
use findings::suppress::Suppressions;
use std::path::Path;

/// Reads the file, before anything is run.
pub fn load(path: &Path) -> Result<Suppressions, Error> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string());
    let parsed = text.and_then(|text| Suppressions::parse(&text));
    parsed.map_err(|why| Error::usage(format!("cannot use {}: {why}", path.display())))
}

/// Takes suppressed races out of the report; the verdict without them.
pub fn apply(known: &Suppressions, report: &mut Report, verdict: Verdict) -> Verdict {
    let before = report.races.len();
    known.apply(report);
    let fewer = report.races.len() < before;
    match verdict {
        Verdict::Found if fewer && !report.has_findings() && !report.has_violations() => {
            Verdict::NothingFound
        }
        verdict => verdict,
    }
}
