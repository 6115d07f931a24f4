//! Locals that stack map frames name although they did not before.
//!
//! Frames say nothing about locals by themselves, only how they differ from the
//! frame before; those that change are written out in full. Two things are kept:
//!
//! * values in new locals, behind all others, in every frame (see `hold`, and
//!   `Editor::keep_local`);
//! * `this`, which is in local 0 all along, but need not be named where the code
//!   makes no more use of it: ProGuard and others leave it out. In a constructor
//!   it is named only where the data flow says that it is an object by then;
//!   nothing flows there that is none.

use crate::code::Code;
use crate::flow::{Flow, Kind};
use crate::reader::Reader;
use crate::remap::frame;
use crate::{ClassFile, EditError, Error, PoolFull, acc, desc};

/// A verification type, as frames spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    tag: u8,
    /// Class index or pc, of the two kinds that carry one.
    data: u16,
}

impl Type {
    fn object(class: u16) -> Type {
        Type {
            tag: frame::OBJECT,
            data: class,
        }
    }

    /// The type of a parameter.
    fn from_descriptor(param: &str, class: &mut ClassFile<'_>) -> Result<Type, PoolFull> {
        let tag = match param.as_bytes().first() {
            Some(b'F') => frame::FLOAT,
            Some(b'D') => frame::DOUBLE,
            Some(b'J') => frame::LONG,
            Some(b'[') => return Ok(Type::object(class.pool.add_class(param)?)),
            Some(b'L') => {
                let name = param.strip_prefix('L').and_then(|p| p.strip_suffix(';'));
                return Ok(Type::object(class.pool.add_class(name.unwrap_or(param))?));
            }
            _ => frame::INTEGER,
        };
        Ok(Type { tag, data: 0 })
    }

    /// Reads types as they were just written to a frame.
    pub fn read_all(mut bytes: &[u8]) -> Vec<Type> {
        let mut types = Vec::new();
        while let [tag, rest @ ..] = bytes {
            let (data, rest) = match (tag, rest) {
                (&(frame::OBJECT | frame::UNINITIALIZED), [a, b, rest @ ..]) => {
                    (u16::from_be_bytes([*a, *b]), rest)
                }
                _ => (0, rest),
            };
            types.push(Type { tag: *tag, data });
            bytes = rest;
        }
        types
    }

    fn width(self) -> usize {
        match self.tag {
            frame::LONG | frame::DOUBLE => 2,
            _ => 1,
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        out.push(self.tag);
        if matches!(self.tag, frame::OBJECT | frame::UNINITIALIZED) {
            out.extend(self.data.to_be_bytes());
        }
    }
}

/// What a local holds that is kept through a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Int,
    Long,
    /// Any reference.
    Object,
}

/// What all frames keep, and the locals of the frame last read.
#[derive(Debug)]
pub(crate) struct Kept {
    /// New locals and what is in them, in their order.
    added: Vec<(u16, Type)>,
    /// The type of `this`, and the frames that get it. Sorted by old pc.
    this: Option<(Type, Vec<u32>)>,
    pub locals: Vec<Type>,
    /// A frame was written, and "the same locals" includes the ones kept.
    pub inherited: bool,
}

impl Kept {
    /// Knows the locals at the start of the method, and keeps nothing yet.
    pub fn new(class: &mut ClassFile<'_>, code: &Code<'_>) -> Result<Kept, EditError> {
        let missing = EditError::NoMethod(code.method_index);
        let method = class.methods.get(code.method_index).ok_or(missing)?;
        let (is_static, desc) = (method.is(acc::STATIC), class.member_desc(method));
        let desc = desc.into_owned();
        let mut locals = Vec::new();
        if class.member_name(method) == "<init>" {
            locals.push(Type {
                tag: frame::UNINITIALIZED_THIS,
                data: 0,
            });
        } else if !is_static {
            locals.push(Type::object(class.this_index()));
        }
        for param in desc::method(&desc)?.params() {
            locals.push(Type::from_descriptor(param, class)?);
        }
        Ok(Kept {
            added: Vec::new(),
            this: None,
            locals,
            inherited: false,
        })
    }

    /// Keeps what is in this local, which is behind those kept so far; `object` is
    /// the pool index of `java/lang/Object`.
    pub fn add(&mut self, local: u16, slot: Slot, object: u16) {
        let plain = |tag| Type { tag, data: 0 };
        let kind = match slot {
            Slot::Int => plain(frame::INTEGER),
            Slot::Long => plain(frame::LONG),
            Slot::Object => Type::object(object),
        };
        self.added.push((local, kind));
    }

