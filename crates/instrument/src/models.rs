//! What the JDK's own code means, where its bytecode does not say so.
//!
//! Most synchronisers of `java.util.concurrent` need no model: their volatiles
//! and compare-and-sets give exactly the edges they promise. A model is needed
//! where
//!
//! * the meaning is more than the edges: a `ReentrantLock` is a lock and belongs
//!   in locksets; readers of a read-write lock do not order one another
//!   although they all update one counter ([`Hook::Lock`] and its kin silence
//!   what goes on inside and say what it meant);
//! * data is handed over by plain accesses between fences, which order nothing
//!   that a detector could see: tasks of a fork/join pool ([`Hook::ReleaseParam`]
//!   and [`Hook::AcquireThis`], keyed by the task), and the structures whose
//!   fields [`VOLATILE`] lists;
//! * the JVM does it: a thread is seen to have ended.
//!
//! Checked against JDK 17 with `javap -p -c`, and what changed until JDK 25; that the classes, methods and fields
//! are there is a test (`tests/jdk/known.rs`). Looked at and found in need of no
//! model: Exchanger (item is published by a compare-and-set of the slot and
//! answered through the volatile `match`), SynchronousQueue and
//! LinkedTransferQueue (volatile `next`, `match`, `item`), ConcurrentHashMap
//! (bins by Unsafe acquire and release, values volatile also in tree bins),
//! FutureTask (`outcome` behind `state`), CopyOnWriteArrayList (volatile array).

/// What a modelled method means. `key` is the object read from a field of the
/// receiver that stands for the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Acquires exclusively; returns when it has.
    Lock {
        key: &'static str,
    },
    /// Tries to; the boolean result tells.
    TryLock {
        key: &'static str,
    },
    /// Releases what Lock and TryLock acquired.
    Unlock {
        key: &'static str,
    },
    /// The same three for shared mode.
    SharedLock {
        key: &'static str,
    },
    SharedTryLock {
        key: &'static str,
    },
    SharedUnlock {
        key: &'static str,
    },
    /// Returns the stamp of a write lock, or 0.
    StampWrite,
    /// Returns the stamp of a read lock, or 0.
    StampRead,
    /// Returns the stamp of the mode converted to, or 0.
    StampConvert(Stamp),
    /// Releases a stamped lock.
    StampRelease(Stamp),
    /// Waits on a condition of the synchroniser.
    Await {
        key: &'static str,
    },
    /// Signals one.
    Signal {
        key: &'static str,
    },
    /// All threads but daemons have ended.
    ThreadsEnded,
    /// Returns whether the thread `this` is alive; `join` asks it too.
    ThreadAlive,
    /// Returns the state of the thread `this`.
    ThreadState,
    /// What came before the call is visible to a thread that acquires the first
    /// parameter of this type.
    ReleaseParam(&'static str),
    /// The other end: what was done before the release of `this` is visible
    /// in the body.
    AcquireThis,
    /// The JDK at work for itself, behind locks that are not watched: what it
    /// does to data meanwhile is not the program's.
    Unwatched,
    /// The JVM has a class loaded or a call linked where a statement first runs. What the
    /// JDK synchronises for that orders the program's threads by accident, in no
    /// other run: neither that nor what it does to data is the program's.
    Loading,
    /// The same for the object returned, if not null.
    AcquireResult,
    /// The thread waits for others in a loop.
    SpinWait,
    /// The JVM waits for it with locks of its own held, which no other thread
    /// must come to want.
    Linking,
    /// The first parameter is an exception that nobody caught.
    Uncaught,
    /// A condition of the lock is made.
    Condition {
        key: &'static str,
    },
    /// Waits for the end of the thread `this`.
    Join,
    /// Asks a thread something, see [`asked`]; the current one, if static.
    Asks(i32),
    /// Starts the virtual thread `this`.
    VirtualStart,
    /// The whole life of the virtual thread `this`, in it.
    VirtualRun,
    /// Hands the virtual thread `this` to a carrier, or gives the carrier up. What happens to
    /// the scheduler meanwhile orders nothing that the program could rely on.
    Mounts,
    /// Returns whether the thread `this` has ended.
    Joined,
    /// The same, of a virtual thread, after a wait of its own.
    VirtualJoin,
    /// Interrupts the thread `this`.
    Interrupt,
    /// Knows at its end whether the thread `this` was interrupted.
    InterruptSeen,
    /// Waits to be notified; tells of virtual threads only.
    Wait,
    /// The release of what a method with [`Hook::AcquireOnceDone`] acquires.
    Release {
        key: &'static str,
    },
    /// Has waited, when it returns nothing or true, for all who released the key; an empty one is `this`.
    AcquireOnceDone {
        key: &'static str,
    },
}

