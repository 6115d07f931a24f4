//! `doctor`: what works on this machine, and what to do about the rest. Each check does what
//! the tool will do: it looks for Java as a run does, unpacks the agent, starts a JVM with it.

use crate::config::LaunchConfig;
use crate::launch::{self, Launcher, Plan};
use driver::java::Java;
use driver::options::Mode;
use driver::process::{Input, Output};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where distributions and installers put JDKs.
const PLACES: &[&str] = &["/usr/lib/jvm", "/usr/java", "/opt/java", "/opt"];

/// Less room than this for recordings and results is worth a word.
const ROOM: u64 = 1 << 30;

/// Open files that a JVM with many classes and a worker pool may need.
const FILES: u64 = 1024;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Good,
    /// Something will work less well, or not at all.
    Warning,
    /// Nothing can be run.
    Bad,
}

/// One line of what `doctor` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub health: Health,
    pub what: &'static str,
    pub found: String,
    /// What to do about it.
    pub repair: Option<String>,
}

/// Looks at this machine.
pub fn examine(java: Option<&Path>) -> Vec<Check> {
    let mut checks = vec![find_java(java)];
    checks.extend(others(java));
    let agent = agent();
    let usable = checks
        .iter()
        .chain([&agent])
        .all(|c| c.health < Health::Bad);
    checks.push(agent);
    if usable {
        checks.push(start(java));
    }
    checks.extend(environment(&|name| std::env::var(name).ok()));
    checks.push(room(&std::env::temp_dir()));
    checks.extend(limits());
    checks
}

fn good(what: &'static str, found: impl Into<String>) -> Check {
    Check {
        health: Health::Good,
        what,
        found: found.into(),
        repair: None,
    }
}

fn warning(what: &'static str, found: impl Into<String>, repair: &str) -> Check {
    Check {
        health: Health::Warning,
        repair: Some(repair.to_owned()),
        ..good(what, found)
    }
}

fn bad(what: &'static str, found: impl Into<String>, repair: &str) -> Check {
    Check {
        health: Health::Bad,
        ..warning(what, found, repair)
    }
}

fn find_java(java: Option<&Path>) -> Check {
    match Java::find(java) {
        Ok(java) => good(
            "java",
            format!("{} (version {})", java.path.display(), java.version),
        ),
        Err(error) => bad(
            "java",
            error.to_string(),
            "install a JDK 17 or newer, or name one with --java or JAVA_HOME",
        ),
    }
}

/// Other JDKs that could be named.
fn others(java: Option<&Path>) -> Vec<Check> {
    let chosen = Java::find(java)
        .ok()
        .and_then(|java| java.path.canonicalize().ok());
    let dirs = PLACES
        .iter()
        .filter_map(|place| std::fs::read_dir(place).ok());
    let mut homes: Vec<PathBuf> = dirs.flatten().flatten().map(|entry| entry.path()).collect();
    homes.sort();
    let mut seen = Vec::new();
    let mut checks = Vec::new();
    for home in homes {
        let Ok(real) = home.join("bin/java").canonicalize() else {
            continue;
        };
        if Some(&real) == chosen.as_ref() || seen.contains(&real) {
            continue;
        }
        seen.push(real);
        checks.push(match Java::find(Some(&home)) {
            Ok(java) => {
                let text = format!("{} (version {})", home.display(), java.version);
                good("another java", text)
            }
            Err(error) => good("another java", format!("cannot be used: {error}")),
        });
    }
    checks
}

fn agent() -> Check {
    match launch::agent_library() {
        Ok(path) => good("agent", path.display().to_string()),
        Err(error) => bad(
            "agent",
            format!("{error:#}"),
            "point XDG_CACHE_HOME to a directory that only you can write and that is not mounted noexec",
        ),
    }
}

/// A JVM with the agent and no program.
fn start(java: Option<&Path>) -> Check {
    const WHAT: &str = "a JVM with the agent";
    let config = LaunchConfig {
        java: java.map(Path::to_path_buf),
        ..LaunchConfig::new(["-version"])
    };
    let done = Launcher::new(&config).and_then(|launcher| {
        let dir = launcher.scratch()?;
        let plan = Plan {
            input: Input::Empty,
            time_limit: Some(Duration::from_secs(60)),
            ..Plan::new(Mode::FASTTRACK, Output::Capture)
        };
        launcher.run_in(&dir, plan)
    });
    match done {
        Ok(run) if run.started && run.outcome.exit == Some(0) => good(
            WHAT,
            format!("starts in {:.1} s", run.outcome.elapsed.as_secs_f64()),
        ),
        Ok(run) => {
            let said = String::from_utf8_lossy(&run.outcome.stderr)
                .trim()
                .to_owned();
            bad(
                WHAT,
                format!("does not start: {said}"),
                "see docs/debugging.md",
            )
        }
        Err(error) => bad(
            WHAT,
            format!("does not start: {error:#}"),
            "see docs/debugging.md",
        ),
    }
}

/// Variables that change every JVM.
fn environment(variable: &dyn Fn(&str) -> Option<String>) -> Vec<Check> {
    let names = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];
    let set = names
        .into_iter()
        .filter_map(|name| Some((name, variable(name)?)));
    let set = set.filter(|(_, value)| !value.trim().is_empty());
    set.map(|(name, value)| {
        let agents = ["-agentpath", "-agentlib", "-javaagent"];
        match agents.iter().any(|agent| value.contains(agent)) {
            true => warning(
                name,
                value,
                "another agent is in every JVM: if classes are not instrumented, or runs differ, try without it",
            ),
            false => good(name, value),
        }
    })
    .collect()
}

fn room(dir: &Path) -> Check {
    const WHAT: &str = "room for runs";
    match driver::machine::free_space(dir) {
        Some(bytes) if bytes < ROOM => warning(
            WHAT,
            format!("{} MiB in {}", bytes >> 20, dir.display()),
            "point TMPDIR to a disk with more room: recordings can take hundreds of MiB",
        ),
        Some(bytes) => good(WHAT, format!("{} GiB in {}", bytes >> 30, dir.display())),
        None => bad(
            WHAT,
            format!("{} cannot be used", dir.display()),
            "point TMPDIR to a directory that you can write",
        ),
    }
}

fn limits() -> Vec<Check> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut checks = vec![good("processors", processors.to_string())];
    let files = driver::machine::open_files();
    checks.push(match files {
        Some(files) if files < FILES => warning(
            "open files",
            format!("at most {files}"),
            "raise the limit: ulimit -n 4096",
        ),
        Some(files) => good("open files", format!("at most {files}")),
        None => good("open files", "no limit"),
    });
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_in_every_jvm_is_worth_a_word() {
        let set = |value: &'static str| {
            environment(&move |name| (name == "JAVA_TOOL_OPTIONS").then(|| value.to_owned()))
        };
        assert_eq!(set("-javaagent:/opt/apm.jar")[0].health, Health::Warning);
        assert_eq!(set("-Xmx1g")[0].health, Health::Good);
        assert_eq!(set(" "), []);
    }

    #[test]
    fn a_java_that_is_not_there_is_bad_with_a_repair() {
        let check = find_java(Some(Path::new("/nowhere/java")));
        assert_eq!(check.health, Health::Bad);
        assert!(check.repair.unwrap().contains("install a JDK"));
    }

    #[test]
    fn this_machine_has_room_and_processors() {
        assert!(room(&std::env::temp_dir()).health < Health::Bad);
        assert_eq!(room(Path::new("/nowhere")).health, Health::Bad);
        assert_eq!(limits()[0].what, "processors");
    }
}
