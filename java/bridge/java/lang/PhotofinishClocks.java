package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

/**
 * Happens-before edges as vector clocks.
 *
 * <p>A clock that belongs to a variable or a lock is an `int[]` in the Java heap, so it goes when
 * its owner goes; kept in the agent it would have to be kept for ever. Releases come before the
 * operation that they stand for and acquires after it: an edge may be taken that the run did not
 * quite have, but none is ever missed. A compare-and-set that fails has released nothing; what was
 * published for it is taken back, unless others have built on it by then.
 */
final class PhotofinishClocks {
    private static final long INTS = PhotofinishNative.INT_BASE;

    private PhotofinishClocks() {}

    static void acquire(PhotofinishThread t, int[] from) {
        if (t.loading != 0) return;
        long clock = t.clock;
        for (int i = 0; i < from.length; i++) {
            int c = from[i];
            if (c > U.getInt(clock + CLOCK_SLOT_BYTES * i)) {
                U.putInt(clock + CLOCK_SLOT_BYTES * i, c);
                t.frozen = null;
            }
        }
    }

    /**
     * A constructor ends that wrote final fields: everything before is visible to threads that read them
     * (JLS 17.5.1). This is no release, so the epoch goes on; what is kept is the clock, one copy for
     * all objects frozen until it changes, then the slot and clock of the maker.
     */
    static void freeze(PhotofinishThread t, Object o, long off) {
        int[] known = t.frozen;
        if (known == null) {
            int n = PhotofinishNative.slots();
            known = new int[n + 2];
            U.copyMemory(null, t.clock, known, INTS, 4L * n);
            known[n] = t.slot;
            // Of a slot that several threads share no epoch says what else is known.
            boolean shares = U.getInt(t.clock - CLOCK_SHARES) != 0;
            known[n + 1] = shares ? Integer.MAX_VALUE : (int) (t.epoch >>> 12);
            t.frozen = known;
        }
        U.storeFence();
        U.putReference(o, off, known);
    }

    /** A final field is read: what its object's maker knew when the constructor ended is known now. */
    static void unfreeze(PhotofinishThread t, int[] known) {
        if (known == null || known == t.unfrozen) return;
        int n = known.length - 2;
        // Of a later epoch of the maker is known what it released at its end, and so all of this.
        if (U.getInt(t.clock + CLOCK_SLOT_BYTES * known[n]) > known[n + 1]) return;
        for (int i = 0; i < n; i++) {
            if (known[i] > U.getInt(t.clock + CLOCK_SLOT_BYTES * i)) {
                U.putInt(t.clock + CLOCK_SLOT_BYTES * i, known[i]);
                t.frozen = null;
            }
        }
        t.unfrozen = known;
    }

    /**
     * A finaliser begins. It comes after every use of the object, all of which may have been ordered by
     * locks that died with the object, and in constructors of classes that did not know that they have
     * a finaliser. So it comes after everything: races with finalisers are missed, none is invented.
     */
    static void acquireAll(PhotofinishThread t) {
        PhotofinishNative.acquireAll(t.clock);
        t.frozen = null;
    }

    static int[] snapshot(PhotofinishThread t) {
        int n = PhotofinishNative.slots();
        int[] copy = new int[n];
        U.copyMemory(null, t.clock, copy, INTS, 4L * n);
        return copy;
    }

    /** How many slots a piece of a last clock has. */
    private static final int PIECE = 64;

    /** The last clock of the thread that ended last. */
    private static int[][] lastEnded = {};

    /**
     * What a thread knows when it ends, for as long as its Thread object lives. The program may keep
     * a million of those, and threads that end one after the other mostly know the same: so the clock
     * comes in pieces, and those that are equal are one with those of the thread that ended before.
     */
    static int[][] last(PhotofinishThread t) {
        int n = PhotofinishNative.slots();
        int[][] before = lastEnded; // a data race that does no harm: pieces never change
        int[][] pieces = new int[(n + PIECE - 1) / PIECE][];
        for (int p = 0; p < pieces.length; p++) {
            long from = t.clock + CLOCK_SLOT_BYTES * PIECE * p;
            int length = Math.min(PIECE, n - PIECE * p);
            int[] piece = p < before.length ? before[p] : null;
            boolean same = piece != null && piece.length == length;
            for (int i = 0; same && i < length; i++) same = piece[i] == U.getInt(from + CLOCK_SLOT_BYTES * i);
            if (!same) {
                piece = new int[length];
                U.copyMemory(null, from, piece, INTS, 4L * length);
            }
            pieces[p] = piece;
        }
        U.storeFence();
        lastEnded = pieces;
        return pieces;
    }

