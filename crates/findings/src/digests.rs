//! A set of 64-bit digests, as a report carries it: classes of executions, partial orders, pairs
//! of statements. The parts of divided work have items in common; with the sets, what they
//! have together can be counted.
//!
//! In JSON it is one string of hexadecimal digits, sixteen for each: a million take 16 MB. Two
//! of a million digests are equal by chance with a probability of 3 in 100 million.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Write;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digests {
    /// Ascending, each once.
    sorted: Vec<u64>,
}

impl Digests {
    pub fn len(&self) -> u64 {
        self.sorted.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.sorted.iter().copied()
    }

    pub fn contains(&self, digest: u64) -> bool {
        self.sorted.binary_search(&digest).is_ok()
    }
}

impl FromIterator<u64> for Digests {
    fn from_iter<I: IntoIterator<Item = u64>>(all: I) -> Digests {
        let mut sorted: Vec<u64> = all.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        Digests { sorted }
    }
}

impl From<Digests> for String {
    fn from(digests: Digests) -> String {
        let mut text = String::with_capacity(digests.sorted.len() * 16);
        for digest in digests.sorted {
            let _ = write!(text, "{digest:016x}");
        }
        text
    }
}

impl TryFrom<String> for Digests {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Digests, &'static str> {
        let digest = |chunk: &[u8]| {
            let is_hex = chunk.len() == 16 && chunk.iter().all(u8::is_ascii_hexdigit);
            let text = std::str::from_utf8(chunk).ok().filter(|_| is_hex)?;
            u64::from_str_radix(text, 16).ok()
        };
        let all: Option<Digests> = text.as_bytes().chunks(16).map(digest).collect();
        all.ok_or("a set of digests has sixteen hexadecimal digits for each")
    }
}

impl JsonSchema for Digests {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Digests".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9a-f]{16})*$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_read_as_it_is_written(all in prop::collection::vec(any::<u64>(), 0..20)) {
            let digests: Digests = all.iter().copied().collect();
            let text = serde_json::to_string(&digests).unwrap();
            prop_assert_eq!(serde_json::from_str::<Digests>(&text).unwrap(), digests.clone());
            prop_assert!(all.iter().all(|digest| digests.contains(*digest)));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            let _ = Digests::try_from(text);
        }
    }
}
