//! What people see of a log.

use crate::seeds::small_log;
use schedule::labels::Labels;
use schedule::log::{Entry, Log, Site, read};
use schedule::table::{Row, Table};
use schedule::{Kind, Op};

#[test]
fn a_run_as_a_table() {
    let log = read(&small_log()).unwrap();
    let expected = "\
step | 0 main          | 1 worker         |
   0 | start           |                  | shop.Bank.main Bank.java:12
   1 |                 | begin            |
   2 |                 | lock this Bank   | shop.Bank.deposit Bank.java:30
 ... |                 | 17 steps         |
  20 |                 | lock this Bank   | shop.Bank.deposit Bank.java:30
  21 |                 | unlock this Bank | shop.Bank.deposit Bank.java:32
     * time passes
     * race: 1 worker: write Bank.total at shop.Bank.deposit Bank.java:31 goes before 0 main: read Bank.total at shop.Bank.main Bank.java:14
  22 |                 | write Bank.total | shop.Bank.deposit Bank.java:31
  23 | read Bank.total |                  | shop.Bank.main Bank.java:14
     * a thread was woken from outside
";
    assert_eq!(Table::new(&log, 6).to_string(), expected);
}

fn steps(threads: &[u32]) -> Log {
    let entry = |(n, thread): (usize, &u32)| Entry::Step {
        thread: *thread,
        op: Op {
            kind: Kind::Yield,
            site: n as u32,
            obj: 0,
            slot: 0,
        },
    };
    Log {
        entries: threads.iter().enumerate().map(entry).collect(),
        ..Log::default()
    }
}

/// Steps that are shown, and how many are folded at which place.
fn shape(log: &Log, fold: usize) -> Vec<i64> {
    let rows = Table::new(log, fold).rows;
    let of = |row: &Row| match row {
        Row::Step { number, .. } => *number as i64,
        Row::Folded { steps, .. } => -(*steps as i64),
        Row::Note(_) => 1000,
    };
    rows.iter().map(of).collect()
}

#[test]
fn long_runs_of_one_thread_are_folded() {
    let log = steps(&[0, 0, 0, 0, 0, 0, 0, 1, 1, 0]);
    assert_eq!(shape(&log, 0), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(shape(&log, 7), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(shape(&log, 6), [0, 1, -3, 5, 6, 7, 8, 9]);
    assert_eq!(shape(&log, 1), [0, 1, -3, 5, 6, 7, 8, 9]);
    // What is no step is never folded, nor what stands around it.
    let mut log = steps(&[0; 20]);
    log.entries.insert(10, Entry::Note("here".into()));
    let expected = [0, 1, -6, 8, 9, 1000, 10, 11, -6, 18, 19];
    assert_eq!(shape(&log, 6), expected);
}

#[test]
fn objects_have_numbers_where_names_do_not_tell_them_apart() {
    let mut log = Log::default();
    let op = |kind, site, obj, slot| Op {
        kind,
        site,
        obj,
        slot,
    };
    let ops = [
        op(Kind::Acquire, 1, 7, 0),
        op(Kind::Acquire, 1, 8, 0),
        op(Kind::Release, 0, 8, 0),
        op(Kind::Write, 2, 5, 3),
        op(Kind::AtomicUpdate, 3, 6, 1),
        op(Kind::Wait, 0, 4, 0),
        op(Kind::Read, 0, 4, 2),
        op(Kind::Join, 4, 9, 0),
    ];
    let step = |op| Entry::Step { thread: 0, op };
    log.entries = ops.into_iter().map(step).collect();
    let targets = [
        "this Bank",
        "Bank.table[]",
        "Sync.state",
        "Thread.join()",
        "ReentrantLock.lock()",
    ];
    for (number, target) in (1..).zip(targets) {
        let target = target.to_owned();
        log.sites.insert(
            number,
            Site {
                target,
                ..Site::default()
            },
        );
    }
    log.calls.insert(4, 5);
    let labels = Labels::new(&log);
    let shown: Vec<String> = { ops.iter().enumerate() }
        .map(|(step, op)| labels.label(Some(step as u64), op))
        .collect();
    let wanted = [
        "lock this Bank #7",
        "lock this Bank #8",
        "unlock this Bank #8",
        "write element 3 of Bank.table",
        "atomic update in ReentrantLock.lock()",
        "wait #4",
        "read #4.2",
        "join",
    ];
    assert_eq!(shown, wanted);
}

#[test]
fn nothing_is_a_table_of_its_head_only() {
    assert_eq!(Table::new(&Log::default(), 5).to_string(), "step |\n");
}

#[test]
fn names_cannot_break_lines() {
    let mut log = steps(&[3]);
    let row = schedule::log::ThreadRow {
        name: "a\nb\u{1b}[31m".into(),
        parent: None,
    };
    log.threads.insert(3, row);
    log.entries.push(Entry::Note("c\rd".into()));
    let text = Table::new(&log, 5).to_string();
    assert_eq!(text.lines().count(), 3);
    assert!(!text.contains(['\r', '\u{1b}']));
}
