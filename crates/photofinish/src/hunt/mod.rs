//! `hunt`: everything, in order, for someone who just wants to know.
//!
//! ```text
//! stages    what is done, one function a stage
//! explored  one of them: every schedule, if there are few enough
//! child     another of our commands as a process
//! summary   what came of it, in a few lines
//! ```
//!
//! The stages share one report, to which each adds what it found; races keep
//! the ids they were given first. Each has a share of the time: what it cannot
//! do by then is left, and said. After each the result is saved, so that
//! whoever ends the hunt, with Ctrl-C or worse, keeps what was found before.

mod child;
mod explored;
mod stages;
mod summary;

use crate::args;
use crate::controlled_run;
use crate::exit::{self, Failure};
use crate::launch::Launcher;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::session::Session;
use crate::show;
use crate::suppress;
use anyhow::Context;
use driver::process::{Input, Outcome, Stopped};
use driver::store::{self, Writer};
use findings::result::{Report, Status};
use findings::suppress::{Suppressions, name};
use serde_json::json;
use stages::STAGES;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// How long it may take unless told otherwise.
const TIME: Duration = Duration::from_secs(300);

/// A stage is not begun with less.
const LEAST: Duration = Duration::from_millis(500);

pub fn command(args: &args::Hunt) -> Result<u8, Failure> {
    let stages = || STAGES.iter().map(|stage| stage.name);
    if let Some(other) = args.skip.iter().find(|name| stages().all(|s| s != *name)) {
        let all: Vec<&str> = stages().collect();
        return Err(Failure::usage(format!(
            "there is no stage {other} to leave out; there are: {}",
            all.join(", ")
        )));
    }
    let known = suppress::load(&args.show)?;
    let launcher = Launcher::new(&args.launch)?;
    let outputs = Outputs::open(&args.show)?;
    let store = controlled_run::store(&args.steer)?;
    let input = Given::new(args.input.as_deref())?;
    let program = controlled_run::program(&launcher.java, &args.launch, input.path())?;

    let began = Instant::now();
    let total = args.launch.time_limit.unwrap_or(TIME);
    let (report, _) = Session::new(&args.launch).finish("hunt");
    let mut hunt = Hunt {
        args,
        launcher: &launcher,
        known: &known,
        progress: Progress::new(args.show.quiet, began.checked_add(total)),
        store,
        program,
        input: input.input(),
        report,
        began,
        total,
        ends: true,
        exercised: true,
        refused: false,
        interrupted: false,
        limited: false,
        failed: false,
        complete: None,
        told: BTreeSet::new(),
        done: Vec::new(),
    };
    hunt.all_stages()?;
    hunt.progress.clear();
    let code = hunt.finish()?;
    let kept = outputs.kept(&args.steer.results, None);
    outputs.write_with(&hunt.report, &kept)?;
    show::with_schedules(
        &hunt.report,
        &args.show,
        &args.launch.program,
        &kept,
        std::io::stderr(),
    )?;
    if !args.show.quiet {
        let text = summary::text(&hunt);
        // Whoever closed standard error does not want this either.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    Ok(code)
}

/// What the program reads.
struct Given {
    path: Option<PathBuf>,
    /// Gone with this value.
    _kept: Option<NamedTempFile>,
}

impl Given {
    /// Standard input is kept in a file: every run begins to read it anew.
    fn new(file: Option<&Path>) -> Result<Given, Failure> {
        if file != Some(Path::new("-")) {
            return Ok(Given {
                path: file.map(Path::to_owned),
                _kept: None,
            });
        }
        let mut kept =
            NamedTempFile::new().context("cannot keep the input; is TMPDIR writable?")?;
        std::io::copy(&mut std::io::stdin().lock(), &mut kept)
            .context("cannot read standard input")?;
        Ok(Given {
            path: Some(kept.path().to_owned()),
            _kept: Some(kept),
        })
    }

    fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn input(&self) -> Input {
        match &self.path {
            Some(file) => Input::File(file.clone()),
            None => Input::Empty,
        }
    }
}

/// A stage that is over.
struct Done {
    name: &'static str,
    seconds: f64,
    /// What it did, in words.
    note: String,
}

struct Hunt<'a> {
    args: &'a args::Hunt,
    launcher: &'a Launcher<'a>,
    known: &'a Suppressions,
    progress: Progress,
    store: Writer,
    program: store::Program,
    input: Input,
    report: Report,
    began: Instant,
    total: Duration,
    /// The program ends by itself.
    ends: bool,
    /// There was something to find: several threads, instrumented classes.
    exercised: bool,
    /// Java itself complained, and did not run the program.
    refused: bool,
    interrupted: bool,
    /// Something was left for want of time.
    limited: bool,
    failed: bool,
    /// What can be said because every schedule was explored.
    complete: Option<String>,
    /// Races that were told of while they were found.
    told: BTreeSet<String>,
    done: Vec<Done>,
}

