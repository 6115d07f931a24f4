//! All fields of a class, for accesses that come with an offset only.

use super::{ACC_FINAL, ACC_STATIC, ACC_VOLATILE};
use crate::Agent;
use crate::jni::{Jni, Ref};
use contract::layout;
use contract::site::VOLATILE;
use instrument::{ALLOC_FIELD, FREEZE_FIELD, ShadowKind, shadow_name};

impl Agent {
    /// For accesses that come with an offset: rows of PhotofinishLayout. None if
    /// stack or heap ran out meanwhile.
    pub fn layout<'env>(
        &self,
        jni: Jni<'env>,
        class: Ref<'env>,
        statics: bool,
    ) -> Option<Vec<i64>> {
        jni.undisturbed(|| self.rows(jni, class, statics))?
    }

    fn rows<'env>(&self, jni: Jni<'env>, class: Ref<'env>, statics: bool) -> Option<Vec<i64>> {
        let bridge = self.bridge.get()?;
        let mut rows = vec![0; layout::ROW];
        if !statics {
            rows[layout::OBJECT_NUMBER] = self.id_offset(jni, class);
            rows[layout::ALLOCATION] = self.inherited_offset(jni, class, ALLOC_FIELD);
            rows[layout::FREEZE] = self.inherited_offset(jni, class, FREEZE_FIELD);
        }
        let mut c = class;
        while !c.is_null() {
            let id = if statics { 0 } else { self.id_offset(jni, c) };
            for field in self.declared_fields(c) {
                let is_static = field.modifiers & ACC_STATIC != 0;
                if is_static != statics
                    || field.modifiers & ACC_FINAL != 0
                    || field.name.starts_with(instrument::PREFIX)
                {
                    continue;
                }
                let offset = self.offset_of(jni, &field);
                let volatile = field.modifiers & ACC_VOLATILE != 0;
                let row = if self.options.mode.makes_events() {
                    layout::row(offset, self.slot(&field), id, volatile.into())
                } else if statics {
                    match self.static_words(jni, &field, false) {
                        Some([VOLATILE, _, clock]) => layout::row(offset, 0, 0, clock),
                        Some([w, r, _]) => layout::row(offset, w, r, 0),
                        None => continue,
                    }
                } else {
                    let shadow = |kind| {
                        bridge.offset_by_name(jni, c, &shadow_name(kind, &field.name, &field.desc))
                    };
                    if volatile {
                        layout::row(offset, 0, 0, shadow(ShadowKind::Volatile))
                    } else {
                        let (w, r) = (shadow(ShadowKind::Write), shadow(ShadowKind::Read));
                        layout::row(offset, w, r, 0)
                    }
                };
                rows.extend(row);
            }
            c = if statics {
                Ref::NULL
            } else {
                jni.superclass(c)
            };
        }
        Some(rows)
    }

    /// Where the statics of a class are, or the fields of its objects: offset, type, and
    /// whether it is final, as PhotofinishStatics has them. Not those that we added.
    pub fn fields_of<'env>(
        &self,
        jni: Jni<'env>,
        class: Ref<'env>,
        statics: bool,
    ) -> Option<Vec<i64>> {
        let find = || {
            let mut all = Vec::new();
            let mut c = class;
            while !c.is_null() {
                for field in self.declared_fields(c) {
                    let is_static = field.modifiers & ACC_STATIC != 0;
                    if is_static != statics || field.name.starts_with(instrument::PREFIX) {
                        continue;
                    }
                    let kind = i64::from(*field.desc.as_bytes().first()?);
                    let is_final = i64::from(field.modifiers & ACC_FINAL != 0);
                    all.push(self.offset_of(jni, &field) << 16 | kind << 8 | is_final);
                }
                c = if statics {
                    Ref::NULL
                } else {
                    jni.superclass(c)
                };
            }
            Some(all)
        };
        jni.undisturbed(find)?
    }

    /// Name of the field at an offset, for reports: class and field.
    pub fn field_at<'env>(
        &self,
        jni: Jni<'env>,
        class: Ref<'env>,
        statics: bool,
        offset: i64,
    ) -> Option<(String, String)> {
        let mut c = class;
        while !c.is_null() {
            let mut fields = self.declared_fields(c).filter(|f| {
                (f.modifiers & ACC_STATIC != 0) == statics
                    && !f.name.starts_with(instrument::PREFIX)
            });
            if let Some(found) = fields.find(|f| self.offset_of(jni, f) == offset) {
                return Some((self.jvmti.class_signature(c)?, found.name));
            }
            c = if statics {
                Ref::NULL
            } else {
                jni.superclass(c)
            };
        }
        None
    }
}
