//! Locks and acquires right at a statement's accesses.
//!
//! ```text
//! lock: push the object; dup; store k; monitorenter
//! ... access ...
//! load k; monitorexit
//! ```
//!
//! Nothing in between may throw, or the lock would stay taken: a receiver is
//! looked at before, and accesses share a block only if what lies between them
//! is arithmetic, constants and locals, as in `count++`.

use classfile::flow::{Flow, Kind};
use classfile::{Asm, ClassFile, Code, Editor, Insn, Operand, Snippet, acc, op, slots};

use super::{Line, Object, RepairError, accesses, decode, method_of};
use crate::method::keeps_this;
use crate::points::copy_receiver;

/// What can be said of the statement.
struct Place {
    has_this: bool,
}

/// An access and the width of its field.
struct Access<'c> {
    insn: &'c Insn,
    wide: bool,
}

impl Access<'_> {
    fn has_receiver(&self) -> bool {
        matches!(self.insn.op, op::GETFIELD | op::PUTFIELD)
    }

    /// Pushes a copy of the receiver.
    fn receiver(&self, a: &mut Asm<'_>) {
        if self.insn.op == op::GETFIELD {
            a.dup();
        } else {
            copy_receiver(a, self.wide);
        }
    }
}

/// The accesses; an error if there are none.
fn find<'c>(
    class: &ClassFile<'_>,
    code: &'c Code<'_>,
    at: &Line,
    field: &str,
) -> Result<(Place, Vec<Access<'c>>), RepairError> {
    let all: Vec<Access<'c>> = accesses(class, code, at, field)
        .into_iter()
        .map(|insn| {
            let desc = insn.cp().and_then(|cp| class.pool.member_desc(cp));
            Access {
                insn,
                wide: desc.is_some_and(|d| slots(&d) == 2),
            }
        })
        .collect();
    if all.is_empty() {
        return Err(RepairError::NoAccess);
    }
    if at.method == "<init>" {
        early(class, code, &all)?;
    }
    let method = class.methods.get(code.method_index);
    let is_static = method.is_none_or(|m| m.is(acc::STATIC));
    let place = Place {
        // Before `super(..)` there is no object yet.
        has_this: !is_static && at.method != "<init>" && keeps_this(code),
    };
    Ok((place, all))
}

/// No access in a constructor may come before its `super(..)`: its receiver is
/// no object yet.
fn early(class: &ClassFile<'_>, code: &Code<'_>, all: &[Access<'_>]) -> Result<(), RepairError> {
    let flow = Flow::analyze(class, code)?;
    let is_early = |access: &Access<'_>| {
        let depth = 1 + u16::from(access.wide);
        let state = flow.before(access.insn.pc);
        let receiver = state.and_then(|s| s.peek(depth)).map(|v| v.kind);
        access.insn.op == op::PUTFIELD && receiver == Some(Kind::UninitThis)
    };
    if all.iter().any(is_early) {
        return Err(RepairError::NotAtHand);
    }
    Ok(())
}

/// Pushes the object, or the field's value.
fn push(
    a: &mut Asm<'_>,
    object: &Object,
    place: &Place,
    access: &Access<'_>,
) -> Result<(), RepairError> {
    match object {
        Object::This if place.has_this => {
            a.aload(0);
        }
        Object::OfThis(m) if place.has_this => {
            a.aload(0).getfield(&m.class, &m.name, &m.desc);
        }
        Object::Receiver if access.has_receiver() => access.receiver(a),
        Object::OfReceiver(m) if access.has_receiver() => {
            access.receiver(a);
            a.getfield(&m.class, &m.name, &m.desc);
        }
        Object::Static(m) => {
            a.getstatic(&m.class, &m.name, &m.desc);
        }
        Object::Class(name) => {
            a.ldc_class(name);
        }
        _ => return Err(RepairError::NotAtHand),
    }
    Ok(())
}

