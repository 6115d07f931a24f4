//! JVMTI, as much of it as we use. `table` has the numbers.
//!
//! Functions that find objects give them as references of the current call, hence
//! the environment that they want; where there is none at hand,
//! [`Jvmti::with_method_class`] lends the class.

mod table;
#[cfg(test)]
mod tests;

pub use table::{Callbacks, FrameInfo, RawEnv, VERSION, capability, event, state};

use crate::jni::{Jni, Ref};
use jni_sys::{jclass, jfieldID, jint, jlong, jmethodID, jobject};
use std::ffi::{CStr, CString, c_char, c_uchar};
use std::ptr;
use table::*;

/// A method that the JVM has told us of. Its class may be unloaded later: then
/// functions that are given it answer with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct MethodId(jmethodID);

impl MethodId {
    const NONE: MethodId = MethodId(ptr::null_mut());

    /// # Safety
    /// `raw` must be an id that the JVM gave out.
    pub unsafe fn from_raw(raw: jmethodID) -> MethodId {
        MethodId(raw)
    }

    pub fn raw(self) -> jmethodID {
        self.0
    }

    /// To know it again.
    pub fn key(self) -> usize {
        self.0.addr()
    }
}

/// A field that [`Jvmti::class_fields`] has found, with its class.
#[derive(Clone, Copy, Debug)]
pub struct FieldId<'a> {
    class: Ref<'a>,
    id: jfieldID,
}

impl FieldId<'_> {
    /// What reflection makes of it.
    pub fn reflected<'env>(self, jni: Jni<'env>, is_static: bool) -> crate::jni::Local<'env> {
        // SAFETY: a field of this class, which lives; whether it is static is what
        // its modifiers have said.
        unsafe { jni.reflected_field(self.class, self.id, is_static) }
    }
}

/// A JVMTI environment. The pointer is valid from Agent_OnLoad to the end of
/// the process and may be used from any thread.
#[derive(Clone, Copy, Debug)]
pub struct Jvmti(RawEnv);

// SAFETY: JVMTI environments are made for use from any thread.
unsafe impl Send for Jvmti {}
// SAFETY: as for Send.
unsafe impl Sync for Jvmti {}

