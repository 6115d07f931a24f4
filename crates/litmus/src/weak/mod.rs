//! Programs of a few accesses under the Java memory model, and brute force over the axioms: the
//! oracle of crate `memory`.
//!
//! `axioms` makes every execution that a program could possibly have: every interleaving, and for
//! each read every write that came before it. Then it looks whether the finished execution satisfies
//! the axioms, with relations as sets of pairs. It knows nothing of clocks or views.

mod axioms;
mod random;
mod table;

pub use axioms::outcomes;
pub use random::random;
pub use table::{Row, table};

use std::collections::BTreeMap;

pub type Value = i64;

/// How a location is accessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Access {
    Plain,
    Opaque,
    /// `getAcquire`, `setRelease`.
    Ordered,
    Volatile,
    Final,
}

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Into the register of that number.
    Read(u8, u16, Access),
    Write(u16, Operand, Access),
    /// A volatile `getAndAdd`: register, location, what is added.
    Add(u8, u16, Value),
    Lock(u16),
    Unlock(u16),
    Fork(usize),
    Join(usize),
    /// The constructor that writes this final field ends.
    Freeze(u16),
    /// Unless the register has the value, so many of the next acts are left out.
    Unless(u8, Value, usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Value(Value),
    /// A register and what is added to it.
    Register(u8, Value),
}

/// Threads; those that some thread forks begin then, the others at once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    pub threads: Vec<Vec<Act>>,
}

/// The registers of all threads at the end, by thread and register.
pub type Outcome = BTreeMap<(usize, u8), Value>;

/// Where a thread is.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    pub at: usize,
    pub registers: BTreeMap<u8, Value>,
    pub started: bool,
}

impl Thread {
    pub fn value(&self, operand: Operand) -> Value {
        let register = |r: u8| self.registers.get(&r).copied().unwrap_or(0);
        match operand {
            Operand::Value(value) => value,
            Operand::Register(r, by) => register(r) + by,
        }
    }
}

/// What both sides need of a run: who can go on, and who holds which lock.
#[derive(Clone, Debug)]
pub struct Control<'p> {
    program: &'p Program,
    pub threads: Vec<Thread>,
    holders: BTreeMap<u16, usize>,
}

impl<'p> Control<'p> {
    pub fn new(program: &'p Program) -> Control<'p> {
        let forked = |t: usize| {
            let mut acts = program.threads.iter().flatten();
            acts.any(|act| *act == Act::Fork(t))
        };
        let threads = (0..program.threads.len()).map(|t| Thread {
            started: !forked(t),
            ..Thread::default()
        });
        let mut this = Control {
            program,
            threads: threads.collect(),
            holders: BTreeMap::new(),
        };
        (0..this.threads.len()).for_each(|t| this.skip(t));
        this
    }

    /// What the thread does next, if it can.
    pub fn next(&self, t: usize) -> Option<Act> {
        let act = *self.program.threads[t].get(self.threads[t].at)?;
        let can = match act {
            Act::Lock(lock) => !self.holders.contains_key(&lock),
            Act::Join(other) => self.threads[other].started && self.is_over(other),
            _ => true,
        };
        (can && self.threads[t].started).then_some(act)
    }

    /// Whether the thread has done all it does.
    pub fn is_over(&self, t: usize) -> bool {
        self.threads[t].at >= self.program.threads[t].len()
    }

    /// The thread has done it; `value` is what it read.
    pub fn done(&mut self, t: usize, act: Act, value: Value) {
        match act {
            Act::Read(r, ..) | Act::Add(r, ..) => {
                self.threads[t].registers.insert(r, value);
            }
            Act::Lock(lock) => {
                self.holders.insert(lock, t);
            }
            Act::Unlock(lock) => {
                self.holders.remove(&lock);
            }
            Act::Fork(other) => self.threads[other].started = true,
            _ => {}
        }
        self.threads[t].at += 1;
        self.skip(t);
    }

    /// Branches are no actions.
    fn skip(&mut self, t: usize) {
        while let Some(Act::Unless(r, value, n)) = self.program.threads[t].get(self.threads[t].at) {
            let thread = &mut self.threads[t];
            let holds = thread.value(Operand::Register(*r, 0)) == *value;
            thread.at += 1 + if holds { 0 } else { *n };
        }
    }

    pub fn outcome(&self) -> Outcome {
        let all = self.threads.iter().enumerate();
        all.flat_map(|(t, thread)| thread.registers.iter().map(move |(r, v)| ((t, *r), *v)))
            .collect()
    }
}
