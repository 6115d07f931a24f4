//! Campaigns: the same work spread over processes and machines.
//!
//! ```text
//! unit         what crosses machines: campaign, unit, outcome
//! bundle       the class path as content-addressed pieces
//! queue        what carries a campaign: embedded (one process), nats (JetStream)
//! patience     waits for a server, each with a name and an end
//! bandit       which arm gets the next unit
//! plan         units from arms, and which arms there are
//! account      results folded into reports, counts and curves
//! execute      a unit done by the engine
//! replays      schedules that come with results
//! hand         a job's thread, where the engine works
//! worker       takes units, stores outcomes
//! coordinator  publishes units, reads results
//! closing      takes units back when the time is over
//! suite        the tests of a class directory, each a program
//! page         the live page
//! ```
//!
//! The state of a campaign is its description and its results, nothing else: a coordinator that
//! is restarted folds the results again and goes on. This crate is asynchronous where it
//! waits for messages; the engine, which does the work, is not and runs on threads of its own.

pub mod account;
pub mod bandit;
pub mod bundle;
mod closing;
pub mod coordinator;
pub mod embedded;
mod error;
pub mod execute;
mod hand;
pub mod nats;
pub mod page;
pub mod patience;
pub mod plan;
pub mod queue;
pub mod replays;
pub mod suite;
pub mod unit;
pub mod worker;

pub use error::Error;
