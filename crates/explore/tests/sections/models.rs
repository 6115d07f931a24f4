//! What the threads of each section do, operation by operation.
//!
//! The main thread starts the others, in order, and joins them. What only it
//! touches is left out.

use litmus::*;
use trace::ThreadId;

const X: Var = Var(0);
const Y: Var = Var(1);
const Z: Var = Var(2);
const P: Var = Var(3);
const L: Lock = Lock(0);
const M: Lock = Lock(1);
const N: Lock = Lock(2);
const R: Reg = Reg(0);
const S: Reg = Reg(1);
const D: Reg = Reg(2);

type Body = Vec<Stmt>;

/// `Litmus.together`.
fn together(bodies: impl IntoIterator<Item = Body>) -> Program {
    let bodies: Vec<Body> = bodies.into_iter().collect();
    let all = 1..=bodies.len() as u32;
    let main = all.clone().map(fork).chain(all.map(join)).collect();
    Program::with_main(main, bodies)
}

fn twice(body: Body) -> Program {
    together([body.clone(), body])
}

fn thrice(body: Body) -> Program {
    together([body.clone(), body.clone(), body])
}

fn body<const K: usize>(parts: [Body; K]) -> Body {
    parts.into_iter().flatten().collect()
}

/// `plain++`.
fn increment(var: Var) -> Body {
    vec![read(R, var), write(var, add(R, 1))]
}

/// Waits until what `look` puts into a register is this. Nothing else of an
/// iteration is left over for the next.
fn until(look: impl Fn(Reg) -> Stmt, value: impl Into<Expr>) -> Body {
    let seen = Reg(7);
    let done = Reg(8);
    vec![
        Stmt::Set(seen, 0.into()),
        Stmt::Set(done, 0.into()),
        Stmt::Spin {
            cond: not(done),
            body: vec![
                look(seen),
                Stmt::Set(done, eq(seen, value)),
                Stmt::Set(seen, 0.into()),
            ],
        },
    ]
}

fn until_volatile(var: Var, value: impl Into<Expr>) -> Body {
    until(|reg| load(reg, var), value)
}

/// `while (cond) lock.wait()` with the lock, where `cond` is of one variable.
fn wait_while(var: Var, value: Value) -> Body {
    let is = Reg(7);
    vec![
        read(is, var),
        Stmt::While {
            cond: eq(is, value),
            bound: 8,
            body: vec![Stmt::Wait(L), read(is, var)],
        },
    ]
}

fn locked(parts: Body) -> Body {
    vec![sync(L, parts)]
}

fn nest(a: Lock, b: Lock) -> Body {
    vec![sync(a, [sync(b, [])])]
}

pub fn all() -> Vec<(&'static str, Program)> {
    let mut all = litmus_java();
    all.extend(accesses_java());
    all.extend(blocking_java());
    all.extend(spinning_java());
    all.extend(book_loops_java());
    all
}

fn litmus_java() -> Vec<(&'static str, Program)> {
    let add_one = locked(increment(P));
    let attempt = vec![try_sync(R, L, [])];
    let reader = vec![shared(L, [])];
    let wait = locked(vec![Stmt::Wait(L)]);
    let notify = locked(vec![Stmt::Notify(L)]);
    let flag_after = |flag: Stmt| vec![write(P, 1), flag];
    let enter = body([
        until(|ok| cas(ok, X, 0, 1), 1),
        increment(P),
        vec![store(X, 0)],
    ]);
    let parked = Program::with_main(
        vec![fork(1), Stmt::Unpark(ThreadId(1)), join(1)],
        [vec![Stmt::Park]],
    );
    vec![
        ("nothing", twice(vec![])),
        ("lock2", twice(add_one.clone())),
        ("lambda", twice(add_one.clone())),
        ("lock3", thrice(add_one.clone())),
        ("twice", twice(body([add_one.clone(), add_one.clone()]))),
        (
            "twolocks",
            together([add_one.clone(), vec![sync(M, [store(X, 1)])]]),
        ),
        ("mutex2", twice(add_one)),
        ("trylock", twice(attempt)),
        (
            "readers",
            together([reader.clone(), reader, locked(increment(P))]),
        ),
        ("deadlock", together([nest(L, M), nest(M, L)])),
        (
            "storebuffer",
            together([vec![store(X, 1), load(R, Y)], vec![store(Y, 1), load(R, X)]]),
        ),
        (
            "message",
            together([
                flag_after(store(X, 1)),
                vec![load(R, X), Stmt::If(R.into(), vec![read(S, P)], vec![])],
            ]),
        ),
        ("readers2", twice(vec![load(R, X)])),
        (
            "cas2",
            twice(vec![
                cas(R, X, 0, 1),
                Stmt::If(R.into(), increment(P), vec![]),
            ]),
        ),
        (
            "waitnotify",
            together([
                locked(wait_while(P, 0)),
                locked(vec![write(P, 1), Stmt::Notify(L)]),
            ]),
        ),
        ("lostnotify", together([wait, notify])),
        ("park", parked),
        (
            "spin",
            together([
                body([until_volatile(X, 1), vec![read(R, P)]]),
                flag_after(store(X, 1)),
            ]),
        ),
        ("caslock", twice(enter)),
        ("race", twice(increment(P))),
        (
            "hidden",
            together([
                vec![write(P, 1), sync(L, [])],
                vec![sync(L, []), read(R, P)],
            ]),
        ),
        ("assertion", twice(vec![load(R, X), store(X, add(R, 1))])),
        (
            "spinplain",
            together([until(|reg| read(reg, P), 1), vec![write(P, 1)]]),
        ),
        ("tryacquire", twice(try_acquire())),
    ]
}

