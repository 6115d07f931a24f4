package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

/**
 * Longer arrays in blocks. Loops that walk over an array leave the same two words in all elements that they come
 * to; as long as they do, one pair of words stands for all of them, as in SlimState (Wilcox, Finch, Flanagan, Freund,
 * ASE 2015). A block has a pair for its even and one for its odd elements, since every other element is what
 * red and black points, complex numbers and pairs are about.
 *
 * <p>The elements of one parity are <em>together</em> while each access is to all of them, or has been made by the
 * same thread in the same epoch to all of them before. Else they are taken apart: the pair is copied to the elements'
 * own words, and APART says so. When a range has left the same words in all of them, they are put together again, but
 * not for ever: an array that is taken apart again and again stays so.
 *
 * <p>Nothing is lost by a pair: it stands for accesses that were made to each of its elements. What was in the words of
 * the elements is left there meanwhile. Those accesses were made too, so that whoever still looks at the words
 * finds nothing false there; he may find less than there is.
 *
 * <p>Words are updated as in {@link PhotofinishFastTrack}: said first, then looked again. Who takes elements apart
 * writes their words first, then APART, then looks whether the pair has changed meanwhile; who uses the
 * words of an element looks again whether it is apart.
 */
final class PhotofinishBlocks {
    /** Elements of a block. Shorter arrays have none. */
    static final int SIZE = 128;

    /** In the place of the last write: the elements have words of their own. No stamp is like this. */
    static final long APART = -1;

    /** Attempts, when others get in between all the time. */
    private static final int TRIES = 8;

    private PhotofinishBlocks() {}

    /** How many words the pairs of an array take; 0 if it has none. */
    static int words(int length) {
        return length < SIZE ? 0 : 4 * ((length - 1) / SIZE + 1);
    }

    /** Where the pair is that an element belongs to. */
    static long at(int i) {
        return PhotofinishNative.LONG_BASE + 8L * (4 * (i / SIZE) + 2 * (i & 1));
    }

    // One element.

    static void element(PhotofinishThread t, PhotofinishArray s, Object array, int i, int site, boolean write) {
        int length = PhotofinishTable.length(array);
        if (i < 0 || i >= length) return; // the program's own access throws
        long at = at(i);
        for (int tries = 0; tries < TRIES; tries++) {
            if (isCovered(t, s.blocks, at, write)) {
                // It takes less time to look at the element's own words, if there are many such accesses.
                if (s.asked++ > length) takeApart(s, array, i);
                return;
            }
            if (!takeApart(s, array, i)) return;
            long words = PhotofinishNative.LONG_BASE + 16L * i;
            if (write) PhotofinishFastTrack.writeMiss(t, s.cells, words, words + 8, site, array, i);
            else PhotofinishFastTrack.readMiss(t, s.cells, words, words + 8, site, array, i);
            if (isApart(s.blocks, at)) return;
        }
    }

    // Ranges: `last` is one of the elements, `stride` positive.

    static void range(PhotofinishThread t, PhotofinishArray s, Object array, int first, int last, int stride, int site, boolean write) {
        int length = PhotofinishTable.length(array);
        for (int from = first; from <= last; ) {
            int end = Math.min(last, from | SIZE - 1);
            int to = from + (end - from) / stride * stride;
            if ((stride & 1) == 0) {
                part(t, s, array, from, to, stride, site, write, length);
            } else if (stride == 1 && !(isApart(s.blocks, at(from)) && isApart(s.blocks, at(from ^ 1)))) {
                part(t, s, array, from, to - (to - from & 1), 2, site, write, length);
                if (from < to) part(t, s, array, from + 1, to - (to - from - 1 & 1), 2, site, write, length);
            } else {
                apart(t, s, array, from, to, stride, site, write, length);
            }
            from = to + stride;
        }
    }

    /** Elements of one parity in one block. */
    private static void part(
            PhotofinishThread t, PhotofinishArray s, Object array, int from, int to, int stride, int site, boolean write, int length) {
        boolean all = stride == 2 && isAll(from, to, length);
        long at = at(from);
        for (int tries = 0; tries < TRIES; tries++) {
            if (isCovered(t, s.blocks, at, write)) return;
            if (!isApart(s.blocks, at)) {
                if (all) {
                    if (write ? writeAll(t, s.blocks, at, site, array, from) : readAll(t, s.blocks, at, site, array, from)) return;
                    continue; // taken apart meanwhile
                }
                if (!takeApart(s, array, from)) return;
            }
            elements(t, s, array, from, to, stride, site, write);
            if (isApart(s.blocks, at)) {
                if (all) putTogether(t, s, from, to, write);
                return;
            }
        }
    }

    /** Elements of both parities in one block, by an odd stride. */
    private static void apart(
            PhotofinishThread t, PhotofinishArray s, Object array, int from, int to, int stride, int site, boolean write, int length) {
        for (int tries = 0; tries < TRIES; tries++) {
            if (!takeApart(s, array, from) || to > from && !takeApart(s, array, from ^ 1)) return;
            elements(t, s, array, from, to, stride, site, write);
            if (isApart(s.blocks, at(from)) && (to == from || isApart(s.blocks, at(from ^ 1)))) break;
        }
        if (stride != 1) return;
        for (int p = from; p <= from + 1 && p <= to; p++) {
            int end = to - (to - p & 1);
            if (isAll(p, end, length)) putTogether(t, s, p, end, write);
        }
    }

    private static void elements(
            PhotofinishThread t, PhotofinishArray s, Object array, int from, int to, int stride, int site, boolean write) {
        int left = (to - from) / stride;
        if (write) PhotofinishRanges.write(t, array, s.cells, from, left, stride, site);
        else PhotofinishRanges.read(t, array, s.cells, from, left, stride, site);
    }

