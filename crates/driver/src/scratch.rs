//! Directories for runs that nobody keeps: readable by the caller alone, gone
//! with the value, and swept later if the process was killed before that.
//!
//! The owner holds a lock on the directory itself for as long as it lives; the
//! kernel gives it up when the process ends, however it ends. A directory that
//! is old and not locked is therefore nobody's. (A process number in the name
//! would not do: in a container the same number is another process.)

use rustix::fs::{FlockOperation, Mode, OFlags};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const PREFIX: &str = "photofinish-run-";

/// Between making a directory and locking it a sweeper could take it for a
/// stale one, if it were not for its age.
const STALE_AFTER: Duration = Duration::from_secs(3600);

/// A directory of this process's.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    _lock: File,
}

impl Scratch {
    pub fn create() -> io::Result<Scratch> {
        Scratch::create_in(&std::env::temp_dir())
    }

    fn create_in(parent: &Path) -> io::Result<Scratch> {
        let dir = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        let lock = open_directory(dir.path())?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
        Ok(Scratch { dir, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes directories that processes of this user left when they were killed.
/// What cannot be removed stays: another run's tidiness is no reason to fail.
pub fn sweep() {
    sweep_in(&std::env::temp_dir(), SystemTime::now());
}

fn sweep_in(parent: &Path, now: SystemTime) {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if named && is_stale(&entry.path(), now) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn is_stale(dir: &Path, now: SystemTime) -> bool {
    let user = rustix::process::getuid().as_raw();
    let old = std::fs::symlink_metadata(dir).is_ok_and(|found| {
        let age = found
            .modified()
            .ok()
            .and_then(|at| now.duration_since(at).ok());
        found.is_dir() && found.uid() == user && age.is_some_and(|age| age > STALE_AFTER)
    });
    old && open_directory(dir).is_ok_and(|opened| {
        rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

fn open_directory(dir: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(dir, flags, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_can_read_it_and_it_goes_with_the_value() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::create_in(parent.path()).unwrap();
        let mode = std::fs::metadata(scratch.path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(scratch);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn directories_of_dead_processes_are_swept_and_no_others() {
        let parent = tempfile::tempdir().unwrap();
        let later = SystemTime::now() + 2 * STALE_AFTER;
        let living = Scratch::create_in(parent.path()).unwrap();
        let dead = parent.path().join(format!("{PREFIX}dead"));
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join("findings.jsonl"), "").unwrap();
        let foreign = parent.path().join("somebody-elses");
        std::fs::create_dir(&foreign).unwrap();
        let link = parent.path().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(&foreign, &link).unwrap();

        sweep_in(parent.path(), SystemTime::now());
        assert!(dead.exists(), "too young to be sure");
        sweep_in(parent.path(), later);
        assert!(!dead.exists());
        assert!(living.path().exists() && foreign.exists() && link.is_symlink());
    }
}
