//! `compare`: the same program under several schedulers, and what each finds and
//! costs. Every run is written down when it is over, so that a comparison that was
//! interrupted goes on where it stopped.

use crate::config::{ControlConfig, LaunchConfig};
use crate::controlled_run;
use crate::detect::Scheduler;
use crate::error::{Context, Error};
use crate::launch::{Launcher, Plan};
use crate::may_trigger::Hidden;
use crate::progress::Progress;
use crate::session::Session;
use crate::verdict::Facts;
use driver::options::Mode;
use driver::process::{Input, Output};
use findings::compare::{Comparison, Found, Row, Subject};
use findings::result::Status;
use protocol::RunEnd;
use schedule::strategies::{pct, pos};
use schedule::{contest, may_trigger};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Runs of the program alone, to compare times with.
const ALONE: u32 = 3;
/// A run that ends in a deadlock is made so often.
const ATTEMPTS: u64 = 3;
/// Between the seeds of two attempts.
const APART: u64 = 1_000_003;

/// What is compared unless others are named.
pub const DEFAULT: [Scheduler; 5] = [
    schedule::NATIVE,
    contest::SCHEDULER,
    pct::SCHEDULER,
    pos::SCHEDULER,
    WITH_DEPTHS,
];
/// The scheduler of the runs with different depths.
const WITH_DEPTHS: Scheduler = may_trigger::SCHEDULER;

/// What `compare` is told.
#[derive(Clone, Debug)]
pub struct CompareConfig {
    pub schedulers: Vec<Scheduler>,
    /// Runs under each scheduler.
    pub runs: u32,
    /// Also runs of drfinder with each of these depths.
    pub depths: Vec<u32>,
    pub control: ControlConfig,
    pub launch: LaunchConfig,
}

impl Default for CompareConfig {
    fn default() -> CompareConfig {
        CompareConfig {
            schedulers: DEFAULT.to_vec(),
            runs: 10,
            depths: Vec::new(),
            control: ControlConfig::default(),
            launch: LaunchConfig::default(),
        }
    }
}

/// Several schedulers side by side.
#[derive(Clone, Debug)]
pub struct Compared {
    /// All runs.
    pub all: Comparison,
    pub schedulers: Vec<Subject>,
    /// One for each depth of drfinder.
    pub depths: Vec<Subject>,
    /// All runs were made; if not, the same call goes on from here.
    pub whole: bool,
    pub facts: Facts,
}

