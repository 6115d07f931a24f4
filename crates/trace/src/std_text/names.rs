//! Names of STD text to dense numbers.
//!
//! Nearly all names are a number with something around it: `T3`, `V17`, `V17.2`,
//! `45`. Of those that differ in the number only, a plain list says which is
//! which: it takes a tenth of the memory that a hash table does, and stays in the
//! cache. What is no such name, or would make a list too long for what is in it,
//! is hashed; names of up to 15 bytes as one number, which needs no comparison of
//! strings. A name is in one of these places only.

use crate::tables::Str;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Lists of one interner: more kinds of names are rare.
const LISTS: usize = 16;
/// A list may have this many places, and four for each name.
const ROOM: usize = 1 << 16;
const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Interner {
    lists: Vec<List>,
    /// The list found last.
    recent: usize,
    short: FxHashMap<u128, u32>,
    long: FxHashMap<Box<[u8]>, u32>,
    pub names: Vec<Str>,
}

/// Names that differ in their number only.
#[derive(Debug)]
struct List {
    around: u128,
    ids: Vec<u32>,
}

impl Interner {
    /// `None` if the name is not text.
    #[inline]
    pub fn id(&mut self, name: &[u8]) -> Option<u32> {
        let numbered = numbered(name);
        if let Some((around, number)) = numbered
            && let Some(list) = self.list(around)
            && let Some(&id) = self.lists[list].ids.get(number)
            && id != NONE
        {
            return Some(id);
        }
        self.other(name, numbered)
    }

    #[inline]
    fn list(&mut self, around: u128) -> Option<usize> {
        let is = |list: &List| list.around == around;
        if !self.lists.get(self.recent).is_some_and(is) {
            self.recent = self.lists.iter().position(is)?;
        }
        Some(self.recent)
    }

    fn other(&mut self, name: &[u8], numbered: Option<(u128, usize)>) -> Option<u32> {
        let key = packed(name);
        let known = match key {
            Some(key) => self.short.get(&key),
            None => self.long.get(name),
        };
        match known {
            Some(&id) => Some(id),
            None => self.add(name, key, numbered),
        }
    }

    #[cold]
    fn add(
        &mut self,
        name: &[u8],
        key: Option<u128>,
        numbered: Option<(u128, usize)>,
    ) -> Option<u32> {
        let text = std::str::from_utf8(name).ok()?;
        let id = u32::try_from(self.names.len())
            .ok()
            .filter(|id| *id != NONE)?;
        self.names.push(Arc::from(text));
        if let Some((around, number)) = numbered
            && number < ROOM + 4 * self.names.len()
            && let Some(list) = self.list_for(around)
        {
            let ids = &mut self.lists[list].ids;
            if ids.len() <= number {
                ids.resize(number + 1, NONE);
            }
            ids[number] = id;
            return Some(id);
        }
        match key {
            Some(key) => self.short.insert(key, id),
            None => self.long.insert(name.into(), id),
        };
        Some(id)
    }

    fn list_for(&mut self, around: u128) -> Option<usize> {
        if let Some(list) = self.list(around) {
            return Some(list);
        }
        if self.lists.len() == LISTS {
            return None;
        }
        let ids = Vec::new();
        self.lists.push(List { around, ids });
        Some(self.lists.len() - 1)
    }
}

/// The first number in a name, and what is around it; `None` if that is long, or
/// the number has another spelling.
#[inline]
fn numbered(name: &[u8]) -> Option<(u128, usize)> {
    let start = name.iter().position(u8::is_ascii_digit)?;
    let (before, rest) = name.split_at(start);
    let (mut number, mut digits) = (0, 0);
    for digit in rest.iter().map(|b| b.wrapping_sub(b'0')) {
        if digit > 9 {
            break;
        }
        number = number * 10 + usize::from(digit);
        digits += 1;
        if digits > 9 {
            return None;
        }
    }
    let after = &rest[digits..];
    if before.len() > 7 || after.len() > 7 || (digits > 1 && rest[0] == b'0') {
        return None;
    }
    let join =
        |text: &[u8]| { text.iter() }.fold(text.len() as u64, |key, b| key << 8 | u64::from(*b));
    Some((
        u128::from(join(before)) << 64 | u128::from(join(after)),
        number,
    ))
}

/// A name of up to 15 bytes and its length as one number; reading it in
/// overlapping words beats copying so few bytes.
#[inline]
fn packed(name: &[u8]) -> Option<u128> {
    let len = name.len();
    let (low, high) = if let (Some(first), Some(last)) =
        (name.first_chunk::<8>(), name.last_chunk::<8>())
    {
        if len > 15 {
            return None;
        }
        // What is left of the last word without the bytes of the first. All of
        // it overlaps if there are just eight.
        let rest = u64::from_le_bytes(*last).checked_shr(8 * (16 - len as u32));
        (u64::from_le_bytes(*first), rest.unwrap_or(0))
    } else if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        let rest = u32::from_le_bytes(*last).checked_shr(8 * (8 - len as u32));
        let low = u64::from(u32::from_le_bytes(*first));
        (low | u64::from(rest.unwrap_or(0)) << 32, 0)
    } else {
        (name.iter().fold(0, |key, &b| key << 8 | u64::from(b)), 0)
    };
    Some(u128::from(low) | u128::from(high | (len as u64) << 56) << 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packed_names_differ_and_long_ones_are_not_packed() {
        let mut seen = std::collections::BTreeMap::new();
        for len in 0..20usize {
            for (marked, mark) in (0..len).flat_map(|i| [(i, 0), (i, 1), (i, 255)]) {
                let mut name = vec![0x41; len];
                name[marked] = mark;
                match packed(&name) {
                    Some(key) => {
                        assert_eq!(seen.insert(key, name.clone()).unwrap_or(name.clone()), name);
                    }
                    None => assert!(len > 15),
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// A map of names is the twin.
        #[test]
        fn every_name_has_one_number(
            names in prop::collection::vec("[VT]?[0-9]{0,6}(\\.[0-9]{1,2})?[a-z]{0,2}|.{0,20}", 1..60),
        ) {
            let mut interner = Interner::default();
            let mut twin: std::collections::BTreeMap<&str, u32> = Default::default();
            for name in names.iter().chain(&names) {
                let next = twin.len() as u32;
                let id = *twin.entry(name).or_insert(next);
                prop_assert_eq!(interner.id(name.as_bytes()), Some(id));
            }
            prop_assert_eq!(interner.names.len(), twin.len());
        }
    }

    /// Numbers that are too large for the list when they come first.
    #[test]
    fn a_list_that_grows_does_not_forget_what_was_hashed() {
        let mut interner = Interner::default();
        let far = ROOM + 1000;
        assert_eq!(interner.id(format!("V{far}").as_bytes()), Some(0));
        for n in 0..1000u32 {
            assert_eq!(interner.id(format!("V{n}").as_bytes()), Some(n + 1));
        }
        assert_eq!(interner.id(format!("V{}", far + 1).as_bytes()), Some(1001));
        assert_eq!(interner.id(format!("V{far}").as_bytes()), Some(0));
        assert_eq!(interner.id(b"V\xff"), None);
    }
}
