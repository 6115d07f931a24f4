//! What is known of each location: a hash table that is asked for many locations
//! at once.
//!
//! In a large trace nearly every lookup misses the cache. Where an entry is, or
//! would be, follows from the location alone: [`Table::fetch`] reads there without
//! looking at what it finds, so that several lookups wait for memory side by side.
//! Entries that hash alike stand behind each other; nothing is ever removed.

use trace::Loc;

/// What is kept of a location. It keeps the location's slot, too, where it has
/// room for it.
pub(crate) trait Entry: Copy {
    /// One that nothing is known of yet.
    fn vacant(slot: u32) -> Self;
    fn is_vacant(&self) -> bool;
    fn slot(&self) -> u32;
}

#[derive(Debug)]
pub(crate) struct Table<V> {
    /// A power of two of them, or none; seven eighths in use at most.
    slots: Vec<Slot<V>>,
    used: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot<V> {
    obj: u64,
    value: V,
}

const FIRST: usize = 1 << 10;

impl<V> Default for Table<V> {
    fn default() -> Table<V> {
        Table {
            slots: Vec::new(),
            used: 0,
        }
    }
}

impl<V: Entry> Table<V> {
    /// Where the location would stand if nothing were in its way. There must be
    /// slots.
    #[inline]
    fn home(&self, loc: Loc) -> usize {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let mixed = loc.obj.0.wrapping_mul(ODD).rotate_left(26) ^ u64::from(loc.slot);
        let bits = self.slots.len().trailing_zeros();
        (mixed.wrapping_mul(ODD) >> (64 - bits)) as usize
    }

    /// Gets the location's entry nearer.
    #[inline]
    pub fn fetch(&self, loc: Loc) {
        if !self.slots.is_empty() {
            std::hint::black_box(self.slots[self.home(loc)].obj);
        }
    }

    /// The entry; vacant if the location is new, and then it must be filled.
    #[inline]
    pub fn entry(&mut self, loc: Loc) -> &mut V {
        if self.used * 8 >= self.slots.len() * 7 {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = self.home(loc);
        loop {
            let slot = &self.slots[at];
            if slot.value.is_vacant() {
                self.used += 1;
                self.slots[at] = Slot {
                    obj: loc.obj.0,
                    value: V::vacant(loc.slot),
                };
                break;
            }
            if slot.obj == loc.obj.0 && slot.value.slot() == loc.slot {
                break;
            }
            at = (at + 1) & mask;
        }
        &mut self.slots[at].value
    }

    /// The entry, if the location has one.
    pub fn get(&self, loc: Loc) -> Option<&V> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let from = self.home(loc);
        let places = (from..)
            .take(self.slots.len())
            .map(|at| &self.slots[at & mask]);
        let mut filled = places.take_while(|slot| !slot.value.is_vacant());
        let found = filled.find(|slot| slot.obj == loc.obj.0 && slot.value.slot() == loc.slot);
        found.map(|slot| &slot.value)
    }

    /// Bytes of the larger table, if so many more locations may need one.
    pub fn growth(&self, more: usize) -> usize {
        match (self.used + more) * 8 >= self.slots.len() * 7 {
            true => (self.slots.len() * 2).max(FIRST) * size_of::<Slot<V>>(),
            false => 0,
        }
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        let all = self.slots.iter().map(|slot| &slot.value);
        all.filter(|value| !value.is_vacant())
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(FIRST);
        let vacant = Slot {
            obj: 0,
            value: V::vacant(0),
        };
        let old = std::mem::replace(&mut self.slots, vec![vacant; size]);
        let mask = size - 1;
        for slot in old.into_iter().filter(|slot| !slot.value.is_vacant()) {
            let loc = Loc {
                obj: trace::ObjId(slot.obj),
                slot: slot.value.slot(),
            };
            let mut at = self.home(loc);
            while !self.slots[at].value.is_vacant() {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use trace::ObjId;

    impl Entry for (u32, u32) {
        fn vacant(slot: u32) -> (u32, u32) {
            (slot, 0)
        }

        fn is_vacant(&self) -> bool {
            self.1 == 0
        }

        fn slot(&self) -> u32 {
            self.0
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn is_a_map(locs in prop::collection::vec((0u64..80, 0u32..80, 1u32..9), 0..4000)) {
            let mut table: Table<(u32, u32)> = Table::default();
            let mut twin: BTreeMap<(u64, u32), u32> = BTreeMap::new();
            for (obj, slot, value) in locs {
                let loc = Loc { obj: ObjId(obj << 40 | obj), slot };
                table.fetch(loc);
                let found = table.get(loc).map(|(_, value)| *value);
                prop_assert_eq!(found, twin.get(&(obj, slot)).copied());
                let known = twin.entry((obj, slot)).or_default();
                let entry = table.entry(loc);
                prop_assert_eq!(*entry, (slot, *known));
                entry.1 = value;
                *known = value;
            }
            prop_assert_eq!(table.values().count(), twin.len());
        }
    }
}
