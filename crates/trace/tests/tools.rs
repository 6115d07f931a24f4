//! Tables, ordered writing, cutting, statistics; writers that fail.

mod common;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::ControlFlow;

use common::*;
use proptest::prelude::*;
use test_support::exercise::trace_file as exercise;
use trace::tables::*;
use trace::*;

fn tables() -> Tables {
    let mut t = Tables::default();
    for i in 0..2000u32 {
        let site = Site {
            class: format!("com/shop/C{}", i % 50).into(),
            method: "run".into(),
            desc: "()V".into(),
            bci: i,
            file: (i % 3 > 0).then(|| "C.java".into()),
            line: (i % 5 > 0).then_some(i),
            kind: if i % 2 == 0 {
                SiteKind::FieldRead
            } else {
                SiteKind::ElemWrite
            },
            checked: i % 7 > 0,
            target: (i % 2 == 0).then(|| Member {
                class: "com/shop/Bank".into(),
                name: format!("f{i}").into(),
                desc: "I".into(),
            }),
            array_from: (i % 2 == 1).then(|| "Bank.table".into()),
            call: (i % 11 == 5).then_some(SiteId(i)),
        };
        t.sites.insert(SiteId(i * 3), site);
    }
    t.fields.insert(
        4,
        Field {
            class: "Bank".into(),
            name: "total".into(),
            desc: "J".into(),
            flags: 0xffff,
        },
    );
    t.threads.insert(
        ThreadId(1),
        Thread {
            name: "worker-1 \u{1f600}".into(),
            creator: Some(ThreadId(0)),
            created_at: vec![
                Frame {
                    class: "Main".into(),
                    method: "main".into(),
                    file: Some("Main.java".into()),
                    line: Some(3),
                },
                Frame::default(),
            ],
            daemon: true,
            system: false,
        },
    );
    t.objects.insert(
        ObjId(u64::MAX),
        Object {
            class: "[I".into(),
            site: SiteId(u32::MAX),
        },
    );
    t.classes.insert(
        9,
        Class {
            name: "Bank".into(),
            loader: 77,
            hash: vec![1, 2, 255],
        },
    );
    t.methods.insert(
        u32::MAX,
        Method {
            class: 9,
            name: "<init>".into(),
            desc: "(JJ)V".into(),
        },
    );
    t
}

fn footer() -> Footer {
    Footer {
        exit_code: Some(-3),
        events: 0,
        dropped: 0,
        classes_instrumented: 311,
        skipped: vec![
            Skipped {
                class: "Big".into(),
                method: Some("huge".into()),
                why: "would pass 64 KiB".into(),
            },
            Skipped {
                class: "Odd".into(),
                method: None,
                why: "cannot be read".into(),
            },
        ],
    }
}

#[test]
fn tables_come_back() {
    let tables = tables();
    let class_file: Vec<u8> = (0..5000u32).map(|i| (i * i) as u8).collect();
    let mut w = Writer::new(Vec::new(), &header()).unwrap();
    w.tables(&tables).unwrap();
    w.class_bytes(9, &class_file).unwrap();
    // A row given again replaces the first.
    let renamed = Field {
        name: "sum".into(),
        ..tables.fields[&4].clone()
    };
    w.fields([(4, &renamed)]).unwrap();
    let bytes = w.finish(footer()).unwrap();

    let mut trace = Trace::from_slice(&bytes).unwrap();
    let mut expected = tables;
    expected.fields.insert(4, renamed);
    assert_eq!(trace.tables(), &expected);
    assert_eq!(trace.footer(), Some(&footer()));
    assert_eq!(trace.class_bytes(9).unwrap().as_ref(), Some(&class_file));
    assert_eq!(trace.class_bytes(8).unwrap(), None);
    assert_eq!(trace.version(), (MAJOR, MINOR));
}

#[test]
fn chunks_of_later_versions_are_skipped() {
    let mut bytes = write(&[], 1);
    // Kind 999, empty: the checksum is that of its frame.
    bytes.extend(b"PFck");
    let rest = [0xe7, 3, 0, 0, 0, 0, 0, 0];
    bytes.extend(rest);
    bytes.extend(exercise::crc32(&rest).to_le_bytes());
    let trace = Trace::from_slice(&bytes).unwrap();
    assert_eq!(trace.ending(), &Ending::Finished);
}

