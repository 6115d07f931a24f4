//! The JNI calls we make, with the unsafety of the table in one place. All
//! of them leave no exception pending: what the agent does inside the
//! program's thread must not surface there.

use jni_sys::{
    JNI_OK, JNIEnv, JNINativeMethod, jclass, jfieldID, jint, jlong, jmethodID, jobject, jstring,
    jthrowable, jvalue,
};
use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::ptr;

/// A field's id; good as long as its class is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Field(jfieldID);

thread_local! {
    static THREW: Cell<bool> = const { Cell::new(false) };
}

/// The JNI environment of the current thread.
#[derive(Clone, Copy)]
pub struct Jni(*mut JNIEnv);

macro_rules! jni {
    ($self:ident, $name:ident $(, $arg:expr)*) => {{
        // SAFETY: the environment is the current thread's and its table is
        // complete; arguments are live references of this thread.
        unsafe { ((**$self.0).$name.expect("JNI tables are complete"))($self.0 $(, $arg)*) }
    }};
}

fn c(s: &str) -> CString {
    CString::new(s).unwrap_or_default()
}

impl Jni {
    /// # Safety
    /// `env` must be the current thread's environment.
    pub unsafe fn new(env: *mut JNIEnv) -> Jni {
        Jni(env)
    }

    pub fn env(self) -> *mut JNIEnv {
        self.0
    }

    pub fn define_class(self, name: &str, bytes: &[u8]) -> jclass {
        let name = c(name);
        let class = jni!(
            self,
            DefineClass,
            name.as_ptr(),
            ptr::null_mut(),
            bytes.as_ptr().cast(),
            bytes.len() as jint
        );
        self.clear();
        class
    }

    pub fn find_class(self, name: &str) -> jclass {
        let name = c(name);
        let class = jni!(self, FindClass, name.as_ptr());
        self.clear();
        class
    }

    /// Binds natives of a class to functions of ours: name, descriptor, address.
    pub fn register(self, class: jclass, natives: &[(&str, &str, *const c_void)]) -> bool {
        let names: Vec<_> = natives.iter().map(|(n, d, _)| (c(n), c(d))).collect();
        let table: Vec<JNINativeMethod> = natives
            .iter()
            .zip(&names)
            .map(|((_, _, f), (n, d))| JNINativeMethod {
                name: n.as_ptr().cast_mut(),
                signature: d.as_ptr().cast_mut(),
                fnPtr: f.cast_mut(),
            })
            .collect();
        let ok = jni!(
            self,
            RegisterNatives,
            class,
            table.as_ptr(),
            table.len() as jint
        ) == JNI_OK;
        !self.clear() && ok
    }

    pub fn global(self, o: jobject) -> jobject {
        jni!(self, NewGlobalRef, o)
    }

    pub fn delete_local(self, o: jobject) {
        jni!(self, DeleteLocalRef, o);
    }

    pub fn class_of(self, o: jobject) -> jclass {
        jni!(self, GetObjectClass, o)
    }

    pub fn superclass(self, class: jclass) -> jclass {
        jni!(self, GetSuperclass, class)
    }

    pub fn same(self, a: jobject, b: jobject) -> bool {
        jni!(self, IsSameObject, a, b) != 0
    }

    pub fn static_field(self, class: jclass, name: &str, desc: &str) -> Option<jfieldID> {
        if class.is_null() {
            return None;
        }
        let (name, desc) = (c(name), c(desc));
        let id = jni!(self, GetStaticFieldID, class, name.as_ptr(), desc.as_ptr());
        (!self.clear() && !id.is_null()).then_some(id)
    }

    pub fn static_object(self, class: jclass, field: jfieldID) -> jobject {
        jni!(self, GetStaticObjectField, class, field)
    }

    pub fn set_static_object(self, class: jclass, field: jfieldID, value: jobject) {
        jni!(self, SetStaticObjectField, class, field, value);
    }

    pub fn static_number(self, class: jclass, field: jfieldID, is_int: bool) -> jlong {
        match is_int {
            true => jni!(self, GetStaticIntField, class, field).into(),
            false => jni!(self, GetStaticLongField, class, field),
        }
    }

