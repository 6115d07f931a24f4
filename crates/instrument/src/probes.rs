//! The probes: static methods of two classes of the bridge, and nothing else that
//! rewritten code calls. `PROBES`, the `VALUES` that return something, and the `POINTS`
//! of controlled runs are the whole contract with the bridge.

/// The bridge class; all its classes have names that begin so.
pub const BRIDGE: &str = "java/lang/Photofinish";

/// The one that has the probes of controlled runs.
pub const CONTROL_BRIDGE: &str = "java/lang/PhotofinishPoints";

/// The one that has the probes that rest under a budget, see [`SAMPLED`].
pub const SAMPLING_BRIDGE: &str = "java/lang/PhotofinishSampling";

/// One static method of the bridge, void but for `VALUES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    pub class: &'static str,
    pub name: &'static str,
    pub desc: &'static str,
}

impl Probe {
    /// Stack slots of its arguments.
    pub(crate) const fn slots(self) -> u16 {
        let desc = self.desc.as_bytes();
        let (mut at, mut slots) = (1, 0);
        while desc[at] != b')' {
            slots += if matches!(desc[at], b'J' | b'D') {
                2
            } else {
                1
            };
            if desc[at] == b'L' {
                while desc[at] != b';' {
                    at += 1;
                }
            }
            at += 1;
        }
        slots
    }
}

/// Returns its argument. See `monitor.rs`.
pub const ITSELF: Probe = Probe {
    class: BRIDGE,
    name: "itself",
    desc: "(Ljava/lang/Object;)Ljava/lang/Object;",
};

/// The epoch that the thread is in. See `deferred`.
pub const EPOCH: Probe = Probe {
    class: BRIDGE,
    name: "epoch",
    desc: "()J",
};

/// Before an array load whose check is put off: (array or null, index perhaps out of
/// bounds, the array kept or null, first and last index kept, stride, epoch, site).
/// Returns what is the first index from now on; the last is this one.
pub const TRACK_READ: Probe = Probe {
    class: BRIDGE,
    name: "trackRead",
    desc: "(Ljava/lang/Object;ILjava/lang/Object;IIIJI)I",
};

/// Before such an array store: likewise.
pub const TRACK_WRITE: Probe = Probe {
    class: BRIDGE,
    name: "trackWrite",
    desc: "(Ljava/lang/Object;ILjava/lang/Object;IIIJI)I",
};

/// Before a call of the program into the JDK: (site). Returns what CALLED is to be given.
pub const CALLING: Probe = Probe {
    class: BRIDGE,
    name: "calling",
    desc: "(I)I",
};

/// The methods of the bridge that return something.
const VALUES: &[Probe] = &[ITSELF, EPOCH, TRACK_READ, TRACK_WRITE, CALLING];

