//! What can happen to a program and to the tool: killed in the middle, a full
//! disk, places that cannot be written, halting, children, other agents,
//! thousands of threads.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use test_support::programs::{
    Expected, Program, children, compile, finish, jdk, offline, photofinish, root, scratch, signal,
    sources,
};
use test_support::trials::say_skipped;

/// The only program of this name in `programs/edge`.
fn edge(name: &str) -> Program {
    let expected = Expected::load("edge");
    let section = expected.sections.iter().find(|s| s.name == name).unwrap();
    expected.program("edge", section)
}

/// Lines of STD text, as thread, operation and operand, of a trace that is not whole.
fn std_text(trace: &Path) -> Vec<[String; 3]> {
    let mut tool = photofinish();
    tool.args(["trace", "convert", "-o", "-"]).arg(trace);
    let done = finish(tool, "");
    assert_eq!(done.status.code(), Some(75), "{}", text(&done.stderr));
    let lines = text(&done.stdout);
    let parts = lines.lines().map(|line| {
        let mut parts = line.split(['|', '(', ')']).map(str::to_owned);
        [(); 3].map(|()| parts.next().unwrap())
    });
    parts.collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn info(trace: &Path, code: i32) -> String {
    let mut tool = photofinish();
    tool.args(["trace", "info"]).arg(trace);
    let done = finish(tool, "");
    assert_eq!(done.status.code(), Some(code), "{}", text(&done.stderr));
    text(&done.stdout)
}

/// The program says on its standard output how far it has come. What it said
/// half a second before it was killed is in the trace, without a hole, and in
/// an order that detectors can use, though main did nothing all the time.
#[test]
fn kill_9_in_the_middle_of_a_recording() {
    let trace = scratch("kill-9-record").join("t.pft");
    let mut tool = photofinish();
    let classes = compile("crates/photofinish/tests/java/src", &[]);
    tool.args(["record", "-o", trace.to_str().unwrap(), "--", "-cp"])
        .arg(classes)
        .arg("Progress");
    tool.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut tool = tool.spawn().unwrap();
    let mut said: BTreeMap<String, usize> = BTreeMap::new();
    let mut lines = BufReader::new(tool.stdout.take().unwrap()).lines();
    while said.len() < 2 || said.values().any(|steps| *steps < 20_000) {
        let line = lines.next().unwrap().unwrap();
        let (worker, steps) = line.split_once(' ').unwrap();
        said.insert(worker.to_owned(), steps.parse().unwrap());
    }
    std::thread::sleep(Duration::from_millis(500));
    signal("KILL", children(tool.id())[0]);
    drop(lines);
    assert_eq!(tool.wait().unwrap().code(), Some(75));

    let info = info(&trace, 75);
    // Between two chunks, or while the system wrote one.
    let ends = ["it was killed", "in the middle of a chunk"];
    assert!(ends.iter().any(|end| info.contains(end)), "{info}");
    // Each worker writes its two fields in turn: no access is missing.
    let mut steps: BTreeMap<String, (String, usize)> = BTreeMap::new();
    let mut fields: BTreeMap<String, usize> = BTreeMap::new();
    for [_, _, operand] in std_text(&trace).iter().filter(|line| line[1] == "w") {
        *fields.entry(operand.clone()).or_default() += 1;
    }
    fields.retain(|_, writes| *writes > 10_000);
    for [thread, op, operand] in std_text(&trace) {
        if op == "w" && fields.contains_key(&operand) {
            let (last, writes) = steps.entry(thread).or_default();
            assert_ne!(*last, operand, "a write is missing before number {writes}");
            *last = operand;
            *writes += 1;
        }
    }
    let mut written: Vec<usize> = steps.values().map(|(_, writes)| writes / 2).collect();
    let mut said: Vec<usize> = said.into_values().collect();
    written.sort_unstable();
    said.sort_unstable();
    assert_eq!(written.len(), 2, "{steps:?}");
    assert!(
        written[0] >= said[0] && written[1] >= said[1],
        "{written:?} of {said:?}"
    );

    let found = offline(&trace, "fasttrack");
    assert_eq!(found.locations(), ["Progress.raced".to_owned()].into());
    let warnings = found.warnings();
    let ends = ["before the program did", "the trace is cut off at byte"];
    assert!(ends.iter().any(|end| warnings.contains(end)), "{warnings}");
}

/// A file system of this size, unmounted when dropped.
pub struct Disk(pub PathBuf);

impl Disk {
    /// None where that is not allowed; then the test named `test` cannot run, which
    /// is said.
    pub fn mount(test: &str, name: &str, size: &str) -> Option<Disk> {
        Disk::mount_at(test, scratch(name), size)
    }

    pub fn mount_at(test: &str, dir: PathBuf, size: &str) -> Option<Disk> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"]);
        let done = mount.arg(&dir).stderr(Stdio::null()).status();
        if !done.is_ok_and(|status| status.success()) {
            say_skipped(test, "mounting a small file system is not allowed here");
            return None;
        }
        Some(Disk(dir))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn racy() -> Program {
    let [(_, program)] = &Expected::load("racy").programs("racy")[..] else {
        panic!("one main class for all sections");
    };
    program.clone()
}

/// The program ends as ever; the trace is readable as far as it goes; the tool
/// says so and does not pass it off as a recording.
fn cut_short(done: &Output, trace: &Path, why: &str) {
    let stderr = text(&done.stderr);
    assert_eq!(done.stdout, racy().native().stdout, "{stderr}");
    assert!(
        stderr.contains(why) && stderr.contains("recording stopped"),
        "{stderr}"
    );
    assert_eq!(done.status.code(), Some(75), "{stderr}");
    let info = info(trace, 75);
    assert!(
        info.contains("in the middle of a chunk") || info.contains("it was killed"),
        "{info}"
    );
    assert!(!std_text(trace).is_empty());
}

#[test]
fn a_trace_that_may_not_grow() {
    let trace = scratch("file-limit").join("t.pft");
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 400; exec \"$0\" \"$@\""])
        .arg(photofinish().get_program())
        .args(["record", "-o", trace.to_str().unwrap(), "--"])
        .args(&racy().args);
    cut_short(&finish(limited, ""), &trace, "File too large");
}

