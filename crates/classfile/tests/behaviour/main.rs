//! What edits mean, seen by running the edited code.

use std::fmt::Write;
use std::path::Path;

use classfile::{Asm, ClassFile, Code, EditError, Editor, Insn, Snippet, op};
use test_support::jdk::{Scratch, path, run};

/// A call that records a number.
fn hit(class: &mut ClassFile<'_>, n: i32) -> Snippet {
    let mut asm = Snippet::new(&mut class.pool);
    asm.push_int(n).invokestatic("Sample", "hit", "(I)V");
    asm.finish().unwrap()
}

/// A call that throws.
fn fail(class: &mut ClassFile<'_>) -> Snippet {
    snippet(class, |s| s.invokestatic("Sample", "fail", "()V"))
}

fn snippet(
    class: &mut ClassFile<'_>,
    build: impl for<'s, 'p> FnOnce(&'s mut Asm<'p>) -> &'s mut Asm<'p>,
) -> Snippet {
    let mut asm = Snippet::new(&mut class.pool);
    build(&mut asm);
    asm.finish().unwrap()
}

fn pc_of(code: &Code<'_>, wanted: impl Fn(&Insn) -> bool) -> u32 {
    code.insns
        .iter()
        .find(|i| wanted(i))
        .expect("the instruction is there")
        .pc
}

/// Edits one method of a class.
fn edit<'a>(
    class: &mut ClassFile<'a>,
    (name, desc): (&str, &str),
    with: impl FnOnce(&mut ClassFile<'a>, &mut Editor<'_, 'a>, &Code<'a>),
) -> Result<(), EditError> {
    let method = class.method_index(name, desc).expect("the method is there");
    let code = Code::decode(class, method).unwrap().expect("it has code");
    let mut ed = Editor::new(&code);
    with(class, &mut ed, &code);
    ed.finish(class)
}

fn edit_sample(class: &mut ClassFile<'_>) -> Result<u16, EditError> {
    edit(class, ("loopFromTheStart", "(I)I"), |class, ed, _| {
        ed.insert_before(0, hit(class, 2));
        ed.insert_at_entry(hit(class, 1));
    })?;
    edit(class, ("sum", "(II)I"), |class, ed, code| {
        let (add, ret) = (
            pc_of(code, |i| i.op == op::IADD),
            pc_of(code, |i| i.op == op::IRETURN),
        );
        ed.insert_before(ret, hit(class, 15));
        ed.insert_after(add, hit(class, 13));
        ed.insert_before(add, hit(class, 11));
        ed.insert_before(add, hit(class, 12));
        ed.insert_after(add, hit(class, 14));
        ed.insert_after(ret, hit(class, 99));
        ed.replace(add, snippet(class, |s| s.raw(&[op::ISUB], 2, 1)));
    })?;
    edit(class, ("join", "(Z)I"), |class, ed, code| {
        let jump = pc_of(code, |i| i.op == op::GOTO);
        let last = pc_of(code, |i| i.op == op::ISTORE_1 && i.pc > jump);
        let meet = pc_of(code, |i| i.pc > last);
        ed.insert_after(last, hit(class, 21));
        ed.insert_before(meet, hit(class, 22));
    })?;
    edit(class, ("guarded", "([I)I"), |class, ed, code| {
        let load = pc_of(code, |i| i.op == op::IALOAD);
        ed.insert_after(load, fail(class));
    })?;
    edit(
        class,
        ("rethrown", "(Ljava/lang/String;)I"),
        |class, ed, _| {
            ed.catch_all(snippet(class, |s| {
                s.push_int(31)
                    .invokestatic("Sample", "hit", "(I)V")
                    .athrow()
            }));
        },
    )?;
    edit(class, ("entered", "()V"), |class, ed, _| {
        ed.insert_at_entry(fail(class));
        ed.catch_all(snippet(class, |s| {
            s.push_int(41)
                .invokestatic("Sample", "hit", "(I)V")
                .athrow()
        }));
    })?;
    let two = "(Ljava/lang/Object;Ljava/lang/Object;)I";
    edit(class, ("released", two), |class, ed, code| {
        for insn in code.insns.iter().filter(|i| i.op == op::MONITOREXIT) {
            ed.insert_before(insn.pc, hit(class, 61));
            ed.insert_before(insn.pc, fail(class));
            ed.guard_release(insn.pc, class).unwrap();
        }
    })?;
    edit(
        class,
        ("taken", "(Ljava/lang/Object;)I"),
        |class, ed, code| {
            let enter = pc_of(code, |i| i.op == op::MONITORENTER);
            ed.insert_after(enter, fail(class));
        },
    )?;
    let mut line = None;
    edit(class, ("line", "([I)I"), |class, ed, code| {
        let local = ed.alloc_local(2);
        for insn in &code.insns {
            ed.insert_before(
                insn.pc,
                snippet(class, |s| s.push_long(70_000).lstore(local)),
            );
            ed.insert_after(insn.pc, snippet(class, |s| s.lload(local).pop2()));
        }
        line = code.line_of(pc_of(code, |i| i.op == op::IDIV));
    })?;
    Ok(line.expect("javac -g leaves lines"))
}

