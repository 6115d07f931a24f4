//! The exact number of executions of known programs: that of their classes.

use explore::{Config, Order};
use litmus::*;
use test_support::exploring::*;
use trace::ThreadId;

const X: Var = Var(0);
const Y: Var = Var(1);
const Z: Var = Var(2);
const L: Lock = Lock(0);
const M: Lock = Lock(1);
const R: Reg = Reg(0);
const S: Reg = Reg(1);

/// Explores the program: so many executions, the same as brute force finds
/// classes, and the same deadlocks, failures and races. How many deadlock.
fn count(expected: usize, program: &Program) -> usize {
    let (seen, progress) = explored(program, &Points::All, Config::default());
    assert!(progress.complete);
    let all = all_classes(program, &Points::All, 100_000).expect("small enough");
    assert_eq!(
        (seen.classes.len(), all.classes.len()),
        (expected, expected),
        "executions, classes"
    );
    assert_eq!(seen.distinct(), all);
    progress.blocked as usize
}

fn parallel<const N: usize>(threads: [Vec<Stmt>; N]) -> Program {
    Program::parallel(threads)
}

fn twice(thread: Vec<Stmt>) -> Program {
    parallel([thread.clone(), thread])
}

fn thrice(thread: Vec<Stmt>) -> Program {
    parallel([thread.clone(), thread.clone(), thread])
}

fn body(parts: impl IntoIterator<Item = Vec<Stmt>>) -> Vec<Stmt> {
    parts.into_iter().flatten().collect()
}

#[test]
fn volatiles() {
    // Nothing shared.
    count(1, &parallel([vec![store(X, 1)], vec![store(Y, 1)]]));
    // Readers do not order each other.
    count(1, &twice(vec![load(R, X), load(S, X)]));
    // One writer before, after or between.
    count(
        3,
        &parallel([vec![load(R, X), load(S, X)], vec![store(X, 1)]]),
    );
    count(6, &twice(vec![store(X, 1), store(X, 2)]));
    // Store buffering: all but both reads first.
    count(
        3,
        &parallel([vec![store(X, 1), load(R, Y)], vec![store(Y, 1), load(R, X)]]),
    );
    // Message passing.
    count(
        3,
        &parallel([vec![store(X, 1), store(Y, 1)], vec![load(R, Y), load(S, X)]]),
    );
    // Load buffering.
    count(
        3,
        &parallel([vec![load(R, X), store(Y, 1)], vec![load(R, Y), store(X, 1)]]),
    );
    // Independent reads of independent writes.
    count(
        15,
        &parallel([
            vec![store(X, 1)],
            vec![store(Y, 1)],
            vec![load(R, X), load(S, Y)],
            vec![load(R, Y), load(S, X)],
        ]),
    );
    // Write to read causality.
    count(
        7,
        &parallel([
            vec![store(X, 1)],
            vec![load(R, X), store(Y, 1)],
            vec![load(R, Y), load(S, X)],
        ]),
    );
    // Three writers of one location.
    count(6, &thrice(vec![store(X, 1)]));
    // Two readers, each before or after one writer.
    count(
        2 * 2,
        &parallel([
            vec![store(X, 1)],
            vec![load(R, Y), load(S, X)],
            vec![load(R, Z), load(S, X)],
        ]),
    );
}

#[test]
fn what_happens_depends_on_what_was_read() {
    let reader = vec![
        load(R, X),
        Stmt::If(R.into(), vec![store(Y, 1)], vec![store(Y, 2), store(Y, 3)]),
    ];
    let writer = vec![store(X, 1), load(S, Y)];
    // With the write first, the read of Y has one store to come before or
    // after, otherwise two.
    count(2 + 3, &parallel([reader, writer]));
}

#[test]
fn updates() {
    count(2, &twice(vec![fetch_add(R, X, 1)]));
    count(6, &thrice(vec![fetch_add(R, X, 1)]));
    count(6, &thrice(vec![cas(R, X, 0, 1)]));
    // A counter that tries again when it lost.
    let retry = vec![
        load(R, X),
        cas(S, X, R, add(R, 1)),
        Stmt::If(not(S), vec![load(R, X), cas(S, X, R, add(R, 1))], vec![]),
    ];
    // One after the other, or both read first and one wins.
    count(4, &twice(retry));
    // The thread that sets it first goes in.
    let once = vec![
        cas(R, X, 0, 1),
        Stmt::If(R.into(), vec![store(Y, 1)], vec![load(S, Y)]),
    ];
    count(4, &twice(once));
}

