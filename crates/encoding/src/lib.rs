//! How numbers and names are written, once for all crates. Small enough to be
//! ours: the trace's numbers are on the hot path of the agent, and the readers
//! must refuse overlong numbers, which the `leb128` crate does not.

pub mod names;
pub mod percent;
pub mod varint;
