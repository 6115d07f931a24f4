//! What each event of a run depends on: the reads of its thread that decide
//! whether and where it happens, those that decide what it writes, and the
//! writes that another value would have brought about. Worked out while the
//! program runs, from registers and from the structure of the program; exact
//! enough to test slicers and predictors against, and never too little.
//!
//! A branch decides on its sides, and, if a side may synchronise, throw or
//! loop, on everything after it. A loop's condition decides on everything
//! after it, because the loop might not end.

use crate::code::Action;
use crate::program::{Expr, Place, Program, Reg, Stmt};
use std::collections::{BTreeMap, BTreeSet};
use trace::{Op, ThreadId};

/// Reads, by their places in the run's events.
pub type Reads = BTreeSet<u32>;

/// The class of every element of every array; variables are their own.
pub const ELEMENTS: u32 = 1 << 20;

/// What one event depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Depends {
    /// The reads that decide that it happens, and on which location.
    pub happens: Reads,
    /// The reads that decide, besides, what it writes.
    pub value: Reads,
    /// For accesses: what else it might have accessed.
    pub class: Option<u32>,
    /// It is no more than a load.
    pub load: bool,
}

/// Writes of a side that was not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missed {
    /// The event of the thread before the branch.
    pub after: u32,
    pub classes: Vec<u32>,
    /// The reads that decided so.
    pub unless: Reads,
}

/// The dependences of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flow {
    pub events: Vec<Depends>,
    pub missed: Vec<Missed>,
}

/// What the sides of a branch might do; known before the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sides {
    /// Where they meet.
    pub join: usize,
    registers: Vec<Reg>,
    then: Effects,
    otherwise: Effects,
}

#[derive(Clone, Debug, Default)]
struct Effects {
    classes: BTreeSet<u32>,
    /// More than accesses that cannot fail.
    hard: bool,
}

impl Sides {
    pub fn analyse(program: &Program, then: &[Stmt], otherwise: &[Stmt]) -> Sides {
        let mut sides = Sides::default();
        let mut registers = BTreeSet::new();
        effects(program, then, &mut sides.then, &mut registers);
        effects(program, otherwise, &mut sides.otherwise, &mut registers);
        sides.registers = registers.into_iter().collect();
        sides
    }
}

fn effects(program: &Program, body: &[Stmt], into: &mut Effects, registers: &mut BTreeSet<Reg>) {
    for stmt in body {
        match stmt {
            Stmt::Set(reg, _) => {
                registers.insert(*reg);
            }
            Stmt::Read(reg, place) | Stmt::Load(reg, place, _) => {
                registers.insert(*reg);
                into.hard |= may_fail(program, place);
            }
            Stmt::Write(place, _) | Stmt::Store(place, _, _) => {
                into.classes.insert(class(place));
                into.hard |= may_fail(program, place);
            }
            Stmt::If(_, then, otherwise) => {
                effects(program, then, into, registers);
                effects(program, otherwise, into, registers);
            }
            Stmt::Sleep => {}
            _ => into.hard = true,
        }
    }
}

fn class(place: &Place) -> u32 {
    match place {
        Place::Var(var) => u32::from(var.0),
        Place::Elem(..) => ELEMENTS,
    }
}

fn may_fail(program: &Program, place: &Place) -> bool {
    match place {
        Place::Var(_) => false,
        Place::Elem(array, Expr::Const(index)) => {
            let length = program.arrays.get(usize::from(array.0)).copied();
            *index < 0 || *index >= i64::from(length.unwrap_or(0))
        }
        Place::Elem(..) => true,
    }
}

/// The state of the tracking.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracker {
    pub flow: Flow,
    threads: BTreeMap<ThreadId, Thread>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// By register: the reads its value depends on.
    registers: BTreeMap<Reg, Reads>,
    /// What everything from now on depends on.
    always: Reads,
    /// The branches it is inside of: where each ends, and what decided.
    inside: Vec<(usize, Reads, Vec<Reg>)>,
    /// What the action at hand depends on besides.
    happens: Reads,
    value: Reads,
    class: Option<u32>,
    load: bool,
    last: u32,
}

