//! Results kept in a directory, with the schedules that replay them:
//!
//! ```text
//! result.json      the report
//! schedules.json   what is needed to run the program again, and a row for
//!                  each schedule: which finding, how it ended, its digest
//! schedules/*.pfs  the schedule logs
//! ```
//!
//! Nobody else writes there, and each command that keeps results replaces what
//! was there. `schedules.json` is written before `result.json`, both in one
//! step each: a result that can be read has its schedules.

use report::result::Report;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where results go unless told otherwise.
pub const DEFAULT: &str = ".photofinish";

/// The version of `schedules.json`.
const FORMAT: u32 = 1;

const INDEX: &str = "schedules.json";
const RESULT: &str = "result.json";
const LOGS: &str = "schedules";

/// The program, as it was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub directory: PathBuf,
    pub java: PathBuf,
    pub java_version: String,
    /// What followed `java`.
    pub args: Vec<String>,
    /// The file that was its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<PathBuf>,
    #[serde(default)]
    pub include: Vec<String>,
    #[serde(default)]
    pub exclude: Vec<String>,
    #[serde(default)]
    pub trusted: Vec<String>,
    /// See [`crate::classes`].
    #[serde(default)]
    pub classes: BTreeMap<String, String>,
}

/// A run that can be replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// What `replay` calls it: `R1.exception`.
    pub name: String,
    /// The detector that ran, by its mode.
    pub mode: String,
    pub strategy: String,
    pub seed: u64,
    /// Of its events; absent if the run was ended before it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The program's exit code.
    #[serde(default)]
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_sha256: Option<String>,
    /// What came of it, in words.
    pub ended: String,
    /// The statements that were scheduling points, for the same points again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair: Vec<Vec<String>>,
    /// The log's file name.
    pub log: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Index {
    format: u32,
    program: Program,
    schedules: Vec<Schedule>,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot keep results in {path}: {source}")]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path} holds something else; name another directory with --results")]
    NotOurs { path: PathBuf },
    #[error("no results in {path} ({source}); `photofinish confirm` makes them")]
    Nothing {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path} cannot be used: {why}")]
    Malformed { path: PathBuf, why: String },
    #[error("there is no schedule {name} in {path}; there are: {known}")]
    NoSchedule {
        name: String,
        path: PathBuf,
        known: String,
    },
}

/// A directory that results are being written to.
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    schedules: Vec<Schedule>,
}

