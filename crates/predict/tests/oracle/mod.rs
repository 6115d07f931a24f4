//! What a prediction has to stand up to: the program itself, made to follow
//! the witness; and all schedules of it.

use litmus::{Choice, Execution, Machine, Program, Stmt, executions, run};
use std::collections::BTreeSet;
use trace::{Event, Loc, Op, SiteId, ThreadId};

/// A race as brute force knows it: statements and location.
pub type Race = (SiteId, SiteId, Loc);

pub fn race(a: &Event, b: &Event) -> Option<Race> {
    let ((x, xw, xa), (y, yw, ya)) = (access(a)?, access(b)?);
    let races = a.thread != b.thread && x == y && (xw || yw) && !(xa && ya);
    races.then(|| (a.site.min(b.site), a.site.max(b.site), x))
}

/// Location, whether it writes, whether it is atomic.
fn access(e: &Event) -> Option<(Loc, bool, bool)> {
    match e.op {
        Op::Read(loc) => Some((loc, false, false)),
        Op::Write(loc) => Some((loc, true, false)),
        Op::AtomicRead(loc, _) => Some((loc, false, true)),
        Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => Some((loc, true, true)),
        _ => None,
    }
}

pub fn execute(program: &Program, schedule: &[usize]) -> Execution {
    let mut picks = schedule.iter().cycle();
    run(program, |_| *picks.next().unwrap())
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
