package java.lang;

import static java.lang.PhotofinishConstants.*;

import jdk.internal.misc.Unsafe;

/** The agent's side: addresses shared with it, and its natives. First touched when the VM is up. */
final class PhotofinishNative {
    static {
        link();
    }

    static final Unsafe U = Unsafe.getUnsafe();
    // Unsafe's own constants have another type in later versions.
    static final long LONG_BASE = arrayBase(U, long[].class);
    static final long INT_BASE = arrayBase(U, int[].class);
    static final long REF_BASE = arrayBase(U, Object[].class);
    static final long REF_SCALE = Unsafe.ARRAY_OBJECT_INDEX_SCALE;

    /** The table of sites; see PhotofinishFastTrack and PhotofinishEvents. */
    static final long SITES = address(ADDRESS_SITES);

    /** One int: how many slots vector clocks have so far. */
    private static final long SLOTS = address(ADDRESS_SLOTS);

    /** One long: the next sequence number of the run. */
    static final long SEQ = address(ADDRESS_SEQ);

    /** One long: the next object number of the run. */
    static final long IDS = address(ADDRESS_IDS);

    /** Whether accesses become events (recording, hybrid, ...) or are checked by FastTrack. */
    static final boolean EVENTS = address(ADDRESS_EVENTS) != 0;

    /** Whether the control flow is recorded with the events. */
    static final boolean FULL = address(ADDRESS_FULL) != 0;

    /** Whether events go to a detector in the agent at once, instead of a buffer. */
    static final boolean DIRECT = address(ADDRESS_DIRECT) != 0;

    /** Whether nothing is detected or recorded: threads are controlled, and that is all. */
    static final boolean BARE = address(ADDRESS_BARE) != 0;

    /** Whether probes rest most of the time; see PhotofinishSampling. */
    static final boolean BUDGET = address(ADDRESS_BUDGET) != 0;

    /** Clocks of volatile statics; a site's table entry has the offset into this array. */
    static final Object[] STATIC_CLOCKS = new Object[STATIC_CLOCK_COUNT];

    /** Shadows of classes that have static synchronised methods or initialisers, by number. */
    private static volatile PhotofinishShadow[] classes = new PhotofinishShadow[256];

    private static int classCount = 1;

    private PhotofinishNative() {}

    /** Where elements of such an array begin. Those of four bytes and less all begin where ints do. */
    static long base(Class<?> array) {
        Class<?> c = array.getComponentType();
        if (!c.isPrimitive()) return REF_BASE;
        return c == long.class || c == double.class ? LONG_BASE : INT_BASE;
    }

    static int slots() {
        return U.getInt(SLOTS);
    }

    static PhotofinishThread newThread(Thread thread, PhotofinishThread parent, boolean system, boolean virtual) {
        long clock = allocate(thread, parent == null ? 0 : parent.clock, system, virtual);
        int id = U.getInt(clock - CLOCK_ID);
        return new PhotofinishThread(id, U.getInt(clock - CLOCK_SLOT), clock, U.getInt(clock - CLOCK_START), virtual);
    }

    /**
     * Finds out what a site's field is; runs Java code, so the probes of this thread rest meanwhile. 0
     * if stack or heap ran out: then to be asked again.
     */
    static long resolveFor(PhotofinishThread t, int site, Object o) {
        Thread self = Thread.currentThread();
        self.$pf = null;
        try {
            resolve(site, o);
        } finally {
            self.$pf = t;
        }
        return U.getLong(SITES + ((long) site << SITE_SHIFT));
    }

    /** Returns what stands for the reads now, if that is this call's doing and no race was found; else 0. */
    static long slowRead(PhotofinishThread t, Object base, long woff, long roff, int site, Object owner, int index) {
        PhotofinishFastTrack.sample(t, site);
        for (int tries = 0; tries < 16; tries++) {
            long w = U.getLong(base, woff);
            if (w == PhotofinishBlocks.APART) return 0;
            long r = U.getLong(base, roff);
            boolean clean = check(t.clock, t.epoch, w, r, site, false, owner, index);
            t.frozen = null; // class initialisation may have been learnt of
            long now = U.getLong(t.clock - CLOCK_NEW_READ);
            if (now == r || U.compareAndSetLong(base, roff, r, now)) {
                long later = U.getLong(base, woff);
                if (later != w) recheck(t, later, r, site, false, owner, index);
                if (PhotofinishFastTrack.isShared(now)) {
                    t.knows(now);
                    if (now != r) t.join(r, site, now);
                }
                return clean && later == w && now != r ? now : 0;
            }
        }
        return 0;
    }

