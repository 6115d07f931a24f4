//! Well-known programs with the exact number of their executions, worked out
//! by hand.

use litmus::random::java_programs;
use litmus::*;
use proptest::prelude::{prop_assert, proptest};
use trace::{Event, Op, SiteId, ThreadId};

const X: Var = Var(0);
const Y: Var = Var(1);
const L: Lock = Lock(0);
const M: Lock = Lock(1);
const R: Reg = Reg(0);
const S: Reg = Reg(1);

fn all(program: &Program) -> Vec<Execution> {
    let all: Vec<_> = executions(program).take(100_000).collect();
    assert!(all.len() < 100_000);
    for one in &all {
        let mut steps = one.schedule.iter();
        let again = run(program, |choices| {
            let next = steps.next();
            choices.iter().position(|c| Some(c) == next).unwrap()
        });
        assert_eq!(&again, one, "replay gives the same run");
    }
    for (n, one) in all.iter().enumerate() {
        let twice = all[..n].iter().any(|other| other.schedule == one.schedule);
        assert!(!twice, "every schedule once");
    }
    all
}

fn count(program: &Program) -> usize {
    all(program).len()
}

fn deadlocks(program: &Program) -> usize {
    all(program)
        .iter()
        .filter(|e| !e.outcome.deadlocked.is_empty())
        .count()
}

fn failures(program: &Program) -> usize {
    all(program)
        .iter()
        .filter(|e| !e.outcome.failed.is_empty())
        .count()
}

#[test]
fn independent_steps_interleave_freely() {
    let thread = |n| vec![write(X, 1); n];
    assert_eq!(count(&Program::parallel([thread(2), thread(2)])), 6);
    assert_eq!(count(&Program::parallel([thread(3), thread(3)])), 20);
    assert_eq!(
        count(&Program::parallel([thread(2), thread(2), thread(2)])),
        90
    );
    assert_eq!(count(&Program::parallel([thread(0), thread(0)])), 1);
    assert_eq!(count(&Program::default()), 1);
}

#[test]
fn store_buffering_is_sequentially_consistent() {
    let program = Program::parallel([vec![write(X, 1), read(R, Y)], vec![write(Y, 1), read(R, X)]]);
    let runs = all(&program);
    assert_eq!(runs.len(), 6);
    let both_zero = |e: &&Execution| e.registers == vec![vec![0], vec![0]];
    assert_eq!(runs.iter().filter(both_zero).count(), 0);
    let both_one = |e: &&Execution| e.registers == vec![vec![1], vec![1]];
    assert_eq!(runs.iter().filter(both_one).count(), 4);
}

#[test]
fn a_lost_update_needs_the_lock_to_be_missing() {
    let increment = || vec![read(R, X), write(X, add(R, 1))];
    let check = vec![
        fork(1),
        fork(2),
        join(1),
        join(2),
        read(R, X),
        assert(eq(R, 2)),
    ];
    let racy = Program::with_main(check.clone(), [increment(), increment()]);
    // Lost in every order in which both reads come before both writes.
    assert!(failures(&racy) > 0 && failures(&racy) < count(&racy));
    let locked = || vec![sync(L, increment())];
    let correct = Program::with_main(check, [locked(), locked()]);
    assert_eq!(failures(&correct), 0);
}

#[test]
fn critical_sections_come_one_after_the_other() {
    let section = || vec![sync(L, [read(R, X), write(X, add(R, 1))])];
    let runs = all(&Program::parallel([section(), section()]));
    // The second thread waits before its first step.
    assert_eq!(runs.len(), 2);
    let sections: Vec<Op> = runs[0].events.iter().map(|e| e.op).collect();
    let (x, lock) = (X.loc(), L.id());
    let section = [
        Op::Acquire(lock),
        Op::Read(x),
        Op::Write(x),
        Op::Release(lock),
        Op::End,
    ];
    let want = [&[Op::Begin, Op::Begin], &section[..], &section[..]].concat();
    assert_eq!(sections, want);
}

