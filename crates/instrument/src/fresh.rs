//! Arrays that no other thread can know yet: made in this method, and not
//! handed to anybody before the access. Such accesses cannot race and get no
//! probe; they are most of what short-lived arrays see. Likewise the object
//! under construction: what its constructor writes before handing `this` to
//! anybody is remembered, but needs no check.
//!
//! An array escapes where it is stored (field, static, element), passed to a
//! call (arraycopy aside), returned or thrown. An access is free of probes if
//! it comes before the first escape in the code and no jump leads from there
//! back to between the array's making and the access: a jump further back makes
//! a new array first.
//!
//! Claim: no access is skipped that another thread could race with, unless the
//! array was merged with another one on its way to the escape, where the flow
//! analysis forgets which one it is.

use classfile::flow::{Kind, Origin, State};
use classfile::{Code, Insn, Operand, Pool, method as method_desc, op};
use std::collections::BTreeMap;

/// Stands for the object under construction, where arrays go by the pc that
/// makes them.
const THIS: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Fresh {
    /// Accesses: pc, and the pc that made the array.
    accesses: Vec<(u32, u32)>,
    /// First escape of each array, by the pc that made it.
    escapes: BTreeMap<u32, u32>,
}

impl Fresh {
    /// Looks at one instruction and the state before it.
    pub(crate) fn see(
        &mut self,
        pool: &Pool,
        code: &Code<'_>,
        constructor: bool,
        insn: &Insn,
        state: &State,
        array_depth: Option<u16>,
    ) {
        let made = |depth: u16| match state.peek(depth) {
            Some(v) if matches!(v.kind, Kind::Ref(_)) => match v.origin {
                Origin::Insn(pc) if code.at(pc).is_some_and(|i| makes_array(i.op)) => Some(pc),
                Origin::Param(0) if constructor => Some(THIS),
                _ => None,
            },
            _ => None,
        };
        if let Some(array) = array_depth.and_then(made) {
            self.accesses.push((insn.pc, array));
        }
        if insn.op == op::PUTFIELD
            && let Some(desc) = insn.cp().and_then(|cp| pool.member_desc(cp))
            && made(classfile::slots(&desc)) == Some(THIS)
        {
            self.accesses.push((insn.pc, THIS));
        }
        match insn.op {
            op::AASTORE | op::PUTFIELD | op::PUTSTATIC | op::ARETURN | op::ATHROW => {
                self.escape(made(0), insn.pc);
            }
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                let Some(cp) = insn.cp() else { return };
                let Some(desc) = pool.member_desc(cp).map(|d| d.into_owned()) else {
                    return;
                };
                let copies = insn.op == op::INVOKESTATIC
                    && pool
                        .member_ref(cp)
                        .is_some_and(|m| m.class == "java/lang/System" && m.name == "arraycopy");
                if copies {
                    // Source, position, destination, position, length.
                    if let Some(array) = made(2) {
                        self.accesses.push((insn.pc, array));
                    }
                    return;
                }
                let Ok(signature) = method_desc(&desc) else {
                    return;
                };
                for depth in 0..=signature.param_slots {
                    self.escape(made(depth), insn.pc);
                }
            }
            _ => {}
        }
    }

    fn escape(&mut self, array: Option<u32>, pc: u32) {
        if let Some(array) = array {
            let first = self.escapes.entry(array).or_insert(pc);
            *first = pc.min(*first);
        }
    }

    /// The accesses that need no probe, by pc.
    pub(crate) fn unshared(&self, code: &Code<'_>) -> Vec<u32> {
        let jumps = jumps(code);
        let is_free = |&&(access, array): &&(u32, u32)| match self.escapes.get(&array) {
            None => true,
            Some(&escape) => {
                let again = |to| array == THIS || to > array;
                access < escape
                    && !jumps
                        .iter()
                        .any(|&(from, to)| from >= escape && again(to) && to <= access)
            }
        };
        let mut free: Vec<u32> = self.accesses.iter().filter(is_free).map(|a| a.0).collect();
        free.sort_unstable();
        free.dedup();
        free
    }
}

fn makes_array(opcode: u8) -> bool {
    matches!(opcode, op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY)
}

/// All jumps, from and to; handlers from the end of what they cover.
pub(crate) fn jumps(code: &Code<'_>) -> Vec<(u32, u32)> {
    let mut jumps = Vec::new();
    for insn in &code.insns {
        match &insn.operand {
            Operand::Branch(target) => jumps.push((insn.pc, *target)),
            Operand::Switch(switch) => {
                jumps.push((insn.pc, switch.default));
                jumps.extend(switch.cases.iter().map(|(_, to)| (insn.pc, *to)));
            }
            _ => {}
        }
    }
    jumps.extend(
        code.handlers
            .iter()
            .map(|h| (h.end.saturating_sub(1), h.handler)),
    );
    jumps
}
