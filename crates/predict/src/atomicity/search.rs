//! Which accesses might come between, and the attempts to let them.

use super::{Part, Pattern, Unit, Violation, Violations};
use crate::candidates::Pair;
use crate::deps::Deps;
use crate::index::{Index, NEVER, NONE};
use crate::osr::Turns;
use crate::sliced::matters;
use crate::syncp::{Bounds, close, kept};
use crate::verify::{Checked, Verifier};
use detect::AnyAccess;
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{Op, SiteId};

/// Attempts for a combination of statements.
const TRIES: u32 = 6;
/// Places where the one thread may stop for the other.
const STOPS: usize = 4;
/// Accesses of a unit that are looked at; what has more is no unit.
const MOST: usize = 100_000;
/// Violations that anybody reads.
const LISTED: usize = 1_000;
/// Events walked over in attempts, for each event of the trace, and besides.
const BUDGET: (u64, u64) = (64, 20_000_000);

/// What makes violations the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    pattern: Pattern,
    begin: SiteId,
    sites: [SiteId; 4],
    slots: [u32; 2],
}

/// By thread of a variable: its accesses in order, and whether they write.
type Accesses = FxHashMap<u32, Vec<(u32, Vec<(u32, bool)>)>>;

/// Where the units of each thread are.
struct Spans {
    /// By thread: first events, ascending, each with the latest end of it and
    /// those before.
    by_thread: Vec<Vec<(u32, u32)>>,
}

impl Spans {
    fn new(index: &Index<'_>, units: &[Unit]) -> Spans {
        let mut by_thread = vec![Vec::new(); index.width()];
        for unit in units {
            if (unit.first as usize) < index.events.len() {
                by_thread[index.thread(unit.first) as usize].push((unit.first, unit.last));
            }
        }
        for list in &mut by_thread {
            list.sort_unstable();
            let mut latest = 0;
            for (_, end) in list {
                latest = latest.max(*end);
                *end = latest;
            }
        }
        Spans { by_thread }
    }

    /// Whether a unit of the thread has both events.
    fn together(&self, thread: u32, x: u32, y: u32) -> bool {
        let list = &self.by_thread[thread as usize];
        let begun = list.partition_point(|(first, _)| *first <= x.min(y));
        begun > 0 && x.max(y) <= list[begun - 1].1
    }
}

pub(super) struct Search<'i, 'a> {
    index: &'i Index<'a>,
    deps: &'i Deps,
    verifier: Verifier<'a>,
    turns: Turns,
    accesses: Accesses,
    spans: Spans,
    tried: FxHashMap<Key, u32>,
    known: FxHashSet<Key>,
    left: u64,
    skipped: u64,
    found: Violations,
}

/// An attempt: the unit's two accesses, and others' first and last, with the
/// threads of both.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    pub unit: [u32; 2],
    pub other: [u32; 2],
    pub threads: [u32; 2],
}

pub(super) fn search<'a>(
    index: &Index<'a>,
    deps: &Deps,
    units: &[Unit],
    verifier: Verifier<'a>,
) -> Violations {
    let mut search = Search::new(index, deps, units, verifier);
    for unit in units {
        if (unit.last as usize) < index.events.len() {
            search.unit(unit);
        }
    }
    search.finish()
}

impl<'i, 'a> Search<'i, 'a> {
    pub fn new(
        index: &'i Index<'a>,
        deps: &'i Deps,
        units: &[Unit],
        verifier: Verifier<'a>,
    ) -> Search<'i, 'a> {
        let mut accesses = Accesses::default();
        for (at, e) in (0u32..).zip(index.events) {
            let var = index.var[at as usize];
            if var == NONE || !index.contended[var as usize] {
                continue;
            }
            let write = AnyAccess::from_op(e.op).is_some_and(|a| a.write);
            let threads = accesses.entry(var).or_default();
            let me = index.thread(at);
            match threads.iter_mut().find(|(thread, _)| *thread == me) {
                Some((_, list)) => list.push((at, write)),
                None => threads.push((me, vec![(at, write)])),
            }
        }
        Search {
            index,
            deps,
            verifier,
            turns: Turns::new(index),
            accesses,
            spans: Spans::new(index, units),
            tried: FxHashMap::default(),
            known: FxHashSet::default(),
            left: BUDGET.0 * index.events.len() as u64 + BUDGET.1,
            skipped: 0,
            found: Violations::default(),
        }
    }