#[test]
fn locks() {
    let section = vec![sync(L, [read(R, X), write(X, add(R, 1))])];
    count(2, &twice(section.clone()));
    count(6, &thrice(section.clone()));
    count(6, &twice(body([section.clone(), section])));
    count(1, &parallel([vec![sync(L, [])], vec![sync(M, [])]]));
    // Nested, in the same order and in opposite ones.
    let nest = |a, b| vec![sync(a, [sync(b, [write(X, 1)])])];
    assert_eq!(count(2, &parallel([nest(L, M), nest(L, M)])), 0);
    assert_eq!(count(3, &parallel([nest(L, M), nest(M, L)])), 1);
    // Dining philosophers.
    let fork = |n: u16| Lock(n % 3);
    let eats = |n: u16| vec![sync(fork(n), [sync(fork(n + 1), [])])];
    assert_eq!(count(7, &parallel([eats(0), eats(1), eats(2)])), 1);
    // Attempts.
    let attempt = vec![try_sync(R, L, [])];
    count(4, &twice(attempt));
    // Before, while and after the other has it.
    count(3, &parallel([vec![sync(L, [])], vec![try_sync(R, L, [])]]));
}

#[test]
fn shared_locks() {
    let reader = vec![shared(L, [read(R, X)])];
    let writer = vec![sync(L, [write(X, 1)])];
    count(1, &twice(reader.clone()));
    count(2, &parallel([reader.clone(), writer.clone()]));
    count(4, &parallel([reader.clone(), reader, writer]));
    let upgrade = vec![shared(L, [sync(L, [])])];
    assert_eq!(count(1, &parallel([upgrade])), 1);
}

#[test]
fn wait_and_notify() {
    let waiter = vec![sync(L, [Stmt::Wait(L)])];
    let notifier = vec![sync(L, [Stmt::Notify(L)])];
    // In time, or too early.
    assert_eq!(count(2, &parallel([waiter.clone(), notifier.clone()])), 1);
    // One of two; which one is a choice.
    let two = parallel([waiter.clone(), waiter.clone(), notifier.clone()]);
    count(10, &two);
    let all = vec![sync(L, [Stmt::NotifyAll(L)])];
    count(10, &parallel([waiter.clone(), waiter.clone(), all]));
    // A waiter that looks before it waits misses nothing.
    let guarded = vec![sync(
        L,
        [read(R, X), Stmt::If(not(R), vec![Stmt::Wait(L)], vec![])],
    )];
    let sets = vec![sync(L, [write(X, 1), Stmt::Notify(L)])];
    assert_eq!(count(2, &parallel([guarded, sets])), 0);
    // Time runs out, or not.
    let timed = vec![sync(L, [Stmt::TimedWait(L)])];
    assert_eq!(count(3, &parallel([timed, notifier])), 0);
    // Interrupted before the lock is taken, before the wait or in it.
    let interrupt = vec![Stmt::Interrupt(ThreadId(0))];
    assert_eq!(count(2, &parallel([waiter, interrupt])), 0);
}

#[test]
fn permits_and_interrupts() {
    let park = vec![Stmt::Park];
    let unpark = vec![Stmt::Unpark(ThreadId(0))];
    assert_eq!(count(1, &parallel([park.clone(), unpark.clone()])), 0);
    // Permits do not add up.
    assert_eq!(
        count(3, &parallel([park.clone(), unpark.clone(), unpark.clone()])),
        0
    );
    let twice = body([park.clone(), park.clone()]);
    assert_eq!(
        count(3, &parallel([twice, unpark.clone(), unpark.clone()])),
        1
    );
    let interrupt = vec![Stmt::Interrupt(ThreadId(0))];
    count(3, &parallel([park, unpark, interrupt.clone()]));
    let asks = vec![Stmt::Interrupted(R), Stmt::Interrupted(S)];
    count(3, &parallel([asks, interrupt]));
}

#[test]
fn starting_and_joining() {
    let main = vec![fork(1), fork(2), join(1), join(2), read(R, X)];
    count(
        1,
        &Program::with_main(main.clone(), [vec![store(X, 1)], vec![]]),
    );
    let add_one = vec![sync(L, [read(R, X), write(X, add(R, 1))])];
    count(2, &Program::with_main(main, [add_one.clone(), add_one]));
    let asks = vec![fork(1), Stmt::IsAlive(R, ThreadId(1))];
    count(2, &Program::with_main(asks, [vec![]]));
    let class = vec![Stmt::Init(Class(0), vec![write(X, 1)]), read(R, X)];
    count(2, &twice(class));
}

