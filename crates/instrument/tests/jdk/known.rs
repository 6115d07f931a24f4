//! What is known by name is there, in every Java that is installed: classes and methods that have models, the
//! fields that stand for their locks, fields that are made volatile. A row of a model that finds nothing does
//! nothing, and no report tells of a class that is gone: this test does.

use classfile::{ClassFile, acc};
use instrument::models::{CONTROL_MODELS, Hook, MODELS, Model, VOLATILE};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use test_support::jdk::{Installed, installed};

const QUEUE: &str = "java/util/concurrent/ForkJoinPool$WorkQueue";
const VALUES: &str = "java/lang/ClassValue$ClassValueMap";
const THREAD: &str = "java/lang/Thread";
const VIRTUAL: &str = "java/lang/VirtualThread";
const NODE: &str = "java/util/concurrent/LinkedTransferQueue$DualNode";
const FLOCK: &str = "jdk/internal/misc/ThreadFlock";
const PER_TASK: &str = "java/util/concurrent/ThreadPerTaskExecutor";

/// The versions that a name is of, where not of all; all names of a class: `""`. Versions of long-term
/// support stand for those between them.
const NOT_IN_ALL: &[(&str, &str, RangeInclusive<u32>)] = &[
    (QUEUE, "lockedPush", 17..=17),
    (VALUES, "startEntry", 17..=21),
    (VALUES, "finishEntry", 17..=21),
    (VALUES, "removeEntry", 17..=21),
    (VALUES, "changeEntry", 17..=21),
    (VALUES, "readAccess", SINCE_25),
    (VALUES, "associateAccess", SINCE_25),
    (VALUES, "removeAccess", SINCE_25),
    (VALUES, "forcedAssociateAccess", SINCE_25),
    // A native in 17, and of the same name since.
    ("java/lang/Object", "wait(J)V", SINCE_21),
    // With a duration; the other `join` is for controlled runs.
    (THREAD, "join(Ljava/time/Duration;)Z", SINCE_21),
    (VIRTUAL, "", SINCE_21),
    (FLOCK, "", SINCE_21),
    (PER_TASK, "", SINCE_21),
    (NODE, "", SINCE_21),
];
const SINCE_21: RangeInclusive<u32> = 21..=u32::MAX;
const SINCE_25: RangeInclusive<u32> = 25..=u32::MAX;

/// Whether this version is to have the name.
fn is_expected(class: &str, member: &str, feature: u32) -> bool {
    let of = |row: &&(&str, &str, _)| row.0 == class && (row.1 == member || row.1.is_empty());
    let row = NOT_IN_ALL.iter().find(of);
    row.is_none_or(|(_, _, versions)| versions.contains(&feature))
}

/// The class named in a row, the name in it, and whether that is there.
type Found = BTreeSet<(&'static str, String, bool)>;

fn has_code(class: &ClassFile<'_>, model: &Model) -> bool {
    let mut methods = class.methods.iter();
    methods.any(|m| {
        !m.is(acc::NATIVE)
            && !m.is(acc::ABSTRACT)
            && class.member_name(m) == model.method
            && model.desc.is_none_or(|desc| class.member_desc(m) == desc)
    })
}

fn has_field(class: &ClassFile<'_>, name: &str) -> bool {
    let mut fields = class.fields.iter();
    fields.any(|f| class.member_name(f) == name)
}

/// The field that a model's hook reads, if any.
fn key(hook: Hook) -> Option<&'static str> {
    let key = match hook {
        Hook::Release { key } | Hook::AcquireOnceDone { key } => Some(key),
        other => other.key(),
    };
    key.filter(|key| !key.is_empty())
}

fn names_in(jdk: &Installed) -> Found {
    let models = || MODELS.iter().chain(CONTROL_MODELS);
    let of_models = models().map(|m| m.class);
    let names: BTreeSet<&str> = of_models.chain(VOLATILE.iter().map(|v| v.0)).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let bytes = jdk.classes(&names);
    let parsed = bytes
        .iter()
        .map(|(name, bytes)| (name.as_str(), ClassFile::parse(bytes).unwrap()));
    let classes: BTreeMap<&str, ClassFile<'_>> = parsed.collect();
    let mut found = Found::new();
    for model in models() {
        let class = classes.get(model.class);
        let name = format!("{}{}", model.method, model.desc.unwrap_or_default());
        found.insert((model.class, name, class.is_some_and(|c| has_code(c, model))));
        if let Some(key) = key(model.hook) {
            found.insert((
                model.class,
                key.to_owned(),
                class.is_some_and(|c| has_field(c, key)),
            ));
        }
    }
    for (class, field) in VOLATILE {
        let is_there = classes.get(class).is_some_and(|c| has_field(c, field));
        found.insert((class, (*field).to_owned(), is_there));
    }
    found
}

#[test]
fn what_is_known_by_name_is_in_every_java() {
    let mut wrong = Vec::new();
    for jdk in installed() {
        println!("{} {}", jdk.feature, jdk.home.display());
        for (class, name, is_there) in names_in(&jdk) {
            if is_there != is_expected(class, &name, jdk.feature) {
                let what = if is_there {
                    "is there after all"
                } else {
                    "is missing"
                };
                wrong.push(format!("{}: {class}.{name} {what}", jdk.feature));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
