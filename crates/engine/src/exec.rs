//! `detect --exec`: any command, and the races in the JVMs that it starts.
//!
//! Every JVM is a run of the report and says which one it was; equal races of several
//! JVMs are one, as those of several runs are. The exit code of the command is its own. A JVM
//! that was meant to be looked at and could not be is a limit of the answer.

use crate::config::LaunchConfig;
use crate::detect::NO_BUDGET;
use crate::error::{Context, Error};
use crate::launch;
use crate::progress::Progress;
use crate::session::Session;
use crate::verdict::{Answer, Facts};
use ::detect::{Kind, fasttrack};
use driver::interrupt::Interrupts;
use driver::jvms::{CommandRequest, JvmRun};
use driver::options::{Mode, RunRequest};
use driver::process::{Input, Outcome, Output, ProcessError, Stopped};
use driver::run::{RunError, RunResult};
use findings::result::{Jvm, SkippedJvm};
use findings::suppress::Suppressions;
use findings::text::counted;
use protocol::Blame;
use protocol::jvms::{JvmsRequest, LeftAlone};
use std::ffi::OsString;
use std::path::Path;

/// What `detect --exec` is told.
#[derive(Clone, Debug)]
pub struct ExecConfig {
    /// What counts as a race.
    pub detector: Kind,
    /// Patterns of the main classes and jars to look at; none: all JVMs but build tools.
    pub jvms: Vec<String>,
    /// Run the command this many times and merge what is found.
    pub runs: u32,
    /// Where the command's output goes.
    pub output: Output,
    pub suppress: Suppressions,
    /// Its `program` is the command.
    pub launch: LaunchConfig,
}

impl Default for ExecConfig {
    fn default() -> ExecConfig {
        ExecConfig {
            detector: fasttrack::KIND,
            jvms: Vec::new(),
            runs: 1,
            output: Output::Capture,
            suppress: Suppressions::default(),
            launch: LaunchConfig::default(),
        }
    }
}

/// Runs the command and reports what raced in its JVMs.
pub fn detect(config: &ExecConfig, progress: &dyn Progress) -> Result<Answer, Error> {
    if config.launch.program.is_empty() {
        return Err(Error::usage(
            "which command? Give it after `--`: photofinish detect --exec -- mvn test",
        ));
    }
    if config.launch.java.is_some() {
        return Err(Error::usage(
            "with --exec the command says which java it runs; leave out --java",
        ));
    }
    if config.launch.budget.is_some() && config.detector != fasttrack::KIND {
        return Err(Error::usage(NO_BUDGET));
    }
    let library = launch::agent_library()?;
    let interrupts = Interrupts::catch().context("cannot listen for signals")?;
    let jvms = JvmsRequest {
        pick: config.jvms.clone(),
        run: RunRequest {
            mode: Mode::Detect(config.detector),
            include: config.launch.include.clone(),
            exclude: config.launch.exclude.clone(),
            trusted: config.launch.trusted.clone(),
            untracked: config.launch.untracked.clone(),
            check_unshared: config.launch.check_unshared,
            cut: config.launch.cut.clone(),
            budget: config.launch.budget,
            ..RunRequest::default()
        },
    };
    let mut jvms_of_all = Jvms::new(&config.launch);
    for number in 1..=config.runs {
        if config.runs > 1 {
            progress.step(&format!("run {number} of {}", config.runs));
        }
        let dir = launch::run_directory(config.launch.keep.as_deref(), number)?;
        let request = CommandRequest {
            library: &library,
            out: dir.path(),
            jvms: jvms.clone(),
            command: &config.launch.program,
            input: Input::Inherit,
            output: config.output,
            time_limit: config.launch.time_limit,
        };
        let done = driver::jvms::run_command(&request, &interrupts, &|left| {
            progress.complaint(&still_running(left));
        })
        .map_err(cannot_start)?;
        let stopped = done.outcome.stopped;
        jvms_of_all.add(done.jvms, done.outcome);
        if stopped == Some(Stopped::Interrupted) {
            break;
        }
    }
    let mut answer = jvms_of_all.finish("detect");
    config.suppress.apply(&mut answer.report);
    Ok(answer)
}

/// The options for JVMs that somebody else starts, to leave what they find below a directory.
pub fn options(dir: &Path) -> Result<OsString, Error> {
    let library = launch::agent_library()?;
    let request = RunRequest::default();
    Ok(driver::jvms::options(&library, dir, &request))
}

