//! Natives of detecting and recording: threads and clocks, sites, checks, events.

use super::{Clock, Env, with};
use crate::check::Query;
use crate::jni::Ref;
use crate::recorder::Recorder;
use contract::{ARRAY_KINDS, Shared};
use jni_sys::{jboolean, jint, jlong};
use protocol::Mode;

pub(super) extern "system" fn array_base(env: Env, _: Ref, u: Ref, array: Ref) -> jlong {
    with(env, |_, jni| jni.array_base(u, array).into())
}

pub(super) extern "system" fn address(env: Env, _: Ref, what: jint) -> jlong {
    with(env, |a, _| match Shared::from_number(what) {
        Some(Shared::Sites) => a.sites.table.address(),
        Some(Shared::Slots) => a.counters.slots_address(),
        Some(Shared::Seq) => a.counters.seq_address(),
        Some(Shared::Ids) => a.counters.ids_address(),
        Some(Shared::Direct) => a.direct.is_some().into(),
        Some(Shared::Events) => a.options.mode.makes_events().into(),
        Some(Shared::Control) => a.control.is_some().into(),
        Some(Shared::Choice) => match (&a.control, &a.noise) {
            (Some(control), _) => control.choice_address(),
            (None, Some(noise)) => noise.word_address(),
            // Never read, but it must be somewhere.
            (None, None) => a.sites.table.address(),
        },
        Some(Shared::Explore) => a.control.as_ref().is_some_and(|c| c.is_exploring()).into(),
        Some(Shared::Tell) => a.control.as_ref().is_some_and(|c| c.tells()).into(),
        Some(Shared::Noise) => a.noise.is_some().into(),
        Some(Shared::Full) => (a.options.mode == Mode::Full).into(),
        Some(Shared::MayTrigger) => a.hidden.as_ref().map_or(0, |h| h.how),
        Some(Shared::Escort) => match a.hidden.as_ref().and_then(|h| h.holder.as_ref()) {
            Some(holder) => holder.escort_address(),
            None => a.sites.table.address(),
        },
        Some(Shared::Stripes) => a.recorder.as_ref().map_or(0, Recorder::stripes),
        Some(Shared::Budget) => a.sampling.is_some().into(),
        Some(Shared::Bare) => (a.options.mode == Mode::None).into(),
        None => 0,
    })
}

/// For a thread that waits for a stripe (PhotofinishOrder.java): who has it is
/// about to give it back, or has lost its processor.
pub(super) extern "system" fn relax(_: Env, _: Ref, tries: jint) {
    const YIELDS: jint = 500;
    match tries {
        ..YIELDS => std::thread::yield_now(),
        _ => std::thread::sleep(std::time::Duration::from_micros(100)),
    }
}

pub(super) extern "system" fn allocate(
    env: Env,
    _: Ref,
    thread: Ref,
    parent: Clock,
    system: jboolean,
    is_virtual: jboolean,
) -> jlong {
    with(env, |a, jni| {
        let clock = a.start_thread(thread, parent.get(), system != 0, is_virtual != 0);
        if let Some(hidden) = &a.hidden
            && system == 0
        {
            hidden.started(jni, clock, thread);
        }
        clock.address()
    })
}

/// The thread works for another test.
pub(super) extern "system" fn enter_test(env: Env, _: Ref, clock: Clock, test: jint) {
    with(env, |a, _| {
        let Some(clock) = clock.get() else { return };
        let mut check = a.check.lock().unwrap_or_else(|e| e.into_inner());
        check.forget_reported();
        drop(check);
        let mut threads = a.threads.lock().unwrap_or_else(|e| e.into_inner());
        threads.enter_test(clock, test as u32);
    });
}

/// Where findings are written.
pub(super) extern "system" fn run_directory<'env>(env: Env<'env>, _: Ref<'env>) -> Ref<'env> {
    with(env, |a, jni| {
        jni.new_string(&a.options.out.to_string_lossy()).leave()
    })
}

