//! What to run: the sections of `programs/bench/expected.toml`, compiled into
//! a directory of ours; and a program that does nothing.
//!
//! The Java compiler gets the sources of all our programs to compile, some
//! five hundred classes, and counts as part of the program: its own classes
//! are instrumented as if they were the user's.

use anyhow::{Context, Result, ensure};
use driver::java::Java;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the Java compiler lives: the JDK is left alone unless asked for.
const COMPILER: &str = "com.sun.tools.javac";

/// Programs whose sources go together into one compilation.
const TO_COMPILE: [&str; 5] = ["bench", "edge", "examples", "ordered", "racy"];

#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: String,
    /// Groups them in the table.
    pub kind: String,
    /// What follows `java` and its options.
    pub args: Vec<OsString>,
    /// Further options for the tool.
    pub options: Vec<String>,
    /// It starts no thread: the tool then says that nothing was exercised.
    pub single: bool,
}

/// An `expected.toml`, as far as it matters here; `programs/README.md`
/// explains it.
#[derive(Debug, Deserialize)]
struct Expected {
    source: String,
    #[serde(rename = "section")]
    sections: Vec<Section>,
}

#[derive(Debug, Deserialize)]
struct Section {
    name: String,
    kind: String,
    main: String,
    small: Option<String>,
    directory: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    threads: Option<u64>,
}

/// Compiles the kernels into `work`.
pub fn prepare(programs: &Path, java: &Java, work: &Path, quick: bool) -> Result<Vec<Kernel>> {
    let description = programs.join("bench/expected.toml");
    let text = std::fs::read_to_string(&description).with_context(|| {
        format!(
            "cannot read {}; run from the top of the repository, or use --programs",
            description.display()
        )
    })?;
    let expected: Expected =
        toml::from_str(&text).with_context(|| description.display().to_string())?;
    let classes = work.join("classes");
    let mut sources = java_files(&programs.join("bench").join(&expected.source))?;
    sources.push(write_empty(work)?);
    compile(java, &sources, &classes)?;
    let to_compile = work.join("sources");
    for program in TO_COMPILE {
        let from = programs.join(program).join("src");
        copy_sources(&from, &to_compile.join(program))?;
    }
    let sections = expected.sections.into_iter();
    Ok(sections
        .map(|section| section.kernel(&classes, &to_compile, quick))
        .collect())
}

impl Section {
    fn kernel(self, classes: &Path, to_compile: &Path, quick: bool) -> Kernel {
        let mut args = vec!["-cp".into(), classes.into(), OsString::from(self.main)];
        let mut options = Vec::new();
        // The one that works on a directory is the compiler. What the
        // description names is enough for tests, and too little here.
        let mut small = self.small;
        if self.directory.is_some() {
            args.push(to_compile.into());
            options = vec!["--include".to_owned(), COMPILER.to_owned()];
            small = Some("1".to_owned());
        }
        match small.filter(|_| quick) {
            Some(small) => args.push(small.into()),
            None => args.extend(self.args.into_iter().map(OsString::from)),
        }
        Kernel {
            name: self.name,
            kind: self.kind,
            args,
            options,
            single: self.threads == Some(1),
        }
    }
}

/// Compiles the programs for controlled runs; the class directory.
pub fn control(programs: &Path, java: &Java, work: &Path) -> Result<PathBuf> {
    let classes = work.join("control");
    compile(java, &java_files(&programs.join("control/src"))?, &classes)?;
    Ok(classes)
}

/// Compiles all sources below a directory, with the jars of another.
pub fn compile_all(java: &Java, from: &Path, to: &Path, jars: Option<&Path>) -> Result<()> {
    let sources = java_files(from)?;
    compile_with(java, &sources, to, jars.map(|jars| jars.join("*")))
}

/// A program that does nothing, for what it costs to start one. `prepare` has
/// compiled it.
pub fn empty(work: &Path) -> Kernel {
    Kernel {
        name: "startup".into(),
        kind: String::new(),
        args: vec!["-cp".into(), work.join("classes").into(), "Empty".into()],
        options: Vec::new(),
        single: true,
    }
}

fn write_empty(work: &Path) -> Result<PathBuf> {
    let path = work.join("Empty.java");
    let text = "public final class Empty {\n    public static void main(String[] args) {}\n}\n";
    std::fs::write(&path, text)?;
    Ok(path)
}

fn compile(java: &Java, sources: &[PathBuf], to: &Path) -> Result<()> {
    compile_with(java, sources, to, None)
}

/// With the javac of the JDK that will run it.
fn compile_with(
    java: &Java,
    sources: &[PathBuf],
    to: &Path,
    class_path: Option<PathBuf>,
) -> Result<()> {
    let javac = java
        .path
        .canonicalize()?
        .parent()
        .map(|bin| bin.join("javac"))
        .filter(|javac| javac.is_file())
        .with_context(|| {
            format!(
                "{} has no javac beside it: a whole JDK is needed",
                java.path.display()
            )
        })?;
    let mut command = Command::new(javac);
    if let Some(path) = class_path {
        command.arg("-cp").arg(path);
    }
    let done = command
        .args(["-g", "-nowarn", "-d"])
        .arg(to)
        .args(sources)
        .output()
        .context("cannot start javac")?;
    ensure!(
        done.status.success(),
        "the programs do not compile:\n{}",
        String::from_utf8_lossy(&done.stderr)
    );
    Ok(())
}

/// All Java sources below a directory, in a fixed order.
fn java_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(dir) = left.pop() {
        let entries =
            std::fs::read_dir(&dir).with_context(|| format!("cannot list {}", dir.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|e| e == "java") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    for file in java_files(from)? {
        let copy = to.join(file.strip_prefix(from)?);
        if let Some(parent) = copy.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(&file, &copy).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> Expected {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
        let text = std::fs::read_to_string(programs.join("bench/expected.toml")).unwrap();
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn every_kind_of_program_is_there() {
        let kinds: Vec<String> = described().sections.into_iter().map(|s| s.kind).collect();
        for kind in ["array", "object", "lock", "allocation", "javac"] {
            assert!(kinds.iter().any(|k| k == kind), "{kind}: {kinds:?}");
        }
    }

    #[test]
    fn the_compiler_is_part_of_the_program_and_quick_is_smaller() {
        let (classes, sources) = (Path::new("classes"), Path::new("sources"));
        for quick in [false, true] {
            for section in described().sections {
                let (name, small) = (section.name.clone(), section.small.clone());
                let kernel = section.kernel(classes, sources, quick);
                let args = kernel.args.join(" ".as_ref()).into_string().unwrap();
                assert_eq!(kernel.options.is_empty(), name != "javac");
                assert_eq!(args.contains(" sources "), name == "javac", "{args}");
                if let Some(small) = small {
                    assert_eq!(args.ends_with(&format!(" {small}")), quick, "{args}");
                }
            }
        }
    }
}
