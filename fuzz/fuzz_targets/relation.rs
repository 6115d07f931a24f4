//! Any bytes: a may-trigger relation. See the exercise for what is checked.
#![no_main]

use test_support::exercise::tables as exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    exercise::relation(bytes);
});
