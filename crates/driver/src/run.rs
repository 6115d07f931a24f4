//! A program in, findings and outcome out.
//!
//! The run directory is the only thing the agent and we share; crate `protocol`
//! has what is in its files. While the program runs we hold a lock on one of them:
//! when it is given back, we are gone, and the agent ends the program. If there is
//! no sign of work by the agent, the JVM never got as far as loading it, or could
//! not; which of the two is found out by starting a JVM that does nothing.

use crate::interrupt::Interrupts;
use crate::java::Java;
use crate::options::{RunRequest, agent_argument, is_serial, jvm_flags};
use crate::process::{self, Input, Job, Outcome, Output, ProcessError, Watchdog};
use findings::finding::Findings;
use protocol::control::Cause;
use protocol::{Blame, Fatal, Summary, files};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// More than any report can use; a damaged file must not eat the memory.
const MOST_FINDINGS: u64 = 256 << 20;

#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub java: &'a Java,
    /// The agent as a file.
    pub library: &'a Path,
    /// The run directory; it exists.
    pub out: PathBuf,
    pub options: RunRequest,
    /// What one would write after `java`.
    pub args: &'a [OsString],
    /// Where to run it, if not here.
    pub directory: Option<&'a Path>,
    pub input: Input,
    pub output: Output,
    pub time_limit: Option<Duration>,
    /// Bytes of trace after which the run is ended, as by the time limit.
    pub most_recorded: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct RunResult {
    pub outcome: Outcome,
    pub findings: Findings,
    /// False when java refused its arguments, so that nothing ran.
    pub started: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("java cannot run this program{}", said(.0))]
    NoProgram(String),
    #[error("there is no command to run")]
    NoCommand,
    #[error("the agent gave up: {0}")]
    Agent(String),
    #[error("{java} (version {version}) cannot be used: {why}")]
    UnusableJava {
        java: PathBuf,
        version: String,
        why: String,
    },
    #[error("the JVM does not start with the agent; it says:\n{0}")]
    JvmRefuses(String),
    #[error("cannot read {path}")]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot write {path}")]
    Unwritable {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// Nothing where the user has seen it already.
fn said(text: &str) -> String {
    match text.trim() {
        "" => ": it says why above".to_owned(),
        text => format!("; it says:\n{text}"),
    }
}

/// Runs the program once under the agent.
pub fn run(request: &Request<'_>, interrupts: &Interrupts) -> Result<RunResult, RunError> {
    let waiting = Waiting::for_run_in(&request.out);
    let outcome = process::run(request.job()?, interrupts)?;
    drop(waiting);
    request.collect(outcome)
}

/// The agent ends a run that does not get on itself, and can say more about
/// it; it gets this much longer before we do.
const HEAD_START: Duration = Duration::from_secs(10);

impl Request<'_> {
    /// The process to start. What it is asked is in its directory then.
    pub(crate) fn job(&self) -> Result<Job, RunError> {
        let mut command = jvm(self, &self.out, &self.options)?;
        command.args(self.args);
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        let control = self.options.control.as_ref();
        let watchdog = control
            .filter(|control| is_serial(control))
            .and_then(|control| {
                Some(Watchdog {
                    patience: Duration::from_secs(control.watchdog?) + HEAD_START,
                    files: control
                        .log
                        .iter()
                        .cloned()
                        .chain([self.out.join(files::FINDINGS)])
                        .collect(),
                    most: None,
                })
            });
        let recorded = self.options.trace.iter().zip(self.most_recorded).next();
        let watchdog = match (watchdog, recorded) {
            (watchdog, None) => watchdog,
            // The other files are small beside a recording.
            (watchdog, Some((trace, most))) => {
                let (patience, files) = match watchdog {
                    Some(watchdog) => (watchdog.patience, watchdog.files),
                    None => (Duration::MAX, Vec::new()),
                };
                Some(Watchdog {
                    patience,
                    files: [files, vec![trace.clone()]].concat(),
                    most: Some(most),
                })
            }
        };
        Ok(Job {
            command,
            input: self.input.clone(),
            output: self.output,
            time_limit: self.time_limit,
            watchdog,
        })
    }

    /// What the run directory holds once the process has ended.
    pub(crate) fn collect(&self, outcome: Outcome) -> Result<RunResult, RunError> {
        collect(self, outcome)
    }
}

