//! A jar without compression: one file instead of thousands.

use std::path::Path;

/// Collects entries, then writes them.
#[derive(Default)]
pub struct Jar {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    entries: u32,
}

impl Jar {
    pub fn add(&mut self, name: &str, data: &[u8]) {
        let offset = self.bytes.len() as u32;
        // Version, flags, method, time, date; checksum and both sizes; lengths
        // of name and extra field: the part both headers share.
        let mut common = Vec::new();
        for word in [10u16, 0, 0, 0, 0x21] {
            common.extend(word.to_le_bytes());
        }
        for word in [crc32(data), data.len() as u32, data.len() as u32] {
            common.extend(word.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);

        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&common);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(data);

        self.directory.extend(b"PK\x01\x02\x0a\x00");
        self.directory.extend(&common);
        // Comment, disk, attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.entries += 1;
    }

    pub fn write(mut self, to: &Path) {
        assert!(
            self.entries < 0xffff,
            "a plain zip has room for 65534 entries"
        );
        let (size, offset) = (self.directory.len() as u32, self.bytes.len() as u32);
        let count = self.entries as u16;
        self.bytes.append(&mut self.directory);
        self.bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
        self.bytes.extend(count.to_le_bytes());
        self.bytes.extend(count.to_le_bytes());
        self.bytes.extend(size.to_le_bytes());
        self.bytes.extend(offset.to_le_bytes());
        self.bytes.extend([0; 2]);
        std::fs::write(to, self.bytes).expect("jar");
    }
}

fn crc32(data: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let mut c = i as u32;
            let mut bit = 0;
            while bit < 8 {
                c = (c >> 1) ^ (0xedb8_8320 & (c & 1).wrapping_neg());
                bit += 1;
            }
            table[i] = c;
            i += 1;
        }
        table
    };
    !data.iter().fold(!0, |crc: u32, &byte| {
        (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)]
    })
}