    pub fn set_static_number(self, class: jclass, field: jfieldID, is_int: bool, value: jlong) {
        match is_int {
            true => jni!(self, SetStaticIntField, class, field, value as jint),
            false => jni!(self, SetStaticLongField, class, field, value),
        }
    }

    /// Calls a program's main method. What that throws stays pending: it is the
    /// program's.
    pub fn call_main(self, class: jclass, args: jobject) {
        let id = jni!(
            self,
            GetStaticMethodID,
            class,
            c"main".as_ptr(),
            c"([Ljava/lang/String;)V".as_ptr()
        );
        if !id.is_null() {
            let args = [jvalue { l: args }];
            jni!(self, CallStaticVoidMethodA, class, id, args.as_ptr());
        }
    }

    pub fn static_method(self, class: jclass, name: &str, desc: &str) -> Option<jmethodID> {
        let (name, desc) = (c(name), c(desc));
        let id = jni!(self, GetStaticMethodID, class, name.as_ptr(), desc.as_ptr());
        (!self.clear() && !id.is_null()).then_some(id)
    }

    /// A method of objects of the class, its own or inherited.
    pub fn method(self, class: jclass, name: &str, desc: &str) -> Option<jmethodID> {
        let (name, desc) = (c(name), c(desc));
        let id = jni!(self, GetMethodID, class, name.as_ptr(), desc.as_ptr());
        (!self.clear() && !id.is_null()).then_some(id)
    }

    pub fn call_void(self, class: jclass, method: jmethodID, args: &[jvalue]) {
        jni!(self, CallStaticVoidMethodA, class, method, args.as_ptr());
        self.clear();
    }

    pub fn call_long(self, class: jclass, method: jmethodID, args: &[jvalue]) -> jlong {
        let n = jni!(self, CallStaticLongMethodA, class, method, args.as_ptr());
        if self.clear() { 0 } else { n }
    }

    pub fn call_int(self, class: jclass, method: jmethodID, args: &[jvalue]) -> jint {
        let n = jni!(self, CallStaticIntMethodA, class, method, args.as_ptr());
        if self.clear() { 0 } else { n }
    }

    /// What a method of `o` says of `argument`; 0 if there is no such method.
    pub fn int_of(self, o: jobject, name: &str, desc: &str, argument: jobject) -> jint {
        let Some(id) = self.method(self.class_of(o), name, desc) else {
            return 0;
        };
        let n = jni!(self, CallIntMethodA, o, id, &jvalue { l: argument });
        if self.clear() { 0 } else { n }
    }

    pub fn call_object(self, class: jclass, method: jmethodID, args: &[jvalue]) -> jobject {
        let o = jni!(self, CallStaticObjectMethodA, class, method, args.as_ptr());
        if self.clear() { ptr::null_mut() } else { o }
    }

    pub fn reflected_field(self, class: jclass, field: jfieldID, is_static: bool) -> jobject {
        let o = jni!(self, ToReflectedField, class, field, is_static.into());
        if self.clear() { ptr::null_mut() } else { o }
    }

    pub fn new_string(self, s: &str) -> jstring {
        let text: Vec<u16> = s.encode_utf16().collect();
        let o = jni!(self, NewString, text.as_ptr(), text.len() as jint);
        self.clear();
        o
    }

    pub fn string(self, s: jstring) -> String {
        if s.is_null() {
            return String::new();
        }
        let n = jni!(self, GetStringLength, s);
        let mut text = vec![0u16; n.max(0) as usize];
        jni!(self, GetStringRegion, s, 0, n, text.as_mut_ptr());
        self.clear();
        String::from_utf16_lossy(&text)
    }

    pub fn new_longs(self, values: &[jlong]) -> jobject {
        let a = jni!(self, NewLongArray, values.len() as jint);
        if self.clear() || a.is_null() {
            return ptr::null_mut();
        }
        jni!(
            self,
            SetLongArrayRegion,
            a,
            0,
            values.len() as jint,
            values.as_ptr()
        );
        self.clear();
        a
    }

    /// Bytes `from` to `from + length` of a byte array; none if out of range.
    pub fn bytes(self, array: jobject, from: jint, length: jint) -> Option<Vec<u8>> {
        let mut out = vec![0u8; usize::try_from(length).ok()?];
        jni!(
            self,
            GetByteArrayRegion,
            array,
            from,
            length,
            out.as_mut_ptr().cast()
        );
        (!self.clear()).then_some(out)
    }

