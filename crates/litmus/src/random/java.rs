//! Small programs of what Java programs are made of: locks, volatiles, atomics, plain flags, loops
//! that spin, arrays, wait and notify, exceptions and handlers, sleeps.
//!
//! The main thread starts two or three others and joins them all; it never throws, so that it is
//! there to tell the outcome. Every other program has a discipline: plain variables are accessed
//! under one lock. So both answers are common, that there is a race and that there is none.

use super::reg;
use crate::program::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Only these are accessed plainly: two variables and the elements of an array.
const PLAIN: u16 = 2;
/// Only loaded and stored.
const FLAG: Var = Var(100);
/// Also compared and set.
const ATOMIC: Var = Var(200);
const ARRAY: Array = Array(0);
/// The lock of a program with a discipline.
const GUARD: Lock = Lock(0);
const LOCKS: u16 = 2;

fn value() -> impl Strategy<Value = Expr> {
    prop_oneof![
        3 => (1i64..3).prop_map(Expr::Const),
        1 => reg().prop_map(Expr::Reg),
        2 => reg().prop_map(|r| add(r, 1)),
    ]
}

fn cond() -> impl Strategy<Value = Expr> {
    prop_oneof![
        reg().prop_map(Expr::Reg),
        reg().prop_map(not),
        (reg(), 0i64..3).prop_map(|(r, v)| eq(r, v)),
        (reg(), 1i64..3).prop_map(|(r, v)| lt(r, v)),
    ]
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        8 => (0..PLAIN).prop_map(|v| Place::Var(Var(v))),
        2 => (0i64..2).prop_map(|i| Place::Elem(ARRAY, Expr::Const(i))),
        // Out of bounds, perhaps.
        1 => reg().prop_map(|r| Place::Elem(ARRAY, Expr::Reg(r))),
    ]
}

/// A field or an element that exists.
fn safe_place() -> impl Strategy<Value = Place> {
    prop_oneof![
        4 => (0..PLAIN).prop_map(|v| Place::Var(Var(v))),
        1 => (0i64..2).prop_map(|i| Place::Elem(ARRAY, Expr::Const(i))),
    ]
}

fn plain() -> impl Strategy<Value = Vec<Stmt>> {
    prop_oneof![
        3 => (reg(), place()).prop_map(|(r, p)| vec![read(r, p)]),
        3 => (place(), value()).prop_map(|(p, v)| vec![write(p, v)]),
        2 => (reg(), safe_place(), 1i64..3).prop_map(|(r, p, n)| {
            vec![read(r, p.clone()), write(p, add(r, n))]
        }),
    ]
}

fn atomic() -> impl Strategy<Value = Vec<Stmt>> {
    prop_oneof![
        3 => reg().prop_map(|r| vec![load(r, FLAG)]),
        3 => value().prop_map(|v| vec![store(FLAG, v)]),
        1 => (reg(), 0i64..2).prop_map(|(r, e)| vec![cas(r, ATOMIC, e, add(r, 1))]),
        1 => reg().prop_map(|r| vec![fetch_add(r, ATOMIC, 1)]),
        1 => reg().prop_map(|r| vec![load(r, ATOMIC)]),
    ]
}

fn under(lock: Lock, body: BoxedStrategy<Vec<Stmt>>) -> BoxedStrategy<Vec<Stmt>> {
    body.prop_map(move |body| vec![sync(lock, body)]).boxed()
}

fn several(chunk: BoxedStrategy<Vec<Stmt>>, most: usize) -> BoxedStrategy<Vec<Stmt>> {
    vec(chunk, 1..=most).prop_map(|all| all.concat()).boxed()
}

/// Plain accesses, as the discipline wants them.
fn access(disciplined: bool) -> BoxedStrategy<Vec<Stmt>> {
    let plain = if disciplined {
        under(GUARD, several(plain().boxed(), 2))
    } else {
        plain().boxed()
    };
    prop_oneof![3 => plain, 1 => atomic()].boxed()
}

