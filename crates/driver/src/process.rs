//! Runs of programs: their input, output and exit code untouched, and every
//! wait bounded.
//!
//! A program gets a process group of its own, so that a time limit ends what
//! it started as well. Only when it reads from our terminal does it stay in
//! our group: a background group could not read from there. It is asked to end
//! (SIGTERM, or the signal we got ourselves) and killed when it has not done so
//! after [`GRACE`]; a second Ctrl-C kills at once.
//!
//! A run can have a watchdog: without a sign of life (output, or growth of the
//! files it writes) for so long, the JVM is asked for a thread dump and killed.

use crate::interrupt::{Interrupts, Message};
use crate::tap::{self, Tap};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::File;
use std::io::IsTerminal;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// How long a program may take to end once it has been asked to.
pub const GRACE: Duration = Duration::from_secs(10);

/// How long after the program's end its output may still be held open by a
/// process it left behind.
const DRAIN: Duration = Duration::from_secs(2);

/// How often a watchdog looks, and how long a thread dump may take.
const LOOK: Duration = Duration::from_millis(500);
const DUMP: Duration = Duration::from_secs(3);

/// A process that computes gets this many times the patience.
const FOR_COMPUTING: u32 = 10;

/// Where the program's standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Straight to ours; no digest.
    Inherit,
    /// To ours, byte by byte, and into a digest.
    Digest,
    /// To our standard error and into a digest: ours is needed for JSON.
    ToStderr,
    /// Into a digest; its beginning is kept, and that of standard error.
    /// Nobody sees it.
    Capture,
}

/// Where the program's standard input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    #[default]
    Inherit,
    /// There is none.
    Empty,
    File(PathBuf),
}

/// What shows that a run gets on.
#[derive(Clone, Debug, Default)]
pub struct Watchdog {
    /// Without a sign of life for this long it is stuck.
    pub patience: Duration,
    /// Files that grow while it runs.
    pub files: Vec<PathBuf>,
    /// When these are bigger together, in bytes, the run is ended as by a time
    /// limit.
    pub most: Option<u64>,
}

/// A program to run.
#[derive(Debug)]
pub struct Job {
    pub command: Command,
    pub input: Input,
    pub output: Output,
    pub time_limit: Option<Duration>,
    pub watchdog: Option<Watchdog>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    TimeLimit,
    Interrupted,
    /// No sign of life.
    Stuck,
    /// Nobody needs its result any more.
    Unwanted,
    /// It was not stopped and has not ended.
    StillRuns,
}

/// How it ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// None when a signal ended it.
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// We ended it, and why.
    pub stopped: Option<Stopped>,
    /// None unless asked for, or when the output did not end with the program.
    pub output_sha256: Option<String>,
    /// The beginning of what it printed, if that was captured.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// The thread dump of a run that was stuck, if the JVM still gave one.
    pub dump: Option<String>,
    pub elapsed: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("cannot start {program}")]
    Start {
        program: String,
        source: std::io::Error,
    },
    #[error("cannot read the input {path}")]
    Input {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("lost track of process {pid}")]
    Lost { pid: u32, source: std::io::Error },
    #[error("process {pid} does not die, not even of SIGKILL; see `ps -p {pid}`")]
    Undead { pid: u32 },
}

/// Runs one program to its end.
pub fn run(job: Job, interrupts: &Interrupts) -> Result<Outcome, ProcessError> {
    let mut running = vec![Running::start(job, interrupts)?];
    let (at, status) = wait_any(&mut running, interrupts)?;
    Ok(running.swap_remove(at).finish(status))
}

/// What a pool waits for.
#[derive(Debug)]
pub(crate) enum Event {
    /// One of the processes has ended: which, and how.
    Ended(usize, ExitStatus),
    /// A worker, by its process, has answered.
    Answer(u32, Box<protocol::execution::Answer>),
    /// Somebody wants us to stop.
    Interrupted,
    /// It is time to look.
    Tick,
}

/// Waits until one of these has ended; which, and how. Meanwhile signals and
/// limits are passed on to all of them.
pub(crate) fn wait_any(
    running: &mut [Running],
    interrupts: &Interrupts,
) -> Result<(usize, ExitStatus), ProcessError> {
    loop {
        if let Event::Ended(at, status) = wait(running, interrupts, None)? {
            return Ok((at, status));
        }
    }
}

