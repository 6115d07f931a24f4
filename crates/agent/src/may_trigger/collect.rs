//! Phase I: at an acquisition the JVM is asked for the stack, and the innermost
//! frames of the program are related to the class of the lock (Algorithm 1 of
//! the paper, whose entering and leaving of methods this spares). The bridge
//! asks every time at first, then of one acquisition in many: a path that is
//! taken less often than that may be missing from the relation of one run.
//!
//! Frames of the JDK are not counted: a lock inside a collection of java.util is
//! its caller's. What the JDK does there for itself is none of the program's.

use super::Hidden;
use crate::Agent;
use crate::control::{Whose, whose};
use crate::jvmti::{FrameInfo, Jvmti};
use rustc_hash::{FxHashMap, FxHashSet};
use schedule::may_trigger::{Relation, method_key};
use std::collections::BTreeMap;

/// Frames of the JDK and of the bridge that may lie above the program's.
const SPARE: usize = 16;

#[derive(Debug)]
pub struct Collector {
    depth: u32,
    /// What a method is, by its id in the JVM.
    methods: FxHashMap<usize, Known>,
    keys: Vec<String>,
    /// Method and class, by number.
    pairs: FxHashSet<(u32, i32)>,
    names: FxHashMap<i32, String>,
    left_out: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug)]
enum Known {
    /// Of the bridge, or made by the JVM.
    NotThere,
    Jdk(Whose),
    /// Thread.join.
    Join,
    Program(u32),
}

impl Collector {
    pub fn new(depth: u32) -> Collector {
        Collector {
            depth,
            methods: FxHashMap::default(),
            keys: Vec::new(),
            pairs: FxHashSet::default(),
            names: FxHashMap::default(),
            left_out: BTreeMap::new(),
        }
    }

    pub fn leave_out(&mut self, class: &str) {
        *self.left_out.entry(class.to_owned()).or_default() += 1;
    }

    fn known(&mut self, a: &Agent, frame: FrameInfo) -> Known {
        let jvmti = &a.jvmti;
        if let Some(known) = self.methods.get(&frame.method.key()) {
            return *known;
        }
        let class = jvmti.with_method_class(frame.method, |class| jvmti.class_signature(class));
        let class = class.unwrap_or_default();
        let internal = class.trim_start_matches('L').trim_end_matches(';');
        // Classes that the JVM makes for lambdas have other names in every run.
        let made_up = internal.contains("$$Lambda") || internal.contains(".0x");
        let known = if internal.starts_with("java/lang/Photofinish") || made_up {
            Known::NotThere
        } else if internal == "java/lang/Thread" && is_join(jvmti, frame) {
            Known::Join
        } else if a.owners.is_jdk(internal) {
            Known::Jdk(whose(&class))
        } else {
            let (method, desc) = jvmti.method(frame.method).unwrap_or_default();
            self.keys.push(method_key(internal, &method, &desc));
            Known::Program(self.keys.len() as u32 - 1)
        };
        self.methods.insert(frame.method.key(), known);
        known
    }

    pub fn is_join(&mut self, a: &Agent, frame: FrameInfo) -> bool {
        matches!(self.known(a, frame), Known::Join)
    }

    /// False if the lock was taken by the JDK for itself.
    fn note(&mut self, a: &Agent, stack: &[FrameInfo], class: i32) -> bool {
        let mut left = self.depth;
        for frame in stack {
            match self.known(a, *frame) {
                Known::Jdk(Whose::Internal) if left == self.depth => return false,
                Known::NotThere | Known::Jdk(_) | Known::Join => {}
                Known::Program(method) => {
                    self.pairs.insert((method, class));
                    left -= 1;
                    if left == 0 {
                        break;
                    }
                }
            }
        }
        true
    }

    pub fn relation(&self) -> Relation {
        let mut relation = Relation::new(self.depth);
        for (method, class) in &self.pairs {
            if let Some(name) = self.names.get(class) {
                relation.acquired(name, [self.keys[*method as usize].as_str()]);
            }
        }
        for (class, times) in &self.left_out {
            relation.leave_out(class, *times);
        }
        relation
    }
}

fn is_join(jvmti: &Jvmti, frame: FrameInfo) -> bool {
    let method = jvmti.method(frame.method);
    method.is_some_and(|(name, _)| name == "join")
}

impl Hidden {
    /// The current thread has taken a lock; false if nothing is to be noted of
    /// this statement.
    pub fn sampled(&self, a: &Agent, site: u32, lock_class: i32) -> bool {
        // Locks that the rest of the JDK takes in its own code are its own.
        let concerns = a.sites.with(site, |class, _| {
            !class.is_jdk || class.class.starts_with("java/util/")
        });
        if concerns != Some(true) {
            return false;
        }
        let mut collector = self.collector.lock().unwrap_or_else(|e| e.into_inner());
        let stack = a.jvmti.stack(collector.depth as usize + SPARE);
        if collector.note(a, &stack, lock_class) && !collector.names.contains_key(&lock_class) {
            let name = self.lock_name(lock_class).unwrap_or_default();
            collector.names.insert(lock_class, name);
        }
        true
    }

    /// Whether what the current thread does in java.util is the JDK's own work.
    pub(super) fn is_internal(&self, a: &Agent) -> bool {
        let mut collector = self.collector.lock().unwrap_or_else(|e| e.into_inner());
        for frame in a.jvmti.stack(SPARE) {
            match collector.known(a, frame) {
                Known::Program(_) => return false,
                Known::Jdk(Whose::Internal) => return true,
                Known::Jdk(Whose::Program) => return false,
                _ => {}
            }
        }
        false
    }
}
