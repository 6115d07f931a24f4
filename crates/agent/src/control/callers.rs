//! Whose work a point in java.util is: the program's, or the JDK's own.
//!
//! The JDK keeps its class loaders, method types, reflection and locale data in
//! the same maps that programs use. A switch of threads in there shows nothing
//! about the program, and which of them are used depends on what was cached. So
//! the first caller that is clearly one or the other decides.

use crate::Agent;
use crate::jvmti::{MethodId, class_in};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard};

/// Frames looked at; who calls from further away is taken for the program.
const DEPTH: usize = 16;
/// Frames looked at first.
const FEW: usize = 4;

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

/// By method: whose it is, and whether it is the bridge's.
type Known = FxHashMap<usize, (Whose, bool)>;

#[derive(Default, Debug)]
pub struct Callers(Mutex<Both>);

#[derive(Default, Debug)]
struct Both {
    /// Of the JDK.
    lasting: Known,
    /// Of classes that may be gone in the next execution, and others be in their
    /// place.
    fleeting: Known,
    /// Whether the program makes arrays at these places of methods.
    makers: FxHashMap<(usize, i64), bool>,
}

impl Both {
    fn owner(&mut self, a: &Agent, method: MethodId) -> (Whose, bool) {
        let key = method.key();
        if let Some(known) = self.lasting.get(&key).or_else(|| self.fleeting.get(&key)) {
            return *known;
        }
        let (signature, boot) = a.jvmti.with_method_class(method, |class| {
            let signature = a.jvmti.class_signature(class);
            (signature.unwrap_or_default(), a.jvmti.is_boot_class(class))
        });
        let whose = match a.owners.is_jdk(class_in(&signature)) {
            true => whose(&signature),
            false => Whose::Program,
        };
        let whose = (whose, is_ours(&signature));
        // Hidden classes have a dot in their names.
        let lasts = boot && !signature.contains('.');
        let known = match lasts {
            true => &mut self.lasting,
            false => &mut self.fleeting,
        };
        known.insert(key, whose);
        whose
    }
}

impl Callers {
    /// Other classes come.
    pub fn restart(&self) {
        let mut known = self.lock();
        known.fleeting.clear();
        known.makers.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Both> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Whether what the current thread does in java.util is the JDK's own work.
    pub fn is_internal(&self, a: &Agent) -> bool {
        self.find(a, |(whose, _)| match whose {
            Whose::Unknown => None,
            whose => Some(whose == Whose::Internal),
        })
    }

    /// Whether the JDK, or a probe, makes an object for itself.
    pub fn is_made_internally(&self, a: &Agent) -> bool {
        self.find(a, |known| match known {
            (_, true) => Some(true),
            (Whose::Unknown, _) => None,
            (whose, _) => Some(whose == Whose::Internal),
        })
    }

    /// Whether the array that was made just now is the JVM's, which makes some for
    /// classes wherever they are first used, or a probe's.
    pub fn is_jvms(&self, a: &Agent) -> bool {
        let mut known = self.lock();
        let Some(frame) = a.jvmti.stack(1).first().copied() else {
            return true;
        };
        let (whose, is_ours) = known.owner(a, frame.method);
        if is_ours {
            return true;
        }
        let key = (frame.method.key(), frame.location);
        let makes = known.makers.entry(key).or_insert_with(|| {
            let code = a.jvmti.bytecodes(frame.method);
            let at = usize::try_from(frame.location).ok();
            let instruction = at.and_then(|at| code.get(at));
            instruction.is_none_or(|op| may_make_arrays(*op, whose == Whose::Unknown))
        });
        !*makes
    }

    /// What the first frame that tells says; most often one of the first few does.
    fn find(&self, a: &Agent, tells: impl Fn((Whose, bool)) -> Option<bool>) -> bool {
        let mut known = self.lock();
        let mut seen = 0;
        for depth in [FEW, DEPTH] {
            let frames = a.jvmti.stack(depth);
            let unseen = frames.iter().skip(seen);
            if let Some(told) = unseen.map(|f| known.owner(a, f.method)).find_map(&tells) {
                return told;
            }
            seen = frames.len();
            if seen < depth {
                break;
            }
        }
        false
    }
}

/// Whether arrays that are seen to be made at an instruction are its own. Where the
/// JVM compiles, copies of arrays are made by the instruction that calls for them;
/// static methods that copy are called in the JDK (`shared`), over and over.
fn may_make_arrays(op: u8, shared: bool) -> bool {
    const INVOKE_VIRTUAL: u8 = 0xb6;
    const INVOKE_SPECIAL: u8 = 0xb7;
    const INVOKE_STATIC: u8 = 0xb8;
    const INVOKE_INTERFACE: u8 = 0xb9;
    const NEW_ARRAY: u8 = 0xbc;
    const A_NEW_ARRAY: u8 = 0xbd;
    const MULTI_A_NEW_ARRAY: u8 = 0xc5;
    match op {
        NEW_ARRAY | A_NEW_ARRAY | MULTI_A_NEW_ARRAY => true,
        INVOKE_VIRTUAL | INVOKE_SPECIAL | INVOKE_INTERFACE => true,
        INVOKE_STATIC => shared,
        _ => false,
    }
}

/// Whether a class is one of the bridge's, by its signature.
pub fn is_ours(class: &str) -> bool {
    class.starts_with("Ljava/lang/Photofinish")
}

/// By the signature of a class of the JDK.
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
    fn who_makes_arrays() {
        let (new, get_static, invoke_static, a_new_array) = (0xbb, 0xb2, 0xb8, 0xbd);
        assert!(may_make_arrays(a_new_array, false));
        assert!(!may_make_arrays(new, false));
        assert!(!may_make_arrays(get_static, true));
        assert!(may_make_arrays(invoke_static, true));
        assert!(!may_make_arrays(invoke_static, false));
    }

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
        assert!(is_ours("Ljava/lang/PhotofinishClocks;"));
        assert!(!is_ours("Lcom/shop/Photofinish;"));
    }
}
