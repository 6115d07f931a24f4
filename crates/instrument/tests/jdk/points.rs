//! What the synchronisers of the JDK say in a controlled run, method by method.

use classfile::{ClassFile, Code};
use instrument::{Control, Mode, Policy, Request, rewrite};

use crate::jdk_classes;

fn rewritten(bytes: &[u8], mode: Mode) -> Option<Vec<u8>> {
    let result = rewrite(&Request {
        bytes,
        mode,
        policy: &Policy::default(),
        first_site: 0,
        boot_or_platform: Some(true),
        control: Some(&Control::default()),
    });
    result.unwrap().bytes
}

/// The probes that a method calls, in the order of its code.
fn calls(class: &ClassFile<'_>, method: usize) -> Vec<String> {
    let Some(code) = Code::decode(class, method).unwrap() else {
        return Vec::new();
    };
    let called = code
        .insns
        .iter()
        .filter_map(|i| class.pool.member_ref(i.cp()?));
    let ours = called.filter(|m| m.class.starts_with(instrument::BRIDGE));
    ours.map(|m| m.name.into_owned()).collect()
}

/// The same for a method of the JDK, without a detector.
fn probes(class: &str, method: &str, desc: &str) -> String {
    let path = format!("{class}.class");
    let mut all = jdk_classes().iter();
    let entry = all.find(|e| e.path == path).unwrap();
    let bytes = rewritten(&entry.bytes, Mode::Bare).unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let index = class.method_index(method, desc).unwrap();
    calls(&class, index).join(" ")
}

/// A schedule means the same with every detector, and without.
#[test]
fn points_do_not_depend_on_the_detector() {
    let is_point = |name: &String| {
        let names = [
            "entering",
            "before",
            "loop",
            "lockPoint",
            "rawPoint",
            "vhPoint",
            "Result",
            "spinWait",
            "linking",
            "target",
            "uncaught",
        ];
        names.iter().any(|n| name.contains(n))
    };
    let mut points = 0;
    for entry in jdk_classes().iter().filter(|e| e.module == "java.base") {
        let of_mode = |mode| -> Vec<Vec<String>> {
            let bytes = rewritten(&entry.bytes, mode);
            let class = ClassFile::parse(bytes.as_ref().unwrap_or(&entry.bytes)).unwrap();
            let all = (0..class.methods.len()).map(|m| calls(&class, m));
            all.map(|c| c.into_iter().filter(is_point).collect())
                .collect()
        };
        let bare = of_mode(Mode::Bare);
        points += bare.iter().map(Vec::len).sum::<usize>();
        for mode in [Mode::FastTrack, Mode::Events] {
            assert_eq!(of_mode(mode), bare, "{} {mode:?}", entry.path);
        }
    }
    assert!(points > 10_000, "only {points} points");
}

#[test]
fn an_atomic_operation_is_one_point() {
    let class = "java/util/concurrent/atomic/AtomicInteger";
    for (method, desc, wanted) in [
        ("get", "()I", "beforeRead"),
        ("set", "(I)V", "beforeWrite"),
        ("lazySet", "(I)V", "rawPoint"),
        ("getAndIncrement", "()I", "rawPoint"),
        ("compareAndSet", "(II)Z", "rawPoint casResult"),
        ("getPlain", "()I", ""),
    ] {
        assert_eq!(probes(class, method, desc), wanted, "{method}");
    }
    let class = "java/util/concurrent/atomic/AtomicReference";
    let two = "(Ljava/lang/Object;Ljava/lang/Object;)Z";
    assert_eq!(probes(class, "compareAndSet", two), "vhPoint casResult");
    let class =
        "java/util/concurrent/atomic/AtomicIntegerFieldUpdater$AtomicIntegerFieldUpdaterImpl";
    let get = "(Ljava/lang/Object;)I";
    assert_eq!(probes(class, "get", get), "rawPoint");
}

#[test]
fn locks_say_first_what_they_are_about_to_do() {
    let class = "java/util/concurrent/locks/ReentrantLock";
    // Inside, by a return, by an exception.
    let lock = "lockPoint modelBegin modelEnd lockAcquired modelEnd";
    assert_eq!(probes(class, "lock", "()V"), lock);
    let tries = "lockPoint modelBegin modelEnd lockTried tryResult modelEnd";
    assert_eq!(probes(class, "tryLock", "()Z"), tries);
    let unlock = "lockPoint lockReleasing modelBegin modelEnd modelEnd";
    assert_eq!(probes(class, "unlock", "()V"), unlock);
    let condition = "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject";
    assert!(probes(condition, "await", "()V").starts_with("lockPoint awaitBegin "));
    assert!(probes(condition, "signal", "()V").starts_with("lockPoint signal"));
    let stamped = "java/util/concurrent/locks/StampedLock";
    assert!(probes(stamped, "writeLock", "()J").starts_with("lockPoint "));
    assert_eq!(probes("java/lang/Thread", "onSpinWait", "()V"), "spinWait");
}

/// A thread that waits in a loop lets others run.
#[test]
fn every_loop_of_java_util_says_so() {
    let mut loops = 0;
    let util = jdk_classes()
        .iter()
        .filter(|e| e.path.starts_with("java/util/"));
    for entry in util {
        let bytes = rewritten(&entry.bytes, Mode::Bare);
        let bytes = bytes.as_ref().unwrap_or(&entry.bytes);
        let class = ClassFile::parse(bytes).unwrap();
        for index in 0..class.methods.len() {
            let Some(code) = Code::decode(&class, index).unwrap() else {
                continue;
            };
            for (i, insn) in code.insns.iter().enumerate() {
                if !matches!(insn.operand, classfile::Operand::Branch(to) if to <= insn.pc) {
                    continue;
                }
                loops += 1;
                let before = i.checked_sub(1).and_then(|i| code.insns[i].cp());
                let called = before.and_then(|cp| class.pool.member_ref(cp));
                assert!(
                    called.is_some_and(|m| m.name == "loop"),
                    "{} {}",
                    entry.path,
                    insn.pc
                );
            }
        }
    }
    assert!(loops > 1000, "only {loops} loops");
}
