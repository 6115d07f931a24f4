//! Any text as a specification of properties.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::path::Path;
use test_support::exercise::property as exercise;

/// Words that mean something, so that some of it makes sense.
fn soup() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "event",
        "property",
        "always",
        "never",
        "once",
        "since",
        "prev",
        "historically",
        "true",
        "false",
        "call",
        "return",
        "write",
        "read",
        "A.a",
        "B.*",
        "a",
        "b",
        "c",
        "=",
        ":",
        "p:",
        "->",
        "&&",
        "||",
        "|",
        "!",
        "(",
        ")",
        "[",
        "]",
        "^",
        "*",
        "+",
        "?",
        ".",
        "#",
        "\n",
        "\n",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

fn formula() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b", "true", "false"]).prop_map(str::to_owned);
    leaf.prop_recursive(6, 40, 2, |inner| {
        let unary = prop::sample::select(vec!["!", "prev", "once", "historically"]);
        let binary = prop::sample::select(vec!["->", "&&", "||", "since"]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(op, a)| format!("{op} {a}")),
            (inner.clone(), binary, inner).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        ]
    })
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b", ".", "[a b]", "[^a]"]).prop_map(str::to_owned);
    leaf.prop_recursive(6, 40, 3, |inner| {
        let repeat = prop::sample::select(vec!["*", "+", "?"]);
        prop_oneof![
            (inner.clone(), repeat).prop_map(|(a, op)| format!("({a}){op}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} {b}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("({a} | {b})")),
        ]
    })
}

/// A property of events that exist, and perhaps a word in a wrong place.
fn almost() -> impl Strategy<Value = String> {
    let rule = prop_oneof![
        formula().prop_map(|f| format!("always {f}")),
        expression().prop_map(|r| format!("never {r}")),
    ];
    let wrong = prop::sample::select(vec!["", "", "(", ")", "*", "since", "!", "]", "c"]);
    (rule, wrong).prop_map(|(rule, wrong)| {
        format!("event a = call A.a\nevent b = write B.b\nproperty p: {rule} {wrong}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_text(text in any::<String>()) {
        exercise::any(&text);
    }

    #[test]
    fn words_in_any_order(text in soup()) {
        exercise::any(&text);
    }
}

#[test]
fn properties_with_a_wrong_word() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let good = (0..4000).filter(|_| {
        let text = almost().new_tree(&mut runner).unwrap().current();
        exercise::any(&text)
    });
    let good = good.count();
    assert!(good > 800, "only {good} of them make sense");
}

/// The corpus of the fuzz target: each of its files makes sense.
#[test]
fn the_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/property");
    let mut files = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(exercise::any(&text), "{text}");
        files += 1;
    }
    assert!(files >= 3);
}
