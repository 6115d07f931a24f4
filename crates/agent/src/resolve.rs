//! What a site's field is: asked once, when the site first runs, because at
//! load time the classes it names may not exist yet. The answer goes into the
//! table of sites, where compiled code finds it.

use crate::Agent;
use crate::control::Control;
use crate::jni::Jni;
use crate::jvmti::class_in;
use crate::memory::leak_words;
use crate::options::Mode;
use contract::site::{FINAL, FINALIZER, IGNORE, VOLATILE};
use contract::{STATIC_CLOCKS, layout};
use instrument::{
    ALLOC_FIELD, FREEZE_FIELD, ID_FIELD, MemberRef, ShadowKind, SiteKind, is_jdk, shadow_name,
};
use jni_sys::{jclass, jfieldID, jobject};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::ptr;
use std::sync::atomic::AtomicU64;

const ACC_STATIC: i32 = 0x8;
const ACC_FINAL: i32 = 0x10;
const ACC_VOLATILE: i32 = 0x40;

/// A static field: the number of its class, which no other class ever gets
/// (field ids and names are used again when classes come and go), and its name
/// and descriptor.
type StaticField = (i64, String, String);

/// Shadows of static fields, which have no object to be kept in.
#[derive(Default, Debug)]
pub struct Statics {
    /// The write and the read word.
    data: FxHashMap<StaticField, &'static [AtomicU64]>,
    /// Position in STATIC_CLOCKS.
    clocks: FxHashMap<StaticField, usize>,
}

/// A field as the JVM resolved it.
#[derive(Debug)]
struct Found {
    /// The class that declares it.
    class: jclass,
    id: jfieldID,
    name: String,
    desc: String,
    modifiers: i32,
}

impl Statics {
    fn data(&mut self, field: StaticField) -> i64 {
        let words = self.data.entry(field).or_insert_with(|| leak_words(2));
        words.as_ptr().addr() as i64
    }

