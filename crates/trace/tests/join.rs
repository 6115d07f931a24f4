//! Several traces as one: parts of a run, and runs.

mod common;

use common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Cursor;
use trace::tables::*;
use trace::*;

type Bytes = Cursor<Vec<u8>>;

fn input(name: &str, bytes: Vec<u8>) -> Input<Bytes> {
    Input {
        name: name.into(),
        trace: Trace::open(Cursor::new(bytes)).unwrap(),
    }
}

/// A trace of a run that began at `start`.
fn whole(start: u64, tables: &Tables, events: &[Event]) -> Vec<u8> {
    let header = RunHeader {
        start_ms: start,
        ..header()
    };
    let mut w = LinearWriter::new(Vec::new(), &header).unwrap();
    w.writer().tables(tables).unwrap();
    for event in events {
        w.push(event).unwrap();
    }
    let footer = Footer {
        exit_code: Some(start as i32),
        ..Footer::default()
    };
    w.finish(footer).unwrap()
}

fn piece(bytes: &[u8], events: std::ops::Range<u64>) -> Vec<u8> {
    let what = Cut {
        events,
        ..Cut::default()
    };
    let mut trace = Trace::from_slice(bytes).unwrap();
    cut(&mut trace, &what, Vec::new()).unwrap().0
}

fn events(bytes: &[u8]) -> Vec<Event> {
    let mut trace = Trace::from_slice(bytes).unwrap();
    trace.events().map(|item| item.unwrap().event).collect()
}

fn joined(mut inputs: Vec<Input<Bytes>>) -> Result<(Vec<u8>, Joined), String> {
    join(&mut inputs, Vec::new()).map_err(|e| e.to_string())
}

/// Objects small enough that two runs have room beside each other.
fn small(run: &[Numbered]) -> Vec<Event> {
    let big = |op: Op| match op {
        Op::Read(l) | Op::Write(l) => l.obj.0,
        Op::AtomicRead(l, _) | Op::AtomicWrite(l, _) | Op::AtomicUpdate(l, _) => l.obj.0,
        Op::Acquire(l) | Op::Release(l) | Op::AcquireShared(l) | Op::ReleaseShared(l) => l.0.0,
        Op::WaitBegin(l) | Op::Notify(l) | Op::NotifyAll(l) => l.0.0,
        Op::WaitEnd { lock, .. } => lock.0.0,
        Op::SyncRelease(o) | Op::SyncAcquire(o) | Op::InitBegin(o) | Op::InitEnd(o) => o.0,
        _ => 0,
    } > 1 << 40;
    run.iter().map(|r| r.0).filter(|e| !big(e.op)).collect()
}

/// Threads, objects, statements and methods by their first appearance.
#[derive(Default)]
struct Canon {
    threads: BTreeMap<u32, u32>,
    objects: BTreeMap<u64, u64>,
    sites: BTreeMap<u32, u32>,
    methods: BTreeMap<u32, u32>,
}

impl Canon {
    fn thread(&mut self, t: ThreadId) -> ThreadId {
        let n = self.threads.len() as u32;
        ThreadId(*self.threads.entry(t.0).or_insert(n))
    }

    fn object(&mut self, o: ObjId) -> ObjId {
        if o.0 == 0 {
            return o;
        }
        let n = self.objects.len() as u64 + 1;
        ObjId(*self.objects.entry(o.0).or_insert(n))
    }

    fn method(&mut self, m: u32) -> u32 {
        let n = self.methods.len() as u32;
        *self.methods.entry(m).or_insert(n)
    }

    fn loc(&mut self, l: Loc) -> Loc {
        Loc {
            obj: self.object(l.obj),
            slot: l.slot,
        }
    }

