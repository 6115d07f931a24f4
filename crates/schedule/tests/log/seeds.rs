//! The fuzz target's first input, made here so that it follows the format.
//! After a change of it: `PHOTOFINISH_GOLDEN=1 cargo test -p photofinish-schedule --test log`.

use schedule::log::{Header, Site, Writer};
use schedule::{Hit, Kind, Op, Ready};
use test_support::exercise::schedule_log as exercise;
use test_support::{golden, root};

pub fn small_log() -> Vec<u8> {
    let header = Header {
        strategy: "racefuzzer".into(),
        seed: 7,
        clock: 1_700_000_000_000,
        parameters: vec![("pair".into(), "Bank.java:31;Bank.java:14".into())],
    };
    let mut log = Writer::new(Vec::new(), &header).unwrap();
    log.thread(0, "main", None).unwrap();
    log.thread(1, "worker", Some(0)).unwrap();
    for (number, method, line, target) in [
        (1, "main", 12, ""),
        (2, "deposit", 31, "Bank.total"),
        (3, "main", 14, "Bank.total"),
        (4, "deposit", 30, "this Bank"),
        (5, "deposit", 32, ""),
    ] {
        let site = Site {
            class: "shop/Bank".into(),
            method: method.into(),
            descriptor: "()V".into(),
            bci: 3 * number,
            file: Some("Bank.java".into()),
            line: Some(line),
            target: target.into(),
        };
        log.site(number, &site).unwrap();
    }
    let op = |kind, site, obj, slot| Op {
        kind,
        site,
        obj,
        slot,
    };
    log.step(0, &op(Kind::Start, 1, 7, 0)).unwrap();
    log.step(1, &op(Kind::Begin, 0, 0, 0)).unwrap();
    for _ in 0..10 {
        log.step(1, &op(Kind::Acquire, 4, 9, 0)).unwrap();
        log.step(1, &op(Kind::Release, 5, 9, 0)).unwrap();
    }
    log.tick().unwrap();
    let first = Ready {
        thread: 1,
        op: op(Kind::Write, 2, 5, 3),
    };
    let second = Ready {
        thread: 0,
        op: op(Kind::Read, 3, 5, 3),
    };
    let hit = Hit {
        step: 22,
        first,
        second,
    };
    log.hit(&hit).unwrap();
    log.step(1, &first.op).unwrap();
    log.step(0, &second.op).unwrap();
    log.note("a thread was woken from outside").unwrap();
    log.end("exit").unwrap().0
}

#[test]
fn seeds_are_what_the_code_makes() {
    let dir = root().join("fuzz/corpus/schedule_log");
    let log = small_log();
    for (name, bytes) in [("whole", &log[..]), ("cut", &log[..log.len() - 3])] {
        golden::compare_bytes(&dir.join(name), bytes);
        exercise::any(bytes);
    }
}
