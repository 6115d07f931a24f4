package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

/**
 * Everything as events: into the thread's buffer when recording, straight to a detector in the
 * agent otherwise. The layout of a record is crates/trace/src/raw.rs.
 *
 * <p>The table of sites has, for each site: the field's number if it is plain and checked (or
 * SITE_IGNORE, SITE_VOLATILE, SITE_FINAL), its number if it is volatile, and where the object keeps its own
 * number (for statics: the number of the class).
 */
final class PhotofinishEvents {
    /** Words for compare-and-sets under way, each in the linking of the one before: two each. */
    static final int ATTEMPTS = 8;

    /** The slot that stands for what trusted code keeps behind a lock; no field or element has it. */
    private static final int KEPT = -2;

    /**
     * Who wrote the last record. When one thread runs at a time, the order of all accesses is known:
     * an access that follows a record of another thread gets a number.
     */
    private static PhotofinishThread last;

    /** How many records there are that are no reads, when one thread runs at a time. */
    private static long writes;

    private PhotofinishEvents() {}

    static void read(PhotofinishThread t, Object o, int site) {
        field(t, o, site, false);
    }

    static void write(PhotofinishThread t, Object o, int site) {
        field(t, o, site, true);
    }

    private static void field(PhotofinishThread t, Object o, int site, boolean write) {
        long at = PhotofinishNative.SITES + ((long) site << SITE_SHIFT);
        long off = U.getLong(at);
        if (off == 0) off = PhotofinishNative.resolveFor(t, site, o);
        if (o == null) used(t, U.getLong(at + SITE_THIRD), site);
        if (off > 0) {
            access(t, write, site, id(t, o, U.getLong(at + SITE_THIRD), site), (int) off);
        } else if (off == SITE_FINAL) {
            // The maker's number, plus one, stands in the frozen object.
            long maker = write ? 0 : U.getLong(o, U.getLong(at + SITE_SECOND));
            if (maker != 0 && maker != t.id + 1) sync(t, EVENT_SYNC_ACQUIRE, site, id(t, o, U.getLong(at + SITE_THIRD), site));
        } else if (off == SITE_VOLATILE && t.loading == 0 && (t.quiet == 0 || o instanceof Thread)) {
            int slot = (int) U.getLong(at + SITE_SECOND);
            long id = id(t, o, U.getLong(at + SITE_THIRD), site);
            if (PhotofinishOrder.ON) {
                int kind = write ? PhotofinishOrder.WRITES : PhotofinishOrder.READS;
                PhotofinishOrder.begin(t, id, slot, site, kind | PhotofinishOrder.ATOMIC);
            }
            atomic(t, write ? EVENT_ATOMIC_WRITE : EVENT_ATOMIC_READ, EVENT_VOLATILE, site, id, slot);
        }
    }

    /**
     * A static is used, so its class is initialised: says so when the thread has not lately. It stands
     * after the initialiser's end in the order of events, and so does what the thread does next.
     */
    private static void used(PhotofinishThread t, long c, int site) {
        int i = (int) c & t.classes.length - 1;
        if (c <= 0 || t.classes[i] == c) return;
        t.classes[i] = c;
        sync(t, EVENT_SYNC_ACQUIRE, site, c);
    }

    static void freeze(PhotofinishThread t, Object o, long off, long where, int site) {
        sync(t, EVENT_SYNC_RELEASE, site, id(t, o, where, site));
        U.putLong(o, off, t.id + 1);
    }

    /** Number of an object; `where` it keeps it, 0 for in its shadow. */
    static long id(PhotofinishThread t, Object o, long where, int site) {
        if (o == null) return where;
        return where > 0 ? fieldId(t, o, where) : shadowId(PhotofinishTable.any(t, o, site), o);
    }

    static void elem(PhotofinishThread t, Object array, int i, int site, boolean write) {
        if (array == null || i < 0 || i >= PhotofinishTable.length(array)) return; // the access throws
        access(t, write, site, shadowId(PhotofinishTable.any(t, array, site), array), i);
    }

    static void access(PhotofinishThread t, boolean write, int site, long id, int slot) {
        if (t.unwatched != 0) return;
        if (PhotofinishOrder.ON) {
            PhotofinishOrder.begin(t, id, slot, site, write ? PhotofinishOrder.WRITES : PhotofinishOrder.READS);
        }
        record(t, write, site, id, slot);
    }

