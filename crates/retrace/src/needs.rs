//! What values and decisions of one thread depend on, and the events that come
//! out of it.
//!
//! A [`Need`] stands for a small set: values that earlier reads saw, and earlier
//! events that happened (with all that *they* need). Sets are kept once each,
//! so that equal ones are the same number. A set that would grow beyond
//! [`MOST`] becomes an event of its own, a `Branch` that needs it all, and is
//! then named by that event; so lists stay short however long a loop runs.
//!
//! A union leaves out what goes without saying: who needs the value of a read
//! needs what the read needs.

use crate::operate::{Operated, Steering};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use trace::{ObjId, Op, SiteId};

/// Entries of a set, at most.
const MOST: usize = 8;

/// Remembered unions, at most.
const MEMO: usize = 1 << 20;

/// The number of a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Need(u32);

impl Need {
    pub const NOTHING: Need = Need(0);

    pub fn is_nothing(self) -> bool {
        self.0 == 0
    }
}

/// An entry: twice the event's number in its thread, plus one for "happens"
/// instead of "its value".
pub(crate) type Entry = u32;

type Set = SmallVec<[Entry; MOST]>;

/// An event of the completed trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    /// Its place in the recorded trace; none if it was added.
    pub event: Option<u32>,
    pub site: SiteId,
    pub op: Op,
    /// `None`: all that was before.
    pub happens: Option<Need>,
    pub value: Need,
    pub class: u32,
    pub load: bool,
}

/// A write that did not happen.
#[derive(Clone, Debug)]
pub(crate) struct Might {
    pub after: u32,
    pub classes: std::rc::Rc<[u32]>,
    pub unless: Need,
}

#[derive(Debug, Default)]
pub(crate) struct Needs {
    sets: Vec<Set>,
    known: FxHashMap<Set, u32>,
    memo: FxHashMap<(u32, u32), u32>,
    pub out: Vec<Out>,
    pub might: Vec<Might>,
    /// Calls that are steps by themselves, and what became of the events in them.
    pub operations: Vec<Operated>,
    /// Events that stand for one of them only: the first, behind the last, and what is said instead.
    pub dropped: Vec<(u32, u32, u32)>,
    /// Writes, with what the nearest decisions asked.
    pub steered: Vec<(u32, Steering)>,
    /// Objects that a thread has waited for.
    pub waited: Vec<ObjId>,
}

/// Numbers from here on are sets; below, single entries plus one.
const SETS: u32 = 1 << 31;

impl Needs {
    /// The value that the read `event` saw.
    pub fn value(event: u32) -> Need {
        Need((event << 1) + 1)
    }

    /// That `event` happened.
    pub fn happened(event: u32) -> Need {
        Need((event << 1 | 1) + 1)
    }

    pub fn entries(&self, need: Need) -> Set {
        match need.0 {
            0 => Set::new(),
            n if n < SETS => SmallVec::from_slice(&[n - 1]),
            n => self
                .sets
                .get((n - SETS) as usize)
                .cloned()
                .unwrap_or_default(),
        }
    }

    /// What the event of an entry needs.
    fn needed(&self, entry: Entry) -> Option<Need> {
        self.out.get((entry >> 1) as usize)?.happens
    }

    /// Whether `b` goes without saying where `a` is said.
    fn implies(&self, a: Need, b: Need) -> bool {
        match a.0 {
            0 => false,
            n if n < SETS => self.needed(n - 1) == Some(b),
            n => self
                .sets
                .get((n - SETS) as usize)
                .is_some_and(|set| set.iter().any(|e| self.needed(*e) == Some(b))),
        }
    }

    #[inline]
    pub fn union(&mut self, a: Need, b: Need) -> Need {
        if a == b || b.is_nothing() {
            return a;
        }
        if a.is_nothing() {
            return b;
        }
        self.join(a, b)
    }

    fn join(&mut self, a: Need, b: Need) -> Need {
        let key = (a.0.min(b.0), a.0.max(b.0));
        if let Some(&known) = self.memo.get(&key) {
            return Need(known);
        }
        let both = if self.implies(a, b) {
            a
        } else if self.implies(b, a) {
            b
        } else {
            let mut set = self.entries(a);
            for entry in self.entries(b) {
                if let Err(at) = set.binary_search(&entry) {
                    set.insert(at, entry);
                }
            }
            self.keep(set)
        };
        if self.memo.len() >= MEMO {
            self.memo.clear();
        }
        self.memo.insert(key, both.0);
        both
    }

    fn keep(&mut self, set: Set) -> Need {
        if let [only] = set[..] {
            return Need(only + 1);
        }
        if let Some(&known) = self.known.get(&set) {
            return Need(SETS + known);
        }
        let number = self.sets.len() as u32;
        let large = set.len() > MOST;
        self.sets.push(set.clone());
        let need = Need(SETS + number);
        if large {
            let event = self.added(Op::Branch(0), SiteId(0), Some(need));
            return Needs::happened(event);
        }
        self.known.insert(set, number);
        need
    }

    /// What stands for an event: itself, or the read of the call that it was made in.
    pub fn instead(&self, event: u32) -> Option<u32> {
        let after = self.dropped.partition_point(|(from, ..)| *from <= event);
        let (_, end, read) = self.dropped.get(after.checked_sub(1)?)?;
        (event < *end).then_some(*read)
    }

    /// The reads whose values a need names itself, not through what happens for other reasons.
    pub fn reads(&self, need: Need) -> SmallVec<[u32; MOST]> {
        let mut reads = SmallVec::new();
        let mut left: Vec<(Entry, u32)> = self.entries(need).into_iter().map(|e| (e, 4)).collect();
        while let Some((entry, depth)) = left.pop() {
            let at = entry >> 1;
            let out = self.out.get(at as usize);
            match (entry & 1, out) {
                (0, Some(_)) => reads.push(self.instead(at).unwrap_or(at)),
                // A set that was too large.
                (1, Some(out)) if out.event.is_none() && out.op == Op::Branch(0) && depth > 0 => {
                    let more = out
                        .happens
                        .map(|need| self.entries(need))
                        .unwrap_or_default();
                    left.extend(more.into_iter().map(|e| (e, depth - 1)));
                }
                _ => {}
            }
        }
        reads
    }

    /// Adds an event that was not recorded.
    pub fn added(&mut self, op: Op, site: SiteId, happens: Option<Need>) -> u32 {
        self.push(Out {
            event: None,
            site,
            op,
            happens,
            value: Need::NOTHING,
            class: predict::deps::ANYWHERE,
            load: false,
        })
    }

    pub fn push(&mut self, out: Out) -> u32 {
        self.out.push(out);
        self.out.len() as u32 - 1
    }

    /// Everything up to now.
    pub fn everything(&mut self) -> Need {
        let event = self.added(Op::Branch(0), SiteId(0), None);
        Needs::happened(event)
    }
}
