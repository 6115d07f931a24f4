//! The JDK's natives that we stand in front of. The JVM tells us when it binds
//! one (NativeMethodBind); we give it ours and keep the original to call.

use super::{Env, controlled, instead, with};
use crate::agent;
use crate::control::blocking::MILLI;
use crate::jni::{Jni, Ref};
use jni_sys::{jboolean, jint, jlong};
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

macro_rules! wrapped {
    ($visible:vis $chooser:ident: $($static:ident: $class:literal $name:literal $desc:literal => $function:ident;)*) => {
        $(static $static: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());)*

        /// The function to put before a native, if we want to; keeps the original.
        $visible fn $chooser(class: &str, name: &str, desc: &str, original: *mut c_void) -> Option<*mut c_void> {
            $(if class == $class && name == $name && desc == $desc {
                let ours = $function as *const c_void as *mut c_void;
                // RegisterNatives makes the event fire again with our own
                // function in its place.
                if original == ours {
                    return None;
                }
                $static.store(original, Ordering::Release);
                return Some(ours);
            })*
            None
        }
    };
}

wrapped! { always:
    START: "java/lang/Thread" "start0" "()V" => start0;
    SLEEP: "java/lang/Thread" "sleep" "(J)V" => sleep;
    SLEEP0: "java/lang/Thread" "sleep0" "(J)V" => sleep0;
    SLEEP_NANOS: "java/lang/Thread" "sleepNanos0" "(J)V" => sleep_nanos;
    WAIT: "java/lang/Object" "wait" "(J)V" => wait;
    WAIT0: "java/lang/Object" "wait0" "(J)V" => wait0;
    NOTIFY: "java/lang/Object" "notify" "()V" => notify;
    NOTIFY_ALL: "java/lang/Object" "notifyAll" "()V" => notify_all;
    HALT: "java/lang/Shutdown" "halt0" "(I)V" => halt0;
    FIELDS: "java/lang/Class" "getDeclaredFields0" "(Z)[Ljava/lang/reflect/Field;" => declared_fields;
    METHODS: "java/lang/Class" "getDeclaredMethods0" "(Z)[Ljava/lang/reflect/Method;" => declared_methods;
    DEFINE: "java/lang/ClassLoader" "defineClass0" "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)Ljava/lang/Class;" => define_class;
}

/// The function to put before a native, if we want to; keeps the original.
pub fn in_front_of(
    class: &str,
    name: &str,
    desc: &str,
    original: *mut c_void,
) -> Option<*mut c_void> {
    let controlled = agent().is_some_and(|a| a.control.is_some());
    let printing = controlled || agent().is_some_and(|a| a.options.cut.text.is_some());
    let counting = agent().is_some_and(|a| a.options.cut.requests.is_some());
    let ours = always(class, name, desc, original)
        .or_else(|| {
            controlled
                .then(|| super::controlled::under_control(class, name, desc, original))
                .flatten()
        })
        .or_else(|| {
            printing
                .then(|| super::printing::printing(class, name, desc, original))
                .flatten()
        });
    // Whoever counts stands before whoever controls.
    counting
        .then(|| super::serving::serving(class, name, desc, ours.unwrap_or(original)))
        .flatten()
        .or(ours)
}

/// Ends the process without waiting for anybody: its other threads wait for a
/// turn that never comes.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { _exit(code) }
}

