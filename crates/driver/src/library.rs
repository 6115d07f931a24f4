//! The agent library, carried inside this binary, as a file the JVM can load.
//!
//! It is unpacked once into the user's cache directory under a name that holds
//! the digest of its content. Several processes may do this at once: each
//! writes a file of its own and renames it into place. A file found there is
//! believed only if its content has the digest of its name.

use findings::fingerprint::hex;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[error(
    "cannot unpack the agent library into {dir}: {source}; \
     make it writable or point XDG_CACHE_HOME elsewhere"
)]
pub struct UnpackError {
    dir: PathBuf,
    source: std::io::Error,
}

/// Makes the library available and returns its path.
pub fn unpack(library: &[u8]) -> Result<PathBuf, UnpackError> {
    let mut result = Err(UnpackError {
        dir: std::env::temp_dir(),
        source: std::io::Error::from(std::io::ErrorKind::NotFound),
    });
    for dir in cache_dirs() {
        result = unpack_into(&dir, library).map_err(|source| UnpackError { dir, source });
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Where to try, in order: a build container often has no writable home.
fn cache_dirs() -> Vec<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let home = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let user = rustix::process::getuid().as_raw();
    let shared = std::env::temp_dir().join(format!("photofinish-{user}"));
    home.map(|dir| dir.join("photofinish"))
        .into_iter()
        .chain([shared])
        .collect()
}

fn unpack_into(dir: &Path, library: &[u8]) -> std::io::Result<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    // In a shared /tmp somebody else may have made this directory first, and
    // could swap the library after it was checked.
    if std::fs::metadata(dir)?.uid() != rustix::process::getuid().as_raw() {
        return Err(std::io::Error::new(
            std::io::ErrorKind::PermissionDenied,
            "the directory belongs to somebody else",
        ));
    }
    let digest = Sha256::digest(library);
    let path = dir.join(format!("agent-{}.so", hex(&digest)));
    if std::fs::read(&path).is_ok_and(|found| Sha256::digest(&found) == digest) {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(library)?;
    file.as_file().sync_data()?;
    file.persist(&path).map_err(|e| e.error)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
