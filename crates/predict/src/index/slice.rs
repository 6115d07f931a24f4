//! What each event needs when reads that nothing kept depends on may see
//! something else: the relevant slice, for all variables in one pass.
//!
//! # How
//! For every event two clocks are worked out, in the order of the run: what
//! it needs to *happen*, the join over its dependences; and, of a read, what
//! the value it saw needs (that it happens, and the value of the write), of a
//! write what its value needs. A clock says how many of its first events each
//! thread keeps. What synchronisation needs goes into the marks of its thread,
//! as ever: all synchronisation of a kept prefix is kept, and so are updates.
//! The clocks of events are closed under control and data flow by
//! construction, and equal ones are one, so the pass costs as much as the
//! lists of dependences are long, times threads.
//!
//! # Relevance
//! A write that may be missing, or go elsewhere, or a branch not taken that
//! may write, must not come between a needed read and the write it saw. Such
//! writes are few, and belong to classes of locations; classes are put into at
//! most [`GROUPS`] groups. A clock says besides in which groups values are
//! needed, and for each group and thread there is a list of what its writes up
//! to here need to be where they were. `settle` closes a cut under that: if a
//! value of a group is needed, all writes of the group in the cut are as they
//! were. That is more than needed (an uncertain write may come before or
//! after), and needs no search.
//!
//! Writes that always happen, where they did, need nothing: in a witness they
//! are where they are, and the order of conflicting accesses is kept.

use super::build::{Builder, learn, reads, volatile};
use super::{Cut, Index, NONE};
use crate::deps::{ANYWHERE, Dep, Deps, Needs};
use detect::AnyAccess;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{Event, Op};

/// Classes with uncertain writes that are told apart.
const GROUPS: usize = 32;

#[derive(Debug)]
pub(super) struct Sliced {
    pub groups: usize,
    /// By event: the clock of what it needs to happen.
    pub happens: Vec<u32>,
    /// By event: of what its value needs. Zero for all but accesses.
    pub value: Vec<u32>,
    /// By group and thread: from which place on the writes of the group need
    /// which clock to be as they were. Ascending.
    uncertain: Vec<Vec<Vec<(u32, u32)>>>,
    /// By event: the write it saw, or `NONE`.
    saw: Vec<u32>,
    classes: Classes,
}

impl Index<'_> {
    /// The write that a read saw.
    pub fn saw(&self, read: u32) -> Option<u32> {
        let write = self.sliced.as_ref()?.saw[read as usize];
        (write != NONE).then_some(write)
    }

    /// Whether, in the cut, a value may be needed that an uncertain write of
    /// this class could change.
    pub fn exposed(&self, cut: &[u32], class: u32) -> bool {
        let groups = &cut[self.width()..];
        self.sliced.as_ref().is_some_and(|sliced| {
            let group = sliced.classes.of_write(class);
            group.is_some_and(|group| groups[group] != 0)
        })
    }

    /// Closes a cut under relevance.
    #[inline]
    pub(super) fn settle(&self, cut: &mut [u32]) {
        if let Some(sliced) = &self.sliced {
            self.settle_groups(sliced, cut);
        }
    }

    fn settle_groups(&self, sliced: &Sliced, cut: &mut [u32]) {
        let width = self.width();
        loop {
            let mut grown = false;
            for (group, by_thread) in sliced.uncertain.iter().enumerate() {
                if cut[width + group] == 0 {
                    continue;
                }
                for (thread, list) in by_thread.iter().enumerate() {
                    let kept = cut[thread];
                    let inside = list.partition_point(|(place, _)| *place <= kept);
                    if let Some((_, clock)) = inside.checked_sub(1).map(|last| list[last]) {
                        grown |= self.join(cut, clock);
                    }
                }
            }
            if !grown {
                return;
            }
        }
    }
}

/// Which classes have uncertain writes, and their groups.
#[derive(Debug)]
struct Classes {
    groups: FxHashMap<u32, usize>,
    /// The group of writes that may go anywhere.
    anywhere: Option<usize>,
    count: usize,
}

