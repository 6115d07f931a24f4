//! What the run is asked: `out=DIR` in the JVM's argument names the run directory,
//! and `request.json` there says the rest. Without the file it is FastTrack on a
//! program that nobody controls. `jvms=DIR` is for any number of JVMs, see `crate::jvms`.

use crate::control::Settings;
use encoding::percent;
use instrument::FieldPattern;
use instrument::repair::Repair;
use protocol::{Budget, Mode, RunRequest, files};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Options {
    pub out: PathBuf,
    pub mode: Mode,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// Only of the JDK, see `instrument::Policy`.
    pub exclude_of_jdk: Vec<String>,
    pub trusted: Vec<String>,
    /// Fields whose plain accesses are not checked.
    pub untracked: Vec<FieldPattern>,
    /// Also accesses that cannot race, see `instrument::Policy`.
    pub check_unshared: bool,
    pub trace: Option<PathBuf>,
    /// Changes of the program that are tried.
    pub repairs: Vec<Repair>,
    /// How threads are scheduled, if not by the system.
    pub control: Settings,
    /// The agent is in every JVM that the program starts.
    pub is_in_all_jvms: bool,
    /// Where the run is ended.
    pub cut: protocol::Cut,
    /// What looking for races may cost.
    pub budget: Option<Budget>,
}

/// What the JVM's argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The run directory.
    Run(PathBuf),
    /// The directory for the run directories of several JVMs.
    Jvms(PathBuf),
}

impl Options {
    /// Reads what is asked; the directory is made if it is not there.
    pub fn read(out: PathBuf) -> Result<Options, String> {
        std::fs::create_dir_all(&out)
            .map_err(|e| format!("cannot make the run directory {}: {e}", out.display()))?;
        let request = read_request(&out.join(files::REQUEST))?;
        Options::new(out, request)
    }

    pub fn new(out: PathBuf, request: RunRequest) -> Result<Options, String> {
        let untracked = request.untracked.iter().map(|f| FieldPattern::new(f));
        let untracked: Option<Vec<_>> = untracked.collect();
        if request.mode.records() && request.trace.is_none() {
            return Err("recording needs a file for the trace".into());
        }
        if request.budget.is_some()
            && (request.mode != Mode::FASTTRACK || request.control.is_some())
        {
            return Err("a budget is for FastTrack in free runs".into());
        }
        Ok(Options {
            out,
            mode: request.mode,
            include: request.include,
            exclude: request.exclude,
            exclude_of_jdk: Vec::new(),
            trusted: request.trusted,
            untracked: untracked.ok_or("a field is named as Class.field")?,
            check_unshared: request.check_unshared,
            trace: request.trace,
            repairs: { request.repairs.iter() }
                .map(|r| r.parse())
                .collect::<Result<_, _>>()?,
            control: Settings::new(request.control)?,
            is_in_all_jvms: false,
            cut: request.cut,
            budget: request.budget,
        })
    }
}

/// What the JVM's argument names.
pub fn argument(text: &str) -> Result<Argument, String> {
    let mut named = None;
    for part in text.split(',').filter(|p| !p.is_empty()) {
        let (kind, value): (fn(PathBuf) -> Argument, _) = match part.split_once('=') {
            Some(("out", value)) => (Argument::Run, value),
            Some(("jvms", value)) => (Argument::Jvms, value),
            _ => return Err(format!("unknown option `{part}`; write out=DIRECTORY")),
        };
        if !value.is_empty() {
            // A name typed by hand may have a percent sign of its own.
            let bytes = percent::decode(value).unwrap_or_else(|| value.into());
            named = Some(kind(PathBuf::from(OsString::from_vec(bytes))));
        }
    }
    named.ok_or_else(|| "no run directory: write out=DIRECTORY after the library".into())
}

/// Whether the JVMs that this one starts get the same argument.
pub fn is_inherited(argument: &str) -> bool {
    let inherited = std::env::var_os("JAVA_TOOL_OPTIONS").unwrap_or_default();
    inherited.to_string_lossy().contains(argument)
}

fn read_request(path: &Path) -> Result<RunRequest, String> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|e| format!("{} makes no sense: {e}", path.display())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(RunRequest::default()),
        Err(e) => Err(format!("cannot read {}: {e}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_names_a_directory() {
        let run = |path: &str| Argument::Run(path.into());
        assert_eq!(argument("out=/tmp/a%2Cb%3Dc").unwrap(), run("/tmp/a,b=c"));
        assert_eq!(argument("out=/tmp/100%").unwrap(), run("/tmp/100%"));
        let several = argument("jvms=/tmp/a").unwrap();
        assert_eq!(several, Argument::Jvms("/tmp/a".into()));
        assert!(argument("").is_err() && argument("out=").is_err());
        assert!(argument("mode=hybrid,out=/o").is_err());
    }
}
