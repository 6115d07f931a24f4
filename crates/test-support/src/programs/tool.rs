//! Compiling the programs, running them with and without the tool, reading
//! results.

use crate::{jdk, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// The directory of the build profile: this test lies in `deps` below it.
fn build() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().to_owned()
}

/// A directory of this test alone, empty.
pub fn scratch(name: &str) -> PathBuf {
    let dir = build().join("tmp").join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// All Java sources below a directory.
pub fn sources(dir: &Path) -> Vec<PathBuf> {
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

/// What `make` made for this key, once however many tests ask for it.
pub fn once(key: String, make: impl FnOnce() -> PathBuf) -> PathBuf {
    static DONE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut done = DONE.lock().unwrap_or_else(|e| e.into_inner());
    done.entry(key).or_insert_with(make).clone()
}

/// Compiles all sources of a directory of the repository; the class directory.
pub fn compile(source: &str, options: &[String]) -> PathBuf {
    once(format!("classes {source}"), || run_javac(source, options))
}

/// What the class files of a directory depend on.
fn stamp(sources: &[PathBuf], options: &[String]) -> String {
    let files = sources.iter().map(|file| {
        let meta = file.metadata().unwrap();
        let changed = meta.modified().unwrap();
        format!("{} {} {changed:?}\n", file.display(), meta.len())
    });
    let files: String = files.collect();
    format!("{}\n{options:?}\n{files}", jdk::home().display())
}

/// Compiles, unless an earlier run of the tests has compiled the same.
fn run_javac(source: &str, options: &[String]) -> PathBuf {
    let sources = sources(&root().join(source));
    let stamp = stamp(&sources, options);
    let name = format!("classes-{}", source.replace('/', "-"));
    let dir = build().join("tmp").join(&name);
    if std::fs::read_to_string(dir.join("stamp")).is_ok_and(|old| old == stamp) {
        return dir;
    }
    // Beside, and moved when complete: other tests may be compiling the same.
    let new = scratch(&format!("{name}.{}", std::process::id()));
    let done = jdk::tool("javac")
        .args(["-g", "-nowarn", "-d"])
        .arg(&new)
        .args(options)
        .args(sources)
        .output()
        .expect("javac runs");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    std::fs::write(new.join("stamp"), stamp).unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    match std::fs::rename(&new, &dir) {
        Ok(()) => dir,
        Err(_) => new,
    }
}

/// Where the tool is.
pub fn tool_path() -> PathBuf {
    build().join("photofinish")
}

/// The tool, without anything of the environment that changes its ways.
pub fn photofinish() -> Command {
    let mut command = Command::new(tool_path());
    command
        .stdin(Stdio::null())
        .env_remove("NO_COLOR")
        .env_remove("JAVA_TOOL_OPTIONS");
    command
}

/// Something that runs longer than this has lost its way, and is killed.
const PATIENCE: Duration = Duration::from_secs(200);

/// How often to repeat what may go wrong only sometimes; `PHOTOFINISH_REPEAT`
/// asks for more.
pub fn repeat() -> usize {
    let asked = std::env::var("PHOTOFINISH_REPEAT").ok();
    asked.map_or(2, |n| n.parse().expect("PHOTOFINISH_REPEAT is a number"))
}

/// Whether to take all of what differs little from case to case, and costs minutes: when `PHOTOFINISH_REPEAT` is set.
/// A part of it is enough before a change goes in.
pub fn thorough() -> bool {
    std::env::var_os("PHOTOFINISH_REPEAT").is_some()
}

/// A program to run: what follows `java`, and its standard input.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub args: Vec<String>,
    pub input: String,
    /// The `java` to run it with, if not that of the other tests.
    pub java: Option<PathBuf>,
}

impl Program {
    pub fn new(args: &[&str]) -> Program {
        Program {
            args: args.iter().map(|arg| arg.to_string()).collect(),
            ..Program::default()
        }
    }

    /// The same with another Java.
    pub fn on(self, java: &Path) -> Program {
        Program {
            java: Some(java.to_owned()),
            ..self
        }
    }

    /// A program of the tests' own.
    pub fn own(args: &[&str]) -> Program {
        let classes = compile("crates/photofinish/tests/java/src", &[]);
        Program::new(&[&["-cp", classes.to_str().unwrap()], args].concat())
    }

    /// Without the tool.
    pub fn native(&self) -> Output {
        let mut java = match &self.java {
            Some(java) => Command::new(java),
            None => jdk::tool("java"),
        };
        java.args(&self.args);
        finish(java, &self.input)
    }

    /// With it: `<command> [options] -- <program>`.
    pub fn under(&self, command: &[&str]) -> Output {
        let mut tool = photofinish();
        tool.args(command).args(self.options());
        tool.arg("--").args(&self.args);
        finish(tool, &self.input)
    }

    /// What the tool must be told besides the program's arguments.
    pub fn options(&self) -> Vec<&OsStr> {
        let java = self.java.as_ref();
        java.map_or(Vec::new(), |java| vec!["--java".as_ref(), java.as_ref()])
    }

    /// With `detect`, quietly, so that standard error is the program's too.
    pub fn detect(&self, options: &[&str]) -> Detected {
        self.reported(&[&["detect"], options].concat())
    }

    /// With any command that has a report.
    pub fn reported(&self, command: &[&str]) -> Detected {
        let json = tempfile::NamedTempFile::new().unwrap();
        let quiet = ["--quiet", "--time-limit", "150", "--json"];
        let file = [json.path().to_str().unwrap()];
        let done = self.under(&[command, &quiet, &file].concat());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let stderr = text(&done.stderr);
        let report = std::fs::read(json.path()).unwrap();
        let report = serde_json::from_slice(&report)
            .unwrap_or_else(|e| panic!("no JSON ({e}) for {self:?}; the tool says:\n{stderr}"));
        check_schema(&report);
        Detected::new(done.status.code(), report, text(&done.stdout), stderr)
    }
}

/// Every report is as docs/report.schema.json says.
#[track_caller]
pub fn check_schema(report: &Value) {
    static SCHEMA: OnceLock<jsonschema::Validator> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let text = std::fs::read_to_string(root().join("docs/report.schema.json")).unwrap();
        jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
    });
    let wrong = schema.iter_errors(report);
    let wrong: Vec<String> = wrong
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}\n{report}", wrong.join("\n"));
}

