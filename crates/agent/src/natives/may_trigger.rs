//! Natives of runs that look for hidden races.

use super::{Clock, Env, with};
use crate::jni::{Jni, Ref};
use crate::may_trigger::Hidden;
use crate::{Agent, guard};
use jni_sys::{jboolean, jint};

fn hidden<'env, T: Default>(
    env: Env<'env>,
    f: impl FnOnce(&'static Agent, &'static Hidden, Jni<'env>) -> T,
) -> T {
    with(env, |a, jni| {
        let hidden = a.hidden.as_ref();
        hidden.map(|hidden| f(a, hidden, jni)).unwrap_or_default()
    })
}

pub(super) extern "system" fn lock_class(
    env: Env,
    _: Ref,
    name: Ref,
    is_class: jboolean,
    is_loader: jboolean,
) -> jint {
    hidden(env, |a, h, jni| {
        h.lock_class(a, &jni.string(name), is_class != 0, is_loader != 0)
    })
}

pub(super) extern "system" fn sampled(env: Env, _: Ref, site: jint, lock_class: jint) -> jboolean {
    hidden(env, |a, h, _| h.sampled(a, site as u32, lock_class)).into()
}

pub(super) extern "system" fn request(
    env: Env,
    _: Ref,
    clock: Clock,
    lock_class: jint,
    _site: jint,
) {
    hidden(env, |a, h, _| {
        if let Some(clock) = clock.get() {
            h.request(a, clock.id(), lock_class);
        }
    });
}

pub(super) extern "system" fn acquired(env: Env, _: Ref, clock: Clock, lock_class: jint) {
    hidden(env, |a, h, _| {
        if let Some(clock) = clock.get() {
            h.acquired(a, clock.id(), lock_class);
        }
    });
}

pub(super) extern "system" fn lock_is(_: Env, _: Ref, number: jint, lock_class: jint) {
    guard(|| {
        if let Some(a) = crate::agent()
            && let (Some(hidden), Some(control)) = (&a.hidden, &a.control)
        {
            control.lock_is(number as u64, hidden.planned(lock_class));
        }
    });
}