    /** An access whose place in the order is known. */
    static void record(PhotofinishThread t, boolean write, int site, long id, int slot) {
        long w0 = (write ? EVENT_WRITE : EVENT_READ) | (long) site << EVENT_SITE_SHIFT;
        if (PhotofinishNative.DIRECT) PhotofinishNative.event(t.clock, w0, id, slot & 0xffffffffL, 0);
        else {
            if (!write && isRepeated(t, w0, id, slot)) return;
            if (PhotofinishControl.ON) {
                noted(t, write);
                if (last != t) {
                    last = t;
                    order(t);
                }
            }
            put(t, w0, id, slot & 0xffffffffL);
        }
    }

    /**
     * Whether the thread's last record is the same read, of the same write: a loop waits for another value. One event
     * tells as much as a million. Where accesses are ordered, a write in between would have made an ORDER record come first.
     * Recordings that follow threads through the code keep all reads, which stand at their steps.
     */
    private static boolean isRepeated(PhotofinishThread t, long w0, long id, int slot) {
        long p = t.cursor - EVENT_BYTES;
        return p >= t.first
                && U.getLong(p) == w0
                && U.getLong(p + 8) == id
                && U.getLong(p + 16) == (slot & 0xffffffffL)
                && !PhotofinishNative.FULL
                && (PhotofinishControl.ON ? t.writesSeen == writes : PhotofinishOrder.isSure(t));
    }

    /** The same of an atomic read, whose record has a number: no write may have a later one. */
    private static boolean isRepeatedAtomic(PhotofinishThread t, long w0, long id, int slot) {
        long p = t.cursor - 2 * EVENT_BYTES;
        return p >= t.first
                && U.getLong(p) == w0
                && U.getLong(p + 8) == id
                && U.getLong(p + EVENT_BYTES) == EVENT_SLOT
                && U.getLong(p + EVENT_BYTES + 8) == (slot & 0xffffffffL)
                && !PhotofinishNative.FULL
                && (PhotofinishControl.ON ? t.writesSeen == writes : PhotofinishOrder.isUnwrittenSince(t, U.getLong(p + 16)));
    }

    /** When one thread runs at a time: what a repeated read is measured by. */
    private static void noted(PhotofinishThread t, boolean write) {
        if (write) writes++;
        t.writesSeen = writes;
    }

    /** What stands in a recording for a statement: inside java.util.concurrent, also the program's call that led there. */
    static int place(PhotofinishThread t, int site) {
        return t.call == 0 || PhotofinishNative.DIRECT ? site : t.inContext(site);
    }

    /** What the thread does next comes after everything that has a number yet. */
    static void order(PhotofinishThread t) {
        put(t, EVENT_ORDER, 0, number(t));
    }

    /** The next number, for the thread. */
    private static long number(PhotofinishThread t) {
        return t.number = U.getAndAddLong(null, PhotofinishNative.SEQ, 1);
    }

    /**
     * A lock is taken behind which trusted code keeps data that makes no events: for prediction, which must
     * not let its critical sections change places. It orders nothing by itself.
     */
    static void kept(PhotofinishThread t, PhotofinishShadow lock, boolean shared, int site) {
        if (!PhotofinishNative.DIRECT && t.loading == 0) atomic(t, shared ? EVENT_ATOMIC_READ : EVENT_ATOMIC_UPDATE, EVENT_OPAQUE, site, shadowId(lock), KEPT);
    }

    static void atomic(PhotofinishThread t, int event, int mode, int site, long id, int slot) {
        long w0 = event | (long) mode << EVENT_MODE_SHIFT | (long) place(t, site) << EVENT_SITE_SHIFT;
        if (event == EVENT_ATOMIC_READ && !PhotofinishNative.DIRECT && isRepeatedAtomic(t, w0, id, slot)) return;
        if (PhotofinishNative.FULL) PhotofinishFlow.place(t);
        long seq = number(t);
        if (PhotofinishNative.DIRECT) {
            PhotofinishNative.event(t.clock, w0, id, seq, slot);
        } else {
            room(t, 2);
            if (PhotofinishControl.ON) {
                last = t;
                noted(t, event != EVENT_ATOMIC_READ);
            }
            put(t, w0, id, seq);
            put(t, EVENT_SLOT, slot & 0xffffffffL, 0);
        }
    }

