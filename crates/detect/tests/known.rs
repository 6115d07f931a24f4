//! Small programs whose races are known, under all their schedules.

use detect::hybrid::HISTORY;
use detect::{Access, DETECTORS, Detector, FastTrack, Finding, H, Hybrid, Lockset};
use litmus::*;
use trace::{Event, Loc, LockId, Mode, ObjId, Op, SiteId, ThreadId};

const X: Var = Var(0);
const Y: Var = Var(1);
const FLAG: Var = Var(2);
const L: Lock = Lock(0);
const M: Lock = Lock(1);
const R: Reg = Reg(0);

/// In how many executions the detector finds something, and of how many.
fn racy<D: Detector + Default>(program: &Program) -> (usize, usize) {
    let (mut racy, mut all) = (0, 0);
    for run in executions(program).take(20_000) {
        let mut detector = D::default();
        run.events.iter().for_each(|e| detector.event(e));
        racy += usize::from(!detector.findings().is_empty());
        all += 1;
    }
    assert!(all < 20_000);
    (racy, all)
}

fn always<D: Detector + Default>(program: &Program) -> bool {
    let (racy, all) = racy::<D>(program);
    racy == all
}

fn never<D: Detector + Default>(program: &Program) -> bool {
    racy::<D>(program).0 == 0
}

fn publication(publish: Stmt, look: Stmt) -> Program {
    let reader = vec![look, Stmt::If(R.into(), vec![read(R, X)], vec![])];
    Program::parallel([vec![write(X, 1), publish], reader])
}

#[test]
fn a_volatile_flag_publishes_and_a_plain_one_does_not() {
    let volatile = publication(store(FLAG, 1), load(R, FLAG));
    assert!(never::<FastTrack>(&volatile) && never::<Hybrid>(&volatile) && never::<H>(&volatile));
    let plain = publication(write(FLAG, 1), read(R, FLAG));
    assert!(always::<FastTrack>(&plain));
    let release = publication(
        Stmt::Store(FLAG.into(), 1.into(), Mode::AcqRel),
        Stmt::Load(R, FLAG.into(), Mode::AcqRel),
    );
    assert!(never::<FastTrack>(&release));
    let opaque = publication(
        Stmt::Store(FLAG.into(), 1.into(), Mode::Opaque),
        Stmt::Load(R, FLAG.into(), Mode::Opaque),
    );
    let (some, all) = racy::<FastTrack>(&opaque);
    assert!(0 < some && some < all, "only where the flag was seen");
}

#[test]
fn plain_and_atomic_accesses_of_one_location_race() {
    let program = |a: Stmt, b: Stmt| Program::parallel([vec![a], vec![b]]);
    assert!(always::<FastTrack>(&program(write(X, 1), load(R, X))));
    assert!(always::<FastTrack>(&program(read(R, X), store(X, 1))));
    assert!(always::<FastTrack>(&program(read(R, X), cas(R, X, 0, 1))));
    assert!(never::<FastTrack>(&program(read(R, X), load(R, X))));
    assert!(never::<FastTrack>(&program(
        fetch_add(R, X, 1),
        store(X, 1)
    )));
}

#[test]
fn a_lock_orders_for_happens_before_but_not_for_hybrid() {
    // The only protection of x is that the lock is taken later.
    let program = Program::parallel([
        vec![write(X, 1), sync(L, [write(Y, 1)])],
        vec![sync(L, [write(Y, 1)]), write(X, 1)],
    ]);
    let (some, all) = racy::<FastTrack>(&program);
    assert!(0 < some && some < all);
    assert!(always::<Hybrid>(&program));
    let protected = || vec![sync(L, [read(R, X), write(X, add(R, 1))])];
    let program = Program::parallel([protected(), protected()]);
    assert!(never::<FastTrack>(&program));
    assert!(never::<Hybrid>(&program));
    assert!(never::<Lockset>(&program));
}

#[test]
fn readers_of_a_read_write_lock_do_not_order_each_other() {
    let writes_under_read_lock = || vec![shared(L, [write(X, 1)])];
    let program = Program::parallel([writes_under_read_lock(), writes_under_read_lock()]);
    assert!(always::<FastTrack>(&program));
    assert!(always::<Hybrid>(&program));
    assert!(always::<Lockset>(&program));
    let reader = || vec![shared(L, [read(R, X)])];
    let writer = || vec![sync(L, [write(X, 1)])];
    let program = Program::parallel([reader(), writer(), reader()]);
    assert!(never::<FastTrack>(&program));
    assert!(never::<Hybrid>(&program));
    assert!(never::<Lockset>(&program));
}

