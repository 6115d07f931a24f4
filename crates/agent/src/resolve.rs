//! What a site's field is: asked once, when the site first runs, because at
//! load time the classes it names may not exist yet. The answer goes into the
//! table of sites, where compiled code finds it.

use crate::Agent;
use crate::jni::Jni;
use crate::memory::{FINAL, IGNORE, VOLATILE, leak};
use instrument::{ALLOC_FIELD, FREEZE_FIELD, ID_FIELD, MemberRef, ShadowKind, SiteKind, shadow_name};
use jni_sys::{jclass, jfieldID, jobject};
use rustc_hash::FxHashMap;
use std::ptr;

const ACC_STATIC: i32 = 0x8;
const ACC_FINAL: i32 = 0x10;
const ACC_VOLATILE: i32 = 0x40;
/// As in PhotofinishNative.java.
const STATIC_CLOCKS: usize = 1 << 14;

/// Shadows of static fields, which have no object to be kept in.
#[derive(Default, Debug)]
pub struct Statics {
    /// By field id: address of the write and read words.
    data: FxHashMap<usize, usize>,
    /// By field id: position in STATIC_CLOCKS.
    clocks: FxHashMap<usize, usize>,
}

impl Statics {
    fn data(&mut self, field: jfieldID) -> i64 {
        *self.data.entry(field as usize).or_insert_with(|| leak(16)) as i64
    }

    /// Fields beyond the table share its last place: more order than there
    /// is, never less.
    fn clock(&mut self, field: jfieldID) -> i64 {
        let next = self.clocks.len().min(STATIC_CLOCKS - 1);
        *self.clocks.entry(field as usize).or_insert(next) as i64
    }
}

/// Numbers of fields, for events: the slot of a location is the number of its
/// field, counted from here, or the index of its element.
const FIRST_FIELD: u32 = 1 << 30;

/// A field that events may name.
#[derive(Clone, Debug)]
pub struct Field {
    /// Internal name of the class that declares it.
    pub class: String,
    pub name: String,
    pub desc: String,
    pub flags: u16,
}

#[derive(Default, Debug)]
pub struct Fields {
    /// By class, name and descriptor: field ids of HotSpot are offsets, the
    /// same in many classes.
    numbers: FxHashMap<(String, String, String), u32>,
    rows: Vec<Field>,
}

impl Fields {
    pub fn of_slot(&self, slot: u32) -> Option<&Field> {
        self.rows.get(slot.checked_sub(FIRST_FIELD)? as usize)
    }

    /// Slots and rows from the n-th on, for the recorder.
    pub fn rows_from(&self, n: usize) -> impl Iterator<Item = (u32, &Field)> {
        (FIRST_FIELD + n as u32..).zip(self.rows.get(n..).unwrap_or_default())
    }
}

/// Where the bridge's array of static clocks has its elements.
#[derive(Clone, Copy, Debug)]
struct RefArray;

impl RefArray {
    /// With compressed references (heaps below 32 GiB) base 16 and scale 4;
    /// the bridge says what they are.
    fn offset(agent: &Agent, index: i64) -> i64 {
        let (base, scale) = *agent.ref_array.get().unwrap_or(&(16, 4));
        base + index * scale
    }
}

impl Agent {
    /// Fills in the entry of `site`; `o` is the receiver, null for statics.
    pub fn resolve(&self, jni: Jni, site: u32, o: jobject) {
        let words = self.sites.with(site, |class, s| {
            let class_name = class.class.clone();
            (class_name, s.kind, s.target.clone(), s.checked)
        });
        let Some((class, kind, target, checked)) = words else {
            return self.sites.table.set(site, [IGNORE, 0, 0]);
        };
        let words = match (kind, target) {
            (SiteKind::FieldRead | SiteKind::FieldWrite, Some(t)) => {
                self.resolve_instance(jni, o, &t, checked, kind == SiteKind::FieldRead)
            }
            (SiteKind::StaticRead | SiteKind::StaticWrite, Some(t)) => {
                self.resolve_static(jni, site, &class, &t, checked, kind == SiteKind::StaticRead)
            }
            (SiteKind::NewObject, _) => {
                let c = jni.class_of(o);
                Some([self.inherited_offset(jni, c, ALLOC_FIELD), 0, 0])
            }
            (SiteKind::Freeze, _) => {
                // The class of the constructor, not that of the object.
                let offset = self.bridge.get().map_or(0, |b| b.offset_by_name(jni, self.caller(jni), FREEZE_FIELD));
                Some([offset, 0, self.inherited_offset(jni, jni.class_of(o), ID_FIELD)])
            }
            (SiteKind::SyncMethod | SiteKind::Init, _) => {
                self.bridge.get().map(|b| [b.keep_class(jni, self.caller(jni)), 0, 0])
            }
            _ => None,
        };
        let words = words.filter(|w| w[0] != 0).unwrap_or([IGNORE, 0, 0]);
        self.sites.table.set(site, words);
    }

