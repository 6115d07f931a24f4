//! Which `java` to run: `--java`, then `JAVA_HOME`, then `PATH`; and whether
//! it is a HotSpot of at least version 17.
//!
//! The version is read from the JDK's `release` file, which costs nothing;
//! only where that is missing is the JVM asked, which costs a start-up.

use crate::{lineage, secrets};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest Java the agent is made for.
pub const MINIMUM: u32 = 17;

/// How the complaint begins of one that was started in place of a JVM.
pub(crate) const LEADS_BACK: &str = "photofinish was started in place of a JVM";

#[derive(Debug, thiserror::Error)]
pub enum JavaError {
    #[error(
        "no java found: neither --java nor JAVA_HOME is set and PATH has none; \
         install a JDK {MINIMUM} or newer (Debian: apt-get install openjdk-17-jdk-headless) \
         or name one with --java"
    )]
    NotFound,
    #[error("{from} names {path}, which is not there or not executable")]
    NotThere { from: &'static str, path: PathBuf },
    #[error(
        "{LEADS_BACK}: the `java` that JAVA_HOME, PATH or --java \
         names is a script that starts photofinish again; name a JDK there, or in the script \
         with --java"
    )]
    LeadsBack,
    #[error("{path} did not run: {why}")]
    Broken { path: PathBuf, why: String },
    #[error(
        "{path} is Java {version}; Photofinish needs {MINIMUM} or newer: name another with --java"
    )]
    TooOld { path: PathBuf, version: String },
    #[error("{path} is {vm}; Photofinish works on HotSpot only: name another with --java")]
    NotHotSpot { path: PathBuf, vm: String },
}

/// A Java that will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Java {
    pub path: PathBuf,
    /// As the JDK writes it: `17.0.15`.
    pub version: String,
}

impl Java {
    /// Finds one, or says what to do about it. `explicit` is the value of
    /// `--java`: the launcher itself or a JDK's directory.
    pub fn find(explicit: Option<&Path>) -> Result<Java, JavaError> {
        if lineage::is_taken_for_java() {
            return Err(JavaError::LeadsBack);
        }
        Java::find_in(
            explicit,
            std::env::var_os("JAVA_HOME"),
            std::env::var_os("PATH"),
        )
    }

    /// 17 of `17.0.15`.
    pub fn feature(&self) -> Option<u32> {
        feature(&self.version)
    }

    /// Starts it.
    pub fn command(&self) -> Command {
        command(&self.path)
    }

    fn find_in(
        explicit: Option<&Path>,
        java_home: Option<OsString>,
        path: Option<OsString>,
    ) -> Result<Java, JavaError> {
        if let Some(explicit) = explicit {
            let launcher = if explicit.is_dir() {
                explicit.join("bin/java")
            } else {
                explicit.to_path_buf()
            };
            // A bare name is looked up, as a shell would.
            if launcher.components().count() == 1 && !executable(&launcher) {
                let found = search(path.as_deref(), launcher.as_os_str());
                return check(found.ok_or(JavaError::NotThere {
                    from: "--java",
                    path: launcher,
                })?);
            }
            return named("--java", launcher);
        }
        if let Some(home) = java_home.filter(|home| !home.is_empty()) {
            return named("JAVA_HOME", Path::new(&home).join("bin/java"));
        }
        check(search(path.as_deref(), OsStr::new("java")).ok_or(JavaError::NotFound)?)
    }
}

fn command(path: &Path) -> Command {
    let mut command = Command::new(path);
    lineage::mark(&mut command);
    secrets::remove(&mut command);
    command
}

fn named(from: &'static str, path: PathBuf) -> Result<Java, JavaError> {
    if executable(&path) {
        check(path)
    } else {
        Err(JavaError::NotThere { from, path })
    }
}

fn search(path: Option<&OsStr>, name: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .map(|dir| dir.join(name))
        .find(|p| executable(p))
}

fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

fn check(path: PathBuf) -> Result<Java, JavaError> {
    let facts = match from_release_file(&path) {
        Some(facts) => facts,
        None => ask(&path)?,
    };
    if !facts.hotspot {
        return Err(JavaError::NotHotSpot { path, vm: facts.vm });
    }
    match feature(&facts.version) {
        Some(version) if version >= MINIMUM => Ok(Java {
            path,
            version: facts.version,
        }),
        Some(_) => Err(JavaError::TooOld {
            path,
            version: facts.version,
        }),
        None => Err(JavaError::Broken {
            path,
            why: format!(
                "it calls its version {:?}, which makes no sense",
                facts.version
            ),
        }),
    }
}

struct Facts {
    version: String,
    vm: String,
    hotspot: bool,
}

