package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

/**
 * Runs that look for hidden races: which methods lead to which locks, and who is held back before it
 * takes one. What is decided is decided in the agent; this is what must be cheap.
 *
 * <p>Locks are known by their class. The methods that led to one are asked of the JVM: every time at
 * first, then of one acquisition in many, by thread, place and class. Which method of the relation a
 * thread is in stands in its native memory, where all others can read it.
 */
final class PhotofinishMayTrigger {
    private static final int HOW = (int) PhotofinishNative.address(ADDRESS_MAY_TRIGGER);

    /** The relation is collected. */
    static final boolean ON = HOW != 0;

    /** Threads run freely, but are held back before they take some locks. */
    static final boolean FREE = (HOW & MAY_TRIGGER_FREE) != 0;

    /** One thread runs at a time, and a strategy decides by the relation. */
    static final boolean SERIAL = (HOW & MAY_TRIGGER_SERIAL) != 0;

    /** One int: number of the escorted thread plus one. */
    private static final long ESCORT = PhotofinishNative.address(ADDRESS_ESCORT);

    static final int TAKEN = 256;
    private static final int ALWAYS = 16;
    private static final int SELDOM = 64;

    private static final long BLOCKER = PhotofinishNative.offset(Thread.class, "parkBlocker");

    private PhotofinishMayTrigger() {}

    private static int classOf(PhotofinishShadow s) {
        int c = s.lockClass;
        if (c == 0) s.lockClass = c = s.name == null ? -1 : PhotofinishNative.lockClass(s.name, s.isClass, s.isLoader);
        return c;
    }

    /** The thread is about to take a lock, and may have to wait for it if it blocks. */
    static void taking(PhotofinishThread t, PhotofinishShadow s, int site, boolean blocks) {
        if (s.holder == t) return;
        if ((t.quiet | t.unwatched | t.linking) == 0) {
            int c = classOf(s);
            if (c > 0 && (c & 1) != 0) PhotofinishNative.request(t.clock, c >> 1, site);
        }
        if (blocks) t.wanted = s;
    }

    static void took(PhotofinishThread t, PhotofinishShadow s, int site) {
        t.wanted = null;
        if ((t.quiet | t.unwatched | t.linking) != 0) return;
        int c = classOf(s);
        if (c <= 0) return;
        if (FREE && U.getInt(ESCORT) == t.id + 1) PhotofinishNative.acquired(t.clock, c >> 1);
        int at = site * 31 + c & TAKEN - 1;
        int key = site << 12 ^ c;
        if (t.takenKeys[at] != key) {
            t.takenKeys[at] = key;
            t.taken[at] = 0;
        }
        int n = ++t.taken[at];
        if (n < 0 || n > ALWAYS && n % SELDOM != 0) return;
        if (!PhotofinishNative.sampled(site, c >> 1)) t.taken[at] = Integer.MIN_VALUE;
    }

    /** Tells the strategy what class a lock is of. */
    static void tell(PhotofinishShadow s) {
        if (s.told) return;
        s.told = true;
        int c = classOf(s);
        if (c > 0 && (c & 1) != 0) PhotofinishNative.lockIs(PhotofinishControl.number(s), c >> 1);
    }

    static void begin(PhotofinishThread t, int site) {
        int n = t.frameCount++;
        if (n == t.frames.length) {
            int[] more = new int[2 * n];
            System.arraycopy(t.frames, 0, more, 0, n);
            t.frames = more;
        }
        int method = U.getInt(PhotofinishNative.SITES + ((long) site << SITE_SHIFT));
        t.frames[n] = method;
        U.putInt(t.clock - CLOCK_CALLER, n == 0 ? 0 : t.frames[n - 1]);
        U.putInt(t.clock - CLOCK_FRAME, method);
    }

    static void end(PhotofinishThread t) {
        int n = t.frameCount - 1;
        if (n < 0) return;
        t.frameCount = n;
        U.putInt(t.clock - CLOCK_FRAME, n < 1 ? 0 : t.frames[n - 1]);
        U.putInt(t.clock - CLOCK_CALLER, n < 2 ? 0 : t.frames[n - 2]);
    }

    // For the agent, which looks for deadlocks.

    /** Number of the thread that holds the lock that this one waits for; -1 if there is none. */
    static int waitsFor(Thread thread) {
        PhotofinishThread t = thread.$pf;
        PhotofinishShadow s = t == null ? null : t.wanted;
        PhotofinishThread holder = s == null ? null : s.holder;
        if (holder == null || holder == t) return -1;
        // An attempt that was interrupted leaves its lock here: is this what the thread is parked for?
        Object blocker = BLOCKER > 0 ? U.getReference(thread, BLOCKER) : null;
        if (blocker != null && !s.refersTo(blocker)) return -1;
        return holder.id;
    }

    /** The lock that a thread waits for, for a report. */
    static String wanted(Thread thread) {
        PhotofinishThread t = thread.$pf;
        PhotofinishShadow s = t == null ? null : t.wanted;
        if (s == null) return "";
        Thread self = Thread.currentThread();
        PhotofinishThread mine = self.$pf;
        self.$pf = null;
        try {
            return PhotofinishLocks.name(s);
        } finally {
            self.$pf = mine;
        }
    }
}
