//! The bridge classes: defined in `java.lang` before the first bytecode runs,
//! and the methods that we call on them.

use crate::classes::is_our_name;
use crate::jni::Jni;
use jni_sys::{jclass, jlong, jmethodID, jobject, jvalue};

mod generated {
    include!(concat!(env!("OUT_DIR"), "/bridge.rs"));
}

/// Classes and methods of the bridge, looked up once the VM is up.
#[derive(Debug)]
pub struct Bridge {
    photofinish: jclass,
    native: jclass,
    thread: jclass,
    attach: jmethodID,
    gone: jmethodID,
    forking: jmethodID,
    waiting: jmethodID,
    waited: jmethodID,
    notifying: jmethodID,
    interrupted: jmethodID,
    held: jmethodID,
    keep_class: jmethodID,
    id_of: jmethodID,
    offset_by_name: jmethodID,
    offset_of_field: jmethodID,
    find: jmethodID,
    allocation_site: jmethodID,
    ref_array: jmethodID,
    field_names: jmethodID,
    control: jclass,
    number_of: jmethodID,
    reentering: jmethodID,
    awaited: jmethodID,
    forget_holder: jmethodID,
    named: jmethodID,
    held_by: jmethodID,
    blocker: jmethodID,
    exception: jmethodID,
    keep_static: jmethodID,
    holds_foreign: jmethodID,
    hidden: jclass,
    waits_for: jmethodID,
    wanted: jmethodID,
    pub interrupted_exception: jclass,
    pub class_class: jclass,
}

// SAFETY: global references and method ids are valid in every thread.
unsafe impl Send for Bridge {}
// SAFETY: as above.
unsafe impl Sync for Bridge {}

fn object(o: jobject) -> jvalue {
    jvalue { l: o }
}

fn flag(b: bool) -> jvalue {
    jvalue { z: b.into() }
}

/// Defines the classes; at early VMStart, before any Java code runs.
pub fn define(jni: Jni) -> Result<(), String> {
    for (name, bytes) in generated::CLASSES {
        let class = jni.define_class(name, bytes);
        if class.is_null() {
            return Err(format!("the JVM refused {name}"));
        }
        jni.delete_local(class);
    }
    Ok(())
}

impl Bridge {
    /// Looks everything up; at VMInit.
    pub fn look_up(jni: Jni) -> Option<Bridge> {
        let class = |name: &str| {
            let c = jni.find_class(name);
            (!c.is_null()).then(|| jni.global(c))
        };
        let photofinish = class("java/lang/Photofinish")?;
        let native = class("java/lang/PhotofinishNative")?;
        let thread = class("java/lang/PhotofinishThread")?;
        let control = class("java/lang/PhotofinishControl")?;
        let hidden = class("java/lang/PhotofinishMayTrigger")?;
        Some(Bridge {
            hidden,
            waits_for: jni.static_method(hidden, "waitsFor", "(Ljava/lang/Thread;)I")?,
            wanted: jni.static_method(
                hidden,
                "wanted",
                "(Ljava/lang/Thread;)Ljava/lang/String;",
            )?,
            photofinish,
            native,
            thread,
            attach: jni.static_method(thread, "attach", "(Ljava/lang/Thread;Z)V")?,
            gone: jni.static_method(thread, "gone", "(Ljava/lang/Thread;)V")?,
            forking: jni.static_method(photofinish, "forking", "(Ljava/lang/Thread;)V")?,
            waiting: jni.static_method(photofinish, "waiting", "(Ljava/lang/Object;)V")?,
            waited: jni.static_method(photofinish, "waited", "(Ljava/lang/Object;Z)V")?,
            notifying: jni.static_method(photofinish, "notifying", "(Ljava/lang/Object;Z)V")?,
            interrupted: jni.static_method(photofinish, "interrupted", "()V")?,
            held: jni.static_method(native, "heldNow", "()Ljava/lang/String;")?,
            keep_class: jni.static_method(native, "keepClass", "(Ljava/lang/Class;)I")?,
            id_of: jni.static_method(native, "idOf", "(Ljava/lang/Object;)J")?,
            offset_by_name: jni.static_method(
                native,
                "offset",
                "(Ljava/lang/Class;Ljava/lang/String;)J",
            )?,
            offset_of_field: jni.static_method(
                native,
                "offset",
                "(Ljava/lang/reflect/Field;Z)J",
            )?,
            find: jni.static_method(
                native,
                "find",
                "(Ljava/lang/String;Ljava/lang/ClassLoader;)Ljava/lang/Class;",
            )?,
            allocation_site: jni.static_method(
                native,
                "allocationSite",
                "(Ljava/lang/Object;)I",
            )?,
            ref_array: jni.static_method(native, "refArray", "()J")?,
            field_names: jni.static_method(
                native,
                "names",
                "([Ljava/lang/reflect/Field;)Ljava/lang/String;",
            )?,
            control,
            number_of: jni.static_method(control, "numberOf", "(Ljava/lang/Object;Z)I")?,
            reentering: jni.static_method(control, "reentering", "(Ljava/lang/Object;)V")?,
            awaited: jni.static_method(
                control,
                "awaited",
                "(Ljava/lang/Thread;)Ljava/lang/Object;",
            )?,
            forget_holder: jni.static_method(control, "forgetHolder", "(Ljava/lang/Object;)V")?,
            named: jni.static_method(control, "named", "(I)Ljava/lang/String;")?,
            held_by: jni.static_method(
                control,
                "heldBy",
                "(Ljava/lang/Thread;)Ljava/lang/String;",
            )?,
            blocker: jni.static_method(
                control,
                "blocker",
                "(Ljava/lang/Thread;)Ljava/lang/String;",
            )?,
            exception: jni.static_method(
                control,
                "describe",
                "(Ljava/lang/Throwable;)Ljava/lang/String;",
            )?,
            keep_static: jni.static_method(control, "keepStatic", "(Ljava/lang/Class;J)I")?,
            holds_foreign: jni.static_method(control, "holdsForeign", "(Ljava/lang/Thread;)I")?,
            interrupted_exception: class("java/lang/InterruptedException")?,
            class_class: class("java/lang/Class")?,
        })
    }

