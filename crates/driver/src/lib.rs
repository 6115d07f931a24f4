//! Starts JVMs with the agent and collects what they found.
//!
//! ```text
//! java      which java, and is it good enough
//! library   the agent, from inside this binary to a file the JVM can load
//! options   what the agent is told, as -agentpath text
//! process   one run of the program: its output untouched, every wait bounded
//! interrupt Ctrl-C and kill as messages
//! run       all of it: a program in, findings and outcome out
//! ```
//!
//! The program and this process share nothing but files in a run directory
//! that the agent appends to, so a crash of the JVM loses nothing it had found.

pub mod interrupt;
pub mod java;
pub mod library;
pub mod options;
pub mod process;
pub mod run;
