//! A stand-alone program that forces the order of the two accesses of a race on the unchanged classes: for a bug
//! report to people who have a JDK and no Photofinish.
//!
//! A statement inside a class that nobody may change can be held up by a debugger only, so the program is a small one: it
//! uses the debugger interface that every JDK has (JDI), with a breakpoint at each of the two statements as its
//! latch. It forces one order of two statements and nothing else. Where a finding needs more, that does not show it; so
//! the program is run before it is handed over, and if it does not show what it should, `export` says so and why.
//!
//! Refused: deadlocks and uncaught exceptions without a race (no two statements make them), programs that read
//! a file as their input, and everything that the run does not confirm.

use super::{Exported, Finding, Shows, Start, comment, junit, literal, told};
use crate::error::Error;
use crate::story::Goal;
use findings::confirmed::Effect;
use schedule::log::{Entry, Log};
use schedule::{Hit, Ready};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TEMPLATE: &str = include_str!("Plain.java.txt");

/// How long the threads get to come to the two statements.
const SECONDS: u64 = 20;

/// What the program ends with, and prints, when it shows the finding. The code alone proves nothing: `java` ends with it
/// also when it cannot compile or start the program.
const HAPPENED: i32 = 1;
const SAYS: &str = "it happened";
const NOT_FORCED: i32 = 3;

pub(super) fn write(finding: &Finding, directory: &Path) -> Result<Exported, Error> {
    let refuse = |why: &str| {
        let id = &finding.id;
        Error::usage(format!("{id} cannot become a program of its own: {why}"))
    };
    let Shows::Goal(Goal::Race { outcome, .. }) = &finding.shows else {
        return Err(refuse(
            "only races can, whose two statements a program can hold up; `--junit` takes all findings",
        ));
    };
    if outcome.as_ref().is_some_and(|o| !o.memory.is_empty()) {
        return Err(refuse(
            "it takes a read that sees an older value, which no order of two statements forces",
        ));
    }
    if finding.program.input.is_some() {
        return Err(refuse("the program reads its standard input from a file"));
    }
    let start = Start::of(&finding.program.args).map_err(|why| refuse(&why))?;
    let log = schedule::log::read(&finding.log).map_err(|e| refuse(&e.to_string()))?;
    let hit = last_hit(&log).ok_or_else(|| {
        refuse("in the run that was kept the two statements do not stand side by side")
    })?;
    let (first, second) = (point(&log, &hit.first), point(&log, &hit.second));
    let (Some(first), Some(second)) = (first, second) else {
        return Err(refuse("the schedule does not say where its statements are"));
    };
    let main = start.main.rsplit('.').next().unwrap_or(&start.main);
    let class = format!("{}{}", main.replace('$', "_"), finding.id);
    let (sign, expected) = match outcome.as_deref() {
        Some(o) if o.result == Effect::Exception && !o.caught => {
            let class = o.detail.split([':', ' ']).next().unwrap_or_default();
            (literal(class), format!("the program prints {class}"))
        }
        Some(o) if o.result != Effect::Ok => {
            return Err(refuse(&format!(
                "what comes of it ({}) is not seen from outside; only uncaught exceptions and races as such are",
                o.result.name()
            )));
        }
        _ => (
            "null".to_owned(),
            "the two statements were reached at the same time".to_owned(),
        ),
    };
    let path = absolute(&finding.program.directory, &start.class_path);
    let words = [std::slice::from_ref(&start.main), &start.arguments[..]].concat();
    let story = told(&finding.story);
    let story: String = match story.is_empty() {
        true => String::new(),
        false => {
            let lines: String = story.iter().map(|l| format!(" *   {l}\n")).collect();
            format!(" *\n * <pre>{{@code\n{lines} * }}</pre>\n")
        }
    };
    let values = [
        ("«CLASSPATH»", literal(&path)),
        ("«CLASS»", class.clone()),
        ("«WHAT»", comment(&finding.what).replace('<', "&lt;")),
        ("«EXPECTED»", comment(&expected)),
        ("«STORY»", story),
        ("«FIRST»", first),
        ("«SECONDS»", SECONDS.to_string()),
        ("«SECOND»", second),
        ("«OPTIONS»", literal(&start.options.join(" "))),
        ("«COMMAND»", literal(&words.join(" "))),
        ("«SIGN»", sign),
    ];
    let text = { values.iter() }.fold(TEMPLATE.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    });
    let file = directory.join(format!("{class}.java"));
    junit::put(&file, text.as_bytes())?;
    let shown = run(finding, &file);
    if let Err(why) = shown {
        let _ = std::fs::remove_file(&file);
        return Err(refuse(&why));
    }
    Ok(Exported {
        notes: vec![format!(
            "it was run once, and ended with {HAPPENED}: {expected}; run it with `java {}`",
            file.display()
        )],
        files: vec![file],
    })
}

