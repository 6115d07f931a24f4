//! Work that is divided without a server: shard `3/16` is the third of sixteen parts. A
//! command that gets one does its part and says so in its report ([`Parts`]); the parts of a
//! piece of work are disjoint, and together they are what one machine would have done.
//!
//! The split is a function of numbers and names alone, so every machine comes to the same one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

/// More parts than anybody has machines: a larger number is a slip of the finger.
const MOST: u32 = 100_000;

/// A part of the work; all of it unless somebody says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Part `index`, counted from 1, of so many.
    pub fn new(index: u32, of: u32) -> Result<Shard, String> {
        match (1..=of).contains(&index) && of <= MOST {
            true => Ok(Shard { index, of }),
            false => Err(format!(
                "there is no shard {index}/{of}: write I/N, with I from 1 to N, and N at most {MOST}"
            )),
        }
    }

    /// All parts of so many; none if there are to be none.
    pub fn all(of: u32) -> impl Iterator<Item = Shard> {
        (1..=of.min(MOST)).map(move |index| Shard { index, of })
    }

    /// Counted from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    pub fn of(self) -> u32 {
        self.of
    }

    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Whether item number 0, 1, ... of a list that all machines have alike is of this part.
    pub fn owns(self, number: u64) -> bool {
        number % u64::from(self.of) == u64::from(self.index - 1)
    }

    /// Whether something is of this part that machines may find in another order, or not
    /// all of them: its name decides.
    pub fn owns_name(self, name: &str) -> bool {
        let mut hash = Fnv::default();
        hash.write(name.as_bytes());
        self.owns(hash.finish())
    }

    /// How many of so many items are of this part,
    pub fn share(self, total: u64) -> u64 {
        let before = u64::from(self.index - 1);
        total.saturating_sub(before).div_ceil(u64::from(self.of))
    }

    /// and which number item 0, 1, ... of the part has among all.
    pub fn nth(self, item: u64) -> u64 {
        let before = u64::from(self.index - 1);
        item.saturating_mul(u64::from(self.of))
            .saturating_add(before)
    }
}

impl Default for Shard {
    fn default() -> Shard {
        Shard::WHOLE
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) => Shard::new(index, of),
            None => Err(format!(
                "{text:?} is no shard: write I/N, as 3/16 for the third of sixteen parts"
            )),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

/// FNV-1a: the same on every machine and in every version, which nobody promises of the
/// standard library's hasher.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        // The low bits of short names differ little: mixed once more (splitmix64).
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The parts of one piece of work that a report is about.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Parts {
    /// A digest of what was asked for: shards of the same work have the same.
    pub work: String,
    /// In how many parts it was divided.
    pub of: u32,
    /// The parts that are here, counted from 1.
    pub done: Vec<u32>,
}

impl Parts {
    /// Of a report that is one shard; nothing if it is the whole.
    pub fn of_shard(shard: Shard, work: String) -> Vec<Parts> {
        match shard.is_whole() {
            true => Vec::new(),
            false => vec![Parts {
                work,
                of: shard.of,
                done: vec![shard.index],
            }],
        }
    }

