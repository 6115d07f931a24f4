//! What must hold for any input of a parser: nothing panics, and what is
//! accepted can be used and written again. Property tests and fuzz targets call
//! the same functions.

pub mod class;
pub mod property;
pub mod recording;
#[cfg(feature = "results")]
pub mod result;
pub mod schedule_log;
pub mod tables;
pub mod trace_file;