/// Runs a command to its end; the tests never hang, whatever the JVM does.
pub fn finish(mut command: Command, input: &str) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Small enough for the pipe: nobody need be reading yet.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let pid = child.id();
    let (done, over) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let late = over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
        if late {
            for pid in children(pid).into_iter().chain([pid]) {
                signal("KILL", pid);
            }
        }
        late
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    assert!(!watch.join().unwrap(), "does not end: {command:?}");
    output
}

pub fn signal(name: &str, pid: u32) {
    let pid = pid.to_string();
    let done = Command::new("kill").args(["-s", name, &pid]).status();
    assert!(done.unwrap().success());
}

/// The processes that a process has started: of the tool, its JVM.
pub fn children(of: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in brackets may hold anything; the state and the parent follow.
        let mut rest = stat.rsplit_once(") ")?.1.split(' ');
        rest.nth(1)?.parse::<u32>().ok()
    };
    pids.filter(|pid| parent(pid) == Some(of)).collect()
}

/// What came of a `detect` or `record`.
#[derive(Debug)]
pub struct Detected {
    /// The tool's own exit code.
    pub code: Option<i32>,
    pub report: Value,
    pub stdout: String,
    pub stderr: String,
    races: Vec<Value>,
}

impl Detected {
    pub fn new(code: Option<i32>, report: Value, stdout: String, stderr: String) -> Detected {
        Detected {
            races: races(&report),
            code,
            report,
            stdout,
            stderr,
        }
    }

    /// All races, those inside findings too.
    pub fn races(&self) -> &[Value] {
        &self.races
    }

    /// What is counted and shown: one for each group of races.
    pub fn findings(&self) -> &[Value] {
        self.report["races"].as_array().unwrap()
    }

    /// The locations of all races.
    pub fn locations(&self) -> BTreeSet<String> {
        self.races().iter().map(location).collect()
    }

    /// All warnings, as one text.
    pub fn warnings(&self) -> String {
        self.report["warnings"].to_string()
    }
}

/// All races of a report, one by one, each with the location that its accesses are to.
pub fn races(report: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for finding in report["races"].as_array().unwrap() {
        let mut leading = finding.clone();
        if finding["group"]["inside"].is_object() {
            leading["location"] = finding["group"]["inside"].clone();
        }
        all.push(leading);
        let members = finding["group"]["members"].as_array();
        all.extend(members.into_iter().flatten().cloned());
    }
    all
}

/// `Class.field` or the array's type, as expectations write it.
pub fn location(race: &Value) -> String {
    let location = &race["location"];
    let text = |key: &str| location[key].as_str().unwrap_or("?").to_owned();
    match location["array"].as_str() {
        Some(array) => array.to_owned(),
        None => format!("{}.{}", text("class"), text("field")),
    }
}

/// `detect --trace`: a detector over a recorded trace.
pub fn offline(trace: &Path, detector: &str) -> Detected {
    let json = tempfile::NamedTempFile::new().unwrap();
    let mut tool = photofinish();
    tool.args(["detect", "--quiet", "--detector", detector, "--trace"]);
    tool.arg(trace).arg("--json").arg(json.path());
    let done = finish(tool, "");
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    let report = serde_json::from_slice(&std::fs::read(json.path()).unwrap())
        .unwrap_or_else(|e| panic!("no JSON ({e}); the tool says:\n{stderr}"));
    check_schema(&report);
    Detected::new(done.status.code(), report, String::new(), stderr)
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
