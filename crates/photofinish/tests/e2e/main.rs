//! End to end: the binary, a JVM, the programs in `programs/`. One test crate,
//! so that what they share is compiled once. `PHOTOFINISH_REPEAT=50` repeats
//! more often what may go wrong only sometimes.

mod accidents;
mod advise;
mod cli;
mod confirm;
mod control;
mod ends;
mod expected;
mod followed;
mod hunt;
mod hunt_ends;
mod jdks;
mod known;
mod may_trigger;
mod offline;
mod outputs;
mod predict;
mod programs;
mod redact;
mod replay;
mod resume;
mod support;
mod traces;
mod unchanged;
mod verify;
mod workers;
