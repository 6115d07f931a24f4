//! Fields as the JVM resolves them, and where objects have them.

use super::ACC_STATIC;
use crate::Agent;
use crate::jni::{Jni, Ref};
use crate::jvmti::FieldId;
use instrument::{ID_FIELD, MemberRef};

/// A field as the JVM resolved it.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// The class that declares it.
    pub(super) class: Ref<'a>,
    pub(super) id: FieldId<'a>,
    pub(super) name: String,
    pub(super) desc: String,
    pub(super) modifiers: i32,
}

impl Agent {
    /// Signature of the class that declares an instance field.
    pub fn declaring(&self, jni: Jni, o: Ref, target: &MemberRef) -> Option<String> {
        self.jvmti
            .class_signature(self.instance_field(jni, o, target)?.class)
    }

    pub(super) fn instance_field<'env>(
        &self,
        jni: Jni<'env>,
        o: Ref,
        target: &MemberRef,
    ) -> Option<Found<'env>> {
        if o.is_null() {
            return None;
        }
        self.find_field(
            jni,
            self.ancestor(jni, jni.class_of(o), &target.class),
            target,
            false,
        )
    }

    /// The field as the JVM resolves it (JVMS 5.4.3.2): in the class itself, in
    /// its interfaces, in its superclass. JNI would do this too, but would
    /// initialise the class, which the program may not have done. A class that
    /// is not linked yet says that it declares nothing, and so it is: the
    /// program has just accessed the field.
    pub(super) fn find_field<'env>(
        &self,
        jni: Jni<'env>,
        class: Ref<'env>,
        target: &MemberRef,
        statics: bool,
    ) -> Option<Found<'env>> {
        let mut c = class;
        while !c.is_null() {
            let own = self
                .declared_fields(c)
                .find(|f| f.name == target.name && f.desc == target.desc);
            if own.is_some() {
                return own;
            }
            if statics {
                let above = self.jvmti.interfaces(jni, c);
                let inherited = above
                    .into_iter()
                    .find_map(|i| self.find_field(jni, i, target, true));
                if inherited.is_some() {
                    return inherited;
                }
            }
            c = jni.superclass(c);
        }
        None
    }

    pub(super) fn declared_fields<'a>(&self, class: Ref<'a>) -> impl Iterator<Item = Found<'a>> {
        self.jvmti
            .class_fields(class)
            .into_iter()
            .filter_map(move |id| {
                let (name, desc, modifiers) = self.jvmti.field(id)?;
                Some(Found {
                    class,
                    id,
                    name,
                    desc,
                    modifiers,
                })
            })
    }

    /// Where objects keep their number when a field of `class` is accessed; 0
    /// for in the shadow. Where it is must not depend on the object at hand,
    /// which may be of any subclass, nor on the class that the access names,
    /// so the declaring class and what is above it decide, from the top.
    pub(super) fn id_offset<'env>(&self, jni: Jni<'env>, class: Ref<'env>) -> i64 {
        let Some(bridge) = self
            .bridge
            .get()
            .filter(|_| self.options.mode.makes_events())
        else {
            return 0;
        };
        let (mut c, mut topmost) = (class, 0);
        while !c.is_null() {
            let offset = bridge.offset_by_name(jni, c, ID_FIELD);
            topmost = if offset > 0 { offset } else { topmost };
            c = jni.superclass(c);
        }
        topmost
    }

    /// The class named `name` among `class` and its ancestors; `class` itself
    /// if there is none (a hidden class goes by another name).
    pub(super) fn ancestor<'env>(&self, jni: Jni<'env>, class: Ref<'env>, name: &str) -> Ref<'env> {
        let mut c = class;
        while !c.is_null() {
            let signature = self.jvmti.class_signature(c);
            let plain = signature
                .as_deref()
                .and_then(|s| s.strip_prefix('L'))
                .and_then(|s| s.strip_suffix(';'));
            if plain.is_some_and(|s| {
                s == name
                    || s.strip_prefix(name)
                        .is_some_and(|rest| rest.starts_with('.'))
            }) {
                return c;
            }
            c = jni.superclass(c);
        }
        class
    }

    /// Offset of one of our own fields wherever in the hierarchy it is.
    pub(super) fn inherited_offset<'env>(
        &self,
        jni: Jni<'env>,
        class: Ref<'env>,
        name: &str,
    ) -> i64 {
        let Some(bridge) = self.bridge.get() else {
            return 0;
        };
        let mut c = class;
        while !c.is_null() {
            let offset = bridge.offset_by_name(jni, c, name);
            if offset > 0 {
                return offset;
            }
            c = jni.superclass(c);
        }
        0
    }

    pub(super) fn offset_of(&self, jni: Jni, field: &Found) -> i64 {
        let Some(bridge) = self.bridge.get() else {
            return 0;
        };
        let is_static = field.modifiers & ACC_STATIC != 0;
        let reflected = field.id.reflected(jni, is_static);
        bridge.offset_of_field(jni, reflected.get(), is_static)
    }
}
