//! The natives of the bridge, and the JDK's natives that we stand in front of.
//! Every function here is called by the JVM; none lets a panic out.

use crate::check::Query;
use crate::control::{Control, Place};
use crate::jni::Jni;
use crate::memory::RawClock;
use crate::options::Mode;
use crate::{Agent, agent, guard};
use jni_sys::{JNIEnv, jboolean, jclass, jint, jlong, jlongArray, jobject, jobjectArray, jstring};
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

type Env = *mut JNIEnv;

/// Binds all natives of the bridge at once: the JVM's own search for them runs
/// Java code, which has probes, which call them. Found by its name, and called
/// by the bridge itself: natives of a class in `java.lang` that are registered
/// by anybody else make the JVM print a warning.
#[unsafe(export_name = "Java_java_lang_PhotofinishNative_link")]
extern "system" fn link(env: Env, class: jclass) {
    let natives = [
        ("address", "(I)J", address as *const c_void),
        (
            "allocate",
            "(Ljava/lang/Thread;JZ)J",
            allocate as *const c_void,
        ),
        ("endThread", "(IJ)V", end_thread as *const c_void),
        ("acquireAll", "(J)V", acquire_all as *const c_void),
        (
            "resolve",
            "(ILjava/lang/Object;)V",
            resolve as *const c_void,
        ),
        (
            "check",
            "(JJJJIZLjava/lang/Object;I)V",
            check as *const c_void,
        ),
        (
            "sample",
            "(JJILjava/lang/String;)V",
            sample as *const c_void,
        ),
        ("initBegin", "(JJ)V", init_begin as *const c_void),
        ("initEnd", "(JJ)V", init_end as *const c_void),
        ("buffer", "(J)J", buffer as *const c_void),
        ("flush", "(J)J", flush as *const c_void),
        ("event", "(JJJJI)V", event as *const c_void),
        ("layout", "(Ljava/lang/Class;)[J", layout as *const c_void),
        (
            "staticLayout",
            "(Ljava/lang/Class;)[J",
            static_layout as *const c_void,
        ),
        ("array", "(JILjava/lang/Class;I)V", array as *const c_void),
        ("tooLarge", "(I)V", too_large as *const c_void),
        ("point", "(IJII)V", point as *const c_void),
        ("disturb", "()V", disturb as *const c_void),
        ("isShared", "(I)Z", is_shared as *const c_void),
        ("isInternal", "()Z", is_internal as *const c_void),
        ("comeIn", "()V", come_in as *const c_void),
        ("monitor", "(JII)V", monitor as *const c_void),
        ("released", "(J)V", released as *const c_void),
        ("failed", "()V", failed as *const c_void),
        ("adopt", "()V", adopt as *const c_void),
        (
            "uncaught",
            "(Ljava/lang/Throwable;)V",
            uncaught as *const c_void,
        ),
    ];
    with(env, |a, jni| {
        if !jni.register(class, &natives) {
            a.fail("cannot bind the natives of the bridge");
        }
    });
}