    fn resolve_instance(&self, jni: Jni, o: jobject, target: &MemberRef, checked: bool, read: bool) -> Option<[i64; 3]> {
        if o.is_null() {
            return None;
        }
        let class = self.ancestor(jni, jni.class_of(o), &target.class);
        let field = jni.field(class, &target.name, &target.desc)?;
        let declaring = self.jvmti.field_declaring_class(class, field);
        let (_, _, modifiers) = self.jvmti.field(class, field)?;
        let bridge = self.bridge.get()?;
        if modifiers & ACC_FINAL != 0 {
            let freeze = bridge.offset_by_name(jni, declaring, FREEZE_FIELD);
            let id = self.inherited_offset(jni, jni.class_of(o), ID_FIELD);
            return (freeze > 0).then_some([FINAL, freeze, id]);
        }
        if self.options.mode.events() {
            let id = self.inherited_offset(jni, jni.class_of(o), ID_FIELD);
            return Some(if modifiers & ACC_VOLATILE != 0 {
                [VOLATILE, self.slot(declaring, field), id]
            } else if !checked {
                [IGNORE, 0, 0]
            } else {
                [self.slot(declaring, field), 0, id]
            });
        }
        let shadow = |kind| bridge.offset_by_name(jni, declaring, &shadow_name(kind, &target.name, &target.desc));
        if modifiers & ACC_VOLATILE != 0 {
            let clock = shadow(ShadowKind::Volatile);
            return (clock > 0).then_some([VOLATILE, 0, clock]);
        }
        if !checked {
            return None;
        }
        let (w, r) = (shadow(ShadowKind::Write), shadow(ShadowKind::Read));
        (w > 0 && r > 0).then_some(if read { [r, w, 0] } else { [w, r, 0] })
    }

    fn resolve_static(&self, jni: Jni, site: u32, from: &str, target: &MemberRef, checked: bool, read: bool) -> Option<[i64; 3]> {
        let caller = self.caller(jni);
        let bridge = self.bridge.get()?;
        let class = if target.class == from { caller } else { bridge.find(jni, &target.class, self.jvmti.class_loader(caller)) };
        if class.is_null() {
            return None;
        }
        let field = jni.static_field(class, &target.name, &target.desc)?;
        let declaring = self.jvmti.field_declaring_class(class, field);
        let (_, _, modifiers) = self.jvmti.field(class, field)?;
        if modifiers & ACC_FINAL != 0 || (modifiers & ACC_VOLATILE == 0 && !checked) {
            return None;
        }
        if let Some(owner) = self.jvmti.class_signature(declaring) {
            self.static_owners.lock().unwrap_or_else(|e| e.into_inner()).insert(site, owner);
        }
        self.static_words(jni, declaring, field, modifiers, read)
    }

    fn static_words(&self, jni: Jni, declaring: jclass, field: jfieldID, modifiers: i32, read: bool) -> Option<[i64; 3]> {
        let bridge = self.bridge.get()?;
        let volatile = modifiers & ACC_VOLATILE != 0;
        if self.options.mode.events() {
            let id = bridge.id_of(jni, declaring);
            let slot = self.slot(declaring, field);
            return Some(if volatile { [VOLATILE, slot, id] } else { [slot, 0, id] });
        }
        let mut statics = self.statics.lock().unwrap_or_else(|e| e.into_inner());
        if volatile {
            return Some([VOLATILE, 0, RefArray::offset(self, statics.clock(field))]);
        }
        let w = statics.data(field);
        Some(if read { [w + 8, w, 0] } else { [w, w + 8, 0] })
    }

    /// The number of a field, for events.
    fn slot(&self, declaring: jclass, field: jfieldID) -> i64 {
        let class = self.jvmti.class_signature(declaring).unwrap_or_default();
        let class = class.trim_start_matches('L').trim_end_matches(';').to_owned();
        let (name, desc, flags) = self.jvmti.field(declaring, field).unwrap_or_default();
        let mut fields = self.fields.lock().unwrap_or_else(|e| e.into_inner());
        let fields = &mut *fields;
        let n = *fields.numbers.entry((class.clone(), name.clone(), desc.clone())).or_insert_with(|| {
            fields.rows.push(Field { class, name, desc, flags: flags as u16 });
            FIRST_FIELD + fields.rows.len() as u32 - 1
        });
        i64::from(n)
    }

