//! Logs made up at random, and what their digests say.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use schedule::log::{End, Entry, Header, Log, ReadySet, Site, ThreadRow, Told, Writer, read};
use schedule::{Hit, Kind, Op, Ready};
use std::collections::BTreeMap;
use test_support::exercise::schedule_log as exercise;

fn op() -> impl Strategy<Value = Op> {
    // Numbers that repeat, that are close to each other, and any at all.
    let site = prop_oneof![0u32..20, any::<u32>()];
    let obj = prop_oneof![0u64..10, 1000u64..1100, any::<u64>()];
    let slot = prop_oneof![Just(0u32), 0u32..8, any::<u32>()];
    (0..Kind::ALL.len(), site, obj, slot).prop_map(|(kind, site, obj, slot)| Op {
        kind: Kind::ALL[kind],
        site,
        obj,
        slot,
    })
}

fn ready() -> impl Strategy<Value = Ready> {
    let thread = prop_oneof![9 => 0u32..4, 1 => any::<u32>()];
    (thread, op()).prop_map(|(thread, op)| Ready { thread, op })
}

fn entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        20 => ready().prop_map(|r| Entry::Step { thread: r.thread, op: r.op }),
        1 => Just(Entry::Tick),
        1 => (any::<u64>(), ready(), ready())
            .prop_map(|(step, first, second)| Entry::Hit(Hit { step, first, second })),
        1 => (any::<u32>(), any::<u64>()).prop_map(|(which, times)| Entry::Saw { which, times }),
        1 => ".{0,20}".prop_map(Entry::Note),
    ]
}

fn site() -> impl Strategy<Value = Site> {
    let words = (".{0,12}", ".{0,8}", ".{0,8}", ".{0,8}");
    let file = proptest::option::of(".{0,8}");
    (words, any::<u32>(), file, any::<Option<u32>>()).prop_map(
        |((class, method, descriptor, target), bci, file, line)| Site {
            class,
            method,
            descriptor,
            bci,
            file,
            line,
            target,
        },
    )
}

/// Accesses that are told, by their places, and who could go on at decisions.
fn more() -> impl Strategy<Value = (Vec<Told>, BTreeMap<u64, ReadySet>)> {
    let told = (0..60usize, ready(), any::<Option<u32>>(), ".{0,9}").prop_map(
        |(at, Ready { thread, op }, call, value)| Told {
            at,
            thread,
            op,
            // Numbers are written one higher, so that 0 is none.
            call: call.map(|call| call >> 1),
            value,
        },
    );
    let set = (vec(any::<u32>(), 0..4), any::<bool>())
        .prop_map(|(threads, may_tick)| ReadySet { threads, may_tick });
    (vec(told, 0..8), btree_map(0u64..60, set, 0..8))
}