unsafe extern "C" {
    fn _exit(code: i32) -> !;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Which method of Object a function of the JVM implements.
pub fn known_name(address: *mut c_void) -> Option<(&'static str, &'static str)> {
    let known = [
        (c"JVM_MonitorWait", "wait", "(J)V"),
        (c"JVM_MonitorNotify", "notify", "()V"),
        (c"JVM_MonitorNotifyAll", "notifyAll", "()V"),
    ];
    // SAFETY: looks names up among all loaded libraries (a null handle).
    let is = |symbol: &CStr| unsafe { dlsym(ptr::null_mut(), symbol.as_ptr()) } == address;
    known
        .iter()
        .find(|(symbol, _, _)| is(symbol))
        .map(|(_, name, desc)| (*name, *desc))
}

pub(super) type Method0 = extern "system" fn(Env, Ref);
type MethodJ = extern "system" fn(Env, Ref, jlong);

/// The original behind one of our functions.
macro_rules! original {
    ($static:ident as $type:ty) => {{
        // SAFETY: ours is installed only after the original was kept, and the
        // native's descriptor fixes the type.
        unsafe { transmute::<*mut c_void, $type>($static.load(Ordering::Acquire)) }
    }};
}

pub(super) use {original, wrapped};

extern "system" fn start0(env: Env, thread: Ref) {
    let place = with(env, |a, jni| {
        if let Some(b) = a.bridge.get() {
            b.forking(jni, thread);
        }
        a.control.as_ref()?.starting(a, jni, thread)
    });
    original!(START as Method0)(env, thread);
    controlled(env, |c, a, jni| {
        let thrown = jni.take_exception();
        match (place, &thrown) {
            (Some(place), Some(_)) => c.not_started(jni, place),
            (Some(_), None) => c.started(a, jni),
            (None, _) => {}
        }
        if let Some(thrown) = thrown {
            jni.throw(&thrown);
        }
    });
}

extern "system" fn sleep(env: Env, class: Ref, millis: jlong) {
    let nanos = millis.saturating_mul(MILLI as jlong);
    sleeping(env, nanos, || {
        original!(SLEEP as MethodJ)(env, class, millis)
    });
}

/// In JDK 21.
extern "system" fn sleep0(env: Env, class: Ref, nanos: jlong) {
    sleeping(env, nanos, || {
        original!(SLEEP0 as MethodJ)(env, class, nanos)
    });
}

/// In later versions.
extern "system" fn sleep_nanos(env: Env, class: Ref, nanos: jlong) {
    sleeping(env, nanos, || {
        original!(SLEEP_NANOS as MethodJ)(env, class, nanos)
    });
}

fn sleeping(env: Env, nanos: jlong, original: impl FnOnce()) {
    if !instead(env, |c, a, jni| c.sleep(a, jni, nanos)) {
        original();
    }
    after_blocking(env, |b, jni, interrupted| {
        if interrupted {
            b.interrupted(jni);
        }
    });
}

extern "system" fn wait(env: Env, o: Ref, millis: jlong) {
    wait_with(env, o, millis, || {
        original!(WAIT as MethodJ)(env, o, millis)
    });
}

extern "system" fn wait0(env: Env, o: Ref, millis: jlong) {
    wait_with(env, o, millis, || {
        original!(WAIT0 as MethodJ)(env, o, millis)
    });
}

fn wait_with(env: Env, o: Ref, millis: jlong, original: impl FnOnce()) {
    // JDK 24 and later: a virtual thread leaves its carrier in the original, which returns at once, on a
    // carrier without its thread. Probes in Object.wait tell of it.
    if with(env, |a, jni| {
        a.bridge.get().is_some_and(|b| b.is_mounted(jni) != 0)
    }) {
        return original();
    }
    waiting(env, o);
    let joins_uncontrolled = with(env, |a, jni| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.is_uncontrolled_thread(jni, o))
    });
    if joins_uncontrolled {
        super::controlled::blocking(env, "a thread of the JDK", original);
    } else if !instead(env, |c, a, jni| c.wait(a, jni, o, millis)) {
        original();
    }
    after_blocking(env, |b, jni, interrupted| b.waited(jni, o, interrupted));
}

fn waiting(env: Env, o: Ref) {
    with(env, |a, jni| {
        if let Some(b) = a.bridge.get() {
            b.waiting(jni, o);
        }
    });
}

/// Runs `f` with the exception that the original threw put aside.
fn after_blocking(env: Env, f: impl FnOnce(&crate::bridge::Bridge, Jni, bool)) {
    with(env, |a, jni| {
        let thrown = jni.take_exception();
        if let Some(b) = a.bridge.get() {
            let interrupted = thrown
                .as_ref()
                .is_some_and(|e| jni.is_instance(e.get(), b.interrupted_exception.get()));
            f(b, jni, interrupted);
        }
        if let Some(thrown) = thrown {
            jni.throw(&thrown);
        }
    });
}

fn notifying(env: Env, o: Ref, all: bool) {
    with(env, |a, jni| {
        if a.options.mode.makes_events()
            && let Some(b) = a.bridge.get()
        {
            b.notifying(jni, o, all);
        }
    });
}

extern "system" fn notify(env: Env, o: Ref) {
    notifying(env, o, false);
    original!(NOTIFY as Method0)(env, o);
    notified(env, o, false);
}

/// The original throws if the caller does not own the monitor.
fn notified(env: Env, o: Ref, all: bool) {
    controlled(env, |c, a, jni| match jni.take_exception() {
        None => c.notify(a, jni, o, all),
        Some(thrown) => jni.throw(&thrown),
    });
}

extern "system" fn notify_all(env: Env, o: Ref) {
    notifying(env, o, true);
    original!(NOTIFY_ALL as Method0)(env, o);
    notified(env, o, true);
}

/// Whether the current thread is one that the JVM makes for SIGTERM, SIGINT or SIGHUP.
fn is_signal_handler(a: &crate::Agent, jni: Jni) -> bool {
    let (name, _) = a.jvmti.thread(a.jvmti.current_thread(jni));
    name.starts_with("SIG") && name.ends_with(" handler")
}