/// `release` beside `bin`, of the JDK the launcher really is in: `/usr/bin/java`
/// is a chain of links.
fn from_release_file(launcher: &Path) -> Option<Facts> {
    let real = launcher.canonicalize().ok()?;
    let text = std::fs::read_to_string(real.parent()?.parent()?.join("release")).ok()?;
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|value| value.trim().trim_matches('"').to_owned())
    };
    let version = value("JAVA_VERSION")?;
    let vm = value("JVM_VARIANT").unwrap_or_else(|| "Hotspot".into());
    let hotspot = vm.eq_ignore_ascii_case("hotspot");
    Some(Facts {
        version,
        vm,
        hotspot,
    })
}

fn ask(path: &Path) -> Result<Facts, JavaError> {
    let broken = |why: String| JavaError::Broken {
        path: path.to_path_buf(),
        why,
    };
    let out = command(path)
        .args(["-XshowSettings:properties", "-version"])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| broken(e.to_string()))?;
    let text = String::from_utf8_lossy(&out.stderr);
    if !out.status.success() {
        let first = text.lines().next().unwrap_or("no message").to_owned();
        return Err(broken(format!("`java -version` failed: {first}")));
    }
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.trim().strip_prefix(key)?.trim().strip_prefix('='))
            .map(|value| value.trim().to_owned())
    };
    let version = value("java.version ").ok_or_else(|| {
        broken("`java -version` does not name a version; is it a Java launcher?".into())
    })?;
    let vm = value("java.vm.name ").unwrap_or_default();
    let hotspot = vm.contains("HotSpot") || vm.contains("OpenJDK");
    Ok(Facts {
        version,
        vm,
        hotspot,
    })
}

/// `17.0.15` -> 17, `1.8.0_402` -> 8, `25-ea` -> 25.
fn feature(version: &str) -> Option<u32> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        feature => Some(feature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// A directory that looks like a JDK of this version.
    fn jdk(release: Option<&str>, script: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        let java = dir.path().join("bin/java");
        // Written by another process: see write_script in tests/run.rs.
        let written = Command::new("sh")
            .args([
                "-c",
                "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"",
            ])
            .arg(&java)
            .arg(script)
            .status();
        assert!(written.unwrap().success());
        if let Some(text) = release {
            std::fs::write(dir.path().join("release"), text).unwrap();
        }
        dir
    }

    #[test]
    fn versions_old_and_new() {
        assert_eq!(feature("17.0.15"), Some(17));
        assert_eq!(feature("1.8.0_402"), Some(8));
        assert_eq!(feature("25-ea"), Some(25));
        assert_eq!(feature("21"), Some(21));
        assert_eq!(feature("seventeen"), None);
        assert_eq!(feature(""), None);
    }

    #[test]
    fn explicit_beats_java_home_beats_path() {
        let a = jdk(Some("JAVA_VERSION=\"17.0.1\"\n"), "exit 1");
        let b = jdk(Some("JAVA_VERSION=\"21.0.1\"\n"), "exit 1");
        let c = jdk(
            Some("JAVA_VERSION=\"25\"\nJVM_VARIANT=\"Hotspot\"\n"),
            "exit 1",
        );
        let home = Some(b.path().as_os_str().to_owned());
        let path = Some(c.path().join("bin").into_os_string());
        let version = |explicit: Option<&Path>, home: &Option<OsString>| {
            Java::find_in(explicit, home.clone(), path.clone())
                .unwrap()
                .version
        };
        assert_eq!(version(Some(a.path()), &home), "17.0.1");
        assert_eq!(version(None, &home), "21.0.1");
        assert_eq!(version(None, &None), "25");
        assert_eq!(version(None, &Some("".into())), "25");
        assert_eq!(version(Some(Path::new("java")), &home), "25");
    }

    #[test]
    fn without_a_release_file_the_jvm_is_asked() {
        let script = "echo '    java.version = 1.8.0_1' >&2; echo '    java.vm.name = OpenJDK 64-Bit Server VM' >&2";
        let dir = jdk(None, script);
        let error = Java::find_in(Some(dir.path()), None, None).unwrap_err();
        assert!(matches!(error, JavaError::TooOld { .. }), "{error}");
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let old = jdk(Some("JAVA_VERSION=\"11.0.2\"\n"), "");
        let j9 = jdk(
            Some("JAVA_VERSION=\"17.0.2\"\nJVM_VARIANT=\"Openj9\"\n"),
            "",
        );
        let broken = jdk(None, "echo no such library >&2; exit 127");
        let find = |p: &Path| Java::find_in(Some(p), None, None).unwrap_err().to_string();
        assert!(find(old.path()).contains("Java 11.0.2"));
        assert!(find(j9.path()).contains("HotSpot only"));
        assert!(find(broken.path()).contains("no such library"));
        assert!(find(Path::new("/nowhere/java")).contains("not there"));
        let none = Java::find_in(None, None, Some("/nowhere".into()))
            .unwrap_err()
            .to_string();
        assert!(none.contains("apt-get install"));
    }
}
