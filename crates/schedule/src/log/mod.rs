//! What is kept of a controlled run: every step in order, and the statements
//! and threads that steps speak of. docs/schedule-log.md is the format.
//!
//! Written as the run goes, so that a run that was killed can be read up to
//! its last whole record.

mod model;
mod read;
mod write;

pub use read::{Error, read};
pub use write::Writer;

use crate::op::{Hit, Op, Thread};
use crate::random::mix;
use std::collections::BTreeMap;

/// How a run was made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    pub strategy: String,
    pub seed: u64,
    /// Where virtual time began, in milliseconds since 1970.
    pub clock: u64,
    /// Whatever else it takes to make the run again, by name.
    pub parameters: Vec<(String, String)>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadRow {
    pub name: String,
    /// Who started it.
    pub parent: Option<Thread>,
}

/// A statement; class names are internal ones (`java/util/HashMap`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    pub class: String,
    pub method: String,
    pub descriptor: String,
    pub bci: u32,
    pub file: Option<String>,
    pub line: Option<u32>,
    /// What it is about in the program's names: the field `Bank.total`, the elements of an array
    /// `Bank.table[]`, the lock `this Bank` or `Bank.class`, the call `ReentrantLock.lock()`.
    /// Empty if that is not known.
    pub target: String,
}

impl Site {
    /// The same for the same instruction of the same method in every run,
    /// whatever its number and line.
    pub fn identity(&self) -> u64 {
        let mut digest = Digest::default();
        for text in [&self.class, &self.method, &self.descriptor] {
            digest.text(text);
        }
        digest.word(u64::from(self.bci));
        digest.0
    }
}

/// What happened, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    Step {
        thread: Thread,
        op: Op,
    },
    /// Time passed to the next deadline.
    Tick,
    /// So many reads in a row saw this one of the writes that each could see, the newest being 0.
    Saw {
        which: u32,
        times: u64,
    },
    /// A race stood ready and was decided.
    Hit(Hit),
    /// Anything else worth knowing, as text.
    Note(String),
}

/// Who could have gone on at a decision, without those that gave way.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadySet {
    pub threads: Vec<Thread>,
    /// Somebody slept or waited with a deadline: time could have passed.
    pub may_tick: bool,
}

/// A plain access of a run that is made to tell a finding: also those that are no steps, because
/// nobody else could go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// How many entries the log has before it.
    pub at: usize,
    pub thread: Thread,
    /// Without an object if that has no number.
    pub op: Op,
    /// The program's call in which it is made, inside the JDK.
    pub call: Option<u32>,
    /// What the variable holds right before, as Java would write it: `null`, `3`, `"a text"`, `a Line`.
    pub value: String,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct End {
    pub outcome: String,
    pub steps: u64,
    /// Equal digests: equal sequences of steps.
    pub digest: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Log {
    pub header: Header,
    pub threads: BTreeMap<Thread, ThreadRow>,
    pub sites: BTreeMap<u32, Site>,
    /// By number of a step that was made inside the JDK: the program's call in which it was.
    pub calls: BTreeMap<u64, u32>,
    /// By number of a decision (a step or a tick): who could have gone on. Only of runs that
    /// are made to tell a finding.
    pub ready: BTreeMap<u64, ReadySet>,
    /// Accesses with values. Only of such runs.
    pub told: Vec<Told>,
    pub entries: Vec<Entry>,
    pub end: Option<End>,
    /// The end is there, nothing follows it, and what it says of the steps is
    /// true of those that were read.
    pub complete: bool,
}

impl Entry {
    /// Reads that saw older values, in words.
    pub fn stale(&self) -> Option<String> {
        match self {
            Entry::Saw { which, times } if *which > 0 => Some(match times {
                1 => "the read sees an older value".to_owned(),
                _ => format!("{times} reads in a row see older values"),
            }),
            _ => None,
        }
    }
}

impl Log {
    /// Where the program was at a step: inside the JDK, at the call that led there.
    pub fn place(&self, step: u64, op: &Op) -> Option<&Site> {
        let call = self.calls.get(&step).and_then(|call| self.sites.get(call));
        call.or_else(|| self.sites.get(&op.site))
    }
}

/// A running hash of words: each is xored in, then all is mixed (SplitMix64's
/// finaliser). Stable, documented in the format; not against an adversary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    pub(crate) fn word(&mut self, word: u64) {
        self.0 = mix((self.0 ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15));
    }

    /// The length, then eight bytes a word, little-endian, the last padded with 0.
    pub(crate) fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(bytes));
        }
    }

    /// A step, its statement told by [`Site::identity`].
    pub(crate) fn step(&mut self, thread: Thread, op: &Op, site: u64) {
        self.word(u64::from(thread) << 8 | op.kind as u64);
        self.word(site);
        self.word(op.obj);
        self.word(u64::from(op.slot));
    }

    pub(crate) fn tick(&mut self) {
        self.word(u64::MAX);
    }

    pub(crate) fn saw(&mut self, which: u32, times: u64) {
        self.word(u64::MAX - 1);
        self.word(u64::from(which));
        self.word(times);
    }
}