impl Hunt<'_> {
    fn all_stages(&mut self) -> Result<(), Failure> {
        for (number, stage) in STAGES.iter().enumerate() {
            if self.over() {
                break;
            }
            if self.args.skip.iter().any(|name| name == stage.name) {
                continue;
            }
            if self.left(stage.share) < LEAST {
                self.limited = true;
                let text = format!("no time was left for: {}", stage.name);
                self.report.warnings.push(text);
                continue;
            }
            let start = Instant::now();
            self.head(stage.name);
            if self.args.show.verbose {
                self.progress.clear();
                eprintln!("photofinish: {}", stage.name);
            }
            let note = match (stage.run)(self) {
                Ok(note) => note,
                // Without a first run there is nothing to go on with.
                Err(failure) if number == 0 && self.report.runs.is_empty() => return Err(failure),
                Err(failure) => {
                    self.failed = true;
                    let text = format!("{} failed: {:#}", stage.name, failure.error);
                    self.report.warnings.push(text.clone());
                    text
                }
            };
            self.done.push(Done {
                name: stage.name,
                seconds: start.elapsed().as_secs_f64(),
                note,
            });
            self.save()?;
        }
        Ok(())
    }

    /// Whether there is no use in going on.
    fn over(&self) -> bool {
        self.interrupted || !self.exercised
    }

    /// Time until this share of it is used.
    fn left(&self, share: f64) -> Duration {
        self.until(share).saturating_duration_since(Instant::now())
    }

    fn until(&self, share: f64) -> Instant {
        self.began + self.total.mul_f64(share)
    }

    /// Notes how a run ended.
    fn noticed(&mut self, outcome: &Outcome) {
        self.interrupted |= outcome.stopped == Some(Stopped::Interrupted);
    }

    /// Adds what runs found.
    fn take(&mut self, session: Session) {
        let (report, code) = session.finish("hunt");
        self.exercised &= code != exit::NOT_EXERCISED;
        self.limited |= code == exit::LIMIT;
        self.failed |= code == exit::TOOL_FAILED;
        self.add(report);
    }

    fn add(&mut self, report: Report) {
        if self.report.runs.is_empty() {
            self.report.program = report.program.clone();
        }
        self.report.absorb(report);
        self.tell();
    }

    /// First results are told at once.
    fn tell(&mut self) {
        if !self.progress.is_on() {
            return;
        }
        for race in &self.report.races {
            let certain = race.status >= Status::Observed && !self.known.hides(race);
            if certain
                && self
                    .told
                    .insert(format!("{}{}", race.id, race.status.word()))
            {
                self.progress.clear();
                let place = findings::text::clean(&name(&race.location));
                eprintln!("{}: race on {place}, {}", race.id, race.status.word());
            }
        }
    }

    /// Says on the terminal which stage it is, and how far we are.
    fn head(&self, stage: &str) {
        let certain = |race: &&findings::result::Race| race.status >= Status::Observed;
        let found = self.report.races.iter().filter(certain).count();
        let candidates = self.report.races.len() - found;
        self.progress
            .head(format!("{stage}: {candidates} suspected, {found} found; "));
    }

    fn save(&mut self) -> Result<(), Failure> {
        self.report.timing.total_s = self.began.elapsed().as_secs_f64();
        Ok(self.store.save(&self.program, &self.report)?)
    }

    /// Closes the account; the exit code.
    fn finish(&mut self) -> Result<u8, Failure> {
        if self.interrupted {
            let text = "stopped before the end: this is what was found up to then";
            self.report.warnings.push(text.to_owned());
        }
        if self.refused {
            let idle = |text: &String| text.contains("nothing was exercised");
            self.report.warnings.retain(|text| !idle(text));
            let text = "nothing was exercised: java did not run the program (its message is above)";
            self.report.warnings.push(text.to_owned());
        } else if !self.exercised && self.args.input.is_none() {
            let text = "the program was given no input; if it needs some, use --input FILE";
            self.report.warnings.push(text.to_owned());
        }
        self.known.apply(&mut self.report);
        let stages: Vec<_> = { self.done.iter() }
            .map(|d| json!({ "stage": d.name, "seconds": d.seconds, "note": d.note }))
            .collect();
        let told = json!({ "stages": stages, "time_limit_s": self.total.as_secs_f64() });
        self.report.other.insert("hunt".to_owned(), told);
        self.save()?;
        Ok(match () {
            () if self.report.has_findings() => exit::FOUND,
            () if self.failed => exit::TOOL_FAILED,
            () if !self.exercised => exit::NOT_EXERCISED,
            () if self.interrupted || self.limited => exit::LIMIT,
            () => exit::NOTHING_FOUND,
        })
    }
}
