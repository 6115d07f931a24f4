//! The numbers on which the agent and the bridge (`java/`, the Java classes inside
//! the JVM) must agree.
//!
//! Each number is written down once, in Rust: layouts of shared memory, and what
//! natives of the bridge are passed, are here; events are in `trace::raw`,
//! operations at scheduling points in `schedule`, arguments of probes in
//! `instrument`. `tests/constants.rs` lists those that Java uses and generates
//! `PhotofinishConstants.java` from them. The test fails when the file differs;
//! `PHOTOFINISH_GOLDEN=1 cargo test -p photofinish-contract` writes it. That natives,
//! probes and methods called by the agent have the same names and descriptors on
//! both sides is tested in the agent, which has the compiled classes.

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

/// What is known of one site. Only the bridge writes `samples`.
#[repr(C)]
#[derive(Debug)]
pub struct SiteEntry {
    pub first: AtomicI64,
    pub second: AtomicI64,
    pub third: AtomicI64,
    pub samples: AtomicI32,
    pub place: AtomicI32,
}

/// What stands below a thread's clock: what the bridge needs to know to start the
/// thread, what the others see of it, and what the slow path answers.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct ClockHeader {
    /// Number, slot and first clock of the thread.
    pub id: AtomicU32,
    pub slot: AtomicU32,
    pub start: AtomicU32,
    /// Slots of this clock; only the agent reads it.
    pub slots: AtomicU32,
    /// The innermost method of the may-trigger relation that the thread is in, and
    /// its caller. The bridge writes them.
    pub frame: AtomicU32,
    pub caller: AtomicU32,
    /// Where the thread's event buffer ends.
    pub limit: AtomicU64,
    /// The new write and read words that a check has decided on.
    pub new_write: AtomicU64,
    pub new_read: AtomicU64,
    /// Whether living threads share the slot.
    pub shares: AtomicU32,
    /// Under a budget: the era that the thread has begun last, and the accesses that it has
    /// counted. The bridge writes them.
    pub era: AtomicU32,
    pub counted: AtomicU64,
}

/// The table of sites: an entry each, of three words, a count and a place.
///
/// What the words are depends on the kind of the site; a field access has the
/// offset of the shadow word that it looks at first (for events the number of the
/// field), the offset of the other one, and that of the clock of a volatile (for
/// events where the object keeps its number).
pub mod site {
    use crate::SiteEntry;
    use std::mem::offset_of;

    /// An entry is `1 << SHIFT` bytes.
    pub const SHIFT: u32 = size_of::<SiteEntry>().ilog2();
    const _: () = assert!(size_of::<SiteEntry>().is_power_of_two());
    const _: () = assert!(offset_of!(SiteEntry, first) == 0);
    /// Where in an entry the second and the third word are.
    pub const SECOND: usize = offset_of!(SiteEntry, second);
    pub const THIRD: usize = offset_of!(SiteEntry, third);
    /// How often the statement was executed, for sampling; 32 bits, the bridge's.
    pub const SAMPLES: usize = offset_of!(SiteEntry, samples);
    /// Where the access goes, for scheduling points; under a budget, whether the statement was executed
    /// while it was watched. 32 bits.
    pub const PLACE: usize = offset_of!(SiteEntry, place);

    // First words that are no offset. 0: nobody has resolved the site yet.

    /// The access needs no check.
    pub const IGNORE: i64 = -1;
    pub const VOLATILE: i64 = -2;
    /// The field is final and was frozen at the end of a constructor.
    pub const FINAL: i64 = -3;
    /// An atomic access in a class that is checked.
    pub const CHECKED: i64 = 1;
    /// The end of a constructor, or the start of a finaliser.
    pub const FINALIZER: i64 = 2;
}

/// A shadow word: clock, slot of the thread, site. Without the site it is an
/// epoch as the bridge keeps it.
pub mod stamp {
    pub const SITE_BITS: u32 = 20;
    pub const SLOT_BITS: u32 = 12;
    pub const CLOCK_SHIFT: u32 = SITE_BITS + SLOT_BITS;
    pub const SITE_MASK: u64 = (1 << SITE_BITS) - 1;
    pub const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
    /// The slot that marks a read set, whose number stands in place of the clock.
    pub const SHARED: u64 = SLOT_MASK;
}

/// A thread's clock: 32 bits a slot. Below its address is a header; positions are
/// how many bytes below.
pub mod clock {
    use crate::ClockHeader as Header;
    use std::mem::offset_of;

    pub const SLOT_BYTES: usize = size_of::<u32>();
    const HEADER: usize = size_of::<Header>();
    pub const ID: usize = HEADER - offset_of!(Header, id);
    pub const SLOT: usize = HEADER - offset_of!(Header, slot);
    pub const START: usize = HEADER - offset_of!(Header, start);
    pub const FRAME: usize = HEADER - offset_of!(Header, frame);
    pub const CALLER: usize = HEADER - offset_of!(Header, caller);
    pub const LIMIT: usize = HEADER - offset_of!(Header, limit);
    pub const NEW_WRITE: usize = HEADER - offset_of!(Header, new_write);
    pub const NEW_READ: usize = HEADER - offset_of!(Header, new_read);
    pub const SHARES: usize = HEADER - offset_of!(Header, shares);
    pub const ERA: usize = HEADER - offset_of!(Header, era);
    pub const COUNTED: usize = HEADER - offset_of!(Header, counted);
}

