//! The class path of a campaign as content-addressed pieces: packed where it is started,
//! unpacked at each worker.
//!
//! The campaign's description lists the files, and length and SHA-256 of each piece. A worker looks at
//! the description before it fetches anything ([`Manifest::check`]), fetches no more of a piece than
//! the description says, and compares the digests of all pieces before it writes, loads or runs
//! anything of them. Files are unpacked below a directory that only the worker's user can
//! enter, and a path that would lead out of it makes the whole bundle be refused.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Stands for the directory of the bundle in the arguments of a program.
pub const PLACE: &str = "@bundle@";

/// Files of directories are put together in pieces of about this size.
const PIECE: usize = 4 << 20;

/// More than this is no class path.
const MOST_BYTES: u64 = 4 << 30;
const MOST_FILES: usize = 1 << 20;

/// What a bundle consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    pub pieces: Vec<Piece>,
    pub files: Vec<File>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// SHA-256, in hexadecimal digits: also its name in the object store.
    pub digest: String,
    pub bytes: u64,
}

/// A file, and where its content is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Relative to the directory of the bundle, with `/`.
    pub path: String,
    pub piece: u32,
    pub offset: u64,
    pub bytes: u64,
}

impl Manifest {
    /// Names what is in it, for a worker that may have it already.
    pub fn digest(&self) -> String {
        digest(&serde_json::to_vec(self).unwrap_or_default())
    }

