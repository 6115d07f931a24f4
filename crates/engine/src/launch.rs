//! Everything that must be right before a program can be started: a Java, the
//! agent as a file, a directory for the findings.

use crate::config::LaunchConfig;
use crate::error::{Context, Error};
use crate::session::Session;
use driver::interrupt::Interrupts;
use driver::java::Java;
use driver::jvms::RUN;
use driver::options::{Control, Mode, RunRequest, is_serial};
use driver::process::{self, Input, Job, Outcome, Output};
use driver::run::{Request, RunResult};
use driver::scratch::{self, Scratch};
use protocol::files;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// The agent, built and packed by the build script.
const AGENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agent.deflate"));

/// Ready to run the program any number of times.
#[derive(Debug)]
pub struct Launcher<'a> {
    config: &'a LaunchConfig,
    pub java: Java,
    library: PathBuf,
    pub interrupts: Rc<Interrupts>,
    /// Where to run the program, if not here.
    pub directory: Option<PathBuf>,
    /// Names of directories that were kept, and how often they were asked for.
    kept: RefCell<BTreeMap<String, u32>>,
}

/// How to run it.
#[derive(Clone, Debug)]
pub struct Plan {
    pub mode: Mode,
    pub trace: Option<PathBuf>,
    /// Changes of the program to try.
    pub repairs: Vec<String>,
    /// Besides those that the user excludes.
    pub exclude: Vec<String>,
    pub control: Option<Control>,
    pub input: Input,
    pub output: Output,
    pub time_limit: Option<Duration>,
    /// Bytes of trace after which the run is ended.
    pub most_recorded: Option<u64>,
}

impl Plan {
    pub fn new(mode: Mode, output: Output) -> Plan {
        Plan {
            mode,
            trace: None,
            repairs: Vec::new(),
            exclude: Vec::new(),
            control: None,
            input: Input::Inherit,
            output,
            time_limit: None,
            most_recorded: None,
        }
    }
}

/// A run directory, gone with this value unless the user keeps it.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    _temporary: Option<Scratch>,
}

impl RunDir {
    fn kept(dir: &Path) -> Result<RunDir, Error> {
        fresh(dir)?;
        Ok(RunDir {
            path: dir.canonicalize()?,
            _temporary: None,
        })
    }

