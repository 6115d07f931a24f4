//! That Rust and Java mean the same by the names they share: each table of ours
//! against the compiled classes of the bridge. (Numbers agree by generation, see
//! crate `contract`.)

use crate::{bridge, control, natives};
use classfile::{ClassFile, acc};
use std::collections::BTreeSet;
use std::path::Path;

fn class(name: &str) -> ClassFile<'static> {
    let found = bridge::CLASSES.iter().find(|(n, _)| *n == name);
    let (_, bytes) = found.unwrap_or_else(|| panic!("the bridge has no class {name}"));
    ClassFile::parse(bytes).expect("javac wrote it")
}

/// Names and descriptors of the methods that have these flags.
fn methods(class: &ClassFile<'_>, with: u16) -> BTreeSet<(String, String)> {
    class
        .methods
        .iter()
        .filter(|m| m.access & with == with)
        .map(|m| {
            (
                class.member_name(m).into_owned(),
                class.member_desc(m).into_owned(),
            )
        })
        .collect()
}

fn owned<'a>(rows: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeSet<(String, String)> {
    rows.map(|(name, desc)| (name.to_owned(), desc.to_owned()))
        .collect()
}

#[test]
fn natives_are_those_that_the_bridge_declares() {
    let mut ours = owned(natives::table().iter().map(|n| (n.name, n.desc)));
    // Found by its symbol, before there is a table.
    ours.insert(("link".into(), "()V".into()));
    let declared = methods(&class("java/lang/PhotofinishNative"), acc::NATIVE);
    assert_eq!(ours, declared);
    for (name, _) in bridge::CLASSES {
        let others = methods(&class(name), acc::NATIVE);
        assert!(
            others.is_empty() || *name == "java/lang/PhotofinishNative",
            "{name}"
        );
    }
}

#[test]
fn methods_that_the_agent_calls_are_static_ones_of_the_bridge() {
    for method in bridge::METHODS {
        let key = (method.name.to_owned(), method.desc.to_owned());
        let there = methods(&class(method.class), acc::STATIC);
        assert!(
            there.contains(&key),
            "{} has no static {key:?}",
            method.class
        );
    }
}

#[test]
fn fields_that_the_agent_uses_are_there() {
    let thread = class("java/lang/PhotofinishThread");
    let ints = control::INTS_OF_THREADS.map(|name| (name, "I"));
    for (name, desc) in ints.into_iter().chain([(control::CLOCK_OF_THREADS, "J")]) {
        let field = thread.field(name, desc);
        assert!(field.is_some_and(|f| !f.is_static()), "{name} {desc}");
    }
    let descriptor = instrument::THREAD_DESC;
    assert_eq!(descriptor, "Ljava/lang/PhotofinishThread;");
}

/// What rewritten code calls, what the agent calls, and nothing else.
#[test]
fn entry_points_are_the_probes() {
    for name in [instrument::BRIDGE, instrument::CONTROL_BRIDGE] {
        let entry = class(name);
        let probes = instrument::all_probes().filter(|p| p.class == name);
        let mut wanted = owned(probes.map(|p| (p.name, p.desc)));
        let public = methods(&entry, acc::PUBLIC | acc::STATIC);
        assert_eq!(public, wanted, "public methods of {name}, and probes");
        let called = bridge::METHODS.iter().filter(|m| m.class == name);
        wanted.extend(owned(called.map(|m| (m.name, m.desc))));
        assert!(methods(&entry, acc::STATIC).is_superset(&wanted));
    }
}

/// Each is there twice.
#[test]
fn probes_that_rest_are_those_of_the_same_names() {
    let wanted = owned(instrument::SAMPLED.iter().map(|p| (p.name, p.desc)));
    let rest = class(instrument::SAMPLING_BRIDGE);
    assert_eq!(methods(&rest, acc::PUBLIC | acc::STATIC), wanted);
}

#[test]
fn the_map_of_the_bridge_names_every_class() {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java");
    let readme = std::fs::read_to_string(java.join("README.md")).unwrap();
    let named: BTreeSet<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let files = std::fs::read_dir(java.join("bridge/java/lang")).unwrap();
    let names: Vec<String> = files
        .filter_map(|f| {
            Some(
                f.unwrap()
                    .file_name()
                    .to_str()?
                    .strip_suffix(".java")?
                    .to_owned(),
            )
        })
        .collect();
    assert_eq!(named, names.iter().map(String::as_str).collect());
}
