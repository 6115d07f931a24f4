//! Many runs side by side: in processes of their own, or in workers, which stay from one
//! piece of work to the next.
//!
//! The consumer of the results can say that it has seen enough; what still runs
//! then is killed and never looked at.

use crate::interrupt::Interrupts;
use crate::process::{self, Event, Running, Stopped, wait_any};
use crate::run::{Request, RunError, RunResult, Waiting};
use crate::worker::Worker;
use protocol::execution::{Answer, Ask};
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
    Pool::new(jobs, interrupts).run(deadline, work)
}

/// Does one piece of work after the other; workers stay from one to the next. Nothing
/// else may run in between: what its workers say would be missed.
#[derive(Debug)]
pub struct Pool<'i> {
    jobs: usize,
    interrupts: &'i Interrupts,
    /// Those of the crew, and what runs besides.
    running: Vec<Running>,
    crew: Vec<Worker>,
    started: usize,
    interrupted: bool,
    /// How long a job may take.
    patience: Duration,
}

impl<'i> Pool<'i> {
    pub fn new(jobs: usize, interrupts: &'i Interrupts) -> Pool<'i> {
        Pool {
            jobs: jobs.max(1),
            interrupts,
            running: Vec::new(),
            crew: Vec::new(),
            started: 0,
            interrupted: false,
            patience: Duration::MAX,
        }
    }

    /// Does what there is to do, as [`run_as_it_comes`].
    pub fn run<'a>(
        &mut self,
        deadline: Option<Instant>,
        work: &mut impl Work<'a>,
    ) -> Result<Ended, RunError> {
        let mut round = Round {
            pool: self,
            deadline,
            requests: Vec::new(),
        };
        let ended = round.work(work);
        round.leave()?;
        ended
    }

    /// A process of the pool has ended; its number, if it was a worker that had something
    /// to do.
    fn dismiss(&mut self, pid: u32) -> Option<usize> {
        let at = self.crew.iter().position(|m| m.pid == pid)?;
        let (number, _) = self.crew.swap_remove(at).busy?;
        Some(number)
    }

    /// A worker has answered; the number of what it was asked.
    fn answered(&mut self, pid: u32, answer: &Answer) -> Option<usize> {
        let member = self.crew.iter_mut().find(|m| m.pid == pid)?;
        if answer.is_last {
            member.retire();
        }
        let (number, _) = member.busy.take()?;
        Some(number)
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        self.crew.clear();
        // One that cannot be ended is not worth another word here.
        let _ = clear(&mut self.running, self.interrupts);
    }
}

/// One piece of work.
struct Round<'a, 'p, 'i> {
    pool: &'p mut Pool<'i>,
    deadline: Option<Instant>,
    /// By process.
    requests: Vec<(u32, usize, Box<Request<'a>>, Waiting)>,
}

impl<'a> Round<'a, '_, '_> {
    fn work(&mut self, work: &mut impl Work<'a>) -> Result<Ended, RunError> {
        loop {
            while !self.pool.interrupted && self.busy() < self.pool.jobs {
                let number = self.pool.started;
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
                return Ok(match self.pool.interrupted {
                    true => Ended::Interrupted,
                    false => Ended::All,
                });
            }
            let look = (!self.pool.crew.is_empty()).then(|| Instant::now() + LOOK);
            let pool = &mut *self.pool;
            let taken = match process::wait(&mut pool.running, pool.interrupts, look)? {
                Event::Ended(at, status) => self.ended(work, at, status),
                Event::Answer(pid, answer) => match pool.answered(pid, &answer) {
                    Some(number) => work.take(number, WorkResult::Answer(answer)),
                    None => ControlFlow::Continue(()),
                },
                Event::Interrupted => {
                    pool.interrupted = true;
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
        let working = self.pool.crew.iter().filter(|m| m.busy.is_some());
        self.requests.len() + working.count()
    }

    fn start(
        &mut self,
        number: usize,
        request: Box<Request<'a>>,
    ) -> Result<ControlFlow<()>, RunError> {
        let waiting = Waiting::for_run_in(&request.out);
        let running = Running::start(request.job()?, self.pool.interrupts)?;
        self.requests
            .push((running.pid(), number, request, waiting));
        self.pool.running.push(running);
        self.pool.started += 1;
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
        let pool = &mut *self.pool;
        pool.started += 1;
        let free = |m: &Worker| m.is_free() && m.kind == kind;
        let at = match pool.crew.iter().position(free) {
            Some(at) => at,
            None => {
                for other in pool.crew.iter_mut().filter(|m| m.kind != kind) {
                    other.retire();
                }
                let Some(request) = work.hire() else {
                    return Ok(work.take(number, WorkResult::Died));
                };
                let watchdog = request.options.control.as_ref().and_then(|c| c.watchdog);
                pool.patience =
                    watchdog.map_or(Duration::MAX, |s| Duration::from_secs(s) + HEAD_START);
                let (member, running) = Worker::spawn(&request, kind, pool.interrupts)?;
                pool.running.push(running);
                pool.crew.push(member);
                pool.crew.len() - 1
            }
        };
        pool.crew[at].ask(number, job);
        Ok(ControlFlow::Continue(()))
    }

    fn ended(
        &mut self,
        work: &mut impl Work<'a>,
        at: usize,
        status: ExitStatus,
    ) -> ControlFlow<()> {
        let running = self.pool.running.swap_remove(at);
        let pid = running.pid();
        if let Some(number) = self.pool.dismiss(pid) {
            return work.take(number, WorkResult::Died);
        }
        let Some(at) = self.requests.iter().position(|(of, ..)| *of == pid) else {
            return ControlFlow::Continue(());
        };
        let outcome = running.finish(status);
        let (_, number, request, waiting) = self.requests.swap_remove(at);
        drop(waiting);
        self.pool.interrupted |= outcome.stopped == Some(Stopped::Interrupted);
        work.take(number, WorkResult::Run(Box::new(request.collect(outcome))))
    }

    /// Ends workers that get nowhere, or have no more time.
    fn look(&mut self) {
        let late = self.deadline.is_some_and(|at| at <= Instant::now());
        let pool = &mut *self.pool;
        for member in &pool.crew {
            if member.is_over(pool.patience) || late && member.busy.is_some() {
                let process = pool.running.iter_mut().find(|r| r.pid() == member.pid);
                if let Some(process) = process {
                    process.abandon();
                }
            }
        }
    }

    /// Ends what still runs besides the crew, whose answers nobody awaits any more.
    fn leave(mut self) -> Result<(), RunError> {
        let pool = &mut *self.pool;
        for (pid, ..) in &self.requests {
            let mut running = pool.running.iter_mut();
            if let Some(process) = running.find(|r| r.pid() == *pid) {
                process.abandon();
            }
        }
        while !self.requests.is_empty() {
            match process::wait(&mut pool.running, pool.interrupts, None)? {
                Event::Ended(at, status) => {
                    let running = pool.running.swap_remove(at);
                    let pid = running.pid();
                    pool.dismiss(pid);
                    running.finish(status);
                    self.requests.retain(|(of, ..)| *of != pid);
                }
                Event::Answer(pid, answer) => {
                    pool.answered(pid, &answer);
                }
                Event::Interrupted => pool.interrupted = true,
                Event::Tick => {}
            }
        }
        Ok(())
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
