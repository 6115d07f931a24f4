package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

import jdk.internal.vm.annotation.DontInline;

/**
 * FastTrack on the spot. Each checked field or element has two words beside it, the stamp of the
 * last write and the stamp of the last read:
 *
 * <pre>  clock (32 bits) | slot of the thread (12) | site (20)</pre>
 *
 * where slot 4095 means that several unordered reads are kept, and the clock part is the number of
 * their set (crates/order, read_sets). A static's words are in native memory: there `o` is null and
 * offsets are addresses.
 *
 * <p>Decided here, in compiled code, is what needs nothing but those two words and the thread's own
 * clock: the same epoch, and accesses that come after everything recorded. All the rest, and every
 * race, is decided by crate `detect` in the agent, with the code that also runs on traces.
 *
 * <p>The words are updated without a lock: by compare-and-set, then looking again, unless the thread
 * is the only one that has used the location so far. A thread that comes to it in the very
 * nanoseconds in which its only user goes on using it may be missed; no update can invent an
 * access, so nothing false is reported.
 *
 * <p>What comes before a miss is inlined into the program's code, and must stay small for that: HotSpot
 * gives up on callees whose own compiled code is large. So the misses are kept out of line.
 */
final class PhotofinishFastTrack {
    /** Executions of a statement that are counted for sampling. */
    private static final int SAMPLED = 1 << 14;

    private static final long CELLS = PhotofinishNative.LONG_BASE;

    private PhotofinishFastTrack() {}

    // Fields. The table of sites has, 32 bytes a site: offset of the word that the access looks at
    // first, offset of the other one, offset of the clock if volatile, number of samples.

