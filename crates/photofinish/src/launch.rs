//! Everything that must be right before a program can be started: a Java, the
//! agent as a file, a directory for the findings.

use crate::args::Launch;
use crate::exit::Failure;
use anyhow::Context;
use driver::interrupt::Interrupts;
use driver::java::Java;
use driver::options::{AgentOptions, Mode};
use driver::process::Output;
use driver::run::{Request, RunResult};
use std::path::{Path, PathBuf};

/// The agent, built by the build script.
const AGENT: &[u8] = include_bytes!(env!("PHOTOFINISH_AGENT_LIBRARY"));

/// Ready to run the program any number of times.
#[derive(Debug)]
pub struct Launcher<'a> {
    args: &'a Launch,
    java: Java,
    library: PathBuf,
    interrupts: Interrupts,
}

impl<'a> Launcher<'a> {
    pub fn new(args: &'a Launch) -> Result<Launcher<'a>, Failure> {
        match args.program.first() {
            None => {
                return Err(Failure::usage(
                    "which program? Give after `--` what you would write after java: \
                     photofinish detect -- -cp classes Main",
                ));
            }
            Some(first)
                if Path::new(first)
                    .file_name()
                    .is_some_and(|name| name == "java") =>
            {
                return Err(Failure::usage(
                    "leave out the `java` after `--`; to choose one, use --java PATH",
                ));
            }
            Some(_) => {}
        }
        let java = Java::find(args.java.as_deref())?;
        let library = driver::library::unpack(AGENT)?;
        let interrupts = Interrupts::catch().context("cannot listen for signals")?;
        Ok(Launcher {
            args,
            java,
            library,
            interrupts,
        })
    }

    /// One run; `number` counts from 1. Its raw findings vanish unless the
    /// user keeps them.
    pub fn run(
        &self,
        number: u32,
        mode: Mode,
        trace: Option<PathBuf>,
        output: Output,
    ) -> Result<RunResult, Failure> {
        let temporary;
        let out = match &self.args.keep {
            Some(dir) => {
                let dir = dir.join(format!("run-{number}"));
                fresh(&dir)?;
                dir.canonicalize()?
            }
            None => {
                temporary = tempfile::Builder::new()
                    .prefix("photofinish-")
                    .tempdir()
                    .context("cannot make a directory for the run; is TMPDIR writable?")?;
                temporary.path().to_path_buf()
            }
        };
        let request = Request {
            java: &self.java,
            library: &self.library,
            options: AgentOptions {
                out,
                mode,
                include: self.args.include.clone(),
                exclude: self.args.exclude.clone(),
                trusted: self.args.trusted.clone(),
                trace,
            },
            args: &self.args.program,
            output,
            time_limit: self.args.time_limit,
        };
        Ok(driver::run::run(&request, &self.interrupts)?)
    }
}

/// An empty directory: findings of an earlier run must not be taken for this
/// one's.
fn fresh(dir: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot make {}; choose another --keep", dir.display()))?;
    if std::fs::read_dir(dir)?.next().is_some() {
        return Err(Failure::usage(format!(
            "{} is not empty; choose another --keep",
            dir.display()
        )));
    }
    Ok(())
}