    /// Accesses of other threads to what the unit's last access is about, with their threads:
    /// those between first, then those near, two of each statement.
    pub fn others(&self, a: u32, z: u32, me: u32) -> Vec<(u32, u32)> {
        let var = self.index.var[z as usize];
        let mut all: Vec<(u32, u32)> = Vec::new();
        let threads = self.accesses.get(&var).map_or(&[][..], Vec::as_slice);
        for (thread, list) in threads.iter().filter(|(t, _)| *t != me) {
            let [from, to] = [a, z].map(|e| list.partition_point(|(other, _)| *other < e));
            let near = { list[from..to].iter().take(64) }
                .chain(list[to..].iter().take(64))
                .chain(list[..from].iter().rev().take(64));
            let mut seen: Vec<(SiteId, bool)> = Vec::new();
            for (event, write) in near {
                let key = (self.index.events[*event as usize].site, *write);
                if seen.iter().filter(|s| **s == key).count() < 2 {
                    seen.push(key);
                    all.push((*event, *thread));
                }
            }
        }
        all
    }

    /// A thread's accesses to a variable in order, and whether they write.
    pub fn accesses_of(&self, var: u32, thread: u32) -> &[(u32, bool)] {
        let threads = self.accesses.get(&var).map_or(&[][..], Vec::as_slice);
        let list = threads.iter().find(|(t, _)| *t == thread);
        list.map_or(&[], |(_, list)| list)
    }

    /// By access to a variable: the write before it in the run.
    pub fn writes_before(&self, var: u32) -> FxHashMap<u32, u32> {
        let threads = self.accesses.get(&var).map_or(&[][..], Vec::as_slice);
        let mut all: Vec<(u32, bool)> =
            threads.iter().flat_map(|(_, list)| list).copied().collect();
        all.sort_unstable();
        let mut before = FxHashMap::default();
        let mut latest = None;
        for (event, write) in all {
            before.extend(latest.map(|latest| (event, latest)));
            if write {
                latest = Some(event);
            }
        }
        before
    }

    /// An order in which the other's accesses come between, and the checker's word for it.
    pub fn witness(&mut self, attempt: Attempt, tries: u32) -> Option<Vec<u32>> {
        if self.excluded(attempt) {
            return None;
        }
        let [a, z] = attempt.unit;
        let [b, c] = attempt.other;
        let marked: &[u32] = if b == c { &[a, b, z] } else { &[a, b, c, z] };
        for stop in self.stops(attempt) {
            if self.left == 0 {
                self.skipped += 1;
                return None;
            }
            let Some(order) = self.order(attempt, stop, tries) else {
                continue;
            };
            if self.verifier.check_sequence(&order, marked) == Checked::Accepted {
                return Some(order);
            }
        }
        None
    }

    /// An attempt is not made.
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    pub fn finish(mut self) -> Violations {
        let mut account = crate::found::Predictions::default();
        self.verifier.account(&mut account);
        self.found.refuted = account.refuted;
        self.found.incomplete = account.incomplete;
        if self.skipped > 0 && self.found.incomplete.is_none() {
            let why = format!(
                "{} attempts were not made: there were too many",
                self.skipped
            );
            self.found.incomplete = Some(why);
        }
        self.found
    }

    /// The unit's accesses of variables that others access too.
    fn accesses_in(&self, unit: &Unit) -> Vec<u32> {
        let thread = self.index.thread(unit.first) as usize;
        let places = [unit.first, unit.last].map(|e| self.index.place[e as usize] as usize);
        let events = &self.index.by_thread[thread][places[0] - 1..places[1]];
        let shared = |e: &&u32| {
            let var = self.index.var[**e as usize];
            var != NONE && self.index.contended[var as usize]
        };
        events.iter().filter(shared).take(MOST).copied().collect()
    }

