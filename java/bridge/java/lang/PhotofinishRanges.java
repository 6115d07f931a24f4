package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

/** Accesses to several elements at once, and to one by reflection. Nothing about them is checked yet. */
final class PhotofinishRanges {
    private PhotofinishRanges() {}

    /** Copies; without a destination, into an array that nobody knows. */
    static void copied(PhotofinishThread t, Object src, int from, Object dst, int to, int length, int site) {
        if (PhotofinishNative.FULL) PhotofinishFlow.copied(t, src, from, dst, to, length, site);
        if (PhotofinishOrder.ON) ordered(t, src, from, dst, to, length, site, PhotofinishOrder.WRITES);
        range(t, src, from, length, site, false);
        range(t, dst, to, length, site, true);
    }

    /** Two ranges are about to be compared; how far, nobody knows yet. */
    static void comparing(PhotofinishThread t, Object a, int from, Object b, int from2, int length, int site) {
        ordered(t, a, from, b, from2, length, site, PhotofinishOrder.READS);
    }

    private static void ordered(
            PhotofinishThread t, Object a, int from, Object b, int to, int length, int site, int kind) {
        if (t.unwatched != 0) return;
        long first = fits(a, from, length) ? id(t, a, site) : 0;
        long second = fits(b, to, length) ? id(t, b, site) : 0;
        if (first != 0 || second != 0) PhotofinishOrder.beginRange(t, first, from, second, to, length, site, kind);
    }

    static boolean fits(Object array, int from, int length) {
        return array != null && from >= 0 && length > 0 && length <= PhotofinishTable.length(array) - from;
    }

    private static long id(PhotofinishThread t, Object array, int site) {
        return PhotofinishEvents.shadowId(PhotofinishTable.any(t, array, site), array);
    }

    /**
     * Compared up to the first difference, at `at`, or all if that is negative. What lies behind it may have
     * been looked at, but cannot have mattered.
     */
    static void compared(PhotofinishThread t, int at, Object a, int from, Object b, int from2, int length, int site) {
        int n = at < 0 ? length : at + 1;
        range(t, a, from, n, site, false);
        range(t, b, from2, n, site, false);
    }

    static void element(PhotofinishThread t, Object array, int index, int site, boolean write) {
        if (array == null || !array.getClass().isArray()) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.elem(t, array, index, site, write);
        else range(t, array, index, 1, site, write);
    }

    private static void range(PhotofinishThread t, Object array, int from, int length, int site, boolean write) {
        if (!fits(array, from, length)) return; // the program's own call throws
        if (PhotofinishNative.EVENTS) {
            if (t.unwatched != 0) return;
            long id = id(t, array, site);
            for (int i = from; i < from + length; i++) PhotofinishEvents.record(t, write, site, id, i);
        } else {
            check(t, array, from, from + length - 1, 1, site, write);
        }
    }

    /**
     * A range that a thread has checked in an epoch. What it covers needs no check in that epoch, see
     * PhotofinishFastTrack. Immutable, because other threads look at it.
     */
    static final class Checked {
        private final long epoch;
        private final int first;
        private final int last;
        private final int stride;

        Checked(long epoch, int first, int last, int stride) {
            this.epoch = epoch;
            this.first = first;
            this.last = last;
            this.stride = stride;
        }

        boolean has(long epoch, int first, int last, int stride) {
            return this.epoch == epoch
                    && this.stride == stride
                    && (stride > 0 ? first >= this.first && last <= this.last : first <= this.first && last >= this.last)
                    && (first - this.first) % stride == 0;
        }
    }

    /** Shorter ranges are not worth remembering. */
    private static final int LONG = 8;

    /** Threads whose ranges are remembered at a time, by their slot. */
    private static final int THREADS = 4;

    /** Whether the range was checked in this epoch, by a write or, if `write` is false, by a read. */
    private static boolean isChecked(
            PhotofinishThread t, PhotofinishArray s, int first, int last, int stride, boolean write) {
        Checked[] checked = s.checked;
        if (checked == null) return false;
        int at = t.slot % THREADS << 1;
        Checked c = checked[at + 1];
        if (c != null && c.has(t.epoch, first, last, stride)) return true;
        c = checked[at];
        return !write && c != null && c.has(t.epoch, first, last, stride);
    }

    private static void remember(
            PhotofinishThread t, PhotofinishArray s, int first, int last, int stride, boolean write) {
        Checked[] checked = s.checked;
        if (checked == null) s.checked = checked = new Checked[2 * THREADS];
        checked[(t.slot % THREADS << 1) + (write ? 1 : 0)] = new Checked(t.epoch, first, last, stride);
    }

