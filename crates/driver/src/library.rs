//! The agent library, carried inside this binary, as a file the JVM can load.
//!
//! It is unpacked once into the user's cache directory under a name that holds
//! the digest of its content. Several processes may do this at once: each
//! writes a file of its own and renames it into place.
//!
//! The JVM runs whatever it finds under that path with the caller's rights, so
//! nobody else may be able to put something there, before or after the check:
//!
//! * The directory is a directory and no link, owned by the caller, with mode
//!   0700. No directory above it lets others rename or replace it: each is owned
//!   by the caller or root, and writable by others only if sticky, as /tmp is.
//! * The file is opened without following links; it is a plain file of the
//!   caller's that others cannot write, and its content, read in every run,
//!   has the digest of its name. Otherwise it is replaced.
//!
//! A directory that does not fit is refused with the reason, and the next one
//! is tried. So are directories from which nothing can be loaded: file systems
//! mounted `noexec`, and paths with a `=`, where the JVM would see the end of
//! the path.

use findings::fingerprint::hex;
use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why no directory would do, one reason each.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot unpack the agent library ({}); point XDG_CACHE_HOME to a directory that only you can write",
    reasons(.refused)
)]
pub struct UnpackError {
    refused: Vec<(PathBuf, Refusal)>,
}

fn reasons(refused: &[(PathBuf, Refusal)]) -> String {
    let texts = refused
        .iter()
        .map(|(dir, why)| format!("{}: {why}", dir.display()));
    texts.collect::<Vec<_>>().join("; ")
}

/// Why a directory is not used.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("it is not a directory")]
    NotADirectory,
    #[error("it belongs to somebody else")]
    NotOurs,
    #[error("others could replace it, because they can write to {}", .0.display())]
    Replaceable(PathBuf),
    #[error("its file system is mounted noexec")]
    NoExec,
    #[error("the JVM takes the `=` in its name for the end of the path")]
    EqualsSign,
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// Makes the library available and returns its path.
pub fn unpack(library: &[u8]) -> Result<PathBuf, UnpackError> {
    let mut refused = Vec::new();
    for dir in cache_dirs() {
        match unpack_into(&dir, library) {
            Ok(path) => return Ok(path),
            Err(why) => refused.push((dir, why)),
        }
    }
    Err(UnpackError { refused })
}

/// Where to try, in order: a build container often has no writable home.
fn cache_dirs() -> Vec<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let home = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let shared = format!("photofinish-{}", user());
    let mut dirs: Vec<PathBuf> = home
        .map(|dir| dir.join("photofinish"))
        .into_iter()
        .collect();
    for parent in [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()] {
        let dir = parent.join(&shared);
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    dirs
}

fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

fn unpack_into(dir: &Path, library: &[u8]) -> Result<PathBuf, Refusal> {
    if dir.as_os_str().as_bytes().contains(&b'=') {
        return Err(Refusal::EqualsSign);
    }
    private_directory(dir)?;
    let digest = Sha256::digest(library);
    let path = dir.join(format!("agent-{}.so", hex(&digest)));
    if is_the_library(&path, &digest) {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(library)?;
    file.as_file().sync_data()?;
    // Replaces whatever is there, a link too, without following it.
    file.persist(&path).map_err(|e| e.error)?;
    Ok(path)
}

/// Makes the directory if it is not there, and checks that what is under its
/// name now is the caller's alone and stays so.
fn private_directory(dir: &Path) -> Result<(), Refusal> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    let found = std::fs::symlink_metadata(dir)?;
    if !found.is_dir() {
        return Err(Refusal::NotADirectory);
    }
    if found.uid() != user() {
        return Err(Refusal::NotOurs);
    }
    if let Some(parent) = dir.parent() {
        // Links above it are followed once; a user who could change one could
        // write to the directory that holds it, which is looked at as well.
        for above in parent.ancestors().chain(parent.canonicalize()?.ancestors()) {
            if is_replaceable_by_others(above)? {
                return Err(Refusal::Replaceable(above.to_path_buf()));
            }
        }
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
    }
    let mounted = rustix::fs::statvfs(dir).map_err(std::io::Error::from)?;
    if mounted.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        return Err(Refusal::NoExec);
    }
    Ok(())
}

