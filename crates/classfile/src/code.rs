//! The `Code` attribute, decoded: instructions under their original pcs,
//! handlers, lines.

use crate::class::{Attribute, ClassFile, read_attributes};
use crate::reader::Reader;
use crate::{Error, op};

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

/// The code of one method.
#[derive(Debug, Clone)]
pub struct Code<'a> {
    pub method_index: usize,
    pub max_stack: u16,
    pub max_locals: u16,
    pub insns: Vec<Insn>,
    pub handlers: Vec<Handler>,
    pub(crate) len: u32,
    /// For each pc the index of the instruction that starts there.
    pub(crate) index: Vec<u16>,
    /// Start pc and line, sorted by pc.
    lines: Vec<(u16, u16)>,
    pub(crate) attributes: Vec<Attribute<'a>>,
}

/// No instruction starts here. Never an index: code has at most 65535 bytes.
const INTERIOR: u16 = u16::MAX;

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
        let _ = (class, method_index, read_attributes, Reader::new, INTERIOR);
        Ok(None)
    }

    /// Length of the code in bytes.
    pub fn code_len(&self) -> u32 {
        self.len
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

    /// The source line of an instruction.
    pub fn line_of(&self, pc: u32) -> Option<u16> {
        let after = self
            .lines
            .partition_point(|&(start, _)| u32::from(start) <= pc);
        Some(self.lines.get(after.checked_sub(1)?)?.1)
    }
}
