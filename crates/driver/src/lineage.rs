//! A `java` that leads back to us: a script in its place that starts photofinish, which
//! looks for a `java` and finds the script. Without a guard that goes on until memory or
//! process numbers run out.
//!
//! Whoever starts a `java` says so in the environment, with its own process number. A
//! photofinish that finds such a number among its ancestors, with no JVM between, stands
//! where a JVM should: it gives up. (With a JVM between, the program itself starts us, which
//! is its right.) Where the ancestors cannot be followed, the depth is bounded.

use std::process::Command;

const VARIABLE: &str = "PHOTOFINISH_STARTS_JAVA";

/// As deep as anybody nests programs that start the tool.
const DEEPEST: u32 = 8;

/// Ancestors that are followed.
const MOST_ANCESTORS: usize = 64;

/// What the environment says: by which process, and how many of them above each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Started {
    pid: u32,
    depth: u32,
}

/// Marks a command as what we take for a `java`.
pub fn mark(command: &mut Command) {
    let depth = started(std::env::var(VARIABLE).ok()).map_or(0, |s| s.depth);
    command.env(VARIABLE, format!("{} {}", std::process::id(), depth + 1));
}

/// Whether this process stands where another photofinish expects a JVM.
pub fn is_taken_for_java() -> bool {
    let Some(started) = started(std::env::var(VARIABLE).ok()) else {
        return false;
    };
    started.depth > DEEPEST || leads_back(started.pid, std::process::id(), &parent_and_program)
}

fn started(value: Option<String>) -> Option<Started> {
    let value = value?;
    let (pid, depth) = value.split_once(' ')?;
    Some(Started {
        pid: pid.parse().ok()?,
        depth: depth.parse().ok()?,
    })
}

/// Whether `start` is above `pid`, and no JVM between them.
fn leads_back(
    start: u32,
    pid: u32,
    parent_and_program: &dyn Fn(u32) -> Option<(u32, String)>,
) -> bool {
    let mut at = pid;
    for _ in 0..MOST_ANCESTORS {
        let Some((parent, program)) = parent_and_program(at) else {
            return false;
        };
        // The first is this process itself.
        if at != pid && program == "java" {
            return false;
        }
        if parent == start {
            return true;
        }
        at = parent;
    }
    false
}

/// A process's parent, and the file that it executes.
fn parent_and_program(pid: u32) -> Option<(u32, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; the parent is the second member after it.
    let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = program.file_name()?.to_string_lossy().into_owned();
    Some((parent, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 init, 10 photofinish, 11 a script or a JVM, 12 photofinish.
    fn family(between: &str) -> impl Fn(u32) -> Option<(u32, String)> {
        move |pid| match pid {
            12 => Some((11, "photofinish".into())),
            11 => Some((10, between.to_owned())),
            10 => Some((1, "photofinish".into())),
            _ => None,
        }
    }

    #[test]
    fn a_script_in_place_of_java_is_told_from_a_program() {
        assert!(leads_back(10, 12, &family("bash")));
        assert!(
            !leads_back(10, 12, &family("java")),
            "the program starts us"
        );
        assert!(!leads_back(99, 12, &family("bash")), "somebody who is gone");
        // The script has become us.
        assert!(leads_back(10, 11, &family("photofinish")));
    }

    #[test]
    fn what_the_environment_says() {
        let text = |text: &str| started(Some(text.to_owned()));
        assert_eq!(text("12 3"), Some(Started { pid: 12, depth: 3 }));
        assert_eq!(
            (text(""), text("12"), text("a 1"), started(None)),
            (None, None, None, None)
        );
    }

    #[test]
    fn ancestors_are_found() {
        let (parent, program) = parent_and_program(std::process::id()).unwrap();
        assert_eq!(parent, std::os::unix::process::parent_id());
        assert!(!program.is_empty());
    }
}
