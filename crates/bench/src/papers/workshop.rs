//! Compiles the programs that stand for the papers' subjects, and runs them alone and under the tool.

use super::rows::Origin;
use crate::compare::Tool;
use crate::measure::{self, Measured};
use crate::{check_interrupt, kernels};
use anyhow::{Context, Result, ensure};
use driver::java::Java;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Workshop<'a> {
    pub programs: &'a Path,
    pub java: &'a Java,
    pub tool: &'a Tool,
    pub work: &'a Path,
    pub jars: Option<&'a Path>,
    pub quick: bool,
    /// Where pictures go, if anywhere.
    pub docs: Option<&'a Path>,
    /// Rooms that are compiled.
    pub ready: RefCell<BTreeSet<String>>,
}

/// A program, or why a row is not measured.
pub enum Subject {
    Program(Program),
    Not(String),
}

pub struct Program {
    /// What follows `java`.
    pub args: Vec<OsString>,
    /// Lines of its source that are not empty.
    pub lines: usize,
}

/// A report of the tool, and what it took.
pub struct Answer {
    pub report: Value,
    pub measured: Measured,
}

impl Workshop<'_> {
    pub fn subject(&self, origin: &Origin) -> Result<Subject> {
        let Some(subject) = &origin.subject else {
            let why = origin.absent.clone().unwrap_or_default();
            return Ok(Subject::Not(format!("absent: {why}")));
        };
        if self.quick && !origin.quick {
            return Ok(Subject::Not("not with --quick".to_owned()));
        }
        let missing = |jar: &&String| self.jars.is_none_or(|dir| !jar_in(dir, jar).is_file());
        if let Some(jar) = origin.jars.iter().find(missing) {
            let why = format!("not measured: {jar}.jar is not there (--jars)");
            return Ok(Subject::Not(why));
        }
        let room = origin.room.as_deref().unwrap_or("papers");
        let classes = self.compiled(room)?;
        let jars = origin
            .jars
            .iter()
            .flat_map(|jar| self.jars.map(|dir| jar_in(dir, jar)));
        let path = std::env::join_paths([classes].into_iter().chain(jars))?;
        let mut words = subject.split(' ');
        let main = words.next().unwrap_or_default();
        let source = self
            .programs
            .join(room)
            .join("src")
            .join(main.replace('.', "/") + ".java");
        let text = std::fs::read_to_string(&source)
            .with_context(|| format!("cannot read {}", source.display()))?;
        let mut args: Vec<OsString> = vec![OsString::from("-cp"), path, OsString::from(main)];
        args.extend(words.map(OsString::from));
        Ok(Subject::Program(Program {
            args,
            lines: text.lines().filter(|line| !line.trim().is_empty()).count(),
        }))
    }

    /// Compiles a room once.
    fn compiled(&self, room: &str) -> Result<PathBuf> {
        let classes = self.work.join("papers").join(room);
        if self.ready.borrow_mut().insert(room.to_owned()) {
            let jars = self.jars.filter(|_| room == "libraries");
            let from = self.programs.join(room).join("src");
            kernels::compile_all(self.java, &from, &classes, jars)?;
        }
        Ok(classes)
    }

    /// Runs the program without the tool.
    pub fn alone(&self, program: &Program) -> Result<Measured> {
        let mut command = Command::new(&self.tool.java);
        command.arg(&self.tool.heap).args(&program.args);
        self.run(command)
    }

    /// Runs a command of the tool on the program. It may take a little longer than it is
    /// allowed, to end in order.
    pub fn ask(&self, words: &[&str], program: &Program) -> Result<Answer> {
        let place = tempfile::tempdir_in(self.work)?;
        let json = place.path().join("report.json");
        let mut command = Command::new(&self.tool.photofinish);
        let limit = self.tool.limit.as_secs().to_string();
        command
            .args(words)
            .args(["--quiet", "--no-config", "--time-limit", &limit]);
        command
            .arg("--java")
            .arg(&self.tool.java)
            .arg("--json")
            .arg(&json);
        command.arg("--").arg(&self.tool.heap).args(&program.args);
        command.current_dir(place.path());
        let measured = self.run(command)?;
        let said = String::from_utf8_lossy(&measured.stderr).into_owned();
        let text = std::fs::read(&json).with_context(|| format!("{words:?}: {said}"))?;
        let report = serde_json::from_slice(&text).with_context(|| said)?;
        Ok(Answer { report, measured })
    }

    fn run(&self, mut command: Command) -> Result<Measured> {
        command.env_remove("JAVA_TOOL_OPTIONS");
        command.env_remove("JDK_JAVA_OPTIONS");
        let done = measure::run(command, 20 * self.tool.limit)?;
        check_interrupt(&self.tool.interrupted)?;
        ensure!(!done.stopped, "it takes too long");
        Ok(done)
    }
}

fn jar_in(dir: &Path, jar: &str) -> PathBuf {
    dir.join(format!("{jar}.jar"))
}

/// Seconds of processor time, as the tables have them.
pub fn seconds(measured: &Measured) -> String {
    format!("{:.2}", measured.cpu.as_secs_f64())
}
