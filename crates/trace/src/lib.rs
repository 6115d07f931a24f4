//! The event vocabulary, sites, the binary trace format, STD text.

pub mod event;

pub use event::*;
