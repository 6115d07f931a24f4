//! The figures of the paper: what races, what is suggested, and that the
//! suggestions do what they are for.

mod common;

use advise::{Advice, Kind, Path, Repair, Sync, explain};
use common::*;
use litmus::*;
use trace::Op;

const R: Reg = Reg(0);
const S: Reg = Reg(1);

/// What is suggested for the races on a variable, and whether for every path.
fn suggested(advice: &Advice, variable: advise::Variable) -> Vec<(Kind, Repair, bool)> {
    let mut all = Vec::new();
    for of_race in advice.races.iter().filter(|r| r.race.variable == variable) {
        for s in &of_race.suggestions {
            all.push((s.kind, s.repair, of_race.holds(s)));
        }
    }
    all.sort_unstable();
    all.dedup();
    // Of no matter here: a litmus program has no classes and no methods.
    all.retain(|(kind, ..)| !matches!(kind, Kind::AtomicClass | Kind::SynchronizedMethods));
    all
}

/// How many races are left, in all schedules, with these repairs.
fn left_with(program: &Program, repairs: &[Repair]) -> usize {
    let mut program = program.clone();
    for change in repairs {
        program = repair(&program, *change).unwrap().program;
    }
    let after = explored(&program);
    assert!(after.progress.complete);
    assert_eq!(after.progress.blocked, 0);
    after.races.len()
}

fn reads(reg: Reg, var: Var) -> Stmt {
    Stmt::Spin {
        cond: not(reg),
        body: vec![read(reg, var)],
    }
}

/// Figures 2 and 4: a flag that should be volatile.
#[test]
fn figure_2() {
    let (x, done) = (Var(0), Var(1));
    let program = Program::parallel([
        vec![write(x, 1), write(done, 1)],
        vec![reads(R, done), read(S, x), assert(eq(S, 1))],
    ]);
    let found = explored(&program);
    assert!(found.progress.complete);
    assert_eq!(found.races.len(), 2);
    let make_done = Repair::Volatile(field(done));
    assert_eq!(
        suggested(&found.advice, field(x)),
        [
            (Kind::Volatile, Repair::Volatile(field(x)), true),
            (Kind::OtherVolatile, make_done, true),
        ]
    );
    assert_eq!(
        suggested(&found.advice, field(done)),
        [(Kind::Volatile, make_done, true)]
    );
    // "2 times" and "1 time".
    let best = &found.advice.ranked[0];
    assert_eq!((best.repair, best.removes.len()), (make_done, 2));
    assert_eq!(found.advice.set.repairs, [make_done]);
    assert!(found.advice.set.smallest);
    assert_eq!(left_with(&program, &[make_done]), 0);
    assert_eq!(left_with(&program, &[Repair::Volatile(field(x))]), 1);
}

/// Double-checked locking.
#[test]
fn figure_5() {
    let (helper, data, this) = (Var(0), Var(1), Lock(0));
    let get = || {
        let create = vec![write(data, 2011), write(helper, 1)];
        let checked = sync(this, [read(R, helper), Stmt::If(not(R), create, vec![])]);
        vec![
            read(R, helper),
            Stmt::If(not(R), vec![checked], vec![]),
            read(R, helper),
            read(S, data),
            assert(eq(S, 2011)),
        ]
    };
    let program = Program::parallel([get(), get()]);
    let found = explored(&program);
    let raced: Vec<_> = found.races.iter().map(|r| r.variable).collect();
    assert!(raced.contains(&field(helper)) && raced.contains(&field(data)));
    let make_helper = Repair::Volatile(field(helper));
    assert!(suggested(&found.advice, field(data)).contains(&(
        Kind::OtherVolatile,
        make_helper,
        true
    )));
    assert_eq!(found.advice.set.repairs, [make_helper]);
    assert_eq!(left_with(&program, &[make_helper]), 0);
}

/// Peterson's lock with a plain array of flags.
fn peterson() -> (Program, Array, Var) {
    let (flag, turn, shared) = (Array(0), Var(0), Var(1));
    let thread = |me: Value| {
        let other = 1 - me;
        let look = vec![
            read(R, (flag, other)),
            Stmt::If(
                R.into(),
                vec![load(S, turn), Stmt::Set(R, eq(S, other))],
                vec![],
            ),
        ];
        vec![
            write((flag, me), 1),
            store(turn, other),
            Stmt::Set(R, 1.into()),
            Stmt::Spin {
                cond: R.into(),
                body: look,
            },
            read(S, shared),
            write(shared, add(S, 1)),
            write((flag, me), 0),
        ]
    };
    let program = Program::parallel([thread(0), thread(1)]).arrays([2]);
    (program, flag, shared)
}

