//! Litmus programs: exploring them for advice, and repairing them.

#![allow(dead_code, reason = "each test file uses a part of this")]

use advise::{Advice, Advisor, Name, Names, Path, Race, Repair, Sync, Variable};
use explore::{Config, Explorer, Progress, explore};
use litmus::{Array, Lock, Place, Program, Reg, Stmt, Var};
use std::collections::BTreeSet;
use test_support::exploring::{Points, run};
use trace::{Event, Loc, LockId, Mode, ObjId, ThreadId};

/// Names are the numbers that programs use.
pub struct Litmus;

impl Names for Litmus {
    fn variable(&self, loc: Loc) -> Variable {
        if loc.obj == Var(0).loc().obj {
            Variable::Field(u64::from(loc.slot))
        } else {
            Variable::Array(loc.obj.0 - Array(0).loc(0).obj.0)
        }
    }

    fn lock(&self, lock: LockId) -> Name {
        lock.0.0 - Lock(0).id().0.0
    }

    fn thread(&self, thread: ThreadId) -> Name {
        u64::from(thread.0)
    }

    fn object(&self, object: ObjId) -> Name {
        object.0
    }
}

/// What a complete exploration tells.
pub struct Explored {
    pub advice: Advice,
    pub races: BTreeSet<Race>,
    pub progress: Progress,
}

/// Turns volatile loads and stores of these variables into plain ones.
pub fn plain(mut program: Program, vars: &[Var]) -> Program {
    let is = |place: &Place| matches!(place, Place::Var(v) if vars.contains(v));
    edit(&mut program, &mut |_, stmt| {
        vec![match stmt {
            Stmt::Load(reg, place, _) if is(&place) => Stmt::Read(reg, place),
            Stmt::Store(place, value, _) if is(&place) => Stmt::Write(place, value),
            other => other,
        }]
    });
    program
}

/// Explores; every plain access is a scheduling point, so all classes are seen.
pub fn explored(program: &Program) -> Explored {
    let mut advisor = Advisor::new();
    let progress = paths(program, |events| {
        let path = Path::new(events);
        advisor.add(&path, &path.races(), &Litmus);
    });
    let advice = advisor.advice();
    Explored {
        races: advice.races.iter().map(|r| r.race).collect(),
        advice,
        progress,
    }
}

/// Calls `tell` with the events of every path.
pub fn paths(program: &Program, mut tell: impl FnMut(&[Event])) -> Progress {
    let limit = Config {
        max_executions: Some(3000),
        ..Config::default()
    };
    explore(&mut Explorer::new(limit), |guide| {
        let (execution, machine) = run(program, &Points::All, guide)?;
        tell(&machine.events);
        Ok((execution, 0))
    })
}

pub fn field(var: Var) -> Variable {
    Variable::Field(u64::from(var.0))
}

/// Where statements went.
pub struct Repaired {
    pub program: Program,
    /// How many sites were put before the site, and at it.
    shift: (u32, u32, u32),
}

impl Repaired {
    /// The new number of a statement that was not moved.
    pub fn site(&self, old: u32) -> u32 {
        let (at, at_it, behind) = self.shift;
        match old.cmp(&at) {
            std::cmp::Ordering::Less => old,
            std::cmp::Ordering::Equal => old + at_it,
            std::cmp::Ordering::Greater => old + behind,
        }
    }

    pub fn race(&self, old: Race) -> Race {
        Race {
            variable: old.variable,
            sites: (self.site(old.sites.0), self.site(old.sites.1)),
        }
    }
}

