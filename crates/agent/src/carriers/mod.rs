//! Threads of the operating system that are used again, in workers: the JVM asks for a new thread for every
//! `Thread` that a program starts, some for each of thousands of executions a second, and to the system that is
//! a stack, a clone and an exit. Here it is a message to a thread that has nothing to do.
//!
//! The JVM does not know: what it calls is `pthread_create`, and what it gets is a thread that begins
//! where it said and has nothing of its own before. `got` has its calls come here. So Thread objects, their
//! beginnings and their ends are as they always are.
//!
//! A thread keeps its stack, and the pages at the end of it that the JVM makes inaccessible for as long as its
//! own thread lives: they stay so, where the JVM asks for exactly what is so already. After anything else that it does
//! to the stack (it opens some of these pages when a stack overflows), its calls are made as they are.
//!
//! What cannot be redirected in the JVM's library is called as it was; each of the functions works without the others.

mod got;

use rustix::thread::futex::{self, Flags};
use std::cell::Cell;
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once};

type Begin = extern "C" fn(*mut c_void) -> *mut c_void;
type PthreadT = usize;
type Create = unsafe extern "C" fn(*mut PthreadT, *const c_void, Begin, *mut c_void) -> c_int;
type Mmap = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, c_long) -> *mut c_void;
type Mprotect = unsafe extern "C" fn(*mut c_void, usize, c_int) -> c_int;

unsafe extern "C" {
    fn pthread_create(
        thread: *mut PthreadT,
        attr: *const c_void,
        begin: Begin,
        arg: *mut c_void,
    ) -> c_int;
    fn pthread_self() -> PthreadT;
    fn pthread_getattr_np(thread: PthreadT, attr: *mut c_void) -> c_int;
    fn pthread_attr_getstack(attr: *const c_void, low: *mut *mut c_void, size: *mut usize)
    -> c_int;
    fn pthread_attr_destroy(attr: *mut c_void) -> c_int;
    fn pthread_attr_getstacksize(attr: *const c_void, size: *mut usize) -> c_int;
    fn pthread_attr_getguardsize(attr: *const c_void, size: *mut usize) -> c_int;
    fn pthread_attr_getdetachstate(attr: *const c_void, state: *mut c_int) -> c_int;
    fn mmap(
        addr: *mut c_void,
        len: usize,
        prot: c_int,
        flags: c_int,
        fd: c_int,
        offset: c_long,
    ) -> *mut c_void;
    fn mprotect(addr: *mut c_void, len: usize, prot: c_int) -> c_int;
}

const NONE: c_int = 0;
const READ_WRITE: c_int = 3;
const FIXED: c_int = 0x10;
const DETACHED: c_int = 1;

/// Threads that may wait for work at once.
const MOST_IDLE: usize = 256;

/// What kind of stack a thread has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kind {
    stack: usize,
    guard: usize,
}

/// One thread of the system. Never freed.
#[derive(Debug)]
struct Carrier {
    kind: Kind,
    thread: PthreadT,
    /// 1: there is something to do.
    called: AtomicU32,
    work: Mutex<Option<Work>>,
}

#[derive(Clone, Copy, Debug)]
struct Work {
    begin: Begin,
    arg: *mut c_void,
}

// SAFETY: the JVM hands the pointer from the thread that asks to the one that begins.
unsafe impl Send for Work {}

/// Those that have nothing to do.
static IDLE: Mutex<Vec<&'static Carrier>> = Mutex::new(Vec::new());

thread_local! {
    /// The pages that are inaccessible on the current thread's stack, if it is a carrier and they are known.
    static CLOSED: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    static IS_CARRIER: Cell<bool> = const { Cell::new(false) };
    /// The bounds of the current carrier's stack.
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// From now on threads of the system are used again.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        got::redirect(&[
            (c"pthread_create", create as Create as *mut c_void),
            (c"mmap", map as Mmap as *mut c_void),
            (c"mmap64", map as Mmap as *mut c_void),
            (c"mprotect", protect as Mprotect as *mut c_void),
        ]);
    });
}

/// What the JVM asks for, if it is a kind of thread that can be used again.
fn kind_of(attr: *const c_void) -> Option<Kind> {
    if attr.is_null() {
        return None;
    }
    let (mut stack, mut guard, mut state) = (0, 0, 0);
    // SAFETY: the attributes that the JVM passes to pthread_create.
    let known = unsafe {
        pthread_attr_getstacksize(attr, &mut stack) == 0
            && pthread_attr_getguardsize(attr, &mut guard) == 0
            && pthread_attr_getdetachstate(attr, &mut state) == 0
    };
    // Nobody waits for the end of a detached thread.
    (known && state == DETACHED).then_some(Kind { stack, guard })
}

