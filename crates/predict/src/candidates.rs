//! Which pairs of accesses are worth a question, and in which order.
//!
//! Going through the trace, every access of a variable that might race is
//! compared with groups of earlier ones: those of one thread, statement and
//! set of held locks. Groups that a common lock excludes, or whose pair of
//! statements is known to race, are passed over. Of a group, accesses that
//! have to come before this one anyway are skipped for good, so that over the
//! whole trace each is looked at once for each other thread.
//!
//! A judge decides; each of its verdicts is one of a few kinds, which say how
//! to go on.

use crate::found::{Key, Prediction, Predictions, Standing};
use crate::index::{Index, NONE};
use crate::verify::{Checked, Verifier};
use crate::witness::Witness;
use crate::{STOPPED, ShouldStop};
use detect::{AnyAccess, held::HeldLocks};
use order::LockSetId;
use smallvec::SmallVec;
use trace::{Event, SiteId};

/// Statements and locksets of a thread on a variable that are told apart; what
/// comes beyond is one group.
const GROUPS: usize = 24;

/// Two accesses as a judge sees them: events, and their dense threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub first: u32,
    pub second: u32,
    pub threads: [u32; 2],
}

pub(crate) enum Verdict {
    Race(Witness),
    /// The first access comes along with whatever precedes the second, and
    /// with whatever precedes a later access of the second's thread.
    FirstKept,
    /// The second access would come along with what precedes the first, and
    /// with what precedes a later access of the first's thread.
    SecondKept,
}

