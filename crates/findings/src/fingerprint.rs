//! A name for a race that survives edits elsewhere in the file, so that it can
//! be recognised from one day to the next.
//!
//! It is the SHA-256 of the location (class and field; or array type and the
//! field it was reached through, or else the method that allocated it) and the
//! two methods that access it, in alphabetical order. Lines, bytecode offsets,
//! threads, and which access writes are left out: two pairs of statements in
//! the same two methods on the same field share a fingerprint.
//!
//! Inside an object of the JDK many pairs race, and which of them are met is up to
//! chance. So the location is the field that holds the object, or its class where that is not
//! known, and the methods are those of the program that call into the JDK.

use crate::finding::Location;
use crate::group;
use crate::result::Race;
use sha2::{Digest, Sha256};

pub fn fingerprint(race: &Race) -> String {
    let holder = group::holder(race);
    let location = holder.as_ref().unwrap_or(&race.location);
    let [first, second] = race.accesses.each_ref().map(group::own_statement);
    let mut parts: Vec<&str> = Vec::with_capacity(8);
    let source;
    match location {
        Location::Field { class, field, .. } if holder.is_some() => {
            parts.extend(["content", class, field]);
        }
        Location::Field { class, .. } if group::is_inside(race) => {
            let class = class.split('$').next().unwrap_or(class);
            parts.extend(["inside", class]);
        }
        Location::Field { class, field, .. } => parts.extend(["field", class, field]),
        Location::Array {
            array,
            from: Some(from),
            ..
        } => {
            source = from.to_string();
            parts.extend(["array", array, &source]);
        }
        Location::Array {
            array,
            allocated: Some(at),
            ..
        } => {
            parts.extend(["array-from", array, &at.class, &at.method]);
        }
        Location::Array { array, .. } => parts.extend(["array", array, ""]),
    }
    let mut ends = [
        (&first.class, &first.method),
        (&second.class, &second.method),
    ];
    ends.sort();
    for (class, method) in ends {
        parts.extend([class.as_str(), method.as_str()]);
    }
    digest(&parts)
}

/// A digest of texts, one after the other.
pub fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // Length first: no two lists of parts run together to the same bytes.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