#[test]
fn figure_8() {
    let (program, _, shared) = peterson();
    let found = explored(&program);
    assert!(found.progress.complete);
    let flags = advise::Variable::Array(0);
    let make_flags = Repair::AtomicArray(flags);
    let offered = suggested(&found.advice, flags);
    assert!(offered.contains(&(Kind::AtomicArray, make_flags, true)));
    assert!(offered.iter().all(|(kind, ..)| *kind != Kind::Volatile));
    assert!(found.races.iter().any(|r| r.variable == field(shared)));
    assert_eq!(found.advice.ranked[0].repair, make_flags);
    assert_eq!(left_with(&program, &[make_flags]), 0);
}

/// An object published before it is ready: `more` is Thread 1's in Figure 23.
fn publication(more: Vec<Stmt>, others: Vec<Vec<Stmt>>) -> Program {
    let (publish, desc, go) = (Var(0), Var(1), Var(2));
    let mut first = vec![store(publish, 1), write(desc, 1)];
    first.extend(more);
    first.push(write(go, 1));
    let ready = vec![
        reads(R, go),
        load(R, publish),
        read(S, desc),
        assert(eq(S, 1)),
    ];
    let second = vec![
        load(R, publish),
        Stmt::If(
            R.into(),
            [vec![Stmt::Set(R, 0.into())], ready].concat(),
            vec![],
        ),
    ];
    let mut threads = vec![first, second];
    threads.extend(others);
    Program::parallel(threads)
}

#[test]
fn figure_13() {
    let (publish, desc, go) = (Var(0), Var(1), Var(2));
    let program = publication(vec![], vec![]);
    let at = |var: Var| {
        site_of(
            &program,
            0,
            |s| matches!(s, Stmt::Write(Place::Var(v), _) | Stmt::Store(Place::Var(v), ..) if *v == var),
        )
    };
    let found = explored(&program);
    let make_go = Repair::Volatile(field(go));
    let move_to_publish = |var| Repair::Move {
        statement: at(var),
        before: at(publish),
    };
    assert_eq!(
        suggested(&found.advice, field(go)),
        [
            (Kind::Volatile, make_go, true),
            (Kind::MoveSource, move_to_publish(go), true),
        ]
    );
    assert_eq!(
        suggested(&found.advice, field(desc)),
        [
            (Kind::Volatile, Repair::Volatile(field(desc)), true),
            (Kind::MoveSource, move_to_publish(desc), true),
            (Kind::OtherVolatile, make_go, true),
        ]
    );
    assert_eq!(left_with(&program, &[make_go]), 0);
    // After moving the flag alone, the other race is still there.
    assert_eq!(left_with(&program, &[move_to_publish(go)]), 1);
    // Moving the flag, then the other, each to before the publication.
    let once = repair(&program, move_to_publish(go)).unwrap().program;
    let again = explored(&once).advice.ranked;
    let second = again
        .iter()
        .find(|r| matches!(r.repair, Repair::Move { .. }))
        .unwrap();
    assert_eq!(left_with(&once, &[second.repair]), 0);
}

/// One thread takes the lock and the other does not.
#[test]
fn figure_16() {
    let (data, lock) = (Var(0), Lock(0));
    let program = Program::parallel([vec![sync(lock, [write(data, 1)])], vec![read(R, data)]]);
    let found = explored(&program);
    let print = site_of(&program, 0, |s| matches!(s, Stmt::Read(..)));
    let under_lock = Repair::Synchronized {
        statement: print,
        lock: 0,
    };
    let volatile = Repair::Volatile(field(data));
    assert_eq!(
        suggested(&found.advice, field(data)),
        [
            (Kind::Volatile, volatile, true),
            (Kind::Synchronized, under_lock, true),
        ]
    );
    assert_eq!(left_with(&program, &[under_lock]), 0);
    assert_eq!(left_with(&program, &[volatile]), 0);
}