/// `if (semaphore.tryAcquire()) semaphore.release()` as the JDK does it, with
/// permits that are taken in place of those that are left.
fn try_acquire() -> Body {
    let state = X;
    let head = Y;
    let take = vec![
        load(R, state),
        Stmt::If(
            R.into(),
            vec![Stmt::Set(D, 2.into())],
            vec![cas(D, state, R, add(R, 1))],
        ),
    ];
    let give = vec![load(R, state), cas(S, state, R, sub(R, 1))];
    vec![
        Stmt::While {
            cond: not(D),
            bound: 8,
            body: take,
        },
        Stmt::If(
            eq(D, 1),
            vec![
                Stmt::While {
                    cond: not(S),
                    bound: 8,
                    body: give,
                },
                load(R, head),
            ],
            vec![],
        ),
    ]
}

fn accesses_java() -> Vec<(&'static str, Program)> {
    let either = |mine, theirs| vec![store(mine, 1), load(R, theirs)];
    let store_buffer = together([either(X, Y), either(Y, X)]);
    let retry = vec![Stmt::While {
        cond: not(S),
        bound: 8,
        body: vec![load(R, X), cas(S, X, R, add(R, 1))],
    }];
    vec![
        (
            "loadbuffer",
            together([vec![load(R, X), store(Y, 1)], vec![load(R, Y), store(X, 1)]]),
        ),
        ("statics", store_buffer.clone()),
        (
            "causality",
            together([
                vec![store(X, 1)],
                vec![load(R, X), store(Y, 1)],
                vec![load(R, Y), load(S, X)],
            ]),
        ),
        (
            // Without the main thread: it would be one too many here.
            "iriw",
            Program::parallel([
                vec![store(X, 1)],
                vec![store(Y, 1)],
                vec![load(R, X), load(S, Y)],
                vec![load(R, Y), load(S, X)],
            ]),
        ),
        (
            "between",
            together([vec![load(R, X), load(S, X)], vec![store(X, 1)]]),
        ),
        ("writers2", twice(vec![store(X, 1), store(X, 2)])),
        ("writers3", thrice(vec![store(X, 1)])),
        (
            "branch",
            together([
                vec![
                    load(R, X),
                    Stmt::If(R.into(), vec![store(Y, 1)], vec![store(Y, 2), store(Y, 3)]),
                ],
                vec![store(X, 1), load(S, Y)],
            ]),
        ),
        ("add2", twice(vec![fetch_add(R, X, 1)])),
        ("add3", thrice(vec![fetch_add(R, X, 1)])),
        (
            "addread",
            together([
                vec![fetch_add(R, X, 1), load(S, Y)],
                vec![fetch_add(R, Y, 1), load(S, X)],
            ]),
        ),
        ("retry", twice(retry)),
        (
            "once",
            twice(vec![
                cas(R, X, 0, 1),
                Stmt::If(R.into(), vec![store(Y, 1)], vec![load(S, Y)]),
            ]),
        ),
        ("elements", together([vec![store(X, 1)], vec![store(Y, 1)]])),
        ("element", together([vec![store(X, 1)], vec![store(X, 2)]])),
        ("handles", store_buffer),
    ]
}