    /// Signature of the class that declares an instance field.
    pub fn declaring(&self, jni: Jni, o: jobject, target: &MemberRef) -> Option<String> {
        if o.is_null() {
            return None;
        }
        let class = self.ancestor(jni, jni.class_of(o), &target.class);
        let field = jni.field(class, &target.name, &target.desc)?;
        self.jvmti.class_signature(self.jvmti.field_declaring_class(class, field))
    }

    /// The class named `name` among `class` and its ancestors; `class` itself
    /// if there is none (a hidden class goes by another name).
    fn ancestor(&self, jni: Jni, class: jclass, name: &str) -> jclass {
        let mut c = class;
        while !c.is_null() {
            let signature = self.jvmti.class_signature(c);
            let plain = signature.as_deref().and_then(|s| s.strip_prefix('L')).and_then(|s| s.strip_suffix(';'));
            if plain.is_some_and(|s| s == name || s.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))) {
                return c;
            }
            c = jni.superclass(c);
        }
        class
    }

    /// Offset of one of our own fields wherever in the hierarchy it is.
    fn inherited_offset(&self, jni: Jni, class: jclass, name: &str) -> i64 {
        let Some(bridge) = self.bridge.get() else { return 0 };
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

    /// The class of the innermost frame that is not the bridge's.
    fn caller(&self, _jni: Jni) -> jclass {
        for frame in self.jvmti.stack(12) {
            let class = self.jvmti.method_class(frame.method);
            let ours = self.jvmti.class_signature(class).is_none_or(|s| s.starts_with("Ljava/lang/Photofinish"));
            if !class.is_null() && !ours {
                return class;
            }
        }
        ptr::null_mut()
    }

    /// For accesses that come with an offset: rows of PhotofinishLayout.
    pub fn layout(&self, jni: Jni, class: jclass, statics: bool) -> Vec<i64> {
        let Some(bridge) = self.bridge.get() else { return Vec::new() };
        let mut rows = vec![0; 4];
        if !statics {
            rows[0] = self.inherited_offset(jni, class, ID_FIELD);
            rows[1] = self.inherited_offset(jni, class, ALLOC_FIELD);
            rows[2] = self.inherited_offset(jni, class, FREEZE_FIELD);
        }
        let mut c = class;
        while !c.is_null() {
            for field in self.jvmti.class_fields(c) {
                let Some((name, desc, modifiers)) = self.jvmti.field(c, field) else { continue };
                let is_static = modifiers & ACC_STATIC != 0;
                if is_static != statics || modifiers & ACC_FINAL != 0 || name.starts_with(instrument::PREFIX) {
                    continue;
                }
                let reflected = jni.reflected_field(c, field, is_static);
                let offset = bridge.offset_of_field(jni, reflected, is_static);
                jni.delete_local(reflected);
                let volatile = modifiers & ACC_VOLATILE != 0;
                let row = if self.options.mode.events() {
                    [offset, self.slot(c, field), 0, i64::from(volatile)]
                } else if statics {
                    match self.static_words(jni, c, field, modifiers, false) {
                        Some([VOLATILE, _, clock]) => [offset, 0, 0, clock],
                        Some([w, r, _]) => [offset, w, r, 0],
                        None => continue,
                    }
                } else {
                    let shadow = |kind| bridge.offset_by_name(jni, c, &shadow_name(kind, &name, &desc));
                    if volatile {
                        [offset, 0, 0, shadow(ShadowKind::Volatile)]
                    } else {
                        [offset, shadow(ShadowKind::Write), shadow(ShadowKind::Read), 0]
                    }
                };
                rows.extend(row);
            }
            c = if statics { ptr::null_mut() } else { jni.superclass(c) };
        }
        rows
    }

    /// Name of the field at an offset, for reports: class and field.
    pub fn field_at(&self, jni: Jni, class: jclass, statics: bool, offset: i64) -> Option<(String, String)> {
        let bridge = self.bridge.get()?;
        let mut c = class;
        while !c.is_null() {
            for field in self.jvmti.class_fields(c) {
                let Some((name, _, modifiers)) = self.jvmti.field(c, field) else { continue };
                let is_static = modifiers & ACC_STATIC != 0;
                if is_static != statics || name.starts_with(instrument::PREFIX) {
                    continue;
                }
                if bridge.offset_of_field(jni, jni.reflected_field(c, field, is_static), is_static) == offset {
                    return Some((self.jvmti.class_signature(c)?, name));
                }
            }
            c = if statics { ptr::null_mut() } else { jni.superclass(c) };
        }
        None
    }
}
