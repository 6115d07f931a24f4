//! Natives of runs in which threads are controlled.

use super::{Clock, Env, controlled, with};
use crate::control::{Access, Place};
use crate::jni::Ref;
use jni_sys::{jboolean, jint, jlong};

pub(super) extern "system" fn point(
    env: Env,
    _: Ref,
    kind: jint,
    obj: jlong,
    slot: jint,
    site: jint,
) {
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

pub(super) extern "system" fn ranges(
    env: Env,
    _: Ref,
    obj: jlong,
    slot: jint,
    slots: jint,
    site: jint,
    other: jlong,
    other_slot: jint,
    other_slots: jint,
    other_site: jint,
) {
    let range = |obj: jlong, slot: jint, slots: jint, site: jint| schedule::Range {
        op: schedule::Op {
            kind: schedule::Kind::Read,
            site: site as u32,
            obj: obj as u64,
            slot: slot as u32,
        },
        slots: slots as u32,
    };
    let mut ranges = vec![range(obj, slot, slots, site)];
    if other != 0 {
        ranges.push(range(other, other_slot, other_slots, other_site));
    }
    controlled(env, |c, a, jni| c.ranges(a, jni, ranges));
}

pub(super) extern "system" fn name_of(env: Env, _: Ref, o: Ref) -> jlong {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.map_or(0, |c| c.name_of(a, jni, o)) as jlong
    })
}

pub(super) extern "system" fn named(env: Env, _: Ref, number: jlong, name: jlong) {
    controlled(env, |c, _, _| c.named(number as u64, name as u64));
}

pub(super) extern "system" fn thread_step(env: Env, _: Ref, kind: jint, thread: Ref, bits: jint) {
    controlled(env, |c, a, jni| {
        let kind = schedule::Kind::from_number(kind as u8).unwrap_or(schedule::Kind::Yield);
        c.thread_step(a, jni, kind, thread, bits as u32);
    });
}

pub(super) extern "system" fn looped(env: Env, _: Ref, number: jint, state: jlong, what: jint) {
    controlled(env, |c, a, jni| {
        c.looped(a, jni, number as u32, state, what)
    });
}

pub(super) extern "system" fn tag(env: Env, _: Ref, o: Ref) -> jlong {
    with(env, |a, _| a.jvmti.tag(o))
}

pub(super) extern "system" fn late_condition(env: Env, _: Ref) {
    controlled(env, |c, a, _| {
        c.name_uncontrolled(
            a,
            protocol::control::Cause::Other,
            "a lock got a condition after it had been used without",
        )
    });
}

pub(super) extern "system" fn is_shared(env: Env, _: Ref, site: jint) -> jboolean {
    with(env, |a, _| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.is_shared_code(a, site as u32))
    })
    .into()
}

pub(super) extern "system" fn is_internal(env: Env, _: Ref) -> jboolean {
    with(env, |a, jni| {
        let control = a.control.as_ref();
        control.is_some_and(|c| c.is_internal(a, jni))
    })
    .into()
}

pub(super) extern "system" fn come_in(env: Env, _: Ref) {
    controlled(env, |c, a, jni| {
        if let Some(me) = Place::current() {
            c.come_in(a, jni, me);
        }
    });
}

pub(super) extern "system" fn monitor(env: Env, _: Ref, obj: jlong, owner: jint, site: jint) {
    controlled(env, |c, a, jni| {
        c.await_monitor(a, jni, obj as u64, owner as u32, site as u32)
    });
}

pub(super) extern "system" fn released(env: Env, _: Ref, obj: jlong) {
    controlled(env, |c, _, _| c.released(obj as u64));
}

pub(super) extern "system" fn failed(env: Env, _: Ref) {
    controlled(env, |c, _, _| c.failed());
}

pub(super) extern "system" fn sees(
    env: Env,
    _: Ref,
    clock: Clock,
    epoch: jlong,
    obj: jlong,
    slot: jint,
    site: jint,
    same: jlong,
) -> jint {
    with(env, |a, jni| {
        let (control, clock) = (a.control.as_ref()?, clock.get()?);
        let read = Access::new(clock, epoch, obj, slot, site);
        Some(control.sees(a, jni, read, same as u64))
    })
    .unwrap_or_default()
}

pub(super) extern "system" fn left(
    env: Env,
    _: Ref,
    clock: Clock,
    epoch: jlong,
    obj: jlong,
    slot: jint,
    site: jint,
) {
    controlled(env, |c, a, _| {
        if let Some(clock) = clock.get() {
            c.left(a, Access::new(clock, epoch, obj, slot, site));
        }
    });
}

pub(super) extern "system" fn forgot(env: Env, _: Ref, obj: jlong, slot: jint) {
    controlled(env, |c, a, _| c.forgot(a, obj as u64, slot as u32));
}

pub(super) extern "system" fn stale_read(
    env: Env,
    _: Ref,
    clock: Clock,
    epoch: jlong,
    obj: jlong,
    slot: jint,
    site: jint,
    back: jint,
    saw: Ref,
    newest: Ref,
) {
    controlled(env, |c, a, jni| {
        let values = [jni.string(saw), jni.string(newest)];
        if let Some(clock) = clock.get() {
            let read = Access::new(clock, epoch, obj, slot, site);
            c.tell_stale(a, read, back as usize, values);
        }
    });
}

pub(super) extern "system" fn adopt(env: Env, _: Ref) {
    controlled(env, |c, a, jni| c.adopt(a, jni));
}

pub(super) extern "system" fn uncaught(env: Env, _: Ref, exception: Ref) {
    controlled(env, |c, a, jni| c.uncaught(a, jni, exception));
}
