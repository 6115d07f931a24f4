//! `compare`: the same program under several schedulers, and what each finds and
//! costs. Every run is written down when it is over, so that a comparison that was
//! interrupted goes on where it stopped.

use crate::args::{Compare, Scheduler};
use crate::controlled_run;
use crate::exit::{self, Failure};
use crate::launch::{Launcher, Plan};
use crate::may_trigger::Hidden;
use crate::session::Session;
use crate::show;
use anyhow::Context;
use driver::options::Mode;
use driver::process::{Input, Output};
use report::compare::{Comparison, Found, Row, Subject, by_depth, by_scheduler, svg};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Runs of the program alone, to compare times with.
const ALONE: u32 = 3;
/// A run that ends in a deadlock is made so often.
const ATTEMPTS: u64 = 3;
/// Between the seeds of two attempts.
const APART: u64 = 1_000_003;

pub fn command(args: &Compare) -> Result<u8, Failure> {
    let launcher = Launcher::new(&args.launch)?;
    let mut journal = Journal::open(args)?;
    let progress = !args.quiet && std::io::stderr().is_terminal();
    let schedulers: Vec<Subject> = args.schedulers.iter().map(|s| named(*s)).collect();
    let depths: Vec<Subject> = args
        .depths
        .iter()
        .flat_map(|depths| &depths.0)
        .map(|depth| Subject {
            depth: Some(*depth),
            ..named(Scheduler::Drfinder)
        })
        .collect();
    let mut making = Making {
        args,
        launcher: &launcher,
        journal: &mut journal,
        progress,
    };
    let whole = making.all(&depths)?;
    let all = &journal.all;
    let mut out = std::io::stdout().lock();
    write!(out, "{}", by_scheduler(all, &schedulers))?;
    if !depths.is_empty() {
        let others: Vec<Subject> = schedulers
            .iter()
            .filter(|s| !s.scheduler.starts_with("drfinder"))
            .cloned()
            .collect();
        write!(out, "\n{}", by_depth(all, &depths, &others))?;
    }
    if let Some(path) = &args.svg {
        let picture = svg(all, &schedulers).unwrap_or_default();
        std::fs::write(path, picture)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.json {
        let text = json(args, all)?;
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if !whole {
        writeln!(
            out,
            "not all runs were made; the same command goes on from here"
        )?;
        return Ok(exit::LIMIT);
    }
    let found = all.rows.iter().any(|row| !row.races.is_empty());
    Ok(if found {
        exit::FOUND
    } else {
        exit::NOTHING_FOUND
    })
}

fn json(args: &Compare, all: &Comparison) -> Result<String, Failure> {
    let program: Vec<String> = args
        .launch
        .program
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let value = serde_json::json!({
        "schema": findings::result::SCHEMA,
        "tool": show::tool(),
        "command": "compare",
        "program": { "args": program },
        "runs": all.rows,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn named(scheduler: Scheduler) -> Subject {
    use clap::ValueEnum;
    let value = scheduler.to_possible_value();
    Subject::of(value.as_ref().map_or("?", |v| v.get_name()))
}

/// The runs that have been made, on disk.
struct Journal {
    dir: PathBuf,
    file: File,
    all: Comparison,
}

/// What a journal is of.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    format: u32,
    args: Vec<String>,
    classes: BTreeMap<String, String>,
    seed: u64,
}

impl Journal {
    fn open(args: &Compare) -> Result<Journal, Failure> {
        let dir = args.steer.results.join("compare");
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let directory = std::env::current_dir().context("the current directory is gone")?;
        let program = &args.launch.program;
        let header = Header {
            format: 1,
            args: program
                .iter()
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect(),
            classes: controlled_run::digests(&directory, program, None),
            seed: args.steer.seed,
        };
        let path = dir.join("runs.jsonl");
        let all = match read(&path)? {
            None => Comparison::default(),
            Some((known, all)) if known == header => all,
            Some(_) => {
                return Err(Failure::usage(format!(
                    "{} has runs of another program, of other classes or another seed; name another directory with --results",
                    dir.display()
                )));
            }
        };
        let new = all.rows.is_empty();
        let mut file = OpenOptions::new()
            .create(true)
            .append(!new)
            .write(true)
            .truncate(new)
            .open(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        if new {
            writeln!(file, "{}", serde_json::to_string(&header)?)?;
        }
        Ok(Journal { dir, file, all })
    }

    fn add(&mut self, row: Row) -> Result<(), Failure> {
        writeln!(self.file, "{}", serde_json::to_string(&row)?)
            .with_context(|| format!("cannot write to {}", self.dir.display()))?;
        self.all.rows.push(row);
        Ok(())
    }

    /// Where the relation of a subject is kept from run to run.
    fn relation(&self, subject: &Subject) -> PathBuf {
        let depth = subject.depth.map(|d| format!("-{d}")).unwrap_or_default();
        let name = format!("relation-{}{depth}.txt", subject.scheduler);
        self.dir.join(name)
    }
}

/// What a journal says; a last line that was not finished is left out.
fn read(path: &Path) -> Result<Option<(Header, Comparison)>, Failure> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    let mut lines = BufReader::new(file).lines();
    let header = lines.next().transpose()?;
    let header = header.and_then(|line| serde_json::from_str(&line).ok());
    let Some(header) = header else {
        return Ok(None);
    };
    let mut rows: Vec<Row> = Vec::new();
    for line in lines {
        match serde_json::from_str(&line?) {
            Ok(row) => rows.push(row),
            Err(_) => break,
        }
    }
    Ok(Some((header, Comparison { rows })))
}

/// Makes the runs that are missing.
struct Making<'a> {
    args: &'a Compare,
    launcher: &'a Launcher<'a>,
    journal: &'a mut Journal,
    progress: bool,
}

impl Making<'_> {
    /// False if it was interrupted.
    fn all(&mut self, depths: &[Subject]) -> Result<bool, Failure> {
        for run in 1..=ALONE.min(self.args.runs) {
            let alone = Subject::of("alone");
            if self.journal.all.has(&alone, run) {
                continue;
            }
            self.say("the program alone", run);
            let limit = self.args.launch.time_limit;
            let done = self.launcher.native(Input::Empty, limit)?;
            self.journal.add(Row {
                subject: alone,
                run,
                seconds: done.elapsed.as_secs_f64(),
                ended: "exit".to_owned(),
                races: Vec::new(),
                hidden: None,
            })?;
            if done.stopped.is_some() {
                return Ok(false);
            }
        }
        for scheduler in self.args.schedulers.clone() {
            if !self.runs_of(scheduler, named(scheduler))? {
                return Ok(false);
            }
        }
        for subject in depths {
            if !self.runs_of(Scheduler::Drfinder, subject.clone())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn say(&self, what: &str, run: u32) {
        if self.progress {
            eprintln!("photofinish: {what}, run {run}");
        }
    }

    fn runs_of(&mut self, scheduler: Scheduler, subject: Subject) -> Result<bool, Failure> {
        let runs = self.args.runs;
        if (1..=runs).all(|run| self.journal.all.has(&subject, run)) {
            return Ok(true);
        }
        let mut hidden = match scheduler.is_hidden() {
            true => Some(self.relation(&subject)?),
            false => None,
        };
        for run in 1..=runs {
            if self.journal.all.has(&subject, run) {
                continue;
            }
            self.say(&subject.scheduler, run);
            for attempt in 0..ATTEMPTS {
                let (row, over) = self.run(scheduler, &subject, run, attempt, &mut hidden)?;
                if over {
                    return Ok(false);
                }
                if row.ended == "deadlock" && attempt + 1 < ATTEMPTS {
                    continue;
                }
                self.journal.add(row)?;
                break;
            }
        }
        Ok(true)
    }

    /// The relation that a subject goes on with, from a run of its own at first.
    fn relation(&mut self, subject: &Subject) -> Result<Hidden, Failure> {
        let path = self.journal.relation(subject);
        let given = path.exists().then_some(path.as_path());
        let limit = self.args.launch.time_limit;
        let (hidden, seconds) = Hidden::begin(
            self.launcher,
            given,
            subject.depth,
            (Input::Empty, Output::Capture),
            limit,
        )?;
        let phase = Subject {
            depth: subject.depth,
            ..Subject::of("phase-1")
        };
        if let Some(seconds) = seconds.filter(|_| !self.journal.all.has(&phase, 1)) {
            self.journal.add(Row {
                subject: phase,
                run: 1,
                seconds,
                ended: "exit".to_owned(),
                races: Vec::new(),
                hidden: None,
            })?;
        }
        hidden.write(&path)?;
        Ok(hidden)
    }

    /// One run, and whether the user has had enough.
    fn run(
        &mut self,
        scheduler: Scheduler,
        subject: &Subject,
        run: u32,
        attempt: u64,
        hidden: &mut Option<Hidden>,
    ) -> Result<(Row, bool), Failure> {
        let args = self.args;
        let seed = controlled_run::seed(&args.steer, u64::from(run) - 1 + attempt * APART);
        let mut control = scheduler
            .strategy()
            .map(|name| controlled_run::control(&args.steer, name, seed));
        let dir = self.launcher.directory(&format!(
            "{}-{}-{run}-{attempt}",
            subject.scheduler,
            subject.depth.unwrap_or(0)
        ))?;
        let mut time_limit = args.launch.time_limit;
        if let (Some(hidden), Some(control)) = (hidden.as_ref(), control.as_mut()) {
            hidden.aim(control, &dir)?;
            time_limit = Some(hidden.limit());
        }
        let plan = Plan {
            control,
            time_limit,
            input: Input::Empty,
            ..Plan::new(Mode::FastTrack, Output::Capture)
        };
        let mut session = Session::new(&args.launch);
        session.add(self.launcher.run_in(&dir, plan)?);
        let over = session.is_over();
        let (report, _) = session.finish("compare");
        let made = report.runs.into_iter().next().unwrap_or_default();
        if let Some(hidden) = hidden
            .as_mut()
            .filter(|_| made.ended != "deadlock" && !over)
        {
            hidden.learn(&dir);
            hidden.write(&self.journal.relation(subject))?;
        }
        let mut races: Vec<Found> = report.races.iter().map(Found::of).collect();
        races.sort();
        races.dedup();
        let row = Row {
            subject: subject.clone(),
            run,
            seconds: made.seconds,
            ended: made.ended,
            races,
            hidden: made.hidden,
        };
        Ok((row, over))
    }
}
