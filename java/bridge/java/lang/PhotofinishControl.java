package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

import java.lang.invoke.VarHandle;

/**
 * Threads of the program that run one at a time: the places where another may be told to go on, and
 * the monitors that must be known to be free before they are entered.
 *
 * <p>Whether there is anything to decide at a point stands in one word of shared memory; if not, a
 * point is a load and a branch. There are no points inside modelled methods, while classes are
 * loaded, linked or initialised (the JVM holds locks of its own then), and in threads that are not
 * controlled. What blocks hands over wherever it is.
 *
 * <p>As only one controlled thread runs, nothing here is synchronised, but for what gives out numbers:
 * a thread that comes from inside the JVM runs beside the others up to its next point, and two objects
 * of one number would be taken for one.
 */
final class PhotofinishControl {
    /** Threads run freely, but are delayed at points. */
    private static final boolean NOISE = PhotofinishNative.address(ADDRESS_NOISE) != 0;

    static final boolean ON = PhotofinishNative.address(ADDRESS_CONTROL) != 0;

    /** Every schedule is explored: all that others can notice is told, one by one. */
    static final boolean EXPLORE = PhotofinishNative.address(ADDRESS_EXPLORE) != 0;

    /** The log tells what accesses find. */
    private static final boolean TELL = PhotofinishNative.address(ADDRESS_TELL) != 0;

    /** One int: whether a point has anything to decide, and whether a thread may have to be stopped. */
    private static final long CHOICE = PhotofinishNative.address(ADDRESS_CHOICE);

    private static final long BLOCKER = PhotofinishNative.offset(Thread.class, "parkBlocker");

    private static final long REFERENT = PhotofinishNative.offset(java.lang.ref.Reference.class, "referent");

    private static int numbers;

    /** Numbers up to this one were given in earlier executions. */
    private static int past;

    /** By site: 1 if it is in java.util, 2 if it is not, 0 if nobody has asked. */
    private static byte[] shared = new byte[1024];

    private static PhotofinishShadow[] statics = new PhotofinishShadow[64];
    private static long[] staticOffsets = new long[64];
    private static int staticCount = 1;

    /** In a worker, whose executions have classes of their own: the names of the program's. */
    private static String[] staticOwners = new String[64];

    private PhotofinishControl() {}

    /** Whether a point of this thread is the program's. */
    private static boolean free(PhotofinishThread t) {
        return U.getInt(CHOICE) != 0 && (t.place != 0 || NOISE) && (t.quiet | t.unwatched | t.linking) == 0;
    }

    /** Whether it is the program's. */
    private static boolean point(int kind, PhotofinishShadow s, long slot, int site) {
        if (NOISE) {
            PhotofinishNative.disturb();
            return true;
        }
        PhotofinishPoints.budget = PhotofinishPoints.LONG;
        if (isShared(site) && PhotofinishNative.isInternal()) return false;
        if (PhotofinishMayTrigger.SERIAL && s != null && kind <= POINT_ACQUIRE_SHARED) PhotofinishMayTrigger.tell(s);
        PhotofinishNative.point(kind, s == null ? 0 : number(s), (int) slot, site);
        return true;
    }

    static boolean isShared(int site) {
        byte[] known = shared;
        if (site >= known.length) {
            byte[] more = new byte[Math.max(site + 1, 2 * known.length)];
            System.arraycopy(known, 0, more, 0, known.length);
            shared = known = more;
        }
        if (known[site] == 0) known[site] = PhotofinishNative.isShared(site) ? (byte) 1 : 2;
        return known[site] == 1;
    }

    /** Objects are known by the order in which points of this execution first came to them. */
    static int number(PhotofinishShadow s) {
        int number = s.number;
        return number <= past ? newNumber(s) : number - past;
    }

    private static synchronized int newNumber(PhotofinishShadow s) {
        if (s.number <= past) {
            int number = ++numbers;
            if (EXPLORE) PhotofinishNative.named(number - past, s.isClass ? s.made : nameOf(s));
            s.number = number;
        }
        return s.number - past;
    }

    /** The caller has the object at hand: it is alive, whatever it is kept by here. */
    private static long nameOf(PhotofinishShadow s) {
        Object o = U.getReference(s, REFERENT);
        return o == null ? 0 : PhotofinishNative.nameOf(o);
    }

