//! Hidden races: may-trigger scheduling (Cai and Cao: "Effective and Precise
//! Dynamic Detection of Hidden Races for Java Programs", ESEC/FSE 2015).
//!
//! A race is hidden when a chain of lock operations happens to order its two
//! accesses in every run that the system's scheduler makes. Phase I watches one
//! run and keeps, for each method, the classes of the locks that were acquired
//! in it or in what it called: the [`Relation`]. Phase II holds a thread back
//! that requests a lock while another is in a method that may trigger one of
//! the same class, escorts that other thread until it has its lock, and so turns
//! the order round: the [`Finder`]. Each run's own relation is the input of
//! the next.
//!
//! This is the thinking, without threads or clocks: `agent` uses it for programs
//! that run freely, `strategies/drfinder.rs` under control.

mod finder;
mod relation;

pub use finder::{Answer, Counts, Finder, Peer};
pub use relation::{Plan, Relation, RelationError, method_key};

use crate::registry::{How, Row, Scheduler};

pub const SCHEDULER: Scheduler = Scheduler(&Row {
    name: "drfinder",
    about: "Free-running, but a thread that requests a lock may have to wait for one that may \
            lead to such a lock: shows races that the usual order hides",
    how: How::Hold,
    goes_by_relation: true,
    is_offered: true,
});

/// How many frames of a stack the relation looks at.
pub const DEPTH: u32 = 12;

/// Locks that say nothing about the program's own order, by the class of the
/// lock: those of class loaders, of logging and of test harnesses, which caused
/// half of the paper's thrashing.
const LEFT_OUT: &[&str] = &[
    "java.lang.ClassLoader",
    "java.util.logging.",
    "java.util.ServiceLoader",
    "java.util.ResourceBundle",
    "java.util.zip.",
    "java.util.jar.",
    "ch.qos.logback.",
    "org.apache.commons.logging.",
    "org.apache.log4j.",
    "org.apache.logging.",
    "org.slf4j.",
    "junit.",
    "org.junit.",
    "org.testng.",
    "org.gradle.",
    "org.apache.maven.",
];

/// The same for classes of the JDK: what it has for itself.
const LEFT_OUT_OF_JDK: &[&str] = &["sun.", "jdk."];

/// Whether a lock of this class (dotted) is left out unless asked for.
pub fn is_left_out(class: &str, is_jdk: bool) -> bool {
    let is_in = |prefixes: &[&str]| prefixes.iter().any(|prefix| class.starts_with(prefix));
    is_in(LEFT_OUT) || is_jdk && is_in(LEFT_OUT_OF_JDK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_of_loaders_and_loggers_are_left_out() {
        assert!(is_left_out("org.apache.log4j.Category", false));
        assert!(is_left_out("jdk.internal.loader.BuiltinClassLoader", true));
        assert!(!is_left_out("jdk.shop.Cart", false));
        assert!(!is_left_out("java.util.Vector", true));
        assert!(!is_left_out("com.shop.Cart", false));
    }
}
