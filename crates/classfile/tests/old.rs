//! Subroutines (`jsr`, `ret`), which javac wrote until 2003 and HotSpot runs to
//! this day in class files before version 50.

use classfile::flow::{Flow, Kind, Origin};
use classfile::{ClassFile, Code, Editor, Snippet, op};

/// A class of version 48 with one method,
/// `static int run(int n) { try { return n + 1; } finally { total++; } }`,
/// the finally block being a subroutine called from two places.
fn old_class() -> Vec<u8> {
    let mut pool = Vec::new();
    let texts = [
        "Old",
        "java/lang/Object",
        "run",
        "(I)I",
        "Code",
        "total",
        "I",
    ];
    for text in texts {
        pool.push(1);
        pool.extend((text.len() as u16).to_be_bytes());
        pool.extend(text.as_bytes());
    }
    pool.extend([7, 0, 1]); // #8 this class
    pool.extend([7, 0, 2]); // #9 its superclass
    pool.extend([12, 0, 6, 0, 7]); // #10 total:I
    pool.extend([9, 0, 8, 0, 10]); // #11 the field
    #[rustfmt::skip]
    let code = [
        op::ILOAD_0, op::ICONST_1, op::IADD, op::ISTORE_1, // 0
        op::JSR, 0, 13,                                    // 4: to 17
        op::ILOAD_1, op::IRETURN,                          // 7
        op::ASTORE_2,                                      // 9: the handler
        op::JSR_W, 0, 0, 0, 7,                             // 10: to 17
        op::ALOAD_2, op::ATHROW,                           // 15
        op::ASTORE_3,                                      // 17: the subroutine
        op::GETSTATIC, 0, 11, op::ICONST_1, op::IADD,      // 18
        op::PUTSTATIC, 0, 11,                              // 23
        op::WIDE, op::RET, 0, 3,                           // 26
    ];
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 48, 0, 12];
    class.extend(pool);
    class.extend([0, 0x21, 0, 8, 0, 9, 0, 0]);
    class.extend([0, 1, 0, 9, 0, 6, 0, 7, 0, 0]); // public static int total
    class.extend([0, 1, 0, 9, 0, 3, 0, 4, 0, 1, 0, 5]); // public static int run(int)
    class.extend((12 + code.len() as u32 + 8).to_be_bytes());
    class.extend([0, 2, 0, 4]);
    class.extend((code.len() as u32).to_be_bytes());
    class.extend(code);
    class.extend([0, 1, 0, 0, 0, 9, 0, 9, 0, 0]); // 0..9 is guarded by 9
    class.extend([0, 0, 0, 0]);
    class
}

#[test]
fn the_seed_of_the_fuzzer_is_the_class_assembled_here() {
    let seed = include_bytes!("../../../fuzz/corpus/classfile/Old.class");
    assert!(old_class() == seed);
}

#[test]
fn flow_returns_from_a_subroutine_to_both_its_callers() {
    let bytes = old_class();
    let class = ClassFile::parse(&bytes).unwrap();
    let code = Code::decode(&class, 0).unwrap().unwrap();
    let flow = Flow::analyze(&class, &code).unwrap();
    let inside = flow.before(18).unwrap();
    assert_eq!(inside.locals[3].kind, Kind::ReturnAddress(17));
    assert_eq!(inside.locals[0].origin, Origin::Param(0));
    assert!(inside.stack.is_empty());
    // What the subroutine leaves alone is the same behind both calls.
    let back = flow.before(7).unwrap();
    assert_eq!(back.locals[0].kind, Kind::Int);
    assert_eq!(flow.before(15).unwrap().locals[0].origin, Origin::Param(0));
}

#[test]
fn edited_subroutines_keep_their_calls_and_returns() {
    let bytes = old_class();
    let mut class = ClassFile::parse(&bytes).unwrap();
    let code = Code::decode(&class, 0).unwrap().unwrap();
    let mut ed = Editor::new(&code);
    for insn in &code.insns {
        ed.insert_before(
            insn.pc,
            Snippet::new(&mut class.pool).nop().finish().unwrap(),
        );
    }
    ed.finish(&mut class).unwrap();
    let code = Code::decode(&class, 0).unwrap().unwrap();
    let ops: Vec<u8> = code
        .insns
        .iter()
        .map(|i| i.op)
        .filter(|&o| o != op::NOP)
        .collect();
    let old = ClassFile::parse(&bytes).unwrap();
    let old = Code::decode(&old, 0).unwrap().unwrap();
    assert_eq!(ops, old.insns.iter().map(|i| i.op).collect::<Vec<_>>());
    assert!(code.insns.iter().any(|i| i.op == op::RET && i.wide));
    assert!(Flow::analyze(&class, &code).is_ok());
}
