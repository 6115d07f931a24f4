//! Frames: how a chunk stands in the file.
//!
//! ```text
//! magic   4 bytes  "PFck"
//! kind    u16      see [`Kind`]
//! flags   u16      0; a reader refuses chunks with flags it does not know
//! length  u32      of the payload
//! crc     u32      CRC-32 of kind, flags, length and payload
//! payload
//! ```
//! Numbers are little-endian. A payload may end in a *block*: a byte (0 stored,
//! 1 LZ4), the unpacked length as varint, and the bytes.

use crate::crc::crc32;
use encoding::varint::{Input, put};

pub(crate) const MAGIC: [u8; 4] = *b"PFck";
pub(crate) const FRAME: usize = 16;
/// No chunk is larger than this, packed or unpacked: what a reader may have to
/// hold of a thread. Writers split long before.
pub(crate) const MAX_CHUNK: usize = 64 << 20;

/// What is in a chunk. Readers skip kinds they do not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(crate) enum Kind {
    Header = 1,
    Events = 2,
    Strings = 3,
    Sites = 4,
    Fields = 5,
    Threads = 6,
    Objects = 7,
    Classes = 8,
    Methods = 9,
    ClassBytes = 10,
    Footer = 11,
    Part = 12,
}

impl Kind {
    pub(crate) fn from_u16(n: u16) -> Option<Kind> {
        Some(match n {
            1 => Kind::Header,
            2 => Kind::Events,
            3 => Kind::Strings,
            4 => Kind::Sites,
            5 => Kind::Fields,
            6 => Kind::Threads,
            7 => Kind::Objects,
            8 => Kind::Classes,
            9 => Kind::Methods,
            10 => Kind::ClassBytes,
            11 => Kind::Footer,
            12 => Kind::Part,
            _ => return None,
        })
    }
}

/// Starts a chunk at the end of `out`: the payload is appended next, then
/// [`finish`] is called with what this returned.
pub(crate) fn start(kind: Kind, out: &mut Vec<u8>) -> usize {
    let at = out.len();
    out.extend(MAGIC);
    out.extend((kind as u16).to_le_bytes());
    out.extend([0; FRAME - 6]);
    at
}

/// Fills in length and checksum of the chunk that started at `at`.
pub(crate) fn finish(at: usize, out: &mut [u8]) {
    let (frame, payload) = out[at..].split_at_mut(FRAME);
    debug_assert!(payload.len() <= MAX_CHUNK);
    frame[8..12].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    let crc = crc32(&[&frame[4..12], payload]);
    frame[12..16].copy_from_slice(&crc.to_le_bytes());
}

const STORED: u8 = 0;
const LZ4: u8 = 1;

/// Appends `body` as a block, packed if that makes it smaller.
pub(crate) fn put_block(body: &[u8], out: &mut Vec<u8>) {
    let at = out.len();
    out.push(LZ4);
    put(out, body.len() as u64);
    let start = out.len();
    out.resize(
        start + lz4_flex::block::get_maximum_output_size(body.len()),
        0,
    );
    match lz4_flex::block::compress_into(body, &mut out[start..]) {
        Ok(n) if n < body.len() => out.truncate(start + n),
        _ => {
            out.truncate(start);
            out[at] = STORED;
            out.extend_from_slice(body);
        }
    }
}

/// Unpacks the block that is the rest of `input` into `body` (overwritten).
/// `None` if it is damaged. LZ4 cannot grow data more than 255-fold, so a
/// length beyond that is refused before anything is allocated.
pub(crate) fn get_block(input: &mut Input<'_>, body: &mut Vec<u8>) -> Option<()> {
    let method = input.byte()?;
    let len = usize::try_from(input.u64()?).ok()?;
    let packed = input.rest();
    *input = Input::new(&[]);
    body.clear();
    match method {
        STORED => {
            body.extend_from_slice(packed);
            (len == packed.len()).then_some(())
        }
        LZ4 if len <= MAX_CHUNK && len <= packed.len().checked_mul(255)?.checked_add(64)? => {
            body.resize(len, 0);
            let n = lz4_flex::block::decompress_into(packed, body).ok()?;
            (n == len).then_some(())
        }
        _ => None,
    }
}