#[test]
fn shared_holders_overlap_and_exclude_writers() {
    let reader = || vec![shared(L, [read(R, X)])];
    let writer = || vec![sync(L, [write(X, 1)])];
    assert_eq!(count(&Program::parallel([reader(), reader()])), 20);
    assert_eq!(count(&Program::parallel([reader(), writer()])), 2);
    let downgrade = vec![sync(L, [write(X, 1), shared(L, [read(R, X)])])];
    assert_eq!(deadlocks(&Program::parallel([downgrade])), 0);
    let upgrade = vec![shared(L, [sync(L, [write(X, 1)])])];
    assert_eq!(deadlocks(&Program::parallel([upgrade])), 1);
}

#[test]
fn re_entrant_locking_is_no_step_and_no_event() {
    let program = Program::parallel([vec![sync(L, [sync(L, [write(X, 1)]), write(X, 2)])]]);
    let runs = all(&program);
    assert_eq!(runs[0].schedule.len(), 4);
    let locking = |e: &&Event| matches!(e.op, Op::Acquire(_) | Op::Release(_));
    assert_eq!(runs[0].events.iter().filter(locking).count(), 2);
}

#[test]
fn opposite_lock_orders_deadlock() {
    let nest = |a, b| vec![sync(a, [sync(b, [])])];
    let program = Program::parallel([nest(L, M), nest(M, L)]);
    let stuck: Vec<_> = all(&program)
        .into_iter()
        .filter(|e| !e.outcome.deadlocked.is_empty())
        .collect();
    // Either takes its first lock first.
    assert_eq!(stuck.len(), 2);
    assert_eq!(stuck[0].outcome.deadlocked, vec![ThreadId(0), ThreadId(1)]);
    assert_eq!(deadlocks(&Program::parallel([nest(L, M), nest(L, M)])), 0);
}

#[test]
fn a_notify_before_the_wait_is_lost() {
    let waiter = vec![sync(L, [Stmt::Wait(L)])];
    let notifier = vec![sync(L, [Stmt::Notify(L)])];
    let program = Program::parallel([waiter, notifier.clone()]);
    let runs = all(&program);
    // The waiter first, and the notify in time; or the notifier first.
    assert_eq!(runs.len(), 2);
    assert_eq!(deadlocks(&program), 1);
    let woken = |e: &Event| matches!(e.op, Op::WaitEnd { notified: true, .. });
    assert_eq!(
        runs.iter().filter(|r| r.events.iter().any(woken)).count(),
        1
    );

    let timed = vec![sync(L, [Stmt::TimedWait(L)])];
    assert_eq!(deadlocks(&Program::parallel([timed, notifier])), 0);
}

#[test]
fn notify_wakes_one_of_the_waiters_and_notify_all_every_one() {
    let waiter = |v| vec![sync(L, [Stmt::Wait(L), write(v, 1)])];
    let notifier = |how: Stmt| vec![sync(L, [how])];
    let with = |how| Program::parallel([waiter(X), waiter(Y), notifier(how)]);
    let woken = |e: &Execution| {
        let ends = e.events.iter().filter(|e| e.op == Op::End);
        let mut ended: Vec<u32> = ends.map(|e| e.thread.0).collect();
        ended.sort_unstable();
        ended
    };
    let one: Vec<_> = all(&with(Stmt::Notify(L))).iter().map(woken).collect();
    assert!(one.contains(&vec![0, 2]) && one.contains(&vec![1, 2]) && one.contains(&vec![2]));
    assert!(!one.contains(&vec![0, 1, 2]));
    let all_of_them: Vec<_> = all(&with(Stmt::NotifyAll(L))).iter().map(woken).collect();
    assert!(all_of_them.contains(&vec![0, 1, 2]));
}

