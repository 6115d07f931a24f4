//! JVMTI, as much of it as we use: the function table by number (from the
//! JVMTI specification, unchanged since 1.0 for all of these), capabilities
//! by bit, callbacks by position.

use jni_sys::{jboolean, jclass, jfieldID, jint, jlong, jmethodID, jobject};
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::ptr;

pub type RawEnv = *mut *const [*const c_void; 156];
type Error = jint;

/// Positions in the function table, less one (the table starts at 1).
const SET_EVENT_NOTIFICATION_MODE: usize = 1;
const GET_ALL_THREADS: usize = 3;
const GET_THREAD_INFO: usize = 8;
const GET_THREAD_GROUP_INFO: usize = 13;
const GET_CURRENT_THREAD: usize = 17;
const ALLOCATE: usize = 45;
const DEALLOCATE: usize = 46;
const GET_CLASS_SIGNATURE: usize = 47;
const GET_SOURCE_FILE_NAME: usize = 49;
const GET_CLASS_FIELDS: usize = 52;
const GET_IMPLEMENTED_INTERFACES: usize = 53;
const GET_CLASS_LOADER: usize = 56;
const GET_FIELD_NAME: usize = 59;
const GET_FIELD_MODIFIERS: usize = 61;
const GET_METHOD_NAME: usize = 63;
const GET_METHOD_DECLARING_CLASS: usize = 64;
const GET_LINE_NUMBER_TABLE: usize = 69;
const GET_BYTECODES: usize = 74;
const GET_OBJECT_MONITOR_USAGE: usize = 58;
const GET_STACK_TRACE: usize = 103;
const GET_THREAD_STATE: usize = 16;
const GET_TAG: usize = 105;
const SET_TAG: usize = 106;
const SET_EVENT_CALLBACKS: usize = 121;
const GET_SYSTEM_PROPERTY: usize = 130;
const ADD_CAPABILITIES: usize = 141;
/// Since JVMTI 11.
const SET_HEAP_SAMPLING_INTERVAL: usize = 155;

/// JVMTI 9, the first with early class hooks; later JVMs only add to it.
pub const VERSION: jint = 0x3009_0000;

/// Bits of jvmtiCapabilities.
pub mod capability {
    pub const TAG_OBJECTS: u32 = 0;
    pub const GET_BYTECODES: u32 = 3;
    pub const GET_SOURCE_FILE_NAME: u32 = 11;
    pub const GET_LINE_NUMBERS: u32 = 12;
    pub const ALL_CLASS_HOOK_EVENTS: u32 = 26;
    pub const GET_MONITOR_INFO: u32 = 7;
    pub const MONITOR_EVENTS: u32 = 28;
    pub const NATIVE_METHOD_BIND_EVENTS: u32 = 30;
    pub const GARBAGE_COLLECTION_EVENTS: u32 = 31;
    pub const EARLY_VMSTART: u32 = 41;
    pub const EARLY_CLASS_HOOK_EVENTS: u32 = 42;
    pub const SAMPLED_OBJECT_ALLOC_EVENTS: u32 = 43;
}

/// Event numbers, which are also callback positions (from 50).
pub mod event {
    pub const VM_INIT: u32 = 50;
    pub const VM_DEATH: u32 = 51;
    pub const THREAD_START: u32 = 52;
    pub const THREAD_END: u32 = 53;
    pub const CLASS_FILE_LOAD_HOOK: u32 = 54;
    pub const VM_START: u32 = 57;
    pub const NATIVE_METHOD_BIND: u32 = 67;
    pub const MONITOR_CONTENDED_ENTER: u32 = 75;
    pub const MONITOR_CONTENDED_ENTERED: u32 = 76;
    pub const GARBAGE_COLLECTION_START: u32 = 81;
    pub const GARBAGE_COLLECTION_FINISH: u32 = 82;
    pub const SAMPLED_OBJECT_ALLOC: u32 = 86;
}

/// Bits of a thread's state.
pub mod state {
    pub const ALIVE: i32 = 0x1;
    pub const RUNNABLE: i32 = 0x4;
    pub const SLEEPING: i32 = 0x40;
    pub const IN_WAIT: i32 = 0x100;
    pub const PARKED: i32 = 0x200;
    /// For a monitor.
    pub const BLOCKED: i32 = 0x400;
}

/// jvmtiEventCallbacks: 37 pointers for events 50 to 86.
#[repr(C)]
pub struct Callbacks([*const c_void; 37]);

impl Callbacks {
    pub fn new() -> Callbacks {
        Callbacks([ptr::null(); 37])
    }

    pub fn set(&mut self, event: u32, callback: *const c_void) {
        self.0[(event - 50) as usize] = callback;
    }
}

#[repr(C)]
struct ThreadInfo {
    name: *mut c_char,
    priority: jint,
    is_daemon: jboolean,
    thread_group: jobject,
    context_class_loader: jobject,
}

