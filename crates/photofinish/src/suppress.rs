//! `--suppress`: the file of races that nobody wants to hear about.

use crate::args::Show;
use crate::exit::{self, Failure};
use findings::result::Report;
use findings::suppress::Suppressions;

/// Reads the file, before anything is run.
pub fn load(show: &Show) -> Result<Suppressions, Failure> {
    let Some(path) = &show.suppress else {
        return Ok(Suppressions::default());
    };
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string());
    let parsed = text.and_then(|text| Suppressions::parse(&text));
    parsed.map_err(|why| Failure::usage(format!("cannot use {}: {why}", path.display())))
}

/// Takes suppressed races out of the report; the exit code without them.
pub fn apply(known: &Suppressions, report: &mut Report, code: u8) -> u8 {
    let before = report.races.len();
    known.apply(report);
    let fewer = report.races.len() < before;
    match code {
        exit::FOUND if fewer && !report.has_findings() && !violations(report) => {
            exit::NOTHING_FOUND
        }
        code => code,
    }
}

/// Whether something else than a race was found.
fn violations(report: &Report) -> bool {
    let list = |name: &str| report.other.get(name).and_then(|v| v.as_array());
    let broken = |list: &Vec<serde_json::Value>| list.iter().any(|p| p["status"] != "holds");
    list("atomicity").is_some_and(|list| !list.is_empty()) || list("properties").is_some_and(broken)
}
