//! Any bytes as a trace, with its checksums put right. See the exercise for what
//! is checked.
#![no_main]

use test_support::exercise::recording as exercise;
use test_support::exercise::trace_file::reseal;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    reseal(&mut bytes);
    exercise::any(&bytes);
});
