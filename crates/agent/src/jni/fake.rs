//! A JVM for tests: the functions of JNI that we call, over a table of objects of
//! the current thread. It notes what a real JVM would crash on.

use super::Jni;
use jni_sys::{
    JNI_ERR, JNI_OK, JNIEnv, JNINativeInterface_, JNINativeMethod, jboolean, jchar, jclass,
    jfieldID, jint, jlong, jmethodID, jobject, jsize, jstring, jthrowable, jvalue,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr;

/// References are numbers, and so are fields and methods.
type Id = usize;

#[derive(Debug, Default)]
pub struct State {
    last: Id,
    pub locals: BTreeSet<Id>,
    pub globals: BTreeSet<Id>,
    pub classes: BTreeMap<String, Id>,
    pub class_of: BTreeMap<Id, Id>,
    pub strings: BTreeMap<Id, Vec<u16>>,
    pub ints: BTreeMap<(Id, Id), jint>,
    pub held: BTreeMap<Id, u32>,
    pub pending: Option<Id>,
    /// Calls of methods, and allocations, throw from now on.
    pub is_full: bool,
    pub registered: Vec<(String, String)>,
    /// What must not happen.
    pub faults: Vec<String>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

pub fn state<T>(f: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(f)
}

impl State {
    pub fn local(&mut self) -> Id {
        self.last += 1;
        self.locals.insert(self.last);
        self.last
    }

    pub fn object(&mut self, class: &str) -> Id {
        let class = self.class(class);
        let o = self.local();
        self.class_of.insert(o, class);
        o
    }

    pub fn class(&mut self, name: &str) -> Id {
        if let Some(known) = self.classes.get(name) {
            return *known;
        }
        let class = self.local();
        self.classes.insert(name.into(), class);
        class
    }

    pub fn throw(&mut self) {
        let e = self.object("java/lang/OutOfMemoryError");
        self.pending = Some(e);
    }

    fn check(&mut self, what: &str, o: jobject) {
        let id = o.addr();
        if !self.locals.contains(&id) && !self.globals.contains(&id) {
            self.faults
                .push(format!("{what} of {id}, which is no live reference"));
        }
        if self.pending.is_some() {
            self.faults
                .push(format!("{what} with an exception pending"));
        }
    }
}

fn pointer<T>(id: Id) -> *mut T {
    ptr::without_provenance_mut(id)
}

/// # Safety
/// A terminated string.
unsafe fn text(s: *const c_char) -> String {
    // SAFETY: says the caller.
    unsafe { CStr::from_ptr(s) }.to_str().unwrap().to_owned()
}

unsafe extern "system" fn new_global(_: *mut JNIEnv, o: jobject) -> jobject {
    if o.is_null() {
        return ptr::null_mut();
    }
    state(|s| {
        s.check("NewGlobalRef", o);
        s.last += 1;
        s.globals.insert(s.last);
        if let Some(class) = s.class_of.get(&o.addr()).copied() {
            s.class_of.insert(s.last, class);
        }
        pointer(s.last)
    })
}

unsafe extern "system" fn delete_global(_: *mut JNIEnv, o: jobject) {
    state(|s| {
        if !s.globals.remove(&o.addr()) {
            s.faults.push(format!("DeleteGlobalRef of {}", o.addr()));
        }
    });
}

unsafe extern "system" fn delete_local(_: *mut JNIEnv, o: jobject) {
    state(|s| {
        if !s.locals.remove(&o.addr()) {
            s.faults.push(format!("DeleteLocalRef of {}", o.addr()));
        }
    });
}

unsafe extern "system" fn exception_check(_: *mut JNIEnv) -> jboolean {
    state(|s| s.pending.is_some().into())
}

unsafe extern "system" fn exception_occurred(_: *mut JNIEnv) -> jthrowable {
    state(|s| s.pending.map_or(ptr::null_mut(), pointer))
}

unsafe extern "system" fn exception_clear(_: *mut JNIEnv) {
    state(|s| s.pending = None);
}

unsafe extern "system" fn throw(_: *mut JNIEnv, e: jthrowable) -> jint {
    state(|s| {
        s.check("Throw", e);
        s.pending = Some(e.addr());
        JNI_OK
    })
}

unsafe extern "system" fn find_class(_: *mut JNIEnv, name: *const c_char) -> jclass {
    // SAFETY: callers pass terminated names.
    let name = unsafe { text(name) };
    state(|s| match s.classes.get(&name) {
        Some(class) => pointer(*class),
        None => {
            s.throw();
            ptr::null_mut()
        }
    })
}

unsafe extern "system" fn object_class(_: *mut JNIEnv, o: jobject) -> jclass {
    state(|s| {
        s.check("GetObjectClass", o);
        s.class_of
            .get(&o.addr())
            .map_or(ptr::null_mut(), |c| pointer(*c))
    })
}

unsafe extern "system" fn is_instance(_: *mut JNIEnv, o: jobject, class: jclass) -> jboolean {
    state(|s| {
        s.check("IsInstanceOf", class);
        (o.is_null() || s.class_of.get(&o.addr()) == Some(&class.addr())).into()
    })
}

unsafe extern "system" fn new_string(_: *mut JNIEnv, chars: *const jchar, n: jsize) -> jstring {
    state(|s| {
        if s.is_full {
            s.throw();
            return ptr::null_mut();
        }
        // SAFETY: callers pass that many characters.
        let chars = unsafe { std::slice::from_raw_parts(chars, n as usize) }.to_vec();
        let o = s.object("java/lang/String");
        s.strings.insert(o, chars);
        pointer(o)
    })
}

unsafe extern "system" fn string_length(_: *mut JNIEnv, o: jstring) -> jsize {
    state(|s| {
        s.check("GetStringLength", o);
        s.strings[&o.addr()].len() as jsize
    })
}

unsafe extern "system" fn string_region(
    _: *mut JNIEnv,
    o: jstring,
    from: jsize,
    n: jsize,
    to: *mut jchar,
) {
    state(|s| {
        s.check("GetStringRegion", o);
        let chars = &s.strings[&o.addr()][from as usize..][..n as usize];
        // SAFETY: callers have room for that many.
        unsafe { ptr::copy_nonoverlapping(chars.as_ptr(), to, chars.len()) };
    });
}

unsafe extern "system" fn field_id(
    _: *mut JNIEnv,
    class: jclass,
    name: *const c_char,
    desc: *const c_char,
) -> jfieldID {
    // SAFETY: callers pass terminated names.
    let (name, desc) = unsafe { (text(name), text(desc)) };
    state(|s| {
        s.check("GetFieldID", class);
        match (name.as_str(), desc.as_str()) {
            ("size", "I") => pointer(1),
            ("next", "LNode;") => pointer(2),
            _ => {
                s.throw();
                ptr::null_mut()
            }
        }
    })
}

unsafe extern "system" fn int_field(_: *mut JNIEnv, o: jobject, field: jfieldID) -> jint {
    state(|s| {
        s.check("GetIntField", o);
        s.ints.get(&(o.addr(), field.addr())).copied().unwrap_or(0)
    })
}

unsafe extern "system" fn set_int_field(_: *mut JNIEnv, o: jobject, f: jfieldID, value: jint) {
    state(|s| {
        s.check("SetIntField", o);
        s.ints.insert((o.addr(), f.addr()), value);
    });
}

unsafe extern "system" fn object_field(_: *mut JNIEnv, o: jobject, _: jfieldID) -> jobject {
    state(|s| {
        s.check("GetObjectField", o);
        pointer(s.object("Node"))
    })
}

unsafe extern "system" fn static_method_id(
    _: *mut JNIEnv,
    class: jclass,
    name: *const c_char,
    _: *const c_char,
) -> jmethodID {
    // SAFETY: callers pass terminated names.
    let name = unsafe { text(name) };
    state(|s| {
        s.check("GetStaticMethodID", class);
        if name == "count" {
            return pointer(1);
        }
        s.throw();
        ptr::null_mut()
    })
}

unsafe extern "system" fn call_static_long(
    _: *mut JNIEnv,
    class: jclass,
    _: jmethodID,
    args: *const jvalue,
) -> jlong {
    state(|s| {
        s.check("CallStaticLongMethodA", class);
        if s.is_full {
            s.throw();
            return 99; // means nothing
        }
        // SAFETY: the one method there is has one argument.
        unsafe { (*args).j + 1 }
    })
}

unsafe extern "system" fn new_longs(_: *mut JNIEnv, _: jsize) -> jobject {
    state(|s| {
        if s.is_full {
            s.throw();
            return ptr::null_mut();
        }
        pointer(s.object("[J"))
    })
}

unsafe extern "system" fn set_longs(
    _: *mut JNIEnv,
    array: jobject,
    _: jsize,
    _: jsize,
    _: *const jlong,
) {
    state(|s| s.check("SetLongArrayRegion", array));
}

unsafe extern "system" fn monitor_exit(_: *mut JNIEnv, o: jobject) -> jint {
    state(|s| {
        s.check("MonitorExit", o);
        match s.held.get_mut(&o.addr()) {
            Some(times) if *times > 0 => {
                *times -= 1;
                JNI_OK
            }
            _ => {
                s.throw();
                JNI_ERR
            }
        }
    })
}

unsafe extern "system" fn monitor_enter(_: *mut JNIEnv, o: jobject) -> jint {
    state(|s| {
        s.check("MonitorEnter", o);
        *s.held.entry(o.addr()).or_default() += 1;
        JNI_OK
    })
}

unsafe extern "system" fn register(
    _: *mut JNIEnv,
    class: jclass,
    natives: *const JNINativeMethod,
    n: jint,
) -> jint {
    // SAFETY: callers pass that many.
    let natives = unsafe { std::slice::from_raw_parts(natives, n as usize) };
    state(|s| {
        s.check("RegisterNatives", class);
        for native in natives {
            // SAFETY: terminated names.
            let (name, desc) = unsafe { (text(native.name), text(native.signature)) };
            s.registered.push((name, desc));
        }
        JNI_OK
    })
}

/// An environment of this thread, of a JVM in which nothing has happened.
pub fn environment() -> Jni<'static> {
    state(|s| *s = State::default());
    // SAFETY: without functions, and with null in reserved places, a table is valid.
    let mut table: JNINativeInterface_ = unsafe { MaybeUninit::zeroed().assume_init() };
    table.NewGlobalRef = Some(new_global);
    table.DeleteGlobalRef = Some(delete_global);
    table.DeleteLocalRef = Some(delete_local);
    table.ExceptionCheck = Some(exception_check);
    table.ExceptionOccurred = Some(exception_occurred);
    table.ExceptionClear = Some(exception_clear);
    table.Throw = Some(throw);
    table.FindClass = Some(find_class);
    table.GetObjectClass = Some(object_class);
    table.IsInstanceOf = Some(is_instance);
    table.NewString = Some(new_string);
    table.GetStringLength = Some(string_length);
    table.GetStringRegion = Some(string_region);
    table.GetFieldID = Some(field_id);
    table.GetIntField = Some(int_field);
    table.SetIntField = Some(set_int_field);
    table.GetObjectField = Some(object_field);
    table.GetStaticMethodID = Some(static_method_id);
    table.CallStaticLongMethodA = Some(call_static_long);
    table.NewLongArray = Some(new_longs);
    table.SetLongArrayRegion = Some(set_longs);
    table.MonitorExit = Some(monitor_exit);
    table.MonitorEnter = Some(monitor_enter);
    table.RegisterNatives = Some(register);
    let env: *mut JNIEnv = Box::leak(Box::new(&raw const *Box::leak(Box::new(table))));
    // SAFETY: an environment with the functions that tests use, never freed.
    unsafe { Jni::new(env) }
}
