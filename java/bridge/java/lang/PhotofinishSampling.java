package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

import java.lang.invoke.VarHandle;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The probes of a run under a budget, in place of those of {@link Photofinish}: at rest they do nothing at all. The
 * agent turns from phase to phase (crates/agent/src/sampling):
 *
 * <ul>
 *   <li>REST: nothing is recorded, checked or followed.
 *   <li>COUNT: accesses are counted, to learn how many there are in a second of processor time.
 *   <li>SAMPLE: FastTrack, as without a budget.
 *   <li>COMPARE: what was recorded is still checked, but nothing more is recorded; as PACER (Bond, Coons, McKinley, PLDI
 *       2010) outside of its sampling periods.
 * </ul>
 *
 * <p>SAMPLE and the COMPARE behind it make one era. Order is followed in eras only, since following it all the time would
 * cost more than most budgets. This is sound because an era forgets what was before: a thread begins it by learning
 * of all that any thread had done until then. (crates/detect/src/sampled.rs has the argument, and tests of it.)
 *
 * <p>A thread may see a new phase late. What it records then belongs to an epoch that all others know of when the next era
 * begins, and a race that it finds is dropped by the agent unless its era still goes on.
 *
 * <p>Who holds which lock is not known: a thread may have taken it at rest. So each acquisition learns and each release
 * tells, also if it is one of several of the same lock; see {@link PhotofinishLocks}.
 */
public final class PhotofinishSampling {
    /** No barrier: who sees it late is late. That nobody misses an edge in an era, see crates/detect/src/sampled.rs. */
    static int phase;

    /** Number of the era; 0: none. */
    private static volatile int era;

    private PhotofinishSampling() {}

    /** For the agent: the phase changes. */
    static void turn(int to, int of) {
        if (of != 0) {
            era = of;
            U.fullFence(); // whoever sees the phase sees the era
            phase = to;
        } else {
            phase = to;
            U.fullFence();
            era = 0;
        }
    }

    /** Whether order is not followed now. */
    static boolean rests(PhotofinishThread t) {
        return phase < PHASE_COMPARE || ready(t) == null;
    }

    /** The thread, in the era; null if there is none. */
    private static PhotofinishThread ready() {
        return ready(Photofinish.self());
    }

    private static PhotofinishThread ready(PhotofinishThread t) {
        if (t == null) return null;
        int now = era;
        if (now == 0) return null;
        if (t.era != now) begin(t, now);
        return t;
    }

    /** What the thread remembers of what it was doing may be out of date: probes have rested. */
    @DontInline
    private static void begin(PhotofinishThread t, int now) {
        while (t.heldCount > 0) t.held[--t.heldCount] = null;
        t.quiet = 0;
        t.trusting = 0;
        t.call = 0;
        t.exchanged = 0;
        t.tries(null, null);
        PhotofinishNative.raise(t.clock);
        t.frozen = null;
        PhotofinishClocks.tick(t);
        t.era = now;
        U.putInt(t.clock - CLOCK_ERA, now);
    }

    private static void count(PhotofinishThread t) {
        long at = t.clock - CLOCK_COUNTED;
        U.putLong(at, U.getLong(at) + 1);
    }

    /** Counts an access; that to a range is one. The thread, if that is not all. */
    private static PhotofinishThread accesses(int now) {
        if (now == PHASE_COUNT) {
            PhotofinishThread t = Photofinish.self();
            if (t != null) count(t);
            return null;
        }
        PhotofinishThread t = ready();
        if (t != null) count(t);
        return t;
    }

    /** A statement was executed while it was watched, for the report. */
    private static void mark(int site) {
        long at = PhotofinishNative.SITES + ((long) site << SITE_SHIFT) + SITE_PLACE;
        if (U.getInt(at) == 0) U.putInt(at, 1);
    }

    // Fields.

    public static void read(Object o, int site) {
        if (phase != PHASE_REST) access(o, site, false);
    }

    public static void write(Object o, int site) {
        if (phase != PHASE_REST && o != null) access(o, site, true);
    }

    public static void readStatic(int site) {
        if (phase != PHASE_REST) access(null, site, false);
    }

    public static void writeStatic(int site) {
        if (phase != PHASE_REST) access(null, site, true);
    }

    public static void initialise(Object o, int site) {
        if (phase != PHASE_REST) initialised(o, site);
    }

    @DontInline
    private static void access(Object o, int site, boolean write) {
        int now = phase;
        PhotofinishThread t = accesses(now);
        if (t == null) return;
        long at = PhotofinishNative.SITES + ((long) site << SITE_SHIFT);
        if (now == PHASE_SAMPLE) {
            mark(site);
        } else {
            if (U.getLong(at) == 0) PhotofinishNative.resolveFor(t, site, o);
            long first = U.getLong(at);
            if (first > 0) {
                long second = U.getLong(at + SITE_SECOND);
                if (write) compare(t, o, first, second, site, true, o, INDEX_FIELD);
                else compare(t, o, second, first, site, false, o, INDEX_FIELD);
                return;
            }
            if (first == 0) return; // stack or heap ran out
        }
        if (write) PhotofinishFastTrack.write(t, o, site);
        else PhotofinishFastTrack.read(t, o, site);
    }

