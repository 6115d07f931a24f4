//! The evidence of a prediction: a reordering of a part of the run.

use trace::{Event, ThreadId};

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
