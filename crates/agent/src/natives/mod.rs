//! The natives of the bridge; `jdk` and `controlled` have the JDK's natives that
//! we stand in front of. Every function here is called by the JVM; none lets a
//! panic out.

mod controlled;
mod detection;
mod jdk;
mod may_trigger;
mod points;
mod printing;
mod serving;
mod values;
mod worker;

pub use jdk::{exit_now, in_front_of, known_name};

use crate::control::Control;
use crate::jni::{Jni, Native, Ref};
use crate::memory::RawClock;
use crate::{Agent, agent, guard};
use jni_sys::{jboolean, jint, jlong};
use std::ffi::c_void;

/// What the JVM passes to natives first.
type Env<'env> = Jni<'env>;

/// Types of descriptors as Rust has them. `C` is a long that is the address of a clock.
macro_rules! rust {
    ($env:lifetime V) => { () };
    ($env:lifetime Z) => { jboolean };
    ($env:lifetime I) => { jint };
    ($env:lifetime J) => { jlong };
    ($env:lifetime C) => { Clock };
    ($env:lifetime $reference:literal) => { Ref<$env> };
}

/// A table of natives. Descriptors and types of functions are made of the same
/// letters: a function of another type does not compile.
macro_rules! natives {
    ($($name:literal ($($arg:tt)*) $return:tt => $function:path;)*) => {
        /// All natives of the bridge but `link`.
        pub fn table() -> Vec<Native> {
            vec![$({
                let function: for<'env> extern "system" fn(Env<'env>, Ref<'env> $(, rust!('env $arg))*) -> rust!('env $return) = $function;
                Native {
                    name: $name,
                    desc: concat!("(", $(desc!($arg),)* ")", desc!($return)),
                    function: function as *const c_void,
                }
            }),*]
        }
    };
}

natives! {
    "address" (I) J => detection::address;
    "arrayBase" ("Ljdk/internal/misc/Unsafe;" "Ljava/lang/Class;") J => detection::array_base;
    "allocate" ("Ljava/lang/Thread;" C Z Z) J => detection::allocate;
    "endThread" (I C) V => detection::end_thread;
    "enterTest" (C I) V => detection::enter_test;
    "runDirectory" () "Ljava/lang/String;" => detection::run_directory;
    "acquireAll" (C) V => detection::acquire_all;
    "raise" (C) V => detection::raise;
    "resolve" (I "Ljava/lang/Object;") V => detection::resolve;
    "check" (C J J J I Z "Ljava/lang/Object;" I) Z => detection::check;
    "context" (I I) I => detection::context;
    "sample" (C J I "Ljava/lang/String;") V => detection::sample;
    "initBegin" (C J) V => detection::init_begin;
    "initEnd" (C J) V => detection::init_end;
    "buffer" (C) J => detection::buffer;
    "flush" (C) J => detection::flush;
    "relax" (I) V => detection::relax;
    "event" (C J J J I) V => detection::event;
    "lacks" ("Ljava/lang/Class;" "Ljava/lang/String;") Z => detection::lacks;
    "layout" ("Ljava/lang/Class;") "[J" => detection::layout;
    "staticLayout" ("Ljava/lang/Class;") "[J" => detection::static_layout;
    "array" (J I "Ljava/lang/Class;" I) V => detection::array;
    "tooLarge" (I) V => detection::too_large;
    "point" (I J I I) V => points::point;
    "told" (J I I I J "Ljava/lang/Object;") V => values::told;
    "typeOf" (I) I => values::type_of;
    "ranges" (J I I I J I I I) V => points::ranges;
    "disturb" () V => detection::disturb;
    "nameOf" ("Ljava/lang/Object;") J => points::name_of;
    "named" (J J) V => points::named;
    "threadStep" (I "Ljava/lang/Object;" I) V => points::thread_step;
    "looped" (I J I) V => points::looped;
    "tag" ("Ljava/lang/Object;") J => points::tag;
    "lateCondition" () V => points::late_condition;
    "isShared" (I) Z => points::is_shared;
    "isInternal" () Z => points::is_internal;
    "comeIn" () V => points::come_in;
    "monitor" (J I I) V => points::monitor;
    "released" (J) V => points::released;
    "failed" () V => points::failed;
    "sees" (C J J I I J) I => points::sees;
    "left" (C J J I I) V => points::left;
    "forgot" (J I) V => points::forgot;
    "staleRead" (C J J I I I "Ljava/lang/String;" "Ljava/lang/String;") V => points::stale_read;
    "adopt" () V => points::adopt;
    "lockClass" ("Ljava/lang/String;" Z Z) I => may_trigger::lock_class;
    "sampled" (I I) Z => may_trigger::sampled;
    "request" (C I I) V => may_trigger::request;
    "acquired" (C I) V => may_trigger::acquired;
    "lockIs" (I I) V => may_trigger::lock_is;
    "nextExecution" () Z => worker::next_execution;
    "callMain" ("Ljava/lang/Class;" "[Ljava/lang/String;") V => worker::call_main;
    "programClass" (I) "Ljava/lang/String;" => worker::program_class;
    "initialiser" ("Ljava/lang/String;") I => worker::initialiser;
    "whyNot" ("Ljava/lang/String;") "Ljava/lang/String;" => worker::why_not;
    "isAlone" () Z => worker::is_alone;
    "fieldsOf" ("Ljava/lang/Class;" Z) "[J" => worker::fields_of;
    "keeps" ("Ljava/lang/String;") Z => worker::keeps;
    "awaitEnd" () V => worker::await_end;
    "answer" ("Ljava/lang/String;") V => worker::answer;
    "isOlder" ("Ljava/lang/Object;") Z => worker::is_older;
    "getStatic" ("Ljava/lang/String;" "Ljava/lang/String;" "Ljava/lang/String;") "Ljava/lang/Object;" => worker::get_static;
    "setStatic" ("Ljava/lang/String;" "Ljava/lang/String;" "Ljava/lang/String;" "Ljava/lang/Object;") V => worker::set_static;
    "getStaticLong" ("Ljava/lang/String;" "Ljava/lang/String;" Z) J => worker::get_static_long;
    "setStaticLong" ("Ljava/lang/String;" "Ljava/lang/String;" Z J) V => worker::set_static_long;
    "uncaught" ("Ljava/lang/Throwable;") V => points::uncaught;
}

