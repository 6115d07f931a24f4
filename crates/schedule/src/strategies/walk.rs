//! `random`: at every step each enabled thread is as likely as any other.
//!
//! Promises only that every schedule has some probability: one of `k` steps
//! among at most `n` threads at least `n^-k`. Orders that need one thread to
//! overtake another by far are rare; that is what PCT and POS are for. Threads may be
//! late for deadlines (`late`).

use crate::op::{Decision, View};
use crate::random::Rng;
use crate::registry::{How, Row, Scheduler};
use crate::strategies::late::Late;
use crate::strategy::{Params, Strategy};

pub const SCHEDULER: Scheduler = Scheduler(&Row {
    name: "random",
    about: "One thread at a time; at each scheduling point a random one is next",
    how: How::Serial(|p| Box::new(Walk::new(p))),
    goes_by_relation: false,
    is_offered: true,
});

#[derive(Debug)]
pub(crate) struct Walk {
    rng: Rng,
    late: Late,
}

impl Walk {
    pub(crate) fn new(params: &Params) -> Walk {
        Walk {
            rng: Rng::new(params.seed),
            late: Late::new(params),
        }
    }
}

impl Strategy for Walk {
    fn pick(&mut self, view: &View<'_>) -> Decision {
        if self.late.strikes(view) {
            return Decision::Tick;
        }
        Decision::Run(view.ready[self.rng.index(view.ready.len())].thread)
    }
}
