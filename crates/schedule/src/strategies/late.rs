//! Threads that are late, for strategies that draw.
//!
//! Virtual time stands still while somebody can run, so a sleeper would never overtake a thread
//! that has work to do, and a wait with a time limit would never run out before what it
//! waits for. In a real run both happen: the other thread is late. So where
//! somebody sleeps, time passes to the next deadline now and then, the more rarely the
//! farther away that is. All delays of a run come to a second at most: programs watch each
//! other with time limits of seconds, and that these run out says nothing about the program.
//!
//! Drawn apart from what the strategy draws: what that promises holds for the steps between.

use crate::op::View;
use crate::random::Rng;
use crate::strategy::Params;

const MILLI: u64 = 1_000_000;

/// Nanoseconds that threads of one run may be late, all in all.
const MOST: u64 = 1_000 * MILLI;

#[derive(Debug)]
pub(crate) struct Late {
    rng: Rng,
    left: u64,
}

impl Late {
    pub(crate) fn new(params: &Params) -> Late {
        Late {
            rng: Rng::new(params.seed ^ 0x6c61_7465),
            left: MOST,
        }
    }

    /// Whether all that could run are late for the next deadline.
    pub(crate) fn strikes(&mut self, view: &View<'_>) -> bool {
        let Some(nanos) = view.deadline.filter(|nanos| *nanos <= self.left) else {
            return false;
        };
        let strikes = self.rng.below(odds(nanos)) == 0;
        if strikes {
            self.left -= nanos;
        }
        strikes
    }
}

/// Time passes at one step of so many.
fn odds(nanos: u64) -> u64 {
    match nanos / MILLI {
        0..=100 => 8,
        _ => 32,
    }
}
