//! Finds the Java source of a class: first in the directories the user named,
//! then where builds usually keep them, then beside and above the class path.

use driver::classes::class_path;
use findings::sources::Sources;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A source file larger than this is not one.
const LARGEST: u64 = 16 << 20;

/// Below the current directory and below each class path entry's parents.
const USUAL: &[&str] = &["", "src", "src/main/java", "src/test/java"];

/// What was found for a file: where, and its lines.
type Found = Option<Rc<(PathBuf, Vec<String>)>>;

#[derive(Debug)]
pub struct SourceTree {
    roots: Vec<PathBuf>,
    files: RefCell<HashMap<PathBuf, Found>>,
}

impl SourceTree {
    /// `program`: what follows `java`, for its class path.
    pub fn new(named: &[PathBuf], program: &[OsString]) -> SourceTree {
        let mut roots: Vec<PathBuf> = named.to_vec();
        let mut add = |root: PathBuf| {
            if !roots.contains(&root) {
                roots.push(root);
            }
        };
        USUAL.iter().for_each(|dir| add(PathBuf::from(dir)));
        for entry in class_path(program) {
            // target/classes has its sources two levels up, build/classes/java/main four.
            for base in entry
                .ancestors()
                .take(5)
                .filter(|base| !base.as_os_str().is_empty())
            {
                USUAL.iter().for_each(|dir| add(base.join(dir)));
            }
        }
        SourceTree {
            roots,
            files: RefCell::default(),
        }
    }

    /// Where a source file is, and all its lines.
    pub fn whole(&self, class: &str, file: &str) -> Option<(PathBuf, Vec<String>)> {
        self.file(class, file).map(|found| (*found).clone())
    }

    fn file(&self, class: &str, file: &str) -> Found {
        // Both come from a class file: they must not lead out of the roots.
        let safe = |part: &str| !part.is_empty() && part != ".." && !part.contains(['/', '\0']);
        let package = class.rsplit_once('.').map_or("", |(package, _)| package);
        if !safe(file)
            || !package
                .split('.')
                .all(|part| package.is_empty() || safe(part))
        {
            return None;
        }
        let relative = Path::new(&package.replace('.', "/")).join(file);
        let mut files = self.files.borrow_mut();
        if let Some(known) = files.get(&relative) {
            return known.clone();
        }
        let found = self.roots.iter().find_map(|root| {
            let path = root.join(&relative);
            read(&path).map(|lines| Rc::new((path, lines)))
        });
        files.insert(relative, found.clone());
        found
    }
}

impl Sources for SourceTree {
    fn line(&self, class: &str, file: &str, line: u32) -> Option<(String, String)> {
        let found = self.file(class, file)?;
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let text = found.1.get(index)?;
        Some((found.0.display().to_string(), text.clone()))
    }
}

fn read(path: &Path) -> Option<Vec<String>> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .ok()?
        .take(LARGEST)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(
        String::from_utf8_lossy(&bytes)
            .lines()
            .map(str::to_owned)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(args: &[&str]) -> Vec<OsString> {
        args.iter().map(OsString::from).collect()
    }

    #[test]
    fn found_by_package_above_the_class_path() {
        let dir = tempfile::tempdir().unwrap();
        let sources = dir.path().join("src/main/java/com/shop");
        std::fs::create_dir_all(&sources).unwrap();
        std::fs::write(sources.join("Bank.java"), "one\ntwo\n").unwrap();
        let classes = dir.path().join("target/classes");
        let tree = SourceTree::new(&[], &os(&["-cp", &classes.to_string_lossy(), "Main"]));
        let (path, text) = tree.line("com.shop.Bank$1", "Bank.java", 2).unwrap();
        assert!(path.ends_with("com/shop/Bank.java"));
        assert_eq!(text, "two");
        assert_eq!(tree.line("com.shop.Bank", "Bank.java", 3), None);
        assert_eq!(tree.line("com.shop.Bank", "Bank.java", 0), None);
        assert_eq!(tree.line("com.shop.Other", "Other.java", 1), None);
    }

    #[test]
    fn names_from_class_files_cannot_leave_the_roots() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("root")).unwrap();
        std::fs::write(dir.path().join("secret"), "x\n").unwrap();
        let tree = SourceTree::new(&[dir.path().join("root")], &[]);
        assert_eq!(tree.line("A", "../secret", 1), None);
        assert_eq!(tree.line("...A", "secret", 1), None);
        assert_eq!(tree.line("A", "..", 1), None);
    }
}
