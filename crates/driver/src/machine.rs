//! What this machine has: for people who ask why something does not work.

use rustix::process::{Resource, getrlimit};
use std::path::Path;

/// Bytes that the caller could write there; None if there is no such directory.
pub fn free_space(dir: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(dir).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// How many files a process may have open; None if there is no limit.
pub fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
