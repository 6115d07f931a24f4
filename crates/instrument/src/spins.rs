//! Loops in which a thread can only wait for others: whatever an iteration does
//! not find in memory it forgets before the next. In an exploration of all
//! schedules a thread that comes round such a loop, and has read nothing new,
//! waits for a write.
//!
//! The body of a loop is taken to be what stands between the jump back and its
//! target. It may load, compute, compare, jump, and call methods that are known
//! to do nothing but an atomic access or to give way. It may store into locals
//! only if they are dead at the target: no path from there reads them before it
//! writes them. It must not write to memory, allocate, lock or call anything else.
//! (An atomic update that changes memory is noticed when it runs.)
//!
//! Claim: if an iteration of such a loop made no change to memory and all that it
//! read stays as it is, the next one does the same. Loops that are not recognised
//! are run as they are.

use classfile::{Code, Insn, Operand, Pool, op};

/// Whether the jump from `from` back to `to` closes such a loop.
pub(crate) fn only_waits(pool: &Pool, code: &Code<'_>, from: u32, to: u32) -> bool {
    let body = || code.insns.iter().filter(|i| i.pc >= to && i.pc <= from);
    let mut stored = Vec::new();
    for insn in body() {
        if !is_harmless(pool, insn) {
            return false;
        }
        if writes_local(insn) {
            stored.extend(insn.local());
        }
    }
    stored.is_empty() || {
        let live = live_at(code, to);
        !stored.iter().any(|local| live.contains(local))
    }
}

fn writes_local(insn: &Insn) -> bool {
    matches!(insn.op, op::ISTORE..=op::ASTORE_3 | op::IINC)
}

fn reads_local(insn: &Insn) -> bool {
    matches!(insn.op, op::ILOAD..=op::ALOAD_3 | op::IINC | op::RET)
}

fn is_harmless(pool: &Pool, insn: &Insn) -> bool {
    match insn.op {
        op::INVOKEVIRTUAL | op::INVOKESTATIC => insn.cp().is_some_and(|cp| {
            let member = pool.member_ref(cp);
            member.is_some_and(|m| is_known(&m.class, &m.name))
        }),
        op::IASTORE..=op::SASTORE
        | op::PUTFIELD
        | op::PUTSTATIC
        | op::INVOKESPECIAL
        | op::INVOKEINTERFACE
        | op::INVOKEDYNAMIC
        | op::NEW
        | op::NEWARRAY
        | op::ANEWARRAY
        | op::MULTIANEWARRAY
        | op::MONITORENTER
        | op::MONITOREXIT
        | op::JSR
        | op::JSR_W
        | op::RET => false,
        _ => true,
    }
}

/// Methods that access one variable, or give way.
fn is_known(class: &str, name: &str) -> bool {
    match class {
        "java/lang/Thread" => matches!(name, "onSpinWait" | "yield" | "currentThread"),
        "java/lang/invoke/VarHandle" => is_access(name),
        _ => {
            class.starts_with("java/util/concurrent/atomic/Atomic")
                && !class.ends_with("FieldUpdater")
                && is_access(name)
        }
    }
}

fn is_access(name: &str) -> bool {
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