pub fn logs() -> impl Strategy<Value = Log> {
    let header = (
        ".{0,9}",
        any::<u64>(),
        any::<u64>(),
        vec((".{0,5}", ".{0,9}"), 0..4),
    )
        .prop_map(|(strategy, seed, clock, parameters)| Header {
            strategy,
            seed,
            clock,
            parameters,
        });
    let row =
        (".{0,9}", any::<Option<u32>>()).prop_map(|(name, parent)| ThreadRow { name, parent });
    (
        header,
        btree_map(0u32..5, row, 0..4),
        btree_map(prop_oneof![0u32..20, any::<u32>()], site(), 0..6),
        vec(entry(), 0..60),
        btree_map(0u64..60, any::<u32>(), 0..6),
        more(),
        ".{0,9}",
    )
        .prop_map(
            |(header, threads, sites, entries, mut calls, more, outcome)| {
                let (mut told, mut ready) = more;
                let is_step = |e: &&Entry| matches!(e, Entry::Step { .. });
                let steps = entries.iter().filter(is_step).count() as u64;
                calls.retain(|step, _| *step < steps);
                let ticks = entries.iter().filter(|e| **e == Entry::Tick).count() as u64;
                ready.retain(|decision, _| *decision < steps + ticks);
                told.retain(|told| told.at <= entries.len());
                told.sort_by_key(|told| told.at);
                Log {
                    header,
                    threads,
                    sites,
                    calls,
                    ready,
                    told,
                    entries,
                    end: Some(End {
                        outcome,
                        ..End::default()
                    }),
                    complete: true,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_written_is_read(mut log in logs()) {
        let bytes = exercise::write(&log);
        let back = read(&bytes).unwrap();
        let steps = log.entries.iter().filter(|e| matches!(e, Entry::Step { .. })).count();
        if let (Some(made), Some(read)) = (&mut log.end, &back.end) {
            prop_assert_eq!(read.steps, steps as u64);
            made.steps = read.steps;
            made.digest = read.digest;
        }
        prop_assert_eq!(back, log);
        exercise::any(&bytes);
    }
}

fn step(site: u32, obj: u64) -> Op {
    Op {
        kind: Kind::Acquire,
        site,
        obj,
        slot: 0,
    }
}

fn at(bci: u32) -> Site {
    Site {
        class: "A".into(),
        method: "m".into(),
        bci,
        ..Site::default()
    }
}

/// The digest of steps at sites with these numbers.
fn digest(sites: &[(u32, Site)], steps: &[(u32, Op)]) -> u64 {
    let mut writer = Writer::new(Vec::new(), &Header::default()).unwrap();
    for (number, site) in sites {
        writer.site(*number, site).unwrap();
    }
    for (thread, op) in steps {
        writer.step(*thread, op).unwrap();
    }
    assert_eq!(writer.steps(), steps.len() as u64);
    let digest = writer.digest();
    let (bytes, end) = writer.end("exit").unwrap();
    assert_eq!(end.digest, digest);
    assert_eq!(read(&bytes).unwrap().end, Some(end));
    digest
}

#[test]
fn a_digest_depends_on_what_happened_and_not_on_numbers_of_sites() {
    let one = digest(
        &[(1, at(7)), (2, at(9))],
        &[(0, step(1, 5)), (1, step(2, 5))],
    );
    let renumbered = digest(
        &[(4, at(7)), (3, at(9))],
        &[(0, step(4, 5)), (1, step(3, 5))],
    );
    assert_eq!(one, renumbered);
    let mut line = at(7);
    line.line = Some(3);
    line.file = Some("A.java".into());
    let moved = digest(
        &[(1, line), (2, at(9))],
        &[(0, step(1, 5)), (1, step(2, 5))],
    );
    assert_eq!(one, moved, "lines do not matter");
    for other in [
        digest(
            &[(1, at(7)), (2, at(8))],
            &[(0, step(1, 5)), (1, step(2, 5))],
        ),
        digest(
            &[(1, at(7)), (2, at(9))],
            &[(1, step(1, 5)), (0, step(2, 5))],
        ),
        digest(
            &[(1, at(7)), (2, at(9))],
            &[(0, step(1, 5)), (1, step(2, 6))],
        ),
        digest(&[(1, at(7)), (2, at(9))], &[(0, step(1, 5))]),
        digest(
            &[(1, at(7)), (2, at(9))],
            &[(1, step(2, 5)), (0, step(1, 5))],
        ),
    ] {
        assert_ne!(one, other);
    }
}

/// Saved reports hold digests and identities: they must not change unnoticed.
#[test]
fn digests_stay_what_they_are() {
    assert_eq!(at(7).identity(), 0xe60b8510cbe7016e);
    assert_eq!(
        digest(&[(1, at(7))], &[(0, step(1, 5))]),
        0xc1a293f7a4a7017a
    );
}

#[test]
fn steps_are_small() {
    // Two threads by turns through a loop of six statements on objects of their own.
    let mut writer = Writer::new(Vec::new(), &Header::default()).unwrap();
    let empty = Writer::new(Vec::new(), &Header::default()).unwrap();
    let empty = empty.end("").unwrap().0.len();
    let steps = 6000;
    for n in 0..steps {
        let thread = n / 3 % 2;
        let op = step(10 + n % 6, u64::from(100_000 + n / 6));
        writer.step(thread, &op).unwrap();
    }
    let size = writer.end("").unwrap().0.len() - empty;
    assert!(size < 4 * steps as usize, "{size}");
}
