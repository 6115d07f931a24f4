//! Broken and malicious class files: an error at most.

use proptest::prelude::*;
use proptest::sample::Index;
use test_support::exercise::class as exercise;

const SEEDS: [&[u8]; 7] = [
    include_bytes!("../../../fuzz/corpus/classfile/Shapes.class"),
    include_bytes!("../../../fuzz/corpus/classfile/Shapes$Mark.class"),
    include_bytes!("../../../fuzz/corpus/classfile/Small.class"),
    include_bytes!("../../../fuzz/corpus/classfile/Kinds.class"),
    include_bytes!("../../../fuzz/corpus/classfile/Kinds$Dot.class"),
    include_bytes!("../../../fuzz/corpus/classfile/Kinds$Colour.class"),
    include_bytes!("../../../fuzz/corpus/classfile/Old.class"),
];

#[test]
fn the_seeds_themselves_come_through() {
    SEEDS.iter().for_each(|seed| exercise::class(seed));
}

#[test]
fn a_class_cut_short_anywhere_is_refused() {
    for seed in SEEDS {
        for len in 0..seed.len() {
            assert!(
                classfile::ClassFile::parse(&seed[..len]).is_err(),
                "{len} bytes"
            );
        }
    }
}

/// A change to some bytes: set one, write a large number, or remove or repeat a
/// stretch.
#[derive(Debug, Clone)]
enum Mutation {
    Set(Index, u8),
    Word(Index, u16),
    Remove(Index, usize),
    Repeat(Index, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let word = prop_oneof![Just(0), Just(1), Just(0x7fff), Just(0xffff), any::<u16>()];
    prop_oneof![
        8 => (any::<Index>(), any::<u8>()).prop_map(|(i, b)| Mutation::Set(i, b)),
        4 => (any::<Index>(), word).prop_map(|(i, w)| Mutation::Word(i, w)),
        1 => (any::<Index>(), 1..9usize).prop_map(|(i, n)| Mutation::Remove(i, n)),
        1 => (any::<Index>(), 1..9usize).prop_map(|(i, n)| Mutation::Repeat(i, n)),
    ]
}

fn apply(bytes: &mut Vec<u8>, mutation: &Mutation) {
    match mutation {
        Mutation::Set(i, b) => {
            let at = i.index(bytes.len());
            bytes[at] = *b;
        }
        Mutation::Word(i, w) => {
            let at = i.index(bytes.len() - 1);
            bytes[at..at + 2].copy_from_slice(&w.to_be_bytes());
        }
        Mutation::Remove(i, n) => {
            let at = i.index(bytes.len() - n);
            bytes.drain(at..at + n);
        }
        Mutation::Repeat(i, n) => {
            let at = i.index(bytes.len() - n);
            let part = bytes[at..at + n].to_vec();
            bytes.splice(at..at, part);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40_000))]
    #[test]
    fn mutated_classes_never_panic(
        seed in prop::sample::select(&SEEDS[..]),
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        let mut bytes = seed.to_vec();
        mutations.iter().for_each(|m| apply(&mut bytes, m));
        exercise::class(&bytes);
    }
}
