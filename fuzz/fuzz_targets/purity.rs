//! Any text: a table of what methods do. See the exercise for what is checked.
#![no_main]

use test_support::exercise::tables as exercise;

libfuzzer_sys::fuzz_target!(|text: &str| {
    exercise::purity(text);
});
