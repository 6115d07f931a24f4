//! What each action does, and the events it leaves.

use super::{Initialised, Inside, Machine, Status, Thread, Throw, Waiting, unlock};
use crate::code::Action;
use crate::program::{Array, Lock, Place, Reg, Value};
use trace::{Loc, Op, SiteId, ThreadId};

impl Machine {
    /// Takes the action and moves on behind it.
    pub(super) fn act(
        &mut self,
        me: ThreadId,
        action: &Action,
        site: SiteId,
        pick: u32,
    ) -> Result<(), Throw> {
        let mut next = self.thread(me).pc + 1;
        match action {
            Action::Read(reg, place) => {
                let loc = self.place(me, place)?;
                self.set(me, *reg, self.value(loc));
                self.emit(me, site, Op::Read(loc));
            }
            Action::Write(place, value) => {
                let loc = self.place(me, place)?;
                let value = self.thread(me).eval(value);
                self.put(loc, value);
                self.emit(me, site, Op::Write(loc));
            }
            Action::Load(reg, place, mode) => {
                let loc = self.place(me, place)?;
                self.set(me, *reg, self.value(loc));
                self.emit(me, site, Op::AtomicRead(loc, *mode));
            }
            Action::Store(place, value, mode) => {
                let loc = self.place(me, place)?;
                let value = self.thread(me).eval(value);
                self.put(loc, value);
                self.emit(me, site, Op::AtomicWrite(loc, *mode));
            }
            Action::Cas {
                ok,
                place,
                expect,
                new,
                mode,
            } => {
                let loc = self.place(me, place)?;
                let (expect, new) = (self.thread(me).eval(expect), self.thread(me).eval(new));
                let same = self.value(loc) == expect;
                if same {
                    self.put(loc, new);
                    self.emit(me, site, Op::AtomicUpdate(loc, *mode));
                } else {
                    self.emit(me, site, Op::AtomicRead(loc, *mode));
                }
                self.set(me, *ok, Value::from(same));
            }
            Action::FetchAdd {
                old,
                place,
                by,
                mode,
            } => {
                let loc = self.place(me, place)?;
                let by = self.thread(me).eval(by);
                let before = self.value(loc);
                self.put(loc, before.wrapping_add(by));
                self.set(me, *old, before);
                self.emit(me, site, Op::AtomicUpdate(loc, *mode));
            }
            &Action::Lock { lock, shared } => {
                self.take(me, lock, shared, 1);
                self.thread(me).inside.push(Inside::Lock { lock, shared });
                let op = if shared {
                    Op::AcquireShared(lock.id())
                } else {
                    Op::Acquire(lock.id())
                };
                self.emit(me, site, op);
            }
            &Action::TryLock { ok, lock, after } => {
                let free = self.can_lock(me, lock, false);
                self.set(me, ok, Value::from(free));
                if free {
                    self.take(me, lock, false, 1);
                    let inside = Inside::Lock {
                        lock,
                        shared: false,
                    };
                    self.thread(me).inside.push(inside);
                    self.emit(me, site, Op::Acquire(lock.id()));
                } else {
                    next = after;
                }
            }
            &Action::Unlock { lock, shared } => {
                self.give(me, lock, shared);
                self.thread(me).inside.pop();
                self.emit(me, site, unlock(lock, shared));
            }
            &Action::Wait { lock, .. } => {
                if self.thread(me).waiting.is_none() {
                    next = self.wait(me, lock, site)?;
                } else {
                    self.wake(me, lock, site);
                }
            }
            &Action::Notify { lock, all } => {
                if !self.owns(me, lock) {
                    return Err(Throw);
                }
                let mut woken = self.waiters(lock);
                if !all {
                    woken = woken.get(pick as usize).copied().into_iter().collect();
                }
                for waiter in woken {
                    if let Some(waiting) = &mut self.thread(waiter).waiting {
                        waiting.notified = true;
                    }
                }
                let op = if all {
                    Op::NotifyAll(lock.id())
                } else {
                    Op::Notify(lock.id())
                };
                self.emit(me, site, op);
            }
            &Action::Fork(child) => {
                match self.threads.get(child.0 as usize) {
                    Some(t) if t.status == Status::New => {}
                    _ => return Err(Throw),
                }
                self.emit(me, site, Op::Fork(child));
                self.start(child);
            }
            &Action::Join(other) => self.see_end(me, other, site),
            &Action::IsAlive(reg, other) => {
                let running = |t: &Thread| t.status == Status::Running;
                let alive = self.threads.get(other.0 as usize).is_some_and(running);
                self.set(me, reg, Value::from(alive));
                self.see_end(me, other, site);
            }
            &Action::Interrupt(other) => {
                self.emit(me, site, Op::Interrupt(other));
                if let Some(t) = self.threads.get_mut(other.0 as usize) {
                    t.interrupted = true;
                }
            }
            &Action::Interrupted(reg) => {
                let was = std::mem::take(&mut self.thread(me).interrupted);
                self.set(me, reg, Value::from(was));
                if was {
                    self.emit(me, site, Op::Interrupted);
                }
            }
            Action::Park => {
                self.thread(me).permit = false;
                self.emit(me, site, Op::Park);
            }
            &Action::Unpark(other) => {
                self.emit(me, site, Op::Unpark(other));
                if let Some(t) = self.threads.get_mut(other.0 as usize) {
                    t.permit = true;
                }
            }
            Action::Release(object) => self.emit(me, site, Op::SyncRelease(object.id())),
            Action::Acquire(object) => self.emit(me, site, Op::SyncAcquire(object.id())),
            &Action::InitBegin { class, after } => match self.classes.get(&class) {
                Some(_) => next = after,
                None => {
                    self.classes.insert(class, Initialised::By(me));
                    self.thread(me).inside.push(Inside::Init(class));
                    self.emit(me, site, Op::InitBegin(class.id()));
                }
            },
            Action::InitEnd(class) => {
                self.classes.insert(*class, Initialised::Done);
                self.thread(me).inside.pop();
                self.emit(me, site, Op::InitEnd(class.id()));
            }
            Action::Begin => self.emit(me, site, Op::Begin),
            Action::End => {
                self.thread(me).status = Status::Ended;
                self.emit(me, site, Op::End);
            }
        }
        self.thread(me).pc = next;
        Ok(())
    }

