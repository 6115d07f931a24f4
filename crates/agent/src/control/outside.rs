//! Where threads block and nobody here can see it: input and output in native
//! code, and monitors of code without probes. The turn is given away before, and
//! asked for again after.

use super::{Control, Place};
use crate::Agent;
use crate::jni::{Jni, Ref};
use protocol::control::Cause;
use std::cell::Cell;

thread_local! {
    /// Whether the current thread, which is not controlled, has seen to the end of
    /// a process and may not have told everybody yet.
    static ON_ERRAND: Cell<bool> = const { Cell::new(false) };
    /// Whether the current thread keeps its turn while it waits for a monitor.
    static KEEPS_TURN: Cell<bool> = const { Cell::new(false) };
}

impl Control {
    /// Runs `f`, which may block for long, while others have the turn.
    pub fn outside<T>(&self, a: &Agent, jni: Jni, what: &str, f: impl FnOnce() -> T) -> T {
        let Some(me) = Place::current().filter(|_| !self.is_single()) else {
            return f();
        };
        self.come_in(a, jni, me);
        let next = self.ask(a, |world| world.leave(me.thread));
        self.announce(a, jni, None, next);
        let result = f();
        let thrown = jni.take_exception();
        self.name_uncontrolled(a, Cause::Other, &format!("when {what} ends"));
        self.come_in(a, jni, me);
        if let Some(thrown) = thrown {
            jni.throw(&thrown);
        }
        result
    }

    /// The program has started a process. Until the JDK's thread that sees to its
    /// end has told everybody, a thread that waits for it is not stuck.
    pub fn forked(&self, pid: i64) {
        let mut state = self.lock();
        if state.forked.insert(pid) {
            state.world.errand();
        }
    }

    /// Runs `f`, which waits for the end of a process, in a thread that is not
    /// controlled. Its errand is over when the thread is idle again: what it has
    /// to say is said after `f`.
    pub fn reap<T>(&self, a: &Agent, jni: Jni, pid: i64, f: impl FnOnce() -> T) -> T {
        self.errand_done(a, jni);
        let mut state = self.lock();
        if !state.forked.remove(&pid) {
            state.world.errand(); // it is not the program's child
        }
        drop(state);
        ON_ERRAND.set(true);
        f()
    }

    /// A thread that is not controlled is about to park. One that waits for its
    /// next task has told all that it had to tell of the last.
    pub fn parking(&self, a: &Agent, jni: Jni) {
        if ON_ERRAND.get() && self.waits_for_a_task(a, jni) {
            self.errand_done(a, jni);
        }
    }

    fn waits_for_a_task(&self, a: &Agent, jni: Jni) -> bool {
        const QUEUES: [&str; 2] = [
            "Ljava/util/concurrent/SynchronousQueue",
            "Ljava/util/concurrent/LinkedTransferQueue",
        ];
        let thread = a.jvmti.current_thread(jni);
        let class = jni.class_of(thread);
        let field = jni.reference_field(class, "parkBlocker", "Ljava/lang/Object;");
        let blocker = field.map(|f| jni.object_field(thread, f));
        let Some(blocker) = blocker.filter(|o| !o.is_null()) else {
            return false;
        };
        let class = a.jvmti.class_signature(jni.class_of(blocker.get()));
        class.is_some_and(|class| QUEUES.iter().any(|queue| class.starts_with(queue)))
    }

    /// From now on there are threads that are not controlled and may wake others
    /// at any time.
    pub fn has_helpers(&self) {
        self.lock().world.errand();
    }

    /// The current thread is back from its errand, if it was on one.
    pub(super) fn errand_done(&self, a: &Agent, jni: Jni) {
        if !ON_ERRAND.replace(false) {
            return;
        }
        let next = self.ask(a, |world| {
            world.errand_done();
            world.resume()
        });
        self.announce(a, jni, None, next);
    }

    /// Whether a read from this FileInputStream may have to wait: it has nothing
    /// to read yet.
    pub fn may_wait(&self, jni: Jni, stream: Ref) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        let Some(number) = jni.file_number(stream) else {
            return false;
        };
        // SAFETY: only looked at, while the stream that owns it is alive.
        let fd = unsafe { rustix::fd::BorrowedFd::borrow_raw(number) };
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        let now = rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut fds, Some(&now)) == Ok(0)
    }

    /// Whether the object is a live thread that is not controlled: one of the JDK's. Who waits
    /// for its end is not stuck.
    pub fn is_uncontrolled_thread(&self, jni: Jni, o: Ref) -> bool {
        let Some(f) = self.fields.get() else {
            return false;
        };
        Place::current().is_some()
            && jni.is_instance(o, f.thread)
            && self.place_of(jni, o).is_none()
            && jni.long_field(o, f.structure) != 0
    }

    /// Whether nobody else could have the turn.
    fn is_single(&self) -> bool {
        !self.lock().world.has_choice()
    }

    /// The JVM is about to make the thread wait for a monitor. If a thread of the JDK's own has
    /// it, such as the Cleaner, that is over in a moment, and who has the turn keeps it: the
    /// program cannot tell. (The watch lets others run if it is not over.)
    pub fn contended(&self, a: &Agent, jni: Jni, o: Ref) {
        let Some(me) = Place::current().filter(|_| !is_bridges(a, jni, o)) else {
            return;
        };
        self.come_in(a, jni, me);
        let owner = a.jvmti.monitor_owner(jni, o);
        let is_ours = |owner: Ref| self.place_of(jni, owner).is_some();
        if owner.is_some_and(|owner| owner.is_null() || !is_ours(owner)) {
            KEEPS_TURN.set(true);
            return;
        }
        let next = self.ask(a, |world| world.leave(me.thread));
        self.announce(a, jni, None, next);
    }

    /// It has got it.
    pub fn entered(&self, a: &Agent, jni: Jni, o: Ref) {
        let Some(me) = Place::current().filter(|_| !is_bridges(a, jni, o)) else {
            return;
        };
        if KEEPS_TURN.take() {
            self.come_in(a, jni, me);
            return;
        }
        // A thread takes its own monitor when it dies, to wake those who wait for
        // that. Whether somebody who joins it comes before or after is the same.
        if !self.has_ended(jni, o) {
            let class = a.jvmti.class_signature(jni.class_of(o)).unwrap_or_default();
            let class = crate::stacks::type_name(&class);
            self.name_uncontrolled(
                a,
                Cause::Other,
                &format!("who gets a contended monitor of {class} next"),
            );
        }
        self.come_in(a, jni, me);
    }
}

/// Whether the object is one of the bridge's. Its monitors are held for lookups only, by threads
/// that need no turn to give them back: the program cannot tell who gets one first.
fn is_bridges(a: &Agent, jni: Jni, o: Ref) -> bool {
    let class = a.jvmti.class_signature(jni.class_of(o));
    class.is_some_and(|class| class.starts_with("Ljava/lang/Photofinish"))
}
