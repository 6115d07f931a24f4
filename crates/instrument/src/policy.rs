//! Which classes get which probes.
//!
//! A class has one of three levels:
//!
//! * [`Level::Full`]: data accesses are checked and ordering is tracked;
//! * [`Level::Sync`]: trusted code. Only what orders threads is tracked
//!   (monitors, volatiles, Unsafe, VarHandle), its own data is believed to be
//!   used correctly;
//! * [`Level::None`]: left as it is, save the few models in `models.rs` and the
//!   bookkeeping after `Object.clone`.
//!
//! # Defaults
//! Application classes and the classes directly in `java.util` are Full: a
//! `HashMap` shared without a lock is the program's mistake, and shows in
//! `HashMap`'s own fields. The rest of `java.**` and `javax.**` is Sync. What
//! the probes and the JVM itself stand on (`java.lang`, method handles,
//! reflection, security, `sun.**`, `jdk.**`) is None, with named exceptions.
//! A class is "of the JDK" by its package, unless the caller knows that an
//! application loader defines it (`javax.servlet`, `javax.inject`): then it is
//! Full like any application class.
//!
//! # Patterns
//! Names with dots or slashes. `*` stands for any characters within a package,
//! `**` for any characters at all; a pattern without a star names a class with
//! its nested classes, or a package with everything below it.
//! `include` raises a class to Full, `exclude` lowers it to None, `trusted`
//! lowers Full to Sync. Exclude wins over trusted, and trusted over include.
//! No pattern reaches the classes of [`never_touched`].
//!
//! Plain accesses to fields that are `untracked` are not checked, in whatever class
//! they are made. Such a pattern is one of a class, without its nested ones, a dot,
//! and the name of a field or `*`.

use classfile::is_jdk_name;

/// How much of a class is instrumented. Ordered: None < Sync < Full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Left alone.
    None,
    /// Trusted: ordering only.
    Sync,
    /// Data accesses are checked too.
    Full,
}

/// One class-name pattern, see the module's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
}

impl Pattern {
    pub fn new(text: &str) -> Self {
        Pattern {
            text: text.trim().replace('.', "/"),
        }
    }

    /// Does the class of this internal name match?
    pub fn matches(&self, class: &str) -> bool {
        if self.text.contains('*') {
            return glob(self.text.as_bytes(), class.as_bytes());
        }
        match class.strip_prefix(self.text.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with(['$', '/']),
            None => false,
        }
    }
}

/// Fields by the class that declares them: `com.shop.Bank.total`, `com.shop.*.cache`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPattern {
    class: String,
    field: String,
}

impl FieldPattern {
    /// None if it does not name a class and a field.
    pub fn new(text: &str) -> Option<Self> {
        let (class, field) = text.trim().rsplit_once('.')?;
        (!class.is_empty() && !field.is_empty()).then(|| FieldPattern {
            class: class.replace('.', "/"),
            field: field.to_owned(),
        })
    }

    /// Does the field that the class of this internal name declares match?
    pub fn matches(&self, class: &str, field: &str) -> bool {
        glob(self.field.as_bytes(), field.as_bytes())
            && glob(self.class.as_bytes(), class.as_bytes())
    }
}

/// Glob match, linear in memory and at worst quadratic in time. Only the last
/// star met matters for backtracking, except that a `*` which ran into a
/// package boundary falls back to the last `**`.
fn glob(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut single: Option<(usize, usize)> = None;
    let mut double: Option<(usize, usize)> = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            if pattern.get(p + 1) == Some(&b'*') {
                while pattern.get(p) == Some(&b'*') {
                    p += 1;
                }
                (single, double) = (None, Some((p, n)));
            } else {
                p += 1;
                single = Some((p, n));
            }
            continue;
        }
        match (pattern.get(p), name.get(n)) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b => {
                p += 1;
                n += 1;
                continue;
            }
            _ => {}
        }
        // Mismatch: let the innermost star take one more character.
        match (single, double) {
            (Some((after, at)), _) if name.get(at).is_some_and(|&c| c != b'/') => {
                single = Some((after, at + 1));
                (p, n) = (after, at + 1);
            }
            (_, Some((after, at))) if at < name.len() => {
                (single, double) = (None, Some((after, at + 1)));
                (p, n) = (after, at + 1);
            }
            _ => return false,
        }
    }
}

