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
//! it. What the JVM or a probe makes for itself in the middle of the program does not
//! count: how much that is depends on what was used before.

use super::callers::is_ours;
use super::life::Whereabouts;
use super::{Control, Place};
use crate::Agent;
use crate::jni::{Global, Jni, Ref};
use crate::jvmti::{MethodId, without_address};
use jni_sys::jlong;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Who made what was there before the program.
const BEFORE: u64 = u64::MAX;

/// In place of an initialiser: the JVM's business, whichever thread needs the class.
const LOADING: u64 = 0;
const LINKER: &str = "Ljava/lang/invoke/MethodHandleNatives;";

/// Made by the JVM as well, for each class that it loads: what it locks while the
/// class is initialised, and what its constants are.
const OF_CLASSES: &[&str] = &["[I", "[Ljava/lang/Object;"];

const HARMLESS: &[&str] = &[
    "Ljava/lang/String;",
    "Ljava/lang/StringBuilder;",
    "Ljava/lang/Integer;",
    "[B",
    "[C",
];

/// Frames looked at for an initialiser.
const DEPTH: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Names {
    known: Mutex<Known>,
    /// The program runs: what the launcher made before does not count.
    begun: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    /// How many objects of a class a thread, or a class's initialiser, has made.
    made: FxHashMap<(u64, u64), u64>,
    /// The class that a method initialises, by method.
    initialisers: FxHashMap<usize, Option<u64>>,
    /// Objects that were there before, and their names.
    older: FxHashMap<u64, Global>,
    classes: FxHashSet<u64>,
    /// Those of which there are many, and that nobody waits for.
    harmless: FxHashSet<u64>,
    of_classes: FxHashSet<u64>,
    /// The numbers that have names.
    given: FxHashMap<u64, u64>,
}

impl Names {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The program begins.
    pub fn begin(&self) {
        self.begun.store(true, Ordering::Release);
    }

    /// Another execution begins, in which nothing has a name.
    pub fn restart(&self, a: &Agent, jni: Jni, keeps_classes: bool) {
        self.begun.store(false, Ordering::Release);
        let mut known = self.lock();
        known.made.clear();
        known.given.clear();
        if !keeps_classes {
            // Methods of classes that are gone.
            known.initialisers.clear();
        }
        for (_, o) in known.older.drain() {
            a.jvmti.set_tag(o.get(), 0);
            jni.delete_global(o);
        }
    }
}

/// Never 0, which is no name, and never a number.
fn name(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish() | 1 << 62
}

/// Classes of lambdas are numbered as they are made, by whichever thread; JDK 21 and later tell them, as all hidden classes,
/// apart by an address.
fn without_number(signature: &str) -> &str {
    let name = without_address(signature);
    name.split("$$Lambda").next().unwrap_or(name)
}

impl Control {
    /// A controlled thread made an object.
    pub fn made(&self, a: &Agent, jni: Jni, o: Ref, class: Ref) {
        let Some(me) = Place::current() else {
            return;
        };
        let linking = match self.whereabouts(jni, me) {
            Whereabouts::Busy => return,
            Whereabouts::Linking => true,
            Whereabouts::Free if self.has_begun(a) => false,
            Whereabouts::Free => return,
        };
        // Classes are named after themselves.
        if a.bridge
            .get()
            .is_none_or(|b| jni.same(class, b.class_class.get()))
        {
            return;
        }
        let class = self.class_name(a, class);
        let of_classes = self.names.lock().of_classes.contains(&class);
        if of_classes && self.callers.is_jvms(a) {
            return;
        }
        let by = if linking {
            // Initialisers are where nobody else goes on.
            match self.initialised(a) {
                Some(by) => by,
                None => return,
            }
        } else {
            if self.is_jdks(a, class) {
                return;
            }
            self.guided(|g| g.thread_name(me.thread)).unwrap_or(0)
        };
        let mut names = self.names.lock();
        let count = names.made.entry((by, class)).or_default();
        *count += 1;
        a.jvmti.set_tag(o, name((by, class, *count)) as jlong);
    }

    /// Whether the JDK makes an object of this class for itself, which it does once
    /// and not again.
    fn is_jdks(&self, a: &Agent, class: u64) -> bool {
        let harmless = self.names.lock().harmless.contains(&class);
        !harmless && self.callers.is_made_internally(a)
    }

