//! What the JVM calls us for, in the order in which it does: early VMStart
//! (define the bridge), class files as they are loaded, natives as they are
//! bound, VMInit (the program's threads get their state and probes wake up),
//! threads that nobody started, threads that end, VMDeath.

use crate::bridge::{self, Bridge};
use crate::jni::{Jni, Ref};
use crate::jvmti::{Callbacks, FrameInfo, MethodId, RawEnv, capability, class_in, event};
use crate::{Agent, agent, guard, natives};
use jni_sys::{jint, jlong};
use protocol::Fatal;
use std::cell::Cell;
use std::ffi::{c_char, c_uchar, c_void};

pub fn install(agent: &Agent) -> Result<(), Fatal> {
    let jvmti = agent.jvmti;
    let needed = [
        capability::ALL_CLASS_HOOK_EVENTS,
        capability::EARLY_CLASS_HOOK_EVENTS,
        capability::EARLY_VMSTART,
        capability::NATIVE_METHOD_BIND_EVENTS,
        capability::GET_SOURCE_FILE_NAME,
        capability::GET_LINE_NUMBERS,
    ];
    let exploring = agent.control.as_ref().is_some_and(|c| c.is_exploring());
    let more: &[u32] = match agent.control {
        Some(_) if exploring => &[
            capability::MONITOR_EVENTS,
            capability::GET_MONITOR_INFO,
            capability::GARBAGE_COLLECTION_EVENTS,
            capability::TAG_OBJECTS,
            capability::GET_BYTECODES,
            capability::SAMPLED_OBJECT_ALLOC_EVENTS,
        ],
        Some(_) => &[
            capability::EXCEPTION_EVENTS,
            capability::MONITOR_EVENTS,
            capability::GET_MONITOR_INFO,
            capability::GARBAGE_COLLECTION_EVENTS,
        ],
        None => &[],
    };
    if !jvmti.add_capabilities(&[&needed, more].concat()) {
        return Err(Fatal::java(
            "this JVM does not let an agent see every class (is it HotSpot 17 or later?)",
        ));
    }
    // Under control every virtual thread has a thread of the system's to itself
    // (driver/src/options.rs), and the JVM tells of it as of a virtual one. Older ones have none.
    let virtual_threads =
        agent.control.is_some() && jvmti.add_capabilities(&[capability::SUPPORT_VIRTUAL_THREADS]);
    let mut callbacks = Callbacks::new();
    callbacks.set(event::VM_START, vm_start as *const c_void);
    callbacks.set(event::VM_INIT, vm_init as *const c_void);
    callbacks.set(event::VM_DEATH, vm_death as *const c_void);
    callbacks.set(event::THREAD_START, thread_start as *const c_void);
    callbacks.set(event::THREAD_END, thread_end as *const c_void);
    if virtual_threads {
        callbacks.set(event::VIRTUAL_THREAD_START, thread_start as *const c_void);
        callbacks.set(event::VIRTUAL_THREAD_END, thread_end as *const c_void);
    }
    callbacks.set(event::MONITOR_CONTENDED_ENTER, contended as *const c_void);
    callbacks.set(event::MONITOR_CONTENDED_ENTERED, entered as *const c_void);
    callbacks.set(
        event::GARBAGE_COLLECTION_START,
        collection_start as *const c_void,
    );
    callbacks.set(
        event::GARBAGE_COLLECTION_FINISH,
        collection_end as *const c_void,
    );
    callbacks.set(event::EXCEPTION, exception as *const c_void);
    callbacks.set(event::SAMPLED_OBJECT_ALLOC, allocated as *const c_void);
    callbacks.set(event::CLASS_FILE_LOAD_HOOK, class_file as *const c_void);
    callbacks.set(event::NATIVE_METHOD_BIND, native_bind as *const c_void);
    if !jvmti.set_callbacks(&callbacks) {
        return Err(Fatal::java("this JVM refused our callbacks"));
    }
    for e in [
        event::VM_START,
        event::VM_INIT,
        event::VM_DEATH,
        event::CLASS_FILE_LOAD_HOOK,
        event::NATIVE_METHOD_BIND,
    ] {
        if !jvmti.enable(e) {
            return Err(Fatal::java(format!("this JVM refused event {e}")));
        }
    }
    // Now, since threads allocate unseen from what they got before.
    if exploring && !jvmti.sample_every_allocation() {
        return Err(Fatal::java(
            "this JVM does not tell of allocations; use JDK 17",
        ));
    }
    Ok(())
}

