//! Starts JVMs with the agent and collects what they found.
//!
//! ```text
//! java      which java, and is it good enough
//! lineage   a java that leads back to us
//! secrets   what programs do not inherit of our environment
//! library   the agent, from inside this binary to a file the JVM can load
//! options   how a JVM is started with the agent, and its flags
//! process   runs of programs: their output untouched, every wait bounded
//! tap       a program's output as it passes
//! interrupt Ctrl-C and kill as messages
//! run       all of it: a program in, findings and outcome out
//! jvms      the same for all the JVMs of a command
//! pool      the same for many, side by side, results in order
//! worker    JVMs that make execution after execution
//! machine   what this machine has
//! scratch   directories for runs that nobody keeps
//! store     results with the schedules that replay them, as a directory
//! classes   digests of the class path: has the program changed?
//! ```
//!
//! The program and this process share nothing but files in a run directory
//! that the agent appends to, so a crash of the JVM loses nothing it had found.

pub mod classes;
pub mod interrupt;
pub mod java;
pub mod jvms;
pub mod library;
mod lineage;
pub mod machine;
pub mod options;
pub mod pool;
pub mod process;
pub mod run;
pub mod scratch;
pub mod secrets;
pub mod store;
mod tap;
mod worker;
