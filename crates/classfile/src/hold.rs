//! A monitor held through a whole method: what `synchronized` on a method means,
//! written out.
//!
//! ```text
//!         (the object into local k); aload k; monitorenter
//! A:      body, with "aload k; monitorexit" before each return
//! H:      ..; aload k; monitorexit; athrow
//! R:      aload k; monitorexit; athrow
//!         any exception in A..H, the returns left out, goes to H;
//!         any in H before its athrow goes to R
//! ```
//!
//! HotSpot compiles a method only if it can see that its locks are balanced: on
//! every path, also those of exceptions, what is given back is the object in the
//! very local that was locked. So the local must live through the method, and
//! every stack map frame must name it. Frames say nothing about locals by
//! themselves, only how they differ from the frame before; those that differ are
//! written out in full, with the local behind all others.
//!
//! R is there because what comes first in H may throw (the stack may be full).

use crate::code::Code;
use crate::remap::frame;
use crate::{ClassFile, EditError, Error, PoolFull, Snippet, acc, desc};

#[derive(Debug)]
pub(crate) struct Hold {
    pub local: u16,
    /// New pc of A.
    pub from: u32,
    /// R.
    pub release: Snippet,
}

impl Hold {
    pub fn new(local: u16, from: u32, class: &mut ClassFile<'_>) -> Result<Hold, PoolFull> {
        let release = Snippet::new(&mut class.pool)
            .aload(local)
            .monitorexit()
            .athrow()
            .finish()?;
        Ok(Hold {
            local,
            from,
            release,
        })
    }

    /// What frames need to know.
    pub fn kept(&self, class: &mut ClassFile<'_>, code: &Code<'_>) -> Result<Kept, EditError> {
        let missing = EditError::NoMethod(code.method_index);
        let method = class.methods.get(code.method_index).ok_or(missing)?;
        let (is_static, desc) = (method.is(acc::STATIC), class.member_desc(method));
        let desc = desc.into_owned();
        let mut locals = Vec::new();
        if !is_static {
            locals.push(Type::object(class.this_index()));
        }
        for param in desc::method(&desc)?.params() {
            locals.push(Type::of(param, class)?);
        }
        Ok(Kept {
            local: self.local,
            object: class.pool.add_class("java/lang/Object")?,
            locals,
            inherited: false,
        })
    }
}

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
    fn of(param: &str, class: &mut ClassFile<'_>) -> Result<Type, PoolFull> {
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

/// The local that all frames keep, and the locals of the frame last written.
#[derive(Debug)]
pub(crate) struct Kept {
    local: u16,
    /// Pool index of `java/lang/Object`.
    object: u16,
    pub locals: Vec<Type>,
    /// A frame was written: "the same locals" includes ours.
    pub inherited: bool,
}

impl Kept {
    /// Writes a count and all locals.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Result<(), EditError> {
        self.inherited = true;
        let used: usize = self.locals.iter().map(|t| t.width()).sum();
        let gap = usize::from(self.local)
            .checked_sub(used)
            .ok_or(Error::Attribute("StackMapTable"))?;
        let count = self.locals.len() + gap + 1;
        out.extend((count as u16).to_be_bytes());
        for local in &self.locals {
            local.write(out);
        }
        out.resize(out.len() + gap, frame::TOP);
        Type::object(self.object).write(out);
        Ok(())
    }
}
