//! Exceptions that the program catches. The JVM tells of every throw, and where
//! it will be caught. A race may show in nothing else: the program catches, logs
//! and goes on.
//!
//! Each class, place of the throw and handler is told once, if the throw or the
//! handler is in the program, and at most [`MOST`] of them in a run. Explorations
//! do without: they look for what ends threads, and throws cost more with these
//! events.

use super::{Control, Place};
use crate::Agent;
use crate::jni::{Jni, Ref};
use crate::jvmti::FrameInfo;
use crate::stacks::type_name;
use protocol::control::Caught;
use protocol::finding::Line;
use rustc_hash::FxHashSet;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

const MOST: usize = 200;

/// What was told: class, method and position of the throw, and of the handler.
type Key = (String, usize, i64, usize, i64);

#[derive(Debug, Default)]
pub(super) struct Told(Mutex<FxHashSet<Key>>);

impl Told {
    /// Another execution begins.
    pub fn restart(&self) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.clear();
    }

    /// Whether it is to be told now.
    fn is_new(&self, key: Key) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < MOST && told.insert(key)
    }
}

impl Control {
    /// The current thread is about to throw, and somebody will catch it.
    pub fn caught(&self, a: &Agent, jni: Jni, exception: Ref, thrown: FrameInfo, by: FrameInfo) {
        let running = self.is_running.load(Ordering::Acquire);
        let over = self.is_over.load(Ordering::Acquire);
        let in_program = |at: FrameInfo| {
            a.jvmti.with_method_class(at.method, |class| {
                class.non_null().is_some_and(|c| !a.jvmti.is_boot_class(c))
            })
        };
        if !running || over || !(in_program(thrown) || in_program(by)) {
            return;
        }
        let class = a.jvmti.class_signature(jni.class_of(exception));
        let class = class.map_or_else(|| "?".to_owned(), |s| type_name(&s));
        let place = |at: FrameInfo| (at.method.key(), at.location);
        let ((method, at), (catcher, handler)) = (place(thrown), place(by));
        if !self
            .told
            .is_new((class.clone(), method, at, catcher, handler))
        {
            return;
        }
        let (thrown, by) = {
            let mut stacks = a.stacks.lock().unwrap_or_else(PoisonError::into_inner);
            (stacks.frame(&a.jvmti, thrown), stacks.frame(&a.jvmti, by))
        };
        a.findings.write(Line::Caught(Box::new(Caught {
            thread: Place::current().map_or_else(String::new, |p| p.name.clone()),
            exception: class,
            thrown: a.told_frame(&thrown),
            by: a.told_frame(&by),
        })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_once_and_not_too_many() {
        let told = Told::default();
        let key = |n: i64| ("E".to_owned(), 1, n, 2, 3);
        assert!(told.is_new(key(0)));
        assert!(!told.is_new(key(0)));
        let more = (1..1000).filter(|n| told.is_new(key(*n))).count();
        assert_eq!(more, MOST - 1);
    }
}
