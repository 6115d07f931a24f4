//! The JDK's natives that serve connections, before which we stand where requests are counted
//! ([`crate::exchanges`]). All of `java.net` and `java.nio` comes through them, blocking or not;
//! a server that has native code of its own for that does not.

use super::jdk::{original, wrapped};
use super::{Env, with};
use crate::jni::Ref;
use jni_sys::{jboolean, jint, jlong};
use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

wrapped! { pub(super) serving:
    ACCEPT: "sun/nio/ch/Net" "accept" "(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/net/InetSocketAddress;)I" => accept;
    ACCEPT_LOCAL: "sun/nio/ch/UnixDomainSockets" "accept0" "(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/lang/Object;)I" => accept_local;
    SOCKET: "sun/nio/ch/Net" "socket0" "(ZZZZ)I" => socket;
    SOCKET_LOCAL: "sun/nio/ch/UnixDomainSockets" "socket0" "()I" => socket_local;
    READ: "sun/nio/ch/SocketDispatcher" "read0" "(Ljava/io/FileDescriptor;JI)I" => read;
    READ_MANY: "sun/nio/ch/SocketDispatcher" "readv0" "(Ljava/io/FileDescriptor;JI)J" => read_many;
    WRITE: "sun/nio/ch/SocketDispatcher" "write0" "(Ljava/io/FileDescriptor;JI)I" => write;
    WRITE_MANY: "sun/nio/ch/SocketDispatcher" "writev0" "(Ljava/io/FileDescriptor;JI)J" => write_many;
    // Of sockets too, in JDK 17.
    FILE_WRITE: "sun/nio/ch/FileDispatcherImpl" "write0" "(Ljava/io/FileDescriptor;JI)I" => file_write;
    FILE_WRITE_MANY: "sun/nio/ch/FileDispatcherImpl" "writev0" "(Ljava/io/FileDescriptor;JI)J" => file_write_many;
}

type Accept = extern "system" fn(Env, Ref, Ref, Ref, Ref) -> jint;
type Transfer = extern "system" fn(Env, Ref, Ref, jlong, jint) -> jint;
type TransferMany = extern "system" fn(Env, Ref, Ref, jlong, jint) -> jlong;

/// Nothing was transferred, or an exception is on its way, where the result is not positive.
fn tell(env: Env, result: i64, descriptor: Ref, what: fn(&crate::Agent, i32)) {
    if result > 0 {
        with(env, |a, jni| {
            if let Some(file) = jni.descriptor_number(descriptor) {
                what(a, file);
            }
        });
    }
}

fn accepted(a: &crate::Agent, file: i32) {
    a.exchanges.accepted(file);
}

fn was_read(a: &crate::Agent, file: i32) {
    a.exchanges.read(file);
}

extern "system" fn accept(env: Env, class: Ref, at: Ref, new: Ref, from: Ref) -> jint {
    let result = original!(ACCEPT as Accept)(env, class, at, new, from);
    tell(env, result.into(), new, accepted);
    result
}

extern "system" fn accept_local(env: Env, class: Ref, at: Ref, new: Ref, from: Ref) -> jint {
    let result = original!(ACCEPT_LOCAL as Accept)(env, class, at, new, from);
    tell(env, result.into(), new, accepted);
    result
}

fn opened(env: Env, file: jint) -> jint {
    if file >= 0 {
        with(env, |a, _| a.exchanges.opened(file));
    }
    file
}

extern "system" fn socket(
    env: Env,
    class: Ref,
    six: jboolean,
    stream: jboolean,
    reuse: jboolean,
    fast: jboolean,
) -> jint {
    type Original = extern "system" fn(Env, Ref, jboolean, jboolean, jboolean, jboolean) -> jint;
    let file = original!(SOCKET as Original)(env, class, six, stream, reuse, fast);
    opened(env, file)
}

extern "system" fn socket_local(env: Env, class: Ref) -> jint {
    type Original = extern "system" fn(Env, Ref) -> jint;
    let file = original!(SOCKET_LOCAL as Original)(env, class);
    opened(env, file)
}

extern "system" fn read(env: Env, class: Ref, fd: Ref, at: jlong, length: jint) -> jint {
    let result = original!(READ as Transfer)(env, class, fd, at, length);
    tell(env, result.into(), fd, was_read);
    result
}

extern "system" fn read_many(env: Env, class: Ref, fd: Ref, at: jlong, length: jint) -> jlong {
    let result = original!(READ_MANY as TransferMany)(env, class, fd, at, length);
    tell(env, result, fd, was_read);
    result
}

extern "system" fn write(env: Env, class: Ref, fd: Ref, at: jlong, length: jint) -> jint {
    let result = original!(WRITE as Transfer)(env, class, fd, at, length);
    tell(env, result.into(), fd, crate::Agent::has_written);
    result
}

extern "system" fn write_many(env: Env, class: Ref, fd: Ref, at: jlong, length: jint) -> jlong {
    let result = original!(WRITE_MANY as TransferMany)(env, class, fd, at, length);
    tell(env, result, fd, crate::Agent::has_written);
    result
}

extern "system" fn file_write(env: Env, class: Ref, fd: Ref, at: jlong, length: jint) -> jint {
    let result = original!(FILE_WRITE as Transfer)(env, class, fd, at, length);
    tell(env, result.into(), fd, crate::Agent::has_written);
    result
}

extern "system" fn file_write_many(
    env: Env,
    class: Ref,
    fd: Ref,
    at: jlong,
    length: jint,
) -> jlong {
    let result = original!(FILE_WRITE_MANY as TransferMany)(env, class, fd, at, length);
    tell(env, result, fd, crate::Agent::has_written);
    result
}
