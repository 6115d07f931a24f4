//! Another of our commands as a process of its own: what nobody can say how
//! much time and memory it takes is ended at its share of the time, and takes
//! nothing with it if it dies.

use super::Hunt;
use crate::exit::Failure;
use anyhow::Context;
use driver::process::{self, Input, Job, Output, Stopped};
use findings::result::Report;
use findings::text::clean;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Where a command works, and writes to.
#[derive(Debug)]
pub struct Child {
    dir: TempDir,
}

impl Child {
    pub fn new() -> Result<Child, Failure> {
        let dir = tempfile::Builder::new()
            .prefix("photofinish-")
            .tempdir()
            .context("cannot make a directory; is TMPDIR writable?")?;
        Ok(Child { dir })
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs a command until this share of the time is used; its report, or why
    /// there is none. One that was stopped may have come to write it.
    pub fn run(
        &self,
        hunt: &mut Hunt<'_>,
        command: &str,
        options: &[OsString],
        share: f64,
    ) -> Result<Result<Report, String>, Failure> {
        let json = self.file("found.json");
        let itself = std::env::current_exe().context("cannot find this program")?;
        let mut tool = Command::new(itself);
        tool.args([command, "--no-config", "--quiet", "--json"]);
        tool.arg(&json).args(options);
        let job = Job {
            command: tool,
            input: Input::Empty,
            output: Output::Capture,
            time_limit: Some(hunt.left(share)),
            watchdog: None,
        };
        let outcome = process::run(job, &hunt.launcher.interrupts)?;
        hunt.noticed(&outcome);
        let interrupted = outcome.stopped == Some(Stopped::Interrupted);
        hunt.limited |= outcome.stopped.is_some() && !interrupted;
        let written = std::fs::read(&json).unwrap_or_default();
        if let Ok(report) = Report::from_json(&written) {
            return Ok(Ok(report));
        }
        let why = match outcome.stopped {
            Some(Stopped::Interrupted) => "it was stopped".to_owned(),
            Some(_) => "it took longer than its share of the time".to_owned(),
            None => {
                hunt.failed = true;
                let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
                format!("it failed: {}", clean(said.lines().last().unwrap_or("")))
            }
        };
        Ok(Err(why))
    }
}
