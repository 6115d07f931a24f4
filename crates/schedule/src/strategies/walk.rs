//! `random`: at every step each enabled thread is as likely as any other.
//!
//! Promises only that every schedule has some probability: one of `k` steps
//! among at most `n` threads at least `n^-k`. Orders that need one thread to
//! overtake another by far are rare; that is what PCT and POS are for.

use crate::op::{Decision, View};
use crate::random::Rng;
use crate::strategy::{Params, Strategy};

#[derive(Debug)]
pub(crate) struct Walk {
    rng: Rng,
}

impl Walk {
    pub(crate) fn new(params: &Params) -> Walk {
        Walk {
            rng: Rng::new(params.seed),
        }
    }
}

impl Strategy for Walk {
    fn name(&self) -> &'static str {
        "random"
    }

    fn pick(&mut self, view: &View<'_>) -> Decision {
        Decision::Run(view.ready[self.rng.index(view.ready.len())].thread)
    }
}
