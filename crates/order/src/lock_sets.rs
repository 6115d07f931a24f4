//! Interned sets of held locks.
//!
//! Programs hold few distinct combinations of locks, and pass through the
//! same ones over and over: a thread's set is a number, taking or giving up a
//! lock is one lookup, and so is asking what two sets have in common.
//!
//! A lock is held exclusively or shared (the read side of a read-write lock),
//! or both, after a downgrade. Two holders exclude each other when they have
//! a common lock that at least one of them holds exclusively.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A set's number in its [`LockSets`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LockSetId(pub u32);

impl LockSetId {
    pub const EMPTY: LockSetId = LockSetId(0);
}

/// One lock in one mode. The lock is the number of the object behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Held {
    pub lock: u64,
    pub shared: bool,
}

/// Sorted, without duplicates.
type Set = SmallVec<[Held; 4]>;

/// All sets seen so far.
#[derive(Debug)]
pub struct LockSets {
    sets: Vec<Set>,
    ids: FxHashMap<Set, LockSetId>,
    with: FxHashMap<(LockSetId, Held), LockSetId>,
    without: FxHashMap<(LockSetId, Held), LockSetId>,
    common: FxHashMap<(LockSetId, LockSetId), LockSetId>,
}

impl Default for LockSets {
    fn default() -> LockSets {
        LockSets {
            sets: vec![Set::new()],
            ids: FxHashMap::from_iter([(Set::new(), LockSetId::EMPTY)]),
            with: FxHashMap::default(),
            without: FxHashMap::default(),
            common: FxHashMap::default(),
        }
    }
}

impl LockSets {
    pub fn get(&self, set: LockSetId) -> &[Held] {
        self.sets.get(set.0 as usize).map_or(&[], |s| s.as_slice())
    }

    /// `set` and `held`.
    pub fn insert(&mut self, set: LockSetId, held: Held) -> LockSetId {
        if let Some(known) = self.with.get(&(set, held)) {
            return *known;
        }
        let mut grown = Set::from_slice(self.get(set));
        if let Err(at) = grown.binary_search(&held) {
            grown.insert(at, held);
        }
        let id = self.intern(grown);
        self.with.insert((set, held), id);
        id
    }

    /// `set` without `held`.
    pub fn remove(&mut self, set: LockSetId, held: Held) -> LockSetId {
        if let Some(known) = self.without.get(&(set, held)) {
            return *known;
        }
        let left = self.get(set).iter().copied().filter(|h| *h != held);
        let left = left.collect();
        let id = self.intern(left);
        self.without.insert((set, held), id);
        id
    }

    /// The locks held at all, or held exclusively, as exclusive ones: what
    /// protects a read, or a write.
    pub fn protecting(&mut self, set: LockSetId, write: bool) -> LockSetId {
        if self.get(set).iter().all(|h| !h.shared) {
            return set;
        }
        let mut locks: Set = self
            .get(set)
            .iter()
            .filter(|h| !(write && h.shared))
            .map(|h| Held {
                lock: h.lock,
                shared: false,
            })
            .collect();
        locks.dedup();
        self.intern(locks)
    }

    /// What is in both sets, in the same mode.
    pub fn intersect(&mut self, a: LockSetId, b: LockSetId) -> LockSetId {
        if a == b {
            return a;
        }
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.common.get(&key) {
            return *known;
        }
        let theirs = self.get(b);
        let both = self.get(a).iter().copied();
        let both = both.filter(|h| theirs.binary_search(h).is_ok()).collect();
        let id = self.intern(both);
        self.common.insert(key, id);
        id
    }

    /// Whether holders of `a` and of `b` cannot be inside at the same time.
    pub fn exclude(&self, a: LockSetId, b: LockSetId) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        a.iter().any(|x| {
            b.iter()
                .any(|y| x.lock == y.lock && !(x.shared && y.shared))
        })
    }

    /// Whether a thread excluded by a holder of `a` is excluded by a holder
    /// of `b` as well.
    pub fn weaker(&self, a: LockSetId, b: LockSetId) -> bool {
        let b = self.get(b);
        self.get(a).iter().all(|x| {
            b.iter()
                .any(|y| x.lock == y.lock && (x.shared || !y.shared))
        })
    }

    fn intern(&mut self, set: Set) -> LockSetId {
        if let Some(id) = self.ids.get(&set) {
            return *id;
        }
        let id = LockSetId(self.sets.len() as u32);
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn held() -> impl Strategy<Value = Held> {
        (0u64..4, any::<bool>()).prop_map(|(lock, shared)| Held { lock, shared })
    }

    fn set() -> impl Strategy<Value = Vec<Held>> {
        proptest::collection::vec(held(), 0..5)
    }

    fn model(set: &[Held]) -> BTreeSet<Held> {
        set.iter().copied().collect()
    }

    fn excluded(a: &BTreeSet<Held>, b: &BTreeSet<Held>) -> bool {
        (0..4).any(|lock| {
            let [xe, xs, ye, ys] = [(a, false), (a, true), (b, false), (b, true)]
                .map(|(set, shared)| set.contains(&Held { lock, shared }));
            (xe && (ye || ys)) || (ye && (xe || xs))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn agrees_with_plain_sets(a in set(), b in set(), out in held()) {
            let mut sets = LockSets::default();
            // Twice, the second time out of the memory.
            for _ in 0..2 {
                let ia = a.iter().fold(LockSetId::EMPTY, |s, h| sets.insert(s, *h));
                let ib = b.iter().rev().fold(LockSetId::EMPTY, |s, h| sets.insert(s, *h));
                let (ma, mb) = (model(&a), model(&b));
                prop_assert_eq!(model(sets.get(ia)), ma.clone());
                prop_assert_eq!(ia == ib, ma == mb);
                let both = sets.intersect(ia, ib);
                prop_assert_eq!(model(sets.get(both)), &ma & &mb);
                let less = sets.remove(ia, out);
                prop_assert_eq!(model(sets.get(less)), &ma - &BTreeSet::from([out]));
                prop_assert_eq!(sets.exclude(ia, ib), excluded(&ma, &mb));
            }
        }

        /// `weaker` means what it says about every third holder.
        #[test]
        fn weaker_excludes_no_more(a in set(), b in set()) {
            let mut sets = LockSets::default();
            let ia = a.iter().fold(LockSetId::EMPTY, |s, h| sets.insert(s, *h));
            let ib = b.iter().fold(LockSetId::EMPTY, |s, h| sets.insert(s, *h));
            let (ma, mb) = (model(&a), model(&b));
            let every = (0..4).flat_map(|lock| [true, false].map(|shared| Held { lock, shared }));
            let no_more = every
                .map(|h| BTreeSet::from([h]))
                .all(|third| !excluded(&ma, &third) || excluded(&mb, &third));
            prop_assert_eq!(sets.weaker(ia, ib), no_more);
        }
    }

    #[test]
    fn a_read_lock_protects_reads_only() {
        let mut sets = LockSets::default();
        let shared = Held {
            lock: 7,
            shared: true,
        };
        let set = sets.insert(LockSetId::EMPTY, shared);
        assert_eq!(sets.protecting(set, true), LockSetId::EMPTY);
        let read = sets.protecting(set, false);
        assert_eq!(
            sets.get(read),
            [Held {
                lock: 7,
                shared: false
            }]
        );
        assert!(!sets.exclude(set, set));
    }
}