/// Makes the runs that are missing.
pub fn compare(config: &CompareConfig, progress: &dyn Progress) -> Result<Compared, Error> {
    let launcher = Launcher::new(&config.launch)?;
    let mut journal = Journal::open(config)?;
    let named = |scheduler: &Scheduler| Subject::new(scheduler.name());
    let schedulers: Vec<Subject> = config.schedulers.iter().map(named).collect();
    let depths = config.depths.iter().map(|depth| Subject {
        depth: Some(*depth),
        ..named(&WITH_DEPTHS)
    });
    let depths: Vec<Subject> = depths.collect();
    let mut making = Making {
        config,
        launcher: &launcher,
        journal: &mut journal,
        progress,
    };
    let whole = making.all(&depths)?;
    let all = journal.all;
    let found = all.rows.iter().any(|row| !row.races.is_empty());
    let facts = Facts {
        limit_reached: !whole,
        unlisted: found.then_some(Status::Observed),
        ..Facts::default()
    };
    Ok(Compared {
        all,
        schedulers,
        depths,
        whole,
        facts,
    })
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
    fn open(config: &CompareConfig) -> Result<Journal, Error> {
        let dir = config.control.results.join("compare");
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let directory = std::env::current_dir().context("the current directory is gone")?;
        let program = &config.launch.program;
        let header = Header {
            format: 1,
            args: program
                .iter()
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect(),
            classes: controlled_run::digests(&directory, program, None),
            seed: config.control.seed,
        };
        let path = dir.join("runs.jsonl");
        let all = match read(&path)? {
            None => Comparison::default(),
            Some((known, all)) if known == header => all,
            Some(_) => {
                return Err(Error::usage(format!(
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

    fn add(&mut self, row: Row) -> Result<(), Error> {
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
fn read(path: &Path) -> Result<Option<(Header, Comparison)>, Error> {
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
    config: &'a CompareConfig,
    launcher: &'a Launcher<'a>,
    journal: &'a mut Journal,
    progress: &'a dyn Progress,
}

impl Making<'_> {
    /// False if it was interrupted.
    fn all(&mut self, depths: &[Subject]) -> Result<bool, Error> {
        for run in 1..=ALONE.min(self.config.runs) {
            let alone = Subject::new("alone");
            if self.journal.all.has(&alone, run) {
                continue;
            }
            self.say("the program alone", run);
            let limit = self.config.launch.time_limit;
            let done = self.launcher.native(Input::Empty, limit)?;
            self.journal.add(Row {
                subject: alone,
                run,
                seconds: done.elapsed.as_secs_f64(),
                ended: RunEnd::Exit,
                races: Vec::new(),
                hidden: None,
            })?;
            if done.stopped.is_some() {
                return Ok(false);
            }
        }
        for scheduler in self.config.schedulers.clone() {
            if !self.runs_of(scheduler, Subject::new(scheduler.name()))? {
                return Ok(false);
            }
        }
        for subject in depths {
            if !self.runs_of(WITH_DEPTHS, subject.clone())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn say(&self, what: &str, run: u32) {
        self.progress.step(&format!("{what}, run {run}"));
    }

    fn runs_of(&mut self, scheduler: Scheduler, subject: Subject) -> Result<bool, Error> {
        let runs = self.config.runs;
        if (1..=runs).all(|run| self.journal.all.has(&subject, run)) {
            return Ok(true);
        }
        let mut hidden = match scheduler.goes_by_relation() {
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
                if row.ended == RunEnd::Deadlock && attempt + 1 < ATTEMPTS {
                    continue;
                }
                self.journal.add(row)?;
                break;
            }
        }
        Ok(true)
    }

    /// The relation that a subject goes on with, from a run of its own at first.
    fn relation(&mut self, subject: &Subject) -> Result<Hidden, Error> {
        let path = self.journal.relation(subject);
        let given = path.exists().then_some(path.as_path());
        let limit = self.config.launch.time_limit;
        let (hidden, seconds) = Hidden::begin(
            self.launcher,
            given,
            subject.depth,
            (Input::Empty, Output::Capture),
            limit,
        )?;
        let phase = Subject {
            depth: subject.depth,
            ..Subject::new("phase-1")
        };
        if let Some(seconds) = seconds.filter(|_| !self.journal.all.has(&phase, 1)) {
            self.journal.add(Row {
                subject: phase,
                run: 1,
                seconds,
                ended: RunEnd::Exit,
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
    ) -> Result<(Row, bool), Error> {
        let config = self.config;
        let seed = controlled_run::seed(&config.control, u64::from(run) - 1 + attempt * APART);
        let mut control = (!scheduler.is_native())
            .then(|| controlled_run::control(&config.control, scheduler.name(), seed));
        let dir = self.launcher.directory(&format!(
            "{}-{}-{run}-{attempt}",
            subject.scheduler,
            subject.depth.unwrap_or(0)
        ))?;
        let mut time_limit = config.launch.time_limit;
        if let (Some(hidden), Some(control)) = (hidden.as_ref(), control.as_mut()) {
            hidden.aim(control, &dir)?;
            time_limit = Some(hidden.limit());
        }
        let plan = Plan {
            control,
            time_limit,
            input: Input::Empty,
            ..Plan::new(Mode::FASTTRACK, Output::Capture)
        };
        let mut session = Session::new(&config.launch);
        session.add(self.launcher.run_in(&dir, plan)?);
        let over = session.is_over();
        let (report, _) = session.finish("compare");
        let made = report.runs.into_iter().next().unwrap_or_default();
        if let Some(hidden) = hidden
            .as_mut()
            .filter(|_| made.ended != RunEnd::Deadlock && !over)
        {
            hidden.learn(&dir);
            hidden.write(&self.journal.relation(subject))?;
        }
        let mut races: Vec<Found> = report.races.iter().map(Found::new).collect();
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
