//! What the tests of several crates share. A dev-dependency only.
//!
//! - [`trials`]: one named test for each row of a table, and tests that say why
//!   they cannot run here
//! - [`clock`]: processor time of a benchmark's thread
//! - [`golden`]: files that an output is compared with, and how to update them
//! - [`jdk`]: the tools of the installed JDK
//! - [`nats`]: a NATS server with JetStream
//! - `programs` (feature): the programs in `programs/`, what is expected of
//!   them, and running them under the tool
//! - `exercise` (feature): what must hold for any input of a parser, for
//!   property tests and fuzz targets
//! - `exploring` (feature): litmus programs as something to explore, and brute
//!   force over their schedules

pub mod clock;
#[cfg(feature = "exercise")]
pub mod exercise;
#[cfg(feature = "exploring")]
pub mod exploring;
pub mod golden;
pub mod jdk;
pub mod nats;
#[cfg(feature = "programs")]
pub mod programs;
pub mod trials;

use std::path::{Path, PathBuf};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
