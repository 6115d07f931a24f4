//! Any bytes as a trace, with its checksums put right: what can be read of it is
//! followed through the class files it carries. Seeds are traces of
//! `record --full`; see the README.
#![no_main]

use std::collections::BTreeMap;

#[path = "../../crates/trace/tests/exercise/mod.rs"]
#[allow(dead_code)]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    exercise::reseal(&mut bytes);
    let Ok(mut trace) = trace::Trace::from_slice(&bytes) else {
        return;
    };
    let mut events = Vec::new();
    let _ = trace.all_events().for_each_event(|e| events.push(*e));
    let numbers: Vec<u32> = trace.recorded_classes().collect();
    let mut files = BTreeMap::new();
    for n in numbers {
        if let Ok(Some(file)) = trace.class_bytes(n) {
            files.insert(n, file);
        }
    }
    retrace::complete(&events, trace.tables(), &files, &retrace::Table::default());
});