#[test]
fn foreign_files_are_told_apart() {
    let open = |bytes: &[u8]| Trace::from_slice(bytes).map(|_| ()).unwrap_err();
    assert!(matches!(open(b""), Error::NotATrace));
    assert!(matches!(
        open(b"T0|r(V1)|3\nT0|w(V2)|4\n"),
        Error::NotATrace
    ));
    let mut bytes = write(&[], 1);
    assert!(matches!(open(&bytes[..16]), Error::NoHeader));
    bytes[8] = 9;
    assert!(matches!(open(&bytes), Error::Version { found: 9, .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_known_order_is_kept(run in run(200)) {
        let mut w = LinearWriter::new(Vec::new(), &header()).unwrap();
        for (event, _) in &run {
            w.push(event).unwrap();
        }
        let bytes = w.finish(Default::default()).unwrap();
        let events: Vec<Event> = run.iter().map(|r| r.0).collect();
        let mut trace = Trace::from_slice(&bytes).unwrap();
        prop_assert_eq!(trace.event_count(), events.len() as u64);
        let back: Vec<Event> = trace.events().map(|i| i.unwrap().event).collect();
        prop_assert_eq!(&back, &events);
        let mut visited = Vec::new();
        trace.events().for_each_event(|e| visited.push(*e)).unwrap();
        prop_assert_eq!(&visited, &events);
    }

    #[test]
    fn events_come_until_nobody_wants_more(run in run(150), wanted in 1..150usize) {
        let bytes = write(&run, 20);
        let mut trace = Trace::from_slice(&bytes).unwrap();
        let mut visited = Vec::new();
        let all = trace.events().events_until(|event| {
            visited.push(*event);
            if visited.len() == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        all.unwrap();
        let expected = merged(&run).into_iter().take(wanted).map(|item| item.event);
        prop_assert_eq!(visited, expected.collect::<Vec<Event>>());
    }

    #[test]
    fn a_part_is_what_was_asked_for(
        run in run(150), from in 0..100u64, len in 0..100u64, seqs in (0..20u64, 0..60u64),
        threads in prop::option::of(prop::collection::btree_set(0..5u32, 0..4)),
    ) {
        let bytes = write(&run, 20);
        let what = Cut {
            events: from..from + len,
            seqs: seqs.0..seqs.0 + seqs.1,
            threads: threads.map(|t| t.into_iter().map(ThreadId).collect::<BTreeSet<_>>()),
            across_gaps: false,
        };
        let expected: Vec<Event> = merged(&run)
            .into_iter()
            .enumerate()
            .filter(|(i, _)| what.events.contains(&(*i as u64)))
            .map(|(_, item)| item)
            .filter(|item| what.seqs.contains(&item.seq))
            .map(|item| item.event)
            .filter(|e| what.threads.as_ref().is_none_or(|t| t.contains(&e.thread)))
            .collect();
        let mut trace = Trace::from_slice(&bytes).unwrap();
        let (part, kept) = cut(&mut trace, &what, Vec::new()).unwrap();
        prop_assert_eq!(kept.events, expected.len() as u64);
        let mut part = Trace::from_slice(&part).unwrap();
        let back: Vec<Event> = part.events().map(|i| i.unwrap().event).collect();
        prop_assert_eq!(back, expected);
        prop_assert_eq!(part.header(), trace.header());
    }

    #[test]
    fn statistics_add_up(run in run(150)) {
        let bytes = write(&run, 20);
        let mut trace = Trace::from_slice(&bytes).unwrap();
        let stats = Stats::collect(&mut trace, 1000).unwrap();
        prop_assert_eq!(stats.events, run.len() as u64);
        prop_assert_eq!(stats.kinds.values().sum::<u64>(), stats.events);
        prop_assert_eq!(stats.threads.values().sum::<u64>(), stats.events);
        prop_assert_eq!(stats.sites.iter().map(|s| s.1).sum::<u64>(), stats.accesses);
        prop_assert_eq!(stats.fields.iter().map(|s| s.1).sum::<u64>(), stats.accesses);
        prop_assert!(stats.sites.is_sorted_by(|a, b| a.1 >= b.1));
        let reads = run.iter().filter(|r| matches!(r.0.op, Op::Read(_))).count() as u64;
        prop_assert_eq!(stats.kinds.get("read").copied().unwrap_or(0), reads);
    }
}

/// A trace as a kill leaves it: thread 1 holds back its buffer with number 3.
#[test]
fn a_cut_across_a_gap_still_shows_the_gap() {
    let lock = LockId(ObjId(5));
    let mut w = Writer::new(Vec::new(), &header()).unwrap();
    let event = |op, seq| (SiteId(1), op, seq);
    w.append_events(ThreadId(1), [event(Op::Begin, 2)]).unwrap();
    let of_main = [
        event(Op::Begin, 1),
        event(Op::Acquire(lock), 4),
        event(Op::Branch(1), 0),
        event(Op::Release(lock), 5),
    ];
    w.append_events(ThreadId(0), of_main).unwrap();
    let bytes = w.abandon().unwrap();

    let mut trace = Trace::from_slice(&bytes).unwrap();
    assert_eq!(trace.ending(), &Ending::Unfinished);
    let mut events = trace.events();
    assert_eq!(events.by_ref().count(), 2);
    assert_eq!(events.gap(), Some(Gap { first: 3, last: 3 }));
    assert_eq!(trace.all_events().count(), 5);

    let what = Cut {
        across_gaps: true,
        ..Cut::default()
    };
    let (all, kept) = cut(&mut trace, &what, Vec::new()).unwrap();
    assert_eq!(kept.events, 5);
    let mut all = Trace::from_slice(&all).unwrap();
    assert_eq!(all.ending(), &Ending::Unfinished);
    assert_eq!(all.events().count(), 2);
    let (front, kept) = cut(&mut trace, &Cut::default(), Vec::new()).unwrap();
    let gap = Some(Gap { first: 3, last: 3 });
    assert_eq!(kept, Kept { events: 2, gap });
    assert_eq!(Trace::from_slice(&front).unwrap().all_events().count(), 2);
}

/// Takes so many bytes, then the disk is full.
struct Small {
    room: usize,
    written: Vec<u8>,
}

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let n = bytes.len().min(self.room);
        self.room -= n;
        self.written.extend(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_leaves_a_readable_front() {
    let whole = write(&[], 1).len();
    let mut disk = Small {
        room: whole + 40,
        written: Vec::new(),
    };
    let mut w = Writer::new(&mut disk, &header()).unwrap();
    let begin = [(SiteId(1), Op::Begin, 1)];
    let mut done = 0;
    let failed = loop {
        match w.append_events(ThreadId(done), begin) {
            Ok(_) => done += 1,
            Err(e) => break e,
        }
    };
    assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
    // Nothing is put behind the torn chunk.
    assert!(w.append_events(ThreadId(99), begin).is_err());
    let trace = Trace::from_slice(&disk.written).unwrap();
    assert!(matches!(trace.ending(), Ending::Truncated { .. }));
    assert_eq!(trace.event_count(), u64::from(done));
}

#[test]
fn a_number_given_twice_is_an_error() {
    let mut w = Writer::new(Vec::new(), &header()).unwrap();
    for t in 0..2 {
        w.append_events(ThreadId(t), [(SiteId(1), Op::Begin, 1)])
            .unwrap();
    }
    let bytes = w.finish(Default::default()).unwrap();
    let mut trace = Trace::from_slice(&bytes).unwrap();
    let mut events = trace.events();
    assert!(events.next().unwrap().is_ok());
    assert!(matches!(
        events.next(),
        Some(Err(Error::DuplicateSeq { seq: 1 }))
    ));
    assert!(events.next().is_none());
}

#[test]
fn a_million_records_and_more_are_split() {
    let words: Vec<u64> = (0..1_100_000u64)
        .flat_map(|i| [u64::from(raw::READ) | 1 << raw::SITE_SHIFT, i % 7, i % 11])
        .collect();
    let mut w = Writer::new(Vec::new(), &header()).unwrap();
    let done = w.append_raw(ThreadId(0), &words).unwrap();
    assert_eq!(done.events, 1_100_000);
    let bytes = w.finish(Default::default()).unwrap();
    let mut trace = Trace::from_slice(&bytes).unwrap();
    let mut count = 0;
    trace.events().for_each_event(|_| count += 1).unwrap();
    assert_eq!(count, 1_100_000);
}
