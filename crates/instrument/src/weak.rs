//! Accesses to locations whose reads may see older writes (crate `memory`).
//!
//! A probe before the read puts the older value where the program reads it, a probe after it puts the
//! newest one back: no other thread of the program runs between the two, the value needs no cast, and
//! the stack stays as it is. A write has a probe before it, for what was there, and one after it, for what
//! is there now.

use crate::control::element_type;
use crate::method::{WeaveError, Weaver};
use crate::points::{copy_element, copy_receiver};
use crate::probes;
use crate::site::SiteKind;
use classfile::{Insn, slots};

impl Weaver<'_, '_, '_> {
    /// The probes of a field access; after all others that come before it.
    pub(crate) fn weak_field(
        &mut self,
        insn: &Insn,
        kind: SiteKind,
        desc: &str,
        site: i32,
    ) -> Result<(), WeaveError> {
        let wide = slots(desc) == 2;
        let of = match desc.chars().next() {
            Some('[') | None => 'L',
            Some(of) => of,
        };
        let (before, after) = match kind {
            SiteKind::FieldRead => (probes::SEEING_FIELD, probes::SEEN),
            SiteKind::StaticRead => (probes::SEEING_STATIC, probes::SEEN),
            SiteKind::FieldWrite => (probes::LEAVING_FIELD, probes::LEFT),
            _ => (probes::LEAVING_STATIC, probes::LEFT),
        };
        let before = self.snippet(before, |a| {
            match kind {
                SiteKind::FieldRead => {
                    a.dup();
                }
                SiteKind::FieldWrite => copy_receiver(a, wide),
                _ => {}
            }
            a.push_int(of as i32).push_int(site);
        })?;
        let after = self.snippet(after, |_| {})?;
        self.editor.insert_before(insn.pc, before);
        self.editor.insert_after(insn.pc, after);
        Ok(())
    }

    /// The same of an array access; `store`: whether it stores two slots, if it stores.
    pub(crate) fn weak_element(
        &mut self,
        insn: &Insn,
        store: Option<bool>,
        site: i32,
    ) -> Result<(), WeaveError> {
        let of = element_type(insn.op);
        let (before, after) = match store {
            None => (probes::SEEING_ELEM, probes::SEEN),
            Some(_) => (probes::LEAVING_ELEM, probes::LEFT),
        };
        let before = self.snippet(before, |a| {
            match store {
                None => {
                    a.dup2();
                }
                Some(wide) => copy_element(a, wide),
            }
            a.push_int(of as i32).push_int(site);
        })?;
        let after = self.snippet(after, |_| {})?;
        self.editor.insert_before(insn.pc, before);
        self.editor.insert_after(insn.pc, after);
        Ok(())
    }
}
