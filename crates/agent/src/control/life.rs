//! Threads begin and end.

use super::{Control, Place};
use crate::Agent;
use crate::jni::{Jni, Ref};
use crate::memory::RawClock;
use crate::threads::or_unnamed;
use protocol::control::Cause;
use schedule::{Kind, Op};
use std::sync::atomic::Ordering;

/// In which the JVM handles the signal by which the driver ends a run.
const OUR_SIGNAL: &str = "SIGTERM handler";

/// Threads of the JVM and the JDK that are none of the program's.
const SYSTEM: &[&str] = &[
    "Reference Handler",
    "Finalizer",
    "Signal Dispatcher",
    "Service Thread",
    "Monitor Deflation Thread",
    "Notification Thread",
    "Common-Cleaner",
    "Attach Listener",
    "DestroyJavaVM",
    "process reaper",
];

impl Control {
    /// The VM is up: its main thread is the first one, and runs.
    pub fn begin(&self, a: &Agent, jni: Jni, main: Ref) {
        let place = self.add(a, jni, main, true);
        self.processors.settle();
        place.occupy(self.processors.shared());
        self.is_running.store(true, Ordering::Release);
        self.start_watch();
    }

    pub(super) fn add(&self, a: &Agent, jni: Jni, thread: Ref, running: bool) -> &'static Place {
        let (name, _) = a.jvmti.thread(thread);
        let daemon = a.jvmti.is_daemon(thread);
        let mut state = self.lock();
        let parent = Place::current().map(|p| p.thread);
        let number = if running {
            state.world.start_running(daemon)
        } else {
            state.world.start(daemon)
        };
        if let Some(guided) = state.world.guided() {
            guided.started(number, parent);
        }
        let clock = self.clock_of(jni, thread);
        // As findings call it.
        let name = or_unnamed(name, clock.map_or(number, RawClock::id));
        state.journal.thread(number, &name, parent);
        let object = jni.global(thread);
        let place = Place::new(number, name, object, clock);
        let mut places = self.places.write().unwrap_or_else(|e| e.into_inner());
        places.push(place);
        self.set_place(jni, thread, number + 1);
        self.publish(&state.world);
        place
    }

    fn clock_of(&self, jni: Jni, thread: Ref) -> Option<RawClock> {
        let f = self.fields.get()?;
        let pf = jni.object_field(thread, f.pf);
        let address = (!pf.is_null()).then(|| jni.long_field(pf.get(), f.clock))?;
        // SAFETY: the bridge keeps the address of a clock there, for good.
        Some(unsafe { RawClock::at(address) })
    }

    fn set_place(&self, jni: Jni, thread: Ref, number: u32) {
        let Some(f) = self.fields.get() else {
            return;
        };
        let pf = jni.object_field(thread, f.pf);
        jni.set_int_field(pf.get(), f.place, number as i32);
    }

    /// A thread is about to be started. It is ready from now on, wherever it is
    /// on its way.
    pub fn starting(&self, a: &Agent, jni: Jni, thread: Ref) -> Option<&'static Place> {
        if !self.is_running.load(Ordering::Acquire) {
            return None;
        }
        if let Some(main) = self.starting_main(a, jni, thread) {
            return Some(main);
        }
        let (name, system) = a.jvmti.thread(thread);
        if system {
            if !SYSTEM.contains(&name.as_str()) {
                let cause = match name.as_str() {
                    OUR_SIGNAL => Cause::OurSignal,
                    _ => Cause::Other,
                };
                self.name_uncontrolled(a, cause, &format!("thread \"{name}\" of the JDK"));
            }
            return None;
        }
        if Place::current().is_some() && !self.is_busy(jni) {
            self.point(a, jni, op(Kind::Start));
        }
        Some(self.add(a, jni, thread, false))
    }

    /// The system had no thread to give.
    pub fn not_started(&self, jni: Jni, place: &Place) {
        self.set_place(jni, place.object(), 0);
        self.lock().world.discard(place.thread);
    }

    /// Started by a thread that is not controlled: nobody may be running.
    pub fn started(&self, a: &Agent, jni: Jni) {
        if Place::current().is_none() && self.worker.is_none() {
            self.stir(a, jni);
        }
    }

    /// In the new thread, before its first bytecode.
    pub fn began(&self, a: &Agent, jni: Jni, thread: Ref) {
        if Place::current().is_some() {
            return; // main, which has long begun
        }
        if let Some(me) = self.place_of(jni, thread) {
            me.occupy(self.processors.shared());
            me.await_turn();
            self.settle(a, jni);
        }
    }

    /// In the thread, after its last bytecode.
    pub fn ended(&self, a: &Agent, jni: Jni) {
        let Some(me) = Place::current() else {
            return self.errand_done(a, jni);
        };
        self.come_in(a, jni, me);
        if self.settings.is_exploring() {
            self.point(a, jni, op(Kind::End));
        }
        let object = a
            .bridge
            .get()
            .map_or(0, |b| b.number_of(jni, me.object(), false));
        me.vacate();
        self.settle(a, jni);
        self.leaving
            .store(std::ptr::from_ref(me).cast_mut(), Ordering::Release);
        let next = self.ask(a, |world| {
            world.wake_waiting(object as u64);
            world.end(me.thread)
        });
        self.announce(a, jni, None, next);
    }

    /// A thread that the JVM made runs the program's code from now on: its
    /// shutdown hooks.
    pub fn adopt(&self, a: &Agent, jni: Jni) {
        if Place::current().is_some() {
            return;
        }
        let thread = a.jvmti.current_thread(jni);
        let place = self.add(a, jni, thread, false);
        self.guided(|g| g.late(place.thread));
        place.occupy(self.processors.shared());
        self.stir(a, jni);
        place.await_turn();
        self.settle(a, jni);
    }

    /// What the thread is at.
    pub(super) fn whereabouts(&self, jni: Jni, me: &Place) -> Whereabouts {
        let Some(f) = self.fields.get() else {
            return Whereabouts::Busy;
        };
        let pf = jni.object_field(me.object(), f.pf);
        if pf.is_null() {
            return Whereabouts::Busy; // the agent itself is at work
        }
        let is = |field| jni.int_field(pf.get(), field) != 0;
        if is(f.linking) {
            Whereabouts::Linking
        } else if is(f.quiet) || is(f.unwatched) {
            Whereabouts::Busy
        } else {
            Whereabouts::Free
        }
    }

    /// Whether the current thread is where there are no points.
    pub fn is_busy(&self, jni: Jni) -> bool {
        Place::current().is_none_or(|me| self.whereabouts(jni, me) != Whereabouts::Free)
    }
}

/// What a thread is at, for a thread that comes from the JVM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whereabouts {
    /// The program's work.
    Free,
    /// Classes are loaded or initialised.
    Linking,
    /// Inside a modelled method, or the agent's own work.
    Busy,
}

pub(super) fn op(kind: Kind) -> Op {
    Op {
        kind,
        site: 0,
        obj: 0,
        slot: 0,
    }
}
