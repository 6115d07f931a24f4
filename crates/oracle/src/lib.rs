//! Random small programs, written as Java, run under the commands of the tool, and held against
//! brute force over their models: the oracle of the whole tool.
//!
//! What must hold, of every program:
//!
//! - a race that is observed, predicted or confirmed, a deadlock, an uncaught exception and an
//!   outcome of a run exist in the model (nothing certain is wrong);
//! - of a complete exploration the racy locations, deadlocks, exceptions and outcomes are those of
//!   the model, all of them;
//! - of a race that is called harmless, both orders of its accesses can have one and the same outcome.
//!
//! `truth` is brute force, `sample` makes programs up, `workshop` writes and compiles them,
//! `claims` reads reports, `campaign` runs the commands and compares.

pub mod campaign;
mod claims;
pub mod sample;
mod truth;
mod workshop;
