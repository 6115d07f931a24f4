//! What is kept of fields: shadows of statics, and numbers for events.

use crate::memory::leak_words;
use contract::STATIC_CLOCKS;
use rustc_hash::FxHashMap;
use std::sync::atomic::AtomicU64;

/// A static field: the number of its class, which no other class ever gets
/// (field ids and names are used again when classes come and go), and its name
/// and descriptor.
pub(super) type StaticField = (i64, String, String);

/// Shadows of static fields, which have no object to be kept in.
#[derive(Default, Debug)]
pub struct Statics {
    /// The write and the read word.
    data: FxHashMap<StaticField, &'static [AtomicU64]>,
    /// Position in STATIC_CLOCKS.
    clocks: FxHashMap<StaticField, usize>,
}

impl Statics {
    pub(super) fn data(&mut self, field: StaticField) -> i64 {
        let words = self.data.entry(field).or_insert_with(|| leak_words(2));
        words.as_ptr().addr() as i64
    }

    /// Fields beyond the table share its last place: more order than there
    /// is, never less.
    pub(super) fn clock(&mut self, field: StaticField) -> i64 {
        let next = self.clocks.len().min(STATIC_CLOCKS - 1);
        *self.clocks.entry(field).or_insert(next) as i64
    }
}

/// Numbers of fields, for events: the slot of a location is the number of its
/// field, counted from here, or the index of its element.
const FIRST_FIELD: u32 = 1 << 30;

/// A field that events may name.
#[derive(Clone, Debug)]
pub struct Field {
    /// Internal name of the class that declares it.
    pub class: String,
    pub name: String,
    pub desc: String,
    pub flags: u16,
}

#[derive(Default, Debug)]
pub struct Fields {
    /// By class, name and descriptor: field ids of HotSpot are offsets, the
    /// same in many classes.
    numbers: FxHashMap<(String, String, String), u32>,
    rows: Vec<Field>,
}

impl Fields {
    /// The number of a field, which is new if nobody has asked for it before.
    pub(super) fn number(&mut self, field: Field) -> u32 {
        let key = (field.class.clone(), field.name.clone(), field.desc.clone());
        let rows = &mut self.rows;
        *self.numbers.entry(key).or_insert_with(|| {
            rows.push(field);
            FIRST_FIELD + rows.len() as u32 - 1
        })
    }

    pub fn of_slot(&self, slot: u32) -> Option<&Field> {
        self.rows.get(slot.checked_sub(FIRST_FIELD)? as usize)
    }

    /// Slots and rows from the n-th on, for the recorder.
    pub fn rows_from(&self, n: usize) -> impl Iterator<Item = (u32, &Field)> {
        (FIRST_FIELD + n as u32..).zip(self.rows.get(n..).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(class: &str, name: &str) -> Field {
        Field {
            class: class.into(),
            name: name.into(),
            desc: "I".into(),
            flags: 0,
        }
    }

    #[test]
    fn a_field_keeps_its_number() {
        let mut fields = Fields::default();
        let first = fields.number(field("A", "x"));
        assert_eq!(fields.number(field("B", "x")), first + 1);
        assert_eq!(fields.number(field("A", "x")), first);
        let found = fields.of_slot(first + 1).map(|f| f.class.as_str());
        assert_eq!(found, Some("B"));
        assert!(fields.of_slot(0).is_none(), "an element");
        assert!(fields.of_slot(first + 2).is_none());
        assert_eq!(fields.rows_from(1).count(), 1);
    }

    #[test]
    fn statics_have_words_of_their_own_and_share_the_last_clock() {
        let mut statics = Statics::default();
        let key = |n: i64| (n, "x".to_owned(), "I".to_owned());
        assert_ne!(statics.data(key(1)), statics.data(key(2)));
        assert_eq!(statics.data(key(1)), statics.data(key(1)));
        let last = STATIC_CLOCKS as i64 - 1;
        let clocks: Vec<i64> = (0..last + 3).map(|n| statics.clock(key(n))).collect();
        assert_eq!(clocks[..2], [0, 1]);
        assert_eq!(clocks[last as usize..], [last, last, last]);
    }
}
