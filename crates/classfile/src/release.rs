//! Handlers that give a lock back when a `synchronized` block throws.
//!
//! Compilers end such a block with a handler that covers itself:
//!
//! ```text
//! L2:  astore t; aload k; monitorexit; L3: aload t; athrow     (or without t)
//!      any exception in L2..L3 goes to L2
//! ```
//!
//! That is harmless as long as nothing in it throws. A call put before the
//! `monitorexit` can (the stack may be full), and would then be tried again for
//! ever; besides, HotSpot's first compiler refuses a method whose handler covers
//! itself and may throw. So what is inserted there gets a handler of its own,
//! behind the `athrow`, which gives the lock back and throws on. It has the
//! locals of L2, so its frame is "the same locals, and the exception".

use crate::code::{Code, Operand};
use crate::op;

/// A self-covering handler, by the indices of its instructions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Release {
    /// Where the handler starts.
    pub handler: usize,
    pub monitorexit: usize,
    pub athrow: usize,
    /// The local with the lock.
    pub lock: u16,
}

/// The handler that the `monitorexit` at this index belongs to, if it looks
/// like one.
pub(crate) fn find(code: &Code<'_>, monitorexit: usize) -> Option<Release> {
    let insn = |i: usize| code.insns.get(i);
    let load = insn(monitorexit.checked_sub(1)?)?;
    let is_load = |op: u8| matches!(op, op::ALOAD | op::ALOAD_0..=op::ALOAD_3);
    let lock = load.local().filter(|_| is_load(load.op))?;
    let pc = insn(monitorexit)?.pc;
    let stored = monitorexit
        .checked_sub(2)
        .and_then(insn)
        .is_some_and(|i| matches!(i.op, op::ASTORE | op::ASTORE_0..=op::ASTORE_3));
    let (handler, athrow) = if stored && is_load(insn(monitorexit + 1)?.op) {
        (monitorexit - 2, monitorexit + 2)
    } else {
        (monitorexit - 1, monitorexit + 1)
    };
    if insn(athrow)?.op != op::ATHROW {
        return None;
    }
    let start = insn(handler)?.pc;
    let covers_itself = code.handlers.iter().any(|h| {
        h.catch_type == 0 && h.handler == start && h.start <= start && start < h.end && pc < h.end
    });
    let release = Release {
        handler,
        monitorexit,
        athrow,
        lock,
    };
    (covers_itself && !release.is_entered_inside(code)).then_some(release)
}

impl Release {
    /// Whether something jumps behind the handler's first instruction: then it
    /// has a frame of its own there.
    fn is_entered_inside(&self, code: &Code<'_>) -> bool {
        let (Some(from), Some(to)) = (code.insns.get(self.handler), code.insns.get(self.athrow))
        else {
            return true;
        };
        let inside = |pc: u32| from.pc < pc && pc <= to.pc;
        let branches = code.insns.iter().any(|i| match &i.operand {
            Operand::Branch(target) => inside(*target),
            Operand::Switch(s) => inside(s.default) || s.cases.iter().any(|c| inside(c.1)),
            _ => false,
        });
        branches || code.handlers.iter().any(|h| inside(h.handler))
    }
}