fn with<T: Default>(env: Env, f: impl FnOnce(&'static Agent, Jni) -> T) -> T {
    // SAFETY: the JVM calls natives with the current thread's environment.
    let jni = unsafe { Jni::new(env) };
    guard(|| agent().map(|a| f(a, jni)).unwrap_or_default())
}

extern "system" fn address(env: Env, _: jclass, what: jint) -> jlong {
    with(env, |a, _| match what {
        0 => a.sites.table.address(),
        1 => a.counters.slots_address(),
        2 => a.counters.seq_address(),
        3 => a.counters.ids_address(),
        4 => a.direct.is_some().into(),
        5 => a.options.mode.events().into(),
        6 => a.control.is_some().into(),
        7 => match (&a.control, &a.noise) {
            (Some(control), _) => control.choice_address(),
            (None, Some(noise)) => noise.word_address(),
            // Never read, but it must be somewhere.
            (None, None) => a.sites.table.address(),
        },
        9 => a.noise.is_some().into(),
        10 => (a.options.mode == Mode::Full).into(),
        _ => (a.options.mode == Mode::Bare).into(),
    })
}

extern "system" fn allocate(
    env: Env,
    _: jclass,
    thread: jobject,
    parent: jlong,
    system: jboolean,
) -> jlong {
    with(env, |a, _| {
        // SAFETY: the bridge passes the address of a clock, or 0.
        let parent = (parent != 0).then(|| unsafe { RawClock::at(parent) });
        a.start_thread(thread, parent, system != 0).address()
    })
}

extern "system" fn end_thread(env: Env, _: jclass, slot: jint, clock: jlong) {
    with(env, |a, _| {
        // SAFETY: the bridge passes the address of a clock.
        let clock = unsafe { RawClock::at(clock) };
        if let Some(recorder) = &a.recorder {
            recorder.close(clock);
        }
        a.threads
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .end(slot as u16, clock);
    });
}

extern "system" fn acquire_all(env: Env, _: jclass, clock: jlong) {
    with(env, |a, _| {
        // SAFETY: the bridge passes the address of the current thread's clock.
        let clock = unsafe { RawClock::at(clock) };
        a.threads
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .raise_to_now(clock);
    });
}

extern "system" fn resolve(env: Env, _: jclass, site: jint, o: jobject) {
    with(env, |a, jni| a.resolve(jni, site as u32, o));
}

extern "system" fn check(
    env: Env,
    _: jclass,
    clock: jlong,
    epoch: jlong,
    w: jlong,
    r: jlong,
    site: jint,
    write: jboolean,
    owner: jobject,
    index: jint,
) {
    with(env, |a, jni| {
        // SAFETY: the bridge passes the address of a clock.
        let clock = unsafe { RawClock::at(clock) };
        a.check(
            jni,
            Query {
                clock,
                epoch,
                w: w as u64,
                r: r as u64,
                site: site as u32,
                write: write != 0,
                owner,
                index,
            },
        );
    });
}

extern "system" fn sample(
    env: Env,
    _: jclass,
    _clock: jlong,
    epoch: jlong,
    site: jint,
    held: jstring,
) {
    with(env, |a, jni| {
        a.sample(epoch, site as u32, &jni.string(held))
    });
}

extern "system" fn init_begin(env: Env, _: jclass, _clock: jlong, epoch: jlong) {
    with(env, |a, _| a.init_begin(epoch));
}

extern "system" fn init_end(env: Env, _: jclass, clock: jlong, epoch: jlong) {
    // SAFETY: the bridge passes the address of a clock.
    with(env, |a, _| {
        a.init_end(unsafe { RawClock::at(clock) }, epoch)
    });
}

extern "system" fn buffer(env: Env, _: jclass, clock: jlong) -> jlong {
    // SAFETY: the bridge passes the address of a clock.
    with(env, |a, _| {
        a.recorder
            .as_ref()
            .map_or(0, |r| r.open(unsafe { RawClock::at(clock) }))
    })
}

extern "system" fn flush(env: Env, _: jclass, clock: jlong) -> jlong {
    // SAFETY: the bridge passes the address of a clock.
    with(env, |a, _| {
        a.recorder
            .as_ref()
            .map_or(0, |r| r.flush(a, unsafe { RawClock::at(clock) }))
    })
}

extern "system" fn event(
    env: Env,
    _: jclass,
    clock: jlong,
    w0: jlong,
    w1: jlong,
    w2: jlong,
    slot: jint,
) {
    with(env, |a, jni| {
        // SAFETY: the bridge passes the address of a clock.
        let thread = unsafe { RawClock::at(clock) }.id();
        a.direct_event(jni, thread, [w0 as u64, w1 as u64, w2 as u64], slot as u32);
    });
}

extern "system" fn layout(env: Env, _: jclass, class: jclass) -> jlongArray {
    row_array(env, class, false)
}

extern "system" fn static_layout(env: Env, _: jclass, class: jclass) -> jlongArray {
    row_array(env, class, true)
}

fn row_array(env: Env, class: jclass, statics: bool) -> jlongArray {
    let Pointer(array) = with(env, |a, jni| {
        let rows = a.layout(jni, class, statics);
        rows.map_or_else(Pointer::default, |rows| Pointer(jni.new_longs(&rows)))
    });
    array
}

extern "system" fn array(env: Env, _: jclass, id: jlong, kind: jint, class: jclass, site: jint) {
    const KINDS: [&str; 8] = ["[I", "[B", "[C", "[D", "[J", "[F", "[Z", "[S"];
    with(env, |a, _| {
        let class = match KINDS.get(kind as usize) {
            Some(known) => (*known).into(),
            None => a.jvmti.class_signature(class).unwrap_or_default().into(),
        };
        a.arrays
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .add(id as u64, class, site as u32);
    });
}

extern "system" fn too_large(env: Env, _: jclass, length: jint) {
    with(env, |a, _| {
        a.findings.warn(&format!(
            "an array of {length} elements is too large to be checked"
        ))
    });
}

fn controlled(env: Env, f: impl FnOnce(&'static Control, &'static Agent, Jni)) {
    with(env, |a, jni| {
        if let Some(control) = &a.control {
            f(control, a, jni);
        }
    });
}

extern "system" fn point(env: Env, _: jclass, kind: jint, obj: jlong, slot: jint, site: jint) {
    controlled(env, |c, a, jni| {
        let kind = schedule::Kind::from_number(kind as u8).unwrap_or(schedule::Kind::Yield);
        let op = schedule::Op {
            kind,
            site: site as u32,
            obj: obj as u64,
            slot: slot as u32,
        };
        c.point(a, jni, op);
    });
}

extern "system" fn disturb(env: Env, _: jclass) {
    with(env, |a, _| {
        if let Some(noise) = &a.noise {
            noise.disturb();
        }
    });
}

extern "system" fn is_shared(env: Env, _: jclass, site: jint) -> jboolean {
    with(env, |a, _| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.is_shared_code(a, site as u32))
    })
    .into()
}

