//! What the end-to-end tests share: compiling the programs, running them with
//! and without the tool, reading results.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A directory of this test alone, empty.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// `java` or another tool of the JDK.
pub fn jdk(tool: &str) -> Command {
    match std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        Some(home) => Command::new(Path::new(&home).join("bin").join(tool)),
        None => Command::new(tool),
    }
}

/// All Java sources below a directory.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|e| e == "java") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Compiles all sources of a directory of the repository, once however many
/// tests ask for it, and returns the class directory.
pub fn compile(source: &str, options: &[String]) -> PathBuf {
    static DONE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().unwrap();
    done.entry(source.to_owned())
        .or_insert_with(|| run_javac(source, options))
        .clone()
}

fn run_javac(source: &str, options: &[String]) -> PathBuf {
    let dir = scratch(&format!("classes-{}", source.replace('/', "-")));
    let done = jdk("javac")
        .args(["-g", "-nowarn", "-d"])
        .arg(&dir)
        .args(options)
        .args(sources(&root().join(source)))
        .output()
        .expect("javac runs");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    dir
}

/// The tool, without anything of the environment that changes its ways.
pub fn photofinish() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_photofinish"));
    command
        .stdin(Stdio::null())
        .env_remove("NO_COLOR")
        .env_remove("JAVA_TOOL_OPTIONS");
    command
}

/// A program to run: what follows `java`, and its standard input.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub args: Vec<String>,
    pub input: String,
}

impl Program {
    pub fn new(args: &[&str]) -> Program {
        Program {
            args: args.iter().map(|arg| arg.to_string()).collect(),
            input: String::new(),
        }
    }

    /// Without the tool.
    pub fn native(&self) -> Output {
        let mut java = jdk("java");
        java.args(&self.args);
        self.finish(java)
    }

    /// With it: `<command> [options] -- <program>`, quietly, so that standard
    /// error is the program's too.
    pub fn detect(&self, options: &[&str]) -> Detected {
        let json = tempfile::NamedTempFile::new().unwrap();
        let mut tool = photofinish();
        tool.args(["detect", "--quiet", "--time-limit", "120", "--json"]);
        tool.arg(json.path())
            .args(options)
            .arg("--")
            .args(&self.args);
        let done = self.finish(tool);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let stderr = text(&done.stderr);
        let report = std::fs::read(json.path()).unwrap();
        let report = serde_json::from_slice(&report)
            .unwrap_or_else(|e| panic!("no JSON ({e}) for {self:?}; the tool says:\n{stderr}"));
        Detected {
            code: done.status.code(),
            report,
            stdout: text(&done.stdout),
            stderr,
        }
    }

    fn finish(&self, mut command: Command) -> Output {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Small enough for the pipe: nobody need be reading yet.
        let _ = child.stdin.take().unwrap().write_all(self.input.as_bytes());
        child.wait_with_output().unwrap()
    }
}

/// What came of a `detect`.
#[derive(Debug)]
pub struct Detected {
    /// The tool's own exit code.
    pub code: Option<i32>,
    pub report: Value,
    pub stdout: String,
    pub stderr: String,
}

/// Calls `work` for every item, on as many threads as there are cores.
pub fn in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(item) =
                    items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    work(item);
                }
            });
        }
    });
}
