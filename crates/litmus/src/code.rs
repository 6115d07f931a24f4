//! A program's flat form: jumps instead of structure, and a site for every
//! step, so that a thread's position is one number.

use crate::flow::Sides;
use crate::program::{Class, Expr, Handover, Lock, Place, Program, Reg, Stmt};
use trace::{Mode, SiteId, ThreadId};

/// One thread's instructions.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub instrs: Vec<Instr>,
    /// How many loops there are, each with its counter.
    pub loops: usize,
    /// How many of them spin.
    pub spins: usize,
}

#[derive(Debug)]
pub(crate) enum Instr {
    Set(Reg, Expr),
    Jump(usize),
    /// Of a branch, with what its sides may do, or of a loop.
    Unless(Expr, usize, Option<Box<Sides>>),
    Assert(Expr, SiteId),
    /// Sets a loop's counter to 0.
    Enter(usize),
    /// Counts an iteration, or leaves when there were `bound` of them.
    Iterate {
        counter: usize,
        bound: u32,
        exit: usize,
    },
    /// The loop is entered: nothing was read in it yet.
    SpinEnter(usize),
    /// An iteration of the loop begins.
    SpinHead(usize),
    /// The loop is left.
    SpinLeave(usize),
    /// From here on, exceptions are caught there.
    Try(usize),
    /// The innermost `Try` is left.
    TryEnd,
    /// Something others can see: a step.
    Step(Action, SiteId),
}

#[derive(Debug)]
pub(crate) enum Action {
    Read(Reg, Place),
    Write(Place, Expr),
    Load(Reg, Place, Mode),
    Store(Place, Expr, Mode),
    Cas {
        ok: Reg,
        place: Place,
        expect: Expr,
        new: Expr,
        mode: Mode,
    },
    FetchAdd {
        old: Reg,
        place: Place,
        by: Expr,
        mode: Mode,
    },
    Lock {
        lock: Lock,
        shared: bool,
    },
    /// Goes to `after` if somebody else has it.
    TryLock {
        ok: Reg,
        lock: Lock,
        after: usize,
    },
    Unlock {
        lock: Lock,
        shared: bool,
    },
    Wait {
        lock: Lock,
        timed: bool,
    },
    Notify {
        lock: Lock,
        all: bool,
    },
    Fork(ThreadId),
    Join(ThreadId),
    IsAlive(Reg, ThreadId),
    Interrupt(ThreadId),
    Interrupted(Reg),
    Park,
    Unpark(ThreadId),
    Release(Handover),
    Acquire(Handover),
    /// Runs what follows, or goes to `after` if the class needs nothing.
    InitBegin {
        class: Class,
        after: usize,
    },
    InitEnd(Class),
    /// Only where these are steps of their own.
    Begin,
    End,
}

/// Flattens every thread. Sites are numbered from 1, in program order, thread
/// after thread; the giving up of a lock has a site of its own. `stepwise`:
/// beginnings and ends are steps too, without a site.
pub(crate) fn compile(program: &Program, stepwise: bool) -> Vec<Code> {
    let mut next_site = 1;
    let compile_one = |body: &Vec<Stmt>| {
        let mut compiler = Compiler {
            program,
            code: Code::default(),
            next_site,
        };
        if stepwise {
            compiler.unsited(Action::Begin);
        }
        compiler.block(body);
        if stepwise {
            compiler.unsited(Action::End);
        }
        next_site = compiler.next_site;
        compiler.code
    };
    program.threads.iter().map(compile_one).collect()
}

struct Compiler<'p> {
    program: &'p Program,
    code: Code,
    next_site: u32,
}