impl Hook {
    /// Says nothing but what happens before what: a detector's business.
    pub(crate) fn only_orders(self) -> bool {
        matches!(
            self,
            Hook::ThreadAlive
                | Hook::ThreadState
                | Hook::ReleaseParam(_)
                | Hook::AcquireThis
                | Hook::AcquireResult
                | Hook::Loading
                | Hook::VirtualStart
                | Hook::VirtualRun
                | Hook::Mounts
                | Hook::Joined
                | Hook::VirtualJoin
                | Hook::Interrupt
                | Hook::InterruptSeen
                | Hook::Wait
                | Hook::Release { .. }
                | Hook::AcquireOnceDone { .. }
        )
    }

    /// What the method is about to do, as the bridge numbers it.
    pub(crate) fn what(self) -> Option<i32> {
        Some(match self {
            Hook::Lock { .. } => what::LOCK,
            Hook::TryLock { .. } => what::TRY_LOCK,
            Hook::Unlock { .. } => what::UNLOCK,
            Hook::SharedLock { .. } => what::SHARED_LOCK,
            Hook::SharedTryLock { .. } => what::SHARED_TRY_LOCK,
            Hook::SharedUnlock { .. } => what::SHARED_UNLOCK,
            Hook::Await { .. } => what::AWAIT,
            Hook::Signal { .. } => what::SIGNAL,
            Hook::StampWrite => what::STAMP_WRITE,
            Hook::StampRead => what::STAMP_READ,
            Hook::StampConvert(_) | Hook::StampRelease(_) => what::STAMP_CHANGE,
            Hook::Condition { .. } => what::CONDITION,
            _ => return None,
        })
    }

    /// The field with the key object; `None`: the receiver is the key.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Hook::Lock { key }
            | Hook::TryLock { key }
            | Hook::Unlock { key }
            | Hook::SharedLock { key }
            | Hook::SharedTryLock { key }
            | Hook::SharedUnlock { key }
            | Hook::Await { key }
            | Hook::Signal { key }
            | Hook::Condition { key } => Some(key),
            _ => None,
        }
    }
}

/// The second argument of [`LOCK_POINT`](crate::probes::LOCK_POINT): part of the
/// contract with the bridge.
pub mod what {
    pub const LOCK: i32 = 0;
    pub const TRY_LOCK: i32 = 1;
    pub const UNLOCK: i32 = 2;
    pub const SHARED_LOCK: i32 = 3;
    pub const SHARED_TRY_LOCK: i32 = 4;
    pub const SHARED_UNLOCK: i32 = 5;
    pub const AWAIT: i32 = 6;
    pub const SIGNAL: i32 = 7;
    pub const STAMP_WRITE: i32 = 8;
    pub const STAMP_READ: i32 = 9;
    /// Releases or converts a stamped lock.
    pub const STAMP_CHANGE: i32 = 10;
    pub const CONDITION: i32 = 11;
    /// As LOCK and SHARED_LOCK.
    pub const LOCK_INTERRUPTIBLY: i32 = 12;
    pub const SHARED_LOCK_INTERRUPTIBLY: i32 = 13;
}

/// The second argument of [`ASKING`](crate::probes::ASKING).
pub mod asked {
    pub const ALIVE: i32 = 0;
    pub const INTERRUPTED: i32 = 1;
    pub const INTERRUPTED_AND_CLEARED: i32 = 2;
}

/// Modes of a stamped lock, as the bridge numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    Write = 0,
    Read = 1,
    /// Released: neither, when converted to; either, when released.
    None = 2,
}

/// One row: the methods of this name (and descriptor, if given) are modelled.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub class: &'static str,
    pub method: &'static str,
    pub desc: Option<&'static str>,
    pub hook: Hook,
}