/// Makes the change. None for those that are no matter of a litmus program.
pub fn repair(program: &Program, repair: Repair) -> Option<Repaired> {
    let mut new = program.clone();
    let mut shift = (0, 0, 0);
    match repair {
        Repair::Volatile(variable) | Repair::AtomicArray(variable) => {
            edit(&mut new, &mut |_, stmt| vec![atomic(stmt, variable)]);
        }
        Repair::AtomicClass(_) | Repair::Methods(_) => return None,
        Repair::Synchronized { statement, lock } => {
            let lock = Lock(lock as u16);
            edit(&mut new, &mut |site, stmt| match site == statement {
                true => vec![Stmt::Sync(lock, vec![stmt])],
                false => vec![stmt],
            });
            shift = (statement, 1, 2);
        }
        Repair::Acquire { before, from } => {
            let (acquire, sites) = match from {
                Sync::Variable(Variable::Field(v)) => {
                    let place = Place::Var(Var(v as u16));
                    (Stmt::Load(Reg(200), place, Mode::Volatile), 1)
                }
                Sync::Variable(Variable::Array(_)) | Sync::Object(_) => return None,
                Sync::Lock(lock) => (Stmt::Sync(Lock(lock as u16), vec![]), 2),
                Sync::Thread(thread) => (Stmt::Join(ThreadId(thread as u32)), 1),
            };
            edit(&mut new, &mut |site, stmt| match site == before {
                true => vec![acquire.clone(), stmt],
                false => vec![stmt],
            });
            shift = (before, sites, sites);
        }
        Repair::Move { statement, before } => {
            let mut moved = None;
            edit(&mut new, &mut |site, stmt| {
                if site == statement {
                    moved = Some(stmt);
                    return vec![];
                }
                vec![stmt]
            });
            // Numbers before it are as they were.
            let moved = moved?;
            edit(&mut new, &mut |site, stmt| match site == before {
                true => vec![moved.clone(), stmt],
                false => vec![stmt],
            });
        }
    }
    Some(Repaired {
        program: new,
        shift,
    })
}

fn atomic(stmt: Stmt, variable: Variable) -> Stmt {
    let is = |place: &Place| match (place, variable) {
        (Place::Var(v), Variable::Field(n)) => u64::from(v.0) == n,
        (Place::Elem(a, _), Variable::Array(n)) => u64::from(a.0) == n,
        _ => false,
    };
    match stmt {
        Stmt::Read(reg, place) if is(&place) => Stmt::Load(reg, place, Mode::Volatile),
        Stmt::Write(place, value) if is(&place) => Stmt::Store(place, value, Mode::Volatile),
        other => other,
    }
}

/// Replaces every statement, given its site, in the order of their numbers; a
/// statement with a body has the site of its beginning.
fn edit(program: &mut Program, change: &mut dyn FnMut(u32, Stmt) -> Vec<Stmt>) {
    let mut next = 1;
    for thread in &mut program.threads {
        *thread = block(std::mem::take(thread), &mut next, change);
    }
}

fn block(
    body: Vec<Stmt>,
    next: &mut u32,
    change: &mut dyn FnMut(u32, Stmt) -> Vec<Stmt>,
) -> Vec<Stmt> {
    let mut new = Vec::new();
    for stmt in body {
        let site = *next;
        let stmt = match stmt {
            Stmt::Sync(lock, inner) => Stmt::Sync(lock, bracket(inner, next, change)),
            Stmt::Shared(lock, inner) => Stmt::Shared(lock, bracket(inner, next, change)),
            Stmt::Init(class, inner) => Stmt::Init(class, bracket(inner, next, change)),
            Stmt::Try { ok, lock, body } => Stmt::Try {
                ok,
                lock,
                body: bracket(body, next, change),
            },
            Stmt::If(cond, then, otherwise) => {
                let then = block(then, next, change);
                new.push(Stmt::If(cond, then, block(otherwise, next, change)));
                continue;
            }
            Stmt::While { cond, bound, body } => {
                let body = block(body, next, change);
                new.push(Stmt::While { cond, bound, body });
                continue;
            }
            Stmt::Spin { cond, body } => {
                let body = block(body, next, change);
                new.push(Stmt::Spin { cond, body });
                continue;
            }
            Stmt::Set(..) => {
                new.push(stmt);
                continue;
            }
            simple => {
                *next += 1;
                simple
            }
        };
        new.extend(change(site, stmt));
    }
    new
}

fn bracket(
    body: Vec<Stmt>,
    next: &mut u32,
    change: &mut dyn FnMut(u32, Stmt) -> Vec<Stmt>,
) -> Vec<Stmt> {
    *next += 1;
    let body = block(body, next, change);
    *next += 1;
    body
}

/// The statement that accesses the variable so, the `n`th of its kind.
pub fn site_of(program: &Program, n: usize, is: impl Fn(&Stmt) -> bool) -> u32 {
    let mut found = Vec::new();
    edit(&mut program.clone(), &mut |site, stmt| {
        if is(&stmt) {
            found.push(site);
        }
        vec![stmt]
    });
    found[n]
}