pub(crate) trait Judge {
    /// How many of each thread's first events come along with every access
    /// that follows in the thread of `event`; `None` if none of them can race.
    fn before(&mut self, index: &Index<'_>, event: u32, thread: u32) -> Option<&[u32]>;

    fn judge(&mut self, index: &Index<'_>, pair: Pair) -> Verdict;

    /// A second opinion on a pair that was turned down, asked once for each
    /// group and access; `tries` counts how often for this group and thread.
    fn appeal(&mut self, index: &Index<'_>, pair: Pair, tries: u32) -> Option<Witness>;
}

struct Group {
    thread: u32,
    /// `None`: of several statements and locksets.
    same: Option<(SiteId, LockSetId)>,
    /// What all of them hold.
    locks: LockSetId,
    write: bool,
    atomic: bool,
    events: Vec<u32>,
    cursors: SmallVec<[Cursor; 2]>,
}

struct Cursor {
    thread: u32,
    /// Accesses before this one are skipped ...
    next: u32,
    /// ... also by appeals.
    open: u32,
    tries: u32,
}

/// Accesses looked at between two questions whether to stop.
const ASK_EVERY: u32 = 64;

/// Adds to `found` the races of the trace whose later access is event `from` or
/// one after it, as the judge sees them; only those whose witness the checker accepts.
pub(crate) fn search<'a>(
    index: &Index<'a>,
    judge: &mut impl Judge,
    verifier: &mut Verifier<'a>,
    from: u32,
    found: &mut Predictions,
    stop: &ShouldStop<'_>,
) {
    if !index.candidate.iter().any(|c| *c) {
        verifier.account(found);
        return;
    }
    let mut search = Search {
        index,
        verifier,
        held: HeldLocks::default(),
        groups: Vec::new(),
        slots: vec![NONE; index.candidate.len()],
        from,
        found,
    };
    let mut accesses = 0u32;
    for (at, e) in (0u32..).zip(index.events) {
        if search.found.is_full() {
            let why = format!("the search ended with {} pairs", search.found.len());
            search.found.incomplete = Some(why);
            break;
        }
        match AnyAccess::from_op(e.op) {
            None => search.held.event(e),
            Some(access) => {
                let var = index.var[at as usize];
                if index.candidate[var as usize] {
                    accesses += 1;
                    if accesses.is_multiple_of(ASK_EVERY) && stop() {
                        search.found.incomplete = Some(STOPPED.to_owned());
                        break;
                    }
                    search.access(at, e, access, var, judge);
                }
            }
        }
    }
    search.verifier.account(search.found);
}

struct Search<'i, 'a> {
    index: &'i Index<'a>,
    verifier: &'i mut Verifier<'a>,
    held: HeldLocks,
    /// The groups of each variable, in the order of its first access.
    groups: Vec<Vec<Group>>,
    /// By variable: where its groups are.
    slots: Vec<u32>,
    /// Accesses before this one are only remembered.
    from: u32,
    found: &'i mut Predictions,
}

impl Search<'_, '_> {
    fn access(&mut self, at: u32, e: &Event, access: AnyAccess, var: u32, judge: &mut impl Judge) {
        let slot = &mut self.slots[var as usize];
        if *slot == NONE {
            *slot = self.groups.len() as u32;
            self.groups.push(Vec::new());
        }
        let mut groups = std::mem::take(&mut self.groups[*slot as usize]);
        let me = self.index.thread(at);
        let locks = self.held.locks_of(e.thread);
        let mut before: Option<Vec<u32>> = None;
        for group in &mut groups {
            let conflicts = at >= self.from
                && group.thread != me
                && (group.write || access.write)
                && !(group.atomic && access.atomic);
            if !conflicts || !self.worth_it(group, e, access, locks) {
                continue;
            }
            if before.is_none() {
                match judge.before(self.index, at, me) {
                    Some(cut) => before = Some(cut.to_vec()),
                    None => break,
                }
            }
            if let Some(before) = &before {
                self.compare(group, at, me, access, before, judge);
            }
        }
        self.remember(&mut groups, at, me, e, access, locks);
        self.groups[self.slots[var as usize] as usize] = groups;
    }

    fn worth_it(&self, group: &Group, e: &Event, access: AnyAccess, locks: LockSetId) -> bool {
        let known = |site| self.found.knows(&Key::new(site, e.site, access.loc));
        !self.held.sets.exclude(group.locks, locks)
            && !group.same.is_some_and(|(site, _)| known(site))
    }

    /// Looks for an access of the group that races with `at`.
    fn compare(
        &mut self,
        group: &mut Group,
        at: u32,
        me: u32,
        access: AnyAccess,
        before: &[u32],
        judge: &mut impl Judge,
    ) {
        let index = self.index;
        let cursor = match group.cursors.iter().position(|c| c.thread == me) {
            Some(known) => &mut group.cursors[known],
            None => {
                group.cursors.push(Cursor {
                    thread: me,
                    next: 0,
                    open: 0,
                    tries: 0,
                });
                let last = group.cursors.len() - 1;
                &mut group.cursors[last]
            }
        };
        let kept = before[group.thread as usize];
        let ahead = &group.events[cursor.open as usize..];
        cursor.open += ahead.partition_point(|e| index.place[*e as usize] <= kept) as u32;
        cursor.next = cursor.next.max(cursor.open);
        let pair = |first: u32| Pair {
            first,
            second: at,
            threads: [group.thread, me],
        };
        while let Some(first) = group.events.get(cursor.next as usize) {
            match judge.judge(index, pair(*first)) {
                Verdict::Race(witness) => {
                    if self.report(*first, at, access, witness) {
                        return;
                    }
                    cursor.next += 1;
                }
                Verdict::FirstKept => cursor.next += 1,
                Verdict::SecondKept => break,
            }
        }
        // The most recent one has its locks and reads behind it, the oldest
        // needs the least.
        let unordered = group.events.get(cursor.open as usize..).unwrap_or(&[]);
        let [oldest, latest] = [unordered.first(), unordered.last()].map(|e| e.copied());
        let both = oldest
            .into_iter()
            .chain(latest.filter(|e| Some(*e) != oldest));
        for first in both {
            cursor.tries += 1;
            if let Some(witness) = judge.appeal(index, pair(first), cursor.tries)
                && self.report(first, at, access, witness)
            {
                return;
            }
        }
    }

    /// Lists the pair; false if the witness was not accepted.
    fn report(&mut self, first: u32, second: u32, access: AnyAccess, witness: Witness) -> bool {
        let events = self.index.events;
        let standing = match self.verifier.check(&witness) {
            Checked::Accepted => Standing::Predicted,
            Checked::Refuted => return false,
            Checked::Not => Standing::Potential,
        };
        let [a, b] = [first, second].map(|at| &events[at as usize]);
        let Some(earlier) = AnyAccess::from_op(a.op) else {
            return false;
        };
        self.found.add(Prediction {
            loc: access.loc,
            first: earlier.at(a),
            second: access.at(b),
            first_event: Some(u64::from(first)),
            second_event: u64::from(second),
            standing,
            witness: (standing == Standing::Predicted).then_some(witness),
            told: None,
            count: 1,
        });
        true
    }

    /// Adds the access to its group.
    fn remember(
        &mut self,
        groups: &mut Vec<Group>,
        at: u32,
        me: u32,
        e: &Event,
        access: AnyAccess,
        locks: LockSetId,
    ) {
        let same = (e.site, locks);
        let alike =
            |g: &Group| g.thread == me && g.write == access.write && g.atomic == access.atomic;
        let mut mine = 0;
        for group in groups.iter_mut().filter(|g| alike(g)) {
            if group.same.is_none_or(|s| s == same) {
                group.locks = self.held.sets.intersect(group.locks, locks);
                return group.events.push(at);
            }
            mine += 1;
        }
        groups.push(Group {
            thread: me,
            same: (mine < GROUPS).then_some(same),
            locks,
            write: access.write,
            atomic: access.atomic,
            events: vec![at],
            cursors: SmallVec::new(),
        });
    }
}