    pub fn new_bytes(self, bytes: &[u8]) -> jobject {
        let a = jni!(self, NewByteArray, bytes.len() as jint);
        if self.clear() || a.is_null() {
            return ptr::null_mut();
        }
        jni!(
            self,
            SetByteArrayRegion,
            a,
            0,
            bytes.len() as jint,
            bytes.as_ptr().cast()
        );
        self.clear();
        a
    }

    pub fn array_length(self, array: jobject) -> jint {
        jni!(self, GetArrayLength, array)
    }

    pub fn element(self, array: jobject, i: jint) -> jobject {
        let o = jni!(self, GetObjectArrayElement, array, i);
        self.clear();
        o
    }

    pub fn set_element(self, array: jobject, i: jint, o: jobject) {
        jni!(self, SetObjectArrayElement, array, i, o);
        self.clear();
    }

    pub fn new_array(self, n: jint, class: jclass) -> jobject {
        let a = jni!(self, NewObjectArray, n, class, ptr::null_mut());
        self.clear();
        a
    }

    pub fn delete_global(self, o: jobject) {
        jni!(self, DeleteGlobalRef, o);
    }

    pub fn field(self, class: jclass, name: &str, desc: &str) -> Option<Field> {
        let (name, desc) = (c(name), c(desc));
        let id = jni!(self, GetFieldID, class, name.as_ptr(), desc.as_ptr());
        (!self.clear() && !id.is_null()).then_some(Field(id))
    }

    /// The id of a reflected method.
    pub fn method_id(self, method: jobject) -> jmethodID {
        jni!(self, FromReflectedMethod, method)
    }

    pub fn object_field(self, o: jobject, field: Field) -> jobject {
        jni!(self, GetObjectField, o, field.0)
    }

    pub fn int_field(self, o: jobject, field: Field) -> jint {
        jni!(self, GetIntField, o, field.0)
    }

    pub fn set_int_field(self, o: jobject, field: Field, value: jint) {
        jni!(self, SetIntField, o, field.0, value);
    }

    pub fn long_field(self, o: jobject, field: Field) -> jlong {
        jni!(self, GetLongField, o, field.0)
    }

    pub fn boolean_field(self, o: jobject, field: Field) -> bool {
        jni!(self, GetBooleanField, o, field.0) != 0
    }

    pub fn clear_boolean_field(self, o: jobject, field: Field) {
        self.set_boolean_field(o, field, false);
    }

    pub fn set_boolean_field(self, o: jobject, field: Field, value: bool) {
        jni!(self, SetBooleanField, o, field.0, value.into());
    }

    /// Gives the current thread's hold on a monitor up; how often it was held as
    /// far as the JVM counts.
    pub fn exit_monitor(self, o: jobject) -> u32 {
        let mut times = 0;
        while jni!(self, MonitorExit, o) == JNI_OK {
            times += 1;
        }
        self.take_exception(); // of the exit that was one too many
        times
    }

    pub fn enter_monitor(self, o: jobject, times: u32) {
        for _ in 0..times {
            jni!(self, MonitorEnter, o);
        }
    }

    pub fn throw_new(self, class: jclass, message: &str) {
        let message = c(message);
        let text = if message.is_empty() {
            ptr::null()
        } else {
            message.as_ptr()
        };
        jni!(self, ThrowNew, class, text);
    }

    /// Takes a pending exception away; null if there is none.
    pub fn take_exception(self) -> jthrowable {
        let e = jni!(self, ExceptionOccurred);
        if !e.is_null() {
            jni!(self, ExceptionClear);
        }
        e
    }

    pub fn throw(self, e: jthrowable) {
        jni!(self, Throw, e);
    }

    pub fn is_instance(self, o: jobject, class: jclass) -> bool {
        jni!(self, IsInstanceOf, o, class) != 0
    }

    /// Clears a pending exception; whether there was one.
    pub fn clear(self) -> bool {
        let pending = jni!(self, ExceptionCheck) != 0;
        if pending {
            jni!(self, ExceptionClear);
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
