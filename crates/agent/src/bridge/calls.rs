//! The static methods of the bridge that the agent calls: one table, of which the
//! look-up, the typed functions and the tests are made.

use crate::jni::{Global, Jni, Ref};
use jni_sys::{jint, jlong, jmethodID, jvalue};

/// A row of the table.
#[cfg(test)]
pub struct Method {
    pub class: &'static str,
    pub name: &'static str,
    pub desc: &'static str,
}

/// Types of descriptors as Rust has them: what is passed, and what comes back.
macro_rules! passed {
    (Z) => { bool };
    (I) => { jint };
    (J) => { jlong };
    ($reference:literal) => { Ref<'_> };
}

macro_rules! returned {
    ($env:lifetime V) => { () };
    ($env:lifetime I) => { jint };
    ($env:lifetime J) => { jlong };
    ($env:lifetime $reference:literal) => { Ref<$env> };
}

macro_rules! value {
    (Z $value:ident) => {
        jvalue { z: $value.into() }
    };
    (I $value:ident) => {
        jvalue { i: $value }
    };
    (J $value:ident) => {
        jvalue { j: $value }
    };
    ($reference:literal $value:ident) => {
        jvalue { l: $value.raw() }
    };
}

macro_rules! call {
    (V $jni:ident $($rest:tt)*) => { $jni.call_static_void($($rest)*) };
    (I $jni:ident $($rest:tt)*) => { $jni.call_static_int($($rest)*) };
    (J $jni:ident $($rest:tt)*) => { $jni.call_static_long($($rest)*) };
    ($reference:literal $jni:ident $($rest:tt)*) => { $jni.call_static_object($($rest)*) };
}

macro_rules! calls {
    ($($class:ident: $java:literal {
        $($(#[$doc:meta])* fn $id:ident($($arg:ident: $type:tt),*) -> $return:tt = $name:literal;)*
    })*) => {
        /// Classes of the bridge, and ids of their methods.
        #[derive(Debug)]
        pub struct Calls {
            $($class: Global, $($id: jmethodID,)*)*
        }

        #[cfg(test)]
        pub const METHODS: &[Method] = &[$($(Method {
            class: $java,
            name: $name,
            desc: concat!("(", $(desc!($type),)* ")", desc!($return)),
        },)*)*];

        impl Calls {
            /// None if the classes are not those that the table is of.
            pub fn look_up(jni: Jni) -> Option<Calls> {
                $(
                    let $class = jni.global(jni.find_class($java))?;
                    $(let $id = jni.static_method(
                        $class.get(),
                        $name,
                        concat!("(", $(desc!($type),)* ")", desc!($return)),
                    )?;)*
                )*
                Some(Calls { $($class, $($id,)*)* })
            }

            $($($(#[$doc])* pub fn $id<'env>(&self, jni: Jni<'env>, $($arg: passed!($type)),*) -> returned!('env $return) {
                // SAFETY: looked up in this class with this descriptor, of which the
                // types of the arguments and of the result are made.
                unsafe { call!($return jni self.$class.get(), self.$id, &[$(value!($type $arg)),*]) }
            })*)*
        }
    };
}

calls! {
    thread: "java/lang/PhotofinishThread" {
        fn attach(thread: "Ljava/lang/Thread;", system: Z) -> V = "attach";
        fn gone(thread: "Ljava/lang/Thread;") -> V = "gone";
    }
    photofinish: "java/lang/Photofinish" {
        fn forking(child: "Ljava/lang/Thread;") -> V = "forking";
        fn waiting(o: "Ljava/lang/Object;") -> V = "waiting";
        fn waited(o: "Ljava/lang/Object;", interrupted: Z) -> V = "waited";
        fn notifying(o: "Ljava/lang/Object;", all: Z) -> V = "notifying";
        fn interrupted() -> V = "interrupted";
    }
    sampling: "java/lang/PhotofinishSampling" {
        /// What probes do from now on, and in which era; 0 is none.
        fn turn(to: I, of: I) -> V = "turn";
    }
    virtual_threads: "java/lang/PhotofinishVirtual" {
        /// Whether the current thread is virtual, and on a carrier.
        fn is_mounted() -> I = "isMounted";
    }
    native: "java/lang/PhotofinishNative" {
        fn held_now() -> "Ljava/lang/String;" = "heldNow";
        /// The site of the program's call into the JDK that the thread is in; 0 if unknown.
        fn call_now() -> I = "callNow";
        fn keep_class(class: "Ljava/lang/Class;") -> I = "keepClass";
        fn id_of(o: "Ljava/lang/Object;") -> J = "idOf";
        fn offset_by_name(class: "Ljava/lang/Class;", name: "Ljava/lang/String;") -> J = "offset";
        fn offset_of_field(field: "Ljava/lang/reflect/Field;", is_static: Z) -> J = "offset";
        fn find(name: "Ljava/lang/String;", loader: "Ljava/lang/ClassLoader;") -> "Ljava/lang/Class;" = "find";
        /// The site that made an object or array; 0 if unknown.
        fn allocation_site(o: "Ljava/lang/Object;") -> I = "allocationSite";
        fn ref_array() -> J = "refArray";
        fn names(fields: "[Ljava/lang/reflect/Field;") -> "Ljava/lang/String;" = "names";
    }
    control: "java/lang/PhotofinishControl" {
        /// What a controlled run knows an object by; 0 if it does not, unless it is
        /// given a number now.
        fn number_of(o: "Ljava/lang/Object;", give: Z) -> I = "numberOf";
        /// Returns when no other controlled thread holds the object's monitor.
        fn reentering(o: "Ljava/lang/Object;") -> V = "reentering";
        /// The object whose monitor a thread waits for, or null.
        fn awaited(thread: "Ljava/lang/Thread;") -> "Ljava/lang/Object;" = "awaited";
        /// Nobody holds the object's monitor, whatever we thought.
        fn forget_holder(o: "Ljava/lang/Object;") -> V = "forgetHolder";
        fn named(number: I) -> "Ljava/lang/String;" = "named";
        fn held_by(thread: "Ljava/lang/Thread;") -> "Ljava/lang/String;" = "heldBy";
        fn blocker(thread: "Ljava/lang/Thread;") -> "Ljava/lang/String;" = "blocker";
        fn describe(exception: "Ljava/lang/Throwable;") -> "Ljava/lang/String;" = "describe";
        /// The number under which a static's place is kept.
        fn keep_static(class: "Ljava/lang/Class;", offset: J) -> I = "keepStatic";
        fn holds_foreign(thread: "Ljava/lang/Thread;") -> I = "holdsForeign";
    }
    may_trigger: "java/lang/PhotofinishMayTrigger" {
        /// Number of the thread that holds the lock that a thread waits for; -1: none.
        fn waits_for(thread: "Ljava/lang/Thread;") -> I = "waitsFor";
        fn wanted(thread: "Ljava/lang/Thread;") -> "Ljava/lang/String;" = "wanted";
    }
}

// SAFETY: the JVM's method ids are good in every thread while their class is
// loaded, and these classes are never unloaded.
unsafe impl Send for Calls {}
// SAFETY: as for Send; nothing changes them.
unsafe impl Sync for Calls {}