    @DontInline
    private static void initialised(Object o, int site) {
        int now = phase;
        if (now != PHASE_SAMPLE) {
            access(o, site, true);
            return;
        }
        PhotofinishThread t = accesses(now);
        if (t == null) return;
        mark(site);
        PhotofinishFastTrack.initialise(t, o, site);
    }

    /** Checks an access against what is recorded, which stays as it is. */
    static void compare(
            PhotofinishThread t, Object base, long woff, long roff, int site, boolean write, Object owner, int index) {
        long w = U.getLong(base, woff);
        long r = write ? U.getLong(base, roff) : 0;
        if ((w | r) == 0 || t.loading != 0) return;
        if (PhotofinishFastTrack.after(t, w) && (r == 0 || PhotofinishFastTrack.isAfterReads(t, r))) return;
        boolean clean = PhotofinishNative.recheck(t, w, r, t.inContext(site), write, owner, index);
        if (clean && PhotofinishFastTrack.isShared(r)) t.covers(r);
    }

    // Elements.

    public static void readElem(Object array, int index, int site) {
        if (phase != PHASE_REST) element(array, index, site, false);
    }

    public static void writeElem(Object array, int index, int site) {
        if (phase != PHASE_REST) element(array, index, site, true);
    }

    @DontInline
    private static void element(Object array, int index, int site, boolean write) {
        int now = phase;
        PhotofinishThread t = accesses(now);
        if (t == null) return;
        if (now != PHASE_SAMPLE) {
            compareRange(t, array, index, index, 1, site, write);
            return;
        }
        mark(site);
        if (write) PhotofinishFastTrack.writeElem(t, array, index, site);
        else PhotofinishFastTrack.readElem(t, array, index, site);
    }

    /** Elements that lie `stride` apart, the last one perhaps out of bounds. */
    static void compareRange(PhotofinishThread t, Object array, int first, int last, int stride, int site, boolean write) {
        if (array == null) return;
        PhotofinishArray s = PhotofinishTable.known(t, array, site);
        if (s == null) return;
        int length = PhotofinishTable.length(array);
        for (long i = first; stride > 0 ? i <= last : i >= last; i += stride) {
            if (i < 0 || i >= length) return;
            int at = (int) i;
            long[] base = s.blocks;
            long words = base == null ? 0 : PhotofinishBlocks.at(at);
            if (base == null || U.getLongVolatile(base, words) == PhotofinishBlocks.APART) {
                base = s.cells;
                if (at >= base.length >> 1) return;
                words = PhotofinishNative.LONG_BASE + 16L * at;
            }
            compare(t, base, words, words + 8, site, write, array, at);
        }
    }

    public static long epoch() {
        if (phase < PHASE_COMPARE) return 0; // of no thread
        PhotofinishThread t = ready();
        return t == null ? 0 : t.epoch;
    }

    @ForceInline
    public static int trackRead(Object array, int index, Object kept, int first, int last, int stride, long epoch, int site) {
        if (array == kept && index == last + stride) return first;
        if (kept != null) readRange(kept, first, last, stride, epoch, site);
        return index;
    }

    @ForceInline
    public static int trackWrite(Object array, int index, Object kept, int first, int last, int stride, long epoch, int site) {
        if (array == kept && index == last + stride) return first;
        if (kept != null) writeRange(kept, first, last, stride, epoch, site);
        return index;
    }

    public static void readRange(Object array, int first, int last, int stride, long epoch, int site) {
        if (phase != PHASE_REST) range(array, first, last, stride, epoch, site, false);
    }

    public static void writeRange(Object array, int first, int last, int stride, long epoch, int site) {
        if (phase != PHASE_REST) range(array, first, last, stride, epoch, site, true);
    }

    @DontInline
    private static void range(Object array, int first, int last, int stride, long epoch, int site, boolean write) {
        if (array == null) return;
        int now = phase;
        PhotofinishThread t = accesses(now);
        if (t == null || t.epoch != epoch) return;
        if (now == PHASE_SAMPLE) {
            mark(site);
            PhotofinishRanges.check(t, array, first, last, stride, site, write);
        } else {
            compareRange(t, array, first, last, stride, t.inContext(site), write);
        }
    }

    @ForceInline
    public static void readOnce(Object array, int index, Object before, int at, int site) {
        if (array != before || index != at) readElem(array, index, site);
    }

    @ForceInline
    public static void writeOnce(Object array, int index, Object before, int at, int site) {
        if (array != before || index != at) writeElem(array, index, site);
    }

    @ForceInline
    public static void readFieldOnce(Object o, Object before, int site) {
        if (o != before) read(o, site);
    }

    @ForceInline
    public static void writeFieldOnce(Object o, Object before, int site) {
        if (o != before) write(o, site);
    }

    public static void arraycopy(Object src, int from, Object dst, int to, int length, int site) {
        if (phase == PHASE_REST) return;
        several(src, from, length, site, false);
        several(dst, to, length, site, true);
    }

