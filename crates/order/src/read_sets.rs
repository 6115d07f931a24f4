//! Hash-consed sets of read stamps.
//!
//! FastTrack keeps a whole clock for every variable that several threads read
//! at the same time. Most such variables are read by the same threads, in the
//! same epochs, by the same statements: here they hold the number of one
//! shared, immutable set. A set has at most one stamp of a thread; adding a
//! newer one replaces it.
//!
//! # How
//! A set is a Patricia trie over thread indices whose nodes are interned: a
//! trie's shape depends on its keys alone, so equal sets have equal numbers.
//! Adding a stamp makes at most 17 nodes (about log2 of the readers), however
//! many readers there are, so a chain of two thousand readers costs
//! kilobytes, not the square of its length. A small direct-mapped cache makes
//! the usual transition (many variables take the same step one after the
//! other) one comparison.
//!
//! # Bounded memory
//! Old sets cannot be freed when their holders are unknown (inside the JVM
//! they are fields of the program's objects, dying with them). So a store has
//! a limit: when it is full it starts a new generation, and sets of older
//! generations read as empty. That can hide a race of a write with an old
//! read; it can never invent one. `forgotten` counts how often it happened.
//! Offline, where all holders are known, [`ReadSets::retain`] frees the rest
//! instead and nothing is ever forgotten.

use crate::clock::ClockView;
use crate::epoch::{Epoch, Stamp, Tid};
use rustc_hash::FxHashMap;

/// A set's number: generation in the upper 8 bits, node in the lower 24.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SetId(pub u32);

impl SetId {
    pub const EMPTY: SetId = SetId(0);
    const NODE_BITS: u32 = 24;
    const NODE_MASK: u32 = (1 << Self::NODE_BITS) - 1;
}

/// 0 is the empty set; others index `nodes` (less one).
type NodeId = u32;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Leaf {
        site: u32,
        epoch: Epoch,
    },
    /// All keys below agree above `bit`; those in `ones` have it set.
    Branch {
        bit: u8,
        /// Leaves below, so that a walk over a large set can be declined.
        leaves: u16,
        /// Any key below: its bits above `bit` are the common prefix.
        key: Tid,
        zeros: NodeId,
        ones: NodeId,
    },
    /// Freed by `retain`; `next` continues the free list.
    Free {
        next: NodeId,
    },
}

/// The store of all sets. See the module's text.
#[derive(Debug)]
pub struct ReadSets {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, NodeId>,
    cache: Box<[Step]>,
    free: NodeId,
    limit: u32,
    generation: u32,
    forgotten: u64,
}

/// One remembered transition; `from == to == EMPTY` is an unused entry.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: SetId,
    stamp: Stamp,
    to: SetId,
}

const CACHE: usize = 1024;
const UNUSED: Step = Step {
    from: SetId::EMPTY,
    stamp: Stamp::NONE,
    to: SetId::EMPTY,
};
/// `absorb` looks for covered stamps only in sets up to this size.
const SMALL: u16 = 16;
/// More nodes than any one addition can make.
const HEADROOM: u32 = 64;

impl Default for ReadSets {
    fn default() -> ReadSets {
        ReadSets::new()
    }
}

impl ReadSets {
    /// A store that can hold 16 million nodes (some 700 MB) before it forgets.
    pub fn new() -> ReadSets {
        ReadSets::with_limit(SetId::NODE_MASK)
    }

    /// A store that forgets when it holds `nodes` nodes, of about 45 bytes.
    pub fn with_limit(nodes: u32) -> ReadSets {
        ReadSets {
            nodes: Vec::new(),
            ids: FxHashMap::default(),
            cache: vec![UNUSED; CACHE].into_boxed_slice(),
            free: 0,
            limit: nodes.clamp(2 * HEADROOM, SetId::NODE_MASK),
            generation: 0,
            forgotten: 0,
        }
    }

    /// Nodes in use, the measure of memory.
    pub fn nodes(&self) -> usize {
        self.ids.len()
    }

    /// Whether the next additions may make the store forget.
    pub fn is_nearly_full(&self) -> bool {
        self.ids.len() as u64 + u64::from(HEADROOM) >= u64::from(self.limit)
    }

    /// How many times all sets were forgotten for want of room.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// `set` with `stamp` in it, instead of an older stamp of its thread.
    pub fn add(&mut self, set: SetId, stamp: Stamp) -> SetId {
        self.step(set, stamp, |store, node| store.insert(node, stamp))
    }