pub(super) extern "system" fn end_thread(env: Env, _: Ref, slot: jint, clock: Clock) {
    with(env, |a, jni| {
        let Some(clock) = clock.get() else { return };
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

pub(super) extern "system" fn acquire_all(env: Env, _: Ref, clock: Clock) {
    with(env, |a, _| {
        let Some(clock) = clock.get() else { return };
        a.threads
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .raise_to_now(clock);
    });
}

pub(super) extern "system" fn raise(env: Env, _: Ref, clock: Clock) {
    with(env, |a, _| {
        if let (Some(sampling), Some(clock)) = (&a.sampling, clock.get()) {
            clock.raise(sampling.floor());
        }
    });
}

pub(super) extern "system" fn resolve(env: Env, _: Ref, site: jint, o: Ref) {
    with(env, |a, jni| a.resolve(jni, site as u32, o));
}

pub(super) extern "system" fn check(
    env: Env,
    _: Ref,
    clock: Clock,
    epoch: jlong,
    w: jlong,
    r: jlong,
    site: jint,
    write: jboolean,
    owner: Ref,
    index: jint,
) -> jboolean {
    with(env, |a, jni| {
        let Some(clock) = clock.get() else {
            return false;
        };
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
        )
    })
    .into()
}

pub(super) extern "system" fn context(env: Env, _: Ref, site: jint, call: jint) -> jint {
    with(env, |a, _| {
        // In a recording, statements of methods that are followed keep their numbers.
        let is_followed = || !a.sites.is_in(site as u32, "java/util/concurrent/");
        if a.recorder.is_some() && is_followed() {
            return site;
        }
        a.sites.contexts.number(&a.sites, site as u32, call as u32) as jint
    })
}

pub(super) extern "system" fn sample(
    env: Env,
    _: Ref,
    _clock: Clock,
    epoch: jlong,
    site: jint,
    held: Ref,
) {
    with(env, |a, jni| {
        a.sample(epoch, site as u32, &jni.string(held))
    });
}

pub(super) extern "system" fn init_begin(env: Env, _: Ref, _clock: Clock, epoch: jlong) {
    with(env, |a, _| a.init_begin(epoch));
}

pub(super) extern "system" fn init_end(env: Env, _: Ref, clock: Clock, epoch: jlong) {
    with(env, |a, _| {
        if let Some(clock) = clock.get() {
            a.init_end(clock, epoch);
        }
    });
}

pub(super) extern "system" fn buffer(env: Env, _: Ref, clock: Clock) -> jlong {
    with(env, |a, _| match (&a.recorder, clock.get()) {
        (Some(recorder), Some(clock)) => recorder.open(clock),
        _ => 0,
    })
}

pub(super) extern "system" fn flush(env: Env, _: Ref, clock: Clock) -> jlong {
    with(env, |a, _| match (&a.recorder, clock.get()) {
        (Some(recorder), Some(clock)) => recorder.flush(a, clock),
        _ => 0,
    })
}

pub(super) extern "system" fn event(
    env: Env,
    _: Ref,
    clock: Clock,
    w0: jlong,
    w1: jlong,
    w2: jlong,
    slot: jint,
) {
    with(env, |a, jni| {
        let Some(clock) = clock.get() else { return };
        let thread = clock.id();
        a.direct_event(jni, thread, [w0 as u64, w1 as u64, w2 as u64], slot as u32);
    });
}

pub(super) extern "system" fn lacks(env: Env, _: Ref, class: Ref, field: Ref) -> jboolean {
    with(env, |a, jni| {
        let field = jni.string(field);
        let declared = a.jvmti.declared_fields(class);
        let is_field = |id| a.jvmti.field(id).is_none_or(|(name, ..)| name == field);
        declared
            .is_some_and(|all| !all.into_iter().any(is_field))
            .into()
    })
}

pub(super) extern "system" fn layout<'env>(
    env: Env<'env>,
    _: Ref<'env>,
    class: Ref<'env>,
) -> Ref<'env> {
    row_array(env, class, false)
}

pub(super) extern "system" fn static_layout<'env>(
    env: Env<'env>,
    _: Ref<'env>,
    class: Ref<'env>,
) -> Ref<'env> {
    row_array(env, class, true)
}

fn row_array<'env>(env: Env<'env>, class: Ref<'env>, statics: bool) -> Ref<'env> {
    with(env, |a, jni| {
        let rows = a.layout(jni, class, statics);
        rows.map_or(Ref::NULL, |rows| jni.new_longs(&rows).leave())
    })
}

pub(super) extern "system" fn array(
    env: Env,
    _: Ref,
    id: jlong,
    kind: jint,
    class: Ref,
    site: jint,
) {
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

pub(super) extern "system" fn too_large(env: Env, _: Ref, length: jint) {
    with(env, |a, _| {
        a.findings.warn(format!(
            "an array of {length} elements is too large to be checked"
        ))
    });
}

pub(super) extern "system" fn disturb(env: Env, _: Ref) {
    with(env, |a, _| {
        if let Some(noise) = &a.noise {
            noise.disturb();
        }
    });
}
