//! What a result comes to, in a word that a script can act on.

use findings::result::Report;

/// What a result comes to. Stronger words win: see [`Verdict`]'s users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The program was exercised and nothing was found.
    NothingFound,
    /// Races or other violations were found.
    Found,
    /// Nothing was exercised: the program ran single-threaded, or nothing could
    /// be instrumented. "No race found" would say more than is known.
    NotExercised,
    /// A limit was reached, or somebody stopped it, before an answer.
    Limit,
    /// Something is there to be looked at, but the tool failed in a part of it.
    ToolFailed,
}

/// The result of a command that runs or looks at a program.
#[derive(Clone, Debug)]
pub struct Answer {
    pub report: Report,
    pub verdict: Verdict,
}
