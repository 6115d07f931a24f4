//! The Java programs in `programs/`: what is expected of them, and running them
//! with and without the tool.

mod commands;
mod expected;
mod tool;

pub use commands::*;
pub use expected::{Expected, Location, Section, names};
pub use tool::*;

pub use crate::{jdk, root};
