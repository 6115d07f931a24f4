//! Loops that spin: an iteration that changed nothing is not repeated until
//! something that it read was written.

use super::{Machine, Thread};
use crate::code::Action;
use crate::program::{Reg, Value};
use std::collections::BTreeMap;
use trace::{Loc, Op, ThreadId};

/// What a thread remembers of a loop it is in.
#[derive(Clone, Hash, Debug, Default)]
pub(super) struct Spin {
    inside: bool,
    /// The registers when the iteration began; none before the first one.
    began: Option<BTreeMap<Reg, Value>>,
    /// What the iteration read, and how often that had been written.
    read: BTreeMap<Loc, u64>,
    /// It did something besides reading.
    acted: bool,
}

impl Spin {
    pub fn enter(&mut self) {
        *self = Spin {
            inside: true,
            ..Spin::default()
        };
    }
}

impl Thread {
    /// An iteration begins. If the one before changed nothing, the next step
    /// has to wait for a write.
    pub(super) fn head(&mut self, spin: usize) {
        let spin = &mut self.spins[spin];
        let idle = !spin.acted && spin.began.as_ref() == Some(&self.regs);
        if idle && !spin.read.is_empty() {
            self.awaits = std::mem::take(&mut spin.read);
        }
        spin.read.clear();
        spin.acted = false;
        spin.began = Some(self.regs.clone());
    }

    pub(super) fn leave(&mut self, spin: usize) {
        self.spins[spin] = Spin::default();
        self.awaits.clear();
    }
}

impl Machine {
    /// Whether there is something new for a thread that spins.
    pub(super) fn news(&self, thread: ThreadId) -> bool {
        let awaits = &self.threads[thread.0 as usize].awaits;
        awaits.is_empty() || awaits.iter().any(|(loc, seen)| self.written(*loc) > *seen)
    }

    fn written(&self, loc: Loc) -> u64 {
        self.writes.get(&loc).copied().unwrap_or(0)
    }

    /// Takes note, for the loops that the thread is in, of an action that left
    /// these events.
    pub(super) fn note(&mut self, me: ThreadId, action: &Action, events: usize) {
        self.thread(me).awaits.clear();
        let read = match (action, self.events.get(events).map(|e| e.op)) {
            (
                Action::Read(..) | Action::Load(..) | Action::Cas { .. },
                Some(Op::Read(loc) | Op::AtomicRead(loc, _)),
            ) => Some(Some((loc, self.written(loc)))),
            // The iteration gives back what it takes.
            (Action::Lock { .. } | Action::Unlock { .. }, _) => Some(None),
            _ => None,
        };
        for spin in self.thread(me).spins.iter_mut().filter(|s| s.inside) {
            match read {
                Some(Some((loc, written))) => {
                    spin.read.insert(loc, written);
                }
                Some(None) => {}
                None => spin.acted = true,
            }
        }
    }
}