    public static void cloneArray(Object array, int site) {
        if (phase != PHASE_REST && array != null) several(array, 0, PhotofinishTable.length(array), site, false);
    }

    public static void mismatch(int at, Object a, int from, Object b, int from2, int length, int site) {
        if (phase == PHASE_REST) return;
        int n = at < 0 ? length : at + 1;
        several(a, from, n, site, false);
        several(b, from2, n, site, false);
    }

    public static void reflectedRead(Object array, int index, int site) {
        if (phase != PHASE_REST && array != null && array.getClass().isArray()) several(array, index, 1, site, false);
    }

    public static void reflectedWrite(Object array, int index, int site) {
        if (phase != PHASE_REST && array != null && array.getClass().isArray()) several(array, index, 1, site, true);
    }

    @DontInline
    private static void several(Object array, int from, int length, int site, boolean write) {
        if (!PhotofinishRanges.fits(array, from, length)) return; // the program's own call throws
        int now = phase;
        PhotofinishThread t = accesses(now);
        if (t == null) return;
        if (now == PHASE_SAMPLE) {
            mark(site);
            PhotofinishRanges.check(t, array, from, from + length - 1, 1, site, write);
        } else {
            compareRange(t, array, from, from + length - 1, 1, t.inContext(site), write);
        }
    }

    // What an object is, and who called.

    public static void newObject(Object o, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.newObject(o, site);
    }

    public static void newArray(Object o, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.newArray(o, site);
    }

    public static int calling(int site) {
        return phase >= PHASE_COMPARE && ready() != null ? Photofinish.calling(site) : 0;
    }

    public static void called(int before) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.called(before);
    }

    public static void thrown() {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.thrown();
    }

    // Order.

    public static void freeze(Object o, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.freeze(o, site);
    }

    public static void rawBefore(Object o, long offset, int code, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.rawBefore(o, offset, code, site);
    }

    public static void rawAfter(Object o, long offset, int code, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.rawAfter(o, offset, code, site);
    }

    public static void rawAfterCas(boolean done, Object o, long offset, int code, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.rawAfterCas(done, o, offset, code, site);
    }

    public static void vhBefore(VarHandle vh, Object base, int index, int code, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.vhBefore(vh, base, index, code, site);
    }

    public static void vhAfter(VarHandle vh, Object base, int index, int code, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.vhAfter(vh, base, index, code, site);
    }

    public static void vhAfterCas(boolean done, VarHandle vh, Object base, int index, int code, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.vhAfterCas(done, vh, base, index, code, site);
    }

    public static void exchangedInt(int witness, int expected) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.exchangedInt(witness, expected);
    }

    public static void exchangedLong(long witness, long expected) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.exchangedLong(witness, expected);
    }

    public static void exchangedFloat(float witness, float expected) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.exchangedFloat(witness, expected);
    }

    public static void exchangedDouble(double witness, double expected) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.exchangedDouble(witness, expected);
    }

    public static void exchangedReference(Object witness, Object expected) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.exchangedReference(witness, expected);
    }

    public static void fence(int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.fence(site);
    }

    public static void enter(Object o, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.enter(o, site);
    }

    public static void enterTrusted(Object o, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.enterTrusted(o, site);
    }

    public static void enterStatic(int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.enterStatic(site);
    }

    public static void enterStaticTrusted(int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.enterStaticTrusted(site);
    }

    public static void exit(Object o, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.exit(o, site);
    }

    public static void exitTop(int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.exitTop(site);
    }

    public static void trusting() {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.trusting();
    }

    public static void modelBegin() {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.modelBegin();
    }

    public static void modelEnd() {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.modelEnd();
    }

    public static void lockAcquired(Object sync, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.lockAcquired(sync, site);
    }

    public static void lockTried(boolean got, Object sync, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.lockTried(got, sync, site);
    }

    public static void lockReleasing(Object sync, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.lockReleasing(sync, site);
    }

    public static void lockSharedAcquired(Object sync, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.lockSharedAcquired(sync, site);
    }

    public static void lockSharedTried(boolean got, Object sync, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.lockSharedTried(got, sync, site);
    }

    public static void lockSharedReleasing(Object sync, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.lockSharedReleasing(sync, site);
    }

    public static void stampWrite(long stamp, Object lock, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.stampWrite(stamp, lock, site);
    }

    public static void stampRead(long stamp, Object lock, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.stampRead(stamp, lock, site);
    }

    public static void stampConverting(Object lock, int mode, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.stampConverting(lock, mode, site);
    }

    public static void stampConverted(long stamp, Object lock, int mode, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.stampConverted(stamp, lock, mode, site);
    }

    public static void stampRelease(Object lock, int mode, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.stampRelease(lock, mode, site);
    }

    public static void syncRelease(Object o, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.syncRelease(o, site);
    }

    public static void syncAcquire(Object o, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.syncAcquire(o, site);
    }

    public static void syncAcquireIf(boolean so, Object key, int site) {
        if (phase >= PHASE_COMPARE && ready() != null) Photofinish.syncAcquireIf(so, key, site);
    }
}
