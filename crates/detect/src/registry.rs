//! The detectors as users know them: each has a row in its file, and [`DETECTORS`]
//! lists the rows. The command line's values, the agent's dispatch and the tables of
//! the documentation come from there.

use crate::{DETECTORS, Detector};
use std::fmt;

/// What a finding is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The two accesses were unordered in this very run.
    Observed,
    /// They may be ordered by what the detector does not look at.
    Suspected,
}

/// A detector's row.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    /// What it finds, in a line.
    pub about: &'static str,
    pub claim: Claim,
    /// A new one, as users get it.
    pub make: fn() -> Box<dyn Detector>,
}

/// One of the detectors.
#[derive(Clone, Copy)]
pub struct Kind(pub(crate) &'static Row);

impl Kind {
    pub fn named(name: &str) -> Option<Kind> {
        DETECTORS.iter().copied().find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        self.0.name
    }

    pub fn about(self) -> &'static str {
        self.0.about
    }

    pub fn claim(self) -> Claim {
        self.0.claim
    }

    pub fn detector(self) -> Box<dyn Detector> {
        (self.0.make)()
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Kind {}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_one_detector() {
        for kind in DETECTORS {
            assert_eq!(Kind::named(kind.name()), Some(*kind));
            let same = DETECTORS.iter().filter(|other| *other == kind);
            assert_eq!(same.count(), 1, "{kind:?}");
        }
        assert_eq!(Kind::named("none"), None);
    }
}