    /** Whether these are all elements of their parity in their block. */
    private static boolean isAll(int from, int to, int length) {
        return (from & SIZE - 1) <= 1 && to + 2 > Math.min(from | SIZE - 1, length - 1);
    }

    private static boolean isApart(long[] blocks, long at) {
        return U.getLongVolatile(blocks, at) == APART;
    }

    /** Whether the thread has made such an access to all elements in this epoch. */
    private static boolean isCovered(PhotofinishThread t, long[] blocks, long at, boolean write) {
        long w = U.getLongVolatile(blocks, at);
        if (w == APART) return false;
        if (w >>> STAMP_SITE_BITS == t.epoch) return true;
        if (write) return false;
        long r = U.getLong(blocks, at + 8);
        return r >>> STAMP_SITE_BITS == t.epoch || t.isIn(r);
    }

    // All elements of one parity, together. False if they are not, any more. `index` is one of them.

    private static boolean readAll(PhotofinishThread t, long[] blocks, long at, int site, Object array, int index) {
        long w = U.getLongVolatile(blocks, at);
        if (w == APART) return false;
        site = t.inContext(site);
        long r = U.getLong(blocks, at + 8);
        if (PhotofinishFastTrack.after(t, w)) {
            long now = PhotofinishFastTrack.readWord(t, r, site);
            if (now != 0 && U.compareAndSetLong(blocks, at + 8, r, now)) {
                PhotofinishFastTrack.sample(t, site);
                if (PhotofinishFastTrack.isShared(now)) t.knows(now);
                long later = U.getLongVolatile(blocks, at);
                if (later != w) PhotofinishNative.recheck(t, later, r, site, false, array, index);
                return later != APART;
            }
        }
        PhotofinishNative.slowRead(t, blocks, at, at + 8, site, array, index);
        return !isApart(blocks, at);
    }

    private static boolean writeAll(PhotofinishThread t, long[] blocks, long at, int site, Object array, int index) {
        long w = U.getLongVolatile(blocks, at);
        if (w == APART) return false;
        site = t.inContext(site);
        long r = U.getLong(blocks, at + 8);
        if (PhotofinishFastTrack.after(t, w) && PhotofinishFastTrack.isAfterReads(t, r)) {
            if (U.compareAndSetLong(blocks, at, w, t.epoch << STAMP_SITE_BITS | site)) {
                PhotofinishFastTrack.sample(t, site);
                boolean shared = PhotofinishFastTrack.isShared(r);
                if (!(shared ? U.compareAndSetLong(blocks, at + 8, r, 0) : U.getLongVolatile(blocks, at + 8) == r)) {
                    PhotofinishNative.recheck(t, w, U.getLong(blocks, at + 8), site, true, array, index);
                }
                return true;
            }
        }
        PhotofinishNative.slowWrite(t, blocks, at, at + 8, site, array, index);
        return !isApart(blocks, at);
    }

    /** Gives the elements of one parity in one block words of their own. False if there is no room for those. */
    private static boolean takeApart(PhotofinishArray s, Object array, int i) {
        long[] blocks = s.blocks;
        long at = at(i);
        if (isApart(blocks, at)) return true;
        synchronized (blocks) {
            if (!giveWords(s, array)) return false;
            long[] cells = s.cells;
            int first = i & -SIZE | i & 1;
            int end = Math.min(first | SIZE - 1, (cells.length >> 1) - 1);
            long w;
            long r;
            do {
                w = U.getLongVolatile(blocks, at);
                if (w == APART) return true;
                r = U.getLong(blocks, at + 8);
                for (int k = first; k <= end; k += 2) {
                    cells[2 * k] = w;
                    cells[2 * k + 1] = r;
                }
            } while (!U.compareAndSetLong(blocks, at, w, APART));
            long later = U.getLongVolatile(blocks, at + 8);
            if (later != r) {
                for (int k = first; k <= end; k += 2) {
                    U.compareAndSetLong(cells, PhotofinishNative.LONG_BASE + 16L * k + 8, r, later);
                }
            }
            if (w != 0 || r != 0) s.takenApart++;
        }
        return true;
    }

    /** Makes room for the words of elements. False if there is none. */
    static boolean giveWords(PhotofinishArray s, Object array) {
        synchronized (s.blocks) {
            if (s.cells.length == 0) s.cells = PhotofinishTable.cells(array);
            return s.cells.length != 0;
        }
    }

    /**
     * After an access to all elements of one parity in one block: makes one pair of their words, if they are all the
     * same. Reads that a write of this thread comes after need not be remembered.
     */
    private static void putTogether(PhotofinishThread t, PhotofinishArray s, int first, int last, boolean write) {
        long[] blocks = s.blocks;
        if (s.takenApart > blocks.length) return;
        long[] cells = s.cells;
        long w = cells[2 * first];
        long r = write ? 0 : cells[2 * first + 1];
        if (write && w >>> STAMP_SITE_BITS != t.epoch || !isSame(cells, first, last, w, r, write)) return;
        long at = at(first);
        U.putLongVolatile(blocks, at + 8, r);
        if (!U.compareAndSetLong(blocks, at, APART, w)) return;
        // Somebody who has used an element's words since finds the pair when he looks again, or is found here.
        if (!isSame(cells, first, last, w, r, write)) U.compareAndSetLong(blocks, at, w, APART);
    }

    private static boolean isSame(long[] cells, int first, int last, long w, long r, boolean write) {
        for (int k = 2 * first; k <= 2 * last; k += 4) {
            if (cells[k] != w || !write && cells[k + 1] != r) return false;
        }
        return true;
    }
}
