//! Where values come from, on a class whose code is known (`fuzz/seeds/Shapes.java`).

use classfile::flow::{Flow, Kind, Origin, State};
use classfile::{ClassFile, Code, Insn, op};

const SHAPES: &[u8] = include_bytes!("../../../fuzz/corpus/classfile/Shapes.class");

/// Calls `check` with every state before an instruction that `wanted` picks;
/// there must be some.
fn each(
    (name, desc): (&str, &str),
    wanted: impl Fn(&Insn) -> bool,
    mut check: impl FnMut(&Flow<'_>, &Code<'_>, &State),
) {
    let class = ClassFile::parse(SHAPES).unwrap();
    let method = class.method_index(name, desc).expect(name);
    let code = Code::decode(&class, method).unwrap().unwrap();
    let flow = Flow::analyze(&class, &code).unwrap();
    let mut found = 0;
    flow.walk(|i, state| {
        if wanted(&code.insns[i]) {
            found += 1;
            check(&flow, &code, state);
        }
    });
    assert!(found > 0, "{name} has no such instruction");
}

fn origin_op(code: &Code<'_>, origin: Origin) -> Option<u8> {
    match origin {
        Origin::Insn(pc) => code.at(pc).map(|i| i.op),
        _ => None,
    }
}

#[test]
fn this_is_uninitialised_until_the_constructor_call() {
    let delegating = ("<init>", "(Z)V");
    let call = |i: &Insn| i.op == op::INVOKESPECIAL;
    let mut receivers = Vec::new();
    each(delegating, call, |_, code, state| {
        // The list's constructor takes an int, the other one an int and a list.
        let list = state.peek(1).unwrap();
        receivers.push(match list.kind {
            Kind::Uninit(pc) => code.at(pc).unwrap().op,
            _ => 0,
        });
    });
    assert_eq!(receivers[0], op::NEW);
    each(
        delegating,
        |i| i.op == op::RETURN,
        |_, _, state| {
            assert!(matches!(state.locals[0].kind, Kind::Ref(_)));
            assert_eq!(state.locals[0].origin, Origin::Param(0));
        },
    );
    let mut seen = 0;
    each(
        delegating,
        |i| i.op == op::ILOAD_1,
        |_, _, state| {
            seen += 1;
            assert_eq!(state.locals[0].kind, Kind::UninitThis);
        },
    );
    assert_eq!(seen, 2);
}

#[test]
fn an_element_write_knows_which_array_it_goes_to() {
    let grid = ("grid", "(I)[[[D");
    each(
        grid,
        |i| i.op == op::AASTORE,
        |flow, code, state| {
            // g[0][1] = ..: the array under index and value was loaded from g[0].
            let array = state.peek(2).unwrap();
            let Kind::Ref(ty) = array.kind else {
                panic!("{array:?}");
            };
            assert_eq!(flow.type_name(ty), "[[D");
            assert_eq!(origin_op(code, array.origin), Some(op::AALOAD));
        },
    );
    each(
        grid,
        |i| i.op == op::ARETURN,
        |flow, code, state| {
            let made = state.peek(0).unwrap();
            let Kind::Ref(ty) = made.kind else {
                panic!("{made:?}");
            };
            assert_eq!(flow.type_name(ty), "[[[D");
            assert_eq!(origin_op(code, made.origin), Some(op::MULTIANEWARRAY));
        },
    );
    each(
        ("guarded", "([II)I"),
        |i| i.op == op::IALOAD,
        |_, _, state| {
            assert_eq!(state.peek(1).unwrap().origin, Origin::Param(1));
        },
    );
}

#[test]
fn a_cast_keeps_the_origin_and_a_merge_loses_it() {
    let largest = ("largest", "(Ljava/util/List;)Ljava/lang/Comparable;");
    each(
        largest,
        |i| i.op == op::ARETURN,
        |flow, _, state| {
            let best = state.peek(0).unwrap();
            let Kind::Ref(ty) = best.kind else {
                panic!("{best:?}");
            };
            // Null or an element: the type survives, the origin cannot.
            assert_eq!(flow.type_name(ty), "java/lang/Comparable");
            assert_eq!(best.origin, Origin::Unknown);
        },
    );
    each(
        largest,
        |i| i.op == op::ASTORE_3,
        |_, code, state| {
            let one = state.peek(0).unwrap();
            assert_eq!(origin_op(code, one.origin), Some(op::INVOKEINTERFACE));
        },
    );
}
