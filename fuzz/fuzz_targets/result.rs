//! Any bytes: a saved result. See the exercise for what is checked.
#![no_main]

use test_support::exercise::result as exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    exercise::any(bytes);
});
