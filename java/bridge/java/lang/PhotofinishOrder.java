package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

/**
 * The order of accesses that race, when a run is recorded and its threads are not controlled.
 *
 * <p>A recording puts an access behind the latest number of its thread (docs/trace-format.md). For
 * accesses that synchronisation orders that is right as it is. For the others the recording has to
 * know which came first, so an access and its place in the order are one step here: from the probe
 * before an access to {@link #end} behind it the thread has the access's <em>stripe</em>, a lock of
 * ours that every access to the location takes. The stripe has the numbers of the last write and of
 * the last read. A thread whose own number is smaller, so that its access would be put before one
 * that it came after, takes a new number first: that is an ORDER record. Equal numbers are of one
 * thread. So accesses that conflict have the order of the recording, Lamport's clocks being what they
 * are, and threads that synchronise pay for the stripe and never for a number.
 *
 * <p>Locations share stripes. That makes order where there is none, which is the order of the run.
 *
 * <p>Nobody waits without a bound for a stripe, whose holder may be off the processor. Who does not get
 * it goes on without; if it writes, the stripe is lost from then on, and its reads are said to be
 * unsure. The same if something else comes between the two probes: an exception, or Java code that
 * runs inside a call.
 *
 * <p>A stripe is four words: the number of the last write, negative while somebody has the stripe; of
 * the last read; whether it is lost; nothing.
 */
final class PhotofinishOrder {
    private static final long TABLE = PhotofinishNative.address(ADDRESS_STRIPES);

    /** Whether the order of accesses is recorded here. */
    static final boolean ON = TABLE != 0;

    private static final long TAKEN = Long.MIN_VALUE;

    /** What an access does. An atomic one takes a number of its own. */
    static final int READS = 1;

    static final int WRITES = 2;
    static final int ATOMIC = 4;

    /** In place of a stripe: none could be had; several are. */
    private static final long NONE = 1;

    private static final long RANGE = 2;

    /** Attempts to get a stripe; those beyond the first few wait (natives/mod.rs), half a second in all. */
    private static final int TRIES = 6000;

    private static final int SPINS = 200;

    /** Records that fit the buffer once a stripe is held, so that nobody waits for a disk. */
    private static final int ROOM = 8;

    private PhotofinishOrder() {}

    private static int stripe(long id, int slot) {
        return (int) (id * 0x9E3779B97F4A7C15L >>> 40) + slot & STRIPE_COUNT - 1;
    }

    private static long at(int stripe) {
        return TABLE + ((long) stripe << STRIPE_SHIFT);
    }

    /** An access is about to be made, and recorded. */
    static void begin(PhotofinishThread t, long id, int slot, int site, int kind) {
        if (t.window != 0) abandon(t);
        PhotofinishEvents.room(t, ROOM);
        long s = at(stripe(id, slot));
        t.windowSite = (kind & ATOMIC) != 0 ? PhotofinishEvents.place(t, site) : site;
        t.windowKind = kind;
        if (!take(s)) {
            t.window = NONE;
            if ((kind & WRITES) != 0) {
                lose(s);
                PhotofinishEvents.order(t);
            }
            return;
        }
        t.window = s;
        if ((kind & ATOMIC) == 0) follow(t, latest(s, kind));
    }

    /** Whether nobody else can access what the thread is about to access. */
    static boolean isSure(PhotofinishThread t) {
        return t.window > RANGE;
    }

    /** The same, and whether its last write has an earlier number. */
    static boolean isUnwrittenSince(PhotofinishThread t, long number) {
        return isSure(t) && (U.getLong(t.window) & ~TAKEN) < number;
    }

    /** It is done. Nothing happens if none was recorded. */
    static void end(PhotofinishThread t) {
        long s = t.window;
        if (s == 0) return;
        t.window = 0;
        if (s == RANGE) {
            endRange(t);
            return;
        }
        boolean sure = s != NONE && leave(t, s);
        if (!sure && (t.windowKind & READS) != 0) unsure(t, 1);
    }

    /** Something came between the probe before an access and the one behind it: what it did, or will do, is open. */
    static void abandon(PhotofinishThread t) {
        long s = t.window;
        t.window = 0;
        if (s == RANGE) {
            loseRange(t);
            endRange(t);
            return;
        }
        if (s != NONE) {
            if ((t.windowKind & WRITES) != 0) lose(s);
            leave(t, s);
        }
        if ((t.windowKind & READS) != 0) unsure(t, 1);
    }

    /** The thread's latest reads at this site may not have seen what the order says. */
    private static void unsure(PhotofinishThread t, long reads) {
        PhotofinishEvents.put(t, EVENT_UNSURE | (long) t.windowSite << EVENT_SITE_SHIFT, reads, 0);
    }