/// The result of JVMs that somebody else started with `jvms=DIR`.
pub fn read_directory(dir: &Path) -> Result<Answer, Error> {
    let mut jvms = Jvms::new(&LaunchConfig::default());
    jvms.add(driver::jvms::read_jvms(dir)?, Outcome::default());
    Ok(jvms.finish("detect"))
}

/// What runs have found so far that go on, or that have ended: below the directory that `--keep`
/// names, or that JVMs were given with `jvms=DIR`.
pub fn read_live(dir: &Path) -> Result<Answer, Error> {
    let runs = driver::jvms::read_live(dir).or_usage()?;
    if runs.is_empty() {
        return Err(Error::usage(format!(
            "no run has written anything to {}: name the directory that --keep names",
            dir.display()
        )));
    }
    let mut jvms = Jvms::new(&LaunchConfig::default());
    jvms.add(runs, Outcome::default());
    Ok(jvms.finish("detect"))
}

/// Whether JVMs have left their findings below this directory.
pub fn is_directory_of_jvms(dir: &Path) -> bool {
    driver::jvms::has_jvms(dir)
}

/// A command that is not there is the user's to mend.
fn cannot_start(error: RunError) -> Error {
    match error {
        RunError::Process(ProcessError::Start { .. }) => Error::from(error).into_usage(),
        error => error.into(),
    }
}

fn still_running(left: &[protocol::jvms::Jvm]) -> String {
    let names = left.iter().map(|jvm| {
        let (pid, command) = (jvm.pid, jvm.command.clone());
        format!("{} (process {pid})", Jvm { pid, command }.name())
    });
    let names: Vec<String> = names.collect();
    format!(
        "the command has ended and left {} running: {}; waiting for it, Ctrl-C ends it",
        counted(left.len() as u64, "JVM", "JVMs"),
        names.join(", ")
    )
}

/// The JVMs of one or several runs of a command.
struct Jvms {
    session: Session,
    skipped: Vec<SkippedJvm>,
    looked_at: u64,
    /// Runs of a program alone, which are not said to be of a command.
    nameless: u64,
    facts: Facts,
}

impl Jvms {
    fn new(launch: &LaunchConfig) -> Jvms {
        Jvms {
            session: Session::new(launch),
            skipped: Vec::new(),
            looked_at: 0,
            nameless: 0,
            facts: Facts::default(),
        }
    }

    /// What the JVMs of one run of the command said; `outcome`: how the command ended.
    fn add(&mut self, jvms: Vec<JvmRun>, outcome: Outcome) {
        for run in jvms {
            self.add_jvm(run, outcome.stopped);
        }
        self.facts.limit_reached |= outcome.stopped.is_some();
        self.session.end_command(&outcome);
    }

    fn add_jvm(&mut self, run: JvmRun, stopped: Option<Stopped>) {
        let jvm = Jvm {
            pid: run.jvm.pid,
            command: run.jvm.command,
        };
        let gave_up = run.fatal.is_some();
        let too_old = matches!(run.jvm.left_alone, Some(LeftAlone::TooOld(_)));
        let why = { run.jvm.left_alone.map(words) }.or(run.fatal.as_ref().map(|f| f.why.clone()));
        self.facts.limit_reached |= gave_up || too_old;
        self.facts.tool_failed |= run.fatal.is_some_and(|f| f.blame == Blame::Agent);
        if let Some(why) = why {
            if gave_up || too_old {
                self.session
                    .warn(format!("not looked at: {}: {why}", jvm.name()));
            }
            self.skipped.push(SkippedJvm { jvm, why });
            return;
        }
        self.looked_at += 1;
        let is_named = jvm.pid != 0;
        if run.alive {
            let name = if is_named { jvm.name() } else { "the program" };
            let text = format!("{name} still runs: what it will do is not known");
            self.session.warn(text);
            self.facts.limit_reached = true;
        }
        let result = RunResult {
            outcome: Outcome {
                stopped: stopped.or(run.alive.then_some(Stopped::StillRuns)),
                elapsed: run.elapsed,
                ..Outcome::default()
            },
            findings: run.findings,
            started: true,
        };
        match is_named {
            true => self.session.add_jvm(result, jvm),
            false => {
                self.nameless += 1;
                self.session.add(result)
            }
        };
    }