    /** Returns whether the write is written down, and no race was found. */
    static boolean slowWrite(PhotofinishThread t, Object base, long woff, long roff, int site, Object owner, int index) {
        PhotofinishFastTrack.sample(t, site);
        for (int tries = 0; tries < 16; tries++) {
            long w = U.getLong(base, woff);
            if (w == PhotofinishBlocks.APART) return false;
            long r = U.getLong(base, roff);
            boolean clean = check(t.clock, t.epoch, w, r, site, true, owner, index);
            t.frozen = null;
            if (U.compareAndSetLong(base, woff, w, U.getLong(t.clock - CLOCK_NEW_WRITE))) {
                if (!U.compareAndSetLong(base, roff, r, U.getLong(t.clock - CLOCK_NEW_READ))) {
                    recheck(t, w, U.getLong(base, roff), site, true, owner, index);
                    return false;
                }
                if (clean && PhotofinishFastTrack.isShared(r)) t.covers(r);
                return clean;
            }
        }
        return false;
    }

    /** Somebody came in between: is that a race? The words stay as they are. Returns whether there is none. */
    static boolean recheck(PhotofinishThread t, long w, long r, int site, boolean write, Object owner, int index) {
        if (w == PhotofinishBlocks.APART) return false; // to be done again, with the words of the elements
        boolean clean = check(t.clock, t.epoch, w, r, site, write, owner, index);
        t.frozen = null;
        return clean;
    }

    static void sampled(PhotofinishThread t, int site) {
        sample(t.clock, t.epoch, site, heldNow());
    }

    /** For the agent: the call of the program into the JDK that the current thread is in; 0 if none is known. */
    static int callNow() {
        PhotofinishThread t = Thread.currentThread().$pf;
        return t == null ? 0 : t.call;
    }

    /** For the agent: the locks that the current thread holds. */
    static String heldNow() {
        Thread self = Thread.currentThread();
        PhotofinishThread t = self.$pf;
        if (t == null || t.heldCount == 0) return "";
        self.$pf = null; // StringBuilder uses java.util.Arrays, which has probes
        try {
            return PhotofinishLocks.describe(t);
        } finally {
            self.$pf = t;
        }
    }

    static void openBuffer(PhotofinishThread t, long clock) {
        t.cursor = t.first = buffer(clock);
        t.limit = U.getLong(clock - CLOCK_LIMIT);
    }

    /** The shadow of the class that the site is in. */
    static PhotofinishShadow classOf(PhotofinishThread t, int site) {
        long n = U.getLong(SITES + ((long) site << SITE_SHIFT));
        if (n == 0) n = resolveFor(t, site, null);
        return n > 0 ? classes[(int) n] : PhotofinishTable.NONE;
    }

    /** For the agent: keeps a class's shadow under a number. */
    static synchronized int keepClass(Class<?> c) {
        PhotofinishShadow s = PhotofinishTable.find(c);
        if (classCount == classes.length) {
            PhotofinishShadow[] more = new PhotofinishShadow[2 * classCount];
            System.arraycopy(classes, 0, more, 0, classCount);
            classes = more;
        }
        classes[classCount] = s;
        return classCount++;
    }

    /** For the agent: number of an object that has a shadow (classes, for statics). */
    static long idOf(Object o) {
        return PhotofinishEvents.shadowId(PhotofinishTable.find(o));
    }

