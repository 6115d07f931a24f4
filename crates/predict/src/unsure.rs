//! Reads of which the recording does not know which write they saw
//! ([`Op::Unsure`]).
//!
//! What its thread did from such a read on hangs on a value that nobody knows,
//! so nothing can be predicted from it: no witness has the read, but as one of
//! the accesses that it is about, whose values nobody uses. For the same reason
//! the order in which the trace has the read and what follows it is no
//! observation.

use rustc_hash::FxHashMap;
use trace::{Event, Op, SiteId, ThreadId};

/// Whether a mark means reads that came before the trace, a window of one, begins.
pub(crate) fn reaches_before(window: &[Event]) -> bool {
    let mut reads: FxHashMap<(ThreadId, SiteId), u32> = FxHashMap::default();
    // Marks are rare: no need to count where there are none.
    if !window.iter().any(|e| matches!(e.op, Op::Unsure(_))) {
        return false;
    }
    for e in window {
        match e.op {
            Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..) => {
                *reads.entry((e.thread, e.site)).or_default() += 1;
            }
            Op::Unsure(count) => {
                let known = reads.get(&(e.thread, e.site)).copied().unwrap_or(0);
                if known < count.max(1) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Their places in the trace, ascending.
pub(crate) fn reads(trace: &[Event]) -> Vec<u32> {
    let mut found = Vec::new();
    for (at, mark) in trace.iter().enumerate() {
        let Op::Unsure(count) = mark.op else {
            continue;
        };
        let meant = |e: &Event| {
            let reads = matches!(
                e.op,
                Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..)
            );
            reads && e.thread == mark.thread && e.site == mark.site
        };
        let before = (0..at as u32).rev();
        let before = before.filter(|e| meant(&trace[*e as usize]));
        let from = found.len();
        found.extend(before.take(count.max(1) as usize));
        if found.len() == from {
            // It means something that is not there: then all of its thread.
            let mut events = (0u32..).zip(trace);
            found.extend(
                events
                    .find(|(_, e)| e.thread == mark.thread)
                    .map(|(e, _)| e),
            );
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Loc, ObjId};

    fn event(thread: u32, site: u32, op: Op) -> Event {
        Event {
            thread: ThreadId(thread),
            site: SiteId(site),
            op,
        }
    }

    #[test]
    fn a_mark_means_the_latest_reads_of_its_statement() {
        let loc = Loc {
            obj: ObjId(1),
            slot: 0,
        };
        let trace = [
            event(0, 1, Op::Read(loc)),
            event(0, 1, Op::Read(loc)),
            event(1, 1, Op::Read(loc)),
            event(0, 1, Op::Write(loc)),
            event(0, 2, Op::Read(loc)),
            event(0, 1, Op::Unsure(1)),
        ];
        assert_eq!(reads(&trace), [1]);
        let mut two = trace;
        two[5].op = Op::Unsure(2);
        assert_eq!(reads(&two), [0, 1]);
        let mut stray = trace;
        stray[5].site = SiteId(9);
        assert_eq!(reads(&stray), [0]);
        assert!(!reaches_before(&trace) && !reaches_before(&two));
        assert!(reaches_before(&stray) && reaches_before(&two[1..]));
    }
}
