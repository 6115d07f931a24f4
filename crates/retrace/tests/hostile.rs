//! Recordings that make no sense: whatever the records, nothing panics, no event
//! of the program is lost, and what is told refers to earlier events.

use classfile::{ClassFile, Code};
use predict::deps::{Dep, Needs};
use proptest::prelude::*;
use retrace::{Table, complete, is_full};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use trace::tables::{Method, Site, SiteKind};
use trace::{Event, Loc, LockId, Mode, ObjId, Op, SiteId, Tables, ThreadId};

const SOURCE: &str = "
class Odd {
    int a; int[] l; Odd next; final int f = 3; static volatile int v;
    int walk(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            try {
                switch (a) { case 1: s += l[i]; break; case 7: s -= next.a; break; default: s = f; }
                synchronized (this) { v = s; l = l.clone(); }
            } catch (RuntimeException e) {
                if (n > 3) throw e;
                s = walk(n - 1);
            } finally {
                a = s;
            }
        }
        Runnable r = () -> a++;
        r.run();
        System.arraycopy(l, 0, l, 1, 2);
        return new StringBuilder().append(s).length() + (n == 2 ? a / n : s);
    }
    static synchronized long wide(double d, long x) { v++; return d > 2 ? x : (long) d; }
}";

fn class_file() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("odd");
        std::fs::create_dir_all(&dir).unwrap();
        let source = dir.join("Odd.java");
        std::fs::write(&source, SOURCE).unwrap();
        let javac = match std::env::var_os("JAVA_HOME").filter(|h| !h.is_empty()) {
            Some(home) => Path::new(&home).join("bin/javac"),
            None => "javac".into(),
        };
        let done = Command::new(javac)
            .arg("-d")
            .arg(&dir)
            .arg(&source)
            .status();
        assert!(done.unwrap().success());
        std::fs::read(dir.join("Odd.class")).unwrap()
    })
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(make_tables)
}

/// A site at the start of each method, and one at every instruction.
fn make_tables() -> Tables {
    let class = ClassFile::parse(class_file()).unwrap();
    let mut tables = Tables::default();
    let mut next = 1;
    for (index, member) in class.methods.iter().enumerate() {
        let Some(code) = Code::decode(&class, index).unwrap() else {
            continue;
        };
        let name = class.member_name(member).to_string();
        let desc = class.member_desc(member).to_string();
        let site = |bci, kind| Site {
            class: "Odd".into(),
            method: name.as_str().into(),
            desc: desc.as_str().into(),
            bci,
            kind,
            ..Site::default()
        };
        let row = Method {
            class: 0,
            name: name.as_str().into(),
            desc: desc.as_str().into(),
        };
        tables.methods.insert(next, row);
        tables.sites.insert(SiteId(next), site(0, SiteKind::Method));
        next += 1;
        for insn in &code.insns {
            let handler = code.handlers.iter().any(|h| h.handler == insn.pc);
            let kind = match insn.op {
                _ if handler => SiteKind::Handler,
                classfile::op::TABLESWITCH | classfile::op::LOOKUPSWITCH => SiteKind::Switch,
                classfile::op::MONITORENTER => SiteKind::MonitorEnter,
                classfile::op::INVOKESTATIC => SiteKind::ArrayCopy,
                _ => SiteKind::FieldRead,
            };
            tables.sites.insert(SiteId(next), site(insn.pc, kind));
            next += 1;
        }
    }
    tables
}

fn op() -> impl Strategy<Value = Op> {
    let loc = (1u64..4, 0u32..3).prop_map(|(o, slot)| Loc {
        obj: ObjId(o),
        slot,
    });
    let small = prop_oneof![0u32..12, any::<u32>()];
    prop_oneof![
        4 => small.clone().prop_map(Op::MethodEnter),
        2 => small.clone().prop_map(Op::MethodExit),
        6 => small.prop_map(Op::Branch),
        3 => loc.clone().prop_map(Op::Read),
        3 => loc.clone().prop_map(Op::Write),
        1 => loc.prop_map(|l| Op::AtomicRead(l, Mode::Volatile)),
        1 => Just(Op::Acquire(LockId(ObjId(1)))),
        1 => Just(Op::Release(LockId(ObjId(1)))),
    ]
}

fn is_control(op: Op) -> bool {
    matches!(op, Op::MethodEnter(_) | Op::MethodExit(_) | Op::Branch(_))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn any_records(
        records in proptest::collection::vec((0u32..2, prop_oneof![0u32..4, 0u32..200], op()), 0..60),
        cut in prop_oneof![Just(None), (0usize..2000).prop_map(Some)],
    ) {
        let tables = tables();
        prop_assert!(is_full(tables));
        let events: Vec<Event> = records
            .iter()
            .map(|(thread, site, op)| Event { thread: ThreadId(*thread), site: SiteId(*site), op: *op })
            .collect();
        let mut bytes = class_file().to_vec();
        if let Some(cut) = cut {
            bytes.truncate(cut);
        }
        let files = BTreeMap::from([(0, bytes)]);
        let done = complete(&events, tables, &files, &Table::default());
        let of_program = |events: &[Event]| -> Vec<Event> {
            events.iter().filter(|e| !is_control(e.op)).copied().collect()
        };
        prop_assert_eq!(of_program(&events), of_program(&done.events));
        for (at, event) in done.events.iter().enumerate() {
            let lists = [done.deps.happens(at as u32), done.deps.value(at as u32)];
            for list in lists {
                let Needs::These(entries) = list else { continue };
                for entry in entries {
                    let (Dep::Value(on) | Dep::Happens(on)) = entry.get();
                    prop_assert!((on as usize) < at);
                    prop_assert_eq!(done.events[on as usize].thread, event.thread);
                    if let Dep::Value(_) = entry.get() {
                        let op = done.events[on as usize].op;
                        prop_assert!(matches!(op, Op::Read(_) | Op::AtomicRead(..)), "{:?}", op);
                    }
                }
            }
        }
    }
}
