//! Every repair at every place of a class: what can be made passes the verifier,
//! and the program still computes what it did. Moving a statement is tried for
//! every pair of lines; some pairs change what is computed, as they should.

use crate::support::{Scratch, path, run};
use classfile::{ClassFile, Code};
use instrument::MemberRef;
use instrument::repair::{Line, Object, Repair, RepairError, repair};
use std::collections::BTreeSet;
use std::sync::OnceLock;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour");
const ELEMENTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../java/bridge/java/lang/PhotofinishElements.java"
);

fn member(name: &str, desc: &str) -> MemberRef {
    MemberRef {
        class: "Repaired".into(),
        name: name.into(),
        desc: desc.into(),
    }
}

/// All lines of the class that have code.
fn lines(class: &ClassFile<'_>) -> Vec<Line> {
    let mut all = Vec::new();
    for (index, method) in class.methods.iter().enumerate() {
        let Some(code) = Code::decode(class, index).unwrap() else {
            continue;
        };
        let lines: BTreeSet<u16> = code
            .insns
            .iter()
            .filter_map(|i| code.line_of(i.pc))
            .collect();
        all.extend(lines.into_iter().map(|line| Line {
            class: "Repaired".into(),
            method: class.member_name(method).into_owned(),
            desc: class.member_desc(method).into_owned(),
            line,
        }));
    }
    all
}

/// Repairs to ask for at a line.
fn repairs(at: &Line) -> Vec<Repair> {
    let object = "Ljava/lang/Object;";
    let objects = [
        Object::This,
        Object::Receiver,
        Object::Static(member("LOCK", object)),
        Object::OfThis(member("mutex", object)),
        Object::OfReceiver(member("mutex", object)),
        Object::Class("Repaired".into()),
    ];
    let fields = [
        Object::Static(member("ready", "Z")),
        Object::Static(member("total", "J")),
        Object::OfThis(member("wide", "J")),
        Object::OfReceiver(member("next", "LRepaired;")),
        Object::Receiver,
    ];
    let elements = |from: &str| Repair::Elements {
        at: at.clone(),
        from: from.into(),
    };
    let mut all = vec![elements(""), elements("Repaired.rows[]")];
    for field in ["plain", "wide", "next", "counter", "total", "doubles"] {
        for lock in &objects {
            all.push(Repair::Locked {
                at: at.clone(),
                field: field.into(),
                lock: lock.clone(),
            });
            all.push(Repair::Acquire {
                at: at.clone(),
                field: field.into(),
                lock: lock.clone(),
            });
        }
        for from in &fields {
            all.push(Repair::Read {
                at: at.clone(),
                field: field.into(),
                from: from.clone(),
            });
        }
    }
    all
}

struct Ground {
    scratch: Scratch,
    bytes: Vec<u8>,
}

impl Ground {
    /// Compiled once.
    fn get() -> &'static Ground {
        static GROUND: OnceLock<Ground> = OnceLock::new();
        GROUND.get_or_init(Ground::new)
    }

    fn new() -> Ground {
        let scratch = Scratch::new("repair");
        let out = scratch.0.join("classes");
        let patch = scratch.0.join("patch");
        let sources = ["Repaired.java", "Runner.java"].map(|f| format!("{HERE}/{f}"));
        run(
            "javac",
            &["-Xlint:none", "-d", path(&out), &sources[0], &sources[1]],
        );
        // javac wants to find it where it says that its module is.
        let copy = scratch.0.join("PhotofinishElements.java");
        std::fs::copy(ELEMENTS, &copy).unwrap();
        let module = format!("java.base={}", path(&scratch.0));
        run(
            "javac",
            &["--patch-module", &module, "-d", path(&patch), path(&copy)],
        );
        let bytes = std::fs::read(out.join("Repaired.class")).unwrap();
        Ground { scratch, bytes }
    }

    /// What each class prints, and what the original does.
    fn run(&self, name: &str, variants: &[Vec<u8>]) -> (Vec<String>, String) {
        let all = self.scratch.0.join(name);
        for (number, bytes) in variants.iter().chain([&self.bytes]).enumerate() {
            let dir = all.join(format!("{number:05}"));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("Repaired.class"), bytes).unwrap();
        }
        let patch = format!("java.base={}", path(&self.scratch.0.join("patch")));
        let classes = self.scratch.0.join("classes");
        let said = run(
            "java",
            &[
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "--patch-module",
                &patch,
                "-cp",
                path(&classes),
                "Runner",
                path(&all),
            ],
        );
        let mut lines: Vec<String> = said
            .lines()
            .filter_map(|line| Some(line.split_once(": ")?.1.to_owned()))
            .collect();
        let original = lines.pop().unwrap();
        assert_eq!(lines.len(), variants.len());
        (lines, original)
    }
}