fn collect(request: &Request<'_>, outcome: Outcome) -> Result<RunResult, RunError> {
    let dir = &request.out;
    if let Some(text) = read(&dir.join(files::FATAL))? {
        // Half a message is a failure too.
        let fatal = serde_json::from_slice(&text).unwrap_or_else(|_| Fatal {
            blame: Blame::Agent,
            why: String::from_utf8_lossy(&text).trim().to_owned(),
        });
        return Err(match fatal.blame {
            Blame::Agent => RunError::Agent(fatal.why),
            Blame::Java => RunError::UnusableJava {
                java: request.java.path.clone(),
                version: request.java.version.clone(),
                why: fatal.why,
            },
        });
    }
    let (mut findings, started) = read_findings(dir)?;
    let summary = findings.summary.as_ref();
    if outcome.exit == Some(1) && summary.is_some_and(|s| s.launcher_complained && s.threads < 2) {
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        return Err(RunError::NoProgram(said));
    }
    if outcome.stopped.is_some() {
        let ours = |u: &protocol::control::Uncontrolled| u.cause == Cause::OurSignal;
        findings.uncontrolled.retain(|u| !ours(u));
    }
    // A JVM whose agent does not load ends with 1, like many a program; the
    // agent may have made its file before it gave up.
    let suspicious = !started || outcome.exit == Some(1) && findings.says_nothing();
    if suspicious && outcome.stopped.is_none() {
        probe(request)?;
    }
    Ok(RunResult {
        outcome,
        findings,
        started,
    })
}

/// What a run has said in its directory, and whether it has said anything.
pub(crate) fn read_findings(dir: &Path) -> Result<(Findings, bool), RunError> {
    let lines = read(&dir.join(files::FINDINGS))?;
    let summary = read(&dir.join(files::SUMMARY))?;
    let started = lines.is_some() || summary.is_some();
    let mut findings = Findings::parse(&lines.unwrap_or_default());
    if let Some(text) = summary {
        match serde_json::from_slice::<Summary>(&text) {
            Ok(summary) => findings.summary = Some(summary),
            Err(error) => findings.warnings.push(format!(
                "{} could not be read ({error}): coverage is unknown",
                files::SUMMARY
            )),
        }
    }
    Ok((findings, started))
}

/// A file of the run directory; None if it is not there, or only half of it is.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(
    path: &Path,
) -> Result<Option<T>, RunError> {
    Ok(read(path)?.and_then(|text| serde_json::from_slice(&text).ok()))
}

/// Says to the agent that we wait for the program, until dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    path: PathBuf,
    /// Closed, and the lock with it, when this process ends in whatever way.
    _locked: Option<File>,
}

impl Waiting {
    /// Where files cannot be locked, or the disk is full, the program is on
    /// its own: it runs all the same.
    pub(crate) fn for_run_in(dir: &Path) -> Waiting {
        let path = dir.join(files::RUNNING);
        let locked = File::create(&path).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        if locked.is_err() {
            let _ = std::fs::remove_file(&path);
        }
        Waiting {
            path,
            _locked: locked.ok(),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // The name goes first: a program that we gave up on still holds the file.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn jvm(request: &Request<'_>, out: &Path, options: &RunRequest) -> Result<Command, RunError> {
    let path = out.join(files::REQUEST);
    serde_json::to_vec(options)
        .map_err(std::io::Error::from)
        .and_then(|text| std::fs::write(&path, text))
        .map_err(|source| RunError::Unwritable { path, source })?;
    let mut command = request.java.command();
    command
        .arg(agent_argument(request.library, out))
        .args(jvm_flags(options, request.java.feature()));
    Ok(command)
}

/// Starts a JVM with the agent and no program.
fn probe(request: &Request<'_>) -> Result<(), RunError> {
    let dir = request.out.join("probe");
    let unreadable = |source| RunError::Unreadable {
        path: dir.clone(),
        source,
    };
    std::fs::create_dir_all(&dir).map_err(unreadable)?;
    let options = RunRequest {
        trace: request
            .options
            .trace
            .as_ref()
            .map(|_| dir.join(files::TRACE)),
        control: None,
        ..request.options.clone()
    };
    let log = dir.join("log");
    let file = File::create(&log).map_err(unreadable)?;
    let copy = file.try_clone().map_err(unreadable)?;
    let mut command = jvm(request, &dir, &options)?;
    command.arg("-version").stdout(file).stderr(copy);
    let job = Job {
        command,
        input: Input::Empty,
        output: Output::Inherit,
        time_limit: Some(Duration::from_secs(30)),
        watchdog: None,
    };
    // Signals of the user go to the channel of the run, which has ended.
    let interrupts = Interrupts::catch().map_err(unreadable)?;
    let outcome = process::run(job, &interrupts)?;
    if outcome.exit == Some(0) {
        return Ok(());
    }
    let text = read(&log)?.unwrap_or_default();
    let said = String::from_utf8_lossy(&text).trim().to_owned();
    if said.contains(crate::java::LEADS_BACK) {
        return Err(RunError::UnusableJava {
            java: request.java.path.clone(),
            version: request.java.version.clone(),
            why: said,
        });
    }
    Err(RunError::JvmRefuses(said))
}

/// The file's bytes; None if there is no such file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, RunError> {
    let unreadable = |source| RunError::Unreadable {
        path: path.to_path_buf(),
        source,
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unreadable(e)),
    };
    let mut bytes = Vec::new();
    file.take(MOST_FINDINGS)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(Some(bytes))
}