    /** For a worker: the next execution begins, and nothing has a number. */
    static synchronized void restart() {
        past = numbers;
        for (int i = 1; i < staticCount; i++) if (staticOwners[i] != null) statics[i] = null;
        PhotofinishPoints.budget = PhotofinishPoints.LONG;
    }

    /** For the agent: the number of an object; 0 if it has none and is not to get one. */
    static int numberOf(Object o, boolean give) {
        PhotofinishShadow s = PhotofinishTable.find(o);
        return give ? number(s) : Math.max(s.number - past, 0);
    }

    // Monitors.

    static void entering(PhotofinishThread t, Object o, int site, boolean point) {
        PhotofinishShadow s = PhotofinishTable.near(t, o, site);
        if (s.holder == t) return; // again: nobody can tell
        if (PhotofinishMayTrigger.FREE) {
            if (point) PhotofinishMayTrigger.taking(t, s, site, true);
            return;
        }
        if (EXPLORE) {
            // A thread's own monitor, in java.lang.Thread, is part of start and join.
            boolean told = (point || !(o instanceof Thread)) && told(t, site, point);
            if (told) PhotofinishNative.point(POINT_ACQUIRE, number(s), 0, site);
            s.stepped = told; // not before it is this thread's turn
        } else if (point && free(t)) point(POINT_ACQUIRE, s, 0, site);
        else if ((U.getInt(CHOICE) & CHOICE_OUTSIDE) != 0 && t.place != 0) PhotofinishNative.comeIn();
        until(t, s, o, site);
    }

    /** Whether an exploration is told of a monitor: also in code that has no other points. */
    private static boolean told(PhotofinishThread t, int site, boolean point) {
        PhotofinishPoints.budget = PhotofinishPoints.LONG;
        return free(t) && !((!point || isShared(site)) && PhotofinishNative.isInternal());
    }

    /** In an exploration: before a monitor is given back for good. */
    static void exiting(PhotofinishThread t, PhotofinishShadow s, int site) {
        if (s.stepped && s.holder == t && s.holds == 1) {
            PhotofinishNative.point(POINT_RELEASE, number(s), 0, site);
            s.stepped = false;
        }
    }

    /** Returns when no other controlled thread holds the monitor. */
    private static void until(PhotofinishThread t, PhotofinishShadow s, Object o, int site) {
        if (t.place == 0) return;
        PhotofinishThread other = s.holder;
        while (other != null && other != t && other.place != 0) {
            s.contended = true;
            t.awaited = o;
            PhotofinishNative.monitor(number(s), other.place, site);
            t.awaited = null;
            other = s.holder;
        }
    }

    /** For the agent: before a monitor is entered again after a wait. */
    static void reentering(Object o) {
        PhotofinishThread t = Thread.currentThread().$pf;
        if (t != null) until(t, PhotofinishTable.find(o), o, 0);
    }

    /** Who waits has given it a number. The JDK's own threads come here too, and must give none. */
    static void released(PhotofinishShadow s) {
        if (ON && s.number > past) PhotofinishNative.released(s.number - past);
    }

    // Locks and atomics.

    static void lockPoint(PhotofinishThread t, Object key, int what, int site) {
        if (EXPLORE) {
            explored(t, PhotofinishLocks.lockOf(t, key, site), what, site);
            return;
        }
        if (what == LOCK_CONDITION) return;
        int kind = operation(what);
        if (PhotofinishMayTrigger.FREE) {
            if (kind == POINT_ACQUIRE || kind == POINT_TRY_ACQUIRE || kind == POINT_ACQUIRE_SHARED) {
                PhotofinishMayTrigger.taking(t, PhotofinishLocks.lockOf(t, key, site), site, kind != POINT_TRY_ACQUIRE);
            }
            return;
        }
        if (free(t)) point(kind, PhotofinishLocks.lockOf(t, key, site), 0, site);
    }

    /** What lockPoint is told, as an operation. */
    private static int operation(int what) {
        switch (what) {
            case LOCK_LOCK:
            case LOCK_LOCK_INTERRUPTIBLY:
            case LOCK_STAMP_WRITE:
                return POINT_ACQUIRE;
            case LOCK_TRY_LOCK:
                return POINT_TRY_ACQUIRE;
            case LOCK_SHARED_LOCK:
            case LOCK_SHARED_LOCK_INTERRUPTIBLY:
            case LOCK_SHARED_TRY_LOCK:
            case LOCK_STAMP_READ:
                return POINT_ACQUIRE_SHARED;
            case LOCK_SHARED_UNLOCK:
                return POINT_RELEASE_SHARED;
            case LOCK_AWAIT:
                return POINT_WAIT;
            case LOCK_SIGNAL:
                return POINT_NOTIFY;
            default: // LOCK_UNLOCK, LOCK_STAMP_CHANGE
                return POINT_RELEASE;
        }
    }

