//! Any bytes: a trace file, one with its checksums put right, STD text, or a
//! buffer of the JVM. See the exercise for what is checked.
#![no_main]

#[path = "../../crates/trace/tests/exercise/mod.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::any(bytes));