    /** For the agent: the site that made this object or array; 0 if that is not known. */
    static int allocationSite(Object o) {
        Thread self = Thread.currentThread();
        PhotofinishThread t = self.$pf;
        if (t == null) return 0;
        if (o.getClass().isArray()) return PhotofinishTable.any(t, o, 0).allocationSite;
        long off = PhotofinishLayout.of(t, o.getClass(), 0).allocationOffset();
        return off > 0 ? U.getInt(o, off) : 0;
    }

    /**
     * For the agent: where a field that we added is; 0 if there is none of that name. It is asked for only if it is there:
     * an error of the virtual machine, even if it is caught, makes the JVM forget the scoped values of the thread.
     */
    static long offset(Class<?> c, String field) {
        if (lacks(c, field)) return 0;
        try {
            return U.objectFieldOffset(c, field);
        } catch (InternalError e) {
            return 0;
        }
    }

    /** Whether it is certain that a class itself declares no field of this name. */
    private static native boolean lacks(Class<?> c, String field);

    /** For the agent: where a field of the program's is. */
    static long offset(java.lang.reflect.Field f, boolean isStatic) {
        return isStatic ? U.staticFieldOffset(f) : U.objectFieldOffset(f);
    }

    /** For the agent: base and scale of reference arrays. */
    static long refArray() {
        return REF_BASE << 32 | REF_SCALE;
    }

    /** For the agent: names of fields, one a line. */
    static String names(java.lang.reflect.Field[] fields) {
        StringBuilder b = new StringBuilder();
        for (java.lang.reflect.Field f : fields) b.append(f.getName()).append('\n');
        return b.toString();
    }

