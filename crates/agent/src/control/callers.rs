//! Whose work a point in java.util is: the program's, or the JDK's own.
//!
//! The JDK keeps its class loaders, method types, reflection and locale data in
//! the same maps that programs use. A switch of threads in there shows nothing
//! about the program, and which of them are used depends on what was cached. So
//! the first caller that is clearly one or the other decides.

use crate::Agent;
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// Frames looked at; who calls from further away is taken for the program.
const DEPTH: usize = 16;

/// Callers of java.util whose business is the JDK's own.
const INTERNAL: &[&str] = &[
    "Ljava/lang/Class;",
    "Ljava/lang/ClassLoader",
    "Ljava/lang/ClassValue",
    "Ljava/lang/Module",
    "Ljava/lang/NamedPackage",
    "Ljava/lang/Package",
    "Ljava/lang/PhotofinishLoader;",
    "Ljava/lang/StringConcatHelper",
    "Ljava/lang/invoke/",
    "Ljava/lang/module/",
    "Ljava/lang/ref/",
    "Ljava/lang/reflect/",
    "Ljava/net/URL",
    "Ljava/security/",
    "Ljdk/internal/",
    "Lsun/",
];

/// Who works in a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// Code that both use, such as java.util: its caller decides.
    Unknown,
    Internal,
    Program,
}

/// By method.
#[derive(Default, Debug)]
pub struct Callers(Mutex<FxHashMap<usize, Whose>>);

/// Methods of classes that come and go.
const MOST: usize = 10_000;

impl Callers {
    /// Other classes may come.
    pub fn restart(&self) {
        let mut known = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if known.len() > MOST {
            known.clear();
        }
    }

    /// Whether what the current thread does in java.util is the JDK's own work.
    pub fn is_internal(&self, a: &Agent) -> bool {
        let mut known = self.0.lock().unwrap_or_else(|e| e.into_inner());
        for frame in a.jvmti.stack(DEPTH) {
            let whose = *known.entry(frame.method as usize).or_insert_with(|| {
                let class = a.jvmti.method_class(frame.method);
                whose(&a.jvmti.class_signature(class).unwrap_or_default())
            });
            match whose {
                Whose::Unknown => continue,
                whose => return whose == Whose::Internal,
            }
        }
        false
    }
}

/// By the signature of a class.
pub fn whose(class: &str) -> Whose {
    let is = |prefix: &&str| class.starts_with(*prefix);
    if INTERNAL.iter().any(is) {
        Whose::Internal
    } else if class != "Ljava/lang/Thread;" && ["Ljava/util/", "Ljava/lang/"].iter().any(is) {
        Whose::Unknown
    } else {
        Whose::Program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jdk_at_work_for_itself() {
        assert_eq!(
            whose("Ljava/util/concurrent/ConcurrentHashMap;"),
            Whose::Unknown
        );
        assert_eq!(whose("Ljava/lang/ThreadLocal;"), Whose::Unknown);
        assert_eq!(whose("Ljava/lang/ClassLoader;"), Whose::Internal);
        assert_eq!(whose("Ljava/lang/Thread;"), Whose::Program);
        assert_eq!(whose("Lcom/shop/Cart;"), Whose::Program);
    }
}