    /// Gives the lock up and stays before the wait, to be woken; or, being
    /// interrupted already, does not wait at all. Where to go on.
    fn wait(&mut self, me: ThreadId, lock: Lock, site: SiteId) -> Result<usize, Throw> {
        let depth = *self.depth(me, lock, false).ok_or(Throw)?;
        let pc = self.thread(me).pc;
        if std::mem::take(&mut self.thread(me).interrupted) {
            self.emit(me, site, Op::Interrupted);
            return Ok(pc + 1);
        }
        self.give(me, lock, false);
        self.thread(me).waiting = Some(Waiting {
            depth,
            notified: false,
        });
        self.emit(me, site, Op::WaitBegin(lock.id()));
        Ok(pc)
    }

    /// The end of a wait: notified, interrupted, or out of time.
    fn wake(&mut self, me: ThreadId, lock: Lock, site: SiteId) {
        let Some(Waiting { depth, notified }) = self.thread(me).waiting.take() else {
            return;
        };
        self.take(me, lock, false, depth);
        let lock = lock.id();
        self.emit(me, site, Op::WaitEnd { lock, notified });
        if !notified && std::mem::take(&mut self.thread(me).interrupted) {
            self.emit(me, site, Op::Interrupted);
        }
    }

    fn see_end(&mut self, me: ThreadId, other: ThreadId, site: SiteId) {
        let ended = |t: &Thread| t.status == Status::Ended;
        if self.threads.get(other.0 as usize).is_some_and(ended) {
            self.emit(me, site, Op::Join(other));
        }
    }

    fn put(&mut self, loc: Loc, value: Value) {
        self.memory.insert(loc, value);
        *self.writes.entry(loc).or_default() += 1;
    }

    fn set(&mut self, me: ThreadId, reg: Reg, value: Value) {
        self.thread(me).regs.insert(reg, value);
    }

    /// The event that `action` would leave first, if any.
    pub(super) fn foresee(&self, me: ThreadId, action: &Action) -> Option<Op> {
        let at = |place: &Place| self.place(me, place).ok();
        Some(match action {
            Action::Read(_, place) => Op::Read(at(place)?),
            Action::Write(place, _) => Op::Write(at(place)?),
            Action::Load(_, place, mode) => Op::AtomicRead(at(place)?, *mode),
            Action::Store(place, _, mode) => Op::AtomicWrite(at(place)?, *mode),
            Action::Cas { place, mode, .. } | Action::FetchAdd { place, mode, .. } => {
                Op::AtomicUpdate(at(place)?, *mode)
            }
            Action::Lock { lock, shared: true } => Op::AcquireShared(lock.id()),
            Action::Lock { lock, .. } => Op::Acquire(lock.id()),
            Action::Unlock { lock, shared } => unlock(*lock, *shared),
            Action::Wait { lock, .. } => match self.threads[me.0 as usize].waiting {
                None => Op::WaitBegin(lock.id()),
                Some(Waiting { notified, .. }) => Op::WaitEnd {
                    lock: lock.id(),
                    notified,
                },
            },
            Action::Notify { lock, all: true } => Op::NotifyAll(lock.id()),
            Action::Notify { lock, .. } => Op::Notify(lock.id()),
            Action::Fork(child) => Op::Fork(*child),
            Action::Join(other) | Action::IsAlive(_, other) => Op::Join(*other),
            Action::Interrupt(other) => Op::Interrupt(*other),
            Action::Interrupted(_) => return None,
            Action::Park => Op::Park,
            Action::Unpark(other) => Op::Unpark(*other),
            Action::Release(object) => Op::SyncRelease(object.id()),
            Action::Acquire(object) => Op::SyncAcquire(object.id()),
            Action::InitBegin { class, .. } => Op::InitBegin(class.id()),
            Action::InitEnd(class) => Op::InitEnd(class.id()),
            Action::TryLock { lock, .. } => Op::Acquire(lock.id()),
            Action::Begin => Op::Begin,
            Action::End => Op::End,
        })
    }

    pub(super) fn place(&self, me: ThreadId, place: &Place) -> Result<Loc, Throw> {
        match place {
            Place::Var(var) => Ok(var.loc()),
            Place::Elem(array, index) => {
                let Array(number) = array;
                let length = self.arrays.get(usize::from(*number)).copied().unwrap_or(0);
                let index = self.threads[me.0 as usize].eval(index);
                let index = u32::try_from(index).map_err(|_| Throw)?;
                if index < length {
                    Ok(array.loc(index))
                } else {
                    Err(Throw)
                }
            }
        }
    }
}