#[test]
fn misuse_throws_and_gives_locks_up() {
    let notify = vec![Stmt::Notify(L)];
    assert_eq!(failures(&Program::parallel([notify])), 1);
    let start_twice = Program::with_main(vec![fork(1), fork(1)], [vec![]]);
    assert_eq!(failures(&start_twice), 1);
    let outside = Program::parallel([vec![write((Array(0), 2), 1)]]).arrays([2]);
    assert_eq!(failures(&outside), 1);
    let inside = Program::parallel([vec![write((Array(0), 1), 1)]]).arrays([2]);
    assert_eq!(failures(&inside), 0);

    let throws = vec![sync(L, [sync(M, [write(X, 1), assert(0)])])];
    let other = vec![sync(L, [read(R, X)])];
    let program = Program::parallel([throws, other]);
    assert_eq!(deadlocks(&program), 0);
    let run = &all(&program)[0];
    let released = run.events.iter().filter(|e| matches!(e.op, Op::Release(_)));
    assert_eq!(released.count(), 3);
    assert_eq!(run.outcome.failed, vec![(ThreadId(0), SiteId(4))]);
}

#[test]
fn compare_and_set_lets_one_through() {
    let grab = || vec![cas(R, X, 0, 1), Stmt::Set(S, Expr::Reg(R))];
    for run in all(&Program::parallel([grab(), grab(), grab()])) {
        let winners: Value = run.registers.iter().map(|regs| regs[1]).sum();
        assert_eq!(winners, 1);
        let updates = run.events.iter();
        let updates = updates.filter(|e| matches!(e.op, Op::AtomicUpdate(..)));
        assert_eq!(updates.count(), 1);
    }
}

#[test]
fn counters_that_fetch_and_add_lose_nothing() {
    let count_up = || vec![fetch_add(R, X, 1), fetch_add(R, X, 1)];
    let program = Program::parallel([count_up(), count_up()]);
    let mut machine = Machine::new(&program);
    let mut choices = Vec::new();
    loop {
        machine.choices(&mut choices);
        match choices.last() {
            Some(choice) => machine.step(*choice),
            None => break,
        }
    }
    assert_eq!(machine.value(X.loc()), 4);
    assert_eq!(count(&program), 6);
}

#[test]
fn spinning_is_bounded_and_says_so() {
    let waiter: Vec<Stmt> = spin(R, X, 2).into_iter().collect();
    let setter = vec![store(X, 1)];
    let runs = all(&Program::parallel([waiter, setter]));
    // The store before, between or after the two loads.
    assert_eq!(runs.len(), 3);
    assert_eq!(runs.iter().filter(|r| r.outcome.truncated).count(), 1);
}

#[test]
fn branches_follow_registers() {
    let program = Program::parallel([
        vec![
            read(R, X),
            Stmt::If(R.into(), vec![write(Y, 1)], vec![write(Y, 2), write(Y, 3)]),
        ],
        vec![write(X, 1)],
    ]);
    // Write first: read, then one write. Otherwise after the read, the first
    // or the second of two writes.
    assert_eq!(count(&program), 1 + 3);
}

#[test]
fn joins_and_is_alive_see_the_end() {
    let main = vec![fork(1), Stmt::IsAlive(R, ThreadId(1)), join(1), join(2)];
    let program = Program::with_main(main, [vec![write(X, 1)], vec![]]);
    let runs = all(&program);
    assert_eq!(runs.len(), 2);
    for run in runs {
        let seen = run.events.iter().filter(|e| e.op == Op::Join(ThreadId(1)));
        let alive = run.registers[0][0];
        assert_eq!(seen.count() as Value, 2 - alive);
        let unstarted = |e: &Event| e.op == Op::Join(ThreadId(2));
        assert!(!run.events.iter().any(unstarted));
        assert!(run.outcome.deadlocked.is_empty());
    }
}

