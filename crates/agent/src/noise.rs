//! Noise in a program that runs freely: yields and short sleeps before
//! synchronisation operations (`schedule::Noise` says when).

use schedule::{Disturbance, Noise};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug)]
pub struct Disturber {
    noise: Noise,
    calls: AtomicU64,
    /// What compiled code looks at before it calls here: always something to do.
    word: AtomicI32,
}

impl Disturber {
    pub fn new(seed: u64) -> Disturber {
        Disturber {
            noise: Noise::new(seed),
            calls: AtomicU64::new(0),
            word: AtomicI32::new(1),
        }
    }

    pub fn word_address(&self) -> i64 {
        self.word.as_ptr() as i64
    }

    pub fn disturb(&self) {
        match self.noise.at(self.calls.fetch_add(1, Ordering::Relaxed)) {
            Disturbance::Nothing => {}
            Disturbance::Yield => rustix::thread::sched_yield(),
            Disturbance::Sleep(micros) => {
                std::thread::sleep(Duration::from_micros(u64::from(micros)));
            }
        }
    }
}
