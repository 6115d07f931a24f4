//! Natives of runs that look for hidden races.

use super::{Env, with};
use crate::jni::Jni;
use crate::may_trigger::Hidden;
use crate::memory::RawClock;
use crate::{Agent, guard};
use jni_sys::{jboolean, jclass, jint, jlong, jstring};

fn hidden<T: Default>(env: Env, f: impl FnOnce(&'static Agent, &'static Hidden, Jni) -> T) -> T {
    with(env, |a, jni| {
        let hidden = a.hidden.as_ref();
        hidden.map(|hidden| f(a, hidden, jni)).unwrap_or_default()
    })
}

pub(super) extern "system" fn lock_class(
    env: Env,
    _: jclass,
    name: jstring,
    is_class: jboolean,
    is_loader: jboolean,
) -> jint {
    hidden(env, |a, h, jni| {
        h.lock_class(a, &jni.string(name), is_class != 0, is_loader != 0)
    })
}

pub(super) extern "system" fn sampled(
    env: Env,
    _: jclass,
    site: jint,
    lock_class: jint,
) -> jboolean {
    hidden(env, |a, h, _| h.sampled(a, site as u32, lock_class)).into()
}

pub(super) extern "system" fn request(
    env: Env,
    _: jclass,
    clock: jlong,
    lock_class: jint,
    _site: jint,
) {
    hidden(env, |a, h, _| {
        // SAFETY: the bridge passes the address of a clock.
        h.request(a, unsafe { RawClock::at(clock) }.id(), lock_class);
    });
}

pub(super) extern "system" fn acquired(env: Env, _: jclass, clock: jlong, lock_class: jint) {
    hidden(env, |a, h, _| {
        // SAFETY: the bridge passes the address of a clock.
        h.acquired(a, unsafe { RawClock::at(clock) }.id(), lock_class);
    });
}

pub(super) extern "system" fn lock_is(_: Env, _: jclass, number: jint, lock_class: jint) {
    guard(|| {
        if let Some(a) = crate::agent()
            && let (Some(hidden), Some(control)) = (&a.hidden, &a.control)
        {
            control.lock_is(number as u64, hidden.planned(lock_class));
        }
    });
}
