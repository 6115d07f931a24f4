//! What a thread will do next, for schedulers that want to know.

use super::{Inside, Machine, Status};
use crate::code::{Action, Instr};
use crate::program::{Class, Handover, Lock, Place};
use trace::{Loc, SiteId, ThreadId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    Read(Loc),
    Write(Loc),
    AtomicRead(Loc),
    AtomicWrite(Loc),
    /// Also a compare-and-set that will fail.
    AtomicUpdate(Loc),
    Lock {
        lock: Lock,
        shared: bool,
    },
    TryLock(Lock),
    Unlock {
        lock: Lock,
        shared: bool,
    },
    Wait(Lock),
    WaitEnd {
        lock: Lock,
        timed: bool,
    },
    Notify(Lock),
    NotifyAll(Lock),
    Fork(ThreadId),
    Join(ThreadId),
    IsAlive(ThreadId),
    Interrupt(ThreadId),
    Interrupted,
    Park,
    Unpark(ThreadId),
    Release(Handover),
    Acquire(Handover),
    InitBegin(Class),
    InitEnd(Class),
    /// An index out of bounds: nothing that others can see.
    Throw,
    Begin,
    End,
}

/// A thread's next step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ahead {
    pub thread: ThreadId,
    pub site: SiteId,
    pub doing: Doing,
    /// In how many ways it can be made now; 0 if it cannot.
    pub picks: u32,
    /// It spins: what has to be written for it to go on.
    pub awaits: Vec<Loc>,
}

impl Machine {
    /// The next step of every thread that runs, whether it can be made or not.
    /// For [`stepwise`](Machine::stepwise) machines: in others ends and locks
    /// given up are parts of steps.
    pub fn ahead(&self) -> Vec<Ahead> {
        let threads = (0..self.threads.len() as u32).map(ThreadId);
        threads.filter_map(|t| self.ahead_of(t)).collect()
    }

    fn ahead_of(&self, thread: ThreadId) -> Option<Ahead> {
        let t = &self.threads[thread.0 as usize];
        if t.status != Status::Running {
            return None;
        }
        let (doing, site) = match t.unwinding {
            Some(site) => (self.unwinds(thread), site),
            None => match self.codes[thread.0 as usize].instrs.get(t.pc)? {
                Instr::Step(action, site) => (self.doing(thread, action), *site),
                _ => return None,
            },
        };
        Some(Ahead {
            thread,
            site,
            doing,
            picks: self.picks(thread),
            awaits: t.awaits.keys().copied().collect(),
        })
    }

    /// What a thread that threw does next.
    fn unwinds(&self, thread: ThreadId) -> Doing {
        let t = &self.threads[thread.0 as usize];
        for (n, inside) in t.inside.iter().enumerate().rev() {
            match *inside {
                // Given up only with the outermost of its kind.
                Inside::Lock { .. } if t.inside[..n].contains(inside) => {}
                Inside::Lock { lock, shared } => return Doing::Unlock { lock, shared },
                Inside::Init(class) => return Doing::InitEnd(class),
                // Entered with the step before.
                Inside::Handler(_) => {}
            }
        }
        Doing::End
    }

    fn doing(&self, thread: ThreadId, action: &Action) -> Doing {
        let at = |place: &Place, doing: fn(Loc) -> Doing| match self.place(thread, place) {
            Ok(loc) => doing(loc),
            Err(_) => Doing::Throw,
        };
        match action {
            Action::Read(_, place) => at(place, Doing::Read),
            Action::Write(place, _) => at(place, Doing::Write),
            Action::Load(_, place, _) => at(place, Doing::AtomicRead),
            Action::Store(place, _, _) => at(place, Doing::AtomicWrite),
            Action::Cas { place, .. } | Action::FetchAdd { place, .. } => {
                at(place, Doing::AtomicUpdate)
            }
            &Action::Lock { lock, shared } => Doing::Lock { lock, shared },
            &Action::TryLock { lock, .. } => Doing::TryLock(lock),
            &Action::Unlock { lock, shared } => Doing::Unlock { lock, shared },
            &Action::Wait { lock, timed } => match self.threads[thread.0 as usize].waiting {
                None if !self.owns(thread, lock) => Doing::Throw,
                None => Doing::Wait(lock),
                Some(_) => Doing::WaitEnd { lock, timed },
            },
            Action::Notify { lock, .. } if !self.owns(thread, *lock) => Doing::Throw,
            &Action::Notify { lock, all: false } => Doing::Notify(lock),
            &Action::Notify { lock, all: true } => Doing::NotifyAll(lock),
            &Action::Fork(other) => Doing::Fork(other),
            &Action::Join(other) => Doing::Join(other),
            &Action::IsAlive(_, other) => Doing::IsAlive(other),
            &Action::Interrupt(other) => Doing::Interrupt(other),
            Action::Interrupted(_) => Doing::Interrupted,
            Action::Park => Doing::Park,
            &Action::Unpark(other) => Doing::Unpark(other),
            &Action::Release(object) => Doing::Release(object),
            &Action::Acquire(object) => Doing::Acquire(object),
            &Action::InitBegin { class, .. } => Doing::InitBegin(class),
            &Action::InitEnd(class) => Doing::InitEnd(class),
            Action::Begin => Doing::Begin,
            Action::End => Doing::End,
        }
    }
}