/// Calls a function of the table.
macro_rules! call {
    ($self:ident, $at:expr, ($($ty:ty),*), $($arg:expr),*) => {{
        // SAFETY: the table has at least 156 entries, and entry $at has this
        // signature by the JVMTI specification. References are live by their types,
        // and other pointers are to variables of the caller.
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

    /// References that JVMTI has made in the current call.
    fn take_references<'env>(&self, n: jint, p: *mut jobject) -> Vec<Ref<'env>> {
        let all = self.take_array(n, p).into_iter();
        // SAFETY: local references of this thread, to live as long as the call;
        // callers bind them to its environment.
        all.map(|raw| unsafe { Ref::from_raw(raw) }).collect()
    }

    pub fn all_threads<'env>(&self, _: Jni<'env>) -> Vec<Ref<'env>> {
        let (mut n, mut p) = (0, ptr::null_mut());
        call!(
            self,
            GET_ALL_THREADS,
            (*mut jint, *mut *mut jobject),
            &mut n,
            &mut p
        );
        self.take_references(n, p)
    }

    pub fn loaded_classes<'env>(&self, _: Jni<'env>) -> Vec<Ref<'env>> {
        let (mut n, mut p) = (0, ptr::null_mut());
        call!(
            self,
            GET_LOADED_CLASSES,
            (*mut jint, *mut *mut jobject),
            &mut n,
            &mut p
        );
        self.take_references(n, p)
    }

    pub fn current_thread<'env>(&self, _: Jni<'env>) -> Ref<'env> {
        let mut thread = ptr::null_mut();
        call!(self, GET_CURRENT_THREAD, (*mut jobject), &mut thread);
        // SAFETY: a local reference that was made in this call.
        unsafe { Ref::from_raw(thread) }
    }

    fn thread_info(&self, thread: Ref) -> Option<(String, ThreadInfo)> {
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
            thread.raw(),
            &mut info
        );
        (error == 0).then(|| (self.take_string(info.name).unwrap_or_default(), info))
    }

    pub fn is_daemon(&self, thread: Ref) -> bool {
        self.thread_info(thread)
            .is_some_and(|(_, info)| info.is_daemon != 0)
    }

    /// A thread's name, and whether it is in the VM's own thread group.
    pub fn thread(&self, thread: Ref) -> (String, bool) {
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
    pub fn class_signature(&self, class: Ref) -> Option<String> {
        let mut s = ptr::null_mut();
        let none: *mut *mut c_char = ptr::null_mut();
        call!(
            self,
            GET_CLASS_SIGNATURE,
            (jclass, *mut *mut c_char, *mut *mut c_char),
            class.raw(),
            &mut s,
            none
        );
        self.take_string(s)
    }

    pub fn source_file(&self, class: Ref) -> Option<String> {
        let mut s = ptr::null_mut();
        call!(
            self,
            GET_SOURCE_FILE_NAME,
            (jclass, *mut *mut c_char),
            class.raw(),
            &mut s
        );
        self.take_string(s)
    }

    pub fn class_loader<'env>(&self, _: Jni<'env>, class: Ref) -> Ref<'env> {
        let mut loader = ptr::null_mut();
        call!(
            self,
            GET_CLASS_LOADER,
            (jclass, *mut jobject),
            class.raw(),
            &mut loader
        );
        // SAFETY: a local reference that was made in this call.
        unsafe { Ref::from_raw(loader) }
    }

    /// Whether the boot loader has loaded a class.
    pub fn is_boot_class(&self, class: Ref) -> bool {
        let mut loader = ptr::null_mut();
        call!(
            self,
            GET_CLASS_LOADER,
            (jclass, *mut jobject),
            class.raw(),
            &mut loader
        );
        loader.is_null()
    }

    /// Whether a package (`com/shop`) of the boot loader is in a named module, as
    /// all of the JDK is; what was appended to the boot class path is not.
    pub fn is_boot_package_in_module(&self, package: &str) -> bool {
        let (Ok(package), mut module) = (CString::new(package), ptr::null_mut()) else {
            return false;
        };
        call!(
            self,
            GET_NAMED_MODULE,
            (jobject, *const c_char, *mut jobject),
            ptr::null_mut(),
            package.as_ptr(),
            &mut module
        );
        !module.is_null()
    }

    /// The fields that a class itself declares; none if it is not linked yet.
    pub fn class_fields<'a>(&self, class: Ref<'a>) -> Vec<FieldId<'a>> {
        self.declared_fields(class).unwrap_or_default()
    }

    /// The same; None if that cannot be told yet.
    pub fn declared_fields<'a>(&self, class: Ref<'a>) -> Option<Vec<FieldId<'a>>> {
        let (mut n, mut p) = (0, ptr::null_mut());
        let error = call!(
            self,
            GET_CLASS_FIELDS,
            (jclass, *mut jint, *mut *mut jfieldID),
            class.raw(),
            &mut n,
            &mut p
        );
        let ids = self.take_array(n, p).into_iter();
        (error == 0).then(|| ids.map(|id| FieldId { class, id }).collect())
    }

    /// The interfaces that a class itself names; none if it is not linked yet.
    pub fn interfaces<'env>(&self, _: Jni<'env>, class: Ref) -> Vec<Ref<'env>> {
        let (mut n, mut p) = (0, ptr::null_mut());
        call!(
            self,
            GET_IMPLEMENTED_INTERFACES,
            (jclass, *mut jint, *mut *mut jclass),
            class.raw(),
            &mut n,
            &mut p
        );
        self.take_references(n, p)
    }

    /// Name, descriptor and modifiers of a field.
    pub fn field(&self, field: FieldId) -> Option<(String, String, jint)> {
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
            field.class.raw(),
            field.id,
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
            field.class.raw(),
            field.id,
            &mut modifiers
        );
        Some((name, desc, modifiers))
    }

    /// Name and descriptor of a method.
    pub fn method(&self, method: MethodId) -> Option<(String, String)> {
        let (mut name, mut desc, none) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let error = call!(
            self,
            GET_METHOD_NAME,
            (
                MethodId,
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

    /// The class that declares a method; null if there is none.
    pub fn method_class<'env>(&self, _: Jni<'env>, method: MethodId) -> Ref<'env> {
        // SAFETY: a local reference that was made in this call.
        unsafe { Ref::from_raw(self.raw_method_class(method)) }
    }

    /// The same, for callers that have no environment at hand.
    pub fn with_method_class<T>(&self, method: MethodId, f: impl FnOnce(Ref<'_>) -> T) -> T {
        // SAFETY: a local reference, which lives at least while `f` runs.
        f(unsafe { Ref::from_raw(self.raw_method_class(method)) })
    }

    fn raw_method_class(&self, method: MethodId) -> jclass {
        let mut class = ptr::null_mut();
        call!(
            self,
            GET_METHOD_DECLARING_CLASS,
            (MethodId, *mut jclass),
            method,
            &mut class
        );
        class
    }

    /// The code of a method; none if it is native.
    pub fn bytecodes(&self, method: MethodId) -> Vec<u8> {
        let (mut n, mut p) = (0, ptr::null_mut::<u8>());
        call!(
            self,
            GET_BYTECODES,
            (MethodId, *mut jint, *mut *mut u8),
            method,
            &mut n,
            &mut p
        );
        self.take_array(n, p)
    }

    /// Start of each line's code, in the order of the table.
    pub fn line_table(&self, method: MethodId) -> Vec<(jlong, jint)> {
        let (mut n, mut p) = (0, ptr::null_mut::<LineEntry>());
        call!(
            self,
            GET_LINE_NUMBER_TABLE,
            (MethodId, *mut jint, *mut *mut LineEntry),
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
    pub fn is_monitor_free(&self, o: Ref) -> bool {
        self.owner(o).is_some_and(<*mut _>::is_null)
    }

    /// The thread that owns the monitor of an object, null if none does; nothing if that
    /// cannot be told. Stops all threads for a moment.
    pub fn monitor_owner<'env>(&self, _: Jni<'env>, o: Ref) -> Option<Ref<'env>> {
        // SAFETY: a local reference that was made in this call.
        self.owner(o).map(|owner| unsafe { Ref::from_raw(owner) })
    }

    fn owner(&self, o: Ref) -> Option<jobject> {
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
            o.raw(),
            &mut usage
        );
        self.deallocate(usage.waiters.cast());
        self.deallocate(usage.notify_waiters.cast());
        (error == 0).then_some(usage.owner)
    }

    /// What a thread does, see [`state`]; 0 if that cannot be told.
    pub fn thread_state(&self, thread: Ref) -> jint {
        let mut now = 0;
        let error = call!(
            self,
            GET_THREAD_STATE,
            (jobject, *mut jint),
            thread.raw(),
            &mut now
        );
        if error == 0 { now } else { 0 }
    }

    /// What the object was tagged with; 0 if it was not.
    pub fn tag(&self, o: Ref) -> jlong {
        let mut tag = 0;
        call!(self, GET_TAG, (jobject, *mut jlong), o.raw(), &mut tag);
        tag
    }

    pub fn set_tag(&self, o: Ref, tag: jlong) {
        call!(self, SET_TAG, (jobject, jlong), o.raw(), tag);
    }

    /// Every allocation is a sample.
    pub fn sample_every_allocation(&self) -> bool {
        call!(self, SET_HEAP_SAMPLING_INTERVAL, (jint), 0) == 0
            && self.enable(event::SAMPLED_OBJECT_ALLOC)
    }

    /// The method that the current thread began with.
    pub fn first_method(&self) -> Option<MethodId> {
        let mut frame = FrameInfo {
            method: MethodId::NONE,
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

    /// How many frames the current thread has.
    pub fn frame_count(&self) -> u32 {
        let mut count = 0;
        let current = ptr::null_mut();
        call!(
            self,
            GET_FRAME_COUNT,
            (jobject, *mut jint),
            current,
            &mut count
        );
        count as u32
    }

    /// Frames of the current thread, innermost first.
    pub fn stack(&self, depth: usize) -> Vec<FrameInfo> {
        self.stack_of(Ref::NULL, depth)
    }

    /// Frames of a thread; null for the current one.
    pub fn stack_of(&self, thread: Ref, depth: usize) -> Vec<FrameInfo> {
        let mut frames = vec![
            FrameInfo {
                method: MethodId::NONE,
                location: 0
            };
            depth
        ];
        let mut n = 0;
        let error = call!(
            self,
            GET_STACK_TRACE,
            (jobject, jint, jint, *mut FrameInfo, *mut jint),
            thread.raw(),
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
    inside.map_or(signature, without_address)
}

/// The JVM tells hidden classes of one name apart by an address, which is another one in each run:
/// `Lpack/Class.0x0000000026081400;`. No other name has a dot.
pub fn without_address(signature: &str) -> &str {
    signature
        .split_once('.')
        .map_or(signature, |(name, _)| name)
}
