//! What instructions do to the order of threads: whether they may acquire (learn what
//! others did) or release (let others learn what this thread did).
//!
//! What is not known is taken to do both: calls of other classes' methods, and
//! whatever may initialise a class. A field of another class may be volatile. Methods
//! of the same class that cannot be overridden are looked into, a few deep; of the
//! JDK's, [`orders_nothing`] has a few. What no instruction shows counts as well:
//! monitors of synchronized methods, models, and the ends of constructors, which
//! release what final fields and finalisers are to see.
//!
//! The class loading that an instruction may cause is not counted, although a loader
//! written in Java may take locks: it comes once, when the instruction first runs.

use std::collections::BTreeMap;

use classfile::{Code, Constant, Insn, acc, op};

use crate::class::ClassCx;
use crate::probes::{BRIDGE, SAMPLING_BRIDGE};

/// Methods that are looked into are at most so deep in calls, and so long.
const DEEPEST: u32 = 3;
const LONGEST: usize = 600;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) acquires: bool,
    pub(crate) releases: bool,
}

impl Effect {
    pub(crate) const NONE: Effect = Effect {
        acquires: false,
        releases: false,
    };
    const BOTH: Effect = Effect {
        acquires: true,
        releases: true,
    };
    const ACQUIRES: Effect = Effect {
        acquires: true,
        releases: false,
    };
    const RELEASES: Effect = Effect {
        acquires: false,
        releases: true,
    };

    fn and(self, other: Effect) -> Effect {
        Effect {
            acquires: self.acquires || other.acquires,
            releases: self.releases || other.releases,
        }
    }
}

/// Of methods of the class, by index; worked out when first asked for.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    methods: BTreeMap<usize, Effect>,
    depth: u32,
}

/// What an instruction may do.
pub(crate) fn effect(cx: &mut ClassCx<'_>, insn: &Insn) -> Effect {
    match insn.op {
        op::MONITORENTER => Effect::ACQUIRES,
        op::MONITOREXIT => Effect::RELEASES,
        op::GETFIELD | op::PUTFIELD | op::GETSTATIC | op::PUTSTATIC => field(cx, insn),
        op::NEW => {
            let made = insn.cp().and_then(|cp| cx.class.pool.class_name(cp));
            match made.is_some_and(|made| made == cx.name) {
                true => Effect::NONE,
                false => Effect::BOTH,
            }
        }
        op::LDC | op::LDC_W | op::LDC2_W => match insn.cp().and_then(|cp| cx.class.pool.get(cp)) {
            Some(Constant::Dynamic { .. }) | None => Effect::BOTH,
            Some(_) => Effect::NONE,
        },
        op::INVOKEDYNAMIC | op::JSR | op::JSR_W | op::RET => Effect::BOTH,
        op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => call(cx, insn),
        _ => Effect::NONE,
    }
}

fn field(cx: &mut ClassCx<'_>, insn: &Insn) -> Effect {
    let Some(used) = insn.cp().and_then(|cp| cx.field_use(cp)) else {
        return Effect::BOTH;
    };
    match (insn.op, used.own) {
        (op::GETFIELD, None) => Effect::ACQUIRES,
        // May initialise a class; an instance field that is volatile only releases.
        (_, None) => Effect::BOTH,
        (op::GETFIELD, Some(access)) => match access & acc::VOLATILE != 0 || cx.is_frozen(&used) {
            true => Effect::ACQUIRES,
            false => Effect::NONE,
        },
        (_, Some(access)) if access & acc::VOLATILE != 0 => Effect::BOTH,
        (_, Some(_)) => Effect::NONE,
    }
}

fn call(cx: &mut ClassCx<'_>, insn: &Insn) -> Effect {
    let Some(target) = insn.cp().and_then(|cp| cx.target(cp)) else {
        return Effect::BOTH;
    };
    // A probe, in a method that was rewritten before this one: what it tells of is in the
    // method as well.
    if [BRIDGE, SAMPLING_BRIDGE].contains(&&*target.class)
        || orders_nothing(insn.op, &target.class, &target.name)
    {
        return Effect::NONE;
    }
    if target.class != cx.name {
        return Effect::BOTH;
    }
    let Some(index) = cx.class.method_index(&target.name, &target.desc) else {
        return Effect::BOTH;
    };
    let method = &cx.class.methods[index];
    let is_the_one = match insn.op {
        op::INVOKESTATIC => method.is_static(),
        op::INVOKESPECIAL => true,
        op::INVOKEVIRTUAL => {
            method.is(acc::PRIVATE | acc::FINAL) || cx.class.access & acc::FINAL != 0
        }
        _ => false,
    };
    let releases_at_end = &*target.name == "<init>" && (cx.freezes || cx.finalizes);
    let modelled = cx.models.iter().any(|m| m.method == &*target.name);
    if !is_the_one
        || method.is(acc::NATIVE | acc::ABSTRACT | acc::SYNCHRONIZED)
        || releases_at_end
        || modelled
    {
        return Effect::BOTH;
    }
    of_method(cx, index)
}

fn of_method(cx: &mut ClassCx<'_>, index: usize) -> Effect {
    if let Some(known) = cx.effects.methods.get(&index) {
        return *known;
    }
    if cx.effects.depth == DEEPEST {
        return Effect::BOTH;
    }
    // A method that calls itself is taken to do both.
    cx.effects.methods.insert(index, Effect::BOTH);
    cx.effects.depth += 1;
    let effect = match Code::decode(&cx.class, index) {
        Ok(Some(code)) if code.insns.len() <= LONGEST => {
            let each = code.insns.iter().map(|insn| effect(cx, insn));
            each.fold(Effect::NONE, Effect::and)
        }
        _ => Effect::BOTH,
    };
    cx.effects.depth -= 1;
    // What was cut off by the depth may be known better from elsewhere.
    if effect != Effect::BOTH || cx.effects.depth == 0 {
        cx.effects.methods.insert(index, effect);
    } else {
        cx.effects.methods.remove(&index);
    }
    effect
}

/// Methods of the JDK that order nothing and call nothing of the program's. None of
/// them can be overridden.
fn orders_nothing(opcode: u8, class: &str, name: &str) -> bool {
    match (class, name) {
        // Keeps its state in a class of its own, behind an atomic.
        ("java/lang/Math" | "java/lang/StrictMath", "random") => false,
        ("java/lang/Math" | "java/lang/StrictMath", _) => true,
        ("java/lang/Object", "<init>" | "getClass") | ("java/lang/System", "arraycopy") => true,
        ("java/lang/String", "length" | "charAt" | "isEmpty") => true,
        ("java/lang/Integer" | "java/lang/Long", "bitCount" | "rotateLeft" | "rotateRight") => true,
        ("java/lang/Integer" | "java/lang/Long", "numberOfTrailingZeros" | "compare") => true,
        ("java/lang/Integer" | "java/lang/Long", "numberOfLeadingZeros" | "reverseBytes") => true,
        ("java/lang/Float", "floatToRawIntBits" | "floatToIntBits" | "intBitsToFloat") => true,
        ("java/lang/Double", "doubleToRawLongBits" | "doubleToLongBits" | "longBitsToDouble") => {
            true
        }
        (array, "clone") => opcode == op::INVOKEVIRTUAL && array.starts_with('['),
        _ => false,
    }
}
