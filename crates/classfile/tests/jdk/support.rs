//! The class files of the installed JDK, and running it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

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
        if std::env::var_os("KEEP").is_none() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Runs a tool of the JDK; panics with its output if it fails.
pub fn run(tool: &str, args: &[&str]) -> String {
    let out = Command::new(jdk().join("bin").join(tool))
        .args(args)
        .output()
        .unwrap_or_else(|e| panic!("cannot start {tool}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{tool} failed\n{text}\n{errors}");
    text
}

/// A class file and the module it is of.
#[derive(Debug)]
pub struct Entry {
    pub module: String,
    /// Path below the module, such as `java/lang/Object.class`.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// All class files of the JDK, read from its runtime image once.
pub fn jdk_classes() -> &'static [Entry] {
    static CLASSES: OnceLock<Vec<Entry>> = OnceLock::new();
    CLASSES.get_or_init(extract)
}

fn extract() -> Vec<Entry> {
    let scratch = Scratch::new("image");
    let dir = scratch.0.join("image");
    let image = jdk().join("lib").join("modules");
    run(
        "jimage",
        &[
            "extract",
            "--include",
            "regex:.*\\.class",
            "--dir",
            path(&dir),
            path(&image),
        ],
    );
    let mut found = Vec::new();
    for module in std::fs::read_dir(&dir).expect("extracted image") {
        let module = module.expect("directory entry").path();
        let name = module
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        collect(&name, &module, &module, &mut found);
    }
    assert!(
        found.len() > 10_000,
        "only {} classes in the image",
        found.len()
    );
    found
}

fn collect(module: &str, root: &Path, dir: &Path, found: &mut Vec<Entry>) {
    for entry in std::fs::read_dir(dir).expect("extracted directory") {
        let at = entry.expect("directory entry").path();
        if at.is_dir() {
            collect(module, root, &at, found);
        } else if at.extension().is_some_and(|e| e == "class") {
            let below = at.strip_prefix(root).expect("below its root");
            found.push(Entry {
                module: module.to_owned(),
                path: below.to_string_lossy().into_owned(),
                bytes: std::fs::read(&at).expect("extracted class"),
            });
        }
    }
}

/// The tests' paths are ours to choose, so they are text.
pub fn path(p: &Path) -> &str {
    p.to_str().expect("path is not Unicode")
}
