//! Fields added to classes, and their names.
//!
//! Every name starts with `$pf`, so that the agent can hide them from
//! reflection, and is a Java identifier: class files before version 49 may hold
//! no other.

use classfile::{ClassFile, PoolFull, acc};

use crate::policy::never_touched;
use crate::{FieldInfo, Level, Mode, Policy, Shadow, models};

/// The allocation site of an object of a Full class (`I`).
pub const ALLOC_FIELD: &str = "$pf$a";
/// The identity of an object, in [`Mode::Events`] (`J`).
pub const ID_FIELD: &str = "$pf$id";
/// What was known when this class's constructor ended (`Ljava/lang/Object;`, or
/// who made the object, `J`, in [`Mode::Events`]), if its final fields lead to
/// more data.
pub const FREEZE_FIELD: &str = "$pf$f";
/// In `java.lang.Thread`: the tool's own view of the thread.
pub const THREAD_FIELD: &str = "$pf";
pub const THREAD_DESC: &str = "Ljava/lang/PhotofinishThread;";
/// What every added field's name starts with.
pub const PREFIX: &str = "$pf";

const ADDED: u16 = acc::PUBLIC | acc::TRANSIENT | acc::SYNTHETIC;
const THREAD: &str = "java/lang/Thread";

/// Which of a field's shadows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShadowKind {
    /// Epoch of the last write (`J`).
    Write,
    /// Epoch of the last read (`J`).
    Read,
    /// What stands for a volatile (`Ljava/lang/Object;`).
    Volatile,
}

/// The name of a field's shadow. The descriptor is part of it, because
/// obfuscated classes give several fields one name.
pub fn shadow_name(kind: ShadowKind, field: &str, desc: &str) -> String {
    let mut name = String::with_capacity(8 + field.len() + desc.len());
    name.push_str(match kind {
        ShadowKind::Write => "$pf$w$",
        ShadowKind::Read => "$pf$r$",
        ShadowKind::Volatile => "$pf$v$",
    });
    name.push_str(field);
    name.push('$');
    for c in desc.chars() {
        match c {
            '/' => name.push('_'),
            '_' => name.push_str("_1"),
            ';' => name.push_str("_2"),
            '[' => name.push_str("_3"),
            c => name.push(c),
        }
    }
    name
}

/// Whether a final field of this type leads to data that its constructor may
/// have written: what a reader of the field may then read without a race
/// (JLS 17.5).
pub(crate) fn leads_on(desc: &str) -> bool {
    const LEAVES: [&str; 11] = [
        "String",
        "Integer",
        "Long",
        "Short",
        "Byte",
        "Character",
        "Boolean",
        "Float",
        "Double",
        "Class",
        "Thread",
    ];
    match desc.strip_prefix("Ljava/lang/") {
        Some(simple) => !LEAVES.iter().any(|l| simple.strip_suffix(';') == Some(l)),
        None => desc.starts_with(['L', '[']),
    }
}

/// Whether the class has final fields that lead on. In the JDK only the
/// immutable collections and wrappers count: hash nodes with their final keys
/// are too many, and are not published by races.
pub(crate) fn freezes(class: &ClassFile<'_>, name: &str, is_jdk: bool) -> bool {
    let immutable = ["java/util/ImmutableCollections", "java/util/Collections$"];
    if class.is_interface() || is_jdk && !immutable.iter().any(|p| name.starts_with(p)) {
        return false;
    }
    class
        .fields
        .iter()
        .any(|f| f.is(acc::FINAL) && !f.is(acc::STATIC) && leads_on(&class.member_desc(f)))
}

/// Was this class file rewritten before?
pub(crate) fn is_rewritten(class: &ClassFile<'_>) -> bool {
    let mut fields = class.fields.iter();
    fields.any(|f| f.access & ADDED == ADDED && class.member_name(f).starts_with(PREFIX))
}

