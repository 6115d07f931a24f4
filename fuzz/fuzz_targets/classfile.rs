//! Any bytes: read them as a class, analyse and edit every method, and check
//! that what comes out can be read again. See the exercise for what is checked.
#![no_main]

use test_support::exercise::class as exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::class(bytes));
