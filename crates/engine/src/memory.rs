//! How much memory an analysis may take, and how much it has.

use std::cell::Cell;
use std::fs;

/// Between two looks at what the process has, if nobody wants much at once.
const EVERY: u32 = 16;

#[derive(Debug)]
pub struct Memory {
    limit: u64,
    asked: Cell<u32>,
}

impl Memory {
    /// A limit in bytes; three quarters of what is free, if nobody says.
    pub fn new(limit: Option<u64>) -> Memory {
        Memory {
            limit: limit.unwrap_or_else(|| available() / 4 * 3).max(1 << 20),
            asked: Cell::new(0),
        }
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// As a user writes it.
    pub fn told(&self) -> String {
        match self.limit {
            limit if limit >= 10 << 30 => format!("{}G", limit >> 30),
            limit => format!("{}M", limit >> 20),
        }
    }

    /// Whether this process may take so many bytes more at once and still have the `reserve`. Where the
    /// system does not say what the process has, it may.
    pub fn has_room(&self, bytes: u64, reserve: u64) -> bool {
        self.asked.set(self.asked.get().wrapping_add(1));
        if bytes == 0 && !self.asked.get().is_multiple_of(EVERY) {
            return true;
        }
        let more = bytes.saturating_add(reserve);
        resident().is_none_or(|now| now.saturating_add(more) <= self.limit)
    }
}

/// Bytes of memory that this process has.
fn resident() -> Option<u64> {
    field("/proc/self/status", "VmRSS:")
}

/// What can be had without taking it from others, by the machine and by the container.
fn available() -> u64 {
    let free = field("/proc/meminfo", "MemAvailable:").unwrap_or(4 << 30);
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let most = number("/sys/fs/cgroup/memory.max");
    let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
    most.map_or(free, |most| free.min(most.saturating_sub(used)))
}

/// A row of a file of the system, in kB.
fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let row = text.lines().find_map(|row| row.strip_prefix(name))?;
    let kb: u64 = row.split_whitespace().next()?.parse().ok()?;
    Some(kb << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_refused() {
        let memory = Memory::new(Some(64 << 40));
        assert!((0..100).all(|_| memory.has_room(1 << 30, 1 << 30)));
        assert!(!memory.has_room(64 << 40, 0) && !memory.has_room(1, 64 << 40));
        let little = Memory::new(Some(1));
        assert!((0..EVERY).any(|_| !little.has_room(0, 0)));
        assert_eq!(Memory::new(Some(4 << 30)).told(), "4096M");
        assert!(Memory::new(None).limit() > 1 << 20);
    }
}
