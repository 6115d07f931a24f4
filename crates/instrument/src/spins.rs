//! Loops in which a thread may wait for others. In an exploration of all schedules a
//! thread that comes round such a loop, has changed nothing and has read nothing new
//! waits for a write to what it read.
//!
//! Whether an iteration changed anything is found out when it runs. What the next one
//! does depends on memory and on the locals that are *live* at the head of the loop:
//! those that some path from there reads before it writes them. So the head and
//! every jump back tell the values of the locals that the loop stores and that are live at
//! its head ([`changing_locals`]), and whatever else writes to memory says so
//! ([`has_effect`]), in the loop and in all that it calls: getters, searches through arrays
//! and lists, a look into a `ThreadLocal`. Where a call leads to code without probes, it
//! counts as a write, unless it is known to leave nothing behind ([`is_harmless_call`]).
//!
//! Claim: an iteration that begins and ends with the same live locals, writes nothing and
//! reads what others do not change is followed by one that does the same. Not
//! covered: native methods of the program that write to memory, and operands that are on the
//! stack at the head of a loop, which no Java compiler leaves there.

use classfile::{Code, Insn, Operand, Pool, op};

/// The body of a loop is taken to be what stands between a jump back, `from`, and its
/// target: the locals that an iteration may change and the next one may look at, with the
/// descriptors of what they hold. None if a thread cannot wait in the loop, or nobody can
/// tell: it reads no memory, or counts.
pub(crate) fn changing_locals(
    code: &Code<'_>,
    from: u32,
    to: u32,
) -> Option<Vec<(u16, &'static str)>> {
    let body = || code.insns.iter().filter(|i| i.pc >= to && i.pc <= from);
    if !body().any(reads_memory) || body().any(|i| matches!(i.op, op::JSR | op::JSR_W | op::RET)) {
        return None;
    }
    let live = live_at(code, to);
    let is_live = |insn: &Insn| insn.local().is_some_and(|local| live.contains(&local));
    // `for (...; ...; i++)`: no iteration begins as the one before.
    let before_jump = body().rfind(|i| i.pc < from);
    if before_jump.is_some_and(|i| i.op == op::IINC && is_live(i)) {
        return None;
    }
    let mut changing: Vec<(u16, &'static str)> = Vec::new();
    for insn in body().filter(|i| writes_local(i) && is_live(i)) {
        let (Some(local), Some(desc)) = (insn.local(), stored(insn.op)) else {
            return None;
        };
        match changing.iter().find(|(l, _)| *l == local) {
            None => changing.push((local, desc)),
            Some((_, d)) if *d == desc => {}
            // Two variables in one place.
            Some(_) => return None,
        }
    }
    Some(changing)
}

fn reads_memory(insn: &Insn) -> bool {
    matches!(
        insn.op,
        op::GETFIELD | op::GETSTATIC | op::IALOAD..=op::SALOAD | op::INVOKEVIRTUAL..=op::INVOKEINTERFACE
    )
}

/// The descriptor of what an instruction stores into a local.
fn stored(opcode: u8) -> Option<&'static str> {
    Some(match opcode {
        op::ISTORE | op::IINC | op::ISTORE_0..=op::ISTORE_3 => "I",
        op::LSTORE | op::LSTORE_0..=op::LSTORE_3 => "J",
        op::FSTORE | op::FSTORE_0..=op::FSTORE_3 => "F",
        op::DSTORE | op::DSTORE_0..=op::DSTORE_3 => "D",
        op::ASTORE | op::ASTORE_0..=op::ASTORE_3 => "Ljava/lang/Object;",
        _ => return None,
    })
}

/// Whether the instruction may leave something behind that no step tells of. `has_probes`
/// answers whether a class says itself what its methods write.
pub(crate) fn has_effect(pool: &Pool, insn: &Insn, has_probes: impl Fn(&str) -> bool) -> bool {
    match insn.op {
        op::IASTORE..=op::SASTORE | op::PUTFIELD | op::PUTSTATIC | op::INVOKEDYNAMIC => true,
        op::INVOKEVIRTUAL | op::INVOKESPECIAL | op::INVOKESTATIC | op::INVOKEINTERFACE => {
            let Some(member) = insn.cp().and_then(|cp| pool.member_ref(cp)) else {
                return true;
            };
            // What locks do to themselves inside is no step.
            let is_lock = member.class.starts_with("java/util/concurrent/locks/");
            !is_harmless_call(&member.class, &member.name)
                && (is_lock || !has_probes(&member.class))
        }
        _ => false,
    }
}

