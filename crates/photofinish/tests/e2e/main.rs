//! End to end: the binary, a JVM, the programs in `programs/`. One test crate,
//! so that what they share is compiled once.

mod cli;
mod ends;
mod programs;
mod support;
mod traces;