fn last_hit(log: &Log) -> Option<&Hit> {
    log.entries.iter().rev().find_map(|entry| match entry {
        Entry::Hit(hit) => Some(hit),
        _ => None,
    })
}

/// A statement as the program names it: the so-and-so-many-th time that the thread comes to it.
fn point(log: &Log, ready: &Ready) -> Option<String> {
    let site = log.sites.get(&ready.op.site)?;
    let hit =
        |e: &Entry| matches!(e, Entry::Hit(hit) if hit.first == *ready || hit.second == *ready);
    let at = log.entries.iter().rposition(hit)?;
    let before = log.told.iter().filter(|told| {
        told.thread == ready.thread && told.op.site == ready.op.site && told.at <= at
    });
    let thread = log.threads.get(&ready.thread).map_or("", |row| &row.name);
    let place = match (&site.file, site.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => site.method.clone(),
    };
    Some(format!(
        "new Point({}, {}, {}, {}, {}, {}, {})",
        literal(&encoding::names::dotted(&site.class)),
        literal(&site.method),
        literal(&site.descriptor),
        site.bci,
        literal(if is_numbered(thread) { "" } else { thread }),
        before.count() + 1,
        literal(&place),
    ))
}

/// Names that Java gives say nothing in another run.
fn is_numbered(name: &str) -> bool {
    let number = name.strip_prefix("Thread-");
    let pooled = name.starts_with("pool-") || name.starts_with("ForkJoinPool");
    pooled || number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

fn absolute(directory: &Path, class_path: &str) -> String {
    let entries = class_path
        .split(':')
        .map(|e| directory.join(e).display().to_string());
    entries.collect::<Vec<_>>().join(":")
}

/// Runs it as its reader will; why it does not show the finding.
fn run(finding: &Finding, file: &Path) -> Result<(), String> {
    let java: PathBuf = finding.program.java.clone();
    let mut command = Command::new(&java);
    driver::secrets::remove(&mut command);
    let mut child = command
        .arg(file)
        .current_dir(&finding.program.directory)
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("{} does not start: {e}", java.display()))?;
    let stdout = child.stdout.take();
    let printed = std::thread::spawn(move || {
        let lines = stdout.map(|out| BufReader::new(out).lines().map_while(Result::ok));
        lines.into_iter().flatten().any(|line| line == SAYS)
    });
    let until = Instant::now() + Duration::from_secs(8 * SECONDS);
    let code = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("the program that forces the order did not end".to_owned());
            }
        }
    };
    match code {
        Some(HAPPENED) if printed.join().unwrap_or(false) => Ok(()),
        Some(0) => Err(
            "with the order of the two statements forced and the rest left free, it did not happen".to_owned(),
        ),
        Some(NOT_FORCED) => Err(
            "the threads did not come to the two statements in the order that is needed: the schedule holds up more \
             than these"
                .to_owned(),
        ),
        _ => Err(format!(
            "{} could not run it; a JDK with the module jdk.jdi is needed",
            java.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_java_gives_are_not_waited_for() {
        for name in ["Thread-3", "pool-1-thread-2", "ForkJoinPool-1-worker-1"] {
            assert!(is_numbered(name), "{name}");
        }
        for name in ["main", "Thread-x", "poller"] {
            assert!(!is_numbered(name), "{name}");
        }
    }
}
