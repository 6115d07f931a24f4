//! The `Code` attribute, decoded: instructions under their original pcs,
//! handlers, lines.

use std::borrow::Cow;

use crate::class::{Attribute, ClassFile, read_attributes_with};
use crate::reader::Reader;
use crate::{Error, decode, op};

/// One instruction. `op` is the opcode as it stands in the file (`aload_0`
/// stays `aload_0`); of a `wide` instruction it is the opcode behind the prefix.
#[derive(Debug, Clone)]
pub struct Insn {
    /// Where it was before any edit.
    pub pc: u32,
    pub op: u8,
    /// It carries the `wide` prefix.
    pub wide: bool,
    pub operand: Operand,
}

/// What follows the opcode.
#[derive(Debug, Clone)]
pub enum Operand {
    None,
    /// `bipush`.
    Byte(i8),
    /// `sipush`.
    Short(i16),
    /// Loads, stores and `ret` that name their local.
    Local(u16),
    Iinc {
        local: u16,
        by: i16,
    },
    /// Constants, fields, methods and types.
    Cp(u16),
    InvokeInterface {
        cp: u16,
        count: u8,
    },
    InvokeDynamic(u16),
    /// `newarray`.
    NewArray(u8),
    MultiANew {
        cp: u16,
        dims: u8,
    },
    /// Where a branch goes: an original pc, known to start an instruction.
    Branch(u32),
    Switch(Box<Switch>),
}

/// A `tableswitch` (keys without gaps) or `lookupswitch`.
#[derive(Debug, Clone)]
pub struct Switch {
    pub default: u32,
    /// Keys with their targets, in file order.
    pub cases: Vec<(i32, u32)>,
}

/// An entry of the exception table: `start..end` are guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    pub start: u32,
    pub end: u32,
    pub handler: u32,
    /// The class caught, as a pool index; 0 catches everything.
    pub catch_type: u16,
}

/// The code of one method. A reading of it: changes to these fields go nowhere,
/// an [`Editor`](crate::Editor) makes changes.
#[derive(Debug, Clone)]
pub struct Code<'a> {
    pub method_index: usize,
    pub max_stack: u16,
    pub max_locals: u16,
    pub insns: Vec<Insn>,
    pub handlers: Vec<Handler>,
    /// The code as it stands in the file: what an edit does not touch is copied
    /// from here.
    pub(crate) bytes: Cow<'a, [u8]>,
    /// For each pc the index of the instruction that starts there.
    pub(crate) index: Vec<u16>,
    /// Start pc and line, sorted by pc.
    lines: Vec<(u16, u16)>,
    pub(crate) attributes: Vec<Attribute<'a>>,
}

/// No instruction starts here. Never an index: code has at most 65535 bytes.
pub(crate) const INTERIOR: u16 = u16::MAX;

impl Insn {
    /// The local that the instruction reads or writes, also when the opcode
    /// implies it (`aload_0`).
    pub fn local(&self) -> Option<u16> {
        match (&self.operand, self.op) {
            (Operand::Local(n) | Operand::Iinc { local: n, .. }, _) => Some(*n),
            (_, op @ op::ILOAD_0..=op::ALOAD_3) => Some(u16::from((op - op::ILOAD_0) % 4)),
            (_, op @ op::ISTORE_0..=op::ASTORE_3) => Some(u16::from((op - op::ISTORE_0) % 4)),
            _ => None,
        }
    }

    /// The pool index that the instruction names.
    pub fn cp(&self) -> Option<u16> {
        match self.operand {
            Operand::Cp(cp)
            | Operand::InvokeInterface { cp, .. }
            | Operand::InvokeDynamic(cp)
            | Operand::MultiANew { cp, .. } => Some(cp),
            _ => None,
        }
    }
}