    /// The parts that are not here, as ranges.
    pub fn missing(&self) -> Vec<(u32, u32)> {
        let mut done = self.done.clone();
        done.sort_unstable();
        let mut gaps = Vec::new();
        let mut next = 1;
        for part in done {
            if part > next && next <= self.of {
                gaps.push((next, (part - 1).min(self.of)));
            }
            next = next.max(part.saturating_add(1));
        }
        if next <= self.of {
            gaps.push((next, self.of));
        }
        gaps
    }
}

/// All parts of all work that either list has. Of a piece of work that was divided in several
/// ways, each is kept.
pub(crate) fn union(all: impl IntoIterator<Item = Parts>) -> Vec<Parts> {
    let mut list: Vec<Parts> = Vec::new();
    for parts in all {
        let same = |known: &&mut Parts| known.work == parts.work && known.of == parts.of;
        match list.iter_mut().find(same) {
            Some(known) => known.done.extend(parts.done),
            None => list.push(parts),
        }
    }
    for parts in &mut list {
        parts.done.sort_unstable();
        parts.done.dedup();
    }
    list.sort();
    list
}

/// What begins the sentence by which a report says that it is a part, which is not true any more
/// after a merge.
pub const ONE: &str = "this is shard ";

/// What begins the sentence on missing parts, which is not true any more after a merge.
pub(crate) const MISSING: &str = "not all shards are here: ";

/// Which parts are missing, in words; none if nothing is. A piece of work is whole if one of
/// the ways in which it was divided is.
pub fn missing(all: &[Parts]) -> Option<String> {
    let whole = |work: &str| { all.iter() }.any(|p| p.work == work && p.missing().is_empty());
    let lacking = all.iter().filter(|parts| !whole(&parts.work));
    let words: Vec<String> = lacking
        .map(|parts| {
            let range = |(a, b): (u32, u32)| match a == b {
                true => a.to_string(),
                false => format!("{a} to {b}"),
            };
            let ranges: Vec<String> = parts.missing().into_iter().map(range).collect();
            format!("{} of {}", ranges.join(", "), parts.of)
        })
        .collect();
    match words.is_empty() {
        true => None,
        false => Some(format!("{MISSING}{} missing", words.join("; "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_shard_is_refused() {
        for bad in [
            "", "3", "0/4", "5/4", "1/0", "a/b", "1/2/3", "-1/4", "1/100001", " 1/2",
        ] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        assert_eq!("1/1".parse(), Ok(Shard::WHOLE));
        assert_eq!("3/16".parse(), Shard::new(3, 16));
    }

    #[test]
    fn parts_that_are_missing_are_named() {
        let parts = |done: &[u32]| Parts {
            work: "w".into(),
            of: 8,
            done: done.to_vec(),
        };
        assert_eq!(missing(&[parts(&[1, 2, 3, 4, 5, 6, 7, 8])]), None);
        assert_eq!(
            missing(&[parts(&[2, 3, 7])]).unwrap(),
            "not all shards are here: 1, 4 to 6, 8 of 8 missing"
        );
        // Divided in two ways, one of which is whole.
        let whole = Parts {
            of: 1,
            done: vec![1],
            ..parts(&[])
        };
        assert_eq!(missing(&[whole, parts(&[2])]), None);
        // A file may say anything.
        assert_eq!(parts(&[0, 9, u32::MAX]).missing(), [(1, 8)]);
        let none = Parts {
            of: 0,
            ..parts(&[])
        };
        assert!(none.missing().is_empty());
    }

    proptest! {
        #[test]
        fn every_item_is_in_one_part(total in 0u64..200, of in 1u32..20) {
            let mut seen = vec![0; total as usize];
            for shard in Shard::all(of) {
                let items: Vec<u64> = (0..shard.share(total)).map(|k| shard.nth(k)).collect();
                let owned: Vec<u64> = (0..total).filter(|n| shard.owns(*n)).collect();
                prop_assert_eq!(&items, &owned);
                items.iter().for_each(|n| seen[*n as usize] += 1);
                prop_assert_eq!(shard.to_string().parse(), Ok(shard));
            }
            prop_assert!(seen.iter().all(|n| *n == 1));
        }

        #[test]
        fn every_name_is_in_one_part(name in ".{0,12}", of in 1u32..20) {
            prop_assert_eq!(Shard::all(of).filter(|s| s.owns_name(&name)).count(), 1);
        }

        #[test]
        fn missing_parts_are_those_that_are_not_there(
            done in prop::collection::vec(0u32..12, 0..12), of in 0u32..10,
        ) {
            let parts = Parts { work: String::new(), of, done: done.clone() };
            let ranges = parts.missing().into_iter().flat_map(|(a, b)| a..=b);
            let expected: Vec<u32> = (1..=of).filter(|n| !done.contains(n)).collect();
            prop_assert_eq!(ranges.collect::<Vec<_>>(), expected);
        }
    }
}
