//! What a campaign needs of whatever carries it, and nothing else: units go out, each to one
//! worker at a time; results come in, each stored once; pieces of the bundle, the state and the workers'
//! last words. [`crate::embedded`] does it in one process and a directory, [`crate::nats`] by a
//! JetStream server. Coordinator and workers know this trait only.
//!
//! Promises that both keep, and `tests/queues.rs` holds them to:
//!
//! - a unit that was published is given out until somebody finishes or refuses it;
//! - while a lease is extended, nobody else gets its unit; a lease that is not runs out;
//! - of several results of one unit, the first is kept and the others are told so;
//! - results are read back in one order, which does not change.

use crate::bundle::Piece;
use crate::error::Error;
use crate::unit::{Campaign, Outcome, State, Unit, WorkerStatus};
use std::future::Future;
use std::time::Duration;

/// A unit that was given out.
#[derive(Debug)]
pub struct Taken<L> {
    pub bytes: Vec<u8>,
    /// How often it was given out, this time included.
    pub deliveries: u64,
    pub lease: L,
}

/// Whether a message is the first of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    New,
    Known,
}

/// A result as it is stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Where to go on reading after it.
    pub sequence: u64,
    /// When it was stored, in seconds since 1970.
    pub at: f64,
    /// The name of the unit that it was stored under.
    pub unit: String,
    pub bytes: Vec<u8>,
}

type Answer<T> = Result<T, Error>;

/// One campaign's queue.
pub trait Queue: Send + Sync + 'static {
    /// The right to work on a unit.
    type Lease: Send + Sync + 'static;

    fn campaign(&self) -> &Campaign;

    /// Adds units, except those that are waiting already; how many are new.
    fn publish(&self, units: &[Unit]) -> impl Future<Output = Answer<usize>> + Send;

    /// The next unit, if there is one within this time.
    fn take(
        &self,
        wait: Duration,
    ) -> impl Future<Output = Answer<Option<Taken<Self::Lease>>>> + Send;

    /// The work takes longer.
    fn extend(&self, lease: &Self::Lease) -> impl Future<Output = Answer<()>> + Send;

    /// Its result is stored.
    fn finish(&self, lease: &Self::Lease) -> impl Future<Output = Answer<()>> + Send;

    /// Somebody else may do it, after a while.
    fn give_back(
        &self,
        lease: &Self::Lease,
        after: Duration,
    ) -> impl Future<Output = Answer<()>> + Send;

    /// It is no work, and nobody is to get it again.
    fn refuse(&self, lease: &Self::Lease) -> impl Future<Output = Answer<()>> + Send;

    fn store(&self, outcome: &Outcome) -> impl Future<Output = Answer<Kept>> + Send;

    /// Whether a unit has a result.
    fn is_stored(&self, unit: &str) -> impl Future<Output = Answer<bool>> + Send;

    /// Results after this place; waits for the first of them.
    fn results(
        &self,
        after: u64,
        most: usize,
        wait: Duration,
    ) -> impl Future<Output = Answer<Vec<Stored>>> + Send;

    /// A piece of the bundle, no longer than it says. Its digest is for the caller to compare.
    fn piece(&self, piece: &Piece) -> impl Future<Output = Answer<Vec<u8>>> + Send;

    fn state(&self) -> impl Future<Output = Answer<State>> + Send;
    fn set_state(&self, state: State) -> impl Future<Output = Answer<()>> + Send;

    /// Says how many units were published so far, and what was said last.
    fn set_made(&self, made: u64) -> impl Future<Output = Answer<()>> + Send;
    fn made(&self) -> impl Future<Output = Answer<Option<u64>>> + Send;

    /// Says what a worker does.
    fn tell(&self, status: &WorkerStatus) -> impl Future<Output = Answer<()>> + Send;
    /// Workers that said something of late.
    fn workers(&self) -> impl Future<Output = Answer<Vec<WorkerStatus>>> + Send;
}

/// A worker that is silent for longer than this is not listed.
pub const SILENT: Duration = Duration::from_secs(30);
