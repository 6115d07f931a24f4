//! What [`Jni`](super::Jni) does with references and exceptions, against a fake
//! table.

use super::fake::{State, environment, state};
use super::{Field, Jni, Ref};
use jni_sys::jvalue;
use std::ptr;

fn reference(id: usize) -> Ref<'static> {
    // SAFETY: the fake JVM's references are numbers; it notes misuse and goes on.
    unsafe { Ref::from_raw(ptr::without_provenance_mut(id)) }
}

fn object(class: &str) -> Ref<'static> {
    reference(state(|s| s.object(class)))
}

fn class(name: &str) -> Ref<'static> {
    reference(state(|s| s.class(name)))
}

/// Nothing was misused, and nothing is pending.
fn assert_clean() {
    state(|s| {
        assert_eq!(s.faults, Vec::<String>::new());
        assert_eq!(s.pending, None);
    });
}

fn locals() -> usize {
    state(|s: &mut State| s.locals.len())
}

#[test]
fn a_local_is_given_back_when_dropped_and_only_then() {
    let jni = environment();
    class("java/lang/String");
    let before = locals();
    let text = jni.new_string("a");
    assert_eq!(locals(), before + 1);
    assert!(!text.get().is_null());
    drop(text);
    assert_eq!(locals(), before);
    let left = jni.new_string("b").leave();
    assert_eq!(locals(), before + 1);
    assert_eq!(jni.string(left), "b");
    assert_clean();
}

#[test]
fn a_global_lives_until_it_is_deleted() {
    let jni = environment();
    assert!(jni.global(Ref::NULL).is_none());
    let global = jni.global(object("Node")).unwrap();
    assert!(jni.is_instance(global.get(), class("Node")));
    assert_eq!(state(|s| s.globals.len()), 1);
    jni.delete_global(global);
    assert_eq!(state(|s| s.globals.len()), 0);
    assert_clean();
}

#[test]
fn text_comes_back_and_half_a_character_is_replaced() {
    let jni = environment();
    for text in ["", "race", "zwölf €", "𝄞 and 🐎"] {
        assert_eq!(jni.string(jni.new_string(text).get()), text);
    }
    assert_eq!(jni.string(Ref::NULL), "");
    let half = jni.new_string("x");
    state(|s| {
        s.strings
            .insert(half.get().raw().addr(), vec![0x78, 0xd834])
    });
    assert_eq!(jni.string(half.get()), "x\u{fffd}");
    assert_clean();
}

fn count(jni: Jni<'_>, class: Ref<'_>) -> i64 {
    let method = jni.static_method(class, "count", "(J)J").unwrap();
    // SAFETY: the method of the fake JVM takes a long and returns one.
    unsafe { jni.call_static_long(class, method, &[jvalue { j: 41 }]) }
}

#[test]
fn a_call_that_throws_answers_nothing_and_is_noticed() {
    let jni = environment();
    let class = class("Counter");
    assert_eq!(jni.undisturbed(|| count(jni, class)), Some(42));
    state(|s| s.is_full = true);
    assert_eq!(count(jni, class), 0);
    assert_clean();
    assert_eq!(jni.undisturbed(|| count(jni, class)), None);
    assert!(jni.new_string("no memory").is_null());
    assert!(jni.new_longs(&[1, 2]).is_null());
    assert_clean();
}

#[test]
fn what_is_not_there_is_not_found_and_throws_nothing() {
    let jni = environment();
    assert!(jni.find_class("no/Such").is_null());
    let class = class("Counter");
    assert!(jni.static_method(class, "missing", "()V").is_none());
    assert!(jni.static_method(Ref::NULL, "count", "(J)J").is_none());
    assert!(jni.field::<i32>(class, "missing").is_none());
    assert!(jni.field::<i64>(class, "size").is_none(), "it is an int");
    assert_clean();
}

#[test]
fn an_exception_that_is_put_aside_can_be_thrown_again() {
    let jni = environment();
    assert!(jni.take_exception().is_none());
    state(State::throw);
    let thrown = jni.take_exception().unwrap();
    assert_clean();
    jni.throw(&thrown);
    assert_eq!(state(|s| s.pending), Some(thrown.get().raw().addr()));
    assert!(jni.clear());
    assert!(!jni.clear());
    assert_clean();
}

#[test]
fn a_field_is_read_of_objects_that_have_it() {
    let jni = environment();
    let list = class("List");
    let size: Field<i32> = jni.field(list, "size").unwrap();
    let next = jni.reference_field(list, "next", "LNode;").unwrap();
    let (ours, other) = (object("List"), object("Node"));
    jni.set_int_field(ours, size, 7);
    jni.set_int_field(other, size, 8);
    jni.set_int_field(Ref::NULL, size, 9);
    let sizes = [ours, other, Ref::NULL].map(|o| jni.int_field(o, size));
    assert_eq!(sizes, [7, 0, 0]);
    assert!(!jni.object_field(ours, next).is_null());
    assert!(jni.object_field(other, next).is_null());
    assert_eq!(state(|s| s.ints.len()), 1);
    assert_clean();
}

#[test]
fn a_monitor_is_given_up_as_often_as_it_was_held() {
    let jni = environment();
    let o = object("Lock");
    jni.enter_monitor(o, 3);
    assert_eq!(jni.exit_monitor(o), 3);
    assert_eq!(jni.exit_monitor(o), 0);
    assert_clean();
}

#[test]
fn all_natives_of_the_table_are_registered() {
    let jni = environment();
    let natives = crate::natives::table();
    let class = class("java/lang/PhotofinishNative");
    // SAFETY: nobody calls them.
    assert!(unsafe { jni.register(class, &natives) });
    let names: Vec<_> = natives
        .iter()
        .map(|n| (n.name.to_owned(), n.desc.to_owned()))
        .collect();
    assert_eq!(state(|s| s.registered.clone()), names);
    assert_clean();
}
