//! Two calls that are made one step: by another method of the object, or under its lock.
//!
//! ```text
//! call:  another method of the same type in place of one (put: putIfAbsent)
//! sum:   n.set(n.get() + v)  ->  n.addAndGet(v)
//! hold:  the whole method under the monitor of the object that the call is made on
//! ```

use classfile::flow::{Flow, Origin};
use classfile::{ClassFile, Code, Editor, Insn, Snippet, acc, op};

use super::{Line, RepairError, decode, method_of};

/// A call in a line.
struct Call<'c> {
    insn: &'c Insn,
    class: String,
    desc: String,
    params: u16,
}

/// The calls of a method of this name in a line, of whatever class.
fn calls<'c>(class: &ClassFile<'_>, code: &'c Code<'_>, at: &Line, name: &str) -> Vec<Call<'c>> {
    let on_object = [op::INVOKEVIRTUAL, op::INVOKEINTERFACE];
    let all = code.insns.iter();
    let here = all.filter(|i| on_object.contains(&i.op) && code.line_of(i.pc) == Some(at.line));
    here.filter_map(|insn| {
        let member = class.pool.member_ref(insn.cp()?)?;
        let params = classfile::method(&member.desc).ok()?.param_slots;
        (member.name == name).then(|| Call {
            insn,
            class: member.class.into_owned(),
            desc: member.desc.into_owned(),
            params,
        })
    })
    .collect()
}

/// A call of another method of the same type.
fn other(
    class: &mut ClassFile<'_>,
    call: &Call<'_>,
    name: &str,
    desc: &str,
) -> Result<Snippet, RepairError> {
    let pool = &mut class.pool;
    let cp = match call.insn.op {
        op::INVOKEINTERFACE => pool.add_interface_methodref(&call.class, name, desc)?,
        _ => pool.add_methodref(&call.class, name, desc)?,
    };
    let mut a = Snippet::new(pool);
    Ok(a.invoke_cp(call.insn.op, cp).finish()?)
}

/// The line's calls of one method become calls of another with the same parameters and result.
pub(super) fn call(
    class: &mut ClassFile<'_>,
    at: &Line,
    [from, to]: [&str; 2],
) -> Result<(), RepairError> {
    let code = decode(class, method_of(class, at)?)?;
    // Overloads of the one need not be overloads of the other: `remove(Object)`, but no `poll(Object)`.
    let params = if from == "put" { 2 } else { 0 };
    let mut found = calls(class, &code, at, from);
    found.retain(|call| call.params == params);
    if found.is_empty() {
        return Err(RepairError::NoCall);
    }
    let mut editor = Editor::new(&code);
    for call in &found {
        let snippet = other(class, call, to, &call.desc)?;
        editor.replace(call.insn.pc, snippet);
    }
    Ok(editor.finish(class)?)
}

/// The instructions of `n.set(n.get() + v)`, each once: they go, or are another call.
struct Sum<'c> {
    set: Call<'c>,
    /// `n`, an index, `get` and the addition.
    gone: Vec<u32>,
    wide: bool,
}

fn find_sum<'c>(
    class: &ClassFile<'_>,
    code: &'c Code<'_>,
    at: &Line,
) -> Result<Sum<'c>, RepairError> {
    let cannot = RepairError::CannotFuse("it is not of the form n.set(n.get() + v)");
    let flow = Flow::analyze(class, code)?;
    let mut sets = calls(class, code, at, "set");
    let (Some(set), true) = (sets.pop(), sets.is_empty()) else {
        return Err(cannot);
    };
    let wide = match set.desc.as_str() {
        "(I)V" | "(II)V" => false,
        "(J)V" | "(IJ)V" => true,
        _ => return Err(cannot),
    };
    // Parameters besides the value: an index.
    let index = set.params - if wide { 2 } else { 1 };
    let end = code.index_of(set.insn.pc).unwrap_or_default();
    let add = end.checked_sub(1).map(|i| &code.insns[i]);
    let get = calls(class, code, at, "get");
    let (Some(add), [get]) = (add, &get[..]) else {
        return Err(cannot);
    };
    let add_op = if wide { op::LADD } else { op::IADD };
    let first = code.index_of(get.insn.pc).unwrap_or_default();
    let before = first.checked_sub(1 + usize::from(index));
    let (Some(before), true, true) = (before, add.op == add_op, get.params == index) else {
        return Err(cannot);
    };
    // What `get` gives is the left side of the addition, and of the same object, and index, as `set`.
    let state = |pc: u32| flow.before(pc).ok_or(RepairError::NotAtHand);
    let at_set = state(set.insn.pc)?;
    let receiver = |s: &classfile::flow::State, depth: u16| s.peek(depth).map(|v| v.origin);
    let (of_set, of_get) = (
        receiver(&at_set, set.params),
        receiver(&state(get.insn.pc)?, get.params),
    );
    let added = state(add.pc)?;
    let left = added.peek(if wide { 3 } else { 1 }).map(|v| v.origin);
    let same = of_set.is_some() && of_set == of_get && of_set != Some(Origin::Unknown);
    // The index of `set` stands right behind its receiver, right before the receiver of `get`.
    let again = index == 0
        || before > 0 && code.raw(before - 1) == code.raw(before + 1) && simple(code, before + 1);
    let straight = !crate::jumps::jumps(code).iter().any(|(from, to)| {
        let inside = |pc: &u32| (code.insns[before].pc..=set.insn.pc).contains(pc);
        inside(from) || inside(to)
    });
    let loads = (op::ILOAD..=op::ALOAD_3).contains(&code.insns[before].op);
    if !(same && again && straight && loads) || left != Some(Origin::Insn(get.insn.pc)) {
        return Err(cannot);
    }
    let mut gone: Vec<u32> = code.insns[before..=first].iter().map(|i| i.pc).collect();
    gone.push(add.pc);
    Ok(Sum { set, gone, wide })
}