    pub fn bytes(&self) -> u64 {
        let bytes = self.pieces.iter().map(|piece| piece.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Whether it may be fetched at all: its size is bounded, and its files lie in its pieces and
    /// below the directory that they are unpacked into.
    pub fn check(&self) -> Result<(), Error> {
        let unpacked = self.files.iter().map(|file| file.bytes);
        let unpacked = unpacked.fold(0, u64::saturating_add);
        let count = self.files.len().max(self.pieces.len());
        if self.bytes().max(unpacked) > MOST_BYTES || count > MOST_FILES {
            return Err(refused("it is larger than any class path"));
        }
        for file in &self.files {
            if !is_inside(&file.path) {
                let path = &file.path;
                return Err(refused(format!("{path:?} leads out of its directory")));
            }
            let piece = self.pieces.get(file.piece as usize);
            let end = file.offset.checked_add(file.bytes);
            if end.is_none_or(|end| end > piece.map_or(0, |piece| piece.bytes)) {
                return Err(refused(format!("{:?} is longer than its piece", file.path)));
            }
        }
        Ok(())
    }
}

impl Piece {
    /// Whether this is its content.
    pub fn check(&self, content: &[u8]) -> Result<(), Error> {
        let found = digest(content);
        if found != self.digest || content.len() as u64 != self.bytes {
            return Err(refused(format!(
                "a piece has {} bytes and digest {found}, and the campaign says {} and {}; nothing \
                 of it was used",
                content.len(),
                self.bytes,
                self.digest
            )));
        }
        Ok(())
    }
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::Refused(format!("the bundle is refused: {why}"))
}

pub fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A bundle that is being packed.
#[derive(Debug, Default)]
pub struct Packer {
    manifest: Manifest,
    /// By their digests.
    pieces: BTreeMap<String, Vec<u8>>,
    open: Vec<u8>,
    /// Entries of the class path that are packed already.
    packed: BTreeMap<PathBuf, String>,
}

impl Packer {
    /// Puts what the arguments of `java` name into the bundle: class path, module path and jar.
    /// The arguments for a worker, and the main class or jar if there is one.
    pub fn pack(&mut self, args: &[String]) -> Result<(Vec<String>, Option<String>), Error> {
        let mut packed = Vec::with_capacity(args.len());
        let (mut main, mut has_path) = (None, false);
        let mut all = args.iter();
        while let Some(arg) = all.next() {
            match arg.as_str() {
                "-cp" | "-classpath" | "--class-path" | "-p" | "--module-path" => {
                    packed.push(arg.clone());
                    let value = all.next().ok_or_else(|| {
                        Error::Usage(format!("{arg} needs a path; see `java -help`"))
                    })?;
                    packed.push(self.pack_path(value)?);
                    has_path = true;
                }
                "-jar" => {
                    has_path = true;
                    packed.push(arg.clone());
                    if let Some(jar) = all.next() {
                        main = Some(jar.clone());
                        packed.push(self.pack_entry(Path::new(jar))?);
                    }
                    packed.extend(all.cloned());
                    break;
                }
                _ => match arg.split_once('=') {
                    Some((name @ ("--class-path" | "--module-path"), value)) => {
                        packed.push(format!("{name}={}", self.pack_path(value)?));
                        has_path = true;
                    }
                    _ if arg.starts_with('@') => {
                        return Err(Error::Usage(format!(
                            "{arg} is a file of arguments, and is not sent to workers: give what it says"
                        )));
                    }
                    // The main class: what follows is the program's own.
                    _ if !arg.starts_with('-') => {
                        main = Some(arg.clone());
                        packed.push(arg.clone());
                        packed.extend(all.cloned());
                        break;
                    }
                    _ => {
                        packed.push(arg.clone());
                        // Options whose value is an argument of its own.
                        let has_value = ["-m", "--module", "--add-modules", "--add-opens"]
                            .iter()
                            .chain(&["--add-exports", "--add-reads"]);
                        if { has_value }.any(|option| option == arg) {
                            let value = all.next();
                            main = main.or(value
                                .filter(|_| arg.starts_with("-m") || arg == "--module")
                                .cloned());
                            packed.extend(value.cloned());
                        }
                    }
                },
            }
        }
        match &main {
            Some(source) if source.ends_with(".java") => Err(Error::Usage(format!(
                "{source} is no class: compile it, and give the class path and the main class"
            ))),
            // Workers run in directories of their own, with variables of their own.
            _ if !has_path => Err(Error::Usage(
                "name the classes that are sent to workers (-cp, --module-path or -jar): the \
                 current directory and CLASSPATH are not"
                    .into(),
            )),
            _ => Ok((packed, main)),
        }
    }

    fn pack_path(&mut self, path: &str) -> Result<String, Error> {
        let mut entries = Vec::new();
        // To java an empty entry is the current directory.
        for entry in path
            .split(':')
            .map(|entry| if entry.is_empty() { "." } else { entry })
        {
            match entry.strip_suffix("/*").or((entry == "*").then_some(".")) {
                Some(dir) => {
                    for jar in jars(Path::new(dir))? {
                        entries.push(self.pack_entry(&jar)?);
                    }
                }
                // As java does with an entry that is not there.
                None if !Path::new(entry).exists() => {}
                None => entries.push(self.pack_entry(Path::new(entry))?),
            }
        }
        Ok(entries.join(":"))
    }

    /// A jar, or a directory of classes; where it is at a worker.
    fn pack_entry(&mut self, entry: &Path) -> Result<String, Error> {
        let reading = || format!("cannot read {}", entry.display());
        let real = entry.canonicalize().map_err(Error::io(reading()))?;
        if let Some(known) = self.packed.get(&real) {
            return Ok(known.clone());
        }
        let number = self.packed.len();
        let place = if real.is_dir() {
            let place = number.to_string();
            for file in files(&real)? {
                let below = file.strip_prefix(&real).unwrap_or(&file);
                let Some(below) = below.to_str() else {
                    return Err(Error::Usage(format!(
                        "the name of {} is not UTF-8, so it cannot be sent",
                        file.display()
                    )));
                };
                let path = format!("{place}/{below}");
                self.add(path, &file)?;
            }
            place
        } else {
            let place = format!("{number}.jar");
            self.add(place.clone(), &real)?;
            place
        };
        let at = format!("{PLACE}/{place}");
        self.packed.insert(real, at.clone());
        Ok(at)
    }

    fn add(&mut self, path: String, file: &Path) -> Result<(), Error> {
        let reading = format!("cannot read {}", file.display());
        let content = std::fs::read(file).map_err(Error::io(reading))?;
        if !self.open.is_empty() && self.open.len() + content.len() > PIECE {
            self.close();
        }
        self.manifest.files.push(File {
            path,
            piece: self.manifest.pieces.len() as u32,
            offset: self.open.len() as u64,
            bytes: content.len() as u64,
        });
        self.open.extend(content);
        if self.open.len() >= PIECE {
            self.close();
        }
        Ok(())
    }

    fn close(&mut self) {
        let bytes = std::mem::take(&mut self.open);
        let digest = digest(&bytes);
        self.manifest.pieces.push(Piece {
            digest: digest.clone(),
            bytes: bytes.len() as u64,
        });
        self.pieces.insert(digest, bytes);
    }

    /// The manifest, and the pieces by their digests.
    pub fn finish(mut self) -> (Manifest, BTreeMap<String, Vec<u8>>) {
        let last = self.manifest.files.last();
        if last.is_some_and(|file| file.piece as usize == self.manifest.pieces.len()) {
            self.close();
        }
        (self.manifest, self.pieces)
    }
}

/// The jars of a directory, as `dir/*` means them.
fn jars(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let reading = format!("cannot read {}", dir.display());
    let entries = std::fs::read_dir(dir).map_err(Error::io(reading))?;
    let is_jar = |path: &PathBuf| {
        let extension = path.extension().and_then(|e| e.to_str());
        extension.is_some_and(|e| e.eq_ignore_ascii_case("jar"))
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(is_jar).collect();
    found.sort();
    Ok(found)
}

/// All files below a directory, in the order of their names. Directories behind links are
/// left out: they may lead in a circle.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        let reading = || format!("cannot read {}", dir.display());
        for entry in std::fs::read_dir(&dir).map_err(Error::io(reading()))? {
            let entry = entry.map_err(Error::io(reading()))?;
            let kind = entry.file_type().map_err(Error::io(reading()))?;
            match () {
                () if kind.is_dir() => left.push(entry.path()),
                () if entry.path().is_file() => found.push(entry.path()),
                () => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes the files below a fresh directory, after all digests have been compared.
pub fn unpack(manifest: &Manifest, pieces: &[Vec<u8>], into: &Path) -> Result<(), Error> {
    check(manifest, pieces)?;
    for file in &manifest.files {
        let path = into.join(&file.path);
        let writing = || format!("cannot unpack {}", path.display());
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io(writing()))?;
        }
        // An empty file needs no piece.
        let piece = pieces
            .get(file.piece as usize)
            .map_or(&[][..], Vec::as_slice);
        let content = &piece[file.offset as usize..(file.offset + file.bytes) as usize];
        // The directory is fresh and ours: what is there already was in the list before.
        let mut open = std::fs::OpenOptions::new();
        let opened = open.write(true).create_new(true).open(&path);
        let written = opened.and_then(|mut to| std::io::Write::write_all(&mut to, content));
        written.map_err(Error::io(writing()))?;
    }
    Ok(())
}

/// Whether the pieces are those of the manifest, and its files lie inside.
fn check(manifest: &Manifest, pieces: &[Vec<u8>]) -> Result<(), Error> {
    manifest.check()?;
    if pieces.len() != manifest.pieces.len() {
        return Err(refused("pieces are missing"));
    }
    let mut both = manifest.pieces.iter().zip(pieces);
    both.try_for_each(|(wanted, content)| wanted.check(content))
}

/// Whether a path stays below the directory that it is relative to.
fn is_inside(path: &str) -> bool {
    let plain = |component: Component<'_>| matches!(component, Component::Normal(_));
    !path.is_empty()
        && !path.contains(['\0', '\\'])
        && path
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..")
        && Path::new(path).components().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed() -> (tempfile::TempDir, Vec<String>, Manifest, Vec<Vec<u8>>) {
        let dir = tempfile::tempdir().unwrap();
        let classes = dir.path().join("classes");
        std::fs::create_dir_all(classes.join("com/shop")).unwrap();
        std::fs::write(classes.join("com/shop/Main.class"), b"main").unwrap();
        std::fs::write(classes.join("empty"), b"").unwrap();
        let jar = dir.path().join("a.jar");
        std::fs::write(&jar, vec![7; PIECE + 1]).unwrap();
        let mut packer = Packer::default();
        let path = format!("{}:{}:nowhere", classes.display(), jar.display());
        let args = ["-Xmx1g", "-cp", &path, "com.shop.Main", "-cp", "mine"];
        let (args, main) = packer.pack(&args.map(str::to_owned)).unwrap();
        assert_eq!(main.as_deref(), Some("com.shop.Main"));
        let (manifest, pieces) = packer.finish();
        let pieces = manifest.pieces.iter().map(|p| pieces[&p.digest].clone());
        let pieces = pieces.collect();
        (dir, args, manifest, pieces)
    }

    #[test]
    fn what_workers_would_not_have_is_refused() {
        let told = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
            match Packer::default().pack(&args) {
                Err(Error::Usage(why)) => why,
                other => panic!("{args:?}: {other:?}"),
            }
        };
        for args in [&["Main"][..], &["-Xmx1g", "Main", "-cp", "x"], &[]] {
            assert!(told(args).contains("-cp"), "{args:?}");
        }
        assert!(told(&["@args", "Main"]).contains("file of arguments"));
        assert!(told(&["-cp", "nowhere", "Main.java"]).contains("compile it"));
        let program = ["-cp", "nowhere", "Main", "@mine", "x.java"].map(str::to_owned);
        let (packed, _) = Packer::default().pack(&program).unwrap();
        assert_eq!(packed[3..], ["@mine", "x.java"]);
    }

    #[test]
    fn what_is_packed_is_unpacked_the_same() {
        let (_dir, args, manifest, pieces) = packed();
        assert_eq!(args[..2], ["-Xmx1g", "-cp"]);
        assert_eq!(args[2], format!("{PLACE}/0:{PLACE}/1.jar"));
        assert_eq!(args[3..], ["com.shop.Main", "-cp", "mine"]);
        let into = tempfile::tempdir().unwrap();
        unpack(&manifest, &pieces, into.path()).unwrap();
        let read = |path: &str| std::fs::read(into.path().join(path)).unwrap();
        assert_eq!(read("0/com/shop/Main.class"), b"main");
        assert_eq!(read("0/empty"), b"");
        assert_eq!(read("1.jar"), vec![7; PIECE + 1]);
    }

    #[test]
    fn a_jar_and_its_arguments() {
        let dir = tempfile::tempdir().unwrap();
        let jar = dir.path().join("app.jar");
        std::fs::write(&jar, b"jar").unwrap();
        let mut packer = Packer::default();
        let args = ["-ea", "-jar", jar.to_str().unwrap(), "-jar", "x"].map(str::to_owned);
        let (packed, main) = packer.pack(&args).unwrap();
        assert_eq!(main, Some(jar.display().to_string()));
        let place = format!("{PLACE}/0.jar");
        assert_eq!(packed, ["-ea", "-jar", &place, "-jar", "x"]);
    }

    #[test]
    fn nothing_is_written_before_every_digest_fits() {
        let (_dir, _, manifest, mut pieces) = packed();
        pieces.last_mut().unwrap()[3] ^= 1;
        let into = tempfile::tempdir().unwrap();
        let error = unpack(&manifest, &pieces, into.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains("nothing of it was used"), "{error}");
        assert_eq!(std::fs::read_dir(into.path()).unwrap().count(), 0);
    }

    #[test]
    fn no_file_leads_out_of_the_directory() {
        let (_dir, _, manifest, pieces) = packed();
        for path in [
            "../x",
            "/etc/x",
            "a/../../x",
            "",
            "a//b",
            "./x",
            "a\\..\\x",
            "a/\0",
        ] {
            let mut bad = manifest.clone();
            bad.files[0].path = path.to_owned();
            let into = tempfile::tempdir().unwrap();
            let inner = into.path().join("inner");
            std::fs::create_dir(&inner).unwrap();
            let error = unpack(&bad, &pieces, &inner).unwrap_err().to_string();
            assert!(error.contains("leads out"), "{path:?}: {error}");
            assert_eq!(std::fs::read_dir(into.path()).unwrap().count(), 1);
        }
        let mut bad = manifest.clone();
        bad.files[0].offset = u64::MAX;
        assert!(unpack(&bad, &pieces, Path::new("/nonexistent")).is_err());
    }

    #[test]
    fn a_bundle_is_bounded_before_it_is_fetched() {
        let (_dir, _, good, _) = packed();
        good.check().unwrap();
        let refused = |change: &dyn Fn(&mut Manifest)| {
            let mut bad = good.clone();
            change(&mut bad);
            bad.check().unwrap_err().to_string()
        };
        let large = "larger than any class path";
        assert!(refused(&|m| m.pieces[0].bytes = MOST_BYTES).contains(large));
        assert!(refused(&|m| m.pieces[0].bytes = u64::MAX).contains(large));
        // A short piece can be unpacked again and again.
        let again = |m: &mut Manifest| {
            m.pieces[0].bytes = MOST_BYTES / 2;
            let file = File {
                bytes: MOST_BYTES / 2,
                offset: 0,
                ..m.files[0].clone()
            };
            m.files.extend([file.clone(), file.clone(), file]);
        };
        assert!(refused(&again).contains(large));
        assert!(refused(&|m| m.files[0].bytes = u64::MAX).contains(large));
        let no_piece = |m: &mut Manifest| m.files[0].piece = 99;
        assert!(refused(&no_piece).contains("longer than its piece"));
    }

    proptest! {
        /// The twin: what the operating system makes of the path.
        #[test]
        fn paths_that_are_inside_stay_inside(path in "[a./\\\\ ]{0,12}") {
            if is_inside(&path) {
                let mut depth = 0i32;
                for part in path.split('/') {
                    depth += if part == ".." { -1 } else { 1 };
                    prop_assert!(depth > 0, "{}", path);
                }
                prop_assert!(Path::new("/base").join(&path).starts_with("/base"));
            }
        }
    }
}
