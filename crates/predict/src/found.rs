//! What engines report: pairs of accesses, each pair of statements once.

use crate::witness::{Lists, Told, Witness};
use detect::Access;
use rustc_hash::FxHashMap;
use trace::{Event, Loc, ObjId, SiteId};

/// What a prediction is worth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Standing {
    /// The method says so, and the method may be wrong.
    Potential,
    /// There is a witness, and the checker accepted it.
    Predicted,
    /// Unordered by happens-before in the run itself.
    Observed,
}

/// Two accesses that race; `first` came first in the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prediction {
    pub loc: Loc,
    pub first: Access,
    pub second: Access,
    /// The accesses' places in the trace, from 0. FastTrack does not remember
    /// the first one's.
    pub first_event: Option<u64>,
    pub second_event: u64,
    pub standing: Standing,
    /// A reordering of the run at whose end the two meet.
    pub witness: Option<Witness>,
    /// The end of the witness, for readers: [`Predictions::tell`].
    pub told: Option<Told>,
    /// How often the pair of statements was seen to race.
    pub count: u64,
}

/// What makes two predictions the same one, as for detectors: the statements,
/// in either order, and the slot. Where statements are unknown, the object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Key {
    sites: (SiteId, SiteId),
    slot: u32,
    object: ObjId,
}

impl Key {
    pub fn new(a: SiteId, b: SiteId, loc: Loc) -> Key {
        let known = a.0 != 0 && b.0 != 0;
        Key {
            sites: (a.min(b), a.max(b)),
            slot: loc.slot,
            object: if known { ObjId(0) } else { loc.obj },
        }
    }
}

/// A pair of statements that race all over an array is kept for this many of
/// its elements; the rest is counted.
pub const SLOTS_PER_PAIR: u32 = 64;

/// Nobody reads more pairs than that; the rest is counted, or not looked for.
pub const MOST_PAIRS: usize = 10_000;

/// All that an engine found, in the order of discovery.
#[derive(Debug, Default)]
pub struct Predictions {
    list: Vec<Prediction>,
    known: FxHashMap<Key, u32>,
    slots: FxHashMap<(SiteId, SiteId), u32>,
    beyond: u64,
    /// Witnesses that the checker did not accept; their pairs are not listed.
    /// Anything but 0 is a fault of the engine.
    pub refuted: u64,
    /// Why more may be in the trace than was found, by the engine's own
    /// standards: a bound bit.
    pub incomplete: Option<String>,
}

impl Predictions {
    pub fn iter(&self) -> std::slice::Iter<'_, Prediction> {
        self.list.iter()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Races that are not listed: on further elements of arrays, by statements
    /// that are in the list; and beyond `MOST_PAIRS`.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// The order of accesses that race is not known: witnesses prove nothing.
    pub fn doubt(&mut self) {
        for prediction in &mut self.list {
            prediction.standing = match prediction.standing {
                Standing::Predicted => Standing::Potential,
                standing => standing,
            };
            prediction.witness = None;
            prediction.told = None;
        }
    }

    /// Writes down the ends of the witnesses, of a trace that is here as a whole.
    pub fn tell(&mut self, trace: &[Event]) {
        if self.list.iter().any(|p| p.witness.is_some()) {
            let lists = Lists::new(trace);
            for p in &mut self.list {
                p.told = p.witness.as_ref().map(|w| lists.as_view(trace).told(w));
            }
        }
    }

    pub fn into_vec(self) -> Vec<Prediction> {
        self.list
    }

    /// Whether new pairs would not be listed any more.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MOST_PAIRS
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Prediction> {
        self.list.iter_mut()
    }

    /// Whether the pair is listed already, or would not be for its number.
    pub(crate) fn knows(&self, key: &Key) -> bool {
        let many = |slots: &u32| *slots >= SLOTS_PER_PAIR && key.object == ObjId(0);
        self.known.contains_key(key) || self.slots.get(&key.sites).is_some_and(many)
    }

    pub(crate) fn add(&mut self, found: Prediction) {
        // A thread that goes on after its end, in a damaged trace, is another
        // one to the clocks.
        if found.first.thread == found.second.thread {
            return;
        }
        let key = Key::new(found.first.site, found.second.site, found.loc);
        if let Some(known) = self.known.get(&key) {
            self.list[*known as usize].count += found.count;
            return;
        }
        if self.is_full() {
            self.beyond += 1;
            return;
        }
        let slots = self.slots.entry(key.sites).or_default();
        // Unknown statements are told apart by objects: no array of one pair.
        if *slots >= SLOTS_PER_PAIR && key.object == ObjId(0) {
            self.beyond += 1;
            return;
        }
        *slots += 1;
        self.known.insert(key, self.list.len() as u32);
        self.list.push(found);
    }
}

impl<'a> IntoIterator for &'a Predictions {
    type Item = &'a Prediction;
    type IntoIter = std::slice::Iter<'a, Prediction>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