impl Writer {
    /// Makes the directory, or empties it if it is one of ours.
    pub fn create(dir: &Path) -> Result<Writer, StoreError> {
        let failed = |source| StoreError::Write {
            path: dir.to_owned(),
            source,
        };
        std::fs::create_dir_all(dir).map_err(failed)?;
        let ours = |name: &std::ffi::OsStr| {
            [INDEX, RESULT, LOGS, ".gitignore"]
                .iter()
                .any(|known| name == *known)
        };
        for entry in std::fs::read_dir(dir).map_err(failed)? {
            if !ours(&entry.map_err(failed)?.file_name()) {
                return Err(StoreError::NotOurs {
                    path: dir.to_owned(),
                });
            }
        }
        for name in [RESULT, INDEX] {
            match std::fs::remove_file(dir.join(name)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e)),
                _ => {}
            }
        }
        match std::fs::remove_dir_all(dir.join(LOGS)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        std::fs::create_dir(dir.join(LOGS)).map_err(failed)?;
        // Of no use in somebody's repository.
        std::fs::write(dir.join(".gitignore"), "*\n").map_err(failed)?;
        Ok(Writer {
            dir: dir.to_owned(),
            schedules: Vec::new(),
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Keeps a schedule; its `log` is filled in here.
    pub fn add(&mut self, mut schedule: Schedule, log: &[u8]) -> Result<(), StoreError> {
        schedule.log = format!("{}.pfs", schedule.name);
        let path = self.dir.join(LOGS).join(&schedule.log);
        std::fs::write(&path, log).map_err(|source| StoreError::Write { path, source })?;
        self.schedules.push(schedule);
        Ok(())
    }

    /// Writes the rest down.
    pub fn finish(self, program: Program, report: &Report) -> Result<(), StoreError> {
        let index = Index {
            format: FORMAT,
            program,
            schedules: self.schedules,
        };
        let path = self.dir.clone();
        let failed = |source| StoreError::Write { path, source };
        let written = (|| {
            let index = serde_json::to_vec_pretty(&index)?;
            replace(&self.dir, INDEX, &index)?;
            let mut result = Vec::new();
            report.write_json(&mut result)?;
            replace(&self.dir, RESULT, &result)
        })();
        written.map_err(failed)
    }
}

/// All of it or nothing.
fn replace(dir: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.persist(dir.join(name)).map_err(|e| e.error)?;
    Ok(())
}

/// A directory with results.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    index: Index,
}

impl Store {
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        let path = dir.join(INDEX);
        let bytes = std::fs::read(&path).map_err(|source| StoreError::Nothing {
            path: dir.to_owned(),
            source,
        })?;
        let malformed = |why: String| StoreError::Malformed {
            path: path.clone(),
            why,
        };
        let index: Index = serde_json::from_slice(&bytes).map_err(|e| malformed(e.to_string()))?;
        if index.format != FORMAT {
            return Err(malformed(format!(
                "it has format {}, this version reads {FORMAT}",
                index.format
            )));
        }
        Ok(Store {
            dir: dir.to_owned(),
            index,
        })
    }

    pub fn program(&self) -> &Program {
        &self.index.program
    }

    /// The schedule of this name and where its log is. `R1` alone means the
    /// first of its schedules: they are kept with the most telling first.
    pub fn schedule(&self, name: &str) -> Result<(&Schedule, PathBuf), StoreError> {
        let all = &self.index.schedules;
        let belongs = |s: &&Schedule| {
            let rest = s.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let exact = all.iter().find(|s| s.name == name);
        let schedule = exact.or_else(|| all.iter().find(belongs)).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
            StoreError::NoSchedule {
                name: name.to_owned(),
                path: self.dir.clone(),
                known: if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                },
            }
        })?;
        // From a file that anybody may have written: it must stay in its place.
        let file = Path::new(&schedule.log).file_name().unwrap_or_default();
        Ok((schedule, self.dir.join(LOGS).join(file)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let text = r#"{"schema":1,"tool":"t","command":"confirm","program":{"args":[]}}"#;
        Report::from_json(text.as_bytes()).unwrap()
    }

    fn schedule(name: &str) -> Schedule {
        Schedule {
            name: name.into(),
            ended: "ok".into(),
            ..Schedule::default()
        }
    }

    #[test]
    fn what_was_kept_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("results");
        for content in ["first", "second"] {
            let mut writer = Writer::create(&dir).unwrap();
            writer
                .add(schedule("R1.exception"), content.as_bytes())
                .unwrap();
            writer.add(schedule("R1.ok"), b"ok").unwrap();
            writer.add(schedule("R10.ok"), b"ten").unwrap();
            writer.finish(Program::default(), &report()).unwrap();
        }
        let store = Store::open(&dir).unwrap();
        let log = |name: &str| std::fs::read(store.schedule(name).unwrap().1).unwrap();
        assert_eq!(log("R1"), b"second");
        assert_eq!(log("R1.ok"), b"ok");
        assert_eq!(log("R10"), b"ten");
        let error = store.schedule("R2").unwrap_err().to_string();
        assert!(
            error.contains("there are: R1.exception, R1.ok, R10.ok"),
            "{error}"
        );
    }

    #[test]
    fn a_directory_of_somebody_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("thesis.tex"), "x").unwrap();
        let error = Writer::create(dir.path()).unwrap_err();
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
        assert!(dir.path().join("thesis.tex").exists());
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let error = Store::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("photofinish confirm"), "{error}");
        std::fs::write(dir.path().join(INDEX), "{").unwrap();
        assert!(Store::open(dir.path()).is_err());
        std::fs::write(
            dir.path().join(INDEX),
            r#"{"format":9,"program":{"directory":"","java":"","java_version":"","args":[]},"schedules":[]}"#,
        )
        .unwrap();
        let error = Store::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("format 9"), "{error}");
    }

    #[test]
    fn a_log_cannot_lead_out_of_the_directory() {
        let store = Store {
            dir: "/r".into(),
            index: Index {
                format: FORMAT,
                program: Program::default(),
                schedules: vec![Schedule {
                    log: "../../etc/passwd".into(),
                    ..schedule("R1")
                }],
            },
        };
        let (_, path) = store.schedule("R1").unwrap();
        assert_eq!(path, Path::new("/r/schedules/passwd"));
    }
}