/// The same, for whatever comes first, `until` then at the latest.
pub(crate) fn wait(
    running: &mut [Running],
    interrupts: &Interrupts,
    until: Option<Instant>,
) -> Result<Event, ProcessError> {
    loop {
        let wake = running
            .iter()
            .filter_map(Running::wake_at)
            .chain(until)
            .min();
        // We hold a sender ourselves, so the channel never closes.
        let message = match wake {
            None => interrupts.receiver.recv().ok(),
            Some(at) => {
                let patience = at.saturating_duration_since(Instant::now());
                interrupts.receiver.recv_timeout(patience).ok()
            }
        };
        match message {
            Some(Message::Exited(pid, status)) => {
                if let Some(at) = running.iter().position(|r| r.pid == pid) {
                    let status = status.map_err(|source| ProcessError::Lost { pid, source })?;
                    return Ok(Event::Ended(at, status));
                }
            }
            Some(Message::Answer(pid, answer)) => return Ok(Event::Answer(pid, answer)),
            Some(Message::Signal(signal)) => {
                running.iter_mut().for_each(|r| r.interrupt(signal));
                return Ok(Event::Interrupted);
            }
            None => {
                let now = Instant::now();
                for run in running.iter_mut() {
                    run.look(now)?;
                }
                if until.is_some_and(|until| until <= now) {
                    return Ok(Event::Tick);
                }
            }
        }
    }
}

/// How far we have gone in ending the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    Dumping,
    Asked,
    Killed,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Running {
    pid: u32,
    own_group: bool,
    start: Instant,
    stage: Stage,
    stopped: Option<Stopped>,
    /// When the time limit, or the patience of this stage, is over.
    deadline: Option<Instant>,
    watchdog: Option<Watchdog>,
    /// The last sign of life, and what was seen then.
    alive: Instant,
    seen: u64,
    /// Processor time used until then.
    used: Option<Duration>,
    next_look: Instant,
    stdout: Option<(Arc<Tap>, Receiver<String>)>,
    stderr: Option<(Arc<Tap>, Receiver<String>)>,
    dump_from: Option<usize>,
}

