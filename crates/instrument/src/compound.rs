//! `x += y`, `a[i]++`: a read whose write follows at once. FastTrack's check of
//! the write covers that of the read: it conflicts with whatever the read
//! conflicts with, and stands in the same epoch. So the read gets no probe.
//! (Events keep both: what a write depends on matters to prediction.)

use classfile::{Code, Insn, op};

/// How many instructions the right-hand side may have.
const LIMIT: usize = 24;

/// Whether the load at `index` is followed by the store that completes it,
/// with nothing in between that could jump, throw on purpose or call.
pub(crate) fn is_compound(code: &Code<'_>, index: usize, targets: &[u32]) -> bool {
    let Some(load) = code.insns.get(index) else {
        return false;
    };
    let before = index.checked_sub(1).and_then(|i| code.insns.get(i));
    let doubled = |opcode| before.is_some_and(|b| b.op == opcode);
    let store: fn(&Insn, &Insn) -> bool = match load.op {
        op::IALOAD..=op::SALOAD if doubled(op::DUP2) => {
            |load, s| s.op == load.op - op::IALOAD + op::IASTORE
        }
        op::GETFIELD if doubled(op::DUP) => |load, s| s.op == op::PUTFIELD && s.cp() == load.cp(),
        op::GETSTATIC => |load, s| s.op == op::PUTSTATIC && s.cp() == load.cp(),
        _ => return false,
    };
    if targets.binary_search(&load.pc).is_ok() {
        return false;
    }
    for next in code.insns.iter().skip(index + 1).take(LIMIT) {
        if targets.binary_search(&next.pc).is_ok() {
            return false;
        }
        if store(load, next) {
            return true;
        }
        if !is_arithmetic(next.op) {
            return false;
        }
    }
    false
}

/// Constants, loads and arithmetic: nothing that stores, jumps or calls.
fn is_arithmetic(opcode: u8) -> bool {
    matches!(opcode, op::ACONST_NULL..=op::SALOAD | op::IADD..=op::LXOR | op::I2L..=op::DCMPG | op::GETFIELD | op::GETSTATIC)
        && !matches!(
            opcode,
            op::IDIV | op::LDIV | op::IREM | op::LREM | op::AALOAD
        )
}