const fn any(class: &'static str, method: &'static str, hook: Hook) -> Model {
    Model {
        class,
        method,
        desc: None,
        hook,
    }
}

const fn one(class: &'static str, method: &'static str, desc: &'static str, hook: Hook) -> Model {
    Model {
        class,
        method,
        desc: Some(desc),
        hook,
    }
}

const LOCK: &str = "java/util/concurrent/locks/ReentrantLock";
const READ_LOCK: &str = "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock";
const WRITE_LOCK: &str = "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock";
const STAMPED: &str = "java/util/concurrent/locks/StampedLock";
const CONDITION: &str = "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject";
const LONG_CONDITION: &str =
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer$ConditionObject";
const THREAD: &str = "java/lang/Thread";
const FJ_TASK: &str = "java/util/concurrent/ForkJoinTask";
const FJ_QUEUE: &str = "java/util/concurrent/ForkJoinPool$WorkQueue";
const FJ_POOL: &str = "java/util/concurrent/ForkJoinPool";

const VIRTUAL: &str = "java/lang/VirtualThread";
const FLOCK: &str = "jdk/internal/misc/ThreadFlock";
const PER_TASK: &str = "java/util/concurrent/ThreadPerTaskExecutor";

const JOIN_DURATION: &str = "(Ljava/time/Duration;)Z";

const LAMBDAS: &str = "java/lang/invoke/LambdaMetafactory";
const CONCATENATION: &str = "java/lang/invoke/StringConcatFactory";
const METHOD_TYPE: &str = "java/lang/invoke/MethodType";
const LINKER: &str = "java/lang/invoke/MethodHandleNatives";
const CLASS_VALUES: &str = "java/lang/ClassValue$ClassValueMap";
const CLASS_VALUE: &str = "java/lang/ClassValue";

const KEY: &str = "sync";
const OUTER: &str = "this$0";
const CONTAINER: &str = "container";
const THIS: &str = "";
const TASK: Hook = Hook::ReleaseParam("Ljava/util/concurrent/ForkJoinTask;");

