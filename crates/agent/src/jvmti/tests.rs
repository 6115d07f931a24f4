//! What [`Jvmti`] makes of answers and errors, against a fake table.

use super::table::*;
use super::{FieldId, Jvmti, MethodId, class_in};
use crate::jni::Ref;
use jni_sys::{jfieldID, jint, jlong, jmethodID, jobject};
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_uchar, c_void};
use std::ptr;

thread_local! {
    /// The error that functions answer with.
    static ERROR: Cell<Error> = const { Cell::new(0) };
    /// What the JVM has handed out, and not got back.
    static OURS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    static CAPABILITIES: Cell<[u32; 4]> = const { Cell::new([0; 4]) };
}

fn hand_out<T>(p: *mut T) -> *mut T {
    OURS.with_borrow_mut(|ours| ours.push(p.addr()));
    p
}

fn string(s: &str) -> *mut c_char {
    hand_out(CString::new(s).unwrap().into_raw())
}

fn array<T>(values: Vec<T>) -> *mut T {
    hand_out(Box::leak(values.into_boxed_slice()).as_mut_ptr())
}

/// Tests leak: what counts is that it was given back.
unsafe extern "system" fn deallocate(_: RawEnv, p: *mut c_uchar) -> Error {
    OURS.with_borrow_mut(|ours| ours.retain(|a| *a != p.addr()));
    0
}

unsafe extern "system" fn allocate(_: RawEnv, n: jlong, p: *mut *mut c_uchar) -> Error {
    if ERROR.get() == 0 {
        // SAFETY: an out parameter.
        unsafe { p.write(array(vec![0; n as usize])) };
    }
    ERROR.get()
}

unsafe extern "system" fn add_capabilities(_: RawEnv, bits: *const u32) -> Error {
    // SAFETY: four words of bits.
    CAPABILITIES.set(unsafe { bits.cast::<[u32; 4]>().read() });
    ERROR.get()
}

unsafe extern "system" fn class_signature(
    _: RawEnv,
    _: jobject,
    signature: *mut *mut c_char,
    generic: *mut *mut c_char,
) -> Error {
    assert!(generic.is_null());
    if ERROR.get() == 0 {
        // SAFETY: an out parameter.
        unsafe { signature.write(string("Lshop/Cart;")) };
    }
    ERROR.get()
}

unsafe extern "system" fn method_name(
    _: RawEnv,
    _: jmethodID,
    name: *mut *mut c_char,
    desc: *mut *mut c_char,
    _: *mut *mut c_char,
) -> Error {
    if ERROR.get() == 0 {
        // SAFETY: out parameters.
        unsafe {
            name.write(string("run"));
            desc.write(string("()V"));
        }
    }
    ERROR.get()
}

unsafe extern "system" fn class_fields(
    _: RawEnv,
    _: jobject,
    n: *mut jint,
    fields: *mut *mut jfieldID,
) -> Error {
    if ERROR.get() == 0 {
        // SAFETY: out parameters.
        unsafe {
            n.write(3);
            fields.write(array(vec![ptr::null_mut(); 3]));
        }
    }
    ERROR.get()
}

unsafe extern "system" fn stack_trace(
    _: RawEnv,
    _: jobject,
    _: jint,
    depth: jint,
    frames: *mut FrameInfo,
    n: *mut jint,
) -> Error {
    let there = 2.min(depth);
    for i in 0..there {
        let frame = FrameInfo {
            method: MethodId::NONE,
            location: i.into(),
        };
        // SAFETY: room for `depth` frames.
        unsafe { frames.add(i as usize).write(frame) };
    }
    // SAFETY: an out parameter.
    unsafe { n.write(there) };
    ERROR.get()
}

unsafe extern "system" fn monitor_usage(_: RawEnv, o: jobject, usage: *mut MonitorUsage) -> Error {
    if ERROR.get() == 0 {
        // SAFETY: an out parameter.
        let usage = unsafe { &mut *usage };
        usage.owner = o; // the fake thread is its own monitor
        usage.waiters = array(vec![ptr::null_mut()]);
        usage.notify_waiters = array(vec![ptr::null_mut()]);
    }
    ERROR.get()
}