extern "system" fn is_internal(env: Env, _: jclass) -> jboolean {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.is_internal(a, jni))
    })
    .into()
}

extern "system" fn come_in(env: Env, _: jclass) {
    controlled(env, |c, a, jni| {
        if let Some(me) = Place::current() {
            c.come_in(a, jni, me);
        }
    });
}

extern "system" fn monitor(env: Env, _: jclass, obj: jlong, owner: jint, site: jint) {
    controlled(env, |c, a, jni| {
        c.await_monitor(a, jni, obj as u64, owner as u32, site as u32)
    });
}

extern "system" fn released(env: Env, _: jclass, obj: jlong) {
    controlled(env, |c, _, _| c.released(obj as u64));
}

extern "system" fn failed(env: Env, _: jclass) {
    controlled(env, |c, _, _| c.failed());
}

extern "system" fn adopt(env: Env, _: jclass) {
    controlled(env, |c, a, jni| c.adopt(a, jni));
}

extern "system" fn uncaught(env: Env, _: jclass, exception: jobject) {
    controlled(env, |c, a, jni| c.uncaught(a, jni, exception));
}

/// A reference with a default.
struct Pointer(jobject);

impl Default for Pointer {
    fn default() -> Pointer {
        Pointer(ptr::null_mut())
    }
}

// The JDK's natives. The JVM tells us when it binds one (NativeMethodBind);
// we give it ours and keep the original to call.