impl Compiler<'_> {
    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn here(&self) -> usize {
        self.code.instrs.len()
    }

    fn site(&mut self) -> SiteId {
        self.next_site += 1;
        SiteId(self.next_site - 1)
    }

    fn step(&mut self, action: Action) {
        let site = self.site();
        self.code.instrs.push(Instr::Step(action, site));
    }

    fn unsited(&mut self, action: Action) {
        self.code.instrs.push(Instr::Step(action, SiteId(0)));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt.clone() {
            Stmt::Set(reg, value) => self.code.instrs.push(Instr::Set(reg, value)),
            Stmt::Assert(holds) => {
                let site = self.site();
                self.code.instrs.push(Instr::Assert(holds, site));
            }
            Stmt::Read(reg, place) => self.step(Action::Read(reg, place)),
            Stmt::Write(place, value) => self.step(Action::Write(place, value)),
            Stmt::Load(reg, place, mode) => self.step(Action::Load(reg, place, mode)),
            Stmt::Store(place, value, mode) => self.step(Action::Store(place, value, mode)),
            Stmt::Cas {
                ok,
                place,
                expect,
                new,
                mode,
            } => self.step(Action::Cas {
                ok,
                place,
                expect,
                new,
                mode,
            }),
            Stmt::FetchAdd {
                old,
                place,
                by,
                mode,
            } => self.step(Action::FetchAdd {
                old,
                place,
                by,
                mode,
            }),
            Stmt::Sync(lock, body) => self.locked(lock, false, &body),
            Stmt::Try { ok, lock, body } => {
                let attempt = self.here();
                self.step(Action::TryLock { ok, lock, after: 0 });
                self.block(&body);
                self.step(Action::Unlock {
                    lock,
                    shared: false,
                });
                self.target(attempt);
            }
            Stmt::Shared(lock, body) => self.locked(lock, true, &body),
            Stmt::Wait(lock) => self.step(Action::Wait { lock, timed: false }),
            Stmt::TimedWait(lock) => self.step(Action::Wait { lock, timed: true }),
            Stmt::Notify(lock) => self.step(Action::Notify { lock, all: false }),
            Stmt::NotifyAll(lock) => self.step(Action::Notify { lock, all: true }),
            Stmt::Fork(thread) => self.step(Action::Fork(thread)),
            Stmt::Join(thread) => self.step(Action::Join(thread)),
            Stmt::IsAlive(reg, thread) => self.step(Action::IsAlive(reg, thread)),
            Stmt::Interrupt(thread) => self.step(Action::Interrupt(thread)),
            Stmt::Interrupted(reg) => self.step(Action::Interrupted(reg)),
            Stmt::Park => self.step(Action::Park),
            Stmt::Unpark(thread) => self.step(Action::Unpark(thread)),
            Stmt::Release(object) => self.step(Action::Release(object)),
            Stmt::Acquire(object) => self.step(Action::Acquire(object)),
            Stmt::Init(class, body) => {
                let begin = self.here();
                self.step(Action::InitBegin { class, after: 0 });
                self.block(&body);
                self.step(Action::InitEnd(class));
                self.target(begin);
            }
            Stmt::If(cond, then, otherwise) => {
                let test = self.here();
                let sides = Box::new(Sides::analyse(self.program, &then, &otherwise));
                self.code.instrs.push(Instr::Unless(cond, 0, Some(sides)));
                self.block(&then);
                let skip = self.here();
                self.code.instrs.push(Instr::Jump(0));
                self.target(test);
                self.block(&otherwise);
                self.target(skip);
                let join = self.here();
                if let Instr::Unless(_, _, Some(sides)) = &mut self.code.instrs[test] {
                    sides.join = join;
                }
            }
            Stmt::While { cond, bound, body } => {
                let counter = self.code.loops;
                self.code.loops += 1;
                self.code.instrs.push(Instr::Enter(counter));
                let test = self.here();
                self.code.instrs.push(Instr::Unless(cond, 0, None));
                let count = self.here();
                self.code.instrs.push(Instr::Iterate {
                    counter,
                    bound,
                    exit: 0,
                });
                self.block(&body);
                self.code.instrs.push(Instr::Jump(test));
                self.target(test);
                self.target(count);
            }
            Stmt::Catch { body, handler } => {
                let begin = self.here();
                self.code.instrs.push(Instr::Try(0));
                self.block(&body);
                self.code.instrs.push(Instr::TryEnd);
                let skip = self.here();
                self.code.instrs.push(Instr::Jump(0));
                self.target(begin);
                self.block(&handler);
                self.target(skip);
            }
            Stmt::Sleep => {}
            Stmt::Spin { cond, body } => {
                let spin = self.code.spins;
                self.code.spins += 1;
                self.code.instrs.push(Instr::SpinEnter(spin));
                let head = self.here();
                self.code.instrs.push(Instr::SpinHead(spin));
                let test = self.here();
                self.code.instrs.push(Instr::Unless(cond, 0, None));
                self.block(&body);
                self.code.instrs.push(Instr::Jump(head));
                self.target(test);
                self.code.instrs.push(Instr::SpinLeave(spin));
            }
        }
    }

    fn locked(&mut self, lock: Lock, shared: bool, body: &[Stmt]) {
        self.step(Action::Lock { lock, shared });
        self.block(body);
        self.step(Action::Unlock { lock, shared });
    }

    /// Lets the jump at `from` go to here.
    fn target(&mut self, from: usize) {
        let here = self.here();
        match &mut self.code.instrs[from] {
            Instr::Jump(to)
            | Instr::Try(to)
            | Instr::Unless(_, to, _)
            | Instr::Iterate { exit: to, .. }
            | Instr::Step(
                Action::InitBegin { after: to, .. } | Action::TryLock { after: to, .. },
                _,
            ) => *to = here,
            other => unreachable!("not a jump: {other:?}"),
        }
    }
}
