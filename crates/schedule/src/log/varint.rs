//! LEB128 numbers (seven bits a byte, low ones first, at most ten bytes),
//! zigzag, and texts with their length before them. Reading never panics.

pub(super) fn put(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

/// `to` as the way from `from`, short when they are close; wraps round.
pub(super) fn put_delta(out: &mut Vec<u8>, from: u64, to: u64) {
    let way = to.wrapping_sub(from) as i64;
    put(out, ((way << 1) ^ (way >> 63)) as u64);
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// 0 for none, else one more.
pub(super) fn put_option(out: &mut Vec<u8>, v: Option<u64>) {
    put(out, v.map_or(0, |v| v.wrapping_add(1)));
}

/// A cursor that answers `None` where the bytes end or make no sense.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    pub(super) fn bytes(&mut self, len: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(len).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut v = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            // The tenth byte holds the one bit that is left.
            if shift == 63 && byte > 1 {
                return None;
            }
            v |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(v);
            }
        }
        None
    }

    pub(super) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(super) fn delta(&mut self, from: u64) -> Option<u64> {
        let v = self.number()?;
        Some(from.wrapping_add((v >> 1) ^ (v & 1).wrapping_neg()))
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let len = self.number()?;
        let bytes = self.bytes(len)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(super) fn option(&mut self) -> Option<Option<u64>> {
        Some(self.number()?.checked_sub(1))
    }

    pub(super) fn small_option(&mut self) -> Option<Option<u32>> {
        match self.option()? {
            None => Some(None),
            Some(v) => Some(Some(u32::try_from(v).ok()?)),
        }
    }
}