/// Thread 1, and others that do something to it.
fn about(first: Body, others: &[fn(ThreadId) -> Stmt]) -> Program {
    let others = others.iter().map(|what| vec![what(ThreadId(1))]);
    together([first].into_iter().chain(others))
}

fn blocking_java() -> Vec<(&'static str, Program)> {
    let wait = locked(vec![Stmt::Wait(L)]);
    let guarded = locked(wait_while(P, 0));
    let put = locked(body([wait_while(P, 1), vec![write(P, 1), Stmt::Notify(L)]]));
    let take = locked(body([wait_while(P, 0), vec![write(P, 0), Stmt::Notify(L)]]));
    let arrive = locked(body([
        increment(P),
        vec![Stmt::If(
            eq(R, 1),
            vec![Stmt::NotifyAll(L)],
            vec![Stmt::Wait(L)],
        )],
    ]));
    let asks = vec![Stmt::Interrupted(R), Stmt::Interrupted(S)];
    let alive = Program::with_main(
        vec![
            fork(1),
            Stmt::IsAlive(R, ThreadId(1)),
            Stmt::If(R.into(), vec![], vec![read(S, P)]),
            join(1),
        ],
        [vec![write(P, 1)]],
    );
    let [interrupt, unpark]: [fn(ThreadId) -> Stmt; 2] = [Stmt::Interrupt, Stmt::Unpark];
    let park = vec![Stmt::Park];
    vec![
        ("nested", twice(nest(L, M))),
        (
            "philosophers",
            together([nest(L, M), nest(M, N), nest(N, L)]),
        ),
        (
            "attempt",
            together([locked(vec![]), vec![try_sync(R, L, [])]]),
        ),
        ("readers1", twice(vec![shared(L, [])])),
        (
            "readwrite",
            together([vec![shared(L, [read(R, P)])], locked(vec![write(P, 1)])]),
        ),
        (
            "notifyone",
            together([wait.clone(), wait.clone(), locked(vec![Stmt::Notify(L)])]),
        ),
        (
            "notifyall",
            together([wait.clone(), wait.clone(), locked(vec![Stmt::NotifyAll(L)])]),
        ),
        (
            "guarded",
            together([
                guarded.clone(),
                guarded,
                locked(vec![write(P, 1), Stmt::NotifyAll(L)]),
            ]),
        ),
        (
            "buffer",
            together([body([put.clone(), put]), body([take.clone(), take])]),
        ),
        ("arrive2", twice(arrive)),
        (
            "timedwait",
            together([
                locked(vec![Stmt::TimedWait(L)]),
                locked(vec![Stmt::Notify(L)]),
            ]),
        ),
        ("interruptwait", about(wait, &[interrupt])),
        ("unpark2", about(park.clone(), &[unpark, unpark])),
        (
            "park2",
            about(body([park.clone(), park.clone()]), &[unpark, unpark]),
        ),
        ("parkinterrupt", about(park, &[unpark, interrupt])),
        ("interrupted", about(asks, &[interrupt])),
        ("alive", alive),
    ]
}

