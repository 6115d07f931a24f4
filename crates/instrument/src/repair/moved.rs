//! A statement that stands earlier, or the call that leads to it.
//!
//! Only what can be seen to be the same program otherwise, for its own thread:
//! both lines lie in one stretch of code without jumps into or out of it and
//! under the same exception handlers, the stack is empty where either begins and
//! where the moved one ends, and neither writes a local that the other uses.
//! What the statements do to memory is not looked at: that is what is tried.

use classfile::flow::Flow;
use classfile::{ClassFile, Code, Editor, Insn, Operand, Snippet, op};

use super::{Line, RepairError, decode, method_of};
use std::ops::Range;

pub(super) fn up(class: &mut ClassFile<'_>, at: &Line, before: u16) -> Result<(), RepairError> {
    let code = decode(class, method_of(class, at)?)?;
    let from = lines(&code, at.line)?;
    let to = lines(&code, before)?;
    if to.start >= from.start {
        return Err(RepairError::CannotMove(
            "it stands before that line already",
        ));
    }
    check(class, &code, to.start, &from)?;
    let mut editor = Editor::new(&code);
    let mut a = Snippet::new(&mut class.pool);
    // Deep enough for anything that the statement did where it stood.
    for index in from.clone() {
        a.raw(code.raw(index), 0, 0);
    }
    a.raw(&[], 0, code.max_stack).raw(&[], code.max_stack, 0);
    editor.insert_before(code.insns[to.start].pc, a.finish()?);
    for index in from {
        let nothing = Snippet::new(&mut class.pool).finish()?;
        editor.replace(code.insns[index].pc, nothing);
    }
    Ok(editor.finish(class)?)
}

/// The next line after `before` that calls the method comes before it: what the method does is
/// done earlier, though its own code is in another place. A call by the name of a subclass is not
/// recognised.
pub(super) fn call_up(
    class: &mut ClassFile<'_>,
    before: &Line,
    [owner, method, desc]: [&str; 3],
) -> Result<(), RepairError> {
    let code = decode(class, method_of(class, before)?)?;
    let after = lines(&code, before.line)?.end;
    let calls = |insn: &&Insn| {
        let is_call = (op::INVOKEVIRTUAL..=op::INVOKEINTERFACE).contains(&insn.op);
        let target = insn.cp().filter(|_| is_call);
        let target = target.and_then(|cp| class.pool.member_ref(cp));
        target.is_some_and(|t| t.class == owner && t.name == method && t.desc == desc)
    };
    let call = code.insns[after..].iter().find(calls);
    let line = call.and_then(|insn| code.line_of(insn.pc));
    let line = line.ok_or(RepairError::CannotMove(
        "that method does not call the other one after it",
    ))?;
    let at = Line {
        line,
        ..before.clone()
    };
    up(class, &at, before.line)
}

/// The instructions of a line, if they are in one piece.
fn lines(code: &Code<'_>, line: u16) -> Result<Range<usize>, RepairError> {
    let is = |i: &Insn| code.line_of(i.pc) == Some(line);
    let start = code.insns.iter().position(is);
    let start = start.ok_or(RepairError::NoAccess)?;
    let length = code.insns[start..].iter().take_while(|i| is(i)).count();
    let end = start + length;
    if code.insns[end..].iter().any(is) {
        return Err(RepairError::CannotMove("its code is in several pieces"));
    }
    Ok(start..end)
}

fn check(
    class: &ClassFile<'_>,
    code: &Code<'_>,
    to: usize,
    from: &Range<usize>,
) -> Result<(), RepairError> {
    let all = &code.insns[to..from.end];
    let jumps = |i: &Insn| {
        matches!(i.operand, Operand::Branch(_) | Operand::Switch(_)) || op::ends_flow(i.op)
    };
    let targets: Vec<u32> = crate::jumps::jumps(code).into_iter().map(|j| j.1).collect();
    if all.iter().any(jumps) || all[1..].iter().any(|i| targets.contains(&i.pc)) {
        return Err(RepairError::CannotMove("there are jumps on the way"));
    }
    let (first, last) = (all[0].pc, all[all.len() - 1].pc);
    let cuts = |at: u32| first < at && at <= last;
    if code.handlers.iter().any(|h| cuts(h.start) || cuts(h.end)) {
        return Err(RepairError::CannotMove("exceptions are caught on the way"));
    }
    let flow = Flow::analyze(class, code)?;
    let empty = |index: usize| {
        let pc = code.insns.get(index).map(|i| i.pc);
        let state = pc.and_then(|pc| flow.before(pc));
        state.is_some_and(|s| s.stack.is_empty())
    };
    if ![to, from.start, from.end].into_iter().all(empty) {
        return Err(RepairError::CannotMove(
            "it is in the middle of an expression",
        ));
    }
    let (passed, moved) = (&code.insns[to..from.start], &code.insns[from.clone()]);
    let clash = |a: &[Insn], b: &[Insn]| {
        let stored = a.iter().filter(|i| writes(i)).filter_map(Insn::local);
        let mut stored = stored.flat_map(|l| [l, l.wrapping_add(1)]);
        stored.any(|l| b.iter().any(|i| i.local() == Some(l)))
    };
    if clash(passed, moved) || clash(moved, passed) {
        return Err(RepairError::CannotMove(
            "it uses locals that are set on the way",
        ));
    }
    Ok(())
}

/// Writes a local, maybe two.
fn writes(insn: &Insn) -> bool {
    (op::ISTORE..=op::ASTORE_3).contains(&insn.op) || insn.op == op::IINC
}
