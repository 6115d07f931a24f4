//! The class files of the installed JDK, and jars to put edited ones into.

use std::path::Path;
use std::sync::OnceLock;

use test_support::jdk::run;

/// A class file and the module it is of.
#[derive(Debug)]
pub struct Entry {
    pub module: String,
    /// Path below the module, such as `java/lang/Object.class`.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// All class files of the JDK, read from its runtime image once.
pub fn jdk_classes() -> &'static [Entry] {
    static CLASSES: OnceLock<Vec<Entry>> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jdk/Dump.java");
        let dump = run("java", &[source]);
        let found = split(&dump);
        assert!(found.len() > 10_000, "only {} classes", found.len());
        found
    })
}

/// Takes apart what Dump.java wrote.
fn split(mut dump: &[u8]) -> Vec<Entry> {
    let mut found = Vec::new();
    while let Some((len, rest)) = dump.split_first_chunk() {
        let (path, rest) = rest.split_at(usize::from(u16::from_be_bytes(*len)));
        let (len, rest) = rest.split_first_chunk().expect("a length");
        let (bytes, rest) = rest.split_at(u32::from_be_bytes(*len) as usize);
        dump = rest;
        let path = str::from_utf8(path).expect("class names in the JDK are plain");
        let (module, path) = path.split_once('/').expect("a path below a module");
        found.push(Entry {
            module: module.to_owned(),
            path: path.to_owned(),
            bytes: bytes.to_vec(),
        });
    }
    found
}

/// A jar file in the making; nothing in it is compressed.
#[derive(Debug, Default)]
pub struct Jar {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Jar {
    pub fn add(&mut self, name: &str, data: &[u8]) {
        let offset = self.bytes.len() as u32;
        // Version 1.0, no flags, stored, the first day of 1980.
        let mut common = vec![10, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        common.extend(crc32(data).to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&common);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(data);
        self.directory.extend(b"PK\x01\x02\x0a\0");
        self.directory.extend(&common);
        self.directory.extend([0; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count += 1;
    }

    pub fn write(mut self, to: &Path) {
        let start = self.bytes.len() as u32;
        self.bytes.extend(&self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        self.bytes.extend(self.count.to_le_bytes());
        self.bytes.extend(self.count.to_le_bytes());
        self.bytes
            .extend((self.directory.len() as u32).to_le_bytes());
        self.bytes.extend(start.to_le_bytes());
        self.bytes.extend([0, 0]);
        std::fs::write(to, self.bytes).expect("jar in the temporary directory");
    }
}

fn crc32(data: &[u8]) -> u32 {
    static TABLE: OnceLock<[u32; 256]> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        std::array::from_fn(|i| {
            (0..8).fold(i as u32, |c, _| match c & 1 {
                0 => c >> 1,
                _ => c >> 1 ^ 0xedb8_8320,
            })
        })
    });
    !data
        .iter()
        .fold(!0, |c: u32, &b| c >> 8 ^ table[usize::from(c as u8 ^ b)])
}
