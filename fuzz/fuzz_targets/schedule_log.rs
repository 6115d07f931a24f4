//! Any bytes: a schedule log. See the exercise for what is checked.
#![no_main]

#[path = "../../crates/schedule/tests/log/exercise/mod.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::any(bytes));
