//! The installed JDK: running its tools, reading its classes, and a bridge for
//! rewritten classes to call.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The JDK that JAVA_HOME names, else the one of `javac` on the PATH.
pub fn jdk() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        return home.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter_map(|dir| dir.join("javac").canonicalize().ok())
        .find_map(|javac| Some(javac.parent()?.parent()?.to_owned()))
        .expect("no JDK: set JAVA_HOME, or put javac on the PATH")
}

/// A directory that is gone when it is dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let name = format!("photofinish-probes-{name}-{}", std::process::id());
        let dir = std::env::temp_dir().join(name);
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

/// Runs a tool of the JDK and answers what it printed; panics if it fails.
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

/// The tests' paths are ours to choose, so they are text.
pub fn path(p: &Path) -> &str {
    p.to_str().expect("path is not Unicode")
}

/// Compiles a bridge into `out`: every probe runs `body`, in which `NAME` is the
/// probe's name and `SITE` its site, or -1. `members` goes into the class too.
pub fn bridge(scratch: &Path, out: &Path, members: &str, body: &str) {
    let mut source = format!("package java.lang;\npublic final class Photofinish {{\n{members}\n");
    for probe in instrument::PROBES {
        let signature = classfile::method(probe.desc).expect("a probe's descriptor");
        let types: Vec<String> = signature.params().map(java_type).collect();
        let params: Vec<String> = (types.iter().enumerate())
            .map(|(i, t)| format!("{t} a{i}"))
            .collect();
        let site = match types.last().map(String::as_str) {
            Some("int") => format!("a{}", types.len() - 1),
            _ => "-1".to_owned(),
        };
        let body = body
            .replace("NAME", &format!("\"{}\"", probe.name))
            .replace("SITE", &site);
        let (name, params) = (probe.name, params.join(", "));
        let _ = writeln!(source, "public static void {name}({params}) {{ {body} }}");
    }
    let _ = writeln!(
        source,
        "public static Object {}(Object o) {{ return o; }}",
        instrument::probes::ITSELF.name
    );
    source.push_str("}\nfinal class PhotofinishThread {}\n");
    let file = scratch.join("Photofinish.java");
    std::fs::write(&file, source).expect("bridge source");
    let here = format!("java.base={}", path(scratch));
    run(
        "javac",
        &["--patch-module", &here, "-d", path(out), path(&file)],
    );
}

fn java_type(desc: &str) -> String {
    match desc {
        "I" => "int".to_owned(),
        "J" => "long".to_owned(),
        "F" => "float".to_owned(),
        "D" => "double".to_owned(),
        "Z" => "boolean".to_owned(),
        object => object
            .trim_start_matches('L')
            .trim_end_matches(';')
            .replace('/', "."),
    }
}
