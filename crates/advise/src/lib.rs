//! From a race and the paths on which it was seen to ranked repairs, after
//! JRF-E (Kim, Yavuz-Kahveci, Sanders: JRF-E: using model checking to give
//! advice on eliminating memory model-related bugs, 2012).
//!
//! ```text
//! events of a run ─► Path (clocks, pairs of release and acquire)
//!                      └─► suggest (3.1.1 - 3.1.6, one path) ─► Advisor (Figure 26) ─► Advice
//!                                                                    cover (smallest set) ─┘
//! ```
//!
//! What it claims: a suggestion of a [sufficient](Kind::sufficient) kind that
//! [holds](RaceAdvice::holds) on every path removes the race, if all paths were
//! told (that is, an exploration was complete). All others order the race on some
//! of the paths that were told, and have to be tried. Where the paper is left or
//! corrected, the modules say so.

mod advisor;
mod consecutive_accesses;
mod cover;
mod explain;
mod path;
mod repair;
mod suggest;
mod words;

pub use advisor::{Advice, Advisor, Race, RaceAdvice, Ranked, RepairSet, Suggestion};
pub use consecutive_accesses::in_a_row;
pub use explain::{Explanation, Passing, explain};
pub use path::{Edge, Path};
pub use repair::{Kind, Name, Names, Repair, Sync, Variable};
pub use words::Words;