#[test]
fn a_class_is_initialised_once_and_others_wait() {
    let user = || vec![Stmt::Init(Class(0), vec![write(X, 1)]), read(R, X)];
    let program = Program::parallel([user(), user()]);
    for run in all(&program) {
        assert_eq!(run.registers, vec![vec![1], vec![1]]);
        let begins = |e: &&Event| matches!(e.op, Op::InitBegin(_));
        assert_eq!(run.events.iter().filter(begins).count(), 1);
    }
    // First: begin, write, end; then its read among the other's two steps.
    assert_eq!(count(&program), 2 * 3);
}

#[test]
fn parking_and_interrupting() {
    let parked = || vec![Stmt::Park, Stmt::Interrupted(R)];
    let wake = |how| vec![how];
    let by_permit = Program::parallel([parked(), wake(Stmt::Unpark(ThreadId(0)))]);
    let by_interrupt = Program::parallel([parked(), wake(Stmt::Interrupt(ThreadId(0)))]);
    assert_eq!(all(&by_permit)[0].registers[0], vec![0]);
    let run = &all(&by_interrupt)[0];
    assert_eq!(run.registers[0], vec![1]);
    assert!(run.events.iter().any(|e| e.op == Op::Interrupted));
    assert_eq!(deadlocks(&Program::parallel([parked()])), 1);

    let waiter = vec![sync(L, [Stmt::Wait(L)])];
    let program = Program::parallel([waiter, wake(Stmt::Interrupt(ThreadId(0)))]);
    assert_eq!(
        deadlocks(&program),
        0,
        "interrupted before or while waiting"
    );
}

#[test]
fn states_are_visited_once_each() {
    let thread = |n| vec![write(X, 1); n];
    let count = |program: &Program, limit| {
        let mut count = 0;
        let all = states(program, limit, |_| count += 1);
        (count, all)
    };
    // A grid of positions; what was written does not tell them apart.
    let program = Program::parallel([thread(3), thread(3)]);
    assert_eq!(count(&program, 100), (16, true));
    assert!(!count(&program, 10).1);
    assert_eq!(count(&Program::default(), 1), (1, true));
}

#[test]
fn what_is_pending_is_what_happens() {
    let program = Program::parallel([
        vec![
            read(R, X),
            Stmt::If(R.into(), vec![sync(L, [Stmt::Wait(L)])], vec![]),
            write((Array(0), 7), 1),
        ],
        vec![
            write(X, 1),
            sync(L, [Stmt::Notify(L)]),
            fetch_add(R, Y, 1),
            cas(R, Y, 1, 2),
        ],
    ]);
    let mut throws = 0;
    for one in executions(&program) {
        let mut machine = Machine::new(&program);
        for choice in &one.schedule {
            let pending = machine.pending(choice.thread).unwrap();
            let before = machine.events.len();
            machine.step(*choice);
            let happened = machine.events[before..].first().unwrap();
            assert_eq!(happened.site, pending.site);
            match pending.op {
                Some(op) => assert_eq!(happened.op, op),
                None => throws += u32::from(happened.op == Op::End),
            }
        }
        assert_eq!(machine.pending(ThreadId(1)), None);
    }
    assert!(throws > 0);
}

#[test]
fn an_attempt_at_a_lock_does_not_wait() {
    let holder = vec![sync(L, [write(X, 1)])];
    let tries = vec![try_sync(R, L, [read(S, X)])];
    let runs = all(&Program::parallel([holder, tries.clone()]));
    assert!(runs.iter().all(|r| r.outcome.deadlocked.is_empty()));
    let got = |r: &&Execution| r.registers[1][0] == 1;
    // Before, while (two places) and after the other has it.
    assert_eq!(runs.iter().filter(got).count(), 2);
    assert_eq!(runs.len(), 4);
    let again = vec![sync(L, tries)];
    assert_eq!(all(&Program::parallel([again]))[0].registers[0][0], 1);
}

