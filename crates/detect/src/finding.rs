//! What detectors report: pairs of statements on a location, each once.

use rustc_hash::FxHashMap;
use trace::{Loc, SiteId, ThreadId};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    pub thread: ThreadId,
    pub site: SiteId,
    pub write: bool,
}

/// A racing pair; `first` came first in this run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    pub loc: Loc,
    pub first: Access,
    pub second: Access,
    /// The number of `second`'s event, from 0, when the pair was first seen.
    pub event: u64,
    /// How many times it was seen.
    pub count: u64,
}

/// What makes two findings the same one: the statements, in either order, and
/// the slot (field number or array index), which tells the fields apart that
/// one reflective statement accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FindingKey {
    pub sites: (SiteId, SiteId),
    pub slot: u32,
}

impl Finding {
    pub fn key(&self) -> FindingKey {
        let (a, b) = (self.first.site, self.second.site);
        FindingKey {
            sites: (a.min(b), a.max(b)),
            slot: self.loc.slot,
        }
    }
}

/// Findings in order of discovery, without duplicates.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    known: FxHashMap<FindingKey, u32>,
    slots: FxHashMap<(SiteId, SiteId), u32>,
    beyond: u64,
}

/// A pair of statements that race all over a large array is kept for this
/// many elements; the rest is counted.
pub const SLOTS_PER_PAIR: u32 = 64;

impl Findings {
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.list.iter()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Races beyond [`SLOTS_PER_PAIR`], of pairs that are in the list.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    #[cold]
    pub(crate) fn add(&mut self, finding: Finding) {
        let key = finding.key();
        if let Some(at) = self.known.get(&key) {
            self.list[*at as usize].count += 1;
            return;
        }
        let slots = self.slots.entry(key.sites).or_default();
        if *slots == SLOTS_PER_PAIR {
            self.beyond += 1;
            return;
        }
        *slots += 1;
        self.known.insert(key, self.list.len() as u32);
        self.list.push(finding);
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ObjId;

    #[test]
    fn either_order_is_one_finding_and_arrays_are_bounded() {
        let access = |site| Access {
            thread: ThreadId(0),
            site: SiteId(site),
            write: true,
        };
        let mut all = Findings::default();
        for slot in 0..100 {
            for (a, b) in [(1, 2), (2, 1)] {
                all.add(Finding {
                    loc: Loc {
                        obj: ObjId(1),
                        slot,
                    },
                    first: access(a),
                    second: access(b),
                    event: 0,
                    count: 1,
                });
            }
        }
        assert_eq!(all.len(), SLOTS_PER_PAIR as usize);
        assert!(all.iter().all(|f| f.count == 2));
        assert_eq!(all.beyond(), 2 * (100 - u64::from(SLOTS_PER_PAIR)));
    }
}