    private static boolean take(long s) {
        for (int tries = 0; tries < TRIES; tries++) {
            if (U.getLong(s + STRIPE_LOST) != 0) return false;
            long last = U.getLongVolatile(null, s);
            if (last >= 0 && U.compareAndSetLong(null, s, last, last | TAKEN)) return true;
            if (tries >= SPINS) PhotofinishNative.relax(tries - SPINS);
        }
        return false;
    }

    private static long latest(long s, int kind) {
        long write = U.getLong(s) & ~TAKEN;
        return (kind & WRITES) != 0 ? Math.max(write, U.getLong(s + STRIPE_READ)) : write;
    }

    private static void follow(PhotofinishThread t, long latest) {
        if (t.number < latest) PhotofinishEvents.order(t);
    }

    /** Whether nobody can have written meanwhile. */
    private static boolean leave(PhotofinishThread t, long s) {
        U.loadFence(); // the access comes before the look at LOST
        boolean sure = U.getLong(s + STRIPE_LOST) == 0;
        long write = U.getLong(s) & ~TAKEN;
        if ((t.windowKind & WRITES) != 0) write = t.number;
        else if (U.getLong(s + STRIPE_READ) < t.number) U.putLong(s + STRIPE_READ, t.number);
        U.putLongRelease(null, s, write);
        return sure;
    }

    /**
     * Somebody writes without the stripe: before it writes. With a number that it takes then its write stands
     * behind every access that did not find the stripe lost.
     */
    private static void lose(long s) {
        U.putLongVolatile(null, s + STRIPE_LOST, 1);
        U.fullFence(); // a plain write may otherwise be seen first
    }

    /** The same for elements of one array that are read, and of another that are written or read. Null for none. */
    static void beginRange(
            PhotofinishThread t, long src, int from, long dst, int to, int length, int site, int dstKind) {
        if (t.window != 0) abandon(t);
        t.windowSite = site;
        t.windowKind = READS | dstKind;
        int[] r = t.intervals;
        int n = 0;
        if (src != 0) n = interval(r, n, stripe(src, from), length);
        if (dst != 0) n = interval(r, n, stripe(dst, to), length);
        t.intervalBounds = n;
        t.rangeReads = (src != 0 ? length : 0L) + (dst != 0 && dstKind == READS ? length : 0L);
        PhotofinishEvents.room(t, ROOM);
        long latest = 0;
        boolean lost = false;
        // By number, so that two ranges never wait for each other.
        for (int i = next(r, n, -1); i >= 0 && !lost; i = next(r, n, i)) {
            if (take(at(i))) latest = Math.max(latest, latest(at(i), READS | WRITES));
            else lost = true;
            t.rangeTaken = lost ? t.rangeTaken : i;
        }
        t.window = RANGE;
        t.rangeSure = !lost;
        if (lost && dstKind == WRITES) {
            loseRange(t);
            PhotofinishEvents.order(t);
        } else {
            follow(t, latest);
        }
    }

    private static void endRange(PhotofinishThread t) {
        int[] r = t.intervals;
        boolean sure = t.rangeSure;
        // Read or written, who comes next takes a larger number.
        t.windowKind |= WRITES;
        for (int i = next(r, t.intervalBounds, -1); i >= 0 && i <= t.rangeTaken; i = next(r, t.intervalBounds, i)) {
            sure &= leave(t, at(i));
        }
        t.rangeTaken = -1;
        if (!sure) unsure(t, t.rangeReads);
    }

    private static void loseRange(PhotofinishThread t) {
        for (int i = next(t.intervals, t.intervalBounds, -1); i >= 0; i = next(t.intervals, t.intervalBounds, i)) lose(at(i));
    }

    /** Adds so many stripes from one on to the list of intervals; those beyond the last are the first ones. */
    private static int interval(int[] r, int n, int start, int length) {
        int end = (int) Math.min((long) start + length, (long) start + STRIPE_COUNT);
        r[n++] = start;
        r[n++] = Math.min(end, STRIPE_COUNT);
        if (end > STRIPE_COUNT) {
            r[n++] = 0;
            r[n++] = end - STRIPE_COUNT;
        }
        return n;
    }

    /** The next stripe of the intervals; -1 if there is none. */
    private static int next(int[] r, int n, int after) {
        int best = -1;
        for (int i = 0; i < n; i += 2) {
            int candidate = Math.max(r[i], after + 1);
            if (candidate < r[i + 1] && (best < 0 || candidate < best)) best = candidate;
        }
        return best;
    }
}