#[test]
fn a_spinning_thread_waits_for_a_write() {
    let waiter: Vec<Stmt> = wait_for(R, X).into();
    assert_eq!(deadlocks(&Program::parallel([waiter.clone()])), 1);
    let setter = vec![store(X, 0), store(X, 1)];
    let runs = all(&Program::parallel([waiter, setter]));
    // How often it looked before each of the two: at most once.
    assert_eq!(runs.len(), 4);
    let seen = |r: &Execution| r.registers[0][0] == 1 && !r.outcome.truncated;
    assert!(runs.iter().all(seen));
}

#[test]
fn stepwise_machines_begin_end_and_give_up_locks_in_steps_of_their_own() {
    let throws = vec![sync(L, [sync(M, [sync(L, [write(X, 1), assert(0)])])])];
    let program = Program::parallel([throws]);
    let mut machine = Machine::stepwise(&program);
    let mut doing = Vec::new();
    while let Some(ahead) = machine.ahead().first() {
        doing.push(ahead.doing);
        let thread = ahead.thread;
        machine.step(Choice { thread, pick: 0 });
    }
    let (lock, shared) = (L, false);
    let expected = [
        Doing::Begin,
        Doing::Lock { lock, shared },
        Doing::Lock { lock: M, shared },
        Doing::Write(X.loc()),
        Doing::Unlock { lock: M, shared },
        Doing::Unlock { lock, shared },
        Doing::End,
    ];
    assert_eq!(doing, expected);
    assert_eq!(machine.events, run(&program, |_| 0).events);
}

/// The locks that were taken inside are given up, those around it are not; the thread goes on, and
/// an exception in the handler is another one.
#[test]
fn a_handler_catches_what_its_body_throws() {
    let (inner, outer, x, r) = (Lock(0), Lock(1), Var(0), Reg(0));
    let caught = Stmt::Catch {
        body: vec![sync(inner, [assert(0), write(x, 1)]), write(x, 2)],
        handler: vec![write(x, 3)],
    };
    let program = Program::parallel([vec![sync(outer, [caught, read(r, x)]), assert(0)]]);
    let all: Vec<Execution> = executions(&program).collect();
    let [only] = &all[..] else {
        panic!("{all:?}");
    };
    assert_eq!(only.registers, [[3]]);
    assert_eq!(only.outcome.failed.len(), 1);
    let ops: Vec<Op> = only.events.iter().map(|e| e.op).collect();
    let wanted = [
        Op::Begin,
        Op::Acquire(outer.id()),
        Op::Acquire(inner.id()),
        Op::Release(inner.id()),
        Op::Write(x.loc()),
        Op::Read(x.loc()),
        Op::Release(outer.id()),
        Op::End,
    ];
    assert_eq!(ops, wanted);
}

proptest! {
    /// The sites of the Java are those of the model.
    #[test]
    fn every_step_has_a_line_of_its_kind(program in java_programs()) {
        let source = litmus::java::source(&program, "P");
        let lines: Vec<&str> = source.text.lines().collect();
        for execution in executions(&program).take(3) {
            for event in &execution.events {
                let line = source.line(event.site).checked_sub(1);
                let line = line.map(|n| lines[n as usize].trim());
                let fits = match (event.op, line) {
                    (Op::Begin | Op::End, _) => true,
                    (Op::Acquire(_), Some(line)) => line.starts_with("synchronized"),
                    (Op::WaitBegin(_) | Op::WaitEnd { .. }, Some(line)) => line.contains(".wait("),
                    (Op::Notify(_) | Op::NotifyAll(_), Some(line)) => line.contains(".notify"),
                    (Op::Fork(_), Some(line)) => line.ends_with(".start();"),
                    (Op::Join(_), Some(line)) => line.ends_with(".join();"),
                    (_, line) => line.is_some(),
                };
                prop_assert!(fits, "{:?} is {:?} in\n{}", event, line, source.text);
            }
        }
    }
}