fn with<'env>(jni: Jni<'env>, f: impl FnOnce(&'static Agent, Jni<'env>)) {
    guard(|| {
        if let Some(a) = agent() {
            f(a, jni);
        }
    });
}

extern "system" fn vm_start(_: RawEnv, env: Jni) {
    with(env, |a, jni| {
        if let Err(why) = bridge::define(jni) {
            a.fail(why);
        }
    });
}

extern "system" fn vm_init(_: RawEnv, env: Jni, thread: Ref) {
    with(env, |a, jni| {
        let Some(bridge) = Bridge::look_up(jni) else {
            return a
                .fail(Fatal::java("this JDK's classes are not as expected; use JDK 17 or a later one that it knows (--java or JAVA_HOME)"));
        };
        let bridge = a.bridge.get_or_init(|| bridge);
        let _ = a.ref_array.set(bridge.ref_array(jni));
        // Main first: it is thread 0.
        bridge.attach(jni, thread, false);
        for t in a.jvmti.all_threads(jni) {
            let (_, system) = a.jvmti.thread(t);
            if !jni.same(t, thread) {
                bridge.attach(jni, t, system);
            }
        }
        a.jvmti.enable(event::THREAD_START);
        if let Some(recorder) = &a.recorder {
            recorder.keep_up(a);
        }
        a.jvmti.enable(event::THREAD_END);
        if let Some(hidden) = &a.hidden {
            hidden.start_watch();
        }
        if let Some(sampling) = &a.sampling {
            sampling.start(a);
        }
        a.cut_by_the_clock();
        if let Some(control) = &a.control {
            if !control.look_up(jni) {
                return a.fail(Fatal::java(
                    "this JDK's threads are not as expected; use JDK 17 or a later one that it knows (--java or JAVA_HOME)",
                ));
            }
            for e in [
                event::VIRTUAL_THREAD_START,
                event::VIRTUAL_THREAD_END,
                event::MONITOR_CONTENDED_ENTER,
                event::MONITOR_CONTENDED_ENTERED,
                event::GARBAGE_COLLECTION_START,
                event::GARBAGE_COLLECTION_FINISH,
            ] {
                a.jvmti.enable(e);
            }
            if !control.is_exploring() {
                a.jvmti.enable(event::EXCEPTION);
            }
            if control.worker().is_none() {
                if control.is_exploring() {
                    use_up_unseen(jni);
                }
                control.begin(a, jni, thread);
            }
        }
    });
}

/// A thread that no Java code started: attached by native code, or the VM's.
extern "system" fn thread_start(_: RawEnv, env: Jni, thread: Ref) {
    with(env, |a, jni| {
        if let Some(b) = a.bridge.get() {
            let (_, system) = a.jvmti.thread(thread);
            b.attach(jni, thread, system);
        }
        if let Some(control) = &a.control {
            control.began(a, jni, thread);
        }
    });
}

/// The thread throws; no handler means that nobody in Java catches it.
extern "system" fn exception(
    _: RawEnv,
    env: Jni,
    _thread: Ref,
    method: MethodId,
    location: jlong,
    exception: Ref,
    catcher: MethodId,
    handler: jlong,
) {
    with(env, |a, jni| {
        let frame = |method, location| FrameInfo { method, location };
        if let (Some(control), false) = (&a.control, catcher.raw().is_null()) {
            let (thrown, by) = (frame(method, location), frame(catcher, handler));
            control.caught(a, jni, exception, thrown, by);
        }
    });
}

/// The JVM is about to make the thread wait for a monitor.
extern "system" fn contended(_: RawEnv, env: Jni, _thread: Ref, o: Ref) {
    with(env, |a, jni| {
        if let Some(control) = &a.control {
            control.contended(a, jni, o);
        }
    });
}

extern "system" fn entered(_: RawEnv, env: Jni, _thread: Ref, o: Ref) {
    with(env, |a, jni| {
        if let Some(control) = &a.control {
            control.entered(a, jni, o);
        }
    });
}

/// Bytes of memory that the first thread may have got before allocations were told.
const MOST_UNSEEN: usize = 64 << 20;

thread_local! {
    static SEEN: Cell<bool> = const { Cell::new(false) };
}