impl Classes {
    fn partition(index: &Index<'_>, deps: &Deps) -> Classes {
        let mut found: FxHashSet<u32> = FxHashSet::default();
        // By event: whether it may not happen, or elsewhere.
        let mut hangs = vec![false; index.events.len()];
        for (at, e) in (0u32..).zip(index.events) {
            let hangs_on = |dep: Dep| match dep {
                Dep::Value(_) => true,
                Dep::Happens(other) => hangs[other as usize],
            };
            let uncertain = match deps.happens(at) {
                Needs::All => true,
                Needs::These(list) => list.iter().any(|entry| hangs_on(entry.get())),
            };
            hangs[at as usize] = uncertain;
            if uncertain && AnyAccess::from_op(e.op).is_some_and(|a| a.write) {
                found.insert(deps.class(at));
            }
        }
        for write in deps.may_write() {
            found.extend(&write.classes);
        }
        let anywhere = usize::from(found.remove(&ANYWHERE));
        let mut found: Vec<u32> = found.into_iter().collect();
        found.sort_unstable();
        let room = GROUPS - anywhere;
        Classes {
            count: anywhere + found.len().min(room),
            anywhere: (anywhere > 0).then_some(0),
            groups: { found.into_iter().zip((anywhere..GROUPS).cycle()) }.collect(),
        }
    }

    /// Says in `cut` that a value of the class is needed.
    fn need(&self, class: u32, cut: &mut [u32], width: usize) {
        if class == ANYWHERE {
            cut[width..].fill(1);
        } else if let Some(group) = self.groups.get(&class) {
            cut[width + group] = 1;
        }
        if let Some(group) = self.anywhere {
            cut[width + group] = 1;
        }
    }

    fn of_write(&self, class: u32) -> Option<usize> {
        match class {
            ANYWHERE => self.anywhere,
            class => self.groups.get(&class).copied(),
        }
    }
}

/// The state of the pass, beside that of the [`Builder`].
struct Slicer<'d> {
    deps: &'d Deps,
    /// By thread: what everything it saw so far needs.
    all: Vec<Cut>,
    /// By variable: the last write.
    writes: Vec<u32>,
    /// By variable: what the values of its volatile writes need.
    stores: FxHashMap<u32, Cut>,
    known: FxHashMap<Box<[u32]>, u32>,
    /// The next of the writes that did not happen.
    missed: usize,
    entry: Cut,
    value: Cut,
}

pub(super) fn build(index: &mut Index<'_>, deps: &Deps) {
    let classes = Classes::partition(index, deps);
    let events = index.events.len();
    let width = index.width();
    index.sliced = Some(Sliced {
        groups: classes.count,
        happens: vec![0; events],
        value: vec![0; events],
        uncertain: vec![vec![Vec::new(); width]; classes.count],
        saw: vec![NONE; events],
        classes,
    });
    let stride = index.stride();
    let mut slicer = Slicer {
        deps,
        all: vec![vec![0; stride]; width],
        writes: vec![NONE; index.candidate.len()],
        stores: FxHashMap::default(),
        known: FxHashMap::from_iter([(vec![0; stride].into_boxed_slice(), 0)]),
        missed: 0,
        entry: vec![0; stride],
        value: vec![0; stride],
    };
    let mut builder = Builder::new(index);
    for at in 0..events {
        let e = builder.index.events[at];
        let thread = builder.index.thread(at as u32);
        slicer.event(&mut builder, at as u32, thread, &e);
    }
}

