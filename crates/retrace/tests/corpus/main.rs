//! The corpus of the fuzz target: followed to the end as it is, and without a
//! panic when some of its bytes are others.

#[path = "../../../trace/tests/exercise/mod.rs"]
mod trace_exercise;

mod exercise;

use proptest::prelude::*;
use std::path::Path;
use trace_exercise::reseal;

fn corpus() -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/retrace");
    let files = std::fs::read_dir(corpus).unwrap();
    files
        .map(|f| std::fs::read(f.unwrap().path()).unwrap())
        .collect()
}

#[test]
fn as_it_is() {
    let corpus = corpus();
    assert!(!corpus.is_empty());
    for bytes in corpus {
        let done = exercise::any(&bytes).unwrap();
        assert_eq!(done.stats.lost_events, 0, "{:?}", done.stats);
        assert!(done.stats.events > 20, "{:?}", done.stats);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn with_other_bytes(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        end in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let corpus = corpus();
        let mut bytes = which.get(&corpus).clone();
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        if !whole {
            bytes.truncate(end.index(bytes.len()));
        }
        reseal(&mut bytes);
        exercise::any(&bytes);
    }
}
