//! Loops in which a thread can only wait for others: whatever an iteration does
//! not find in memory it forgets before the next. In an exploration of all
//! schedules a thread that repeats such a loop, and has read nothing new,
//! waits for a write.
//!
//! The body of a loop is taken to be what stands between the jump back and its
//! target. It may load, compute, compare, jump, and call methods that are known
//! to do nothing but an atomic access or to give way, or methods of the same class
//! that do nothing else either ([`Quiet`]). It may store into locals
//! only if they are dead at the target: no path from there reads them before it
//! writes them. It must not write to memory, allocate, lock or call anything else.
//! (An atomic update that changes memory is noticed when it runs.)
//!
//! Claim: if an iteration of such a loop made no change to memory and all that it
//! read stays as it is, the next one does the same. Loops that are not recognised
//! are run as they are.

use classfile::{ClassFile, Code, Insn, Operand, Pool, acc, op};
use rustc_hash::FxHashSet;

/// Methods of a class, by name and descriptor, that leave nothing behind but what
/// they return, and that no other class can override. A method that calls itself,
/// by whatever detour, is not among them.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    class: String,
    methods: FxHashSet<(String, String)>,
}

impl Quiet {
    pub fn analyse(class: &ClassFile<'_>) -> Quiet {
        let mut quiet = Quiet {
            class: class.name().into_owned(),
            methods: FxHashSet::default(),
        };
        let is_final = class.access & acc::FINAL != 0;
        let mut open: Vec<(String, String, Code<'_>)> = Vec::new();
        for (index, method) in class.methods.iter().enumerate() {
            let fixed = is_final || method.is(acc::PRIVATE | acc::STATIC | acc::FINAL);
            if !fixed || method.is(acc::SYNCHRONIZED | acc::NATIVE | acc::ABSTRACT) {
                continue;
            }
            let name = class.member_name(method).into_owned();
            if let (Ok(Some(code)), false) = (Code::decode(class, index), name.starts_with('<')) {
                open.push((name, class.member_desc(method).into_owned(), code));
            }
        }
        // Those that call only quiet ones are so themselves.
        loop {
            let before = open.len();
            open.retain(|(name, desc, code)| {
                let harmless = |i: &Insn| is_harmless(&class.pool, &quiet, i);
                let is_quiet = code.insns.iter().all(harmless);
                if is_quiet {
                    quiet.methods.insert((name.clone(), desc.clone()));
                }
                !is_quiet
            });
            if open.len() == before {
                return quiet;
            }
        }
    }

    fn has(&self, class: &str, name: &str, desc: &str) -> bool {
        class == self.class && {
            let method = (name.to_owned(), desc.to_owned());
            self.methods.contains(&method)
        }
    }
}

/// Whether the jump from `from` back to `to` closes such a loop.
pub(crate) fn only_waits(pool: &Pool, quiet: &Quiet, code: &Code<'_>, from: u32, to: u32) -> bool {
    let body = || code.insns.iter().filter(|i| i.pc >= to && i.pc <= from);
    let mut stored = Vec::new();
    for insn in body() {
        if !is_harmless(pool, quiet, insn) {
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

fn is_harmless(pool: &Pool, quiet: &Quiet, insn: &Insn) -> bool {
    match insn.op {
        op::INVOKEVIRTUAL | op::INVOKESTATIC | op::INVOKESPECIAL => insn.cp().is_some_and(|cp| {
            let member = pool.member_ref(cp);
            let known =
                |class: &str, name: &str| insn.op != op::INVOKESPECIAL && is_known(class, name);
            member
                .is_some_and(|m| known(&m.class, &m.name) || quiet.has(&m.class, &m.name, &m.desc))
        }),
        op::IASTORE..=op::SASTORE
        | op::PUTFIELD
        | op::PUTSTATIC
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