    fn finish(self, command: &str) -> Answer {
        let (mut report, facts) = match self.looked_at {
            0 => self.session.conclude(command),
            _ => self.session.finish(command),
        };
        report.program.exec = self.nameless == 0;
        if self.looked_at == 0 {
            report.warnings.push(none_looked_at(&self.skipped));
        }
        report.coverage.jvms_skipped = self.skipped;
        let facts = Facts {
            tool_failed: facts.tool_failed || self.facts.tool_failed,
            limit_reached: facts.limit_reached || self.facts.limit_reached,
            not_exercised: facts.not_exercised
                || self.looked_at == 0 && !self.facts.limit_reached && !self.facts.tool_failed,
            ..facts
        };
        Answer::new(report, facts)
    }
}

fn none_looked_at(skipped: &[SkippedJvm]) -> String {
    let why = match skipped.len() {
        0 => "the command started no JVM that reads JAVA_TOOL_OPTIONS".to_owned(),
        n => format!(
            "{} of the command was left alone; --jvms PATTERN picks them by main class or jar",
            counted(n as u64, "JVM", "JVMs")
        ),
    };
    format!("nothing was exercised: {why}; that no race was found says nothing")
}

fn words(why: LeftAlone) -> String {
    match why {
        LeftAlone::NotPicked => "--jvms does not name it".to_owned(),
        LeftAlone::BuildTool => "a build tool or compiler".to_owned(),
        LeftAlone::NoMainClass => "it has no main class".to_owned(),
        LeftAlone::TooOld(version) => format!("Java {version} is too old, 17 is needed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{FAIL_ON, Verdict};
    use findings::finding::{Findings, Summary};
    use protocol::{Fatal, RunEnd};

    fn jvm(pid: u32, threads: u64) -> JvmRun {
        JvmRun {
            jvm: protocol::jvms::Jvm {
                pid,
                command: format!("com.shop.Main{pid} a"),
                left_alone: None,
            },
            fatal: None,
            findings: Findings {
                summary: Some(Summary {
                    classes_instrumented: 3,
                    threads,
                    ended: RunEnd::Exit,
                    ..Summary::default()
                }),
                ..Findings::default()
            },
            elapsed: Default::default(),
            alive: false,
        }
    }

    fn answer(jvms: Vec<JvmRun>) -> Answer {
        let mut all = Jvms::new(&LaunchConfig::new(["mvn", "test"]));
        let outcome = Outcome {
            exit: Some(1),
            ..Outcome::default()
        };
        all.add(jvms, outcome);
        all.finish("detect")
    }

    #[test]
    fn each_jvm_is_a_run_that_says_which_it_was() {
        let answer = answer(vec![jvm(3, 2), jvm(4, 1)]);
        let names = answer
            .report
            .runs
            .iter()
            .map(|run| run.jvm.as_ref().unwrap().name());
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["com.shop.Main3", "com.shop.Main4"]
        );
        assert_eq!(answer.report.program.exit, Some(1));
        assert_eq!(answer.verdict(FAIL_ON), Verdict::NothingFound);
    }

    #[test]
    fn without_a_jvm_nothing_was_exercised() {
        assert_eq!(answer(vec![]).verdict(FAIL_ON), Verdict::NotExercised);
        let mut tool = jvm(3, 2);
        tool.jvm.left_alone = Some(LeftAlone::BuildTool);
        let answer = answer(vec![tool]);
        assert_eq!(answer.verdict(FAIL_ON), Verdict::NotExercised);
        assert!(
            answer.report.warnings[0].contains("--jvms"),
            "{:?}",
            answer.report.warnings
        );
        assert_eq!(answer.report.coverage.jvms_skipped[0].jvm.pid, 3);
    }

    #[test]
    fn a_jvm_that_could_not_be_looked_at_is_no_pass() {
        let mut old = jvm(3, 2);
        old.jvm.left_alone = Some(LeftAlone::TooOld("11".into()));
        let verdict = |jvms| answer(jvms).verdict(FAIL_ON);
        assert_eq!(verdict(vec![jvm(4, 2), old]), Verdict::Limit);
        let mut failed = jvm(3, 2);
        failed.fatal = Some(Fatal::from("no room"));
        assert_eq!(verdict(vec![jvm(4, 2), failed]), Verdict::ToolFailed);
        let mut killed = jvm(3, 2);
        killed.findings.summary = None;
        assert_eq!(verdict(vec![jvm(4, 2), killed]), Verdict::Limit);
        let mut alive = jvm(3, 2);
        alive.alive = true;
        assert_eq!(verdict(vec![alive]), Verdict::Limit);
    }

    #[test]
    fn a_command_that_is_not_there_is_bad_usage() {
        let config = ExecConfig {
            launch: LaunchConfig::new(["/nowhere/mvn", "test"]),
            ..ExecConfig::default()
        };
        let error = detect(&config, &crate::Silent).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error:#}");
    }
}
