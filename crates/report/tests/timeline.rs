//! Timelines against runs of which everything is known: a small machine with
//! locks and volatile variables, of whose steps only the decisions are logged.

mod common;

use common::{log, op, racing, step};
use proptest::prelude::*;
use report::timeline::{Edge, Order, Timeline, of_witness};
use schedule::log::{Entry, Log, ThreadRow};
use schedule::{Kind, Thread};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn a_race_and_what_comes_before_it() {
    let timeline = Timeline::of_log(&racing());
    let names: Vec<&str> = timeline.lanes.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["main", "thread1", "thread2"]);
    let edge = |from, to, order| Edge { from, to, order };
    let wanted = [
        edge(1, 5, Order::Lock),
        edge(2, 4, Order::Start),
        edge(3, 6, Order::Volatile),
    ];
    assert_eq!(timeline.edges, wanted);
    assert_eq!(timeline.meetings().collect::<Vec<_>>(), [8]);
    let met = &timeline.rows[8];
    assert_eq!((met.lane, met.what.as_str()), (Some(2), "write Figure1.z"));
    let beside = met.beside.as_ref().unwrap();
    assert_eq!((beside.lane, beside.what.as_str()), (1, "read Figure1.z"));
    assert_eq!(timeline.rows[7].lane, None, "time passed");
}

#[test]
fn a_lock_that_may_still_be_waited_for_orders_nothing() {
    let ask = |thread| step(thread, Kind::Acquire, 0, 9);
    let edges = |entries| Timeline::of_log(&log(entries)).edges;
    assert!(edges(vec![ask(1), ask(2)]).is_empty());
    let done = |thread| step(thread, Kind::AtomicRead, 0, 7);
    assert_eq!(edges(vec![ask(1), done(1), ask(2)]).len(), 1);
    // Asked first and got it last.
    assert!(
        edges(vec![ask(1), ask(2), done(2), ask(1), done(1)])
            .iter()
            .all(|e| e.from == 1)
    );
}

#[test]
fn starts_that_cannot_be_told_apart_are_not_drawn() {
    let begin = |thread| step(thread, Kind::Begin, 0, 0);
    let start = || step(0, Kind::Start, 0, 0);
    let edges = |entries| Timeline::of_log(&log(entries)).edges;
    assert_eq!(edges(vec![start(), begin(1), start(), begin(2)]).len(), 2);
    assert_eq!(edges(vec![begin(1), start(), begin(2)]).len(), 1);
    let mut more = log(vec![begin(1), start(), begin(2)]);
    let late = ThreadRow {
        name: "late".into(),
        parent: Some(0),
    };
    more.threads.insert(3, late);
    assert!(Timeline::of_log(&more).edges.is_empty());
}

#[test]
fn a_witness_ends_with_the_two_side_by_side() {
    let (report, _) = common::full();
    let witness = report.races[1].witness.as_ref().unwrap();
    let timeline = of_witness(witness, true).unwrap();
    assert_eq!(timeline.lanes.len(), 2);
    assert_eq!(timeline.rows[1].step, Some(40));
    assert_eq!(timeline.rows[1].many, Some(3));
    assert_eq!(timeline.rows[2].beside.as_ref().unwrap().what, "read");
    assert_eq!(of_witness(&[], true), None);
}

/// What a thread of the machine does.
#[derive(Clone, Copy, Debug)]
enum Do {
    /// Takes the lock, does nothing, lets go if the flag is set; else holds it
    /// to its end.
    Lock(u64, bool),
    Write(u64),
    Read(u64),
    Else,
}

fn actions() -> impl Strategy<Value = Vec<Vec<Do>>> {
    let action = prop_oneof![
        3 => (1..3u64, any::<bool>()).prop_map(|(lock, free)| Do::Lock(lock, free)),
        2 => (5..7u64).prop_map(Do::Write),
        2 => (5..7u64).prop_map(Do::Read),
        1 => Just(Do::Else),
    ];
    prop::collection::vec(prop::collection::vec(action, 0..7), 2..5)
}

