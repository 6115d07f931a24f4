//! One process, from start to end: what it printed, how it ended, how long it
//! took, how much processor time and memory.
//!
//! Processor time and memory come from `wait4`. They cover the process and the
//! children that it waited for, so for the tool they cover the JVM that it
//! started: times are added up, of the memory peaks the highest counts.
//!
//! On Linux a process begins its life with the peak of the process that it was
//! spawned from. So this one must stay small while it measures: whatever takes
//! memory is done in a process of its own, or at the end.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wait4::Wait4;

/// How long a process may take to end after it was asked to. The tool allows
/// the program ten seconds itself.
const GRACE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub struct Measured {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub wall: Duration,
    pub cpu: Duration,
    /// Peak resident memory in bytes.
    pub peak: u64,
    /// It was stopped because it took longer than allowed.
    pub stopped: bool,
}

/// Runs `command` without input. It stays in our process group, so that Ctrl-C
/// reaches it.
pub fn run(mut command: Command, limit: Duration) -> Result<Measured> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .context("a process without a number")?;
    let (sender, ended) = channel();
    std::thread::spawn(move || {
        let result = child.wait4();
        let _ = sender.send((result, start.elapsed()));
    });
    let mut stopped = false;
    let mut patience = limit;
    let mut signals = [Signal::TERM, Signal::KILL].into_iter();
    let (result, wall) = loop {
        match ended.recv_timeout(patience) {
            Ok(end) => break end,
            Err(RecvTimeoutError::Disconnected) => anyhow::bail!("lost track of a process"),
            Err(RecvTimeoutError::Timeout) => {
                let signal = signals
                    .next()
                    .with_context(|| format!("process {pid:?} does not die"))?;
                stopped = true;
                patience = GRACE;
                // It may have ended this very moment.
                let _ = kill_process(pid, signal);
            }
        }
    };
    let used = result.context("cannot wait for a process")?;
    Ok(Measured {
        status: used.status,
        stdout: finish(stdout),
        stderr: finish(stderr),
        wall,
        cpu: used.rusage.utime + used.rusage.stime,
        peak: used.rusage.maxrss,
        stopped,
    })
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read is compared; if that is not all, it will differ.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn finish(reader: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    reader.and_then(|r| r.join().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Measured {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, limit).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn output_and_exit_code() {
        let done = shell("echo out; echo err >&2; exit 3", LONG);
        assert_eq!(done.stdout, b"out\n");
        assert_eq!(done.stderr, b"err\n");
        assert_eq!(done.status.code(), Some(3));
        assert!(!done.stopped && done.peak > 0);
    }

    #[test]
    fn children_of_the_process_count() {
        // Some memory and some processor time, both used two levels down.
        let script = "sh -c 'x=$(head -c 30000000 /dev/zero | tr \"\\0\" a); echo ${#x}'; exit 0";
        let done = shell(script, LONG);
        assert_eq!(done.stdout, b"30000000\n");
        assert!(done.peak > 30_000_000, "{}", done.peak);
        assert!(done.cpu > Duration::ZERO);
    }

    #[test]
    fn what_takes_too_long_is_stopped() {
        let done = shell("exec sleep 100", Duration::from_millis(50));
        assert!(done.stopped && done.wall < LONG && !done.status.success());
    }
}