impl Running {
    pub(crate) fn start(job: Job, interrupts: &Interrupts) -> Result<Running, ProcessError> {
        let Job {
            mut command,
            input,
            output,
            time_limit,
            watchdog,
        } = job;
        let own_group = input != Input::Inherit || !std::io::stdin().is_terminal();
        if own_group {
            command.process_group(0);
        }
        match input {
            Input::Inherit => {}
            Input::Empty => {
                command.stdin(Stdio::null());
            }
            Input::File(path) => {
                let file =
                    File::open(&path).map_err(|source| ProcessError::Input { path, source })?;
                command.stdin(file);
            }
        }
        if output != Output::Inherit {
            command.stdout(Stdio::piped());
        }
        if output == Output::Capture {
            command.stderr(Stdio::piped());
        }
        let start = Instant::now();
        let mut child = command.spawn().map_err(|source| ProcessError::Start {
            program: command.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        let pid = child.id();
        let stdout = child.stdout.take().map(|pipe| tap::tap(pipe, output));
        let stderr = child.stderr.take().map(|pipe| tap::tap(pipe, output));
        let sender = interrupts.sender.clone();
        std::thread::spawn(move || {
            let status = child.wait();
            let _ = sender.send(Message::Exited(pid, status));
        });
        Ok(Running {
            pid,
            own_group,
            start,
            stage: Stage::Running,
            stopped: None,
            deadline: time_limit.and_then(|limit| start.checked_add(limit)),
            watchdog,
            alive: start,
            seen: 0,
            used: None,
            next_look: start + LOOK,
            stdout,
            stderr,
            dump_from: None,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The process group that it has to itself.
    pub(crate) fn group(&self) -> Option<Pid> {
        Pid::from_raw(self.pid as i32).filter(|_| self.own_group)
    }

    fn wake_at(&self) -> Option<Instant> {
        let look = self.watching().then_some(self.next_look);
        match (self.deadline, look) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn watching(&self) -> bool {
        self.watchdog.is_some() && self.stage == Stage::Running
    }

    /// Somebody wants us to stop.
    fn interrupt(&mut self, signal: i32) {
        self.stopped = self.stopped.or(Some(Stopped::Interrupted));
        if self.stage == Stage::Running {
            // A terminal has sent its Ctrl-C to the whole group.
            if self.own_group || signal != signal_hook::consts::SIGINT {
                self.send(Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
            }
            self.enter(Stage::Asked, GRACE);
        } else {
            self.kill();
        }
    }

    /// Its result is no longer of interest.
    pub(crate) fn abandon(&mut self) {
        self.stopped = self.stopped.or(Some(Stopped::Unwanted));
        self.kill();
    }

    fn kill(&mut self) {
        self.send(Signal::KILL);
        self.enter(Stage::Killed, GRACE);
    }

    fn enter(&mut self, stage: Stage, patience: Duration) {
        self.stage = stage;
        self.deadline = Instant::now().checked_add(patience);
    }

    /// Some time has passed: is a limit reached?
    fn look(&mut self, now: Instant) -> Result<(), ProcessError> {
        if self.deadline.is_some_and(|at| at <= now) {
            match self.stage {
                Stage::Running => {
                    self.stopped = Some(Stopped::TimeLimit);
                    self.send(Signal::TERM);
                    self.enter(Stage::Asked, GRACE);
                }
                Stage::Dumping | Stage::Asked => self.kill(),
                Stage::Killed => return Err(ProcessError::Undead { pid: self.pid }),
            }
        } else if self.watching() && self.next_look <= now {
            self.next_look = now + LOOK;
            let seen = self.signs();
            if seen != self.seen {
                (self.seen, self.alive) = (seen, now);
                self.used = processor_time(self.pid);
            }
            let most = self.watchdog.as_ref().and_then(|w| w.most);
            if most.is_some_and(|most| self.files() > most) {
                self.stopped = Some(Stopped::TimeLimit);
                self.send(Signal::TERM);
                self.enter(Stage::Asked, GRACE);
                return Ok(());
            }
            let patience = self.watchdog.as_ref().map(|w| w.patience);
            let quiet = now - self.alive;
            if patience.is_some_and(|patience| {
                quiet >= patience && !(self.computes(quiet) && quiet < patience * FOR_COMPUTING)
            }) {
                self.stopped = Some(Stopped::Stuck);
                self.dump_from = self.stdout.as_ref().map(|(tap, _)| tap.divert());
                self.send_to(false, Signal::QUIT);
                self.enter(Stage::Dumping, DUMP);
            }
        }
        Ok(())
    }

    /// Whether it spent this silence computing, which is no proof of progress. On a busy
    /// machine a program that computes gets a small part of a processor; one that waits uses
    /// next to nothing.
    fn computes(&self, quiet: Duration) -> bool {
        match (processor_time(self.pid), self.used) {
            (Some(now), before) => now.saturating_sub(before.unwrap_or_default()) > quiet / 10,
            (None, _) => false,
        }
    }

    /// Grows as long as something happens.
    fn signs(&self) -> u64 {
        let taps = [&self.stdout, &self.stderr].into_iter().flatten();
        let bytes: u64 = taps.map(|(tap, _)| tap.bytes()).sum();
        bytes + self.files()
    }

    /// Bytes in the watched files.
    fn files(&self) -> u64 {
        let files = self.watchdog.iter().flat_map(|w| &w.files);
        let sizes = files.filter_map(|file| std::fs::metadata(file).ok());
        sizes.map(|m| m.len()).sum()
    }

    fn send(&self, signal: Signal) {
        self.send_to(self.own_group, signal);
    }

    /// A process that is gone already is not an error.
    fn send_to(&self, group: bool, signal: Signal) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else {
            return;
        };
        let _ = if group {
            kill_process_group(pid, signal)
        } else {
            kill_process(pid, signal)
        };
    }

    /// What became of it, once it has ended.
    pub(crate) fn finish(self, status: ExitStatus) -> Outcome {
        let elapsed = self.start.elapsed();
        let digest = |side: &Option<(Arc<Tap>, Receiver<String>)>| {
            side.as_ref()
                .and_then(|(_, done)| done.recv_timeout(DRAIN).ok())
        };
        let kept = |side: &Option<(Arc<Tap>, Receiver<String>)>| {
            side.as_ref().map(|(tap, _)| tap.kept()).unwrap_or_default()
        };
        let output_sha256 = digest(&self.stdout);
        digest(&self.stderr);
        let mut stdout = kept(&self.stdout);
        let dump = self
            .dump_from
            .map(|at| stdout.split_off(at.min(stdout.len())))
            .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
            .filter(|text| !text.is_empty());
        Outcome {
            exit: status.code(),
            signal: status.signal(),
            stopped: self.stopped,
            output_sha256,
            stdout,
            stderr: kept(&self.stderr),
            dump,
            elapsed,
        }
    }
}

/// Processor time of a process, as /proc has it.
fn processor_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; utime and stime are the 14th and
    // 15th members, in hundredths of a second on every Linux that we know.
    let mut rest = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut ticks = || rest.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 10))
}

/// Programs that inherit standard input find none: nobody is there to type, and several would
/// take it from each other.
pub fn close_input() -> std::io::Result<()> {
    let nothing = std::fs::File::open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdin(&nothing)?)
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
    use findings::fingerprint::hex;
    use sha2::{Digest, Sha256};

    fn job(script: &str, output: Output, limit: Option<u64>) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job {
            command,
            input: Input::Empty,
            output,
            time_limit: limit.map(Duration::from_millis),
            watchdog: None,
        }
    }

    fn outcome(script: &str, output: Output, limit: Option<u64>) -> Outcome {
        let interrupts = Interrupts::catch().unwrap();
        run(job(script, output, limit), &interrupts).unwrap()
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
        for output in [Output::ToStderr, Output::Capture] {
            let got = outcome("printf abc; printf err >&2", output, None);
            assert_eq!(got.output_sha256, Some(hex(&Sha256::digest(b"abc"))));
            let kept = output == Output::Capture;
            assert_eq!(got.stdout == b"abc", kept);
            assert_eq!(got.stderr == b"err", kept);
        }
    }

    #[test]
    fn input_from_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hello").unwrap();
        let mut cat = job("cat", Output::Capture, None);
        cat.input = Input::File(file.path().to_owned());
        let interrupts = Interrupts::catch().unwrap();
        assert_eq!(run(cat, &interrupts).unwrap().stdout, b"hello");
        let mut cat = job("cat", Output::Capture, None);
        cat.input = Input::File("/nowhere/input".into());
        let error = run(cat, &interrupts).unwrap_err().to_string();
        assert!(error.contains("/nowhere/input"), "{error}");
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
    fn what_shows_no_sign_of_life_is_dumped_and_killed() {
        // A background job of a shell ignores SIGQUIT, its children inherit that, and a shell
        // among them cannot trap it then; a JVM can. What is caught is no longer inherited.
        let caught = Arc::default();
        signal_hook::flag::register(signal_hook::consts::SIGQUIT, caught).unwrap();
        let mut stuck = job(
            "trap 'echo Full thread dump' QUIT; echo before; while :; do sleep 0.1; done",
            Output::Capture,
            None,
        );
        stuck.watchdog = Some(Watchdog {
            // Enough for a shell to have set its trap on a busy machine.
            patience: Duration::from_secs(3),
            files: vec![],
            most: None,
        });
        let got = run(stuck, &Interrupts::catch().unwrap()).unwrap();
        assert_eq!(got.stopped, Some(Stopped::Stuck));
        assert_eq!(got.signal, Some(9));
        assert_eq!(got.dump.as_deref(), Some("Full thread dump"));
        assert_eq!(got.stdout, b"before\n");
    }

    #[test]
    fn a_file_that_grows_is_a_sign_of_life() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let script = format!(
            "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >> {}; sleep 0.6; done",
            log.display()
        );
        let mut slow = job(&script, Output::Capture, None);
        slow.watchdog = Some(Watchdog {
            patience: Duration::from_secs(4),
            files: vec![log],
            most: None,
        });
        let got = run(slow, &Interrupts::catch().unwrap()).unwrap();
        assert_eq!((got.exit, got.stopped), (Some(0), None));
    }

    #[test]
    fn what_cannot_be_started_is_named() {
        let interrupts = Interrupts::catch().unwrap();
        let mut job = job("", Output::Inherit, None);
        job.command = Command::new("/nowhere/java");
        let error = run(job, &interrupts);
        assert!(error.unwrap_err().to_string().contains("/nowhere/java"));
    }
}
