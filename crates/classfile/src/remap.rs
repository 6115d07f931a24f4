//! The attributes of `Code` that hold pcs, moved to a new [`Layout`].
//!
//! Only stack map frames change size, since they are encoded by the distance
//! to the frame before; the other tables are patched in place. Attributes not
//! known here are kept as they are.

use std::borrow::Cow;

use crate::class::{Attribute, ClassFile};
use crate::kept::{Kept, Type};
use crate::layout::Layout;
use crate::reader::Reader;
use crate::{EditError, Error};

/// Frames of handlers that were added.
#[derive(Debug, Default)]
pub(crate) struct HandlerFrames {
    /// Pool index of `java/lang/Throwable`.
    pub throwable: u16,
    /// Handlers behind the instruction at this old pc, with their new pc: the
    /// locals of the frame before, and a `Throwable` on the stack. Sorted.
    pub same: Vec<(u32, u32)>,
    /// New pc of the catch-all handler: no locals but the one kept, and a
    /// `Throwable` on the stack.
    pub last: Option<u32>,
    /// New pc of the handler behind that one: the same.
    pub behind: Option<u32>,
    /// What frames name besides, see `kept`.
    pub kept: Option<Kept>,
}

impl HandlerFrames {
    /// A whole `StackMapTable` of just the catch-all handler's frame. Handlers
    /// behind others have a frame before them.
    pub fn alone(&mut self) -> Result<Option<Vec<u8>>, EditError> {
        let Some(pc) = self.last.take() else {
            return Ok(None);
        };
        let mut out = vec![0, 1];
        self.write_last(pc, &mut out)?;
        if let Some(behind) = self.behind.take() {
            out[1] = 2;
            self.write_same(behind - pc - 1, &mut out);
        }
        Ok(Some(out))
    }

    fn write_last(&mut self, delta: u32, out: &mut Vec<u8>) -> Result<(), EditError> {
        out.push(frame::FULL);
        out.extend((delta as u16).to_be_bytes());
        match &mut self.kept {
            None => out.extend([0, 0]),
            Some(kept) => {
                kept.locals.clear();
                kept.write(None, out)?;
            }
        }
        out.extend([0, 1, frame::OBJECT]);
        out.extend(self.throwable.to_be_bytes());
        Ok(())
    }

    fn write_same(&self, delta: u32, out: &mut Vec<u8>) {
        out.push(frame::SAME_ONE_EXTENDED);
        out.extend((delta as u16).to_be_bytes());
        out.push(frame::OBJECT);
        out.extend(self.throwable.to_be_bytes());
    }
}

/// One attribute of `Code` for the new layout. `extra` goes into the
/// `StackMapTable`, if it is one.
pub(crate) fn attribute<'a>(
    class: &ClassFile<'a>,
    attribute: &Attribute<'a>,
    layout: &Layout<'_>,
    extra: &mut HandlerFrames,
) -> Result<Attribute<'a>, EditError> {
    let data = &*attribute.data;
    let new = match class.pool.utf8_bytes(attribute.name_index) {
        Some(b"StackMapTable") => frames(data, layout, std::mem::take(extra))?,
        Some(b"LineNumberTable") => lines(data, layout)?,
        Some(b"LocalVariableTable" | b"LocalVariableTypeTable") => locals(data, layout)?,
        Some(b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations") => {
            type_annotations(data, layout)?
        }
        _ => return Ok(attribute.clone()),
    };
    Ok(Attribute {
        name_index: attribute.name_index,
        data: Cow::Owned(new),
    })
}

pub(crate) mod frame {
    pub const SAME_MAX: u8 = 63;
    pub const SAME_ONE: u8 = 64;
    pub const SAME_ONE_MAX: u8 = 127;
    pub const SAME_ONE_EXTENDED: u8 = 247;
    pub const CHOP: u8 = 248;
    pub const SAME_EXTENDED: u8 = 251;
    pub const APPEND: u8 = 252;
    pub const FULL: u8 = 255;
    /// Verification types; the last two carry something.
    pub const TOP: u8 = 0;
    pub const INTEGER: u8 = 1;
    pub const FLOAT: u8 = 2;
    pub const DOUBLE: u8 = 3;
    pub const LONG: u8 = 4;
    pub const UNINITIALIZED_THIS: u8 = 6;
    pub const OBJECT: u8 = 7;
    pub const UNINITIALIZED: u8 = 8;

    /// How far the frame of this tag is from the one before.
    pub fn delta(tag: u8, r: &mut super::Reader<'_>) -> Result<u32, crate::Error> {
        Ok(match tag {
            0..=SAME_MAX => u32::from(tag),
            SAME_ONE..=SAME_ONE_MAX => u32::from(tag - SAME_ONE),
            SAME_ONE_EXTENDED.. => u32::from(r.u16()?),
            _ => return Err(crate::Error::Attribute("StackMapTable")),
        })
    }
}

