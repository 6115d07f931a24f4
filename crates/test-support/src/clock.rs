//! How long a benchmark's thread worked.

use std::time::Instant;

/// Time this thread spent on a processor, where the system tells (Linux): other
/// work on the machine then matters less. Else the time that passed.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    busy: Option<u64>,
}

impl Clock {
    pub fn start() -> Clock {
        Clock {
            start: Instant::now(),
            busy: busy_ns(),
        }
    }

    pub fn seconds(&self) -> f64 {
        match (self.busy, busy_ns()) {
            (Some(before), Some(now)) => (now - before) as f64 / 1e9,
            _ => self.start.elapsed().as_secs_f64(),
        }
    }
}

fn busy_ns() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse().ok()
}
