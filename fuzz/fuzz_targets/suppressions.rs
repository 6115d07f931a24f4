//! Any text: a file of suppressions. See the exercise for what is checked.
#![no_main]

use test_support::exercise::result as exercise;

libfuzzer_sys::fuzz_target!(|text: &str| {
    exercise::suppressions(text);
});