/// A constant or a local.
fn simple(code: &Code<'_>, index: usize) -> bool {
    code.insns.get(index).is_some_and(|insn| {
        let of = insn.op;
        (op::ICONST_M1..=0x11).contains(&of) || (op::ILOAD..=op::ALOAD_3).contains(&of)
    })
}

/// `n.set(n.get() + v)` becomes `n.addAndGet(v)`.
pub(super) fn sum(class: &mut ClassFile<'_>, at: &Line) -> Result<(), RepairError> {
    let code = decode(class, method_of(class, at)?)?;
    let Sum { set, gone, wide } = find_sum(class, &code, at)?;
    let desc = format!(
        "{}{}",
        set.desc.trim_end_matches('V'),
        if wide { "J" } else { "I" }
    );
    let mut editor = Editor::new(&code);
    for pc in gone {
        let nothing = Snippet::new(&mut class.pool).finish()?;
        editor.replace(pc, nothing);
    }
    let added = other(class, &set, "addAndGet", &desc)?;
    let mut a = Snippet::new(&mut class.pool);
    a.append(&added);
    if wide {
        a.pop2();
    } else {
        a.pop();
    }
    editor.replace(set.insn.pc, a.finish()?);
    Ok(editor.finish(class)?)
}

/// Class, name and type of a field.
type Field = (String, String, String);

/// How a method gets hold of an object when it is entered.
enum Held {
    Local(u16),
    Static(Field),
    OfThis(Field),
}

/// The method runs under the monitor of the object that the line's call is made on.
pub(super) fn hold(class: &mut ClassFile<'_>, at: &Line, name: &str) -> Result<(), RepairError> {
    let index = method_of(class, at)?;
    let code = decode(class, index)?;
    if at.method.starts_with('<') {
        return Err(RepairError::CannotLock(
            "constructors and initialisers cannot hold it from the beginning",
        ));
    }
    let found = calls(class, &code, at, name);
    let call = found.first().ok_or(RepairError::NoCall)?;
    let flow = Flow::analyze(class, &code)?;
    let origin = |pc: u32, depth: u16| Some(flow.before(pc)?.peek(depth)?.origin);
    let member = |pc: u32, of: u8| {
        let insn = code.at(pc).filter(|insn| insn.op == of)?;
        let member = class.pool.member_ref(insn.cp()?)?;
        let [c, n, d] = [member.class, member.name, member.desc].map(|part| part.into_owned());
        Some((c, n, d))
    };
    let is_static = class.methods.get(index).is_none_or(|m| m.is(acc::STATIC));
    let object = match origin(call.insn.pc, call.params) {
        Some(Origin::Param(local)) => Some(Held::Local(local)),
        Some(Origin::Insn(pc)) => match member(pc, op::GETSTATIC) {
            Some(field) => Some(Held::Static(field)),
            None => member(pc, op::GETFIELD)
                .filter(|_| !is_static && origin(pc, 0) == Some(Origin::Param(0)))
                .map(Held::OfThis),
        },
        _ => None,
    };
    let object = object.ok_or(RepairError::NotAtHand)?;
    let mut editor = Editor::new(&code);
    let local = editor.alloc_local(1);
    let mut a = Snippet::new(&mut class.pool);
    match &object {
        Held::Local(from) => a.aload(*from),
        Held::Static((c, n, d)) => a.getstatic(c, n, d),
        Held::OfThis((c, n, d)) => a.aload(0).getfield(c, n, d),
    };
    let enter = a.astore(local).aload(local).monitorenter().finish()?;
    editor.insert_at_entry(enter);
    editor.hold_monitor(local, class)?;
    for insn in &code.insns {
        if (op::IRETURN..=op::RETURN).contains(&insn.op) {
            let mut a = Snippet::new(&mut class.pool);
            editor.insert_before(insn.pc, a.aload(local).monitorexit().finish()?);
        }
    }
    let mut a = Snippet::new(&mut class.pool);
    editor.catch_all(a.aload(local).monitorexit().athrow().finish()?);
    Ok(editor.finish(class)?)
}
