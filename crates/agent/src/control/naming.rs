//! Names of objects that are the same in equivalent executions.
//!
//! The number of an object in a run is the order in which points came to it,
//! which differs between executions that are otherwise the same. So in an
//! exploration every allocation is told (JVMTI's sampling of allocations, with
//! every one a sample), and an object is named after the thread that made it,
//! its class, and how many of that class the thread had made; what a class
//! initialiser makes, after that. The name is kept as
//! the object's tag. Classes are named after themselves. What was made before
//! the program, or while the JVM loads classes, is named when points first come to
//! it.

use super::{Control, Place};
use crate::Agent;
use crate::jni::Jni;
use jni_sys::{jclass, jlong, jmethodID, jobject};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard};

/// Who made what was there before the program.
const BEFORE: u64 = u64::MAX;

/// Frames looked at for an initialiser.
const DEPTH: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Names(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// How many objects of a class a thread, or a class's initialiser, has made.
    made: FxHashMap<(u64, u64), u64>,
    /// The class that a method initialises, by method.
    initialisers: FxHashMap<usize, Option<u64>>,
}

impl Names {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Never 0, which is no name, and never a number.
fn name(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish() | 1 << 62
}

impl Control {
    /// A controlled thread made an object.
    pub fn made(&self, a: &Agent, jni: Jni, o: jobject, class: jclass) {
        let Some(me) = Place::current() else {
            return;
        };
        let class = self.class_name(a, class);
        let by = if self.is_busy(jni) {
            match self.initialised(a) {
                Some(by) => by,
                None => return,
            }
        } else {
            self.guided(|g| g.thread_name(me.thread))
                .unwrap_or(0)
                .into()
        };
        let mut names = self.names.lock();
        let count = names.made.entry((by, class)).or_default();
        *count += 1;
        a.jvmti.set_tag(o, name((by, class, *count)) as jlong);
    }

    /// The class whose initialiser the thread runs, if it does.
    fn initialised(&self, a: &Agent) -> Option<u64> {
        let frames = a.jvmti.stack(DEPTH);
        let of = |method: jmethodID| {
            let (method_name, _) = a.jvmti.method(method)?;
            let class = a.jvmti.method_class(method);
            (method_name == "<clinit>").then(|| name(a.jvmti.class_signature(class)))
        };
        let mut names = self.names.lock();
        let known = &mut names.initialisers;
        frames.iter().find_map(|f| {
            *known
                .entry(f.method as usize)
                .or_insert_with(|| of(f.method))
        })
    }

    fn class_name(&self, a: &Agent, class: jclass) -> u64 {
        match a.jvmti.tag(class) {
            0 => {
                let name = name(a.jvmti.class_signature(class).unwrap_or_default());
                a.jvmti.set_tag(class, name as jlong);
                name
            }
            known => known as u64,
        }
    }

    /// The name of an object; 0 if it has none.
    pub fn name_of(&self, a: &Agent, jni: Jni, o: jobject) -> u64 {
        let is_class = a
            .bridge
            .get()
            .is_some_and(|b| jni.is_instance(o, b.class_class));
        if is_class {
            return self.class_name(a, o);
        }
        match a.jvmti.tag(o) as u64 {
            0 => self.older(a, jni, o),
            name => name,
        }
    }

    /// An object of the JDK's that was there before, such as System.out: there are
    /// few of a class.
    fn older(&self, a: &Agent, jni: Jni, o: jobject) -> u64 {
        let class = jni.class_of(o);
        let class_name = self.class_name(a, class);
        jni.delete_local(class);
        let mut names = self.names.lock();
        let count = names.made.entry((BEFORE, class_name)).or_default();
        *count += 1;
        let name = name((BEFORE, class_name, *count));
        a.jvmti.set_tag(o, name as jlong);
        name
    }

    /// From now on the object with this number is known by a name.
    pub fn named(&self, number: u64, name: u64) {
        if name != 0 {
            self.guided(|g| g.name(number, name));
        }
    }
}