    pub fn attach(&self, jni: Jni, thread: jobject, system: bool) {
        jni.call_void(self.thread, self.attach, &[object(thread), flag(system)]);
    }

    pub fn gone(&self, jni: Jni, thread: jobject) {
        jni.call_void(self.thread, self.gone, &[object(thread)]);
    }

    pub fn forking(&self, jni: Jni, child: jobject) {
        jni.call_void(self.photofinish, self.forking, &[object(child)]);
    }

    pub fn waiting(&self, jni: Jni, o: jobject) {
        jni.call_void(self.photofinish, self.waiting, &[object(o)]);
    }

    pub fn waited(&self, jni: Jni, o: jobject, interrupted: bool) {
        jni.call_void(
            self.photofinish,
            self.waited,
            &[object(o), flag(interrupted)],
        );
    }

    pub fn notifying(&self, jni: Jni, o: jobject, all: bool) {
        jni.call_void(self.photofinish, self.notifying, &[object(o), flag(all)]);
    }

    pub fn interrupted(&self, jni: Jni) {
        jni.call_void(self.photofinish, self.interrupted, &[]);
    }

    /// The locks that the current thread holds, one a line.
    pub fn held(&self, jni: Jni) -> String {
        let s = jni.call_object(self.native, self.held, &[]);
        jni.string(s)
    }

    pub fn keep_class(&self, jni: Jni, class: jclass) -> i64 {
        i64::from(jni.call_int(self.native, self.keep_class, &[object(class)]))
    }

    pub fn id_of(&self, jni: Jni, o: jobject) -> jlong {
        jni.call_long(self.native, self.id_of, &[object(o)])
    }

    /// Offset of a field that we added; 0 if the class has none.
    pub fn offset_by_name(&self, jni: Jni, class: jclass, name: &str) -> jlong {
        let name = jni.new_string(name);
        let offset = jni.call_long(
            self.native,
            self.offset_by_name,
            &[object(class), object(name)],
        );
        jni.delete_local(name);
        offset
    }

    /// Offset of a field, from its reflected form.
    pub fn offset_of_field(&self, jni: Jni, field: jobject, is_static: bool) -> jlong {
        jni.call_long(
            self.native,
            self.offset_of_field,
            &[object(field), flag(is_static)],
        )
    }

