//! Whose a class is: the JDK's if the boot or the platform loader defines it (and no
//! user has appended it to the boot class path), the program's otherwise, whatever its
//! package is called.
//!
//! Stacks and locations have names of classes only, so this is kept by name. A
//! package says it for nearly all; what is kept are the others. Of a name that both
//! have, as with a program that brings a copy of what the JDK has too, nobody can
//! tell whose is meant: it counts as the JDK's, of which less is claimed.

use classfile::is_jdk_name;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{RwLock, RwLockReadGuard};

#[derive(Debug, Default)]
pub struct Owners(RwLock<Known>);

/// By internal name.
#[derive(Debug, Default)]
struct Known {
    /// Whose package says otherwise; true: the JDK's.
    misleading: FxHashMap<String, bool>,
    /// Classes of the JDK in packages that programs can have too.
    jdks: FxHashSet<String>,
}

impl Owners {
    /// A class is loaded.
    pub fn note(&self, class: &str, is_jdk: bool) {
        // No program can define classes there.
        if class.starts_with("java/") || !is_jdk && !is_jdk_name(class) {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(|e| e.into_inner());
        let Known { misleading, jdks } = &mut *known;
        match (is_jdk, is_jdk_name(class)) {
            (true, true) => {
                misleading.remove(class);
                jdks.insert(class.to_owned());
            }
            (true, false) => {
                misleading.insert(class.to_owned(), true);
            }
            (false, _) if jdks.contains(class) => {}
            (false, _) => {
                misleading.insert(class.to_owned(), false);
            }
        }
    }

    /// By internal or binary name.
    pub fn is_jdk(&self, class: &str) -> bool {
        let by_name = is_jdk_name(class);
        let known = self.lock();
        if known.misleading.is_empty() {
            return by_name;
        }
        let told = match class.contains('.') {
            true => known.misleading.get(&class.replace('.', "/")),
            false => known.misleading.get(class),
        };
        told.copied().unwrap_or(by_name)
    }

    fn lock(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(|e| e.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_decides_and_not_the_package() {
        let owners = Owners::default();
        owners.note("javax/servlet/Filter", false);
        owners.note("javax/swing/JFrame", true);
        owners.note("com/shop/Cart", false);
        owners.note("org/example/Jdks", true);
        for (class, is_jdk) in [
            ("javax.servlet.Filter", false),
            ("javax/servlet/Filter", false),
            ("javax/servlet/Other", true),
            ("javax/swing/JFrame", true),
            ("com.shop.Cart", false),
            ("org.example.Jdks", true),
            ("java.util.HashMap", true),
        ] {
            assert_eq!(owners.is_jdk(class), is_jdk, "{class}");
        }
    }

    #[test]
    fn a_name_that_both_have_is_the_jdks() {
        for program_first in [true, false] {
            let owners = Owners::default();
            owners.note("javax/xml/Parser", !program_first);
            owners.note("javax/xml/Parser", program_first);
            assert!(owners.is_jdk("javax/xml/Parser"), "{program_first}");
        }
    }
}