    /** In an exploration: a lock as a whole, or, if it has conditions, step by step. */
    private static void explored(PhotofinishThread t, PhotofinishShadow s, int what, int site) {
        if (what == LOCK_CONDITION) {
            if (s.number > past && !s.open) PhotofinishNative.lateCondition();
            s.open = true;
            return;
        }
        if (!free(t)) return;
        if (isShared(site) && PhotofinishNative.isInternal()) return;
        boolean partly = what >= LOCK_AWAIT && what <= LOCK_STAMP_CHANGE;
        if (s.open || partly) {
            t.opened = !partly;
            return;
        }
        PhotofinishPoints.budget = PhotofinishPoints.LONG;
        switch (what) {
            case LOCK_LOCK:
            case LOCK_LOCK_INTERRUPTIBLY:
                if (s.holder != t) lock(POINT_ACQUIRE, s, what == LOCK_LOCK ? 0 : POINT_INTERRUPTIBLE, site);
                break;
            case LOCK_TRY_LOCK:
                if (s.holder != t) lock(POINT_TRY_ACQUIRE, s, POINT_TRIED, site);
                break;
            case LOCK_UNLOCK:
                if (s.holder == t && s.holds == 1) lock(POINT_RELEASE, s, 0, site);
                break;
            case LOCK_SHARED_LOCK:
            case LOCK_SHARED_LOCK_INTERRUPTIBLY:
                if (PhotofinishLocks.sharedHolds(t, s) == 0) lock(POINT_ACQUIRE_SHARED, s, 0, site);
                break;
            case LOCK_SHARED_TRY_LOCK:
                if (PhotofinishLocks.sharedHolds(t, s) == 0) lock(POINT_ACQUIRE_SHARED, s, POINT_TRIED, site);
                break;
            default: // LOCK_SHARED_UNLOCK
                if (PhotofinishLocks.sharedHolds(t, s) == 1) lock(POINT_RELEASE_SHARED, s, 0, site);
        }
    }

    private static void lock(int kind, PhotofinishShadow s, int bits, int site) {
        PhotofinishNative.point(kind, number(s), bits, site);
    }

    // Threads, in explorations.

    static void joining(PhotofinishThread t, Object thread, long millis) {
        if (EXPLORE && millis >= 0 && free(t)) PhotofinishNative.threadStep(POINT_JOIN, thread, millis > 0 ? POINT_TIMED : 0);
    }

    static void asking(PhotofinishThread t, Object thread, int what) {
        if (!EXPLORE || !free(t)) return;
        int kind = what == ASKED_ALIVE
                ? POINT_IS_ALIVE
                : what == ASKED_INTERRUPTED ? POINT_IS_INTERRUPTED : POINT_INTERRUPTED;
        PhotofinishNative.threadStep(kind, thread, 0);
    }

    /** The same state at two times: nothing was written between them, and the locals are as they were. */
    static void loop(PhotofinishThread t, int loop, int what) {
        long state = t.locals;
        t.locals = 0;
        if (EXPLORE && free(t)) PhotofinishNative.looped(loop, mixed(state, t.writes), what);
    }

    static void local(PhotofinishThread t, long value) {
        t.locals = mixed(t.locals, value);
    }

    static void local(PhotofinishThread t, Object value) {
        long name = value == null ? 0 : EXPLORE && free(t) ? PhotofinishNative.tag(value) : 0;
        if (value != null && name == 0) t.writes++; // an object that cannot be told from others
        local(t, name);
    }

