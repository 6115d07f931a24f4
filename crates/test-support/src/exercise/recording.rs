//! Any bytes as a trace of `record --full`: what can be read of it is followed
//! through the class files it carries, and races are predicted from it.

use predict::Method;
use retrace::{Completed, Table, complete};
use std::collections::BTreeMap;
use trace::Trace;

/// What became of it, if it can be read at all.
pub fn any(bytes: &[u8]) -> Option<Completed> {
    let mut trace = Trace::from_slice(bytes).ok()?;
    let mut events = Vec::new();
    let _ = trace.all_events().for_each_event(|e| events.push(*e));
    let numbers: Vec<u32> = trace.recorded_classes().collect();
    let mut files = BTreeMap::new();
    for number in numbers {
        if let Ok(Some(file)) = trace.class_bytes(number) {
            files.insert(number, file);
        }
    }
    let done = complete(&events, trace.tables(), &files, &Table::default());
    assert!(done.stats.events <= events.len() as u64);
    let found = Method::Sliced.run_with(&done.events, &done.deps);
    for prediction in &found {
        assert_ne!(prediction.first.thread, prediction.second.thread);
    }
    Some(done)
}