/// Moves every frame, keeping its kind unless the distance no longer fits it.
fn frames(
    data: &[u8],
    layout: &Layout<'_>,
    mut extra: HandlerFrames,
) -> Result<Vec<u8>, EditError> {
    let mut r = Reader::new(data);
    let count = r.u16()?;
    let mut out = Vec::with_capacity(data.len() + usize::from(count) + 16);
    let added = [extra.last, extra.behind].into_iter().flatten().count();
    let total = usize::from(count) + extra.same.len() + added;
    let total = u16::try_from(total).map_err(|_| EditError::TooManySlots)?;
    out.extend(total.to_be_bytes());
    // The first distance counts from -1, as it were.
    let mut old_pc: Option<u32> = None;
    let mut new_pc: Option<u32> = None;
    let mut distance = |to: u32| -> Result<u32, EditError> {
        let from = new_pc.map_or(Some(0), |pc| pc.checked_add(1));
        let by = from.and_then(|from| to.checked_sub(from));
        new_pc = Some(to);
        by.ok_or(EditError::FrameClash)
    };
    let same = std::mem::take(&mut extra.same);
    let mut same = same.iter().peekable();
    for _ in 0..count {
        let tag = r.u8()?;
        let delta = frame::delta(tag, &mut r)?;
        let pc = old_pc.map_or(delta, |pc| pc + delta + 1);
        old_pc = Some(pc);
        while let Some((_, at)) = same.next_if(|(before, _)| *before < pc) {
            extra.write_same(distance(*at)?, &mut out);
        }
        let by = distance(layout.jump(pc)?)?;
        if let Some(kept) = &mut extra.kept
            && !(kept.inherited && is_same(tag))
        {
            kept_frame((tag, pc), by, kept, &mut r, layout, &mut out)?;
            continue;
        }
        let short = by <= u32::from(frame::SAME_MAX);
        match tag {
            0..=frame::SAME_MAX if short => out.push(by as u8),
            frame::SAME_ONE..=frame::SAME_ONE_MAX if short => {
                out.push(frame::SAME_ONE + by as u8);
            }
            _ => {
                out.push(match tag {
                    0..=frame::SAME_MAX => frame::SAME_EXTENDED,
                    frame::SAME_ONE..=frame::SAME_ONE_MAX => frame::SAME_ONE_EXTENDED,
                    _ => tag,
                });
                out.extend((by as u16).to_be_bytes());
            }
        }
        match tag {
            frame::SAME_ONE..=frame::SAME_ONE_EXTENDED => types(1, &mut r, layout, &mut out)?,
            frame::APPEND..frame::FULL => {
                types(
                    u16::from(tag - frame::SAME_EXTENDED),
                    &mut r,
                    layout,
                    &mut out,
                )?;
            }
            frame::FULL => {
                for _ in 0..2 {
                    let count = r.u16()?;
                    out.extend(count.to_be_bytes());
                    types(count, &mut r, layout, &mut out)?;
                }
            }
            // Same frames and chopped ones (from CHOP on) name no types.
            _ => debug_assert!(tag <= frame::SAME_MAX || tag >= frame::CHOP),
        }
    }
    if r.remaining() > 0 {
        return Err(Error::Attribute("StackMapTable").into());
    }
    for (_, at) in same {
        extra.write_same(distance(*at)?, &mut out);
    }
    if let Some(at) = extra.last {
        extra.write_last(distance(at)?, &mut out)?;
    }
    if let Some(at) = extra.behind {
        extra.write_same(distance(at)?, &mut out);
    }
    Ok(out)
}

/// Frames with the locals of the one before.
fn is_same(tag: u8) -> bool {
    tag <= frame::SAME_ONE_EXTENDED || tag == frame::SAME_EXTENDED
}

/// Writes a frame, known by its tag and old pc, in full, with what all have.
fn kept_frame(
    (tag, pc): (u8, u32),
    distance: u32,
    kept: &mut Kept,
    r: &mut Reader<'_>,
    layout: &Layout<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EditError> {
    let read = |count: u16, r: &mut Reader<'_>| -> Result<Vec<u8>, EditError> {
        let mut bytes = Vec::new();
        types(count, r, layout, &mut bytes)?;
        Ok(bytes)
    };
    let (stacked, stack) = match tag {
        frame::SAME_ONE..=frame::SAME_ONE_EXTENDED => (1, read(1, r)?),
        frame::FULL => {
            let count = r.u16()?;
            kept.locals = Type::read_all(&read(count, r)?);
            let stacked = r.u16()?;
            (stacked, read(stacked, r)?)
        }
        frame::APPEND.. => {
            let more = read(u16::from(tag - frame::SAME_EXTENDED), r)?;
            kept.locals.extend(Type::read_all(&more));
            (0, Vec::new())
        }
        frame::CHOP.. => {
            let fewer = usize::from(frame::SAME_EXTENDED - tag);
            let left = kept.locals.len().checked_sub(fewer);
            let left = left.ok_or(Error::Attribute("StackMapTable"))?;
            kept.locals.truncate(left);
            (0, Vec::new())
        }
        _ => (0, Vec::new()),
    };
    out.push(frame::FULL);
    out.extend((distance as u16).to_be_bytes());
    kept.write(Some(pc), out)?;
    out.extend(stacked.to_be_bytes());
    out.extend(stack);
    Ok(())
}

