//! Runs a program, with chance deciding where it goes, and keeps book of which
//! objects others can get at.

use fastrand::Rng;
use std::collections::BTreeMap;

use super::program::{LENGTH, Stmt, VARS, Var};

type Value = Option<usize>;

/// A use of an object, or its making.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) pc: u32,
    pub(super) object: usize,
    /// Others could get at it then.
    pub(super) known: bool,
    pub(super) is_array: bool,
}

#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) accesses: Vec<Access>,
    /// By object, at the end.
    pub(super) known: Vec<bool>,
}

#[derive(Debug)]
struct Object {
    is_array: bool,
    /// Elements, or the one field.
    refs: [Value; LENGTH],
    known: bool,
}

/// How a statement ends, if not as usual.
enum Out {
    Thrown,
    Returned,
}

struct Twin<'p> {
    pcs: &'p BTreeMap<*const Stmt, u32>,
    random: &'p mut Rng,
    vars: [Value; VARS as usize],
    heap: Vec<Object>,
    seen: Seen,
    steps: u32,
}

pub(super) fn run(program: &[Stmt], pcs: &BTreeMap<*const Stmt, u32>, random: &mut Rng) -> Seen {
    // The parameters: others have them.
    let shared = |is_array| Object {
        is_array,
        refs: [None; LENGTH],
        known: true,
    };
    let mut twin = Twin {
        pcs,
        random,
        vars: [None; VARS as usize],
        heap: vec![shared(true), shared(false)],
        seen: Seen::default(),
        steps: 0,
    };
    let _ = twin.all(program);
    let Twin { heap, mut seen, .. } = twin;
    seen.known = heap.iter().map(|o| o.known).collect();
    seen
}

impl Twin<'_> {
    fn all(&mut self, stmts: &[Stmt]) -> Result<(), Out> {
        stmts.iter().try_for_each(|s| self.stmt(s))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Out> {
        self.steps += 1;
        if self.steps > 300 {
            return Err(Out::Returned);
        }
        match stmt {
            Stmt::NewArray(to) => {
                let made = self.make(true);
                self.vars[at(*to)] = Some(made);
                self.used(stmt, made);
            }
            Stmt::NewMatrix(to) => {
                let made = self.make(true);
                for i in 0..LENGTH {
                    self.heap[made].refs[i] = Some(self.make(true));
                }
                self.vars[at(*to)] = Some(made);
                self.used(stmt, made);
            }
            Stmt::New(to) => {
                let made = self.make(false);
                self.vars[at(*to)] = Some(made);
                self.used(stmt, made);
            }
            Stmt::SetNull(to) => self.vars[at(*to)] = None,
            Stmt::Copy(to, from) => self.vars[at(*to)] = self.vars[at(*from)],
            Stmt::LoadElement(to, from) | Stmt::LoadField(to, from) => {
                let object = self.object(*from)?;
                self.used(stmt, object);
                let value = self.load(object);
                self.cast(*to, value)?;
            }
            Stmt::StoreElement(array, value) | Stmt::StoreField(array, value) => {
                let object = self.object(*array)?;
                self.used(stmt, object);
                self.store(object, self.vars[at(*value)]);
            }
            Stmt::LoadStatic(to) => {
                let value = self.anything_known();
                self.cast(*to, value)?;
            }
            Stmt::StoreStatic(from) | Stmt::Keep(from) | Stmt::Foreign(from) => {
                self.publish(self.vars[at(*from)]);
                self.perhaps_throw()?;
            }
            Stmt::Read(object) | Stmt::Write(object) => {
                let object = self.object(*object)?;
                self.used(stmt, object);
            }
            Stmt::Look(object) => {
                self.object(*object)?;
                self.perhaps_throw()?;
            }
            Stmt::Stash(array, value) => {
                let object = self.object(*array)?;
                self.store(object, self.vars[at(*value)]);
                self.perhaps_throw()?;
            }
            Stmt::ArrayCopy(from, to) => {
                let from = self.object(*from)?;
                let to = self.object(*to)?;
                self.used(stmt, to);
                let value = self.load(from);
                self.store(to, value);
            }
            Stmt::Throw(from) => {
                self.publish(self.vars[at(*from)]);
                return Err(Out::Thrown);
            }
            Stmt::Return => return Err(Out::Returned),
            Stmt::If(yes, no) => {
                let taken = if self.random.usize(..2) == 0 { yes } else { no };
                self.all(taken)?;
            }
            Stmt::Loop(body) => {
                while self.random.usize(..3) > 0 {
                    self.all(body)?;
                }
            }
            Stmt::Try(body, handler) => match self.all(body) {
                Err(Out::Thrown) => self.all(handler)?,
                outcome => outcome?,
            },
        }
        Ok(())
    }

    fn make(&mut self, is_array: bool) -> usize {
        self.heap.push(Object {
            is_array,
            refs: [None; LENGTH],
            known: false,
        });
        self.heap.len() - 1
    }

    fn object(&self, var: Var) -> Result<usize, Out> {
        self.vars[at(var)].ok_or(Out::Thrown)
    }

    fn used(&mut self, stmt: &Stmt, object: usize) {
        let Object {
            is_array, known, ..
        } = self.heap[object];
        self.seen.accesses.push(Access {
            pc: self.pcs[&std::ptr::from_ref(stmt)],
            object,
            known,
            is_array,
        });
    }

    /// From an object that others know they may have taken anything they know.
    fn load(&mut self, object: usize) -> Value {
        if self.heap[object].known && self.random.usize(..2) == 0 {
            return self.anything_known();
        }
        let i = self.random.usize(..LENGTH);
        self.heap[object].refs[i]
    }

    fn store(&mut self, object: usize, value: Value) {
        let i = self.random.usize(..LENGTH);
        self.heap[object].refs[i] = value;
        if self.heap[object].known {
            self.publish(value);
        }
    }

    fn anything_known(&mut self) -> Value {
        let known = self.heap.iter().enumerate().filter(|(_, o)| o.known);
        let known: Vec<usize> = known.map(|(i, _)| i).collect();
        Some(known[self.random.usize(..known.len())])
    }

    fn publish(&mut self, value: Value) {
        let mut left: Vec<usize> = value.into_iter().collect();
        while let Some(object) = left.pop() {
            let object = &mut self.heap[object];
            if !std::mem::replace(&mut object.known, true) {
                left.extend(object.refs.iter().flatten());
            }
        }
    }

    fn cast(&mut self, to: Var, value: Value) -> Result<(), Out> {
        if value.is_some_and(|v| self.heap[v].is_array != to.is_array()) {
            return Err(Out::Thrown);
        }
        self.vars[at(to)] = value;
        Ok(())
    }

    fn perhaps_throw(&mut self) -> Result<(), Out> {
        match self.random.usize(..6) {
            0 => Err(Out::Thrown),
            _ => Ok(()),
        }
    }
}

fn at(var: Var) -> usize {
    usize::from(var.0)
}
