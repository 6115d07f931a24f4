//! The JDK's natives that print, before which we stand in controlled runs, and in runs that are
//! cut when the program prints something.

use super::jdk::{original, wrapped};
use super::{Env, with};
use crate::jni::Ref;
use jni_sys::{jboolean, jint};
use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

wrapped! { pub(super) printing:
    WRITE: "java/io/FileOutputStream" "write" "(IZ)V" => file_write;
    WRITE_BYTES: "java/io/FileOutputStream" "writeBytes" "([BIIZ)V" => file_write_bytes;
}

/// What a worker's execution prints is kept.
fn keeps<'env>(env: Env<'env>, stream: Ref, bytes: impl FnOnce() -> Option<Vec<u8>>) -> bool {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.keep_printed(jni, stream, bytes))
    })
}

/// The file and the bytes that are about to be printed, if the run may be over with them.
fn matters<'env>(
    env: Env<'env>,
    stream: Ref,
    bytes: impl FnOnce() -> Option<Vec<u8>>,
) -> Option<(i32, Vec<u8>)> {
    with(env, |a, jni| {
        a.options.cut.text.as_ref()?;
        Some((jni.file_number(stream)?, bytes()?))
    })
}

fn has_printed(env: Env, printed: Option<(i32, Vec<u8>)>) {
    if let Some((file, bytes)) = printed {
        with(env, |a, _| a.has_printed(file, &bytes));
    }
}

extern "system" fn file_write(env: Env, this: Ref, byte: jint, append: jboolean) {
    type Original = extern "system" fn(Env, Ref, jint, jboolean);
    if !keeps(env, this, || Some(vec![byte as u8])) {
        let printed = matters(env, this, || Some(vec![byte as u8]));
        original!(WRITE as Original)(env, this, byte, append);
        has_printed(env, printed);
    }
}

/// Where the array does not have such bytes, the original throws.
extern "system" fn file_write_bytes(
    env: Env,
    this: Ref,
    bytes: Ref,
    offset: jint,
    length: jint,
    append: jboolean,
) {
    type Original = extern "system" fn(Env, Ref, Ref, jint, jint, jboolean);
    if !keeps(env, this, || env.bytes(bytes, offset, length)) {
        let printed = matters(env, this, || env.bytes(bytes, offset, length));
        original!(WRITE_BYTES as Original)(env, this, bytes, offset, length, append);
        has_printed(env, printed);
    }
}
