//! Many runs side by side, in processes of their own, with results in the
//! order of the requests: what comes out does not depend on how many run at
//! once.
//!
//! The consumer of the results can say that it has seen enough; what still runs
//! then is killed and never looked at. No run is started far ahead of the
//! results that were taken.

use crate::interrupt::Interrupts;
use crate::process::{self, Event, Running, Stopped, wait_any};
use crate::run::{Request, RunError, RunResult, Waiting};
use crate::worker::Worker;
use protocol::execution::{Answer, Ask};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// How the runs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All results were taken.
    All,
    /// The taker had enough.
    Enough,
    /// Ctrl-C; the results taken last may be of runs that it cut short.
    Interrupted,
}

/// What to run next.
#[derive(Debug)]
pub enum Next<'a> {
    /// A JVM of its own.
    Run(Box<Request<'a>>),
    /// Something for a worker of this kind.
    Ask(u64, Box<Ask>),
    /// That is not known before another result was taken.
    Later,
    /// Nothing more.
    Done,
}

/// What came of it.
#[derive(Debug)]
pub enum WorkResult {
    /// A JVM ended; what cannot be read is handed over too.
    Run(Box<Result<RunResult, RunError>>),
    /// A worker answered.
    Answer(Box<Answer>),
    /// A worker died over it, would not start, or was stopped.
    Died,
}

/// Has work to do, and takes the results of it, which may change what is
/// next.
pub trait Work<'a> {
    /// The next thing to do, numbered from 0.
    fn next(&mut self, number: usize) -> Next<'a>;

    /// A worker is needed: how to start it. None if that cannot be; the job it
    /// was needed for comes back then.
    fn hire(&mut self) -> Option<Request<'a>>;

    fn take(&mut self, number: usize, came: WorkResult) -> ControlFlow<()>;
}

/// How often workers are looked at, and how much longer than the agent's own
/// watchdog a job may take.
const LOOK: Duration = Duration::from_millis(500);
const HEAD_START: Duration = Duration::from_secs(10);

/// Does what there is to do, at most `jobs` things at a time. What runs in workers
/// ends at the `deadline`; other runs have limits of their own.
pub fn run_as_it_comes<'a>(
    jobs: usize,
    deadline: Option<Instant>,
    interrupts: &Interrupts,
    work: &mut impl Work<'a>,
) -> Result<Ended, RunError> {
    let mut pool = Pool {
        jobs: jobs.max(1),
        deadline,
        interrupts,
        running: Vec::new(),
        requests: Vec::new(),
        crew: Vec::new(),
        started: 0,
        interrupted: false,
        patience: Duration::MAX,
    };
    let ended = pool.work(work);
    pool.crew.clear();
    clear(&mut pool.running, interrupts)?;
    ended
}

struct Pool<'a, 'i> {
    jobs: usize,
    deadline: Option<Instant>,
    interrupts: &'i Interrupts,
    /// Of the requests, and of the crew.
    running: Vec<Running>,
    /// By process.
    requests: Vec<(u32, usize, Box<Request<'a>>, Waiting)>,
    crew: Vec<Worker>,
    started: usize,
    interrupted: bool,
    /// How long a job may take.
    patience: Duration,
}

impl<'a> Pool<'a, '_> {
    fn work(&mut self, work: &mut impl Work<'a>) -> Result<Ended, RunError> {
        loop {
            while !self.interrupted && self.busy() < self.jobs {
                let number = self.started;
                let flow = match work.next(number) {
                    Next::Run(request) => self.start(number, request)?,
                    Next::Ask(kind, job) => self.ask(work, number, kind, &job)?,
                    Next::Later | Next::Done => break,
                };
                if flow.is_break() {
                    return Ok(Ended::Enough);
                }
            }
            if self.busy() == 0 {
                return Ok(match self.interrupted {
                    true => Ended::Interrupted,
                    false => Ended::All,
                });
            }
            let look = (!self.crew.is_empty()).then(|| Instant::now() + LOOK);
            let taken = match process::wait(&mut self.running, self.interrupts, look)? {
                Event::Ended(at, status) => self.ended(work, at, status),
                Event::Answer(pid, answer) => self.answered(work, pid, answer),
                Event::Interrupted => {
                    self.interrupted = true;
                    ControlFlow::Continue(())
                }
                Event::Tick => {
                    self.look();
                    ControlFlow::Continue(())
                }
            };
            if taken.is_break() {
                return Ok(Ended::Enough);
            }
        }
    }

    fn busy(&self) -> usize {
        let working = self.crew.iter().filter(|m| m.busy.is_some());
        self.requests.len() + working.count()
    }

    fn start(
        &mut self,
        number: usize,
        request: Box<Request<'a>>,
    ) -> Result<ControlFlow<()>, RunError> {
        let waiting = Waiting::for_run_in(&request.out);
        let running = Running::start(request.job()?, self.interrupts)?;
        self.requests
            .push((running.pid(), number, request, waiting));
        self.running.push(running);
        self.started += 1;
        Ok(ControlFlow::Continue(()))
    }