/// Runs the threads, one operation at a time, and logs what had an alternative.
/// Also, for each row, everything that happens before its operation; nothing if
/// that never came to its end.
fn run(
    threads: &[Vec<Do>],
    mut choice: impl FnMut(usize) -> usize,
) -> (Log, Vec<Option<BTreeSet<usize>>>) {
    let mut at = vec![0; threads.len()];
    let mut known: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); threads.len()];
    let mut holder: BTreeMap<u64, usize> = BTreeMap::new();
    // What the thread that takes or reads it next learns.
    let mut passed: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    let mut blocked: BTreeMap<usize, u64> = BTreeMap::new();
    // The rows of the operation that a thread is making: one an attempt.
    let mut attempts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let (mut entries, mut before): (Vec<Entry>, Vec<Option<BTreeSet<usize>>>) = (vec![], vec![]);
    loop {
        let ready = |t: &usize| at[*t] < threads[*t].len() && !blocked.contains_key(t);
        let all: Vec<usize> = (0..threads.len()).filter(ready).collect();
        if all.is_empty() {
            break;
        }
        let me = all[choice(all.len())];
        let (kind, obj) = match threads[me][at[me]] {
            Do::Lock(lock, _) => (Kind::Acquire, lock),
            Do::Write(var) => (Kind::AtomicWrite, var),
            Do::Read(var) => (Kind::AtomicRead, var),
            Do::Else => (Kind::Notify, 0),
        };
        if all.len() > 1 {
            attempts.entry(me).or_default().push(entries.len());
            entries.push(Entry::Step {
                thread: me as Thread,
                op: op(kind, 1, obj),
            });
            before.push(None);
        }
        if let (Kind::Acquire, Some(owner)) = (kind, holder.get(&obj))
            && *owner != me
        {
            blocked.insert(me, obj);
            continue;
        }
        if matches!(kind, Kind::Acquire | Kind::AtomicRead) {
            known[me].extend(passed.get(&obj).into_iter().flatten());
        }
        // It is done, and that goes for all its rows.
        let rows = attempts.remove(&me).unwrap_or_default();
        for row in &rows {
            before[*row] = Some(known[me].clone());
        }
        known[me].extend(rows);
        match threads[me][at[me]] {
            Do::Lock(lock, false) => _ = holder.insert(lock, me),
            Do::Lock(lock, true) if !holder.contains_key(&lock) => {
                passed.insert(lock, known[me].clone());
            }
            Do::Write(var) => passed.entry(var).or_default().extend(known[me].clone()),
            _ => {}
        }
        at[me] += 1;
        if at[me] == threads[me].len() {
            let held: Vec<u64> = holder
                .iter()
                .filter(|(_, t)| **t == me)
                .map(|(l, _)| *l)
                .collect();
            for lock in held {
                holder.remove(&lock);
                passed.insert(lock, known[me].clone());
                blocked.retain(|_, wanted| *wanted != lock);
            }
        }
    }
    (log(entries), before)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_edge_is_one_of_happens_before(threads in actions(), seed in any::<u64>()) {
        let mut state = seed | 1;
        let (log, before) = run(&threads, |n| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % n as u64) as usize
        });
        let timeline = Timeline::of_log(&log);
        prop_assert_eq!(timeline.rows.len(), before.len());
        for edge in &timeline.edges {
            prop_assert!(edge.from < edge.to);
            let ends = [edge.from, edge.to].map(|row| timeline.rows[row].lane);
            prop_assert_ne!(ends[0], ends[1]);
            let orders = |told: &BTreeSet<usize>| told.contains(&edge.from);
            prop_assert!(before[edge.to].as_ref().is_none_or(orders), "{:?} in {:?}", edge, log.entries);
        }
    }

    #[test]
    fn shortening_loses_no_step_and_no_end_of_an_edge(
        threads in prop::collection::vec((0..3u32, 0..30usize), 0..12),
        most in 1..60usize,
    ) {
        let mut entries: Vec<Entry> = Vec::new();
        for (thread, many) in threads {
            entries.extend((0..many).map(|_| step(thread, Kind::Yield, 1, 0)));
            entries.push(step(thread, Kind::AtomicWrite, 1, 5));
            entries.push(step((thread + 1) % 3, Kind::AtomicRead, 1, 5));
        }
        let whole = Timeline::of_log(&log(entries));
        let steps = |t: &Timeline| -> u64 {
            let rows = t.rows.iter().filter(|r| r.lane.is_some());
            rows.map(|r| r.many.unwrap_or(1)).sum()
        };
        let folded = whole.shortened(usize::MAX);
        prop_assert_eq!(steps(&folded), steps(&whole));
        prop_assert_eq!(folded.edges.len(), whole.edges.len());
        let cut = whole.shortened(most);
        prop_assert!(cut.rows.len() <= most + 2);
        for edge in folded.edges.iter().chain(&cut.edges) {
            prop_assert!(edge.from < edge.to);
        }
        for edge in &cut.edges {
            let what = [edge.from, edge.to].map(|row| cut.rows[row].what.as_str());
            prop_assert_eq!(what, ["volatile write Figure1.z", "volatile read Figure1.z"]);
        }
    }
}
