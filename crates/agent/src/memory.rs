//! Memory that compiled Java code and the agent share: the table of sites,
//! thread clocks, counters. All of it lives as long as the process, and all of
//! it is made of atomics: Java code reads and writes it at any time, with plain
//! instructions of the same width.

use contract::{ClockHeader, SiteEntry, stamp};
use order::{ClockView, Epoch, SetId, Stamp, Tid};
use std::alloc::{Layout, alloc_zeroed};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Sites fit in the bits that a stamp has for them.
pub const MAX_SITES: usize = 1 << stamp::SITE_BITS;
/// Slots too; the last one marks read sets.
pub const MAX_SLOTS: usize = stamp::SHARED as usize;

/// What starts on a line of the processor's cache does not share it.
const LINE: usize = 64;

/// Clocks that are made together.
const SEVERAL: usize = 64;

/// Zeroed memory that is never given back, at the start of a cache line.
fn leak(bytes: usize) -> *mut u8 {
    // Asked for a larger alignment, the allocator would write the zeros itself,
    // into 32 MB at every start; like this the system hands out pages when they
    // are touched.
    let layout = Layout::from_size_align(bytes.max(LINE) + LINE, 16).expect("sizes are small");
    // SAFETY: the layout is not empty.
    let p = unsafe { alloc_zeroed(layout) };
    if p.is_null() {
        std::alloc::handle_alloc_error(layout);
    }
    // SAFETY: less than a line further, of which there is one more than was asked for.
    let aligned = unsafe { p.add(p.align_offset(LINE)) };
    // Its address goes through Java and comes back as a number.
    aligned.expose_provenance();
    aligned
}

/// Words for both sides.
pub fn leak_words(count: usize) -> &'static [AtomicU64] {
    let words = leak(count * size_of::<AtomicU64>()).cast();
    // SAFETY: that many bytes, zeroed, aligned, never freed, and used as atomics only.
    unsafe { slice::from_raw_parts(words, count) }
}

