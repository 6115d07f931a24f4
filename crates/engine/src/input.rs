//! Files that a user names, read with a bound: a device or the wrong file is an error that says
//! so, not a machine without memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a text that somebody writes by hand: configuration, suppressions, properties.
pub const TEXT: u64 = 16 << 20;
/// Bytes of a saved result, schedule log or relation.
pub const RESULT: u64 = 256 << 20;

/// The content of a file.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?, most)
}

/// The content of a text file.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read(path, TEXT)?;
    String::from_utf8(bytes).map_err(|_| invalid("it is no text (UTF-8)".to_owned()))
}

/// All that comes from a reader.
pub fn read_from(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let most = match most >> 20 {
            0 => format!("{most} bytes"),
            mib => format!("{mib} MiB"),
        };
        return Err(invalid(format!(
            "it has more than {most}, so it is something else"
        )));
    }
    Ok(bytes)
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_as_is_allowed_and_no_more() {
        assert_eq!(read_from(&[7; 9][..], 9).unwrap(), [7; 9]);
        assert!(read_from(&[7; 10][..], 9).is_err());
        let endless = read_from(io::repeat(0), TEXT).unwrap_err();
        assert!(endless.to_string().contains("16 MiB"), "{endless}");
    }
}