/// Every model, classes together.
pub const MODELS: &[Model] = &[
    any(LOCK, "lock", Hook::Lock { key: KEY }),
    any(LOCK, "lockInterruptibly", Hook::Lock { key: KEY }),
    any(LOCK, "tryLock", Hook::TryLock { key: KEY }),
    any(LOCK, "unlock", Hook::Unlock { key: KEY }),
    any(WRITE_LOCK, "lock", Hook::Lock { key: KEY }),
    any(WRITE_LOCK, "lockInterruptibly", Hook::Lock { key: KEY }),
    any(WRITE_LOCK, "tryLock", Hook::TryLock { key: KEY }),
    any(WRITE_LOCK, "unlock", Hook::Unlock { key: KEY }),
    any(READ_LOCK, "lock", Hook::SharedLock { key: KEY }),
    any(
        READ_LOCK,
        "lockInterruptibly",
        Hook::SharedLock { key: KEY },
    ),
    any(READ_LOCK, "tryLock", Hook::SharedTryLock { key: KEY }),
    any(READ_LOCK, "unlock", Hook::SharedUnlock { key: KEY }),
    // `unlock(long)` is not here: it calls unlockWrite or unlockRead.
    any(STAMPED, "writeLock", Hook::StampWrite),
    any(STAMPED, "writeLockInterruptibly", Hook::StampWrite),
    any(STAMPED, "tryWriteLock", Hook::StampWrite),
    any(STAMPED, "readLock", Hook::StampRead),
    any(STAMPED, "readLockInterruptibly", Hook::StampRead),
    any(STAMPED, "tryReadLock", Hook::StampRead),
    any(STAMPED, "unlockWrite", Hook::StampRelease(Stamp::Write)),
    any(STAMPED, "unlockRead", Hook::StampRelease(Stamp::Read)),
    any(STAMPED, "tryUnlockWrite", Hook::StampRelease(Stamp::Write)),
    any(STAMPED, "tryUnlockRead", Hook::StampRelease(Stamp::Read)),
    any(
        STAMPED,
        "unstampedUnlockWrite",
        Hook::StampRelease(Stamp::Write),
    ),
    any(
        STAMPED,
        "unstampedUnlockRead",
        Hook::StampRelease(Stamp::Read),
    ),
    any(
        STAMPED,
        "tryConvertToWriteLock",
        Hook::StampConvert(Stamp::Write),
    ),
    any(
        STAMPED,
        "tryConvertToReadLock",
        Hook::StampConvert(Stamp::Read),
    ),
    any(
        STAMPED,
        "tryConvertToOptimisticRead",
        Hook::StampConvert(Stamp::None),
    ),
    any(CONDITION, "await", Hook::Await { key: OUTER }),
    any(CONDITION, "awaitNanos", Hook::Await { key: OUTER }),
    any(CONDITION, "awaitUntil", Hook::Await { key: OUTER }),
    any(
        CONDITION,
        "awaitUninterruptibly",
        Hook::Await { key: OUTER },
    ),
    any(CONDITION, "signal", Hook::Signal { key: OUTER }),
    any(CONDITION, "signalAll", Hook::Signal { key: OUTER }),
    any(LONG_CONDITION, "await", Hook::Await { key: OUTER }),
    any(LONG_CONDITION, "awaitNanos", Hook::Await { key: OUTER }),
    any(LONG_CONDITION, "awaitUntil", Hook::Await { key: OUTER }),
    any(
        LONG_CONDITION,
        "awaitUninterruptibly",
        Hook::Await { key: OUTER },
    ),
    any(LONG_CONDITION, "signal", Hook::Signal { key: OUTER }),
    any(LONG_CONDITION, "signalAll", Hook::Signal { key: OUTER }),
    one(THREAD, "isAlive", "()Z", Hook::ThreadAlive),
    one(
        THREAD,
        "getState",
        "()Ljava/lang/Thread$State;",
        Hook::ThreadState,
    ),
    // Called by the VM when the last thread that is no daemon has ended, not by exit().
    one("java/lang/Shutdown", "shutdown", "()V", Hook::ThreadsEnded),
    // Every way into a pool's queues ends in one of these two (fork, execute,
    // submit, invoke, invokeAll); JDK 21 and later have only `push`.
    any(FJ_QUEUE, "push", TASK),
    any(FJ_QUEUE, "lockedPush", TASK),
    any(FJ_TASK, "doExec", Hook::AcquireThis),
    // Called by the JVM to link lambdas, string concatenation and the like.
    any(LINKER, "linkCallSite", Hook::Unwatched),
    any(LINKER, "linkMethodHandleConstant", Hook::Unwatched),
    any(LINKER, "linkDynamicConstant", Hook::Unwatched),
    // No code of the program's runs in any of these.
    any(
        "jdk/internal/loader/BuiltinClassLoader",
        "loadClassOrNull",
        Hook::Loading,
    ),
    any(LINKER, "linkMethod", Hook::Loading),
    any(LINKER, "findMethodHandleType", Hook::Loading),
    // Asks a set of all types, and adds to it: a set of another class since JDK 21.
    any(METHOD_TYPE, "makeImpl", Hook::Loading),
    any(LAMBDAS, "metafactory", Hook::Loading),
    any(LAMBDAS, "altMetafactory", Hook::Loading),
    any(CONCATENATION, "makeConcat", Hook::Loading),
    any(CONCATENATION, "makeConcatWithConstants", Hook::Loading),
    // A WeakHashMap behind the monitors of its own, unwatched subclass.
    any(CLASS_VALUE, "initializeMap", Hook::Unwatched),
    any(CLASS_VALUES, "startEntry", Hook::Unwatched),
    any(CLASS_VALUES, "finishEntry", Hook::Unwatched),
    any(CLASS_VALUES, "removeEntry", Hook::Unwatched),
    any(CLASS_VALUES, "changeEntry", Hook::Unwatched),
    any(CLASS_VALUES, "readAccess", Hook::Unwatched),
    any(CLASS_VALUES, "associateAccess", Hook::Unwatched),
    any(CLASS_VALUES, "removeAccess", Hook::Unwatched),
    any(CLASS_VALUES, "forcedAssociateAccess", Hook::Unwatched),
    // A task may also be taken without running it.
    any(FJ_TASK, "peekNextLocalTask", Hook::AcquireResult),
    any(FJ_TASK, "pollNextLocalTask", Hook::AcquireResult),
    any(FJ_TASK, "pollTask", Hook::AcquireResult),
    any(FJ_TASK, "pollSubmission", Hook::AcquireResult),
    any(FJ_POOL, "pollSubmission", Hook::AcquireResult),
    // A value is published by plain accesses, safe for its final fields only;
    // but every get has it from the thread that computed it.
    any(
        CLASS_VALUE,
        "makeEntry",
        Hook::ReleaseParam("Ljava/lang/Object;"),
    ),
    any(CLASS_VALUE, "get", Hook::AcquireResult),
    // Of JDK 21 and later. The class itself has no other probes, and carriers have none at all: which
    // carrier runs what after what orders nothing.
    one(
        VIRTUAL,
        "start",
        "(Ljdk/internal/vm/ThreadContainer;)V",
        Hook::VirtualStart,
    ),
    one(VIRTUAL, "run", "(Ljava/lang/Runnable;)V", Hook::VirtualRun),
    any(VIRTUAL, "park", Hook::Mounts),
    any(VIRTUAL, "parkNanos", Hook::Mounts),
    any(VIRTUAL, "tryYield", Hook::Mounts),
    any(VIRTUAL, "unpark", Hook::Mounts),
    any(VIRTUAL, "joinNanos", Hook::VirtualJoin),
    one(THREAD, "join", JOIN_DURATION, Hook::Joined),
    any(VIRTUAL, "interrupt", Hook::Interrupt),
    any(VIRTUAL, "isInterrupted", Hook::InterruptSeen),
    any(VIRTUAL, "getAndClearInterrupt", Hook::InterruptSeen),
    // Java code since JDK 19; the native that it calls is left by a virtual thread of JDK 24 and later
    // long before the wait is over.
    one("java/lang/Object", "wait", "(J)V", Hook::Wait),
    // Carriers tell these of the ends of virtual threads; those have released the container by then.
    any(FLOCK, "onExit", Hook::Release { key: CONTAINER }),
    any(FLOCK, "awaitAll", Hook::AcquireOnceDone { key: CONTAINER }),
    any(FLOCK, "close", Hook::AcquireOnceDone { key: CONTAINER }),
    any(
        PER_TASK,
        "awaitTermination",
        Hook::AcquireOnceDone { key: THIS },
    ),
    any(
        PER_TASK,
        "isTerminated",
        Hook::AcquireOnceDone { key: THIS },
    ),
];

