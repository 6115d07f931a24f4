//! Memory that compiled Java code and the agent share: the table of sites,
//! thread clocks, counters. All of it lives as long as the process.

use order::{ClockView, Epoch, SetId, Stamp, Tid};
use std::alloc::{Layout, alloc_zeroed};

/// Sites fit in the 20 bits that a stamp has for them.
pub const MAX_SITES: usize = 1 << 20;
/// Slots fit in 12 bits; the last one marks read sets.
pub const MAX_SLOTS: usize = 4095;
pub const SHARED: u64 = 0xfff;
const SITE_BYTES: usize = 32;
/// Below a thread's clock: results of the slow path, and what the bridge
/// needs to know to start a thread.
const HEADER: usize = 64;
/// Where in it the two innermost methods stand (PhotofinishMayTrigger.java).
const FRAME: usize = 52;

/// Values of the first word of a site's entry, mirrored in
/// PhotofinishFastTrack.java.
pub const IGNORE: i64 = -1;
pub const VOLATILE: i64 = -2;
pub const FINAL: i64 = -3;

/// What starts on a line of the processor's cache does not share it.
const LINE: usize = 64;

/// Zeroed memory that is never given back, at the start of a cache line.
pub fn leak(bytes: usize) -> usize {
    // Asked for a larger alignment, the allocator would write the zeros itself,
    // into 32 MB at every start; like this the system hands out pages when they
    // are touched.
    let layout = Layout::from_size_align(bytes.max(LINE) + LINE, 16).expect("sizes are small");
    // SAFETY: the layout is not empty.
    let p = unsafe { alloc_zeroed(layout) };
    if p.is_null() {
        std::alloc::handle_alloc_error(layout);
    }
    (p as usize).next_multiple_of(LINE)
}

/// The table of sites: four words each.
#[derive(Clone, Copy, Debug)]
pub struct SiteTable(usize);

impl SiteTable {
    pub fn new() -> SiteTable {
        // Touched page by page as sites appear.
        SiteTable(leak(MAX_SITES * SITE_BYTES))
    }

    pub fn address(self) -> i64 {
        self.0 as i64
    }

    /// The other words first: the first one makes the entry valid.
    pub fn set(self, site: u32, words: [i64; 3]) {
        if site as usize >= MAX_SITES {
            return;
        }
        let entry = (self.0 + site as usize * SITE_BYTES) as *mut i64;
        // SAFETY: the entry is inside the table; Java code reads it racily,
        // word by word, and takes the first word to decide.
        unsafe {
            entry.add(1).write_volatile(words[1]);
            entry.add(2).write_volatile(words[2]);
            std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
            entry.write_volatile(words[0]);
        }
    }
}

impl SiteTable {
    /// The last four bytes of an entry: where an access goes, for scheduling
    /// points. Set before the entry is valid.
    pub fn set_place(self, site: u32, place: i32) {
        if (site as usize) < MAX_SITES {
            let at = self.0 + site as usize * SITE_BYTES + SITE_BYTES - 4;
            // SAFETY: inside the table; nobody else writes these bytes.
            unsafe { (at as *mut i32).write_volatile(place) };
        }
    }
}

/// A thread's clock in shared memory: u32 a slot, with a header below.
#[derive(Clone, Copy, Debug)]
pub struct RawClock(usize);

impl RawClock {
    pub fn new() -> RawClock {
        RawClock(leak(HEADER + 4 * (MAX_SLOTS + 1)) + HEADER)
    }

    /// The header alone, with slot 0: events carry no clocks.
    pub fn header() -> RawClock {
        RawClock(leak(HEADER + 64) + HEADER)
    }

    /// # Safety
    /// `address` must come from [`RawClock::address`].
    pub unsafe fn at(address: i64) -> RawClock {
        RawClock(address as usize)
    }

    pub fn address(self) -> i64 {
        self.0 as i64
    }

    fn slot(self, tid: Tid) -> *mut u32 {
        debug_assert!(usize::from(tid) <= MAX_SLOTS);
        (self.0 + 4 * usize::from(tid).min(MAX_SLOTS)) as *mut u32
    }

    pub fn set(self, tid: Tid, clock: u32) {
        // SAFETY: in range; only the owning thread writes, in this call.
        unsafe { self.slot(tid).write_volatile(clock) }
    }

    pub fn clear(self) {
        // SAFETY: the memory of a clock, whose thread has ended.
        unsafe { std::ptr::write_bytes(self.0 as *mut u32, 0, MAX_SLOTS + 1) }
    }

    fn word(self, below: usize) -> *mut u64 {
        (self.0 - below) as *mut u64
    }

    /// What the slow path decided: the new write and read stamps.
    pub fn answer(self, w: u64, r: u64) {
        // SAFETY: header words of this clock.
        unsafe {
            self.word(16).write(w);
            self.word(8).write(r);
        }
    }

    pub fn set_limit(self, limit: usize) {
        // SAFETY: header word of this clock.
        unsafe { self.word(32).write(limit as u64) }
    }

    /// Number, slot and first clock, for the bridge to read.
    pub fn introduce(self, id: u32, slot: Tid, start: u32) {
        let p = (self.0 - HEADER) as *mut u32;
        // SAFETY: header of this clock.
        unsafe {
            p.write(id);
            p.add(1).write(u32::from(slot));
            p.add(2).write(start);
        }
    }

    /// The innermost methods of the relation that the thread is in.
    pub fn frames(self) -> [u32; 2] {
        // SAFETY: header of this clock; compiled code of its thread writes it, at
        // worst between the two reads.
        let at = |i: usize| unsafe { ((self.0 - FRAME) as *const u32).add(i).read_volatile() };
        [at(0), at(1)]
    }

    pub fn clear_frames(self) {
        // SAFETY: header of this clock, whose thread has not begun.
        let clear = |i: usize| unsafe { ((self.0 - FRAME) as *mut u32).add(i).write_volatile(0) };
        clear(0);
        clear(1);
    }

    pub fn id(self) -> u32 {
        // SAFETY: header of this clock.
        unsafe { ((self.0 - HEADER) as *const u32).read() }
    }
}

impl ClockView for RawClock {
    fn get(&self, tid: Tid) -> u64 {
        // SAFETY: in range.
        u64::from(unsafe { self.slot(tid).read_volatile() })
    }
}

/// What a shadow word says: clock 32 bits, slot 12, site 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Access(Stamp),
    Set(SetId),
}

impl Word {
    pub fn unpack(word: u64) -> Word {
        let slot = (word >> 20) & SHARED;
        if slot == SHARED {
            return Word::Set(SetId((word >> 32) as u32));
        }
        Word::Access(Stamp::new(
            Epoch::new(slot as Tid, word >> 32),
            (word & 0xf_ffff) as u32,
        ))
    }

    pub fn pack(self) -> u64 {
        match self {
            Word::Set(set) => u64::from(set.0) << 32 | SHARED << 20,
            Word::Access(s) if s.epoch.is_none() => 0,
            Word::Access(s) => {
                s.epoch.clock() << 32
                    | u64::from(s.epoch.tid()) << 20
                    | u64::from(s.site & 0xf_ffff)
            }
        }
    }
}

/// An epoch as the bridge keeps it: clock << 12 | slot.
pub fn bridge_epoch(epoch: i64) -> Epoch {
    Epoch::new((epoch & 0xfff) as Tid, (epoch as u64) >> 12)
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
}
