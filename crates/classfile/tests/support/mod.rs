//! Finding and running the installed JDK.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The JDK that JAVA_HOME names, else the one that `java` on the PATH is part of.
pub fn jdk() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        return home.into();
    }
    let path = std::env::var_os("PATH").expect("neither JAVA_HOME nor PATH is set");
    let java = std::env::split_paths(&path)
        .map(|dir| dir.join("java"))
        .find(|java| java.is_file())
        .expect("no JDK: set JAVA_HOME, or put java on the PATH");
    let java = java
        .canonicalize()
        .expect("java on the PATH is a broken link");
    let home = java.parent().and_then(Path::parent);
    home.expect("java lies in no bin directory").to_owned()
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

/// Runs a tool of the JDK for what it prints; panics with that if it fails.
pub fn run(tool: &str, args: &[&str]) -> Vec<u8> {
    let out = Command::new(jdk().join("bin").join(tool))
        .args(args)
        // Where a crash leaves its report.
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap_or_else(|e| panic!("cannot start {tool}: {e}"));
    if !out.status.success() {
        let text = String::from_utf8_lossy(&out.stdout);
        let errors = String::from_utf8_lossy(&out.stderr);
        panic!("{tool} failed\n{text}\n{errors}");
    }
    out.stdout
}

/// The tests' paths are ours to choose, so they are text.
pub fn path(p: &Path) -> &str {
    p.to_str().expect("path is not Unicode")
}
