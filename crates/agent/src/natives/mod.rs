//! The natives of the bridge; `jdk` and `controlled` have the JDK's natives that
//! we stand in front of. Every function here is called by the JVM; none lets a
//! panic out.

mod controlled;
mod jdk;
mod may_trigger;
mod worker;

pub use jdk::{exit_now, in_front_of, known_name};

use crate::check::Query;
use crate::control::{Control, Place};
use crate::jni::Jni;
use crate::memory::RawClock;
use crate::options::Mode;
use crate::{Agent, agent, guard};
use contract::{ARRAY_KINDS, Shared};
use jni_sys::{JNIEnv, jboolean, jclass, jint, jlong, jlongArray, jobject, jstring};
use std::ffi::c_void;
use std::ptr;

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
            "arrayBase",
            "(Ljdk/internal/misc/Unsafe;Ljava/lang/Class;)J",
            array_base as *const c_void,
        ),
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
        ("nameOf", "(Ljava/lang/Object;)J", name_of as *const c_void),
        ("named", "(JJ)V", named as *const c_void),
        (
            "threadStep",
            "(ILjava/lang/Object;I)V",
            thread_step as *const c_void,
        ),
        ("looped", "(IZ)V", looped as *const c_void),
        ("lateCondition", "()V", late_condition as *const c_void),
        ("isShared", "(I)Z", is_shared as *const c_void),
        ("isInternal", "()Z", is_internal as *const c_void),
        ("comeIn", "()V", come_in as *const c_void),
        ("monitor", "(JII)V", monitor as *const c_void),
        ("released", "(J)V", released as *const c_void),
        ("failed", "()V", failed as *const c_void),
        ("adopt", "()V", adopt as *const c_void),
        (
            "lockClass",
            "(Ljava/lang/String;ZZ)I",
            may_trigger::lock_class as *const c_void,
        ),
        ("sampled", "(II)Z", may_trigger::sampled as *const c_void),
        ("request", "(JII)V", may_trigger::request as *const c_void),
        ("acquired", "(JI)V", may_trigger::acquired as *const c_void),
        ("lockIs", "(II)V", may_trigger::lock_is as *const c_void),
        (
            "nextExecution",
            "()Z",
            worker::next_execution as *const c_void,
        ),
        (
            "callMain",
            "(Ljava/lang/Class;[Ljava/lang/String;)V",
            worker::call_main as *const c_void,
        ),
        ("awaitEnd", "()V", worker::await_end as *const c_void),
        (
            "answer",
            "(Ljava/lang/String;)V",
            worker::answer as *const c_void,
        ),
        (
            "isOlder",
            "(Ljava/lang/Object;)Z",
            worker::is_older as *const c_void,
        ),
        (
            "getStatic",
            "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)Ljava/lang/Object;",
            worker::get_static as *const c_void,
        ),
        (
            "setStatic",
            "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/Object;)V",
            worker::set_static as *const c_void,
        ),
        (
            "getStaticLong",
            "(Ljava/lang/String;Ljava/lang/String;Z)J",
            worker::get_static_long as *const c_void,
        ),
        (
            "setStaticLong",
            "(Ljava/lang/String;Ljava/lang/String;ZJ)V",
            worker::set_static_long as *const c_void,
        ),
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

/// By the one method of Unsafe for it that has the same type in every version.
extern "system" fn array_base(env: Env, _: jclass, u: jobject, array: jclass) -> jlong {
    with(env, |_, jni| {
        jni.int_of(u, "arrayBaseOffset0", "(Ljava/lang/Class;)I", array)
            .into()
    })
}

extern "system" fn address(env: Env, _: jclass, what: jint) -> jlong {
    with(env, |a, _| match Shared::from_number(what) {
        Some(Shared::Sites) => a.sites.table.address(),
        Some(Shared::Slots) => a.counters.slots_address(),
        Some(Shared::Seq) => a.counters.seq_address(),
        Some(Shared::Ids) => a.counters.ids_address(),
        Some(Shared::Direct) => a.direct.is_some().into(),
        Some(Shared::Events) => a.options.mode.events().into(),
        Some(Shared::Control) => a.control.is_some().into(),
        Some(Shared::Choice) => match (&a.control, &a.noise) {
            (Some(control), _) => control.choice_address(),
            (None, Some(noise)) => noise.word_address(),
            // Never read, but it must be somewhere.
            (None, None) => a.sites.table.address(),
        },
        Some(Shared::Explore) => a.control.as_ref().is_some_and(|c| c.is_exploring()).into(),
        Some(Shared::Noise) => a.noise.is_some().into(),
        Some(Shared::Full) => (a.options.mode == Mode::Full).into(),
        Some(Shared::MayTrigger) => a.hidden.as_ref().map_or(0, |h| h.how),
        Some(Shared::Escort) => match a.hidden.as_ref().and_then(|h| h.holder.as_ref()) {
            Some(holder) => holder.escort_address(),
            None => a.sites.table.address(),
        },
        Some(Shared::Bare) => (a.options.mode == Mode::Bare).into(),
        None => 0,
    })
}

extern "system" fn allocate(
    env: Env,
    _: jclass,
    thread: jobject,
    parent: jlong,
    system: jboolean,
) -> jlong {
    with(env, |a, jni| {
        // SAFETY: the bridge passes the address of a clock, or 0.
        let parent = (parent != 0).then(|| unsafe { RawClock::at(parent) });
        let clock = a.start_thread(thread, parent, system != 0);
        if let Some(hidden) = &a.hidden
            && system == 0
        {
            hidden.started(jni, clock, thread);
        }
        clock.address()
    })
}

extern "system" fn end_thread(env: Env, _: jclass, slot: jint, clock: jlong) {
    with(env, |a, jni| {
        // SAFETY: the bridge passes the address of a clock.
        let clock = unsafe { RawClock::at(clock) };
        if let Some(hidden) = &a.hidden {
            hidden.ended(a, jni, clock);
        }
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
    with(env, |a, _| {
        let class = match ARRAY_KINDS.get(kind as usize) {
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

extern "system" fn name_of(env: Env, _: jclass, o: jobject) -> jlong {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.map_or(0, |c| c.name_of(a, jni, o)) as jlong
    })
}

extern "system" fn named(env: Env, _: jclass, number: jlong, name: jlong) {
    controlled(env, |c, _, _| c.named(number as u64, name as u64));
}

extern "system" fn thread_step(env: Env, _: jclass, kind: jint, thread: jobject, bits: jint) {
    controlled(env, |c, a, jni| {
        let kind = schedule::Kind::from_number(kind as u8).unwrap_or(schedule::Kind::Yield);
        c.thread_step(a, jni, kind, thread, bits as u32);
    });
}

extern "system" fn looped(env: Env, _: jclass, number: jint, back: jboolean) {
    controlled(env, |c, _, _| c.looped(number as u32, back != 0));
}

extern "system" fn late_condition(env: Env, _: jclass) {
    controlled(env, |c, a, _| {
        c.name_uncontrolled(a, "a lock got a condition after it had been used without")
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

/// What a controlled run does instead of the original; false if it does not.
fn instead(env: Env, f: impl FnOnce(&'static Control, &'static Agent, Jni) -> Option<()>) -> bool {
    with(env, |a, jni| {
        a.control.as_ref().and_then(|c| f(c, a, jni)).is_some()
    })
}
