//! What a site's field is: asked once, when the site first runs, because at
//! load time the classes it names may not exist yet. The answer goes into the
//! table of sites, where compiled code finds it.

mod fields;
mod layouts;
mod tables;

pub use tables::{Field, Fields, Statics};

use crate::Agent;
use crate::control::Control;
use crate::jni::{Jni, Ref};
use crate::jvmti::class_in;
use contract::site::{FINAL, FINALIZER, IGNORE, VOLATILE};
use fields::Found;
use instrument::{ALLOC_FIELD, FREEZE_FIELD, MemberRef, ShadowKind, SiteKind, shadow_name};
use protocol::Mode;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

const ACC_STATIC: i32 = 0x8;
const ACC_FINAL: i32 = 0x10;
const ACC_VOLATILE: i32 = 0x40;

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
    pub fn resolve(&self, jni: Jni, site: u32, o: Ref) {
        let Some(words) = jni.undisturbed(|| self.words(jni, site, o)) else {
            return;
        };
        let words = words.filter(|w| w[0] != 0).unwrap_or([IGNORE, 0, 0]);
        self.sites.table.set(site, words);
    }

    fn words(&self, jni: Jni, site: u32, o: Ref) -> Option<[i64; 3]> {
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
                let declared = self.jvmti.method_class(jni, finalize);
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
                    && !self.owners.is_jdk(&from)
                {
                    worker.is_fleeting(site);
                }
                let number = self.bridge.get()?.keep_class(jni, self.caller(jni));
                Some([number.into(), 0, 0])
            }
            _ => None,
        }
    }

    fn resolve_instance(
        &self,
        jni: Jni,
        site: u32,
        o: Ref,
        target: &MemberRef,
        checked: bool,
        read: bool,
    ) -> Option<[i64; 3]> {
        let field = self.instance_field(jni, o, target)?;
        let bridge = self.bridge.get()?;
        self.note_place(jni, site, &field);
        if self.options.mode == Mode::None {
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
        if self.options.mode.makes_events() {
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
            bridge.find(jni, &target.class, self.jvmti.class_loader(jni, caller))
        };
        let field = self.find_field(jni, class, target, true)?;
        self.note_place(jni, site, &field);
        if self.options.mode == Mode::None {
            return bare_words(&field);
        }
        let checked = checked && self.is_tracked(&field);
        if field.modifiers & ACC_FINAL != 0 || (field.modifiers & ACC_VOLATILE == 0 && !checked) {
            // No access, but a use of the class, which events tell of.
            return self
                .options
                .mode
                .makes_events()
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
        if self.options.mode.makes_events() {
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
    fn number_of_class(&self, jni: Jni, class: Ref) -> Option<i64> {
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
        let row = Field {
            class: class_in(&class).to_owned(),
            name: field.name.clone(),
            desc: field.desc.clone(),
            flags: field.modifiers as u16,
        };
        let mut fields = self.fields.lock().unwrap_or_else(|e| e.into_inner());
        i64::from(fields.number(row))
    }

    /// The class of the innermost frame that is not the bridge's.
    fn caller<'env>(&self, jni: Jni<'env>) -> Ref<'env> {
        for frame in self.jvmti.stack(12) {
            let class = self.jvmti.method_class(jni, frame.method);
            let ours = self
                .jvmti
                .class_signature(class)
                .is_none_or(|s| s.starts_with("Ljava/lang/Photofinish"));
            if !class.is_null() && !ours {
                return class;
            }
        }
        Ref::NULL
    }
}