    /**
     * A compare-and-set is about to be tried. A thread that sees what it writes has a later number, so the number
     * is taken now; but whether it is a write nobody knows yet. So its record keeps its place, and does not
     * count until it is over. (If the JVM is killed before, the number is missing, and readers stop there.)
     */
    static void attempt(PhotofinishThread t, int event, int mode, int site, long id, int slot) {
        if (t.attempted == ATTEMPTS) settle(t, 0); // some have thrown
        long w0 = event | (long) mode << EVENT_MODE_SHIFT | (long) place(t, site) << EVENT_SITE_SHIFT;
        if (PhotofinishNative.FULL) PhotofinishFlow.place(t);
        if (PhotofinishNative.DIRECT) {
            PhotofinishNative.event(t.clock, w0 | EVENT_TRIED, id, number(t), slot);
            return;
        }
        room(t, 3);
        long p = t.cursor;
        if (p == 0) return; // after the end
        if (PhotofinishControl.ON) {
            last = t;
            noted(t, true);
        }
        U.putLong(p + 8, id);
        U.putLong(p + 16, number(t));
        U.putLong(p + EVENT_BYTES + 8, slot & 0xffffffffL);
        U.putLong(p + EVENT_BYTES, EVENT_SLOT);
        t.cursor = p + 2 * EVENT_BYTES;
        t.attempts[t.attempted] = p;
        t.attempts[t.attempted + 1] = w0;
        t.attempted += 2;
    }

    /** The record of the attempt at the site, which is over; 0 if it counts already. */
    private static long over(PhotofinishThread t, int site) {
        int i = t.attempted - 2;
        site = place(t, site);
        while (i >= 0 && (int) (t.attempts[i + 1] >>> EVENT_SITE_SHIFT) != site) i -= 2;
        if (i < 0) return 0;
        settle(t, i + 2); // they have thrown
        t.attempted = i;
        return t.attempts[i];
    }

    /** It has written. */
    static void succeeded(PhotofinishThread t, int event, int mode, int site, long id, int slot) {
        long w0 = event | (long) mode << EVENT_MODE_SHIFT | (long) place(t, site) << EVENT_SITE_SHIFT;
        if (!PhotofinishNative.DIRECT) {
            long p = over(t, site);
            if (p != 0) U.putLong(p, w0);
            return;
        }
        PhotofinishNative.event(t.clock, w0 | EVENT_SUCCEEDED, id, 1, slot);
    }

    /** It has only read; the number that was taken for it stands for nothing. */
    static void failed(PhotofinishThread t, int mode, int site, long id, int slot) {
        long p = over(t, site);
        if (p != 0 && t.cursor == p + 2 * EVENT_BYTES) {
            if (PhotofinishControl.ON) last = t;
            long w0 = EVENT_ATOMIC_READ | (long) mode << EVENT_MODE_SHIFT | (long) place(t, site) << EVENT_SITE_SHIFT;
            U.putLong(p + 2 * EVENT_BYTES + 8, slot & 0xffffffffL);
            U.putLong(p + 2 * EVENT_BYTES, EVENT_SLOT);
            U.putLong(p + EVENT_BYTES + 8, id);
            U.putLong(p + EVENT_BYTES + 16, number(t));
            U.putLong(p + EVENT_BYTES, w0);
            t.cursor = p + 3 * EVENT_BYTES;
            U.putLong(p, EVENT_ORDER);
            return;
        }
        // The JVM did something else in between: it reads twice then, which is no more than once.
        if (p != 0) U.putLong(p, EVENT_ATOMIC_READ | (long) mode << EVENT_MODE_SHIFT | (long) place(t, site) << EVENT_SITE_SHIFT);
        atomic(t, EVENT_ATOMIC_READ, mode, site, id, slot);
    }

    /** Records of attempts, from one on, count from now on as of successes: the order they may give is there. */
    private static void settle(PhotofinishThread t, int from) {
        for (int i = from; i < t.attempted; i += 2) U.putLong(t.attempts[i], t.attempts[i + 1]);
        t.attempted = from;
    }