/// Whether somebody other than root and the caller can rename what is in this
/// directory.
fn is_replaceable_by_others(dir: &Path) -> std::io::Result<bool> {
    let found = std::fs::metadata(dir)?;
    let sticky = found.mode() & 0o1000 != 0;
    let writable = found.mode() & 0o022 != 0;
    Ok(found.uid() != user() && found.uid() != 0 || writable && !sticky)
}

/// Whether the file is the library and nobody else can change it.
fn is_the_library(path: &Path, digest: &[u8]) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let Ok(opened) = rustix::fs::open(path, flags, Mode::empty()) else {
        return false;
    };
    let mut file = File::from(opened);
    let private = file
        .metadata()
        .is_ok_and(|found| found.is_file() && found.uid() == user() && found.mode() & 0o022 == 0);
    let mut content = Vec::new();
    private && file.read_to_end(&mut content).is_ok() && Sha256::digest(&content)[..] == *digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn unpacked_once_and_repaired_when_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("deep/er");
        let path = unpack_into(&cache, b"library").unwrap();
        let first = std::fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(unpack_into(&cache, b"library").unwrap(), path);
        assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), first);

        std::fs::write(&path, b"libr").unwrap();
        assert_eq!(unpack_into(&cache, b"library").unwrap(), path);
        assert_eq!(std::fs::read(&path).unwrap(), b"library");
        assert_ne!(unpack_into(&cache, b"another").unwrap(), path);
        // Nothing is left lying about.
        assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 2);
    }

    #[test]
    fn many_at_once_agree() {
        let dir = tempfile::tempdir().unwrap();
        let library = vec![7u8; 1 << 18];
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let path = unpack_into(dir.path(), &library).unwrap();
                    assert!(std::fs::read(path).unwrap() == library);
                });
            }
        });
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_an_error() {
        assert!(unpack_into(Path::new("/proc/photofinish"), b"x").is_err());
    }

    #[test]
    fn a_link_in_place_of_the_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let cache = dir.path().join("cache");
        symlink(&elsewhere, &cache).unwrap();
        let refused = unpack_into(&cache, b"library");
        assert!(
            matches!(refused, Err(Refusal::NotADirectory)),
            "{refused:?}"
        );
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    #[test]
    fn a_link_in_place_of_the_library_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = unpack_into(dir.path(), b"library").unwrap();
        let target = dir.path().join("target");
        // Right content today, whatever its owner likes tomorrow.
        std::fs::write(&target, b"library").unwrap();
        std::fs::remove_file(&path).unwrap();
        symlink(&target, &path).unwrap();
        assert_eq!(unpack_into(dir.path(), b"library").unwrap(), path);
        assert!(std::fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(std::fs::read(&target).unwrap(), b"library");
    }

    #[test]
    fn a_library_that_others_can_write_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = unpack_into(dir.path(), b"library").unwrap();
        set_mode(&path, 0o666);
        assert_eq!(unpack_into(dir.path(), b"library").unwrap(), path);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o022, 0);
    }

    #[test]
    fn a_directory_that_others_could_swap_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let shared = dir.path().join("shared");
        std::fs::create_dir(&shared).unwrap();
        set_mode(&shared, 0o777);
        let refused = unpack_into(&shared.join("cache"), b"library");
        assert!(
            matches!(refused, Err(Refusal::Replaceable(_))),
            "{refused:?}"
        );
        // As /tmp is: others can add files, and rename none but their own.
        set_mode(&shared, 0o1777);
        assert!(unpack_into(&shared.join("cache"), b"library").is_ok());
    }

    #[test]
    fn an_open_directory_of_ours_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("cache");
        std::fs::create_dir(&cache).unwrap();
        set_mode(&cache, 0o777);
        unpack_into(&cache, b"library").unwrap();
        assert_eq!(std::fs::metadata(&cache).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_path_that_the_jvm_would_cut_is_refused_with_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("a=b");
        let why = unpack_into(&cache, b"library").unwrap_err();
        let error = UnpackError {
            refused: vec![(cache, why)],
        };
        let text = error.to_string();
        assert!(text.contains("a=b: the JVM takes the `=`"), "{text}");
        assert!(text.contains("XDG_CACHE_HOME"), "{text}");
    }
}
