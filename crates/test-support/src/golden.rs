//! Golden files: kept in the repository, compared with what is made today.
//! `PHOTOFINISH_GOLDEN=1 cargo test ...` updates all that the tests compare;
//! read the difference before committing it.

use std::path::Path;

/// Whether golden files shall be updated.
pub fn is_update() -> bool {
    std::env::var_os("PHOTOFINISH_GOLDEN").is_some()
}

/// Compares bytes with a file, or writes the file when asked to.
#[track_caller]
pub fn compare_bytes(path: &Path, bytes: &[u8]) {
    if is_update() {
        std::fs::write(path, bytes).unwrap();
    }
    assert!(
        std::fs::read(path).is_ok_and(|kept| kept == bytes),
        "{} differs (PHOTOFINISH_GOLDEN=1 updates it)",
        path.display()
    );
}

/// Compares a text with a file, or writes the file when asked to.
#[track_caller]
pub fn compare(path: &Path, text: &str) {
    if is_update() {
        std::fs::write(path, text).unwrap();
    }
    let wanted = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        text == wanted,
        "{} differs (PHOTOFINISH_GOLDEN=1 updates it); it would be now:\n{text}",
        path.display()
    );
}