/// The table of sites.
#[derive(Clone, Copy, Debug)]
pub struct SiteTable(&'static [SiteEntry]);

impl SiteTable {
    pub fn new() -> SiteTable {
        // Touched page by page as sites appear.
        let entries = leak(MAX_SITES * size_of::<SiteEntry>()).cast();
        // SAFETY: that many zeroed entries, which are valid, aligned, and never freed.
        SiteTable(unsafe { slice::from_raw_parts(entries, MAX_SITES) })
    }

    pub fn address(self) -> i64 {
        self.0.as_ptr().addr() as i64
    }

    /// The other words first: the first one makes the entry valid.
    pub fn set(self, site: u32, words: [i64; 3]) {
        if let Some(entry) = self.0.get(site as usize) {
            entry.second.store(words[1], Ordering::Relaxed);
            entry.third.store(words[2], Ordering::Relaxed);
            entry.first.store(words[0], Ordering::Release);
        }
    }

    /// Under a budget: whether the statement was executed in a sampling period.
    pub fn was_sampled(self, site: u32) -> bool {
        let entry = self.0.get(site as usize);
        entry.is_some_and(|entry| entry.place.load(Ordering::Relaxed) != 0)
    }

    /// Where an access goes, for scheduling points. Set before the entry is valid.
    pub fn set_place(self, site: u32, place: i32) {
        if let Some(entry) = self.0.get(site as usize) {
            entry.place.store(place, Ordering::Relaxed);
        }
    }
}

/// A thread's clock in shared memory: 32 bits a slot, with a [`ClockHeader`] below.
#[derive(Clone, Copy, Debug)]
pub struct RawClock {
    header: &'static ClockHeader,
    slots: &'static [AtomicU32],
}

impl RawClock {
    pub fn new() -> RawClock {
        RawClock::with_slots(MAX_SLOTS + 1)
    }

    /// A clock that is not asked for other threads: events carry no clocks.
    pub fn header() -> RawClock {
        RawClock::with_slots(LINE / size_of::<AtomicU32>())
    }

    fn with_slots(count: usize) -> RawClock {
        RawClock::place(leak(RawClock::size(count)), count)
    }

    /// Many clocks, when there will be no more slots than these. Compiled code may look at any slot
    /// before it sees that a word means none: so there is room behind the last clock.
    pub fn several(slots: usize) -> Vec<RawClock> {
        let size = RawClock::size(slots);
        let memory = leak(size * SEVERAL + RawClock::size(MAX_SLOTS + 1));
        let at = |i| RawClock::place(memory.wrapping_add(i * size), slots);
        (0..SEVERAL).map(at).collect()
    }

    /// In bytes, whole lines.
    fn size(slots: usize) -> usize {
        (size_of::<ClockHeader>() + slots * size_of::<AtomicU32>()).next_multiple_of(LINE)
    }

    /// A clock in zeroed memory of its size.
    fn place(memory: *mut u8, count: usize) -> RawClock {
        // SAFETY: zeroed memory of that size at the start of a cache line is a valid
        // header, and is never freed.
        let header = unsafe { &*memory.cast::<ClockHeader>() };
        header.slots.store(count as u32, Ordering::Relaxed);
        let address = memory.addr() + size_of::<ClockHeader>();
        // SAFETY: the header stands there, and says how many slots there are.
        unsafe { RawClock::at(address as i64) }
    }

    /// # Safety
    /// `address` must come from [`RawClock::address`].
    pub unsafe fn at(address: i64) -> RawClock {
        let slots: *const AtomicU32 = ptr::with_exposed_provenance(address as usize);
        // SAFETY: a clock has its header before its slots, in one piece of memory that
        // is never freed and only used as atomics.
        let header = unsafe {
            &*slots
                .byte_sub(size_of::<ClockHeader>())
                .cast::<ClockHeader>()
        };
        let count = header.slots.load(Ordering::Relaxed) as usize;
        // SAFETY: it was made with that many.
        let slots = unsafe { slice::from_raw_parts(slots, count) };
        RawClock { header, slots }
    }

    /// What the bridge knows the clock by.
    pub fn address(self) -> i64 {
        self.slots.as_ptr().addr() as i64
    }

    /// By the owning thread, or before it begins.
    pub fn set(self, tid: Tid, clock: u32) {
        debug_assert!(usize::from(tid) < self.slots.len());
        if let Some(slot) = self.slots.get(usize::from(tid)) {
            slot.store(clock, Ordering::Relaxed);
        }
    }

    /// Its thread has ended, and nobody takes its place.
    pub fn clear(self) {
        for slot in self.slots {
            slot.store(0, Ordering::Relaxed);
        }
    }

    /// What the slow path decided: the new write and read words.
    pub fn answer(self, w: u64, r: u64) {
        self.header.new_write.store(w, Ordering::Relaxed);
        self.header.new_read.store(r, Ordering::Relaxed);
    }

    pub fn set_limit(self, limit: u64) {
        self.header.limit.store(limit, Ordering::Relaxed);
    }

    /// Number, slot and first clock, for the bridge to read.
    pub fn introduce(self, id: u32, slot: Tid, start: u32) {
        self.header.id.store(id, Ordering::Relaxed);
        self.header.slot.store(slot.into(), Ordering::Relaxed);
        self.header.start.store(start, Ordering::Relaxed);
    }

    /// The slot is that of other living threads, too.
    pub fn share(self) {
        self.header.shares.store(1, Ordering::Relaxed);
    }

    /// The innermost methods of the relation that the thread is in. It goes on
    /// meanwhile: they may be of two moments.
    pub fn frames(self) -> [u32; 2] {
        let ClockHeader { frame, caller, .. } = self.header;
        [frame, caller].map(|method| method.load(Ordering::Relaxed))
    }

    /// Its thread has not begun.
    pub fn clear_frames(self) {
        self.header.frame.store(0, Ordering::Relaxed);
        self.header.caller.store(0, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub fn slot(self) -> Tid {
        self.header.slot.load(Ordering::Relaxed) as Tid
    }

    /// The era that its thread has begun last.
    pub fn era(self) -> u32 {
        self.header.era.load(Ordering::Relaxed)
    }

    /// Accesses that its threads have counted.
    pub fn counted(self) -> u64 {
        self.header.counted.load(Ordering::Relaxed)
    }

    /// By the owning thread: it knows all that the other clock knows.
    pub fn raise(self, to: RawClock) {
        for (mine, to) in self.slots.iter().zip(to.slots) {
            let to = to.load(Ordering::Relaxed);
            if to > mine.load(Ordering::Relaxed) {
                mine.store(to, Ordering::Relaxed);
            }
        }
    }

    pub fn id(self) -> u32 {
        self.header.id.load(Ordering::Relaxed)
    }
}

impl ClockView for RawClock {
    fn get(&self, tid: Tid) -> u64 {
        let slot = self.slots.get(usize::from(tid));
        slot.map_or(0, |slot| slot.load(Ordering::Relaxed).into())
    }
}

/// What a shadow word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Access(Stamp),
    Set(SetId),
}

impl Word {
    pub fn unpack(word: u64) -> Word {
        let slot = (word >> stamp::SITE_BITS) & stamp::SLOT_MASK;
        let clock = word >> stamp::CLOCK_SHIFT;
        if slot == stamp::SHARED {
            return Word::Set(SetId(clock as u32));
        }
        let site = (word & stamp::SITE_MASK) as u32;
        Word::Access(Stamp::new(Epoch::new(slot as Tid, clock), site))
    }

    pub fn pack(self) -> u64 {
        match self {
            Word::Set(set) => {
                u64::from(set.0) << stamp::CLOCK_SHIFT | stamp::SHARED << stamp::SITE_BITS
            }
            Word::Access(s) if s.epoch.is_none() => 0,
            Word::Access(s) => {
                s.epoch.clock() << stamp::CLOCK_SHIFT
                    | u64::from(s.epoch.tid()) << stamp::SITE_BITS
                    | u64::from(s.site) & stamp::SITE_MASK
            }
        }
    }
}

/// An epoch as the bridge keeps it: clock, slot.
pub fn bridge_epoch(epoch: i64) -> Epoch {
    let epoch = epoch as u64;
    Epoch::new((epoch & stamp::SLOT_MASK) as Tid, epoch >> stamp::SLOT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        for word in [
            Word::Access(Stamp::new(Epoch::new(0, 1), 1)),
            Word::Access(Stamp::new(Epoch::new(4094, u64::from(u32::MAX)), 0xf_ffff)),
            Word::Set(SetId(u32::MAX)),
            Word::Access(Stamp::NONE),
        ] {
            assert_eq!(Word::unpack(word.pack()), word);
        }
        assert_eq!(Word::Access(Stamp::NONE).pack(), 0);
    }

    #[test]
    fn a_clock_is_its_slots() {
        let clock = RawClock::new();
        clock.introduce(3, 7, 1);
        clock.set(7, 9);
        assert_eq!((clock.get(7), clock.get(6), clock.id()), (9, 0, 3));
        clock.clear();
        assert_eq!((clock.get(7), clock.id()), (0, 3));
    }

    #[test]
    fn a_clock_is_found_again_by_its_address() {
        for clock in [RawClock::new(), RawClock::header()] {
            clock.introduce(5, 2, 1);
            clock.set(2, 8);
            // SAFETY: the address of a clock.
            let again = unsafe { RawClock::at(clock.address()) };
            assert_eq!((again.id(), again.get(2)), (5, 8));
            assert_eq!(again.slots.len(), clock.slots.len());
            assert_eq!(clock.address() % LINE as i64, 0);
        }
    }

    #[test]
    fn clocks_that_are_made_together_lie_apart() {
        let clocks = RawClock::several(3);
        for (i, clock) in (1..).zip(&clocks) {
            clock.introduce(i, 2, 1);
            clock.set(2, i);
        }
        let told = clocks.iter().map(|c| (c.id(), c.get(2), c.get(0)));
        assert!(told.eq((1..=SEVERAL as u32).map(|i| (i, i.into(), 0))));
        assert!(clocks.iter().all(|c| c.address() % LINE as i64 == 0));
    }

    #[test]
    fn a_header_has_no_other_threads() {
        let clock = RawClock::header();
        assert_eq!(clock.get(Tid::MAX), 0);
        assert_eq!(clock.frames(), [0, 0]);
    }

    #[test]
    fn sites_beyond_the_table_are_ignored() {
        let table = SiteTable::new();
        table.set(MAX_SITES as u32, [1, 2, 3]);
        table.set_place(u32::MAX, 7);
        table.set(4, [1, 2, 3]);
        table.set_place(4, 7);
        let SiteEntry {
            first,
            second,
            third,
            place,
            ..
        } = &table.0[4];
        let words = [first, second, third].map(|word| word.load(Ordering::Relaxed));
        assert_eq!((words, place.load(Ordering::Relaxed)), ([1, 2, 3], 7));
    }
}
