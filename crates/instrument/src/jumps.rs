//! Where control goes besides straight on.

use classfile::{Code, Operand};

/// All jumps, from and to; handlers from the end of what they cover.
pub(crate) fn jumps(code: &Code<'_>) -> Vec<(u32, u32)> {
    let mut jumps = Vec::new();
    for insn in &code.insns {
        each_target(&insn.operand, |to| jumps.push((insn.pc, to)));
    }
    jumps.extend(
        code.handlers
            .iter()
            .map(|h| (h.end.saturating_sub(1), h.handler)),
    );
    jumps
}

/// Calls `visit` with every pc that the instruction may jump to.
pub(crate) fn each_target(operand: &Operand, mut visit: impl FnMut(u32)) {
    match operand {
        Operand::Branch(target) => visit(*target),
        Operand::Switch(switch) => {
            visit(switch.default);
            switch.cases.iter().for_each(|(_, to)| visit(*to));
        }
        _ => {}
    }
}