/// The current thread has memory at hand from before allocations were told, and
/// what it makes there is not: so that is used up.
fn use_up_unseen(jni: Jni) {
    const SMALL: usize = 1024;
    SEEN.set(false);
    for _ in 0..MOST_UNSEEN / SMALL {
        drop(jni.new_bytes(&[0; SMALL]));
        if SEEN.get() {
            return;
        }
    }
}

/// In an exploration: the current thread has made an object.
extern "system" fn allocated(
    _: RawEnv,
    env: Jni,
    _thread: Ref,
    o: Ref,
    class: Ref,
    _size: jni_sys::jlong,
) {
    SEEN.set(true);
    with(env, |a, jni| {
        if let Some(control) = &a.control {
            control.made(a, jni, o, class);
        }
    });
}

extern "system" fn collection_start(_: RawEnv) {
    collecting(true);
}

extern "system" fn collection_end(_: RawEnv) {
    collecting(false);
}

/// No JNI may be used here.
fn collecting(now: bool) {
    if let Some(control) = agent().and_then(|a| a.control.as_ref()) {
        control.collecting(now);
    }
}

/// A thread has run its last bytecode; nobody sees yet that it is dead.
extern "system" fn thread_end(_: RawEnv, env: Jni, thread: Ref) {
    with(env, |a, jni| {
        if let Some(b) = a.bridge.get() {
            b.gone(jni, thread);
        }
        if let Some(control) = &a.control {
            control.ended(a, jni);
        }
    });
}

extern "system" fn vm_death(_: RawEnv, env: Jni) {
    with(env, |a, jni| {
        a.tell_unshown(jni);
        a.finish();
    });
}

#[allow(clippy::too_many_arguments)]
extern "system" fn class_file(
    _: RawEnv,
    env: Jni,
    _redefined: Ref,
    loader: Ref,
    _name: *const c_char,
    _domain: Ref,
    len: jint,
    data: *const c_uchar,
    new_len: *mut jint,
    new_data: *mut *mut c_uchar,
) {
    with(env, |a, jni| {
        if data.is_null() {
            return;
        }
        // SAFETY: the JVM passes `len` bytes of class file.
        let bytes = unsafe { std::slice::from_raw_parts(data, len.max(0) as usize) };
        let Some(new) = a.rewrite(jni, loader, bytes) else {
            return;
        };
        if let Some(copy) = a.jvmti.allocate_copy(&new) {
            // SAFETY: out parameters of this event, ours to write.
            unsafe {
                new_len.write(new.len() as jint);
                new_data.write(copy);
            }
        }
    });
}

extern "system" fn native_bind(
    _: RawEnv,
    env: Jni,
    _thread: Ref,
    method: MethodId,
    address: *mut c_void,
    new_address: *mut *mut c_void,
) {
    with(env, |a, jni| {
        // Object's natives are bound before a method can be asked its name;
        // they are known by their address.
        let ours = match a.jvmti.method(method) {
            Some((name, desc)) => {
                let class = a.jvmti.method_class(jni, method);
                let Some(class) = a.jvmti.class_signature(class) else {
                    return;
                };
                let class = class_in(&class);
                // Bound when it is first called.
                let forks = (class, name.as_str()) == ("java/lang/ProcessImpl", "forkAndExec");
                if forks && !a.options.is_in_all_jvms {
                    a.findings
                        .warn("the program starts other processes; what they do is not seen");
                }
                natives::in_front_of(class, &name, &desc, address)
            }
            None => natives::known_name(address).and_then(|(name, desc)| {
                natives::in_front_of("java/lang/Object", name, desc, address)
            }),
        };
        if let Some(ours) = ours {
            // SAFETY: out parameter of this event, ours to write.
            unsafe { new_address.write(ours) };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jni::fake;
    use std::ptr;

    /// Before the agent is there, and for classes without bytes, a class stays as
    /// it is.
    #[test]
    fn a_class_that_nobody_rewrites_is_left_alone() {
        let jni = fake::environment();
        let bytes = b"\xca\xfe\xba\xbe";
        for data in [bytes.as_ptr(), ptr::null()] {
            let (mut len, mut new) = (-1, ptr::null_mut());
            class_file(
                ptr::null_mut(),
                jni,
                Ref::NULL,
                Ref::NULL,
                ptr::null(),
                Ref::NULL,
                bytes.len() as jint,
                data,
                &mut len,
                &mut new,
            );
            assert_eq!((len, new), (-1, ptr::null_mut()));
        }
    }
}