/// Another thread shows how it is done.
#[test]
fn figure_21() {
    let (x, done) = (Var(0), Var(1));
    let program = Program::parallel([
        vec![write(x, 1), store(done, 1)],
        vec![
            load(R, done),
            Stmt::If(R.into(), vec![read(S, x), assert(eq(S, 1))], vec![]),
        ],
        vec![read(R, x)],
    ]);
    let found = explored(&program);
    assert_eq!(found.races.len(), 1);
    let print = site_of(&program, 1, |s| matches!(s, Stmt::Read(..)));
    let acquire = Repair::Acquire {
        before: print,
        from: Sync::Variable(field(done)),
    };
    // It helps on the paths on which the volatile was written already, and
    // only there: nobody looks at what was read.
    assert_eq!(
        suggested(&found.advice, field(x)),
        [
            (Kind::Volatile, Repair::Volatile(field(x)), true),
            (Kind::SameAcquire, acquire, false),
        ]
    );
    assert!(left_with(&program, &[acquire]) > 0);
    assert_eq!(left_with(&program, &[Repair::Volatile(field(x))]), 0);
}

/// Lemma 4: a third thread writes the flag as well, under a lock that the first
/// thread has taken in between, or without having synchronised at all.
#[test]
fn figure_23() {
    let (publish, desc, go, x) = (Var(0), Var(1), Var(2), Var(3));
    let o = Lock(0);
    let looks = |body: Vec<Stmt>| vec![load(R, publish), Stmt::If(R.into(), body, vec![])];
    let sets = vec![
        read(S, desc),
        Stmt::If(S.into(), vec![write(go, 1)], vec![write(go, 0)]),
    ];
    let first_writes = |program: &Program, var: Var| {
        site_of(
            program,
            0,
            |s| matches!(s, Stmt::Write(Place::Var(v), _) if *v == var),
        )
    };
    let published = 1;
    let moves = |program: &Program, var: Var| {
        let moved = Repair::Move {
            statement: first_writes(program, var),
            before: published,
        };
        let found = explored(program);
        assert!(found.progress.complete);
        let all = suggested(&found.advice, field(var));
        let same = all.iter().filter(|(_, repair, _)| *repair == moved);
        same.map(|(.., every)| *every).collect::<Vec<_>>()
    };
    // A thread that writes the flag has seen the publication: both conditions hold.
    let program = publication(
        vec![sync(o, [write(x, 5)])],
        vec![vec![sync(o, looks(sets))]],
    );
    assert_eq!(moves(&program, desc), [true]);
    assert_eq!(moves(&program, go), [true]);
    let make_go = Repair::Volatile(field(go));
    let found = explored(&program);
    assert!(suggested(&found.advice, field(go)).contains(&(Kind::Volatile, make_go, true)));
    // A thread that does not: the moved write would race with it.
    let careless = publication(vec![], vec![vec![write(go, 0), write(desc, 0)]]);
    assert!(!moves(&careless, go).contains(&true));
    assert!(!moves(&careless, desc).contains(&true));
}

/// Not across an access of its own: that would change what the thread reads.
#[test]
fn nothing_is_moved_across_its_own_accesses() {
    let (flag, x) = (Var(0), Var(1));
    let program = Program::parallel([
        vec![store(flag, 1), read(R, x), write(x, add(R, 1))],
        vec![load(R, flag), Stmt::If(R.into(), vec![read(S, x)], vec![])],
    ]);
    let found = explored(&program);
    assert!(!found.races.is_empty());
    let moves = |(_, repair, _): &(Kind, Repair, bool)| matches!(repair, Repair::Move { .. });
    assert!(!suggested(&found.advice, field(x)).iter().any(moves));
}

#[test]
fn a_race_is_explained_by_what_was_passed_on() {
    let (x, flag) = (Var(0), Var(1));
    let program = Program::parallel([
        vec![store(flag, 1), write(x, 1)],
        vec![load(R, flag), read(S, x)],
    ]);
    let events = run(&program, |_| 0).events;
    let path = Path::new(&events);
    let races = path.races();
    assert_eq!(races.len(), 1);
    let (source, manifest) = races[0];
    let told = explain(&path, &Litmus, source, manifest);
    assert_eq!(told.source.op, Op::Write(x.loc()));
    assert_eq!(told.manifest.op, Op::Read(x.loc()));
    assert_eq!(told.between.len(), 1);
    assert_eq!(told.between[0].through, Some(Sync::Variable(field(flag))));
    assert_eq!(told.left_out, 0);
    let e = &events[source];
    assert_eq!(path.find(x.loc(), e.thread, e.site, manifest), Some(source));
}
