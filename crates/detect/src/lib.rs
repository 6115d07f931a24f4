//! Race detectors, one a file, each a fold over events: the same code inside
//! the running JVM and over a recorded trace.
//!
//! | file | what it finds | may be wrong? | may miss? |
//! |---|---|---|---|
//! | `fasttrack` | accesses unordered by happens-before in this run | no | later races of a variable that raced |
//! | `hybrid` | pairs that another schedule may bring together | yes | only what needs other code to run |
//! | `lockset` | locations that no lock protects throughout | yes | yes |
//! | `h` | JRF's `norace`: the last write is not visible to the accessing thread | no | a read before an unordered write |
//! | `sampled` | as `fasttrack`, in periods: runs under a budget | no | what is not in the same period |
//! | `vectors`, `h_sets` | as `fasttrack` and `h`, slowly and plainly: their oracles | | |
//!
//! `variable` holds FastTrack's transitions, which the agent calls directly;
//! `clocks` says which events order which; `threads` gives threads their
//! places in clocks; `init` adds the order of class initialisation, for which
//! `latest_position` reads a trace.

pub mod clocks;
pub mod fasttrack;
pub mod finding;
pub mod h;
pub mod h_sets;
pub mod held;
pub mod hybrid;
pub mod init;
pub mod latest_position;
pub mod lockset;
mod registry;
pub mod sampled;
mod table;
pub mod threads;
pub mod variable;
pub mod vectors;

pub use fasttrack::FastTrack;
pub use finding::{Access, Finding, FindingKey, Findings};
pub use h::H;
pub use hybrid::Hybrid;
pub use init::InitIntervals;
pub use latest_position::Late;
pub use lockset::Lockset;
pub use registry::{Claim, Kind, Row};
pub use sampled::Sampled;
pub use variable::{Prior, Reads, Step};
pub use vectors::Vectors;

use trace::{Event, Loc, Op};

/// The detectors that users can choose, in the order in which they are shown.
pub const DETECTORS: &[Kind] = &[
    fasttrack::KIND, // unless another is named
    hybrid::KIND,
    lockset::KIND,
    h::KIND,
];

/// A fold over the events of one run, in an order in which it could have
/// happened. Takes any sequence without harm: what has no meaning (the end of
/// a thread that never began) is ignored.
pub trait Detector: std::fmt::Debug + Send {
    fn event(&mut self, e: &Event);

    /// Many events: the same, and faster for some detectors.
    fn events(&mut self, events: &[Event]) {
        events.iter().for_each(|e| self.event(e));
    }

    /// A compare-and-set is about to be tried: what it is if it succeeds. For
    /// producers that cannot wait for the outcome: a thread that sees its value must
    /// come after it, so it orders now; but it has written nothing yet. For
    /// detectors that hold atomic accesses against nobody this is all.
    fn attempt(&mut self, e: &Event) {
        self.event(e);
    }

    /// The attempt, told again: it has succeeded. One that failed has read.
    fn succeeded(&mut self, _: &Event) {}

    fn findings(&self) -> &Findings;
}

/// An access of any strength.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnyAccess {
    pub loc: Loc,
    pub write: bool,
    pub atomic: bool,
}

impl AnyAccess {
    /// None if it is something else.
    #[inline]
    pub fn from_op(op: Op) -> Option<AnyAccess> {
        let (loc, write, atomic) = match op {
            Op::Read(loc) => (loc, false, false),
            Op::Write(loc) => (loc, true, false),
            Op::AtomicRead(loc, _) => (loc, false, true),
            // An update reads as well, but conflicts wherever its write does.
            Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => (loc, true, true),
            _ => return None,
        };
        Some(AnyAccess { loc, write, atomic })
    }

    /// With the thread and the statement of the event that it comes from.
    pub fn at(self, e: &Event) -> Access {
        Access {
            thread: e.thread,
            site: e.site,
            write: self.write,
        }
    }

    /// Accesses of one location by two threads: one writes, one is plain.
    pub fn conflicts(write: (bool, bool), atomic: (bool, bool)) -> bool {
        (write.0 || write.1) && !(atomic.0 && atomic.1)
    }
}