/// A clock, by the address that the bridge keeps for it; 0 is none.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Clock(jlong);

impl Clock {
    fn get(self) -> Option<RawClock> {
        // SAFETY: the bridge has no other addresses of clocks than those that
        // `allocate` gave it, and they are good for ever.
        (self.0 != 0).then(|| unsafe { RawClock::at(self.0) })
    }
}

/// Binds all natives of the bridge at once: the JVM's own search for them runs
/// Java code, which has probes, which call them. Found by its name, and called
/// by the bridge itself: natives of a class in `java.lang` that are registered
/// by anybody else make the JVM print a warning.
// SAFETY: the name that the JVM gives a native of the bridge, and of nobody else.
#[unsafe(export_name = "Java_java_lang_PhotofinishNative_link")]
extern "system" fn link(env: Env, class: Ref) {
    with(env, |a, jni| {
        // SAFETY: descriptors and types of the functions are made of one table.
        if !unsafe { jni.register(class, &table()) } {
            a.fail("cannot bind the natives of the bridge");
        }
    });
}

fn with<'env, T: Default>(env: Env<'env>, f: impl FnOnce(&'static Agent, Jni<'env>) -> T) -> T {
    guard(|| agent().map(|a| f(a, env)).unwrap_or_default())
}

fn controlled<'env>(env: Env<'env>, f: impl FnOnce(&'static Control, &'static Agent, Jni<'env>)) {
    with(env, |a, jni| {
        if let Some(control) = &a.control {
            f(control, a, jni);
        }
    });
}

/// What a controlled run does instead of the original; false if it does not.
fn instead<'env>(
    env: Env<'env>,
    f: impl FnOnce(&'static Control, &'static Agent, Jni<'env>) -> Option<()>,
) -> bool {
    with(env, |a, jni| {
        a.control.as_ref().and_then(|c| f(c, a, jni)).is_some()
    })
}