macro_rules! wrapped {
    ($chooser:ident: $($static:ident: $class:literal $name:literal $desc:literal => $function:ident;)*) => {
        $(static $static: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());)*

        /// The function to put before a native, if we want to; keeps the original.
        fn $chooser(class: &str, name: &str, desc: &str, original: *mut c_void) -> Option<*mut c_void> {
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
    WAIT: "java/lang/Object" "wait" "(J)V" => wait;
    WAIT0: "java/lang/Object" "wait0" "(J)V" => wait0;
    NOTIFY: "java/lang/Object" "notify" "()V" => notify;
    NOTIFY_ALL: "java/lang/Object" "notifyAll" "()V" => notify_all;
    HALT: "java/lang/Shutdown" "halt0" "(I)V" => halt0;
    FIELDS: "java/lang/Class" "getDeclaredFields0" "(Z)[Ljava/lang/reflect/Field;" => declared_fields;
    METHODS: "java/lang/Class" "getDeclaredMethods0" "(Z)[Ljava/lang/reflect/Method;" => declared_methods;
    DEFINE: "java/lang/ClassLoader" "defineClass0" "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)Ljava/lang/Class;" => define_class;
}

// What a controlled run needs besides.
wrapped! { under_control:
    PARK: "jdk/internal/misc/Unsafe" "park" "(ZJ)V" => park;
    UNPARK: "jdk/internal/misc/Unsafe" "unpark" "(Ljava/lang/Object;)V" => unpark;
    YIELD: "java/lang/Thread" "yield" "()V" => yield_now;
    INTERRUPT: "java/lang/Thread" "interrupt0" "()V" => interrupt0;
    NANOS: "java/lang/System" "nanoTime" "()J" => nano_time;
    MILLIS: "java/lang/System" "currentTimeMillis" "()J" => current_time_millis;
    ADJUST: "jdk/internal/misc/VM" "getNanoTimeAdjustment" "(J)J" => nano_time_adjustment;
    POLL: "sun/nio/ch/Net" "poll" "(Ljava/io/FileDescriptor;IJ)I" => net_poll;
    ACCEPT: "sun/nio/ch/Net" "accept" "(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/net/InetSocketAddress;)I" => net_accept;
    READ0: "sun/nio/ch/SocketDispatcher" "read0" "(Ljava/io/FileDescriptor;JI)I" => socket_read;
    EPOLL: "sun/nio/ch/EPoll" "wait" "(IJII)I" => epoll_wait;
    REAP: "java/lang/ProcessHandleImpl" "waitForProcessExit0" "(JZ)I" => await_process;
    STDIN: "java/io/FileInputStream" "readBytes" "([BII)I" => file_read;
}

/// The function to put before a native, if we want to; keeps the original.
pub fn in_front_of(
    class: &str,
    name: &str,
    desc: &str,
    original: *mut c_void,
) -> Option<*mut c_void> {
    let controlled = agent().is_some_and(|a| a.control.is_some());
    always(class, name, desc, original).or_else(|| {
        controlled
            .then(|| under_control(class, name, desc, original))
            .flatten()
    })
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

type Method0 = extern "system" fn(Env, jobject);
type MethodJ = extern "system" fn(Env, jobject, jlong);

/// The original behind one of our functions.
macro_rules! original {
    ($static:ident as $type:ty) => {{
        // SAFETY: ours is installed only after the original was kept, and the
        // native's descriptor fixes the type.
        unsafe { transmute::<*mut c_void, $type>($static.load(Ordering::Acquire)) }
    }};
}

extern "system" fn start0(env: Env, thread: jobject) {
    let place = with(env, |a, jni| {
        if let Some(b) = a.bridge.get() {
            b.forking(jni, thread);
        }
        a.control.as_ref()?.starting(a, jni, thread)
    });
    original!(START as Method0)(env, thread);
    controlled(env, |c, a, jni| {
        let thrown = jni.take_exception();
        match (place, thrown.is_null()) {
            (Some(place), false) => c.not_started(jni, place),
            (Some(_), true) => c.started(a, jni),
            (None, _) => {}
        }
        if !thrown.is_null() {
            jni.throw(thrown);
        }
    });
}

/// What a controlled run does instead of the original; false if it does not.
fn instead(env: Env, f: impl FnOnce(&'static Control, &'static Agent, Jni) -> Option<()>) -> bool {
    with(env, |a, jni| {
        a.control.as_ref().and_then(|c| f(c, a, jni)).is_some()
    })
}

extern "system" fn sleep(env: Env, class: jclass, millis: jlong) {
    if !instead(env, |c, a, jni| c.sleep(a, jni, millis)) {
        original!(SLEEP as MethodJ)(env, class, millis);
    }
    after_blocking(env, |b, jni, interrupted| {
        if interrupted {
            b.interrupted(jni);
        }
    });
}

extern "system" fn wait(env: Env, o: jobject, millis: jlong) {
    waiting(env, o);
    if !instead(env, |c, a, jni| c.wait(a, jni, o, millis)) {
        original!(WAIT as MethodJ)(env, o, millis);
    }
    after_blocking(env, |b, jni, interrupted| b.waited(jni, o, interrupted));
}

extern "system" fn wait0(env: Env, o: jobject, millis: jlong) {
    waiting(env, o);
    if !instead(env, |c, a, jni| c.wait(a, jni, o, millis)) {
        original!(WAIT0 as MethodJ)(env, o, millis);
    }
    after_blocking(env, |b, jni, interrupted| b.waited(jni, o, interrupted));
}

fn waiting(env: Env, o: jobject) {
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
            let interrupted = !thrown.is_null() && jni.is_instance(thrown, b.interrupted_exception);
            f(b, jni, interrupted);
        }
        if !thrown.is_null() {
            jni.throw(thrown);
        }
    });
}

