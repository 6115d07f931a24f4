//! The accesses of a variable that a later one may race with: those of each
//! kind that no later access stands for.
//!
//! An access stands for an earlier one that is ordered before it if whatever
//! conflicts with the earlier one conflicts with it: a write for writes and
//! reads, a read for reads, and no atomic access for a plain one, because two
//! atomic accesses do not race.

use crate::found::{Prediction, Predictions, Standing};
use detect::{Access, AnyAccess};
use order::{ClockView, Epoch};
use smallvec::SmallVec;
use trace::{Event, SiteId, ThreadId};

/// One remembered access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past {
    pub epoch: Epoch,
    event: u64,
    thread: ThreadId,
    site: SiteId,
    atomic: bool,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    writes: SmallVec<[Past; 1]>,
    reads: SmallVec<[Past; 1]>,
}

impl History {
    /// Whether the access says nothing new: its thread made one like it in
    /// this epoch already.
    #[inline]
    pub fn repeats(&self, access: AnyAccess, epoch: Epoch) -> bool {
        let list = if access.write {
            &self.writes
        } else {
            &self.reads
        };
        list.last()
            .is_some_and(|p| p.epoch == epoch && p.atomic == access.atomic)
    }

    /// The remembered accesses that conflict with `access` and that `covers`
    /// does not say are ordered before it.
    #[inline]
    pub fn unordered(
        &self,
        access: AnyAccess,
        mut covers: impl FnMut(Epoch) -> bool,
        mut race: impl FnMut(Past, bool),
    ) {
        let conflicts = |p: &Past| !(p.atomic && access.atomic);
        for p in self.writes.iter().filter(|p| conflicts(p)) {
            if !covers(p.epoch) {
                race(*p, true);
            }
        }
        if access.write {
            for p in self.reads.iter().filter(|p| conflicts(p)) {
                if !covers(p.epoch) {
                    race(*p, false);
                }
            }
        }
    }

    /// Remembers the access, instead of those it stands for.
    #[inline]
    pub fn add(
        &mut self,
        e: &Event,
        access: AnyAccess,
        epoch: Epoch,
        event: u64,
        me: &impl ClockView,
    ) {
        let stays = |p: &Past| {
            (access.atomic && !p.atomic) || !(p.epoch.tid() == epoch.tid() || me.covers(p.epoch))
        };
        let list = if access.write {
            if !self.reads.is_empty() {
                self.reads.retain(|p| stays(p));
            }
            &mut self.writes
        } else {
            &mut self.reads
        };
        list.retain(|p| stays(p));
        list.push(Past {
            epoch,
            event,
            thread: e.thread,
            site: e.site,
            atomic: access.atomic,
        });
    }
}

/// Reports the race of `e` with an earlier access.
#[cold]
pub(crate) fn report(
    found: &mut Predictions,
    past: Past,
    past_writes: bool,
    e: &Event,
    access: AnyAccess,
    event: u64,
) {
    found.add(Prediction {
        loc: access.loc,
        first: Access {
            thread: past.thread,
            site: past.site,
            write: past_writes,
        },
        second: access.at(e),
        first_event: Some(past.event),
        second_event: event,
        standing: Standing::Potential,
        witness: None,
        told: None,
        count: 1,
    });
}
