//! Descriptors, as far as stack depths need them.

use crate::Error;

/// Stack slots of a value of this field descriptor: 2 for `J` and `D`, 0 for
/// `V`, else 1.
pub fn slots(desc: &str) -> u16 {
    match desc.as_bytes().first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') => 0,
        _ => 1,
    }
}

/// A method descriptor taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Method<'a> {
    params: &'a str,
    /// Descriptor of what it returns; `V` for nothing.
    pub ret: &'a str,
    /// Slots of all parameters together, without a receiver.
    pub param_slots: u16,
}

impl<'a> Method<'a> {
    /// The descriptors of the parameters, in order.
    pub fn params(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut rest = self.params;
        std::iter::from_fn(move || {
            let n = field_len(rest.as_bytes())?;
            let (first, tail) = rest.split_at_checked(n)?;
            rest = tail;
            Some(first)
        })
    }

    /// Slots of the returned value.
    pub fn ret_slots(&self) -> u16 {
        slots(self.ret)
    }
}

/// Takes a method descriptor apart.
pub fn method(desc: &str) -> Result<Method<'_>, Error> {
    let inner = desc.strip_prefix('(').ok_or(Error::Descriptor)?;
    let bytes = inner.as_bytes();
    let (mut at, mut param_slots) = (0, 0u16);
    while bytes.get(at) != Some(&b')') {
        let rest = &bytes[at..];
        let n = field_len(rest).ok_or(Error::Descriptor)?;
        param_slots = param_slots
            .checked_add(if matches!(rest[0], b'J' | b'D') { 2 } else { 1 })
            .ok_or(Error::Descriptor)?;
        at += n;
    }
    let ret = &inner[at + 1..];
    if ret != "V" && field_len(ret.as_bytes()) != Some(ret.len()) {
        return Err(Error::Descriptor);
    }
    Ok(Method {
        params: &inner[..at],
        ret,
        param_slots,
    })
}

/// Length of the field descriptor that `bytes` starts with.
fn field_len(bytes: &[u8]) -> Option<usize> {
    let dims = bytes.iter().take_while(|&&b| b == b'[').count();
    match bytes.get(dims)? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => Some(dims + 1),
        b'L' => {
            let semicolon = bytes[dims..].iter().position(|&b| b == b';')?;
            Some(dims + semicolon + 1)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_split_and_counted() {
        let m = method("(I[[JLjava/lang/String;D)[B").unwrap();
        assert_eq!(
            m.params().collect::<Vec<_>>(),
            ["I", "[[J", "Ljava/lang/String;", "D"]
        );
        assert_eq!((m.param_slots, m.ret, m.ret_slots()), (5, "[B", 1));
        assert_eq!(method("()V").unwrap().ret_slots(), 0);
    }

    #[test]
    fn broken_descriptors_are_refused() {
        for bad in ["", "()", "(", "(V)V", "(L)V", "()VV", "(Lx)V", "I", "([)V"] {
            assert!(method(bad).is_err(), "{bad}");
        }
    }
}
