//! The JNI calls we make, with the unsafety of the table in one place. All
//! of them leave no exception pending: what the agent does inside the
//! program's thread must not surface there.
//!
//! References are types (`refs`) that are live by construction. What the JVM does
//! not check is checked here (that an object has a field), or asked of the caller
//! of an unsafe function (that a method has the arguments it is given).

#[cfg(test)]
pub mod fake;
mod fields;
mod refs;
#[cfg(test)]
mod tests;

pub use fields::{Field, Object};
pub use refs::{Global, Local, Ref};

use crate::jvmti::MethodId;
use jni_sys::{JNI_OK, JNIEnv, JNINativeMethod, jfieldID, jint, jlong, jmethodID, jobject, jvalue};
use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr;

thread_local! {
    static THREW: Cell<bool> = const { Cell::new(false) };
}

/// The JNI environment of the current thread, as the JVM passes it to natives
/// and callbacks. `'env` is the call: what it makes the JVM give us lives as long.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Jni<'env>(*mut JNIEnv, PhantomData<&'env JNIEnv>);

/// Calls a function of the table.
macro_rules! jni {
    ($self:ident, $name:ident $(, $arg:expr)*) => {{
        let env = $self.0;
        ((**env).$name.expect("JNI tables are complete"))(env $(, $arg)*)
    }};
}
use jni;

/// A native of a class: name, descriptor, function.
#[derive(Debug)]
pub struct Native {
    pub name: &'static str,
    pub desc: &'static str,
    pub function: *const c_void,
}

fn c(s: &str) -> CString {
    CString::new(s).unwrap_or_default()
}

