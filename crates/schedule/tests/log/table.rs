//! What people see of a log.

use crate::seeds::small_log;
use schedule::log::{Entry, Log, read};
use schedule::table::{Row, Table};
use schedule::{Kind, Op};

#[test]
fn a_run_as_a_table() {
    let log = read(&small_log()).unwrap();
    let expected = "\
step | 0 main    | 1 worker   |
   0 | start #7  |            | shop.Bank.main Bank.java:12
   1 |           | begin      |
   2 |           | lock #9    | shop.Bank.deposit Bank.java:31
 ... |           | 17 steps   |
  20 |           | lock #9    | shop.Bank.deposit Bank.java:31
  21 |           | unlock #9  | shop.Bank.deposit Bank.java:31
     * time passes
     * race: 1 worker: write #5.3 at shop.Bank.deposit Bank.java:31 goes before 0 main: read #5.3 at shop.Bank.main Bank.java:14
  22 |           | write #5.3 | shop.Bank.deposit Bank.java:31
  23 | read #5.3 |            | shop.Bank.main Bank.java:14
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