/// In place of pthread_create.
unsafe extern "C" fn create(
    thread: *mut PthreadT,
    attr: *const c_void,
    begin: Begin,
    arg: *mut c_void,
) -> c_int {
    let Some(kind) = kind_of(attr) else {
        // SAFETY: what the caller asked for.
        return unsafe { pthread_create(thread, attr, begin, arg) };
    };
    let work = Work { begin, arg };
    let idle = {
        let mut idle = lock(&IDLE);
        let at = idle.iter().rposition(|carrier| carrier.kind == kind);
        at.map(|at| idle.swap_remove(at))
    };
    if let Some(carrier) = idle {
        // SAFETY: the caller's own variable. It is written before the thread begins, as by the original.
        unsafe { thread.write(carrier.thread) };
        *lock(&carrier.work) = Some(work);
        carrier.called.store(1, Ordering::Release);
        let _ = futex::wake(&carrier.called, Flags::PRIVATE, 1);
        return 0;
    }
    let first = Box::into_raw(Box::new((kind, work)));
    // SAFETY: the caller's attributes; the box is the new thread's.
    let made = unsafe { pthread_create(thread, attr, carry, first.cast()) };
    if made != 0 {
        // SAFETY: no thread was made that could have taken it.
        drop(unsafe { Box::from_raw(first) });
    }
    made
}

/// The life of a carrier: one thread of the JVM's after the other.
extern "C" fn carry(first: *mut c_void) -> *mut c_void {
    // SAFETY: the box that `create` made for this thread.
    let first = unsafe { Box::from_raw(first.cast::<(Kind, Work)>()) };
    let (kind, mut work) = *first;
    IS_CARRIER.set(true);
    STACK.set(stack());
    // SAFETY: no arguments.
    let thread = unsafe { pthread_self() };
    let me: &'static Carrier = Box::leak(Box::new(Carrier {
        kind,
        thread,
        called: AtomicU32::new(0),
        work: Mutex::new(None),
    }));
    loop {
        (work.begin)(work.arg);
        {
            let mut idle = lock(&IDLE);
            if idle.len() >= MOST_IDLE {
                break;
            }
            idle.push(me);
        }
        work = loop {
            while me.called.swap(0, Ordering::Acquire) == 0 {
                let _ = futex::wait(&me.called, Flags::PRIVATE, 0, None);
            }
            if let Some(work) = lock(&me.work).take() {
                break work;
            }
        };
    }
    IS_CARRIER.set(false);
    std::ptr::null_mut()
}

/// In place of mmap: the JVM maps the pages at the end of a stack anew when its thread begins, and once more when it
/// ends.
unsafe extern "C" fn map(
    addr: *mut c_void,
    len: usize,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: c_long,
) -> *mut c_void {
    if let Some(closed) = closed()
        && flags & FIXED != 0
        && fd == -1
        && (prot == NONE || prot == READ_WRITE)
    {
        if closed == (addr.addr(), len) {
            return addr;
        }
        touches(closed, addr.addr(), len);
    }
    // SAFETY: what the caller asked for.
    unsafe { mmap(addr, len, prot, flags, fd, offset) }
}

/// In place of mprotect.
unsafe extern "C" fn protect(addr: *mut c_void, len: usize, prot: c_int) -> c_int {
    let is_carrier = IS_CARRIER.try_with(Cell::get).unwrap_or(false);
    let asked = (addr.addr(), len);
    if is_carrier && prot == NONE {
        if closed() == Some(asked) {
            return 0;
        }
        if closed().is_none() && is_on_stack(asked) {
            // SAFETY: what the caller asked for.
            let done = unsafe { mprotect(addr, len, prot) };
            if done == 0 {
                CLOSED.set(Some(asked));
            }
            return done;
        }
    }
    if let Some(closed) = closed() {
        touches(closed, addr.addr(), len);
    }
    // SAFETY: what the caller asked for.
    unsafe { mprotect(addr, len, prot) }
}

fn closed() -> Option<(usize, usize)> {
    CLOSED.try_with(Cell::get).ok().flatten()
}