    static void sync(PhotofinishThread t, int event, int site, long operand) {
        if (t.loading != 0 && (event <= EVENT_NOTIFY_ALL || event == EVENT_SYNC_RELEASE || event == EVENT_SYNC_ACQUIRE)) return;
        if (t.window != 0) PhotofinishOrder.abandon(t);
        long mode = event == EVENT_WAIT_END ? 1L << EVENT_MODE_SHIFT : 0;
        long w0 = event | mode | (long) place(t, site) << EVENT_SITE_SHIFT;
        if (PhotofinishNative.FULL) PhotofinishFlow.place(t);
        long seq = number(t);
        if (PhotofinishNative.DIRECT) PhotofinishNative.event(t.clock, w0, operand, seq, 0);
        else {
            if (PhotofinishControl.ON) {
                last = t;
                noted(t, true);
            }
            put(t, w0, operand, seq);
        }
    }

    static void begin(PhotofinishThread t) {
        sync(t, EVENT_BEGIN, 0, 0);
    }

    static void fork(PhotofinishThread t, PhotofinishThread child) {
        sync(t, EVENT_FORK, 0, child.id);
        // The child's first record is written here, where nobody else can touch its buffer yet.
        sync(child, EVENT_BEGIN, 0, 0);
    }

    static void end(PhotofinishThread t) {
        if (PhotofinishNative.FULL) PhotofinishFlow.end(t);
        sync(t, EVENT_END, 0, 0);
        if (PhotofinishNative.DIRECT) return;
        flush(t);
        t.cursor = 0; // the buffer goes to another thread
        t.limit = 0;
    }

    static void joined(PhotofinishThread t, PhotofinishThread other) {
        sync(t, EVENT_JOIN, 0, other.id);
    }

    static void notified(PhotofinishThread t, PhotofinishShadow lock, boolean all, int site) {
        sync(t, all ? EVENT_NOTIFY_ALL : EVENT_NOTIFY, site, shadowId(lock));
    }

    static void room(PhotofinishThread t, int records) {
        if (t.cursor + records * EVENT_BYTES > t.limit) t.cursor = flush(t);
    }

    private static long flush(PhotofinishThread t) {
        settle(t, 0);
        return PhotofinishNative.flush(t.clock);
    }

    static void put(PhotofinishThread t, long w0, long w1, long w2) {
        long p = t.cursor;
        if (p + EVENT_BYTES > t.limit) {
            p = flush(t);
            if (p == 0) return; // after the end
        }
        U.putLong(p + 8, w1);
        U.putLong(p + 16, w2);
        U.putLong(p, w0); // last: until then the record counts as not there
        t.cursor = p + EVENT_BYTES;
    }

    /** Number kept in a field of the object. */
    static long fieldId(PhotofinishThread t, Object o, long off) {
        long id = U.getLong(o, off);
        if (id != 0) return id;
        id = next(t);
        return U.compareAndSetLong(o, off, 0, id) ? id : U.getLong(o, off);
    }

    private static long next(PhotofinishThread t) {
        if (t.nextId == t.lastId) {
            t.nextId = U.getAndAddLong(null, PhotofinishNative.IDS, 4096);
            t.lastId = t.nextId + 4096;
        }
        return t.nextId++;
    }

    static long shadowId(PhotofinishShadow s) {
        return shadowId(s, null);
    }

    /** Number of what `s` is known of; given the array itself if it may be one without a number. */
    static long shadowId(PhotofinishArray s, Object o) {
        long id = s.id;
        if (id != 0) return id;
        synchronized (s) {
            if (s.id != 0) return s.id;
            id = U.getAndAddLong(null, PhotofinishNative.IDS, 1);
            if (o != null && o.getClass().isArray()) {
                PhotofinishNative.array(id, kind(o), o.getClass(), s.allocationSite);
            }
            s.id = id;
            return id;
        }
    }

    /** Which array it is, as the agent knows them; the common ones without asking for a name. */
    private static int kind(Object array) {
        if (array instanceof int[]) return ARRAY_INT;
        if (array instanceof byte[]) return ARRAY_BYTE;
        if (array instanceof char[]) return ARRAY_CHAR;
        if (array instanceof double[]) return ARRAY_DOUBLE;
        if (array instanceof long[]) return ARRAY_LONG;
        if (array instanceof float[]) return ARRAY_FLOAT;
        if (array instanceof boolean[]) return ARRAY_BOOLEAN;
        if (array instanceof short[]) return ARRAY_SHORT;
        return ARRAY_REFERENCE;
    }
}