    static void read(PhotofinishThread t, Object o, int site) {
        long off = U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT));
        if (off > 0) {
            long r = U.getLong(o, off);
            if (r >>> STAMP_SITE_BITS != t.epoch && t.sets[(int) (r >>> STAMP_CLOCK_SHIFT) & t.sets.length - 1] != r) {
                readMiss(t, o, U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT) + SITE_SECOND), off, site, o, INDEX_FIELD);
            }
        } else if (off != SITE_IGNORE) {
            readOther(t, o, off, site);
        }
    }

    static void write(PhotofinishThread t, Object o, int site) {
        long off = U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT));
        if (off > 0) {
            if (U.getLong(o, off) >>> STAMP_SITE_BITS != t.epoch) {
                writeMiss(t, o, off, U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT) + SITE_SECOND), site, o, INDEX_FIELD);
            }
        } else if (off != SITE_IGNORE) {
            writeOther(t, o, off, site);
        }
    }

    @DontInline
    private static void readOther(PhotofinishThread t, Object o, long off, int site) {
        if (off == 0) {
            if (PhotofinishNative.resolveFor(t, site, o) != 0) read(t, o, site);
        } else if (off == SITE_FINAL) {
            long at = U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT) + SITE_SECOND);
            PhotofinishClocks.unfreeze(t, (int[]) U.getReference(o, at));
        } else if (t.quiet == 0 || o instanceof Thread) { // Thread.interrupted() counts inside lock() too
            PhotofinishClocks.volatileRead(t, o, U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT) + SITE_THIRD));
        }
    }

    @DontInline
    private static void writeOther(PhotofinishThread t, Object o, long off, int site) {
        if (off == 0) {
            if (PhotofinishNative.resolveFor(t, site, o) != 0) write(t, o, site);
        } else if (off == SITE_VOLATILE && (t.quiet == 0 || o instanceof Thread)) {
            PhotofinishClocks.volatileWrite(t, o, U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT) + SITE_THIRD), false);
        }
    }

    // Elements.

    static void readElem(PhotofinishThread t, Object array, int i, int site) {
        if (array == null) return; // the program's own access throws
        PhotofinishArray s = t.arrays[site & t.arrays.length - 1];
        if (!s.refersTo(array)) s = PhotofinishTable.far(t, array, site);
        long[] cells = s.cells;
        int k = 2 * i + 1;
        if (k > 0 && k < cells.length) {
            long r = cells[k];
            if (r >>> STAMP_SITE_BITS == t.epoch || t.isIn(r)) return;
        }
        readElemMiss(t, s, array, i, site);
    }

    static void writeElem(PhotofinishThread t, Object array, int i, int site) {
        if (array == null) return;
        PhotofinishArray s = t.arrays[site & t.arrays.length - 1];
        if (!s.refersTo(array)) s = PhotofinishTable.far(t, array, site);
        long[] cells = s.cells;
        int k = 2 * i;
        if (k >= 0 && k < cells.length && cells[k] >>> STAMP_SITE_BITS == t.epoch) return;
        writeElemMiss(t, s, array, i, site);
    }

    @DontInline
    private static void readElemMiss(PhotofinishThread t, PhotofinishArray s, Object array, int i, int site) {
        if (s.blocks != null) PhotofinishBlocks.element(t, s, array, i, site, false);
        else if (isElement(s, i)) readMiss(t, s.cells, CELLS + 16L * i, CELLS + 16L * i + 8, site, array, i);
    }

    @DontInline
    private static void writeElemMiss(PhotofinishThread t, PhotofinishArray s, Object array, int i, int site) {
        if (s.blocks != null) PhotofinishBlocks.element(t, s, array, i, site, true);
        else if (isElement(s, i)) writeMiss(t, s.cells, CELLS + 16L * i, CELLS + 16L * i + 8, site, array, i);
    }

    /** If not, the program's own access throws. */
    private static boolean isElement(PhotofinishArray s, int i) {
        return i >= 0 && i < s.cells.length >> 1;
    }

    // The two words. `base` with the offsets finds them; `owner` and `index` are for the report.

    /** Returns what stands for the reads now, if this thread has put it there, and no race was found; else 0. */
    @DontInline
    static long readMiss(PhotofinishThread t, Object base, long woff, long roff, int site, Object owner, int index) {
        if (t.loading != 0) return 0; // locks order nothing there, so accesses count for nothing
        long w = U.getLong(base, woff);
        long r = U.getLong(base, roff);
        if (w >>> STAMP_SITE_BITS == t.epoch) {
            // After one's own write, which stands for both. It is written down all the same, so that the next read is done at once.
            if (isOwn(t, w, r)) U.putLong(base, roff, t.epoch << STAMP_SITE_BITS | t.inContext(site));
            return 0;
        }
        site = t.inContext(site);
        if (after(t, w)) {
            long now = readWord(t, r, site);
            if (isOwn(t, w, r)) {
                U.putLong(base, roff, now);
                sample(t, site);
                return now;
            }
            // Said first, then looked again: of two threads that meet here at least one sees the other.
            if (now != 0 && U.compareAndSetLong(base, roff, r, now)) {
                sample(t, site);
                if (isShared(now)) t.knows(now);
                long later = U.getLong(base, woff);
                if (later == w) return now;
                PhotofinishNative.recheck(t, later, r, site, false, owner, index);
                return 0;
            }
        }
        return PhotofinishNative.slowRead(t, base, woff, roff, site, owner, index);
    }

    /** Returns whether the write is written down, and no race was found. */
    @DontInline
    static boolean writeMiss(PhotofinishThread t, Object base, long woff, long roff, int site, Object owner, int index) {
        if (t.loading != 0) return false;
        site = t.inContext(site);
        long w = U.getLong(base, woff);
        long r = U.getLong(base, roff);
        boolean shared = isShared(r);
        if (after(t, w) && isAfterReads(t, r)) {
            long mine = t.epoch << STAMP_SITE_BITS | site;
            if (isOwn(t, w, r)) {
                U.putLong(base, woff, mine);
                sample(t, site);
                return true;
            }
            if (U.compareAndSetLong(base, woff, w, mine)) {
                sample(t, site);
                if (shared ? U.compareAndSetLong(base, roff, r, 0) : U.getLong(base, roff) == r) return true;
                PhotofinishNative.recheck(t, w, U.getLong(base, roff), site, true, owner, index);
                return false;
            }
        }
        return PhotofinishNative.slowWrite(t, base, woff, roff, site, owner, index);
    }

    /** What a read makes of the word of the reads, if no write has to be looked at; 0 if that is not known here. */
    static long readWord(PhotofinishThread t, long r, int site) {
        return !isShared(r) && after(t, r) ? t.epoch << STAMP_SITE_BITS | site : t.joined(r, site);
    }

    /** Whether all reads that the word stands for are known to happen before what the thread does now. */
    static boolean isAfterReads(PhotofinishThread t, long r) {
        return isShared(r) ? t.isCovered(r) : after(t, r);
    }

    /** Whether the word stands for several reads. */
    static boolean isShared(long r) {
        return ((int) (r >>> STAMP_SITE_BITS) & STAMP_SLOT_MASK) == STAMP_SHARED;
    }

    /**
     * A constructor writes a field of its object, which it has handed to nobody. If its superclass
     * has not either, there is nothing to check. A read is written down as well, so that later ones in this epoch are
     * done at once: nobody can race with it who does not race with the write, which is looked at first.
     */
    static void initialise(PhotofinishThread t, Object o, int site) {
        long off = U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT));
        if (off > 0) {
            long other = U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT) + SITE_SECOND);
            if (U.getLong(o, off) != 0 || U.getLong(o, other) != 0) {
                write(t, o, site);
                return;
            }
            site = t.inContext(site);
            long mine = t.epoch << STAMP_SITE_BITS | site;
            U.putLong(o, off, mine);
            U.putLong(o, other, mine);
            sample(t, site);
        } else if (off != SITE_IGNORE) {
            writeOther(t, o, off, site);
        }
    }

    /** Whether nobody but the thread has used what has these stamps. */
    static boolean isOwn(PhotofinishThread t, long w, long r) {
        return isMine(t, w) ? r == 0 || isMine(t, r) : w == 0 && isMine(t, r);
    }

    /** Whether the thread made the stamped access itself. */
    private static boolean isMine(PhotofinishThread t, long stamp) {
        return stamp != 0 && ((int) (stamp >>> STAMP_SITE_BITS) & STAMP_SLOT_MASK) == t.slot;
    }

    /** Whether the access stamped so happens before what the thread does now. */
    static boolean after(PhotofinishThread t, long stamp) {
        int slot = (int) (stamp >>> STAMP_SITE_BITS) & STAMP_SLOT_MASK;
        return U.getInt(t.clock + CLOCK_SLOT_BYTES * slot) >= (int) (stamp >>> STAMP_CLOCK_SHIFT);
    }

    /** Keeps stacks of the first executions of a statement, then a few more: a report needs both sides. */
    static void sample(PhotofinishThread t, int site) {
        long at = PhotofinishNative.SITES + ((long) site << SITE_SHIFT) + SITE_SAMPLES;
        int n = U.getInt(at);
        if (n < SAMPLED) count(t, site, at, n);
    }

    @DontInline
    private static void count(PhotofinishThread t, int site, long at, int n) {
        U.putInt(at, n + 1);
        // Under a budget stacks would take most of the first periods.
        if (n < (PhotofinishNative.BUDGET ? 4 : 32) || (n & n - 1) == 0) PhotofinishNative.sampled(t, site);
    }
}
