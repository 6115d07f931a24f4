//! Natives of a JVM that makes execution after execution.

use super::{Env, controlled, with};
use crate::control::Control;
use crate::jni::Ref;
use instrument::initialisers::Initialiser;
use jni_sys::{jboolean, jint, jlong};

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

/// As PhotofinishStatics has it.
fn number(initialiser: &Initialiser) -> jint {
    match initialiser {
        Initialiser::Absent => 0,
        Initialiser::Constants => 1,
        Initialiser::Own => 2,
        Initialiser::Other(_) => 3,
    }
}

fn of_class(env: Env, name: Ref) -> Option<(String, Initialiser)> {
    with(env, |a, jni| {
        let name = jni.string(name);
        let worker = a.control.as_ref().and_then(Control::worker)?;
        let found = worker.initialiser(&name.replace('.', "/"));
        Some((name, found))
    })
}

pub(super) extern "system" fn initialiser(env: Env, _: Ref, name: Ref) -> jint {
    of_class(env, name).map_or(3, |(_, found)| number(&found))
}

pub(super) extern "system" fn why_not<'env>(
    env: Env<'env>,
    _: Ref<'env>,
    name: Ref<'env>,
) -> Ref<'env> {
    let why = match of_class(env, name) {
        Some((name, Initialiser::Other(why))) => format!("the initialiser of {name}: {why}"),
        _ => "an initialiser is not known".to_owned(),
    };
    with(env, |_, jni| jni.new_string(&why).leave())
}

pub(super) extern "system" fn program_class<'env>(
    env: Env<'env>,
    _: Ref<'env>,
    site: jint,
) -> Ref<'env> {
    with(env, |a, jni| {
        let site = site as u32;
        let class = a.sites.with(site, |class, _| class.class.to_string());
        match class.filter(|_| !a.sites.is_jdk(site)) {
            Some(class) => jni.new_string(&class.replace('/', ".")).leave(),
            None => Ref::NULL,
        }
    })
}

pub(super) extern "system" fn is_alone(env: Env, _: Ref) -> jboolean {
    with(env, |a, _| {
        a.control.as_ref().is_some_and(Control::is_alone)
    })
    .into()
}

pub(super) extern "system" fn fields_of<'env>(
    env: Env<'env>,
    _: Ref<'env>,
    class: Ref<'env>,
    statics: jboolean,
) -> Ref<'env> {
    with(env, |a, jni| {
        let fields = a.fields_of(jni, class, statics != 0);
        fields.map_or(Ref::NULL, |fields| jni.new_longs(&fields).leave())
    })
}

pub(super) extern "system" fn keeps(env: Env, _: Ref, why: Ref) -> jboolean {
    with(env, |a, jni| {
        let why = why.non_null().map(|why| jni.string(why));
        let control = a.control.as_ref();
        control.is_some_and(|c| c.keeps_classes(why))
    })
    .into()
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
