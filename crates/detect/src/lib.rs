//! Race detectors, one a file, each a fold over events.

pub mod init;
pub mod variable;

pub use init::InitIntervals;
pub use variable::{Prior, Reads, Step};