    pub fn writes(&self, event: u32) -> bool {
        AnyAccess::from_op(self.index.events[event as usize].op).is_some_and(|a| a.write)
    }

    fn unit(&mut self, unit: &Unit) {
        let inside = self.accesses_in(unit);
        let mut last: FxHashMap<u32, u32> = FxHashMap::default();
        let mut last_write: FxHashMap<u32, u32> = FxHashMap::default();
        for z in &inside {
            let var = self.index.var[*z as usize];
            let write = self.writes(*z);
            if let Some(a) = last.insert(var, *z) {
                self.one_location(unit, a, *z, true);
            }
            if write && let Some(a) = last_write.insert(var, *z) {
                self.one_location(unit, a, *z, false);
            }
        }
        self.two_locations(unit, &inside);
    }

    /// Lets others' writes, or reads, of the location come between.
    fn one_location(&mut self, unit: &Unit, a: u32, z: u32, others_write: bool) {
        let kinds = [a, z].map(|e| self.writes(e));
        let Some(pattern) = Pattern::one(kinds, others_write) else {
            return;
        };
        let var = self.index.var[a as usize];
        let me = self.index.thread(a);
        let Some(threads) = self.accesses.get(&var) else {
            return;
        };
        let mut between: Vec<(u32, u32)> = Vec::new();
        for (thread, list) in threads.iter().filter(|(t, _)| *t != me) {
            // Those next to the unit need the least to change; one of each
            // statement.
            let after = list.partition_point(|(e, _)| *e < a);
            let near = list[after..]
                .iter()
                .take(64)
                .chain(list[..after].iter().rev().take(64));
            let mut sites: Vec<SiteId> = Vec::new();
            for (event, _) in near.filter(|(_, write)| *write == others_write) {
                let site = self.index.events[*event as usize].site;
                if sites.iter().filter(|s| **s == site).count() < 2 {
                    sites.push(site);
                    between.push((*event, *thread));
                }
            }
        }
        for (b, thread) in between {
            let attempt = Attempt {
                unit: [a, z],
                other: [b, b],
                threads: [me, thread],
            };
            self.attempt(unit, pattern, attempt);
        }
    }

    /// Two variables that the unit writes, or reads, both, and that another
    /// unit accesses both.
    fn two_locations(&mut self, unit: &Unit, inside: &[u32]) {
        const FEW: usize = 12;
        let me = self.index.thread(unit.first);
        let mut firsts: Vec<u32> = Vec::new();
        for e in inside {
            let same = |o: &&u32| {
                let o = **o as usize;
                self.index.var[o] == self.index.var[*e as usize]
                    && self.writes(o as u32) == self.writes(*e)
            };
            if firsts.len() < FEW && !firsts.iter().any(|o| same(&o)) {
                firsts.push(*e);
            }
        }
        let mut attempts = Vec::new();
        for (n, a) in firsts.iter().enumerate() {
            for z in &firsts[n + 1..] {
                let write = self.writes(*a);
                let vars = [*a, *z].map(|e| self.index.var[e as usize]);
                if vars[0] == vars[1] || write != self.writes(*z) {
                    continue;
                }
                let Some(threads) = self.accesses.get(&vars[0]) else {
                    continue;
                };
                for (thread, list) in threads.iter().filter(|(t, _)| *t != me) {
                    let after = list.partition_point(|(e, _)| *e < *a);
                    let near = list[after..]
                        .iter()
                        .take(4)
                        .chain(list[..after].iter().rev().take(4));
                    for (x, x_writes) in near {
                        let both = self.partner(*x, *thread, vars[1], *x_writes);
                        if let Some(y) = both
                            && let Some(pattern) = Pattern::two(write, *x_writes, x < &y)
                        {
                            attempts.push((
                                pattern,
                                Attempt {
                                    unit: [*a, *z],
                                    other: [*x.min(&y), *x.max(&y)],
                                    threads: [me, *thread],
                                },
                            ));
                        }
                    }
                }
            }
        }
        for (pattern, attempt) in attempts {
            self.attempt(unit, pattern, attempt);
        }
    }

