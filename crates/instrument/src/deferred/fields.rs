//! Fields of an object that stays the same while a loop runs: what comes to such a field
//! in each round is checked when it first does.

use classfile::{Insn, acc, op, slots};

use super::{How, Tracked};
use crate::method::{WeaveError, Weaver, call_probe};
use crate::points::copy_receiver;
use crate::probes;
use crate::site::SiteKind;

pub(super) fn kind(opcode: u8) -> Option<SiteKind> {
    match opcode {
        op::GETFIELD => Some(SiteKind::FieldRead),
        op::PUTFIELD => Some(SiteKind::FieldWrite),
        _ => None,
    }
}

impl Weaver<'_, '_, '_> {
    /// Whether it is a plain field of this class whose accesses are checked.
    pub(super) fn is_plain_and_checked(&mut self, insn: &Insn) -> bool {
        let used = insn.cp().and_then(|cp| self.cx.field_use(cp));
        let plain = |access: u16| access & (acc::VOLATILE | acc::FINAL) == 0;
        used.is_some_and(|used| {
            used.own.is_some_and(plain)
                && self.watches(&used)
                && !self.facts.is_uninitialised(insn.pc)
                && !self.facts.stays(insn.pc)
                && !self.is_compound(insn)
        })
    }

    /// The check of a field access, made if the object is another one than in the last
    /// round; `false` if it is to be made each time.
    pub(crate) fn check_field_once(&mut self, insn: &Insn) -> Result<bool, WeaveError> {
        let Some(&Tracked {
            how: How::Field { seen },
            site,
            write,
        }) = self.deferred.by_pc.get(&insn.pc)
        else {
            return Ok(false);
        };
        let target = insn.cp().and_then(|cp| self.cx.target(cp));
        let wide = target.is_some_and(|t| slots(&t.desc) == 2);
        let probe = if write {
            probes::WRITE_FIELD_ONCE
        } else {
            probes::READ_FIELD_ONCE
        };
        let cp = self.cx.probe(probe)?;
        let mut asm = classfile::Snippet::new(&mut self.cx.class.pool);
        if write {
            copy_receiver(&mut asm, wide);
        } else {
            asm.dup().copy(insn);
            if wide {
                asm.dup2_x1().pop2();
            } else {
                asm.swap();
            }
        }
        asm.dup().aload(seen).push_int(site);
        call_probe(&mut asm, probe, cp);
        let snippet = asm.astore(seen).finish()?;
        if write {
            self.editor.insert_before(insn.pc, snippet);
        } else {
            self.editor.replace(insn.pc, snippet);
        }
        Ok(true)
    }
}