/// The accesses under the lock.
pub(super) fn around(
    class: &mut ClassFile<'_>,
    at: &Line,
    field: &str,
    lock: &Object,
) -> Result<(), RepairError> {
    let code = decode(class, method_of(class, at)?)?;
    let (place, all) = find(class, &code, at, field)?;
    let mut editor = Editor::new(&code);
    for block in blocks(&code, &all) {
        let (Some(first), Some(last)) = (block.first(), block.last()) else {
            continue;
        };
        let local = editor.alloc_local(1);
        let mut a = Snippet::new(&mut class.pool);
        if first.has_receiver() {
            first.receiver(&mut a);
            a.invokevirtual("java/lang/Object", "getClass", "()Ljava/lang/Class;");
            a.pop();
        }
        push(&mut a, lock, &place, first)?;
        a.dup().astore(local).monitorenter();
        editor.insert_before(first.insn.pc, a.finish()?);
        let mut a = Snippet::new(&mut class.pool);
        let leave = a.aload(local).monitorexit().finish()?;
        editor.insert_after(last.insn.pc, leave);
    }
    Ok(editor.finish(class)?)
}

/// Accesses with nothing but harmless instructions between them.
fn blocks<'b, 'c>(code: &Code<'_>, all: &'b [Access<'c>]) -> Vec<&'b [Access<'c>]> {
    let index = |access: &Access<'_>| code.index_of(access.insn.pc).unwrap_or_default();
    let targets: Vec<u32> = crate::jumps::jumps(code).into_iter().map(|j| j.1).collect();
    let joined = |a: &Access<'_>, b: &Access<'_>| {
        let between = &code.insns[index(a) + 1..=index(b)];
        let inside = &between[..between.len() - 1];
        inside.iter().all(harmless) && !between.iter().any(|i| targets.contains(&i.pc))
    };
    all.chunk_by(joined).collect()
}

/// Cannot throw, and goes nowhere else.
fn harmless(insn: &Insn) -> bool {
    let throws = matches!(insn.op, op::IDIV | op::LDIV | op::IREM | op::LREM);
    match insn.op {
        _ if throws => false,
        // Constants other than those of the pool, loads, stores, the stack,
        // arithmetic, conversions, comparisons.
        0x00..=0x11 | op::ILOAD..=op::ALOAD_3 | op::ISTORE..=op::ASTORE_3 | 0x57..=0x98 => {
            !matches!(insn.operand, Operand::Branch(_))
        }
        _ => false,
    }
}

/// The lock is taken and given up before the accesses.
pub(super) fn acquire(
    class: &mut ClassFile<'_>,
    at: &Line,
    field: &str,
    lock: &Object,
) -> Result<(), RepairError> {
    before(class, at, field, lock, |a| {
        a.dup().monitorenter().monitorexit();
    })
}

/// A field is read before the accesses.
pub(super) fn read(
    class: &mut ClassFile<'_>,
    at: &Line,
    field: &str,
    from: &Object,
) -> Result<(), RepairError> {
    let (Object::Static(m) | Object::OfThis(m) | Object::OfReceiver(m)) = from else {
        return Err(RepairError::NotAtHand);
    };
    let wide = slots(&m.desc) == 2;
    before(class, at, field, from, |a| {
        if wide {
            a.pop2();
        } else {
            a.pop();
        }
    })
}

fn before(
    class: &mut ClassFile<'_>,
    at: &Line,
    field: &str,
    object: &Object,
    done: impl Fn(&mut Asm<'_>),
) -> Result<(), RepairError> {
    let code = decode(class, method_of(class, at)?)?;
    let (place, all) = find(class, &code, at, field)?;
    let mut editor = Editor::new(&code);
    for access in &all {
        let mut a = Snippet::new(&mut class.pool);
        push(&mut a, object, &place, access)?;
        done(&mut a);
        editor.insert_before(access.insn.pc, a.finish()?);
    }
    Ok(editor.finish(class)?)
}