#[test]
fn spinning() {
    let wait = |v| body([wait_for(R, v).into()]);
    // It looks too early, or not.
    assert_eq!(count(2, &parallel([wait(X), vec![store(X, 1)]])), 0);
    // Nobody ever writes: it hangs.
    assert_eq!(count(1, &parallel([wait(X)])), 1);
    // One of the writes is not what it waits for.
    count(4, &parallel([wait(X), vec![store(X, 0), store(X, 1)]]));
    // Handing over and back.
    let ping = body([vec![store(X, 1)], wait(Y)]);
    let pong = body([wait(X), vec![store(Y, 1)]]);
    count(4, &parallel([ping, pong]));
    // A spin lock with compare-and-set.
    let lock = Stmt::Spin {
        cond: not(R),
        body: vec![cas(R, X, 0, 1)],
    };
    let section = vec![
        Stmt::Set(R, 0.into()),
        lock,
        read(S, Y),
        write(Y, add(S, 1)),
        store(X, 0),
    ];
    count(4, &twice(section));
    // Looking under a lock.
    let looks = vec![
        Stmt::Set(R, 0.into()),
        Stmt::Spin {
            cond: not(R),
            body: vec![sync(L, [read(R, X)])],
        },
    ];
    count(2, &parallel([looks, vec![sync(L, [write(X, 1)])]]));
}

#[test]
fn barriers() {
    // The thread that comes last opens; the others spin.
    let barrier = |n: Value| {
        vec![
            fetch_add(R, X, 1),
            Stmt::If(
                eq(R, n - 1),
                vec![store(Y, 1)],
                body([wait_for(S, Y).into()]),
            ),
        ]
    };
    assert_eq!(count(4, &twice(barrier(2))), 0);
    // Six orders of arrival; each of the two that wait looks too early, or not.
    count(24, &thrice(barrier(3)));
    // The same with a monitor.
    let monitor = vec![sync(
        L,
        [
            read(R, X),
            write(X, add(R, 1)),
            Stmt::If(eq(R, 1), vec![Stmt::NotifyAll(L)], vec![Stmt::Wait(L)]),
        ],
    )];
    assert_eq!(count(2, &twice(monitor)), 0);
}

/// Peterson's lock: shared data is safe, and nobody is shut out for ever.
#[test]
fn peterson() {
    let me = |mine: Var, theirs: Var, turn: Value| {
        vec![
            store(mine, 1),
            store(Z, turn),
            Stmt::Set(R, 1.into()),
            Stmt::Spin {
                cond: Expr::Reg(R),
                body: vec![
                    load(R, theirs),
                    Stmt::If(
                        R.into(),
                        vec![load(S, Z), Stmt::Set(R, eq(S, turn))],
                        vec![],
                    ),
                ],
            },
            read(S, Var(3)),
            write(Var(3), add(S, 1)),
            store(mine, 0),
        ]
    };
    let program = parallel([me(X, Y, 1), me(Y, X, 0)]);
    let (seen, progress) = explored(&program, &Points::All, Config::default());
    assert!(progress.complete && progress.blocked == 0);
    assert!(seen.races.is_empty());
    count(24, &program);
}

#[test]
fn limits_stop_it_and_say_so() {
    let racy = twice(vec![read(R, X), write(X, 1)]);
    let (seen, progress) = explored(
        &racy,
        &Points::All,
        Config {
            threshold: Some(1),
            ..Config::default()
        },
    );
    assert!(!progress.complete && !seen.races.is_empty());
    assert_eq!(progress.stopped, Some(explore::Stop::Threshold));
    let writers = Program::parallel((0..4).map(|_| vec![store(X, 1)]));
    let limited = |n| Config {
        max_executions: Some(n),
        ..Config::default()
    };
    let (_, progress) = explored(&writers, &Points::All, limited(8));
    assert_eq!(progress.executions, 8);
    assert_eq!(progress.stopped, Some(explore::Stop::Executions));
    // 24 in all: what is estimated after a third of them is not far off.
    let estimate = progress.estimate.unwrap();
    assert!((8.0..72.0).contains(&estimate), "{estimate}");
    let (_, progress) = explored(&writers, &Points::All, limited(24));
    assert!(progress.complete && progress.stopped.is_none());
    assert_eq!(progress.estimate, Some(24.0));
}

/// Each order finds the race of the kind it is made for in the first execution.
#[test]
fn orders_of_search() {
    let first = |order, program: &Program| {
        let config = Config {
            order,
            max_executions: Some(1),
            ..Config::default()
        };
        !explored(program, &Points::All, config).0.races.is_empty()
    };
    for (name, order) in Order::ALL {
        assert_eq!(Order::named(name), Some(order));
    }
    // Thread 0 is done with everything before thread 1 begins, and hands over.
    let publishes = parallel([vec![write(X, 1), store(Y, 1)], vec![load(R, Y), read(S, X)]]);
    assert!(!first(Order::Plain, &publishes));
    assert!(first(Order::AcquireFirst, &publishes));
    // A write under the lock, and one without it afterwards.
    let late = parallel([
        vec![sync(L, [write(X, 1)])],
        vec![sync(L, [read(R, Y)]), read(R, X)],
        vec![write(X, 2)],
    ]);
    assert!(first(Order::WritesFirst, &late));
    assert!(first(Order::WatchWritten, &late));
    assert!(first(Order::AvoidReleaseAcquire, &late));
}
