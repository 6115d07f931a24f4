//! The binary format under arbitrary events, arbitrary cuts, arbitrary bits.

mod common;

use common::*;
use proptest::prelude::*;
use test_support::exercise::trace_file::{self as exercise, reseal};
use trace::*;

/// For each thread, what came back begins what was there.
fn prefix_of_every_thread(part: &[Item], whole: &[Item]) -> bool {
    (0..5).all(|t| {
        let of = |items: &[Item]| -> Vec<Event> {
            let mine = items.iter().filter(|i| i.event.thread.0 == t);
            mine.map(|i| i.event).collect()
        };
        of(whole).starts_with(&of(part))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn events_come_back_in_a_legal_order(run in run(200), size in 1..60usize) {
        let bytes = write(&run, size);
        let mut trace = Trace::from_slice(&bytes).unwrap();
        prop_assert_eq!(trace.ending(), &Ending::Finished);
        prop_assert_eq!(trace.header(), &header());
        prop_assert_eq!(trace.event_count(), run.len() as u64);
        prop_assert_eq!(trace.footer().unwrap().events, run.len() as u64);
        let mut events = trace.events();
        let items: Vec<Item> = events.by_ref().map(|i| i.unwrap()).collect();
        prop_assert_eq!(events.gap(), None);
        prop_assert_eq!(items, merged(&run));
        for t in 0..5 {
            let mine: Vec<Event> =
                run.iter().map(|r| r.0).filter(|e| e.thread.0 == t).collect();
            let back: Vec<Event> =
                trace.thread_events(ThreadId(t)).map(|i| i.unwrap().event).collect();
            prop_assert_eq!(back, mine);
        }
    }

    #[test]
    fn words_of_a_buffer_unpack_to_what_was_packed(run in run(60)) {
        let mut words = Vec::new();
        for &(e, seq) in &run {
            raw::pack(e.site, e.op, seq, &mut words);
        }
        let back: Vec<Numbered> = raw::unpack(ThreadId(0), &words).collect();
        let expected: Vec<Numbered> = run
            .iter()
            .map(|&(e, seq)| (Event { thread: ThreadId(0), ..e }, seq))
            .collect();
        prop_assert_eq!(back, expected);
    }

    /// The agent's buffers are written by racing threads: any words do.
    #[test]
    fn any_words_make_a_readable_chunk(words in prop::collection::vec(
        prop_oneof![any::<u64>(), 0..40u64, (0..32u64).prop_map(|op| op | 5 << 16)], 0..100,
    )) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        exercise::words(&bytes);
    }

    #[test]
    fn a_file_cut_anywhere_is_a_prefix(
        run in run(100), size in 1..20usize, at in any::<prop::sample::Index>(),
    ) {
        let bytes = write(&run, size);
        let at = at.index(bytes.len());
        if let Ok(mut trace) = Trace::from_slice(&bytes[..at]) {
            let cut_short =
                matches!(trace.ending(), Ending::Truncated { .. } | Ending::Unfinished);
            prop_assert!(cut_short);
            let whole = merged(&run);
            let mut events = trace.events();
            let complete: Vec<Item> = events.by_ref().map(|i| i.unwrap()).collect();
            let gap = events.gap();
            let all: Vec<Item> = trace.all_events().map(|i| i.unwrap()).collect();
            prop_assert!(prefix_of_every_thread(&all, &whole));
            // Before the gap every number is there; after it, one is not.
            let numbers: Vec<u64> =
                complete.iter().filter(|i| i.event.op.is_sync()).map(|i| i.seq).collect();
            prop_assert!(numbers.iter().copied().eq(1..=numbers.len() as u64));
            prop_assert!(all.starts_with(&complete));
            prop_assert_eq!(gap.is_some(), all.len() > complete.len());
            if let Some(gap) = gap {
                prop_assert_eq!(gap.first, numbers.len() as u64 + 1);
                prop_assert!(!all.iter().any(|i| i.event.op.is_sync()
                    && (gap.first..=gap.last).contains(&i.seq)));
            }
        }
    }

    #[test]
    fn a_flipped_bit_never_invents_events(
        run in run(60), size in 1..20usize, at in any::<prop::sample::Index>(), bit in 0..8,
    ) {
        let mut bytes = write(&run, size);
        let at = at.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        if let Some((_, items)) = exercise::file(&bytes) {
            prop_assert!(prefix_of_every_thread(&items, &merged(&run)));
        }
    }

    /// Damage behind a right checksum, as a defective writer would leave it.
    #[test]
    fn resealed_damage_never_panics(
        run in run(60), size in 1..20usize, flips in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..8), 1..4),
    ) {
        let mut bytes = write(&run, size);
        for (at, bit) in flips {
            let at = 16 + at.index(bytes.len() - 16);
            bytes[at] ^= 1u8 << bit;
        }
        reseal(&mut bytes);
        exercise::file(&bytes);
    }

    #[test]
    fn any_bytes_at_all(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 1..13u8) {
        exercise::file(&bytes);
        let mut file = write(&[], 1);
        let end = file.len();
        file.extend(&bytes);
        exercise::file(&file);
        file.truncate(end);
        file.extend(b"PFck");
        file.extend([kind, 0, 0, 0]);
        file.extend((bytes.len() as u32).to_le_bytes());
        file.extend([0; 4]);
        file.extend(&bytes);
        reseal(&mut file);
        exercise::file(&file);
    }
}