    /** A bijection of either argument, so that states that differ in one place stay different. */
    private static long mixed(long state, long value) {
        long x = (state ^ value * 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
        return x ^ x >>> 31;
    }

    static void rawPoint(PhotofinishThread t, Object o, long offset, int code, int site) {
        if (free(t)) atomic(t, o, offset, code, site);
    }

    private static void atomic(PhotofinishThread t, Object o, long offset, int code, int site) {
        int op = code & ACCESS_OP_MASK;
        int kind = op == ACCESS_READ ? POINT_ATOMIC_READ : op == ACCESS_WRITE ? POINT_ATOMIC_WRITE : POINT_ATOMIC_UPDATE;
        boolean told = point(kind, o == null ? null : PhotofinishTable.near(t, o, site), offset, site);
        if (!EXPLORE || !told) return;
        t.updating = kind == POINT_ATOMIC_UPDATE ? o : null;
        if (t.updating != null) {
            t.updated = offset;
            t.updatedAt = site;
            t.before = eight(o, offset);
        }
    }

    private static long eight(Object o, long offset) {
        return (long) U.getInt(o, offset) << 32 | U.getInt(o, offset + 4) & 0xffffffffL;
    }

    /**
     * In an exploration, after an atomic access: one that left all as it was changed nothing. While it
     * is made for the first time, the JVM links it, with atomic accesses of its own.
     */
    static void updated(PhotofinishThread t, int site) {
        if (t.updatedAt != site) return;
        Object o = t.updating;
        t.updating = null;
        if (eight(o, t.updated) == t.before) PhotofinishNative.failed();
    }

    /** A compare-and-set came to nothing; perhaps not the one that is under way. */
    static void failedCas(PhotofinishThread t, int site) {
        if (t.updating == null || t.updatedAt == site) failed(t);
    }

    static void vhPoint(PhotofinishThread t, VarHandle vh, Object base, int index, int code, int site) {
        if (vh == null || !free(t)) return;
        PhotofinishHandle h = PhotofinishHandle.of(t, vh, site);
        switch (h.kind) {
            case PhotofinishHandle.FIELD:
                atomic(t, base, h.offset, code, site);
                break;
            case PhotofinishHandle.STATIC:
                atomic(t, h.base(), h.offset, code, site);
                break;
            case PhotofinishHandle.ARRAY:
                atomic(t, base, h.offset + ((long) index << h.shift), code, site);
                break;
            default:
                atomic(t, base == null ? vh : base, 1L << 30 | index, code, site);
        }
    }

    // Fields. The last four bytes of a site's entry are the field's offset; for a static, its number
    // among `statics`, negated.

    static void field(PhotofinishThread t, Object o, int site, boolean write) {
        if (!free(t)) return;
        long at = PhotofinishNative.SITES + ((long) site << SITE_SHIFT);
        long off = U.getLong(at);
        if (off == 0) off = PhotofinishNative.resolveFor(t, site, o);
        if (off == SITE_VOLATILE) location(t, write ? POINT_ATOMIC_WRITE : POINT_ATOMIC_READ, o, site, at);
    }

    static void target(PhotofinishThread t, Object o, int site) {
        boolean free = free(t);
        if (!free && !tells(t)) return;
        long at = PhotofinishNative.SITES + ((long) site << SITE_SHIFT);
        long off = U.getLong(at);
        if (off == 0) off = PhotofinishNative.resolveFor(t, site, o);
        if (off == SITE_VOLATILE) return;
        if (free) location(t, POINT_READ, o, site, at);
        if (tells(t)) tellField(t, o, site, at);
    }

    // What accesses find, where the log of the run tells it.

    /** Also of a thread that runs because no other can. */
    private static boolean tells(PhotofinishThread t) {
        return TELL && t.place != 0 && (t.quiet | t.unwatched | t.linking) == 0;
    }

    private static void tellField(PhotofinishThread t, Object o, int site, long at) {
        int where = U.getInt(at + SITE_PLACE);
        if (where == 0) return;
        PhotofinishShadow s = where < 0 ? owner(-where) : PhotofinishTable.near(t, o, site);
        Object base = where < 0 ? s == null ? null : U.getReference(s, REFERENT) : o;
        if (base != null) tell(s, base, where < 0 ? staticOffsets[-where] : where, site, PhotofinishNative.typeOf(site));
    }

    /** An object that no point has come to has no number, and gets none here: schedules would differ. */
    private static void tell(PhotofinishShadow s, Object base, long offset, int site, int type) {
        if (isShared(site) && PhotofinishNative.isInternal()) return;
        long bits = 0;
        Object value = null;
        switch (type) {
            case 'Z', 'B' -> bits = U.getByte(base, offset);
            case 'C' -> bits = U.getChar(base, offset);
            case 'S' -> bits = U.getShort(base, offset);
            case 'I', 'F' -> bits = U.getInt(base, offset);
            case 'J', 'D' -> bits = U.getLong(base, offset);
            case 'L', '[' -> value = U.getReference(base, offset);
            default -> {
                return;
            }
        }
        int number = s == null ? 0 : Math.max(0, s.number - past);
        PhotofinishNative.told(number, (int) offset, site, type, bits, value);
    }

    private static void location(PhotofinishThread t, int kind, Object o, int site, long at) {
        int where = U.getInt(at + SITE_PLACE);
        if (where < 0) point(kind, owner(-where), staticOffsets[-where], site);
        else if (where > 0 && o != null) point(kind, PhotofinishTable.near(t, o, site), where, site);
    }

    /** The class of a static field, as this execution has it. */
    static PhotofinishShadow owner(int number) {
        PhotofinishShadow s = statics[number];
        if (s != null) return s;
        Class<?> c = PhotofinishLoader.current.loaded(staticOwners[number]);
        return c == null ? null : (statics[number] = PhotofinishTable.find(c));
    }

    static long staticOffset(int number) {
        return staticOffsets[number];
    }

    static Object referent(PhotofinishShadow s) {
        return U.getReference(s, REFERENT);
    }

    static void element(PhotofinishThread t, Object array, int index, int site) {
        boolean free = free(t);
        if (array == null || !free && !tells(t) || index < 0 || index >= PhotofinishTable.length(array)) return;
        Class<?> c = array.getClass();
        long slot = PhotofinishNative.base(c) + (long) index * U.arrayIndexScale(c);
        PhotofinishShadow s = PhotofinishTable.near(t, array, site);
        if (free) point(POINT_READ, s, slot, site);
        if (tells(t)) tell(s, array, slot, site, c.getName().charAt(1));
    }

    /** One of the ranges of an operation, or all from `from` on if `length` is -1. */
    static void range(PhotofinishThread t, Object array, int from, int length, int site) {
        int count = length == -1 ? PhotofinishTable.length(array) - from : length;
        if (!PhotofinishRanges.fits(array, from, count)) return; // the program's own call throws, or there are none
        if (t.rangeCount == t.rangeArrays.length || !free(t)) return;
        int n = t.rangeCount++;
        t.rangeArrays[n] = array;
        t.rangeBounds[2 * n] = from;
        t.rangeBounds[2 * n + 1] = count;
        t.rangeSites[n] = site;
    }

    /** All of them: one point; in an exploration, which has a step for each location, one each. */
    static void ranges(PhotofinishThread t) {
        int count = t.rangeCount;
        t.rangeCount = 0;
        if (count == 0) return;
        long[] objects = new long[2];
        int[] slots = new int[4];
        for (int n = 0; n < count; n++) {
            Object array = t.rangeArrays[n];
            t.rangeArrays[n] = null;
            int from = t.rangeBounds[2 * n];
            int length = t.rangeBounds[2 * n + 1];
            int site = t.rangeSites[n];
            if (EXPLORE) {
                for (int i = from; i < from + length; i++) element(t, array, i, site);
                continue;
            }
            Class<?> c = array.getClass();
            int scale = U.arrayIndexScale(c);
            objects[n] = number(PhotofinishTable.near(t, array, site));
            slots[2 * n] = (int) (PhotofinishNative.base(c) + (long) from * scale);
            slots[2 * n + 1] = length * scale;
        }
        if (EXPLORE) return;
        if (NOISE) {
            PhotofinishNative.disturb();
            return;
        }
        PhotofinishPoints.budget = PhotofinishPoints.LONG;
        if (isShared(t.rangeSites[0]) && PhotofinishNative.isInternal()) return;
        int[] sites = t.rangeSites;
        PhotofinishNative.ranges(
                objects[0], slots[0], slots[1], sites[0], objects[1], slots[2], slots[3], sites[1]);
    }

    /** For the agent: keeps where a static field is under a number. */
    static synchronized int keepStatic(Class<?> c, long offset) {
        String owner = c.getClassLoader0() instanceof PhotofinishLoader ? c.getName() : null;
        if (owner != null) {
            for (int i = 1; i < staticCount; i++) {
                if (staticOffsets[i] == offset && owner.equals(staticOwners[i])) return i;
            }
        }
        if (staticCount == statics.length) {
            PhotofinishShadow[] more = new PhotofinishShadow[2 * staticCount];
            long[] offsets = new long[2 * staticCount];
            String[] owners = new String[2 * staticCount];
            System.arraycopy(statics, 0, more, 0, staticCount);
            System.arraycopy(staticOffsets, 0, offsets, 0, staticCount);
            System.arraycopy(staticOwners, 0, owners, 0, staticCount);
            statics = more;
            staticOffsets = offsets;
            staticOwners = owners;
        }
        statics[staticCount] = PhotofinishTable.find(c);
        staticOffsets[staticCount] = offset;
        staticOwners[staticCount] = owner;
        return staticCount++;
    }

    /** For the agent: nobody holds the monitor, whatever we thought. */
    static void forgetHolder(Object o) {
        PhotofinishShadow s = PhotofinishTable.find(o);
        s.holder = null;
        s.holds = 0;
    }

    /** For the agent: the object whose monitor a thread waits for. */
    static Object awaited(Thread thread) {
        PhotofinishThread t = thread.$pf;
        return t == null ? null : t.awaited;
    }

    // For the agent, when a run has come to an end that is not its own.

    /** An object by its number. */
    static String named(int number) {
        PhotofinishShadow s = PhotofinishTable.numbered(number + past);
        if (s == null) return "an object that is gone";
        PhotofinishThread mine = hush();
        try {
            return PhotofinishLocks.name(s);
        } finally {
            Thread.currentThread().$pf = mine;
        }
    }

    /** The locks that a thread holds, one a line. */
    static String heldBy(Thread thread) {
        PhotofinishThread t = thread.$pf;
        if (t == null) return "";
        PhotofinishThread mine = hush();
        try {
            return PhotofinishLocks.describe(t);
        } finally {
            Thread.currentThread().$pf = mine;
        }
    }

    /** 1 if the thread holds a lock that may have been there before the execution. */
    static int holdsForeign(Thread thread) {
        PhotofinishThread t = thread.$pf;
        if (t == null) return 1;
        for (int i = 0; i < t.heldCount; i++) {
            PhotofinishShadow s = t.held[i];
            Object o = U.getReference(s, REFERENT);
            if (o == null) continue;
            boolean foreign = s.isClass ? ((Class<?>) o).getClassLoader0() == null : isOlder(o);
            if (foreign) return 1;
        }
        return 0;
    }

    /** Explorations know. Elsewhere, what is of a class of the JDK and no plain lock or collection may be. */
    private static boolean isOlder(Object o) {
        if (EXPLORE) return PhotofinishNative.isOlder(o);
        Class<?> c = o.getClass();
        if (c == Object.class || c.getClassLoader0() != null) return false;
        return o instanceof java.util.Properties || !c.getName().startsWith("java.util.");
    }

    /** What a parked thread waits for, and on the last line the place of its holder, plus one. */
    static String blocker(Thread thread) {
        Object o = BLOCKER > 0 ? U.getReference(thread, BLOCKER) : null;
        if (o == null) return "";
        PhotofinishShadow s = PhotofinishTable.find(o);
        PhotofinishThread holder = s.lock == null ? s.holder : s.lock.holder;
        PhotofinishThread mine = hush();
        try {
            return PhotofinishLocks.name(s) + '\n' + (holder == null ? 0 : holder.place);
        } finally {
            Thread.currentThread().$pf = mine;
        }
    }

    /** An exception and its stack, one a line. */
    static String describe(Throwable e) {
        PhotofinishThread mine = hush();
        try {
            StringBuilder b = new StringBuilder(text(e));
            for (StackTraceElement f : e.getStackTrace()) b.append('\n').append(f);
            return b.toString();
        } finally {
            Thread.currentThread().$pf = mine;
        }
    }

    private static String text(Throwable e) {
        try {
            return e.toString().replace('\n', ' ');
        } catch (Throwable broken) { // it is the program's
            return e.getClass().getName();
        }
    }

    /** Java's own code has probes: they rest while we use it. */
    private static PhotofinishThread hush() {
        Thread self = Thread.currentThread();
        PhotofinishThread t = self.$pf;
        self.$pf = null;
        return t;
    }

    // Waiting without blocking. These give way even where there are no points: the thread may wait
    // for another.

    static void spun(PhotofinishThread t) {
        if (U.getInt(CHOICE) != 0 && t.place != 0) point(POINT_SPIN, null, 0, 0);
    }

    static void spinWait(PhotofinishThread t) {
        if (U.getInt(CHOICE) != 0 && t.place != 0) point(POINT_YIELD, null, 0, 0);
    }

    /** What the thread tried came to nothing. */
    static void failed(PhotofinishThread t) {
        if (EXPLORE ? free(t) : U.getInt(CHOICE) != 0 && t.place != 0) PhotofinishNative.failed();
    }
}
