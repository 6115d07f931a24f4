//! Many runs side by side, against a `java` that is a shell script: the main
//! "class" says what it does.

use driver::interrupt::Interrupts;
use driver::java::Java;
use driver::options::{Control, Mode, RunRequest};
use driver::pool::{Ended, Next, Work, WorkResult, run_as_it_comes};
use driver::process::{Input, Output, Stopped};
use driver::run::{Request, RunResult};
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Sleeps as long as its seed says, in hundredths of a second.
const SCRIPT: &str = r#"#!/bin/sh
out=${1#*=out=}; out=${out%%,*}
seed=$(sed 's/.*"seed":\([0-9]*\).*/\1/' "$out/request.json")
touch "$out/findings.jsonl"
echo '{"threads":2,"ended":"exit"}' > "$out/summary.json"
case $seed in
  99) sleep 30 ;;
  *) sleep 0.0$((seed % 10)) ;;
esac
printf %s "$seed"
"#;

/// A signal reaches all tests of this process, so they take turns.
static TURN: Mutex<()> = Mutex::new(());

struct Pool {
    _turn: MutexGuard<'static, ()>,
    dir: tempfile::TempDir,
    java: Java,
    args: Vec<OsString>,
}

impl Pool {
    fn new() -> Pool {
        let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("java");
        // Written by another process: see write_script in run.rs.
        let written = Command::new("sh")
            .args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .arg(SCRIPT)
            .status();
        assert!(written.unwrap().success());
        let version = "17".into();
        Pool {
            _turn: turn,
            dir,
            java: Java { path, version },
            args: vec!["Main".into()],
        }
    }

    fn out(&self, number: usize) -> PathBuf {
        self.dir.path().join(format!("out-{number}"))
    }

    fn request(&self, number: usize, seed: u64) -> Request<'_> {
        std::fs::create_dir_all(self.out(number)).unwrap();
        Request {
            java: &self.java,
            library: Path::new("/lib/agent.so"),
            out: self.out(number),
            options: RunRequest {
                mode: Mode::None,
                control: Some(Control::new("random", seed)),
                ..RunRequest::default()
            },
            args: &self.args,
            directory: None,
            input: Input::Empty,
            output: Output::Capture,
            time_limit: None,
            most_recorded: None,
        }
    }
}

/// JVMs of their own, and what is done with their results.
struct Runs<N, T> {
    next: N,
    take: T,
}

impl<'a, N, T> Work<'a> for Runs<N, T>
where
    N: FnMut(usize) -> Option<Request<'a>>,
    T: FnMut(usize, RunResult) -> ControlFlow<()>,
{
    fn next(&mut self, number: usize) -> Next<'a> {
        match (self.next)(number) {
            Some(request) => Next::Run(Box::new(request)),
            None => Next::Done,
        }
    }

    fn hire(&mut self) -> Option<Request<'a>> {
        None
    }

    fn take(&mut self, number: usize, came: WorkResult) -> ControlFlow<()> {
        match came {
            WorkResult::Run(run) => (self.take)(number, run.unwrap()),
            WorkResult::Answer(_) | WorkResult::Died => unreachable!("there are no workers"),
        }
    }
}

#[test]
fn results_have_the_numbers_of_their_requests() {
    let seeds = [9, 1, 7, 0, 3, 8, 2, 2, 9, 0];
    for jobs in [1, 2, 5] {
        let pool = Pool::new();
        let interrupts = Interrupts::catch().unwrap();
        let mut got = Vec::new();
        let mut work = Runs {
            next: |n| Some(pool.request(n, *seeds.get(n)?)),
            take: |n, result: RunResult| {
                got.push((n, String::from_utf8(result.outcome.stdout).unwrap()));
                ControlFlow::Continue(())
            },
        };
        let ended = run_as_it_comes(jobs, None, &interrupts, &mut work);
        assert_eq!(ended.unwrap(), Ended::All);
        let wanted: Vec<_> = seeds.iter().map(u64::to_string).enumerate().collect();
        got.sort();
        assert_eq!(got, wanted);
    }
}

#[test]
fn enough_is_enough_and_nothing_is_left_running() {
    let pool = Pool::new();
    let interrupts = Interrupts::catch().unwrap();
    let began = Instant::now();
    let mut started = 0;
    let mut work = Runs {
        next: |n| {
            started += 1;
            // All but the first two take for ever.
            Some(pool.request(n, if n < 2 { 1 } else { 99 }))
        },
        take: |n, _| match n {
            1 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        },
    };
    let ended = run_as_it_comes(3, None, &interrupts, &mut work);
    assert_eq!(ended.unwrap(), Ended::Enough);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(started <= 6, "{started} started to get two results");
}

#[test]
fn ctrl_c_stops_all() {
    let pool = Pool::new();
    let interrupts = Interrupts::catch().unwrap();
    let me = std::process::id().to_string();
    let mut stopped = Vec::new();
    let mut work = Runs {
        next: |n| {
            if n == 1 {
                let sent = Command::new("kill").args(["-s", "INT", &me]).status();
                assert!(sent.unwrap().success());
            }
            Some(pool.request(n, 99))
        },
        take: |_, result: RunResult| {
            stopped.push(result.outcome.stopped);
            ControlFlow::Continue(())
        },
    };
    let ended = run_as_it_comes(2, None, &interrupts, &mut work);
    assert_eq!(ended.unwrap(), Ended::Interrupted);
    assert!(!stopped.is_empty());
    assert!(stopped.iter().all(|s| *s == Some(Stopped::Interrupted)));
}