/// Copies verification types; the `new` that one may name has moved.
fn types(
    count: u16,
    r: &mut Reader<'_>,
    layout: &Layout<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EditError> {
    for _ in 0..count {
        let tag = r.u8()?;
        out.push(tag);
        match tag {
            0..frame::OBJECT => {}
            frame::OBJECT => out.extend_from_slice(r.take(2)?),
            frame::UNINITIALIZED => {
                let pc = layout.new_insn(u32::from(r.u16()?))?;
                out.extend((pc as u16).to_be_bytes());
            }
            _ => return Err(Error::Attribute("StackMapTable").into()),
        }
    }
    Ok(())
}

/// A table being patched: reads the old values, writes new ones over them.
struct Patch<'d> {
    r: Reader<'d>,
    out: Vec<u8>,
}

impl<'d> Patch<'d> {
    fn new(data: &'d [u8]) -> Self {
        Patch {
            r: Reader::new(data),
            out: data.to_vec(),
        }
    }

    /// Replaces the next `u16`. New pcs fit: the layout has at most 65535 bytes.
    fn map(&mut self, new: impl FnOnce(u32) -> u32) -> Result<(), Error> {
        let at = self.r.pos();
        let old = u32::from(self.r.u16()?);
        self.out[at..at + 2].copy_from_slice(&(new(old) as u16).to_be_bytes());
        Ok(())
    }

    /// Replaces the next two `u16`, a start and a length.
    fn map_range(&mut self, layout: &Layout<'_>) -> Result<(), Error> {
        let start = u32::from(self.r.clone().u16()?);
        self.map(|pc| layout.debug(pc))?;
        // A range that is empty stays so; `debug` takes 0 as the very start.
        self.map(|len| match len {
            0 => 0,
            _ => layout
                .debug(start + len)
                .saturating_sub(layout.debug(start)),
        })
    }

    fn skip(&mut self, n: usize) -> Result<(), Error> {
        self.r.take(n).map(drop)
    }
}

fn lines(data: &[u8], layout: &Layout<'_>) -> Result<Vec<u8>, Error> {
    let mut p = Patch::new(data);
    for _ in 0..p.r.u16()? {
        p.map(|pc| layout.debug(pc))?;
        p.skip(2)?;
    }
    Ok(p.out)
}

fn locals(data: &[u8], layout: &Layout<'_>) -> Result<Vec<u8>, Error> {
    let mut p = Patch::new(data);
    for _ in 0..p.r.u16()? {
        p.map_range(layout)?;
        p.skip(6)?;
    }
    Ok(p.out)
}

fn type_annotations(data: &[u8], layout: &Layout<'_>) -> Result<Vec<u8>, Error> {
    let mut p = Patch::new(data);
    for _ in 0..p.r.u16()? {
        match p.r.u8()? {
            // Local variables and resources: ranges, each with a local.
            0x40 | 0x41 => {
                for _ in 0..p.r.u16()? {
                    p.map_range(layout)?;
                    p.skip(2)?;
                }
            }
            // A catch clause: an index into the exception table, where entries
            // keep their places.
            0x42 => p.skip(2)?,
            // instanceof, new, method references.
            0x43..=0x46 => p.map(|pc| layout.insn(pc))?,
            // Casts and type arguments.
            0x47..=0x4b => {
                p.map(|pc| layout.insn(pc))?;
                p.skip(1)?;
            }
            _ => return Err(Error::Attribute("TypeAnnotations")),
        }
        let path = p.r.u8()?;
        p.skip(2 * usize::from(path))?;
        skip_annotation(&mut p.r, 0)?;
    }
    Ok(p.out)
}

/// Nobody nests annotations deeper by hand.
const NESTING: u32 = 32;

fn skip_annotation(r: &mut Reader<'_>, depth: u32) -> Result<(), Error> {
    r.u16()?;
    for _ in 0..r.u16()? {
        r.u16()?;
        skip_value(r, depth)?;
    }
    Ok(())
}

fn skip_value(r: &mut Reader<'_>, depth: u32) -> Result<(), Error> {
    if depth > NESTING {
        return Err(Error::Attribute("TypeAnnotations"));
    }
    match r.u8()? {
        b'e' => r.take(4).map(drop),
        b'@' => skip_annotation(r, depth + 1),
        b'[' => {
            for _ in 0..r.u16()? {
                skip_value(r, depth + 1)?;
            }
            Ok(())
        }
        _ => r.take(2).map(drop),
    }
}
