//! Many runs side by side, in processes of their own, with results in the
//! order of the requests: what comes out does not depend on how many run at
//! once.
//!
//! Whoever takes the results can say that it has seen enough; what still runs
//! then is killed and never looked at. No run is started far ahead of the
//! results that were taken.

use crate::interrupt::Interrupts;
use crate::process::{Running, Stopped, wait_any};
use crate::run::{Request, RunError, RunResult, Waiting};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

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
    Run(Box<Request<'a>>),
    /// That is not known before another result was taken.
    Later,
    /// Nothing more.
    Done,
}

/// Runs what `next` gives, numbered from 0, at most `jobs` at a time, and hands
/// each result to `take` as it comes, which may change what is next. What
/// cannot be read is handed over too.
pub fn run_as_it_comes<'a, T>(
    jobs: usize,
    interrupts: &Interrupts,
    state: &mut T,
    mut next: impl FnMut(&mut T, usize) -> Next<'a>,
    mut take: impl FnMut(&mut T, usize, Result<RunResult, RunError>) -> ControlFlow<()>,
) -> Result<Ended, RunError> {
    let jobs = jobs.max(1);
    let mut running: Vec<Running> = Vec::new();
    let mut requests: Vec<(usize, Box<Request<'a>>, Waiting)> = Vec::new();
    let mut started = 0;
    let mut interrupted = false;
    let mut work = || -> Result<Ended, RunError> {
        loop {
            while !interrupted && running.len() < jobs {
                let Next::Run(request) = next(state, started) else {
                    break;
                };
                let waiting = Waiting::for_run_in(&request.options.out);
                running.push(Running::start(request.job(), interrupts)?);
                requests.push((started, request, waiting));
                started += 1;
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
            if take(state, number, request.collect(outcome)).is_break() {
                return Ok(Ended::Enough);
            }
        }
    };
    let ended = work();
    clear(&mut running, interrupts)?;
    ended
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
                        let waiting = Waiting::for_run_in(&request.options.out);
                        running.push(Running::start(request.job(), interrupts)?);
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
