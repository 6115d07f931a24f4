//! Programs made up at random, as `proptest` strategies, so that a failing
//! one shrinks: statements fall away until nothing more can.
//!
//! The threads share so little that most of what they do conflicts, and
//! synchronise so often that much of it is ordered: both verdicts are common.

mod java;

pub use java::java_programs;

use crate::program::*;
use proptest::collection::vec;
use proptest::prelude::*;
use trace::{Mode, ThreadId};

/// What programs may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Besides the main thread.
    pub threads: u32,
    /// Statements of a thread, nested ones not counted.
    pub length: usize,
    pub vars: u16,
    pub locks: u16,
    /// Whether variables are accessed both plainly and atomically.
    pub mixed: bool,
    /// Whether static initialisers run.
    pub init: bool,
    /// Wait, notify, park, interrupt: what can block for ever.
    pub blocking: bool,
    /// Mostly plain accesses, branches and loops over what was read, and
    /// elements found by index.
    pub branchy: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            threads: 3,
            length: 6,
            vars: 3,
            locks: 2,
            mixed: false,
            init: false,
            blocking: true,
            branchy: false,
        }
    }
}

/// Volatiles are other variables than plain ones, unless mixed.
const VOLATILES: u16 = 100;

fn reg() -> impl Strategy<Value = Reg> {
    (0u8..2).prop_map(Reg)
}

fn expr() -> impl Strategy<Value = Expr> {
    prop_oneof![
        (0i64..3).prop_map(Expr::Const),
        reg().prop_map(Expr::Reg),
        reg().prop_map(|r| add(r, 1)),
    ]
}

fn cond() -> impl Strategy<Value = Expr> {
    prop_oneof![
        reg().prop_map(Expr::Reg),
        reg().prop_map(not),
        (reg(), 0i64..3).prop_map(|(r, v)| lt(r, v)),
    ]
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![
        6 => Just(Mode::Volatile),
        2 => Just(Mode::AcqRel),
        1 => Just(Mode::Opaque),
    ]
}

fn plain(shape: Shape) -> BoxedStrategy<Place> {
    if shape.branchy {
        return prop_oneof![
            12 => (0..shape.vars).prop_map(|v| Place::Var(Var(v))),
            2 => (0i64..2).prop_map(|i| Place::Elem(Array(0), Expr::Const(i))),
            2 => reg().prop_map(|r| Place::Elem(Array(0), Expr::Reg(r))),
        ]
        .boxed();
    }
    prop_oneof![
        30 => (0..shape.vars).prop_map(|v| Place::Var(Var(v))),
        10 => (0i64..2).prop_map(|i| Place::Elem(Array(0), Expr::Const(i))),
        // Out of bounds.
        1 => Just(Place::Elem(Array(0), Expr::Const(2))),
    ]
    .boxed()
}

fn atomic(shape: Shape) -> BoxedStrategy<Place> {
    let own = (0u16..2).prop_map(|v| Place::Var(Var(VOLATILES + v)));
    if shape.mixed {
        prop_oneof![own, plain(shape)].boxed()
    } else {
        own.boxed()
    }
}

fn thread(shape: Shape) -> impl Strategy<Value = ThreadId> {
    (0..=shape.threads).prop_map(ThreadId)
}

fn access(shape: Shape) -> impl Strategy<Value = Stmt> {
    prop_oneof![
        4 => (reg(), plain(shape)).prop_map(|(r, p)| Stmt::Read(r, p)),
        4 => (plain(shape), expr()).prop_map(|(p, e)| Stmt::Write(p, e)),
        1 => (reg(), atomic(shape), mode()).prop_map(|(r, p, m)| Stmt::Load(r, p, m)),
        1 => (atomic(shape), expr(), mode()).prop_map(|(p, e, m)| Stmt::Store(p, e, m)),
        1 => (reg(), atomic(shape), expr(), expr(), mode()).prop_map(
            |(ok, place, expect, new, mode)| Stmt::Cas { ok, place, expect, new, mode }),
        1 => (reg(), atomic(shape), expr(), mode()).prop_map(
            |(old, place, by, mode)| Stmt::FetchAdd { old, place, by, mode }),
    ]
}