    /// An access of `var` in a unit of the thread around `x`, of the same kind.
    fn partner(&self, x: u32, thread: u32, var: u32, write: bool) -> Option<u32> {
        let lists = self.accesses.get(&var)?;
        let (_, list) = lists.iter().find(|(t, _)| *t == thread)?;
        let at = list.partition_point(|(e, _)| *e < x);
        let near = [at.checked_sub(1), Some(at)];
        let mut near = near.into_iter().flatten().filter_map(|n| list.get(n));
        let together = |y: u32| self.spans.together(thread, x, y);
        let found = near.find(|(y, y_writes)| *y_writes == write && together(*y));
        found.map(|(y, _)| *y)
    }

    fn attempt(&mut self, unit: &Unit, pattern: Pattern, attempt: Attempt) {
        let site = |e: u32| self.index.events[e as usize].site;
        let slot =
            |e: u32| AnyAccess::from_op(self.index.events[e as usize].op).map_or(0, |a| a.loc.slot);
        let [a, z] = attempt.unit;
        let [b, c] = attempt.other;
        let begin = site(unit.first);
        let key = Key {
            pattern,
            begin,
            sites: [a, b, c, z].map(site),
            slots: [a, z].map(slot),
        };
        if self.known.contains(&key) || self.found.list.len() >= LISTED || self.excluded(attempt) {
            return;
        }
        let tries = self.tried.entry(key).or_default();
        *tries += 1;
        let tries = *tries;
        if tries > TRIES && !tries.is_power_of_two() {
            self.skipped += 1;
            return;
        }
        let Some(order) = self.witness(attempt, tries) else {
            return;
        };
        self.known.insert(key);
        let part = |event: &u32| {
            let e = &self.index.events[*event as usize];
            let access = AnyAccess::from_op(e.op)?;
            Some(Part {
                thread: e.thread,
                site: e.site,
                loc: access.loc,
                write: access.write,
                event: *event,
            })
        };
        let marked: &[u32] = if b == c { &[a, b, z] } else { &[a, b, c, z] };
        self.found.list.push(Violation {
            unit: unit.what,
            begin,
            pattern,
            accesses: marked.iter().filter_map(part).collect(),
            witness: order,
        });
    }

    /// Whether a critical section that the unit does not leave between its
    /// accesses has a lock that the other thread has, too.
    fn excluded(&self, attempt: Attempt) -> bool {
        let index = self.index;
        let open = |e: u32, t: u32| index.open_at(t, index.place[e as usize]);
        let throughout: Vec<u32> = open(attempt.unit[0], attempt.threads[0])
            .iter()
            .filter(|s| open(attempt.unit[1], attempt.threads[0]).contains(s))
            .copied()
            .collect();
        attempt.other.iter().any(|e| {
            open(*e, attempt.threads[1]).iter().any(|theirs| {
                throughout.iter().any(|mine| {
                    let [mine, theirs] = [*mine, *theirs].map(|s| &index.sections[s as usize]);
                    mine.lock == theirs.lock && !(mine.shared && theirs.shared)
                })
            })
        })
    }

    /// Where the unit's thread may wait for the other one: right behind its
    /// access, or behind the end of a critical section.
    fn stops(&self, attempt: Attempt) -> Vec<u32> {
        let [from, to] = attempt.unit.map(|e| self.index.place[e as usize]);
        let events = &self.index.by_thread[attempt.threads[0] as usize];
        let left = |place: &u32| {
            let op = self.index.events[events[*place as usize - 1] as usize].op;
            matches!(op, Op::Release(_) | Op::ReleaseShared(_) | Op::WaitBegin(_))
        };
        let releases: Vec<u32> = (from + 1..to).filter(left).collect();
        let few = releases.len().min(STOPS - 1);
        let late = releases[releases.len() - few..].iter().copied();
        std::iter::once(from).chain(late).collect()
    }

