//! The bridge classes: defined in `java.lang` before the first bytecode runs,
//! and the methods that we call on them.

mod calls;

use crate::classes::is_our_name;
use crate::jni::{Global, Jni, Ref};
use calls::Calls;
#[cfg(test)]
pub use calls::METHODS;
use std::ops::Deref;

mod generated {
    include!(concat!(env!("OUT_DIR"), "/bridge.rs"));
}

pub use generated::CLASSES;

/// Classes and methods of the bridge, looked up once the VM is up. The methods
/// whose results need no translation are those of [`Calls`].
#[derive(Debug)]
pub struct Bridge {
    calls: Calls,
    pub interrupted_exception: Global,
    pub class_class: Global,
}

impl Deref for Bridge {
    type Target = Calls;

    fn deref(&self) -> &Calls {
        &self.calls
    }
}

/// Defines the classes; at early VMStart, before any Java code runs.
pub fn define(jni: Jni) -> Result<(), String> {
    for (name, bytes) in CLASSES {
        if jni.define_class(name, bytes).is_null() {
            return Err(format!("the JVM refused {name}"));
        }
    }
    Ok(())
}

impl Bridge {
    /// Looks everything up; at VMInit.
    pub fn look_up(jni: Jni) -> Option<Bridge> {
        let class = |name: &str| jni.global(jni.find_class(name));
        Some(Bridge {
            calls: Calls::look_up(jni)?,
            interrupted_exception: class("java/lang/InterruptedException")?,
            class_class: class("java/lang/Class")?,
        })
    }

    /// The locks that the current thread holds, one a line.
    pub fn held(&self, jni: Jni) -> String {
        jni.string(self.calls.held_now(jni))
    }

    /// The site of the program's call into the JDK that the thread is in; 0 if unknown.
    pub fn call_now(&self, jni: Jni) -> u32 {
        self.calls.call_now(jni) as u32
    }

    /// Offset of a field that we added; 0 if the class has none.
    pub fn offset_by_name(&self, jni: Jni, class: Ref, name: &str) -> i64 {
        let name = jni.new_string(name);
        self.calls.offset_by_name(jni, class, name.get())
    }

    /// Base offset and scale of reference arrays.
    pub fn ref_array(&self, jni: Jni) -> (i64, i64) {
        let both = self.calls.ref_array(jni);
        (both >> 32, both & 0xffff_ffff)
    }

    /// An object by its number, for people.
    pub fn named(&self, jni: Jni, number: i32) -> String {
        jni.string(self.calls.named(jni, number))
    }

    /// The locks that a thread holds, one a line.
    pub fn held_by(&self, jni: Jni, thread: Ref) -> String {
        jni.string(self.calls.held_by(jni, thread))
    }

    /// The lock that a thread waits for, for people.
    pub fn wanted(&self, jni: Jni, thread: Ref) -> String {
        jni.string(self.calls.wanted(jni, thread))
    }

    /// What a parked thread waits for, and the place of the thread that holds it plus
    /// one, if that is known.
    pub fn blocker(&self, jni: Jni, thread: Ref) -> (String, u32) {
        let text = jni.string(self.calls.blocker(jni, thread));
        let (what, holder) = text.rsplit_once('\n').unwrap_or((&text, "0"));
        (what.into(), holder.parse().unwrap_or(0))
    }

    /// An exception in words, and its stack, a frame a line.
    pub fn describe_exception(&self, jni: Jni, e: Ref) -> (String, String) {
        let text = jni.string(self.calls.describe(jni, e));
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        (first.into(), rest.into())
    }

    pub fn throw_interrupted(&self, jni: Jni, message: &str) {
        jni.throw_new(self.interrupted_exception.get(), message);
    }

    /// Whether a thread holds a lock that was there before the execution.
    pub fn holds_foreign(&self, jni: Jni, thread: Ref) -> bool {
        self.calls.holds_foreign(jni, thread) != 0
    }

    /// Which of these reflected fields we added.
    pub fn is_ours(&self, jni: Jni, fields: Ref) -> Vec<bool> {
        let names = jni.string(self.calls.names(jni, fields));
        names.lines().map(is_our_name).collect()
    }

    /// The class of this name as seen from a loader, not initialised.
    pub fn find<'env>(&self, jni: Jni<'env>, name: &str, loader: Ref) -> Ref<'env> {
        let name = jni.new_string(&encoding::names::dotted(name));
        self.calls.find(jni, name.get(), loader)
    }
}