    fn temporary() -> Result<RunDir, Error> {
        let temporary = Scratch::create()
            .context("cannot make a directory for the run; is TMPDIR writable?")?;
        Ok(RunDir {
            path: temporary.path().to_path_buf(),
            _temporary: Some(temporary),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file that the run reads or writes.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where a controlled run writes its schedule.
    pub fn log(&self) -> PathBuf {
        self.file(files::SCHEDULE)
    }

    /// Where a run may leave its trace.
    pub fn trace(&self) -> PathBuf {
        self.path.join(files::TRACE)
    }
}

impl<'a> Launcher<'a> {
    pub fn new(config: &'a LaunchConfig) -> Result<Launcher<'a>, Error> {
        check(config)?;
        let java = Java::find(config.java.as_deref())?;
        let library = agent_library()?;
        let interrupts = Interrupts::catch().context("cannot listen for signals")?;
        Ok(Launcher {
            config,
            java,
            library,
            interrupts: Rc::new(interrupts),
            directory: None,
            kept: RefCell::default(),
        })
    }

    /// For the same program with another configuration, whose Java is the same.
    pub fn with<'b>(&self, config: &'b LaunchConfig) -> Launcher<'b> {
        Launcher {
            config,
            java: self.java.clone(),
            library: self.library.clone(),
            interrupts: self.interrupts.clone(),
            directory: self.directory.clone(),
            kept: RefCell::default(),
        }
    }

    /// One run; `number` counts from 1. Its raw findings vanish unless the
    /// user keeps them.
    pub fn run(
        &self,
        number: u32,
        mode: Mode,
        trace: Option<PathBuf>,
        output: Output,
    ) -> Result<RunResult, Error> {
        let plan = Plan {
            trace,
            time_limit: self.config.time_limit,
            ..Plan::new(mode, output)
        };
        let dir = self.directory(&format!("{RUN}{number}"))?;
        self.run_in(&dir, plan)
    }

    /// A fresh directory for a run; the name matters if it is kept.
    pub fn directory(&self, name: &str) -> Result<RunDir, Error> {
        match &self.config.keep {
            Some(dir) => {
                let mut kept = self.kept.borrow_mut();
                let times = kept.entry(name.to_owned()).or_default();
                *times += 1;
                // A hunt confirms twice.
                let dir = match *times {
                    1 => dir.join(name),
                    n => dir.join(format!("{name}-again-{n}")),
                };
                RunDir::kept(&dir)
            }
            None => self.scratch(),
        }
    }

    /// A directory for a run of many that nobody wants to keep.
    pub fn scratch(&self) -> Result<RunDir, Error> {
        RunDir::temporary()
    }

    /// Whether runs are ended where the program would go on.
    pub fn cuts(&self) -> bool {
        !self.config.cut.is_none()
    }

    /// For runs of this program.
    pub fn session(&self) -> Session {
        Session::new(self.config)
    }

    /// What follows `java`.
    pub fn program(&self) -> &[OsString] {
        &self.config.program
    }

    /// The program alone, without the agent, unless that is needed to end it; nobody sees its
    /// output.
    pub fn native(&self, input: Input, time_limit: Option<Duration>) -> Result<Outcome, Error> {
        if !self.config.cut.is_none() {
            let plan = Plan {
                // Nothing is instrumented.
                exclude: vec!["**".to_owned()],
                input,
                time_limit,
                ..Plan::new(Mode::None, Output::Capture)
            };
            return Ok(self.run_in(&self.scratch()?, plan)?.outcome);
        }
        let mut command = self.java.command();
        command.args(&self.config.program);
        let job = Job {
            command,
            input,
            output: Output::Capture,
            time_limit,
            watchdog: None,
        };
        Ok(process::run(job, &self.interrupts)?)
    }

    pub fn run_in(&self, dir: &RunDir, plan: Plan) -> Result<RunResult, Error> {
        Ok(driver::run::run(
            &self.request(dir, plan),
            &self.interrupts,
        )?)
    }

    /// What the driver is asked for; a controlled run writes its schedule into
    /// its directory.
    pub fn request(&self, dir: &RunDir, plan: Plan) -> Request<'_> {
        let control = plan.control.map(|mut control| {
            if is_serial(&control) && !control.worker {
                control.log = Some(dir.log());
            }
            control
        });
        Request {
            java: &self.java,
            library: &self.library,
            out: dir.path.clone(),
            options: RunRequest {
                mode: plan.mode,
                include: self.config.include.clone(),
                exclude: [&self.config.exclude[..], &plan.exclude].concat(),
                trusted: self.config.trusted.clone(),
                untracked: self.config.untracked.clone(),
                check_unshared: self.config.check_unshared,
                trace: plan.trace,
                repairs: plan.repairs,
                control,
                cut: self.config.cut.clone(),
                budget: self.config.budget,
            },
            args: &self.config.program,
            directory: self.directory.as_deref(),
            input: plan.input,
            output: plan.output,
            time_limit: plan.time_limit,
            most_recorded: plan.most_recorded,
        }
    }
}

/// The agent as a file that JVMs can load.
pub fn agent_library() -> Result<PathBuf, Error> {
    scratch::sweep();
    let library = miniz_oxide::inflate::decompress_to_vec(AGENT)
        .map_err(|e| Error::tool_failed(format!("the agent in this binary is damaged: {e:?}")))?;
    Ok(driver::library::unpack(&library)?)
}

/// A fresh directory for a run of a command, below `keep` if it is to stay.
pub(crate) fn run_directory(keep: Option<&Path>, number: u32) -> Result<RunDir, Error> {
    match keep {
        Some(keep) => RunDir::kept(&keep.join(format!("{RUN}{number}"))),
        None => RunDir::temporary(),
    }
}

/// Whether there is a program to run at all: what can be said without a Java.
pub fn check(config: &LaunchConfig) -> Result<(), Error> {
    match config.program.first() {
        None => Err(Error::usage(
            "which program? Give after `--` what you would write after java: \
             photofinish detect -- -cp classes Main",
        )),
        Some(first)
            if Path::new(first)
                .file_name()
                .is_some_and(|name| name == "java") =>
        {
            Err(Error::usage(
                "leave out the `java` after `--`; to choose one, use --java PATH",
            ))
        }
        Some(first) if is_command(first) => Err(Error::usage(format!(
            "`{}` is a command and no Java class: write --exec before `--`, and the JVMs that it \
             starts are looked at",
            Path::new(first).display()
        ))),
        Some(_) => Ok(()),
    }
}

/// Whether a shell would run it, and java would not.
fn is_command(first: &OsStr) -> bool {
    let text = first.to_string_lossy();
    if text.starts_with(['-', '@']) || text.ends_with(".java") {
        return false;
    }
    let class = format!("{}.class", text.replace('.', "/"));
    let is_class = Path::new(&class).exists() || std::env::var_os("CLASSPATH").is_some();
    let path = Path::new(first);
    let found = match text.contains('/') {
        true => is_executable(path),
        false => {
            let dirs = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&dirs).any(|dir| is_executable(&dir.join(path)))
        }
    };
    found && !is_class
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// An empty directory: findings of an earlier run must not be taken for this
/// one's.
fn fresh(dir: &Path) -> Result<(), Error> {
    // What a run writes down is for the caller's eyes.
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("cannot make {}; choose another --keep", dir.display()))?;
    if std::fs::read_dir(dir)?.next().is_some() {
        return Err(Error::usage(format!(
            "{} is not empty; choose another --keep",
            dir.display()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_classes() {
        for command in ["sh", "/bin/sh"] {
            assert!(is_command(OsStr::new(command)), "{command}");
        }
        for program in [
            "com.shop.Main",
            "-cp",
            "@args",
            "Main.java",
            "/nowhere/Main",
        ] {
            assert!(!is_command(OsStr::new(program)), "{program}");
        }
        let error = check(&LaunchConfig::new(["sh", "-c", "x"])).unwrap_err();
        assert!(error.to_string().contains("--exec"), "{error}");
    }
}
