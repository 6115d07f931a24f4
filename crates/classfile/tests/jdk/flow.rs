//! The flow analysis, held against the frames that javac wrote.

use classfile::flow::{Flow, Kind, Value};
use classfile::{ClassFile, Code, acc};

use crate::frames::{Type, expand};
use crate::image::jdk_classes;

/// The types a method starts with.
fn initial(class: &ClassFile<'_>, code: &Code<'_>) -> Vec<Type> {
    let method = &class.methods[code.method_index];
    let mut locals = Vec::new();
    if method.access & acc::STATIC == 0 {
        let fresh = class.member_name(method) == "<init>";
        locals.push(if fresh {
            Type::UninitThis
        } else {
            Type::Object
        });
    }
    let desc = class.member_desc(method);
    for param in classfile::method(&desc).unwrap().params() {
        locals.push(match param.as_bytes()[0] {
            b'J' => Type::Long,
            b'D' => Type::Double,
            b'F' => Type::Float,
            b'L' | b'[' => Type::Object,
            _ => Type::Int,
        });
    }
    locals
}

/// The analysis knows at least what the frame says.
fn agrees(found: Value, said: Type) -> bool {
    match said {
        Type::Top => true,
        Type::Int => found.kind == Kind::Int,
        Type::Float => found.kind == Kind::Float,
        Type::Long => found.kind == Kind::Long,
        Type::Double => found.kind == Kind::Double,
        Type::Null => found.kind == Kind::Null,
        Type::Object => matches!(found.kind, Kind::Ref(_) | Kind::Null),
        Type::UninitThis => found.kind == Kind::UninitThis,
        Type::Uninit(pc) => found.kind == Kind::Uninit(pc),
    }
}

#[test]
fn states_agree_with_every_stack_map_frame_of_the_jdk() {
    let (mut compared, mut dead) = (0, 0);
    for entry in jdk_classes() {
        let class = ClassFile::parse(&entry.bytes).unwrap();
        for m in 0..class.methods.len() {
            let Some(code) = Code::decode(&class, m).unwrap() else {
                continue;
            };
            let name = || format!("{} {}", entry.path, class.member_name(&class.methods[m]));
            let flow = Flow::analyze(&class, &code).unwrap_or_else(|e| panic!("{}: {e}", name()));
            let Some(table) = code.attribute(&class, "StackMapTable") else {
                continue;
            };
            for frame in expand(table, initial(&class, &code)) {
                // Dead code has frames too; nothing arrives there.
                let Some(state) = flow.before(frame.pc) else {
                    dead += 1;
                    continue;
                };
                compared += 1;
                let same = state.stack.len() == frame.stack.len()
                    && state.locals.len() >= frame.locals.len()
                    && std::iter::zip(&state.stack, &frame.stack).all(|(f, s)| agrees(*f, *s))
                    && std::iter::zip(&state.locals, &frame.locals).all(|(f, s)| agrees(*f, *s));
                assert!(same, "{}: {frame:?}\n{state:?}", name());
            }
        }
    }
    assert!(compared > 300_000, "only {compared} frames");
    assert!(dead * 100 < compared, "{dead} frames nothing arrives at");
}