    fn event(&mut self, e: Event) -> Event {
        let n = self.sites.len() as u32 + 1;
        let site = match e.site.0 {
            0 => 0,
            site => *self.sites.entry(site).or_insert(n),
        };
        let op = match e.op {
            Op::Read(l) => Op::Read(self.loc(l)),
            Op::Write(l) => Op::Write(self.loc(l)),
            Op::AtomicRead(l, m) => Op::AtomicRead(self.loc(l), m),
            Op::AtomicWrite(l, m) => Op::AtomicWrite(self.loc(l), m),
            Op::AtomicUpdate(l, m) => Op::AtomicUpdate(self.loc(l), m),
            Op::Acquire(l) => Op::Acquire(LockId(self.object(l.0))),
            Op::Release(l) => Op::Release(LockId(self.object(l.0))),
            Op::AcquireShared(l) => Op::AcquireShared(LockId(self.object(l.0))),
            Op::ReleaseShared(l) => Op::ReleaseShared(LockId(self.object(l.0))),
            Op::WaitBegin(l) => Op::WaitBegin(LockId(self.object(l.0))),
            Op::WaitEnd { lock, notified } => Op::WaitEnd {
                lock: LockId(self.object(lock.0)),
                notified,
            },
            Op::Notify(l) => Op::Notify(LockId(self.object(l.0))),
            Op::NotifyAll(l) => Op::NotifyAll(LockId(self.object(l.0))),
            Op::Fork(t) => Op::Fork(self.thread(t)),
            Op::Join(t) => Op::Join(self.thread(t)),
            Op::Interrupt(t) => Op::Interrupt(self.thread(t)),
            Op::Unpark(t) => Op::Unpark(self.thread(t)),
            Op::SyncRelease(o) => Op::SyncRelease(self.object(o)),
            Op::SyncAcquire(o) => Op::SyncAcquire(self.object(o)),
            Op::InitBegin(o) => Op::InitBegin(self.object(o)),
            Op::InitEnd(o) => Op::InitEnd(self.object(o)),
            Op::MethodEnter(m) => Op::MethodEnter(self.method(m)),
            Op::MethodExit(m) => Op::MethodExit(self.method(m)),
            other => other,
        };
        Event {
            thread: self.thread(e.thread),
            site: SiteId(site),
            op,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Cutting at any places and putting together in any order gives the run.
    #[test]
    fn parts_make_the_run_again(
        run in run(150),
        at in prop::collection::vec(0..150u64, 1..5),
        turn in 0..5usize,
    ) {
        let bytes = write(&run, 20);
        let n = run.len() as u64;
        let mut at: Vec<u64> = at.into_iter().map(|a| a.min(n)).chain([0, n]).collect();
        at.sort_unstable();
        let mut parts: Vec<_> = at
            .windows(2)
            .filter(|w| w[0] < w[1] || n == 0)
            .map(|w| input("part", piece(&bytes, w[0]..w[1].max(w[0] + 1))))
            .collect();
        prop_assume!(parts.len() > 1 && n > 0);
        let turn = turn % parts.len();
        parts.rotate_left(turn);
        let (again, said) = joined(parts).unwrap();
        prop_assert_eq!((said.runs, said.events), (1, n));
        let expected: Vec<Event> = merged(&run).into_iter().map(|item| item.event).collect();
        prop_assert_eq!(events(&again), expected);
        let again = Trace::from_slice(&again).unwrap();
        prop_assert_eq!(again.part(), Some(&Part::Places(0..n)));
        prop_assert_eq!(again.ending(), &Ending::Finished);
    }

    /// The first run is as it was; the second is the same but for its numbers,
    /// none of which the first had.
    #[test]
    fn runs_keep_to_themselves(a in run(100), b in run(100)) {
        let (a, b) = (small(&a), small(&b));
        let none = Tables::default();
        let inputs = vec![
            input("a", whole(1, &none, &a)),
            input("b", whole(2, &none, &b)),
        ];
        let (both, said) = joined(inputs).unwrap();
        prop_assert_eq!((said.runs, said.events), (2, (a.len() + b.len()) as u64));
        let both = events(&both);
        let (first, second) = both.split_at(a.len());
        prop_assert_eq!(first, &a[..]);
        let (mut before, mut after, mut of_a) = <(Canon, Canon, Canon)>::default();
        for (e, now) in b.iter().zip(second) {
            prop_assert_eq!(before.event(*e), after.event(*now));
        }
        for e in &a {
            of_a.event(*e);
        }
        prop_assert!(of_a.threads.keys().all(|t| !after.threads.contains_key(t)));
        prop_assert!(of_a.objects.keys().all(|o| !after.objects.contains_key(o)));
        prop_assert!(of_a.sites.keys().all(|s| !after.sites.contains_key(s)));
    }
}

fn site(class: &str, bci: u32) -> Site {
    Site {
        class: class.into(),
        bci,
        file: Some("A.java".into()),
        ..Site::default()
    }
}

fn field(name: &str) -> Field {
    Field {
        class: "A".into(),
        name: name.into(),
        ..Field::default()
    }
}

fn class(name: &str, hash: u8) -> Class {
    Class {
        name: name.into(),
        loader: 0,
        hash: vec![hash],
    }
}

#[test]
fn what_is_the_same_in_two_runs_has_one_number() {
    let mut first = Tables::default();
    first.sites.insert(SiteId(1), site("A", 1));
    first.fields.insert(100, field("x"));
    first.classes.insert(1, class("A", 7));
    let mut second = Tables::default();
    second.sites.insert(SiteId(1), site("A", 2));
    second.sites.insert(SiteId(2), site("A", 1));
    second.fields.insert(100, field("y"));
    second.fields.insert(101, field("x"));
    second.classes.insert(5, class("A", 7));
    second.classes.insert(1, class("B", 8));
    let method = Method {
        class: 5,
        name: "run".into(),
        desc: "()V".into(),
    };
    second.methods.insert(3, method);
    let array = Object {
        class: "[I".into(),
        site: SiteId(2),
    };
    second.objects.insert(ObjId(9), array);
    let thread = Thread {
        name: "worker".into(),
        creator: Some(ThreadId(0)),
        ..Thread::default()
    };
    second.threads.insert(ThreadId(1), thread);

    let read = |thread, site, obj, slot| Event {
        thread: ThreadId(thread),
        site: SiteId(site),
        op: Op::Read(Loc {
            obj: ObjId(obj),
            slot,
        }),
    };
    let a = [read(0, 1, 50, 100)];
    let b = [read(0, 2, 4, 101), read(1, 1, 4, 100), read(1, 1, 9, 100)];
    let (both, _) = joined(vec![
        input("a", whole(1, &first, &a)),
        input("b", whole(2, &second, &b)),
    ])
    .unwrap();
    let got = events(&both);
    let both = Trace::from_slice(&both).unwrap();
    let t = both.tables();
    let number = |name: &str| *t.fields.iter().find(|(_, f)| &*f.name == name).unwrap().0;
    assert_eq!(number("x"), 100);
    assert_eq!(t.sites.len(), 2);
    let other = t.sites.iter().find(|(_, s)| s.bci == 2).unwrap().0.0;
    // Threads 0 and 1 of the second run: 0 is taken.
    let (main, worker) = (got[1].thread, got[2].thread);
    assert!(main.0 != 0 && worker.0 != 0 && main != worker);
    assert_eq!(
        got,
        [
            read(0, 1, 50, 100),
            read(main.0, 1, 54, 100),
            read(worker.0, other, 54, number("y")),
            read(worker.0, other, 59, 100), // the index of an element
        ]
    );
    assert_eq!(t.threads[&worker].creator, Some(main));
    assert_eq!(t.objects[&ObjId(59)].site, SiteId(1));
    assert_eq!(t.classes[&1], class("A", 7));
    assert_eq!(t.methods[&3].class, 1);
    assert_eq!(both.footer().unwrap().exit_code, None, "they differ");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let run: Vec<Event> = (0..10)
        .map(|n| Event {
            thread: ThreadId(n % 2),
            site: SiteId(1),
            op: Op::Begin,
        })
        .collect();
    let none = Tables::default();
    let one = whole(1, &none, &run);
    let two = whole(2, &none, &run);
    let part = |from: u64, to: u64| piece(&one, from..to);
    let refused = |named: Vec<(&str, Vec<u8>)>| {
        let inputs = named.into_iter().map(|(name, bytes)| input(name, bytes));
        joined(inputs.collect()).unwrap_err()
    };

    let text = refused(vec![("a", part(0, 4)), ("b", part(6, 10))]);
    assert!(
        text.contains("events 4 to 5") && text.contains("none"),
        "{text}"
    );
    let text = refused(vec![("b", part(3, 10)), ("a", part(0, 5))]);
    assert!(text.contains("a and b both have events 3 to 4"), "{text}");
    let text = refused(vec![("a", one.clone()), ("b", part(0, 5))]);
    assert!(text.contains("a does not say which part"), "{text}");
    let text = refused(vec![("a", part(0, 5)), ("b", part(5, 10)), ("c", two)]);
    assert!(text.contains("c is of another"), "{text}");

    let some = Cut {
        threads: Some([ThreadId(0)].into()),
        ..Cut::default()
    };
    let threads = cut(&mut Trace::from_slice(&one).unwrap(), &some, Vec::new());
    let threads = threads.unwrap().0;
    let again = piece(&threads, 0..2);
    for cut_by_thread in [threads, again] {
        let text = refused(vec![("a", part(0, 5)), ("b", cut_by_thread)]);
        assert!(text.contains("b does not say which part"), "{text}");
    }

    let named = |hash: u8, file: Option<Str>| {
        let mut t = Tables::default();
        t.classes.insert(1, class("shop/A", hash));
        t.sites.insert(
            SiteId(1),
            Site {
                file,
                ..site("shop/A", 1)
            },
        );
        t
    };
    let source: Option<Str> = Some("A.java".into());
    let text = refused(vec![
        ("a", whole(1, &named(1, source.clone()), &run)),
        ("b", whole(2, &named(2, source.clone()), &run)),
    ]);
    assert!(text.contains("different class files of shop.A"), "{text}");
    // Made at run time: no two runs need agree on it.
    let generated = vec![
        input("a", whole(1, &named(1, None), &run)),
        input("b", whole(2, &named(2, None), &run)),
    ];
    assert!(joined(generated).is_ok());

    let mut t = named(1, source);
    let front = piece(&whole(1, &t, &run), 0..5);
    t.sites.insert(SiteId(1), site("shop/A", 9));
    let back = piece(&whole(1, &t, &run), 5..10);
    let text = refused(vec![("a", front), ("b", back)]);
    assert!(text.contains("different statements by number 1"), "{text}");
}

#[test]
fn of_a_killed_run_comes_what_is_whole() {
    let lock = LockId(ObjId(5));
    let mut w = Writer::new(Vec::new(), &header()).unwrap();
    let event = |op, seq| (SiteId(1), op, seq);
    let of_main = [event(Op::Begin, 1), event(Op::Acquire(lock), 3)];
    w.append_events(ThreadId(0), of_main).unwrap();
    let killed = w.abandon().unwrap();
    let other = whole(1, &Tables::default(), &events(&killed));
    let inputs = vec![input("killed", killed.clone()), input("other", other)];
    let (both, said) = joined(inputs).unwrap();
    assert_eq!((said.events, said.runs), (2, 2));
    assert_eq!(said.cut_short, ["killed"]);
    let mut both = Trace::from_slice(&both).unwrap();
    assert_eq!(both.ending(), &Ending::Unfinished);
    assert_eq!(both.events().count(), 2);

    // Parts keep what lies behind, and the gap.
    let across = |events| Cut {
        events,
        across_gaps: true,
        ..Cut::default()
    };
    let mut trace = Trace::from_slice(&killed).unwrap();
    let mut parts = Vec::new();
    for range in [0..1, 1..2] {
        let (bytes, _) = cut(&mut trace, &across(range), Vec::new()).unwrap();
        parts.push(input("part", bytes));
    }
    let (again, _) = joined(parts).unwrap();
    assert_eq!(Trace::from_slice(&again).unwrap().all_events().count(), 2);
}
