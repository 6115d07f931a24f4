//! Saved results: a file written with `--json`, standard input, a directory
//! of results, or one in which JVMs with the agent have left what they found.

use crate::error::{Context, Error};
use crate::exec;
use crate::input;
use driver::store::Store;
use findings::result::Report;
use std::path::Path;

/// Reads a result; of a directory the one with this number, or the latest.
pub fn load(from: &Path, number: Option<i64>) -> Result<Report, Error> {
    read(from, number).or_usage()
}

fn read(from: &Path, number: Option<i64>) -> Result<Report, Error> {
    let standard = from == Path::new("-");
    if exec::is_directory_of_jvms(from) {
        return Ok(exec::read_directory(from)?.report);
    }
    if !standard && (from.is_dir() || number.is_some() || !from.exists() && is_default(from)) {
        let store = Store::open_result(from, number)?;
        return Ok(store.report()?);
    }
    let bytes = match standard {
        true => input::read_from(std::io::stdin(), input::RESULT)
            .context("cannot read standard input")?,
        false => input::read(from, input::RESULT)
            .with_context(|| format!("cannot read {}", from.display()))?,
    };
    Report::from_json(&bytes).with_context(|| from.display().to_string())
}

/// Of what result, program and time a finding is: `R1` alone means that of the latest result.
pub fn origin(from: &Path, number: Option<i64>, report: &Report) -> String {
    let store = Store::open_result(from, number);
    let of = match store {
        Ok(store) if from != Path::new("-") => told(&store),
        _ => from.display().to_string(),
    };
    let java = if report.program.exec { "" } else { "java " };
    match &report.program.args[..] {
        [] => format!("of {of}"),
        args => format!("of {of}: {java}{}", args.join(" ")),
    }
}

/// Which result of its directory this is.
pub(crate) fn told(store: &Store) -> String {
    format!("result {}, {} UTC", store.number(), store.made())
}

/// The scheduling points that shards of an exploration ended with.
pub fn points(from: &Path) -> Result<Vec<String>, Error> {
    let report = load(from, None)?;
    let points = report.exploration.and_then(|explored| explored.points);
    points.ok_or_else(|| {
        Error::usage(format!(
            "{} has no scheduling points: it is not the result of `verify --shard`",
            from.display()
        ))
    })
}

/// Where the schedules of a result are: in its directory; those of a file may
/// be in the usual place, if it has the same races.
pub fn results<'a>(from: &'a Path, report: &Report) -> Option<&'a Path> {
    if from.is_dir() {
        return Some(from);
    }
    let usual = Path::new(driver::store::DEFAULT);
    let latest = Store::open(usual).and_then(|store| store.report());
    latest.ok().filter(|latest| latest.races == report.races)?;
    Some(usual)
}

/// What `--baseline` names, and what to call it: the number of a result beside
/// this one, or anything that can be loaded.
pub fn baseline(old: &str, beside: &Path) -> Result<(Report, String), Error> {
    match old.parse() {
        Ok(number) if beside.is_dir() => {
            Ok((load(beside, Some(number))?, format!("result {number}")))
        }
        _ => Ok((load(Path::new(old), None)?, old.to_owned())),
    }
}

/// Nobody named it, so that there is no such file is no news.
fn is_default(from: &Path) -> bool {
    from == Path::new(driver::store::DEFAULT)
}
