//! Finding and running the installed JDK.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The JDK that JAVA_HOME names, else the one that `javac` on the PATH is part of.
pub fn home() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        return home.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter_map(|dir| dir.join("javac").canonicalize().ok())
        .find_map(|javac| Some(javac.parent()?.parent()?.to_owned()))
        .expect("no JDK: set JAVA_HOME, or put javac on the PATH")
}

/// `java` or another tool of the JDK.
pub fn tool(name: &str) -> Command {
    Command::new(home().join("bin").join(name))
}

/// Runs a tool of the JDK for what it prints; panics with that if it fails.
pub fn run(name: &str, args: &[&str]) -> Vec<u8> {
    let out = tool(name)
        .args(args)
        // Where a crash leaves its report.
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap_or_else(|e| panic!("cannot start {name}: {e}"));
    if !out.status.success() {
        let text = String::from_utf8_lossy(&out.stdout);
        let errors = String::from_utf8_lossy(&out.stderr);
        panic!("{name} failed\n{text}\n{errors}");
    }
    out.stdout
}

/// The same for a tool that prints text.
pub fn run_for_text(name: &str, args: &[&str]) -> String {
    String::from_utf8_lossy(&run(name, args)).into_owned()
}

/// The tests' paths are ours to choose, so they are text.
pub fn path(p: &Path) -> &str {
    p.to_str().expect("path is not Unicode")
}

/// A directory of this test run that is gone when it is dropped.
#[derive(Debug)]
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("photofinish-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("temporary directory");
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left behind at worst: nothing to be done about it here.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