    /// The three steps; the unit's thread waits behind its first `stop` events.
    fn order(&mut self, attempt: Attempt, stop: u32, tries: u32) -> Option<Vec<u32>> {
        let index = self.index;
        let [t, u] = attempt.threads;
        let next = index.by_thread[t as usize][stop as usize];
        let pair = Pair {
            first: next,
            second: attempt.other[0],
            threads: [t, u],
        };
        let mut cut = vec![0; index.stride()];
        index.require(&mut cut, t, stop);
        index.require_before(&mut cut, attempt.other[0], u);
        // What it has seen must not be what it would have to see.
        if cut[t as usize] > stop || cut[u as usize] >= index.place[attempt.other[0] as usize] {
            return None;
        }
        let bounds = Bounds::new(index, pair);
        let mut in_order = cut.clone();
        let first = if close(index, &mut in_order, Some(&bounds)).is_none() {
            kept(index, &in_order, pair)
        } else if self.turns.worth_it(tries) {
            let deps = self.deps;
            self.turns.witness(index, cut, pair, |index, cut| {
                (!deps.is_unknown()).then(|| matters(index, deps, cut, pair))
            })?
        } else {
            return None;
        };
        let mut order = first.order(index.events);
        order.truncate(order.len() - 2);
        let mut done = vec![0; index.stride()];
        for event in &order {
            done[index.thread(*event) as usize] += 1;
        }
        let mut cut = done.clone();
        index.require(&mut cut, t, stop);
        index.require_before(&mut cut, attempt.other[0], u);

        let last = self.out_of_the_way(attempt, stop)?;
        index.require_before(&mut cut, attempt.other[1], u);
        index.require(&mut cut, u, last);
        if cut[t as usize] > stop || index.beyond(&cut) {
            return None;
        }
        self.append(&mut order, &mut done, &cut);
        let end = index.place[attempt.unit[1] as usize];
        index.require_before(&mut cut, attempt.unit[1], t);
        if cut[t as usize] >= end || index.beyond(&cut) {
            return None;
        }
        self.append(&mut order, &mut done, &cut);
        order.push(attempt.unit[1]);
        self.left = self.left.saturating_sub(order.len() as u64);
        Some(order)
    }

    /// How far the other thread goes: to its access, or the end of a critical
    /// section that the unit's thread has to enter then.
    fn out_of_the_way(&self, attempt: Attempt, stop: u32) -> Option<u32> {
        let index = self.index;
        let [t, u] = attempt.threads;
        let place = index.place[attempt.other[1] as usize];
        let end = index.place[attempt.unit[1] as usize];
        let between = &index.by_thread[t as usize][stop as usize..end as usize];
        let range = between.first()?..=between.last()?;
        let from = index
            .sections
            .partition_point(|s| s.event < **range.start());
        let taken: Vec<u32> = index.sections[from..]
            .iter()
            .take_while(|s| s.event <= **range.end())
            .filter(|s| s.thread == t)
            .map(|s| s.lock)
            .collect();
        let mut last = place;
        for section in index.open_at(u, place) {
            let section = &index.sections[*section as usize];
            if taken.contains(&section.lock) {
                if section.released == NEVER {
                    return None;
                }
                last = last.max(section.released);
            }
        }
        Some(last)
    }

    /// Adds what the cut has beyond what was done, in the order of the run.
    fn append(&mut self, order: &mut Vec<u32>, done: &mut [u32], cut: &[u32]) {
        let index = self.index;
        let from = order.len();
        for (thread, events) in index.by_thread.iter().enumerate() {
            let (have, want) = (done[thread] as usize, cut[thread] as usize);
            if have < want {
                order.extend(&events[have..want]);
                done[thread] = cut[thread];
            }
        }
        order[from..].sort_unstable();
    }
}
