//! One strategy a file, and the list of all schedulers.

pub mod drfinder;
mod late;
pub mod pct;
pub mod pos;
pub mod racefuzzer;
pub mod walk;

use crate::registry::{NATIVE, Scheduler};
use crate::{contest, may_trigger};

/// All schedulers, in the order in which they are shown.
pub const SCHEDULERS: &[Scheduler] = &[
    NATIVE,
    walk::SCHEDULER,
    pct::SCHEDULER,
    pos::SCHEDULER,
    contest::SCHEDULER,
    may_trigger::SCHEDULER,
    drfinder::SCHEDULER,
    racefuzzer::SCHEDULER,
];