/// Methods that have other names in other versions: one of each pair is there.
const RENAMED: &[(&str, [&str; 2])] = &[
    (FJ_QUEUE, ["lockedPush", "push"]),
    (CLASS_VALUES, ["startEntry", "readAccess"]),
    (CLASS_VALUES, ["finishEntry", "associateAccess"]),
    (CLASS_VALUES, ["removeEntry", "removeAccess"]),
    (CLASS_VALUES, ["changeEntry", "forcedAssociateAccess"]),
];

/// Whether a class without the method, or with a native one, is one of an older JDK. (Classes that only
/// later ones have need no word.)
pub fn is_of_later_jdk(model: &Model) -> bool {
    matches!(
        (model.class, model.desc),
        (THREAD, Some(JOIN_DURATION)) | ("java/lang/Object", _)
    )
}

/// What a method that has a model is called in other versions, if anything else.
pub fn other_name(class: &str, method: &str) -> Option<&'static str> {
    let mut of_class = RENAMED.iter().filter(|(c, _)| *c == class);
    of_class.find_map(|(_, [old, new])| match method {
        m if m == *old => Some(*new),
        m if m == *new => Some(*old),
        _ => None,
    })
}

/// Models of a controlled run only.
pub const CONTROL_MODELS: &[Model] = &[
    any(LOCK, "newCondition", Hook::Condition { key: KEY }),
    any(WRITE_LOCK, "newCondition", Hook::Condition { key: KEY }),
    one(THREAD, "join", "(J)V", Hook::Join),
    one(THREAD, "isAlive", "()Z", Hook::Asks(asked::ALIVE)),
    one(
        THREAD,
        "isInterrupted",
        "()Z",
        Hook::Asks(asked::INTERRUPTED),
    ),
    one(
        THREAD,
        "interrupted",
        "()Z",
        Hook::Asks(asked::INTERRUPTED_AND_CLEARED),
    ),
    one(THREAD, "onSpinWait", "()V", Hook::SpinWait),
    one(
        THREAD,
        "dispatchUncaughtException",
        "(Ljava/lang/Throwable;)V",
        Hook::Uncaught,
    ),
    any("java/lang/ClassLoader", "loadClass", Hook::Linking),
    any(
        "jdk/internal/loader/BuiltinClassLoader",
        "loadClassOrNull",
        Hook::Linking,
    ),
];

