//! The schedulers as users know them: each has a row in its file, and [`SCHEDULERS`]
//! lists the rows. The command line's values, the agent's dispatch and the tables of
//! the documentation come from there.

use crate::strategies::SCHEDULERS;
use crate::strategy::{Params, Strategy};
use std::fmt;

pub const NATIVE: Scheduler = Scheduler(&Row {
    name: "native",
    about: "The operating system decides",
    how: How::Native,
    goes_by_relation: false,
    is_offered: true,
});

/// How a scheduler has its way.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// Not at all.
    Native,
    /// Threads run freely; delays are put in here and there.
    Noise,
    /// Threads run freely; some are held back before locks.
    Hold,
    /// One thread runs at a time, and this says which.
    Serial(fn(&Params) -> Box<dyn Strategy>),
}

/// A scheduler's row.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    pub how: How,
    /// It needs the may-trigger relation of an earlier run.
    pub goes_by_relation: bool,
    /// Users can choose it; others are for commands that know what they need.
    pub is_offered: bool,
}

/// One of the schedulers.
#[derive(Clone, Copy)]
pub struct Scheduler(pub(crate) &'static Row);

impl Scheduler {
    pub fn named(name: &str) -> Option<Scheduler> {
        SCHEDULERS.iter().copied().find(|s| s.name() == name)
    }

    /// Those that users can choose.
    pub fn offered() -> impl Iterator<Item = Scheduler> {
        SCHEDULERS.iter().copied().filter(|s| s.0.is_offered)
    }

    pub fn name(self) -> &'static str {
        self.0.name
    }

    pub fn about(self) -> &'static str {
        self.0.about
    }

    pub fn how(self) -> How {
        self.0.how
    }

    pub fn is_native(self) -> bool {
        matches!(self.0.how, How::Native)
    }

    /// Whether one thread runs at a time, so that runs can be replayed.
    pub fn is_serial(self) -> bool {
        matches!(self.0.how, How::Serial(_))
    }

    pub fn goes_by_relation(self) -> bool {
        self.0.goes_by_relation
    }

    /// The strategy of a serial one.
    pub fn strategy(self, params: &Params) -> Option<Box<dyn Strategy>> {
        match self.0.how {
            How::Serial(make) => Some(make(params)),
            How::Native | How::Noise | How::Hold => None,
        }
    }
}

impl Default for Scheduler {
    fn default() -> Scheduler {
        NATIVE
    }
}

impl PartialEq for Scheduler {
    fn eq(&self, other: &Scheduler) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Scheduler {}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The strategy of that name, if there is one.
pub fn strategy(name: &str, params: &Params) -> Option<Box<dyn Strategy>> {
    Scheduler::named(name)?.strategy(params)
}

/// The names of all strategies.
pub fn strategies() -> impl Iterator<Item = &'static str> {
    let serial = SCHEDULERS.iter().filter(|s| s.is_serial());
    serial.map(|s| s.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_one_scheduler() {
        for scheduler in SCHEDULERS {
            assert_eq!(Scheduler::named(scheduler.name()), Some(*scheduler));
            let same = SCHEDULERS.iter().filter(|other| *other == scheduler);
            assert_eq!(same.count(), 1, "{scheduler:?}");
            let strategy = scheduler.strategy(&Params::default());
            assert_eq!(strategy.is_some(), scheduler.is_serial());
        }
        assert_eq!(Scheduler::named("none"), None);
    }
}
