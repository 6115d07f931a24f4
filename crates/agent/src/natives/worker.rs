//! Natives of a JVM that makes execution after execution.

use super::{Env, controlled, with};
use crate::jni::Ref;
use jni_sys::{jboolean, jlong};

pub(super) extern "system" fn next_execution(env: Env, _: Ref) -> jboolean {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.next_execution(a, jni))
    })
    .into()
}

pub(super) extern "system" fn call_main(env: Env, _: Ref, main: Ref, args: Ref) {
    controlled(env, |c, _, jni| c.call_main(jni, main, args));
}

pub(super) extern "system" fn await_end(env: Env, _: Ref) {
    controlled(env, |c, a, jni| c.await_end(a, jni));
}

pub(super) extern "system" fn answer(env: Env, _: Ref, complaint: Ref) {
    controlled(env, |c, a, jni| c.answer(a, jni, &jni.string(complaint)));
}

pub(super) extern "system" fn is_older(env: Env, _: Ref, o: Ref) -> jboolean {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.is_older(a, jni, o))
    })
    .into()
}

pub(super) extern "system" fn get_static<'env>(
    env: Env<'env>,
    _: Ref<'env>,
    owner: Ref<'env>,
    name: Ref<'env>,
    desc: Ref<'env>,
) -> Ref<'env> {
    with(env, |_, jni| {
        let class = jni.find_class(&jni.string(owner));
        jni.static_object(class, &jni.string(name), &jni.string(desc))
    })
}

pub(super) extern "system" fn set_static(
    env: Env,
    _: Ref,
    owner: Ref,
    name: Ref,
    desc: Ref,
    value: Ref,
) {
    with(env, |_, jni| {
        let class = jni.find_class(&jni.string(owner));
        let (name, desc) = (jni.string(name), jni.string(desc));
        // SAFETY: PhotofinishWorker puts back what it got from the same field.
        unsafe { jni.set_static_object(class, &name, &desc, value) };
    });
}

pub(super) extern "system" fn get_static_long(
    env: Env,
    _: Ref,
    owner: Ref,
    name: Ref,
    is_int: jboolean,
) -> jlong {
    with(env, |_, jni| {
        let class = jni.find_class(&jni.string(owner));
        jni.static_number(class, &jni.string(name), is_int != 0)
    })
}

pub(super) extern "system" fn set_static_long(
    env: Env,
    _: Ref,
    owner: Ref,
    name: Ref,
    is_int: jboolean,
    value: jlong,
) {
    with(env, |_, jni| {
        let class = jni.find_class(&jni.string(owner));
        jni.set_static_number(class, &jni.string(name), is_int != 0, value);
    });
}
