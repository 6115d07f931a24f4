//! The JDK's natives that we stand before in a controlled run only: what blocks,
//! clocks, and input.

use super::jdk::{Method0, original, wrapped};
use super::{Env, controlled, instead, with};
use crate::agent;
use crate::control::Control;
use crate::jni::Ref;
use jni_sys::{jboolean, jint, jlong};
use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

wrapped! { pub(super) under_control:
    PARK: "jdk/internal/misc/Unsafe" "park" "(ZJ)V" => park;
    UNPARK: "jdk/internal/misc/Unsafe" "unpark" "(Ljava/lang/Object;)V" => unpark;
    YIELD: "java/lang/Thread" "yield" "()V" => yield_now;
    YIELD0: "java/lang/Thread" "yield0" "()V" => yield_now0;
    INTERRUPT: "java/lang/Thread" "interrupt0" "()V" => interrupt0;
    NANOS: "java/lang/System" "nanoTime" "()J" => nano_time;
    MILLIS: "java/lang/System" "currentTimeMillis" "()J" => current_time_millis;
    ADJUST: "jdk/internal/misc/VM" "getNanoTimeAdjustment" "(J)J" => nano_time_adjustment;
    POLL: "sun/nio/ch/Net" "poll" "(Ljava/io/FileDescriptor;IJ)I" => net_poll;
    ACCEPT: "sun/nio/ch/Net" "accept" "(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/net/InetSocketAddress;)I" => net_accept;
    READ0: "sun/nio/ch/SocketDispatcher" "read0" "(Ljava/io/FileDescriptor;JI)I" => socket_read;
    EPOLL: "sun/nio/ch/EPoll" "wait" "(IJII)I" => epoll_wait;
    FORK: "java/lang/ProcessImpl" "forkAndExec" "(I[B[B[BI[BI[B[IZ)I" => fork_and_exec;
    REAP: "java/lang/ProcessHandleImpl" "waitForProcessExit0" "(JZ)I" => await_process;
    STDIN: "java/io/FileInputStream" "readBytes" "([BII)I" => file_read;
}

/// The program's threads share one processor; the processes it starts need not.
#[allow(clippy::too_many_arguments)] // the native's
extern "system" fn fork_and_exec(
    env: Env,
    this: Ref,
    mode: jint,
    helper: Ref,
    program: Ref,
    arguments: Ref,
    argument_count: jint,
    environment: Ref,
    environment_count: jint,
    directory: Ref,
    descriptors: Ref,
    redirect: jboolean,
) -> jint {
    type Original = extern "system" fn(
        Env,
        Ref,
        jint,
        Ref,
        Ref,
        Ref,
        jint,
        Ref,
        jint,
        Ref,
        Ref,
        jboolean,
    ) -> jint;
    let processors = with(env, |a, _| a.control.as_ref().map(Control::processors));
    let fork = || {
        original!(FORK as Original)(
            env,
            this,
            mode,
            helper,
            program,
            arguments,
            argument_count,
            environment,
            environment_count,
            directory,
            descriptors,
            redirect,
        )
    };
    let pid = match processors {
        Some(processors) => processors.roaming(fork),
        None => fork(),
    };
    if pid > 0 {
        controlled(env, |c, _, _| c.forked(pid.into()));
    }
    pid
}

extern "system" fn park(env: Env, this: Ref, absolute: jboolean, time: jlong) {
    type Original = extern "system" fn(Env, Ref, jboolean, jlong);
    if !instead(env, |c, a, jni| c.park(a, jni, absolute != 0, time)) {
        controlled(env, |c, a, jni| c.parking(a, jni));
        original!(PARK as Original)(env, this, absolute, time);
    }
}

extern "system" fn unpark(env: Env, this: Ref, thread: Ref) {
    type Original = extern "system" fn(Env, Ref, Ref);
    if !instead(env, |c, a, jni| c.unpark(a, jni, thread)) {
        original!(UNPARK as Original)(env, this, thread);
    }
}

extern "system" fn yield_now(env: Env, class: Ref) {
    if !instead(env, |c, a, jni| c.yield_now(a, jni)) {
        original!(YIELD as Method0)(env, class);
    }
}

