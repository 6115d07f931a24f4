//! The numbers that the bridge uses, and the Java file that is generated from
//! them: `PHOTOFINISH_GOLDEN=1 cargo test -p photofinish-contract`.

use contract::{
    ARRAY_KINDS, STATIC_CLOCKS, Shared, attempt, choice, clock, index, layout, may_trigger, phase,
    site, stamp, stripe, weak,
};
use instrument::access::{self, AccessMode, Op};
use instrument::models::{Stamp, asked, what};
use schedule::{Kind, guided};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use trace::raw;

struct Group {
    doc: &'static str,
    java_type: &'static str,
    constants: Vec<(String, i64)>,
}

macro_rules! groups {
    ($($doc:literal $java_type:ident $prefix:literal { $($name:ident = $value:expr),* $(,)? })*) => {
        vec![$(Group {
            doc: $doc,
            java_type: stringify!($java_type),
            constants: vec![$((concat!($prefix, stringify!($name)).into(), $value as i64)),*],
        }),*]
    };
}

/// Where the number of an array's kind is.
fn kind(array: &str) -> usize {
    let found = ARRAY_KINDS.iter().position(|kind| *kind == array);
    found.unwrap_or(ARRAY_KINDS.len())
}

#[allow(clippy::unnecessary_cast)] // some are i64 already
fn groups() -> Vec<Group> {
    groups! {
        "The table of sites: size of an entry, and where its parts are after the first word." int "SITE_" {
            SHIFT = site::SHIFT,
            SECOND = site::SECOND,
            THIRD = site::THIRD,
            SAMPLES = site::SAMPLES,
            PLACE = site::PLACE,
        }
        "First words of an entry that are no offset; 0 is not resolved yet." long "SITE_" {
            IGNORE = site::IGNORE,
            VOLATILE = site::VOLATILE,
            FINAL = site::FINAL,
            CHECKED = site::CHECKED,
            FINALIZER = site::FINALIZER,
        }
        "Shadow words: clock, slot, site. SHARED is the slot that marks a read set." int "STAMP_" {
            SITE_BITS = stamp::SITE_BITS,
            SLOT_BITS = stamp::SLOT_BITS,
            CLOCK_SHIFT = stamp::CLOCK_SHIFT,
            SLOT_MASK = stamp::SLOT_MASK,
            SHARED = stamp::SHARED,
        }
        "A thread's clock: bytes a slot, and how many bytes below its address the parts of its header are." long "CLOCK_" {
            SLOT_BYTES = clock::SLOT_BYTES,
            ID = clock::ID,
            SLOT = clock::SLOT,
            START = clock::START,
            FRAME = clock::FRAME,
            CALLER = clock::CALLER,
            LIMIT = clock::LIMIT,
            NEW_WRITE = clock::NEW_WRITE,
            NEW_READ = clock::NEW_READ,
            SHARES = clock::SHARES,
            ERA = clock::ERA,
            COUNTED = clock::COUNTED,
        }
        "Arguments of PhotofinishNative.address." int "ADDRESS_" {
            SITES = Shared::Sites,
            SLOTS = Shared::Slots,
            SEQ = Shared::Seq,
            IDS = Shared::Ids,
            DIRECT = Shared::Direct,
            EVENTS = Shared::Events,
            CONTROL = Shared::Control,
            CHOICE = Shared::Choice,
            BARE = Shared::Bare,
            NOISE = Shared::Noise,
            FULL = Shared::Full,
            MAY_TRIGGER = Shared::MayTrigger,
            ESCORT = Shared::Escort,
            EXPLORE = Shared::Explore,
            STRIPES = Shared::Stripes,
            TELL = Shared::Tell,
            BUDGET = Shared::Budget,
        }
        "Reads that may see older writes: how many are kept, and a bit of the answer." int "WEAK_" {
            KEPT = weak::KEPT,
            FIRST = weak::FIRST,
        }
        "Bits of the word at ADDRESS_CHOICE." int "CHOICE_" {
            OUTSIDE = choice::OUTSIDE,
        }
        "Stripes, at ADDRESS_STRIPES: how many, their size as a shift, and their parts." int "STRIPE_" {
            COUNT = stripe::COUNT,
            SHIFT = stripe::SHIFT,
            READ = stripe::READ,
            LOST = stripe::LOST,
        }
        "Bits of ADDRESS_MAY_TRIGGER." int "MAY_TRIGGER_" {
            FREE = may_trigger::FREE,
            SERIAL = may_trigger::SERIAL,
        }
        "What probes do under a budget." int "PHASE_" {
            REST = phase::REST,
            COUNT = phase::COUNT,
            COMPARE = phase::COMPARE,
            SAMPLE = phase::SAMPLE,
        }
        "A row of PhotofinishLayout." int "LAYOUT_" {
            ROW = layout::ROW,
            OFFSET = layout::OFFSET,
            WRITE = layout::WRITE,
            READ = layout::READ,
            CLOCK = layout::CLOCK,
        }
        "Its first row." int "LAYOUT_" {
            OBJECT_NUMBER = layout::OBJECT_NUMBER,
            ALLOCATION = layout::ALLOCATION,
            FREEZE = layout::FREEZE,
        }
        "What a check is about if not an element; OFFSET less the offset of a field." int "INDEX_" {
            FIELD = index::FIELD,
            OFFSET = index::OFFSET,
        }
        "Size of PhotofinishNative.STATIC_CLOCKS." int "" {
            STATIC_CLOCK_COUNT = STATIC_CLOCKS,
        }
        "Arrays, for PhotofinishNative.array." int "ARRAY_" {
            INT = kind("[I"),
            BYTE = kind("[B"),
            CHAR = kind("[C"),
            DOUBLE = kind("[D"),
            LONG = kind("[J"),
            FLOAT = kind("[F"),
            BOOLEAN = kind("[Z"),
            SHORT = kind("[S"),
            REFERENCE = kind(""),
        }
        "Events (crates/trace/src/raw.rs): opcodes." int "EVENT_" {
            READ = raw::READ,
            WRITE = raw::WRITE,
            ATOMIC_READ = raw::ATOMIC_READ,
            ATOMIC_WRITE = raw::ATOMIC_WRITE,
            ATOMIC_UPDATE = raw::ATOMIC_UPDATE,
            ACQUIRE = raw::ACQUIRE,
            RELEASE = raw::RELEASE,
            ACQUIRE_SHARED = raw::ACQUIRE_SHARED,
            RELEASE_SHARED = raw::RELEASE_SHARED,
            WAIT_BEGIN = raw::WAIT_BEGIN,
            WAIT_END = raw::WAIT_END,
            NOTIFY = raw::NOTIFY,
            NOTIFY_ALL = raw::NOTIFY_ALL,
            FORK = raw::FORK,
            BEGIN = raw::BEGIN,
            END = raw::END,
            JOIN = raw::JOIN,
            SYNC_RELEASE = raw::SYNC_RELEASE,
            SYNC_ACQUIRE = raw::SYNC_ACQUIRE,
            INIT_BEGIN = raw::INIT_BEGIN,
            INIT_END = raw::INIT_END,
            METHOD_ENTER = raw::METHOD_ENTER,
            METHOD_EXIT = raw::METHOD_EXIT,
            BRANCH = raw::BRANCH,
            SLOT = raw::SLOT,
            ORDER = raw::ORDER,
            UNSURE = raw::UNSURE,
        }
        "Their modes, and where a record has mode and site." int "EVENT_" {
            OPAQUE = raw::OPAQUE,
            ACQ_REL = raw::ACQ_REL,
            VOLATILE = raw::VOLATILE,
            MODE_SHIFT = raw::MODE_SHIFT,
            SITE_SHIFT = raw::SITE_SHIFT,
            BYTES = raw::BYTES,
        }
        "Flags of events that go to a detector in the agent: a compare-and-set is tried; it has succeeded." long "EVENT_" {
            TRIED = attempt::TRIED,
            SUCCEEDED = attempt::SUCCEEDED,
        }
        "Operations at scheduling points (schedule::Kind)." int "POINT_" {
            ACQUIRE = Kind::Acquire,
            TRY_ACQUIRE = Kind::TryAcquire,
            RELEASE = Kind::Release,
            ACQUIRE_SHARED = Kind::AcquireShared,
            RELEASE_SHARED = Kind::ReleaseShared,
            WAIT = Kind::Wait,
            NOTIFY = Kind::Notify,
            JOIN = Kind::Join,
            YIELD = Kind::Yield,
            SPIN = Kind::Spin,
            ATOMIC_READ = Kind::AtomicRead,
            ATOMIC_WRITE = Kind::AtomicWrite,
            ATOMIC_UPDATE = Kind::AtomicUpdate,
            READ = Kind::Read,
            IS_ALIVE = Kind::IsAlive,
            INTERRUPTED = Kind::Interrupted,
            IS_INTERRUPTED = Kind::IsInterrupted,
        }
        "Bits of an operation's slot, in explorations (schedule::guided)." int "POINT_" {
            TIMED = guided::TIMED,
            INTERRUPTIBLE = guided::INTERRUPTIBLE,
            TRIED = guided::TRIED,
        }
        "Where a thread is at a loop in which it may wait (schedule::guided)." int "LOOP_" {
            HEAD = guided::at_loop::HEAD,
            AGAIN = guided::at_loop::AGAIN,
            LEFT = guided::at_loop::LEFT,
        }
        "What lockPoint is told (instrument::models::what)." int "LOCK_" {
            LOCK = what::LOCK,
            TRY_LOCK = what::TRY_LOCK,
            UNLOCK = what::UNLOCK,
            SHARED_LOCK = what::SHARED_LOCK,
            SHARED_TRY_LOCK = what::SHARED_TRY_LOCK,
            SHARED_UNLOCK = what::SHARED_UNLOCK,
            AWAIT = what::AWAIT,
            SIGNAL = what::SIGNAL,
            STAMP_WRITE = what::STAMP_WRITE,
            STAMP_READ = what::STAMP_READ,
            STAMP_CHANGE = what::STAMP_CHANGE,
            CONDITION = what::CONDITION,
            LOCK_INTERRUPTIBLY = what::LOCK_INTERRUPTIBLY,
            SHARED_LOCK_INTERRUPTIBLY = what::SHARED_LOCK_INTERRUPTIBLY,
        }
        "Modes of a stamped lock (instrument::models::Stamp)." int "STAMPED_" {
            WRITE = Stamp::Write,
            READ = Stamp::Read,
            NONE = Stamp::None,
        }
        "What asking is told (instrument::models::asked)." int "ASKED_" {
            ALIVE = asked::ALIVE,
            INTERRUPTED = asked::INTERRUPTED,
        }
        "Codes of atomic and raw accesses (instrument::access): operation, and mode above it." int "ACCESS_" {
            OP_MASK = access::OP_MASK,
            MODE_SHIFT = access::MODE_SHIFT,
            READ = Op::Read,
            WRITE = Op::Write,
            CAS = Op::Cas,
            PLAIN = AccessMode::Plain,
            OPAQUE = AccessMode::Opaque,
            ACQUIRE = AccessMode::Acquire,
            RELEASE = AccessMode::Release,
            VOLATILE = AccessMode::Volatile,
        }
    }
}