#[test]
fn a_full_disk_under_a_trace() {
    let Some(disk) = Disk::mount("a_full_disk_under_a_trace", "full-record", "256k") else {
        return;
    };
    let trace = disk.0.join("t.pft");
    let done = racy().under(&["record", "-o", trace.to_str().unwrap()]);
    cut_short(&done, &trace, "No space left");
}

#[test]
fn a_full_disk_under_the_findings() {
    let Some(disk) = Disk::mount("a_full_disk_under_the_findings", "full-detect", "64k") else {
        return;
    };
    let json = scratch("full-detect-json").join("r.json");
    let mut tool = photofinish();
    tool.env("TMPDIR", &disk.0).args(["detect", "--json"]);
    tool.arg(&json).arg("--").args(&racy().args);
    let done = finish(tool, "");
    let stderr = text(&done.stderr);
    assert_eq!(done.stdout, racy().native().stdout, "{stderr}");
    assert!(
        stderr.contains("cannot write findings: No space left"),
        "{stderr}"
    );
    // What was found before is reported; that it is not all is said.
    assert_eq!(done.status.code(), Some(66), "{stderr}");
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(report["program"]["exit"], 0);
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("how much was covered is unknown"),
        "{warnings}"
    );
}

/// `/proc` is a place where nobody can make a file, not even root.
#[test]
fn places_that_cannot_be_written() {
    let program = Program::own(&["Patient"]);
    for (options, code) in [
        (&["record", "-o", "/proc/t.pft"][..], 64),
        (&["detect", "--json", "/proc/r.json"], 64),
        (&["detect", "--keep", "/proc/kept"], 70),
    ] {
        let done = program.under(options);
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(code), "{options:?}: {stderr}");
        assert!(stderr.contains("/proc/"), "{options:?}: {stderr}");
        assert!(done.stdout.is_empty(), "{options:?}: the program ran");
    }
    let mut tool = photofinish();
    tool.env("XDG_CACHE_HOME", "/proc/cache")
        .env("TMPDIR", "/proc/tmp");
    tool.args(["detect", "--"]).args(&program.args);
    let done = finish(tool, "");
    assert_eq!(done.status.code(), Some(70));
    let stderr = text(&done.stderr);
    assert!(stderr.contains("is TMPDIR writable?"), "{stderr}");
}

#[test]
fn without_a_writable_home_the_agent_is_unpacked_elsewhere() {
    let examples = compile("programs/examples/src", &[]);
    let mut tool = photofinish();
    tool.env("XDG_CACHE_HOME", "/proc/cache");
    tool.args(["detect", "--", "-cp"])
        .arg(examples)
        .arg("BankAccount");
    let done = finish(tool, "");
    assert_eq!(done.status.code(), Some(66), "{}", text(&done.stderr));
}

