//! References to objects of the JVM, as types: a holder of one of these has a
//! reference that is live, and cannot keep it for longer.

use super::Jni;
use jni_sys::{jobject, jvalue};
use std::marker::PhantomData;
use std::mem;

/// A reference that somebody else owns, or null. Natives get their arguments as
/// these, and the JVM frees what belongs to a call when the call returns (`'a`).
/// Local references are good in one thread only, so it is neither `Send` nor
/// `Sync`.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Ref<'a>(jobject, PhantomData<&'a jobject>);

impl<'a> Ref<'a> {
    pub const NULL: Ref<'static> = Ref(std::ptr::null_mut(), PhantomData);

    /// # Safety
    /// `raw` must be null, or a reference that is live for `'a` and may be used in
    /// this thread.
    pub unsafe fn from_raw(raw: jobject) -> Ref<'a> {
        Ref(raw, PhantomData)
    }

    pub fn raw(self) -> jobject {
        self.0
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn non_null(self) -> Option<Ref<'a>> {
        (!self.is_null()).then_some(self)
    }

    pub(super) fn value(self) -> jvalue {
        jvalue { l: self.0 }
    }
}

impl Default for Ref<'_> {
    fn default() -> Self {
        Ref::NULL
    }
}

/// A local reference that is given back when it is dropped, or null. For threads
/// that stay inside a native for long, and for loops.
#[derive(Debug)]
pub struct Local<'env> {
    jni: Jni<'env>,
    object: Ref<'env>,
}

impl<'env> Local<'env> {
    /// # Safety
    /// Nobody else may use `object`, which must be a local reference or null.
    pub(super) unsafe fn new(jni: Jni<'env>, object: Ref<'env>) -> Local<'env> {
        Local { jni, object }
    }

    pub fn get(&self) -> Ref<'_> {
        self.object
    }

    pub fn is_null(&self) -> bool {
        self.object.is_null()
    }

    /// Leaves it to the JVM to free it when the native returns.
    pub fn leave(self) -> Ref<'env> {
        let object = self.object;
        mem::forget(self);
        object
    }
}

impl Drop for Local<'_> {
    fn drop(&mut self) {
        if !self.object.is_null() {
            // SAFETY: nobody else has this reference.
            unsafe { self.jni.delete_local(self.object) };
        }
    }
}

/// A global reference, never null, good in every thread until [`Jni::delete_global`]
/// takes it. Dropped, it stays: to free it takes an environment.
#[derive(Debug)]
pub struct Global(jobject);

// SAFETY: global references are made for use in any thread.
unsafe impl Send for Global {}
// SAFETY: as for Send; JNI functions that take them may run at the same time.
unsafe impl Sync for Global {}

impl Global {
    /// None of null.
    ///
    /// # Safety
    /// `raw` must be null, or a global reference of which nobody else disposes.
    pub unsafe fn from_raw(raw: jobject) -> Option<Global> {
        (!raw.is_null()).then_some(Global(raw))
    }

    pub fn get(&self) -> Ref<'_> {
        Ref(self.0, PhantomData)
    }

    /// It is never freed.
    pub fn leak(self) -> Ref<'static> {
        Ref(self.0, PhantomData)
    }

    pub(super) fn into_raw(self) -> jobject {
        self.0
    }
}
