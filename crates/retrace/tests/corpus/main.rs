//! The corpus of the fuzz target: followed to the end as it is, and without a
//! panic when some of its bytes are others.

use proptest::prelude::*;
use std::path::Path;
use test_support::exercise::recording as exercise;
use test_support::exercise::trace_file::reseal;

/// Names and contents.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/retrace");
    let files = std::fs::read_dir(corpus).unwrap().map(|f| f.unwrap());
    files
        .map(|f| {
            let name = f.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(f.path()).unwrap())
        })
        .collect()
}

#[test]
fn as_it_is() {
    let mut whole = 0;
    for (name, mut bytes) in corpus() {
        reseal(&mut bytes);
        let done = exercise::any(&bytes);
        // The others broke something once.
        if name == "authentication" {
            let stats = done.unwrap().stats;
            assert_eq!(stats.lost_events, 0, "{stats:?}");
            assert!(stats.events > 20, "{stats:?}");
            whole += 1;
        }
    }
    assert_eq!(whole, 1);
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
        let mut bytes = which.get(&corpus).1.clone();
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

#[test]
fn the_seed_of_purity_tables() {
    let seed = "../../fuzz/corpus/purity/every-kind";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(seed)).unwrap();
    assert!(test_support::exercise::tables::purity(&text));
}
