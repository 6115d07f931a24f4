//! `replay`: the same run again, or a reason why not.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use test_support::programs::{
    children, confirm, control_program, finish, jdk, photofinish, root, scratch, signal,
};

/// What `confirm` is asked for.
const PAIR: [&str; 4] = [
    "--pair",
    "Figure1.java:18,Figure1.java:24",
    "--trials",
    "20",
];

fn replay(results: &Path, options: &[&str]) -> Output {
    let mut tool = photofinish();
    tool.args(["replay", "--results"])
        .arg(results)
        .args(options);
    finish(tool, "")
}

fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

#[test]
fn the_interleaving_is_a_table_with_source_lines() {
    let results = tempfile::tempdir().unwrap();
    let found = confirm(&control_program(&["Figure1"]), results.path(), &PAIR);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    let sources = root().join("programs/control/src");
    let sources = sources.to_str().unwrap();
    let done = replay(
        results.path(),
        &["-v", "--sources", sources, "R1.exception"],
    );
    let text = said(&done);
    assert_eq!(done.status.code(), Some(66), "{text}");
    let head = text
        .lines()
        .find(|line| line.starts_with("step |"))
        .unwrap();
    for thread in ["0 main", "1 thread1", "2 thread2"] {
        assert!(head.contains(thread), "{head}");
    }
    assert!(text.contains("z = 1; // statement 7"), "{text}");
    assert!(text.contains("ERROR1"), "{text}");
    assert!(text.contains("* race: "), "{text}");
    // The program's own output is its own.
    assert_eq!(String::from_utf8_lossy(&done.stdout), "done\n");
    // The other order again, from another directory.
    let mut tool = photofinish();
    tool.current_dir("/");
    tool.args(["replay", "--results"])
        .arg(results.path())
        .arg("R1.ok");
    let done = finish(tool, "");
    assert_eq!(done.status.code(), Some(66), "{}", said(&done));
    assert!(
        said(&done).contains("R1.ok: the same run again"),
        "{}",
        said(&done)
    );
}

#[test]
fn what_is_not_there_is_said() {
    let nothing = tempfile::tempdir().unwrap();
    let done = replay(nothing.path(), &["R1"]);
    assert_eq!(done.status.code(), Some(64));
    assert!(said(&done).contains("photofinish confirm"));
    let file = nothing.path().join("log");
    std::fs::write(&file, "rubbish").unwrap();
    let mut tool = photofinish();
    tool.args(["replay", "--log"])
        .arg(&file)
        .args(["--", "Main"]);
    assert_eq!(finish(tool, "").status.code(), Some(64));
}

#[test]
fn a_program_that_has_changed_is_named() {
    let dir = scratch("changed");
    let compile = |body: &str| {
        let source = dir.join("Changing.java");
        let text = format!(
            "public class Changing {{ static int x; static final Object l = new Object();
            public static void main(String[] a) throws Exception {{
            Thread t = new Thread(() -> {{ {body} x = 1; }}); t.start(); x = 2; t.join(); }} }}"
        );
        std::fs::write(&source, text).unwrap();
        let done = jdk::tool("javac")
            .arg("-g")
            .arg("-d")
            .arg(&dir)
            .arg(&source)
            .status();
        assert!(done.unwrap().success());
    };
    compile("");
    let results = dir.join("results");
    let changing =
        test_support::programs::Program::new(&["-cp", dir.to_str().unwrap(), "Changing"]);
    let found = confirm(&changing, &results, &["--trials", "20"]);
    assert_eq!(found.races()[0]["status"], "confirmed", "{}", found.report);
    let done = replay(&results, &["R1"]);
    assert_eq!(done.status.code(), Some(66), "{}", said(&done));
    compile("synchronized (l) { x = 3; } synchronized (l) { x = 4; }");
    let done = replay(&results, &["R1"]);
    let text = said(&done);
    assert_eq!(done.status.code(), Some(70), "{text}");
    assert!(text.contains("went another way at step"), "{text}");
    assert!(text.contains("Changing.class has changed"), "{text}");
}

#[test]
fn a_debugger_does_not_change_the_schedule() {
    let results = tempfile::tempdir().unwrap();
    confirm(&control_program(&["Figure1"]), results.path(), &PAIR);
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let number = port.local_addr().unwrap().port().to_string();
    drop(port);
    let mut tool = photofinish();
    tool.args(["replay", "--debug", &number, "--results"]);
    tool.arg(results.path()).arg("R1.exception");
    let mut child = tool
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("Listening"), "{line}");
    let mut jdb = jdk::tool("jdb");
    jdb.args(["-attach", &number]);
    let mut jdb = jdb
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut commands = jdb.stdin.take().unwrap();
    let mut answers = BufReader::new(jdb.stdout.take().unwrap());
    let mut heard = String::new();
    let mut until = |wanted: &str| {
        while !heard.contains(wanted) {
            let mut line = String::new();
            if answers.read_line(&mut line).unwrap() == 0 {
                break;
            }
            heard += &line;
        }
        assert!(heard.contains(wanted), "{wanted}: {heard}");
    };
    // Whatever goes wrong, nobody waits for ever.
    let pids = [child.id(), jdb.id()];
    let (done, over) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if over.recv_timeout(Duration::from_secs(150)) == Err(RecvTimeoutError::Timeout) {
            for pid in pids.into_iter().chain(children(pids[0])) {
                signal("KILL", pid);
            }
        }
    });
    until("VM Started");
    writeln!(commands, "stop at Figure1:24\nrun").unwrap();
    until("Breakpoint hit");
    writeln!(commands, "where\nclear Figure1:24\ncont").unwrap();
    // It stops there by itself.
    until("Exception occurred");
    writeln!(commands, "cont").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(done);
    watch.join().unwrap();
    let text = said(&output);
    let _ = jdb.kill();
    let _ = jdb.wait();
    assert_eq!(output.status.code(), Some(66), "{text}");
    assert!(text.contains("the same run again"), "{text}");
}

/// Results of two programs in one directory both have an R1.
#[test]
fn a_printed_command_stays_good() {
    let results = tempfile::tempdir().unwrap();
    let first = confirm(&control_program(&["Figure1"]), results.path(), &PAIR);
    assert_eq!(first.code, Some(66), "{}", first.stderr);
    let command = first.races()[0]["replay"]["command"].as_str().unwrap();
    let second = ["--pair", "Figure2.java:22,Figure2.java:28", "--trials", "3"];
    let second = confirm(&control_program(&["Figure2"]), results.path(), &second);
    assert_ne!(second.races().len(), 0, "{}", second.stderr);

    let words = command
        .strip_prefix("photofinish replay --results ")
        .unwrap();
    let words: Vec<&str> = words.split(' ').skip(1).collect();
    let text = said(&replay(results.path(), &words));
    assert!(text.contains("the same run again"), "{command}: {text}");
    assert!(
        text.contains("of result 1, ") && text.contains(" Figure1\n"),
        "{text}"
    );
    let text = said(&replay(results.path(), &["R1"]));
    assert!(
        text.contains("of result 2, ") && text.contains(" Figure2\n"),
        "{text}"
    );
}
