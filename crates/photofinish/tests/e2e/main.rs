//! End to end: the binary, a JVM, a program, and a story. One test crate, so that
//! it is linked once. What is asked of every section of `programs/` is in
//! `tests/sections`.
//!
//! `PHOTOFINISH_REPEAT=50` repeats more often what may go wrong only sometimes.

mod accidents;
mod advise;
mod budget;
mod cli;
mod confirm;
mod control;
mod ends;
mod exec;
mod exit_codes;
mod explain;
mod export;
mod followed;
mod gradle;
mod held;
mod hunt;
mod hunt_ends;
mod kills;
mod known;
mod library;
mod maven;
mod may_trigger;
mod memory;
mod offline;
mod once;
mod oracle;
mod order;
mod outputs;
mod owners;
mod papers;
mod predict;
mod programs;
mod ranges;
mod replay;
mod resume;
mod saved;
mod servers;
mod shards;
mod stale;
mod story;
mod traces;
mod unchanged;
mod verify;
mod workers;
