//! Workers: JVMs that make execution after execution. Each has a
//! socket in its run directory, on which it gets jobs and gives answers
//! ([`protocol::execution`]). Whatever happens to a worker, all that can be lost is
//! its answer.

use crate::interrupt::{Interrupts, Message};
use crate::process::{ProcessError, Running};
use crate::run::{Request, RunError, Waiting};
use protocol::execution::Ask;
use protocol::files;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// One of them, as its pool knows it; its process is among those that run.
#[derive(Debug)]
pub(crate) struct Worker {
    pub pid: u32,
    /// Workers of another kind are of no use.
    pub kind: u64,
    /// The number of the job it does, and since when.
    pub busy: Option<(usize, Instant)>,
    jobs: Option<Sender<String>>,
    dir: PathBuf,
    _waiting: Waiting,
}

impl Worker {
    /// Starts a worker, and a thread that talks to it.
    pub fn spawn(
        request: &Request<'_>,
        kind: u64,
        interrupts: &Interrupts,
    ) -> Result<(Worker, Running), RunError> {
        let dir = request.out.clone();
        let listener =
            with_short_name(&dir, |path| UnixListener::bind(path)).map_err(|source| {
                ProcessError::Start {
                    program: format!("a worker in {}", dir.display()),
                    source,
                }
            })?;
        let waiting = Waiting::for_run_in(&dir);
        let mut job = request.job()?;
        job.watchdog = None; // it is silent as long as nobody asks
        let running = Running::start(job, interrupts)?;
        let pid = running.pid();
        let (jobs, lines) = channel();
        let answers = interrupts.sender.clone();
        std::thread::spawn(move || talk(pid, &listener, &lines, &answers));
        let member = Worker {
            pid,
            kind,
            busy: None,
            jobs: Some(jobs),
            dir,
            _waiting: waiting,
        };
        Ok((member, running))
    }

    pub fn ask(&mut self, number: usize, job: &Ask) {
        self.busy = Some((number, Instant::now()));
        let line = serde_json::to_string(job);
        // If it is gone, its end is on the way to us.
        let _ = self
            .jobs
            .as_ref()
            .zip(line.ok())
            .map(|(jobs, line)| jobs.send(line));
    }

    pub fn is_free(&self) -> bool {
        self.busy.is_none() && self.jobs.is_some()
    }

    /// It gets no more jobs, and ends.
    pub fn retire(&mut self) {
        self.jobs = None;
    }

    pub fn is_over(&self, patience: Duration) -> bool {
        self.busy
            .is_some_and(|(_, since)| since.elapsed() > patience)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        // Its thread may still wait for a worker that never came.
        let _ = with_short_name(&self.dir, |path| UnixStream::connect(path));
    }
}

/// The name of a socket may be 108 bytes long, that of a directory any.
fn with_short_name<T>(
    dir: &Path,
    f: impl FnOnce(&str) -> std::io::Result<T>,
) -> std::io::Result<T> {
    let dir = File::open(dir)?;
    f(&format!(
        "/proc/self/fd/{}/{}",
        dir.as_raw_fd(),
        files::WORKER
    ))
}

/// Hands lines to the worker and its answers to the pool, until one of the two is
/// gone.
fn talk(pid: u32, listener: &UnixListener, lines: &Receiver<String>, answers: &Sender<Message>) {
    let Ok((stream, _)) = listener.accept() else {
        return;
    };
    let mut stream = BufReader::new(stream);
    while let Ok(mut line) = lines.recv() {
        line.push('\n');
        if stream.get_mut().write_all(line.as_bytes()).is_err() {
            return;
        }
        let mut answer = String::new();
        if stream.read_line(&mut answer).is_err() {
            return;
        }
        // If it died, and not even all of the last line came, its end is told.
        let Ok(answer) = serde_json::from_str(&answer) else {
            return;
        };
        if answers
            .send(Message::Answer(pid, Box::new(answer)))
            .is_err()
        {
            return;
        }
    }
}
