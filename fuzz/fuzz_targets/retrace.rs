//! Any bytes as a trace, with its checksums put right. See the exercise for what
//! is checked.
#![no_main]

#[path = "../../crates/retrace/tests/corpus/exercise/mod.rs"]
mod exercise;
#[path = "../../crates/trace/tests/exercise/mod.rs"]
mod trace_exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    trace_exercise::reseal(&mut bytes);
    exercise::any(&bytes);
});
