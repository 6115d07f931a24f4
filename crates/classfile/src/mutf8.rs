//! The class file's own UTF-8: NUL in two bytes, characters beyond the basic
//! plane as two surrogates of three bytes each.
//!
//! Decoding is lossy: what is no valid character (a lone surrogate, a broken
//! sequence) becomes U+FFFD. Nothing is ever written back from a decoded
//! string, so lossiness never reaches a class file.

use std::borrow::Cow;

pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    // Plain UTF-8 without surrogates and NULs reads the same in both.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(
            char::decode_utf16(units(bytes))
                .map(|c| c.unwrap_or('\u{fffd}'))
                .collect(),
        ),
    }
}

/// The UTF-16 units that `bytes` stand for.
fn units(mut bytes: &[u8]) -> impl Iterator<Item = u16> {
    std::iter::from_fn(move || {
        let (unit, rest) = match *bytes {
            [] => return None,
            [a @ 0..0x80, ref rest @ ..] => (u16::from(a), rest),
            [a @ 0xc0..0xe0, b @ 0x80..0xc0, ref rest @ ..] => {
                (u16::from(a & 0x1f) << 6 | u16::from(b & 0x3f), rest)
            }
            [
                a @ 0xe0..0xf0,
                b @ 0x80..0xc0,
                c @ 0x80..0xc0,
                ref rest @ ..,
            ] => (
                u16::from(a & 0x0f) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f),
                rest,
            ),
            [_, ref rest @ ..] => (0xfffd, rest),
        };
        bytes = rest;
        Some(unit)
    })
}

pub(crate) fn encode(text: &str) -> Cow<'_, [u8]> {
    if text.bytes().all(|b| (1..0x80).contains(&b)) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    for unit in text.encode_utf16() {
        match unit {
            1..0x80 => out.push(unit as u8),
            0 | 0x80..0x800 => out.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
            _ => out.extend([
                0xe0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nul_and_supplementary_characters_have_their_own_encoding() {
        assert_eq!(&*encode("a\0b"), b"a\xc0\x80b");
        assert_eq!(&*encode("\u{1f600}"), b"\xed\xa0\xbd\xed\xb8\x80");
        assert_eq!(decode(b"\xed\xa0\xbd\xed\xb8\x80"), "\u{1f600}");
        assert_eq!(decode(b"a\xc0\x80b"), "a\0b");
        assert_eq!(decode(b"x\xed\xa0\xbdy"), "x\u{fffd}y");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn encoding_then_decoding_gives_the_text_back(text in "(?s).{0,20}") {
            let encoded = encode(&text);
            prop_assert_eq!(decode(&encoded), text.as_str());
        }

        #[test]
        fn any_bytes_decode(bytes: Vec<u8>) {
            decode(&bytes);
        }
    }
}