/// Whether the class copies the fields of `java.lang.reflect.AccessibleObject`. Byte Buddy and others make one to
/// learn from it where `override` is, and write there by Unsafe: fields of ours would have them write elsewhere, into
/// a reference, of which the collector dies. Nobody makes objects of such a class.
pub(crate) fn mirrors_a_layout(class: &ClassFile<'_>) -> bool {
    let is_field = |name: &str, desc: &str| {
        let field = class.field(name, desc);
        field.is_some_and(|f| !f.is_static())
    };
    let of_objects = class.fields.iter().filter(|f| !f.is_static()).count();
    of_objects == 2
        && is_field("override", "Z")
        && is_field("accessCheckCache", "Ljava/lang/Object;")
}

/// Makes the fields of [`models::VOLATILE`] volatile.
pub(crate) fn make_volatile(class: &mut ClassFile<'_>, name: &str) -> bool {
    let mut changed = false;
    for i in 0..class.fields.len() {
        let f = &class.fields[i];
        if !f.is(acc::FINAL | acc::VOLATILE)
            && models::becomes_volatile(name, &class.member_name(f))
        {
            class.fields[i].access |= acc::VOLATILE;
            changed = true;
        }
    }
    changed
}

/// The declared fields, with the shadows that they are to have.
pub(crate) fn declared(
    class: &ClassFile<'_>,
    name: &str,
    level: Level,
    mode: Mode,
) -> Vec<FieldInfo> {
    let holds_shadows = mode == Mode::FastTrack && level > Level::None && !class.is_interface();
    let infos = class.fields.iter().map(|f| {
        let (field, desc) = (class.member_name(f), class.member_desc(f));
        let shadow = if !holds_shadows || f.is(acc::STATIC | acc::FINAL) {
            Shadow::None
        } else if f.is(acc::VOLATILE) {
            Shadow::Volatile
        } else if level == Level::Full && !models::races_harmlessly(name, &field, &desc) {
            Shadow::Data
        } else {
            Shadow::None
        };
        FieldInfo {
            name: field.into_owned(),
            desc: desc.into_owned(),
            access: f.access,
            shadow,
        }
    });
    infos.collect()
}

/// Adds the fields that this class gets. Answers whether there are any.
pub(crate) fn add_fields(
    class: &mut ClassFile<'_>,
    name: &str,
    level: Level,
    mode: Mode,
    policy: &Policy,
    fields: &[FieldInfo],
    is_jdk: bool,
) -> Result<bool, PoolFull> {
    let before = class.fields.len();
    if class.is_interface() || never_touched(name) {
        return Ok(false);
    }
    for f in fields {
        match f.shadow {
            Shadow::None => {}
            Shadow::Data => {
                class.add_field(
                    ADDED,
                    &shadow_name(ShadowKind::Write, &f.name, &f.desc),
                    "J",
                )?;
                class.add_field(ADDED, &shadow_name(ShadowKind::Read, &f.name, &f.desc), "J")?;
            }
            Shadow::Volatile => {
                let shadow = shadow_name(ShadowKind::Volatile, &f.name, &f.desc);
                class.add_field(ADDED, &shadow, "Ljava/lang/Object;")?;
            }
        }
    }
    let above = match class.super_name() {
        Some(above) => policy.level(&above),
        None => Level::None,
    };
    let detects = mode != Mode::Bare;
    if detects && level == Level::Full && freezes(class, name, is_jdk) {
        let desc = match mode {
            Mode::Events | Mode::Record | Mode::Full => "J",
            _ => "Ljava/lang/Object;",
        };
        class.add_field(ADDED, FREEZE_FIELD, desc)?;
    }
    if detects && level == Level::Full && above != Level::Full {
        class.add_field(ADDED, ALLOC_FIELD, "I")?;
    }
    if mode.is_events() && level > Level::None && above == Level::None {
        class.add_field(ADDED, ID_FIELD, "J")?;
    }
    if name == THREAD {
        class.add_field(ADDED, THREAD_FIELD, THREAD_DESC)?;
    }
    Ok(class.fields.len() > before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_distinct() {
        let descs = ["I", "[I", "LI;", "La/b;", "La_b;", "[[La/b;"];
        let mut names: Vec<_> = descs
            .iter()
            .map(|d| shadow_name(ShadowKind::Write, "a", d))
            .collect();
        for n in &names {
            assert!(
                n.chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '$' || c == '_'),
                "{n}"
            );
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), descs.len());
        assert_eq!(shadow_name(ShadowKind::Read, "x", "J"), "$pf$r$x$J");
    }
}
