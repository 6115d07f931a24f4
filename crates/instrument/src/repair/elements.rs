//! Element accesses with volatile semantics, as an atomic array has them: each
//! goes through a `VarHandle` that the bridge keeps. Probes then see it as they
//! see any other `VarHandle`.

use classfile::flow::{Flow, Kind, Origin};
use classfile::{ClassFile, Code, Editor, Insn, Snippet, op};
use encoding::names::dotted;

use super::{Line, RepairError, decode, method_of};

/// The class of the bridge that has the handles.
pub const HANDLES: &str = "java/lang/PhotofinishElements";

const VAR_HANDLE: &str = "java/lang/invoke/VarHandle";
const VAR_HANDLE_DESC: &str = "Ljava/lang/invoke/VarHandle;";
const OBJECT: &str = "Ljava/lang/Object;";

/// An element type: the handle's name and the descriptor.
type Element = (&'static str, &'static str);

pub(super) fn make_volatile(
    class: &mut ClassFile<'_>,
    at: &Line,
    from: &str,
) -> Result<(), RepairError> {
    let code = decode(class, method_of(class, at)?)?;
    let in_line = |i: &&Insn| is_access(i.op) && code.line_of(i.pc) == Some(at.line);
    let mut all: Vec<&Insn> = code.insns.iter().filter(in_line).collect();
    if all.is_empty() {
        return Err(RepairError::NoAccess);
    }
    let flow = Flow::analyze(class, &code)?;
    let is_from = |i: &&Insn| origin(class, &code, &flow, i, 0).is_some_and(|o| o == from);
    if all.iter().any(is_from) {
        all.retain(is_from);
    }
    let mut editor = Editor::new(&code);
    for insn in all {
        let array = flow
            .before(insn.pc)
            .and_then(|state| state.peek(depth(insn.op)));
        let array = match array.map(|v| v.kind) {
            Some(Kind::Ref(id)) => Some(flow.type_name(id)),
            _ => None,
        };
        let (handle, element) = element(insn.op, array.as_deref())?;
        let index = editor.alloc_local(1);
        let local = editor.alloc_local(1);
        let value = editor.alloc_local(2);
        let mut a = Snippet::new(&mut class.pool);
        let store = insn.op >= op::IASTORE;
        if store {
            a.store(element, value);
        }
        a.istore(index).astore(local);
        a.getstatic(HANDLES, handle, VAR_HANDLE_DESC);
        a.aload(local).iload(index);
        if store {
            a.load(element, value);
            let desc = format!("([{element}I{element})V");
            a.invokevirtual(VAR_HANDLE, "setVolatile", &desc);
        } else {
            let desc = format!("([{element}I){element}");
            a.invokevirtual(VAR_HANDLE, "getVolatile", &desc);
            let inner = array.as_deref().and_then(|t| t.strip_prefix('['));
            if element == OBJECT && inner != Some(OBJECT) {
                a.checkcast(inner.map(class_of).ok_or(RepairError::UnknownArray)?);
            }
        }
        editor.replace(insn.pc, a.finish()?);
    }
    Ok(editor.finish(class)?)
}

/// The field that an access's array was read from, as sites name it.
fn origin(
    class: &ClassFile<'_>,
    code: &Code<'_>,
    flow: &Flow<'_>,
    insn: &Insn,
    nested: u32,
) -> Option<String> {
    let array = flow.before(insn.pc)?.peek(depth(insn.op))?;
    let Origin::Insn(pc) = array.origin else {
        return None;
    };
    let maker = code.at(pc)?;
    match maker.op {
        op::GETFIELD | op::GETSTATIC => {
            let field = class.pool.member_ref(maker.cp()?)?;
            Some(format!("{}.{}", dotted(&field.class), field.name))
        }
        op::AALOAD if nested < 4 => {
            let outer = origin(class, code, flow, maker, nested + 1)?;
            Some(format!("{outer}[]"))
        }
        _ => None,
    }
}

fn is_access(opcode: u8) -> bool {
    matches!(opcode, op::IALOAD..=op::SALOAD | op::IASTORE..=op::SASTORE)
}

/// How deep the array lies.
fn depth(opcode: u8) -> u16 {
    match opcode {
        op::LASTORE | op::DASTORE => 3,
        op::IASTORE..=op::SASTORE => 2,
        _ => 1,
    }
}

fn element(opcode: u8, array: Option<&str>) -> Result<Element, RepairError> {
    Ok(match opcode {
        op::IALOAD | op::IASTORE => ("INTS", "I"),
        op::LALOAD | op::LASTORE => ("LONGS", "J"),
        op::FALOAD | op::FASTORE => ("FLOATS", "F"),
        op::DALOAD | op::DASTORE => ("DOUBLES", "D"),
        op::CALOAD | op::CASTORE => ("CHARS", "C"),
        op::SALOAD | op::SASTORE => ("SHORTS", "S"),
        op::BALOAD | op::BASTORE => match array {
            Some("[B") => ("BYTES", "B"),
            Some("[Z") => ("BOOLEANS", "Z"),
            _ => return Err(RepairError::UnknownArray),
        },
        _ => match array {
            Some(array) if array.starts_with('[') => ("OBJECTS", OBJECT),
            _ => return Err(RepairError::UnknownArray),
        },
    })
}

/// A descriptor of a reference as a class constant names it.
fn class_of(desc: &str) -> &str {
    let inner = desc.strip_prefix('L').and_then(|d| d.strip_suffix(';'));
    inner.unwrap_or(desc)
}
