//! The event vocabulary, sites, the binary trace format, STD text.
//!
//! Pure: bytes come from readers and go to writers that the caller hands in.

mod chunk;
mod crc;
mod decode;
mod encode;
pub mod event;
mod model;
pub mod raw;
mod varint;

pub use encode::{Encoded, Encoder};
pub use event::*;
