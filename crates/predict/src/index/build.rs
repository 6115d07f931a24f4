//! The second pass over a trace: what each thread's events need, and its
//! critical sections.

use super::{Cut, Index, NEVER, NONE, Section, User};
use crate::signals;
use detect::AnyAccess;
use rustc_hash::FxHashMap;
use trace::{Event, LockId, Mode, ObjId, Op, ThreadId};

/// An event, and the clock that holds there: what keeping it needs.
#[derive(Clone, Copy)]
struct Place {
    thread: u32,
    count: u32,
    clock: u32,
}

/// The volatile writes of a variable so far.
enum Stores {
    /// The last one knew of all the others.
    Last(Place),
    Many(Cut),
}

/// The state of the pass.
pub(super) struct Builder<'i, 'a> {
    pub index: &'i mut Index<'a>,
    /// What each thread's events so far need.
    pub now: Vec<Cut>,
    pub done: Vec<u32>,
    /// By variable: the last write.
    writes: Vec<Option<Place>>,
    /// By variable: its volatile writes.
    stores: FxHashMap<u32, Stores>,
    forks: FxHashMap<u32, Cut>,
    monitors: FxHashMap<LockId, Cut>,
    signals: FxHashMap<ThreadId, Cut>,
    objects: FxHashMap<ObjId, Cut>,
    /// Static initialisers that ended, and how many did.
    inits: (u32, Cut),
    /// By thread: how many of them it knows.
    knows: Vec<u32>,
    locks: FxHashMap<LockId, u32>,
    /// By thread: open sections, each with its depth.
    open: Vec<Vec<(u32, u32)>>,
}

impl<'i, 'a> Builder<'i, 'a> {
    pub fn new(index: &'i mut Index<'a>) -> Builder<'i, 'a> {
        let (width, stride) = (index.width(), index.stride());
        index.marks = vec![Vec::new(); width];
        index.clocks = vec![0; stride];
        index.open = vec![Vec::new(); width];
        Builder {
            now: vec![vec![0; stride]; width],
            done: vec![0; width],
            writes: vec![None; index.candidate.len()],
            stores: FxHashMap::default(),
            forks: FxHashMap::default(),
            monitors: FxHashMap::default(),
            signals: FxHashMap::default(),
            objects: FxHashMap::default(),
            inits: (0, vec![0; stride]),
            knows: vec![0; width],
            locks: FxHashMap::default(),
            open: vec![Vec::new(); width],
            index,
        }
    }

    /// How many events were taken in before the clocks took `clocks` bytes: all, as a rule.
    pub fn build(mut self, clocks: usize) -> usize {
        for at in 0..self.index.events.len() {
            if self.index.clocks.len() * size_of::<u32>() > clocks {
                return at;
            }
            let e = self.index.events[at];
            let thread = self.index.thread(at as u32);
            self.event(at as u32, thread, &e);
        }
        self.index.events.len()
    }

    fn event(&mut self, at: u32, me: u32, e: &Event) {
        let t = me as usize;
        let (place, mut news) = self.enter(me);
        let var = self.index.var[at as usize];
        if var != NONE {
            if news {
                self.mark(t, place);
                let clock = self.index.marks[t].last().map_or(0, |(_, clock)| *clock);
                self.index.entries.insert(at, clock);
                news = false;
            }
            if reads(e.op) {
                if let Some(write) = self.writes[var as usize] {
                    news |= self.learn_place(t, write);
                }
                if volatile(e.op)
                    && let Some(stores) = self.stores.remove(&var)
                {
                    news |= match &stores {
                        Stores::Last(store) => self.learn_place(t, *store),
                        Stores::Many(needed) => learn(&mut self.now[t], needed),
                    };
                    self.stores.insert(var, stores);
                }
            }
            if news {
                self.mark(t, place);
            }
            if AnyAccess::from_op(e.op).is_some_and(|a| a.write) {
                let here = Place {
                    thread: me,
                    count: place,
                    clock: self.index.marks[t].last().map_or(0, |(_, clock)| *clock),
                };
                self.writes[var as usize] = Some(here);
                if volatile(e.op) {
                    self.store(t, var, here);
                }
            }
            return;
        }
        if self.learn_hard(me, e) || news {
            self.mark(t, place);
        }
        self.publish(me, e);
        self.lock(at, me, place, e.op);
    }

