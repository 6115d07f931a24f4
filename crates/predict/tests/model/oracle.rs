//! What a prediction has to stand up to: the program itself, made to follow
//! the witness; and all schedules of it.

use litmus::closure::access;
use litmus::flow::Flow;
use litmus::{Choice, Execution, Machine, Program, Stmt, executions, run, run_tracking};
use predict::deps::{Builder, Dep, Deps};
use std::collections::BTreeSet;
use trace::{Event, Loc, Op, SiteId, ThreadId};

/// A race as brute force knows it: statements and location.
pub type Race = (SiteId, SiteId, Loc);

pub fn race(a: &Event, b: &Event) -> Option<Race> {
    let ((x, xw, xa), (y, yw, ya)) = (access(a)?, access(b)?);
    let races = a.thread != b.thread && x == y && (xw || yw) && !(xa && ya);
    races.then(|| (a.site.min(b.site), a.site.max(b.site), x))
}

pub fn execute(program: &Program, schedule: &[usize]) -> Execution {
    let mut picks = schedule.iter().cycle();
    run(program, |_| *picks.next().unwrap())
}

/// The same, and what its events depend on.
pub fn execute_tracking(program: &Program, schedule: &[usize]) -> (Execution, Deps) {
    let mut picks = schedule.iter().cycle();
    let (execution, flow) = run_tracking(program, |_| *picks.next().unwrap());
    let deps = deps(&execution.events, &flow);
    (execution, deps)
}

/// Dependences as engines take them. What the event before in the thread
/// depends on is said by naming that event, as a slicer of long runs would.
fn deps(events: &[Event], flow: &Flow) -> Deps {
    let mut builder = Builder::new(events.len());
    let mut last: Vec<Option<u32>> = Vec::new();
    for (at, (e, depends)) in (0u32..).zip(events.iter().zip(&flow.events)) {
        let t = e.thread.0 as usize;
        last.resize(last.len().max(t + 1), None);
        let before = last[t].filter(|before| {
            let theirs = &flow.events[*before as usize].happens;
            !theirs.is_empty() && theirs.is_subset(&depends.happens)
        });
        let theirs = before.map(|b| &flow.events[b as usize].happens);
        let rest = depends
            .happens
            .iter()
            .filter(|r| theirs.is_none_or(|theirs| !theirs.contains(r)))
            .map(|r| Dep::Value(*r));
        let happens = before.map(Dep::Happens).into_iter().chain(rest);
        builder.event(at, happens, depends.value.iter().map(|r| Dep::Value(*r)));
        if let Some(class) = depends.class {
            builder.class(at, class);
        }
        if depends.load {
            builder.load(at);
        }
        last[t] = Some(at);
    }
    for missed in &flow.missed {
        let unless = missed.unless.iter().map(|r| Dep::Value(*r));
        builder.may_write(missed.after, missed.classes.iter().copied(), unless);
    }
    builder.build()
}

