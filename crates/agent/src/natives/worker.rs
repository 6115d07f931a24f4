//! Natives of a JVM that makes execution after execution.

use super::{Env, Pointer, controlled, with};
use crate::jni::Jni;
use jni_sys::{jboolean, jclass, jlong, jobject, jobjectArray, jstring};

pub(super) extern "system" fn next_execution(env: Env, _: jclass) -> jboolean {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.next_execution(a, jni))
    })
    .into()
}

pub(super) extern "system" fn call_main(env: Env, _: jclass, main: jclass, args: jobjectArray) {
    controlled(env, |c, _, jni| c.call_main(jni, main, args));
}

pub(super) extern "system" fn await_end(env: Env, _: jclass) {
    controlled(env, |c, a, jni| c.await_end(a, jni));
}

pub(super) extern "system" fn answer(env: Env, _: jclass, complaint: jstring) {
    controlled(env, |c, a, jni| c.answer(a, jni, &jni.string(complaint)));
}

pub(super) extern "system" fn is_older(env: Env, _: jclass, o: jobject) -> jboolean {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.is_older(a, jni, o))
    })
    .into()
}

fn field<T: Default>(
    env: Env,
    (owner, name): (jstring, jstring),
    desc: impl FnOnce(Jni) -> String,
    f: impl FnOnce(Jni, jclass, jni_sys::jfieldID) -> T,
) -> T {
    with(env, |_, jni| {
        let class = jni.find_class(&jni.string(owner));
        let id = jni.static_field(class, &jni.string(name), &desc(jni));
        id.map(|id| f(jni, class, id)).unwrap_or_default()
    })
}

pub(super) extern "system" fn get_static(
    env: Env,
    _: jclass,
    owner: jstring,
    name: jstring,
    desc: jstring,
) -> jobject {
    let Pointer(found) = field(
        env,
        (owner, name),
        |jni| jni.string(desc),
        |jni, class, id| Pointer(jni.static_object(class, id)),
    );
    found
}

pub(super) extern "system" fn set_static(
    env: Env,
    _: jclass,
    owner: jstring,
    name: jstring,
    desc: jstring,
    value: jobject,
) {
    field(
        env,
        (owner, name),
        |jni| jni.string(desc),
        |jni, class, id| jni.set_static_object(class, id, value),
    );
}

fn number(is_int: jboolean) -> String {
    if is_int != 0 { "I" } else { "J" }.to_owned()
}

pub(super) extern "system" fn get_static_long(
    env: Env,
    _: jclass,
    owner: jstring,
    name: jstring,
    is_int: jboolean,
) -> jlong {
    field(
        env,
        (owner, name),
        |_| number(is_int),
        |jni, class, id| jni.static_number(class, id, is_int != 0),
    )
}

pub(super) extern "system" fn set_static_long(
    env: Env,
    _: jclass,
    owner: jstring,
    name: jstring,
    is_int: jboolean,
    value: jlong,
) {
    field(
        env,
        (owner, name),
        |_| number(is_int),
        |jni, class, id| jni.set_static_number(class, id, is_int != 0, value),
    );
}