/// The user's patterns over the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub include: Vec<Pattern>,
    pub exclude: Vec<Pattern>,
    /// Left out only where the JDK has them: programs have such packages too.
    pub exclude_of_jdk: Vec<Pattern>,
    pub trusted: Vec<Pattern>,
    pub untracked: Vec<FieldPattern>,
    /// Accesses that cannot race, because no other thread knows the object, are
    /// checked all the same, and loops access by access: to measure what that saves.
    pub check_unshared: bool,
    /// Probes are those that rest most of the time, see [`crate::probes::SAMPLED`].
    pub sampled: bool,
}

impl Policy {
    /// From the texts of the command line.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S], trusted: &[S]) -> Self {
        let patterns = |texts: &[S]| texts.iter().map(|t| Pattern::new(t.as_ref())).collect();
        Policy {
            include: patterns(include),
            exclude: patterns(exclude),
            trusted: patterns(trusted),
            ..Policy::default()
        }
    }

    /// Whether plain accesses to a field that the class declares are not checked.
    pub fn is_untracked(&self, class: &str, field: &str) -> bool {
        self.untracked.iter().any(|p| p.matches(class, field))
    }

    /// The level of a class of which only the internal name is known.
    pub fn level(&self, class: &str) -> Level {
        self.level_of(class, None)
    }

    /// The level of a class; `boot_or_platform` says whether the boot or the
    /// platform loader defines it, when the caller knows.
    pub fn level_of(&self, class: &str, boot_or_platform: Option<bool>) -> Level {
        if never_touched(class) {
            return Level::None;
        }
        let any = |patterns: &[Pattern]| patterns.iter().any(|p| p.matches(class));
        if any(&self.exclude) || boot_or_platform != Some(false) && any(&self.exclude_of_jdk) {
            return Level::None;
        }
        let level = if any(&self.include) {
            Level::Full
        } else {
            default_level(class, boot_or_platform)
        };
        if level == Level::Full && any(&self.trusted) {
            return Level::Sync;
        }
        level
    }
}

/// Classes that no pattern reaches: the bridge, what it stands on, and those
/// whose layout the JVM knows by heart.
pub fn never_touched(class: &str) -> bool {
    const PREFIXES: [&str; 4] = [
        "java/lang/Photofinish",
        "java/lang/Module",
        "jdk/internal/misc/",
        "jdk/internal/vm/",
    ];
    const NAMES: [&str; 4] = [
        "java/lang/Object",
        "java/lang/Class",
        "java/lang/String",
        "java/lang/ref/Reference",
    ];
    (class.starts_with("java/lang/") || class.starts_with("jdk/internal/"))
        && (NAMES.contains(&class) || PREFIXES.iter().any(|p| class.starts_with(p)))
}

