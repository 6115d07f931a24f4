//! What is told while the work goes on. The engine writes to no terminal.

use findings::group::Finding;
use std::time::Instant;

/// Hears what is going on. Every method does nothing unless it is overridden.
pub trait Progress {
    /// The work is to be over by then.
    fn deadline(&self, _at: Option<Instant>) {}

    /// A stage of a hunt begins.
    fn stage(&self, _name: &str) {}

    /// How many races are suspected so far in a hunt, and how many are certain.
    fn tally(&self, _stage: &str, _suspected: usize, _certain: usize) {}

    /// What is being done, until the next call.
    fn doing(&self, _text: &str) {}

    /// One of several things begins that may take long: a run, a repair to try.
    fn step(&self, _text: &str) {}

    /// A race is certain now: it was observed, or made to happen.
    fn found(&self, _finding: &Finding<'_>) {}

    /// How far an exploration is, after every execution.
    fn explored(&self, _so_far: &explore::Progress) {}

    /// A line that the program wrote to standard error before it gave up.
    fn complaint(&self, _line: &str) {}
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