    /** For the agent: the class that code of this loader means; null if there is none. */
    static Class<?> find(String name, ClassLoader loader) {
        try {
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    /** Binds all other natives. */
    private static native void link();

    static native long address(int what);

    private static native long arrayBase(Unsafe u, Class<?> array);

    private static native long allocate(Thread thread, long parentClock, boolean system, boolean virtual);

    static native void endThread(int slot, long clock);

    /** The current thread works for this test from now on; see PhotofinishTests. */
    static native void enterTest(long clock, int test);

    /** Where the agent writes what it finds. */
    static native String runDirectory();

    /** Raises the clock to where all threads are now. */
    static native void acquireAll(long clock);

    /** Raises the clock to where all threads were when the era began. */
    static native void raise(long clock);

    private static native void resolve(int site, Object o);

    /** FastTrack's slow path: new stamps are left below the clock. Returns whether there was no race. */
    private static native boolean check(
            long clock, long epoch, long w, long r, int site, boolean write, Object owner, int index);

    /** The number of a statement in a call of the program, both by their sites; the statement's own if there is none. */
    static native int context(int site, int call);

    private static native void sample(long clock, long epoch, int site, String held);

    static native void initBegin(long clock, long epoch);

    static native void initEnd(long clock, long epoch);

    private static native long buffer(long clock);

    /** Hands the full buffer over; returns where to write next. */
    static native long flush(long clock);

    /** Lets other threads run for a moment, the longer the more often it was asked for in vain. */
    static native void relax(int tries);

    static native void event(long clock, long w0, long w1, long w2, int slot);

    /** Shadow fields of a class and its superclasses: offset, write, read, clock, and so on. */
    static native long[] layout(Class<?> c);

    /** The same for statics, where write and read are addresses and clock is an offset in STATIC_CLOCKS. */
    static native long[] staticLayout(Class<?> c);

    /** An array has got a number. */
    static native void array(long id, int kind, Class<?> c, int site);

    static native void tooLarge(int length);

    /** The thread is about to do something that others can notice: returns when it may. */
    static native void point(int kind, long object, int slot, int site);

    /** The same for one range of elements, or two: slots from the first on; the other object is 0 if there is none. */
    static native void ranges(
            long object, int slot, int slots, int site, long other, int otherSlot, int otherSlots, int otherSite);

    /** In an exploration: the name of an object that equivalent executions share; 0 if it has none. */
    static native long nameOf(Object o);

    /** The object with this number has that name. */
    static native void named(long number, long name);

    /** In an exploration: a point before something that concerns another thread; null is this one. */
    static native void threadStep(int kind, Object thread, int bits);

    /** At the head of a loop, before a jump back to it, or behind it: see PhotofinishControl.loop. */
    static native void looped(int loop, long state, int what);

    /** The name that an exploration knows an object by; 0 if it has none. */
    static native long tag(Object o);

    /** A lock that was used as a whole gets a condition. */
    static native void lateCondition();

    /** Delays the thread, or does not. */
    static native void disturb();

    /** Whether a site is in java.util, where the JDK does work of its own too. */
    static native boolean isShared(int site);

    /** A plain access is made now; `bits` or `o` is what the variable holds, by the type's character. */
    static native void told(long object, int slot, int site, int type, long bits, Object o);

    /** The type of the field that a statement accesses, as the first character of its descriptor. */
    static native int typeOf(int site);

    /** Whether that is what the current thread does there. */
    static native boolean isInternal();

    /** For a thread that may have been where nobody could stop it: waits for its turn then. */
    static native void comeIn();

    /** Waits until the monitor of an object may be free. */
    static native void monitor(long object, int owner, int site);

    /** The monitor of an object, which somebody has waited for, is about to be free. */
    static native void released(long object);

    /** What the thread tried came to nothing. */
    static native void failed();

    /**
     * A read by a thread that knows of `same` which of the last writes have the value of the newest one: by how many
     * writes the one is older that it sees, with WEAK_FIRST if that is to be told.
     */
    static native int sees(long clock, long epoch, long object, int slot, int site, long same);

    /** A write was made to a location whose reads may see older ones. */
    static native void left(long clock, long epoch, long object, int slot, int site);

    /** What was written before may not be seen any more. */
    static native void forgot(long object, int slot);

    /** A read sees a write that is so much older than the newest, with the first value instead of the second. */
    static native void staleRead(
            long clock, long epoch, long object, int slot, int site, int back, String saw, String newest);

    /** The current thread, of the JVM's own making, runs the program's code from now on. */
    static native void adopt();

    static native void uncaught(Throwable e);

    // Workers, which make execution after execution.

    /** Waits for the next execution to be made. False: there is none, and the process ends. */
    static native boolean nextExecution();

    /** Runs the program; in its main thread. */
    static native void callMain(Class<?> main, String[] args);

    /** The program's class that the site is in; null if it is the JDK's. */
    static native String programClass(int site);

    /** What the initialiser of a class of the program does: see PhotofinishStatics. */
    static native int initialiser(String name);

    /** Why its class cannot be kept for another execution. */
    static native String whyNot(String name);

    /** Whether the program has started no thread yet. */
    static native boolean isAlone();

    /** Fields of a class, its statics or those of its objects: offset, type, and whether it is final, in one word each. */
    static native long[] fieldsOf(Class<?> c, boolean statics);

    /** After an execution: whether the next one has the same classes; `why` says why it must not, if so. */
    static native boolean keeps(String why);

    /** Waits until the execution has come to its end. */
    static native void awaitEnd();

    /** Tells what the execution was, and why another cannot follow it here, if so. */
    static native void answer(String complaint);

    /** Whether an object was there before the execution. */
    static native boolean isOlder(Object o);

    /** A static field, whatever its visibility; null if there is none. */
    static native Object getStatic(String owner, String field, String type);

    static native void setStatic(String owner, String field, String type, Object value);

    static native long getStaticLong(String owner, String field, boolean isInt);

    static native void setStaticLong(String owner, String field, boolean isInt, long value);

    // Runs that look for hidden races.

    /** The number of a lock's class, twice, plus one if the relation has it; -1 if it is left out. */
    static native int lockClass(String name, boolean isClass, boolean isLoader);

    /** A lock was taken: notes the methods that led to it. False if there is nothing to be noted here. */
    static native boolean sampled(int site, int lockClass);

    /** Returns when the thread may go for a lock. */
    static native void request(long clock, int lockClass, int site);

    /** The thread that is escorted has taken a lock. */
    static native void acquired(long clock, int lockClass);

    /** What class the lock with this number is of. */
    static native void lockIs(int number, int lockClass);
}