#[test]
fn start_join_and_notify_order_for_hybrid() {
    let main = vec![write(X, 1), fork(1), join(1), write(X, 3)];
    let program = Program::with_main(main, [vec![write(X, 2)]]);
    assert!(never::<FastTrack>(&program) && never::<Hybrid>(&program) && never::<H>(&program));
    assert!(always::<Lockset>(&program), "Eraser knows no order");

    // Woken only by the notifier, who wrote before.
    let waiter = vec![sync(L, [Stmt::Wait(L)]), read(R, X)];
    let notifier = vec![write(X, 1), sync(L, [Stmt::Notify(L)])];
    let program = Program::parallel([waiter.clone(), notifier]);
    assert!(never::<Hybrid>(&program));
    let notifier = vec![sync(L, [Stmt::Notify(L)]), write(X, 1)];
    assert!(!never::<Hybrid>(&Program::parallel([waiter, notifier])));
}

#[test]
fn h_relies_on_the_other_order_for_a_read_before_a_write() {
    let program = Program::parallel([vec![read(R, X)], vec![write(X, 1)]]);
    assert_eq!(racy::<H>(&program), (1, 2));
    assert_eq!(racy::<FastTrack>(&program), (2, 2));
}

#[test]
fn static_initialisers_happen_before_uses_nobody_sees() {
    // The second thread's use of the class leaves no event.
    let user = || vec![Stmt::Init(Class(0), vec![write(X, 1)]), read(R, X)];
    let program = Program::parallel([user(), user()]);
    assert!(never::<FastTrack>(&program) && never::<Hybrid>(&program) && never::<H>(&program));
    // Nor does it matter that the initialising thread did something before.
    let first = vec![write(Y, 1), Stmt::Init(Class(0), vec![write(X, 1)])];
    let second = vec![
        Stmt::Init(Class(0), vec![]),
        read(R, X),
        Stmt::If(R.into(), vec![read(R, Y)], vec![]),
    ];
    let program = Program::parallel([first, second]);
    for run in executions(&program) {
        let mut fast = FastTrack::default();
        run.events.iter().for_each(|e| fast.event(e));
        let on_y = fast.findings().iter().any(|f| f.loc == Y.loc());
        assert!(!on_y, "{:?}", run.events);
    }
    // What escapes a running initialiser is a race.
    let leaks = vec![Stmt::Init(Class(0), vec![write(X, 1), load(R, FLAG)])];
    let program = Program::parallel([leaks, vec![read(R, X)]]);
    let (some, all) = racy::<FastTrack>(&program);
    assert!(0 < some && some < all);
}

#[test]
fn interrupts_and_hand_over_order() {
    let main = vec![fork(1), write(X, 1), Stmt::Interrupt(ThreadId(1))];
    let noticing = vec![
        Stmt::Interrupted(R),
        Stmt::If(R.into(), vec![read(R, X)], vec![]),
    ];
    let program = Program::with_main(main, [noticing]);
    assert!(never::<FastTrack>(&program) && never::<Hybrid>(&program) && never::<H>(&program));

    let (object, x) = (Handover(0).id(), X.loc());
    let handed = |ops: [(u32, Op); 4]| {
        let mut fast = FastTrack::default();
        for (thread, op) in ops {
            fast.event(&event(thread, 1, op));
        }
        fast.findings().len()
    };
    let (give, take) = (Op::SyncRelease(object), Op::SyncAcquire(object));
    let (write, read) = (Op::Write(x), Op::Read(x));
    assert_eq!(handed([(0, write), (0, give), (1, take), (1, read)]), 0);
    assert_eq!(handed([(0, give), (0, write), (1, take), (1, read)]), 1);
    assert_eq!(
        handed([
            (0, write),
            (0, Op::Unpark(ThreadId(1))),
            (1, Op::Park),
            (1, read)
        ]),
        1
    );
}

#[test]
fn a_volatile_remembers_all_its_writers() {
    let (v, mode) = (FLAG.loc(), Mode::Volatile);
    let (object, x) = (Handover(0).id(), X.loc());
    let mut fast = FastTrack::default();
    // Thread 2 knows the last writer already, but not the one before.
    for (thread, op) in [
        (0, Op::Write(x)),
        (0, Op::AtomicWrite(v, mode)),
        (1, Op::AtomicWrite(v, mode)),
        (1, Op::SyncRelease(object)),
        (2, Op::SyncAcquire(object)),
        (2, Op::AtomicRead(v, mode)),
        (2, Op::Read(x)),
    ] {
        fast.event(&event(thread, 1, op));
    }
    assert!(fast.findings().is_empty());
}

