//! Any text: a specification of properties. See the exercise for what is checked.
#![no_main]

#[path = "../../crates/predict/tests/spec/exercise/mod.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|text: &str| {
    exercise::any(text);
});