    /// The thread's next event: its place, and whether its thread's start or
    /// static initialisers were news to it.
    pub fn enter(&mut self, me: u32) -> (u32, bool) {
        let t = me as usize;
        self.done[t] += 1;
        let place = self.done[t];
        let mut news = false;
        if place == 1
            && let Some(fork) = self.forks.remove(&me)
        {
            news |= learn(&mut self.now[t], &fork);
        }
        if self.knows[t] < self.inits.0 {
            self.knows[t] = self.inits.0;
            news |= learn(&mut self.now[t], &self.inits.1);
        }
        (place, news)
    }

    /// Learns what synchronisation needs; true if that was news.
    pub fn learn_hard(&mut self, me: u32, e: &Event) -> bool {
        let t = me as usize;
        let mut news = false;
        if signals::awaits(e.op)
            && let Some(sent) = self.signals.get(&e.thread)
        {
            news |= learn(&mut self.now[t], sent);
        }
        news |= match e.op {
            Op::WaitEnd { lock, .. } => match self.monitors.get(&lock) {
                Some(needed) => learn(&mut self.now[t], needed),
                None => false,
            },
            Op::SyncAcquire(object) => match self.objects.get(&object) {
                Some(needed) => learn(&mut self.now[t], needed),
                None => false,
            },
            Op::Join(other) => match self.index.dense(other) {
                Some(other) if other != me && self.done[other as usize] > 0 => {
                    let needed = self.so_far(other);
                    learn(&mut self.now[t], &needed)
                }
                _ => false,
            },
            _ => false,
        };
        news
    }

    /// Learns what keeping everything up to `place` needs.
    fn learn_place(&mut self, t: usize, place: Place) -> bool {
        let by = place.thread as usize;
        if by == t || self.now[t][by] >= place.count {
            return false;
        }
        let width = self.index.stride();
        let from = place.clock as usize * width;
        learn(&mut self.now[t], &self.index.clocks[from..from + width]);
        self.now[t][by] = place.count;
        true
    }

    /// Adds a volatile write to those of its variable.
    fn store(&mut self, t: usize, var: u32, here: Place) {
        let known = match self.stores.get(&var) {
            None => true,
            Some(Stores::Last(last)) => {
                let by = last.thread as usize;
                by == t || self.now[t][by] >= last.count
            }
            Some(Stores::Many(all)) => {
                let mine = self.now[t].iter().enumerate();
                let mut all = mine.zip(all);
                all.all(|((by, mine), needed)| by == t || mine >= needed)
            }
        };
        if known {
            self.stores.insert(var, Stores::Last(here));
            return;
        }
        let mut all = self.so_far(here.thread);
        match self.stores.remove(&var) {
            Some(Stores::Many(before)) => {
                learn(&mut all, &before);
            }
            Some(Stores::Last(last)) => {
                let width = self.index.stride();
                let from = last.clock as usize * width;
                learn(&mut all, &self.index.clocks[from..from + width]);
                let by = &mut all[last.thread as usize];
                *by = (*by).max(last.count);
            }
            None => {}
        }
        self.stores.insert(var, Stores::Many(all));
    }

    /// From here on, keeping an event of the thread needs what it needs now.
    pub fn mark(&mut self, t: usize, place: u32) {
        let width = self.index.stride();
        let clock = (self.index.clocks.len() / width) as u32;
        self.index.clocks.extend_from_slice(&self.now[t]);
        self.index.marks[t].push((place, clock));
    }

    /// What keeping all a thread did so far needs, itself included.
    fn so_far(&self, thread: u32) -> Cut {
        let mut needed = self.now[thread as usize].clone();
        needed[thread as usize] = self.done[thread as usize];
        needed
    }

