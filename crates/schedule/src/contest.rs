//! Noise for programs that run freely, in the manner of ConTest (Edelstein,
//! Farchi, Nir, Ratsaby, Ur: "Multithreaded Java program test generation", IBM
//! Systems Journal 2002): before some synchronisation operations a thread
//! yields or sleeps, so that orders come up that seldom do.
//!
//! Promises nothing about which, and is no [`crate::Strategy`]: nobody is kept
//! from running. What is done at a call depends on the seed and the number of
//! the call alone; the run as a whole still depends on the machine.

use crate::random::{Rng, mix};
use crate::registry::{How, Row, Scheduler};

pub const SCHEDULER: Scheduler = Scheduler(&Row {
    name: "contest",
    about: "Free-running, with random delays at synchronisation",
    how: How::Noise,
    goes_by_relation: false,
    is_offered: true,
});

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disturbance {
    Nothing,
    Yield,
    /// For so many microseconds.
    Sleep(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct Noise {
    seed: u64,
}

/// No sleep is longer.
const LONGEST: u32 = 4096;

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise { seed: mix(seed) }
    }

    /// What to do at a call: in 1 of 8 yield, in 1 of 64 sleep. Short sleeps
    /// are as likely as ones ten times as long: what must be outlasted may be
    /// an instruction or a time slice.
    pub fn at(&self, call: u64) -> Disturbance {
        let mut rng = Rng::new(self.seed ^ mix(call));
        match rng.below(64) {
            0 => {
                let magnitude = rng.below(u64::from(LONGEST.ilog2())) as u32;
                Disturbance::Sleep(1 << magnitude | rng.below(1 << magnitude) as u32)
            }
            1..=8 => Disturbance::Yield,
            _ => Disturbance::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_disturbed_as_often_as_said() {
        let noise = Noise::new(7);
        let (mut yields, mut sleeps, mut short) = (0, 0, 0);
        for call in 0..64_000 {
            match noise.at(call) {
                Disturbance::Nothing => {}
                Disturbance::Yield => yields += 1,
                Disturbance::Sleep(time) => {
                    assert!((1..LONGEST).contains(&time));
                    sleeps += 1;
                    short += u32::from(time < 64);
                }
            }
            assert_eq!(noise.at(call), Noise::new(7).at(call));
        }
        assert!((7700..8300).contains(&yields), "{yields}");
        assert!((900..1100).contains(&sleeps), "{sleeps}");
        assert!((400..600).contains(&short), "{short}");
        let differs = |call: &u64| noise.at(*call) != Noise::new(8).at(*call);
        assert!((0..1000).filter(differs).count() > 100);
    }
}
