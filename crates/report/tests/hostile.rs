//! The corpus of the fuzz target `result`: taken as it is, and without a panic when some of its
//! bytes are others.

use proptest::prelude::*;
use std::path::Path;
use test_support::exercise::result as exercise;

fn seed(target: &str, name: &str) -> Vec<u8> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    std::fs::read(corpus.join(target).join(name)).unwrap()
}

#[test]
fn as_they_are() {
    for name in ["shop", "controlled"] {
        assert!(exercise::any(&seed("result", name)), "{name}");
    }
    let rules = String::from_utf8(seed("suppressions", "every-kind")).unwrap();
    assert!(exercise::suppressions(&rules));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn with_some_other_bytes(
        name in prop::sample::select(vec!["shop", "controlled"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = seed("result", name);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        exercise::any(&bytes);
    }
}
