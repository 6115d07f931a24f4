//! Accesses in a row. A detector that keeps one access of a thread names one of a
//! race; a repair has to cover all.

use crate::path::access;
use rustc_hash::FxHashSet;
use trace::Event;

/// Given that events `first` and `second` race: accesses to the same location by the
/// thread of `first`, before `second`, that race with it as well; of each statement
/// the last one, and none of that of `first`.
///
/// These are those after `first`, and those before it since its thread last did
/// anything but plain accesses: were one of them ordered before `second`, then by a
/// release that comes after `first`, which would be ordered, too.
pub fn in_a_row(events: &[Event], first: usize, second: usize) -> Vec<usize> {
    let (Some(one), Some(other)) = (events.get(first), events.get(second)) else {
        return vec![];
    };
    let (Some((loc, ..)), Some((_, writes, is_atomic))) = (access(one.op), access(other.op)) else {
        return vec![];
    };
    let mine = |e: &Event| e.thread == one.thread;
    let is_plain = |e: &Event| matches!(access(e.op), Some((_, _, false)));
    let row = &events[..second.max(first)];
    let since = row[..first].iter().rposition(|e| mine(e) && !is_plain(e));
    let since = since.map_or(0, |sync| sync + 1);
    let races = |e: &Event| {
        access(e.op).is_some_and(|(at, write, atomic)| {
            at == loc && (write || writes) && !(atomic && is_atomic)
        })
    };
    let mut seen = FxHashSet::from_iter([one.site]);
    let all = row.iter().enumerate().skip(since).rev();
    all.filter(|(_, e)| mine(e) && races(e) && seen.insert(e.site))
        .map(|(at, _)| at)
        .collect()
}
