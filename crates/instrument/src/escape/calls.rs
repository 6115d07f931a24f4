//! What becomes of the arguments of a call.

use std::collections::BTreeMap;

use classfile::flow::{Kind, State};
use classfile::{ClassFile, Code, Insn, acc, method as method_desc, op, slots};

use super::Mask;
use super::lower::{Followed, Step};
use crate::probes::{BRIDGE, CONTROL_BRIDGE, ITSELF, SAMPLING_BRIDGE};

/// Methods that are looked into have at most so many bytes of code.
const LONGEST: u32 = 4_000;
/// And are at most so deep in calls.
const DEEPEST: u32 = 3;

/// Which parameters escape from methods of the class, by their index; worked
/// out when first asked for.
#[derive(Debug, Default)]
pub(crate) struct Summaries {
    known: BTreeMap<usize, Mask>,
    depth: u32,
}

/// What a callee does with its arguments.
enum Callee {
    /// Whatever it likes.
    Unknown,
    /// It keeps none.
    Harmless,
    /// It keeps those in these slots, `this` first.
    Keeps(Mask),
}

/// Notes which arguments escape, and which are only lent.
pub(super) fn arguments(
    class: &ClassFile<'_>,
    code: &Code<'_>,
    followed: &Followed<'_>,
    insn: &Insn,
    before: &State,
    summaries: &mut Summaries,
    step: &mut Step,
) {
    let everything = |step: &mut Step| {
        step.escapes = (0..before.stack.len() as u16).collect();
    };
    let Some(desc) = insn.cp().and_then(|cp| class.pool.member_desc(cp)) else {
        return everything(step);
    };
    let Ok(desc) = method_desc(&desc) else {
        return everything(step);
    };
    // Depth and slot of each argument that is a reference.
    let mut refs = Vec::new();
    let has_receiver = !matches!(insn.op, op::INVOKESTATIC | op::INVOKEDYNAMIC);
    let mut slot = u16::from(has_receiver);
    if has_receiver {
        refs.push((desc.param_slots, 0));
    }
    let all = desc.param_slots.saturating_add(slot);
    for param in desc.params() {
        if param.starts_with(['L', '[']) {
            refs.push((all.saturating_sub(1 + slot), slot));
        }
        slot += slots(param);
    }
    let receiver = before.peek(desc.param_slots).map(|v| v.kind);
    if followed.this && has_receiver && receiver == Some(Kind::UninitThis) {
        // The constructor that this one begins with.
        refs.remove(0);
    }
    let held = |depth: u16| {
        before
            .peek(depth)
            .is_some_and(|v| followed.may_hold(code, v))
    };
    if !refs.iter().any(|(depth, _)| held(*depth)) {
        return;
    }
    let keeps = match callee(class, insn, summaries) {
        Callee::Unknown => Mask::MAX,
        Callee::Harmless => 0,
        Callee::Keeps(slots) => slots,
    };
    for (depth, slot) in refs {
        match keeps.checked_shr(u32::from(slot)).unwrap_or(1) & 1 {
            0 => step.lent.push(depth),
            _ => step.escapes.push(depth),
        }
    }
}

fn callee(class: &ClassFile<'_>, insn: &Insn, summaries: &mut Summaries) -> Callee {
    let target = insn.cp().and_then(|cp| class.pool.member_ref(cp));
    let Some(target) = target.filter(|_| insn.op != op::INVOKEDYNAMIC) else {
        return Callee::Unknown;
    };
    if is_harmless(insn.op, &target.class, &target.name, &target.desc) {
        return Callee::Harmless;
    }
    if target.class != class.name() {
        return Callee::Unknown;
    }
    let Some(index) = class.method_index(&target.name, &target.desc) else {
        return Callee::Unknown;
    };
    let method = &class.methods[index];
    let is_the_one = match insn.op {
        op::INVOKESTATIC => method.is_static(),
        op::INVOKESPECIAL => true,
        op::INVOKEVIRTUAL => method.is(acc::PRIVATE | acc::FINAL) || class.access & acc::FINAL != 0,
        _ => false,
    };
    if !is_the_one || method.is(acc::NATIVE | acc::ABSTRACT) {
        return Callee::Unknown;
    }
    Callee::Keeps(summaries.summary(class, index))
}

impl Summaries {
    fn summary(&mut self, class: &ClassFile<'_>, index: usize) -> Mask {
        if let Some(known) = self.known.get(&index) {
            return *known;
        }
        if self.depth == DEEPEST {
            return Mask::MAX;
        }
        // A recursive method is taken to keep everything.
        self.known.insert(index, Mask::MAX);
        self.depth += 1;
        let keeps = self.look_into(class, index);
        self.depth -= 1;
        self.known.insert(index, keeps);
        keeps
    }

    fn look_into(&mut self, class: &ClassFile<'_>, index: usize) -> Mask {
        let code = Code::decode(class, index).ok().flatten();
        let Some(code) = code.filter(|c| c.code_len() <= LONGEST) else {
            return Mask::MAX;
        };
        let method = &class.methods[index];
        let desc = class.member_desc(method);
        let Ok(desc) = method_desc(&desc) else {
            return Mask::MAX;
        };
        let params = desc
            .param_slots
            .saturating_add(u16::from(!method.is_static()));
        super::params_that_escape(class, &code, params, self)
    }
}

pub(super) fn is_arraycopy(class: &ClassFile<'_>, insn: &Insn) -> bool {
    let target = insn.cp().and_then(|cp| class.pool.member_ref(cp));
    target.is_some_and(|m| m.class == "java/lang/System" && m.name == "arraycopy")
}

/// Methods of the JDK that keep none of their arguments and hand none on. None of them can be
/// overridden.
fn is_harmless(opcode: u8, class: &str, name: &str, desc: &str) -> bool {
    match (class, name) {
        // A probe: what it is told stays with the tool.
        (BRIDGE | CONTROL_BRIDGE | SAMPLING_BRIDGE, name) => name != ITSELF.name,
        ("java/lang/Object", "<init>" | "getClass") | ("java/lang/System", "arraycopy") => true,
        ("java/lang/Record" | "java/lang/Number", "<init>") => true,
        ("java/lang/Math" | "java/lang/StrictMath", _) => true,
        // Of arrays of numbers: those of objects call these.
        ("java/util/Arrays", "fill" | "equals" | "hashCode" | "toString" | "sort")
        | ("java/util/Arrays", "copyOf" | "copyOfRange" | "binarySearch") => {
            let first = desc.as_bytes().get(1..3);
            matches!(first, Some([b'[', kind]) if !matches!(kind, b'L' | b'['))
        }
        ("java/lang/String", "valueOf" | "copyValueOf") => desc.starts_with("([C"),
        (array, "clone") => opcode == op::INVOKEVIRTUAL && array.starts_with('['),
        _ => false,
    }
}
