//! LEB128 numbers (seven bits a byte, low bits first, at most ten bytes), zigzag,
//! and texts with their length before them: the integers of traces and schedule
//! logs. Reading never panics and never reads past its slice.

/// Appends `v`, seven bits a byte, low bits first.
#[inline]
pub fn put(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

/// Small magnitudes of either sign to small numbers: 0, -1, 1, -2, ...
#[inline]
pub fn zigzag(v: i64) -> u64 {
    ((v << 1) ^ (v >> 63)) as u64
}

#[inline]
pub fn unzigzag(v: u64) -> i64 {
    (v >> 1) as i64 ^ -((v & 1) as i64)
}

/// `to` as the distance from `from`, short when they are close; wraps round.
pub fn put_delta(out: &mut Vec<u8>, from: u64, to: u64) {
    put(out, zigzag(to.wrapping_sub(from) as i64));
}

pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// 0 for none, else one more.
pub fn put_option(out: &mut Vec<u8>, v: Option<u64>) {
    put(out, v.map_or(0, |v| v.wrapping_add(1)));
}

/// A cursor over bytes that answers `None` where they end or make no sense.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Input { rest: bytes }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        let (&b, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(b)
    }

    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
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
    pub fn u32(&mut self) -> Option<u32> {
        u32::try_from(self.u64()?).ok()
    }

    pub fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    /// A number that was written as its distance from `from`.
    pub fn delta(&mut self, from: u64) -> Option<u64> {
        Some(from.wrapping_add(unzigzag(self.u64()?) as u64))
    }

    pub fn text(&mut self) -> Option<String> {
        let len = usize::try_from(self.u64()?).ok()?;
        let bytes = self.bytes(len)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    pub fn option(&mut self) -> Option<Option<u64>> {
        Some(self.u64()?.checked_sub(1))
    }

    pub fn option_u32(&mut self) -> Option<Option<u32>> {
        match self.option()? {
            None => Some(None),
            Some(v) => Some(Some(u32::try_from(v).ok()?)),
        }
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
    fn texts_options_and_distances_survive() {
        let mut out = Vec::new();
        put_text(&mut out, "Ünder");
        put_option(&mut out, None);
        put_option(&mut out, Some(7));
        put_delta(&mut out, 5, 3);
        put_delta(&mut out, u64::MAX, 1);
        let mut input = Input::new(&out);
        assert_eq!(input.text().as_deref(), Some("Ünder"));
        assert_eq!(
            (input.option(), input.option_u32()),
            (Some(None), Some(Some(7)))
        );
        assert_eq!((input.delta(5), input.delta(u64::MAX)), (Some(3), Some(1)));
        assert!(input.is_empty());
        assert_eq!(
            Input::new(&[200, 1, b'a']).text(),
            None,
            "longer than the bytes"
        );
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