#[repr(C)]
struct ThreadGroupInfo {
    parent: jobject,
    name: *mut c_char,
    max_priority: jint,
    is_daemon: jboolean,
}

#[repr(C)]
struct MonitorUsage {
    owner: jobject,
    entry_count: jint,
    waiter_count: jint,
    waiters: *mut jobject,
    notify_waiter_count: jint,
    notify_waiters: *mut jobject,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FrameInfo {
    pub method: jmethodID,
    pub location: jlong,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct LineEntry {
    start: jlong,
    line: jint,
}

/// A JVMTI environment. The pointer is valid from Agent_OnLoad to the end of
/// the process and may be used from any thread.
#[derive(Clone, Copy)]
pub struct Jvmti(RawEnv);

// SAFETY: JVMTI environments are made for use from any thread.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

macro_rules! call {
    ($self:ident, $at:expr, ($($ty:ty),*), $($arg:expr),*) => {{
        // SAFETY: the table has at least 156 entries, and entry $at has this
        // signature by the JVMTI specification.
        unsafe {
            let f: unsafe extern "system" fn(RawEnv, $($ty),*) -> Error = std::mem::transmute((**$self.0)[$at]);
            f($self.0, $($arg),*)
        }
    }};
}

impl Jvmti {
    /// # Safety
    /// `env` must come from GetEnv with a JVMTI version.
    pub unsafe fn new(env: RawEnv) -> Jvmti {
        Jvmti(env)
    }

    /// Adds what is to be had of the given capabilities; false if the JVM
    /// refuses one of them.
    pub fn add_capabilities(&self, bits: &[u32]) -> bool {
        let mut caps = [0u32; 4];
        for &bit in bits {
            caps[(bit / 32) as usize] |= 1 << (bit % 32);
        }
        call!(self, ADD_CAPABILITIES, (*const u32), caps.as_ptr()) == 0
    }

    pub fn set_callbacks(&self, callbacks: &Callbacks) -> bool {
        let size = size_of::<Callbacks>() as jint;
        call!(
            self,
            SET_EVENT_CALLBACKS,
            (*const Callbacks, jint),
            callbacks,
            size
        ) == 0
    }

    pub fn enable(&self, event: u32) -> bool {
        // The real function is variadic; on the ABIs that HotSpot runs on a
        // call without variadic arguments looks the same.
        call!(
            self,
            SET_EVENT_NOTIFICATION_MODE,
            (jint, u32, jobject),
            1,
            event,
            ptr::null_mut()
        ) == 0
    }

    fn take_string(&self, s: *mut c_char) -> Option<String> {
        if s.is_null() {
            return None;
        }
        // SAFETY: JVMTI returned a NUL-terminated string that is ours to free.
        let text = unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned();
        self.deallocate(s.cast());
        Some(text)
    }

    fn deallocate(&self, p: *mut c_uchar) {
        call!(self, DEALLOCATE, (*mut c_uchar), p);
    }

    /// A copy of `bytes` in memory that the JVM frees.
    pub fn allocate_copy(&self, bytes: &[u8]) -> Option<*mut c_uchar> {
        let mut p: *mut c_uchar = ptr::null_mut();
        let error = call!(
            self,
            ALLOCATE,
            (jlong, *mut *mut c_uchar),
            bytes.len() as jlong,
            &mut p
        );
        if error != 0 || p.is_null() {
            return None;
        }
        // SAFETY: p has room for bytes.len() bytes, fresh from Allocate.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len()) };
        Some(p)
    }

    fn take_array<T: Copy>(&self, n: jint, p: *mut T) -> Vec<T> {
        if p.is_null() {
            return Vec::new();
        }
        // SAFETY: JVMTI returned n elements at p, ours to free.
        let all = unsafe { std::slice::from_raw_parts(p, n.max(0) as usize) }.to_vec();
        self.deallocate(p.cast());
        all
    }

    pub fn all_threads(&self) -> Vec<jobject> {
        let (mut n, mut p) = (0, ptr::null_mut());
        call!(
            self,
            GET_ALL_THREADS,
            (*mut jint, *mut *mut jobject),
            &mut n,
            &mut p
        );
        self.take_array(n, p)
    }

    pub fn current_thread(&self) -> jobject {
        let mut thread = ptr::null_mut();
        call!(self, GET_CURRENT_THREAD, (*mut jobject), &mut thread);
        thread
    }

    fn thread_info(&self, thread: jobject) -> Option<(String, ThreadInfo)> {
        let mut info = ThreadInfo {
            name: ptr::null_mut(),
            priority: 0,
            is_daemon: 0,
            thread_group: ptr::null_mut(),
            context_class_loader: ptr::null_mut(),
        };
        let error = call!(
            self,
            GET_THREAD_INFO,
            (jobject, *mut ThreadInfo),
            thread,
            &mut info
        );
        (error == 0).then(|| (self.take_string(info.name).unwrap_or_default(), info))
    }

    pub fn is_daemon(&self, thread: jobject) -> bool {
        self.thread_info(thread)
            .is_some_and(|(_, info)| info.is_daemon != 0)
    }

    /// A thread's name, and whether it is in the VM's own thread group.
    pub fn thread(&self, thread: jobject) -> (String, bool) {
        let Some((name, info)) = self.thread_info(thread) else {
            return (String::new(), true);
        };
        if info.thread_group.is_null() {
            return (name, false);
        }
        let mut group = ThreadGroupInfo {
            parent: ptr::null_mut(),
            name: ptr::null_mut(),
            max_priority: 0,
            is_daemon: 0,
        };
        let error = call!(
            self,
            GET_THREAD_GROUP_INFO,
            (jobject, *mut ThreadGroupInfo),
            info.thread_group,
            &mut group
        );
        let in_system = error == 0
            && self
                .take_string(group.name)
                .is_some_and(|g| g == "system" || g == "InnocuousThreadGroup");
        (name, in_system)
    }

    /// `Ljava/lang/String;`
    pub fn class_signature(&self, class: jclass) -> Option<String> {
        let mut s = ptr::null_mut();
        let none: *mut *mut c_char = ptr::null_mut();
        call!(
            self,
            GET_CLASS_SIGNATURE,
            (jclass, *mut *mut c_char, *mut *mut c_char),
            class,
            &mut s,
            none
        );
        self.take_string(s)
    }

    pub fn source_file(&self, class: jclass) -> Option<String> {
        let mut s = ptr::null_mut();
        call!(
            self,
            GET_SOURCE_FILE_NAME,
            (jclass, *mut *mut c_char),
            class,
            &mut s
        );
        self.take_string(s)
    }

    pub fn class_loader(&self, class: jclass) -> jobject {
        let mut loader = ptr::null_mut();
        call!(
            self,
            GET_CLASS_LOADER,
            (jclass, *mut jobject),
            class,
            &mut loader
        );
        loader
    }

    /// The fields that a class itself declares; none if it is not linked yet.
    pub fn class_fields(&self, class: jclass) -> Vec<jfieldID> {
        let (mut n, mut p) = (0, ptr::null_mut());
        call!(
            self,
            GET_CLASS_FIELDS,
            (jclass, *mut jint, *mut *mut jfieldID),
            class,
            &mut n,
            &mut p
        );
        self.take_array(n, p)
    }

    /// The interfaces that a class itself names; none if it is not linked yet.
    pub fn interfaces(&self, class: jclass) -> Vec<jclass> {
        let (mut n, mut p) = (0, ptr::null_mut());
        call!(
            self,
            GET_IMPLEMENTED_INTERFACES,
            (jclass, *mut jint, *mut *mut jclass),
            class,
            &mut n,
            &mut p
        );
        self.take_array(n, p)
    }

    /// Name, descriptor and modifiers of a field.
    pub fn field(&self, class: jclass, field: jfieldID) -> Option<(String, String, jint)> {
        let (mut name, mut desc, none) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let error = call!(
            self,
            GET_FIELD_NAME,
            (
                jclass,
                jfieldID,
                *mut *mut c_char,
                *mut *mut c_char,
                *mut *mut c_char
            ),
            class,
            field,
            &mut name,
            &mut desc,
            none
        );
        if error != 0 {
            return None;
        }
        let (name, desc) = (self.take_string(name)?, self.take_string(desc)?);
        let mut modifiers = 0;
        call!(
            self,
            GET_FIELD_MODIFIERS,
            (jclass, jfieldID, *mut jint),
            class,
            field,
            &mut modifiers
        );
        Some((name, desc, modifiers))
    }

    /// Name and descriptor of a method.
    pub fn method(&self, method: jmethodID) -> Option<(String, String)> {
        let (mut name, mut desc, none) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let error = call!(
            self,
            GET_METHOD_NAME,
            (
                jmethodID,
                *mut *mut c_char,
                *mut *mut c_char,
                *mut *mut c_char
            ),
            method,
            &mut name,
            &mut desc,
            none
        );
        (error == 0).then(|| Some((self.take_string(name)?, self.take_string(desc)?)))?
    }

    pub fn method_class(&self, method: jmethodID) -> jclass {
        let mut class = ptr::null_mut();
        call!(
            self,
            GET_METHOD_DECLARING_CLASS,
            (jmethodID, *mut jclass),
            method,
            &mut class
        );
        class
    }

    /// The code of a method; none if it is native.
    pub fn bytecodes(&self, method: jmethodID) -> Vec<u8> {
        let (mut n, mut p) = (0, ptr::null_mut::<u8>());
        call!(
            self,
            GET_BYTECODES,
            (jmethodID, *mut jint, *mut *mut u8),
            method,
            &mut n,
            &mut p
        );
        self.take_array(n, p)
    }

    /// Start of each line's code, in the order of the table.
    pub fn line_table(&self, method: jmethodID) -> Vec<(jlong, jint)> {
        let (mut n, mut p) = (0, ptr::null_mut::<LineEntry>());
        call!(
            self,
            GET_LINE_NUMBER_TABLE,
            (jmethodID, *mut jint, *mut *mut LineEntry),
            method,
            &mut n,
            &mut p
        );
        self.take_array(n, p)
            .into_iter()
            .map(|e| (e.start, e.line))
            .collect()
    }

    pub fn system_property(&self, name: &CStr) -> Option<String> {
        let mut s = ptr::null_mut();
        call!(
            self,
            GET_SYSTEM_PROPERTY,
            (*const c_char, *mut *mut c_char),
            name.as_ptr(),
            &mut s
        );
        self.take_string(s)
    }

    /// Whether no thread owns the monitor of an object; false if that cannot be
    /// told. Stops all threads for a moment.
    pub fn is_monitor_free(&self, o: jobject) -> bool {
        let mut usage = MonitorUsage {
            owner: ptr::null_mut(),
            entry_count: 0,
            waiter_count: 0,
            waiters: ptr::null_mut(),
            notify_waiter_count: 0,
            notify_waiters: ptr::null_mut(),
        };
        let error = call!(
            self,
            GET_OBJECT_MONITOR_USAGE,
            (jobject, *mut MonitorUsage),
            o,
            &mut usage
        );
        self.deallocate(usage.waiters.cast());
        self.deallocate(usage.notify_waiters.cast());
        error == 0 && usage.owner.is_null()
    }

    /// What a thread does, see [`state`]; 0 if that cannot be told.
    pub fn thread_state(&self, thread: jobject) -> jint {
        let mut now = 0;
        let error = call!(
            self,
            GET_THREAD_STATE,
            (jobject, *mut jint),
            thread,
            &mut now
        );
        if error == 0 { now } else { 0 }
    }

    /// What the object was tagged with; 0 if it was not.
    pub fn tag(&self, o: jobject) -> jlong {
        let mut tag = 0;
        call!(self, GET_TAG, (jobject, *mut jlong), o, &mut tag);
        tag
    }

    pub fn set_tag(&self, o: jobject, tag: jlong) {
        call!(self, SET_TAG, (jobject, jlong), o, tag);
    }

    /// Every allocation is a sample.
    pub fn sample_every_allocation(&self) -> bool {
        call!(self, SET_HEAP_SAMPLING_INTERVAL, (jint), 0) == 0
            && self.enable(event::SAMPLED_OBJECT_ALLOC)
    }

    /// The method that the current thread began with.
    pub fn first_method(&self) -> Option<jmethodID> {
        let mut frame = FrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        let mut n = 0;
        let error = call!(
            self,
            GET_STACK_TRACE,
            (jobject, jint, jint, *mut FrameInfo, *mut jint),
            ptr::null_mut(),
            -1,
            1,
            &mut frame,
            &mut n
        );
        (error == 0 && n == 1).then_some(frame.method)
    }

    /// Frames of the current thread, innermost first.
    pub fn stack(&self, depth: usize) -> Vec<FrameInfo> {
        self.stack_of(ptr::null_mut(), depth)
    }

    /// Frames of a thread; null for the current one.
    pub fn stack_of(&self, thread: jobject, depth: usize) -> Vec<FrameInfo> {
        let mut frames = vec![
            FrameInfo {
                method: ptr::null_mut(),
                location: 0
            };
            depth
        ];
        let mut n = 0;
        let error = call!(
            self,
            GET_STACK_TRACE,
            (jobject, jint, jint, *mut FrameInfo, *mut jint),
            thread,
            0,
            depth as jint,
            frames.as_mut_ptr(),
            &mut n
        );
        frames.truncate(if error == 0 { n.max(0) as usize } else { 0 });
        frames
    }
}

/// The class in a signature: of `Lpack/Class;` what is between. Only the one
/// letter goes: a class may begin with another L.
pub fn class_in(signature: &str) -> &str {
    let inside = signature.strip_prefix('L');
    let inside = inside.and_then(|rest| rest.strip_suffix(';'));
    inside.unwrap_or(signature)
}

#[cfg(test)]
mod tests {
    use super::class_in;

    #[test]
    fn a_class_keeps_its_own_first_letter() {
        assert_eq!(class_in("LLazyCache;"), "LazyCache");
        assert_eq!(class_in("Ljava/util/List;"), "java/util/List");
        assert_eq!(class_in("[I"), "[I");
    }
}
