//! Percent-coding: the run directory in the JVM's argument, statements in the
//! headers of schedule logs, names in may-trigger relations, URIs.

/// Every byte but those that mean nothing to us, to the JVM's option parser, to a
/// shell or in a URI is written as `%` and two digits.
pub fn encode(bytes: &[u8]) -> String {
    encode_but(bytes, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/')
    })
}

/// Every byte but those to keep is written as `%` and two digits; bytes that are
/// not ASCII always are.
pub fn encode_but(bytes: &[u8], keep: impl Fn(u8) -> bool) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii() && byte != b'%' && keep(byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// None if a `%` is not followed by two digits.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digit = |b: u8| char::from(b).to_digit(16);
                let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_come_back(wanted in any::<Vec<u8>>()) {
            let text = encode(&wanted);
            prop_assert!(!text.contains([',', '=', ':', ' ', ';', '|']));
            prop_assert_eq!(decode(&text), Some(wanted.clone()));
            prop_assert_eq!(decode(&encode_but(&wanted, |_| true)), Some(wanted));
        }
    }

    #[test]
    fn half_a_code_is_none() {
        assert_eq!(decode("a%2"), None);
        assert_eq!(decode("a%zz"), None);
    }
}
