//! Data accesses, allocations and monitors.
//!
//! Where a probe stands is decided by what must be true when it runs. A read is
//! reported after it happened, so that its null check comes first and a volatile
//! read has seen what it acquires. A write is reported before it happens, so
//! that a thread which sees the value also sees the report. A monitor is reported while
//! it is held: after entering, before leaving.
//!
//! If the order of accesses is recorded ([`ClassCx::ordered`]), every access is
//! reported before it happens, and another probe says when it has: between the
//! two no access to the same location can come (PhotofinishOrder.java).

use classfile::{Insn, Snippet, acc, op, slots};

use crate::class::{FieldUse, Mode};
use crate::compound;
use crate::method::{WeaveError, Weaver};
use crate::points::{Points, copy_element, copy_receiver};
use crate::policy::Level;
use crate::probes;
use crate::site::{Site, SiteKind};

impl Weaver<'_, '_, '_> {
    /// The probes of an instruction that is no call.
    pub(crate) fn data(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        match insn.op {
            op::GETFIELD..=op::PUTFIELD | op::GETSTATIC..=op::PUTSTATIC => self.field(insn),
            op::MONITORENTER | op::MONITOREXIT if self.level == Level::None => Ok(()),
            op::MONITORENTER => self.enter(insn),
            op::MONITOREXIT => self.exit(insn),
            op::IALOAD..=op::SALOAD | op::IASTORE..=op::SASTORE => {
                self.target_element(insn)?;
                self.checked_data(insn)
            }
            _ => self.checked_data(insn),
        }
    }

    fn checked_data(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        match insn.op {
            _ if !self.checks() => Ok(()),
            op::IALOAD..=op::SASTORE if self.facts.is_unshared(insn.pc) => Ok(()),
            op::IALOAD..=op::SALOAD if self.is_compound(insn) => Ok(()),
            op::IALOAD..=op::SASTORE if self.put_off(insn)? => Ok(()),
            op::IALOAD..=op::SALOAD => self.load(insn),
            op::IASTORE..=op::SASTORE => self.store(insn),
            // An array that no race is about needs no name.
            op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY
                if self.cx.mode == Mode::FastTrack && self.facts.stays(insn.pc) =>
            {
                Ok(())
            }
            op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY => self.new_array(insn),
            _ => Ok(()),
        }
    }

    fn field(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let Some(used) = insn.cp().and_then(|cp| self.cx.field_use(cp)) else {
            return Ok(());
        };
        let frozen = insn.op == op::GETFIELD && self.cx.is_frozen(&used);
        if self.facts.is_uninitialised(insn.pc)
            || self.deferred.is_read_before(insn.pc)
            || self.check_field_once(insn)?
        {
            return Ok(());
        }
        // Only of a plain field: a volatile read has an order of its own.
        let plain = used
            .own
            .is_some_and(|access| access & (acc::VOLATILE | acc::FINAL) == 0);
        let covered = plain && self.level == Level::Full && self.is_compound(insn);
        let watched = (frozen || self.watches(&used)) && !covered && !self.facts.stays(insn.pc);
        let points = self.field_points(&used, insn.pc);
        if !watched && !points.any() {
            return Ok(());
        }
        let kind = match insn.op {
            op::GETFIELD => SiteKind::FieldRead,
            op::PUTFIELD => SiteKind::FieldWrite,
            op::GETSTATIC => SiteKind::StaticRead,
            _ => SiteKind::StaticWrite,
        };
        let site = self.field_site(kind, insn, &used);
        if points.any() {
            self.before_field(insn, kind, &used, points, site)?;
        }
        if watched {
            self.check_field(insn, kind, &used, points, site)?;
        }
        if points.target && self.cx.control.is_weak_field(&used.target.name) {
            self.weak_field(insn, kind, &used.target.desc, site)?;
        }
        Ok(())
    }

    pub(crate) fn field_site(&mut self, kind: SiteKind, insn: &Insn, used: &FieldUse) -> i32 {
        let site = Site {
            volatile: used.own.map(|access| access & acc::VOLATILE != 0),
            target: Some(used.target.clone()),
            ..self.bare_site(kind, insn.pc)
        };
        self.cx.site(site)
    }

    fn check_field(
        &mut self,
        insn: &Insn,
        kind: SiteKind,
        used: &FieldUse,
        points: Points,
        site: i32,
    ) -> Result<(), WeaveError> {
        let wide = slots(&used.target.desc) == 2;
        match kind {
            SiteKind::FieldRead if self.cx.ordered => {
                let snippet = self.snippet(probes::READING, |a| {
                    a.dup().push_int(site);
                })?;
                self.editor.insert_before(insn.pc, snippet);
            }
            SiteKind::FieldRead => {
                let snippet = self.snippet(probes::READ, |a| {
                    a.dup().copy(insn);
                    if wide {
                        a.dup2_x1().pop2();
                    } else {
                        a.swap();
                    }
                    a.push_int(site);
                })?;
                self.editor.replace(insn.pc, snippet);
            }
            SiteKind::FieldWrite => {
                let probe = if self.facts.is_early(insn.pc) {
                    probes::INITIALISE
                } else {
                    probes::WRITE
                };
                let snippet = self.snippet(probe, |a| {
                    copy_receiver(a, wide);
                    a.push_int(site);
                })?;
                self.editor.insert_before(insn.pc, snippet);
            }
            SiteKind::StaticRead if !self.cx.ordered => {
                let snippet = self.snippet(probes::READ_STATIC, |a| {
                    a.push_int(site);
                })?;
                self.editor.insert_after(insn.pc, snippet);
            }
            _ => {
                // The bridge resolves the site, which must not be what
                // initialises the class: reading the field does that as the
                // access itself would have. (A point has done so already.)
                let foreign = used.target.class != self.cx.name && !points.any();
                let cp = insn.cp().filter(|_| foreign);
                let probe = match kind {
                    SiteKind::StaticRead => probes::READ_STATIC,
                    _ => probes::WRITE_STATIC,
                };
                let snippet = self.snippet(probe, |a| {
                    if let Some(cp) = cp {
                        a.field_cp(op::GETSTATIC, cp);
                        if wide {
                            a.pop2();
                        } else {
                            a.pop();
                        }
                    }
                    a.push_int(site);
                })?;
                self.editor.insert_before(insn.pc, snippet);
            }
        }
        self.accessed(insn)
    }

    /// Says that the access has happened, if accesses are ordered.
    pub(crate) fn accessed(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        if self.cx.ordered {
            let snippet = self.snippet(probes::ACCESSED, |_| {})?;
            self.editor.insert_after(insn.pc, snippet);
        }
        Ok(())
    }

    pub(crate) fn is_compound(&self, insn: &Insn) -> bool {
        self.cx.mode == Mode::FastTrack
            // Each is to become a point of its own if it races.
            && !self.cx.control.explores
            && self
                .code
                .index_of(insn.pc)
                .is_some_and(|i| compound::is_compound(self.code, i, &self.targets))
    }

    /// Own fields are known; of another class's, even whether one is volatile
    /// is unknown here, so all of them are watched.
    pub(crate) fn watches(&self, used: &FieldUse) -> bool {
        !used.harmless
            && self.cx.detects()
            && match (self.level, used.own) {
                (Level::None, _) => false,
                (_, None) => true,
                (Level::Sync, Some(access)) => access & acc::VOLATILE != 0,
                (Level::Full, Some(access)) => access & acc::FINAL == 0,
            }
    }

    fn load(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let site = self.element(SiteKind::ElemRead, insn);
        let snippet = self.snippet(probes::READ_ELEM, |a| {
            a.dup2().push_int(site);
        })?;
        self.editor.insert_before(insn.pc, snippet);
        self.accessed(insn)
    }

    fn store(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let site = self.element(SiteKind::ElemWrite, insn);
        let wide = matches!(insn.op, op::LASTORE | op::DASTORE);
        let snippet = self.snippet(probes::WRITE_ELEM, |a| {
            copy_element(a, wide);
            a.push_int(site);
        })?;
        self.editor.insert_before(insn.pc, snippet);
        self.accessed(insn)
    }

    pub(crate) fn element(&mut self, kind: SiteKind, insn: &Insn) -> i32 {
        let site = Site {
            array_from: self.facts.array_from(insn.pc),
            array_type: self
                .facts
                .array_type(insn.pc)
                .or_else(|| element_array(insn.op).map(Into::into)),
            ..self.bare_site(kind, insn.pc)
        };
        self.cx.site(site)
    }

    fn new_array(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let site = self.site_at(SiteKind::NewArray, insn.pc);
        let snippet = self.snippet(probes::NEW_ARRAY, |a| {
            a.dup().push_int(site);
        })?;
        self.editor.insert_after(insn.pc, snippet);
        Ok(())
    }

    fn enter(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let lock = self.facts.lock(insn.pc).cloned();
        let site = Site {
            array_from: lock.as_ref().map(|l| l.from.clone()),
            target: lock.and_then(|l| l.field),
            ..self.bare_site(SiteKind::Enter, insn.pc)
        };
        let site = self.cx.site(site);
        if self.cx.control.on {
            let snippet = self.snippet(self.cx.control.entering(), |a| {
                a.dup().push_int(site);
            })?;
            self.editor.insert_before(insn.pc, snippet);
        }
        let keep = Snippet::new(&mut self.cx.class.pool).dup().finish()?;
        let snippet = self.snippet(self.enter_probe(), |a| {
            a.push_int(site);
        })?;
        self.editor.insert_before(insn.pc, keep);
        self.editor.insert_after(insn.pc, snippet);
        Ok(())
    }

    fn exit(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let site = self.site_at(SiteKind::Exit, insn.pc);
        let snippet = self.snippet(probes::EXIT, |a| {
            a.dup().push_int(site);
        })?;
        self.editor.insert_before(insn.pc, snippet);
        self.editor.guard_release(insn.pc, &mut self.cx.class)?;
        Ok(())
    }
}

/// The array type that an instruction implies; bytes may be booleans.
fn element_array(opcode: u8) -> Option<&'static str> {
    Some(match opcode {
        op::IALOAD | op::IASTORE => "[I",
        op::LALOAD | op::LASTORE => "[J",
        op::FALOAD | op::FASTORE => "[F",
        op::DALOAD | op::DASTORE => "[D",
        op::CALOAD | op::CASTORE => "[C",
        op::SALOAD | op::SASTORE => "[S",
        op::BALOAD | op::BASTORE => "[B",
        op::AALOAD | op::AASTORE => "[Ljava/lang/Object;",
        _ => return None,
    })
}
