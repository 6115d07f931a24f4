//! The class path among java's arguments, and digests of what is on it, so
//! that a replay that went another way can say whether the program changed.
//!
//! Class files in directories are digested one by one, jars as a whole. What
//! the manifest of a jar or a class loader of the program adds is not seen.

use findings::fingerprint::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where nobody named a class path, it is the current directory, which may
/// hold anything; then we stop looking.
const MOST_FILES: usize = 20_000;

/// The entries of the class path and module path among java's arguments, and
/// the jar to run.
pub fn class_path(args: &[OsString]) -> Vec<PathBuf> {
    const WITH_PATH: &[&str] = &[
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "-jar",
    ];
    let mut entries = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        if WITH_PATH.contains(&text.as_ref()) {
            entries.extend(args.next().into_iter().flat_map(std::env::split_paths));
            if text == "-jar" {
                break;
            }
        } else if let Some(path) = ["--class-path=", "--module-path="]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
        {
            entries.extend(std::env::split_paths(path));
        } else if !text.starts_with('-') {
            // The main class: what follows is the program's own.
            break;
        }
    }
    entries.retain(|entry| !entry.as_os_str().is_empty());
    entries
}

/// Digests of all class files and jars on the class path, by their names as
/// seen from `directory`. What cannot be read is left out.
pub fn digests(directory: &Path, args: &[OsString]) -> BTreeMap<String, String> {
    let mut entries = class_path(args);
    if entries.is_empty() {
        entries = match std::env::var_os("CLASSPATH").filter(|path| !path.is_empty()) {
            Some(path) => std::env::split_paths(&path).collect(),
            None => vec![PathBuf::from(".")],
        };
    }
    let mut found = BTreeMap::new();
    for entry in entries {
        let path = directory.join(&entry);
        if path.is_file() {
            add(&mut found, &entry, &path);
        } else if path.is_dir() {
            add_all(&mut found, &entry, &path, "class");
        } else if entry.file_name().is_some_and(|name| name == "*") {
            let parent = entry.parent().unwrap_or(Path::new(""));
            for jar in sorted(&directory.join(parent)) {
                if jar.extension().is_some_and(|e| e == "jar") {
                    let name = parent.join(jar.file_name().unwrap_or_default());
                    add(&mut found, &name, &jar);
                }
            }
        }
    }
    found
}

fn add_all(found: &mut BTreeMap<String, String>, name: &Path, dir: &Path, extension: &str) {
    let mut left = vec![(name.to_path_buf(), dir.to_path_buf())];
    while let Some((name, path)) = left.pop() {
        if found.len() >= MOST_FILES {
            return;
        }
        for path in sorted(&path) {
            let name = name.join(path.file_name().unwrap_or_default());
            let linked = path.is_symlink();
            if path.is_dir() && !linked {
                left.push((name, path));
            } else if path.extension().is_some_and(|e| e == extension) {
                add(found, &name, &path);
            }
        }
    }
}

fn sorted(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Adds a file under this name; one that cannot be read is left out.
pub fn add(found: &mut BTreeMap<String, String>, name: &Path, path: &Path) {
    if let Ok(bytes) = std::fs::read(path) {
        let name = name.to_string_lossy().into_owned();
        found.insert(name, hex(&Sha256::digest(bytes)));
    }
}

/// What differs between two states of a class path, in words; the first few.
pub fn changes(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let mut said = Vec::new();
    for (name, digest) in before {
        match after.get(name) {
            None => said.push(format!("{name} is gone")),
            Some(now) if now != digest => said.push(format!("{name} has changed")),
            Some(_) => {}
        }
    }
    let new = after.keys().filter(|name| !before.contains_key(*name));
    said.extend(new.map(|name| format!("{name} is new")));
    if said.len() > 5 {
        let more = said.len() - 4;
        said.truncate(4);
        said.push(format!("so have {more} more files"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(args: &[&str]) -> Vec<OsString> {
        args.iter().map(OsString::from).collect()
    }

    #[test]
    fn class_paths_of_all_spellings() {
        let path = |args: &[&str]| class_path(&os(args));
        assert_eq!(
            path(&["-ea", "-cp", "a:b/c", "Main", "-cp", "x"]),
            [Path::new("a"), Path::new("b/c")]
        );
        assert_eq!(path(&["--class-path=a", "Main"]), [Path::new("a")]);
        assert_eq!(
            path(&["-jar", "x/app.jar", "-cp", "y"]),
            [Path::new("x/app.jar")]
        );
        assert_eq!(path(&["-p", "mods", "-m", "m/a.B"]), [Path::new("mods")]);
        assert!(path(&["-cp"]).is_empty());
    }

    #[test]
    fn a_change_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("out/a")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("out/a/B.class", "1");
        write("out/C.class", "1");
        write("out/notes.txt", "1");
        write("x.jar", "1");
        let args = os(&["-cp", "out:*", "Main"]);
        let before = digests(dir.path(), &args);
        let names: Vec<&str> = before.keys().map(String::as_str).collect();
        assert_eq!(names, ["out/C.class", "out/a/B.class", "x.jar"]);
        assert!(changes(&before, &digests(dir.path(), &args)).is_empty());
        write("out/a/B.class", "2");
        write("out/D.class", "1");
        std::fs::remove_file(dir.path().join("out/C.class")).unwrap();
        assert_eq!(
            changes(&before, &digests(dir.path(), &args)),
            [
                "out/C.class is gone",
                "out/a/B.class has changed",
                "out/D.class is new"
            ]
        );
    }
}
