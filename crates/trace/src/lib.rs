//! The event vocabulary, sites, the binary trace format, STD text.
//!
//! Pure: bytes come from readers and go to writers that the caller hands in.
//! The format is described in `docs/trace-format.md`.
//!
//! Writing: [`Writer`], or [`raw::encode_raw_chunk`] where only chunks are made.
//! Reading: [`Trace::open`], then [`Trace::events`].

mod chunk;
mod crc;
mod cut;
mod decode;
mod encode;
mod error;
pub mod event;
mod join;
mod linear;
mod merge;
mod model;
pub mod raw;
mod reader;
mod renumber;
mod rows;
mod stats;
pub mod std_text;
pub mod tables;
mod writer;

pub use cut::{Cut, Kept, cut};
pub use encode::{Encoded, Encoder};
pub use error::Error;
pub use event::*;
pub use join::{Input, JoinError, Joined, join};
pub use linear::LinearWriter;
pub use merge::{Events, Gap, Item};
pub use reader::{Ending, Trace};
pub use stats::Stats;
pub use tables::{Part, RunHeader, Tables};
pub use writer::{MAJOR, MINOR, Writer};