fn default_level(class: &str, boot_or_platform: Option<bool>) -> Level {
    if boot_or_platform == Some(false) || !is_jdk_name(class) {
        return Level::Full;
    }
    if let Some(rest) = class.strip_prefix("java/util/") {
        // Parallel prefix sums: tasks that may write the same value twice, as
        // java.util.concurrent does, and is trusted to.
        if rest.starts_with("ArrayPrefixHelpers") {
            return Level::Sync;
        }
        // Safe for several threads, and looks at the state of its tasks without
        // their locks when it purges them.
        if let "Timer" | "TimerTask" | "TimerThread" | "TaskQueue" = rest {
            return Level::Sync;
        }
        return if rest.contains('/') {
            Level::Sync
        } else {
            Level::Full
        };
    }
    // Handles of fields end in these, made by the linker or at run time, as
    // Unsafe calls.
    if let "java/lang/invoke/DirectMethodHandle$Holder"
    | "java/lang/invoke/LambdaForm$DMH"
    | "java/lang/invoke/LambdaForm$BMH"
    | "java/lang/invoke/LambdaForm$MH" = class
    {
        return Level::Full;
    }
    if let Some(rest) = class.strip_prefix("java/lang/") {
        return if orders_threads(rest) {
            Level::Sync
        } else {
            Level::None
        };
    }
    if class.starts_with("java/security/") {
        return Level::None;
    }
    if class.starts_with("java/") || class.starts_with("javax/") {
        return Level::Sync;
    }
    if class.starts_with("jdk/internal/ref/") {
        return Level::Sync;
    }
    // So does reflective access in JDK 17; later it goes through handles.
    if class
        .strip_prefix("jdk/internal/reflect/Unsafe")
        .is_some_and(|rest| rest.ends_with("FieldAccessorImpl"))
    {
        return Level::Full;
    }
    Level::None
}