    /// The site that made an object or array; 0 if unknown.
    pub fn allocation_site(&self, jni: Jni, o: jobject) -> i32 {
        jni.call_int(self.native, self.allocation_site, &[object(o)])
    }

    /// Base offset and scale of reference arrays.
    pub fn ref_array(&self, jni: Jni) -> (i64, i64) {
        let both = jni.call_long(self.native, self.ref_array, &[]);
        (both >> 32, both & 0xffff_ffff)
    }

    /// What a controlled run knows an object by; 0 if it does not, unless it is
    /// given a number now.
    pub fn number_of(&self, jni: Jni, o: jobject, give: bool) -> i32 {
        jni.call_int(self.control, self.number_of, &[object(o), flag(give)])
    }

    /// Returns when no other controlled thread holds the object's monitor.
    pub fn reentering(&self, jni: Jni, o: jobject) {
        jni.call_void(self.control, self.reentering, &[object(o)]);
    }

    /// The object whose monitor a thread waits for, or null.
    pub fn awaited(&self, jni: Jni, thread: jobject) -> jobject {
        jni.call_object(self.control, self.awaited, &[object(thread)])
    }

    /// Nobody holds the object's monitor, whatever we thought.
    pub fn forget_holder(&self, jni: Jni, o: jobject) {
        jni.call_void(self.control, self.forget_holder, &[object(o)]);
    }

    /// An object by its number, for people.
    pub fn named(&self, jni: Jni, number: i32) -> String {
        let s = jni.call_object(self.control, self.named, &[jvalue { i: number }]);
        jni.string(s)
    }

    /// The locks that a thread holds, one a line.
    pub fn held_by(&self, jni: Jni, thread: jobject) -> String {
        let s = jni.call_object(self.control, self.held_by, &[object(thread)]);
        jni.string(s)
    }

    /// Number of the thread that holds the lock that a thread waits for; -1: none.
    pub fn waits_for(&self, jni: Jni, thread: jobject) -> i32 {
        jni.call_int(self.hidden, self.waits_for, &[object(thread)])
    }

    /// That lock, for people.
    pub fn wanted(&self, jni: Jni, thread: jobject) -> String {
        let s = jni.call_object(self.hidden, self.wanted, &[object(thread)]);
        jni.string(s)
    }

    /// What a parked thread waits for, and the place of whoever holds it plus
    /// one, if that is known.
    pub fn blocker(&self, jni: Jni, thread: jobject) -> (String, u32) {
        let s = jni.call_object(self.control, self.blocker, &[object(thread)]);
        let text = jni.string(s);
        let (what, holder) = text.rsplit_once('\n').unwrap_or((&text, "0"));
        (what.into(), holder.parse().unwrap_or(0))
    }

    /// An exception in words, and its stack, a frame a line.
    pub fn describe_exception(&self, jni: Jni, e: jobject) -> (String, String) {
        let s = jni.call_object(self.control, self.exception, &[object(e)]);
        let text = jni.string(s);
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        (first.into(), rest.into())
    }

    pub fn throw_interrupted(&self, jni: Jni, message: &str) {
        jni.throw_new(self.interrupted_exception, message);
    }

    /// The number under which a static's place is kept.
    pub fn keep_static(&self, jni: Jni, class: jclass, offset: i64) -> i32 {
        let args = [object(class), jvalue { j: offset }];
        jni.call_int(self.control, self.keep_static, &args)
    }

    /// Whether a thread holds a lock that was there before the execution.
    pub fn holds_foreign(&self, jni: Jni, thread: jobject) -> bool {
        jni.call_int(self.control, self.holds_foreign, &[object(thread)]) != 0
    }

    /// Which of these reflected fields we added.
    pub fn is_ours(&self, jni: Jni, fields: jobject) -> Vec<bool> {
        let names = jni.call_object(self.native, self.field_names, &[object(fields)]);
        jni.string(names).lines().map(is_our_name).collect()
    }

    /// The class of this name as seen from a loader, not initialised.
    pub fn find(&self, jni: Jni, name: &str, loader: jobject) -> jclass {
        let name = jni.new_string(&name.replace('/', "."));
        jni.call_object(self.native, self.find, &[object(name), object(loader)])
    }
}
