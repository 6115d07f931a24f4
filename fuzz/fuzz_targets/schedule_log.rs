//! Any bytes: a schedule log. See the exercise for what is checked.
#![no_main]

use test_support::exercise::schedule_log as exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::any(bytes));