/// Plain fields that stand for volatiles: written before a release fence or by
/// compare-and-set, read before or after an acquire fence. They are made
/// volatile in the class file, so that they order threads like any other.
pub const VOLATILE: &[(&str, &str)] = &[
    ("java/util/concurrent/ConcurrentSkipListMap", "head"),
    ("java/util/concurrent/ConcurrentSkipListMap$Node", "val"),
    ("java/util/concurrent/ConcurrentSkipListMap$Node", "next"),
    ("java/util/concurrent/ConcurrentSkipListMap$Index", "right"),
    // Of JDK 21 and later.
    ("java/util/concurrent/LinkedTransferQueue$DualNode", "next"),
    // The grown buffer is published by a fence and this field.
    (
        "java/util/concurrent/SubmissionPublisher$BufferedSubscription",
        "array",
    ),
];

/// Is this plain field to be made volatile?
pub fn becomes_volatile(class: &str, field: &str) -> bool {
    VOLATILE.contains(&(class, field))
}

/// Fields of `java.util` that race on purpose and harmlessly: caches of views
/// that hold nothing but a final reference to their map, documented as such in
/// `AbstractMap`, the generator behind `Collections.shuffle`, the hash of a `Locale`, the `ZoneId` of a `TimeZone`. The class is
/// the one that the access names, often a subclass of the declaring one.
pub fn races_harmlessly(class: &str, field: &str, desc: &str) -> bool {
    let Some(simple) = class.strip_prefix("java/util/") else {
        return false;
    };
    if simple.contains('/') {
        return false;
    }
    match field {
        "keySet" | "entrySet" => desc.ends_with("Set;"),
        "values" => desc == "Ljava/util/Collection;",
        "navigableKeySet" => simple == "TreeMap",
        "descendingMap" | "descendingMapView" => simple.starts_with("TreeMap"),
        "entrySetView" | "navigableKeySetView" => simple.starts_with("TreeMap$"),
        "r" => simple == "Collections" && desc == "Ljava/util/Random;",
        // Plain since JDK 19; computed from final fields alone.
        "hashCodeValue" => simple == "Locale",
        // What it is computed from is written where this is emptied, and that race is reported.
        "zoneId" => simple == "TimeZone",
        _ => false,
    }
}

/// The models of one class.
pub fn of_class(class: &str, controlled: bool) -> impl Iterator<Item = &'static Model> + '_ {
    let jdk = class.starts_with("java/") || class.starts_with("jdk/");
    let more = CONTROL_MODELS.iter().filter(move |_| controlled);
    let all = MODELS.iter().chain(more);
    all.filter(move |m| jdk && m.class == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_unique() {
        for (i, a) in MODELS.iter().enumerate() {
            for b in &MODELS[..i] {
                assert!(
                    (a.class, a.method, a.desc) != (b.class, b.method, b.desc),
                    "{}.{} twice",
                    a.class,
                    a.method
                );
            }
        }
    }

    #[test]
    fn harmless_fields_are_named_through_subclasses_too() {
        assert!(races_harmlessly(
            "java/util/AbstractMap",
            "keySet",
            "Ljava/util/Set;"
        ));
        assert!(races_harmlessly(
            "java/util/HashMap",
            "values",
            "Ljava/util/Collection;"
        ));
        assert!(!races_harmlessly(
            "java/util/HashMap",
            "table",
            "[Ljava/util/HashMap$Node;"
        ));
        assert!(!races_harmlessly(
            "com/shop/Map",
            "keySet",
            "Ljava/util/Set;"
        ));
    }
}
