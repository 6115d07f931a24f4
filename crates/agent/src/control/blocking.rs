//! The JDK's natives that block, and its clocks, in virtual time. Each answers
//! None if the current thread is not controlled: then the original does it.

use super::life::op;
use super::{Control, Place};
use crate::Agent;
use crate::jni::{Jni, Ref};
use jni_sys::jint;
use schedule::guided::slot_of;
use schedule::{Blocked, Kind, Wake, Why};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Values of Thread.threadStatus (JVMTI's thread states).
pub(super) const BLOCKED: jint = 0x401;
const WAITING: jint = 0x191;
const WAITING_TIMED: jint = 0x1a1;
const PARKED: jint = 0x291;
const PARKED_TIMED: jint = 0x2a1;
const SLEEPING: jint = 0xe1;

pub const MILLI: u64 = 1_000_000;
/// How long an ending thread may take to be seen dead: it may have to wait for
/// its own monitor.
const DEATH: Duration = Duration::from_millis(50);
const LONG_DEATH: Duration = Duration::from_secs(10);

impl Control {
    pub fn sleep(&self, a: &Agent, jni: Jni, nanos: i64) -> Option<()> {
        let me = Place::current()?;
        let nanos = u64::try_from(nanos).ok()?; // negative: the original throws
        if self.settings.is_exploring() {
            return self.sleep_explored(a, jni, me, nanos);
        }
        self.come_in(a, jni, me);
        if self.take_interrupt(jni, me) {
            a.bridge.get()?.throw_interrupted(jni, "sleep interrupted");
            return Some(());
        }
        if nanos == 0 {
            self.point(a, jni, op(Kind::Yield));
            return Some(());
        }
        let wake = self.block(a, jni, me, Why::Sleep, 0, Some(nanos));
        if wake == Wake::Interrupted {
            self.take_interrupt(jni, me);
            a.bridge.get()?.throw_interrupted(jni, "sleep interrupted");
        }
        Some(())
    }

    /// Object.wait: the monitor is given up and taken again here, however often
    /// it is held.
    pub fn wait(&self, a: &Agent, jni: Jni, o: Ref, millis: i64) -> Option<()> {
        let me = Place::current()?;
        let bridge = a.bridge.get()?;
        let millis = u64::try_from(millis).ok()?;
        let object = bridge.number_of(jni, o, !self.settings.is_exploring());
        self.lock().world.about_to_wait(me.thread, object as u64);
        let holds = jni.exit_monitor(o);
        if holds == 0 {
            return None; // not the owner: the original throws
        }
        if self.settings.is_exploring() {
            self.wait_explored(a, jni, me, (o, object as u64), holds, millis);
            return Some(());
        }
        // Who comes from outside may have missed what it waits for.
        let spurious = self.come_in(a, jni, me);
        let wake = if self.take_interrupt(jni, me) {
            Wake::Interrupted
        } else if spurious || self.is_about_to_die(jni, o) {
            Wake::Spurious
        } else {
            let limit = (millis > 0).then(|| millis.saturating_mul(MILLI));
            self.block(a, jni, me, Why::Wait, object as u64, limit)
        };
        bridge.reentering(jni, o);
        jni.enter_monitor(o, holds);
        if wake == Wake::Interrupted {
            self.take_interrupt(jni, me);
            bridge.throw_interrupted(jni, "");
        }
        Some(())
    }

    /// Whether the object is a thread that has ended but is not seen to be dead
    /// yet: nobody will tell who waits for that.
    fn is_about_to_die(&self, jni: Jni, o: Ref) -> bool {
        let ended = self.has_ended(jni, o);
        if ended {
            std::thread::sleep(Duration::from_millis(1));
        }
        ended
    }

    /// After the original, which has checked that the caller owns the monitor.
    pub fn notify(&self, a: &Agent, jni: Jni, o: Ref, all: bool) {
        if !self.is_running.load(Ordering::Acquire) {
            return;
        }
        if self.settings.is_exploring() {
            return self.notify_explored(a, jni, o, all);
        }
        let object = a.bridge.get().map_or(0, |b| b.number_of(jni, o, false)) as u64;
        if object == 0 {
            return; // nobody has waited for it
        }
        let me = Place::current();
        let mut state = self.lock();
        if me.is_some() {
            state.world.notify(object, all);
        } else {
            // A thread that is woken finds the monitor taken, if it still is.
            state.world.wake_waiting(object);
        }
        drop(state);
        if me.is_none() {
            self.stir(a, jni);
        }
    }

    pub fn park(&self, a: &Agent, jni: Jni, absolute: bool, time: i64) -> Option<()> {
        let me = Place::current()?;
        if self.settings.is_exploring() {
            self.park_explored(a, jni, absolute, time);
            return Some(());
        }
        let spurious = self.come_in(a, jni, me);
        if spurious || time < 0 || (absolute && time == 0) || self.is_interrupted(jni, me) {
            self.lock().world.take_permit(me.thread);
            return Some(());
        }
        let now = self.now.load(Ordering::Relaxed);
        let deadline = match (absolute, time as u64) {
            (false, 0) => None,
            (false, nanos) => Some(now.saturating_add(nanos)),
            (true, millis) => Some(
                millis
                    .saturating_sub(self.settings.clock)
                    .saturating_mul(MILLI)
                    .max(now),
            ),
        };
        let mut permit = false;
        let next = self.ask(a, |world| match world.park(me.thread, 0, deadline) {
            Some(next) => next,
            None => {
                permit = true;
                schedule::Next::Run(me.thread)
            }
        });
        if !permit {
            let status = if deadline.is_some() {
                PARKED_TIMED
            } else {
                PARKED
            };
            let old = self.set_status(jni, me, status);
            self.hand_over(a, jni, me, next);
            self.restore_status(jni, me, old);
        }
        Some(())
    }

    pub fn unpark(&self, a: &Agent, jni: Jni, thread: Ref) -> Option<()> {
        if thread.is_null() {
            return None;
        }
        let other = self.place_of(jni, thread)?;
        if self.settings.is_exploring() {
            match Place::current() {
                Some(_) => {
                    self.step_on(a, jni, Kind::Unpark, other, 0);
                }
                None => self.wake_from_outside(a, jni, Kind::Unpark, 0, slot_of(other.thread)),
            }
            return Some(());
        }
        if Place::current().is_some() && !self.is_busy(jni) {
            self.point(a, jni, op(Kind::Unpark));
        }
        self.ask(a, |world| {
            world.unpark(other.thread);
            schedule::Next::Idle
        });
        if Place::current().is_none() {
            self.stir(a, jni);
        }
        Some(())
    }

    pub fn interrupt(&self, a: &Agent, jni: Jni, thread: Ref) {
        let Some(other) = self.place_of(jni, thread) else {
            return;
        };
        if self.settings.is_exploring() {
            return match Place::current() {
                Some(_) => self.interrupt_explored(a, jni, thread, other),
                None => self.wake_from_outside(a, jni, Kind::Interrupt, 0, slot_of(other.thread)),
            };
        }
        if Place::current().is_some() && !self.is_busy(jni) {
            self.point(a, jni, op(Kind::Interrupt));
        }
        self.ask(a, |world| {
            world.interrupt(other.thread);
            schedule::Next::Idle
        });
        if Place::current().is_none() {
            self.stir(a, jni);
        }
    }

    pub fn yield_now(&self, a: &Agent, jni: Jni) -> Option<()> {
        Place::current()?;
        self.point(a, jni, op(Kind::Yield));
        Some(())
    }

    /// Nanoseconds since 1970, by the clock of the run.
    pub fn time(&self) -> u64 {
        let start = self.settings.clock.saturating_mul(MILLI);
        if Place::current().is_none() {
            return start.saturating_add(self.now.load(Ordering::Relaxed));
        }
        let now = self.lock().world.look_at_clock();
        self.now.store(now, Ordering::Relaxed);
        start.saturating_add(now)
    }

    fn block(
        &self,
        a: &Agent,
        jni: Jni,
        me: &'static Place,
        why: Why,
        obj: u64,
        nanos: Option<u64>,
    ) -> Wake {
        let status = match (why, nanos) {
            (Why::Sleep, _) => SLEEPING,
            (_, None) => WAITING,
            (_, Some(_)) => WAITING_TIMED,
        };
        let old = self.set_status(jni, me, status);
        self.decide(a, jni, me, |world| {
            let deadline = nanos.map(|n| world.now().saturating_add(n));
            let blocked = Blocked {
                why,
                obj,
                site: 0,
                owner: None,
                deadline,
            };
            world.block(me.thread, blocked)
        });
        self.restore_status(jni, me, old);
        self.lock().world.woken(me.thread)
    }

    /// What Thread.getState goes by.
    pub(super) fn set_status(&self, jni: Jni, me: &Place, status: jint) -> jint {
        let Some(f) = self.fields.get() else {
            return 0;
        };
        let holder = f.holder.map(|holder| jni.object_field(me.object(), holder));
        let has_status = holder.as_ref().map_or(me.object(), |holder| holder.get());
        let old = jni.int_field(has_status, f.status);
        jni.set_int_field(has_status, f.status, status);
        old
    }

    pub(super) fn restore_status(&self, jni: Jni, me: &Place, old: jint) {
        self.set_status(jni, me, old);
    }

    fn is_interrupted(&self, jni: Jni, me: &Place) -> bool {
        let field = self.fields.get().map(|f| f.interrupted);
        field.is_some_and(|f| jni.boolean_field(me.object(), f))
    }

    /// Clears the thread's interrupt flag; whether it was set.
    pub(super) fn take_interrupt(&self, jni: Jni, me: &Place) -> bool {
        let set = self.is_interrupted(jni, me);
        if let (true, Some(f)) = (set, self.fields.get()) {
            jni.set_boolean_field(me.object(), f.interrupted, false);
        }
        set
    }
}

impl Control {
    /// Returns when the JVM says that the thread is dead: when it has forgotten
    /// its own structure for it, which is what Thread.isAlive looks at.
    pub(super) fn until_dead(&self, jni: Jni, place: &Place) {
        let Some(f) = self.fields.get() else {
            return;
        };
        let start = Instant::now();
        let mut patience = DEATH;
        while jni.long_field(place.object(), f.structure) != 0 {
            if start.elapsed() > patience {
                // On a busy machine it may not have had the processor yet.
                if super::watch::is_asleep(place) || patience > LONG_DEATH {
                    return;
                }
                patience += DEATH;
            }
            rustix::thread::sched_yield();
        }
        // SAFETY: the thread is dead, and it was controlled: none of the others, of
        // which one runs at a time, has anything to do with it.
        unsafe { place.give_back(jni) };
    }
}
