//! Where everything goes when a method is edited.
//!
//! Sizes depend on positions in two ways. The padding of a switch follows from
//! what precedes it, so one pass from front to back settles it. A `goto` or
//! `jsr` that would pass 32 KiB becomes `goto_w` or `jsr_w`, which moves what
//! follows: passes repeat until none grows. Growth is never taken back, so that
//! ends. A conditional branch that far would have to be inverted over a
//! `goto_w`, with a new frame behind it; methods that large are rare enough to
//! be refused instead.

use crate::code::{Insn, Operand, Switch};
use crate::edit::{Edit, Place};
use crate::{Code, EditError, Error, op};

/// Where everything goes.
#[derive(Debug)]
pub(crate) struct Layout<'c> {
    code: &'c Code<'c>,
    /// By instruction, where a jump to it lands; last, where the body ends.
    pub starts: Vec<u32>,
    /// By instruction, where it is itself.
    pub insns: Vec<u32>,
    /// By instruction, whether a `goto` or `jsr` has grown to five bytes.
    /// Empty as long as none has.
    grown: Vec<bool>,
    /// Replaced instructions: where in the replacement its first `new` is.
    replaced: Vec<(u16, Option<u32>)>,
    /// What lies behind instructions, not reached from them: how long it is.
    behind: Vec<(u16, u32)>,
}

impl<'c> Layout<'c> {
    pub fn compute(
        code: &'c Code<'c>,
        entry: u32,
        edits: &[Edit],
    ) -> Result<Layout<'c>, EditError> {
        let n = code.insns.len();
        let mut layout = Layout {
            code,
            starts: Vec::with_capacity(n + 1),
            insns: Vec::with_capacity(n),
            grown: Vec::new(),
            replaced: Vec::new(),
            behind: Vec::new(),
        };
        for edit in edits.iter().filter(|e| e.place == Place::Behind) {
            let len = edit.snippet.bytes.len() as u32;
            layout.behind.push((edit.at, len));
        }
        for edit in edits.iter().filter(|e| e.place == Place::Instead) {
            layout.replaced.push((edit.at, edit.snippet.new_at));
        }
        loop {
            layout.pass(entry, edits);
            if layout.end() > u32::from(u16::MAX) {
                return Err(EditError::CodeTooLarge(layout.end()));
            }
            if layout.end() <= i16::MAX as u32 || !layout.grow()? {
                return Ok(layout);
            }
        }
    }

    /// Lays everything out with the sizes assumed now.
    fn pass(&mut self, entry: u32, edits: &[Edit]) {
        self.starts.clear();
        self.insns.clear();
        let mut at = entry;
        let mut edits = edits.iter().peekable();
        for (i, insn) in self.code.insns.iter().enumerate() {
            self.starts.push(at);
            let mut own = true;
            let mut after = 0;
            while let Some(edit) = edits.next_if(|e| usize::from(e.at) == i) {
                let len = edit.snippet.bytes.len() as u32;
                match edit.place {
                    Place::Before => at += len,
                    Place::Instead => {
                        own = false;
                        after += len;
                    }
                    Place::After | Place::Behind => after += len,
                }
            }
            self.insns.push(at);
            if own {
                at += match &insn.operand {
                    Operand::Branch(_) => self.width(i, insn),
                    Operand::Switch(switch) => switch_len(insn.op, switch, at),
                    _ => self.code.end_of(i) - insn.pc,
                };
            }
            at += after;
        }
        self.starts.push(at);
    }

    /// Widens the `goto`s and `jsr`s that reach too far; whether there were any.
    fn grow(&mut self) -> Result<bool, EditError> {
        let mut any = false;
        for (i, insn) in self.code.insns.iter().enumerate() {
            let Operand::Branch(target) = insn.operand else {
                continue;
            };
            if self.width(i, insn) == 5 || self.is_replaced(i) {
                continue;
            }
            let by = i64::from(self.jump(target)?) - i64::from(self.insns[i]);
            if i16::try_from(by).is_ok() {
                continue;
            }
            if op::is_conditional(insn.op) {
                return Err(EditError::BranchTooFar(insn.pc));
            }
            if self.grown.is_empty() {
                self.grown = vec![false; self.code.insns.len()];
            }
            self.grown[i] = true;
            any = true;
        }
        Ok(any)
    }

    pub fn is_replaced(&self, i: usize) -> bool {
        let found = self.replaced.binary_search_by_key(&i, |r| usize::from(r.0));
        found.is_ok()
    }

    /// Size of a branch instruction.
    pub fn width(&self, i: usize, insn: &Insn) -> u32 {
        let wide = matches!(insn.op, op::GOTO_W | op::JSR_W);
        if wide || self.grown.get(i) == Some(&true) {
            5
        } else {
            3
        }
    }

    /// Where the body ends.
    pub fn end(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Where a jump to this old pc lands. The end of the code has a place too.
    pub fn jump(&self, pc: u32) -> Result<u32, Error> {
        match self.code.index_of(pc) {
            Some(i) => Ok(self.starts[i]),
            None if pc == self.code.code_len() => Ok(self.end()),
            None => Err(Error::Target(pc)),
        }
    }

    /// Where what lies behind this instruction starts.
    pub fn behind(&self, i: usize) -> u32 {
        let found = self.behind.iter().find(|b| usize::from(b.0) == i);
        self.starts[i + 1] - found.map_or(0, |b| b.1)
    }

    /// Where the `new` at this old pc is now.
    pub fn new_insn(&self, pc: u32) -> Result<u32, EditError> {
        let i = self.code.index_of(pc).ok_or(Error::Target(pc))?;
        match self.replaced.binary_search_by_key(&i, |r| usize::from(r.0)) {
            Ok(at) => match self.replaced[at].1 {
                Some(offset) => Ok(self.insns[i] + offset),
                None => Err(EditError::Replaced(pc)),
            },
            Err(_) => Ok(self.insns[i]),
        }
    }

    /// Where an instruction itself now is; for tables nobody verifies, so any
    /// pc will do.
    pub fn insn(&self, pc: u32) -> u32 {
        let (i, into) = self.containing(pc);
        self.clamped(&self.insns, i, into)
    }

    /// Where the range of a debugging table now starts or ends; any pc will do.
    /// The entry snippet belongs to what stood at pc 0.
    pub fn debug(&self, pc: u32) -> u32 {
        if pc == 0 {
            return 0;
        }
        let (i, into) = self.containing(pc);
        self.clamped(&self.starts, i, into)
    }

    fn clamped(&self, map: &[u32], i: usize, into: u32) -> u32 {
        map.get(i)
            .map_or(self.end(), |at| self.end().min(at + into))
    }

    /// The instruction that a pc lies in, and how far into it.
    fn containing(&self, pc: u32) -> (usize, u32) {
        let i = self.code.insns.partition_point(|insn| insn.pc <= pc);
        if pc >= self.code.code_len() || i == 0 {
            return (self.code.insns.len(), 0);
        }
        (i - 1, pc - self.code.insns[i - 1].pc)
    }
}

/// Bytes between the opcode of a switch at `pc` and its operands.
pub(crate) fn padding(pc: u32) -> u32 {
    3 - (pc & 3)
}

fn switch_len(op: u8, switch: &Switch, pc: u32) -> u32 {
    let cases = switch.cases.len() as u32;
    1 + padding(pc)
        + if op == op::TABLESWITCH {
            12 + 4 * cases
        } else {
            8 + 8 * cases
        }
}