fn java() -> String {
    let mut out = String::from(
        "package java.lang;\n\n\
         /**\n \
         * The numbers that these classes and the agent share. Generated by crates/contract; not to be edited.\n \
         */\n\
         final class PhotofinishConstants {\n",
    );
    for group in groups() {
        writeln!(out, "    // {}", group.doc).unwrap();
        for (name, value) in &group.constants {
            writeln!(
                out,
                "    static final {} {name} = {value};",
                group.java_type
            )
            .unwrap();
        }
        out.push('\n');
    }
    out.push_str("    private PhotofinishConstants() {}\n}\n");
    out
}

fn bridge_sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java/bridge/java/lang")
}

#[test]
fn the_java_file_is_what_the_table_says() {
    let path = bridge_sources().join("PhotofinishConstants.java");
    test_support::golden::compare(&path, &java());
}

#[test]
fn every_constant_has_a_name_of_its_own_and_a_use() {
    let sources: String = std::fs::read_dir(bridge_sources())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("PhotofinishConstants.java"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let words: std::collections::HashSet<&str> = sources
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let mut seen = std::collections::HashSet::new();
    for (name, _) in groups().into_iter().flat_map(|g| g.constants) {
        assert!(
            words.contains(name.as_str()),
            "no class of the bridge uses {name}"
        );
        assert!(seen.insert(name.clone()), "{name} twice");
    }
}