/// Waiting for a condition under a lock, and making it true.
fn monitors() -> BoxedStrategy<Vec<Stmt>> {
    let wait = prop_oneof![
        1 => Just(Stmt::Wait(GUARD)),
        2 => Just(Stmt::TimedWait(GUARD)),
    ];
    let wake = prop_oneof![Just(Stmt::Notify(GUARD)), Just(Stmt::NotifyAll(GUARD))];
    let waits = (reg(), 0..PLAIN, wait).prop_map(|(r, v, wait)| {
        let unless = Stmt::If(not(r), vec![wait], vec![]);
        vec![read(r, Var(v)), unless, read(r, Var(v))]
    });
    let wakes = (0..PLAIN, wake).prop_map(|(v, wake)| vec![write(Var(v), 1), wake]);
    under(GUARD, prop_oneof![2 => waits, 3 => wakes].boxed())
}

/// Loops until somebody writes.
fn spins(disciplined: bool) -> BoxedStrategy<Vec<Stmt>> {
    let look = if disciplined {
        prop_oneof![
            3 => reg().prop_map(|r| (r, vec![load(r, FLAG)])),
            1 => (reg(), 0..PLAIN).prop_map(|(r, v)| (r, vec![sync(GUARD, [read(r, Var(v))])])),
        ]
        .boxed()
    } else {
        prop_oneof![
            2 => reg().prop_map(|r| (r, vec![load(r, FLAG)])),
            2 => (reg(), safe_place()).prop_map(|(r, p)| (r, vec![read(r, p)])),
            1 => (reg(), 0..PLAIN).prop_map(|(r, v)| {
                let either = Stmt::If(not(r), vec![read(r, Var(v))], vec![]);
                (r, vec![load(r, FLAG), either])
            }),
        ]
        .boxed()
    };
    (look, any::<bool>())
        .prop_map(|((r, mut body), sleeps)| {
            if sleeps {
                body.push(Stmt::Sleep);
            }
            vec![
                Stmt::Set(r, Expr::Const(0)),
                Stmt::Spin { cond: not(r), body },
            ]
        })
        .boxed()
}

fn chunk(disciplined: bool) -> BoxedStrategy<Vec<Stmt>> {
    let one = || access(disciplined);
    let body = |most| several(access(disciplined), most);
    let locked = (0..LOCKS).prop_flat_map(move |l| under(Lock(l), several(access(disciplined), 2)));
    let nested = (0..LOCKS).prop_flat_map(move |l| {
        let inner = under(Lock(1 - l), access(disciplined));
        under(Lock(l), inner)
    });
    let branch = (cond(), body(2), prop_oneof![Just(vec![]), one()])
        .prop_map(|(c, then, otherwise)| vec![Stmt::If(c, then, otherwise)]);
    let repeat = (cond(), one()).prop_map(|(cond, body)| {
        vec![Stmt::While {
            cond,
            bound: 2,
            body,
        }]
    });
    let attempt = (body(2), cond(), prop_oneof![Just(vec![]), one()]).prop_map(
        |(mut body, holds, handler)| {
            body.push(assert(holds));
            vec![Stmt::Catch { body, handler }]
        },
    );
    prop_oneof![
        10 => one(),
        5 => locked,
        1 => nested,
        3 => monitors(),
        2 => spins(disciplined),
        3 => branch,
        1 => repeat,
        2 => attempt,
        1 => cond().prop_map(|c| vec![assert(c)]),
        1 => Just(vec![Stmt::Sleep]),
    ]
    .boxed()
}

/// See the module's text.
pub fn java_programs() -> impl Strategy<Value = Program> {
    let shape = (any::<bool>(), prop_oneof![3 => Just(2u32), 1 => Just(3u32)]);
    shape.prop_flat_map(|(disciplined, threads)| {
        let length = if threads == 2 { 3 } else { 2 };
        let others = vec(several(chunk(disciplined), length), threads as usize);
        let mine = move || {
            let one = prop_oneof![
                (0..PLAIN, value()).prop_map(|(v, e)| vec![write(Var(v), e)]),
                (reg(), 0..PLAIN).prop_map(|(r, v)| vec![read(r, Var(v))]),
                atomic(),
            ];
            let one = if disciplined {
                under(GUARD, one.boxed())
            } else {
                one.boxed()
            };
            prop_oneof![2 => Just(vec![]), 1 => one]
        };
        (others, mine(), mine(), mine()).prop_map(move |(others, before, between, after)| {
            let mut main = before;
            main.extend((1..=threads).map(fork));
            main.extend(between);
            main.extend((1..=threads).map(join));
            main.extend(after);
            Program::with_main(main, others).arrays([2])
        })
    })
}