/// Runs the program along a sliced witness: of its events those that must be
/// as they were have to come; others may be missing, or be something else.
/// Then both accesses are next.
pub fn replay_sliced(
    program: &Program,
    trace: &[Event],
    order: &[u32],
    must: &[bool],
) -> Result<(), String> {
    let (before, pair) = order.split_at(order.len() - 2);
    let before: Vec<(u32, bool)> = { before.iter().copied().zip(must.iter().copied()) }.collect();
    let must_only: Vec<(u32, bool)> = before.iter().filter(|(_, must)| *must).copied().collect();
    // A thread asks whether it was interrupted where its last event is, and
    // that may be one that need not come: so with those that do come, too.
    let mut result = Ok(());
    for before in [&must_only, &before] {
        let done = vec![0; program.threads.len()];
        result = follow_sliced(Machine::new(program), done, trace, before, pair);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// `before` are the events before the pair, each with whether it must come.
fn follow_sliced(
    mut machine: Machine,
    mut done: Vec<usize>,
    trace: &[Event],
    before: &[(u32, bool)],
    pair: &[u32],
) -> Result<(), String> {
    for (at, (event, must)) in before.iter().enumerate() {
        let want = &trace[*event as usize];
        let rest = &before[at + 1..];
        let (mut then, mut then_done) = (machine.clone(), done.clone());
        match advance(&mut then, &mut then_done, want, false) {
            Ok(_) => (machine, done) = (then, then_done),
            Err(why) if *must => return Err(why),
            Err(_) => continue,
        }
        let asks = rest.iter().any(|(e, _)| {
            let later = &trace[*e as usize];
            later.thread == want.thread && later.op == Op::Interrupted
        });
        while let Some(further) = silent_step(&machine, want.thread) {
            // That may be the very question which is answered with yes later.
            if asks && follow_sliced(machine.clone(), done.clone(), trace, rest, pair).is_ok() {
                return Ok(());
            }
            machine = further;
        }
    }
    let [a, b] = [pair[0], pair[1]].map(|e| trace[e as usize]);
    for want in [a, b] {
        advance(&mut machine, &mut done, &want, true)?;
    }
    let mut got = Vec::new();
    for want in [a, b] {
        got.extend(advance(&mut machine, &mut done, &want, false)?);
    }
    match got.as_slice() {
        [x, y] if race(x, y) == race(&a, &b) => Ok(()),
        _ => Err(format!("{a:?} and {b:?} became {got:?}")),
    }
}

/// Lets a thread run until it did what is wanted; or, `before` that, until it
/// would do it next.
fn advance(
    machine: &mut Machine,
    done: &mut [usize],
    want: &Event,
    before: bool,
) -> Result<Option<Event>, String> {
    let t = want.thread.0 as usize;
    // What it would write may have changed, or that it updates: not where.
    let same = |got: &Event| {
        let place = |e: &Event| access(e).map(|(loc, ..)| loc);
        got.site == want.site
            && (got.op == want.op || (place(got).is_some() && place(got) == place(want)))
    };
    let mut choices = Vec::new();
    for _ in 0..1000 {
        while let Some(got) = next(machine, done, t) {
            done[t] += 1;
            if same(&got) {
                return Ok(Some(got));
            }
        }
        machine.choices(&mut choices);
        let mine: Vec<Choice> = { choices.iter().filter(|c| c.thread == want.thread) }
            .copied()
            .collect();
        let Some(choice) = mine.first() else {
            return Err(format!("{want:?} is blocked"));
        };
        let mut further = machine.clone();
        further.step(*choice);
        let ahead = next(&further, done, t);
        if before && ahead.is_some_and(|got| same(&got)) {
            return Ok(None);
        }
        *machine = further;
    }
    Err(format!("{want:?} does not come"))
}

/// All races of a program: conflicting accesses one right after the other.
/// And whether some run deadlocks. `None` if there are too many runs.
pub fn brute_force(program: &Program, most: usize) -> Option<(BTreeSet<Race>, bool)> {
    let mut races = BTreeSet::new();
    let mut deadlock = false;
    for (n, execution) in executions(program).enumerate() {
        if n == most {
            return None;
        }
        deadlock |= !execution.outcome.deadlocked.is_empty();
        let steps: Vec<&Event> = execution
            .events
            .iter()
            .filter(|e| !matches!(e.op, Op::Begin | Op::End))
            .collect();
        races.extend(steps.windows(2).filter_map(|w| race(w[0], w[1])));
    }
    Some((races, deadlock))
}

/// Leaves out what is seen without an event, which no trace can tell:
/// `isAlive`, and starting or joining a thread that another may start.
pub fn observable(mut program: Program) -> Program {
    let mut started = BTreeSet::from([ThreadId(0)]);
    for (n, body) in program.threads.iter_mut().enumerate() {
        *body = strip(std::mem::take(body), n == 0, Some(&mut started));
    }
    program
}

fn strip(body: Vec<Stmt>, main: bool, mut top: Option<&mut BTreeSet<ThreadId>>) -> Vec<Stmt> {
    let inner = |body| strip(body, main, None);
    let mut keep = |stmt| match stmt {
        Stmt::IsAlive(..) => None,
        Stmt::Fork(t) => {
            let first = top
                .as_mut()
                .is_some_and(|started| main && started.insert(t));
            first.then_some(Stmt::Fork(t))
        }
        Stmt::Join(t) => main.then_some(Stmt::Join(t)),
        Stmt::Sync(l, b) => Some(Stmt::Sync(l, inner(b))),
        Stmt::Shared(l, b) => Some(Stmt::Shared(l, inner(b))),
        Stmt::Init(c, b) => Some(Stmt::Init(c, inner(b))),
        Stmt::If(c, a, b) => Some(Stmt::If(c, inner(a), inner(b))),
        Stmt::While { cond, bound, body } => Some(Stmt::While {
            cond,
            bound,
            body: inner(body),
        }),
        other => Some(other),
    };
    body.into_iter().filter_map(&mut keep).collect()
}

/// Runs the program along the witness: every event of it must come, and then
/// both accesses must be next, in either order.
pub fn replay(program: &Program, trace: &[Event], order: &[u32]) -> Result<(), String> {
    let done = vec![0; program.threads.len()];
    follow(Machine::new(program), done, trace, order)
}

fn follow(
    mut machine: Machine,
    mut done: Vec<usize>,
    trace: &[Event],
    order: &[u32],
) -> Result<(), String> {
    let mut choices = Vec::new();
    for (at, event) in order[..order.len() - 2].iter().enumerate() {
        let want = &trace[*event as usize];
        let t = want.thread.0 as usize;
        while next(&machine, &done, t).is_none() {
            machine.choices(&mut choices);
            let mine = choices.iter().filter(|c| c.thread == want.thread);
            let mine: Vec<Choice> = mine.copied().collect();
            match mine.as_slice() {
                [] => return Err(format!("{want:?} is blocked")),
                [only] => machine.step(*only),
                // Whom a notify wakes: some way must work.
                several => {
                    let mut failure = String::new();
                    for choice in several {
                        let mut machine = machine.clone();
                        machine.step(*choice);
                        match follow(machine, done.clone(), trace, &order[at..]) {
                            Ok(()) => return Ok(()),
                            Err(why) => failure = why,
                        }
                    }
                    return Err(failure);
                }
            }
        }
        match next(&machine, &done, t) {
            Some(got) if got == *want => done[t] += 1,
            got => return Err(format!("{want:?} became {got:?}")),
        }
        let comes = trace
            .iter()
            .filter(|e| e.thread == want.thread)
            .nth(done[t]);
        let asks = comes.is_some_and(|e| e.op == Op::Interrupted);
        while let Some(further) = silent_step(&machine, want.thread) {
            // That may be the very question which is answered with yes later.
            if asks && follow(machine.clone(), done.clone(), trace, &order[at + 1..]).is_ok() {
                return Ok(());
            }
            machine = further;
        }
    }
    let [a, b] = [order[order.len() - 2], order[order.len() - 1]].map(|e| &trace[e as usize]);
    for pair in [[a, b], [b, a]] {
        let mut machine = machine.clone();
        let mut got = Vec::new();
        for want in pair {
            machine.choices(&mut choices);
            let mine = choices.iter().find(|c| c.thread == want.thread);
            let t = want.thread.0 as usize;
            let mine = *mine.ok_or(format!("{want:?} is blocked"))?;
            while next(&machine, &done, t).is_none() {
                machine.step(mine);
            }
            got.extend(next(&machine, &done, t));
        }
        let met = got.len() == 2 && race(&got[0], &got[1]) == race(a, b);
        // The one that comes second may see what the first wrote, and change.
        if !met && pair == [a, b] {
            return Err(format!("{a:?} and {b:?} became {got:?}"));
        }
    }
    Ok(())
}

/// The machine after a step of `thread` that leaves no event, if that is what
/// it does next: `interrupted()` saying no, a class that needs no initialiser.
/// It belongs to the event before it.
fn silent_step(machine: &Machine, thread: ThreadId) -> Option<Machine> {
    let mut choices = Vec::new();
    machine.choices(&mut choices);
    let mine = choices.iter().find(|c| c.thread == thread)?;
    let mut further = machine.clone();
    further.step(*mine);
    (further.events.len() == machine.events.len()).then_some(further)
}

/// What thread `t` did and the witness did not mention yet.
fn next(machine: &Machine, done: &[usize], t: usize) -> Option<Event> {
    let of_t = machine.events.iter().filter(|e| e.thread.0 as usize == t);
    { of_t }.nth(done[t]).copied()
}
