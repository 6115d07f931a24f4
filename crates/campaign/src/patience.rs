//! Every wait for a server has a name and an end. [`ask`] bounds one question; [`patiently`] repeats what fails
//! while the server is away, for a while: a server that is restarted is asked again, one that stays away is
//! said to be away, with the words of what was asked.
//!
//! The bounds are ours. Not all of the client's own waits have one: a pull without an expiry, and a listing of keys,
//! wait for an answer that a server which was killed in between never sends.

use crate::error::Error;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a server may take for one answer.
pub const ANSWER: Duration = Duration::from_secs(10);

/// How long a server may be away before whoever waits for it gives up.
pub const AWAY: Duration = Duration::from_secs(120);

/// How often to look whether somebody asked to stop.
const LOOK: Duration = Duration::from_millis(200);

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The answer to one question; `what` completes the line that says what went wrong.
pub async fn ask<T, E: Into<Cause>>(
    what: &str,
    question: impl Future<Output = Result<T, E>>,
) -> Result<T, Error> {
    ask_within(ANSWER, what, question).await
}

/// As [`ask`], with a time of its own.
pub async fn ask_within<T, E: Into<Cause>>(
    limit: Duration,
    what: &str,
    question: impl Future<Output = Result<T, E>>,
) -> Result<T, Error> {
    within(limit, what, async {
        question
            .await
            .map_err(|error| Error::server(what)(&*error.into()))
    })
    .await
}

/// What takes longer is given up, by name.
pub async fn within<T>(
    limit: Duration,
    what: &str,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let done = tokio::time::timeout(limit, work).await;
    done.unwrap_or_else(|_| {
        let seconds = limit.as_secs_f64();
        Err(Error::Unreachable(format!(
            "{what}: the server has not answered for {seconds:.0} s"
        )))
    })
}

/// Comes so long after somebody has asked to stop: whoever still waits for a server then need not.
pub async fn stopped(stop: &AtomicBool, grace: Duration) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
    tokio::time::sleep(grace).await;
}

/// Repeats what fails while the server is away; not what the server refuses.
pub async fn patiently<T, F: Future<Output = Result<T, Error>>>(
    mut action: impl FnMut() -> F,
) -> Result<T, Error> {
    let until = Instant::now() + AWAY;
    let mut pause = Duration::from_millis(50);
    loop {
        match action().await {
            Err(Error::Unreachable(_)) if Instant::now() < until => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
            }
            other => return other,
        }
    }
}