/// A class whose methods pass 32 KiB when edited: one loops by a `goto`, the
/// other's loop is left by a conditional branch.
fn large_source() -> String {
    let body = "        t += n * 31 ^ t;\n".repeat(1_200);
    let mut text = String::from("class Large {\n");
    for (name, head) in [
        ("forever", "for (;;) { if (n-- == 0) return t;"),
        ("bounded", "while (n-- > 0) {"),
    ] {
        let tail = if name == "bounded" { "return t;" } else { "" };
        writeln!(
            text,
            "    static int {name}(int n) {{\n        int t = 1;\n        {head}\n{body}        }}\n        {tail}\n    }}"
        )
        .unwrap();
    }
    text + "}\n"
}

fn edit_large(class: &mut ClassFile<'_>, bytes: &[u8]) {
    let nops = |class: &mut ClassFile<'_>, ed: &mut Editor<'_, '_>, code: &Code<'_>, n: usize| {
        for insn in &code.insns {
            ed.insert_before(insn.pc, snippet(class, |s| (0..n).fold(s, |s, _| s.nop())));
        }
    };
    let bounded = ("bounded", "(I)I");
    let error = edit(class, bounded, |class, ed, code| nops(class, ed, code, 3)).unwrap_err();
    assert!(matches!(error, EditError::BranchTooFar(_)), "{error}");
    let error = edit(class, bounded, |class, ed, code| nops(class, ed, code, 9)).unwrap_err();
    assert!(matches!(error, EditError::CodeTooLarge(_)), "{error}");
    assert!(class.to_bytes() == bytes, "a failed edit left a trace");

    edit(class, ("forever", "(I)I"), |class, ed, code| {
        nops(class, ed, code, 3)
    })
    .unwrap();
    let method = class.method_index("forever", "(I)I").unwrap();
    let code = Code::decode(class, method).unwrap().unwrap();
    assert!(
        code.insns.iter().any(|i| i.op == op::GOTO_W),
        "the loop's goto did not grow"
    );
}

fn edit_old(class: &mut ClassFile<'_>) -> Result<(), EditError> {
    edit(class, ("run", "(I)I"), |class, ed, code| {
        for insn in &code.insns {
            ed.insert_before(insn.pc, snippet(class, |s| s.push_int(9).pop()));
            ed.insert_after(insn.pc, snippet(class, |s| s.aconst_null().pop()));
        }
        let target = pc_of(code, |i| i.op == op::GETSTATIC);
        ed.insert_before(target, hit(class, 51));
        ed.catch_all(snippet(class, |s| s.athrow()));
    })
}

/// Rewrites a class file in place.
fn rewrite(file: &Path, with: impl FnOnce(&mut ClassFile<'_>, &[u8])) {
    let bytes = std::fs::read(file).unwrap();
    let mut class = ClassFile::parse(&bytes).unwrap();
    with(&mut class, &bytes);
    std::fs::write(file, class.to_bytes()).unwrap();
}

#[test]
fn edited_code_does_what_the_edits_say() {
    let scratch = Scratch::new("behaviour");
    let dir = path(&scratch.0);
    let large = scratch.0.join("Large.java");
    std::fs::write(&large, large_source()).unwrap();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour/Sample.java");
    run("javac", &["-g", "-d", dir, sample, path(&large)]);
    let old = include_bytes!("../../../../fuzz/corpus/classfile/Old.class");
    std::fs::write(scratch.0.join("Old.class"), old).unwrap();
    let before = run("java", &["-cp", dir, "Sample"]);
    let before = String::from_utf8_lossy(&before);
    let large_results: Vec<&str> = before.lines().filter(|l| l.starts_with("Large")).collect();

    let mut line = 0;
    rewrite(&scratch.0.join("Sample.class"), |class, _| {
        line = edit_sample(class).unwrap()
    });
    rewrite(&scratch.0.join("Large.class"), |class, bytes| {
        edit_large(class, bytes)
    });
    rewrite(&scratch.0.join("Old.class"), |class, _| {
        edit_old(class).unwrap()
    });
    let after = run("java", &["-Xverify:all", "-cp", dir, "Sample"]);
    let expected = format!(
        "loopFromTheStart 0 hits 1 2 2 2\n\
         sum 3 hits 11 12 13 14 15\n\
         join 1 hits 22\n\
         join 2 hits 21 22\n\
         guarded -1 hits\n\
         rethrown 4 hits\n\
         rethrown thrown hits 31\n\
         entered thrown hits\n\
         line {line} hits\n\
         released thrown false hits 61 61 61\n\
         taken thrown false hits\n\
         Old.run 42 total 1 hits 51\n\
         {}\n",
        large_results.join("\n")
    );
    assert_eq!(String::from_utf8_lossy(&after), expected);
}