    /// Gives the job to a worker that is free, or to a new one.
    fn ask(
        &mut self,
        work: &mut impl Work<'a>,
        number: usize,
        kind: u64,
        job: &Ask,
    ) -> Result<ControlFlow<()>, RunError> {
        self.started += 1;
        let free = |m: &Worker| m.is_free() && m.kind == kind;
        let at = match self.crew.iter().position(free) {
            Some(at) => at,
            None => {
                for other in self.crew.iter_mut().filter(|m| m.kind != kind) {
                    other.retire();
                }
                let Some(request) = work.hire() else {
                    return Ok(work.take(number, WorkResult::Died));
                };
                let watchdog = request.options.control.as_ref().and_then(|c| c.watchdog);
                self.patience =
                    watchdog.map_or(Duration::MAX, |s| Duration::from_secs(s) + HEAD_START);
                let (member, running) = Worker::spawn(&request, kind, self.interrupts)?;
                self.running.push(running);
                self.crew.push(member);
                self.crew.len() - 1
            }
        };
        self.crew[at].ask(number, job);
        Ok(ControlFlow::Continue(()))
    }

    fn ended(
        &mut self,
        work: &mut impl Work<'a>,
        at: usize,
        status: ExitStatus,
    ) -> ControlFlow<()> {
        let running = self.running.swap_remove(at);
        let pid = running.pid();
        if let Some(at) = self.crew.iter().position(|m| m.pid == pid) {
            let member = self.crew.swap_remove(at);
            return match member.busy {
                Some((number, _)) => work.take(number, WorkResult::Died),
                None => ControlFlow::Continue(()),
            };
        }
        let outcome = running.finish(status);
        let Some(at) = self.requests.iter().position(|(of, ..)| *of == pid) else {
            return ControlFlow::Continue(());
        };
        let (_, number, request, waiting) = self.requests.swap_remove(at);
        drop(waiting);
        self.interrupted |= outcome.stopped == Some(Stopped::Interrupted);
        work.take(number, WorkResult::Run(Box::new(request.collect(outcome))))
    }

    fn answered(
        &mut self,
        work: &mut impl Work<'a>,
        pid: u32,
        answer: Box<Answer>,
    ) -> ControlFlow<()> {
        let Some(member) = self.crew.iter_mut().find(|m| m.pid == pid) else {
            return ControlFlow::Continue(());
        };
        if answer.is_last {
            member.retire();
        }
        match member.busy.take() {
            Some((number, _)) => work.take(number, WorkResult::Answer(answer)),
            None => ControlFlow::Continue(()),
        }
    }

    /// Ends workers that get nowhere, or have no more time.
    fn look(&mut self) {
        let late = self.deadline.is_some_and(|at| at <= Instant::now());
        for member in &self.crew {
            if member.is_over(self.patience) || late && member.busy.is_some() {
                let process = self.running.iter_mut().find(|r| r.pid() == member.pid);
                if let Some(process) = process {
                    process.abandon();
                }
            }
        }
    }
}

/// Nothing of ours is left running, also after an error.
fn clear(running: &mut Vec<Running>, interrupts: &Interrupts) -> Result<(), RunError> {
    running.iter_mut().for_each(Running::abandon);
    while !running.is_empty() {
        let (at, status) = wait_any(running, interrupts)?;
        running.swap_remove(at).finish(status);
    }
    Ok(())
}

/// Runs what `next` gives for 0, 1, 2, ... until it gives nothing, at most
/// `jobs` at a time, and hands each result to `take` in that order.
pub fn run_all<'a>(
    jobs: usize,
    interrupts: &Interrupts,
    mut next: impl FnMut(usize) -> Option<Request<'a>>,
    mut take: impl FnMut(usize, RunResult) -> ControlFlow<()>,
) -> Result<Ended, RunError> {
    let jobs = jobs.max(1);
    let mut running: Vec<Running> = Vec::new();
    let mut requests: Vec<(usize, Request<'a>, Waiting)> = Vec::new();
    let mut done: BTreeMap<usize, RunResult> = BTreeMap::new();
    let (mut started, mut taken) = (0, 0);
    let mut last = false;
    let mut interrupted = false;
    let mut work = || -> Result<Ended, RunError> {
        loop {
            while !last && !interrupted && running.len() < jobs && started < taken + 2 * jobs {
                match next(started) {
                    None => last = true,
                    Some(request) => {
                        let waiting = Waiting::for_run_in(&request.out);
                        running.push(Running::start(request.job()?, interrupts)?);
                        requests.push((started, request, waiting));
                        started += 1;
                    }
                }
            }
            if running.is_empty() {
                return Ok(if interrupted {
                    Ended::Interrupted
                } else {
                    Ended::All
                });
            }
            let (at, status) = wait_any(&mut running, interrupts)?;
            let outcome = running.swap_remove(at).finish(status);
            let (number, request, waiting) = requests.swap_remove(at);
            drop(waiting);
            interrupted |= outcome.stopped == Some(Stopped::Interrupted);
            done.insert(number, request.collect(outcome)?);
            while let Some(result) = done.remove(&taken) {
                if take(taken, result).is_break() {
                    return Ok(Ended::Enough);
                }
                taken += 1;
            }
        }
    };
    let ended = work();
    clear(&mut running, interrupts)?;
    ended
}
