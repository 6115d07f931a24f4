//! One controlled thread: where it waits for its turn.

use crate::jni::{Global, Jni, Ref};
use crate::memory::RawClock;
use jni_sys::_jobject;
use rustix::thread::CpuSet;
use rustix::thread::futex::{self, Flags, Timespec};
use schedule::Thread;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// Never freed: a thread that comes late still finds its place.
#[derive(Debug)]
pub struct Place {
    pub thread: Thread,
    pub name: String,
    /// A global reference to the java.lang.Thread; null when it was given back.
    object: AtomicPtr<_jobject>,
    /// Below its clock stands what method of the relation it is in.
    pub clock: Option<RawClock>,
    /// 1: it is this thread's turn.
    turn: AtomicU32,
    /// Of the operating system; 0 until the thread has begun.
    pub tid: AtomicU32,
    /// The program's call into the JDK in which it comes to its point; 0 for none.
    pub call: AtomicU32,
    pub is_gone: AtomicBool,
    /// It waits for its turn, and so is not stuck elsewhere: on a busy machine it
    /// may have been given the turn and not be told yet.
    pub is_waiting: AtomicBool,
    /// The execution that it belongs to, where there are many.
    generation: u32,
}

/// The execution that is being made.
static GENERATION: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static ME: Cell<Option<&'static Place>> = const { Cell::new(None) };
    /// The processor that the current thread was last put on.
    static PINNED: Cell<Option<usize>> = const { Cell::new(None) };
}

impl Place {
    /// The java.lang.Thread; null after [`Place::give_back`].
    pub fn object(&self) -> Ref<'_> {
        // SAFETY: a global reference, or null. The caller that gives it back answers for it
        // that nobody uses it then.
        unsafe { Ref::from_raw(self.object.load(Ordering::Acquire)) }
    }

    /// The thread has ended, or is left behind: its object is not needed any more.
    ///
    /// # Safety
    /// No other thread may be using [`Place::object`], nor may the caller have it.
    pub unsafe fn give_back(&self, jni: Jni) {
        let raw = self.object.swap(ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: null, or the global reference that was kept here, which nobody else
        // can have taken out.
        if let Some(object) = unsafe { Global::from_raw(raw) } {
            jni.delete_global(object);
        }
    }

    pub fn new(
        thread: Thread,
        name: String,
        object: Option<Global>,
        clock: Option<RawClock>,
    ) -> &'static Place {
        Box::leak(Box::new(Place {
            thread,
            name,
            object: AtomicPtr::new(object.map_or(Ref::NULL, Global::leak).raw()),
            clock,
            turn: AtomicU32::new(0),
            tid: AtomicU32::new(0),
            call: AtomicU32::new(0),
            is_gone: AtomicBool::new(false),
            is_waiting: AtomicBool::new(false),
            generation: GENERATION.load(Ordering::Acquire),
        }))
    }

    /// The current thread's, if it is controlled. One that an earlier execution left
    /// behind does not come back from here.
    pub fn current() -> Option<&'static Place> {
        let me = ME.get()?;
        while me.generation != GENERATION.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_secs(3600));
        }
        Some(me)
    }

    /// Another execution begins.
    pub fn next_generation() {
        GENERATION.fetch_add(1, Ordering::AcqRel);
    }

    /// The current thread is this one, and runs where all the others do: a
    /// hand-over within one processor costs a tenth of one between two.
    pub fn occupy(&'static self, cpu: usize) {
        ME.set(Some(self));
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        self.tid.store(tid as u32, Ordering::Release);
        stay_on(cpu);
    }

    pub fn vacate(&self) {
        ME.set(None);
        self.is_gone.store(true, Ordering::Release);
    }

    pub fn give_turn(&self) {
        self.turn.store(1, Ordering::Release);
        let _ = futex::wake(&self.turn, Flags::PRIVATE, 1);
    }

    /// Waits for its turn; bounded by the watchdog of the run.
    pub fn await_turn(&self) {
        while !self.await_turn_for(Duration::from_secs(3600)) {}
    }

    /// False if it has not come by then.
    pub fn await_turn_for(&self, limit: Duration) -> bool {
        self.is_waiting.store(true, Ordering::Release);
        let came = self.turn_comes_in(limit);
        self.is_waiting.store(false, Ordering::Release);
        came
    }

    fn turn_comes_in(&self, limit: Duration) -> bool {
        let timeout = Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        loop {
            if self.turn.swap(0, Ordering::Acquire) == 1 {
                return true;
            }
            match futex::wait(&self.turn, Flags::PRIVATE, 0, Some(&timeout)) {
                Err(rustix::io::Errno::TIMEDOUT) => {
                    return self.turn.swap(0, Ordering::Acquire) == 1;
                }
                _ => continue,
            }
        }
    }
}

/// The processors of the JVM, and the one of them that the program's threads share.
///
/// Which one is the system's choice, made anew for every execution of a worker: it knows what else is
/// running. A choice by number would be the same in every process, and processes side by side would all
/// have their threads on one processor while the others are idle.
#[derive(Debug)]
pub struct Processors {
    all: Option<CpuSet>,
    shared: AtomicUsize,
}

impl Processors {
    /// Of the current thread, before anything was pinned.
    pub fn of_the_jvm() -> Processors {
        Processors {
            all: rustix::thread::sched_getaffinity(None).ok(),
            shared: AtomicUsize::new(rustix::thread::sched_getcpu()),
        }
    }

    pub fn shared(&self) -> usize {
        self.shared.load(Ordering::Acquire)
    }

    /// The current thread leads the execution that begins, and the others come to where it is now.
    pub fn settle(&self) {
        let here = rustix::thread::sched_getcpu();
        self.shared.store(here, Ordering::Release);
        run_on(&only(here));
    }

    /// The current thread may be anywhere again.
    pub fn leave(&self) {
        if let Some(all) = &self.all {
            run_on(all);
        }
    }

    /// Runs `f`, which starts a process, where the JVM itself may run: the
    /// process is not to share the one processor of the program's threads.
    pub fn roaming<T>(&self, f: impl FnOnce() -> T) -> T {
        if Place::current().is_none() {
            return f();
        }
        self.leave();
        let result = f();
        run_on(&only(self.shared()));
        result
    }
}

fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu);
    set
}

/// Lets the current thread run on these processors.
fn run_on(cpus: &CpuSet) {
    PINNED.set(None);
    // If that is not allowed, hand-over is slower and that is all.
    let _ = rustix::thread::sched_setaffinity(None, cpus);
}

/// The same for one processor, where the thread may be already: in a worker, threads of the
/// system are used again.
fn stay_on(cpu: usize) {
    if PINNED.get() != Some(cpu) {
        run_on(&only(cpu));
        PINNED.set(Some(cpu));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed number would be the same in every process.
    #[test]
    fn an_execution_settles_where_the_system_put_it_and_leaves_again() {
        let here = || rustix::thread::sched_getaffinity(None).unwrap();
        let test = move || {
            let before = here();
            let processors = Processors::of_the_jvm();
            for _ in 0..3 {
                processors.settle();
                assert_eq!(here(), only(processors.shared()));
                assert!(before.is_set(processors.shared()));
                processors.leave();
                assert_eq!(here(), before);
            }
            // What is no thread of the program's stays where it may be.
            processors.roaming(|| assert_eq!(here(), before));
            assert_eq!(here(), before);
        };
        std::thread::spawn(test).join().unwrap();
    }
}
