//! One run of a program: its input, output and exit code untouched, and every
//! wait bounded.
//!
//! The program gets a process group of its own, so that a time limit ends what
//! it started as well. Only when standard input is a terminal does it stay in
//! ours: a background group could not read from there. It is asked to end
//! (SIGTERM, or the signal we got ourselves) and killed when it has not done so
//! after [`GRACE`]; a second Ctrl-C kills at once.

use crate::interrupt::{Interrupts, Message};
use report::fingerprint::hex;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use sha2::{Digest, Sha256};
use std::io::{IsTerminal, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a program may take to end once it has been asked to.
pub const GRACE: Duration = Duration::from_secs(10);

/// How long after the program's end its output may still be held open by a
/// process it left behind.
const DRAIN: Duration = Duration::from_secs(2);

/// Where the program's standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Straight to ours; no digest.
    Inherit,
    /// To ours, byte by byte, and into a digest.
    Digest,
    /// To our standard error and into a digest: ours is needed for JSON.
    ToStderr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    TimeLimit,
    Interrupted,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// None when a signal ended it.
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// We ended it, and why.
    pub stopped: Option<Stopped>,
    /// None unless asked for, or when the output did not end with the program.
    pub output_sha256: Option<String>,
    pub elapsed: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("cannot start {program}: {source}")]
    Start {
        program: String,
        source: std::io::Error,
    },
    #[error("lost track of process {pid}: {source}")]
    Lost { pid: u32, source: std::io::Error },
    #[error("process {pid} does not die, not even of SIGKILL; see `ps -p {pid}`")]
    Undead { pid: u32 },
}

/// Runs `command` to its end.
pub fn run(
    mut command: Command,
    output: Output,
    time_limit: Option<Duration>,
    interrupts: &Interrupts,
) -> Result<Outcome, ProcessError> {
    let own_group = !std::io::stdin().is_terminal();
    if own_group {
        command.process_group(0);
    }
    if output != Output::Inherit {
        command.stdout(Stdio::piped());
    }
    let start = Instant::now();
    let mut child = command.spawn().map_err(|source| ProcessError::Start {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
    })?;
    let pid = child.id();
    let digest = child.stdout.take().map(|pipe| copy(pipe, output));
    let sender = interrupts.sender.clone();
    std::thread::spawn(move || {
        let status = child.wait();
        let _ = sender.send(Message::Exited(pid, status));
    });

    let (status, stopped) = Watch {
        pid,
        own_group,
        interrupts,
    }
    .until_end(time_limit.and_then(|limit| start.checked_add(limit)))?;
    let elapsed = start.elapsed();
    Ok(Outcome {
        exit: status.code(),
        signal: status.signal(),
        stopped,
        output_sha256: digest.and_then(|done| done.recv_timeout(DRAIN).ok()),
        elapsed,
    })
}

struct Watch<'a> {
    pid: u32,
    own_group: bool,
    interrupts: &'a Interrupts,
}

/// How far we have gone in ending the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    Asked,
    Killed,
}

impl Watch<'_> {
    fn until_end(
        &self,
        mut deadline: Option<Instant>,
    ) -> Result<(std::process::ExitStatus, Option<Stopped>), ProcessError> {
        let mut stage = Stage::Running;
        let mut stopped = None;
        loop {
            match self.next(deadline) {
                Some(Message::Exited(pid, status)) if pid == self.pid => {
                    let status = status.map_err(|source| ProcessError::Lost { pid, source })?;
                    return Ok((status, stopped));
                }
                Some(Message::Exited(..)) => continue,
                Some(Message::Signal(signal)) => {
                    stopped = stopped.or(Some(Stopped::Interrupted));
                    if stage == Stage::Running {
                        // A terminal has sent its Ctrl-C to the whole group.
                        if self.own_group || signal != signal_hook::consts::SIGINT {
                            self.send(Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
                        }
                        stage = Stage::Asked;
                    } else {
                        self.send(Signal::KILL);
                        stage = Stage::Killed;
                    }
                }
                None => match stage {
                    Stage::Running => {
                        stopped = Some(Stopped::TimeLimit);
                        self.send(Signal::TERM);
                        stage = Stage::Asked;
                    }
                    Stage::Asked => {
                        self.send(Signal::KILL);
                        stage = Stage::Killed;
                    }
                    Stage::Killed => return Err(ProcessError::Undead { pid: self.pid }),
                },
            }
            deadline = Instant::now().checked_add(GRACE);
        }
    }

    /// The next message, or None at the deadline.
    fn next(&self, deadline: Option<Instant>) -> Option<Message> {
        let receiver = &self.interrupts.receiver;
        // We hold a sender ourselves, so the channel never closes.
        match deadline {
            None => receiver.recv().ok(),
            Some(at) => receiver
                .recv_timeout(at.saturating_duration_since(Instant::now()))
                .ok(),
        }
    }

    /// A process that is gone already is not an error.
    fn send(&self, signal: Signal) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else {
            return;
        };
        let _ = if self.own_group {
            kill_process_group(pid, signal)
        } else {
            kill_process(pid, signal)
        };
    }
}