fn simple(shape: Shape) -> BoxedStrategy<Stmt> {
    if shape.branchy {
        return prop_oneof![
            6 => (reg(), plain(shape)).prop_map(|(r, p)| Stmt::Read(r, p)),
            6 => (plain(shape), expr()).prop_map(|(p, e)| Stmt::Write(p, e)),
            1 => (reg(), atomic(shape), mode()).prop_map(|(r, p, m)| Stmt::Load(r, p, m)),
            1 => (atomic(shape), expr(), mode()).prop_map(|(p, e, m)| Stmt::Store(p, e, m)),
            1 => (reg(), expr()).prop_map(|(r, e)| Stmt::Set(r, e)),
        ]
        .boxed();
    }
    // What throws or blocks is rare: it is the end of the thread.
    let usual = prop_oneof![
        40 => access(shape),
        2 => (reg(), thread(shape)).prop_map(|(r, t)| Stmt::IsAlive(r, t)),
        1 => thread(shape).prop_map(Stmt::Fork),
        2 => (0u16..2).prop_map(|h| Stmt::Release(Handover(h))),
        2 => (0u16..2).prop_map(|h| Stmt::Acquire(Handover(h))),
        2 => thread(shape).prop_map(Stmt::Interrupt),
        2 => reg().prop_map(Stmt::Interrupted),
        1 => cond().prop_map(Stmt::Assert),
    ];
    if !shape.blocking {
        return usual.boxed();
    }
    prop_oneof![
        50 => usual,
        1 => thread(shape).prop_map(Stmt::Join),
        2 => thread(shape).prop_map(Stmt::Unpark),
        1 => Just(Stmt::Park),
    ]
    .boxed()
}

/// What may stand under the lock: also waiting for it and notifying.
fn guarded(shape: Shape, lock: Lock, inner: BoxedStrategy<Stmt>) -> BoxedStrategy<Stmt> {
    if !shape.blocking {
        return inner;
    }
    prop_oneof![
        20 => inner,
        1 => Just(Stmt::Wait(lock)),
        3 => Just(Stmt::TimedWait(lock)),
        2 => Just(Stmt::Notify(lock)),
        2 => Just(Stmt::NotifyAll(lock)),
    ]
    .boxed()
}

fn stmt(shape: Shape) -> BoxedStrategy<Stmt> {
    simple(shape)
        .prop_recursive(2, 8, 3, move |inner| {
            let sync = (0..shape.locks).prop_flat_map({
                let inner = inner.clone();
                move |l| {
                    vec(guarded(shape, Lock(l), inner.clone()), 0..4)
                        .prop_map(move |body| Stmt::Sync(Lock(l), body))
                }
            });
            let shared = (0..shape.locks, vec(inner.clone(), 0..3))
                .prop_map(|(l, body)| Stmt::Shared(Lock(l), body));
            let branch = (cond(), vec(inner.clone(), 0..3), vec(inner.clone(), 0..3))
                .prop_map(|(c, a, b)| Stmt::If(c, a, b));
            let repeat = (cond(), 1u32..3, vec(inner.clone(), 0..3))
                .prop_map(|(cond, bound, body)| Stmt::While { cond, bound, body });
            let often = if shape.branchy { 5 } else { 1 };
            let structured = prop_oneof![4 => sync, 1 => shared, often => branch, 1 => repeat];
            if shape.init {
                let init = (0u16..2, vec(inner, 0..4)).prop_map(|(c, b)| Stmt::Init(Class(c), b));
                prop_oneof![7 => structured, 2 => init].boxed()
            } else {
                structured.boxed()
            }
        })
        .boxed()
}

/// A main thread that starts others, joins some, and does things before,
/// between and after.
pub fn programs(shape: Shape) -> impl Strategy<Value = Program> {
    let body = move || vec(stmt(shape), 0..=shape.length);
    let few = move || vec(stmt(shape), 0..2);
    let main = (
        few(),
        vec(
            (few(), proptest::bool::weighted(0.2)),
            shape.threads as usize,
        ),
        few(),
        vec(any::<bool>(), shape.threads as usize),
        few(),
    );
    let others = vec(body(), shape.threads as usize);
    (main, others).prop_map(move |((before, starts, between, joins, after), others)| {
        let mut main = before;
        for (n, (work, early_join)) in (1..).zip(starts) {
            main.push(fork(n));
            main.extend(work);
            // Makes the thread's place in clocks free for the next one.
            if early_join && shape.blocking {
                main.push(join(n));
            }
        }
        main.extend(between);
        for (n, joined) in (1..).zip(joins) {
            if joined {
                main.push(join(n));
            }
        }
        main.extend(after);
        Program::with_main(main, others).arrays([2])
    })
}