#[test]
fn repaired_classes_verify_and_do_what_they_did() {
    let ground = Ground::get();
    let class = ClassFile::parse(&ground.bytes).unwrap();
    let mut wanted: Vec<Repair> = lines(&class).iter().flat_map(repairs).collect();
    wanted.extend(
        ["counter", "plain", "wide", "doubles"].map(|field| Repair::Volatile {
            class: "Repaired".into(),
            field: field.into(),
        }),
    );
    let made: Vec<(Repair, Vec<u8>)> = wanted
        .into_iter()
        .filter_map(|wanted| {
            let bytes = repair(&ground.bytes, &wanted).ok()?;
            Some((wanted, bytes))
        })
        .collect();
    let count = |is: fn(&Repair) -> bool| made.iter().filter(|(r, _)| is(r)).count();
    assert!(count(|r| matches!(r, Repair::Locked { .. })) > 60);
    assert!(count(|r| matches!(r, Repair::Acquire { .. })) > 60);
    assert!(count(|r| matches!(r, Repair::Read { .. })) > 40);
    assert!(count(|r| matches!(r, Repair::Elements { .. })) > 24);
    assert_eq!(count(|r| matches!(r, Repair::Volatile { .. })), 4);
    let bytes: Vec<Vec<u8>> = made.iter().map(|(_, bytes)| bytes.clone()).collect();
    let (said, original) = ground.run("repairs", &bytes);
    for (said, (repair, _)) in said.iter().zip(&made) {
        assert_eq!(*said, original, "{repair}");
    }
}

#[test]
fn moved_statements_verify() {
    let ground = Ground::get();
    let class = ClassFile::parse(&ground.bytes).unwrap();
    let all = lines(&class);
    let mut made = Vec::new();
    for at in &all {
        for before in &all {
            let wanted = Repair::Move {
                at: at.clone(),
                before: before.line,
            };
            if let Ok(bytes) = repair(&ground.bytes, &wanted) {
                assert_eq!(at.method, before.method);
                made.push((wanted, bytes));
            }
        }
    }
    assert!(made.len() > 15, "{}", made.len());
    let bytes: Vec<Vec<u8>> = made.iter().map(|(_, bytes)| bytes.clone()).collect();
    let (said, original) = ground.run("moves", &bytes);
    let mut same = 0;
    for (said, (repair, _)) in said.iter().zip(&made) {
        assert!(!said.contains("Error"), "{repair}: {said}");
        same += usize::from(*said == original);
    }
    assert!(same > 5, "{same}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let ground = Ground::get();
    let class = ClassFile::parse(&ground.bytes).unwrap();
    let ask = |wanted: Repair| repair(&ground.bytes, &wanted).map(|_| ()).unwrap_err();
    let volatile = |field: &str| Repair::Volatile {
        class: "Repaired".into(),
        field: field.into(),
    };
    assert_eq!(ask(volatile("absent")), RepairError::NoField);
    assert_eq!(ask(volatile("LOCK")), RepairError::FinalField);
    let mut line = lines(&class).remove(0);
    let locked = |at: &Line, lock| Repair::Locked {
        at: at.clone(),
        field: "plain".into(),
        lock,
    };
    line.line = 1;
    assert_eq!(ask(locked(&line, Object::This)), RepairError::NoAccess);
    line.method = "absent".into();
    assert_eq!(ask(locked(&line, Object::This)), RepairError::NoMethod);
    let in_static = lines(&class)
        .into_iter()
        .filter(|at| at.method == "moved")
        .map(|at| ask_kind(&ground.bytes, &locked(&at, Object::This)));
    assert!(
        in_static
            .into_iter()
            .any(|e| e == Some(RepairError::NotAtHand))
    );
}

fn ask_kind(bytes: &[u8], wanted: &Repair) -> Option<RepairError> {
    repair(bytes, wanted).err()
}