impl<'a> Code<'a> {
    /// The code of a method; `None` if it is native or abstract, or if there
    /// is no such method.
    pub fn decode(class: &ClassFile<'a>, method_index: usize) -> Result<Option<Code<'a>>, Error> {
        let Some(method) = class.methods.get(method_index) else {
            return Ok(None);
        };
        let mut all = method.attributes.iter();
        let Some(attribute) = all.find(|a| class.is_named(a, "Code")) else {
            return Ok(None);
        };
        let code = match &attribute.data {
            Cow::Borrowed(data) => Self::read(class, method_index, data, Cow::Borrowed)?,
            // Written by an edit before this one: the class owns it.
            Cow::Owned(data) => {
                Self::read(class, method_index, data, |part| Cow::Owned(part.to_vec()))?
            }
        };
        Ok(Some(code))
    }

    fn read<'d>(
        class: &ClassFile<'_>,
        method_index: usize,
        data: &'d [u8],
        keep: impl Fn(&'d [u8]) -> Cow<'a, [u8]>,
    ) -> Result<Code<'a>, Error> {
        let mut r = Reader::new(data);
        let (max_stack, max_locals) = (r.u16()?, r.u16()?);
        let len = r.u32()?;
        if !(1..=u32::from(u16::MAX)).contains(&len) {
            return Err(Error::CodeLength(len));
        }
        let bytes = r.take(len as usize)?;
        let (insns, index) = decode::instructions(bytes)?;
        let count = r.u16()?;
        let mut handlers = Vec::with_capacity(usize::from(count).min(r.remaining() / 8));
        for _ in 0..count {
            handlers.push(Handler {
                start: u32::from(r.u16()?),
                end: u32::from(r.u16()?),
                handler: u32::from(r.u16()?),
                catch_type: r.u16()?,
            });
        }
        let attributes = read_attributes_with(&mut r, &keep)?;
        if r.remaining() > 0 {
            return Err(Error::Attribute("Code"));
        }
        let mut lines = Vec::new();
        for table in attributes
            .iter()
            .filter(|a| class.is_named(a, "LineNumberTable"))
        {
            read_lines(&table.data, &mut lines)?;
        }
        if !lines.is_sorted_by_key(|&(pc, _)| pc) {
            lines.sort_by_key(|&(pc, _)| pc);
        }
        let code = Code {
            method_index,
            max_stack,
            max_locals,
            insns,
            handlers,
            bytes: keep(bytes),
            index,
            lines,
            attributes,
        };
        for h in &code.handlers {
            let end_ok = h.end == code.code_len() || code.index_of(h.end).is_some();
            if h.start >= h.end || !end_ok {
                return Err(Error::Target(h.end));
            }
            for pc in [h.start, h.handler] {
                code.index_of(pc).ok_or(Error::Target(pc))?;
            }
        }
        Ok(code)
    }

    /// Length of the code in bytes.
    pub fn code_len(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// The position in `insns` of the instruction that starts at `pc`.
    pub fn index_of(&self, pc: u32) -> Option<usize> {
        let index = *self.index.get(pc as usize)?;
        (index != INTERIOR).then_some(usize::from(index))
    }

    /// The instruction that starts at `pc`.
    pub fn at(&self, pc: u32) -> Option<&Insn> {
        self.insns.get(self.index_of(pc)?)
    }

    /// The bytes of the instruction with this index, as they stand in the file.
    pub fn raw(&self, index: usize) -> &[u8] {
        let start = self.insns.get(index).map_or(0, |i| i.pc as usize);
        let end = self.end_of(index) as usize;
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The pc behind the instruction at this index.
    pub fn end_of(&self, index: usize) -> u32 {
        self.insns.get(index + 1).map_or(self.code_len(), |i| i.pc)
    }

    /// The data of the attribute of this name that the code itself carries.
    pub fn attribute(&self, class: &ClassFile<'_>, name: &str) -> Option<&[u8]> {
        let mut all = self.attributes.iter();
        all.find(|a| class.is_named(a, name)).map(|a| &*a.data)
    }

    /// What the source calls a local, where control is at `pc`. A store comes
    /// just before the range of the variable it first fills: ask for the pc
    /// behind it.
    pub fn local_name<'n>(
        &self,
        class: &'n ClassFile<'_>,
        local: u16,
        pc: u32,
    ) -> Option<Cow<'n, str>> {
        let mut r = Reader::new(self.attribute(class, "LocalVariableTable")?);
        for _ in 0..r.u16().ok()? {
            let (start, len) = (u32::from(r.u16().ok()?), u32::from(r.u16().ok()?));
            let (name, _desc, index) = (r.u16().ok()?, r.u16().ok()?, r.u16().ok()?);
            if index == local && (start..start + len).contains(&pc) {
                return class.pool.utf8(name);
            }
        }
        None
    }

    /// The source line of an instruction.
    pub fn line_of(&self, pc: u32) -> Option<u16> {
        let after = self
            .lines
            .partition_point(|&(start, _)| u32::from(start) <= pc);
        Some(self.lines.get(after.checked_sub(1)?)?.1)
    }
}

fn read_lines(data: &[u8], lines: &mut Vec<(u16, u16)>) -> Result<(), Error> {
    let mut r = Reader::new(data);
    let count = r.u16()?;
    lines.reserve(usize::from(count).min(r.remaining() / 4));
    for _ in 0..count {
        lines.push((r.u16()?, r.u16()?));
    }
    Ok(())
}