    /** A thread is seen to have ended. */
    static void acquire(PhotofinishThread t, int[][] last) {
        if (t.loading != 0) return;
        for (int p = 0; p < last.length; p++) {
            int[] piece = last[p];
            long to = t.clock + CLOCK_SLOT_BYTES * PIECE * p;
            for (int i = 0; i < piece.length; i++) {
                if (piece[i] > U.getInt(to + CLOCK_SLOT_BYTES * i)) {
                    U.putInt(to + CLOCK_SLOT_BYTES * i, piece[i]);
                    t.frozen = null;
                }
            }
        }
    }

    /** A new epoch: what follows is not covered by what was just released. */
    static void tick(PhotofinishThread t) {
        long at = t.clock + CLOCK_SLOT_BYTES * t.slot;
        int c = U.getInt(at);
        if (c == Integer.MAX_VALUE) return; // two thousand million releases: later accesses merge into one epoch
        U.putInt(at, c + 1);
        t.enter((long) (c + 1) << STAMP_SLOT_BITS | t.slot);
    }

    /** Release of a lock that `t` has acquired before, so that its clock covers the old one. */
    static int[] release(PhotofinishThread t, int[] old) {
        if (t.loading != 0) return old; // it has not acquired it then, and would forget what others released
        int n = PhotofinishNative.slots();
        if (old == null || old.length < n) old = new int[n];
        U.copyMemory(null, t.clock, old, INTS, 4L * old.length);
        tick(t);
        return old;
    }

    /** Release that others may have made before without our knowing. */
    static int[] releaseInto(PhotofinishThread t, int[] old) {
        int[] joined = joined(t, old);
        tick(t);
        return joined;
    }

    /** What the thread knows, and what stands there. */
    static int[] joined(PhotofinishThread t, int[] old) {
        int[] joined = snapshot(t);
        if (old != null) {
            for (int i = 0; i < old.length; i++) {
                if (old[i] > joined[i]) joined[i] = old[i];
            }
        }
        return joined;
    }

    /**
     * What stands in the child's clock is what the thread knew that had the slot before; so the child knows that, too,
     * and who knows the child's epochs knows all that came before in the slot.
     */
    static void inherit(PhotofinishThread child, PhotofinishThread parent) {
        int own = U.getInt(child.clock + CLOCK_SLOT_BYTES * child.slot);
        int n = PhotofinishNative.slots();
        for (int i = 0; i < n; i++) {
            int known = U.getInt(parent.clock + CLOCK_SLOT_BYTES * i);
            long at = child.clock + CLOCK_SLOT_BYTES * i;
            if (known > U.getInt(at)) U.putInt(at, known);
        }
        int known = U.getInt(child.clock + CLOCK_SLOT_BYTES * child.slot);
        // It shares the slot with others, and must not forget what it knows of them.
        if (known > own) child.epoch = (long) known << STAMP_SLOT_BITS | child.slot;
        tick(parent);
    }

    static void volatileRead(PhotofinishThread t, Object base, long off) {
        int[] v = (int[]) U.getReferenceVolatile(base == null ? PhotofinishNative.STATIC_CLOCKS : base, off);
        if (v != null) acquire(t, v);
    }

    /** `tries`: with an operation that may fail, and is then taken back. */
    static void volatileWrite(PhotofinishThread t, Object base, long off, boolean tries) {
        if (base == null) base = PhotofinishNative.STATIC_CLOCKS;
        int[] old;
        int[] joined;
        do {
            old = (int[]) U.getReferenceVolatile(base, off);
            joined = joined(t, old);
        } while (!U.compareAndSetReference(base, off, old, joined));
        if (tries) t.tries(joined, old);
        tick(t);
    }

    /**
     * A compare-and-set is over. If it has failed, what was published for it is taken back. Published clocks
     * never change, so one that is still there is all that was added since. A thread that acquired it meanwhile
     * knows more than it should; nobody knows less.
     */
    static void tried(PhotofinishThread t, Object base, long off, boolean failed) {
        int[] mine = t.tried;
        if (base == null) base = PhotofinishNative.STATIC_CLOCKS;
        if (failed && mine != null) U.compareAndSetReference(base, off, mine, t.replaced);
        t.tries(null, null);
    }
}