/// Methods of the JDK that leave nothing behind but what they return, or what a step tells
/// of.
fn is_harmless_call(class: &str, name: &str) -> bool {
    match class {
        "java/lang/Object" => matches!(name, "getClass" | "hashCode" | "equals" | "<init>"),
        "java/lang/Thread" => matches!(
            name,
            "onSpinWait"
                | "yield"
                | "sleep"
                | "currentThread"
                | "getId"
                | "threadId"
                | "getName"
                | "isInterrupted"
                | "interrupted"
                | "isAlive"
        ),
        "java/lang/ThreadLocal" => name == "get",
        "java/lang/Math" | "java/lang/StrictMath" => name != "random",
        "java/lang/String" => {
            matches!(
                name,
                "equals" | "length" | "isEmpty" | "charAt" | "hashCode"
            )
        }
        "java/lang/Enum" => matches!(name, "ordinal" | "equals" | "hashCode" | "name"),
        "java/lang/Integer"
        | "java/lang/Long"
        | "java/lang/Boolean"
        | "java/lang/Short"
        | "java/lang/Byte"
        | "java/lang/Character"
        | "java/lang/Float"
        | "java/lang/Double"
        | "java/lang/Number" => {
            name == "valueOf"
                || name.ends_with("Value")
                || matches!(name, "equals" | "compare" | "compareTo" | "hashCode")
        }
        "java/lang/invoke/VarHandle" => is_atomic_access(name),
        // What it writes in one is a step.
        "jdk/internal/misc/Unsafe" | "sun/misc/Unsafe" => ["get", "compareAnd", "weakCompareAnd"]
            .iter()
            .any(|beginning| name.starts_with(beginning)),
        _ => {
            class.starts_with("java/util/concurrent/atomic/Atomic")
                && !class.ends_with("FieldUpdater")
                && is_atomic_access(name)
        }
    }
}

fn is_atomic_access(name: &str) -> bool {
    matches!(
        name,
        "get"
            | "getPlain"
            | "getOpaque"
            | "getAcquire"
            | "getVolatile"
            | "getReference"
            | "getStamp"
            | "isMarked"
            | "compareAndSet"
            | "weakCompareAndSet"
            | "weakCompareAndSetPlain"
            | "weakCompareAndSetAcquire"
            | "weakCompareAndSetRelease"
            | "weakCompareAndSetVolatile"
            | "getAndSet"
    )
}

fn writes_local(insn: &Insn) -> bool {
    matches!(insn.op, op::ISTORE..=op::ASTORE_3 | op::IINC)
}

fn reads_local(insn: &Insn) -> bool {
    matches!(insn.op, op::ILOAD..=op::ALOAD_3 | op::IINC | op::RET)
}

/// Locals that may be read before they are written, from this pc on.
fn live_at(code: &Code<'_>, pc: u32) -> Vec<u16> {
    let index = |pc: u32| code.insns.binary_search_by_key(&pc, |i| i.pc).ok();
    let Some(at) = index(pc) else {
        return (0..code.max_locals).collect();
    };
    let locals = 0..code.max_locals;
    let live = |local: u16| {
        // Forward from there, until the local is written.
        let mut seen = vec![false; code.insns.len()];
        let mut open = vec![at];
        while let Some(i) = open.pop() {
            if std::mem::replace(&mut seen[i], true) {
                continue;
            }
            let insn = &code.insns[i];
            let mine = touches(insn, local);
            if mine && reads_local(insn) {
                return true;
            }
            let handlers = code.handlers.iter();
            let caught = handlers.filter(|h| h.start <= insn.pc && insn.pc < h.end);
            open.extend(caught.filter_map(|h| index(h.handler)));
            if mine && writes_local(insn) {
                continue;
            }
            match &insn.operand {
                Operand::Branch(to) => open.extend(index(*to)),
                Operand::Switch(s) => {
                    open.extend(index(s.default));
                    open.extend(s.cases.iter().filter_map(|c| index(c.1)));
                }
                _ => {}
            }
            if !op::ends_flow(insn.op) && i + 1 < code.insns.len() {
                open.push(i + 1);
            }
        }
        false
    };
    locals.filter(|local| live(*local)).collect()
}

/// A long or double takes the next local too.
fn touches(insn: &Insn, local: u16) -> bool {
    let Some(first) = insn.local() else {
        return false;
    };
    let wide = matches!(
        insn.op,
        op::LLOAD
            | op::DLOAD
            | op::LSTORE
            | op::DSTORE
            | op::LLOAD_0..=op::LLOAD_3
            | op::DLOAD_0..=op::DLOAD_3
            | op::LSTORE_0..=op::LSTORE_3
            | op::DSTORE_0..=op::DSTORE_3
    );
    first == local || wide && first + 1 == local
}
