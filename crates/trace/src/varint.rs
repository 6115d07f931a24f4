//! LEB128 numbers and zigzag, the only integers of the format besides the
//! fixed fields of a chunk's frame. Reading never panics and never reads past
//! its slice; a number has at most ten bytes.

/// Appends `v`, seven bits a byte, low bits first.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

/// Small magnitudes of either sign to small numbers: 0, -1, 1, -2, ...
#[inline]
pub(crate) fn zigzag(v: i64) -> u64 {
    ((v << 1) ^ (v >> 63)) as u64
}

#[inline]
pub(crate) fn unzigzag(v: u64) -> i64 {
    (v >> 1) as i64 ^ -((v & 1) as i64)
}

/// A cursor over bytes that answers `None` where they end or make no sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Input { rest: bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&b, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(b)
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut v = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let b = self.byte()?;
            // The tenth byte holds the one bit that is left.
            if shift == 63 && b > 1 {
                return None;
            }
            v |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                return Some(v);
            }
            shift += 7;
        }
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        u32::try_from(self.u64()?).ok()
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive() {
        let powers = (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, (1 << bit) | 1]);
        for v in powers.chain([300, u64::MAX]) {
            let mut out = Vec::new();
            put(&mut out, v);
            let mut input = Input::new(&out);
            assert_eq!(input.u64(), Some(v));
            assert!(input.is_empty());
            let len = out.len();
            out.extend([0x80; 9]);
            let mut input = Input::new(&out);
            assert_eq!(input.u64(), Some(v));
            assert_eq!(input.rest().len(), out.len() - len);
            assert_eq!(unzigzag(zigzag(v as i64)), v as i64);
        }
    }

    #[test]
    fn overlong_and_cut_numbers_are_refused() {
        assert_eq!(Input::new(&[0xff; 11]).u64(), None);
        assert_eq!(Input::new(&[0x80]).u64(), None);
        let mut eleven = vec![0x80; 10];
        eleven.push(0);
        assert_eq!(Input::new(&eleven).u64(), None);
        let mut too_big = vec![0xff; 9];
        too_big.push(2);
        assert_eq!(Input::new(&too_big).u64(), None);
    }
}
