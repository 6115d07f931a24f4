//! Frames that do not name `this`, as ProGuard writes them where a method has no
//! more use for it: probes at the end of a constructor have.

use classfile::op;
use instrument::{Mode, Policy, SiteKind};

use crate::support::{Scratch, bridge, path, run};

/// `class Dropped extends parent { final Object kept; Dropped(int n) }`. The constructor divides
/// by n, if that is not 0, before it calls `super()`, with a handler around; the
/// frame of the return knows nothing of local 0.
fn dropped(parent: &str) -> Vec<u8> {
    let texts = [
        "Dropped",
        parent,
        "<init>",
        "(I)V",
        "Code",
        "kept",
        "Ljava/lang/Object;",
        "()V",
        "StackMapTable",
        "java/lang/Throwable",
    ];
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 18];
    for text in texts {
        class.push(1);
        class.extend((text.len() as u16).to_be_bytes());
        class.extend(text.as_bytes());
    }
    class.extend([7, 0, 1]); // #11 this class
    class.extend([7, 0, 2]); // #12 its superclass
    class.extend([12, 0, 3, 0, 8]); // #13 <init>:()V
    class.extend([10, 0, 12, 0, 13]); // #14 super()
    class.extend([12, 0, 6, 0, 7]); // #15 kept
    class.extend([9, 0, 11, 0, 15]); // #16 the field
    class.extend([7, 0, 10]); // #17 Throwable
    #[rustfmt::skip]
    let code = [
        op::ILOAD_1, op::IFEQ, 0, 7,                           // 0: to 8
        op::ICONST_1, op::ILOAD_1, op::IDIV, op::POP,          // 4
        op::ALOAD_0, op::INVOKESPECIAL, 0, 14,                 // 8
        op::ALOAD_0, op::ACONST_NULL, op::PUTFIELD, 0, 16,     // 12
        op::ILOAD_1, op::IFEQ, 0, 4,                           // 17: to 22
        op::NOP,                                               // 21
        op::RETURN,                                            // 22
        op::ATHROW,                                            // 23: the handler
    ];
    #[rustfmt::skip]
    let frames = [
        0, 3,
        8,                                                     // at 8, as at the start
        255, 0, 13, 0, 2, 0, 1, 0, 0,                          // at 22: top, int
        255, 0, 0, 0, 2, 6, 1, 0, 1, 7, 0, 17,                 // at 23: this, int; Throwable
    ];
    class.extend([0, 0x21, 0, 11, 0, 12, 0, 0]);
    class.extend([0, 1, 0, 0x11, 0, 6, 0, 7, 0, 0]); // public final Object kept
    class.extend([0, 1, 0, 1, 0, 3, 0, 4, 0, 1, 0, 5]); // public Dropped(int)
    let length = 8 + code.len() + 2 + 8 + 2 + 6 + frames.len();
    class.extend((length as u32).to_be_bytes());
    class.extend([0, 3, 0, 2]);
    class.extend((code.len() as u32).to_be_bytes());
    class.extend(code);
    class.extend([0, 1, 0, 4, 0, 8, 0, 23, 0, 0]); // 4..8 is guarded by 23
    class.extend([0, 1, 0, 9]);
    class.extend((frames.len() as u32).to_be_bytes());
    class.extend(frames);
    class.extend([0, 0]);
    class
}

#[test]
fn a_constructor_whose_frames_forget_this_verifies() {
    verifies(
        "dropped",
        "java/lang/Object",
        Mode::FastTrack,
        SiteKind::Freeze,
    );
    // In events there is one more probe, if the class may inherit a finaliser.
    verifies(
        "dropped-too",
        "java/lang/Number",
        Mode::Events,
        SiteKind::Constructed,
    );
}

fn verifies(name: &str, parent: &str, mode: Mode, probed_as: SiteKind) {
    let scratch = Scratch::new(name);
    let source = scratch.0.join("Main.java");
    let text = "class Main { public static void main(String[] args) throws Exception {\n\
        var made = Class.forName(\"Dropped\").getConstructor(int.class);\n\
        made.newInstance(0); made.newInstance(7); System.out.println(\"made\"); } }\n";
    std::fs::write(&source, text).unwrap();
    let [plain, probed] = ["plain", "probed"].map(|name| scratch.0.join(name));
    for dir in [&plain, &probed] {
        run("javac", &["-d", path(dir), path(&source)]);
    }
    let bytes = dropped(parent);
    std::fs::write(plain.join("Dropped.class"), &bytes).unwrap();
    let result = super::rewrite_in(mode, &bytes, &Policy::default(), 100_000);
    assert!(result.skipped.is_empty(), "{:?}", result.skipped);
    let kinds: Vec<_> = result.sites.iter().map(|s| s.kind).collect();
    assert!(kinds.contains(&probed_as), "{kinds:?}");
    std::fs::write(probed.join("Dropped.class"), result.bytes.unwrap()).unwrap();

    let classes = scratch.0.join("bridge");
    bridge(&scratch.0, &classes, "", "");
    let patch = format!("--patch-module=java.base={}", path(&classes));
    let before = run("java", &["-Xverify:all", "-cp", path(&plain), "Main"]);
    let after = run(
        "java",
        &[&patch, "-Xverify:all", "-cp", path(&probed), "Main"],
    );
    assert_eq!(before, "made\n");
    assert_eq!(after, before);
}