fn spinning_java() -> Vec<(&'static str, Program)> {
    let waits = until_volatile(X, 1);
    let sets = vec![store(X, 1)];
    let publishes = vec![write(P, 1), store(X, 1)];
    let sees = body([waits.clone(), vec![read(R, P)]]);
    let barrier = |parties: Value| {
        vec![
            fetch_add(R, Y, 1),
            Stmt::If(eq(R, parties - 1), vec![store(X, 1)], until_volatile(X, 1)),
        ]
    };
    let ticket = body([
        vec![fetch_add(D, X, 1)],
        until_volatile(Y, D),
        increment(P),
        vec![store(Y, add(D, 1))],
    ]);
    let any_set = vec![
        Stmt::Set(R, 0.into()),
        Stmt::Set(D, 0.into()),
        Stmt::Spin {
            cond: not(D),
            body: vec![
                load(R, X),
                Stmt::If(not(R), vec![load(R, Y)], vec![]),
                Stmt::If(R.into(), vec![Stmt::Set(D, 1.into())], vec![]),
                Stmt::Set(R, 0.into()),
            ],
        },
    ];
    let peterson = |mine: Var, theirs: Var, me: Value| {
        let enters = Reg(5);
        let looks = vec![
            Stmt::Set(enters, 1.into()),
            load(R, theirs),
            Stmt::If(
                R.into(),
                vec![load(R, Z), Stmt::Set(enters, not(eq(R, me)))],
                vec![],
            ),
            Stmt::Set(R, 0.into()),
        ];
        body([
            vec![
                store(mine, 1),
                store(Z, me),
                Stmt::Set(R, 0.into()),
                Stmt::Set(enters, 0.into()),
                Stmt::Spin {
                    cond: not(enters),
                    body: looks,
                },
            ],
            increment(P),
            vec![store(mine, 0)],
        ])
    };
    vec![
        ("spinstatic", together([waits.clone(), sets.clone()])),
        (
            "spinplainstatic",
            together([until(|reg| read(reg, P), 1), vec![write(P, 1)]]),
        ),
        (
            "spinanswer",
            together([
                body([waits.clone(), vec![write(P, 1)]]),
                body([sets.clone(), until(|reg| read(reg, P), 1)]),
            ]),
        ),
        ("spinatomic", together([sees.clone(), publishes.clone()])),
        ("spinhandle", together([sees, publishes])),
        ("spinmethod", together([any_set, vec![store(Y, 1)]])),
        (
            "spinbetween",
            together([until_volatile(X, 2), vec![store(X, 1), store(X, 2)]]),
        ),
        (
            "spintwo",
            together([waits.clone(), waits.clone(), sets.clone()]),
        ),
        (
            "pingpong",
            together([
                body([vec![store(X, 1)], until_volatile(Y, 1)]),
                body([waits.clone(), vec![store(Y, 1)]]),
            ]),
        ),
        ("spinnobody", together([waits, vec![store(Y, 1)]])),
        ("barrier2", twice(barrier(2))),
        ("barrier3", thrice(barrier(3))),
        ("ticket", twice(ticket)),
        ("peterson", together([peterson(X, Y, 0), peterson(Y, X, 1)])),
    ]
}

fn book_loops_java() -> Vec<(&'static str, Program)> {
    let (waits, sets) = (until_volatile(X, 1), vec![store(X, 1)]);
    let enters = Reg(5);
    // Both locations are looked at, the second only if the first does not say enough.
    let until_either = |first: Stmt, second: Stmt| {
        vec![
            Stmt::Set(R, 0.into()),
            Stmt::Set(enters, 0.into()),
            Stmt::Spin {
                cond: not(enters),
                body: vec![
                    first,
                    Stmt::If(R.into(), vec![], vec![second]),
                    Stmt::Set(enters, R.into()),
                    Stmt::Set(R, 0.into()),
                ],
            },
        ]
    };
    let element = vec![
        Stmt::Set(R, 0.into()),
        Stmt::Set(enters, 0.into()),
        Stmt::Spin {
            cond: not(enters),
            body: vec![
                load(R, Y),
                read(R, P),
                Stmt::Set(enters, R.into()),
                Stmt::Set(R, 0.into()),
            ],
        },
    ];
    // One cell is 0 for ever, the other while nobody has stored.
    let conflict = vec![
        Stmt::Set(R, 0.into()),
        Stmt::Set(enters, 0.into()),
        Stmt::Spin {
            cond: not(enters),
            body: vec![
                load(R, Y),
                load(R, X),
                Stmt::Set(enters, R.into()),
                Stmt::Set(R, 0.into()),
            ],
        },
    ];
    let tries = vec![load(R, X), Stmt::If(R.into(), vec![], vec![load(R, X)])];
    vec![
        ("spingetter", together([waits.clone(), sets.clone()])),
        ("spinthreadlocal", together([waits.clone(), sets.clone()])),
        ("spinnext", together([waits.clone(), sets.clone()])),
        ("spinsleep", together([waits, sets.clone()])),
        ("spinconflict", together([conflict, sets.clone()])),
        ("spintries", together([tries, sets])),
        (
            "spinelement",
            together([element, vec![load(R, Y), write(P, 1)]]),
        ),
        (
            "spineither",
            together([until_either(read(R, P), load(R, Y)), vec![write(P, 1)]]),
        ),
    ]
}
