//! The agent's library in places that others can reach or that nothing can be loaded from. What is
//! refused there is refused by `driver/src/library.rs`, whose tests look at each reason; here, what
//! the command does then. `agent-path` unpacks the library as every run does, without a JVM.

use super::accidents::Disk;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use test_support::programs::photofinish;

/// Where the library is unpacked, with nothing in the environment but this.
fn unpacked(environment: &[(&str, &Path)]) -> PathBuf {
    let mut tool = photofinish();
    for name in ["HOME", "XDG_CACHE_HOME", "TMPDIR"] {
        tool.env_remove(name);
    }
    tool.envs(environment.iter().copied()).arg("agent-path");
    let done = tool.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    let path = String::from_utf8(done.stdout).unwrap();
    let path = PathBuf::from(path.trim_end());
    assert!(path.is_file(), "{path:?}");
    path
}

#[test]
fn the_library_goes_elsewhere_where_nothing_can_be_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let made = |name: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let (cache, elsewhere) = (made("a=b"), made("elsewhere"));
    let path = unpacked(&[("XDG_CACHE_HOME", &cache), ("TMPDIR", &elsewhere)]);
    assert!(path.starts_with(&elsewhere), "{path:?}");

    let name = "the_library_goes_elsewhere_where_nothing_can_be_loaded";
    let Some(disk) = Disk::mount_at(name, made("noexec"), "256m,noexec") else {
        return;
    };
    let path = unpacked(&[("XDG_CACHE_HOME", &disk.0), ("TMPDIR", &elsewhere)]);
    assert!(path.starts_with(&elsewhere), "{path:?}");
    // The same disk is good enough where things can be run from it.
    drop(disk);
    let Some(disk) = Disk::mount_at(name, made("exec"), "256m") else {
        return;
    };
    let path = unpacked(&[("XDG_CACHE_HOME", &disk.0), ("TMPDIR", &elsewhere)]);
    assert!(path.starts_with(&disk.0), "{path:?}");
}

/// A directory that everybody can write to, in which somebody was first.
#[test]
fn a_link_in_a_shared_directory_leads_nobody_astray() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (shared, theirs) = (dir.join("shared"), dir.join("theirs"));
    for dir in [&shared, &theirs] {
        std::fs::create_dir(dir).unwrap();
    }
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&shared, mode(0o1777)).unwrap();
    let path = unpacked(&[("TMPDIR", &shared)]);
    assert!(path.starts_with(&shared), "{path:?}");
    assert_eq!(
        path.parent().unwrap().metadata().unwrap().mode() & 0o777,
        0o700
    );
    let library = std::fs::read(&path).unwrap();

    // The library becomes a link to one of theirs with the same content, for now.
    let other = theirs.join("agent.so");
    std::fs::write(&other, &library).unwrap();
    std::fs::remove_file(&path).unwrap();
    symlink(&other, &path).unwrap();
    assert_eq!(unpacked(&[("TMPDIR", &shared)]), path);
    assert!(path.symlink_metadata().unwrap().is_file());

    // The library is another one.
    std::fs::write(&path, b"evil").unwrap();
    assert_eq!(unpacked(&[("TMPDIR", &shared)]), path);
    assert!(std::fs::read(&path).unwrap() == library);

    // The directory becomes a link.
    let own = path.parent().unwrap();
    std::fs::rename(own, theirs.join("moved")).unwrap();
    symlink(&theirs, own).unwrap();
    let path = unpacked(&[("TMPDIR", &shared)]);
    assert!(!path.starts_with(dir), "{path:?}");
    assert_eq!(
        std::fs::read_dir(&theirs).unwrap().count(),
        2,
        "nothing is put there"
    );
}