/// In JDK 19 and later.
extern "system" fn yield_now0(env: Env, class: Ref) {
    if !instead(env, |c, a, jni| c.yield_now(a, jni)) {
        original!(YIELD0 as Method0)(env, class);
    }
}

extern "system" fn interrupt0(env: Env, thread: Ref) {
    original!(INTERRUPT as Method0)(env, thread);
    controlled(env, |c, a, jni| c.interrupt(a, jni, thread));
}

/// Nanoseconds since 1970 by the clock of the run.
fn virtual_time(env: Env) -> u64 {
    with(env, |a, _| a.control.as_ref().map_or(0, Control::time))
}

extern "system" fn nano_time(env: Env, _: Ref) -> jlong {
    virtual_time(env) as jlong
}

extern "system" fn current_time_millis(env: Env, _: Ref) -> jlong {
    (virtual_time(env) / 1_000_000) as jlong
}

/// Nanoseconds since `seconds` after 1970; -1 if that is too far away.
extern "system" fn nano_time_adjustment(env: Env, _: Ref, seconds: jlong) -> jlong {
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
pub(super) fn blocking<T>(jni: Env, what: &str, f: impl FnOnce() -> T) -> T {
    match agent().and_then(|a| Some((a, a.control.as_ref()?))) {
        Some((a, c)) => c.outside(a, jni, what, f),
        None => f(),
    }
}

extern "system" fn net_poll(env: Env, class: Ref, fd: Ref, events: jint, timeout: jlong) -> jint {
    type Original = extern "system" fn(Env, Ref, Ref, jint, jlong) -> jint;
    blocking(env, "a wait for a socket", || {
        original!(POLL as Original)(env, class, fd, events, timeout)
    })
}

extern "system" fn net_accept(env: Env, class: Ref, fd: Ref, new: Ref, from: Ref) -> jint {
    type Original = extern "system" fn(Env, Ref, Ref, Ref, Ref) -> jint;
    blocking(env, "a wait for a connection", || {
        original!(ACCEPT as Original)(env, class, fd, new, from)
    })
}

extern "system" fn socket_read(
    env: Env,
    class: Ref,
    fd: Ref,
    address: jlong,
    length: jint,
) -> jint {
    type Original = extern "system" fn(Env, Ref, Ref, jlong, jint) -> jint;
    blocking(env, "a read from a socket", || {
        original!(READ0 as Original)(env, class, fd, address, length)
    })
}

extern "system" fn epoll_wait(
    env: Env,
    class: Ref,
    fd: jint,
    address: jlong,
    count: jint,
    timeout: jint,
) -> jint {
    type Original = extern "system" fn(Env, Ref, jint, jlong, jint, jint) -> jint;
    if timeout == 0 {
        return original!(EPOLL as Original)(env, class, fd, address, count, timeout);
    }
    blocking(env, "a wait for a selector", || {
        original!(EPOLL as Original)(env, class, fd, address, count, timeout)
    })
}

/// In a thread of the JDK's own, which tells the program's.
extern "system" fn await_process(env: Env, class: Ref, pid: jlong, reap: jboolean) -> jint {
    type Original = extern "system" fn(Env, Ref, jlong, jboolean) -> jint;
    let wait = || original!(REAP as Original)(env, class, pid, reap);
    match agent().and_then(|a| Some((a, a.control.as_ref()?))) {
        Some((a, control)) => control.reap(a, env, pid, wait),
        None => wait(),
    }
}

/// Files are read at once; a terminal or a pipe may have nothing to read yet.
extern "system" fn file_read(env: Env, this: Ref, bytes: Ref, offset: jint, length: jint) -> jint {
    type Original = extern "system" fn(Env, Ref, Ref, jint, jint) -> jint;
    let read = || original!(STDIN as Original)(env, this, bytes, offset, length);
    let waits = with(env, |a, jni| {
        a.control.as_ref().is_some_and(|c| c.may_wait(jni, this))
    });
    let got = if waits {
        blocking(env, "a read from a pipe or terminal", read)
    } else {
        read()
    };
    if got > 0 {
        controlled(env, |c, _, jni| c.has_read(jni, this));
    }
    got
}