/// Shutdown ends here too, after its hooks; Runtime.halt comes straight.
extern "system" fn halt0(env: Env, class: Ref, status: jint) {
    type Original = extern "system" fn(Env, Ref, jint);
    with(env, |a, _| {
        let stack = a
            .stacks
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .current(&a.jvmti);
        let called = |class: &str, method: &str| {
            stack
                .iter()
                .any(|f| &*f.class == class && &*f.method == method)
        };
        a.halted
            .store(called("java.lang.Runtime", "halt"), Ordering::Release);
    });
    controlled(env, |c, a, jni| {
        // The JVM was told to end: that is not how the execution ends.
        let is_one_of_many = c.is_exploring() || c.worker().is_some();
        if is_one_of_many && is_signal_handler(a, jni) {
            a.finish_with(protocol::RunEnd::Interrupted);
            exit_now(status);
        }
        c.answer_and_exit(a, jni);
        a.finish_with(protocol::RunEnd::Exit);
        exit_now(status);
    });
    original!(HALT as Original)(env, class, status);
}

/// Reflection must not see the fields that we added.
extern "system" fn declared_fields<'env>(
    env: Env<'env>,
    class: Ref<'env>,
    public_only: jboolean,
) -> Ref<'env> {
    type Original = for<'a> extern "system" fn(Env<'a>, Ref<'a>, jboolean) -> Ref<'a>;
    let all = original!(FIELDS as Original)(env, class, public_only);
    if all.is_null() {
        return all;
    }
    let fewer = with(env, |a, jni| a.without_ours(jni, all));
    if fewer.is_null() { all } else { fewer }
}

/// Nor that methods lock by themselves.
extern "system" fn declared_methods<'env>(
    env: Env<'env>,
    class: Ref<'env>,
    public_only: jboolean,
) -> Ref<'env> {
    type Original = for<'a> extern "system" fn(Env<'a>, Ref<'a>, jboolean) -> Ref<'a>;
    let all = original!(METHODS as Original)(env, class, public_only);
    if !all.is_null() {
        with(env, |a, jni| a.show_as_synchronized(jni, class, all));
    }
    all
}

/// Hidden classes come this way only: the class-file hook does not see them.
#[allow(clippy::too_many_arguments)]
extern "system" fn define_class<'env>(
    env: Env<'env>,
    this: Ref<'env>,
    loader: Ref<'env>,
    lookup: Ref<'env>,
    name: Ref<'env>,
    bytes: Ref<'env>,
    offset: jint,
    length: jint,
    domain: Ref<'env>,
    initialize: jboolean,
    flags: jint,
    data: Ref<'env>,
) -> Ref<'env> {
    type Original = for<'a> extern "system" fn(
        Env<'a>,
        Ref<'a>,
        Ref<'a>,
        Ref<'a>,
        Ref<'a>,
        Ref<'a>,
        jint,
        jint,
        Ref<'a>,
        jboolean,
        jint,
        Ref<'a>,
    ) -> Ref<'a>;
    let mut class = (bytes, offset, length);
    let rewritten = with(env, |a, jni| {
        let old = jni.bytes(bytes, offset, length)?;
        let new = a.rewrite(jni, loader, &old)?;
        let array = jni.new_bytes(&new).leave().non_null()?;
        Some((array, new.len()))
    });
    if let Some((array, n)) = rewritten {
        class = (array, 0, n as jint);
    }
    original!(DEFINE as Original)(
        env, this, loader, lookup, name, class.0, class.1, class.2, domain, initialize, flags, data,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn somewhere(address: usize) -> *mut c_void {
        ptr::without_provenance_mut(address)
    }

    #[test]
    fn ours_stands_before_a_native_and_knows_itself() {
        let start = |original| in_front_of("java/lang/Thread", "start0", "()V", original);
        let ours = start(somewhere(0x10)).unwrap();
        assert_eq!(START.load(Ordering::Acquire), somewhere(0x10));
        assert_eq!(start(ours), None, "it is bound again as our own");
        assert_eq!(START.load(Ordering::Acquire), somewhere(0x10));
    }

    #[test]
    fn other_natives_are_left_alone() {
        let at = somewhere(0x20);
        assert_eq!(in_front_of("java/lang/Thread", "start0", "(I)V", at), None);
        assert_eq!(in_front_of("shop/Thread", "start0", "()V", at), None);
        let park = in_front_of("jdk/internal/misc/Unsafe", "park", "(ZJ)V", at);
        assert_eq!(park, None, "only in controlled runs");
        assert_eq!(known_name(at), None);
    }
}