fn notifying(env: Env, o: jobject, all: bool) {
    with(env, |a, jni| {
        if a.options.mode.events()
            && let Some(b) = a.bridge.get()
        {
            b.notifying(jni, o, all);
        }
    });
}

extern "system" fn notify(env: Env, o: jobject) {
    notifying(env, o, false);
    original!(NOTIFY as Method0)(env, o);
    notified(env, o, false);
}

/// The original throws if the caller does not own the monitor.
fn notified(env: Env, o: jobject, all: bool) {
    controlled(env, |c, a, jni| {
        let thrown = jni.take_exception();
        if thrown.is_null() {
            c.notify(a, jni, o, all);
        } else {
            jni.throw(thrown);
        }
    });
}

extern "system" fn notify_all(env: Env, o: jobject) {
    notifying(env, o, true);
    original!(NOTIFY_ALL as Method0)(env, o);
    notified(env, o, true);
}

extern "system" fn park(env: Env, this: jobject, absolute: jboolean, time: jlong) {
    type Original = extern "system" fn(Env, jobject, jboolean, jlong);
    if !instead(env, |c, a, jni| c.park(a, jni, absolute != 0, time)) {
        original!(PARK as Original)(env, this, absolute, time);
    }
}

extern "system" fn unpark(env: Env, this: jobject, thread: jobject) {
    type Original = extern "system" fn(Env, jobject, jobject);
    if !instead(env, |c, a, jni| c.unpark(a, jni, thread)) {
        original!(UNPARK as Original)(env, this, thread);
    }
}

extern "system" fn yield_now(env: Env, class: jclass) {
    if !instead(env, |c, a, jni| c.yield_now(a, jni)) {
        original!(YIELD as Method0)(env, class);
    }
}

extern "system" fn interrupt0(env: Env, thread: jobject) {
    original!(INTERRUPT as Method0)(env, thread);
    controlled(env, |c, a, jni| c.interrupt(a, jni, thread));
}

/// Nanoseconds since 1970 by the clock of the run.
fn virtual_time(env: Env) -> u64 {
    with(env, |a, _| a.control.as_ref().map_or(0, Control::time))
}

extern "system" fn nano_time(env: Env, _: jclass) -> jlong {
    virtual_time(env) as jlong
}

extern "system" fn current_time_millis(env: Env, _: jclass) -> jlong {
    (virtual_time(env) / 1_000_000) as jlong
}

/// Nanoseconds since `seconds` after 1970; -1 if that is too far away.
extern "system" fn nano_time_adjustment(env: Env, _: jclass, seconds: jlong) -> jlong {
    let now = i128::from(virtual_time(env));
    let since = now - i128::from(seconds) * 1_000_000_000;
    let far = 1_000_000_000i128 << 32;
    if since.abs() < far {
        since as jlong
    } else {
        -1
    }
}

/// Runs a native that may block in the kernel while other threads go on.
fn blocking<T>(env: Env, what: &str, f: impl FnOnce() -> T) -> T {
    // SAFETY: the JVM calls natives with the current thread's environment.
    let jni = unsafe { Jni::new(env) };
    match agent().and_then(|a| Some((a, a.control.as_ref()?))) {
        Some((a, c)) => c.outside(a, jni, what, f),
        None => f(),
    }
}

extern "system" fn net_poll(
    env: Env,
    class: jclass,
    fd: jobject,
    events: jint,
    timeout: jlong,
) -> jint {
    type Original = extern "system" fn(Env, jclass, jobject, jint, jlong) -> jint;
    blocking(env, "a wait for a socket", || {
        original!(POLL as Original)(env, class, fd, events, timeout)
    })
}

extern "system" fn net_accept(
    env: Env,
    class: jclass,
    fd: jobject,
    new: jobject,
    from: jobject,
) -> jint {
    type Original = extern "system" fn(Env, jclass, jobject, jobject, jobject) -> jint;
    blocking(env, "a wait for a connection", || {
        original!(ACCEPT as Original)(env, class, fd, new, from)
    })
}

extern "system" fn socket_read(
    env: Env,
    class: jclass,
    fd: jobject,
    address: jlong,
    length: jint,
) -> jint {
    type Original = extern "system" fn(Env, jclass, jobject, jlong, jint) -> jint;
    blocking(env, "a read from a socket", || {
        original!(READ0 as Original)(env, class, fd, address, length)
    })
}