/// Somebody changes pages: if they are among those that are closed, nothing is known of these any more.
fn touches((from, length): (usize, usize), addr: usize, len: usize) {
    if addr < from.saturating_add(length) && from < addr.saturating_add(len) {
        CLOSED.set(None);
    }
}

/// Whether pages are on the current thread's stack. The JVM closes pages of other kinds as well.
fn is_on_stack((from, length): (usize, usize)) -> bool {
    let (low, high) = STACK.try_with(Cell::get).unwrap_or_default();
    low <= from && from.saturating_add(length) <= high
}

/// The bounds of the current thread's stack; of no use if they cannot be had.
fn stack() -> (usize, usize) {
    let mut attr = [0_u64; 16]; // pthread_attr_t has 56 or 64 bytes
    let attr: *mut c_void = attr.as_mut_ptr().cast();
    let (mut low, mut size) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: attributes of the current thread, asked for and given back.
    unsafe {
        if pthread_getattr_np(pthread_self(), attr) != 0 {
            return (0, 0);
        }
        pthread_attr_getstack(attr, &mut low, &mut size);
        pthread_attr_destroy(attr);
    }
    (low.addr(), low.addr() + size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    unsafe extern "C" {
        fn pthread_attr_init(attr: *mut c_void) -> c_int;
        fn pthread_attr_setdetachstate(attr: *mut c_void, state: c_int) -> c_int;
        fn pthread_attr_setstacksize(attr: *mut c_void, size: usize) -> c_int;
    }

    const STACK_SIZE: usize = 1 << 20;
    const PAGES: usize = 4 * 4096;
    const PRIVATE_ANONYMOUS: c_int = 0x22;

    /// What a thread does in the JVM's place: closes the end of its stack, says who it is and what it found, and
    /// opens it again.
    extern "C" fn live(arg: *mut c_void) -> *mut c_void {
        // SAFETY: the box of the test that started it.
        let said = unsafe { Box::from_raw(arg.cast::<Sender<(i32, bool)>>()) };
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        let was_closed = closed().is_some();
        let (low, _) = stack();
        let end = std::ptr::with_exposed_provenance_mut::<c_void>(low);
        let flags = FIXED | PRIVATE_ANONYMOUS;
        // SAFETY: the lowest pages of this thread's stack, which it does not reach.
        unsafe {
            assert_eq!(map(end, PAGES, READ_WRITE, flags, -1, 0), end);
            assert_eq!(protect(end, PAGES, NONE), 0);
            assert_eq!(closed(), Some((low, PAGES)));
            assert_eq!(map(end, PAGES, NONE, flags, -1, 0), end);
        }
        let _ = said.send((tid, was_closed));
        std::ptr::null_mut()
    }

    fn start() -> Receiver<(i32, bool)> {
        let (said, hears) = channel::<(i32, bool)>();
        let arg = Box::into_raw(Box::new(said)).cast();
        let mut attr = [0_u64; 16];
        let attr: *mut c_void = attr.as_mut_ptr().cast();
        let mut thread = 0;
        // SAFETY: attributes of our own, and a function that takes this box.
        let made = unsafe {
            pthread_attr_init(attr);
            pthread_attr_setdetachstate(attr, DETACHED);
            pthread_attr_setstacksize(attr, STACK_SIZE);
            create(&mut thread, attr, live, arg)
        };
        assert_eq!(made, 0);
        hears
    }

    fn idle() -> usize {
        lock(&IDLE).len()
    }

    /// One after the other on one thread of the system, and two at a time on two.
    #[test]
    fn threads_of_the_system_are_used_again() {
        let (first, was_closed) = start().recv().unwrap();
        assert!(!was_closed);
        while idle() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let (second, was_closed) = start().recv().unwrap();
        assert_eq!(first, second);
        assert!(was_closed, "the end of its stack stays closed");
        while idle() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let both = [start(), start()].map(|hears| hears.recv().unwrap().0);
        assert!(both.contains(&first));
    }

    #[test]
    fn pages_that_somebody_opens_are_not_known_to_be_closed() {
        CLOSED.set(Some((0x10_000, 0x4000)));
        touches((0x10_000, 0x4000), 0x14_000, 0x1000);
        assert!(closed().is_some());
        touches((0x10_000, 0x4000), 0x13_000, 0x1000);
        assert!(closed().is_none());
    }

    /// There is no such library here, and nothing changes.
    #[test]
    fn without_a_jvm_nothing_is_redirected() {
        let ours = (c"pthread_create", create as Create as *mut c_void);
        assert!(!got::redirect(&[ours]));
    }
}
