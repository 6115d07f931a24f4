//! What a part of an order leaves behind, and the rules for its next event.

use super::{Checker, NONE, Rule, reads, volatile, writes};
use crate::signals;
use smallvec::SmallVec;
use trace::Op;

/// How many events there were of something, and the latest by trace order.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    count: u32,
    /// One more than the event's number.
    latest: u32,
}

impl Seen {
    fn add(&mut self, at: u32) {
        self.count += 1;
        self.latest = self.latest.max(at + 1);
    }

    /// Exactly the `need` events before `at` were seen.
    fn are(self, need: u32, at: u32) -> bool {
        self.count == need && self.latest <= at
    }
}

#[derive(Clone, Debug, Default)]
struct Lock {
    exclusive: Option<(u32, u32)>,
    shared: SmallVec<[(u32, u32); 2]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Location {
    /// One more than the last write.
    write: u32,
    volatile: Seen,
    volatile_write: Seen,
}

/// What a part of an order leaves behind.
#[derive(Clone, Debug)]
pub(super) struct State {
    done: Vec<u32>,
    locations: Vec<Location>,
    locks: Vec<Lock>,
    monitors: Vec<Seen>,
    objects: Vec<Seen>,
    signals: Vec<Seen>,
    inits: usize,
    forked: Vec<bool>,
}

impl State {
    pub fn new(checker: &Checker<'_>) -> State {
        State {
            done: vec![0; checker.forks.len()],
            locations: vec![Location::default(); checker.locations],
            locks: vec![Lock::default(); checker.locks],
            monitors: vec![Seen::default(); checker.locks],
            objects: vec![Seen::default(); checker.objects],
            signals: vec![Seen::default(); checker.forks.len()],
            inits: 0,
            forked: vec![false; checker.forks.len()],
        }
    }

    /// About how much memory it takes.
    pub fn size(&self) -> usize {
        self.locations.len() * size_of::<Location>()
            + self.locks.len() * (size_of::<Lock>() + size_of::<Seen>())
            + (self.objects.len() + self.signals.len()) * size_of::<Seen>()
            + self.done.len() * 5
    }

    /// The next event: `racing` if it is one of the two, `free` if it may see
    /// any value, or, of a write, if nobody minds when it comes.
    pub fn event(
        &mut self,
        checker: &Checker<'_>,
        at: u32,
        racing: bool,
        free: bool,
    ) -> Result<(), Rule> {
        let must = |holds: bool, rule| if holds { Ok(()) } else { Err(rule) };
        let op = checker.trace[at as usize].op;
        let fact = checker.facts[at as usize];
        let (thread, operand) = (fact.thread as usize, fact.operand as usize);

        must(self.done[thread] == fact.before, Rule::ProgramOrder)?;
        self.done[thread] += 1;
        if fact.before == 0 && checker.forks[thread] != NONE {
            must(self.forked[thread], Rule::Fork)?;
        }
        if checker.inits.get(self.inits).is_some_and(|end| *end < at) {
            return Err(Rule::Initialisation);
        }
        must(racing || self.signals[thread].latest <= at, Rule::Signal)?;
        if signals::awaits(op) {
            let need = checker.signalled.get(&at).copied().unwrap_or(0);
            must(self.signals[thread].are(need, at), Rule::Signal)?;
        }
        if matches!(
            op,
            Op::WaitBegin(_) | Op::WaitEnd { .. } | Op::Notify(_) | Op::NotifyAll(_)
        ) {
            let seen = self.monitors[operand];
            must(seen.latest <= at, Rule::Monitor)?;
            if matches!(op, Op::WaitEnd { .. }) {
                must(seen.are(fact.need, at), Rule::Monitor)?;
            }
            self.monitors[operand].add(at);
        }
        match op {
            _ if reads(op) || writes(op) => {
                let location = &mut self.locations[operand];
                if reads(op) && !free {
                    must(location.write == fact.need.wrapping_add(1), Rule::ReadsFrom)?;
                }
                if volatile(op) && !racing && !free {
                    let after = if writes(op) {
                        location.volatile
                    } else {
                        location.volatile_write
                    };
                    must(after.latest <= at, Rule::VolatileOrder)?;
                    if reads(op) {
                        let seen = location.volatile_write;
                        must(seen.are(fact.stores, at), Rule::VolatileOrder)?;
                    }
                    location.volatile.add(at);
                    if writes(op) {
                        location.volatile_write.add(at);
                    }
                }
                if writes(op) {
                    location.write = at + 1;
                }
            }
            Op::Acquire(_) | Op::WaitEnd { .. } | Op::AcquireShared(_) => {
                let shared = matches!(op, Op::AcquireShared(_));
                must(
                    self.locks[operand].take(fact.thread, shared),
                    Rule::Exclusion,
                )?;
            }
            Op::Release(_) | Op::WaitBegin(_) => self.locks[operand].give(fact.thread),
            Op::ReleaseShared(_) => self.locks[operand].give_shared(fact.thread),
            Op::Fork(_) if checker.forks[operand] == at => self.forked[operand] = true,
            Op::Join(_) => must(self.done[operand] >= fact.need, Rule::Join)?,
            Op::Interrupt(_) | Op::Unpark(_) => self.signals[operand].add(at),
            Op::SyncRelease(_) => self.objects[operand].add(at),
            Op::SyncAcquire(_) => must(self.objects[operand].are(fact.need, at), Rule::Handover)?,
            Op::InitEnd(_) => self.inits += 1,
            _ => {}
        }
        Ok(())
    }
}

impl Lock {
    fn take(&mut self, thread: u32, shared: bool) -> bool {
        let others = |holders: &[(u32, u32)]| holders.iter().any(|(t, _)| *t != thread);
        if self.exclusive.is_some_and(|(t, _)| t != thread) || (!shared && others(&self.shared)) {
            return false;
        }
        if !shared {
            self.exclusive.get_or_insert((thread, 0)).1 += 1;
        } else if let Some(mine) = self.shared.iter_mut().find(|(t, _)| *t == thread) {
            mine.1 += 1;
        } else {
            self.shared.push((thread, 1));
        }
        true
    }

    fn give(&mut self, thread: u32) {
        match &mut self.exclusive {
            Some((t, depth)) if *t == thread && *depth > 1 => *depth -= 1,
            Some((t, _)) if *t == thread => self.exclusive = None,
            _ => {}
        }
    }

    fn give_shared(&mut self, thread: u32) {
        if let Some(mine) = self.shared.iter().position(|(t, _)| *t == thread) {
            self.shared[mine].1 -= 1;
            if self.shared[mine].1 == 0 {
                self.shared.swap_remove(mine);
            }
        }
    }
}
