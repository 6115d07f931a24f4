//! The files that a result is written to: JSON, also to standard output, and
//! for people and other programs HTML, SARIF, JUnit XML and traces.

use crate::args::Show;
use crate::exit::{self, Failure};
use anyhow::Context;
use driver::store::Store;
use engine::sources::SourceTree;
use findings::result::Report;
use report::sarif;
use report::timeline::{Timeline, Timelines};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// All that were asked for, opened before the work begins: fail now, not after
/// an hour of running.
#[derive(Debug)]
pub struct Outputs {
    stdout: bool,
    json: Option<Opened>,
    html: Option<Opened>,
    sarif: Option<Opened>,
    junit: Option<Opened>,
    perfetto: Option<Opened>,
    sources: Vec<PathBuf>,
    /// Something shows schedules.
    wanted: bool,
}

/// Bytes of a schedule log that is shown: some million steps.
const LONGEST: usize = 8 << 20;

#[derive(Debug)]
struct Opened {
    file: File,
    path: PathBuf,
}

impl Outputs {
    pub fn open(show: &Show) -> Result<Outputs, Failure> {
        let stdout = show.json.as_deref() == Some(Path::new("-"));
        let json = show.json.as_ref().filter(|_| !stdout);
        Ok(Outputs {
            stdout,
            json: json.map(Opened::create).transpose()?,
            html: show.html.as_ref().map(Opened::create).transpose()?,
            sarif: show.sarif.as_ref().map(Opened::create).transpose()?,
            junit: show.junit.as_ref().map(Opened::create).transpose()?,
            perfetto: show.perfetto.as_ref().map(Opened::create).transpose()?,
            sources: show.sources.clone(),
            wanted: !show.quiet
                || show.html.is_some()
                || show.sarif.is_some()
                || show.perfetto.is_some(),
        })
    }

    /// Whether the JSON goes to standard output, so that nothing else should.
    pub fn is_stdout(&self) -> bool {
        self.stdout
    }

    /// The schedules of the result with this number, or of the latest, if
    /// anything has a use for them. What cannot be read is left out: the result
    /// is worth showing without, and `replay` says what is wrong.
    pub fn kept(&self, results: &Path, number: Option<i64>) -> Timelines {
        let store = Store::open_result(results, number).ok();
        let Some(store) = store.filter(|_| self.wanted) else {
            return Timelines::new();
        };
        let timeline = |name: &String| {
            let (_, log) = store.schedule(name).ok()?;
            let log = Some(log).filter(|log| log.len() <= LONGEST)?;
            Some(Timeline::of_log(&schedule::log::read(&log).ok()?))
        };
        let names = store.schedules().unwrap_or_default();
        let found = names
            .into_iter()
            .filter_map(|name| Some((timeline(&name)?, name)));
        found.map(|(timeline, name)| (name, timeline)).collect()
    }

    /// Writes them all, with these schedules: one that cannot be written (the first is named)
    /// does not keep others from it.
    pub fn write_with(self, report: &Report, timelines: &Timelines) -> Result<(), Failure> {
        let json = match self.stdout {
            true => report.write_json(std::io::stdout().lock()),
            false => Ok(()),
        };
        let stdout = json.context("cannot write the JSON").map_err(Failure::from);
        let program: Vec<OsString> = report.program.args.iter().map(OsString::from).collect();
        let sources = SourceTree::new(&self.sources, &program);
        let root = std::env::current_dir().ok();
        let root = root.as_deref().and_then(Path::to_str);
        let context = sarif::Context {
            sources: &sources,
            timelines,
            root,
        };
        let outputs = [self.json, self.html, self.sarif, self.junit, self.perfetto];
        let [json, html, sarif, junit, perfetto] = outputs;
        let page = |out: &mut dyn Write| report::html::write(report, &sources, timelines, out);
        [
            stdout,
            write(json, |out| report.write_json(out)),
            write(html, page),
            write(sarif, |out| sarif::write(report, context, out)),
            write(junit, |out| report::junit::write(report, out)),
            write(perfetto, |out| report::perfetto::write(timelines, out)),
        ]
        .into_iter()
        .collect()
    }
}

impl Opened {
    fn create(path: &PathBuf) -> Result<Opened, Failure> {
        let file = File::create(path)
            .with_context(|| format!("cannot write {}", path.display()))
            .map_err(|error| Failure {
                code: exit::USAGE,
                error,
            })?;
        Ok(Opened {
            file,
            path: path.clone(),
        })
    }
}

fn write(
    output: Option<Opened>,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let Some(Opened { file, path }) = output else {
        return Ok(());
    };
    let mut out = BufWriter::new(file);
    let done = content(&mut out).and_then(|()| out.flush());
    Ok(done.with_context(|| format!("cannot write {}", path.display()))?)
}