impl Slicer<'_> {
    fn event(&mut self, builder: &mut Builder<'_, '_>, at: u32, me: u32, e: &Event) {
        let t = me as usize;
        let (place, mut news) = builder.enter(me);
        let mut entry = std::mem::take(&mut self.entry);
        entry.fill(0);
        self.add(builder.index, &mut entry, at, me, self.deps.happens(at));
        if news {
            learn(&mut entry, &builder.now[t]);
        }
        let happens = self.intern(builder.index, &mut entry, t);
        if let Some(sliced) = &mut builder.index.sliced {
            sliced.happens[at as usize] = happens;
        }
        let var = builder.index.var[at as usize];
        if var != NONE {
            news |= self.access(builder, at, me, place, e, &entry, var);
        } else if e.op.is_sync() {
            news |= learn(&mut builder.now[t], &entry);
            news |= builder.learn_hard(me, e);
        }
        self.entry = entry;
        if news {
            builder.mark(t, place);
            learn(&mut self.all[t], &builder.now[t]);
        }
        if var == NONE {
            builder.publish(me, e);
            builder.lock(at, me, place, e.op);
        }
        while let Some(write) = self.deps.may_write().get(self.missed)
            && write.after <= at
        {
            self.missed += 1;
            let thread = builder.index.thread(write.after);
            let place = builder.index.place[write.after as usize];
            let mut unless = vec![0; builder.index.stride()];
            let needs = self.deps.unless(write);
            self.add(builder.index, &mut unless, at + 1, thread, needs);
            let clock = self.intern(builder.index, &mut unless, thread as usize);
            for class in &write.classes {
                Self::uncertain(builder.index, *class, thread, place, clock);
            }
        }
    }

    /// True if that was news to the thread's synchronisation.
    #[expect(clippy::too_many_arguments, reason = "one event in all its aspects")]
    fn access(
        &mut self,
        builder: &mut Builder<'_, '_>,
        at: u32,
        me: u32,
        place: u32,
        e: &Event,
        entry: &[u32],
        var: u32,
    ) -> bool {
        let t = me as usize;
        let width = builder.index.width();
        let class = self.deps.class(at);
        let mut value = std::mem::take(&mut self.value);
        value.copy_from_slice(entry);
        learn(&mut value, &builder.now[t]);
        let mut news = false;
        if reads(e.op) {
            let write = self.writes[var as usize];
            if write != NONE {
                let needed = builder
                    .index
                    .sliced
                    .as_ref()
                    .map_or(0, |s| s.value[write as usize]);
                builder.index.join(&mut value, needed);
                let by = builder.index.thread(write) as usize;
                value[by] = value[by].max(builder.index.place[write as usize]);
            }
            if volatile(e.op)
                && let Some(stores) = self.stores.get(&var)
            {
                learn(&mut value, stores);
            }
            if let Some(sliced) = &mut builder.index.sliced {
                sliced.saw[at as usize] = write;
                sliced.classes.need(class, &mut value, width);
            }
            learn(&mut self.all[t], &value);
            // An update might do something else on another value, and so might
            // what failed.
            let hard = match e.op {
                Op::AtomicUpdate(..) => true,
                Op::AtomicRead(..) => !self.deps.is_load(at),
                _ => false,
            };
            if hard {
                news = learn(&mut builder.now[t], &value);
            }
        }
        let write = AnyAccess::from_op(e.op).is_some_and(|a| a.write);
        if write {
            self.add(builder.index, &mut value, at, me, self.deps.value(at));
            self.writes[var as usize] = at;
            if volatile(e.op) {
                let stores = self.stores.entry(var).or_default();
                stores.resize(value.len(), 0);
                learn(stores, &value);
                stores[t] = stores[t].max(place);
            }
        }
        let clock = self.intern(builder.index, &mut value, t);
        self.value = value;
        let mut happens = 0;
        if let Some(sliced) = &mut builder.index.sliced {
            sliced.value[at as usize] = clock;
            happens = sliced.happens[at as usize];
        }
        if write {
            Self::uncertain(builder.index, class, me, place, happens);
        }
        news
    }

    /// Adds what an event of thread `me` before `end` needs.
    fn add(&self, index: &Index<'_>, cut: &mut [u32], end: u32, me: u32, needs: Needs<'_>) {
        let all = &self.all[me as usize];
        let Needs::These(list) = needs else {
            learn(cut, all);
            return;
        };
        let Some(sliced) = &index.sliced else {
            return;
        };
        for entry in list {
            let (Dep::Value(other) | Dep::Happens(other)) = entry.get();
            if other >= end || index.thread(other) != me {
                // Of another thread: nothing that makes sense.
                learn(cut, all);
                continue;
            }
            match entry.get() {
                Dep::Value(read) => index.join(cut, sliced.value[read as usize]),
                Dep::Happens(event) => index.join(cut, sliced.happens[event as usize]),
            };
        }
    }

    /// A write that may be missing: what it needs to be as it was.
    fn uncertain(index: &mut Index<'_>, class: u32, thread: u32, place: u32, clock: u32) {
        let Some(sliced) = index.sliced.as_ref().filter(|_| clock != 0) else {
            return;
        };
        let Some(group) = sliced.classes.of_write(class) else {
            return;
        };
        let last = sliced.uncertain[group][thread as usize].last().copied();
        let mut both = vec![0; index.stride()];
        index.join(&mut both, clock);
        let grown = match last {
            Some((_, before)) => {
                let mut all = vec![0; both.len()];
                index.join(&mut all, before);
                let grown = learn(&mut all, &both);
                both = all;
                grown
            }
            None => true,
        };
        if !grown {
            return;
        }
        let clock = (index.clocks.len() / both.len()) as u32;
        index.clocks.extend_from_slice(&both);
        if let Some(sliced) = &mut index.sliced {
            sliced.uncertain[group][thread as usize].push((place, clock));
        }
    }

    /// The number of the clock of an event of `thread`; what it says of the
    /// thread itself goes without saying.
    fn intern(&mut self, index: &mut Index<'_>, cut: &mut [u32], thread: usize) -> u32 {
        cut[thread] = 0;
        if let Some(known) = self.known.get(&*cut) {
            return *known;
        }
        let clock = (index.clocks.len() / cut.len()) as u32;
        index.clocks.extend_from_slice(cut);
        self.known.insert(cut.into(), clock);
        clock
    }
}