/// Copies the program's output as it comes and digests it. When our side can
/// no longer be written to, the pipe is closed: the program then sees what it
/// would have seen without us.
fn copy(mut pipe: impl Read + Send + 'static, output: Output) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut hash = Sha256::new();
        let mut buffer = vec![0u8; 64 * 1024];
        loop {
            let got = match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => buffer.get(..n).unwrap_or_default(),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            hash.update(got);
            let written = match output {
                Output::ToStderr => std::io::stderr().write_all(got),
                _ => {
                    let mut out = std::io::stdout().lock();
                    out.write_all(got).and_then(|()| out.flush())
                }
            };
            if written.is_err() {
                return;
            }
        }
        let _ = sender.send(hex(&hash.finalize()));
    });
    receiver
}

/// `SIGKILL` for 9; the number for those nobody meets.
pub fn signal_name(signal: i32) -> String {
    match signal_hook::low_level::signal_name(signal) {
        Some(name) => name.to_owned(),
        None if signal == 9 => "SIGKILL".to_owned(),
        None => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    fn outcome(script: &str, output: Output, limit: Option<u64>) -> Outcome {
        let interrupts = Interrupts::catch().unwrap();
        run(
            sh(script),
            output,
            limit.map(Duration::from_millis),
            &interrupts,
        )
        .unwrap()
    }

    #[test]
    fn exit_codes_and_signals_come_through() {
        assert_eq!(outcome("exit 7", Output::Inherit, None).exit, Some(7));
        let killed = outcome("kill -9 $$", Output::Inherit, None);
        assert_eq!((killed.exit, killed.signal), (None, Some(9)));
        assert_eq!(killed.stopped, None);
        assert_eq!(signal_name(9), "SIGKILL");
    }

    #[test]
    fn the_digest_is_of_standard_output_only() {
        let got = outcome("printf abc; printf err >&2", Output::ToStderr, None);
        assert_eq!(got.output_sha256, Some(hex(&Sha256::digest(b"abc"))));
    }

    #[test]
    fn a_time_limit_ends_the_program_and_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let script = format!("(sleep 1; touch {}) & wait", mark.display());
        let got = outcome(&script, Output::Inherit, Some(100));
        assert_eq!(got.stopped, Some(Stopped::TimeLimit));
        assert!(got.elapsed < Duration::from_secs(1));
        std::thread::sleep(Duration::from_millis(1200));
        assert!(!mark.exists(), "the child went on");
    }

    #[test]
    fn a_process_left_behind_with_our_pipe_does_not_hold_us() {
        let got = outcome("printf x; sleep 5 & exit 3", Output::ToStderr, None);
        assert_eq!(got.exit, Some(3));
        assert_eq!(got.output_sha256, None);
        assert!(got.elapsed < Duration::from_secs(4));
    }

    #[test]
    fn what_cannot_be_started_is_named() {
        let interrupts = Interrupts::catch().unwrap();
        let error = run(
            Command::new("/nowhere/java"),
            Output::Inherit,
            None,
            &interrupts,
        );
        assert!(error.unwrap_err().to_string().contains("/nowhere/java"));
    }
}