    // FastTrack over elements that lie `stride` apart. Neighbours mostly have a past in common: what was
    // decided about one element holds for the next if it has the same two words.

    static void check(PhotofinishThread t, Object array, int first, int last, int stride, int site, boolean write) {
        if (t.loading != 0) return;
        PhotofinishArray s = PhotofinishTable.any(t, array, site);
        int left = steps(PhotofinishTable.length(array), first, last, stride);
        if (left < 0) return;
        last = first + left * stride;
        site = t.inContext(site);
        if (left >= LONG) {
            if (isChecked(t, s, first, last, stride, write)) return;
            remember(t, s, first, last, stride, write);
        }
        if (s.blocks != null) {
            if (stride > 0) PhotofinishBlocks.range(t, s, array, first, last, stride, site, write);
            else PhotofinishBlocks.range(t, s, array, last, first, -stride, site, write);
        } else if (s.cells.length == 0) {
            return; // there was no room for them
        } else if (write) {
            write(t, array, s.cells, first, left, stride, site);
        } else {
            read(t, array, s.cells, first, left, stride, site);
        }
    }

    /** Reads the first element and so many that follow, with their own words. */
    static void read(PhotofinishThread t, Object array, long[] cells, int first, int left, int stride, int site) {
        long epoch = t.epoch;
        long known = -1; // a set that has this thread's read
        long sameWrite = -1;
        long sameRead = -1;
        long now = 0;
        boolean own = false;
        for (int k = 2 * first; left >= 0; left--, k += 2 * stride) {
            long r = cells[k + 1];
            if (r >>> STAMP_SITE_BITS == epoch || r == known) continue;
            long w = cells[k];
            if (w >>> STAMP_SITE_BITS == epoch) continue;
            long at = PhotofinishNative.LONG_BASE + 8L * k;
            if (w == sameWrite && r == sameRead) {
                if (own) {
                    cells[k + 1] = now;
                    continue;
                }
                if (U.compareAndSetLong(cells, at + 8, r, now)) {
                    long later = U.getLong(cells, at);
                    if (later != w) PhotofinishNative.recheck(t, later, r, site, false, array, k >> 1);
                    continue;
                }
            } else if (t.isIn(r)) {
                known = r;
                continue;
            }
            now = PhotofinishFastTrack.readMiss(t, cells, at, at + 8, site, array, k >> 1);
            own = PhotofinishFastTrack.isOwn(t, w, r);
            sameWrite = now == 0 ? -1 : w;
            sameRead = r;
        }
    }

    /** Writes them. */
    static void write(PhotofinishThread t, Object array, long[] cells, int first, int left, int stride, int site) {
        long epoch = t.epoch;
        long mine = epoch << STAMP_SITE_BITS | site;
        long sameWrite = -1;
        long sameRead = -1;
        boolean own = false;
        boolean shared = false;
        for (int k = 2 * first; left >= 0; left--, k += 2 * stride) {
            long w = cells[k];
            if (w >>> STAMP_SITE_BITS == epoch) continue;
            long r = cells[k + 1];
            long at = PhotofinishNative.LONG_BASE + 8L * k;
            if (w == sameWrite && r == sameRead) {
                if (own) {
                    cells[k] = mine;
                    continue;
                }
                if (U.compareAndSetLong(cells, at, w, mine)) {
                    boolean undisturbed = shared ? U.compareAndSetLong(cells, at + 8, r, 0) : U.getLong(cells, at + 8) == r;
                    if (!undisturbed) {
                        PhotofinishNative.recheck(t, w, U.getLong(cells, at + 8), site, true, array, k >> 1);
                    }
                    continue;
                }
            }
            boolean clean = PhotofinishFastTrack.writeMiss(t, cells, at, at + 8, site, array, k >> 1);
            own = PhotofinishFastTrack.isOwn(t, w, r);
            shared = PhotofinishFastTrack.isShared(r);
            sameWrite = clean ? w : -1;
            sameRead = r;
        }
    }

    /** How many elements follow the first one; negative if there is none. */
    private static int steps(int n, int first, int last, int stride) {
        if (last < 0 || last >= n) last -= stride; // that access threw
        if (first < 0 || first >= n || (stride > 0 ? last < first : last > first)) return -1;
        return (last - first) / stride;
    }
}