impl<'env> Jni<'env> {
    /// # Safety
    /// `env` must be the current thread's environment, and be so for `'env`.
    pub unsafe fn new(env: *mut JNIEnv) -> Jni<'env> {
        Jni(env, PhantomData)
    }

    /// A local reference that the JVM has just made in this call.
    fn made(self, raw: jobject) -> Ref<'env> {
        // SAFETY: it lives until the native returns, unless it is deleted, which only
        // its owner (a `Local`) can do.
        unsafe { Ref::from_raw(raw) }
    }

    /// The same, to be given back early.
    fn owned(self, raw: jobject) -> Local<'env> {
        // SAFETY: its creator has handed it over.
        unsafe { Local::new(self, self.made(raw)) }
    }

    pub fn define_class(self, name: &str, bytes: &[u8]) -> Local<'env> {
        let name = c(name);
        // SAFETY: a terminated name, the boot loader, and the bytes with their length.
        let class = unsafe {
            jni!(
                self,
                DefineClass,
                name.as_ptr(),
                ptr::null_mut(),
                bytes.as_ptr().cast(),
                bytes.len() as jint
            )
        };
        self.clear();
        self.owned(class)
    }

    pub fn find_class(self, name: &str) -> Ref<'env> {
        let name = c(name);
        // SAFETY: a terminated name.
        let class = unsafe { jni!(self, FindClass, name.as_ptr()) };
        self.clear();
        self.made(class)
    }

    /// Binds natives of a class to functions of ours.
    ///
    /// # Safety
    /// The functions must have the parameters that their descriptors say.
    pub unsafe fn register(self, class: Ref, natives: &[Native]) -> bool {
        let names: Vec<_> = natives.iter().map(|n| (c(n.name), c(n.desc))).collect();
        let table: Vec<JNINativeMethod> = natives
            .iter()
            .zip(&names)
            .map(|(native, (n, d))| JNINativeMethod {
                name: n.as_ptr().cast_mut(),
                signature: d.as_ptr().cast_mut(),
                fnPtr: native.function.cast_mut(),
            })
            .collect();
        // SAFETY: a live class, and a table of terminated names whose functions fit,
        // says the caller.
        let bound = unsafe {
            jni!(
                self,
                RegisterNatives,
                class.raw(),
                table.as_ptr(),
                table.len() as jint
            )
        };
        !self.clear() && bound == JNI_OK
    }

    /// None of null.
    pub fn global(self, o: Ref) -> Option<Global> {
        // SAFETY: a live reference or null.
        let raw = unsafe { jni!(self, NewGlobalRef, o.raw()) };
        // SAFETY: just made, for nobody else.
        unsafe { Global::from_raw(raw) }
    }

    pub fn delete_global(self, o: Global) {
        // SAFETY: a global reference, which nobody has any more.
        unsafe { jni!(self, DeleteGlobalRef, o.into_raw()) }
    }

    /// # Safety
    /// Nobody may use the reference afterwards.
    unsafe fn delete_local(self, o: Ref) {
        // SAFETY: a local reference, says the caller.
        unsafe { jni!(self, DeleteLocalRef, o.raw()) }
    }

    /// The class of an object; null of null.
    pub fn class_of(self, o: Ref) -> Ref<'env> {
        if o.is_null() {
            return Ref::NULL;
        }
        // SAFETY: a live object.
        self.made(unsafe { jni!(self, GetObjectClass, o.raw()) })
    }

    /// The same, given back when it is dropped.
    pub fn local_class_of(self, o: Ref) -> Local<'env> {
        self.owned(self.class_of(o).raw())
    }

    pub fn superclass(self, class: Ref) -> Ref<'env> {
        if class.is_null() {
            return Ref::NULL;
        }
        // SAFETY: a live class.
        self.made(unsafe { jni!(self, GetSuperclass, class.raw()) })
    }

    pub fn same(self, a: Ref, b: Ref) -> bool {
        // SAFETY: live references or null.
        unsafe { jni!(self, IsSameObject, a.raw(), b.raw()) != 0 }
    }

    pub fn is_instance(self, o: Ref, class: Ref) -> bool {
        // SAFETY: a live object or null, and a live class.
        !class.is_null() && unsafe { jni!(self, IsInstanceOf, o.raw(), class.raw()) != 0 }
    }

    /// Calls a program's main method. What that throws stays pending: it is the
    /// program's.
    pub fn call_main(self, class: Ref, args: Ref) {
        // SAFETY: a live class and terminated names.
        let id = unsafe {
            jni!(
                self,
                GetStaticMethodID,
                class.raw(),
                c"main".as_ptr(),
                c"([Ljava/lang/String;)V".as_ptr()
            )
        };
        if !id.is_null() {
            let args = [args.value()];
            // SAFETY: looked up in this class, and it takes an array of strings, which
            // the bridge's declaration of the native says that `args` is.
            unsafe { jni!(self, CallStaticVoidMethodA, class.raw(), id, args.as_ptr()) };
        }
    }

    pub fn static_method(self, class: Ref, name: &str, desc: &str) -> Option<jmethodID> {
        let (name, desc) = (c(name), c(desc));
        let class = class.non_null()?.raw();
        // SAFETY: a live class and terminated names.
        let id = unsafe { jni!(self, GetStaticMethodID, class, name.as_ptr(), desc.as_ptr()) };
        (!self.clear() && !id.is_null()).then_some(id)
    }

    /// A method of objects of the class, its own or inherited.
    pub fn method(self, class: Ref, name: &str, desc: &str) -> Option<MethodId> {
        let (name, desc) = (c(name), c(desc));
        let class = class.non_null()?.raw();
        // SAFETY: a live class and terminated names.
        let id = unsafe { jni!(self, GetMethodID, class, name.as_ptr(), desc.as_ptr()) };
        // SAFETY: an id that the JVM has just given us.
        (!self.clear() && !id.is_null()).then(|| unsafe { MethodId::from_raw(id) })
    }

    /// # Safety
    /// A static method of the class that takes these arguments.
    pub unsafe fn call_static_void(self, class: Ref, method: jmethodID, args: &[jvalue]) {
        // SAFETY: says the caller.
        unsafe {
            jni!(
                self,
                CallStaticVoidMethodA,
                class.raw(),
                method,
                args.as_ptr()
            )
        };
        self.clear();
    }

    /// # Safety
    /// A static method of the class that takes these arguments and returns a long.
    pub unsafe fn call_static_long(self, class: Ref, method: jmethodID, args: &[jvalue]) -> jlong {
        // SAFETY: says the caller.
        let n = unsafe {
            jni!(
                self,
                CallStaticLongMethodA,
                class.raw(),
                method,
                args.as_ptr()
            )
        };
        if self.clear() { 0 } else { n }
    }

    /// # Safety
    /// A static method of the class that takes these arguments and returns an int.
    pub unsafe fn call_static_int(self, class: Ref, method: jmethodID, args: &[jvalue]) -> jint {
        // SAFETY: says the caller.
        let n = unsafe {
            jni!(
                self,
                CallStaticIntMethodA,
                class.raw(),
                method,
                args.as_ptr()
            )
        };
        if self.clear() { 0 } else { n }
    }

    /// # Safety
    /// A static method of the class that takes these arguments and returns a
    /// reference.
    pub unsafe fn call_static_object(
        self,
        class: Ref,
        method: jmethodID,
        args: &[jvalue],
    ) -> Ref<'env> {
        // SAFETY: says the caller.
        let o = unsafe {
            jni!(
                self,
                CallStaticObjectMethodA,
                class.raw(),
                method,
                args.as_ptr()
            )
        };
        if self.clear() {
            Ref::NULL
        } else {
            self.made(o)
        }
    }

    /// Where elements of such an array begin, by the one method of Unsafe for it
    /// that has the same type in every version; 0 if there is none.
    pub fn array_base(self, u: Ref, array: Ref) -> jint {
        let desc = "(Ljava/lang/Class;)I";
        let Some(id) = self.method(self.class_of(u), "arrayBaseOffset0", desc) else {
            return 0;
        };
        // SAFETY: looked up in the object's class; it takes a class, which the
        // bridge's declaration of the native says that `array` is.
        let n = unsafe { jni!(self, CallIntMethodA, u.raw(), id.raw(), &array.value()) };
        if self.clear() { 0 } else { n }
    }

    /// # Safety
    /// A field of the class, static or not as told.
    pub unsafe fn reflected_field(
        self,
        class: Ref,
        field: jfieldID,
        is_static: bool,
    ) -> Local<'env> {
        // SAFETY: says the caller.
        let o = unsafe { jni!(self, ToReflectedField, class.raw(), field, is_static.into()) };
        self.owned(if self.clear() { ptr::null_mut() } else { o })
    }

    /// The id of a reflected method.
    pub fn method_id(self, method: Ref) -> Option<MethodId> {
        let method = method.non_null()?.raw();
        // SAFETY: a live object; what is no method gives null.
        let id = unsafe { jni!(self, FromReflectedMethod, method) };
        // SAFETY: an id that the JVM has just given us.
        (!id.is_null()).then(|| unsafe { MethodId::from_raw(id) })
    }

    pub fn new_string(self, s: &str) -> Local<'env> {
        let text: Vec<u16> = s.encode_utf16().collect();
        // SAFETY: that many characters.
        let o = unsafe { jni!(self, NewString, text.as_ptr(), text.len() as jint) };
        self.clear();
        self.owned(o)
    }

    /// The text of a string; nothing of null.
    pub fn string(self, s: Ref) -> String {
        let Some(s) = s.non_null().map(Ref::raw) else {
            return String::new();
        };
        // SAFETY: callers have strings from the bridge, as descriptors say.
        let n = unsafe { jni!(self, GetStringLength, s) };
        let mut text = vec![0u16; n.max(0) as usize];
        // SAFETY: as long as the string, and so is the room for it.
        unsafe { jni!(self, GetStringRegion, s, 0, n, text.as_mut_ptr()) };
        self.clear();
        String::from_utf16_lossy(&text)
    }

    pub fn new_longs(self, values: &[jlong]) -> Local<'env> {
        let n = values.len() as jint;
        // SAFETY: any length, and no memory throws.
        let a = unsafe { jni!(self, NewLongArray, n) };
        if self.clear() || a.is_null() {
            return self.owned(ptr::null_mut());
        }
        // SAFETY: an array of as many longs.
        unsafe { jni!(self, SetLongArrayRegion, a, 0, n, values.as_ptr()) };
        self.clear();
        self.owned(a)
    }

    /// Bytes `from` to `from + length` of a byte array; none if out of range.
    pub fn bytes(self, array: Ref, from: jint, length: jint) -> Option<Vec<u8>> {
        let array = array.non_null()?.raw();
        let mut out = vec![0u8; usize::try_from(length).ok()?];
        // SAFETY: a live array of bytes, says the native's descriptor; the JVM checks
        // the range, and there is room for that many.
        unsafe {
            jni!(
                self,
                GetByteArrayRegion,
                array,
                from,
                length,
                out.as_mut_ptr().cast()
            )
        };
        (!self.clear()).then_some(out)
    }

    /// The number of the file that a stream of java.io reads or writes.
    pub fn file_number(self, stream: Ref) -> Option<i32> {
        let class = self.class_of(stream);
        let descriptor = self.reference_field(class, "fd", "Ljava/io/FileDescriptor;")?;
        let fd = self.object_field(stream, descriptor);
        self.descriptor_number(fd.get())
    }

    /// The number in a FileDescriptor.
    pub fn descriptor_number(self, fd: Ref) -> Option<i32> {
        if fd.is_null() {
            return None;
        }
        let number = self.field(self.class_of(fd), "fd")?;
        let number = self.int_field(fd, number);
        (number >= 0).then_some(number)
    }

    pub fn new_bytes(self, bytes: &[u8]) -> Local<'env> {
        let n = bytes.len() as jint;
        // SAFETY: any length, and no memory throws.
        let a = unsafe { jni!(self, NewByteArray, n) };
        if self.clear() || a.is_null() {
            return self.owned(ptr::null_mut());
        }
        // SAFETY: an array of as many bytes.
        unsafe { jni!(self, SetByteArrayRegion, a, 0, n, bytes.as_ptr().cast()) };
        self.clear();
        self.owned(a)
    }

    pub fn array_length(self, array: Ref) -> jint {
        // SAFETY: a live array, says the descriptor of the native that got it.
        array.non_null().map_or(0, |array| unsafe {
            jni!(self, GetArrayLength, array.raw())
        })
    }

    /// Null if out of range.
    pub fn element(self, array: Ref, i: jint) -> Local<'env> {
        // SAFETY: a live array of references, says the descriptor of the native that
        // got it; the JVM checks the index.
        let o = unsafe { jni!(self, GetObjectArrayElement, array.raw(), i) };
        self.owned(if self.clear() { ptr::null_mut() } else { o })
    }

    pub fn set_element(self, array: Ref, i: jint, o: Ref) {
        // SAFETY: as in `element`; the JVM checks the type of the element too.
        unsafe { jni!(self, SetObjectArrayElement, array.raw(), i, o.raw()) };
        self.clear();
    }

    pub fn new_array(self, n: jint, class: Ref) -> Local<'env> {
        // SAFETY: a live class; its elements begin as null.
        let a = unsafe { jni!(self, NewObjectArray, n, class.raw(), ptr::null_mut()) };
        self.clear();
        self.owned(a)
    }

    /// Gives the current thread's hold on a monitor up; how often it was held as
    /// far as the JVM counts.
    pub fn exit_monitor(self, o: Ref) -> u32 {
        let mut times = 0;
        // SAFETY: a live object; of a monitor that is not held the JVM throws.
        while unsafe { jni!(self, MonitorExit, o.raw()) } == JNI_OK {
            times += 1;
        }
        self.take_exception(); // of the exit that was one too many
        times
    }

    pub fn enter_monitor(self, o: Ref, times: u32) {
        for _ in 0..times {
            // SAFETY: a live object.
            unsafe { jni!(self, MonitorEnter, o.raw()) };
        }
    }

    pub fn throw_new(self, class: Ref, message: &str) {
        let message = c(message);
        let text = if message.is_empty() {
            ptr::null()
        } else {
            message.as_ptr()
        };
        // SAFETY: a live class of exceptions, and a terminated text or null.
        unsafe { jni!(self, ThrowNew, class.raw(), text) };
    }

    /// Takes a pending exception away.
    pub fn take_exception(self) -> Option<Local<'env>> {
        // SAFETY: may be called at any time.
        let e = unsafe { jni!(self, ExceptionOccurred) };
        if e.is_null() {
            return None;
        }
        // SAFETY: may be called at any time.
        unsafe { jni!(self, ExceptionClear) };
        Some(self.owned(e))
    }

    pub fn throw(self, e: &Local) {
        // SAFETY: an exception that was taken.
        unsafe { jni!(self, Throw, e.get().raw()) };
    }

    /// Clears a pending exception; whether there was one.
    pub fn clear(self) -> bool {
        // SAFETY: may be called at any time.
        let pending = unsafe { jni!(self, ExceptionCheck) } != 0;
        if pending {
            // SAFETY: may be called at any time.
            unsafe { jni!(self, ExceptionClear) };
            THREW.set(true);
        }
        pending
    }

    /// Whether the calls that `f` makes threw nothing: our own upcalls only do
    /// when stack or heap run out, and then their answers mean nothing.
    pub fn undisturbed<T>(self, f: impl FnOnce() -> T) -> Option<T> {
        THREW.set(false);
        let result = f();
        (!THREW.get()).then_some(result)
    }
}