/// The classes of `java.lang` whose locks and volatiles order threads of the
/// program, given without the package. The others either never synchronise, or
/// are called from inside the probes, or order by accident only: a thread that
/// ends and one that is made later meet in their group.
fn orders_threads(name: &str) -> bool {
    const OUTER: [&str; 15] = [
        "Thread",
        "Throwable",
        "BaseVirtualThread",
        "ThreadBuilders",
        "InheritableThreadLocal",
        "StringBuffer",
        "Process",
        "ProcessBuilder",
        "ProcessHandleImpl",
        "ProcessImpl",
        "Runtime",
        "Shutdown",
        "ApplicationShutdownHooks",
        "ref/ReferenceQueue",
        "ref/Finalizer",
    ];
    // They number threads, since JDK 21; before, Thread does it itself (bracket.rs).
    if let "Thread$ThreadIdentifiers" | "Thread$ThreadNumbering" = name {
        return false;
    }
    let outer = name.split('$').next().unwrap_or(name);
    OUTER.contains(&outer)
        || outer.starts_with("ref/Cleaner")
        || outer == "ref/NativeReferenceQueue"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn defaults_by_package() {
        let p = Policy::default();
        for (class, level) in [
            ("Main", Level::Full),
            ("com/shop/Cart$Item", Level::Full),
            ("com/sunny/App", Level::Full),
            ("java/util/HashMap", Level::Full),
            ("java/util/ArrayList$Itr", Level::Full),
            ("java/util/concurrent/ConcurrentHashMap", Level::Sync),
            ("java/util/stream/ReferencePipeline", Level::Sync),
            ("java/io/PrintStream", Level::Sync),
            ("javax/swing/JFrame", Level::Sync),
            ("java/lang/Thread", Level::Sync),
            ("java/lang/Thread$State", Level::Sync),
            ("java/lang/Thread$ThreadIdentifiers", Level::None),
            ("java/lang/VirtualThread", Level::None),
            ("java/lang/ThreadGroup", Level::None),
            ("java/lang/ThreadLocal", Level::None),
            ("java/lang/Throwable", Level::Sync),
            ("java/lang/StringBuilder", Level::None),
            ("java/lang/invoke/MethodHandle", Level::None),
            ("java/lang/ref/ReferenceQueue$Lock", Level::Sync),
            ("java/lang/ref/Cleaner$Cleanable", Level::Sync),
            ("java/lang/ref/Reference", Level::None),
            ("jdk/internal/ref/CleanerImpl", Level::Sync),
            (
                "jdk/internal/reflect/UnsafeIntegerFieldAccessorImpl",
                Level::Full,
            ),
            (
                "jdk/internal/reflect/UnsafeFieldAccessorFactory",
                Level::None,
            ),
            ("jdk/internal/misc/Unsafe", Level::None),
            ("sun/nio/ch/IOUtil", Level::None),
            ("com/sun/tools/javac/Main", Level::None),
            ("java/security/Provider", Level::None),
            ("java/lang/Photofinish", Level::None),
            ("java/lang/PhotofinishThread", Level::None),
        ] {
            assert_eq!(p.level(class), level, "{class}");
        }
    }

    #[test]
    fn an_application_loader_makes_javax_an_application_class() {
        let p = Policy::default();
        let class = "javax/inject/Provider";
        assert_eq!(p.level_of(class, Some(false)), Level::Full);
        assert_eq!(p.level_of(class, Some(true)), Level::Sync);
        let p = Policy {
            exclude_of_jdk: vec![Pattern::new("javax")],
            ..p
        };
        assert_eq!(p.level_of(class, Some(false)), Level::Full);
        assert_eq!(p.level_of(class, Some(true)), Level::None);
    }

    #[test]
    fn user_patterns_and_their_precedence() {
        let p = Policy::new(
            &["sun.nio.**", "java.io.*", "java/lang/**"],
            &["com.shop.gen.**", "sun.nio.ch.IOUtil"],
            &["com.shop.lib", "java.io.File"],
        );
        for (class, level) in [
            ("sun/nio/ch/Net", Level::Full),
            ("sun/nio/ch/IOUtil", Level::None),
            ("sun/nio/ch/IOUtil$1", Level::None),
            ("java/io/Reader", Level::Full),
            ("java/io/File", Level::Sync),
            ("java/io/sub/Reader", Level::Sync),
            ("com/shop/gen/deep/X", Level::None),
            ("com/shop/lib/X", Level::Sync),
            ("com/shop/library/X", Level::Full),
            ("java/lang/Integer", Level::Full),
            ("java/lang/String", Level::None),
            ("java/lang/Module", Level::None),
        ] {
            assert_eq!(p.level(class), level, "{class}");
        }
        assert_eq!(
            Policy::new(&[], &[], &["java.lang.Thread"]).level("java/lang/Thread"),
            Level::Sync,
            "trusted does not lower Sync"
        );
    }

    #[test]
    fn fields_by_the_class_that_declares_them() {
        let untracked = |patterns: &[&str], class: &str, field: &str| {
            let policy = Policy {
                untracked: patterns
                    .iter()
                    .filter_map(|p| FieldPattern::new(p))
                    .collect(),
                ..Policy::default()
            };
            policy.is_untracked(class, field)
        };
        let bank = ["com.shop.Bank.total"];
        assert!(untracked(&bank, "com/shop/Bank", "total"));
        for (class, field) in [
            ("com/shop/Bank", "totals"),
            ("com/shop/Bank$Branch", "total"),
            ("com/shop", "total"),
            ("Bank", "total"),
        ] {
            assert!(!untracked(&bank, class, field), "{class}.{field}");
        }
        assert!(untracked(&["Bank.*"], "Bank", "total"));
        assert!(untracked(
            &["com.**.cache"],
            "com/shop/deep/Map$Node",
            "cache"
        ));
        assert!(!untracked(&["com.*.cache"], "com/shop/deep/Map", "cache"));
        for wrong in ["", "total", ".total", "Bank."] {
            assert_eq!(FieldPattern::new(wrong), None, "{wrong:?}");
        }
    }

    /// The obvious matcher, exponential in the number of stars.
    fn slow(p: &[u8], n: &[u8]) -> bool {
        match p {
            [] => n.is_empty(),
            [b'*', b'*', rest @ ..] => (0..=n.len()).any(|i| slow(rest, &n[i..])),
            [b'*', rest @ ..] => (0..=n.len())
                .take_while(|&i| !n[..i].contains(&b'/'))
                .any(|i| slow(rest, &n[i..])),
            [c, rest @ ..] => n.first() == Some(c) && slow(rest, &n[1..]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]
        #[test]
        fn glob_equals_the_obvious_matcher(p in "[ab/*]{0,8}", n in "[ab/]{0,8}") {
            prop_assert_eq!(glob(p.as_bytes(), n.as_bytes()), slow(p.as_bytes(), n.as_bytes()));
        }
    }
}
