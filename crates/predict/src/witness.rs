//! The evidence of a prediction: a reordering of a part of the run.
//!
//! A witness may be as long as the run, and there may be ten thousand of them. What a reader gets to see of one is
//! its end ([`Told`]), which is found from the back: a stretch of one thread costs a binary
//! search for each thread, however long it is.

use rustc_hash::FxHashMap;
use trace::{Event, ThreadId};

/// Stretches of a witness that are told; of a longer one, the last.
pub const STRETCHES: usize = 200;

/// The end of a witness.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// Events before.
    pub omitted: u64,
    /// One thread after the other: how many events, and the last of them.
    pub stretches: Vec<(u64, Event)>,
}

/// Some events of the run, each thread's from its beginning on, in an order in
/// which they could have happened; the two racing accesses come last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Witness {
    /// The order of the run, events left out: of each thread the first so
    /// many events happen, then the two accesses. Threads that are not named
    /// do nothing.
    Kept {
        cut: Vec<(ThreadId, u32)>,
        pair: [u32; 2],
    },
    /// The first so many events of the run as they were, and then every event
    /// by its place in the trace, the accesses included.
    Order { whole: u32, rest: Vec<u32> },
}

impl Witness {
    /// The events' places in the trace, in the new order.
    pub fn order(&self, trace: &[Event]) -> Vec<u32> {
        match self {
            Witness::Order { whole, rest } => (0..*whole).chain(rest.iter().copied()).collect(),
            Witness::Kept { cut, pair } => {
                let dense = cut.iter().map(|(t, _)| t.0).max().unwrap_or(0);
                // Thread numbers are small but for damaged traces.
                let mut left = vec![0u32; (dense as usize + 1).min(1 << 20)];
                let mut odd = Vec::new();
                for (thread, count) in cut {
                    match left.get_mut(thread.0 as usize) {
                        Some(slot) => *slot = *count,
                        None => odd.push((*thread, *count)),
                    }
                }
                let mut open: u64 = cut.iter().map(|(_, count)| u64::from(*count)).sum();
                let mut order = Vec::with_capacity(open as usize + 2);
                for (at, e) in (0u32..).zip(trace) {
                    if open == 0 {
                        break;
                    }
                    let slot = match left.get_mut(e.thread.0 as usize) {
                        Some(slot) => Some(slot),
                        None => odd.iter_mut().find(|(t, _)| *t == e.thread).map(|(_, n)| n),
                    };
                    if let Some(slot) = slot
                        && *slot > 0
                    {
                        *slot -= 1;
                        open -= 1;
                        order.push(at);
                    }
                }
                order.extend(pair);
                order
            }
        }
    }

    /// How many events there are in it, the two accesses included.
    pub fn len(&self) -> usize {
        match self {
            Witness::Order { whole, rest } => *whole as usize + rest.len(),
            Witness::Kept { cut, .. } => {
                cut.iter().map(|(_, count)| *count as usize).sum::<usize>() + 2
            }
        }
    }

    /// A witness has its two accesses at least.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Told {
    /// Of an order that is written out; `alone` events at its end stand for themselves.
    pub fn of_order(trace: &[Event], order: &[u32], alone: usize) -> Told {
        let mut end = End::default();
        let known = order.iter().filter_map(|at| trace.get(*at as usize));
        for (n, event) in known.rev().enumerate() {
            if !end.add(n < alone, 1, *event) {
                break;
            }
        }
        end.told(order.len() as u64)
    }
}

/// A witness's end while it is found, from the back.
#[derive(Default)]
struct End {
    stretches: Vec<(u64, Event)>,
    /// The first stretches that stand for themselves.
    alone: usize,
    sum: u64,
}

impl End {
    /// The stretch before those known; false if there is no room for it.
    fn add(&mut self, alone: bool, count: u64, last: Event) -> bool {
        let told = self.stretches.len();
        match self.stretches.last_mut() {
            Some((known, event)) if !alone && told > self.alone && event.thread == last.thread => {
                *known += count;
            }
            _ if told == STRETCHES => return false,
            _ => {
                self.stretches.push((count, last));
                self.alone += usize::from(alone);
            }
        }
        self.sum += count;
        true
    }

    fn told(mut self, events: u64) -> Told {
        self.stretches.reverse();
        Told {
            omitted: events.saturating_sub(self.sum),
            stretches: self.stretches,
        }
    }
}

/// The events of a trace by thread.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    dense: FxHashMap<ThreadId, u32>,
    by_thread: Vec<Vec<u32>>,
}

impl Lists {
    pub fn new(trace: &[Event]) -> Lists {
        let mut lists = Lists::default();
        for (at, e) in (0u32..u32::MAX).zip(trace) {
            let next = lists.by_thread.len() as u32;
            let thread = *lists.dense.entry(e.thread).or_insert(next);
            if thread == next {
                lists.by_thread.push(Vec::new());
            }
            lists.by_thread[thread as usize].push(at);
        }
        lists
    }