    /// Like [`add`](Self::add), but stamps covered by the reader's own clock
    /// may go: an access unordered with such a read is unordered with the
    /// new one too, so no variable loses its last witness. This turns sets
    /// back into single reads when the readers meet.
    pub fn absorb(&mut self, set: SetId, stamp: Stamp, me: &impl ClockView) -> SetId {
        self.step(set, stamp, |store, node| {
            let kept = if store.leaves(node) <= SMALL {
                store.uncovered(node, me)
            } else {
                node
            };
            store.insert(kept, stamp)
        })
    }

    /// The set of two reads.
    pub fn pair(&mut self, a: Stamp, b: Stamp) -> SetId {
        let one = self.add(SetId::EMPTY, a);
        self.add(one, b)
    }

    /// The stamps of a set, by thread index.
    pub fn iter(&self, set: SetId) -> Iter<'_> {
        let mut iter = Iter {
            nodes: &self.nodes,
            stack: [0; 17],
            depth: 0,
        };
        iter.push(self.node_of(set));
        iter
    }

    /// The stamp of one thread.
    pub fn get(&self, set: SetId, tid: Tid) -> Option<Stamp> {
        let mut at = self.node_of(set);
        loop {
            match self.node(at)? {
                Node::Leaf { site, epoch } => {
                    return (epoch.tid() == tid).then_some(Stamp { epoch, site });
                }
                Node::Branch {
                    bit, zeros, ones, ..
                } => at = if tid >> bit & 1 == 1 { ones } else { zeros },
                Node::Free { .. } => return None,
            }
        }
    }

    /// How many threads have a stamp in the set.
    pub fn len(&self, set: SetId) -> usize {
        usize::from(self.leaves(self.node_of(set)))
    }

    /// Frees every set that is not in `live`, which must name every set still
    /// held anywhere. Numbers of live sets stay as they are.
    pub fn retain(&mut self, live: impl IntoIterator<Item = SetId>) {
        let mut marked = vec![false; self.nodes.len()];
        let mut todo: Vec<NodeId> = live.into_iter().map(|set| self.node_of(set)).collect();
        while let Some(id) = todo.pop() {
            let Some(mark) = (id as usize)
                .checked_sub(1)
                .and_then(|at| marked.get_mut(at))
            else {
                continue;
            };
            if std::mem::replace(mark, true) {
                continue;
            }
            if let Some(Node::Branch { zeros, ones, .. }) = self.node(id) {
                todo.extend([zeros, ones]);
            }
        }
        self.ids.retain(|_, id| marked[*id as usize - 1]);
        self.free = 0;
        for (at, _) in marked.iter().enumerate().filter(|(_, live)| !**live) {
            self.nodes[at] = Node::Free { next: self.free };
            self.free = at as NodeId + 1;
        }
        self.cache.fill(UNUSED);
    }

    fn step(
        &mut self,
        set: SetId,
        stamp: Stamp,
        make: impl FnOnce(&mut ReadSets, NodeId) -> NodeId,
    ) -> SetId {
        let slot = Self::cache_slot(set, stamp);
        let hit = self.cache[slot];
        if hit.from == set && hit.stamp == stamp && hit.to != SetId::EMPTY {
            return hit.to;
        }
        let mut from = set;
        if self.is_nearly_full() {
            if self.generation == 0xff {
                // No number is left that nobody holds: keep no readers.
                self.forgotten += 1;
                return SetId::EMPTY;
            }
            self.forget();
            from = SetId::EMPTY;
        }
        let node = self.node_of(from);
        let to = SetId(self.generation << SetId::NODE_BITS | make(self, node));
        self.cache[slot] = Step {
            from: set,
            stamp,
            to,
        };
        to
    }

    fn cache_slot(set: SetId, stamp: Stamp) -> usize {
        let mixed = (u64::from(set.0) << 32 | u64::from(stamp.site))
            .wrapping_add(stamp.epoch.0.rotate_left(20))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize % CACHE
    }

    fn forget(&mut self) {
        self.nodes.clear();
        self.ids.clear();
        self.cache.fill(UNUSED);
        self.free = 0;
        self.generation += 1;
        self.forgotten += 1;
    }

    fn node_of(&self, set: SetId) -> NodeId {
        if set.0 >> SetId::NODE_BITS == self.generation {
            set.0 & SetId::NODE_MASK
        } else {
            0
        }
    }

    fn node(&self, id: NodeId) -> Option<Node> {
        self.nodes.get((id as usize).checked_sub(1)?).copied()
    }

    fn leaves(&self, id: NodeId) -> u16 {
        match self.node(id) {
            Some(Node::Leaf { .. }) => 1,
            Some(Node::Branch { leaves, .. }) => leaves,
            Some(Node::Free { .. }) | None => 0,
        }
    }

    fn intern(&mut self, node: Node) -> NodeId {
        if let Some(id) = self.ids.get(&node) {
            return *id;
        }
        let id = match self.node(self.free) {
            Some(Node::Free { next }) => {
                let id = self.free;
                self.nodes[id as usize - 1] = node;
                self.free = next;
                id
            }
            _ => {
                self.nodes.push(node);
                self.nodes.len() as NodeId
            }
        };
        self.ids.insert(node, id);
        id
    }

    fn branch(&mut self, bit: u8, zeros: NodeId, ones: NodeId) -> NodeId {
        let key = self.any_key(zeros);
        // 65,536 leaves do not fit 16 bits; "many" is all that is asked.
        let leaves = self.leaves(zeros).saturating_add(self.leaves(ones));
        self.intern(Node::Branch {
            bit,
            leaves,
            key,
            zeros,
            ones,
        })
    }

    fn any_key(&self, id: NodeId) -> Tid {
        match self.node(id) {
            Some(Node::Leaf { epoch, .. }) => epoch.tid(),
            Some(Node::Branch { key, .. }) => key,
            Some(Node::Free { .. }) | None => 0,
        }
    }

    fn insert(&mut self, at: NodeId, stamp: Stamp) -> NodeId {
        let leaf = Node::Leaf {
            site: stamp.site,
            epoch: stamp.epoch,
        };
        let tid = stamp.epoch.tid();
        let (differ, node) = match self.node(at) {
            None | Some(Node::Free { .. }) => return self.intern(leaf),
            Some(node @ Node::Leaf { epoch, .. }) => (epoch.tid() ^ tid, node),
            // Only the bits above this branch's own are common to its keys.
            Some(node @ Node::Branch { bit, key, .. }) => ((key ^ tid) & (!1u16 << bit), node),
        };
        if differ != 0 {
            let bit = 15 - differ.leading_zeros() as u8;
            let new = self.intern(leaf);
            return if tid >> bit & 1 == 1 {
                self.branch(bit, at, new)
            } else {
                self.branch(bit, new, at)
            };
        }
        match node {
            Node::Branch {
                bit, zeros, ones, ..
            } if tid >> bit & 1 == 1 => {
                let ones = self.insert(ones, stamp);
                self.branch(bit, zeros, ones)
            }
            Node::Branch {
                bit, zeros, ones, ..
            } => {
                let zeros = self.insert(zeros, stamp);
                self.branch(bit, zeros, ones)
            }
            Node::Leaf { .. } | Node::Free { .. } => self.intern(leaf),
        }
    }

    /// The part of a set that `me` does not cover.
    fn uncovered(&mut self, at: NodeId, me: &impl ClockView) -> NodeId {
        match self.node(at) {
            Some(Node::Leaf { epoch, .. }) if me.covers(epoch) => 0,
            Some(Node::Branch {
                bit, zeros, ones, ..
            }) => {
                let z = self.uncovered(zeros, me);
                let o = self.uncovered(ones, me);
                match (z, o) {
                    (0, one) | (one, 0) => one,
                    _ if (z, o) == (zeros, ones) => at,
                    _ => self.branch(bit, z, o),
                }
            }
            Some(Node::Leaf { .. }) => at,
            Some(Node::Free { .. }) | None => 0,
        }
    }
}

