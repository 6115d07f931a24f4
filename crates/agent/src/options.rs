//! What the run is asked: `out=DIR` in the JVM's argument names the run directory,
//! and `request.json` there says the rest. Without the file it is FastTrack on a
//! program that nobody controls.

use crate::control::Settings;
use encoding::percent;
use instrument::FieldPattern;
use instrument::repair::Repair;
use protocol::{Mode, RunRequest, files};
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
}

impl Options {
    /// Reads what is asked; the directory is made if it is not there.
    pub fn read(out: PathBuf) -> Result<Options, String> {
        std::fs::create_dir_all(&out)
            .map_err(|e| format!("cannot make the run directory {}: {e}", out.display()))?;
        let request = read_request(&out.join(files::REQUEST))?;
        let untracked = request.untracked.iter().map(|f| FieldPattern::new(f));
        let untracked: Option<Vec<_>> = untracked.collect();
        if request.mode.records() && request.trace.is_none() {
            return Err("recording needs a file for the trace".into());
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
        })
    }
}

/// The run directory that the JVM's argument names.
pub fn run_directory(argument: &str) -> Result<PathBuf, String> {
    let mut out = None;
    for part in argument.split(',').filter(|p| !p.is_empty()) {
        match part.split_once('=') {
            Some(("out", value)) => {
                // A name typed by hand may have a percent sign of its own.
                let bytes = percent::decode(value).unwrap_or_else(|| value.into());
                out = Some(PathBuf::from(OsString::from_vec(bytes)));
            }
            _ => return Err(format!("unknown option `{part}`; write out=DIRECTORY")),
        }
    }
    out.filter(|out| !out.as_os_str().is_empty())
        .ok_or_else(|| "no run directory (out=...)".into())
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
        let dir = |text: &str| run_directory(text).map(|d| d.to_string_lossy().into_owned());
        assert_eq!(dir("out=/tmp/a%2Cb%3Dc").unwrap(), "/tmp/a,b=c");
        assert_eq!(dir("out=/tmp/100%").unwrap(), "/tmp/100%");
        assert!(dir("").is_err() && dir("out=").is_err());
        assert!(dir("mode=hybrid,out=/o").is_err());
    }
}