    /// Keeps `this` in the frames that do not name it and may. `None`: all do.
    pub fn this(class: &mut ClassFile<'_>, code: &Code<'_>) -> Result<Option<Kept>, EditError> {
        let table = code
            .attributes
            .iter()
            .find(|a| class.is_named(a, "StackMapTable"));
        let Some(table) = table else {
            return Ok(None);
        };
        let method = class.methods.get(code.method_index);
        let method = method.ok_or(EditError::NoMethod(code.method_index))?;
        let params = desc::method(&class.member_desc(method))?.params().count();
        let without = frames_without_this(&table.data, 1 + params)?;
        if without.is_empty() {
            return Ok(None);
        }
        let flow = Flow::analyze(class, code).map_err(|_| Error::Attribute("StackMapTable"))?;
        // Code that is never reached has no state. Its frames may say anything.
        let is_object = |pc: &u32| {
            let state = flow.before(*pc);
            state.is_none_or(|s| matches!(s.locals.first().map(|v| v.kind), Some(Kind::Ref(_))))
        };
        let frames = without.into_iter().filter(is_object).collect();
        let mut kept = Kept::new(class, code)?;
        kept.this = Some((Type::object(class.this_index()), frames));
        Ok(Some(kept))
    }

    /// Writes a count and all locals of the frame at this old pc; there is none
    /// for a handler that was added.
    pub fn write(&mut self, pc: Option<u32>, out: &mut Vec<u8>) -> Result<(), EditError> {
        let mut locals = self.locals.clone();
        if let (Some((this, frames)), Some(pc)) = (&self.this, pc)
            && frames.binary_search(&pc).is_ok()
        {
            match locals.first_mut() {
                Some(first) => *first = *this,
                None => locals.push(*this),
            }
        }
        // The frames of `this` differ, one from the other.
        self.inherited = !self.added.is_empty() && self.this.is_none();
        let mut used: usize = locals.iter().map(|t| t.width()).sum();
        for (local, kind) in &self.added {
            let gap = usize::from(*local)
                .checked_sub(used)
                .ok_or(Error::Attribute("StackMapTable"))?;
            let top = Type {
                tag: frame::TOP,
                data: 0,
            };
            locals.extend(std::iter::repeat_n(top, gap));
            locals.push(*kind);
            used += gap + kind.width();
        }
        out.extend((locals.len() as u16).to_be_bytes());
        for local in locals {
            local.write(out);
        }
        Ok(())
    }
}

/// The pcs of the frames that do not name local 0; `locals` are named at the start.
fn frames_without_this(table: &[u8], locals: usize) -> Result<Vec<u32>, Error> {
    let mut r = Reader::new(table);
    let mut without = Vec::new();
    let mut pc: Option<u32> = None;
    let (mut locals, mut named) = (locals, true);
    for _ in 0..r.u16()? {
        let tag = r.u8()?;
        let delta = frame::delta(tag, &mut r)?;
        let at = pc.map_or(delta, |pc| pc + delta + 1);
        pc = Some(at);
        match tag {
            frame::SAME_ONE..=frame::SAME_ONE_EXTENDED => {
                first_of(1, &mut r)?;
            }
            frame::FULL => {
                locals = usize::from(r.u16()?);
                named = first_of(locals, &mut r)? != frame::TOP;
                let stacked = usize::from(r.u16()?);
                first_of(stacked, &mut r)?;
            }
            frame::APPEND.. => {
                let more = usize::from(tag - frame::SAME_EXTENDED);
                let first = first_of(more, &mut r)?;
                named = if locals == 0 {
                    first != frame::TOP
                } else {
                    named
                };
                locals += more;
            }
            frame::CHOP.. => {
                locals = locals.saturating_sub(usize::from(frame::SAME_EXTENDED - tag));
                named &= locals > 0;
            }
            _ => {}
        }
        if !named {
            without.push(at);
        }
    }
    Ok(without)
}

/// Skips types; the tag of the first, TOP if there is none.
fn first_of(count: usize, r: &mut Reader<'_>) -> Result<u8, Error> {
    let mut first = frame::TOP;
    for at in 0..count {
        let tag = r.u8()?;
        if matches!(tag, frame::OBJECT | frame::UNINITIALIZED) {
            r.u16()?;
        }
        if at == 0 {
            first = tag;
        }
    }
    Ok(first)
}
