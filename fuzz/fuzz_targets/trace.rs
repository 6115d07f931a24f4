//! Any bytes: a trace file, one with its checksums put right, STD text, or a
//! buffer of the JVM. See the exercise for what is checked.
#![no_main]

use test_support::exercise::trace_file as exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::any(bytes));