#[test]
fn a_write_names_every_reader_it_races_with() {
    let mut fast = FastTrack::default();
    for thread in 0..5 {
        fast.event(&event(thread, 10 + thread, Op::Read(X.loc())));
    }
    fast.event(&event(9, 20, Op::Write(X.loc())));
    let named: Vec<_> = fast.findings().iter().map(|f| (f.first, f.event)).collect();
    let reader = |thread| Access {
        thread: ThreadId(thread),
        site: SiteId(10 + thread),
        write: false,
    };
    assert_eq!(named, (0..5).map(|t| (reader(t), 5)).collect::<Vec<_>>());
}

#[test]
fn eraser_names_where_the_lockset_became_empty() {
    let lock = |l: Lock, n, site, op: Op| {
        let held: [Op; 2] = [Op::Acquire(l.id()), Op::Release(l.id())];
        [(n, 1, held[0]), (n, site, op), (n, 2, held[1])]
    };
    let mut eraser = Lockset::default();
    let (write, read) = (Op::Write(X.loc()), Op::Read(X.loc()));
    let mut feed = |ops: [(u32, u32, Op); 3]| {
        for (thread, site, op) in ops {
            eraser.event(&event(thread, site, op));
        }
        eraser.findings().iter().copied().collect::<Vec<Finding>>()
    };
    assert!(feed(lock(L, 0, 10, write)).is_empty());
    assert!(feed(lock(L, 1, 11, read)).is_empty());
    assert!(feed(lock(L, 1, 12, write)).is_empty());
    let found = feed(lock(M, 0, 13, read));
    let pair = |f: &Finding| (f.first.site.0, f.first.write, f.second.site.0);
    let pairs: Vec<_> = found.iter().map(pair).collect();
    assert_eq!(pairs, [(12, true, 13)]);
    assert_eq!(feed(lock(M, 1, 14, write)).len(), 1, "once for a location");
}

#[test]
fn hybrid_counts_what_it_forgets() {
    let mut hybrid = Hybrid::default();
    for n in 0..HISTORY as u32 + 10 {
        hybrid.event(&event(n, n + 1, Op::Read(X.loc())));
    }
    assert_eq!(hybrid.dropped(), 10);
    let mut stays = Hybrid::default();
    let lock = LockId(ObjId(9));
    for n in 0..10_000 {
        let thread = n % 3;
        stays.event(&event(thread, 1, Op::Acquire(lock)));
        stays.event(&event(thread, 5, Op::Write(X.loc())));
        stays.event(&event(thread, 1, Op::Release(lock)));
        stays.event(&event(thread, 2, Op::SyncRelease(ObjId(4))));
    }
    assert_eq!((stays.dropped(), stays.findings().len()), (0, 0));
}

#[test]
fn every_kind_takes_any_sequence() {
    // Ends without beginnings, joins of strangers, releases of free locks.
    let loc = Loc {
        obj: ObjId(u64::MAX),
        slot: u32::MAX,
    };
    let lock = LockId(ObjId(u64::MAX));
    let other = ThreadId(u32::MAX);
    let ops = [
        Op::End,
        Op::Join(other),
        Op::Release(lock),
        Op::ReleaseShared(lock),
        Op::WaitEnd {
            lock,
            notified: true,
        },
        Op::WaitBegin(lock),
        Op::WaitBegin(lock),
        Op::NotifyAll(lock),
        Op::Interrupted,
        Op::Interrupt(other),
        Op::Fork(other),
        Op::Fork(ThreadId(1)),
        Op::InitEnd(ObjId(0)),
        Op::InitBegin(ObjId(0)),
        Op::SyncAcquire(ObjId(0)),
        Op::AtomicUpdate(loc, Mode::Volatile),
        Op::Read(loc),
        Op::Write(loc),
        Op::Unpark(other),
        Op::Branch(u32::MAX),
        Op::End,
        Op::Begin,
    ];
    for kind in DETECTORS {
        let mut detector = kind.detector();
        for round in 0..3 {
            for (n, op) in ops.into_iter().enumerate() {
                for thread in [0, 1, u32::MAX, n as u32 % (round + 2)] {
                    detector.event(&event(thread, n as u32, op));
                }
            }
        }
    }
}

fn event(thread: u32, site: u32, op: Op) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(site),
        op,
    }
}