/// A row of `PhotofinishLayout`: the offset of a field, then the offsets of its
/// write word, read word and clock, 0 where there is none. For events: its number
/// in place of the first, where the object keeps its own number in place of the
/// second, and whether it is volatile in place of the third.
pub mod layout {
    pub const ROW: usize = 4;
    pub const OFFSET: usize = 0;
    pub const WRITE: usize = 1;
    pub const READ: usize = 2;
    pub const CLOCK: usize = 3;
    // The first row is not a field: where an object keeps its number, the site
    // that allocated it, and what froze it.
    pub const OBJECT_NUMBER: usize = 0;
    pub const ALLOCATION: usize = 1;
    pub const FREEZE: usize = 2;

    pub fn row(offset: i64, write: i64, read: i64, clock: i64) -> [i64; ROW] {
        let mut row = [0; ROW];
        row[OFFSET] = offset;
        row[WRITE] = write;
        row[READ] = read;
        row[CLOCK] = clock;
        row
    }
}

/// Which element `PhotofinishNative.check` is asked about: an index, or one of
/// these.
pub mod index {
    /// The field that the site names.
    pub const FIELD: i32 = -1;
    /// The field at an offset: this, less the offset.
    pub const OFFSET: i32 = -2;
}

/// Flags beside the mode of an atomic record, for a detector in the agent; never
/// in a trace.
pub mod attempt {
    use trace::raw::MODE_SHIFT;

    /// A compare-and-set is about to be tried.
    pub const TRIED: u64 = 4 << MODE_SHIFT;
    pub const SUCCEEDED: u64 = 8 << MODE_SHIFT;
}

/// Bits of [`Shared::Choice`].
pub mod choice {
    /// A scheduling point has something to decide.
    pub const DECIDES: i32 = 1;
    /// A thread is where nobody could stop it, and must be when it comes back.
    pub const OUTSIDE: i32 = 2;
}

/// Reads that may see older writes (PhotofinishWeak.java).
pub mod weak {
    /// Writes of a location that are kept.
    pub const KEPT: usize = 32;
    /// In an answer, besides how old the write is that a read sees: to be told.
    pub const FIRST: i32 = 64;
}

/// Stripes, which order the accesses of a recording (PhotofinishOrder.java). Each
/// begins with the number of the last write.
pub mod stripe {
    pub const COUNT: usize = 1 << 16;
    /// Size, as a shift.
    pub const SHIFT: u32 = 5;
    /// Where the number of the last read is.
    pub const READ: usize = 8;
    /// Whether somebody wrote without having the stripe.
    pub const LOST: usize = 16;
}

/// Bits of [`Shared::MayTrigger`].
pub mod may_trigger {
    /// The relation is collected.
    pub const ON: i64 = 1;
    /// Threads run freely, but are held back before some locks.
    pub const FREE: i64 = 2;
    /// One thread runs at a time, and a strategy decides by the relation.
    pub const SERIAL: i64 = 4;
}

/// What probes do under a budget (PhotofinishSampling.java). From COMPARE on they follow order.
pub mod phase {
    pub const REST: i32 = 0;
    /// They count accesses.
    pub const COUNT: i32 = 1;
    /// They check accesses against what was recorded.
    pub const COMPARE: i32 = 2;
    /// They check and record.
    pub const SAMPLE: i32 = 3;
}

/// Elements of `PhotofinishNative.STATIC_CLOCKS`.
pub const STATIC_CLOCKS: usize = 1 << 14;

/// Arrays by the first argument of `PhotofinishNative.array`: the position here;
/// past the end for arrays of references.
pub const ARRAY_KINDS: [&str; 8] = ["[I", "[B", "[C", "[D", "[J", "[F", "[Z", "[S"];

/// What `PhotofinishNative.address` is asked for: an address, or a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Shared {
    /// The table of sites.
    Sites,
    /// One int: how many slots vector clocks have so far.
    Slots,
    /// One long: the next sequence number of the run.
    Seq,
    /// One long: the next object number of the run.
    Ids,
    /// Events go to a detector at once, instead of a buffer.
    Direct,
    /// Accesses become events; otherwise FastTrack checks them.
    Events,
    /// Threads run one at a time.
    Control,
    /// One int, see [`choice`].
    Choice,
    /// Nothing is detected or recorded.
    Bare,
    /// Threads run freely, but are delayed at points.
    Noise,
    /// Control flow is recorded with the events.
    Full,
    /// Bits, see [`may_trigger`].
    MayTrigger,
    /// One int: number of the escorted thread plus one.
    Escort,
    /// All schedules are explored.
    Explore,
    /// Stripes, see [`stripe`]; 0 if none are needed.
    Stripes,
    /// The log tells what accesses find.
    Tell,
    /// Probes rest most of the time, see [`phase`].
    Budget,
}

impl Shared {
    const ALL: [Shared; 17] = [
        Shared::Sites,
        Shared::Slots,
        Shared::Seq,
        Shared::Ids,
        Shared::Direct,
        Shared::Events,
        Shared::Control,
        Shared::Choice,
        Shared::Bare,
        Shared::Noise,
        Shared::Full,
        Shared::MayTrigger,
        Shared::Escort,
        Shared::Explore,
        Shared::Stripes,
        Shared::Tell,
        Shared::Budget,
    ];

    pub fn from_number(number: i32) -> Option<Shared> {
        Shared::ALL.into_iter().find(|s| *s as i32 == number)
    }
}
