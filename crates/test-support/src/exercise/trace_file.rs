//! Any bytes as a trace: a file, STD text, a raw buffer of the JVM.

use trace::tables::Str;
use trace::*;

/// The first byte chooses the parser, the rest is its input.
pub fn any(bytes: &[u8]) {
    let Some((choice, rest)) = bytes.split_first() else {
        return;
    };
    match choice % 4 {
        0 => drop(file(rest)),
        1 => {
            let mut rest = rest.to_vec();
            reseal(&mut rest);
            file(&rest);
        }
        2 => text(rest),
        _ => words(rest),
    }
}

/// Reads everything of a trace file in every way there is. Returns the merged
/// events if nothing was found wrong on the way.
pub fn file(bytes: &[u8]) -> Option<(Ending, Vec<Item>)> {
    let mut trace = Trace::from_slice(bytes).ok()?;
    let threads: Vec<ThreadId> = trace.thread_counts().map(|(t, _)| t).collect();
    for t in threads {
        trace.thread_events(t).for_each(drop);
    }
    let classes: Vec<u32> = trace.recorded_classes().collect();
    let class_files_sound = classes.iter().all(|&c| trace.class_bytes(c).is_ok());
    let complete: Result<Vec<Item>, Error> = trace.events().collect();
    let mut visited = Vec::new();
    let visit = trace.events().for_each_event(|e| visited.push(*e));
    assert_eq!(visit.is_ok(), complete.is_ok());

    if let Ok(complete) = complete {
        let events: Vec<Event> = complete.iter().map(|i| i.event).collect();
        assert_eq!(visited, events);
        assert!(complete.is_sorted_by_key(|i| i.seq));
        let part = cut(&mut trace, &Cut::default(), Vec::new());
        assert_eq!(part.is_ok(), class_files_sound);
        if let Ok((part, _)) = part {
            same_events(&part, &events);
        }
    }
    let _ = Stats::collect(&mut trace, 10);
    merge_with_itself(bytes);
    let items: Result<Vec<Item>, Error> = trace.all_events().collect();
    Some((trace.ending().clone(), items.ok()?))
}

/// As parts of one run, and beside a run that has nothing in it.
fn merge_with_itself(bytes: &[u8]) {
    let empty = |jdk: Str| {
        let header = RunHeader {
            jdk,
            ..RunHeader::default()
        };
        let writer = Writer::new(Vec::new(), &header).expect("in memory");
        writer.abandon().expect("in memory")
    };
    let Ok(trace) = Trace::from_slice(bytes) else {
        return;
    };
    let other = empty(trace.header().jdk.clone());
    for with in [bytes, &other] {
        let inputs = [bytes, with].map(|bytes| Trace::from_slice(bytes).ok());
        let mut inputs: Vec<_> = inputs
            .into_iter()
            .flatten()
            .map(|trace| Input {
                name: String::new(),
                trace,
            })
            .collect();
        if let Ok((joined, said)) = join(&mut inputs, Vec::new()) {
            let mut joined = Trace::from_slice(&joined).expect("just written");
            assert_eq!(joined.all_events().count() as u64, said.events);
        }
    }
}

/// A part that was cut out reads as the same events, and exports.
fn same_events(part: &[u8], events: &[Event]) {
    let mut part = Trace::from_slice(part).expect("just written");
    let back: Vec<Event> = part
        .events()
        .map(|i| i.expect("just written").event)
        .collect();
    assert_eq!(back, events);
    let mut std = Vec::new();
    std_text::export(&mut part, &mut std).expect("just written");
    // Names out of a hostile table may be no names.
    if &*part.header().tool != std_text::TOOL {
        let strict = std_text::Strictness::Strict;
        std_text::import(&std[..], strict, |_| Ok(())).expect("just exported");
    }
}

/// Reads STD text; what a lenient import takes exports and imports again.
pub fn text(bytes: &[u8]) {
    use std_text::{Strictness, convert, export, import};
    let strict = import(bytes, Strictness::Strict, |_| Ok(()));
    let Ok((binary, done)) = convert(bytes, Strictness::Lenient, Vec::new()) else {
        // Only a line of more than a mebibyte.
        assert!(strict.is_err());
        return;
    };
    assert_eq!(strict.is_ok(), done.skipped == 0);
    let mut trace = Trace::from_slice(&binary).expect("just written");
    let mut back = Vec::new();
    let exported = export(&mut trace, &mut back).expect("just written");
    assert_eq!(exported.lines, done.events);
    let again = import(&back[..], Strictness::Strict, |_| Ok(())).expect("just exported");
    assert_eq!(again.events, done.events);
}

/// Takes the bytes for a buffer of the JVM: it becomes a readable chunk.
pub fn words(bytes: &[u8]) {
    let words: Vec<u64> = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|w| u64::from_le_bytes(*w))
        .collect();
    let mut w = Writer::new(Vec::new(), &RunHeader::default()).expect("in memory");
    let done = w.append_raw(ThreadId(1), &words).expect("in memory");
    let file = w.finish(Default::default()).expect("in memory");
    let mut trace = Trace::from_slice(&file).expect("just written");
    assert_eq!(trace.ending(), &Ending::Finished);
    let back: Vec<Item> = trace
        .all_events()
        .map(|i| i.expect("just written"))
        .collect();
    assert_eq!(back.len() as u64, done.events);
}

/// The checksum bit by bit, as the standard writes it: not the code under test.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &b| {
        (0..8).fold(crc ^ u32::from(b), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

/// Puts the right checksum into every frame that can be followed, so that
/// damage gets past the first check.
pub fn reseal(bytes: &mut [u8]) {
    let mut at = 16;
    while let Some(frame) = bytes.get(at..at + 16) {
        let len = u32::from_le_bytes([frame[8], frame[9], frame[10], frame[11]]) as usize;
        let Some(payload) = bytes.get(at + 16..at.saturating_add(16 + len)) else {
            return;
        };
        let covered = [&frame[4..12], payload].concat();
        let crc = crc32(&covered).to_le_bytes();
        bytes[at + 12..at + 16].copy_from_slice(&crc);
        at += 16 + len;
    }
}