extern "system" fn epoll_wait(
    env: Env,
    class: jclass,
    fd: jint,
    address: jlong,
    count: jint,
    timeout: jint,
) -> jint {
    type Original = extern "system" fn(Env, jclass, jint, jlong, jint, jint) -> jint;
    if timeout == 0 {
        return original!(EPOLL as Original)(env, class, fd, address, count, timeout);
    }
    blocking(env, "a wait for a selector", || {
        original!(EPOLL as Original)(env, class, fd, address, count, timeout)
    })
}

/// In a thread of the JDK's own, which tells the program's.
extern "system" fn await_process(env: Env, class: jclass, pid: jlong, reap: jboolean) -> jint {
    type Original = extern "system" fn(Env, jclass, jlong, jboolean) -> jint;
    let wait = || original!(REAP as Original)(env, class, pid, reap);
    match agent().and_then(|a| a.control.as_ref()) {
        Some(control) => control.errand(wait),
        None => wait(),
    }
}

/// Shutdown ends here too, after its hooks; Runtime.halt comes straight.
extern "system" fn halt0(env: Env, class: jclass, status: jint) {
    type Original = extern "system" fn(Env, jclass, jint);
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
    controlled(env, |_, a, _| {
        a.finish_with("exit");
        exit_now(status);
    });
    original!(HALT as Original)(env, class, status);
}

/// Files are read at once; a terminal or a pipe may have nothing to read yet.
extern "system" fn file_read(
    env: Env,
    this: jobject,
    bytes: jobject,
    offset: jint,
    length: jint,
) -> jint {
    type Original = extern "system" fn(Env, jobject, jobject, jint, jint) -> jint;
    let read = || original!(STDIN as Original)(env, this, bytes, offset, length);
    let waits = with(env, |a, jni| {
        a.control.as_ref().is_some_and(|c| c.may_wait(jni, this))
    });
    if waits {
        blocking(env, "a read from a pipe or terminal", read)
    } else {
        read()
    }
}

/// Reflection must not see the fields that we added.
extern "system" fn declared_fields(
    env: Env,
    class: jobject,
    public_only: jboolean,
) -> jobjectArray {
    type Original = extern "system" fn(Env, jobject, jboolean) -> jobjectArray;
    let all = original!(FIELDS as Original)(env, class, public_only);
    if all.is_null() {
        return all;
    }
    let Pointer(fewer) = with(env, |a, jni| Pointer(a.without_ours(jni, all)));
    if fewer.is_null() { all } else { fewer }
}

/// Nor that methods lock by themselves.
extern "system" fn declared_methods(
    env: Env,
    class: jobject,
    public_only: jboolean,
) -> jobjectArray {
    type Original = extern "system" fn(Env, jobject, jboolean) -> jobjectArray;
    let all = original!(METHODS as Original)(env, class, public_only);
    if !all.is_null() {
        with(env, |a, jni| a.show_as_synchronized(jni, class, all));
    }
    all
}

/// Hidden classes come this way only: the class-file hook does not see them.
#[allow(clippy::too_many_arguments)]
extern "system" fn define_class(
    env: Env,
    this: jclass,
    loader: jobject,
    lookup: jclass,
    name: jstring,
    bytes: jobject,
    offset: jint,
    length: jint,
    domain: jobject,
    initialize: jboolean,
    flags: jint,
    data: jobject,
) -> jclass {
    type Original = extern "system" fn(
        Env,
        jclass,
        jobject,
        jclass,
        jstring,
        jobject,
        jint,
        jint,
        jobject,
        jboolean,
        jint,
        jobject,
    ) -> jclass;
    let mut class = (bytes, offset, length);
    let rewritten = with(env, |a, jni| {
        let old = jni.bytes(bytes, offset, length)?;
        let new = a.rewrite(jni, loader, &old)?;
        let array = jni.new_bytes(&new);
        (!array.is_null()).then_some((Pointer(array), new.len()))
    });
    if let Some((Pointer(array), n)) = rewritten {
        class = (array, 0, n as jint);
    }
    original!(DEFINE as Original)(
        env, this, loader, lookup, name, class.0, class.1, class.2, domain, initialize, flags, data,
    )
}
