//! Any text: a specification of properties. See the exercise for what is checked.
#![no_main]

use test_support::exercise::property as exercise;

libfuzzer_sys::fuzz_target!(|text: &str| {
    exercise::any(text);
});
