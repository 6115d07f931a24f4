//! What accesses find, for runs whose log tells a finding.

use super::{Env, controlled, with};
use crate::Agent;
use crate::jni::{Jni, Ref};
use crate::stacks::type_name;
use jni_sys::{jint, jlong};

/// Longer texts are cut.
const LONGEST: usize = 40;

/// The type of what a statement accesses, the first character of its descriptor; 0 if that is not known.
pub(super) extern "system" fn type_of(env: Env, _: Ref, site: jint) -> jint {
    with(env, |a, _| {
        let target = a.sites.with(site as u32, |_, s| s.target.clone()).flatten();
        let first = target.and_then(|member| member.desc.bytes().next());
        first.map_or(0, jint::from)
    })
}

/// A plain access is made now; `bits` or `reference` is what the variable holds.
pub(super) extern "system" fn told(
    env: Env,
    _: Ref,
    obj: jlong,
    slot: jint,
    site: jint,
    kind: jint,
    bits: jlong,
    reference: Ref,
) {
    controlled(env, |control, a, jni| {
        let value = value(a, jni, kind as u8, bits, reference);
        let at = (site as u32, obj as u64, slot as u32);
        control.tell_access(a, jni, at, &value);
    });
}

fn value(a: &Agent, jni: Jni, kind: u8, bits: jlong, reference: Ref) -> String {
    match kind {
        b'Z' => (bits != 0).to_string(),
        b'C' => match char::from_u32(bits as u32) {
            Some(c) if !c.is_control() => format!("'{c}'"),
            _ => bits.to_string(),
        },
        b'F' => f32::from_bits(bits as u32).to_string(),
        b'D' => f64::from_bits(bits as u64).to_string(),
        b'B' | b'S' | b'I' | b'J' => bits.to_string(),
        _ => object(a, jni, reference),
    }
}

/// No code of the program runs for it: only texts are shown by what is in them.
fn object(a: &Agent, jni: Jni, o: Ref) -> String {
    if o.is_null() {
        return "null".to_owned();
    }
    let signature = a.jvmti.class_signature(jni.local_class_of(o).get());
    let name = type_name(&signature.unwrap_or_default());
    if name == "java.lang.String" {
        let text = jni.string(o);
        let short: String = text.chars().take(LONGEST).collect();
        let more = if short.len() < text.len() { "..." } else { "" };
        return format!("\"{}{more}\"", short.escape_debug());
    }
    let simple = name.rsplit(['.', '$']).find(|part| !part.is_empty());
    let simple = simple.unwrap_or(&name);
    let vowel = simple.starts_with(['A', 'E', 'I', 'O', 'U', 'a', 'e', 'i', 'o', 'u']);
    let article = if vowel { "an" } else { "a" };
    format!("{article} {simple}")
}