    /// Whether the program's main method has been called: it is the first frame
    /// then.
    fn has_begun(&self, a: &Agent) -> bool {
        if self.names.begun.load(Ordering::Acquire) {
            return true;
        }
        if self.worker.is_some() {
            return false;
        }
        let first = a.jvmti.first_method();
        let begun =
            first.is_some_and(|m| !a.jvmti.with_method_class(m, |c| a.jvmti.is_boot_class(c)));
        if begun {
            self.names.begin();
        }
        begun
    }

    /// Whether the JVM's launcher is still at work, alone. What it does depends on
    /// how the program is started (it looks into the jar of `-jar`), and in a worker
    /// it was done before the first execution.
    pub(super) fn is_before_main(&self, a: &Agent) -> bool {
        self.is_exploring() && !self.has_begun(a) && self.lock().world.threads() == 1
    }

    /// The class whose initialiser the thread runs, if it does.
    fn initialised(&self, a: &Agent) -> Option<u64> {
        let frames = a.jvmti.stack(DEPTH);
        let of = |method: MethodId| {
            let (method_name, _) = a.jvmti.method(method)?;
            let signature = || {
                let signature = |class: Ref<'_>| a.jvmti.class_signature(class);
                a.jvmti.with_method_class(method, signature)
            };
            match method_name.as_str() {
                "<clinit>" if !signature().is_some_and(|s| is_ours(&s)) => Some(name(signature())),
                "loadClass" => Some(LOADING),
                _ if signature().is_some_and(|s| s == LINKER || is_ours(&s)) => Some(LOADING),
                _ => None,
            }
        };
        let mut names = self.names.lock();
        let known = &mut names.initialisers;
        let found = frames
            .iter()
            .find_map(|f| *known.entry(f.method.key()).or_insert_with(|| of(f.method)));
        found.filter(|by| *by != LOADING)
    }

    fn class_name(&self, a: &Agent, class: Ref) -> u64 {
        match a.jvmti.tag(class) {
            0 => {
                let signature = a.jvmti.class_signature(class).unwrap_or_default();
                let name = name(without_number(&signature));
                a.jvmti.set_tag(class, name as jlong);
                let mut names = self.names.lock();
                names.classes.insert(name);
                if HARMLESS.contains(&signature.as_str()) {
                    names.harmless.insert(name);
                } else if OF_CLASSES.contains(&signature.as_str()) {
                    names.of_classes.insert(name);
                }
                name
            }
            known => known as u64,
        }
    }

    /// The name of an object; 0 if it has none.
    pub fn name_of(&self, a: &Agent, jni: Jni, o: Ref) -> u64 {
        let is_class = a
            .bridge
            .get()
            .is_some_and(|b| jni.is_instance(o, b.class_class.get()));
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
    fn older(&self, a: &Agent, jni: Jni, o: Ref) -> u64 {
        let class_name = self.class_name(a, jni.local_class_of(o).get());
        let mut names = self.names.lock();
        let count = names.made.entry((BEFORE, class_name)).or_default();
        *count += 1;
        let name = name((BEFORE, class_name, *count));
        a.jvmti.set_tag(o, name as jlong);
        if self.worker.is_some()
            && let Some(kept) = jni.global(o)
        {
            names.older.insert(name, kept);
        }
        name
    }

    /// Whether an object was there before the execution.
    pub fn is_older(&self, a: &Agent, jni: Jni, o: Ref) -> bool {
        let name = self.name_of(a, jni, o);
        self.names.lock().older.contains_key(&name)
    }

    /// From now on the object with this number is known by a name.
    pub fn named(&self, number: u64, name: u64) {
        if name != 0 {
            if let Some(worker) = &self.worker {
                let mut names = self.names.lock();
                let is_class = names.classes.contains(&name);
                if !is_class && names.given.insert(name, number).is_some() {
                    worker.complain("two of its objects go by one name");
                }
            }
            self.guided(|g| g.name(number, name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As JDK 17 and JDK 21 write them, in two runs each.
    #[test]
    fn classes_of_lambdas_go_by_the_class_they_are_in() {
        let of_17 = [
            "La/B$$Lambda$14.0x0000000800c03000;",
            "La/B$$Lambda$15.0x00007f1b34484280;",
        ];
        let of_21 = [
            "La/B$$Lambda.0x0000000800c03000;",
            "La/B$$Lambda.0x00007f1b34484280;",
        ];
        for signature in [of_17, of_21].concat() {
            assert_eq!(without_number(signature), "La/B");
        }
        let hidden = ["La/Made.0x0000000026081400;", "La/Made.0x000000002e081400;"];
        assert_eq!(hidden.map(without_number), ["La/Made"; 2]);
        assert_eq!(without_number("La/B$Lambda;"), "La/B$Lambda;");
    }
}
