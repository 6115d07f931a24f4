//! The fuzz target's first inputs, made here so that they follow the format.
//! After a change of it: `PHOTOFINISH_GOLDEN=1 cargo test -p photofinish-trace --test seeds`.

use test_support::exercise::trace_file as exercise;
use test_support::{golden, root};
use trace::tables::*;
use trace::*;

fn small_trace() -> Vec<u8> {
    let header = RunHeader {
        tool: "seed".into(),
        jdk: "17".into(),
        command: vec!["Main".into()],
        start_ms: 1,
        ordered: true,
    };
    let loc = Loc {
        obj: ObjId(5),
        slot: 2,
    };
    let lock = LockId(ObjId(9));
    let mut tables = Tables::default();
    let site = Site {
        class: "Bank".into(),
        method: "add".into(),
        desc: "()V".into(),
        target: Some(Member {
            class: "Bank".into(),
            name: "total".into(),
            desc: "I".into(),
        }),
        ..Site::default()
    };
    tables.sites.insert(SiteId(3), site);
    tables.fields.insert(2, Field::default());
    let thread = Thread {
        created_at: vec![Frame::default()],
        ..Thread::default()
    };
    tables.threads.insert(ThreadId(1), thread);
    tables.objects.insert(ObjId(5), Object::default());
    let class = Class {
        hash: vec![1, 2],
        ..Class::default()
    };
    tables.classes.insert(4, class);
    tables.methods.insert(1, Method::default());

    let mut w = Writer::new(Vec::new(), &header).unwrap();
    w.tables(&tables).unwrap();
    w.class_bytes(4, &[0xca, 0xfe, 0xba, 0xbe]).unwrap();
    let of = |ops: &[(Op, u64)]| -> Vec<(SiteId, Op, u64)> {
        ops.iter().map(|&(op, seq)| (SiteId(3), op, seq)).collect()
    };
    let main = of(&[
        (Op::Begin, 1),
        (Op::Fork(ThreadId(1)), 2),
        (Op::Acquire(lock), 4),
        (Op::Write(loc), 0),
        (Op::Read(loc), 0),
        (Op::Release(lock), 5),
        (Op::AtomicUpdate(loc, Mode::Volatile), 6),
    ]);
    let other = of(&[
        (Op::Begin, 3),
        (Op::Read(loc), 0),
        (Op::MethodEnter(1), 0),
        (
            Op::WaitEnd {
                lock,
                notified: true,
            },
            7,
        ),
    ]);
    w.append_events(ThreadId(0), main).unwrap();
    w.append_events(ThreadId(1), other).unwrap();
    let footer = Footer {
        exit_code: Some(1),
        skipped: vec![Skipped {
            class: "Big".into(),
            method: None,
            why: "size".into(),
        }],
        ..Footer::default()
    };
    w.part(&Part::Places(3..9)).unwrap();
    w.finish(footer).unwrap()
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let with = |choice: u8, bytes: &[u8]| [&[choice], bytes].concat();
    let file = small_trace();
    let text = b"T0|fork(T1)|1\nT0|acq(m)|2\nT0|w(x.f[3])|3\nT0|rel(m)|4\n\
                 T1|begin|5\nT1|r(x.f[3])|6\nT1|end|7\nT0|join(T1)|8\n";
    let mut words = Vec::new();
    let loc = Loc {
        obj: ObjId(7),
        slot: 1,
    };
    for (op, seq) in [
        (Op::Begin, 1),
        (Op::Write(loc), 0),
        (Op::AtomicRead(loc, Mode::AcqRel), 2),
        (Op::Join(ThreadId(3)), 3),
    ] {
        raw::pack(SiteId(8), op, seq, &mut words);
    }
    let words: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    vec![
        ("file", with(0, &file)),
        ("resealed", with(1, &file)),
        ("text", with(2, text)),
        ("words", with(3, &words)),
    ]
}

#[test]
fn seeds_of_the_fuzz_target_are_current() {
    let dir = root().join("fuzz/corpus/trace");
    for (name, bytes) in seeds() {
        exercise::any(&bytes);
        golden::compare_bytes(&dir.join(name), &bytes);
    }
}
