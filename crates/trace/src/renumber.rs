//! Numbers for several runs in one trace.
//!
//! What is the same in two runs (a statement, a field, a class, a method, known
//! by its row) gets one number; threads and objects are never the same. A number
//! is kept where it is still free, so the first run keeps all of its own.

use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

use crate::event::{Event, Loc, LockId, ObjId, Op, SiteId, ThreadId};
use crate::tables::{Class, Field, Method, Site, Tables, Thread};

/// The numbers given out so far, over all runs.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    sites: Given<Site>,
    fields: Given<Field>,
    classes: Given<Class>,
    methods: Given<Method>,
    threads: Given<()>,
    /// Objects of earlier runs have numbers up to this one.
    last_object: u64,
}

/// Numbers of one kind.
#[derive(Debug)]
struct Given<T> {
    by_row: FxHashMap<T, u32>,
    taken: FxHashSet<u32>,
    next: u32,
}

impl<T> Default for Given<T> {
    fn default() -> Self {
        Given {
            by_row: FxHashMap::default(),
            taken: FxHashSet::default(),
            next: 0,
        }
    }
}

impl<T: Hash + Eq + Clone> Given<T> {
    /// The number of a row; `None` when they have run out.
    fn of_row(&mut self, wanted: u32, row: &T) -> Option<u32> {
        if let Some(&number) = self.by_row.get(row) {
            return Some(number);
        }
        let number = self.fresh(wanted)?;
        self.by_row.insert(row.clone(), number);
        Some(number)
    }

    /// A number that nothing else has: the wanted one, if possible.
    fn fresh(&mut self, wanted: u32) -> Option<u32> {
        if self.taken.insert(wanted) {
            return Some(wanted);
        }
        while !self.taken.insert(self.next) {
            self.next = self.next.checked_add(1)?;
        }
        Some(self.next)
    }
}

/// The numbers of one run, and what becomes of them.
#[derive(Debug)]
pub(crate) struct Renumber<'a> {
    numbers: &'a mut Numbers,
    sites: FxHashMap<u32, u32>,
    fields: FxHashMap<u32, u32>,
    methods: FxHashMap<u32, u32>,
    classes: FxHashMap<u32, u32>,
    threads: FxHashMap<u32, u32>,
    arrays: FxHashSet<u64>,
    elements: FxHashSet<u32>,
    /// Added to the numbers of objects.
    objects: u64,
    /// The largest number of an object so far.
    last_object: u64,
}

impl<'a> Renumber<'a> {
    /// For the run with these tables; also gives the rows under their new
    /// numbers. `None` when numbers run out.
    pub(crate) fn new(numbers: &'a mut Numbers, tables: &Tables) -> Option<(Self, Tables)> {
        let objects = numbers.last_object;
        let mut new = Renumber {
            numbers,
            sites: FxHashMap::default(),
            fields: FxHashMap::default(),
            methods: FxHashMap::default(),
            classes: FxHashMap::default(),
            threads: FxHashMap::default(),
            arrays: FxHashSet::default(),
            elements: FxHashSet::default(),
            objects,
            last_object: objects,
        };
        let mut rows = Tables::default();
        // 0 is "unknown" in every run.
        new.sites.insert(0, 0);
        new.numbers.sites.taken.insert(0);
        // A row that names a call comes after the call's own.
        let (within, alone): (Vec<_>, Vec<_>) =
            { tables.sites.iter() }.partition(|(_, row)| row.call.is_some());
        for (id, row) in alone.into_iter().chain(within) {
            let mut row = row.clone();
            if let Some(call) = row.call {
                row.call = Some(new.site(call)?);
            }
            if id.0 != 0 {
                let to = new.numbers.sites.of_row(id.0, &row)?;
                new.sites.insert(id.0, to);
            }
            if row.kind.is_element() {
                new.elements.insert(id.0);
            }
            rows.sites.insert(new.site(*id)?, row);
        }
        for (&id, row) in &tables.fields {
            let to = new.numbers.fields.of_row(id, row)?;
            new.fields.insert(id, to);
            rows.fields.insert(to, row.clone());
        }
        for (&id, row) in &tables.classes {
            let to = new.numbers.classes.of_row(id, row)?;
            new.classes.insert(id, to);
            rows.classes.insert(to, row.clone());
        }
        for (&id, row) in &tables.methods {
            let class = new.class(row.class)?;
            let row = Method {
                class,
                ..row.clone()
            };
            let to = new.numbers.methods.of_row(id, &row)?;
            new.methods.insert(id, to);
            rows.methods.insert(to, row);
        }
        for (&id, row) in &tables.threads {
            let creator = match row.creator {
                Some(creator) => Some(new.thread(creator)?),
                None => None,
            };
            let row = Thread {
                creator,
                ..row.clone()
            };
            rows.threads.insert(new.thread(id)?, row);
        }
        for (&id, row) in &tables.objects {
            if row.class.starts_with('[') {
                new.arrays.insert(id.0);
            }
            let mut row = row.clone();
            row.site = new.site(row.site)?;
            rows.objects.insert(new.object(id)?, row);
        }
        Some((new, rows))
    }

