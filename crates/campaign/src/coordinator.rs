//! The coordinator: publishes units as long as there is a budget, and folds results into the
//! account. It keeps no state that the queue does not have. When it is restarted, it folds all results again
//! and publishes what has none; the queue keeps of each unit one. It does the same while nothing comes in: a unit that
//! a worker refused, or that the server lost, is given out again. When the time is over, it takes back what nobody has begun
//! ([`crate::closing`]), and waits for the rest.

use crate::account::Account;
use crate::closing::withdraw;
use crate::error::Error;
use crate::patience::{patiently, stopped};
use crate::plan::MOST_OPEN;
use crate::queue::Queue;
use crate::unit::{State, WorkerStatus, now};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Results that are read at a time.
const BATCH: usize = 500;

/// Units that wait or are worked on, for each job of a worker, and at least.
const AHEAD: u64 = 2;
const LEAST: u64 = 4;

/// How long a step may still take when somebody has asked to stop.
const LEAVE: Duration = Duration::from_secs(5);

/// How often workers are counted, and the state is read.
const LOOK: Duration = Duration::from_secs(2);

/// Somebody to tell how far the campaign is.
pub trait Watcher {
    /// Another result was folded, or time has passed.
    fn progress(&mut self, _account: &Account) {}
    /// A result that is none.
    fn refused(&mut self, _error: &Error) {}
}

impl Watcher for () {}

/// How a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All its work is done, or its time is over.
    Done,
    /// Somebody stopped the campaign.
    Stopped,
    /// Somebody stopped this process; the campaign can go on.
    Interrupted,
}

/// How many units may wait or be worked on. Workers may say any number of jobs.
fn open_units(workers: &[WorkerStatus]) -> u64 {
    let jobs = workers.iter().map(|worker| u64::from(worker.jobs)).sum();
    AHEAD.saturating_mul(jobs).clamp(LEAST, MOST_OPEN)
}

/// Folds the results that are stored already.
pub async fn catch_up<Q: Queue>(
    queue: &Q,
    account: &mut Account,
    watcher: &mut impl Watcher,
) -> Result<(), Error> {
    loop {
        let most = BATCH;
        let read = patiently(|| queue.results(account.sequence, most, Duration::ZERO)).await?;
        if read.is_empty() {
            return Ok(());
        }
        for stored in &read {
            if let Err(error) = account.add(stored) {
                watcher.refused(&error);
            }
        }
    }
}

/// Publishes and folds until the campaign is over, or somebody asks to stop.
pub async fn coordinate<Q: Queue>(
    queue: &Q,
    account: &mut Account,
    stop: &AtomicBool,
    watcher: &mut impl Watcher,
) -> Result<Ended, Error> {
    tokio::select! {
        ended = go_on(queue, account, stop, watcher) => ended,
        // A server that is away must not keep whoever wants to stop.
        () = stopped(stop, LEAVE) => Ok(Ended::Interrupted),
    }
}

async fn go_on<Q: Queue>(
    queue: &Q,
    account: &mut Account,
    stop: &AtomicBool,
    watcher: &mut impl Watcher,
) -> Result<Ended, Error> {
    catch_up(queue, account, watcher).await?;
    let missing = account.plan.missing();
    patiently(|| queue.publish(&missing)).await?;
    let budget = account.campaign.budget.clone();
    let deadline = budget
        .seconds
        .map(|seconds| account.campaign.started + seconds);
    let quiet = 3 * account.campaign.budget.lease();
    let (mut window, mut next_look) = (LEAST, Instant::now());
    let (mut idle, mut heard) = (false, Instant::now());
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(Ended::Interrupted);
        }
        if next_look <= Instant::now() {
            next_look = Instant::now() + LOOK;
            if patiently(|| queue.state()).await? == State::Stopped {
                return Ok(Ended::Stopped);
            }
            let workers = patiently(|| queue.workers()).await?;
            window = open_units(&workers);
            patiently(|| queue.set_made(account.plan.made())).await?;
            watcher.progress(account);
        }
        let late = deadline.is_some_and(|deadline| now() > deadline);
        let mut units = Vec::new();
        while !late && account.plan.outstanding() < window {
            let Some(unit) = account.plan.next_unit() else {
                break;
            };
            units.push(unit);
        }
        if idle && heard.elapsed() > quiet {
            heard = Instant::now();
            units.extend(account.plan.missing());
        }
        patiently(|| queue.publish(&units)).await?;
        if late {
            withdraw(queue, &mut account.plan).await?;
        }
        if account.plan.outstanding() == 0 && (late || units.is_empty()) {
            patiently(|| queue.set_made(account.plan.made())).await?;
            patiently(|| queue.set_state(State::Done)).await?;
            watcher.progress(account);
            return Ok(Ended::Done);
        }
        let wait = Duration::from_millis(500);
        let read = patiently(|| queue.results(account.sequence, BATCH, wait)).await?;
        idle = read.is_empty();
        if !idle {
            heard = Instant::now();
        }
        for stored in &read {
            if let Err(error) = account.add(stored) {
                watcher.refused(&error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_made_for_the_jobs_there_are_within_reason() {
        let said = |jobs| WorkerStatus {
            jobs,
            ..WorkerStatus::default()
        };
        assert_eq!(open_units(&[]), LEAST);
        assert_eq!(open_units(&[said(3), said(2)]), 10);
        let many = [said(u32::MAX), said(u32::MAX)];
        assert_eq!(open_units(&many), MOST_OPEN);
    }
}