/// Decisions for [`crate::run`]: number `n` for step `n`, round and round.
pub fn schedules() -> impl Strategy<Value = Vec<usize>> {
    vec(0usize..12, 1..60)
}

/// Small programs in which nearly every step depends on nearly every other:
/// threads that all run from the start, over two locations and one or two
/// locks. For the model checker, where it is not the amount that counts.
/// `init`: also a class with a static initialiser.
pub fn contended(threads: usize, length: usize, init: bool) -> impl Strategy<Value = Program> {
    let count = threads as u32;
    let place = || (0u16..2).prop_map(Var);
    let other = move || (0..count).prop_map(ThreadId);
    let access = move || {
        prop_oneof![
            3 => (reg(), place()).prop_map(|(r, v)| load(r, v)),
            3 => (place(), expr()).prop_map(|(v, e)| store(v, e)),
            2 => (reg(), place()).prop_map(|(r, v)| read(r, v)),
            2 => (place(), expr()).prop_map(|(v, e)| write(v, e)),
            1 => (reg(), place(), 0i64..2).prop_map(|(r, v, e)| cas(r, v, e, add(r, 1))),
            1 => (reg(), place()).prop_map(|(r, v)| fetch_add(r, v, 1)),
        ]
    };
    let under_lock = move |lock: Lock| {
        let inner = prop_oneof![
            10 => access(),
            1 => Just(Stmt::Wait(lock)),
            2 => Just(Stmt::TimedWait(lock)),
            3 => Just(Stmt::Notify(lock)),
            1 => Just(Stmt::NotifyAll(lock)),
            1 => reg().prop_map(move |r| try_sync(r, lock, [])),
        ];
        vec(inner, 0..3)
    };
    let simple = prop_oneof![
        20 => access(),
        3 => other().prop_map(Stmt::Unpark),
        1 => Just(Stmt::Park),
        2 => other().prop_map(Stmt::Interrupt),
        2 => reg().prop_map(Stmt::Interrupted),
        2 => (reg(), other()).prop_map(|(r, t)| Stmt::IsAlive(r, t)),
        1 => other().prop_map(Stmt::Join),
        1 => cond().prop_map(Stmt::Assert),
        u32::from(init) => Just(Stmt::Init(Class(0), vec![write(Var(0), 1)])),
    ];
    let stmt = prop_oneof![
        6 => simple.clone(),
        4 => (0u16..2).prop_flat_map(move |l| {
            under_lock(Lock(l)).prop_map(move |body| sync(Lock(l), body))
        }),
        1 => (0u16..2, vec(simple.clone(), 0..2)).prop_map(|(l, body)| shared(Lock(l), body)),
        1 => (reg(), 0u16..2, vec(simple.clone(), 0..2))
            .prop_map(|(r, l, body)| try_sync(r, Lock(l), body)),
        2 => (cond(), vec(simple, 0..3)).prop_map(|(c, body)| Stmt::If(c, body, vec![])),
        1 => (reg(), place(), any::<bool>()).prop_map(|(r, v, plain)| Stmt::Spin {
            cond: not(r),
            body: vec![if plain { read(r, v) } else { load(r, v) }],
        }),
        1 => (reg(), place(), 0u16..2).prop_map(|(r, v, l)| Stmt::Spin {
            cond: not(r),
            body: vec![sync(Lock(l), [load(r, v)])],
        }),
        1 => (reg(), place()).prop_map(|(r, v)| Stmt::Spin {
            cond: not(r),
            body: vec![cas(r, v, 1, 0)],
        }),
    ];
    vec(vec(stmt, 1..=length), 2..=threads).prop_map(Program::parallel)
}
