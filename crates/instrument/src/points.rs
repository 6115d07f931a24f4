//! Scheduling points of a controlled run: before what orders threads, and before
//! the data accesses that are targets.
//!
//! A point comes before every detection probe of the same instruction: another
//! thread may run in it, and what the detector is told must come in the order in
//! which it then happens. Which points there are does not depend on the mode, so
//! that a schedule means the same with and without a detector.

use classfile::{Asm, Insn, Operand, acc, op, slots};

use crate::class::FieldUse;
use crate::control::has_points;
use crate::method::{WeaveError, Weaver};
use crate::probes;
use crate::site::{Site, SiteKind};
use crate::spins;

/// What the instruction that is woven says before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Points {
    /// It may be a volatile access.
    pub(crate) order: bool,
    /// It is a target, and may be a plain access.
    pub(crate) target: bool,
}

impl Points {
    pub(crate) fn any(self) -> bool {
        self.order || self.target
    }
}

impl Weaver<'_, '_, '_> {
    /// Whether the instruction is a target of the run.
    pub(crate) fn is_target(&self, pc: u32) -> bool {
        let control = &self.cx.control;
        control.has_targets()
            && control.is_target(&self.cx.method, &self.cx.desc, pc, self.code.line_of(pc))
    }

    /// The points of a field access. Of another class's field it is unknown here
    /// whether it is volatile: it gets both, and the bridge knows when it runs.
    pub(crate) fn field_points(&self, used: &FieldUse, pc: u32) -> Points {
        let may_be = |flag: u16| used.own.is_none_or(|access| access & flag != 0);
        let plain = used
            .own
            .is_none_or(|access| access & (acc::VOLATILE | acc::FINAL) == 0);
        let of_name = self.cx.control.is_field(&used.target.name);
        Points {
            order: self.cx.control.accesses() && may_be(acc::VOLATILE) && !used.harmless,
            target: plain && (self.is_target(pc) || of_name && !self.facts.is_unshared(pc)),
        }
    }

    /// Puts them in.
    pub(crate) fn before_field(
        &mut self,
        insn: &Insn,
        kind: SiteKind,
        used: &FieldUse,
        points: Points,
        site: i32,
    ) -> Result<(), WeaveError> {
        let wide = slots(&used.target.desc) == 2;
        let (order, target) = match kind {
            SiteKind::FieldRead => (probes::BEFORE_READ, probes::TARGET_FIELD),
            SiteKind::FieldWrite => (probes::BEFORE_WRITE, probes::TARGET_FIELD),
            SiteKind::StaticRead => (probes::BEFORE_READ_STATIC, probes::TARGET_STATIC),
            _ => (probes::BEFORE_WRITE_STATIC, probes::TARGET_STATIC),
        };
        if self.needs_init(kind, used) {
            // The bridge resolves the site, which must not be what initialises
            // the class: reading the field does that as the access itself would
            // have, and throws what it would have thrown.
            let mut asm = classfile::Snippet::new(&mut self.cx.class.pool);
            if let Some(cp) = insn.cp() {
                asm.field_cp(op::GETSTATIC, cp);
                if wide {
                    asm.pop2();
                } else {
                    asm.pop();
                }
            }
            let snippet = asm.finish()?;
            self.editor.insert_before(insn.pc, snippet);
        }
        for (wanted, probe) in [(points.order, order), (points.target, target)] {
            if !wanted {
                continue;
            }
            let snippet = self.snippet(probe, |a| {
                match kind {
                    SiteKind::FieldRead => {
                        a.dup();
                    }
                    SiteKind::FieldWrite => copy_receiver(a, wide),
                    _ => {}
                }
                a.push_int(site);
            })?;
            self.editor.insert_before(insn.pc, snippet);
        }
        Ok(())
    }

    /// Whether a static field may belong to a class that is not initialised yet.
    /// (A name of this class may mean an interface's constant.)
    fn needs_init(&self, kind: SiteKind, used: &FieldUse) -> bool {
        matches!(kind, SiteKind::StaticRead | SiteKind::StaticWrite) && used.own.is_none()
    }

    /// An element of an array that is a target.
    pub(crate) fn target_element(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        if !self.is_target(insn.pc) && !self.cx.control.is_element(insn.op) {
            return Ok(());
        }
        let (kind, store) = match insn.op {
            op::IALOAD..=op::SALOAD => (SiteKind::ElemRead, None),
            op::LASTORE | op::DASTORE => (SiteKind::ElemWrite, Some(true)),
            _ => (SiteKind::ElemWrite, Some(false)),
        };
        let site = self.element(kind, insn);
        let snippet = self.snippet(probes::TARGET_ELEM, |a| {
            match store {
                None => {
                    a.dup2();
                }
                Some(wide) => copy_element(a, wide),
            }
            a.push_int(site);
        })?;
        self.editor.insert_before(insn.pc, snippet);
        if self.cx.control.is_weak_element(insn.op) {
            self.weak_element(insn, store, site)?;
        }
        Ok(())
    }

    /// A site of its own for one of the arrays that a call reads or writes.
    pub(crate) fn range_site(&mut self, kind: SiteKind, insn: &Insn, nth: usize) -> i32 {
        let site = Site {
            target: insn.cp().and_then(|cp| self.cx.target(cp)),
            array_from: self.facts.copied_from(insn.pc, nth),
            ..self.bare_site(kind, insn.pc)
        };
        self.cx.site(site)
    }

    /// Jumps back: a thread that only loops must let others run some time.
    pub(crate) fn backward_branch(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let back = match &insn.operand {
            Operand::Branch(to) => *to <= insn.pc,
            Operand::Switch(s) => s.default <= insn.pc || s.cases.iter().any(|c| c.1 <= insn.pc),
            _ => false,
        };
        if back && self.cx.control.accesses() {
            let snippet = self.snippet(probes::LOOP, |_| {})?;
            self.editor.insert_before(insn.pc, snippet);
        }
        Ok(())
    }

    /// In an exploration: loops in which a thread may wait, and what would show that it
    /// does not. Before all other probes: where a loop begins comes before what its first
    /// instruction says.
    pub(crate) fn waiting_loops(&mut self) -> Result<(), WeaveError> {
        if self.cx.control.explores && self.cx.control.points {
            let code = self.code;
            for insn in &code.insns {
                self.effect(insn)?;
                self.waiting_loop(insn)?;
            }
        }
        Ok(())
    }

    fn effect(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let policy = self.cx.policy;
        let has_probes = |class: &str| has_points(class, policy.level(class));
        if spins::has_effect(&self.cx.class.pool, insn, has_probes) {
            let snippet = self.snippet(probes::WROTE, |_| {})?;
            self.editor.insert_before(insn.pc, snippet);
        }
        Ok(())
    }

    /// A jump that closes a loop in which a thread may wait: says so, and so does the
    /// head of the loop.
    fn waiting_loop(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let Operand::Branch(head) = insn.operand else {
            return Ok(());
        };
        if head > insn.pc {
            return Ok(());
        }
        let leads_there =
            |i: &&Insn| matches!(i.operand, Operand::Branch(to) if to == head) && i.pc >= head;
        let last = self.code.insns.iter().rfind(leads_there);
        let end = last.map_or(insn.pc, |i| i.pc);
        let Some(locals) = spins::changing_locals(self.code, end, head) else {
            return Ok(());
        };
        let number = self.loop_number(head);
        if insn.pc == end {
            self.loop_state(&locals, head)?;
            let snippet = self.site_call(probes::LOOP_HEAD, number)?;
            self.editor.insert_before(head, snippet);
        }
        self.loop_state(&locals, insn.pc)?;
        let snippet = self.site_call(probes::WAITS, number)?;
        self.editor.insert_before(insn.pc, snippet);
        let next = self.code.insns.iter().find(|i| i.pc > insn.pc);
        if let (true, Some(next)) = (op::is_conditional(insn.op), next) {
            // Where the thread goes on if it does not jump.
            let snippet = self.site_call(probes::LOOP_LEFT, number)?;
            self.editor.insert_before(next.pc, snippet);
        }
        Ok(())
    }

    /// Tells what these locals hold, before an instruction.
    fn loop_state(&mut self, locals: &[(u16, &'static str)], pc: u32) -> Result<(), WeaveError> {
        for &(local, desc) in locals {
            let probe = match desc {
                "I" => probes::LOCAL_INT,
                "J" => probes::LOCAL_LONG,
                "F" => probes::LOCAL_FLOAT,
                "D" => probes::LOCAL_DOUBLE,
                _ => probes::LOCAL_REFERENCE,
            };
            let snippet = self.snippet(probe, |a| {
                a.load(desc, local);
            })?;
            self.editor.insert_before(pc, snippet);
        }
        Ok(())
    }

    /// A number for a loop that is the same in every run: of the method in the upper half, of
    /// the head in the lower.
    fn loop_number(&self, head: u32) -> i32 {
        let names = [self.cx.name.as_str(), &self.cx.method, &self.cx.desc];
        let bytes = names.iter().flat_map(|n| n.bytes());
        // FNV-1a, its halves put together.
        let hash = bytes.fold(0x811c_9dc5u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        let method = hash >> 16 ^ hash & 0xffff;
        (method << 16 | head & 0xffff) as i32
    }
}

/// Copies the receiver from under the value that is about to be written.
pub(crate) fn copy_receiver(a: &mut Asm<'_>, wide: bool) {
    if wide {
        a.dup2_x1().pop2().dup_x2();
    } else {
        a.dup2().pop();
    }
}

/// Copies array and index from under the value that is about to be stored:
/// turns it under them, then copies both back under it.
pub(crate) fn copy_element(a: &mut Asm<'_>, wide: bool) {
    if wide {
        a.dup2_x2().pop2().dup2_x2();
    } else {
        a.dup_x2().pop().dup2_x1();
    }
}
