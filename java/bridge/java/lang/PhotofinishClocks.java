package java.lang;

import static java.lang.PhotofinishNative.U;

/**
 * Happens-before edges as vector clocks.
 *
 * <p>A clock that belongs to a variable or a lock is an `int[]` in the Java heap, so it goes when
 * its owner goes; kept in the agent it would have to be kept for ever. Releases come before the
 * operation that they stand for and acquires after it: an edge may be taken that the run did not
 * quite have (a compare-and-set that then failed), but none is ever missed.
 */
final class PhotofinishClocks {
    private static final long INTS = PhotofinishNative.INT_BASE;

    private PhotofinishClocks() {}

    static void acquire(PhotofinishThread t, int[] from) {
        long clock = t.clock;
        for (int i = 0; i < from.length; i++) {
            int c = from[i];
            if (c > U.getInt(clock + 4L * i)) U.putInt(clock + 4L * i, c);
        }
    }

    /**
     * A final field is read: what its object's maker did until the constructor ended may be read too.
     * Only the maker's own place is raised: what others did before is ordered or it is not.
     */
    static void unfreeze(PhotofinishThread t, long frozen) {
        long at = t.clock + 4L * (frozen & 0xfff);
        int clock = (int) (frozen >>> 12);
        if (clock > U.getInt(at)) U.putInt(at, clock);
    }

    static int[] snapshot(PhotofinishThread t) {
        int n = PhotofinishNative.slots();
        int[] copy = new int[n];
        U.copyMemory(null, t.clock, copy, INTS, 4L * n);
        return copy;
    }

    /** A new epoch: what follows is not covered by what was just released. */
    static void tick(PhotofinishThread t) {
        long at = t.clock + 4L * t.slot;
        int c = U.getInt(at);
        if (c == Integer.MAX_VALUE) return; // two thousand million releases: later accesses merge into one epoch
        U.putInt(at, c + 1);
        t.enter((long) (c + 1) << 12 | t.slot);
    }

    /** Release of a lock that `t` has acquired before, so that its clock covers the old one. */
    static int[] release(PhotofinishThread t, int[] old) {
        int n = PhotofinishNative.slots();
        if (old == null || old.length < n) old = new int[n];
        U.copyMemory(null, t.clock, old, INTS, 4L * old.length);
        tick(t);
        return old;
    }

    /** Release that others may have made before without our knowing. */
    static int[] releaseInto(PhotofinishThread t, int[] old) {
        int[] joined = snapshot(t);
        if (old != null) {
            for (int i = 0; i < old.length; i++) {
                if (old[i] > joined[i]) joined[i] = old[i];
            }
        }
        tick(t);
        return joined;
    }

    static void inherit(PhotofinishThread child, PhotofinishThread parent) {
        int own = U.getInt(child.clock + 4L * child.slot);
        U.copyMemory(parent.clock, child.clock, 4L * PhotofinishNative.slots());
        int known = U.getInt(child.clock + 4L * child.slot);
        if (own > known) {
            U.putInt(child.clock + 4L * child.slot, own);
        } else { // more threads than slots: the child shares one, and must not forget what it knows of it
            child.epoch = (long) known << 12 | child.slot;
        }
        tick(parent);
    }

    static void volatileRead(PhotofinishThread t, Object base, long off) {
        int[] v = (int[]) U.getReferenceVolatile(base == null ? PhotofinishNative.STATIC_CLOCKS : base, off);
        if (v != null) acquire(t, v);
    }

    static void volatileWrite(PhotofinishThread t, Object base, long off) {
        if (base == null) base = PhotofinishNative.STATIC_CLOCKS;
        int[] old;
        int[] joined;
        do {
            old = (int[]) U.getReferenceVolatile(base, off);
            joined = snapshot(t);
            if (old != null) {
                for (int i = 0; i < old.length; i++) {
                    if (old[i] > joined[i]) joined[i] = old[i];
                }
            }
        } while (!U.compareAndSetReference(base, off, old, joined));
        tick(t);
    }
}
