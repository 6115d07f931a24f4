//! Any bytes: read them as a class, analyse and edit every method, and check
//! that what comes out can be read again. See the exercise for what is checked.
#![no_main]

#[path = "../../crates/classfile/tests/exercise/mod.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::class(bytes));