    pub fn as_view<'l>(&'l self, trace: &'l [Event]) -> View<'l> {
        View::new(trace, &self.dense, &self.by_thread)
    }
}

/// A trace and its events by thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'l> {
    trace: &'l [Event],
    dense: &'l FxHashMap<ThreadId, u32>,
    by_thread: &'l [Vec<u32>],
    /// So many events at the beginning are none of the run.
    stated: u32,
    /// So many events of the run came before.
    before: u64,
}

impl<'l> View<'l> {
    pub fn new(
        trace: &'l [Event],
        dense: &'l FxHashMap<ThreadId, u32>,
        by_thread: &'l [Vec<u32>],
    ) -> View<'l> {
        View {
            trace,
            dense,
            by_thread,
            stated: 0,
            before: 0,
        }
    }

    /// Of a window of a run, as in [`crate::windows`].
    pub fn of_window(mut self, before: u64, stated: usize) -> View<'l> {
        (self.before, self.stated) = (before, stated as u32);
        self
    }

    /// The end of a witness, whose last two events stand for themselves.
    pub fn told(&self, witness: &Witness) -> Told {
        let mut end = End::default();
        let mut kept = vec![0; self.by_thread.len()];
        let mut fits = true;
        match witness {
            Witness::Kept { cut, pair } => {
                for event in pair.iter().rev() {
                    fits &= self.one(&mut end, true, *event);
                }
                for (thread, count) in cut {
                    if let Some(thread) = self.dense.get(thread) {
                        kept[*thread as usize] = *count as usize;
                    }
                }
            }
            Witness::Order { whole, rest } => {
                for (n, event) in rest.iter().rev().enumerate() {
                    fits = fits && self.one(&mut end, n < 2, *event);
                }
                for (kept, events) in kept.iter_mut().zip(self.by_thread) {
                    *kept = events.partition_point(|e| e < whole);
                }
            }
        }
        while fits && let Some((count, last)) = self.last_stretch(&mut kept) {
            fits = end.add(false, count, last);
        }
        let events = witness.len() as u64 + self.before;
        end.told(events.saturating_sub(u64::from(self.stated)))
    }

    fn one(&self, end: &mut End, alone: bool, event: u32) -> bool {
        let event = self.trace.get(event as usize);
        event.is_some_and(|event| end.add(alone, 1, *event))
    }

    /// Takes the last stretch of one thread from what is kept, in the order of the run.
    fn last_stretch(&self, kept: &mut [usize]) -> Option<(u64, Event)> {
        let (mut latest, mut before) = (None, 0);
        for (thread, (events, n)) in self.by_thread.iter().zip(kept.iter()).enumerate() {
            let n = (*n).min(events.len());
            let Some(last) = n.checked_sub(1).map(|at| events[at]) else {
                continue;
            };
            match latest {
                Some((_, known)) if known > last => before = before.max(last + 1),
                _ => {
                    before = latest.map_or(before, |(_, known)| known + 1);
                    latest = Some((thread, last));
                }
            }
        }
        let (thread, last) = latest.filter(|(_, last)| *last >= self.stated)?;
        let events = &self.by_thread[thread];
        let n = kept[thread].min(events.len());
        let from = events[..n].partition_point(|e| *e < before.max(self.stated));
        kept[thread] = from;
        Some(((n - from) as u64, *self.trace.get(last as usize)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trace::{Loc, ObjId, Op, SiteId};

    fn trace(threads: &[u32]) -> Vec<Event> {
        let event = |(at, thread): (usize, &u32)| Event {
            thread: ThreadId(*thread),
            site: SiteId(at as u32),
            op: Op::Read(Loc {
                obj: ObjId(1),
                slot: 0,
            }),
        };
        threads.iter().enumerate().map(event).collect()
    }

    proptest! {
        /// What is found from the back is what the whole order, written out, ends with.
        #[test]
        fn ends_are_those_of_the_order(
            threads in prop::collection::vec(0u32..3, 2..900),
            cuts in [0usize..900, 0..900, 0..900],
            pair in [0u32..900, 0..900],
            whole in 0u32..900,
            rest in prop::collection::vec(0u32..900, 2..20),
        ) {
            let trace = trace(&threads);
            let in_trace = |n: u32| n % trace.len() as u32;
            let lists = Lists::new(&trace);
            let cut = cuts.iter().zip(0u32..).filter_map(|(n, t)| {
                let events = &lists.by_thread[*lists.dense.get(&ThreadId(t))? as usize];
                Some((ThreadId(t), (*n).min(events.len()) as u32))
            });
            let kept = Witness::Kept { cut: cut.collect(), pair: pair.map(in_trace) };
            let order = Witness::Order {
                whole: in_trace(whole),
                rest: rest.into_iter().map(in_trace).collect(),
            };
            for witness in [kept, order] {
                let plain = Told::of_order(&trace, &witness.order(&trace), 2);
                prop_assert_eq!(lists.as_view(&trace).told(&witness), plain);
            }
        }
    }
}