#[test]
fn halting_loses_nothing() {
    let trace = scratch("halt").join("t.pft");
    let record = ["record", "-o", trace.to_str().unwrap()];
    for (command, detector) in [(&["detect"][..], true), (&record, false)] {
        let found = edge("halt").reported(command);
        assert_eq!(found.code, Some(0), "{}", found.stderr);
        assert_eq!(found.report["runs"][0]["ended"], "halt", "{}", found.report);
        assert_eq!(found.report["program"]["exit"], 3);
        assert_eq!(found.stdout, "halting with 1\n");
        assert_eq!(found.report["coverage"]["threads"], 3, "{detector}");
    }
    let info = info(&trace, 0);
    assert!(info.contains("with the program"), "{info}");
}

/// The children are not ours to watch, and do not write where their parent
/// does.
#[test]
fn programs_that_start_others() {
    let trace = scratch("children").join("t.pft");
    let program = edge("children");
    let found = program.reported(&["record", "-o", trace.to_str().unwrap()]);
    assert_eq!(found.stdout.as_bytes(), program.native().stdout);
    assert_eq!(found.code, Some(4), "{}", found.stderr);
    let info = info(&trace, 0);
    assert!(info.contains("with the program"), "{info}");
}

/// An agent that transforms, retransforms and redefines classes.
#[test]
fn an_agent_of_the_users_own() {
    let dir = scratch("second-agent");
    let classes = dir.join("classes");
    let mut javac = jdk::tool("javac");
    javac.arg("-d").arg(&classes);
    javac.args(sources(&root().join("crates/photofinish/tests/java/agent")));
    assert!(javac.status().unwrap().success());
    let (manifest, jar) = (dir.join("manifest"), dir.join("agent.jar"));
    let attributes =
        "Premain-Class: Meddler\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n";
    std::fs::write(&manifest, attributes).unwrap();
    let mut make = jdk::tool("jar");
    make.arg("cfm")
        .arg(&jar)
        .arg(&manifest)
        .arg("-C")
        .arg(&classes)
        .arg(".");
    assert!(make.status().unwrap().success());

    let agent = format!("-javaagent:{}=here", jar.display());
    beside(&agent, "premain here 2\n");
}

#[test]
fn a_debugger() {
    let listen = "transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0";
    beside(&format!("-agentlib:jdwp={listen}"), "");
}

/// Finds the race of an example also beside another agent, whichever of the
/// two comes first, and leaves the other alone.
fn beside(agent: &str, says: &str) {
    let examples = compile("programs/examples/src", &[]);
    let program = Program::new(&[agent, "-cp", examples.to_str().unwrap(), "BankAccount"]);
    let native = program.native();
    assert_eq!(text(&native.stdout), format!("{says}Ada has 100.00\n"));
    let trace = scratch("beside").join("t.pft");
    for detector in ["fasttrack", "hybrid"] {
        let found = program.detect(&["--detector", detector, "--fail-on", "potential"]);
        assert_eq!(found.stdout.as_bytes(), native.stdout, "{}", found.stderr);
        assert_eq!(found.code, Some(66), "{}", found.stderr);
        assert_eq!(found.locations(), ["BankAccount.cents".to_owned()].into());
    }
    let found = program.reported(&["record", "-o", trace.to_str().unwrap()]);
    assert_eq!(found.stdout.as_bytes(), native.stdout, "{}", found.stderr);
    assert_eq!(offline(&trace, "fasttrack").code, Some(66));
}

#[test]
fn two_thousand_threads_at_once_and_two_thousand_more() {
    let program = edge("many-threads");
    let native = program.native();
    let trace = scratch("many-threads").join("t.pft");
    let record = ["record", "-o", trace.to_str().unwrap()];
    for command in [
        &["detect"][..],
        &["detect", "--detector", "hybrid"],
        &record,
    ] {
        let found = program.reported(command);
        assert_eq!(found.stdout.as_bytes(), native.stdout, "{}", found.stderr);
        assert_eq!(found.code, Some(0), "{command:?}: {}", found.report);
        assert_eq!(found.report["coverage"]["threads"], 4_001, "{command:?}");
        assert_eq!(found.warnings(), "null", "{command:?}");
    }
    assert_eq!(offline(&trace, "fasttrack").code, Some(0));
}