    /// Fields beyond the table share its last place: more order than there
    /// is, never less.
    fn clock(&mut self, field: StaticField) -> i64 {
        let next = self.clocks.len().min(STATIC_CLOCKS - 1);
        *self.clocks.entry(field).or_insert(next) as i64
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

/// Without a detector all that matters is whether an access orders.
fn bare_words(field: &Found) -> Option<[i64; 3]> {
    (field.modifiers & ACC_VOLATILE != 0).then_some([VOLATILE, 0, 0])
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
    /// Fills in the entry of `site`; `o` is the receiver, null for statics. If
    /// stack or heap run out meanwhile the entry stays open for the next time.
    pub fn resolve(&self, jni: Jni, site: u32, o: jobject) {
        let Some(words) = jni.undisturbed(|| self.words(jni, site, o)) else {
            return;
        };
        let words = words.filter(|w| w[0] != 0).unwrap_or([IGNORE, 0, 0]);
        self.sites.table.set(site, words);
    }

    fn words(&self, jni: Jni, site: u32, o: jobject) -> Option<[i64; 3]> {
        let (from, kind, target, checked) = self.sites.with(site, |class, s| {
            (class.class.clone(), s.kind, s.target.clone(), s.checked)
        })?;
        match (kind, target) {
            (SiteKind::FieldRead | SiteKind::FieldWrite, Some(t)) => {
                self.resolve_instance(jni, site, o, &t, checked, kind == SiteKind::FieldRead)
            }
            (SiteKind::StaticRead | SiteKind::StaticWrite, Some(t)) => {
                self.resolve_static(jni, site, &from, &t, checked, kind == SiteKind::StaticRead)
            }
            (SiteKind::NewObject, _) => Some([
                self.inherited_offset(jni, jni.class_of(o), ALLOC_FIELD),
                0,
                0,
            ]),
            (SiteKind::Constructed, _) => {
                let finalize = jni.method(jni.class_of(o), "finalize", "()V")?;
                let declared = self.jvmti.method_class(finalize);
                let inherited = !declared.is_null() && !jni.superclass(declared).is_null();
                inherited.then_some([FINALIZER, 0, 0])
            }
            (SiteKind::Freeze, _) => {
                // The class of the constructor, not that of the object.
                let class = self.caller(jni);
                Some([
                    self.bridge.get()?.offset_by_name(jni, class, FREEZE_FIELD),
                    0,
                    self.id_offset(jni, class),
                ])
            }
            (SiteKind::SyncMethod | SiteKind::Init, _) => {
                if let Some(worker) = self.control.as_ref().and_then(Control::worker)
                    && !is_jdk(&from)
                {
                    worker.is_fleeting(site);
                }
                Some([self.bridge.get()?.keep_class(jni, self.caller(jni)), 0, 0])
            }
            _ => None,
        }
    }

    fn resolve_instance(
        &self,
        jni: Jni,
        site: u32,
        o: jobject,
        target: &MemberRef,
        checked: bool,
        read: bool,
    ) -> Option<[i64; 3]> {
        let field = self.instance_field(jni, o, target)?;
        let bridge = self.bridge.get()?;
        self.note_place(jni, site, &field);
        if self.options.mode == Mode::Bare {
            return bare_words(&field);
        }
        if field.modifiers & ACC_FINAL != 0 {
            let freeze = bridge.offset_by_name(jni, field.class, FREEZE_FIELD);
            return (freeze > 0).then(|| [FINAL, freeze, self.id_offset(jni, field.class)]);
        }
        let volatile = field.modifiers & ACC_VOLATILE != 0;
        let checked = checked && self.is_tracked(&field);
        if !volatile && !checked {
            return None;
        }
        if self.options.mode.events() {
            let id = self.id_offset(jni, field.class);
            let slot = self.slot(&field);
            return Some(if volatile {
                [VOLATILE, slot, id]
            } else {
                [slot, 0, id]
            });
        }
        let shadow = |kind| {
            bridge.offset_by_name(
                jni,
                field.class,
                &shadow_name(kind, &target.name, &target.desc),
            )
        };
        if volatile {
            let clock = shadow(ShadowKind::Volatile);
            return (clock > 0).then_some([VOLATILE, 0, clock]);
        }
        let (w, r) = (shadow(ShadowKind::Write), shadow(ShadowKind::Read));
        (w > 0 && r > 0).then_some(if read { [r, w, 0] } else { [w, r, 0] })
    }

    fn resolve_static(
        &self,
        jni: Jni,
        site: u32,
        from: &str,
        target: &MemberRef,
        checked: bool,
        read: bool,
    ) -> Option<[i64; 3]> {
        let caller = self.caller(jni);
        let bridge = self.bridge.get()?;
        let class = if target.class == from {
            caller
        } else {
            bridge.find(jni, &target.class, self.jvmti.class_loader(caller))
        };
        let field = self.find_field(jni, class, target, true)?;
        self.note_place(jni, site, &field);
        if self.options.mode == Mode::Bare {
            return bare_words(&field);
        }
        let checked = checked && self.is_tracked(&field);
        if field.modifiers & ACC_FINAL != 0 || (field.modifiers & ACC_VOLATILE == 0 && !checked) {
            // No access, but a use of the class, which events tell of.
            return self
                .options
                .mode
                .events()
                .then(|| [IGNORE, 0, bridge.id_of(jni, field.class)]);
        }
        if let Some(owner) = self.jvmti.class_signature(field.class) {
            self.static_owners
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .insert(site, owner);
        }
        self.static_words(jni, &field, read)
    }

    /// The user wants to hear of the field's plain accesses.
    fn is_tracked(&self, field: &Found) -> bool {
        self.policy.untracked.is_empty() || {
            let class = self.jvmti.class_signature(field.class).unwrap_or_default();
            !self.policy.is_untracked(class_in(&class), &field.name)
        }
    }

    fn static_words(&self, jni: Jni, field: &Found, read: bool) -> Option<[i64; 3]> {
        let class = self.number_of_class(jni, field.class)?;
        let volatile = field.modifiers & ACC_VOLATILE != 0;
        if self.options.mode.events() {
            let slot = self.slot(field);
            return Some(if volatile {
                [VOLATILE, slot, class]
            } else {
                [slot, 0, class]
            });
        }
        if class == 0 {
            return None; // disturbed: to be asked again
        }
        let key = (class, field.name.clone(), field.desc.clone());
        let mut statics = self.statics.lock().unwrap_or_else(|e| e.into_inner());
        if volatile {
            return Some([VOLATILE, 0, RefArray::offset(self, statics.clock(key))]);
        }
        let w = statics.data(key);
        Some(if read { [w + 8, w, 0] } else { [w, w + 8, 0] })
    }

    /// A number that no other class ever gets. In a worker the same classes come
    /// again and again, and their statics keep their places.
    fn number_of_class(&self, jni: Jni, class: jclass) -> Option<i64> {
        if self.control.as_ref().is_some_and(|c| c.worker().is_some()) {
            let mut hasher = FxHasher::default();
            self.jvmti.class_signature(class)?.hash(&mut hasher);
            return Some((hasher.finish() | 1) as i64);
        }
        Some(self.bridge.get()?.id_of(jni, class))
    }

    /// Under control, what an access at the site goes to is told by its offset, as
    /// Unsafe and VarHandles have it.
    fn note_place(&self, jni: Jni, site: u32, field: &Found) {
        let Some(bridge) = self.bridge.get().filter(|_| self.control.is_some()) else {
            return;
        };
        let offset = self.offset_of(jni, field);
        let place = if field.modifiers & ACC_STATIC != 0 {
            -bridge.keep_static(jni, field.class, offset)
        } else {
            offset as i32
        };
        self.sites.table.set_place(site, place);
    }

    /// The number of a field, for events.
    fn slot(&self, field: &Found) -> i64 {
        let class = self.jvmti.class_signature(field.class).unwrap_or_default();
        let class = class_in(&class).to_owned();
        let (name, desc) = (field.name.clone(), field.desc.clone());
        let mut fields = self.fields.lock().unwrap_or_else(|e| e.into_inner());
        let fields = &mut *fields;
        let n = *fields
            .numbers
            .entry((class.clone(), name.clone(), desc.clone()))
            .or_insert_with(|| {
                fields.rows.push(Field {
                    class,
                    name,
                    desc,
                    flags: field.modifiers as u16,
                });
                FIRST_FIELD + fields.rows.len() as u32 - 1
            });
        i64::from(n)
    }

    /// Signature of the class that declares an instance field.
    pub fn declaring(&self, jni: Jni, o: jobject, target: &MemberRef) -> Option<String> {
        self.jvmti
            .class_signature(self.instance_field(jni, o, target)?.class)
    }

    fn instance_field(&self, jni: Jni, o: jobject, target: &MemberRef) -> Option<Found> {
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
    fn find_field(
        &self,
        jni: Jni,
        class: jclass,
        target: &MemberRef,
        statics: bool,
    ) -> Option<Found> {
        let mut c = class;
        while !c.is_null() {
            let own = self
                .declared_fields(c)
                .find(|f| f.name == target.name && f.desc == target.desc);
            if own.is_some() {
                return own;
            }
            if statics {
                let above = self.jvmti.interfaces(c);
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

    fn declared_fields(&self, class: jclass) -> impl Iterator<Item = Found> {
        self.jvmti
            .class_fields(class)
            .into_iter()
            .filter_map(move |id| {
                let (name, desc, modifiers) = self.jvmti.field(class, id)?;
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
    fn id_offset(&self, jni: Jni, class: jclass) -> i64 {
        let Some(bridge) = self.bridge.get().filter(|_| self.options.mode.events()) else {
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
    fn ancestor(&self, jni: Jni, class: jclass, name: &str) -> jclass {
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
    fn inherited_offset(&self, jni: Jni, class: jclass, name: &str) -> i64 {
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

    /// The class of the innermost frame that is not the bridge's.
    fn caller(&self, _jni: Jni) -> jclass {
        for frame in self.jvmti.stack(12) {
            let class = self.jvmti.method_class(frame.method);
            let ours = self
                .jvmti
                .class_signature(class)
                .is_none_or(|s| s.starts_with("Ljava/lang/Photofinish"));
            if !class.is_null() && !ours {
                return class;
            }
        }
        ptr::null_mut()
    }

    /// For accesses that come with an offset: rows of PhotofinishLayout. None if
    /// stack or heap ran out meanwhile.
    pub fn layout(&self, jni: Jni, class: jclass, statics: bool) -> Option<Vec<i64>> {
        jni.undisturbed(|| self.rows(jni, class, statics))?
    }

    fn rows(&self, jni: Jni, class: jclass, statics: bool) -> Option<Vec<i64>> {
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
                let row = if self.options.mode.events() {
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
                ptr::null_mut()
            } else {
                jni.superclass(c)
            };
        }
        Some(rows)
    }

    fn offset_of(&self, jni: Jni, field: &Found) -> i64 {
        let Some(bridge) = self.bridge.get() else {
            return 0;
        };
        let is_static = field.modifiers & ACC_STATIC != 0;
        let reflected = jni.reflected_field(field.class, field.id, is_static);
        let offset = bridge.offset_of_field(jni, reflected, is_static);
        jni.delete_local(reflected);
        offset
    }

    /// Name of the field at an offset, for reports: class and field.
    pub fn field_at(
        &self,
        jni: Jni,
        class: jclass,
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
                ptr::null_mut()
            } else {
                jni.superclass(c)
            };
        }
        None
    }
}
