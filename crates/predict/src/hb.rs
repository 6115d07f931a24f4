//! Happens-before: FastTrack over the trace.
//!
//! # What it claims
//! Every reported pair is unordered by the happens-before relation of the Java
//! memory model in this very run: a data race, observed, not predicted. On
//! each variable the first race is found. The two need not be schedulable side
//! by side when the second depends on the first through another race; the
//! memory model calls that a race too.
//!
//! # Cost
//! Constant for nearly every event: see [`detect::fasttrack`], which this is.

use crate::deps::Deps;
use crate::found::{Prediction, Predictions, Standing};
use crate::{Engine, ShouldStop};
use detect::{Detector, FastTrack};
use trace::Event;

#[derive(Debug, Default)]
pub struct Hb {
    detector: FastTrack,
}

impl Engine for Hb {
    fn events(&mut self, events: &[Event]) {
        self.detector.events(events);
    }

    fn growth(&self, events: usize) -> usize {
        self.detector.growth(events)
    }

    fn finish(self: Box<Self>, _: &[Event], _: &Deps, _: &ShouldStop<'_>) -> Predictions {
        let mut found = Predictions::default();
        for f in self.detector.findings() {
            found.add(Prediction {
                loc: f.loc,
                first: f.first,
                second: f.second,
                first_event: None,
                second_event: f.event,
                standing: Standing::Observed,
                witness: None,
                told: None,
                count: f.count,
            });
        }
        found
    }
}