impl Thread {
    fn reads(&self, expr: &Expr) -> Reads {
        let both = |a: &Expr, b: &Expr| &self.reads(a) | &self.reads(b);
        match expr {
            Expr::Const(_) => Reads::new(),
            Expr::Reg(reg) => self.registers.get(reg).cloned().unwrap_or_default(),
            Expr::Add(a, b)
            | Expr::Sub(a, b)
            | Expr::Eq(a, b)
            | Expr::Lt(a, b)
            | Expr::And(a, b)
            | Expr::Or(a, b) => both(a, b),
            Expr::Not(a) => self.reads(a),
        }
    }

    /// What decided that the thread is here.
    fn here(&self) -> Reads {
        let mut all = self.always.clone();
        for (_, reads, _) in &self.inside {
            all.extend(reads);
        }
        all
    }

    fn place(&mut self, place: &Place) {
        self.class = Some(class(place));
        if let Place::Elem(_, index) = place {
            // The access may fail.
            let reads = self.reads(index);
            self.always.extend(reads);
        }
    }
}

impl Tracker {
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        self.threads.entry(thread).or_default()
    }

    /// The thread is about to act.
    pub fn before(&mut self, me: ThreadId, action: &Action) {
        let t = self.thread(me);
        match action {
            Action::Read(_, place) => t.place(place),
            Action::Load(_, place, _) => {
                t.load = true;
                t.place(place);
            }
            Action::Write(place, value) | Action::Store(place, value, _) => {
                t.value = t.reads(value);
                t.place(place);
            }
            Action::Cas {
                place, expect, new, ..
            } => {
                t.happens = t.reads(expect);
                t.value = t.reads(new);
                t.place(place);
            }
            Action::FetchAdd { place, by, .. } => {
                t.value = t.reads(by);
                t.place(place);
            }
            _ => {}
        }
    }

    /// The thread has acted; its events so far are known.
    pub fn after(&mut self, me: ThreadId, action: &Action) {
        let t = self.thread(me);
        let last = t.last;
        match action {
            Action::Read(reg, _) | Action::Load(reg, ..) | Action::FetchAdd { old: reg, .. } => {
                t.registers.insert(*reg, Reads::from([last]));
            }
            Action::Cas { ok, .. } => {
                let mut reads = std::mem::take(&mut t.happens);
                reads.insert(last);
                t.registers.insert(*ok, reads);
            }
            Action::IsAlive(reg, _)
            | Action::Interrupted(reg)
            | Action::TryLock { ok: reg, .. } => {
                t.registers.remove(reg);
            }
            _ => {}
        }
        t.happens.clear();
        t.value.clear();
        t.class = None;
        t.load = false;
    }

    pub fn event(&mut self, me: ThreadId, op: Op) {
        let at = self.flow.events.len() as u32;
        let t = self.thread(me);
        let access = !matches!(op, Op::Begin | Op::End);
        let mut happens = t.here();
        happens.extend(&t.happens);
        t.last = at;
        let depends = Depends {
            happens,
            value: t.value.clone(),
            class: t.class.filter(|_| access),
            load: t.load && access,
        };
        self.flow.events.push(depends);
    }

    pub fn set(&mut self, me: ThreadId, reg: Reg, value: &Expr) {
        let t = self.thread(me);
        let reads = t.reads(value);
        t.registers.insert(reg, reads);
    }

    /// Throwing, or going round again, hangs on it.
    pub fn decide(&mut self, me: ThreadId, cond: &Expr) {
        let t = self.thread(me);
        let reads = t.reads(cond);
        t.always.extend(reads);
    }

    /// Goes into a side of a branch.
    pub fn branch(&mut self, me: ThreadId, cond: &Expr, sides: &Sides, then: bool) {
        let t = self.thread(me);
        let reads = t.reads(cond);
        if sides.then.hard || sides.otherwise.hard {
            t.always.extend(&reads);
        }
        t.inside.push((sides.join, reads, sides.registers.clone()));
        let missed = if then { &sides.otherwise } else { &sides.then };
        if !missed.classes.is_empty() {
            let missed = Missed {
                after: t.last,
                classes: missed.classes.iter().copied().collect(),
                unless: t.here(),
            };
            self.flow.missed.push(missed);
        }
    }

    /// The thread is at this place of its code.
    pub fn at(&mut self, me: ThreadId, pc: usize) {
        let t = self.thread(me);
        while t.inside.last().is_some_and(|(join, ..)| *join == pc) {
            let Some((_, reads, registers)) = t.inside.pop() else {
                return;
            };
            for reg in registers {
                t.registers.entry(reg).or_default().extend(&reads);
            }
        }
    }
}