fn environment(error: Error) -> Jvmti {
    ERROR.set(error);
    OURS.take();
    let mut table = [ptr::null::<c_void>(); 156];
    table[DEALLOCATE] = deallocate as *const c_void;
    table[ALLOCATE] = allocate as *const c_void;
    table[ADD_CAPABILITIES] = add_capabilities as *const c_void;
    table[GET_CLASS_SIGNATURE] = class_signature as *const c_void;
    table[GET_METHOD_NAME] = method_name as *const c_void;
    table[GET_CLASS_FIELDS] = class_fields as *const c_void;
    table[GET_STACK_TRACE] = stack_trace as *const c_void;
    table[GET_OBJECT_MONITOR_USAGE] = monitor_usage as *const c_void;
    let env: RawEnv = Box::leak(Box::new(&raw const *Box::leak(Box::new(table))));
    // SAFETY: a table with the functions that tests use, never freed.
    unsafe { Jvmti::new(env) }
}

fn assert_all_given_back() {
    OURS.with_borrow(|ours| assert!(ours.is_empty(), "{ours:?}"));
}

#[test]
fn what_the_jvm_hands_out_is_given_back() {
    let jvmti = environment(0);
    let signature = jvmti.class_signature(Ref::NULL);
    assert_eq!(signature.as_deref(), Some("Lshop/Cart;"));
    assert_eq!(
        jvmti.method(MethodId::NONE),
        Some(("run".into(), "()V".into()))
    );
    let fields: Vec<FieldId<'_>> = jvmti.class_fields(Ref::NULL);
    assert_eq!(fields.len(), 3);
    assert!(jvmti.is_monitor_free(Ref::NULL));
    assert_all_given_back();
}

#[test]
fn an_error_is_no_answer() {
    const INVALID: Error = 21;
    let jvmti = environment(INVALID);
    assert_eq!(jvmti.class_signature(Ref::NULL), None);
    assert_eq!(jvmti.method(MethodId::NONE), None);
    assert!(jvmti.class_fields(Ref::NULL).is_empty());
    assert!(jvmti.declared_fields(Ref::NULL).is_none());
    assert!(jvmti.stack(8).is_empty());
    assert!(jvmti.first_method().is_none());
    assert!(!jvmti.is_monitor_free(Ref::NULL), "that cannot be told");
    assert!(jvmti.allocate_copy(b"class").is_none());
    assert!(!jvmti.add_capabilities(&[0]));
}

#[test]
fn a_monitor_with_an_owner_is_not_free() {
    let jvmti = environment(0);
    // SAFETY: the fake table does not look at it.
    let owned = unsafe { Ref::from_raw(ptr::without_provenance_mut(8)) };
    assert!(!jvmti.is_monitor_free(owned));
    assert_all_given_back();
}

#[test]
fn a_stack_is_as_deep_as_it_is() {
    let jvmti = environment(0);
    let locations = |depth| -> Vec<jlong> {
        let frames = jvmti.stack(depth);
        frames.iter().map(|f| f.location).collect()
    };
    assert_eq!(locations(8), [0, 1]);
    assert_eq!(locations(1), [0]);
}

#[test]
fn a_copy_is_the_jvms_to_free() {
    let jvmti = environment(0);
    let copy = jvmti.allocate_copy(b"\xca\xfe").unwrap();
    // SAFETY: two bytes.
    assert_eq!(unsafe { std::slice::from_raw_parts(copy, 2) }, b"\xca\xfe");
    OURS.with_borrow(|ours| assert_eq!(*ours, [copy.addr()]));
}

#[test]
fn capabilities_are_bits() {
    let jvmti = environment(0);
    let bits = [capability::TAG_OBJECTS, capability::EARLY_CLASS_HOOK_EVENTS];
    assert!(jvmti.add_capabilities(&bits));
    assert_eq!(CAPABILITIES.get(), [1, 1 << 10, 0, 0]);
}

#[test]
fn a_class_keeps_its_own_first_letter() {
    assert_eq!(class_in("LLazyCache;"), "LazyCache");
    assert_eq!(class_in("Ljava/util/List;"), "java/util/List");
    assert_eq!(class_in("[I"), "[I");
    assert_eq!(class_in("Lpack/Made.0x0000000026081400;"), "pack/Made");
}
