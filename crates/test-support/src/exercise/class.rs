//! Any bytes as a class file: everything that crate `classfile` can do to it.

use classfile::flow::{Flow, FlowError};
use classfile::{ClassFile, Code, EditError, Editor, PoolFull, Snippet, op};

/// Inserts code wherever code can be inserted; whether the method has code.
/// The constants come in all sizes, so that `ldc` and `ldc_w` appear too.
pub fn edit_everywhere(class: &mut ClassFile<'_>, method: usize) -> Result<bool, EditError> {
    let Some(code) = Code::decode(class, method)? else {
        return Ok(false);
    };
    let name = class.member_name(&class.methods[method]).into_owned();
    if code.insns.len() == 1 && name == "finalize" {
        // HotSpot takes an empty finalizer for none; Object's must stay empty.
        return Ok(false);
    }
    let mut ed = Editor::new(&code);
    let local = ed.alloc_local(2);
    for insn in &code.insns {
        let number = (insn.pc as i32 & 0xf) * 5_000;
        let pool = &mut class.pool;
        ed.insert_before(insn.pc, Snippet::new(pool).push_int(number).pop().finish()?);
        ed.insert_after(insn.pc, Snippet::new(pool).aconst_null().pop().finish()?);
    }
    if name != "<init>" && method.is_multiple_of(2) {
        hold(class, &code, &mut ed)?;
    }
    let pool = &mut class.pool;
    let mut entry = Snippet::new(pool);
    entry.push_long(7).lstore(local).lload(local).pop2();
    ed.insert_at_entry(entry.finish()?);
    if name != "<init>" && !method.is_multiple_of(2) {
        ed.catch_all(Snippet::new(pool).dup().pop().athrow().finish()?);
    }
    ed.finish(class)?;
    Ok(true)
}

/// Holds a monitor through the method: of an array that nobody else knows.
fn hold<'a>(
    class: &mut ClassFile<'a>,
    code: &Code<'a>,
    ed: &mut Editor<'_, 'a>,
) -> Result<(), PoolFull> {
    let lock = ed.alloc_local(1);
    let mut enter = Snippet::new(&mut class.pool);
    enter.push_int(0).raw(&[op::NEWARRAY, 10], 1, 1);
    enter.dup().astore(lock).monitorenter();
    let enter = enter.finish()?;
    ed.insert_at_entry(enter);
    ed.hold_monitor(lock, class)?;
    let pool = &mut class.pool;
    for insn in code.insns.iter().filter(|i| op::is_return(i.op)) {
        let leave = Snippet::new(pool).aload(lock).monitorexit().finish()?;
        ed.insert_before(insn.pc, leave);
    }
    let mut leave = Snippet::new(pool);
    leave.aload(lock).monitorexit().athrow();
    ed.catch_all(leave.finish()?);
    Ok(())
}

/// Reads, analyses and edits; panics if what comes out is not as good as what
/// went in.
pub fn class(bytes: &[u8]) {
    let Ok(mut class) = ClassFile::parse(bytes) else {
        return;
    };
    assert!(class.to_bytes() == bytes, "parsing loses something");
    let mut edited = vec![false; class.methods.len()];
    for (m, edited) in edited.iter_mut().enumerate() {
        let sound = analyses(&class, m);
        let before = class.to_bytes().len();
        match edit_everywhere(&mut class, m) {
            Ok(yes) => *edited = yes && sound,
            // Constants may have been added for nothing, code may not.
            Err(_) => assert!(class.to_bytes().len() >= before),
        }
    }
    let written = class.to_bytes();
    let again = ClassFile::parse(&written).expect("an edited class can be read");
    for m in (0..edited.len()).filter(|&m| edited[m]) {
        let code = Code::decode(&again, m).expect("edited code can be decoded");
        let code = code.expect("edited code is still there");
        match Flow::analyze(&again, &code) {
            Ok(_) | Err(FlowError::TooComplex) => {}
            Err(e) => panic!("method {m} was sound before it was edited: {e}"),
        }
    }
}

/// The flow analysis finds nothing wrong; it also visits what it says it does.
fn analyses(class: &ClassFile<'_>, method: usize) -> bool {
    let Ok(Some(code)) = Code::decode(class, method) else {
        return false;
    };
    for insn in code.insns.iter().step_by(7) {
        code.line_of(insn.pc);
        code.local_name(class, insn.local().unwrap_or(0), insn.pc);
    }
    let Ok(flow) = Flow::analyze(class, &code) else {
        return false;
    };
    let mut visited = 0;
    flow.walk(|i, state| {
        visited += 1;
        if visited % 50 == 1 {
            assert_eq!(flow.before(code.insns[i].pc).as_ref(), Some(state));
        }
    });
    assert!(visited > 0, "the first instruction is always reached");
    true
}