/// The stamps of one set. See [`ReadSets::iter`].
#[derive(Debug)]
pub struct Iter<'a> {
    nodes: &'a [Node],
    /// At most one waiting sibling for each of the 16 bits, and the current.
    stack: [NodeId; 17],
    depth: usize,
}

impl Iter<'_> {
    fn push(&mut self, node: NodeId) {
        if node != 0 {
            self.stack[self.depth] = node;
            self.depth += 1;
        }
    }
}

impl Iterator for Iter<'_> {
    type Item = Stamp;

    fn next(&mut self) -> Option<Stamp> {
        while self.depth > 0 {
            self.depth -= 1;
            match self.nodes[self.stack[self.depth] as usize - 1] {
                Node::Leaf { site, epoch } => return Some(Stamp { epoch, site }),
                Node::Branch { zeros, ones, .. } => {
                    self.push(ones);
                    self.push(zeros);
                }
                Node::Free { .. } => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VectorClock;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn stamp(tid: Tid, clock: u64, site: u32) -> Stamp {
        Stamp::new(Epoch::new(tid, clock), site)
    }

    fn tid() -> impl Strategy<Value = Tid> {
        prop_oneof![0u16..6, Just(255), Just(256), Just(40_000), Just(65_535)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Two orders of adding give one number, and what a map would hold.
        #[test]
        fn sets_are_maps_by_thread_and_canonical(
            adds in proptest::collection::vec((tid(), 1u64..4, 0u32..3), 0..20),
        ) {
            let mut sets = ReadSets::new();
            let mut model = BTreeMap::new();
            let mut set = SetId::EMPTY;
            for &(t, c, s) in &adds {
                set = sets.add(set, stamp(t, c, s));
                model.insert(t, stamp(t, c, s));
                prop_assert_eq!(sets.get(set, t), Some(stamp(t, c, s)));
            }
            let held: Vec<Stamp> = sets.iter(set).collect();
            prop_assert_eq!(&held, &model.values().copied().collect::<Vec<_>>());
            prop_assert_eq!(sets.len(set), model.len());
            let again = model.values().rev().fold(SetId::EMPTY, |s, x| sets.add(s, *x));
            prop_assert_eq!(again, set);
        }

        /// `absorb` loses nothing but what the reader covers.
        #[test]
        fn absorb_keeps_the_uncovered(
            adds in proptest::collection::vec((tid(), 1u64..4, 0u32..3), 0..20),
            clocks in proptest::collection::vec(0u64..4, 6),
            me in 0u16..6,
        ) {
            let mut sets = ReadSets::new();
            let set = adds.iter().fold(SetId::EMPTY, |s, &(t, c, x)| sets.add(s, stamp(t, c, x)));
            let clock: VectorClock = clocks.into_iter().collect();
            let mine = stamp(me, 9, 1);
            let got = sets.absorb(set, mine, &clock);
            let mut want: BTreeMap<Tid, Stamp> = sets
                .iter(set)
                .filter(|s| !clock.covers(s.epoch))
                .map(|s| (s.epoch.tid(), s))
                .collect();
            want.insert(me, mine);
            prop_assert_eq!(
                sets.iter(got).collect::<Vec<_>>(),
                want.into_values().collect::<Vec<_>>()
            );
        }

        /// Freeing the dead leaves the living as they were, and room is reused.
        #[test]
        fn retain_keeps_the_living(
            adds in proptest::collection::vec((tid(), 1u64..4, 0u32..3, any::<bool>()), 0..40),
        ) {
            let mut sets = ReadSets::new();
            let mut live = Vec::new();
            let mut set = SetId::EMPTY;
            for &(t, c, s, keep) in &adds {
                set = sets.add(set, stamp(t, c, s));
                if keep {
                    live.push((set, sets.iter(set).collect::<Vec<_>>()));
                }
            }
            let room = sets.nodes.len();
            sets.retain(live.iter().map(|(set, _)| *set));
            for (set, was) in &live {
                prop_assert_eq!(&sets.iter(*set).collect::<Vec<_>>(), was);
            }
            adds.iter().fold(SetId::EMPTY, |s, &(t, c, x, _)| sets.add(s, stamp(t, c, x)));
            prop_assert_eq!(sets.nodes.len(), room);
            for (set, was) in &live {
                prop_assert_eq!(&sets.iter(*set).collect::<Vec<_>>(), was);
            }
        }
    }

    #[test]
    fn two_thousand_readers_are_cheap() {
        let mut sets = ReadSets::new();
        let set = (0..2000).fold(SetId::EMPTY, |s, t| sets.add(s, stamp(t, 1, 7)));
        assert_eq!(sets.iter(set).count(), 2000);
        assert!(sets.nodes() < 2000 * 13, "{} nodes", sets.nodes());
    }

    #[test]
    fn a_full_store_forgets_and_never_mixes_generations_up() {
        let mut sets = ReadSets::with_limit(0);
        let old = sets.pair(stamp(1, 1, 1), stamp(2, 1, 1));
        let mut set = old;
        for clock in 2..100_000 {
            set = sets.add(set, stamp(1, clock, 1));
            let ok = sets
                .iter(set)
                .all(|s| s == stamp(2, 1, 1) || s.epoch.clock() == clock);
            assert!(ok, "a stamp that was never added to this set");
            assert!(sets.nodes() <= 2 * HEADROOM as usize);
        }
        assert!(sets.forgotten() > 300);
        assert_eq!(sets.iter(old).count(), 0);
    }
}