    pub fn publish(&mut self, me: u32, e: &Event) {
        let width = self.index.stride();
        let slot = match e.op {
            Op::Fork(child) => match self.index.dense(child) {
                // A thread that runs already was not started by this.
                Some(child) if self.done[child as usize] == 0 => {
                    self.forks.entry(child).or_default()
                }
                _ => return,
            },
            Op::WaitBegin(lock)
            | Op::WaitEnd { lock, .. }
            | Op::Notify(lock)
            | Op::NotifyAll(lock) => self.monitors.entry(lock).or_default(),
            Op::SyncRelease(object) => self.objects.entry(object).or_default(),
            Op::InitEnd(_) => {
                self.inits.0 += 1;
                &mut self.inits.1
            }
            op => match signals::target(op) {
                Some(target) => self.signals.entry(target).or_default(),
                None => return,
            },
        };
        slot.resize(width, 0);
        learn(slot, &self.now[me as usize]);
        slot[me as usize] = self.done[me as usize];
    }

    pub fn lock(&mut self, at: u32, me: u32, place: u32, op: Op) {
        let (lock, shared, taken) = match op {
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } => (lock, false, true),
            Op::Release(lock) | Op::WaitBegin(lock) => (lock, false, false),
            Op::AcquireShared(lock) => (lock, true, true),
            Op::ReleaseShared(lock) => (lock, true, false),
            _ => return,
        };
        let users = &mut self.index.users;
        let lock = *self.locks.entry(lock).or_insert_with(|| {
            users.push(Vec::new());
            users.len() as u32 - 1
        });
        let sections = &mut self.index.sections;
        let open = &mut self.open[me as usize];
        let mine = open.iter().position(|(section, _)| {
            let s = &sections[*section as usize];
            s.lock == lock && s.shared == shared
        });
        match (taken, mine) {
            // Only other tools' traces have re-entrant acquisitions.
            (true, Some(mine)) => {
                open[mine].1 += 1;
                return;
            }
            (true, None) => {
                open.push((sections.len() as u32, 1));
                sections.push(Section {
                    lock,
                    shared,
                    thread: me,
                    released: NEVER,
                    event: at,
                });
                let users = &mut users[lock as usize];
                let user = match users.iter().position(|u| u.thread == me) {
                    Some(user) => &mut users[user],
                    None => {
                        users.push(User {
                            thread: me,
                            exclusive: Vec::new(),
                            shared: Vec::new(),
                        });
                        let last = users.len() - 1;
                        &mut users[last]
                    }
                };
                let list = if shared {
                    &mut user.shared
                } else {
                    &mut user.exclusive
                };
                list.push(place);
            }
            (false, Some(mine)) => {
                open[mine].1 -= 1;
                if open[mine].1 > 0 {
                    return;
                }
                let (section, _) = open.remove(mine);
                sections[section as usize].released = place;
            }
            (false, None) => return,
        }
        let lists = &mut self.index.open_lists;
        let start = lists.len() as u32;
        lists.extend(open.iter().map(|(section, _)| *section));
        self.index.open[me as usize].push((place, start, lists.len() as u32));
    }
}

pub(super) fn reads(op: Op) -> bool {
    matches!(op, Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..))
}

/// Whether an atomic access orders others.
pub(super) fn volatile(op: Op) -> bool {
    match op {
        Op::AtomicRead(_, mode) | Op::AtomicWrite(_, mode) | Op::AtomicUpdate(_, mode) => {
            mode != Mode::Opaque
        }
        _ => false,
    }
}

/// Adds what `needed` has; true if that changed anything.
pub(super) fn learn(cut: &mut [u32], needed: &[u32]) -> bool {
    let mut changed = false;
    for (mine, needed) in cut.iter_mut().zip(needed) {
        changed |= *mine < *needed;
        *mine = (*mine).max(*needed);
    }
    changed
}