macro_rules! probes {
    ($(#[$about:meta])* $all:ident, $class:expr;
     $($(#[$doc:meta])* $id:ident = $name:literal $desc:literal;)*) => {
        $($(#[$doc])* pub const $id: Probe = Probe { class: $class, name: $name, desc: $desc };)*
        $(#[$about])*
        const $all: &[Probe] = &[$($id),*];
    };
}

probes! {
    /// The probes of all runs.
    PROBES, BRIDGE;

    /// After a getfield: (receiver, site).
    READ = "read" "(Ljava/lang/Object;I)V";
    /// Before a getfield, if accesses are ordered: (receiver or null, site).
    READING = "reading" "(Ljava/lang/Object;I)V";
    /// Right after an access that had a probe before it, if accesses are ordered.
    ACCESSED = "accessed" "()V";
    /// Before a putfield: (receiver or null, site).
    WRITE = "write" "(Ljava/lang/Object;I)V";
    /// Before a putfield of `this` in a constructor: likewise.
    INITIALISE = "initialise" "(Ljava/lang/Object;I)V";
    /// After a getstatic; before it, if accesses are ordered, the class being initialised.
    READ_STATIC = "readStatic" "(I)V";
    /// Before a putstatic; the class is initialised, or being so by this thread.
    WRITE_STATIC = "writeStatic" "(I)V";
    /// Before an array load: (array or null, index perhaps out of bounds, site).
    READ_ELEM = "readElem" "(Ljava/lang/Object;II)V";
    /// Before an array store: likewise.
    WRITE_ELEM = "writeElem" "(Ljava/lang/Object;II)V";
    /// What a loop kept is to be checked: (array or null, first and last index, stride,
    /// the epoch of the loop, site). The last index may be out of bounds.
    READ_RANGE = "readRange" "(Ljava/lang/Object;IIIJI)V";
    WRITE_RANGE = "writeRange" "(Ljava/lang/Object;IIIJI)V";
    /// Before an array load in a loop: (array or null, index, array and index of the last
    /// round, site).
    READ_ONCE = "readOnce" "(Ljava/lang/Object;ILjava/lang/Object;II)V";
    /// Before such an array store: likewise.
    WRITE_ONCE = "writeOnce" "(Ljava/lang/Object;ILjava/lang/Object;II)V";
    /// After a getfield in a loop: (object, object of the last round, site).
    READ_FIELD_ONCE = "readFieldOnce" "(Ljava/lang/Object;Ljava/lang/Object;I)V";
    /// Before a putfield in a loop: likewise, the object perhaps null.
    WRITE_FIELD_ONCE = "writeFieldOnce" "(Ljava/lang/Object;Ljava/lang/Object;I)V";
    /// Before System.arraycopy, its arguments unchecked.
    ARRAYCOPY = "arraycopy" "(Ljava/lang/Object;ILjava/lang/Object;III)V";
    /// Before java.lang.reflect.Array's get and set: (array or anything else, index
    /// perhaps out of bounds, site).
    REFLECTED_READ = "reflectedRead" "(Ljava/lang/Object;II)V";
    REFLECTED_WRITE = "reflectedWrite" "(Ljava/lang/Object;II)V";
    /// After ArraysSupport.mismatch: (its result, the arrays and where they were
    /// compared from, how many elements at most, site).
    MISMATCH = "mismatch" "(ILjava/lang/Object;ILjava/lang/Object;III)V";
    /// Before it, if accesses are ordered: the same without the result.
    COMPARING = "comparing" "(Ljava/lang/Object;ILjava/lang/Object;III)V";
    /// Before clone() of an array (or null).
    CLONE_ARRAY = "cloneArray" "(Ljava/lang/Object;I)V";
    /// After Object.clone: the copy carries the original's shadow fields.
    CLONED = "cloned" "(Ljava/lang/Object;)V";
    /// After a call of the program into the JDK: (what CALLING returned).
    CALLED = "called" "(I)V";
    /// At the start of an exception handler.
    THROWN = "thrown" "()V";
    /// After the allocation of an array.
    NEW_ARRAY = "newArray" "(Ljava/lang/Object;I)V";
    /// After the constructor of a new object.
    NEW_OBJECT = "newObject" "(Ljava/lang/Object;I)V";
    /// After a monitorenter, or at the start of a synchronized method.
    ENTER = "enter" "(Ljava/lang/Object;I)V";
    /// The same where trusted code keeps data behind the monitor.
    ENTER_TRUSTED = "enterTrusted" "(Ljava/lang/Object;I)V";
    /// Before a monitorexit (receiver perhaps null).
    EXIT = "exit" "(Ljava/lang/Object;I)V";
    /// At the start of a static synchronized method.
    ENTER_STATIC = "enterStatic" "(I)V";
    /// The same where trusted code keeps data behind it.
    ENTER_STATIC_TRUSTED = "enterStaticTrusted" "(I)V";
    /// Trusted code is about to call a modelled method that takes a lock.
    TRUSTING = "trusting" "()V";
    /// Before a synchronized method ends, either way.
    EXIT_TOP = "exitTop" "(I)V";
    /// At the start of a class initialiser.
    INIT_BEGIN = "initBegin" "(I)V";
    /// Before a class initialiser ends, either way.
    INIT_END = "initEnd" "(I)V";
    /// At the end of a constructor: (object, site).
    FREEZE = "freeze" "(Ljava/lang/Object;I)V";
    /// At the end of a constructor, in events, if its class may have inherited a
    /// finaliser: (object, site).
    CONSTRUCTED = "constructed" "(Ljava/lang/Object;I)V";
    /// What this thread did happens before a later syncAcquire of the object.
    SYNC_RELEASE = "syncRelease" "(Ljava/lang/Object;I)V";
    /// The other end.
    SYNC_ACQUIRE = "syncAcquire" "(Ljava/lang/Object;I)V";
    /// Before an Unsafe write or update: (base, offset, code, site).
    RAW_BEFORE = "rawBefore" "(Ljava/lang/Object;JII)V";
    /// After an Unsafe read or update.
    RAW_AFTER = "rawAfter" "(Ljava/lang/Object;JII)V";
    /// After an Unsafe compare-and-set: (succeeded, base, offset, code, site).
    RAW_AFTER_CAS = "rawAfterCas" "(ZLjava/lang/Object;JII)V";
    /// Before a VarHandle write or update: (handle, base or null, index or -1, code, site).
    VH_BEFORE = "vhBefore" "(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;III)V";
    /// After a VarHandle read or update.
    VH_AFTER = "vhAfter" "(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;III)V";
    /// After a VarHandle compare-and-set.
    VH_AFTER_CAS = "vhAfterCas" "(ZLjava/lang/invoke/VarHandle;Ljava/lang/Object;III)V";
    /// After a compare-and-exchange, before its after-probe: (witness, expected).
    EXCHANGED_INT = "exchangedInt" "(II)V";
    EXCHANGED_LONG = "exchangedLong" "(JJ)V";
    EXCHANGED_FLOAT = "exchangedFloat" "(FF)V";
    EXCHANGED_DOUBLE = "exchangedDouble" "(DD)V";
    EXCHANGED_REFERENCE = "exchangedReference" "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// A fence; the site's kind says which way.
    FENCE = "fence" "(I)V";
    /// Start of a modelled method: what happens inside is not the program's.
    MODEL_BEGIN = "modelBegin" "()V";
    /// Its end, either way.
    MODEL_END = "modelEnd" "()V";
    /// The JDK starts to work for itself.
    UNWATCHED_BEGIN = "unwatchedBegin" "()V";
    /// It is done, either way.
    UNWATCHED_END = "unwatchedEnd" "()V";
    /// A class is loaded or a call linked, behind a statement that first runs.
    LOADING_BEGIN = "loadingBegin" "()V";
    /// It is done, either way.
    LOADING_END = "loadingEnd" "()V";
    /// A lock was acquired: (key object, site).
    LOCK_ACQUIRED = "lockAcquired" "(Ljava/lang/Object;I)V";
    /// A tryLock returned: (got it, key object, site).
    LOCK_TRIED = "lockTried" "(ZLjava/lang/Object;I)V";
    /// A lock is about to be released.
    LOCK_RELEASING = "lockReleasing" "(Ljava/lang/Object;I)V";
    /// The same for a lock held in shared mode.
    LOCK_SHARED_ACQUIRED = "lockSharedAcquired" "(Ljava/lang/Object;I)V";
    LOCK_SHARED_TRIED = "lockSharedTried" "(ZLjava/lang/Object;I)V";
    LOCK_SHARED_RELEASING = "lockSharedReleasing" "(Ljava/lang/Object;I)V";
    /// A StampedLock method that write-locks returned: (stamp or 0, lock, site).
    STAMP_WRITE = "stampWrite" "(JLjava/lang/Object;I)V";
    /// One that read-locks returned.
    STAMP_READ = "stampRead" "(JLjava/lang/Object;I)V";
    /// A StampedLock is about to be converted: (lock, mode 0 write, 1 read, 2 none, site).
    STAMP_CONVERTING = "stampConverting" "(Ljava/lang/Object;II)V";
    /// A conversion returned: (stamp or 0, lock, mode held if not 0: 0 write, 1 read, 2 none, site).
    STAMP_CONVERTED = "stampConverted" "(JLjava/lang/Object;II)V";
    /// A StampedLock is about to be unlocked: (lock, mode 0 write, 1 read, 2 either, site).
    STAMP_RELEASE = "stampRelease" "(Ljava/lang/Object;II)V";
    /// A Condition wait starts: (the synchroniser, site).
    AWAIT_BEGIN = "awaitBegin" "(Ljava/lang/Object;I)V";
    /// It ended, either way; the synchroniser is held again.
    AWAIT_END = "awaitEnd" "(I)V";
    /// A Condition is about to be signalled: (the synchroniser, site).
    SIGNAL = "signal" "(Ljava/lang/Object;I)V";
    /// The VM shuts down because all threads but daemons have ended.
    THREADS_ENDED = "threadsEnded" "(I)V";
    /// Thread.isAlive is about to return: (result, thread).
    THREAD_ALIVE = "threadAlive" "(ZLjava/lang/Object;)V";
    /// Thread.getState is about to return: (state, thread).
    THREAD_STATE = "threadState" "(Ljava/lang/Object;Ljava/lang/Object;)V";

    // Virtual threads that run on carriers.

    /// One is about to be started: (thread).
    VIRTUAL_START = "virtualStart" "(Ljava/lang/Object;)V";
    /// The current one has done its work, either way.
    VIRTUAL_END = "virtualEnd" "()V";
    /// A wait for one is about to return: (whether it has ended, thread).
    THREAD_JOINED = "threadJoined" "(ZLjava/lang/Object;)V";
    /// One is about to be interrupted: (thread).
    INTERRUPTING = "interrupting" "(Ljava/lang/Object;)V";
    /// Whether one was interrupted is known now: (thread).
    INTERRUPT_SEEN = "interruptSeen" "(Ljava/lang/Object;)V";
    /// At the start of Object.wait: (the object).
    VIRTUAL_WAITING = "virtualWaiting" "(Ljava/lang/Object;)V";
    /// At its end, either way.
    VIRTUAL_WAITED = "virtualWaited" "()V";
    /// What others released is acquired if it is so: (whether, key, site).
    SYNC_ACQUIRE_IF = "syncAcquireIf" "(ZLjava/lang/Object;I)V";

    // Those of runs that look for hidden races.

    /// At the start of a method that the relation has.
    FRAME_BEGIN = "frameBegin" "(I)V";
    /// At its end, either way.
    FRAME_END = "frameEnd" "()V";

    // Those of a recording for prediction.

    /// At the start of a method whose control flow is recorded.
    METHOD_BEGIN = "methodBegin" "(I)V";
    /// An exception leaves it.
    METHOD_THROWN = "methodThrown" "(I)V";
    /// At the start of one of its exception handlers.
    CAUGHT = "caught" "(I)V";
    /// Before one of its calls, and before it returns.
    STEP = "step" "()V";
    /// Before a goto that leads back.
    BACK = "back" "()V";
    /// Before a switch: (key, site).
    SWITCH = "switched" "(II)V";
    /// Before ifeq and ifne, iflt and ifge, ifgt and ifle.
    IF_ZERO = "ifZero" "(I)V";
    IF_LESS = "ifLess" "(I)V";
    IF_MORE = "ifMore" "(I)V";
    /// Before if_icmpeq and if_icmpne, and so on.
    IF_SAME = "ifSame" "(II)V";
    IF_BELOW = "ifBelow" "(II)V";
    IF_ABOVE = "ifAbove" "(II)V";
    /// Before if_acmpeq and if_acmpne.
    IF_SAME_REF = "ifSameRef" "(Ljava/lang/Object;Ljava/lang/Object;)V";
    /// Before ifnull and ifnonnull.
    IF_NULL = "ifNull" "(Ljava/lang/Object;)V";
}

probes! {
    /// Those of a controlled run: what is about to happen. Each comes before any
    /// other probe of the same instruction.
    POINTS, CONTROL_BRIDGE;

    /// Before a monitor is entered: (object or null, site).
    ENTERING = "entering" "(Ljava/lang/Object;I)V";
    /// The same in a class without points.
    ENTERING_QUIETLY = "enteringQuietly" "(Ljava/lang/Object;I)V";
    /// The JVM waits for what follows, with locks of its own held.
    LINKING_BEGIN = "linkingBegin" "()V";
    /// Its end, either way.
    LINKING_END = "linkingEnd" "()V";
    /// An exception that nobody caught: (exception).
    UNCAUGHT = "uncaught" "(Ljava/lang/Object;)V";
    /// Before a getfield that may read a volatile: (receiver or null, site).
    BEFORE_READ = "beforeRead" "(Ljava/lang/Object;I)V";
    /// Before such a getstatic; the class is initialised, or being so by this thread.
    BEFORE_READ_STATIC = "beforeReadStatic" "(I)V";
    /// Before a putfield that may write a volatile: (receiver or null, site).
    BEFORE_WRITE = "beforeWrite" "(Ljava/lang/Object;I)V";
    /// Before such a putstatic; as for reads.
    BEFORE_WRITE_STATIC = "beforeWriteStatic" "(I)V";
    /// Before a getfield or putfield that is a target: (receiver or null, site).
    TARGET_FIELD = "targetField" "(Ljava/lang/Object;I)V";
    /// Before such a getstatic or putstatic; the class is initialised.
    TARGET_STATIC = "targetStatic" "(I)V";
    /// Before such an array load or store: (array or null, index perhaps out of bounds, site).
    TARGET_ELEM = "targetElem" "(Ljava/lang/Object;II)V";
    /// Before such an arraycopy, for source and destination, or a clone of an array:
    /// (array or null, first index, length or -1 for all, site); all unchecked.
    TARGET_RANGE = "targetRange" "(Ljava/lang/Object;III)V";
    /// Those were all; they are one operation.
    TARGET_RANGES = "targetRanges" "()V";
    /// Before a getfield whose value may be an older one: (receiver or null, type, site).
    SEEING_FIELD = "seeingField" "(Ljava/lang/Object;CI)V";
    /// Before such a getstatic; the class is initialised: (type, site).
    SEEING_STATIC = "seeingStatic" "(CI)V";
    /// Before such an array load: (array or null, index perhaps out of bounds, type, site).
    SEEING_ELEM = "seeingElem" "(Ljava/lang/Object;ICI)V";
    /// After such a read.
    SEEN = "seen" "()V";
    /// Before a putfield to such a field: (receiver or null, type, site).
    LEAVING_FIELD = "leavingField" "(Ljava/lang/Object;CI)V";
    /// Before such a putstatic; as for reads.
    LEAVING_STATIC = "leavingStatic" "(CI)V";
    /// Before such an array store; as for reads.
    LEAVING_ELEM = "leavingElem" "(Ljava/lang/Object;ICI)V";
    /// After such a write.
    LEFT = "left" "()V";
    /// Before a jump backwards.
    LOOP = "loop" "()V";
    /// Before a jump backwards that closes a loop in which a thread may wait: (its number).
    WAITS = "waits" "(I)V";
    /// At the head of such a loop, however it was reached.
    LOOP_HEAD = "loopHead" "(I)V";
    /// Behind such a jump that was not made.
    LOOP_LEFT = "loopLeft" "(I)V";
    /// Before either of the first two, what each local holds that an iteration may change.
    LOCAL_INT = "localInt" "(I)V";
    LOCAL_LONG = "localLong" "(J)V";
    LOCAL_FLOAT = "localFloat" "(F)V";
    LOCAL_DOUBLE = "localDouble" "(D)V";
    LOCAL_REFERENCE = "localReference" "(Ljava/lang/Object;)V";
    /// In an exploration, before whatever may leave something behind in memory.
    WROTE = "wrote" "()V";
    /// Before a modelled method of a lock: (key object, what, site), see `models::what`.
    LOCK_POINT = "lockPoint" "(Ljava/lang/Object;II)V";
    /// Before an Unsafe access: (base, offset, code, site).
    RAW_POINT = "rawPoint" "(Ljava/lang/Object;JII)V";
    /// Before a VarHandle access: (handle, base or null, index or -1, code, site).
    VH_POINT = "vhPoint" "(Ljava/lang/invoke/VarHandle;Ljava/lang/Object;III)V";
    /// After a compare-and-set: (whether it succeeded, site).
    CAS_RESULT = "casResult" "(ZI)V";
    /// A tryLock is about to return: whether it got the lock.
    TRY_RESULT = "tryResult" "(Z)V";
    /// At the start of Thread.join: (thread, milliseconds).
    JOINING = "joining" "(Ljava/lang/Object;J)V";
    /// A thread, or null for the current one, is asked: (thread, what), see
    /// `models::asked`.
    ASKING = "asking" "(Ljava/lang/Object;I)V";
    /// At the start of Thread.onSpinWait.
    SPIN_WAIT = "spinWait" "()V";
}

/// Under a budget these are the methods of [`SAMPLING_BRIDGE`] of the same names, which do nothing while it
/// rests. The others are rare, or must not miss anything.
pub const SAMPLED: &[Probe] = &[
    READ,
    WRITE,
    INITIALISE,
    READ_STATIC,
    WRITE_STATIC,
    READ_ELEM,
    WRITE_ELEM,
    EPOCH,
    TRACK_READ,
    TRACK_WRITE,
    READ_RANGE,
    WRITE_RANGE,
    READ_ONCE,
    WRITE_ONCE,
    READ_FIELD_ONCE,
    WRITE_FIELD_ONCE,
    ARRAYCOPY,
    CLONE_ARRAY,
    MISMATCH,
    REFLECTED_READ,
    REFLECTED_WRITE,
    NEW_OBJECT,
    NEW_ARRAY,
    CALLING,
    CALLED,
    THROWN,
    FREEZE,
    RAW_BEFORE,
    RAW_AFTER,
    RAW_AFTER_CAS,
    VH_BEFORE,
    VH_AFTER,
    VH_AFTER_CAS,
    EXCHANGED_INT,
    EXCHANGED_LONG,
    EXCHANGED_FLOAT,
    EXCHANGED_DOUBLE,
    EXCHANGED_REFERENCE,
    FENCE,
    ENTER,
    ENTER_TRUSTED,
    ENTER_STATIC,
    ENTER_STATIC_TRUSTED,
    EXIT,
    EXIT_TOP,
    TRUSTING,
    MODEL_BEGIN,
    MODEL_END,
    LOCK_ACQUIRED,
    LOCK_TRIED,
    LOCK_RELEASING,
    LOCK_SHARED_ACQUIRED,
    LOCK_SHARED_TRIED,
    LOCK_SHARED_RELEASING,
    STAMP_WRITE,
    STAMP_READ,
    STAMP_CONVERTING,
    STAMP_CONVERTED,
    STAMP_RELEASE,
    SYNC_RELEASE,
    SYNC_ACQUIRE,
    SYNC_ACQUIRE_IF,
];

/// Every probe there is.
pub fn all_probes() -> impl Iterator<Item = &'static Probe> {
    [PROBES, VALUES, POINTS].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = all_probes().map(|p| p.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all_probes().count());
    }

    #[test]
    fn slots_agree_with_the_descriptor() {
        for probe in all_probes() {
            let method = classfile::method(probe.desc).unwrap();
            assert_eq!(probe.slots(), method.param_slots, "{}", probe.name);
            assert_eq!(method.ret != "V", VALUES.contains(probe));
        }
    }
}
