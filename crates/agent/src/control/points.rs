//! The running thread is about to do something that others can notice.

use super::{Control, Place};
use crate::Agent;
use crate::jni::Jni;
use instrument::SiteKind;
use schedule::{Blocked, Fact, Kind, Op, Range, Ready, Status, Why};
use std::time::Duration;

/// Between two looks of a thread that waits for something outside: steps shall
/// not run out before that comes.
const POLL: Duration = Duration::from_millis(1);

impl Control {
    /// A scheduling point: returns when the thread may go on.
    pub fn point(&self, a: &Agent, jni: Jni, mut op: Op) {
        let Some(me) = Place::current() else {
            return;
        };
        if op.kind == Kind::Read {
            match self.target_kind(a, op.site) {
                Some(kind) => op.kind = kind,
                None => return,
            }
        }
        if op.kind.gives_way() && self.lock().world.is_polling() {
            std::thread::sleep(POLL);
        }
        self.decide(a, jni, me, |world| world.point(me.thread, op));
    }

    /// The same before several elements at once, at target sites.
    pub fn ranges(&self, a: &Agent, jni: Jni, mut ranges: Vec<Range>) {
        let Some(me) = Place::current() else {
            return;
        };
        ranges.retain_mut(|range| {
            let kind = self.target_kind(a, range.op.site);
            range.op.kind = kind.unwrap_or(range.op.kind);
            kind.is_some()
        });
        if ranges.is_empty() {
            return;
        }
        self.decide(a, jni, me, |world| world.ranges(me.thread, &ranges));
    }

    /// Whether a point at the site may be the JDK's own work: one in java.util.
    pub fn is_shared_code(&self, a: &Agent, site: u32) -> bool {
        a.sites.is_in(site, "java/util/")
    }

    /// Whether the point that the current thread has come to is.
    pub fn is_internal(&self, a: &Agent, jni: Jni) -> bool {
        let internal = self.callers.is_internal(a) || self.is_before_main(a);
        if let (true, Some(me)) = (internal, Place::current()) {
            self.come_in(a, jni, me);
        }
        internal
    }

    /// The monitor of an object is held by another controlled thread.
    pub fn await_monitor(&self, a: &Agent, jni: Jni, obj: u64, owner: u32, site: u32) {
        let Some(me) = Place::current() else {
            return;
        };
        if self.settings.is_exploring() {
            self.await_untold(a, jni, site);
            return;
        }
        self.come_in(a, jni, me);
        let blocked = Blocked {
            why: Why::Monitor,
            obj,
            site,
            owner: owner.checked_sub(1),
            deadline: None,
        };
        let next = self.ask(a, |world| world.block(me.thread, blocked));
        let cycle = self.lock().world.cycle(me.thread);
        if !cycle.is_empty() && !self.free_forgotten(a, jni) {
            self.end_in_deadlock(a, jni, &cycle);
        }
        let status = self.set_status(jni, me, super::blocking::BLOCKED);
        self.hand_over(a, jni, me, next);
        self.restore_status(jni, me, status);
    }

    pub fn released(&self, obj: u64) {
        let mut state = self.lock();
        state.world.released(obj);
        self.publish(&state.world);
    }

    pub fn failed(&self) {
        self.lock().world.failed();
    }

    /// What the statement at a target site does; the strategy is told of it first. None if it
    /// is a target of other executions of this worker.
    fn target_kind(&self, a: &Agent, site: u32) -> Option<Kind> {
        let mut state = self.lock();
        if let Some(kind) = state.targets.get(&site) {
            return *kind;
        }
        let described = super::journal::describe(a, site);
        let sides = described.map(|site| self.settings.sides(state.variant, &site));
        let elsewhere = self.settings.has_variants() && sides == Some(0);
        let kind = (!elsewhere).then(|| target_kind(a, site));
        state.targets.insert(site, kind);
        if let (Some(sides), Some(_)) = (sides, kind) {
            state.reached |= sides;
            state.world.tell(Fact::Target { site, sides });
        }
        kind
    }

    /// Whether the log tells what accesses find.
    pub fn tells(&self) -> bool {
        self.settings.tells()
    }

    /// The thread makes a plain access now; the log says of which value.
    pub fn tell_access(&self, a: &Agent, jni: Jni, at: (u32, u64, u32), value: &str) {
        let Some(me) = Place::current() else {
            return;
        };
        let (site, obj, slot) = at;
        let op = Op {
            kind: target_kind(a, site),
            site,
            obj,
            slot,
        };
        let call = self.call(jni, me);
        let thread = me.thread;
        let mut state = self.lock();
        state.journal.told(a, Ready { thread, op }, call, value);
    }

    /// Whether the thread was found to be where it cannot be stopped, and others
    /// run meanwhile.
    fn has_been_outside(&self, me: &Place) -> bool {
        self.lock().world.status(me.thread) == Status::Outside
    }

    /// A thread that was outside waits for its turn.
    fn come_back(&self, a: &Agent, jni: Jni, me: &'static Place, op: Op) {
        self.decide(a, jni, me, |world| world.back(me.thread, op));
    }

    /// Before anything that presumes that the thread has the turn. True if it had
    /// not: what the program looked at meanwhile may not be so any more.
    pub fn come_in(&self, a: &Agent, jni: Jni, me: &'static Place) -> bool {
        let outside = self.has_been_outside(me);
        if outside {
            self.come_back(a, jni, me, super::life::op(Kind::Begin));
        }
        outside
    }
}

/// What the statement at a target site does.
fn target_kind(a: &Agent, site: u32) -> Kind {
    let write = a.sites.with(site, |_, s| {
        matches!(
            s.kind,
            SiteKind::FieldWrite | SiteKind::StaticWrite | SiteKind::ElemWrite
        )
    });
    if write == Some(true) {
        Kind::Write
    } else {
        Kind::Read
    }
}
