//! The function table by number (from the JVMTI specification, unchanged since
//! 1.0 for all of these), capabilities by bit, callbacks by position, and the
//! structures that functions fill in.

use super::MethodId;
use jni_sys::{jboolean, jint, jlong, jobject};
use std::ffi::{c_char, c_void};
use std::ptr;

pub type RawEnv = *mut *const [*const c_void; 156];
pub(super) type Error = jint;

/// Positions in the function table, less one (the table starts at 1).
pub(super) const SET_EVENT_NOTIFICATION_MODE: usize = 1;
pub(super) const GET_ALL_THREADS: usize = 3;
pub(super) const GET_THREAD_INFO: usize = 8;
pub(super) const GET_THREAD_GROUP_INFO: usize = 13;
pub(super) const GET_CURRENT_THREAD: usize = 17;
/// Since JVMTI 9.
pub(super) const GET_NAMED_MODULE: usize = 39;
pub(super) const ALLOCATE: usize = 45;
pub(super) const DEALLOCATE: usize = 46;
pub(super) const GET_CLASS_SIGNATURE: usize = 47;
pub(super) const GET_SOURCE_FILE_NAME: usize = 49;
pub(super) const GET_CLASS_FIELDS: usize = 52;
pub(super) const GET_IMPLEMENTED_INTERFACES: usize = 53;
pub(super) const GET_CLASS_LOADER: usize = 56;
pub(super) const GET_FIELD_NAME: usize = 59;
pub(super) const GET_FIELD_MODIFIERS: usize = 61;
pub(super) const GET_METHOD_NAME: usize = 63;
pub(super) const GET_METHOD_DECLARING_CLASS: usize = 64;
pub(super) const GET_LINE_NUMBER_TABLE: usize = 69;
pub(super) const GET_BYTECODES: usize = 74;
pub(super) const GET_LOADED_CLASSES: usize = 78;
pub(super) const GET_OBJECT_MONITOR_USAGE: usize = 58;
pub(super) const GET_STACK_TRACE: usize = 103;
pub(super) const GET_FRAME_COUNT: usize = 15;
pub(super) const GET_THREAD_STATE: usize = 16;
pub(super) const GET_TAG: usize = 105;
pub(super) const SET_TAG: usize = 106;
pub(super) const SET_EVENT_CALLBACKS: usize = 121;
pub(super) const GET_SYSTEM_PROPERTY: usize = 130;
pub(super) const ADD_CAPABILITIES: usize = 141;
/// Since JVMTI 11.
pub(super) const SET_HEAP_SAMPLING_INTERVAL: usize = 155;

/// JVMTI 9, the first with early class hooks; later JVMs only add to it.
pub const VERSION: jint = 0x3009_0000;

/// Bits of jvmtiCapabilities.
pub mod capability {
    pub const TAG_OBJECTS: u32 = 0;
    pub const GET_BYTECODES: u32 = 3;
    pub const GET_SOURCE_FILE_NAME: u32 = 11;
    pub const GET_LINE_NUMBERS: u32 = 12;
    pub const EXCEPTION_EVENTS: u32 = 17;
    pub const ALL_CLASS_HOOK_EVENTS: u32 = 26;
    pub const GET_MONITOR_INFO: u32 = 7;
    pub const MONITOR_EVENTS: u32 = 28;
    pub const NATIVE_METHOD_BIND_EVENTS: u32 = 30;
    pub const GARBAGE_COLLECTION_EVENTS: u32 = 31;
    pub const EARLY_VMSTART: u32 = 41;
    pub const EARLY_CLASS_HOOK_EVENTS: u32 = 42;
    pub const SAMPLED_OBJECT_ALLOC_EVENTS: u32 = 43;
    /// Since JVMTI 21.
    pub const SUPPORT_VIRTUAL_THREADS: u32 = 44;
}

/// Event numbers, which are also callback positions (from 50).
pub mod event {
    pub const VM_INIT: u32 = 50;
    pub const VM_DEATH: u32 = 51;
    pub const THREAD_START: u32 = 52;
    pub const THREAD_END: u32 = 53;
    pub const CLASS_FILE_LOAD_HOOK: u32 = 54;
    pub const VM_START: u32 = 57;
    pub const EXCEPTION: u32 = 58;
    pub const NATIVE_METHOD_BIND: u32 = 67;
    pub const MONITOR_CONTENDED_ENTER: u32 = 75;
    pub const MONITOR_CONTENDED_ENTERED: u32 = 76;
    pub const GARBAGE_COLLECTION_START: u32 = 81;
    pub const GARBAGE_COLLECTION_FINISH: u32 = 82;
    pub const SAMPLED_OBJECT_ALLOC: u32 = 86;
    /// Since JVMTI 21.
    pub const VIRTUAL_THREAD_START: u32 = 87;
    pub const VIRTUAL_THREAD_END: u32 = 88;
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

/// jvmtiEventCallbacks: 39 pointers for events 50 to 88; a JVM takes as many as it knows.
#[repr(C)]
pub struct Callbacks([*const c_void; 39]);

impl Callbacks {
    pub fn new() -> Callbacks {
        Callbacks([ptr::null(); 39])
    }

    pub fn set(&mut self, event: u32, callback: *const c_void) {
        self.0[(event - 50) as usize] = callback;
    }
}

#[derive(Debug)]
#[repr(C)]
pub(super) struct ThreadInfo {
    pub(super) name: *mut c_char,
    pub(super) priority: jint,
    pub(super) is_daemon: jboolean,
    pub(super) thread_group: jobject,
    pub(super) context_class_loader: jobject,
}

#[repr(C)]
pub(super) struct ThreadGroupInfo {
    pub(super) parent: jobject,
    pub(super) name: *mut c_char,
    pub(super) max_priority: jint,
    pub(super) is_daemon: jboolean,
}

#[repr(C)]
pub(super) struct MonitorUsage {
    pub(super) owner: jobject,
    pub(super) entry_count: jint,
    pub(super) waiter_count: jint,
    pub(super) waiters: *mut jobject,
    pub(super) notify_waiter_count: jint,
    pub(super) notify_waiters: *mut jobject,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FrameInfo {
    pub method: MethodId,
    pub location: jlong,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct LineEntry {
    pub(super) start: jlong,
    pub(super) line: jint,
}
