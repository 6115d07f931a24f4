//! What is a step of its own when all schedules are explored: everything that
//! blocks stands before its operation until `schedule::Guided` says that it need
//! not wait, and then does it at once. So nothing blocks in `SchedulerState`.
//!
//! What no step tells of (monitors inside the JDK's own work) is waited for by
//! giving way, and said: the exploration is not complete then.

use super::blocking::MILLI;
use super::{Control, Place};
use crate::Agent;
use crate::jni::{Jni, Ref};
use explore::Made;
use protocol::control::{Cause, Divergence};
use protocol::execution::Execution;
use protocol::files;
use schedule::guided::{Loop, Outcome, TIMED, at_loop, slot_of};
use schedule::{Guided, Kind, Op};

impl Control {
    pub(super) fn guided<T>(&self, f: impl FnOnce(&mut Guided) -> T) -> Option<T> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.world.guided().map(f)
    }

    pub fn is_exploring(&self) -> bool {
        self.settings.is_exploring()
    }

    /// Makes the step, and says what came of it.
    fn step(&self, a: &Agent, jni: Jni, kind: Kind, obj: u64, slot: u32) -> Option<Made> {
        let me = Place::current()?;
        let op = Op {
            kind,
            site: 0,
            obj,
            slot,
        };
        self.point(a, jni, op);
        self.guided(|g| g.result(me.thread))?
    }

    /// A step that another thread may notice.
    pub(super) fn step_on(
        &self,
        a: &Agent,
        jni: Jni,
        kind: Kind,
        other: &Place,
        bits: u32,
    ) -> Option<Made> {
        self.step(a, jni, kind, 0, slot_of(other.thread) | bits)
    }

    /// A step on a thread of the program's; none if it is not controlled, or
    /// not started yet.
    pub fn thread_step(&self, a: &Agent, jni: Jni, kind: Kind, thread: Ref, bits: u32) {
        let other = match thread.is_null() {
            true => Place::current(),
            false => self.place_of(jni, thread),
        };
        match other {
            Some(other) => {
                self.step_on(a, jni, kind, other, bits);
            }
            None => self.name_uncontrolled(
                a,
                Cause::Other,
                "a thread was asked for that had not been started",
            ),
        }
    }

    pub(super) fn sleep_explored(
        &self,
        a: &Agent,
        jni: Jni,
        me: &'static Place,
        nanos: u64,
    ) -> Option<()> {
        let made = self.step(a, jni, Kind::Sleep, 0, TIMED)?;
        if made.cleared {
            self.take_interrupt(jni, me);
            a.bridge.get()?.throw_interrupted(jni, "sleep interrupted");
        } else {
            self.pass(nanos);
        }
        Some(())
    }

    fn pass(&self, nanos: u64) {
        let mut state = self.lock();
        state.world.pass(nanos);
        self.now
            .store(state.world.now(), std::sync::atomic::Ordering::Relaxed);
    }

    /// Object.wait, by a thread that has just given the monitor back, however
    /// often it held it.
    pub(super) fn wait_explored(
        &self,
        a: &Agent,
        jni: Jni,
        me: &'static Place,
        (o, number): (Ref, u64),
        holds: u32,
        millis: u64,
    ) {
        if self.place_of(jni, o).is_some() {
            // Part of a join, which was a step: its time is over, or else the thread must
            // have ended.
            match millis {
                0 => self.give_way(a, jni, 0, "a thread was joined that had not ended"),
                _ => self.pass(millis.saturating_mul(MILLI)),
            }
            jni.enter_monitor(o, holds);
            return;
        }
        if number == 0 {
            self.await_untold(a, jni, 0);
            jni.enter_monitor(o, holds);
            return;
        }
        let timed = if millis > 0 { TIMED } else { 0 };
        let begun = self.step(a, jni, Kind::Wait, number, timed);
        let made = match begun {
            Some(made) if !made.done => Some(made),
            _ => self.step(a, jni, Kind::WaitEnd, number, timed),
        };
        jni.enter_monitor(o, holds);
        if made.is_some_and(|m| m.cleared) {
            self.take_interrupt(jni, me);
            if let Some(bridge) = a.bridge.get() {
                bridge.throw_interrupted(jni, "");
            }
        } else if made.is_some_and(|m| m.expired) {
            self.pass(millis.saturating_mul(MILLI));
        }
    }

    pub(super) fn notify_explored(&self, a: &Agent, jni: Jni, o: Ref, all: bool) {
        let kind = if all { Kind::NotifyAll } else { Kind::Notify };
        // A monitor that no step told of is not the program's.
        let number = a.bridge.get().map_or(0, |b| b.number_of(jni, o, false));
        match Place::current() {
            _ if number == 0 => {}
            Some(_) => {
                self.step(a, jni, kind, number as u64, 0);
            }
            None => self.wake_from_outside(a, jni, kind, number as u64, 0),
        }
    }

    /// A thread that is not controlled wakes one that is.
    pub(super) fn wake_from_outside(&self, a: &Agent, jni: Jni, kind: Kind, obj: u64, slot: u32) {
        self.name_uncontrolled(
            a,
            Cause::Other,
            "when a thread of the JDK wakes one of the program",
        );
        let site = 0;
        self.guided(|g| {
            g.wake_from_outside(&Op {
                kind,
                site,
                obj,
                slot,
            })
        });
        self.stir(a, jni);
    }

    pub(super) fn park_explored(&self, a: &Agent, jni: Jni, absolute: bool, time: i64) {
        let timed = absolute || time != 0;
        let made = self.step(a, jni, Kind::Park, 0, if timed { TIMED } else { 0 });
        if timed && made.is_some_and(|m| m.expired) {
            let now = self.now.load(std::sync::atomic::Ordering::Relaxed);
            let start = self.settings.clock.saturating_mul(MILLI);
            let nanos = match (absolute, u64::try_from(time).unwrap_or(0)) {
                (false, nanos) => nanos,
                (true, millis) => millis
                    .saturating_mul(MILLI)
                    .saturating_sub(start)
                    .saturating_sub(now),
            };
            self.pass(nanos);
        }
    }

    /// The flag was set before we were asked: nobody of the program may see it before
    /// the step.
    pub(super) fn interrupt_explored(
        &self,
        a: &Agent,
        jni: Jni,
        thread: Ref,
        other: &'static Place,
    ) {
        let Some(field) = self.fields.get().map(|f| f.interrupted) else {
            return;
        };
        jni.set_boolean_field(thread, field, false);
        self.step_on(a, jni, Kind::Interrupt, other, 0);
        jni.set_boolean_field(thread, field, true);
    }

    /// A monitor of code that has no points is held by another thread.
    pub(super) fn await_untold(&self, a: &Agent, jni: Jni, site: u32) {
        self.give_way(a, jni, site, "a thread waited for a monitor inside the JDK");
    }

    /// The thread waits for what no step tells of: others go on, and it looks again.
    fn give_way(&self, a: &Agent, jni: Jni, site: u32, why: &str) {
        self.name_uncontrolled(a, Cause::Other, why);
        let mut op = super::life::op(Kind::Yield);
        op.site = site;
        self.point(a, jni, op);
    }

    /// The running thread is at the head of a loop, jumps back there, or goes on behind it:
    /// see PhotofinishControl.loop.
    pub fn looped(&self, a: &Agent, jni: Jni, number: u32, state: i64, what: i32) {
        let Some(me) = Place::current() else {
            return;
        };
        let depth = a.jvmti.frame_count();
        let of = Loop { number, depth };
        let gives_way = self.guided(|g| match what {
            at_loop::HEAD => g.at_head(me.thread, of, state),
            at_loop::AGAIN => {
                g.looped(me.thread, of, state);
                false
            }
            _ => {
                g.left_loop(me.thread, of);
                false
            }
        });
        if gives_way == Some(true) {
            self.point(a, jni, super::life::op(Kind::Spin));
        }
    }

    /// What a thread waits for, in words, and who holds it.
    pub(super) fn stands_before(
        &self,
        a: &Agent,
        jni: Jni,
        place: &Place,
        op: &Op,
    ) -> (String, Option<String>) {
        let bridge = a.bridge.get();
        let object = |number: u64| {
            let named = bridge.map(|b| b.named(jni, number as i32));
            named.unwrap_or_default()
        };
        let holder = self.guided(|g| g.holder(op)).flatten();
        let holder = holder.and_then(|t| self.place(t)).map(|p| p.name.clone());
        match op.kind {
            Kind::Acquire | Kind::AcquireShared => {
                (format!("the lock of {}", object(op.obj)), holder)
            }
            Kind::WaitEnd => match holder {
                Some(holder) => (format!("the lock of {}", object(op.obj)), Some(holder)),
                None => (format!("a notify of {}", object(op.obj)), None),
            },
            Kind::Join => {
                let other = (op.slot >> 3).checked_sub(1).and_then(|t| self.place(t));
                let name = other.map_or("", |p| &p.name);
                (format!("the end of thread \"{name}\""), None)
            }
            Kind::Park => {
                let what = bridge.map(|b| b.blocker(jni, place.object()).0);
                let what = what.filter(|w| !w.is_empty());
                (what.unwrap_or_else(|| "an unpark".into()), None)
            }
            kind if kind.is_access() || kind == Kind::Spin => {
                let older = self.guided(|g| g.sees_older(place.thread)) == Some(true);
                let what = match older {
                    true => {
                        "newer values than those it sees in a loop: nothing says that it ever sees them"
                    }
                    false => "another thread to write what it reads in a loop",
                };
                (what.into(), None)
            }
            kind => (format!("its turn ({kind:?})"), None),
        }
    }

    /// The execution, for the explorer.
    pub(super) fn told(&self, a: &Agent) -> Option<Execution> {
        let told = self.guided(|g| (g.end(), g.is_blurred(), g.is_unasked()))?;
        let (outcome, blurred, unasked) = told;
        if unasked {
            self.name_uncontrolled(
                a,
                Cause::Other,
                "a read that may see older values was no step of the exploration",
            );
        }
        if blurred {
            self.name_uncontrolled(
                a,
                Cause::Other,
                "more threads than an exploration can tell apart",
            );
        }
        Some(match outcome {
            Outcome::Made(execution) => Execution::Made(execution),
            Outcome::Diverged(at) => Execution::Diverged(*at),
        })
    }

    /// The same, into a file.
    pub(super) fn tell_execution(&self, a: &Agent) {
        let Some(told) = self.told(a) else {
            return;
        };
        let path = a.options.out.join(files::EXECUTION);
        let written = serde_json::to_vec(&told)
            .map_err(std::io::Error::from)
            .and_then(|text| std::fs::write(&path, text));
        if let Err(e) = written {
            a.findings
                .warn(format!("cannot write {}: {e}", path.display()));
        }
    }
}

/// Where an execution left the one that was asked for.
pub(super) fn describe(at: &explore::Divergence) -> Divergence {
    let words = |label: &explore::Label| format!("thread {}: {:?}", label.thread, label.op);
    Divergence {
        step: at.step as u64,
        expected: words(&at.expected),
        got: { at.got.as_ref() }.map_or_else(|| "a thread that cannot go on".into(), words),
        why: String::new(),
    }
}
