//! What initialisers do: `Statics.java` says of each class what is expected.

use instrument::initialisers::{Initialiser, initialiser};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use test_support::jdk::{Scratch, path, run};

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/initialisers/Statics.java"
);

type Classes = BTreeMap<String, Arc<[u8]>>;

static CLASSES: LazyLock<Classes> = LazyLock::new(compiled);

fn compiled() -> Classes {
    let scratch = Scratch::new("initialisers");
    let out = scratch.0.join("classes");
    run("javac", &["-g", "-Xlint:none", "-d", path(&out), SOURCE]);
    let files = std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().path());
    files
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&file).unwrap().into())
        })
        .collect()
}

#[test]
fn what_initialisers_do() {
    let classes = &*CLASSES;
    let text = std::fs::read_to_string(SOURCE).unwrap();
    let kinds = ["class ", "enum ", "interface "];
    let mut seen = 0;
    for line in text.lines() {
        let Some((code, expected)) = line.rsplit_once(" // ") else {
            continue;
        };
        let head = code.split(['{']).next().unwrap();
        let kind = kinds.iter().find(|kind| head.contains(**kind)).unwrap();
        let name = head.split(kind).nth(1).unwrap();
        let name = name.split_whitespace().next().unwrap();
        let found = initialiser(name, &|name| classes.get(name).cloned());
        let (word, why) = expected.split_once(' ').unwrap_or((expected, ""));
        match (&found, word) {
            (Initialiser::Absent, "absent")
            | (Initialiser::Constants, "constants")
            | (Initialiser::Own, "own") => {}
            (Initialiser::Other(said), "other") => assert!(said.contains(why), "{name}: {said}"),
            _ => panic!("{name}: {found:?}, and not {expected}"),
        }
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

/// The table that a switch makes of an enumeration's constants.
#[test]
fn tables_of_switches_are_a_class_s_own() {
    let classes = &*CLASSES;
    let found = initialiser("Switches$1", &|name| classes.get(name).cloned());
    assert_eq!(found, Initialiser::Own);
}

#[test]
fn a_class_that_is_not_known_is_not_understood() {
    let found = initialiser("Nobody", &|_| None);
    assert!(matches!(found, Initialiser::Other(_)));
    let classes = &*CLASSES;
    let only = |name: &str| (name == "WritesFar").then(|| classes[name].clone());
    assert!(matches!(
        initialiser("WritesFar", &only),
        Initialiser::Other(_)
    ));
    let broken = |_: &str| Some(Arc::from(&b"\xca\xfe\xba\xbe"[..]));
    assert!(matches!(
        initialiser("Broken", &broken),
        Initialiser::Other(_)
    ));
}