    /// All of the run has been seen.
    pub(crate) fn done(self) {
        self.numbers.last_object = self.last_object;
    }

    pub(crate) fn class(&mut self, id: u32) -> Option<u32> {
        known(&mut self.classes, id, || self.numbers.classes.fresh(id))
    }

    /// The event under its new numbers; `None` when they run out.
    pub(crate) fn event(&mut self, e: &Event) -> Option<Event> {
        let site = e.site;
        let op = match e.op {
            Op::Read(l) => Op::Read(self.loc(l, site)?),
            Op::Write(l) => Op::Write(self.loc(l, site)?),
            Op::AtomicRead(l, m) => Op::AtomicRead(self.loc(l, site)?, m),
            Op::AtomicWrite(l, m) => Op::AtomicWrite(self.loc(l, site)?, m),
            Op::AtomicUpdate(l, m) => Op::AtomicUpdate(self.loc(l, site)?, m),
            Op::Acquire(l) => Op::Acquire(self.lock(l)?),
            Op::Release(l) => Op::Release(self.lock(l)?),
            Op::AcquireShared(l) => Op::AcquireShared(self.lock(l)?),
            Op::ReleaseShared(l) => Op::ReleaseShared(self.lock(l)?),
            Op::WaitBegin(l) => Op::WaitBegin(self.lock(l)?),
            Op::WaitEnd { lock, notified } => Op::WaitEnd {
                lock: self.lock(lock)?,
                notified,
            },
            Op::Notify(l) => Op::Notify(self.lock(l)?),
            Op::NotifyAll(l) => Op::NotifyAll(self.lock(l)?),
            Op::Fork(t) => Op::Fork(self.thread(t)?),
            Op::Join(t) => Op::Join(self.thread(t)?),
            Op::Interrupt(t) => Op::Interrupt(self.thread(t)?),
            Op::Unpark(t) => Op::Unpark(self.thread(t)?),
            Op::SyncRelease(o) => Op::SyncRelease(self.object(o)?),
            Op::SyncAcquire(o) => Op::SyncAcquire(self.object(o)?),
            Op::InitBegin(o) => Op::InitBegin(self.object(o)?),
            Op::InitEnd(o) => Op::InitEnd(self.object(o)?),
            Op::MethodEnter(m) => Op::MethodEnter(self.method(m)?),
            Op::MethodExit(m) => Op::MethodExit(self.method(m)?),
            Op::Begin | Op::End | Op::Interrupted | Op::Park | Op::Branch(_) | Op::Unsure(_) => {
                e.op
            }
        };
        Some(Event {
            thread: self.thread(e.thread)?,
            site: self.site(site)?,
            op,
        })
    }

    fn site(&mut self, id: SiteId) -> Option<SiteId> {
        known(&mut self.sites, id.0, || self.numbers.sites.fresh(id.0)).map(SiteId)
    }

    fn method(&mut self, id: u32) -> Option<u32> {
        known(&mut self.methods, id, || self.numbers.methods.fresh(id))
    }

    fn thread(&mut self, id: ThreadId) -> Option<ThreadId> {
        known(&mut self.threads, id.0, || self.numbers.threads.fresh(id.0)).map(ThreadId)
    }

    fn object(&mut self, id: ObjId) -> Option<ObjId> {
        if id.0 == 0 {
            return Some(id); // no object, in every run
        }
        let to = id.0.checked_add(self.objects)?;
        self.last_object = self.last_object.max(to);
        Some(ObjId(to))
    }

    fn lock(&mut self, lock: LockId) -> Option<LockId> {
        self.object(lock.0).map(LockId)
    }

    /// Slots of arrays are indices and stay; others are the numbers of fields.
    fn loc(&mut self, loc: Loc, site: SiteId) -> Option<Loc> {
        let index = self.arrays.contains(&loc.obj.0) || self.elements.contains(&site.0);
        let field = self.fields.get(&loc.slot).filter(|_| !index);
        let slot = field.copied().unwrap_or(loc.slot);
        Some(Loc {
            obj: self.object(loc.obj)?,
            slot,
        })
    }
}

/// What `id` became; made up when first asked for.
fn known(
    map: &mut FxHashMap<u32, u32>,
    id: u32,
    make: impl FnOnce() -> Option<u32>,
) -> Option<u32> {
    if let Some(&to) = map.get(&id) {
        return Some(to);
    }
    let to = make()?;
    map.insert(id, to);
    Some(to)
}
